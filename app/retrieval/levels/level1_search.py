"""Level 1: dense, lexical and sparse recall, one pool by Reciprocal Rank Fusion, ordered by the absolute score.

Three short statements (postings, pool, texts), none of them open while the embedder works. A leg
that fails is an empty leg and a word in `degraded`, never an error.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.core.log import get
from app.db.session import Database
from app.index.lexical import search_lexical
from app.index.postings import LexicalHits, Subset
from app.index.spaces import Spaces
from app.index.terms import question_hashes
from app.retrieval import queries
from app.retrieval.across import Across, across
from app.retrieval.calibrating import Calibrations
from app.retrieval.fusion import Candidate, Scored, rank_cards
from app.retrieval.question_vectors import QuestionEmbedder
from app.retrieval.reading import aside
from app.retrieval.settings import RetrievalSettings
from app.retrieval.types import CardRef, Evidence, Filters, Hit, Question, Route, Span
from app.text.normalise import is_chinese
from app.text.segment import Segmenter

log = get(__name__)

# How far down the lexical list those are looked for that pass a wide filter.
_DEPTH_UNDER_FILTER = 10_000

# So many windows are compared one by one in the time of one step through the vector index (0.6 and 16 us). To find n
# windows of a workspace that has the share s of its space takes n / s steps.
_SCANS_PER_STEP = 27

# How long a workspace counts as large, or small: large ones rarely shrink, small ones cannot outgrow a scan so fast.
_LARGE_SECONDS, _SMALL_SECONDS = 300.0, 20.0


@dataclass(slots=True)
class Clock:
    """Milliseconds per step of one question."""

    timings_ms: dict[str, float]
    _last: float

    @classmethod
    def start(cls) -> Clock:
        return cls({}, time.perf_counter())

    def lap(self, name: str) -> None:
        moment = time.perf_counter()
        self.timings_ms[name] = round((moment - self._last) * 1000, 3)
        self._last = moment


@dataclass(frozen=True, slots=True)
class LexicalScores:
    """The lexical leg, wherever it came from: docs best first, and the normalised score of any doc."""

    ranked: Sequence[tuple[int, float]]
    hits: LexicalHits | None = None

    @classmethod
    def from_postings(cls, hits: LexicalHits, depth: int) -> LexicalScores:
        docs, scores = hits.top(depth)
        return cls(list(zip(docs.tolist(), scores.tolist(), strict=True)), hits)

    @classmethod
    def from_rows(cls, rows: Sequence[tuple[int, float]]) -> LexicalScores:
        """`ts_rank_cd` has no upper bound; its best row stands for a full match."""
        best = max((score for _, score in rows), default=1.0) or 1.0
        return cls([(doc, score / best) for doc, score in rows])

    def of(self, docs: Sequence[int]) -> Sequence[float]:
        """Scores of these docs, 0 where a doc shares no word with the question."""
        if self.hits is not None:
            return [float(score) for score in self.hits.score_of(np.asarray(docs, dtype=np.uint32))]
        known = dict(self.ranked)
        return [known.get(doc, 0.0) for doc in docs]


class SearchLevel:
    def __init__(self, database: Database, spaces: Spaces, segmenter: Segmenter, settings: RetrievalSettings) -> None:
        self._database = database
        self._questions = QuestionEmbedder(spaces)
        self._segmenter = segmenter
        self._settings = settings
        self._large: dict[uuid.UUID, tuple[bool, float]] = {}
        self._calibrations = Calibrations()

    async def search(self, workspace_id: uuid.UUID, question: Question, route: Route) -> Evidence:
        """Cards that answer the question, best first. Raises only what the database raises."""
        clock = Clock.start()
        degraded: list[str] = []
        fusion = question.fusion or self._settings.search_fusion
        async with self._questions.asking([] if fusion == "bm25" else [question.query]) as asked:
            async with self._database.read() as session:
                scope = await queries.get_scope(session, workspace_id)
                large = (
                    scope.space is not None
                    and scope.space.indexed
                    and await self._is_large(session, workspace_id, scope.space.id)
                )
                subset = await self._subset(session, workspace_id, question.filters)
                lexical = await self._lexical(session, workspace_id, question, subset, degraded)
                beside = None
                if scope.space is not None and fusion != "bm25":
                    calibration = await self._calibrations.of(session, workspace_id, scope.space)
                    beside = across(calibration, is_chinese(question.query), self._settings.search_impute)
            clock.lap("lexical")
            space = scope.space
            found = await asked.vectors(None if space is None else space.key, degraded)
            clock.lap("embedding")
        if space is None:
            return Evidence(
                question.query, route, (), nothing_relevant=True, degraded=degraded, timings_ms=clock.timings_ms
            )
        if found is None and fusion in ("absolute", "dense"):
            fusion = "rrf"
        vectors = None if found is None else found.embeddings
        # Windows that are compared one by one cost the same however many of them are kept.
        approximate = large and subset is None
        each = self._settings.search_each
        windows = max(2 * each, 4 * question.limit) if approximate else 4 * each
        request = queries.PoolRequest(
            space=space,
            dense=None if vectors is None else vectors.dense[0],
            sparse=dict(vectors.sparse[0]) if vectors is not None and vectors.sparse is not None else None,
            sparse_dimension=0 if found is None else found.space.sparse_dimension,
            lexical_docs=[doc for doc, _ in lexical.ranked],
            filters=question.filters,
            allowed=None if subset is None else subset.docs,
            each=each,
            rrf_k=self._settings.rrf_k,
            windows=windows,
            approximate=approximate,
            # A little more than is asked for: what is short of it would cost a second walk of the same length.
            ef_search=min(max(self._settings.hnsw_ef_search, windows * 5 // 4), 1000),
            other_han=None if beside is None else beside.other_han,
        )
        async with self._database.read() as session:
            pool = await queries.list_pool(session, workspace_id, request)
            clock.lap("recall")
            found_here = candidates(pool, lexical, beside)
            scored = rank_cards(found_here, fusion, self._settings.lexical_weight, question.limit)
            wanted = [found.chunk_id for card in scored for found, _ in card.chunks[: self._settings.evidence_spans]]
            texts = {row["chunk_id"]: row for row in await queries.list_chunks(session, workspace_id, wanted)}
        # A card that was removed between the two statements is no hit any more.
        there = [card for card in scored if card.chunks[0][0].chunk_id in texts]
        hits = [self._hit(rank, card, texts, question) for rank, card in enumerate(there, 1)]
        clock.lap("texts")
        return Evidence(
            query=question.query,
            route=route,
            hits=hits,
            nothing_relevant=not hits,
            degraded=degraded,
            timings_ms=clock.timings_ms,
            index={"space": space.key, "stale_cards": scope.stale_cards},
        )

    async def _subset(self, session: Any, workspace_id: uuid.UUID, filters: Filters) -> Subset | None:
        """The chunks that the filters let pass, where that is a small part: it is searched as a collection of its own,
        exactly. Wide filters are asked of one candidate after the other.
        """
        few_cards = self._settings.exact_scan_windows // 6
        return await queries.find_subset(session, workspace_id, filters, few_cards) if filters else None

    async def _lexical(
        self,
        session: Any,
        workspace_id: uuid.UUID,
        question: Question,
        subset: Subset | None,
        degraded: list[str],
    ) -> LexicalScores:
        terms = await aside(question.query, lambda: self._segmenter.terms(question.query))
        depth = _DEPTH_UNDER_FILTER if question.filters and subset is None else 2 * self._settings.search_each
        hits = await search_lexical(session, workspace_id, *question_hashes(terms), subset)
        literal = None if len(hits) else self._segmenter.tsquery(question.query)
        if literal is None:
            return LexicalScores.from_postings(hits, depth)
        # Either no text has any of these words, or the postings are missing: the full text of record knows. It also
        # knows single characters, so that its finding something alone says nothing.
        allowed = None if subset is None else subset.docs
        rows = await queries.list_by_words(session, workspace_id, literal, depth, allowed)
        if rows and not hits.totals.docs:
            degraded.append("lexical_index_rebuilding")
        return LexicalScores.from_rows(rows)

    async def _is_large(self, session: Any, workspace_id: uuid.UUID, space_id: int) -> bool:
        """Whether an exact scan would be too slow, or at least slower than the vector index, in which a small part of a
        large space is hard to find. Asked again after a while, for workspaces grow.
        """
        moment = time.monotonic()
        large, until = self._large.get(workspace_id, (False, 0.0))
        if until < moment:
            limit = self._settings.exact_scan_windows
            if limit:
                steps = 2 * self._settings.search_each * await queries.estimate_windows(session)
                limit = max(limit, math.isqrt(_SCANS_PER_STEP * steps))
            large = await queries.count_windows(session, workspace_id, space_id, limit + 1) > limit
            self._large[workspace_id] = (large, moment + (_LARGE_SECONDS if large else _SMALL_SECONDS))
        return large

    def _hit(self, rank: int, card: Scored, texts: Mapping[uuid.UUID, Any], question: Question) -> Hit:
        best, _ = card.chunks[0]
        first = texts[best.chunk_id]
        spans = [
            Span(found.chunk_id, row["text"], row["start"], row["end"], round(score, 6), focus=(found.start, found.end))
            for found, score in card.chunks[: self._settings.evidence_spans]
            if (row := texts.get(found.chunk_id)) is not None
        ]
        return Hit(
            rank=rank,
            score=round(card.score, 6),
            card=CardRef(first["card_id"], first["title"], first["external_id"], first["created_at"], first["tags"]),
            snippet=snippet(
                first["text"], best.start - first["start"], best.end - first["start"], self._settings.snippet_chars
            ),
            evidence=spans,
            ranks=best.ranks,
            explain=(
                {"cosine": best.cosine or 0.0, "lexical": best.lexical, "rrf": best.rrf} if question.explain else None
            ),
        )


def candidates(pool: Sequence[Any], lexical: LexicalScores, beside: Across | None = None) -> list[Candidate]:
    """The rows of the recall statement with both exact scores, with `beside` those of passages in the other script as
    if they were in the question's.
    """
    distances = [row["distance"] for row in pool]
    shares = list(lexical.of([row["doc"] for row in pool]))
    if beside is not None:
        distances, shares = beside.scores(distances, shares, [row["in_other"] for row in pool])
    return [
        Candidate(
            card_id=row["card_id"],
            chunk_id=row["chunk_id"],
            doc=row["doc"],
            rrf=row["rrf"],
            cosine=None if distance is None else 1.0 - distance,
            lexical=share,
            start=row["start"] or 0,
            end=row["end"] or 0,
            ranks={"dense": row["dense_rank"], "lexical": row["lexical_rank"], "sparse": row["sparse_rank"]},
        )
        for row, distance, share in zip(pool, distances, shares, strict=True)
    ]


def snippet(text: str, start: int, end: int, limit: int) -> str:
    """The stretch of a chunk that matched, on one line, at most `limit` characters."""
    stretch = text[max(start, 0) : max(end, 0)] or text
    line = " ".join(stretch.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
