"""Level 2: from the entities that a question names into the graph.

Short statements (names and postings; pool, facts and the cards of the names; bridges; the cards behind them; texts),
none of them open while the embedder works. What they find is counted by `explore`, the walk goes through `walk`.
A leg that fails is an empty leg and a word in `degraded`.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.index.collections import TextKind
from app.index.contributions import Contributions, contributions
from app.index.lexical import find_postings
from app.index.postings import Found, LexicalHits, score
from app.index.spaces import Spaces
from app.index.terms import question_hashes
from app.retrieval import explore, explore_paths, explore_queries, queries
from app.retrieval.collections import Sizes, nearest_many
from app.retrieval.explore import UNSAID, Bridge, Entity, Fact, Hop, Link, Scale
from app.retrieval.explore_names import Named, named
from app.retrieval.levels.level1_search import Clock, snippet
from app.retrieval.question_vectors import QuestionEmbedder
from app.retrieval.settings import RetrievalSettings
from app.retrieval.types import CardRef, Evidence, Hit, Question, Route, Span
from app.retrieval.walk import Graph, Graphs
from app.text.gazetteer import candidate_runs
from app.text.normalise import fold
from app.text.segment import Segmenter

# A question this long takes its segmentation off the event loop.
_LONG_QUERY = 400
# The facts from whose entities the walk starts.
_WALK_FACTS = 5
# Entities of a card that are looked at before its bridges are chosen.
_ABOUT = 16
# What is usual changes slowly.
_MEANS_SECONDS = 300.0
_FACTS = (TextKind.relation, TextKind.point_edge)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """The question as it is looked for: its words, and the entities that it names."""

    words: Sequence[int]
    grams: Sequence[int]
    names: Named

    @property
    def entities(self) -> Sequence[Entity]:
        return self.names.entities


@dataclass(slots=True)
class Chunk:
    """A chunk that was reached, with its exact scores."""

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
    """Everything that was found so far."""

    near: Scale
    lexical_top: float
    chunks: dict[uuid.UUID, Chunk] = field(default_factory=dict)
    by_card: dict[uuid.UUID, list[Chunk]] = field(default_factory=dict)
    ranks: dict[uuid.UUID, dict[str, int | None]] = field(default_factory=dict)
    titles: dict[uuid.UUID, str] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any], lexical: float) -> None:
        if row["chunk_id"] in self.chunks:
            return
        chunk = Chunk(
            row["chunk_id"],
            row["card_id"],
            row["doc"],
            None if row["distance"] is None else 1.0 - row["distance"],
            lexical,
            row["start"] or 0,
            row["end"] or 0,
        )
        self.chunks[chunk.id] = chunk
        self.by_card.setdefault(chunk.card_id, []).append(chunk)

    def rate(self) -> dict[uuid.UUID, float]:
        """The base of every card: that of its best chunk."""
        for chunk in self.chunks.values():
            words = chunk.lexical / self.lexical_top if self.lexical_top else 0.0
            chunk.base = explore.base(self.near.lift(chunk.cosine), words)
        for found in self.by_card.values():
            found.sort(key=lambda chunk: (-chunk.base, chunk.doc))
        return {card: found[0].base for card, found in self.by_card.items()}


class ExploreLevel:
    def __init__(
        self,
        database: Database,
        spaces: Spaces,
        segmenter: Segmenter,
        settings: RetrievalSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._questions = QuestionEmbedder(spaces)
        self._segmenter = segmenter
        self._settings = settings
        self._sizes = Sizes(settings)
        self._graphs = Graphs(settings)
        self._clock = clock
        self._means: dict[tuple[uuid.UUID, int], tuple[list[Any], float]] = {}

    async def search(self, workspace_id: uuid.UUID, question: Question, route: Route) -> Evidence | None:
        """Cards that answer the question, best first; None where it names nothing that is known. Raises only what the
        database raises.
        """
        clock = Clock.start()
        degraded: list[str] = []
        settings = self._settings
        async with self._questions.asking([question.query]) as asking:
            runs = await self._off_loop(question, lambda: candidate_runs(question.query, self._segmenter))
            terms = await self._off_loop(question, lambda: self._segmenter.terms(question.query))
            words, grams = question_hashes(terms)
            async with self._database.read() as session:
                scope = await queries.get_scope(session, workspace_id)
                await explore_queries.settle(session, settings.hnsw_ef_search)
                known = await explore_queries.list_named(
                    session, workspace_id, (run.key for run in runs), settings.explore_counted
                )
                asked = Asked(words, grams, named(question.query, runs, known))
                if scope.space is None or not asked.names:
                    return None
                few_cards = settings.exact_scan_windows // 6
                subset = (
                    await queries.find_subset(session, workspace_id, question.filters, few_cards)
                    if question.filters
                    else None
                )
                postings = await find_postings(session, workspace_id, words, grams)
                hits = await asyncio.to_thread(score, postings, subset)
                large = await self._sizes.large(session, workspace_id, scope.space)
                means = await self._usual(session, workspace_id, scope.space)
            clock.lap("lexical")
            found = await asking.vectors(scope.space.key, degraded)
            clock.lap("embedding")
        space = scope.space
        vector = None if found is None else found.embeddings.dense[0]

        async with self._database.read() as session:
            # ------------------------------------------------------------------------------ seeds
            approximate = TextKind.chunk in large and subset is None
            each = settings.search_each
            windows = max(2 * each, 4 * question.limit) if approximate else 4 * each
            pool = await queries.list_pool(
                session,
                workspace_id,
                queries.PoolRequest(
                    space=space,
                    dense=vector,
                    sparse=None,
                    sparse_dimension=0,
                    lexical_docs=hits.top(2 * each)[0].tolist(),
                    filters=question.filters,
                    allowed=None if subset is None else subset.docs,
                    each=each,
                    rrf_k=settings.rrf_k,
                    windows=windows,
                    approximate=approximate,
                    ef_search=min(max(settings.hnsw_ef_search, windows * 5 // 4), 1000),
                ),
            )
            clock.lap("pool")
            usual = [0.0 if vector is None or mean is None else float(mean @ vector) for mean in means]
            nearest = max((1.0 - row["distance"] for row in pool if row["distance"] is not None), default=0.0)
            reached = Reached(Scale(usual[0], nearest), float(hits.lex.max(initial=0.0)))
            self._take(reached, pool, hits)
            for row in pool:
                reached.ranks.setdefault(
                    row["card_id"], {"dense": row["dense_rank"], "lexical": row["lexical_rank"], "sparse": None}
                )
            links = await self._links(
                session,
                workspace_id,
                space,
                vector,
                question,
                reached,
                hits,
                asked.entities,
                list(reached.by_card),
                dict.fromkeys(asked.names.titles),
            )
            bases = reached.rate()
            seeded, titled = explore.seeds(bases, links, asked.names.titles, settings)
            facts, scales = await self._facts(session, workspace_id, space, vector, usual, large)
            clock.lap("seeds")

            # ------------------------------------------------------------------------------- walk
            start = explore.reset(facts, asked.entities, bases)
            graph: Graph | None = None
            walked_all: Any = None
            more: dict[uuid.UUID, uuid.UUID | None] = {}
            if settings.explore_walk and not question.filters:
                graph = await self._graphs.whole(session, workspace_id)
                if graph is not None:
                    walked_all = graph.walk(*start)
                    best = graph.best_cards(walked_all, settings.explore_walk_cards)
                    more = {card: None for card in best if card not in reached.by_card}
            clock.lap("walk")

            # ---------------------------------------------------------------------------- bridges
            crossed = await self._bridges(session, workspace_id, space, vector, seeded, asked, reached, scales)
            far = await self._links(
                session,
                workspace_id,
                space,
                vector,
                question,
                reached,
                hits,
                [bridge.entity for bridge in crossed],
                [],
                more,
            )
            clock.lap("bridges")
            hops = await self._hops(session, workspace_id, crossed, far, reached, asked, postings, hits)
            beamed = explore.beam(reached.rate() | seeded, titled, hops, settings)
            if settings.explore_walk and graph is None:
                graph = await self._graphs.around(session, workspace_id, list(beamed))
                walked_all = graph.walk(*start)
            walked = {} if graph is None else graph.of_cards(walked_all, beamed)
            clock.lap("hops")

            ranked = explore.merged(beamed, walked, settings)[: question.limit]
            ways = _ways(hops, {card for card, _ in ranked}, settings.explore_paths)
            wanted = [
                chunk.id for card, _ in ranked for chunk in reached.by_card.get(card, ())[: settings.evidence_spans]
            ]
            texts = {row["chunk_id"]: row for row in await queries.list_chunks(session, workspace_id, wanted)}
            told = explore_paths.told_of(
                await explore_queries.list_told(
                    session, workspace_id, *explore_paths.facts_of(hop for some in ways.values() for hop in some)
                )
            )
        shown = _Shown(asked, links, ways, told, reached, texts, bases, seeded, walked, hops)
        result = [hit for card, value in ranked if (hit := self._hit(card, value, shown, question)) is not None]
        result = [replace(hit, rank=rank) for rank, hit in enumerate(result, 1)]
        clock.lap("texts")
        return Evidence(
            query=question.query,
            route=route,
            hits=result,
            nothing_relevant=not result,
            degraded=degraded,
            timings_ms=clock.timings_ms,
            index={"space": space.key, "stale_cards": scope.stale_cards},
        )

    # ------------------------------------------------------------------------------------- steps

    async def _off_loop(self, question: Question, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work) if len(question.query) > _LONG_QUERY else work()

    async def _usual(self, session: AsyncSession, workspace_id: uuid.UUID, space: queries.SpaceRow) -> list[Any]:
        """Mean vectors, asked again after a while."""
        moment = self._clock()
        means, until = self._means.get((workspace_id, space.id), ([], 0.0))
        if until <= moment:
            means = await explore_queries.list_means(session, workspace_id, space, self._settings.explore_sample)
            self._means[workspace_id, space.id] = (means, moment + _MEANS_SECONDS)
        return means

    def _take(self, reached: Reached, rows: Sequence[Any], hits: LexicalHits) -> None:
        shares = hits.score_of(np.asarray([row["doc"] for row in rows], np.uint32))
        for row, share in zip(rows, shares.tolist(), strict=True):
            reached.add(row, share)

    async def _links(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        space: queries.SpaceRow,
        vector: Any,
        question: Question,
        reached: Reached,
        hits: LexicalHits,
        entities: Sequence[Entity],
        known: Sequence[uuid.UUID],
        more: Mapping[uuid.UUID, uuid.UUID | None] | None = None,
    ) -> list[Link]:
        """How cards name these entities; what is reached on the way is taken."""
        rows = await explore_queries.list_cards(
            session,
            workspace_id,
            space,
            vector,
            question.filters,
            entities=[entity.id for entity in entities],
            each=self._settings.explore_mentions,
            known=known,
            more=more,
        )
        self._take(reached, rows, hits)
        by_id = {entity.id: entity for entity in entities}
        links = []
        for row in rows:
            reached.titles[row["card_id"]] = row["title"]
            entity = by_id.get(row["entity_id"])
            if entity is None:
                continue
            own = row["title_name"] is not None and row["title_name"] == row["title"]
            inside = not own and (row["title_name"] is not None or _stands_in(entity.name, row["title"]))
            links.append(Link(entity, row["card_id"], row["chunk_id"], own, inside))
        return links

    async def _facts(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        space: queries.SpaceRow,
        vector: Any,
        usual: Sequence[float],
        large: frozenset[TextKind],
    ) -> tuple[list[tuple[float, list[Entity]]], tuple[Scale, Scale]]:
        """The facts nearest to the question with whom they are about, and the scales of relations and claims."""
        if vector is None:
            return [], (Scale(), Scale())
        near = await nearest_many(session, workspace_id, space, _FACTS, vector, 2 * _WALK_FACTS, large)
        relations, claims = near[TextKind.relation], near[TextKind.point_edge]
        scales = tuple(
            Scale(mean, 1.0 - anchors[0][1] if anchors else 0.0)
            for mean, anchors in zip(usual[1:], (relations, claims), strict=True)
        )
        fits = {owner: scales[0].lift(1.0 - distance) for owner, distance in relations}
        fits |= {owner: scales[1].lift(1.0 - distance) for owner, distance in claims}
        best = sorted(fits, key=lambda owner: (-fits[owner], owner))[:_WALK_FACTS]
        claimed = {owner for owner, _ in claims}
        rows = await explore_queries.list_facts(
            session,
            workspace_id,
            [owner for owner in best if owner not in claimed],
            [owner for owner in best if owner in claimed],
            self._settings.explore_counted,
        )
        about: dict[uuid.UUID, list[Entity]] = {}
        for row in rows:
            entity = Entity(row["entity_id"], row["name"], row["cards"], row["titled"], row["inside"])
            about.setdefault(row["relation_id"] or row["point_id"], []).append(entity)
        return [(fits[owner], about[owner]) for owner in best if owner in about], (scales[0], scales[1])

    async def _bridges(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        space: queries.SpaceRow,
        vector: Any,
        seeded: Mapping[uuid.UUID, float],
        asked: Asked,
        reached: Reached,
        scales: tuple[Scale, Scale],
    ) -> list[Bridge]:
        settings = self._settings
        best = sorted(seeded, key=lambda card: (-seeded[card], card))[: settings.explore_beam]
        top = max((seeded[card] for card in best), default=0.0)
        if not settings.explore_hop or not settings.explore_bridges or top <= 0:
            return []
        rows = await explore_queries.list_bridges(
            session, workspace_id, space, vector, best, settings.explore_facts, _ABOUT, settings.explore_counted
        )
        named_ids = {entity.id for entity in asked.entities}
        about: dict[uuid.UUID, list[tuple[Entity, Fact]]] = {}
        for row in rows:
            reached.titles[row["card_id"]] = row["title"]
            if row["entity_id"] not in named_ids:
                entity = Entity(row["entity_id"], row["name"], row["cards"], row["titled"], row["inside"])
                about.setdefault(row["card_id"], []).append((entity, _best_fact(row, scales)))
        return explore.strongest(
            bridge
            for card in best
            for bridge in explore.bridges(card, seeded[card] / top, about.get(card, ()), settings)
        )

    async def _hops(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        crossed: Sequence[Bridge],
        far: Iterable[Link],
        reached: Reached,
        asked: Asked,
        postings: Found,
        hits: LexicalHits,
    ) -> list[Hop]:
        """Every way over a bridge to another card."""
        if not crossed:
            return []
        labels = {bridge.entity.id: self._segmenter.terms(bridge.entity.name) for bridge in crossed}
        hashes = {key: question_hashes(terms) for key, terms in labels.items()}
        extra_words = {word for words, _ in hashes.values() for word in words} - set(asked.words)
        extra_grams = {gram for _, grams in hashes.values() for gram in grams} - set(asked.grams)
        extra = await find_postings(session, workspace_id, sorted(extra_words), sorted(extra_grams))
        parts = await asyncio.to_thread(_parts, reached, postings, hits, extra)
        by_entity: dict[uuid.UUID, list[Link]] = {}
        for link in far:
            by_entity.setdefault(link.entity.id, []).append(link)
        rows = {chunk: n for n, chunk in enumerate(reached.chunks)}
        found = []
        for bridge in crossed:
            words, grams = hashes[bridge.entity.id]
            used_words, used_grams = question_hashes(self._segmenter.terms(reached.titles.get(bridge.source, "")))
            rest = parts.scores(
                [*(set(asked.words) - set(used_words)), *words], [*(set(asked.grams) - set(used_grams)), *grams]
            )
            top = float(rest.max(initial=0.0)) or 1.0
            for link in by_entity.get(bridge.entity.id, ()):
                chunk = reached.chunks.get(link.chunk_id)
                if chunk is None or link.card_id == bridge.source:
                    continue
                fit = 0.5 * reached.near.lift(chunk.cosine) + 0.5 * float(rest[rows[chunk.id]]) / top
                found.append(explore.hop(bridge, link, fit, self._settings))
        return found

    # -------------------------------------------------------------------------------------- hits

    def _hit(self, card: uuid.UUID, value: float, shown: _Shown, question: Question) -> Hit | None:
        chunks = [
            (chunk, row)
            for chunk in shown.reached.by_card.get(card, ())[: self._settings.evidence_spans]
            if (row := shown.texts.get(chunk.id)) is not None
        ]
        if not chunks:
            # Removed between two statements.
            return None
        best, first = chunks[0]
        return Hit(
            rank=0,
            score=round(value, 6),
            card=CardRef(first["card_id"], first["title"], first["external_id"], first["created_at"], first["tags"]),
            snippet=snippet(
                first["text"], best.start - first["start"], best.end - first["start"], self._settings.snippet_chars
            ),
            evidence=[
                Span(chunk.id, row["text"], row["start"], row["end"], round(chunk.base, 6), (chunk.start, chunk.end))
                for chunk, row in chunks
            ],
            ranks={**shown.reached.ranks.get(card, {"dense": None, "lexical": None, "sparse": None})},
            explain=shown.explained(card) if question.explain else None,
            paths=shown.paths(card, first["title"], self._settings),
        )


@dataclass(frozen=True, slots=True)
class _Shown:
    """What hits are told from."""

    asked: Asked
    links: Sequence[Link]
    ways: Mapping[uuid.UUID, Sequence[Hop]]
    told: Mapping[uuid.UUID, explore_paths.Told]
    reached: Reached
    texts: Mapping[uuid.UUID, Any]
    bases: Mapping[uuid.UUID, float]
    seeded: Mapping[uuid.UUID, float]
    walked: Mapping[uuid.UUID, float]
    hops: Sequence[Hop]

    def explained(self, card: uuid.UUID) -> dict[str, float]:
        best = self.reached.by_card[card][0]
        return {
            "cosine": round(best.cosine or 0.0, 6),
            "lexical": round(best.lexical, 6),
            "base": round(best.base, 6),
            "seed": round(self.seeded.get(card, 0.0), 6),
            "hop": round(max((hop.score for hop in self.ways.get(card, ())), default=0.0), 6),
            "walk": round(self.walked.get(card, 0.0), 9),
        }

    def paths(self, card: uuid.UUID, title: str, settings: RetrievalSettings) -> list[dict[str, Any]]:
        """What the question names in the card, then the bridges to it, best first."""
        base = self.bases.get(card, 0.0)
        best: dict[uuid.UUID, tuple[float, Link]] = {}
        for link in self.links:
            if link.card_id == card:
                weight = explore.named_share(link, base, settings)
                if link.entity.id not in best or weight > best[link.entity.id][0]:
                    best[link.entity.id] = (weight, link)
        paths = [explore_paths.direct(link, title, weight) for weight, link in best.values()]
        for hop in self.ways.get(card, ()):
            fact = hop.bridge.fact
            told = self.told.get(fact.relation_id or fact.point_id or uuid.UUID(int=0))
            source = self.reached.titles.get(hop.bridge.source, "")
            paths.append(explore_paths.across(hop, title, told, self.asked.entities, source))
        paths.sort(key=lambda path: -path["score"])
        return paths[: settings.explore_paths]


def _ways(hops: Iterable[Hop], cards: set[uuid.UUID], limit: int) -> dict[uuid.UUID, list[Hop]]:
    """Of each of these cards the best ways to it, one per bridge."""
    best: dict[tuple[uuid.UUID, uuid.UUID], Hop] = {}
    for hop in hops:
        if hop.link.card_id in cards:
            key = (hop.link.card_id, hop.bridge.entity.id)
            if key not in best or hop.score > best[key].score:
                best[key] = hop
    ways: dict[uuid.UUID, list[Hop]] = {}
    for hop in sorted(best.values(), key=lambda hop: (-hop.score, hop.bridge.entity.id)):
        ways.setdefault(hop.link.card_id, []).append(hop)
    return {card: found[:limit] for card, found in ways.items()}


def _best_fact(row: Mapping[str, Any], scales: tuple[Scale, Scale]) -> Fact:
    """The relation of the card with the entity that fits best; else what it claims about it."""
    if row["relation_distance"] is not None:
        return Fact(scales[0].lift(1.0 - row["relation_distance"]), relation_id=row["relation_id"])
    if row["point_distance"] is not None:
        return Fact(scales[1].lift(1.0 - row["point_distance"]), point_id=row["point_id"])
    return UNSAID


def _parts(reached: Reached, postings: Found, hits: LexicalHits, extra: Found) -> Contributions:
    docs = np.asarray([chunk.doc for chunk in reached.chunks.values()], np.uint32)
    asked = contributions(postings, hits, docs)
    bridged = contributions(extra, score(extra), docs)
    return asked.beside(bridged)


def _stands_in(name: str, title: str) -> bool:
    return f" {fold(name)} " in f" {' '.join(fold(title).replace(',', ' ').split())} "
