"""Personalised PageRank over the cards and entities of a workspace, in this process.

Small graphs are kept as sparse matrices until something is written; of large ones, and under filters, only the part
around a question's candidates is read. Knows nothing of questions: where a walk starts is given.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.together import running
from app.retrieval import explore_queries
from app.retrieval.explore_queries import Packed
from app.retrieval.namesakes import ID, Keys, Known, Namesakes, keys_of, packed
from app.retrieval.settings import RetrievalSettings

F8 = npt.NDArray[np.float64]

NAMED = np.dtype([("card", *ID), ("entity", *ID), ("own", "u1")])
SAID = np.dtype([("source", *ID), ("target", *ID)])
TITLED = np.dtype([("card", *ID), ("entity", *ID)])

# Card and mention 1, card and its own title 2 more, two ends of a relation 1 each time it is said.
_MENTION, _OWN, _RELATION = 1.0, 2.0, 1.0

# A graph that is written to all the time is read anew no more often than that reading takes this share of the time.
_READING_SHARE = 0.05
_MOST_GRAPHS = 64
# So few edges are walked in less time than a thread takes to begin.
_SMALL = 20_000
# A workspace that is too large rarely gets small.
_LARGE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes: entities, ascending by key, then cards, ascending by id. Edges by their head, where they lead."""

    entities: Keys
    namesakes: Namesakes
    cards: npt.NDArray[Any]
    card_keys: Keys
    """Ascending; `card_places`: which card each is of."""
    card_places: npt.NDArray[np.intp]
    heads: npt.NDArray[np.int64]
    tails: npt.NDArray[np.int64]
    weights: F8
    """Of each edge its share of what leaves its tail."""

    @property
    def size(self) -> int:
        return len(self.weights)

    def walk(
        self,
        entities: Mapping[uuid.UUID, float],
        cards: Mapping[uuid.UUID, float],
        onward: float = 0.7,
        steps: int = 20,
    ) -> F8:
        """Of each card how often a walk is there that starts again at these nodes with probability 1 − `onward`.
        What the graph does not know is left out; all zero where that is everything.
        """
        start = np.zeros(len(self.entities) + len(self.cards))
        _put(start, _places(self.entities, self.namesakes.of(keys_of(packed(entities)))), entities.values())
        places = self._places_of(cards)
        _put(start, np.where(places >= 0, places + len(self.entities), -1), cards.values())
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
        return {uuid.UUID(bytes=self.cards[n].tobytes()): float(scores[n]) for n in order if scores[n] > 0}

    def of_cards(self, scores: F8, cards: Iterable[uuid.UUID]) -> dict[uuid.UUID, float]:
        """The scores of those of these cards that the graph knows."""
        asked = list(cards)
        at = self._places_of(asked)
        known = at >= 0
        found = np.where(known, scores[at], 0.0) if len(scores) else np.zeros(len(asked))
        return {
            card: score for card, score, is_known in zip(asked, found.tolist(), known.tolist(), strict=True) if is_known
        }

    def _places_of(self, cards: Iterable[uuid.UUID]) -> npt.NDArray[np.intp]:
        at = _places(self.card_keys, keys_of(packed(cards)))
        return np.where(at >= 0, self.card_places[at], -1) if len(self.card_places) else at


