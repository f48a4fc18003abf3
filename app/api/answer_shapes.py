"""What an answer looks like on the wire, whole or as a stream of events."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.api.search import (
    FiltersShape,
    HitShape,
    LevelChoice,
    QueryText,
    ReportHitShape,
    RouteShape,
    filters_of,
    hit_shape,
    insight_trace,
    level_of,
    report_shapes,
    route_shape,
)
from app.api.sse import Event
from app.api.text_types import Integer, Line, Shape
from app.chat.answer import Answer, AnswerEvent, Ask, CallEnded, Calling, Routed, Token
from app.chat.citations import Citation
from app.chat.toolbox import Called
from app.chat.turn import Started
from app.providers.ports import Usage


class AnswerBody(Shape):
    """What every question may say besides its text."""

    level: LevelChoice = "auto"
    limit: Integer | None = Field(None, ge=1, le=100, description="Cards that are looked at")
    filters: FiltersShape | None = None
    provider: Line | None = Field(None, max_length=100)
    model: Line | None = Field(None, max_length=200)
    stream: bool = False


class AskBody(AnswerBody):
    model_config = ConfigDict(json_schema_extra={"example": {"query": "What did we decide about the supplier?"}})

    query: QueryText


class TurnBody(AnswerBody):
    model_config = ConfigDict(json_schema_extra={"example": {"content": "And who said so?"}})

    content: QueryText
    branch_id: uuid.UUID | None = None


class CitationShape(BaseModel):
    """`start` and `end` are offsets into the card's content."""

    marker: str
    kind: str
    id: uuid.UUID
    chunk_id: uuid.UUID | None
    quote: str
    start: int | None
    end: int | None


class UsageShape(BaseModel):
    """Tokens as the provider counted them, or estimated."""

    input_tokens: int
    output_tokens: int
    estimated: bool


class ToolCallShape(BaseModel):
    """What the model called on the way. `state`: done, failed (the tool said no), invalid (no such tool, or arguments
    that it does not take), repeated, refused (too many), running (broken off with its process). `at`: characters of the
    answer before it. `text` is what the model was told, `data` is for programs.
    """

    id: str
    name: str
    arguments: dict[str, Any] | str
    at: int
    state: str
    text: str
    data: dict[str, Any]


class AnswerShape(BaseModel):
    """`status` complete: the model came to its own end; interrupted: see `stop_reason`."""

    answer: str
    status: str
    stop_reason: str
    citations: Sequence[CitationShape]
    removed_citations: int
    route: RouteShape
    hits: Sequence[HitShape]
    reports: Sequence[ReportHitShape]
    degraded: Sequence[str]
    nothing_relevant: bool
    ledger: dict[str, Any]
    usage: UsageShape
    tool_calls: Sequence[ToolCallShape]
    provider: str
    model: str
    timings_ms: dict[str, float]
    insight: dict[str, Any] | None = None


class TurnShape(AnswerShape):
    conversation_id: uuid.UUID
    branch_id: uuid.UUID
    user_message_id: uuid.UUID
    message_id: uuid.UUID


def ask_of(body: AnswerBody, query: str) -> Ask:
    return Ask(
        query=query,
        level=level_of(body.level),
        limit=body.limit,
        filters=filters_of(body.filters),
        provider=body.provider,
        model=body.model,
    )


def answer_shape(answer: Answer) -> AnswerShape:
    return AnswerShape.model_construct(**_answer_fields(answer))


def turn_shape(started: Started, answer: Answer) -> TurnShape:
    return TurnShape.model_construct(**_answer_fields(answer), **ids_of(started))


def _answer_fields(answer: Answer) -> dict[str, Any]:
    return {
        "answer": answer.text,
        "status": "complete" if answer.is_complete else "interrupted",
        "stop_reason": answer.stop_reason,
        "citations": [citation_shape(citation) for citation in answer.citations],
        "removed_citations": answer.removed_citations,
        "route": route_shape(answer.evidence.route),
        "hits": [hit_shape(hit) for hit in answer.evidence.hits],
        "reports": report_shapes(answer.evidence),
        "degraded": list(answer.evidence.degraded),
        "nothing_relevant": answer.evidence.nothing_relevant,
        "ledger": asdict(answer.ledger),
        "usage": usage_shape(answer.usage),
        "tool_calls": [tool_call_shape(called) for called in answer.tool_calls],
        "provider": answer.provider,
        "model": answer.model,
        "timings_ms": answer.timings_ms,
        "insight": insight_trace(answer.evidence),
    }


def usage_shape(usage: Usage) -> UsageShape:
    return UsageShape.model_construct(
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, estimated=usage.estimated
    )


def tool_call_shape(called: Called) -> ToolCallShape:
    return ToolCallShape.model_construct(**called.stored())


def citation_shape(citation: Citation) -> CitationShape:
    return CitationShape.model_construct(
        marker=citation.marker,
        kind=citation.kind,
        id=citation.id,
        chunk_id=citation.chunk_id,
        quote=citation.quote,
        start=citation.start,
        end=citation.end,
    )


def ids_of(started: Started) -> dict[str, Any]:
    return {
        "conversation_id": started.conversation_id,
        "branch_id": started.branch_id,
        "user_message_id": started.user_message_id,
        "message_id": started.message_id,
    }


# ------------------------------------------------------------------------------------- as a stream


async def ask_events(events: AsyncGenerator[AnswerEvent]) -> AsyncGenerator[Event]:
    """The stream of `/ask`: started, route, hits, tokens, citations, finished."""
    yield Event("started", {})
    async with aclosing(events):
        async for event in events:
            for told in answer_events(event, answer_shape):
                yield told


def answer_events(event: AnswerEvent, shaped: Callable[[Answer], AnswerShape]) -> list[Event]:
    """One event of the answer step, as what a client is told."""
    if isinstance(event, Token):
        return [Event("token", {"text": event.text})]
    if isinstance(event, CallEnded):
        return [Event("tool", event.called.stored())]
    if isinstance(event, Calling):
        return []
    if isinstance(event, Routed):
        evidence = event.evidence
        found = {
            "hits": [hit_shape(hit).model_dump(mode="json") for hit in evidence.hits],
            "reports": [report.model_dump(mode="json") for report in report_shapes(evidence)],
            "nothing_relevant": evidence.nothing_relevant,
            "degraded": list(evidence.degraded),
        }
        return [Event("route", route_shape(evidence.route).model_dump(mode="json")), Event("hits", found)]
    shape = shaped(event)
    return [
        *(Event("citation", citation.model_dump(mode="json")) for citation in shape.citations),
        Event("finished", shape.model_dump(mode="json")),
    ]
