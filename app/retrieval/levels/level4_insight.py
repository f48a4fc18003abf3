"""Level 4: what the collection says as a whole. Reports on its communities are chosen, what they say to the question is
gathered (by a model, or without one by distance and words), and the best of it is told, with the cards behind it.

Select → map → gather. No session is open while a model or the embedder works; what a question may cost is capped.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sqlalchemy.ext.asyncio import AsyncSession

from app.budget.count import counter_for
from app.core.log import get
from app.db.session import Database
from app.index.collections import Collection
from app.index.lexical import search_lexical
from app.index.spaces import Spaces
from app.index.terms import question_hashes
from app.retrieval import insight_queries, queries
from app.retrieval.calibrating import Calibrations
from app.retrieval.insight_fit import Asked, fit, weighed
from app.retrieval.insight_hits import chosen_places, told_hits, told_points, told_reports
from app.retrieval.insight_map import Mapper, Purse
from app.retrieval.insight_people import LOOKED_AT, Person, people_told
from app.retrieval.insight_points import Point, findings_told, packed, themes_told
from app.retrieval.insight_question import Focus, focus
from app.retrieval.insight_reports import Report, descended, shown, themes
from app.retrieval.levels.level1_search import Clock
from app.retrieval.queries import Scope
from app.retrieval.question_vectors import QuestionEmbedder
from app.retrieval.reading import aside
from app.retrieval.settings import RetrievalSettings
from app.retrieval.types import Evidence, Hit, Insight, Question, Route
from app.text.normalise import fold, is_chinese
from app.text.segment import Segmenter

log = get(__name__)

STALE: Final = "reports_stale"
MODEL_UNAVAILABLE: Final = "map_unavailable"
MODEL_PARTIAL: Final = "map_partial"

_BY_WORDS: Final = 60
# Of the top level more are read than are told: filters and what has gone leave some out.
_SPARE: Final = 4
_DIVIDED: Final = 8
_CARDS: Final = 24
"""So many are looked up at least, so that what is told can name what it rests on."""
_LEAST_FIT: Final = 0.15


@dataclass(slots=True)
class _Found:
    """What was chosen, and what is told of how."""

    reports: list[Report]
    considered: int
    is_overview: bool
    is_behind: bool
    in_han: bool
    people: Sequence[Person]


@dataclass(slots=True)
class _Gathered:
    points: list[Point]
    by: str
    dropped: Counter[str] = field(default_factory=Counter)
    purse: Purse = field(default_factory=lambda: Purse(0, 0))


class InsightLevel:
    def __init__(self, database: Database, spaces: Spaces, segmenter: Segmenter, settings: RetrievalSettings) -> None:
        self._database = database
        self._questions = QuestionEmbedder(spaces)
        self._segmenter = segmenter
        self._settings = settings
        self._calibrations = Calibrations()

    async def search(self, workspace_id: uuid.UUID, question: Question, route: Route) -> Evidence | None:
        """What reports say, and the cards behind it; None where there are no reports. Raises only what the database
        raises.
        """
        clock = Clock.start()
        degraded: list[str] = []
        asked = await aside(question.query, lambda: focus(question.query, self._segmenter))
        async with self._questions.asking([] if asked.is_overview else [asked.text]) as asking:
            async with self._database.read() as session:
                if not await insight_queries.has_reports(session, workspace_id):
                    return None
                scope = await queries.get_scope(session, workspace_id)
            found_vectors = await asking.vectors(None if scope.space is None else scope.space.key, degraded)
            clock.lap("embedding")
        vector = None if found_vectors is None else found_vectors.embeddings.dense[0]
        async with self._database.read() as session:
            found = await self._select(session, workspace_id, question, asked, scope, vector)
        clock.lap("reports")
        gathered = await self._gather(question, found, degraded)
        clock.lap("map")
        count = counter_for("offline").count
        points, left_out = await asyncio.to_thread(packed, gathered.points, self._settings.insight_points_tokens, count)
        by_id = {report.id: report for report in found.reports}
        cards = max(question.limit, _CARDS)
        chosen = chosen_places(points, cards)
        async with self._database.read() as session:
            rows = await queries.list_chunks(session, workspace_id, list({place.chunk_id for _, place in chosen}))
        texts = {row["chunk_id"]: row for row in rows}
        told = told_hits(chosen, by_id, texts, cards, self._settings.evidence_spans, self._settings.snippet_chars)
        clock.lap("texts")
        is_behind = bool(points) and found.is_behind
        return Evidence(
            query=question.query,
            route=route,
            hits=told[: question.limit],
            reports=told_reports(points, found.reports),
            nothing_relevant=not points,
            degraded=[*degraded, *([STALE] if is_behind else [])],
            timings_ms=clock.timings_ms,
            index={"space": None if scope.space is None else scope.space.key, "stale_cards": scope.stale_cards},
            insight=self._insight(points, by_id, found, gathered, left_out, told[question.limit :], is_behind),
        )

    # ------------------------------------------------------------------------------------- select

    async def _select(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        question: Question,
        asked: Focus,
        scope: Scope,
        vector: npt.NDArray[np.float32] | None,
    ) -> _Found:
        people: list[Person] = []
        if asked.is_overview and asked.wants_people:
            people = await self._people(session, workspace_id, question)
        if people:
            ids = dict.fromkeys(person.report_id for person in people)
            reports = await insight_queries.list_reports(session, workspace_id, ids, [])
            chosen = await self._shown(session, workspace_id, question, reports)
        elif asked.is_overview:
            most = self._settings.insight_themes
            reports = await insight_queries.list_themes(session, workspace_id, _SPARE * most, _DIVIDED)
            there = await self._shown(session, workspace_id, question, reports)
            chosen = themes(there, most)
        else:
            reports = await self._near(session, workspace_id, asked, scope, vector)
            there = await self._shown(session, workspace_id, question, reports)
            relevant = [report for report in there if report.fit >= _LEAST_FIT]
            chosen = descended(relevant, self._settings.insight_reports)
        in_han = is_chinese(question.query)
        is_behind = any(report.is_stale for report in chosen)
        is_behind = is_behind or await insight_queries.is_behind(session, workspace_id)
        return _Found(chosen, len(reports), asked.is_overview, is_behind, in_han, people)

    async def _people(self, session: AsyncSession, workspace_id: uuid.UUID, question: Question) -> list[Person]:
        people = await insight_queries.list_people(session, workspace_id, LOOKED_AT)
        cards = {person.place.card_id for person in people}
        there = await insight_queries.list_there(session, workspace_id, cards, question.filters)
        return [person for person in people if person.place.card_id in there]

    async def _near(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        asked: Focus,
        scope: Scope,
        vector: npt.NDArray[np.float32] | None,
    ) -> list[Report]:
        """Reports that are near to the question by vector or by words, with how well each of their findings fits."""
        terms = await aside(asked.text, lambda: self._segmenter.terms(asked.text))
        lexical = await search_lexical(session, workspace_id, *question_hashes(terms), collection=Collection.report)
        docs, _ = lexical.top(_BY_WORDS)
        distances: Mapping[uuid.UUID, Mapping[int, float]] = {}
        calibration = None
        if scope.space is not None and vector is not None:
            calibration = await self._calibrations.of(session, workspace_id, scope.space)
            distances = await insight_queries.list_near(
                session, workspace_id, scope.space, vector, self._settings.insight_texts
            )
        reports = await insight_queries.list_reports(session, workspace_id, distances, docs.tolist())

        def fitting() -> list[Report]:
            words = weighed([fold(word) for word in terms.words], [report.summary for report in reports])
            told = Asked("han" if is_chinese(asked.text) else "latin", words)
            return [fit(report, told, distances.get(report.id, {}), calibration, self._settings) for report in reports]

        return await asyncio.to_thread(fitting)

    async def _shown(
        self, session: AsyncSession, workspace_id: uuid.UUID, question: Question, reports: Sequence[Report]
    ) -> list[Report]:
        """What of them may be told: nothing that rests on a card that is gone, or that the filters leave out."""
        cards = {card for report in reports for card in report.card_ids}
        there = await insight_queries.list_there(session, workspace_id, cards, question.filters)
        return [kept for report in reports if (kept := shown(report, there)) is not None]

    # ----------------------------------------------------------------------------------------- map

    async def _gather(self, question: Question, found: _Found, degraded: list[str]) -> _Gathered:
        if question.reader is None or self._settings.insight_map == "offline" or not found.reports:
            return _Gathered(self._offline(found), "extractive")
        settings = self._settings
        purse = Purse(settings.insight_max_calls, max(settings.insight_max_tokens - settings.insight_reduce_tokens, 0))
        count = await asyncio.to_thread(counter_for, question.reader.name, question.reader_model)
        mapper = Mapper(question.reader, question.reader_model, settings, count.count, purse)
        dropped: Counter[str] = Counter()
        if settings.insight_rating and not found.is_overview:
            kept = await mapper.relevant(question.query, found.reports)
            dropped["rated_irrelevant"] = len(found.reports) - len(kept)
            found.reports = kept
        if not found.reports:
            return _Gathered([], "model", +dropped, purse)
        mapped = await mapper.points(question.query, found.reports)
        dropped += mapped.dropped
        if mapped.nobody_answered:
            degraded.append(MODEL_UNAVAILABLE)
            return _Gathered(self._offline(found), "extractive", dropped, purse)
        if mapped.failed:
            degraded.append(MODEL_PARTIAL)
        return _Gathered(mapped.points, "model", dropped, purse)

    def _offline(self, found: _Found) -> list[Point]:
        told = people_told(found.people, found.reports, han=found.in_han)
        if told:
            return told
        if found.is_overview:
            return themes_told(found.reports, self._settings.insight_themes_told)
        return findings_told(found.reports, _LEAST_FIT, self._settings.insight_per_report)

    def _insight(
        self,
        points: Sequence[Point],
        reports: Mapping[uuid.UUID, Report],
        found: _Found,
        gathered: _Gathered,
        left_out: int,
        behind: Sequence[Hit],
        is_behind: bool,
    ) -> Insight:
        spent = gathered.purse.spent
        asked_somebody = gathered.purse.max_calls > 0
        trace: dict[str, Any] = {
            "asks_for": "overview" if found.is_overview else "topic",
            "map": gathered.by,
            "reports_considered": found.considered,
            "reports_read": len(found.reports),
            "points": len(points),
            "points_left_out": left_out,
            "dropped": dict(gathered.dropped),
            "calls": spent.calls,
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "max_calls": self._settings.insight_max_calls,
            "max_tokens": self._settings.insight_max_tokens,
            "is_behind": is_behind,
        }
        log.info("insight", **{key: value for key, value in trace.items() if key != "dropped"})
        return Insight(
            points=told_points(points, reports),
            behind=behind,
            is_overview=found.is_overview,
            is_behind=is_behind,
            prompt_tokens=max(self._settings.insight_max_tokens - spent.tokens, 0) if asked_somebody else None,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            trace=trace,
        )
