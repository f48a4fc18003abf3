"""The part of a workspace that a question has reached at level explore: chunks with their exact scores. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.index.contributions import Contributions, contributions
from app.index.postings import Found, LexicalHits, weigh
from app.retrieval import explore
from app.retrieval.across import Across
from app.retrieval.explore import Entity, Link, Scale
from app.text.normalise import fold


@dataclass(slots=True)
class Chunk:
    """`near`: what its similarity tells (`Scale.lift`); `base`: how it fits the question, with its words."""

    id: uuid.UUID
    card_id: uuid.UUID
    doc: int
    cosine: float | None
    lexical: float
    start: int
    end: int
    near: float = 0.0
    base: float = 0.0


@dataclass(slots=True)
class Reached:
    """`near` makes similarities comparable, told once the pool is taken; `ranks` are those of the pool's legs."""

    near: Scale
    hits: LexicalHits
    chunks: dict[uuid.UUID, Chunk] = field(default_factory=dict)
    by_card: dict[uuid.UUID, list[Chunk]] = field(default_factory=dict)
    ranks: dict[uuid.UUID, dict[str, int | None]] = field(default_factory=dict)
    titles: dict[uuid.UUID, str] = field(default_factory=dict)
    unrated: list[Chunk] = field(default_factory=list)

    def take(self, rows: Sequence[Mapping[str, Any]], beside: Across | None = None) -> None:
        """Rows with chunk, card, doc, distance and the place of the best window; what is known already stays. With
        `beside` they say what is in the other script, and that is scored as if it were in the question's.
        """
        found: dict[uuid.UUID, Mapping[str, Any]] = {}
        for row in rows:
            if row["chunk_id"] not in self.chunks:
                found.setdefault(row["chunk_id"], row)
        new = found.values()
        shares: list[float] = self.hits.score_of(np.asarray([row["doc"] for row in new], np.uint32)).tolist()
        distances: list[float | None] = [row["distance"] for row in new]
        if beside is not None:
            distances, shares = beside.scores(distances, shares, [row["in_other"] for row in new])
        for row, distance, share in zip(new, distances, shares, strict=True):
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
            self.unrated.append(chunk)

    def take_links(self, rows: Sequence[Mapping[str, Any]], entities: Iterable[Entity]) -> list[Link]:
        """The same of rows that say how cards name these entities."""
        self.take(rows)
        self._rate_new()
        by_id = {entity.id: entity for entity in entities}
        names = {entity.id: f" {fold(entity.name)} " for entity in entities}
        titles: dict[uuid.UUID, str] = {}
        links: dict[tuple[uuid.UUID, ...], Link] = {}
        for row in rows:
            card_id, title, entity_id = row["card_id"], row["title"], row["entity_id"]
            self.titles[card_id] = title
            entity = by_id.get(entity_id)
            if entity is not None:
                own, inside = row["own"], False
                if not own:
                    inside = row["title_name"] is not None
                    if not inside:
                        if card_id not in titles:
                            titles[card_id] = f" {' '.join(fold(title).replace(',', ' ').split())} "
                        inside = names[entity_id] in titles[card_id]
                key = entity_id, card_id, row["chunk_id"]
                if (known := links.get(key)) is not None:
                    # Two statements found it, and the better one counts.
                    own, inside = own or known.own, inside or known.in_title
                links[key] = Link(entity, card_id, row["chunk_id"], own, inside and not own)
        return list(links.values())

    def rate(self) -> dict[uuid.UUID, float]:
        """The base of every card: that of its best chunk."""
        self._rate_new()
        return {card: found[0].base for card, found in self.by_card.items()}

    def _rate_new(self) -> None:
        if not self.unrated:
            return
        top = float(self.hits.lex.max(initial=0.0))
        lift = self.near.lift
        for chunk in self.unrated:
            chunk.near = lift(chunk.cosine)
            chunk.base = explore.base(chunk.near, chunk.lexical / top if top else 0.0)
        for card in {chunk.card_id for chunk in self.unrated}:
            if len(chunks := self.by_card[card]) > 1:
                chunks.sort(key=lambda chunk: (-chunk.base, chunk.doc))
        self.unrated.clear()

    def words_of(self, asked: Found, bridged: Found) -> Contributions:
        """What the terms of the question and of its bridges give to each chunk, in the order of `chunks`."""
        docs = np.asarray([chunk.doc for chunk in self.chunks.values()], np.uint32)
        return contributions(asked, self.hits, docs).beside(contributions(bridged, weigh(bridged), docs))
