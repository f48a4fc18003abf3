"""What an extractor finds in one card. Plain values; knows neither tables nor vectors.

Every offset counts characters of the card's content: `content[start:end]`. Names refer to entities by
`EntityDraft.name`, exactly; a name that no entity of the same extraction has is dropped on the way in.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, Protocol

from app.graph.kinds import type_of

EntityType = Literal["person", "place", "organization", "event", "work", "product", "concept", "other"]
ENTITY_TYPES: Final[tuple[EntityType, ...]] = (
    "person",
    "place",
    "organization",
    "event",
    "work",
    "product",
    "concept",
    "other",
)


def known_type(written: str | None) -> EntityType:
    """The type that is meant; "other" where there is none."""
    meant = type_of(written or "")
    return next((kind for kind in ENTITY_TYPES if kind == meant), "other")


NO_WORKSPACE: Final = uuid.UUID(int=0)


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TimeRange:
    """[start, end), aware. `text` is the expression that was resolved."""

    start: datetime
    end: datetime
    text: str = ""


@dataclass(frozen=True, slots=True)
class EntityDraft:
    """`type` "other" means: not known. `mentions` are the places where the text names it, in order."""

    name: str
    type: EntityType = "other"
    description: str = ""
    aliases: tuple[str, ...] = ()
    mentions: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationDraft:
    """`text` is the sentence that states it, with pronouns resolved; `confidence` 0…1."""

    source: str
    target: str
    predicate: str
    text: str
    confidence: float = 1.0
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class PointDraft:
    """One atomic claim that stands alone. `entities` are the names it is about."""

    text: str
    start: int | None = None
    end: int | None = None
    entities: tuple[str, ...] = ()
    times: tuple[TimeRange, ...] = ()
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class FacetDraft:
    """One section of an episode."""

    title: str
    description: str
    points: tuple[PointDraft, ...] = ()
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class RoleDraft:
    """What an entity is or does in an episode: the text of the edge is "name | role"."""

    entity: str
    role: str
    facet: int | None = None
    """Index of the facet within its episode; None: the episode as a whole."""


@dataclass(frozen=True, slots=True)
class EpisodeDraft:
    """One bounded focus. `happened` is what it is about in time, when that is known."""

    title: str
    summary: str
    facets: tuple[FacetDraft, ...] = ()
    roles: tuple[RoleDraft, ...] = ()
    happened: TimeRange | None = None
    external_id: str | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that was found in one card. `dropped` counts what was refused, by reason; `added` what the coverage guard
    brought back, by kind.
    """

    entities: tuple[EntityDraft, ...] = ()
    relations: tuple[RelationDraft, ...] = ()
    episodes: tuple[EpisodeDraft, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)
    added: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Source:
    """A card as an extractor reads it. `created_at` is the date from which the text speaks.

    `chunks` are the spans of the card's chunks in order; `known` the names that the workspace already has
    and that this text contains, with their types; `tags` and `links` the card's own.
    """

    card_id: uuid.UUID
    title: str
    content: str
    created_at: datetime
    chunks: Sequence[Span] = ()
    tags: Sequence[str] = ()
    links: Sequence[str] = ()
    known: Sequence[tuple[str, EntityType]] = ()
    workspace_id: uuid.UUID = NO_WORKSPACE


class Extractor(Protocol):
    """`version` names the extractor and its prompts or rules: what it found is cached under it."""

    @property
    def version(self) -> str: ...

    async def extract(self, source: Source, *, final: bool = False) -> Extraction:
        """Raises ProviderError when a model is needed and cannot be had; `final`, because nobody will ask again: only
        when it could not be had for any part of the card.
        """
        ...
