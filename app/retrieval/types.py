"""What every level takes and gives: a `Question` in, `Evidence` out. Plain data.

Scores: higher is better. Costs and distances: lower is better. Ranks start at 1. `start` and `end`
are character offsets into the card's content.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any, Literal

from app.providers.ports import ChatProvider

Fusion = Literal["absolute", "rrf", "bm25", "dense"]
Preset = Literal["chain", "published"]
Scorer = Literal["default", "hops"]


class Level(IntEnum):
    """How deep a question is answered."""

    chat = 0
    search = 1
    explore = 2
    context = 3
    insight = 4


@dataclass(frozen=True, slots=True)
class Filters:
    """Restrictions on cards; all given ones must hold."""

    tags: Sequence[str] = ()
    card_ids: Sequence[uuid.UUID] = ()
    created_after: datetime | None = None
    created_before: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.tags or self.card_ids or self.created_after or self.created_before or self.metadata)


@dataclass(frozen=True, slots=True)
class Question:
    """`level` None lets the router decide; whoever `wants_hits` is not told that it is small talk.

    `limit` counts cards. `reader` is the model that may be asked before the answer: level insight alone does.
    `context_cards` are at hand where it is asked: level context looks at them, too. `about_conversation`: it asks about
    the conversation that it is part of, which can answer it.
    """

    query: str
    level: Level | None = None
    limit: int = 10
    filters: Filters = field(default_factory=Filters)
    fusion: Fusion | None = None
    preset: Preset | None = None
    scorer: Scorer | None = None
    explain: bool = False
    as_of: datetime | None = None
    wants_hits: bool = False
    reader: ChatProvider | None = None
    reader_model: str | None = None
    context_cards: Sequence[uuid.UUID] = ()
    about_conversation: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """The router's decision: data that is logged and returned."""

    level: Level
    reason: str
    confidence: float = 1.0
    gates: Sequence[str] = ()
    escalated_from: Level | None = None


@dataclass(frozen=True, slots=True)
class CardRef:
    id: uuid.UUID
    title: str
    external_id: str | None
    created_at: datetime
    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class Span:
    """A citable stretch of a card: `content[start:end] == text`. `focus` is the part of it that matched best,
    in the same offsets. A `claim` is a sentence that speaks for itself, a `chunk` a passage.
    """

    chunk_id: uuid.UUID
    text: str
    start: int
    end: int
    score: float
    focus: tuple[int, int] | None = None
    kind: Literal["chunk", "claim"] = "chunk"


@dataclass(frozen=True, slots=True)
class Hit:
    """One card, with what in it answers and which legs found it (`ranks`: leg name to rank or None)."""

    rank: int
    score: float
    card: CardRef
    snippet: str
    evidence: Sequence[Span]
    ranks: Mapping[str, int | None]
    explain: Mapping[str, float] | None = None
    episode: Mapping[str, Any] | None = None
    paths: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class ReportPoint:
    """One thing that reports on parts of the notes say in answer to a question, and the chunks that it rests on.
    `score` is from 0 to 1.
    """

    text: str
    score: float
    report_id: uuid.UUID
    title: str
    chunk_ids: Sequence[uuid.UUID] = ()


@dataclass(frozen=True, slots=True)
class Insight:
    """What level insight did for a question. `behind`: cards beyond the limit that points rest on. `is_overview`: it
    asked for nothing in particular. `is_behind`: the notes have changed since some report was written. `prompt_tokens`:
    what is left of the question's tokens for the answer. `trace` is data for whoever wants to know: reports, calls,
    tokens, caps, what was dropped and why.
    """

    points: Sequence[ReportPoint]
    behind: Sequence[Hit]
    is_overview: bool
    is_behind: bool
    prompt_tokens: int | None
    input_tokens: int
    output_tokens: int
    trace: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a level found. `degraded` names what could not be done (`embedder_unavailable`,
    `reports_stale`, `lexical_index_rebuilding`, …); an empty list means that all legs ran.
    """

    query: str
    route: Route
    hits: Sequence[Hit]
    reports: Sequence[Mapping[str, Any]] = ()
    nothing_relevant: bool = False
    degraded: Sequence[str] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    index: Mapping[str, Any] = field(default_factory=dict)
    insight: Insight | None = None

    @property
    def level(self) -> Level:
        return self.route.level
