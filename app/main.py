"""The process that speaks HTTP: builds the app from opened services, and runs it until it is told to stop."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import PackageNotFoundError, version

import uvicorn
from fastapi import APIRouter, Depends, FastAPI
from fastapi.middleware import Middleware
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import HTMLResponse
from fastapi_offline import FastAPIOffline

from app import api
from app.api import gone, idempotency, openapi, parameters, problems
from app.api.limits import BodyLimit
from app.api.metrics import Metrics
from app.api.observe import Observed
from app.settings import HttpSettings, Settings
from app.wiring import Services, database_url, open_services

_WELCOME = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>MindCone</title>
<h1>MindCone</h1>
<p>The knowledge backend is running. <a href="/docs">API documentation</a> · <a href="/openapi.json">OpenAPI</a> ·
<a href="/health/ready">health</a></p>
</html>
"""


def create_app(services: Services) -> FastAPI:
    """The app on services that somebody else opens and closes."""
    app = build(services.settings)
    app.state.services = services
    return app


def serving() -> FastAPI:
    """For `uvicorn --factory app.main:serving`: settings from the environment, services for the app's lifetime."""
    settings = Settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with database_url(settings) as dsn:
            async with open_services(settings, dsn) as services:
                app.state.services = services
                yield

    app = build(settings)
    app.router.lifespan_context = lifespan
    return app


def build(settings: HttpSettings) -> FastAPI:
    """Routes, failures and limits, without services: enough for the OpenAPI document."""
    metrics = Metrics()
    # The documentation's scripts come from the wheel: the page works without a network.
    app = FastAPIOffline(
        title="MindCone",
        version=_version(),
        description="Card notes become a self-evolving graph that answers at the depth each question needs.",
        generate_unique_id_function=openapi.operation_id,
        redirect_slashes=False,
        middleware=[Middleware(Observed, metrics=metrics), *_limits(settings)],
    )
    app.state.metrics = metrics
    app.state.stopping = asyncio.Event()
    problems.install(app)
    idempotency.install(app)
    gone.install(app)
    openapi.install(app)
    for router in api.routers():
        app.include_router(router, prefix=api.PREFIX, dependencies=[Depends(parameters.only_known)])
    for router in [*api.root_routers(), _welcome()]:
        app.include_router(router)
    return app


async def serve(app: FastAPI, settings: HttpSettings, sockets: list[socket.socket] | None = None) -> None:
    """Answer requests until SIGTERM or SIGINT; open streams get a last event, requests the grace to finish."""
    await Server(server_config(app, settings)).serve(sockets)


def server_config(app: FastAPI, settings: HttpSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_config=None,
        server_header=False,
        # Longer than clients keep idle connections (5 s is usual), or they send into one that we are just closing.
        timeout_keep_alive=75,
        timeout_graceful_shutdown=max(1, round(settings.shutdown_grace_seconds)),
    )


class Server(uvicorn.Server):
    """Tells the app that it is stopping before it waits for its connections, and lets its caller end the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn's own, but a signal that was obeyed is not raised again: the exit code is 0."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {name: signal.signal(name, self.handle_exit) for name in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.config.app.state.stopping.set()  # type: ignore[union-attr]
        await super().shutdown(sockets)


def _limits(settings: HttpSettings) -> list[Middleware]:
    limits = [
        Middleware(
            BodyLimit,
            json_bytes=settings.body_max_bytes,
            upload_bytes=settings.upload_max_bytes,
            uploads=(f"{api.PREFIX}/imports",),
        )
    ]
    if settings.cors_origins:
        limits.insert(
            0,
            Middleware(
                CORSMiddleware,
                allow_origins=settings.cors_origins,
                allow_methods=["*"],
                allow_headers=["*"],
                expose_headers=["ETag", "Location", "X-Request-ID", "Retry-After", idempotency.REPLAYED],
            ),
        )
    return limits


def _welcome() -> APIRouter:
    router = APIRouter()

    @router.get("/", include_in_schema=False)
    async def welcome() -> HTMLResponse:
        return HTMLResponse(_WELCOME)

    return router


def _version() -> str:
    try:
        return version("mindcone")
    except PackageNotFoundError:
        return "0"
