"""Cards as they look on the wire, and the way from and to what the intake takes."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from app.api.pages import Page
from app.api.problems import described
from app.api.text_types import ExternalId, JsonObject, Moment, Shape, Tags, Text, Title
from app.cards.drafts import UNSET, CardPatch, NewCard
from app.cards.queries import Links
from app.cards.tables import Card, CardRevision
from app.core.errors import Invalid, MindConeError
from app.graph.related_queries import RelatedCard as Related

State = Literal["queued", "working", "ready", "failed"]


class SourceShape(Shape):
    """Where a card comes from."""

    kind: Annotated[Text, Field(max_length=50)] | None = None
    url: Annotated[Text, Field(max_length=4000)] | None = None
    path: Annotated[Text, Field(max_length=4000)] | None = None


class CardWrite(Shape):
    """Fields of a card that a caller decides. Null is the same as not there, except in PATCH, where it clears."""

    title: Title | None = Field(None, description="Without one: the first heading or line of the content")
    content: Text | None = Field(None, description="Markdown")
    tags: Tags | None = None
    created_at: Moment | None = Field(None, description="The date the text speaks from; without a zone UTC is meant")
    source: SourceShape | None = None
    metadata: JsonObject | None = None
    external_id: ExternalId | None = Field(None, description="The caller's own id, unique in the workspace")


class CardCreate(CardWrite):
    """A card always says what its content is, be it nothing."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "title": "中国地图出版社",
                "content": "See [[Cartography]]. 地图 is the Chinese word for map.",
                "tags": ["maps", "中文"],
                "created_at": "2026-03-01T12:00:00Z",
                "external_id": "notes/maps.md",
            }
        }
    )

    content: Text = Field(description="Markdown; may be empty where there is a title")


class CardChange(CardWrite):
    """A partial change: what is absent stays, null clears."""

    model_config = ConfigDict(json_schema_extra={"example": {"tags": ["maps"], "source": None}})


class InvalidItem(Invalid):
    """A value of this item is not acceptable."""

    code = "validation_error"


def _isolated(value: Any, handler: ValidatorFunctionWrapHandler) -> CardCreate | InvalidItem:
    try:
        item: CardCreate = handler(value)
    except ValidationError as error:
        return InvalidItem(errors=described(error.errors(), value))
    return item


class CardsBulk(Shape):
    """Up to 500 cards; a bad one is reported and does not spoil the others."""

    items: Annotated[list[Annotated[CardCreate, WrapValidator(_isolated)]], Field(max_length=500)]


class ExtractionShape(BaseModel):
    """What was found in the card when it was last learned. `dropped`: what was refused or made without the model, by
    reason; `added`: what the coverage guard brought back, by kind.
    """

    by: str | None = Field(None, description="Who reads cards here: rules or a model, with their version")
    entities: int
    relations: int
    episodes: int
    facets: int
    points: int
    dropped: dict[str, int]
    added: dict[str, int]


class Ingestion(BaseModel):
    """How far the card is on its way into search. `error` says why it failed or waits."""

    state: State
    step: str | None
    progress: float | None
    error: dict[str, str] | None
    attempts: int
    extraction: ExtractionShape | None = Field(None, description="Null as long as the card was never learned")


class CardShape(BaseModel):
    id: uuid.UUID
    title: str
    content: str
    tags: list[str]
    created_at: datetime
    updated_at: datetime
    version: int
    external_id: str | None
    source: SourceShape | None
    metadata: dict[str, Any]
    ingestion: Ingestion
    trashed_at: datetime | None


class CardPage(Page[CardShape]):
    total: int | None = Field(None, description="Cards on all pages together, when asked for with `count=true`")


class BulkError(BaseModel):
    code: str
    detail: str
    errors: list[dict[str, Any]] | None = None


class BulkItem(BaseModel):
    index: int
    status: Literal["created", "updated", "unchanged", "rejected"]
    id: uuid.UUID | None = None
    error: BulkError | None = None


class BulkResult(BaseModel):
    items: list[BulkItem]


class RevisionShape(BaseModel):
    """How the card looked at version `n`; `created_at` is the card's date, `revised_at` when it became so."""

    n: int
    title: str
    content: str
    tags: list[str]
    created_at: datetime
    source: SourceShape | None
    metadata: dict[str, Any]
    revised_at: datetime


class RevisionPage(Page[RevisionShape]):
    pass


class CardName(BaseModel):
    id: uuid.UUID
    title: str


