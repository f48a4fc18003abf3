"""`mindcone run`: the API in this process, a worker beside it, on one database.

Starts, restarts and stops processes; thinks nothing else.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

from app.core.errors import ConfigurationError
from app.core.log import get
from app.main import Server, create_app, server_config
from app.settings import Settings
from app.wiring import Services, open_services

log = get(__name__)

RESTART_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0)


def check_doors(settings: Settings) -> None:
    """Raises ConfigurationError when strangers could come in."""
    if settings.auth == "off" and not settings.on_loopback:
        raise ConfigurationError(
            f"MINDCONE_AUTH=off is only possible on loopback, and MINDCONE_HOST is {settings.host}. "
            "Create a key with `mindcone keys create` and leave MINDCONE_AUTH unset."
        )


async def serve(settings: Settings, dsn: str, ready: Callable[[Services, str], Awaitable[None]]) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is called with the base URL once requests are answered."""
    check_doors(settings)
    async with open_services(settings, dsn) as services:
        app = create_app(services)
        server = Server(server_config(app, settings))
        stopping: asyncio.Event = app.state.stopping
        worker = asyncio.create_task(_keep_worker(stopping))
        announcing = asyncio.create_task(_announce(server, services, ready))
        try:
            await server.serve()
        finally:
            stopping.set()
            announcing.cancel()
            await worker


async def _announce(server: Server, services: Services, ready: Callable[[Services, str], Awaitable[None]]) -> None:
    settings = services.settings
    while not server.started:  # noqa: ASYNC110  (uvicorn tells nobody when it is ready)
        await asyncio.sleep(0.05)
    port = settings.port
    for listening in server.servers:
        for socket in listening.sockets:
            port = socket.getsockname()[1]
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    await ready(services, f"http://{host}:{port}")


async def _keep_worker(stopping: asyncio.Event) -> None:
    """A worker process at all times; one that dies is replaced, the later the more often it dies."""
    deaths = 0
    while not stopping.is_set():
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "app.cli", "worker", "--parent", str(os.getpid())
        )
        exited = asyncio.create_task(process.wait())
        asked = asyncio.create_task(stopping.wait())
        await asyncio.wait({exited, asked}, return_when=asyncio.FIRST_COMPLETED)
        if stopping.is_set():
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            await exited
            asked.cancel()
            return
        asked.cancel()
        wait_seconds = RESTART_SECONDS[min(deaths, len(RESTART_SECONDS) - 1)]
        deaths += 1
        log.error("worker_died", exit_code=process.returncode, restart_in_seconds=wait_seconds)
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), wait_seconds)
