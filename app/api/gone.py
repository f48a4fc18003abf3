"""Work that ends when the client who asked for it goes away: a reply that nobody reads costs nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from app.api.observe import GONE

T = TypeVar("T")


class ClientGone(Exception):
    """Nobody waits for this any more."""


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives. It is cancelled when the client closes the connection. Raises ClientGone.

    The body must have been read: what comes after it is the end of the connection.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        # Not `gather`, which passes a cancellation of this on: `working` may be closing its connections.
        await asyncio.wait({working, leaving})
        if not working.cancelled():
            working.exception()  # has been raised, or concerns nobody any more


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def install(app: FastAPI) -> None:
    async def gone(request: Request, error: Exception) -> Response:
        return Response(status_code=GONE)

    app.add_exception_handler(ClientGone, gone)
