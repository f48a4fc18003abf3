"""What a community's report is made of, and what it says. Plain data, and the port of those who write reports.

Whoever gathers the rows gives a `ReportInput`; a `ReportBuilder` makes a `Report` of it, and whoever stores that knows
nothing of how it was made.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from app.ingestion.texts import report_texts

MAX_FINDINGS: Final = 10
MIN_FINDINGS: Final = 3
"""Where the community has as much to say."""
MAX_MEMBERS: Final = 200
MAX_STATEMENTS: Final = 400
"""No report reads more rows than that; the strongest ones are to come first."""
MODEL_FAILED: Final = "model_failed"
"""Flag of an offline report that stands in for a model's."""


@dataclass(frozen=True, slots=True)
class Member:
    """An entity of the community. `pagerank` and `degree` are those inside it; `cards` how many cards name it, `titled`
    how many of them in their title.
    """

    id: uuid.UUID
    name: str
    type: str
    description: str = ""
    pagerank: float = 0.0
    degree: int = 0
    cards: int = 0
    titled: int = 0


@dataclass(frozen=True, slots=True)
class Statement:
    """A relation inside the community: `text` is the sentence, `content[start:end]` of the card where that is known.
    `evidence`: how many statements join the same two entities.
    """

    id: uuid.UUID
    source_id: uuid.UUID
    target_id: uuid.UUID
    predicate: str
    text: str
    card_id: uuid.UUID
    chunk_id: uuid.UUID
    start: int | None = None
    end: int | None = None
    confidence: float = 1.0
    evidence: int = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding stands written: a stretch of a card, or a chunk of it."""

    card_id: uuid.UUID
    chunk_id: uuid.UUID
    start: int | None = None
    end: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {"card_id": str(self.card_id), "chunk_id": str(self.chunk_id), "start": self.start, "end": self.end}

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Place:
        return cls(uuid.UUID(value["card_id"]), uuid.UUID(value["chunk_id"]), value.get("start"), value.get("end"))


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement of a report and what it rests on: never without a card."""

    text: str
    entity_ids: tuple[uuid.UUID, ...] = ()
    relation_ids: tuple[uuid.UUID, ...] = ()
    card_ids: tuple[uuid.UUID, ...] = ()
    places: tuple[Place, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "entity_ids": [str(one) for one in self.entity_ids],
            "relation_ids": [str(one) for one in self.relation_ids],
            "card_ids": [str(one) for one in self.card_ids],
            "places": [place.as_json() for place in self.places],
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Finding:
        return cls(
            value["text"],
            tuple(map(uuid.UUID, value.get("entity_ids", ()))),
            tuple(map(uuid.UUID, value.get("relation_ids", ()))),
            tuple(map(uuid.UUID, value.get("card_ids", ()))),
            tuple(map(Place.of_json, value.get("places", ()))),
        )


@dataclass(frozen=True, slots=True)
class Report:
    """`rating` is from 0 to 10. `generated_by`: `offline`, or `provider/model`. `flags` says what went wrong on the
    way.
    """

    title: str
    summary: str
    rating: float
    rating_reason: str
    findings: tuple[Finding, ...]
    language: str
    generated_by: str = "offline"
    flags: tuple[str, ...] = ()

    def texts(self) -> list[str]:
        """What of it is embedded, in this order: the title with the summary, then every finding by itself."""
        return report_texts(self.title, self.summary, (finding.text for finding in self.findings))

    def words(self) -> str:
        """What of it is found by words."""
        return "\n".join([self.title, self.title, self.summary, *(finding.text for finding in self.findings)])

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "summary": self.summary,
            "rating": self.rating,
            "rating_reason": self.rating_reason,
            "findings": [finding.as_json() for finding in self.findings],
            "language": self.language,
            "generated_by": self.generated_by,
            "flags": list(self.flags),
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Report:
        """Of what `as_json` gave, or of a row that has the same names."""
        return cls(
            value["title"],
            value["summary"],
            value["rating"],
            value["rating_reason"],
            tuple(map(Finding.of_json, value["findings"])),
            value["language"],
            value["generated_by"],
            tuple(value["flags"]),
        )


@dataclass(frozen=True, slots=True)
class Child:
    """A community below this one, with the report that it has already."""

    community_id: uuid.UUID
    size: int
    report: Report


@dataclass(frozen=True, slots=True)
class ReportInput:
    """All about one community. `members` by PageRank; `statements` one of every joined pair first, the pairs with most
    evidence in front, then the second ones, and so on. Both are cut at MAX_MEMBERS and MAX_STATEMENTS; `size`,
    `relations` and `cards` count what there is. `children` the largest first; none where the community is a leaf.
    """

    community_id: uuid.UUID
    level: int
    size: int
    relations: int
    cards: int
    members: Sequence[Member]
    statements: Sequence[Statement]
    children: Sequence[Child] = ()


class ReportBuilder(Protocol):
    """Writes reports. Safe to call from many tasks at once; what a model is asked for is bounded inside."""

    @property
    def version(self) -> str:
        """Another one makes other reports of the same rows."""
        ...

    async def build(self, given: ReportInput) -> Report:
        """Never fails for what a model does, says or does not say: the offline report stands in, flagged."""
        ...
