"""A labelled set through the real pipeline: ingest into a fresh workspace, ask every question, measure.

Knows nothing of how cards are learned or found; it is handed what does both.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from app.cards.drafts import NewCard
from app.db.session import Database
from app.evaluation import queries
from app.evaluation.extractions import Extractions
from app.evaluation.folder import Document, LabelledSet, half
from app.evaluation.metrics import Row, mean, measure_run
from app.index import folding
from app.ingestion.communities.rebuild import Communities
from app.ingestion.pipeline import Pipeline
from app.ingestion.posting import post_episodes
from app.ingestion.queries import Task
from app.ingestion.submit import Intake
from app.providers.ports import Embedder
from app.retrieval.calibrating import Calibrating
from app.retrieval.queries import get_scope
from app.retrieval.retrieve import Retriever
from app.retrieval.types import Evidence, Filters, Fusion, Level, Preset, Question, Scorer


@dataclass(frozen=True, slots=True)
class Way:
    """How a question is asked. Level None: as the router decides."""

    level: Level | None
    fusion: Fusion | None = None
    preset: Preset | None = None
    scorer: Scorer | None = None


# What `--level` takes: the levels themselves, and other ways of ranking at them.
LEVELS: Final[Mapping[str, Way]] = {
    "search": Way(Level.search),
    "bm25": Way(Level.search, fusion="bm25"),
    "dense": Way(Level.search, fusion="dense"),
    "rrf": Way(Level.search, fusion="rrf"),
    "explore": Way(Level.explore),
    "hops": Way(Level.explore, scorer="hops"),
    "context": Way(Level.context),
    "published": Way(Level.context, preset="published"),
    "insight": Way(Level.insight),
    "auto": Way(None),
}
# Levels that read reports on communities, or may be routed to one that does.
_READ_REPORTS: Final = (Level.insight, None)
DEPTH: Final = 20
_BULK: Final = 500
_GROUP: Final = 32
_ALONGSIDE: Final = 4

Ranking = list[tuple[str, float]]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a document lies in the card that it became: `[start, end)` in characters."""

    document_id: str
    start: int
    end: int


