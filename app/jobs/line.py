"""One connection to the database that comes back by itself, and its LISTEN with it.

A worker lives longer than its connections: statements wait while the database is away and are then
sent again, so everything that is sent through here must bear being executed twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

import asyncpg

from app.core.errors import ConfigurationError, Unavailable
from app.core.log import get

log = get(__name__)

_CONNECT_SECONDS = 10.0
_STATEMENT_SECONDS = 30.0
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 3.0
# SQLSTATEs of a server that is going away.
_GOING = ("57P01", "57P02", "57P03")
# asyncpg's state machine says InternalClientError when the server hangs up between two of its steps.
_BROKEN = (OSError, asyncpg.InternalClientError)
_FAILURES = (asyncpg.PostgresError, asyncpg.InterfaceError, *_BROKEN)
_NEVER = (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError)

Hear = Callable[[str], None]


class LineClosed(Unavailable):
    """The worker's connection to the database is closed."""

    code = "database_unavailable"


class Line:
    """`on_return` is called after the connection was lost and is there again: notices may have been missed."""

    def __init__(self, dsn: str, application_name: str = "mindcone-worker") -> None:
        self._dsn = dsn
        self._application_name = application_name
        self._connection: Any = None
        self._lock = asyncio.Lock()
        self._ears: dict[str, Hear] = {}
        self._deadline: float | None = None
        self._return: asyncio.Task[None] | None = None
        self.on_return: Callable[[], None] = lambda: None

    async def __aenter__(self) -> Self:
        async with self._lock:
            await self._ready()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.hurry(0.0)
        if self._return is not None:
            self._return.cancel()
        async with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and not connection.is_closed():
                try:
                    await connection.close(timeout=2)
                except _FAILURES:
                    connection.terminate()

    def hurry(self, seconds: float) -> None:
        """From now on wait at most so long for a database that is away; then LineClosed is raised."""
        self._deadline = asyncio.get_running_loop().time() + seconds

    async def fetch(self, statement: str, *arguments: object) -> list[Any]:
        rows: list[Any] = await self._send(lambda connection: connection.fetch(statement, *arguments))
        return rows

    async def execute(self, statement: str, *arguments: object) -> str:
        status: str = await self._send(lambda connection: connection.execute(statement, *arguments))
        return status

    async def listen(self, channel: str, hear: Hear) -> None:
        """Call `hear` with the payload of every notice on `channel`. One listener per channel."""
        self._ears[channel] = hear
        await self._send(lambda connection: connection.add_listener(channel, self._heard))

    async def _send(self, call: Callable[[Any], Any]) -> Any:
        while True:
            async with self._lock:
                connection = await self._ready()
                try:
                    return await call(connection)
                except _FAILURES as error:
                    going = getattr(error, "sqlstate", None) in _GOING
                    if not (going or connection.is_closed() or isinstance(error, _BROKEN)):
                        raise
                    log.warning("worker_connection_lost", error=type(error).__name__)
                    connection.terminate()

    async def _ready(self) -> Any:
        if self._connection is not None and not self._connection.is_closed():
            return self._connection
        again, pause = self._connection is not None, _FIRST_PAUSE_SECONDS
        while True:
            try:
                connection = await self._connect()
                break
            except _FAILURES as error:
                if not again and isinstance(error, _NEVER):
                    raise ConfigurationError("The database refuses the configured user, password or name.") from error
                if self._deadline is not None and asyncio.get_running_loop().time() >= self._deadline:
                    raise LineClosed from error
                log.warning("worker_connection_refused", error=type(error).__name__)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
        self._connection = connection
        if again:
            log.info("worker_connection_back")
            self.on_return()
        return connection

    async def _connect(self) -> Any:
        connection = await asyncpg.connect(
            self._dsn,
            timeout=_CONNECT_SECONDS,
            command_timeout=_STATEMENT_SECONDS,
            server_settings={"application_name": self._application_name, "timezone": "UTC"},
        )
        for channel in self._ears:
            await connection.add_listener(channel, self._heard)
        connection.add_termination_listener(self._lost)
        return connection

    def _lost(self, connection: Any) -> None:
        # Nobody may be about to send anything; without a connection no notice would ever be heard.
        if self._deadline is None and connection is self._connection:
            self._return = asyncio.get_running_loop().create_task(self._come_back())

    async def _come_back(self) -> None:
        with suppress(LineClosed):
            async with self._lock:
                await self._ready()

    def _heard(self, _connection: object, _pid: int, channel: str, payload: str) -> None:
        hear = self._ears.get(channel)
        if hear is not None:
            hear(payload)
