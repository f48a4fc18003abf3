"""The steps of level explore, each one statement or two and the formulas on what they give. No step knows the next."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy.ext.asyncio import AsyncSession

from app.index.collections import TextKind
from app.index.contributions import DocsWithAll
from app.index.lexical import find_postings
from app.index.postings import Found, LexicalHits, Subset
from app.index.terms import question_hashes
from app.retrieval import explore, explore_hops, explore_queries, queries
from app.retrieval.collections import nearest_many
from app.retrieval.explore import UNSAID, Bridge, Entity, Fact, Hop, Link, Scale
from app.retrieval.explore_hops import Edge
from app.retrieval.explore_names import Named
from app.retrieval.explore_reached import Reached
from app.retrieval.queries import SpaceRow
from app.retrieval.settings import RetrievalSettings
from app.retrieval.types import Question
from app.text.gazetteer import likely_keys
from app.text.normalise import name_key
from app.text.segment import Segmenter

# The facts from whose entities the walk starts.
_WALK_FACTS = 5
# Entities of a card that are looked at before its bridges are chosen.
_ABOUT = 16
# Cards of a bridge that are looked at because its words are theirs; words that more docs have are not looked for.
_TITLES, _COMMON = 12, 20_000
# How far down the lexical list those are looked for that pass a wide filter.
_DEPTH_UNDER_FILTER = 10_000
# Entities that hops go on from.
_FRONTIER = 50


@dataclass(frozen=True, slots=True)
class Asked:
    """The question as it is looked for. `usual`: its similarity to the average window, relation and claim."""

    question: Question
    names: Named
    words: Sequence[int]
    grams: Sequence[int]
    postings: Found
    hits: LexicalHits
    subset: Subset | None
    vector: npt.NDArray[np.float32] | None
    usual: Sequence[float]
    large: frozenset[TextKind]


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts nearest to the question with whom they are about; the scales of relations and of claims."""

    best: Sequence[tuple[float, Sequence[Entity]]]
    relations: Scale
    claims: Scale


