"""The facts nearest to a question, by themselves: asked as soon as its vector is there, whatever it names."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.together import fetch_part
from app.index.collections import TextKind
from app.retrieval import explore_queries, queries
from app.retrieval.collections import Anchors, anchors_of, nearest_part
from app.retrieval.explore import Scale
from app.retrieval.queries import SpaceRow

# Kinds of facts.
_FACTS = (TextKind.relation, TextKind.point_edge)
# The facts from whose entities the walk starts.
_WALK_FACTS = 5

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Nearest:
    """How well each of the facts nearest to the question fits, best first with whom they are about (rows of
    `explore_facts`); the scales of relations and of claims.
    """

    fits: Mapping[uuid.UUID, float]
    about: Sequence[Any]
    relations: Scale
    claims: Scale

    @property
    def first(self) -> list[uuid.UUID]:
        """The facts from whose entities the walk starts."""
        return _first(self.fits)


@dataclass(frozen=True, slots=True)
class NearFacts:
    """Where to look. `usual`: the mean window, relation and claim; `large`: kinds that go through their index."""

    workspace_id: uuid.UUID
    space: SpaceRow
    usual: Sequence[Vector | None]
    large: frozenset[TextKind]
    ef_search: int
    counted: int

    async def find(self, session: AsyncSession, vector: Vector | None) -> Nearest:
        """One round trip, and a second one for whom the best of them are about. Without a vector there are none."""
        if vector is None:
            return Nearest({}, (), Scale(), Scale())
        await queries.settle(session, self.ef_search)
        part = nearest_part(self.workspace_id, self.space, _FACTS, vector, 2 * _WALK_FACTS, self.large)
        near = anchors_of(await fetch_part(session, part), _FACTS)
        scales = self._scale(near, 0, vector), self._scale(near, 1, vector)
        fits = {
            owner: scale.lift(1.0 - distance)
            for kind, scale in zip(_FACTS, scales, strict=True)
            for owner, distance in near[kind]
        }
        claims = {owner for owner, _ in near[TextKind.point_edge]}
        first = _first(fits)
        part = explore_queries.facts_part(
            self.workspace_id,
            [owner for owner in first if owner not in claims],
            [owner for owner in first if owner in claims],
            self.counted,
        )
        return Nearest(fits, await fetch_part(session, part), *scales)

    def usual_window(self, vector: Vector | None) -> float:
        """The question's similarity to the average window."""
        return self._usual(0, vector)

    def _usual(self, kind: int, vector: Vector | None) -> float:
        mean = self.usual[kind]
        return 0.0 if vector is None or mean is None else float(mean @ vector)

    def _scale(self, near: Mapping[TextKind, Anchors], kind: int, vector: Vector) -> Scale:
        found = near[_FACTS[kind]]
        return Scale(self._usual(1 + kind, vector), 1.0 - found[0][1] if found else 0.0)


def _first(fits: Mapping[uuid.UUID, float]) -> list[uuid.UUID]:
    return sorted(fits, key=lambda owner: (-fits[owner], owner))[:_WALK_FACTS]
