"""`scorer = hops`: what the question matches spreads over relations, twice, and cards count as what they name. Pure.

    0 hops  match
    1 hop   Σ match · w · 0.3
    2 hops  Σ hop1 · w · 0.5, where that is above 0.02

w is how well the relation's text fits the question, damped by 1 / log(2 + degree) of the entity that is left.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

FIRST, SECOND, FLOOR = 0.3, 0.5, 0.02


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation that leads from one entity to another; `fit` is nz of its text."""

    source: uuid.UUID
    target: uuid.UUID
    relation_id: uuid.UUID
    fit: float
    degree: int

    @property
    def weight(self) -> float:
        return (0.4 + 0.6 * self.fit) / math.log(2 + max(self.degree, 1))


@dataclass(slots=True)
class Spread:
    """What each entity got, and over which relations most of it came."""

    scores: dict[uuid.UUID, float]
    came: dict[uuid.UUID, Edge] = field(default_factory=dict)


def spread(start: Mapping[uuid.UUID, float], edges: Iterable[Edge], factor: float, floor: float = 0.0) -> Spread:
    """One hop. Two relations between the same entities count as the better one: they are one way."""
    ways: dict[tuple[uuid.UUID, uuid.UUID], Edge] = {}
    for edge in edges:
        key = (edge.source, edge.target)
        if key not in ways or edge.weight > ways[key].weight:
            ways[key] = edge
    scores: dict[uuid.UUID, float] = {}
    best: dict[uuid.UUID, tuple[float, Edge]] = {}
    for edge in ways.values():
        value = start.get(edge.source, 0.0) * edge.weight * factor
        scores[edge.target] = scores.get(edge.target, 0.0) + value
        if edge.target not in best or value > best[edge.target][0]:
            best[edge.target] = (value, edge)
    kept = {target: value for target, value in scores.items() if value > floor}
    return Spread(kept, {target: best[target][1] for target in kept})


def totals(hops: Sequence[Mapping[uuid.UUID, float]]) -> dict[uuid.UUID, float]:
    """Of each entity what it got in all hops together."""
    total: dict[uuid.UUID, float] = {}
    for scores in hops:
        for entity, value in scores.items():
            total[entity] = total.get(entity, 0.0) + value
    return total


def card_scores(
    entities: Mapping[uuid.UUID, float], named: Iterable[tuple[uuid.UUID, uuid.UUID]]
) -> dict[uuid.UUID, float]:
    """Cards count as all that they name; `named`: (card, entity), in any number."""
    scores: dict[uuid.UUID, float] = {}
    for card, entity in set(named):
        scores[card] = scores.get(card, 0.0) + entities.get(entity, 0.0)
    return scores