class Exploration:
    """One question in one session."""

    def __init__(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        space: SpaceRow,
        asked: Asked,
        segmenter: Segmenter,
        settings: RetrievalSettings,
    ) -> None:
        self._session = session
        self._workspace_id = workspace_id
        self._space = space
        self._asked = asked
        self._segmenter = segmenter
        self._settings = settings
        self.reached = Reached(Scale(), asked.hits)

    async def pool(self) -> None:
        """What level search would look at."""
        asked, settings = self._asked, self._settings
        question = asked.question
        approximate = TextKind.chunk in asked.large and asked.subset is None
        each = settings.search_each
        windows = max(2 * each, 4 * question.limit) if approximate else 4 * each
        depth = _DEPTH_UNDER_FILTER if question.filters and asked.subset is None else 2 * each
        rows = await queries.list_pool(
            self._session,
            self._workspace_id,
            queries.PoolRequest(
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
                approximate=approximate,
                ef_search=min(max(settings.hnsw_ef_search, windows * 5 // 4), 1000),
            ),
        )
        nearest = max((1.0 - row["distance"] for row in rows if row["distance"] is not None), default=0.0)
        self.reached.near = Scale(asked.usual[0], nearest)
        self.reached.take(rows)
        for row in rows:
            self.reached.ranks[row["card_id"]] = {
                "dense": row["dense_rank"],
                "lexical": row["lexical_rank"],
                "sparse": None,
            }

    async def links(
        self,
        entities: Sequence[Entity],
        known: Sequence[uuid.UUID] = (),
        more: Iterable[uuid.UUID] = (),
        docs: Sequence[tuple[int, uuid.UUID]] = (),
    ) -> list[Link]:
        """How cards name these entities: few of each, and all that are `known`. What is reached on the way, and `more`
        cards, are taken.
        """
        rows = await explore_queries.list_cards(
            self._session,
            self._workspace_id,
            self._space,
            self._asked.vector,
            self._asked.question.filters,
            entities=[entity.id for entity in entities],
            each=self._settings.explore_mentions,
            known=known,
            more=more,
            docs=docs,
        )
        return self.reached.take_links(rows, entities)

    async def facts(self) -> Facts:
        asked = self._asked
        if asked.vector is None:
            return Facts([], Scale(), Scale())
        near = await nearest_many(
            self._session,
            self._workspace_id,
            self._space,
            (TextKind.relation, TextKind.point_edge),
            asked.vector,
            2 * _WALK_FACTS,
            asked.large,
        )
        said, claimed = near[TextKind.relation], near[TextKind.point_edge]
        relations = Scale(asked.usual[1], 1.0 - said[0][1] if said else 0.0)
        claims = Scale(asked.usual[2], 1.0 - claimed[0][1] if claimed else 0.0)
        fits = {owner: relations.lift(1.0 - distance) for owner, distance in said}
        fits |= {owner: claims.lift(1.0 - distance) for owner, distance in claimed}
        best = sorted(fits, key=lambda owner: (-fits[owner], owner))[:_WALK_FACTS]
        points = {owner for owner, _ in claimed}
        rows = await explore_queries.list_facts(
            self._session,
            self._workspace_id,
            [owner for owner in best if owner not in points],
            [owner for owner in best if owner in points],
            self._settings.explore_counted,
        )
        about: dict[uuid.UUID, list[Entity]] = {}
        for row in rows:
            about.setdefault(row["relation_id"] or row["point_id"], []).append(explore_queries.entity_of(row))
        return Facts([(fits[owner], about[owner]) for owner in best if owner in about], relations, claims)

    async def bridges(self, seeded: Mapping[uuid.UUID, float], facts: Facts) -> list[Bridge]:
        """Where the best cards lead on to."""
        settings = self._settings
        best = sorted(seeded, key=lambda card: (-seeded[card], card))[: settings.explore_beam]
        top = max((seeded[card] for card in best), default=0.0)
        if not settings.explore_hop or not settings.explore_bridges or top <= 0:
            return []
        rows = await explore_queries.list_bridges(
            self._session,
            self._workspace_id,
            self._space,
            self._asked.vector,
            best,
            settings.explore_facts,
            _ABOUT + len(self._asked.names.entities),
            settings.explore_counted,
        )
        named = {entity.id for entity in self._asked.names.entities}
        overlooked = await self._overlooked(best, facts)
        about: dict[uuid.UUID, list[tuple[Entity, Fact]]] = {}
        for row in rows:
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
        for card, found in overlooked.items():
            known = named | {entity.id for entity, _ in about.get(card, ())}
            about.setdefault(card, []).extend(
                (entity, fact)
                for entity, fact in found
                if entity.id not in known and name_key(entity.name) != name_key(self.reached.titles.get(card, ""))
            )
        return explore.strongest(
            bridge
            for card in best
            for bridge in explore.bridges(card, seeded[card] / top, about.get(card, ()), settings)
        )

    async def _overlooked(self, cards: Sequence[uuid.UUID], facts: Facts) -> dict[uuid.UUID, list[tuple[Entity, Fact]]]:
        """Titles that stand in what these cards claim: those that came in later than the card, and names that nothing
        but the title's own card could have told from other words.
        """
        if self._asked.vector is None or not self._settings.explore_overlooked:
            return {}
        rows = await explore_queries.list_claims(
            self._session,
            self._workspace_id,
            self._space,
            self._asked.vector,
            cards,
            self._settings.explore_facts,
            self._settings.explore_overlooked,
        )
        keys = {row["point_id"]: likely_keys(row["text"], self._segmenter) for row in rows}
        titles = await explore_queries.list_titles(
            self._session, self._workspace_id, set().union(*keys.values()), self._settings.explore_counted
        )
        found: dict[uuid.UUID, dict[uuid.UUID, tuple[Entity, Fact]]] = {}
        for row in sorted(rows, key=lambda row: (row["distance"], row["point_id"])):
            fact = Fact(facts.claims.lift(1.0 - row["distance"]), point_id=row["point_id"])
            for key in sorted(keys[row["point_id"]] & titles.keys()):
                for entity in titles[key]:
                    found.setdefault(row["card_id"], {}).setdefault(entity.id, (entity, fact))
        return {card: list(some.values()) for card, some in found.items()}

    async def hops(self, crossed: Sequence[Bridge], more: Iterable[uuid.UUID]) -> list[Hop]:
        """Every way over a bridge to another card; `more` cards are reached besides."""
        if not crossed:
            await self.links([], (), more)
            return []
        asked, reached = self._asked, self.reached
        hashes = {bridge.entity.id: question_hashes(self._segmenter.terms(bridge.entity.name)) for bridge in crossed}
        bridged = await find_postings(
            self._session,
            self._workspace_id,
            sorted({word for words, _ in hashes.values() for word in words} - set(asked.words)),
            sorted({gram for _, grams in hashes.values() for gram in grams} - set(asked.grams)),
        )
        titles = DocsWithAll(bridged)
        docs = [
            (doc, bridge.entity.id)
            for bridge in crossed
            if not set(hashes[bridge.entity.id][0]) & set(asked.words)
            for doc in titles.of(hashes[bridge.entity.id][0], _TITLES, _COMMON)
        ]
        far = await self.links([bridge.entity for bridge in crossed], (), more, docs)
        words_of = await asyncio.to_thread(reached.words_of, asked.postings, bridged)
        places = {chunk: place for place, chunk in enumerate(reached.chunks)}
        by_entity: dict[uuid.UUID, list[Link]] = {}
        for link in far:
            by_entity.setdefault(link.entity.id, []).append(link)
        found = []
        for bridge in crossed:
            words, grams = hashes[bridge.entity.id]
            said = question_hashes(self._segmenter.terms(reached.titles.get(bridge.source, "")))
            # What the question still asks: itself without the source's title, with the bridge.
            rest = words_of.scores(
                [*(set(asked.words) - set(said[0])), *words], [*(set(asked.grams) - set(said[1])), *grams]
            )
            top = float(rest.max(initial=0.0)) or 1.0
            for link in by_entity.get(bridge.entity.id, ()):
                chunk = reached.chunks.get(link.chunk_id)
                if chunk is not None and link.card_id != bridge.source:
                    fit = explore.base(reached.near.lift(chunk.cosine), float(rest[places[chunk.id]]) / top)
                    found.append(explore.hop(bridge, link, fit, self._settings))
        return found

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