class OutgoingLink(BaseModel):
    """`card` null: nothing here answers to this link yet."""

    target: str
    alias: str | None
    start: int
    end: int
    card: CardName | None


class IncomingLink(BaseModel):
    """`start` and `end` are offsets into the linking card's content."""

    target: str
    alias: str | None
    start: int
    end: int
    card: CardName


class RelatedCard(BaseModel):
    """A card that names the same things; `names` are some of them, the rarest first."""

    id: uuid.UUID
    title: str
    score: float
    names: list[str]


class LinksShape(BaseModel):
    outgoing: Sequence[OutgoingLink]
    incoming: Sequence[IncomingLink]
    related: Sequence[RelatedCard] = ()


# -------------------------------------------------------------------------------------- there and back


def new_card(body: CardWrite) -> NewCard:
    return NewCard(
        title=body.title,
        content=body.content or "",
        tags=body.tags or (),
        created_at=body.created_at,
        source=_source(body.source),
        metadata=body.metadata or {},
        external_id=body.external_id,
        stated=frozenset(body.model_fields_set),
    )


def bulk_error(error: MindConeError | None) -> BulkError | None:
    """Why an item of a bulk body was refused."""
    if error is None:
        return None
    return BulkError(code=error.code, detail=error.detail, errors=error.extra.get("errors"))


def card_patch(body: CardWrite) -> CardPatch:
    given = body.model_fields_set
    return CardPatch(
        title=body.title if "title" in given else UNSET,
        content=body.content if "content" in given else UNSET,
        tags=body.tags if "tags" in given else UNSET,
        created_at=body.created_at if "created_at" in given else UNSET,
        source=_source(body.source) if "source" in given else UNSET,
        metadata=body.metadata if "metadata" in given else UNSET,
        external_id=body.external_id if "external_id" in given else UNSET,
    )


def card_shape(card: Card) -> CardShape:
    error = None
    if card.error_code is not None:
        error = {"code": card.error_code, "detail": card.error_detail or ""}
    return CardShape.model_construct(
        id=card.id,
        title=card.title,
        content=card.content,
        tags=card.tags,
        created_at=card.created_at,
        updated_at=card.updated_at,
        version=card.version,
        external_id=card.external_id,
        source=_source_shape(card.source),
        metadata=card.meta,
        ingestion=Ingestion.model_construct(
            state=cast(State, card.state),
            step=card.step,
            progress=card.progress,
            error=error,
            attempts=card.attempts,
            extraction=_extraction_shape(card.extraction),
        ),
        trashed_at=card.trashed_at,
    )


def revision_shape(revision: CardRevision) -> RevisionShape:
    return RevisionShape(
        n=revision.n,
        title=revision.title,
        content=revision.content,
        tags=revision.tags,
        created_at=revision.card_created_at,
        source=_source_shape(revision.source),
        metadata=revision.meta,
        revised_at=revision.created_at,
    )


def links_shape(links: Links, related: Sequence[Related]) -> LinksShape:
    return LinksShape(
        outgoing=[
            OutgoingLink(
                target=found.link.target,
                alias=found.link.alias,
                start=found.link.start,
                end=found.link.end,
                card=CardName(id=found.card.id, title=found.card.title) if found.card else None,
            )
            for found in links.outgoing
        ],
        incoming=[
            IncomingLink(
                target=found.link.target,
                alias=found.link.alias,
                start=found.link.start,
                end=found.link.end,
                card=CardName(id=found.card_id, title=found.title),
            )
            for found in links.incoming
        ],
        related=[
            RelatedCard(id=card.id, title=card.title, score=round(card.score, 4), names=list(card.names))
            for card in related
        ],
    )


def _source(shape: SourceShape | None) -> dict[str, Any] | None:
    return shape.model_dump(exclude_none=True) if shape is not None else None


def _extraction_shape(stored: Any) -> ExtractionShape | None:
    if not isinstance(stored, dict):
        return None
    counts = {name: stored.get(name, 0) for name in ("entities", "relations", "episodes", "facets", "points")}
    return ExtractionShape.model_construct(
        by=stored.get("by"), **counts, dropped=stored.get("dropped", {}), added=stored.get("added", {})
    )


def _source_shape(stored: Any) -> SourceShape | None:
    if not isinstance(stored, dict):
        return None
    return SourceShape.model_construct(**{name: stored.get(name) for name in ("kind", "url", "path")})
