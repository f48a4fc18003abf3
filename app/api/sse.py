"""Server-sent events: an async iterator of events in, a stream out that always has an end.

A broken source becomes a `failed` event, a stopping server a last event, an idle one a comment now
and then. A client that goes away closes the source. No session is held while a stream waits.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Final, NamedTuple

from starlette.requests import Request
from starlette.responses import StreamingResponse

from app.api.problems import document, status_of
from app.core.errors import MindConeError, Unavailable
from app.core.log import get

log = get(__name__)

PING_SECONDS: Final = 15.0
PING: Final = b": ping\n\n"


class ShuttingDown(Unavailable):
    """The server is stopping; connect again in a moment."""

    code = "shutting_down"


class Event(NamedTuple):
    """`id` is what a client sends back as `Last-Event-ID`."""

    event: str
    data: Any
    id: str | None = None


def encode(event: Event) -> bytes:
    lines = [f"event: {event.event}"]
    if event.id is not None:
        lines.append(f"id: {event.id}")
    # JSON has no raw line ends, so one data line is enough.
    lines.append(f"data: {json.dumps(event.data, ensure_ascii=False, default=str, separators=(',', ':'))}")
    return ("\n".join(lines) + "\n\n").encode(errors="replace")


class EventStream(StreamingResponse):
    media_type = "text/event-stream"

    def __init__(self, request: Request, events: AsyncIterator[Event], ping_seconds: float = PING_SECONDS) -> None:
        super().__init__(
            _frames(request, events, ping_seconds),
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )


async def _frames(request: Request, events: AsyncIterator[Event], ping_seconds: float) -> AsyncIterator[bytes]:
    queue: asyncio.Queue[Event | None] = asyncio.Queue(maxsize=1)
    # One task runs the source from beginning to end: a timeout around its steps would cancel it half way.
    pump = asyncio.create_task(_pump(request, events, queue))
    stopping = asyncio.create_task(_stopping(request).wait())
    waiting = asyncio.create_task(queue.get())
    try:
        while True:
            await asyncio.wait({waiting, stopping}, timeout=ping_seconds, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                event = waiting.result()
                if event is None:
                    return
                waiting = asyncio.create_task(queue.get())
                yield encode(event)
            elif not stopping.done():
                yield PING
            if stopping.done():
                yield encode(failed(request, ShuttingDown()))
                return
    finally:
        tasks = (pump, waiting, stopping)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pump(request: Request, events: AsyncIterator[Event], queue: asyncio.Queue[Event | None]) -> None:
    try:
        async for event in events:
            await queue.put(event)
    except MindConeError as error:
        await queue.put(failed(request, error))
    except Exception as error:
        log.error("stream_failed", kind=type(error).__name__, exc_info=error)
        await queue.put(failed(request, MindConeError()))
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()
    await queue.put(None)


def failed(request: Request, error: MindConeError) -> Event:
    """The last event of a stream that could not go on."""
    return Event("failed", document(request.scope, status_of(error), error.code, error.detail, **error.extra))


def _stopping(request: Request) -> asyncio.Event:
    stopping: asyncio.Event = request.app.state.stopping
    return stopping
