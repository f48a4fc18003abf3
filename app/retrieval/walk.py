"""Personalised PageRank over the cards and entities of a workspace, in this process.

Small graphs are kept as sparse matrices until something is written; of large ones, and under filters, only the part
around a question's candidates is read. Knows nothing of questions: where a walk starts is given.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy.ext.asyncio import AsyncSession

from app.retrieval import explore_queries
from app.retrieval.settings import RetrievalSettings

Ids = npt.NDArray[np.bytes_]
F8 = npt.NDArray[np.float64]

NAMED = np.dtype([("card", "S16"), ("entity", "S16"), ("own", "u1")])
SAID = np.dtype([("source", "S16"), ("target", "S16")])

# Card and mention 1, card and its own title 2 more, two ends of a relation 1 each time it is said.
_MENTION, _OWN, _RELATION = 1.0, 2.0, 1.0

# A graph that is written to all the time is read anew no more often than that reading takes this share of the time.
_READING_SHARE = 0.05
_MOST_GRAPHS = 64
# A workspace that is too large rarely gets small.
_LARGE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes: entities, then cards, each ascending by id. Edges by their head, where they lead."""

    entities: Ids
    cards: Ids
    heads: npt.NDArray[np.int64]
    tails: npt.NDArray[np.int64]
    weights: F8
    """Of each edge its share of what leaves its tail."""

    @property
    def size(self) -> int:
        return len(self.weights)

    def walk(
        self,
        entities: Mapping[str, float],
        cards: Mapping[uuid.UUID, float],
        onward: float = 0.7,
        steps: int = 20,
    ) -> F8:
        """Of each card how often a walk is there that starts again at these nodes with probability 1 − `onward`.
        What the graph does not know is left out; all zero where that is everything.
        """
        start = np.zeros(len(self.entities) + len(self.cards))
        _put(start, self.entities, {_node(name): value for name, value in entities.items()}, 0)
        _put(start, self.cards, {card.bytes: value for card, value in cards.items()}, len(self.entities))
        total = start.sum()
        if not total or not len(self.weights):
            return start[len(self.entities) :]
        start /= total
        at = start
        for _ in range(steps):
            arriving = np.bincount(self.heads, self.weights * at.take(self.tails), minlength=len(start))
            at = (1 - onward) * start + onward * arriving
        return at[len(self.entities) :]

    def best_cards(self, scores: F8, limit: int) -> dict[uuid.UUID, float]:
        """The `limit` cards where the walk is most often."""
        order = np.lexsort((np.arange(len(scores)), -scores))[:limit]
        return {_uuid(self.cards[n]): float(scores[n]) for n in order if scores[n] > 0}

    def of_cards(self, scores: F8, cards: Iterable[uuid.UUID]) -> dict[uuid.UUID, float]:
        """The scores of those of these cards that the graph knows."""
        asked = list(cards)
        at = _places(self.cards, np.array([card.bytes for card in asked], "S16"))
        return {card: float(scores[n]) for card, n in zip(asked, at.tolist(), strict=True) if n >= 0}


