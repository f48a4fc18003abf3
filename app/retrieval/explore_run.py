"""The steps of level explore, each one round trip or two and the formulas on what they give. No step knows the next."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from collections.abc import Collection as Some
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.together import Part, fetch_part, fetch_together, running
from app.index.collections import Collection, TextKind
from app.index.contributions import DocsWithAll
from app.index.lexical import found_in, postings_part
from app.index.postings import Found, LexicalHits, Subset
from app.index.terms import question_hashes
from app.retrieval import explore, explore_hops, explore_queries, queries
from app.retrieval.across import Across
from app.retrieval.explore import UNSAID, Bridge, Entity, Fact, Hop, Link, Scale
from app.retrieval.explore_hops import Edge
from app.retrieval.explore_names import Named
from app.retrieval.explore_near import Nearest, NearFacts
from app.retrieval.explore_queries import Packed
from app.retrieval.explore_reached import Reached
from app.retrieval.settings import RetrievalSettings
from app.retrieval.types import Question
from app.text.gazetteer import likely_keys
from app.text.normalise import name_key
from app.text.segment import Segmenter

# Entities of a card that are looked at before its bridges are chosen.
_ABOUT = 16
# Cards of a bridge that are looked at because its words are theirs; words that more docs have are not looked for.
_TITLES, _COMMON = 12, 20_000
# How far down the lexical list those are looked for that pass a wide filter.
_DEPTH_UNDER_FILTER = 10_000
# So many bytes of postings are scored in less time than a thread takes to begin and to come back.
SCORED_AT_ONCE_BYTES = 1 << 20
# Bridges that are worth two connections.
_WORTH_TWO = 4
# Entities that hops go on from.
_FRONTIER = 50

# (words, grams) of a name.
Hashes = tuple[Sequence[int], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Asked:
    """The question as it is looked for. `usual`: its similarity to the average window; `version`: of the graph;
    `beside`: how passages in the other script are scored, where there are both.
    """

    question: Question
    names: Named
    words: Sequence[int]
    grams: Sequence[int]
    postings: Found
    hits: LexicalHits
    subset: Subset | None
    vector: npt.NDArray[np.float32] | None
    usual: float
    large: frozenset[TextKind]
    version: tuple[Any, ...]
    beside: Across | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts nearest to the question with whom they are about; the scales of relations and of claims; the cards that
    lead on, what they say of whom (`explore_bridges`) and claim.
    """

    best: Sequence[tuple[float, Sequence[Entity]]]
    relations: Scale
    claims: Scale
    cards: Sequence[uuid.UUID]
    about: Sequence[Any]
    claimed: Claimed


@dataclass(frozen=True, slots=True)
class Claimed:
    """What cards claim (`explore_claims`), the keys of likely names in it, and of these keys the titles."""

    rows: Sequence[Any] = ()
    keys: Mapping[uuid.UUID, Some[str]] = field(default_factory=dict)
    titles: Mapping[str, Sequence[Entity]] = field(default_factory=dict)


