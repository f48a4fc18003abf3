"""How large a body may be, whether its length is announced or it comes in chunks. Plain ASGI."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import problem


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
        if _announced(scope) > limit:
            # What is already on its way is not read: the connection ends with the answer.
            answer = problem(scope, 413, "too_large", _said(limit), {"Connection": "close"})
            await answer(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                if received > limit:
                    raise HTTPException(413, _said(limit), {"Connection": "close"})
            return message

        await self._app(scope, counted, send)


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0


def _said(limit: int) -> str:
    return f"The body is larger than {limit} bytes."
