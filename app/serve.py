"""`mindcone run`: the API in this process, a worker beside it, on one database.

Starts, restarts and stops processes; thinks nothing else.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress

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


class PortTaken(ConfigurationError):
    """Another program listens on this address and port."""

    code = "port_taken"


@contextmanager
def listening(settings: Settings) -> Iterator[socket.socket]:
    """The socket that requests will come in by. Raises PortTaken, before anything else is started."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    with closing(opened):
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((settings.host, settings.port))
        except OSError as error:
            raise PortTaken(
                f"Cannot listen on {settings.host}, port {settings.port} ({error.strerror}). "
                "Set MINDCONE_PORT to another one."
            ) from error
        yield opened


async def serve(
    settings: Settings, dsn: str, listener: socket.socket, ready: Callable[[Services, str], Awaitable[None]]
) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is called with the base URL once requests are answered."""
    async with open_services(settings, dsn) as services:
        app = create_app(services)
        server = Server(server_config(app, settings))
        stopping: asyncio.Event = app.state.stopping
        worker = asyncio.create_task(_keep_worker(stopping))
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"http://{host}:{listener.getsockname()[1]}"
        announcing = asyncio.create_task(_announce(server, services, url, ready))
        try:
            await server.serve(sockets=[listener])
        finally:
            stopping.set()
            announcing.cancel()
            await worker


async def _announce(
    server: Server, services: Services, url: str, ready: Callable[[Services, str], Awaitable[None]]
) -> None:
    while not server.started:  # noqa: ASYNC110  (uvicorn tells nobody when it is ready)
        await asyncio.sleep(0.05)
    await ready(services, url)


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