def build(named: npt.NDArray[np.void], said: npt.NDArray[np.void]) -> Graph:
    """From NAMED and SAID records; the graph is undirected, a relation that is said often is that much heavier, a
    mention is not.
    """
    cards, card = np.unique(named["card"], return_inverse=True)
    entities, entity = np.unique(np.concatenate((named["entity"], said["source"], said["target"])), return_inverse=True)
    n = len(named)
    pairs, pair = np.unique(card * len(entities) + entity[:n], return_inverse=True)
    own = np.zeros(len(pairs))
    own[pair[named["own"] > 0]] = 1.0
    source, target = entity[n : n + len(said)], entity[n + len(said) :]
    # Whoever is related to itself leads nowhere.
    apart = source != target
    left = np.concatenate((pairs % len(entities), source[apart]))
    right = np.concatenate((pairs // len(entities) + len(entities), target[apart]))
    weight = np.concatenate((_MENTION + _OWN * own, np.full(int(apart.sum()), _RELATION)))
    heads, tails = np.concatenate((left, right)), np.concatenate((right, left))
    weights = np.concatenate((weight, weight))
    leaving = np.bincount(tails, weights, minlength=len(entities) + len(cards))
    order = np.argsort(heads, kind="stable")
    heads, tails, weights = heads[order], tails[order], weights[order]
    return Graph(entities, cards, heads, tails, weights / leaving[tails])


@dataclass(slots=True)
class _Kept:
    version: Any
    graph: Graph
    read_at: float
    seconds: float


class Graphs:
    """The graphs of the workspaces that were asked last."""

    def __init__(self, settings: RetrievalSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._kept: OrderedDict[uuid.UUID, _Kept] = OrderedDict()
        self._large: dict[uuid.UUID, float] = {}
        self._locks: dict[uuid.UUID, asyncio.Lock] = {}

    async def whole(self, session: AsyncSession, workspace_id: uuid.UUID, version: Any = None) -> Graph | None:
        """The graph of the workspace as it is now, or a moment ago where it changes all the time; None: too large.
        `version`: what `explore_queries` knows of it, where somebody has just asked.
        """
        if self._large.get(workspace_id, 0.0) > self._clock():
            return None
        if version is None:
            version = await explore_queries.get_version(session, workspace_id)
        if (graph := self._fresh(workspace_id, version)) is not None:
            return graph
        async with self._locks.setdefault(workspace_id, asyncio.Lock()):
            if (graph := self._fresh(workspace_id, version)) is not None:
                return graph
            most = self._settings.explore_walk_mentions
            if await explore_queries.count_mentions(session, workspace_id, most + 1) > most:
                self._kept.pop(workspace_id, None)
                self._large[workspace_id] = self._clock() + _LARGE_SECONDS
                return None
            started = self._clock()
            graph = await self._read(session, workspace_id, None)
            self._kept[workspace_id] = _Kept(version, graph, self._clock(), self._clock() - started)
            self._kept.move_to_end(workspace_id)
            while len(self._kept) > 1 and (
                len(self._kept) > _MOST_GRAPHS
                or sum(kept.graph.size for kept in self._kept.values()) > 8 * self._settings.explore_walk_mentions
            ):
                gone, _ = self._kept.popitem(last=False)
                self._locks.pop(gone, None)
            return graph

    async def around(self, session: AsyncSession, workspace_id: uuid.UUID, cards: Sequence[uuid.UUID]) -> Graph:
        """Of these cards alone."""
        return await self._read(session, workspace_id, cards)

    def _fresh(self, workspace_id: uuid.UUID, version: Any) -> Graph | None:
        kept = self._kept.get(workspace_id)
        if kept is None:
            return None
        age = self._clock() - kept.read_at
        if kept.version != version and age * _READING_SHARE >= kept.seconds:
            return None
        self._kept.move_to_end(workspace_id)
        return kept.graph

    async def _read(self, session: AsyncSession, workspace_id: uuid.UUID, cards: Sequence[uuid.UUID] | None) -> Graph:
        named, said = await explore_queries.get_graph(session, workspace_id, cards)
        records = np.frombuffer(named, NAMED), np.frombuffer(said, SAID)
        return await asyncio.to_thread(build, *records)


def _put(start: F8, ids: Ids, values: Mapping[bytes, float], offset: int) -> None:
    at = _places(ids, np.array(list(values), "S16"))
    known = at >= 0
    start[at[known] + offset] += np.fromiter(values.values(), np.float64, len(values))[known]


def _node(name: str) -> bytes:
    return hashlib.md5(name.encode(), usedforsecurity=False).digest()


def _places(ascending: Ids, wanted: Ids) -> npt.NDArray[np.intp]:
    """Where each id stands, −1 where it does not."""
    if not len(ascending) or not len(wanted):
        return np.full(len(wanted), -1, np.intp)
    at = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.where(ascending[at] == wanted, at, -1)


def _uuid(packed: bytes) -> uuid.UUID:
    # numpy drops zero bytes at the end of what it gives out.
    return uuid.UUID(bytes=bytes(packed).ljust(16, b"\0"))
