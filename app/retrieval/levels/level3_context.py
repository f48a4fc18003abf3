"""Level 3: Bundle Search over the cone, episode ← facet ← claim.

Five round trips (space and whether there is a cone, postings, how to plan, anchors with the reached part of the cone,
texts), three more where more cards are wanted than those whose places are kept (passages, which words are affordable,
their postings), one more under filters, and now and then one for sizes or the calibration; none waits for the embedder
or for what is counted in between, which goes on in a thread. Costs are `bundle`'s; a leg that fails is an empty leg and
a word in `degraded`.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from app.core import clock as time_of_day
from app.db.session import Database
from app.db.together import fetch_together
from app.index.collections import Collection, TextKind
from app.index.lexical import search_alike, search_many
from app.index.postings import LexicalHits
from app.index.spaces import Spaces
from app.index.terms import question_hashes
from app.retrieval import context_queries, queries
from app.retrieval.bundle_alike import discounts
from app.retrieval.calibrating import Calibrations
from app.retrieval.calibration import Calibration
from app.retrieval.collections import Sizes
from app.retrieval.context_costs import Priced, Ranked, price
from app.retrieval.context_hits import told_hits
from app.retrieval.context_queries import ConeRequest, Passing
from app.retrieval.levels.level1_search import Clock
from app.retrieval.pseudo_questions import Script
from app.retrieval.question_vectors import QuestionEmbedder
from app.retrieval.reading import aside
from app.retrieval.settings import RetrievalSettings
from app.retrieval.types import Evidence, Question, Route
from app.text.normalise import is_chinese
from app.text.segment import Segmenter
from app.text.when import TimeFound, find_times, strip_times

TOLD: Final = (Collection.episode, Collection.facet, Collection.point)

# A text with this share of Han is in that script.
# How far down the lexical lists those are looked for that pass a wide filter.
_DEPTH_UNDER_FILTER = 5_000


@dataclass(frozen=True, slots=True)
class Asked:
    """Phase 0: the question as it is looked for by vector, the times that it names, its words."""

    vector_text: str
    times: Sequence[TimeFound]
    moment: datetime
    in_han: bool
    words: Sequence[int]
    grams: Sequence[int]


class ContextLevel:
    def __init__(self, database: Database, spaces: Spaces, segmenter: Segmenter, settings: RetrievalSettings) -> None:
        self._database = database
        self._questions = QuestionEmbedder(spaces)
        self._segmenter = segmenter
        self._settings = settings
        self._sizes = Sizes(settings)
        self._calibrations = Calibrations()

    async def search(self, workspace_id: uuid.UUID, question: Question, route: Route) -> Evidence | None:
        """Cards that answer the question, best first; None where the workspace has no cone. Raises only what the
        database raises.
        """
        clock = Clock.start()
        degraded: list[str] = []
        settings = self._settings
        preset = question.preset or settings.context_preset
        asked = await aside(question.query, lambda: self._asked(question))
        async with self._questions.asking([asked.vector_text]) as asking:
            async with self._database.read() as session:
                scopes, cones = await fetch_together(
                    session, queries.scope_part(workspace_id), context_queries.cone_part(workspace_id)
                )
                if not cones[0]["cone"]:
                    return None
                scope = queries.scope_of(scopes[0])
                passing = await self._passing(session, workspace_id, question)
                words = await search_many(
                    session,
                    workspace_id,
                    TOLD,
                    asked.words,
                    asked.grams,
                    None if passing is None else passing.subsets,
                    self._settings.context_bm25_b,
                )
                large = (
                    frozenset[TextKind]()
                    if scope.space is None or passing is not None
                    else await self._sizes.large(session, workspace_id, scope.space)
                )
                calibration = (
                    None if scope.space is None else await self._calibrations.of(session, workspace_id, scope.space)
                )
            clock.lap("lexical")
            space = scope.space
            found = await asking.vectors(None if space is None else space.key, degraded)
            clock.lap("embedding")
        if space is None or calibration is None:
            return None
        script: Script = "han" if asked.in_han else "latin"
        both = calibration.speaks_both(TextKind.point, script)
        async with self._database.read() as session:
            reached = await context_queries.get_reached(
                session,
                workspace_id,
                ConeRequest(
                    space=space,
                    vector=None if found is None else found.embeddings.dense[0],
                    docs=self._docs(words, question, passing),
                    filters=question.filters,
                    passing=passing,
                    approximate=large,
                    anchors=self._settings.context_anchors,
                    nodes=self._settings.context_nodes,
                    episodes=self._settings.context_episodes,
                    rrf_k=self._settings.rrf_k,
                    with_links=preset == "published",
                    with_vectors=preset == "chain" and self._settings.context_echo > 0,
                    ef_search=min(max(self._settings.context_anchors * 3, 160), 1000),
                    cards=question.context_cards,
                    also_han=not asked.in_han if both else None,
                ),
            )
        clock.lap("cone")

        def counted() -> tuple[Priced, list[Ranked]]:
            scales, baseline = calibration.scales(script), calibration.baseline(TextKind.point, script)
            moment = asked.moment.timestamp()
            at_hand = {card.bytes for card in question.context_cards}
            priced = price(
                reached, words, asked.times, asked.in_han, moment, scales, settings, preset, baseline, at_hand
            )
            return priced, priced.ranked(settings.context_diversity, max(question.limit, settings.context_alike_cards))

        priced, ranked = await asyncio.to_thread(counted)
        relevant = priced.says_something(
            None if found is None else _stranger(calibration, script, float(settings.context_strangers)),
            settings.context_words_enough,
        )
        clock.lap("costs")
        async with self._database.read() as session:
            # No words are shared with what is written in another script.
            alike = preset == "chain" and relevant and not both
            if alike and settings.context_alike_kept < min(question.limit, len(ranked)):
                ranked = await self._promoted(session, workspace_id, priced, ranked)
                clock.lap("alike")
            claims = settings.context_claims * question.limit
            chosen = priced.chosen(ranked[: question.limit], settings.context_paths, claims)
            texts = await context_queries.list_told(session, workspace_id, chosen.wanted)
        hits = told_hits(priced, chosen, texts, self._settings.snippet_chars, question.explain)
        clock.lap("texts")
        return Evidence(
            query=question.query,
            route=route,
            hits=hits,
            nothing_relevant=not hits or not relevant,
            degraded=degraded,
            timings_ms=clock.timings_ms,
            index={"space": space.key, "stale_cards": scope.stale_cards},
        )

    async def _promoted(
        self, session: AsyncSession, workspace_id: uuid.UUID, priced: Priced, ranked: Sequence[Ranked]
    ) -> list[Ranked]:
        """The first places as they are, and behind them those first that speak like the first card."""
        settings = self._settings
        if not settings.context_alike:
            return list(ranked)
        compared = ranked[: settings.context_alike_cards]
        claims = priced.claims_of(compared[0].telling, settings.context_paths)
        cards = [uuid.UUID(bytes=one.card) for one in compared]
        texts, docs = await context_queries.list_passages(session, workspace_id, cards, claims)
        told = "\n".join(texts)
        words, grams = question_hashes(await aside(told, lambda: self._segmenter.terms(told)))
        hits = await search_alike(session, workspace_id, words, grams, settings.context_alike_bytes)
        likeness = np.array([float(hits.score_of(some).max(initial=0.0)) for some in docs[1:]])
        less = discounts(likeness, settings.context_alike_above, settings.context_alike)
        kept, rest = list(compared[: settings.context_alike_kept]), compared[settings.context_alike_kept :]
        least = kept[-1].cost
        nearer = []
        for one, bonus in zip(rest, less[len(kept) - 1 :], strict=True):
            # Not before those that keep their places.
            cost = max(one.cost - float(bonus), least)
            nearer.append((one.cost - float(bonus), replace(one, cost=cost, alike=cost - one.cost)))
        nearer.sort(key=lambda pair: pair[0])
        return [*kept, *(one for _, one in nearer), *ranked[len(compared) :]]

    def _asked(self, question: Question) -> Asked:
        moment = question.as_of or time_of_day.now()
        times = find_times(question.query, moment, asking=True)
        text = strip_times(question.query, times) if self._settings.context_strip_times else question.query
        words, grams = question_hashes(self._segmenter.terms(question.query))
        return Asked(text or question.query, times, moment, is_chinese(question.query), words, grams)

    async def _passing(self, session: AsyncSession, workspace_id: uuid.UUID, question: Question) -> Passing | None:
        if not question.filters:
            return None
        few_cards = self._settings.exact_scan_windows // 6
        return await context_queries.find_passing(session, workspace_id, question.filters, few_cards)

    def _docs(
        self, words: Mapping[Collection, LexicalHits], question: Question, passing: Passing | None
    ) -> dict[Collection, list[int]]:
        depth = _DEPTH_UNDER_FILTER if question.filters and passing is None else self._settings.context_anchors
        return {collection: hits.top(depth)[0].tolist() for collection, hits in words.items()}


def _stranger(calibration: Calibration, script: Script, share: float) -> float | None:
    """The z that such a share of questions reach that nothing is there for, of claims by themselves and in context."""
    known = [calibration.stranger(kind, script, share) for kind in (TextKind.point, TextKind.point_edge)]
    told = [z for z in known if z is not None]
    return sum(told) / len(told) if told else None