@dataclass(slots=True)
class Corpus:
    """The set as cards: `cards` by external id, `places` of the documents in each of them."""

    cards: dict[str, NewCard] = field(default_factory=dict)
    places: dict[str, list[Placed]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """`runs`: level to query to ranked documents with scores; `report`: everything measured, as JSON."""

    runs: Mapping[str, Mapping[str, Ranking]]
    report: Mapping[str, Any]


class Evaluation:
    def __init__(
        self,
        database: Database,
        intake: Intake,
        pipeline: Pipeline,
        retriever: Retriever,
        embedder: Embedder,
        calibrating: Calibrating | None = None,
        communities: Communities | None = None,
    ) -> None:
        self._database = database
        self._intake = intake
        self._pipeline = pipeline
        self._retriever = retriever
        self._embedder = embedder
        self._calibrating = calibrating
        self._communities = communities

    async def run(
        self,
        labelled: LabelledSet,
        levels: Sequence[str],
        *,
        limit: int = 10,
        group: Sequence[str] = (),
        where: str | None = None,
        extractions: Extractions | None = None,
        preset: Preset | None = None,
        scorer: Scorer | None = None,
        by: str | None = None,
        progress: Progress = lambda step, done, total: None,
    ) -> Result:
        """Ingest once, with these `extractions` where there are any, ask at each level; measured for each value of
        the questions' field `by` as well.

        The workspace is gone afterwards, whatever happens.
        """
        corpus = as_cards(labelled.documents, group, where)
        fields = {query.id: query.metadata for query in labelled.queries}
        async with self._database.unit() as session:
            workspace_id = await queries.make_workspace(session)
        try:
            ingestion = await self._ingest(workspace_id, corpus, extractions or {}, progress)
            # As a worker does: from postings that are not folded yet a question in Chinese takes twice as long.
            await folding.fold_all(self._database, workspace_id=workspace_id)
            await self._calibrate(workspace_id)
            if any(LEVELS[level].level in _READ_REPORTS for level in levels):
                ingestion |= await self._report(workspace_id, progress)
            runs: dict[str, dict[str, Ranking]] = {}
            reports: dict[str, Any] = {}
            for level in levels:
                runs[level], timings = await self._ask(
                    workspace_id, labelled, corpus, level, limit, bool(group), where, progress, preset, scorer
                )
                rows = measure_run(
                    {query: [doc for doc, _ in ranking] for query, ranking in runs[level].items()},
                    labelled.gold,
                    labelled.groups,
                )
                answered = runs[level]
                reports[level] = {
                    "n": len(rows),
                    "unanswered": sum(not answered.get(query) for query in labelled.gold),
                    **mean(list(rows.values())),
                    "halves": _parts(rows, half),
                    **({"by": _parts(rows, lambda query: str(fields[query].get(by)))} if by else {}),
                    **timings,
                }
            async with self._database.read() as session:
                size = await queries.get_size(session, workspace_id)
        finally:
            async with self._database.unit() as session:
                await queries.remove_workspace(session, workspace_id)
        return Result(
            runs,
            {
                "documents": len(labelled.documents),
                "queries": len(labelled.queries),
                "space": self._embedder.space.key,
                "ingestion": {**ingestion, **size},
                "levels": reports,
            },
        )

    async def _ingest(
        self, workspace_id: uuid.UUID, corpus: Corpus, extractions: Extractions, progress: Progress
    ) -> dict[str, Any]:
        cards = list(corpus.cards.values())
        started = time.perf_counter()
        tasks: list[Task] = []
        for at in range(0, len(cards), _BULK):
            async with self._database.unit() as session:
                some = cards[at : at + _BULK]
                written = await self._intake.submit_many(session, workspace_id, some)
                posts = [post for card in some for post in extractions.get(card.external_id or "", ())]
                for outcome in await post_episodes(session, workspace_id, self._intake, posts, queued=False):
                    if outcome.error is not None:
                        raise outcome.error
            tasks += [Task(one.id, 1) for one in written if one.id is not None]
        groups = [tasks[at : at + _GROUP] for at in range(0, len(tasks), _GROUP)]
        texts = done = 0
        slots = asyncio.Semaphore(_ALONGSIDE)

        async def learn(tasks: Sequence[Task]) -> None:
            nonlocal texts, done
            async with slots:
                outcome = await self._pipeline.ingest(workspace_id, tasks)
            texts += outcome.embedded
            done += len(tasks)
            progress("ingest", done, len(cards))

        async with asyncio.TaskGroup() as crew:
            for one in groups:
                crew.create_task(learn(one))
        seconds = time.perf_counter() - started
        return {
            "cards": len(tasks),
            "seconds": round(seconds, 2),
            "cards_per_second": round(len(tasks) / seconds, 2),
            "texts": texts,
            "texts_per_second": round(texts / seconds, 2),
        }

    async def _calibrate(self, workspace_id: uuid.UUID) -> None:
        """As a worker does it in time."""
        async with self._database.read() as session:
            space = (await get_scope(session, workspace_id)).space
        if self._calibrating is not None and space is not None:
            await self._calibrating.run(workspace_id, space, self._embedder)

    async def _report(self, workspace_id: uuid.UUID, progress: Progress) -> dict[str, Any]:
        """Communities and reports on them, as a worker makes them once cards have come to rest."""
        if self._communities is None:
            return {}
        progress("reports", 0, 1)
        started = time.perf_counter()
        made = await self._communities.rebuild(workspace_id, is_full=True)
        progress("reports", 1, 1)
        return {
            "communities": made.communities,
            "reports": made.reports,
            "reports_seconds": round(time.perf_counter() - started, 2),
        }

    async def _ask(
        self,
        workspace_id: uuid.UUID,
        labelled: LabelledSet,
        corpus: Corpus,
        level: str,
        limit: int,
        grouped: bool,
        where: str | None,
        progress: Progress,
        preset: Preset | None = None,
        scorer: Scorer | None = None,
    ) -> tuple[dict[str, Ranking], dict[str, Any]]:
        way = LEVELS[level]
        run: dict[str, Ranking] = {}
        retrieval: list[float] = []
        embedding: list[float] = []
        degraded: dict[str, int] = defaultdict(int)
        for number, query in enumerate(labelled.queries, 1):
            filters = (
                Filters(metadata={where: query.metadata[where]}) if where and where in query.metadata else Filters()
            )
            evidence = await self._retriever.retrieve(
                workspace_id,
                Question(
                    query.text,
                    way.level,
                    max(limit, DEPTH),
                    filters,
                    way.fusion,
                    preset=way.preset or preset,
                    scorer=way.scorer or scorer,
                    wants_hits=True,
                ),
            )
            run[query.id] = ranked_documents(evidence, corpus, grouped)
            spent = evidence.timings_ms.get("embedding", 0.0)
            embedding.append(spent)
            retrieval.append(evidence.timings_ms["total"] - spent)
            for flag in evidence.degraded:
                degraded[flag] += 1
            progress(level, number, len(labelled.queries))
        return run, {
            "retrieval_ms": percentiles(retrieval),
            "embedding_ms": percentiles(embedding),
            "degraded": dict(degraded),
        }


def _parts(rows: Mapping[str, Row], part_of: Callable[[str], str]) -> dict[str, dict[str, float]]:
    """The measures on each part of the queries."""
    split: dict[str, list[Row]] = defaultdict(list)
    for query, row in rows.items():
        split[part_of(query)].append(row)
    return {name: {"n": len(part), **mean(part)} for name, part in sorted(split.items())}


def as_cards(documents: Sequence[Document], group: Sequence[str], where: str | None) -> Corpus:
    """One card per document, or with `group` one for all documents that share these metadata fields."""
    corpus = Corpus()
    if not group:
        for document in documents:
            metadata = {where: document.metadata[where]} if where and where in document.metadata else {}
            corpus.cards[document.id] = NewCard(
                document.title or None,
                document.text,
                created_at=document.date,
                metadata=metadata,
                external_id=document.id,
            )
            corpus.places[document.id] = [Placed(document.id, 0, len(document.text))]
        return corpus
    members: dict[tuple[str, ...], list[Document]] = defaultdict(list)
    for document in documents:
        members[tuple(str(document.metadata.get(name)) for name in group)].append(document)
    for key, parts in members.items():
        name = " / ".join(key)
        text, places = "", []
        for part in parts:
            line = f"{part.title}: {part.text}" if part.title else part.text
            places.append(Placed(part.id, len(text), len(text) + len(line)))
            text += line + "\n\n"
        metadata = {where: parts[0].metadata[where]} if where and where in parts[0].metadata else {}
        corpus.cards[name] = NewCard(name, text, created_at=parts[0].date, metadata=metadata, external_id=name)
        corpus.places[name] = places
    return corpus


def ranked_documents(evidence: Evidence, corpus: Corpus, grouped: bool) -> Ranking:
    """Documents best first: the cards themselves, or what the cited spans of grouped cards touch, claims before the
    passages around them.
    """
    if not grouped:
        return [(hit.card.external_id, hit.score) for hit in evidence.hits if hit.card.external_id is not None]
    spans = sorted(
        ((span.score, hit.rank, span, hit.card.external_id) for hit in evidence.hits for span in hit.evidence),
        key=lambda row: (row[2].kind != "claim", -row[0], row[1]),
    )
    ranked: dict[str, float] = {}
    for score, _, span, card in spans:
        for place in corpus.places.get(card or "", ()):
            if place.start < span.end and span.start < place.end:
                ranked.setdefault(place.document_id, score)
    return list(ranked.items())


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """p50 and p95, nearest rank."""
    if not values:
        return {}
    ordered = sorted(values)
    return {f"p{p}": round(ordered[min(len(ordered) - 1, int(len(ordered) * p / 100))], 2) for p in (50, 95)}


def trec_lines(run: Mapping[str, Ranking], tag: str) -> list[str]:
    """`qid Q0 docid rank score tag`; ids with white space or `%` are percent-encoded."""
    return [
        f"{_id(query)} Q0 {_id(doc)} {rank} {score:.6f} {tag}"
        for query, ranking in run.items()
        for rank, (doc, score) in enumerate(ranking, 1)
    ]


def write_run(path: Path, run: Mapping[str, Ranking], tag: str) -> None:
    path.write_text("\n".join(trec_lines(run, tag)) + "\n", encoding="utf-8")


def _id(written: str) -> str:
    return quote(written, safe="/#:._-~!$&'()*+,;=@?[]|") if any(c.isspace() or c == "%" for c in written) else written
