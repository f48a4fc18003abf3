"""The part of a workspace that a question has reached at level explore: chunks with their exact scores. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.index.contributions import Contributions, contributions
from app.index.postings import Found, LexicalHits, score
from app.retrieval import explore
from app.retrieval.across import Across
from app.retrieval.explore import Entity, Link, Scale
from app.text.normalise import fold


@dataclass(slots=True)
class Chunk:
    id: uuid.UUID
    card_id: uuid.UUID
    doc: int
    cosine: float | None
    lexical: float
    start: int
    end: int
    base: float = 0.0


@dataclass(slots=True)
class Reached:
    """`near` and `lexical_top` make the two scores of a chunk comparable; `ranks` are those of the pool's legs."""

    near: Scale
    hits: LexicalHits
    chunks: dict[uuid.UUID, Chunk] = field(default_factory=dict)
    by_card: dict[uuid.UUID, list[Chunk]] = field(default_factory=dict)
    ranks: dict[uuid.UUID, dict[str, int | None]] = field(default_factory=dict)
    titles: dict[uuid.UUID, str] = field(default_factory=dict)

    def take(self, rows: Sequence[Mapping[str, Any]], beside: Across | None = None) -> None:
        """Rows with chunk, card, doc, distance and the place of the best window; what is known already stays. With
        `beside` they say what is in the other script, and that is scored as if it were in the question's.
        """
        shares: list[float] = self.hits.score_of(np.asarray([row["doc"] for row in rows], np.uint32)).tolist()
        distances: list[float | None] = [row["distance"] for row in rows]
        if beside is not None:
            distances, shares = beside.scores(distances, shares, [row["in_other"] for row in rows])
        for row, distance, share in zip(rows, distances, shares, strict=True):
            if row["chunk_id"] not in self.chunks:
                chunk = Chunk(
                    row["chunk_id"],
                    row["card_id"],
                    row["doc"],
                    None if distance is None else 1.0 - distance,
                    share,
                    row["start"] or 0,
                    row["end"] or 0,
                )
                self.chunks[chunk.id] = chunk
                self.by_card.setdefault(chunk.card_id, []).append(chunk)

    def take_links(self, rows: Sequence[Mapping[str, Any]], entities: Iterable[Entity]) -> list[Link]:
        """The same of rows that say how cards name these entities."""
        self.take(rows)
        by_id = {entity.id: entity for entity in entities}
        links = []
        for row in rows:
            self.titles[row["card_id"]] = row["title"]
            entity = by_id.get(row["entity_id"])
            if entity is not None:
                own = row["own"]
                inside = not own and (row["title_name"] is not None or _stands_in(entity.name, row["title"]))
                links.append(Link(entity, row["card_id"], row["chunk_id"], own, inside))
        return links

    def rate(self) -> dict[uuid.UUID, float]:
        """The base of every card: that of its best chunk."""
        top = float(self.hits.lex.max(initial=0.0))
        for chunk in self.chunks.values():
            chunk.base = explore.base(self.near.lift(chunk.cosine), chunk.lexical / top if top else 0.0)
        for found in self.by_card.values():
            found.sort(key=lambda chunk: (-chunk.base, chunk.doc))
        return {card: found[0].base for card, found in self.by_card.items()}

    def words_of(self, asked: Found, bridged: Found) -> Contributions:
        """What the terms of the question and of its bridges give to each chunk, in the order of `chunks`."""
        docs = np.asarray([chunk.doc for chunk in self.chunks.values()], np.uint32)
        return contributions(asked, self.hits, docs).beside(contributions(bridged, score(bridged), docs))


def _stands_in(name: str, title: str) -> bool:
    return f" {fold(name)} " in f" {' '.join(fold(title).replace(',', ' ').split())} "
