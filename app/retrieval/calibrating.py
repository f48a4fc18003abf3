"""Measuring a workspace's texts against questions that nobody asked: draw → ask → look → fit → keep. The story.

Bounded whatever the size of the workspace: some questions, a sample of each kind of text, and for some of the questions
what search would find. Seeded: the same data give the same readings.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.log import get
from app.db.locks import lock
from app.db.session import Database
from app.index.collections import Collection, TextKind
from app.index.lexical import search_many
from app.index.spaces import Spaces
from app.index.terms import question_hashes
from app.jobs.job import JobContext, NewJob
from app.jobs.queue import enqueue_many
from app.providers.ports import Embedder, Vector
from app.retrieval import calibration_queries as queries
from app.retrieval.calibration import (
    F8,
    KEPT_WORDS,
    LINES,
    Background,
    Calibration,
    Pair,
    Reading,
    fit_background,
    fit_baseline,
    fit_best,
    fit_line,
)
from app.retrieval.calibration_defaults import readings_of
from app.retrieval.calibration_queries import Claim, Owner, Sample
from app.retrieval.collections import Sizes, nearest_many
from app.retrieval.pseudo_questions import GENERIC, Script, pseudo_question, script_of
from app.retrieval.queries import SpaceRow
from app.retrieval.settings import RetrievalSettings
from app.text.normalise import name_key
from app.text.segment import Segmenter

log = get(__name__)

CALIBRATE: Final = "calibrate"
SEED: Final = 20_260_601
QUESTIONS: Final = 120
"""Of each script."""
TEXTS: Final = 300
"""Of each kind and script."""
LOOKS: Final = 30
"""Questions of each script that are looked for, and as many general ones."""
FEWEST_TEXTS: Final = 30
GROWTH: Final = 1.5
_REMEMBERED: Final = 1000
_FEWEST_QUESTIONS: Final = 20
_DRAWN: Final = 3 * TEXTS
_FOUND: Final = 64
_MOST_KIN: Final = 50
_RARE: Final = 0.05
_SCRIPTS: Final[tuple[Script, ...]] = ("han", "latin")


@dataclass(slots=True)
class Question:
    """A question, and what it has to do with: its claim (a general one has none), the cards and entities that are kin
    to it.
    """

    text: str
    script: Script
    claim_id: uuid.UUID | None = None
    cards: set[uuid.UUID] = field(default_factory=set)
    entities: set[uuid.UUID] = field(default_factory=set)
    vector: Vector = field(default_factory=lambda: np.empty(0, np.float32))


@dataclass(slots=True)
class Looked:
    """What search finds for a question: per kind rows and distances; points with what words say of them."""

    question: Question
    found: Mapping[TextKind, Sequence[tuple[uuid.UUID, float]]]
    points: dict[uuid.UUID, queries.PointPlace]
    shares: Mapping[Collection, Mapping[int, float]]


async def load(session: AsyncSession, workspace_id: uuid.UUID, space: SpaceRow) -> Calibration:
    """What is known of a workspace in a space: its own readings over those that are shipped."""
    return Calibration(readings_of(space.key), await queries.list_readings(session, workspace_id, space.id))


class Calibrations:
    """The same, remembered for a while: readings change when a workspace has grown by half."""

    def __init__(self, seconds: float = 60.0) -> None:
        self._seconds = seconds
        self._known: dict[tuple[uuid.UUID, int], tuple[Calibration, float]] = {}

    async def of(self, session: AsyncSession, workspace_id: uuid.UUID, space: SpaceRow) -> Calibration:
        moment = time.monotonic()
        found, until = self._known.get((workspace_id, space.id), (None, 0.0))
        if found is None or until <= moment:
            found = await load(session, workspace_id, space)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[workspace_id, space.id] = (found, moment + self._seconds)
        return found


class Calibrating:
    def __init__(self, database: Database, spaces: Spaces, segmenter: Segmenter, settings: RetrievalSettings) -> None:
        self._database = database
        self._spaces = spaces
        self._segmenter = segmenter
        self._sizes = Sizes(settings)
        self._settings = settings

    async def enqueue_due(self) -> int:
        """Jobs for the workspaces that have no readings in the current space, or old ones; gives how many."""
        async with self._database.unit() as session:
            space = await queries.find_space(session)
            if space is None or self._spaces.find(space.key) is None:
                return 0
            due = await queries.list_due(session, space.id, FEWEST_TEXTS, GROWTH)
            await enqueue_many(
                session,
                [
                    NewJob(CALIBRATE, workspace_id, {"space": space.id}, dedupe_key=f"space {space.id}", priority=-1)
                    for workspace_id in due
                ],
            )
        return len(due)

    async def calibrate(self, job: JobContext) -> None:
        """Job: measure a workspace in the space `job.payload["space"]`. Raises ProviderError, SpaceUnavailable."""
        async with self._database.read() as session:
            space = await queries.find_space(session, job.payload["space"])
        if space is not None:
            await self.run(job.workspace_id, space, self._spaces.embedder(space.key), job)

    async def calibrate_all(self, space_id: int, embedder: Embedder) -> None:
        """Every workspace, in a space that search does not read yet. Raises ProviderError."""
        async with self._database.read() as session:
            space = await queries.find_space(session, space_id)
            due = [] if space is None else await queries.list_due(session, space_id, FEWEST_TEXTS, GROWTH)
        for workspace_id in due:
            if space is not None:
                await self.run(workspace_id, space, embedder)

    async def run(
        self, workspace_id: uuid.UUID, space: SpaceRow, embedder: Embedder, job: JobContext | None = None
    ) -> int:
        """Measure and keep; gives how many readings there are. Raises ProviderError."""
        started = time.perf_counter()
        async with self._database.read() as session:
            docs = await queries.count_docs(session, workspace_id)
            samples = {
                kind: await queries.draw_texts(session, workspace_id, space.id, kind, _DRAWN, SEED) for kind in TextKind
            }
            claims = await queries.draw_claims(session, workspace_id, 3 * QUESTIONS, SEED)
        samples = {kind: _bounded(sample) for kind, sample in samples.items()}
        questions = await asyncio.to_thread(self._questions, claims)
        if not questions or not any(map(len, samples.values())):
            return 0
        vectors = await embedder.queries([question.text for question in questions])
        for question, vector in zip(questions, vectors.dense, strict=True):
            question.vector = vector
        async with self._database.read() as session:
            await _know_kin(session, workspace_id, questions, samples)
        looked = []
        for question in _looked_for(questions, samples):
            async with self._database.read() as session:
                looked.append(await self.look(session, workspace_id, space, question))
        async with self._database.read() as session:
            owners = await list_owners_of(session, workspace_id, looked)
        readings = await asyncio.to_thread(_fit, space.key, questions, samples, looked, owners)
        async with self._database.unit() as session:
            await lock(session, "calibrations", workspace_id)
            if job is not None:
                await job.hold(session)
            await queries.replace_readings(session, workspace_id, space.id, readings, docs)
        log.info(
            "calibrated",
            workspace_id=str(workspace_id),
            space=space.key,
            readings=len(readings),
            questions=len(questions),
            seconds=round(time.perf_counter() - started, 2),
        )
        return len(readings)

    def _questions(self, claims: Sequence[Claim]) -> list[Question]:
        """Made from claims, some of each script, and general ones."""
        rng = random.Random(SEED)  # noqa: S311  (a sample, no secret)
        made: dict[Script, list[Question]] = {script: [] for script in _SCRIPTS}
        shuffled = list(claims)
        rng.shuffle(shuffled)
        for claim in shuffled:
            text = pseudo_question(claim.text, self._segmenter.tagged, rng)
            if text is not None and len(made[script := script_of(text)]) < QUESTIONS:
                made[script].append(Question(text, script, claim.id, {claim.card_id}))
        return [
            question
            for script in _SCRIPTS
            for question in (*made[script], *(Question(text, script) for text in GENERIC[script]))
        ]

    async def look(self, session: AsyncSession, workspace_id: uuid.UUID, space: SpaceRow, question: Question) -> Looked:
        """What search finds for a question, and what words say of its claims."""
        large = await self._sizes.large(session, workspace_id, space)
        found = await nearest_many(session, workspace_id, space, TextKind, question.vector, _FOUND, large)
        if question.claim_id is None:
            return Looked(question, found, {}, {})
        points = await queries.list_places(session, workspace_id, [owner for owner, _ in found[TextKind.point]])
        words, grams = question_hashes(self._segmenter.terms(question.text))
        collections = (Collection.point, Collection.facet, Collection.episode)
        hits = await search_many(session, workspace_id, collections, words, grams, b=self._settings.context_bm25_b)
        docs = {
            Collection.point: sorted({place.doc for place in points.values()}),
            Collection.facet: sorted({place.facet_doc for place in points.values()}),
            Collection.episode: sorted({place.episode_doc for place in points.values()}),
        }
        shares = {
            collection: dict(zip(some, hits[collection].share_of(np.array(some, np.uint32)).tolist(), strict=True))
            for collection, some in docs.items()
        }
        return Looked(question, found, points, shares)


def _bounded(sample: Sample) -> Sample:
    """No more than `TEXTS` of each script: ordered by id, which is by age, they are every n-th of all."""
    kept: list[int] = []
    for in_han in (True, False):
        places = np.flatnonzero(sample.in_han == in_han)
        if len(places) > TEXTS:
            places = places[np.linspace(0, len(places) - 1, TEXTS).astype(np.int64)]
        kept += places.tolist()
    return sample.only(sorted(kept))


def _looked_for(questions: Sequence[Question], samples: Mapping[TextKind, Sample]) -> list[Question]:
    """Some of each kind; of a script that no text has, none."""
    picked = []
    for script in _SCRIPTS:
        if any(np.any(sample.in_han == (script == "han")) for sample in samples.values()):
            for general in (False, True):
                of_kind = [one for one in questions if one.script == script and (one.claim_id is None) == general]
                picked += of_kind[:LOOKS]
    return picked


async def _know_kin(
    session: AsyncSession, workspace_id: uuid.UUID, questions: Sequence[Question], samples: Mapping[TextKind, Sample]
) -> None:
    """Cards that have to do with a question: its own, those of the same title, those that name what it is about."""
    cards = {card for sample in samples.values() for card in sample.cards if card is not None}
    cards |= {card for question in questions for card in question.cards}
    kin = await queries.list_kin(
        session,
        workspace_id,
        [question.claim_id for question in questions if question.claim_id is not None],
        min(_MOST_KIN, max(3, int(_RARE * len(cards)))),
    )
    titles = {
        card: name_key(title) for card, title in (await queries.list_titles(session, workspace_id, list(cards))).items()
    }
    by_title: dict[str, set[uuid.UUID]] = {}
    for card, title in titles.items():
        by_title.setdefault(title, set()).add(card)
    for question in questions:
        if question.claim_id is None:
            continue
        entities, related = kin.get(question.claim_id, (set(), set()))
        question.entities |= entities
        own = set(question.cards)
        question.cards |= related
        for card in own:
            question.cards |= by_title.get(titles.get(card, ""), set())


async def list_owners_of(
    session: AsyncSession, workspace_id: uuid.UUID, looked: Sequence[Looked]
) -> dict[TextKind, dict[uuid.UUID, Owner]]:
    return {
        kind: await queries.list_owners(
            session, workspace_id, kind, sorted({owner for one in looked for owner, _ in one.found[kind]})
        )
        for kind in TextKind
    }


# -------------------------------------------------------------------------------------- the fitting


def _fit(
    space_key: str,
    questions: Sequence[Question],
    samples: Mapping[TextKind, Sample],
    looked: Sequence[Looked],
    owners: Mapping[TextKind, Mapping[uuid.UUID, Owner]],
) -> dict[tuple[str, Pair], Reading]:
    backgrounds = {
        (kind.name, pair): background
        for kind, sample in samples.items()
        for pair, background in _backgrounds(kind, sample, questions).items()
    }
    first = {key: Reading(background) for key, background in backgrounds.items()}
    scale = Calibration(readings_of(space_key), first)
    readings = dict(first)
    for kind in TextKind:
        for script in _SCRIPTS:
            key = (kind.name, (script, script))
            if key in readings:
                made = [one for one in looked if one.question.script == script and one.question.claim_id is not None]
                general = [one for one in looked if one.question.script == script and one.question.claim_id is None]
                own, foreign = _best(kind, script, scale, made, owners[kind])
                _, strange = _best(kind, script, scale, general, owners[kind])
                readings[key] = Reading(backgrounds[key], fit_baseline(own), fit_best(foreign), fit_best(strange))
    for script in _SCRIPTS:
        for kind_name, (z, shares) in line_points(script, scale, looked, owners[TextKind.point]).items():
            line = fit_line(z, shares, KEPT_WORDS[script])
            key = (kind_name, (script, script))
            if line is not None:
                # `facet` is no kind of text: it has nothing but its line.
                points = backgrounds.get((TextKind.point.name, key[1]))
                known = readings.get(key) or (None if points is None else Reading(points))
                if known is not None:
                    readings[key] = replace(known, line=line)
    return readings


def _backgrounds(kind: TextKind, sample: Sample, questions: Sequence[Question]) -> dict[Pair, Background]:
    found: dict[Pair, Background] = {}
    if not len(sample):
        return found
    asked = np.stack([question.vector for question in questions])
    distances = (1.0 - asked @ sample.vectors.T).astype(np.float64)
    apart = np.array([[_is_apart(kind, question, sample, at) for at in range(len(sample))] for question in questions])
    for script in _SCRIPTS:
        made = np.array([question.script == script and question.claim_id is not None for question in questions])
        # Of a script without claims, the general questions.
        rows = (
            made if np.count_nonzero(made) >= _FEWEST_QUESTIONS else np.array([q.script == script for q in questions])
        )
        in_han = sample.some_han if script == "han" else sample.in_han
        for text_script in _SCRIPTS:
            columns = in_han if text_script == "han" else ~in_han
            inside = apart & rows[:, None] & columns[None, :]
            background = fit_background(distances[inside], int(np.count_nonzero(columns)))
            if background is not None:
                found[script, text_script] = background
    return found


def _is_apart(kind: TextKind, question: Question, sample: Sample, at: int) -> bool:
    """Whether a text has nothing to do with the question, as far as can be told."""
    card = sample.cards[at]
    if kind is TextKind.entity:
        return sample.owners[at] not in question.entities
    return card is None or card not in question.cards


def _best(
    kind: TextKind,
    script: Script,
    scale: Calibration,
    looked: Sequence[Looked],
    owners: Mapping[uuid.UUID, Owner],
) -> tuple[F8, F8]:
    """Per question, all of one script, the least distance to a text about its matter other than its own claim, and the
    best z among texts about other matters; NaN where there is none.
    """
    own, foreign = [], []
    for one in looked:
        near, best = np.nan, np.nan
        for owner_id, distance in one.found[kind]:
            owner = owners.get(owner_id)
            if owner is None or owner_id == one.question.claim_id:
                continue
            if owner_id in one.question.entities if kind is TextKind.entity else owner.card_id in one.question.cards:
                near = np.fmin(near, distance)
            else:
                background = scale.background(kind, script, owner.script)
                best = np.fmin(best, (distance - background.mu) / background.sigma)
        own.append(near)
        foreign.append(best)
    return np.array(own, np.float64), np.array(foreign, np.float64)


def line_points(
    script: Script, scale: Calibration, looked: Sequence[Looked], owners: Mapping[uuid.UUID, Owner]
) -> dict[str, tuple[F8, F8]]:
    """Pairs (z, L) of one script: of claims; of facets and episodes by the nearest of their claims. The claim that a
    question was made from is left out: it has the question's own words.
    """
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in LINES}
    background = scale.background(TextKind.point, script, script)
    for one in looked:
        if one.question.script != script or one.question.claim_id is None:
            continue
        nearest: dict[tuple[Collection, int], float] = {}
        for owner_id, distance in one.found[TextKind.point]:
            owner, place = owners.get(owner_id), one.points.get(owner_id)
            if owner is None or place is None or owner.script != script or owner_id == one.question.claim_id:
                continue
            z = (distance - background.mu) / background.sigma
            pairs["point"].append((z, one.shares[Collection.point].get(place.doc, 0.0)))
            for key in ((Collection.facet, place.facet_doc), (Collection.episode, place.episode_doc)):
                nearest[key] = min(z, nearest.get(key, np.inf))
        for (collection, doc), z in nearest.items():
            pairs[collection.name].append((z, one.shares[collection].get(doc, 0.0)))
    return {
        name: (np.array([z for z, _ in some], np.float64), np.array([share for _, share in some], np.float64))
        for name, some in pairs.items()
    }
