"""Connections that go where their name was checked to lead: resolved once, checked, connected to that very address.

The only file that knows httpcore: `transport` puts the backend under its client. Names are resolved off the event loop.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

import httpcore

from app.providers.outgoing import Reach, check

# Of several addresses one that does not answer must not take the time of the others.
_FIRST_SECONDS: Final = 1.5
_TLS_PORT: Final = 443


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Raises AddressRefused before the first packet; a name that leads elsewhere the next time is checked again."""

    def __init__(self, reach: Reach, *, encrypted: bool) -> None:
        self._reach = reach
        self._encrypted = encrypted
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's own interface
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        deadline = time.monotonic() + timeout if timeout is not None else None
        addresses = await resolve(host, port, timeout)
        check(addresses, self._reach, encrypted=self._encrypted)
        for place, address in enumerate(addresses, 1):
            left = max(deadline - time.monotonic(), 0.01) if deadline is not None else None
            if place < len(addresses):
                left = _FIRST_SECONDS if left is None else min(left, _FIRST_SECONDS)
            try:
                return await self._sockets.connect_tcp(
                    address, port, timeout=left, local_address=local_address, socket_options=socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if place == len(addresses):
                    raise
        raise httpcore.ConnectError

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's own interface
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise httpcore.UnsupportedProtocol

    async def sleep(self, seconds: float) -> None:
        await self._sockets.sleep(seconds)


async def resolve(host: str, port: int = _TLS_PORT, seconds: float | None = None) -> Sequence[str]:
    """As `addresses_of`. Raises httpcore.ConnectError, ConnectTimeout."""
    try:
        return await addresses_of(host, seconds, port)
    except TimeoutError as error:
        raise httpcore.ConnectTimeout from error
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError from error


async def addresses_of(host: str, seconds: float | None, port: int = _TLS_PORT) -> Sequence[str]:
    """The addresses of a host, in the order in which to try them. Raises OSError, UnicodeError, TimeoutError."""
    async with asyncio.timeout(seconds):
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    if not found:
        raise OSError("no address")
    return list(dict.fromkeys(str(row[4][0]) for row in found))


def pool(
    reach: Reach, *, encrypted: bool, tls: Any, max_connections: int, keepalive_expiry: float
) -> httpcore.AsyncConnectionPool:
    """A pool whose every connection is checked. `tls` is the context of encrypted ones."""
    return httpcore.AsyncConnectionPool(
        ssl_context=tls or None,
        max_connections=max_connections,
        keepalive_expiry=keepalive_expiry,
        network_backend=PinnedBackend(reach, encrypted=encrypted),
    )
