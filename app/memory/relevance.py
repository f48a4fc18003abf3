"""How much a memory has to do with a question, 0…1, and which of them a prompt is offered. Pure.

Ranking is relevance × decayed. Distances mean something only against those of unrelated pairs of their space, so a
vector counts by how many deviations it is nearer than usual; words count by how many of the fewer are shared.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

NEAREST_Z: Final = -4.0
"""Nobody needs to be nearer than that."""
RELEVANT: Final = 0.4
ALWAYS: Final = 0.25
"""How relevant at the least a preference is, and what the user pinned: they concern every answer."""
_MOST_WORDS: Final = 4


@dataclass(frozen=True, slots=True)
class Background:
    """Mean and deviation of the cosine distance of pairs that have nothing to do with each other."""

    mu: float
    sigma: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """`distance` None: no vector. `decayed` by the mode that counts."""

    id: uuid.UUID
    distance: float | None
    background: Background
    words: frozenset[str]
    decayed: float
    concerns_all: bool


@dataclass(frozen=True, slots=True)
class Ranked:
    id: uuid.UUID
    relevance: float
    score: float


def by_distance(distance: float, background: Background) -> float:
    """0 where unrelated pairs are, 1 from four deviations nearer on."""
    z = (distance - background.mu) / background.sigma
    return min(max(z / NEAREST_Z, 0.0), 1.0)


def by_words(asked: frozenset[str], words: frozenset[str]) -> float:
    """The share of the fewer words that both have; of long ones four are enough."""
    fewer = min(len(asked), len(words), _MOST_WORDS)
    return min(len(asked & words) / fewer, 1.0) if fewer else 0.0


def relevance(asked: frozenset[str], candidate: Candidate) -> float:
    """Vector and words as two witnesses: 1 − (1 − v)(1 − w)."""
    near = 0.0 if candidate.distance is None else by_distance(candidate.distance, candidate.background)
    return 1 - (1 - near) * (1 - by_words(asked, candidate.words))


def rank(asked: frozenset[str], candidates: Sequence[Candidate], limit: int) -> list[Ranked]:
    """The best first, by relevance × decayed; what is not relevant is left out, unless it concerns every answer."""
    ranked = []
    for one in candidates:
        found = relevance(asked, one)
        if one.concerns_all:
            found = max(found, ALWAYS)
        elif found < RELEVANT:
            continue
        ranked.append(Ranked(one.id, found, found * one.decayed))
    return sorted(ranked, key=lambda one: (-one.score, one.id))[:limit]
