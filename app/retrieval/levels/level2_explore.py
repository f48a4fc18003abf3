"""Level 2: from the entities that a question names into the graph.

Few round trips, none of them open while the embedder works: how to plan; what the workspace is, names and postings.
Then how to plan; the pool of level search with the cards of the names; what the best cards say of whom; the words of
their bridges; the cards behind these; texts. Eight one after the other, some more where a name is not known as it is
written, a hub is named, or the graph is too large to be kept. In a second session, if few questions are asked at the
time, the nearest facts are asked as soon as the question has a vector; then what the best cards claim, the cards of
every other bridge, and the graph of the cards that are best so far, while this process weighs the hops. What they find
is counted by `explore` (or `explore_hops`), the walk goes through `walk`. A leg that fails is an empty leg and a word
in `degraded`.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.db.together import fetch_together, running
from app.index.collections import Collection
from app.index.lexical import found_in, postings_part
from app.index.postings import score
from app.index.spaces import Spaces
from app.index.terms import question_hashes
from app.retrieval import explore, explore_hops, explore_paths, explore_queries, queries
from app.retrieval.across import across
from app.retrieval.calibrating import Calibrations
from app.retrieval.collections import Sizes
from app.retrieval.explore import Entity, Link
from app.retrieval.explore_hits import Found, best_hops, told_hits
from app.retrieval.explore_names import Named, named
from app.retrieval.explore_near import Nearest, NearFacts, Vector
from app.retrieval.explore_paths import Trail
from app.retrieval.explore_run import SCORED_AT_ONCE_BYTES, Asked, Exploration, hops_of
from app.retrieval.explore_similar import parts_of, spelt_like, unanswered
from app.retrieval.levels.level1_search import Clock
from app.retrieval.question_vectors import QuestionEmbedder, QuestionVectors
from app.retrieval.reading import LONG_QUERY, aside
from app.retrieval.settings import RetrievalSettings
from app.retrieval.types import Evidence, Question, Route
from app.retrieval.walk import Graphs, walked
from app.text.gazetteer import Run, candidate_runs
from app.text.names import find_names
from app.text.normalise import is_chinese, name_key
from app.text.segment import Segmenter, Terms

# What is usual changes slowly.
_MEANS_SECONDS = 300.0

# So many questions at once have a second connection: where more are asked, the server has enough to do.
_SECONDS = 3

Ranked = list[tuple[uuid.UUID, float]]


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
        self._sizes = Sizes(settings, clock)
        self._graphs = Graphs(settings, clock)
        self._calibrations = Calibrations()
        self._clock = clock
        self._seconds = asyncio.Semaphore(min(database.pool_status()["size"] // 2, _SECONDS))
        self._means: dict[tuple[uuid.UUID, int], tuple[Sequence[Any], float]] = {}

    async def search(self, workspace_id: uuid.UUID, question: Question, route: Route) -> Evidence | None:
        """Cards that answer the question, best first; None where it names nothing that is known. Raises only what the
        database raises.
        """
        clock = Clock.start()
        degraded: list[str] = []
        settings = self._settings
        # What is begun ends with the block, the last one first.
        async with self._questions.asking([question.query]) as asking, AsyncExitStack() as begun:
            runs, terms = await self._read(question.query)
            words, grams = question_hashes(terms)
            async with self._database.read() as session:
                await queries.settle(session, settings.hnsw_ef_search)
                scopes, versions, known, blocks = await fetch_together(
                    session,
                    queries.scope_part(workspace_id),
                    explore_queries.version_part(workspace_id),
                    explore_queries.names_part(workspace_id, (run.key for run in runs), settings.explore_counted),
                    postings_part(workspace_id, [Collection.chunk], words, grams),
                )
                scope, version = queries.scope_of(scopes[0]), explore_queries.version_of(versions[0])
                names = named(question.query, runs, explore_queries.known_of(known))
                unknown = self._unknown(question.query, names)
                if scope.space is None or not (names or unknown):
                    return None
                space = scope.space
                large = await self._sizes.large(session, workspace_id, space)
                means = await self._usual(session, workspace_id, space)
                calibration = await self._calibrations.of(session, workspace_id, space)
                facts = NearFacts(workspace_id, space, means, large, settings.hnsw_ef_search, settings.explore_counted)
                beside = await begun.enter_async_context(self._second())
                vectors = await begun.enter_async_context(running(asking.vectors(space.key, degraded)))
                nearest = await begun.enter_async_context(running(_found_beside(facts, beside, vectors)))
                names = await self._guessed(session, workspace_id, names, unknown)
                if not names:
                    return None
                few_cards = settings.exact_scan_windows // 6
                filters = question.filters
                subset = await queries.find_subset(session, workspace_id, filters, few_cards) if filters else None
            postings = found_in(blocks, [Collection.chunk], words, grams)[Collection.chunk]
            if postings.size > SCORED_AT_ONCE_BYTES:
                hits = await asyncio.to_thread(score, postings, subset)
            else:
                hits = score(postings, subset)
            clock.lap("lexical")
            vector = _vector_of(await vectors)
            clock.lap("embedding")
            usual = facts.usual_window(vector)
            other = across(calibration, is_chinese(question.query), settings.search_impute)
            asked = Asked(question, names, words, grams, postings, hits, subset, vector, usual, large, version, other)
            session = await begun.enter_async_context(self._database.read())
            run = Exploration(session, beside, begun, facts, nearest, asked, self._segmenter, settings)
            way = self._by_hops if (question.scorer or settings.explore_scorer) == "hops" else self._by_beam
            ranked, shown = await way(run, session, workspace_id, asked, clock)
            ranked = ranked[: question.limit]
            wanted = [
                chunk.id for card, _ in ranked for chunk in run.reached.by_card.get(card, ())[: settings.evidence_spans]
            ]
            relations, points = explore_paths.facts_of(hop for card, _ in ranked for hop in shown.hops.get(card, ()))
            relations |= {
                relation for card, _ in ranked for trail in shown.trails.get(card, ()) for _, relation, _ in trail.steps
            }
            chunks, said = await fetch_together(
                session,
                queries.chunks_part(workspace_id, wanted),
                explore_queries.told_part(workspace_id, relations, points),
            )
        texts, told = {row["chunk_id"]: row for row in chunks}, explore_paths.told_of(said)
        result = told_hits(ranked, shown, texts, told, settings, question.explain)
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

    @asynccontextmanager
    async def _second(self) -> AsyncIterator[AsyncSession | None]:
        """A second session, as long as few questions have one: who has one connection and waits for another must not
        find that all are held by such as wait.
        """
        if self._seconds.locked():
            yield None
            return
        async with self._seconds, self._database.read() as session:
            yield session

    async def _by_beam(
        self, run: Exploration, session: AsyncSession, workspace_id: uuid.UUID, asked: Asked, clock: Clock
    ) -> tuple[Ranked, Found]:
        """The default scorer: seeds, bridges and hops, and Personalised PageRank beside them."""
        settings, reached = self._settings, run.reached
        entities = asked.names.entities
        links = await run.pool(entities, asked.names.titles)
        clock.lap("pool")
        bases = reached.rate()
        # Titles of cards that filters let pass; the others were not reached.
        titles = {card: cards for card, cards in asked.names.titles.items() if card in bases}
        seeded, titled = explore.seeds(bases, links, titles, settings)
        nearest = await run.nearest()
        facts = await run.facts(seeded, nearest)
        clock.lap("seeds")
        start = explore.reset(facts.best, entities, bases)
        # Under a filter only what passes is walked.
        graph = (
            await self._graphs.whole(session, workspace_id, asked.version)
            if settings.explore_walk and not asked.question.filters
            else None
        )
        visited = None if graph is None else await walked(graph, *start)
        more = {} if graph is None or visited is None else graph.best_cards(visited, settings.explore_walk_cards)
        clock.lap("walk")
        crossed = run.bridges(seeded, facts)
        ahead = _best_cards(seeded, settings.explore_walk_ahead) if settings.explore_walk and graph is None else []
        hops = await run.hops(crossed, more.keys() - reached.by_card.keys(), ahead)
        beamed = explore.beam(reached.rate() | seeded, titled, hops, settings)
        if settings.explore_walk and graph is None:
            best = _best_cards(beamed, settings.explore_walk_around)
            rest = [card for card in best if card not in run.ahead]
            graph = await self._graphs.around(session, workspace_id, rest, asked.version, run.beside, run.graph_ahead)
            visited = await walked(graph, *start)
        visits = {} if graph is None or visited is None else graph.of_cards(visited, beamed)
        clock.lap("hops")
        ranked = explore.merged(beamed, visits, settings, asked.question.limit)
        ways = best_hops(hops, {card for card, _ in ranked}, settings.explore_paths)
        return ranked, Found(entities, links, ways, reached, {"seed": seeded, "beam": beamed, "walk": visits})

    async def _by_hops(
        self, run: Exploration, session: AsyncSession, workspace_id: uuid.UUID, asked: Asked, clock: Clock
    ) -> tuple[Ranked, Found]:
        """`scorer = hops`: what is matched spreads over relations."""
        matched = {entity.id: 1.0 for entity in asked.names.entities}
        relations = (await run.nearest()).relations
        clock.lap("seeds")
        near, names = await run.edges(matched, relations)
        first = explore_hops.spread(matched, near, explore_hops.FIRST)
        on, more_names = await run.edges(first.scores, relations)
        second = explore_hops.spread(first.scores, on, explore_hops.SECOND, explore_hops.FLOOR)
        clock.lap("hops")
        entities = {entity.id: entity for entity in asked.names.entities}
        for entity_id, name in {**more_names, **names}.items():
            entities.setdefault(entity_id, Entity(entity_id, name, 1, 0))
        scores = explore_hops.totals([matched, first.scores, second.scores])
        best = sorted(scores, key=lambda entity: (-scores[entity], entity))[: self._settings.explore_hop_entities]
        links = await run.links([entities[entity] for entity in best], asked.names.titles)
        bases = run.reached.rate()
        cards = explore_hops.card_scores(scores, ((link.card_id, link.entity.id) for link in links))
        cards |= {card: cards.get(card, 0.0) + 1.0 for card in asked.names.titles if card in bases}
        ranked = sorted(cards.items(), key=lambda pair: (-pair[1], -bases.get(pair[0], 0.0), pair[0]))
        clock.lap("cards")
        trails = _trails(links, hops_of(first, second), scores, entities)
        direct = [link for link in links if link.entity.id in matched]
        return ranked, Found(asked.names.entities, direct, {}, run.reached, {"hops": cards}, trails)

    async def _read(self, query: str) -> tuple[list[Run], Terms]:
        def read() -> tuple[list[Run], Terms]:
            return candidate_runs(query, self._segmenter), self._segmenter.terms(query)

        return await aside(query, read)

    def _unknown(self, query: str, names: Named) -> list[str]:
        """Names in the question that nothing answers to, as long as it is known whom else they may mean."""
        if not self._settings.explore_spellings or len(query) > LONG_QUERY:
            return []
        return unanswered(query, find_names(query, self._segmenter), names.runs)

    async def _guessed(
        self, session: AsyncSession, workspace_id: uuid.UUID, names: Named, unknown: Sequence[str]
    ) -> Named:
        """With what these other names of the question may be meant for."""
        if not unknown:
            return names
        terms = [self._segmenter.terms(name) for name in unknown]
        hashes = [question_hashes(one) for one in terms]
        words = [word for words, _ in hashes for word in words]
        grams = [gram for _, grams in hashes for gram in grams]
        keys, most = [name_key(name) for name in unknown], self._settings.explore_spellings
        spelt, blocks = await fetch_together(
            session,
            explore_queries.spellings_part(workspace_id, keys, most),
            postings_part(workspace_id, [Collection.entity], words, grams),
        )
        near = explore_queries.spellings_of(spelt, keys)
        likely = {key: spelt_like(key, neighbours) for key, neighbours in near.items()}
        longer = score(found_in(blocks, [Collection.entity], words, grams)[Collection.entity]).top(most)[0]
        # Of the many only the names; counted are the few that are meant.
        called = await explore_queries.list_called(
            session, workspace_id, [one for found in likely.values() for one in found], longer.tolist()
        )
        by_name = [(name, one) for one, name in dict(called.values()).items()]
        meant: dict[uuid.UUID, None] = {}
        for name in unknown:
            found = parts_of(name, by_name) or [called[one][0] for one in likely[name_key(name)] if one in called]
            meant |= dict.fromkeys(found)
        if not meant:
            return names
        counted = await explore_queries.list_entities(session, workspace_id, meant, self._settings.explore_counted)
        guessed = {one.id: one for one in (*names.entities, *counted)}
        return replace(names, entities=list(guessed.values()))

    async def _usual(self, session: AsyncSession, workspace_id: uuid.UUID, space: queries.SpaceRow) -> Sequence[Any]:
        """Mean vectors, asked again after a while."""
        moment = self._clock()
        means, until = self._means.get((workspace_id, space.id), ((), 0.0))
        if until <= moment:
            means = await explore_queries.list_means(session, workspace_id, space, self._settings.explore_sample)
            self._means[workspace_id, space.id] = (means, moment + _MEANS_SECONDS)
        return means


def _vector_of(found: QuestionVectors | None) -> Vector | None:
    return None if found is None else found.embeddings.dense[0]


async def _found_beside(
    facts: NearFacts, beside: AsyncSession | None, vectors: Awaitable[QuestionVectors | None]
) -> Nearest | None:
    """The facts nearest to the question, as soon as it has a vector; None: there is no session for that."""
    return None if beside is None else await facts.find(beside, _vector_of(await vectors))


def _best_cards(scores: Mapping[uuid.UUID, float], most: int) -> list[uuid.UUID]:
    return sorted(scores, key=lambda card: (-scores[card], card))[:most]


def _trails(
    links: Sequence[Link],
    came: Mapping[uuid.UUID, Sequence[explore_hops.Edge]],
    scores: Mapping[uuid.UUID, float],
    entities: Mapping[uuid.UUID, Entity],
) -> dict[uuid.UUID, list[Trail]]:
    """By card the relations that led to what it names, one trail per entity."""
    trails: dict[uuid.UUID, dict[uuid.UUID, Trail]] = {}
    for link in links:
        steps = [(entities[edge.source], edge.relation_id, edge.weight) for edge in came.get(link.entity.id, ())]
        if steps:
            trails.setdefault(link.card_id, {})[link.entity.id] = Trail(steps, link, scores[link.entity.id])
    return {card: list(found.values()) for card, found in trails.items()}
