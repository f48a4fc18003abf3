"""What a card's extraction becomes: plain rows of the cone and of the graph, ready to be written in one go.

Entities stand here by the name that they have in their card (`entity`); whoever writes knows their ids.
`doc` is the row's number in the postings, given when it is written.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from app.graph.vector_tables import TextRole
from app.graph.vectors import VectorTable


@dataclass(frozen=True, slots=True)
class Period:
    """[start, end), aware."""

    start: datetime
    end: datetime


@dataclass(slots=True)
class Words:
    """What the postings need of a row besides its terms: its number, and the lengths of its two streams."""

    words: int
    grams: int
    doc: int = 0


@dataclass(frozen=True, slots=True)
class TextRow:
    """A text of an owner that is embedded."""

    table: VectorTable
    owner_id: uuid.UUID
    role: TextRole
    text_hash: uuid.UUID


@dataclass(slots=True)
class EpisodeRow:
    id: uuid.UUID
    card_id: uuid.UUID
    ordinal: int
    external_id: str | None
    title: str
    title_key: str
    summary: str
    happened: Period | None
    origin: str
    lexical: Words
    joined_to: uuid.UUID | None = None


@dataclass(slots=True)
class FacetRow:
    id: uuid.UUID
    episode: EpisodeRow
    ordinal: int
    title: str
    description: str
    start: int | None
    end: int | None
    happened: Period | None
    lexical: Words


@dataclass(slots=True)
class PointRow:
    id: uuid.UUID
    facet: FacetRow
    chunk_id: uuid.UUID | None
    ordinal: int
    text: str
    start: int | None
    end: int | None
    speaker: str | None
    happened: Period | None
    entities: Sequence[str]
    lexical: Words
    claim_key: uuid.UUID | None = None
    claim_value: str | None = None


@dataclass(slots=True)
class RoleRow:
    id: uuid.UUID
    episode: EpisodeRow
    facet: FacetRow | None
    entity: str
    text: str
    lexical: Words


@dataclass(slots=True)
class RelationRow:
    id: uuid.UUID
    chunk_id: uuid.UUID
    source: str
    target: str
    predicate: str
    text: str
    confidence: float
    start: int | None
    end: int | None
    lexical: Words


@dataclass(frozen=True, slots=True)
class MentionRow:
    chunk_id: uuid.UUID
    ordinal: int
    entity: str
    start: int | None
    end: int | None
    in_title: bool
    name: str


@dataclass(slots=True)
class ConeRows:
    """All rows of one card."""

    card_id: uuid.UUID
    episodes: list[EpisodeRow] = field(default_factory=list)
    facets: list[FacetRow] = field(default_factory=list)
    points: list[PointRow] = field(default_factory=list)
    roles: list[RoleRow] = field(default_factory=list)
    relations: list[RelationRow] = field(default_factory=list)
    mentions: list[MentionRow] = field(default_factory=list)
    tellings: dict[str, str] = field(default_factory=dict)
    """What the card says of an entity, by its name."""
    texts: list[TextRow] = field(default_factory=list)
