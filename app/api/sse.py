"""Server-sent events: an async iterator of events in, a stream out that always has an end.

A broken source becomes a `failed` event, a stopping server a last event, an idle one a comment now
and then. A client that goes away closes the source. No session is held while a stream waits.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from starlette.requests import Request
from starlette.responses import StreamingResponse

from app.api.problems import document, status_of
from app.core.errors import MindConeError, ShuttingDown
from app.core.log import get

log = get(__name__)

PING_SECONDS: Final = 15.0
PING: Final = b": ping\n\n"
# No line ends for SSE, but for many a client's line reader.
_LINE_ENDS: Final = {ord(char): f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"}


class Event(NamedTuple):
    """`id` is what a client sends back as `Last-Event-ID`."""

    event: str
    data: Any
    id: str | None = None


def on_one_line(value: Any) -> str:
    """JSON has no raw line ends, so one data line is enough."""
    return json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":")).translate(_LINE_ENDS)


def encode(event: Event) -> bytes:
    lines = [f"event: {event.event}"]
    if event.id is not None:
        lines.append(f"id: {event.id}")
    lines.append(f"data: {on_one_line(event.data)}")
    return ("\n".join(lines) + "\n\n").encode(errors="replace")


def failed(request: Request, error: MindConeError) -> Event:
    """The last event of a stream that could not go on."""
    return Event("failed", document(request.scope, status_of(error), error.code, error.detail, **error.extra))


@dataclass(frozen=True, slots=True)
class Wire:
    """How a stream writes its events, and the event of its failure. The default is ours."""

    encode: Callable[[Any], bytes] = encode
    failed: Callable[[Request, MindConeError], Any] = failed


class EventStream(StreamingResponse):
    media_type = "text/event-stream"

    def __init__(
        self,
        request: Request,
        events: AsyncIterator[Any],
        ping_seconds: float = PING_SECONDS,
        wire: Wire = Wire(),
    ) -> None:
        super().__init__(
            _frames(request, events, ping_seconds, wire),
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )


async def _frames(
    request: Request, events: AsyncIterator[Any], ping_seconds: float, wire: Wire
) -> AsyncIterator[bytes]:
    queue: asyncio.Queue[Any] = asyncio.Queue(maxsize=1)
    # One task runs the source from beginning to end: a timeout around its steps would cancel it half way.
    pump = asyncio.create_task(_pump(request, events, queue, wire))
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
                yield wire.encode(event)
            elif not stopping.done():
                yield PING
            if stopping.done():
                yield wire.encode(wire.failed(request, ShuttingDown()))
                return
    finally:
        tasks = (pump, waiting, stopping)
        for task in tasks:
            task.cancel()
        # Where this is cancelled itself, again and again, the tasks must not be: they are just closing connections.
        await asyncio.wait(tasks)


async def _pump(request: Request, events: AsyncIterator[Any], queue: asyncio.Queue[Any], wire: Wire) -> None:
    try:
        async for event in events:
            await queue.put(event)
    except MindConeError as error:
        await queue.put(wire.failed(request, error))
    except Exception as error:
        log.error("stream_failed", kind=type(error).__name__, exc_info=error)
        await queue.put(wire.failed(request, MindConeError()))
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()
    await queue.put(None)


def _stopping(request: Request) -> asyncio.Event:
    stopping: asyncio.Event = request.app.state.stopping
    return stopping
