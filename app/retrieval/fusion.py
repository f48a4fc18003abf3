"""How pooled candidates are put in order. Pure: values in, values out.

Reciprocal Rank Fusion recalls (in SQL); what orders is the absolute score

    s(d) = max over windows of cos(q, w) + c * BM25(q, d) / B(q)

in which both terms are comparable between questions: where words cover little of the question the
lexical term shrinks and the vector decides.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.retrieval.types import Fusion


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pooled chunk. `cosine` is of its best window, None when there is no question vector; `lexical` is
    the normalised BM25 share in 0…1; ranks are those of its card.
    """

    card_id: uuid.UUID
    chunk_id: uuid.UUID
    doc: int
    rrf: float
    cosine: float | None
    lexical: float
    start: int
    end: int
    ranks: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scored:
    """A card in its place: the score that put it there, and its chunks, best first."""

    card_id: uuid.UUID
    score: float
    chunks: Sequence[tuple[Candidate, float]]


def absolute_score(cosine: float, lexical: float, weight: float) -> float:
    """cos + c * BM25/B (spec: retrieval, fusion)."""
    return cosine + weight * lexical


def chunk_score(candidate: Candidate, fusion: Fusion, weight: float) -> float | None:
    """Score of one chunk, or None where this way of ranking does not see it."""
    match fusion:
        case "rrf":
            return candidate.rrf
        case "bm25":
            return candidate.lexical if candidate.lexical > 0 else None
        case "dense":
            return candidate.cosine
        case "absolute":
            return absolute_score(candidate.cosine or 0.0, candidate.lexical, weight)


def rank_cards(candidates: Iterable[Candidate], fusion: Fusion, weight: float, limit: int) -> list[Scored]:
    """The best `limit` cards; a card counts as its best chunk. Ties by id."""
    chunks: dict[uuid.UUID, list[tuple[Candidate, float]]] = {}
    for candidate in candidates:
        score = chunk_score(candidate, fusion, weight)
        if score is not None:
            chunks.setdefault(candidate.card_id, []).append((candidate, score))
    cards = []
    for card_id, found in chunks.items():
        # Under RRF all chunks of a card share its score; the better chunk is still the better evidence.
        found.sort(
            key=lambda pair: (-pair[1], -absolute_score(pair[0].cosine or 0.0, pair[0].lexical, weight), pair[0].doc)
        )
        cards.append(Scored(card_id, found[0][1], found))
    cards.sort(key=lambda card: (-card.score, card.card_id))
    return cards[:limit]
