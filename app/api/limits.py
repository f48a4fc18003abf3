"""How large a body may be, whether its length is announced or it comes in chunks. Plain ASGI.

Whoever sends too much is told at once and then listened to for a while: a connection that is closed on
unread data is reset, and the answer is lost with it.
"""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import problem

LINGER_BYTES: Final = 64 * 1024 * 1024
LINGER_SECONDS: Final = 10.0
_CLOSE: Final = {"Connection": "close"}


class BodyLimit:
    """413 for a body above `json_bytes`, or above `upload_bytes` under one of the `uploads` paths."""

    def __init__(self, app: ASGIApp, json_bytes: int, upload_bytes: int, uploads: tuple[str, ...]) -> None:
        self._app = app
        self._json_bytes = json_bytes
        self._upload_bytes = upload_bytes
        self._uploads = uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._upload_bytes if scope["path"].startswith(self._uploads) else self._json_bytes
        said = f"The body is larger than {limit} bytes."
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise HTTPException(413, said, _CLOSE)
            return message

        async def lingering(message: Message) -> None:
            """The answer goes out whole; only its end waits."""
            last = message["type"] == "http.response.body" and not message.get("more_body")
            if last and received > limit:
                await send({**message, "more_body": True})
                await _drain(receive)
                message = {"type": "http.response.body"}
            await send(message)

        if _announced(scope) > limit:
            received = limit + 1
            await problem(scope, 413, "too_large", said, _CLOSE)(scope, receive, lingering)
        else:
            await self._app(scope, counted, lingering)


async def _drain(receive: Receive) -> None:
    left = LINGER_BYTES
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while left > 0:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body"):
                    return
                left -= len(message.get("body", b""))
    except TimeoutError:
        return


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0
