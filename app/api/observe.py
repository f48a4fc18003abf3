"""Around every request: its id, one line in the log, its metrics, and an answer whatever happens.

Plain ASGI, so that streams pass untouched. Writes no content, no query strings and no keys.
"""

from __future__ import annotations

import re
import time
from typing import Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.metrics import Metrics
from app.api.problems import unexpected
from app.core.ids import new_id
from app.core.log import get

log = get(__name__)

_ACCEPTABLE = re.compile(r"[A-Za-z0-9._-]{1,64}")
# What proxies write for a client that went away before it had an answer.
GONE: Final = 499
QUIET: Final = frozenset({"/health/live", "/health/ready", "/metrics"})


class Observed:
    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identifier = _given_id(scope) or new_id().hex
        scope.setdefault("state", {})["request_id"] = identifier
        status = GONE
        started = time.perf_counter()

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (b"x-request-id", identifier.encode())]}
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=identifier):
            try:
                await self._app(scope, receive, sent)
            except Exception as error:
                if status != GONE:
                    # Half an answer is out: only an aborted connection tells the client the truth.
                    log.error("broken_off", kind=type(error).__name__, exc_info=error)
                    raise
                await unexpected(error, scope)(scope, receive, sent)
            finally:
                seconds = time.perf_counter() - started
                route = getattr(scope.get("route"), "name", "unmatched")
                self._metrics.answered(scope["method"], route, status, seconds)
                if scope["path"] not in QUIET:
                    log.info(
                        "request",
                        method=scope["method"],
                        route=route,
                        status=status,
                        duration_ms=round(seconds * 1000, 1),
                    )
                structlog.contextvars.unbind_contextvars("workspace_id")


def _given_id(scope: Scope) -> str | None:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            text = value.decode("latin-1")
            return text if _ACCEPTABLE.fullmatch(text) else None
    return None
