"""Questions over HTTP: `POST /search` gives evidence, no answer."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from app.api.deps import Reader, Wired
from app.api.gone import unless_gone
from app.api.idempotency import RecordedRoute
from app.api.text_types import Integer, JsonObject, Moment, Shape, Tags, Text
from app.core.errors import Invalid
from app.retrieval.types import Evidence, Filters, Hit, Level, Question, Route

router = APIRouter(tags=["search"], route_class=RecordedRoute)

LevelName = Literal["chat", "search", "explore", "context", "insight"]


class QueryTooLarge(Invalid):
    """The query is longer than the limit."""

    code = "query_too_large"


def _asks(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("blank_query", "The query is blank")
    return value


QueryText = Annotated[Text, AfterValidator(_asks)]
LevelChoice = Literal["auto"] | LevelName | Annotated[Integer, Field(ge=0, le=4)]


class FiltersShape(Shape):
    """All that are given must hold. `created_after` is inclusive, `created_before` exclusive."""

    tags: Tags = Field(default_factory=list)
    card_ids: Annotated[list[uuid.UUID], Field(max_length=1000)] = Field(default_factory=list)
    created_after: Moment | None = None
    created_before: Moment | None = None
    metadata: JsonObject = Field(default_factory=dict)


class SearchBody(Shape):
    model_config = ConfigDict(
        json_schema_extra={"example": {"query": "Which maps does the atlas have? 地图", "limit": 10}}
    )

    query: QueryText
    level: LevelChoice = "auto"
    limit: Annotated[Integer, Field(ge=1, le=100)] = 10
    filters: FiltersShape | None = None
    explain: bool = False
    as_of: Moment | None = Field(None, description="What was known then")


class RouteShape(BaseModel):
    level: LevelName
    reason: str
    confidence: float
    gates: Sequence[str]
    escalated_from: LevelName | None


class HitCard(BaseModel):
    id: uuid.UUID
    title: str
    external_id: str | None
    created_at: datetime
    tags: Sequence[str]


class SpanShape(BaseModel):
    chunk_id: uuid.UUID
    text: str
    start: int
    end: int
    score: float


class HitShape(BaseModel):
    rank: int
    score: float
    card: HitCard
    snippet: str
    evidence: Sequence[SpanShape]
    ranks: dict[str, int | None]
    episode: dict[str, Any] | None
    paths: Sequence[dict[str, Any]]
    explain: dict[str, float] | None = None


class ReportPointShape(BaseModel):
    text: str
    score: float
    card_ids: Sequence[uuid.UUID]


class ReportHitShape(BaseModel):
    """A report on a part of the notes, and what it says to the question. `level` 0 is the coarsest; `size` counts the
    names in it. `is_stale`: the notes have changed since it was written. `summary` is empty where not all that it
    rests on may be shown.
    """

    id: uuid.UUID
    title: str
    rating: float
    score: float
    summary: str
    level: int
    size: int
    is_stale: bool
    points: Sequence[ReportPointShape]


class SearchResult(BaseModel):
    """Best hit first; offsets count characters of the card's content. `degraded` says what could not be done,
    `insight` what level insight did and what that cost.
    """

    query: str
    level: LevelName
    route: RouteShape
    hits: Sequence[HitShape]
    reports: Sequence[ReportHitShape]
    nothing_relevant: bool
    degraded: Sequence[str]
    timings_ms: dict[str, float]
    index: dict[str, Any]
    insight: dict[str, Any] | None = None


@router.post("/search")
async def search(principal: Reader, services: Wired, body: SearchBody, request: Request) -> SearchResult:
    """Find the cards that answer a question, with the passages that do."""
    question = question_of(body, services.settings.query_max_bytes)
    evidence = await unless_gone(request, services.retriever.retrieve(principal.workspace_id, question))
    request.app.state.metrics.retrieved(evidence.level.name, evidence.timings_ms, tuple(evidence.degraded))
    return search_result(evidence)


def question_of(body: SearchBody, max_bytes: int) -> Question:
    """Raises QueryTooLarge."""
    check_query(body.query, max_bytes)
    return Question(
        query=body.query,
        level=level_of(body.level),
        limit=body.limit,
        filters=filters_of(body.filters),
        explain=body.explain,
        as_of=body.as_of,
        wants_hits=True,
    )


def check_query(query: str, max_bytes: int) -> None:
    """Raises QueryTooLarge."""
    if len(query.encode()) > max_bytes:
        raise QueryTooLarge(f"A query may hold {max_bytes} bytes.")


def level_of(choice: str | int) -> Level | None:
    if choice == "auto":
        return None
    return Level(choice) if isinstance(choice, int) else Level[choice]


def filters_of(shape: FiltersShape | None) -> Filters:
    if shape is None:
        return Filters()
    return Filters(
        tags=tuple(shape.tags),
        card_ids=tuple(shape.card_ids),
        created_after=shape.created_after,
        created_before=shape.created_before,
        metadata=shape.metadata,
    )


def search_result(evidence: Evidence) -> SearchResult:
    return SearchResult.model_construct(
        query=evidence.query,
        level=level_name(evidence.level),
        route=route_shape(evidence.route),
        hits=[hit_shape(hit) for hit in evidence.hits],
        reports=report_shapes(evidence),
        nothing_relevant=evidence.nothing_relevant,
        degraded=list(evidence.degraded),
        timings_ms=dict(evidence.timings_ms),
        index=dict(evidence.index),
        insight=insight_trace(evidence),
    )


def report_shapes(evidence: Evidence) -> list[ReportHitShape]:
    return [
        ReportHitShape.model_construct(
            **dict(report)
            | {
                "id": uuid.UUID(report["id"]),
                "points": [
                    ReportPointShape.model_construct(**point | {"card_ids": list(map(uuid.UUID, point["card_ids"]))})
                    for point in report["points"]
                ],
            }
        )
        for report in evidence.reports
    ]


def insight_trace(evidence: Evidence) -> dict[str, Any] | None:
    return None if evidence.insight is None else dict(evidence.insight.trace)


def level_name(level: Level) -> LevelName:
    return cast(LevelName, level.name)


def route_shape(route: Route) -> RouteShape:
    return RouteShape.model_construct(
        level=level_name(route.level),
        reason=route.reason,
        confidence=route.confidence,
        gates=list(route.gates),
        escalated_from=None if route.escalated_from is None else level_name(route.escalated_from),
    )


def hit_shape(hit: Hit) -> HitShape:
    return HitShape.model_construct(
        rank=hit.rank,
        score=hit.score,
        card=HitCard.model_construct(
            id=hit.card.id,
            title=hit.card.title,
            external_id=hit.card.external_id,
            created_at=hit.card.created_at,
            tags=list(hit.card.tags),
        ),
        snippet=hit.snippet,
        evidence=[
            SpanShape.model_construct(
                chunk_id=span.chunk_id, text=span.text, start=span.start, end=span.end, score=span.score
            )
            for span in hit.evidence
        ],
        ranks=dict(hit.ranks),
        episode=dict(hit.episode) if hit.episode is not None else None,
        paths=[dict(path) for path in hit.paths],
        explain=dict(hit.explain) if hit.explain is not None else None,
    )