def build(
    named: npt.NDArray[np.void],
    said: npt.NDArray[np.void],
    titled: npt.NDArray[np.void],
    namesakes: Namesakes,
) -> Graph:
    """From NAMED, SAID and TITLED records; the graph is undirected, a relation that is said often is that much heavier,
    a mention is not. `namesakes` are one node.
    """
    card_keys, first, card = np.unique(keys_of(named["card"]), return_index=True, return_inverse=True)
    ids = named["card"][first]
    by_id = np.lexsort((ids[:, 1], ids[:, 0]))
    places = np.empty(len(by_id), np.intp)
    places[by_id] = np.arange(len(by_id))
    card = places[card]
    entities, entity = np.unique(
        np.concatenate((keys_of(named["entity"]), keys_of(said["source"]), keys_of(said["target"]))),
        return_inverse=True,
    )
    entities, same = np.unique(namesakes.of(entities), return_inverse=True)
    entity = same[entity]
    n = len(named)
    pairs, pair = np.unique(card * len(entities) + entity[:n], return_inverse=True)
    own = np.zeros(len(pairs))
    own[pair[named["own"] > 0]] = 1.0
    # Of what a title names only what is mentioned, too.
    title_of = _places(card_keys, keys_of(titled["card"]))
    title = _places(entities, namesakes.of(keys_of(titled["entity"])))
    there = (title_of >= 0) & (title >= 0)
    at = _places(pairs, places[title_of[there]] * len(entities) + title[there])
    own[at[at >= 0]] = 1.0
    source, target = entity[n : n + len(said)], entity[n + len(said) :]
    # Whoever is related to itself leads nowhere.
    apart = source != target
    left = np.concatenate((pairs % len(entities), source[apart]))
    right = np.concatenate((pairs // len(entities) + len(entities), target[apart]))
    weight = np.concatenate((_MENTION + _OWN * own, np.full(int(apart.sum()), _RELATION)))
    heads, tails = np.concatenate((left, right)), np.concatenate((right, left))
    weights = np.concatenate((weight, weight))
    leaving = np.bincount(tails, weights, minlength=len(entities) + len(by_id))
    order = np.argsort(heads, kind="stable")
    heads, tails, weights = heads[order], tails[order], weights[order]
    return Graph(entities, namesakes, ids[by_id], card_keys, places, heads, tails, weights / leaving[tails])


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
        self._namesakes = Known()

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
            graph = await self._read(session, workspace_id, version, None)
            self._kept[workspace_id] = _Kept(version, graph, self._clock(), self._clock() - started)
            self._kept.move_to_end(workspace_id)
            while len(self._kept) > 1 and (
                len(self._kept) > _MOST_GRAPHS
                or sum(kept.graph.size for kept in self._kept.values()) > 8 * self._settings.explore_walk_mentions
            ):
                gone, _ = self._kept.popitem(last=False)
                self._locks.pop(gone, None)
            return graph

    async def around(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        cards: Sequence[uuid.UUID],
        version: Any = None,
        beside: AsyncSession | None = None,
        early: Awaitable[Packed] | None = None,
    ) -> Graph:
        """Of these cards alone; `version` as for `whole`. Half of it is read `beside`, where that is given, or other
        cards already are (`early`).
        """
        if version is None:
            version = await explore_queries.get_version(session, workspace_id)
        if beside is None:
            return await self._read(session, workspace_id, version, cards)
        if early is None:
            async with running(explore_queries.get_graph(beside, workspace_id, cards[1::2])) as others:
                namesakes = await self._namesakes_of(session, workspace_id, version)
                half = await explore_queries.get_graph(session, workspace_id, cards[::2])
                both = half, await others
        else:
            namesakes = await self._namesakes_of(session, workspace_id, version)
            both = await explore_queries.get_graph(session, workspace_id, cards), await early
        return await _built([one + other for one, other in zip(*both, strict=True)], namesakes)

    def _fresh(self, workspace_id: uuid.UUID, version: Any) -> Graph | None:
        kept = self._kept.get(workspace_id)
        if kept is None:
            return None
        age = self._clock() - kept.read_at
        if kept.version != version and age * _READING_SHARE >= kept.seconds:
            return None
        self._kept.move_to_end(workspace_id)
        return kept.graph

    async def _read(
        self, session: AsyncSession, workspace_id: uuid.UUID, version: Any, cards: Sequence[uuid.UUID] | None
    ) -> Graph:
        namesakes = await self._namesakes_of(session, workspace_id, version)
        return await _built(await explore_queries.get_graph(session, workspace_id, cards), namesakes)

    async def _namesakes_of(self, session: AsyncSession, workspace_id: uuid.UUID, version: Any) -> Namesakes:
        return await self._namesakes.of(session, workspace_id, explore_queries.state_of_entities(version))


async def _built(packed: Sequence[bytes], namesakes: Namesakes) -> Graph:
    named, said, titled = (np.frombuffer(*part) for part in zip(packed, (NAMED, SAID, TITLED), strict=True))
    if len(named) + len(said) <= _SMALL:
        return build(named, said, titled, namesakes)
    return await asyncio.to_thread(build, named, said, titled, namesakes)


async def walked(graph: Graph, entities: Mapping[uuid.UUID, float], cards: Mapping[uuid.UUID, float]) -> F8:
    """What `Graph.walk` finds, in a thread where that takes long."""
    if graph.size <= _SMALL:
        return graph.walk(entities, cards)
    return await asyncio.to_thread(graph.walk, entities, cards)


def _put(start: F8, places: npt.NDArray[np.intp], values: Collection[float]) -> None:
    known = places >= 0
    np.add.at(start, places[known], np.fromiter(values, np.float64, len(values))[known])


def _places(ascending: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Where each key stands, −1 where it does not."""
    if not len(ascending) or not len(wanted):
        return np.full(len(wanted), -1, np.intp)
    at = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.where(ascending[at] == wanted, at, -1)