class Exploration:
    """One question in one session; `beside` is another one for what can be asked meanwhile, if there is one. `facts`:
    where the nearest ones lie, `early` what has been found of that. What it begins ends with `begun`.
    """

    def __init__(
        self,
        session: AsyncSession,
        beside: AsyncSession | None,
        begun: AsyncExitStack,
        facts: NearFacts,
        early: Awaitable[Nearest | None],
        asked: Asked,
        segmenter: Segmenter,
        settings: RetrievalSettings,
    ) -> None:
        self._session = session
        self.beside = beside
        self._begun = begun
        self._facts = facts
        self._early = early
        self._workspace_id = facts.workspace_id
        self._space = facts.space
        self._asked = asked
        self._segmenter = segmenter
        self._settings = settings
        self.reached = Reached(Scale(), asked.hits)
        # Cards whose graph is being read.
        self.ahead: frozenset[uuid.UUID] = frozenset()
        self.graph_ahead: Awaitable[Packed] | None = None
        self._known_hashes: dict[str, Hashes] = {}

    async def nearest(self) -> Nearest:
        """The facts nearest to the question."""
        return await self._early or await self._facts.find(self._session, self._asked.vector)

    async def pool(self, entities: Sequence[Entity], more: Iterable[uuid.UUID]) -> list[Link]:
        """What level search would look at, and how cards name these entities; `more` cards are taken."""
        request = self._pool_request()
        await queries.settle(self._session, request.ef_search)
        pooled, named = await fetch_together(
            self._session,
            queries.pool_part(self._workspace_id, request),
            self._cards_part(entities, self._settings.explore_mentions, more=more),
        )
        self.reached.take(pooled, self._asked.beside)
        nearest = max((chunk.cosine for chunk in self.reached.chunks.values() if chunk.cosine is not None), default=0.0)
        self.reached.near = Scale(self._asked.usual, nearest)
        for row in pooled:
            self.reached.ranks[row["card_id"]] = {
                "dense": row["dense_rank"],
                "lexical": row["lexical_rank"],
                "sparse": None,
            }
        known = list(self.reached.by_card)
        links = self.reached.take_links(named, entities)
        # Of what more cards name than were read, those of the pool count besides.
        cards: dict[uuid.UUID, set[uuid.UUID]] = {}
        for link in links:
            cards.setdefault(link.entity.id, set()).add(link.card_id)
        hubs = [entity for entity in entities if entity.cards > len(cards.get(entity.id, ()))]
        if hubs and known:
            rows = await self._fetch(self._cards_part(hubs, 0, known=known))
            links += self.reached.take_links(rows, hubs)
        return links

    def _pool_request(self) -> queries.PoolRequest:
        asked, settings = self._asked, self._settings
        question = asked.question
        each, windows = settings.explore_each, self._windows()
        depth = _DEPTH_UNDER_FILTER if question.filters and asked.subset is None else 2 * each
        return queries.PoolRequest(
            space=self._space,
            dense=asked.vector,
            sparse=None,
            sparse_dimension=0,
            lexical_docs=asked.hits.top(depth)[0].tolist(),
            filters=question.filters,
            allowed=None if asked.subset is None else asked.subset.docs,
            each=each,
            rrf_k=settings.rrf_k,
            windows=windows,
            approximate=self._approximate,
            ef_search=self._ef_search(windows),
            other_han=None if asked.beside is None else asked.beside.other_han,
        )

    @property
    def _approximate(self) -> bool:
        return TextKind.chunk in self._asked.large and self._asked.subset is None

    def _windows(self) -> int:
        """So many are read."""
        each = self._settings.explore_each
        return max(2 * each, 4 * self._asked.question.limit) if self._approximate else 4 * each

    def _ef_search(self, windows: int) -> int:
        return min(max(self._settings.hnsw_ef_search, windows * 5 // 4), 1000)

    def _cards_part(
        self,
        entities: Sequence[Entity],
        each: int,
        *,
        known: Sequence[uuid.UUID] = (),
        more: Iterable[uuid.UUID] = (),
        docs: Sequence[tuple[int, uuid.UUID]] = (),
    ) -> Part:
        return explore_queries.cards_part(
            self._workspace_id,
            self._space,
            self._asked.vector,
            self._asked.question.filters,
            entities=[entity.id for entity in entities],
            each=each,
            known=known,
            more=more,
            docs=docs,
        )

    async def _fetch(self, part: Part) -> list[Any]:
        return await fetch_part(self._session, part)

    async def links(self, entities: Sequence[Entity], more: Iterable[uuid.UUID] = ()) -> list[Link]:
        """How cards name these entities, few of each. What is reached on the way, and `more` cards, are taken."""
        part = self._cards_part(entities, self._settings.explore_mentions, more=more)
        return self.reached.take_links(await self._fetch(part), entities)

    async def facts(self, seeded: Mapping[uuid.UUID, float], nearest: Nearest) -> Facts:
        """What the best cards say of whom, and whom the facts nearest to the question are about."""
        settings = self._settings
        best = sorted(seeded, key=lambda card: (-seeded[card], card))[: settings.explore_beam]
        if not settings.explore_hop or not settings.explore_bridges or max(seeded.values(), default=0.0) <= 0:
            best = []
        if self.beside is None:
            said, claimed = await self._said(self._session, best), await self._claimed(self._session, best)
        else:
            # A third of the cards beside, where something else is to be asked too.
            first = best[: -(len(best) // 3) or None]
            async with running(self._told(self.beside, best[len(first) :], best)) as told:
                said = await self._said(self._session, first)
                more, claimed = await told
                said += more
        about: dict[uuid.UUID, list[Entity]] = {}
        for row in nearest.about:
            about.setdefault(row["relation_id"] or row["point_id"], []).append(explore_queries.entity_of(row))
        walked = [(nearest.fits[owner], about[owner]) for owner in nearest.first if owner in about]
        return Facts(walked, nearest.relations, nearest.claims, best, said, claimed)

    async def _told(
        self, session: AsyncSession, cards: Sequence[uuid.UUID], claiming: Sequence[uuid.UUID]
    ) -> tuple[list[Any], Claimed]:
        return await self._said(session, cards), await self._claimed(session, claiming)

    async def _said(self, session: AsyncSession, cards: Sequence[uuid.UUID]) -> list[Any]:
        """What these cards say of whom."""
        settings = self._settings
        if not cards:
            return []
        part = explore_queries.bridges_part(
            self._workspace_id,
            self._space,
            self._asked.vector,
            cards,
            settings.explore_facts,
            _ABOUT + len(self._asked.names.entities),
            settings.explore_counted,
        )
        return await fetch_part(session, part)

    async def _claimed(self, session: AsyncSession, cards: Sequence[uuid.UUID]) -> Claimed:
        """What these cards claim, and titles that stand in it."""
        settings, vector = self._settings, self._asked.vector
        if not cards or vector is None or not settings.explore_overlooked:
            return Claimed()
        part = explore_queries.claims_part(
            self._workspace_id, self._space, vector, cards, settings.explore_facts, settings.explore_overlooked
        )
        rows = await fetch_part(session, part)
        keys = {row["point_id"]: likely_keys(row["text"], self._segmenter) for row in rows}
        wanted = set[str]().union(*keys.values())
        if not wanted:
            return Claimed(rows, keys)
        part = explore_queries.titles_part(self._workspace_id, wanted, settings.explore_counted)
        return Claimed(rows, keys, explore_queries.titles_of(await fetch_part(session, part)))

    def bridges(self, seeded: Mapping[uuid.UUID, float], facts: Facts) -> list[Bridge]:
        """Where the best cards lead on to."""
        named = {entity.id for entity in self._asked.names.entities}
        about: dict[uuid.UUID, list[tuple[Entity, Fact]]] = {}
        for row in facts.about:
            self.reached.titles[row["card_id"]] = row["title"]
            if row["entity_id"] not in named:
                fact = UNSAID
                # The relations of the card with the entity; else what it claims about it.
                if row["relation_distance"] is not None:
                    fit = facts.relations.lift(1.0 - row["relation_distance"])
                    fact = Fact(fit, relation_id=row["relation_id"])
                elif row["point_distance"] is not None:
                    fact = Fact(facts.claims.lift(1.0 - row["point_distance"]), point_id=row["point_id"])
                about.setdefault(row["card_id"], []).append((explore_queries.entity_of(row), fact))
        for card, found in self._overlooked(facts).items():
            known = named | {entity.id for entity, _ in about.get(card, ())}
            about.setdefault(card, []).extend(
                (entity, fact)
                for entity, fact in found
                if entity.id not in known and name_key(entity.name) != name_key(self.reached.titles.get(card, ""))
            )
        return self._strongest(seeded, facts, about)

    def _strongest(
        self,
        seeded: Mapping[uuid.UUID, float],
        facts: Facts,
        about: Mapping[uuid.UUID, Sequence[tuple[Entity, Fact]]],
    ) -> list[Bridge]:
        top = max((seeded[card] for card in facts.cards), default=0.0)
        return explore.strongest(
            bridge
            for card in facts.cards
            for bridge in explore.bridges(card, seeded[card] / top, about.get(card, ()), self._settings)
        )

    def _hashes(self, name: str) -> Hashes:
        if name not in self._known_hashes:
            self._known_hashes[name] = question_hashes(self._segmenter.terms(name))
        return self._known_hashes[name]

    def _words_of(self, crossed: Sequence[Bridge]) -> tuple[list[int], list[int]]:
        """(words, grams) of the names of bridges that the question does not have."""
        hashes = [self._hashes(bridge.entity.name) for bridge in crossed]
        words = {word for words, _ in hashes for word in words} - set(self._asked.words)
        return sorted(words), sorted({gram for _, grams in hashes for gram in grams} - set(self._asked.grams))

    def _overlooked(self, facts: Facts) -> dict[uuid.UUID, list[tuple[Entity, Fact]]]:
        """Titles that stand in what the best cards claim: those that came in later than the card, and names that
        nothing but the title's own card could have told from other words.
        """
        claimed = facts.claimed
        found: dict[uuid.UUID, dict[uuid.UUID, tuple[Entity, Fact]]] = {}
        for row in sorted(claimed.rows, key=lambda row: (row["distance"], row["point_id"])):
            fact = Fact(facts.claims.lift(1.0 - row["distance"]), point_id=row["point_id"])
            for key in sorted(set(claimed.keys[row["point_id"]]) & claimed.titles.keys()):
                for entity in claimed.titles[key]:
                    found.setdefault(row["card_id"], {}).setdefault(entity.id, (entity, fact))
        return {card: list(some.values()) for card, some in found.items()}

    async def hops(self, crossed: Sequence[Bridge], more: Iterable[uuid.UUID], ahead: Sequence[uuid.UUID]) -> list[Hop]:
        """Every way over a bridge to another card; `more` cards are reached besides. The graph of the cards `ahead` is
        read while the ways are weighed.
        """
        if not crossed:
            if more := list(more):
                await self.links([], more)
            return []
        asked, reached = self._asked, self.reached
        hashes = {bridge.entity.id: self._hashes(bridge.entity.name) for bridge in crossed}
        bridged, far = await self._crossing(crossed, hashes, more)
        if self.beside is not None and ahead:
            self.ahead = frozenset(ahead)
            graph = explore_queries.get_graph(self.beside, self._workspace_id, ahead)
            self.graph_ahead = await self._begun.enter_async_context(running(graph))
            await _sent()
        if asked.postings.size + bridged.size > SCORED_AT_ONCE_BYTES:
            words_of = await asyncio.to_thread(reached.words_of, asked.postings, bridged)
        else:
            words_of = reached.words_of(asked.postings, bridged)
        places = {chunk: place for place, chunk in enumerate(reached.chunks)}
        by_entity: dict[uuid.UUID, list[Link]] = {}
        for link in far:
            by_entity.setdefault(link.entity.id, []).append(link)
        found = []
        for bridge in crossed:
            words, grams = hashes[bridge.entity.id]
            said = self._hashes(reached.titles.get(bridge.source, ""))
            # What the question still asks: itself without the source's title, with the bridge.
            rest = words_of.scores(
                [*(set(asked.words) - set(said[0])), *words], [*(set(asked.grams) - set(said[1])), *grams]
            ).tolist()
            top = max(rest, default=0.0) or 1.0
            for link in by_entity.get(bridge.entity.id, ()):
                chunk = reached.chunks.get(link.chunk_id)
                if chunk is not None and link.card_id != bridge.source:
                    fit = explore.base(chunk.near, rest[places[chunk.id]] / top)
                    found.append(explore.hop(bridge, link, fit, self._settings))
        return found

    async def _crossing(
        self, crossed: Sequence[Bridge], hashes: Mapping[uuid.UUID, Hashes], more: Iterable[uuid.UUID]
    ) -> tuple[Found, list[Link]]:
        """The postings of the bridges' words, and how cards name the bridges: what these words say of titles included,
        so that the cards of half of them are looked for meanwhile.
        """
        entities = [bridge.entity for bridge in crossed]
        each, asked = self._settings.explore_mentions, self._asked
        # Every other one beside: the strongest have the most cards.
        halves = (entities[::2], entities[1::2]) if self.beside and len(entities) >= _WORTH_TWO else ([], entities)
        async with running(self._links_of(halves[0], each)) as others:
            words = self._words_of(crossed)
            blocks = await self._fetch(postings_part(self._workspace_id, [Collection.chunk], *words))
            bridged = found_in(blocks, [Collection.chunk], *words)[Collection.chunk]
            titles = DocsWithAll(bridged)
            docs = [
                (doc, bridge.entity.id)
                for bridge in crossed
                if not set(hashes[bridge.entity.id][0]) & set(asked.words)
                for doc in titles.of(hashes[bridge.entity.id][0], _TITLES, _COMMON)
            ]
            rows = await self._fetch(self._cards_part(halves[1], each, more=more, docs=docs))
            return bridged, self.reached.take_links([*await others, *rows], entities)

    async def _links_of(self, entities: Sequence[Entity], each: int) -> list[Any]:
        if self.beside is None or not entities:
            return []
        return await fetch_part(self.beside, self._cards_part(entities, each))

    async def edges(self, scores: Mapping[uuid.UUID, float], scale: Scale) -> tuple[list[Edge], dict[uuid.UUID, str]]:
        """The relations of these entities, for `scorer = hops`, and the names of those that they lead to."""
        frontier = sorted(scores, key=lambda entity: (-scores[entity], entity))[:_FRONTIER]
        rows = await explore_queries.list_neighbours(
            self._session,
            self._workspace_id,
            self._space,
            self._asked.vector,
            frontier,
            self._settings.explore_facts,
            self._settings.explore_fanout,
        )
        edges = [
            Edge(
                row["source_id"],
                row["entity_id"],
                row["relation_id"],
                0.0 if row["distance"] is None else scale.lift(1.0 - row["distance"]),
                row["degree"],
            )
            for row in rows
        ]
        return edges, {row["entity_id"]: row["name"] for row in rows}


async def _sent() -> None:
    """What has been begun is on its way to the server, before this process is busy again."""
    for _ in range(2):
        await asyncio.sleep(0)


def hops_of(first: explore_hops.Spread, second: explore_hops.Spread) -> dict[uuid.UUID, list[Edge]]:
    """The relations over which most of each entity's score came, from what the question matched on."""
    trails = {}
    for entity in first.came.keys() | second.came.keys():
        near, far = first.scores.get(entity, 0.0), second.scores.get(entity, 0.0)
        if near >= far and entity in first.came:
            trails[entity] = [first.came[entity]]
        elif entity in second.came:
            last = second.came[entity]
            trails[entity] = [first.came[last.source], last] if last.source in first.came else [last]
    return trails
