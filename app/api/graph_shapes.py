"""Entities, candidates, decisions and the drawn graph as they look on the wire."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from app.api.pages import Page
from app.api.text_types import Line, Shape, Text
from app.graph.entity_pages import EntityDetail, EntityItem, PairItem
from app.graph.kinds import OTHER, type_of
from app.graph.neighbourhood_queries import Neighbourhood
from app.graph.tables import EntityDecision
from app.ingestion.link.revise import LONGEST_DESCRIPTION, MOST_ALIASES, EntityPatch

PairState = Literal["waiting", "merged", "apart"]


def _known_type(value: str) -> str:
    """One of our types, for whatever name of it was given."""
    found = type_of(value)
    if found == OTHER and value.strip().lower() != OTHER:
        raise PydanticCustomError(
            "entity_type",
            "A type is person, place, organization, event, work, product, concept or other",
        )
    return found


def _not_null(value: Any) -> Any:
    if value is None:
        raise PydanticCustomError("null", "This can be changed, but not cleared")
    return value


EntityType = Annotated[Text, Field(max_length=50), AfterValidator(_known_type)]
EntityName = Annotated[Line, Field(max_length=300)]


# ------------------------------------------------------------------------------------------- in


class EntityChange(Shape):
    """What is absent stays; null clears a description, the aliases, or makes the type `other`."""

    model_config = ConfigDict(json_schema_extra={"example": {"name": "Ada Lovelace", "aliases": ["Countess Lovelace"]}})

    name: Annotated[EntityName | None, BeforeValidator(_not_null)] = None
    type: EntityType | None = None
    description: Annotated[Text, Field(max_length=LONGEST_DESCRIPTION)] | None = None
    aliases: Annotated[list[EntityName], Field(max_length=MOST_ALIASES)] | None = Field(
        None, description="All other names that it answers to"
    )


class EntityMerge(Shape):
    into: uuid.UUID = Field(description="The entity that stays")


class SplitMention(BaseModel):
    """A mention as it was read; its card decides."""

    card_id: uuid.UUID


class EntitySplit(Shape):
    """The cards that speak of somebody else; or mentions, which stand for their cards: within one card a name means one
    entity.
    """

    card_ids: Annotated[list[uuid.UUID], Field(min_length=1, max_length=1000)] | None = None
    mentions: Annotated[list[SplitMention], Field(min_length=1, max_length=1000)] | None = None
    name: EntityName | None = Field(None, description="Of the new entity; without one: the same")

    @model_validator(mode="after")
    def _says_which(self) -> EntitySplit:
        if (self.card_ids is None) == (self.mentions is None):
            raise PydanticCustomError("split_ambiguous", "A split names card_ids or mentions, one of both")
        return self

    @property
    def cards(self) -> list[uuid.UUID]:
        return list(dict.fromkeys(self.card_ids or [mention.card_id for mention in self.mentions or ()]))


class CandidateDecision(Shape):
    decision: Literal["merge", "apart"]


def entity_patch(body: EntityChange) -> EntityPatch:
    stated = body.model_fields_set
    return EntityPatch(
        name=body.name,
        type=(body.type or OTHER) if "type" in stated else None,
        description=(body.description or "") if "description" in stated else None,
        aliases=(body.aliases or ()) if "aliases" in stated else None,
    )


# ------------------------------------------------------------------------------------------ out


class EntityShape(BaseModel):
    """`mentions` and `cards` are counts; `is_edited`: a person has changed it, the machine leaves it alone."""

    id: uuid.UUID
    name: str
    type: str
    description: str
    aliases: Sequence[str]
    is_edited: bool
    mentions: int
    cards: int


class EntityPage(Page[EntityShape]):
    pass


class MergedShape(BaseModel):
    id: uuid.UUID
    name: str
    type: str


class MentionShape(BaseModel):
    """`start` and `end` are offsets into the card's content, null where only its title names the entity, or nobody
    has said where.
    """

    entity_id: uuid.UUID = Field(description="The entity itself, or the merged one that is meant here")
    card_id: uuid.UUID
    chunk_id: uuid.UUID
    start: int | None
    end: int | None
    name: str


class RelationShape(BaseModel):
    """One statement of one card; `text` is the sentence."""

    id: uuid.UUID
    card_id: uuid.UUID
    other_id: uuid.UUID
    other_name: str
    outgoing: bool
    predicate: str
    text: str
    confidence: float


class EntityCardShape(BaseModel):
    id: uuid.UUID
    title: str
    mentions: int


class EntityDetailShape(BaseModel):
    """An entity with all that is said of it: the newest mentions and relations, the cards that name it most.

    A merged entity is shown as the one that it stands for.
    """

    id: uuid.UUID
    name: str
    type: str
    description: str
    aliases: Sequence[str]
    is_edited: bool
    created_at: datetime
    updated_at: datetime
    degree: int = Field(description="How many other entities it is related to")
    mention_count: int
    card_count: int
    merged: list[MergedShape] = Field(description="Entities that were merged into it")
    mentions: list[MentionShape]
    relations: list[RelationShape]
    cards: list[EntityCardShape]


class CandidateSide(EntityShape):
    contexts: list[str] = Field(description="What cards say around its name")


class CandidateShape(BaseModel):
    """Two entities that may be one. `layer` proposed it, `score` says how near they are, where that was measured."""

    id: uuid.UUID
    left: CandidateSide
    right: CandidateSide
    layer: str
    score: float
    state: PairState
    decided_by: str | None
    created_at: datetime


class CandidatePage(Page[CandidateShape]):
    pass


class DecisionSide(BaseModel):
    """As it was then; it may be gone."""

    id: uuid.UUID
    name: str
    kind: str


class DecisionShape(BaseModel):
    id: uuid.UUID
    left: DecisionSide
    right: DecisionSide
    layer: str
    score: float | None
    outcome: str
    decided_by: str
    detail: dict[str, Any]
    created_at: datetime


class DecisionPage(Page[DecisionShape]):
    pass


class NodeShape(BaseModel):
    id: uuid.UUID
    kind: Literal["entity", "card", "episode"]
    label: str
    degree: int = Field(description="How many entities it is joined to, shown or not")
    community: uuid.UUID | None = Field(description="Of an entity: the coarsest that it belongs to")


class EdgeShape(BaseModel):
    id: str
    source: uuid.UUID
    target: uuid.UUID
    kind: Literal["relation", "mention", "role", "told_by"]
    label: str
    weight: float


class GraphShape(BaseModel):
    """As D3's forces and Sigma take it."""

    nodes: list[NodeShape]
    edges: list[EdgeShape]


