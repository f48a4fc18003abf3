"""Episodes as they look on the wire: what callers post, and what they read."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from app.api.card_shapes import BulkError, InvalidItem, SourceShape
from app.api.problems import described
from app.api.text_types import ExternalId, Integer, JsonObject, Line, Moment, Shape, Tags, Text, Title
from app.cards.drafts import NewCard
from app.core.errors import MindConeError
from app.ingestion.posting import CardRef, EpisodePost
from app.text.when import find_date

Claim = Annotated[Line, Field(max_length=4000)]
Prose = Annotated[Text, Field(max_length=20_000)]
Named = Annotated[Line, Field(max_length=300)]


def _free_form(value: Any) -> Any:
    """Dates as people write them; what is ISO 8601 already is left to the type."""
    if not isinstance(value, str):
        return value
    found = find_date(value)
    if found is None:
        raise PydanticCustomError("date_unreadable", "No full date (year, month, day) can be read from this")
    return found


FreeDate = Annotated[Moment, BeforeValidator(_free_form)]


class PostedPoint(Shape):
    """One claim; `start` and `end` are offsets into the card's content."""

    text: Claim
    start: Annotated[Integer, Field(ge=0)] | None = None
    end: Annotated[Integer, Field(ge=0)] | None = None


class PostedFacet(Shape):
    title: Annotated[Line, Field(max_length=500)]
    description: Prose = ""
    points: Annotated[list[PostedPoint], Field(max_length=500)] = Field(default_factory=list)


class PostedEntity(Shape):
    name: Named
    type: Annotated[Text, Field(max_length=50)] | None = None
    description: Annotated[Text, Field(max_length=4000)] | None = None
    aliases: Annotated[list[Named], Field(max_length=50)] = Field(default_factory=list)


class PostedRelation(Shape):
    """`text` is the sentence that states it; without one: source, predicate, target."""

    source: Named
    target: Named
    predicate: Annotated[Text, Field(max_length=500)] = ""
    text: Annotated[Text, Field(max_length=4000)] = ""


class EpisodeCard(Shape):
    """A card that is there (`id`, or `external_id` alone), or one to write."""

    id: uuid.UUID | None = None
    title: Title | None = None
    content: Text | None = None
    created_at: FreeDate | None = None
    external_id: ExternalId | None = None
    metadata: JsonObject | None = None
    tags: Tags | None = None
    source: SourceShape | None = None

    @model_validator(mode="after")
    def _is_one_of_both(self) -> EpisodeCard:
        if self.content is None and self.id is None and self.external_id is None:
            raise PydanticCustomError("card_missing", "A card is named by id or external_id, or written with content")
        if self.id is not None and self.content is not None:
            raise PydanticCustomError("card_ambiguous", "A card that is named by id is not written here")
        return self


class PostedItem(Shape):
    """A caller's own extraction of one episode. What is left out is filled unless it is `complete`."""

    external_id: ExternalId | None = None
    card: EpisodeCard
    title: Annotated[Line, Field(max_length=500)]
    summary: Prose = ""
    occurred_at: FreeDate | None = None
    facets: Annotated[list[PostedFacet], Field(max_length=200)] = Field(default_factory=list)
    entities: Annotated[list[PostedEntity], Field(max_length=500)] = Field(default_factory=list)
    relations: Annotated[list[PostedRelation], Field(max_length=2000)] = Field(default_factory=list)
    complete: Annotated[bool, Field(strict=True)] = False


def _isolated(value: Any, handler: ValidatorFunctionWrapHandler) -> PostedItem | InvalidItem:
    try:
        item: PostedItem = handler(value)
    except ValidationError as error:
        return InvalidItem(errors=described(error.errors(), value))
    return item


class EpisodesPost(Shape):
    """Up to 500 episodes; a bad one is reported and does not spoil the others."""

    items: Annotated[list[Annotated[PostedItem, WrapValidator(_isolated)]], Field(max_length=500)]


class PostedResult(BaseModel):
    index: int
    status: Literal["created", "updated", "unchanged", "rejected"]
    id: uuid.UUID | None = Field(None, description="The episode's id")
    card_id: uuid.UUID | None = None
    external_id: str | None = None
    error: BulkError | None = None


class EpisodesResult(BaseModel):
    items: list[PostedResult]


class Range(BaseModel):
    """[start, end)."""

    start: datetime | None
    end: datetime | None


class PointShape(BaseModel):
    """`start` and `end` are offsets into the card's content; `valid` ends where a newer claim took over."""

    id: uuid.UUID
    card_id: uuid.UUID
    chunk_id: uuid.UUID | None
    text: str
    start: int | None
    end: int | None
    speaker: str | None
    happened: Range | None
    valid: Range | None
    superseded_by: uuid.UUID | None
    entities: list[uuid.UUID]


class FacetShape(BaseModel):
    id: uuid.UUID
    card_id: uuid.UUID
    title: str
    description: str
    start: int | None
    end: int | None
    happened: Range | None
    points: list[PointShape]


class RoleShape(BaseModel):
    """What an entity is or does here."""

    id: uuid.UUID
    entity_id: uuid.UUID
    name: str
    facet_id: uuid.UUID | None
    text: str


class EpisodeCardName(BaseModel):
    id: uuid.UUID
    title: str
    external_id: str | None


class EpisodeShape(BaseModel):
    id: uuid.UUID
    external_id: str | None
    title: str
    summary: str
    happened: Range | None
    origin: Literal["own", "posted"]
    joined_to: uuid.UUID | None = Field(description="The episode that this one continues")
    created_at: datetime
    cards: list[EpisodeCardName]
    facets: list[FacetShape]
    roles: list[RoleShape]


# -------------------------------------------------------------------------------------- there and back


def episode_post(item: PostedItem | MindConeError) -> EpisodePost | MindConeError:
    if isinstance(item, MindConeError):
        return item
    body = item.model_dump(mode="json", exclude={"external_id", "card", "complete"}, exclude_none=True)
    return EpisodePost(_card(item.card), item.external_id, item.complete, body)


def _card(shape: EpisodeCard) -> NewCard | CardRef:
    if shape.content is None:
        return CardRef(shape.id, shape.external_id)
    return NewCard(
        title=shape.title,
        content=shape.content,
        tags=shape.tags or (),
        created_at=shape.created_at,
        source=shape.source.model_dump(exclude_none=True) if shape.source is not None else None,
        metadata=shape.metadata or {},
        external_id=shape.external_id,
        stated=frozenset(shape.model_fields_set - {"id"}),
    )
