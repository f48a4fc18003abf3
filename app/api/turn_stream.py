"""A turn as a stream of events, from the process that runs it or from the database, and going on after a break.

The events of a turn have a fixed order and its text only grows. So the place of an event is a stage and
how much of it has been told, and a listener can come back to any process and go on from there.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any, Final, NamedTuple, get_args

from app.api.answer_shapes import AnswerShape, answer_events, answer_shape, ids_of, turn_shape
from app.api.sse import Event
from app.chat.answer import Answer
from app.chat.tables import Message
from app.chat.turn import INTERRUPTIONS, Failed, Started, TurnEvent
from app.providers.ports import StopReason

_STAGES: Final = {
    "started": 1,
    "route": 2,
    "hits": 3,
    "token": 4,
    "tool": 4,
    "citation": 5,
    "finished": 6,
    "failed": 6,
}
_TOKEN: Final = _STAGES["token"]
_PLACE = re.compile(r"([0-6])\.(\d{1,9})(?:\.(\d{1,3}))?")
# Why a broken-off answer ended, where only the code is known any more.
_DETAILS: Final = {kind.code: (kind.__doc__ or "").strip() for kind in INTERRUPTIONS} | {
    "process_lost": "The process that worked on this answer died; what was said so far is kept."
}
_ANY_DETAIL: Final = "The answer could not be finished; what was said so far is kept."


class Place(NamedTuple):
    """`part`: characters of the text told so far, or the number of the citation. `calls`: of tools, told so far, which
    stand between pieces of the text.
    """

    stage: int
    part: int
    calls: int = 0

    @classmethod
    def parse(cls, last_event_id: str | None) -> Place:
        """The beginning, unless it is one of ours."""
        match = _PLACE.fullmatch(last_event_id or "")
        return cls(int(match[1]), int(match[2]), int(match[3] or 0)) if match else cls(0, 0)

    def __str__(self) -> str:
        return f"{self.stage}.{self.part}" + (f".{self.calls}" if self.calls else "")


async def placed(events: AsyncGenerator[Event], after: Place) -> AsyncGenerator[Event]:
    """The events behind `after`, each with its place as `id`; of a piece of text that was partly told, the rest."""
    chars = citations = calls = 0
    async with aclosing(events):
        async for event in events:
            stage, part = _STAGES[event.event], 0
            if event.event == "tool":
                calls += 1
                part = chars
            elif stage == _TOKEN:
                chars += len(event.data["text"])
                part = chars
                if after.stage == _TOKEN and chars > after.part:
                    event = event._replace(data={"text": event.data["text"][-(chars - after.part) :]})
            elif event.event == "citation":
                citations += 1
                part = citations
            place = Place(stage, part, calls if stage == _TOKEN else 0)
            if place > after:
                yield event._replace(id=str(place))


async def turn_events(events: AsyncGenerator[TurnEvent]) -> AsyncGenerator[Event]:
    """A turn of this process: as `/ask`, with the ids of its messages, or `failed` as the last one."""
    shaped: Callable[[Answer], AnswerShape] = answer_shape
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Started):
                shaped = partial(turn_shape, event)
                yield _started(event)
            elif isinstance(event, Failed):
                yield _failed(event.error.code, event.error.detail, event.status)
            else:
                for told in answer_events(event, shaped):
                    yield told


async def watched_events(messages: AsyncGenerator[Message]) -> AsyncGenerator[Event]:
    """A turn as the database tells it: what is new of its text, then its end. Hits are not stored."""
    said: str | None = None
    called = 0
    async with aclosing(messages):
        async for message in messages:
            if said is None:
                said = ""
                yield _started(_ids(message))
                if message.route is not None:
                    yield Event("route", message.route)
            for call in _settled(message)[called:]:
                if call["at"] > len(said):
                    yield Event("token", {"text": message.content[len(said) : call["at"]]})
                    said = message.content[: call["at"]]
                called += 1
                yield Event("tool", call)
            if len(message.content) > len(said):
                yield Event("token", {"text": message.content[len(said) :]})
                said = message.content
            for told in _end(message):
                yield told


def _settled(message: Message) -> list[dict[str, Any]]:
    """Calls of tools with their outcomes; what a process that died has begun has none, which is told at the end."""
    calls: list[dict[str, Any]] = message.tool_calls or []
    return [call for call in calls if call["state"] != "running" or message.status != "streaming"]


def _end(message: Message) -> list[Event]:
    code = message.error_code
    if message.status == "streaming":
        return []
    if message.status != "complete" and code not in get_args(StopReason):
        return [_failed(code or "internal", _DETAILS.get(code or "", _ANY_DETAIL), message.status)]
    citations = message.citations or []
    finished: dict[str, Any] = {
        **ids_of(_ids(message)),
        "answer": message.content,
        "status": message.status,
        "stop_reason": code or "stop",
        "citations": citations,
        "removed_citations": (message.ledger or {}).get("removed_citations", 0),
        "route": message.route,
        "ledger": message.ledger,
        "usage": message.usage,
        "tool_calls": message.tool_calls or [],
        "provider": message.provider,
        "model": message.model,
        "timings_ms": message.timings_ms,
    }
    return [*(Event("citation", citation) for citation in citations), Event("finished", finished)]


def _ids(message: Message) -> Started:
    # An answer always has the question that it answers before it.
    assert message.parent_id is not None
    return Started(message.conversation_id, message.branch_id, message.parent_id, message.id)


def _started(started: Started) -> Event:
    return Event("started", {name: str(value) for name, value in ids_of(started).items()})


def _failed(code: str, detail: str, message_status: str) -> Event:
    """`message_status` is how what was said so far is stored."""
    return Event("failed", {"code": code, "detail": detail, "message_status": message_status})