def entity_shape(item: EntityItem) -> EntityShape:
    return EntityShape.model_validate(item, from_attributes=True)


def detail_shape(found: EntityDetail, degree: int) -> EntityDetailShape:
    item = found.item
    return EntityDetailShape(
        id=item.id,
        name=item.name,
        type=item.type,
        description=item.description,
        aliases=item.aliases,
        is_edited=item.is_edited,
        created_at=found.created_at,
        updated_at=found.updated_at,
        degree=degree,
        mention_count=item.mentions,
        card_count=item.cards,
        merged=[MergedShape.model_validate(one, from_attributes=True) for one in found.merged],
        mentions=[MentionShape.model_validate(one, from_attributes=True) for one in found.mentions],
        relations=[RelationShape.model_validate(one, from_attributes=True) for one in found.relations],
        cards=[EntityCardShape.model_validate(one, from_attributes=True) for one in found.cards],
    )


def candidate_shape(pair: PairItem, contexts: Mapping[uuid.UUID, list[str]]) -> CandidateShape:
    def side(item: EntityItem) -> CandidateSide:
        return CandidateSide(**entity_shape(item).model_dump(), contexts=contexts.get(item.id, []))

    return CandidateShape.model_validate(
        {
            "id": pair.id,
            "left": side(pair.left),
            "right": side(pair.right),
            "layer": pair.layer,
            "score": pair.score,
            "state": pair.state,
            "decided_by": pair.decided_by,
            "created_at": pair.created_at,
        }
    )


def decision_shape(row: EntityDecision) -> DecisionShape:
    return DecisionShape(
        id=row.id,
        left=DecisionSide(id=row.left_id, name=row.left_name, kind=row.left_kind),
        right=DecisionSide(id=row.right_id, name=row.right_name, kind=row.right_kind),
        layer=row.layer,
        score=row.score,
        outcome=row.outcome,
        decided_by=row.decided_by,
        detail=row.detail,
        created_at=row.created_at,
    )


def graph_shape(found: Neighbourhood, communities: Mapping[uuid.UUID, uuid.UUID]) -> GraphShape:
    return GraphShape(
        nodes=[
            NodeShape(
                id=node.id, kind=node.kind, label=node.label, degree=node.degree, community=communities.get(node.id)
            )
            for node in found.nodes
        ],
        edges=[EdgeShape.model_validate(edge, from_attributes=True) for edge in found.edges],
    )
