"""How far question and text usually are apart: the fits by hand, and a workspace that is measured."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from app.cards.drafts import NewCard
from app.db.session import Database
from app.index.collections import TextKind
from app.index.spaces import Spaces
from app.ingestion.reembed import REEMBED, Reembedding
from app.jobs.run import run_until_idle
from app.jobs.settings import JobSettings
from app.providers.ports import Embeddings
from app.retrieval import calibration_queries as queries
from app.retrieval.bundle_scripts import Line
from app.retrieval.calibrating import (
    CALIBRATE,
    FEWEST_TEXTS,
    LOOKS,
    QUESTIONS,
    Calibrating,
    Calibrations,
    load,
)
from app.retrieval.calibration import (
    PAIRS,
    UNKNOWN,
    Background,
    Calibration,
    Reading,
    fit_background,
    fit_baseline,
    fit_best,
    fit_line,
)
from app.retrieval.calibration_defaults import readings_of
from app.retrieval.pseudo_questions import GENERIC, pseudo_question, script_of
from app.retrieval.queries import SpaceRow
from app.text.segment import Segmenter
from tests.search_library import Library, Scattered

pytest_plugins = ("tests.search_library",)

E5 = "embedded/multilingual-e5-small/384"
QUICK = JobSettings(job_backoff_seconds=0.01, job_backoff_max_seconds=0.02, worker_poll_seconds=60)


# --------------------------------------------------------------------------------------- the fits


def test_pairs_that_have_to_do_with_each_other_do_not_count() -> None:
    """A tenth of the pairs is much nearer than the others; the rest is a bell around .25."""
    rng = np.random.default_rng(1)
    unrelated, related = rng.normal(0.25, 0.02, 9000), rng.normal(0.12, 0.02, 1000)
    found = fit_background(np.concatenate((unrelated, related)), texts=40)
    assert found is not None
    assert found.mu == pytest.approx(0.25, abs=0.002)
    assert found.sigma == pytest.approx(0.02, abs=0.002)
    assert (found.pairs, found.texts) == (10_000, 40)


def test_few_pairs_say_nothing_and_equal_ones_do_not_divide_by_zero() -> None:
    assert fit_background(np.full(59, 0.3)) is None
    found = fit_background(np.full(60, 0.3))
    assert found is not None
    assert (found.mu, found.sigma) == (pytest.approx(0.3), 0.001)


def test_a_line_is_not_drawn_by_where_most_pairs_are() -> None:
    """L = −.1 + .2·(−z), and ten thousand pairs near 0 that would draw it flat."""
    near = np.repeat(np.arange(0.25, 6.0, 0.5), 20)
    bulk = np.full(10_000, 0.25)
    z = -np.concatenate((near, bulk))
    shares = np.concatenate((-0.1 + 0.2 * near, np.full(10_000, -0.05)))
    line = fit_line(z, shares)
    assert line is not None
    assert (line.alpha, line.beta) == (pytest.approx(-0.1), pytest.approx(0.2))
    diluted = fit_line(z, shares, kept_words=0.5)
    assert diluted is not None
    assert (diluted.alpha, diluted.beta) == (pytest.approx(-0.05), pytest.approx(0.1))
    # Further away than usual says nothing, and one step of z is no line.
    assert fit_line(np.full(1000, 0.5), np.zeros(1000)) is None
    assert fit_line(np.full(1000, -0.3), np.zeros(1000)) is None
    assert fit_line(np.empty(0), np.empty(0)) is None


def test_quantiles_and_baselines() -> None:
    best = np.array([-5.0, -4.0, -3.0, -2.0, -1.0] * 4 + [np.nan])
    assert fit_best(best) == {0.05: -5.0, 0.25: -4.0, 0.5: -3.0}
    assert fit_best(best[:19]) == {}
    # Squared L2 of unit vectors is twice their cosine distance.
    assert fit_baseline(np.array([0.1, 0.2, 0.3, np.nan] * 4)) == pytest.approx(0.4)
    assert fit_baseline(np.array([0.1] * 9)) is None


def reading(mu: float, sigma: float = 0.02, texts: int = 0, **more: Any) -> Reading:
    return Reading(Background(mu, sigma, 1000, texts), **more)


def test_z_of_many_texts_at_once() -> None:
    known = {
        ("point", ("han", "han")): reading(0.17, 0.01),
        ("point", ("han", "latin")): reading(0.24, 0.03),
    }
    calibration = Calibration(known)
    z = calibration.z(
        TextKind.point, "han", np.array([True, False, True, False]), np.array([0.15, 0.15, 0.17, np.nan], np.float32)
    )
    assert z[:3] == pytest.approx([-2.0, -3.0, 0.0], abs=1e-5)
    assert np.isnan(z[3])


def test_own_readings_count_the_more_the_more_texts_they_are_of() -> None:
    known = {("point", ("han", "han")): reading(0.20, 0.02)}
    for texts, mu, sigma in ((0, 0.20, 0.02), (15, 0.25, 0.03), (135, 0.29, 0.038)):
        own = {("point", ("han", "han")): reading(0.30, 0.04, texts)}
        found = Calibration(known, own).background(TextKind.point, "han", "han")
        assert (found.mu, found.sigma) == (pytest.approx(mu), pytest.approx(sigma))
    # Of a space that nothing is known of, they are all there is.
    found = Calibration({}, {("point", ("han", "han")): reading(0.30, 0.04, 3)}).background(
        TextKind.point, "han", "han"
    )
    assert (found.mu, found.sigma) == (0.30, 0.04)


def test_what_was_not_measured_is_taken_from_its_nearest_relative() -> None:
    own = {
        ("point", ("latin", "latin")): reading(0.25),
        ("chunk", ("latin", "latin")): reading(0.23),
        ("chunk", ("han", "latin")): reading(0.24),
    }
    calibration = Calibration({}, own)
    mu = {(kind, *pair): calibration.background(kind, *pair).mu for kind in TextKind for pair in PAIRS}
    assert mu[TextKind.chunk, "latin", "latin"] == 0.23
    # Another kind in the same pair, the first that there is.
    assert mu[TextKind.entity, "latin", "latin"] == 0.23
    assert mu[TextKind.point, "han", "latin"] == 0.24
    # No text of that script was there: the question's own script, rather than nothing.
    assert mu[TextKind.chunk, "latin", "han"] == 0.23
    # Another workspace's texts in the very pair are nearer than one's own in another.
    known = {("point", ("latin", "han")): reading(0.27)}
    assert Calibration(known, own).background(TextKind.point, "latin", "han").mu == 0.27
    assert Calibration({}).background(TextKind.role, "han", "han") == UNKNOWN


def test_lines_baselines_and_quantiles_fall_back_one_by_one() -> None:
    known = {
        ("point", ("han", "han")): reading(
            0.2, line=Line(1.0, 2.0), baseline=0.3, foreign={0.05: -4.0}, stranger={0.05: -3.0}
        )
    }
    own = {("point", ("han", "han")): reading(0.2, texts=50, baseline=0.4)}
    calibration = Calibration(known, own)
    assert calibration.line("point", "han") == Line(1.0, 2.0)
    assert calibration.line("point", "latin") == Line(1.0, 2.0)
    assert calibration.line("facet", "han") == Line(0.0, 0.0)
    assert calibration.baseline(TextKind.point, "han") == 0.4
    assert calibration.baseline(TextKind.chunk, "han") == pytest.approx(2 * (0.2 - 2 * 0.02))
    assert calibration.foreign(TextKind.point, "han") == -4.0
    assert calibration.stranger(TextKind.point, "han") == -3.0
    assert calibration.stranger(TextKind.point, "latin") is None
    assert calibration.foreign(TextKind.point, "han", 0.5) is None


def test_the_scales_of_the_bundle_are_the_same_numbers() -> None:
    calibration = Calibration(readings_of(E5))
    in_han, distances = np.array([True, False]), np.array([0.15, 0.15])
    for asked in ("han", "latin"):
        scales = calibration.scales(asked)  # type: ignore[arg-type]
        for kind in TextKind:
            expected = calibration.z(kind, asked, in_han, distances)  # type: ignore[arg-type]
            assert scales.z(kind.name, distances, asked == "han", in_han) == pytest.approx(expected)
        assert scales.line("episode") == calibration.line("episode", asked)  # type: ignore[arg-type]


def test_the_shipped_readings_are_whole() -> None:
    known = readings_of(E5)
    assert {(kind.name, pair) for kind in TextKind for pair in PAIRS} <= set(known)
    calibration = Calibration(known)
    for kind in TextKind:
        for asked, script in PAIRS:
            found = calibration.background(kind, asked, script)
            assert 0.1 < found.mu < 0.35
            assert 0.01 < found.sigma < 0.05
        # Across scripts everything lies further away, by more than a deviation.
        same, other = (calibration.background(kind, "han", script) for script in ("han", "latin"))
        assert (other.mu - same.mu) / same.sigma > 1
        for asked in ("han", "latin"):
            usual = calibration.background(kind, asked, asked)
            assert 0 < calibration.baseline(kind, asked) < 2 * (usual.mu + usual.sigma)
    for kind_name in ("point", "facet", "episode"):
        assert all(calibration.line(kind_name, asked).beta > 0 for asked in ("han", "latin"))
    assert readings_of("openai/somebody/7") == {}


# ------------------------------------------------------------------------------- pseudo-questions


@pytest.mark.parametrize(
    ("claim", "script", "words"),
    [
        (
            "Ada Lovelace wrote to Charles Babbage about the engine.",
            "latin",
            "Ada Lovelace wrote Charles Babbage engine",
        ),
        ("林晓雯在昆明开了一家咖啡馆，每公斤豆子卖 120 元。", "han", "林晓雯 昆明 咖啡馆 公斤 豆子 120"),
        ("用 SQL 保存笔记的全部向量。", "han", "SQL 保存 笔记 全部 向量"),
    ],
)
def test_a_claim_becomes_a_question_of_its_own_words(claim: str, script: str, words: str, segmenter: Segmenter) -> None:
    """In its script and in the claim's order, two to four of them; the same ones for the same seed."""
    segmenter.load()
    seen: set[str] = set()
    for seed in range(30):
        asked = pseudo_question(claim, segmenter.tagged, random.Random(seed))
        assert asked == pseudo_question(claim, segmenter.tagged, random.Random(seed))
        assert asked is not None
        assert asked[-1] in "?？"
        assert script_of(asked) == script
        used = [word for word in words.split() if word in asked]
        assert len(used) >= 2
        seen.add(asked)
    assert len(seen) > 10


@pytest.mark.parametrize("claim", ["", "Oh yeah!", "好的。", "It was what they had.", "……"])
def test_nothing_is_asked_of_small_talk(claim: str, segmenter: Segmenter) -> None:
    assert pseudo_question(claim, segmenter.tagged, random.Random(1)) is None


def test_scripts_by_majority() -> None:
    assert [
        script_of(one) for one in ("今天", "用 PostgreSQL 保存笔记", "He said 你好 to everybody there", "", "1984")
    ] == [
        "han",
        "han",
        "latin",
        "latin",
        "latin",
    ]
    for script, asked in GENERIC.items():
        assert {script_of(one) for one in asked} == {script}
        assert len(set(asked)) == len(asked)


# ---------------------------------------------------------------------------- a workspace is measured


class Counting(Scattered):
    """Random directions: whatever is asked, texts are 1 ± 1/√dimension away. Claims of one card lean to one side."""

    def __init__(self, dimension: int = 64, lean: float = 0.0) -> None:
        super().__init__(dimension)
        self.asked: list[str] = []
        self.lean = lean

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        self.asked.extend(texts)
        return await super().queries(texts)

    def _vector(self, text: str) -> np.ndarray:
        own = super()._vector(text)
        leaning = next((word for word in ("Zanzibar", "Quebec", "昆明") if word in text), None)
        if self.lean and leaning:
            own = own + self.lean * super()._vector(leaning)
        return own / np.linalg.norm(own)


PEOPLE = "Ada Boris Clara Dora Emil Fritz Greta Hanna Ivan Julia Karl Lena Mona Nora Oskar Paula Quirin Rosa Sven Tilda"
PLACES = "Lisbon Oslo Zanzibar Quebec Cairo Lima Seoul Delhi Hanoi Tunis"


def english(number: int) -> NewCard:
    who, where = PEOPLE.split()[number % 20], PLACES.split()[number % 10]
    return NewCard(
        f"Trip {number} of {who}",
        f"{who} travelled to {where} in March {2000 + number}. The hotel in {where} charged {90 + number} dollars. "
        f"{who} bought {number + 2} carpets at the northern market.\n\n"
        f"{who} came home by train and painted the kitchen number {number} blue.",
    )


def chinese(number: int) -> NewCard:
    who = ["林晓雯", "周启明", "何秀兰", "王建国", "李小红"][number % 5]
    return NewCard(
        f"{who}的记录{number}",
        f"{who}在二〇二{number % 6}年去了昆明，花了{number + 30}元买茶叶。"
        f"{who}把第{number}号水泵修好了，换了两个密封圈。",
    )


@pytest.fixture
async def shop(database: Database, segmenter: Segmenter) -> Library:
    return await Library(database, Counting(), segmenter, extractor="offline").open()


def calibrating(library: Library) -> Calibrating:
    return Calibrating(library.database, Spaces(library.embedder), library.segmenter, library.settings)


async def space_of(library: Library) -> SpaceRow:
    async with library.database.read() as session:
        found = await queries.find_space(session)
    assert found is not None
    return found


async def fill(library: Library, cards: Sequence[NewCard]) -> None:
    await library.add_many(cards)
    assert (await library.learn()).ready == len(cards)


async def loaded(library: Library) -> Calibration:
    async with library.database.read() as session:
        return await load(session, library.id, await space_of(library))


async def rows(library: Library) -> list[Any]:
    return await library.rows(
        "SELECT collection, script, mu, sigma, pairs, detail::text FROM calibrations WHERE workspace_id = :w "
        "ORDER BY 1, 2"
    )


async def test_texts_anywhere_on_the_sphere_have_the_sphere_s_distances(shop: Library) -> None:
    """Random unit vectors of dimension d: cosine 0 ± 1/√d, for every kind and pair of scripts."""
    await fill(shop, [english(n) for n in range(30)] + [chinese(n) for n in range(20)])
    embedder = shop.embedder
    assert isinstance(embedder, Counting)
    assert await calibrating(shop).run(shop.id, await space_of(shop), embedder) > 30
    stored = {(kind, script): (mu, sigma, pairs) for kind, script, mu, sigma, pairs, _ in await rows(shop)}
    assert {kind for kind, _ in stored} == {kind.name for kind in TextKind} | {"facet"}
    for kind in ("chunk", "point", "point_edge", "facet_description", "episode"):
        for script in ("han-han", "han-latin", "latin-han", "latin-latin"):
            mu, sigma, pairs = stored[kind, script]
            assert mu == pytest.approx(1.0, abs=0.03), (kind, script)
            assert sigma == pytest.approx(1 / 8, abs=0.02), (kind, script)
            assert pairs >= 60
    calibration = await loaded(shop)
    own = calibration.background(TextKind.point, "latin", "latin")
    assert (own.mu, own.sigma, own.pairs) == (*stored["point", "latin-latin"][:2], stored["point", "latin-latin"][2])
    strange = calibration.stranger(TextKind.point, "latin")
    assert strange is not None
    # The nearest of some hundred random texts.
    assert -5 < strange < -2
    assert len(embedder.asked) <= 2 * (QUESTIONS + len(GENERIC["han"]))


async def test_the_same_data_give_the_same_readings(shop: Library) -> None:
    await fill(shop, [english(n) for n in range(12)])
    measuring = calibrating(shop)
    await measuring.run(shop.id, await space_of(shop), shop.embedder)
    first = await rows(shop)
    await measuring.run(shop.id, await space_of(shop), shop.embedder)
    assert await rows(shop) == first
    assert len(first) > 10


async def test_cards_about_the_same_thing_do_not_draw_the_background_nearer(
    database: Database, segmenter: Segmenter
) -> None:
    """Texts that name one place lie close together, and so do questions about it. They are kin, not background."""
    plain = await Library(database, Counting(), segmenter, "plain", extractor="offline").open()
    await fill(plain, [english(n) for n in range(40)])
    leaning = Library(database, Counting(lean=1.5), segmenter, "leaning", extractor="offline")
    async with database.unit() as session:
        await session.execute(text("UPDATE embedding_spaces SET is_current = false"))
    leaning.embedder.space = replace(leaning.embedder.space, model="leaning")  # type: ignore[attr-defined]
    await leaning.open()
    await fill(leaning, [english(n) for n in range(40)])
    await calibrating(leaning).run(leaning.id, await space_of(leaning), leaning.embedder)
    found = (await loaded(leaning)).background(TextKind.point, "latin", "latin")
    assert found.mu == pytest.approx(1.0, abs=0.04)
    assert found.sigma == pytest.approx(1 / 8, abs=0.03)


async def test_a_script_that_no_card_has_is_asked_in_general(shop: Library) -> None:
    await fill(shop, [chinese(n) for n in range(25)])
    embedder = shop.embedder
    assert isinstance(embedder, Counting)
    await calibrating(shop).run(shop.id, await space_of(shop), embedder)
    assert set(GENERIC["latin"]) <= set(embedder.asked)
    scripts = {script for kind, script, *_ in await rows(shop) if kind == "point"}
    assert scripts == {"han-han", "latin-han"}


async def test_without_claims_questions_are_made_of_chunks(database: Database, segmenter: Segmenter) -> None:
    library = await Library(database, Counting(), segmenter, extractor="off").open()
    await fill(library, [english(n) for n in range(40)])
    await calibrating(library).run(library.id, await space_of(library), library.embedder)
    stored = await rows(library)
    assert {kind for kind, *_ in stored} == {"chunk"}
    assert stored[0][2] == pytest.approx(1.0, abs=0.05)


async def test_an_empty_workspace_has_what_is_shipped(shop: Library) -> None:
    space = await space_of(shop)
    assert await calibrating(shop).run(shop.id, space, shop.embedder) == 0
    assert (await loaded(shop)).background(TextKind.point, "han", "han") == UNKNOWN
    async with shop.database.read() as session:
        known = await load(session, shop.id, replace(space, key=E5))
    assert known.background(TextKind.point, "han", "han") == readings_of(E5)["point", ("han", "han")].background


# -------------------------------------------------------------------------------------- when it is done


async def due(library: Library) -> bool:
    async with library.database.read() as session:
        found = await queries.list_due(session, (await space_of(library)).id, FEWEST_TEXTS, 1.5)
    return library.id in found


async def test_it_is_done_when_there_is_something_and_again_when_that_has_grown(shop: Library) -> None:
    """The first time, at ×1.5, and earlier where a script was missing."""
    await fill(shop, [english(0)])
    assert not await due(shop)
    await fill(shop, [english(n) for n in range(1, 20)])
    measuring = calibrating(shop)
    assert await measuring.enqueue_due() == 1
    assert await measuring.enqueue_due() == 1
    jobs = await shop.rows("SELECT state, payload FROM jobs WHERE kind = 'calibrate'")
    assert jobs == [("queued", {"space": (await space_of(shop)).id})]
    await run_until_idle(shop.database.dsn, {CALIBRATE: measuring.calibrate}, QUICK)
    assert not await due(shop)
    assert await measuring.enqueue_due() == 0
    before = await rows(shop)
    ((docs,),) = await shop.rows("SELECT max((detail ->> 'docs')::int) FROM calibrations WHERE workspace_id = :w")
    await fill(shop, [english(n) for n in range(20, 24)])
    async with shop.database.read() as session:
        assert docs < await queries.count_docs(session, shop.id) < 1.25 * docs
    assert not await due(shop)
    await fill(shop, [english(n) for n in range(24, 26)])
    # Grown by a quarter, and there was no Chinese the last time.
    assert await due(shop)
    await measuring.enqueue_due()
    await run_until_idle(shop.database.dsn, {CALIBRATE: measuring.calibrate}, QUICK)
    assert await rows(shop) != before
    await fill(shop, [chinese(n) for n in range(20)])
    await measuring.enqueue_due()
    await run_until_idle(shop.database.dsn, {CALIBRATE: measuring.calibrate}, QUICK)
    ((docs,),) = await shop.rows("SELECT max((detail ->> 'docs')::int) FROM calibrations WHERE workspace_id = :w")
    async with shop.database.read() as session:
        assert docs == await queries.count_docs(session, shop.id)
    await fill(shop, [english(n) for n in range(26, 33)])
    async with shop.database.read() as session:
        assert 1.25 * docs > await queries.count_docs(session, shop.id)
    assert not await due(shop)


async def test_what_fails_is_not_tried_again_every_minute(shop: Library) -> None:
    await fill(shop, [english(n) for n in range(12)])
    measuring = calibrating(shop)
    assert await measuring.enqueue_due() == 1

    async def broken(job: Any) -> None:
        raise ValueError

    await run_until_idle(shop.database.dsn, {CALIBRATE: broken}, QUICK, wait_for_delayed=True)
    assert await shop.rows("SELECT state FROM jobs WHERE kind = 'calibrate'") == [("failed",)]
    assert await measuring.enqueue_due() == 0
    await shop.execute("UPDATE jobs SET finished_at = now() - interval '4 hours'")
    assert await measuring.enqueue_due() == 1


async def test_a_space_is_measured_before_search_reads_it(shop: Library) -> None:
    await fill(shop, [english(n) for n in range(12)])
    following = Counting(48)
    spaces = Spaces(shop.embedder, following)
    measuring = Calibrating(shop.database, spaces, shop.segmenter, shop.settings)
    moving = Reembedding(shop.database, spaces, shop.settings, measuring.calibrate_all)
    await moving.begin()
    await run_until_idle(shop.database.dsn, {REEMBED: moving.fill}, QUICK)
    assert await rows(shop) == []
    assert await moving.advance()
    found = (await loaded(shop)).background(TextKind.point, "latin", "latin")
    assert found.sigma == pytest.approx(48**-0.5, abs=0.03)
    assert found.pairs > 60


async def test_readings_go_with_their_workspace(shop: Library) -> None:
    await fill(shop, [english(n) for n in range(12)])
    await calibrating(shop).run(shop.id, await space_of(shop), shop.embedder)
    other = uuid.uuid4()
    async with shop.database.read() as session:
        unmeasured = await load(session, other, await space_of(shop))
    assert unmeasured.background(TextKind.point, "latin", "latin") == UNKNOWN
    await shop.execute("DELETE FROM workspaces WHERE id = :w")
    assert await shop.rows("SELECT count(*) FROM calibrations") == [(0,)]


async def test_readings_are_remembered_for_a_while(shop: Library) -> None:
    kept, brief, space = Calibrations(seconds=3600), Calibrations(seconds=0), await space_of(shop)
    async with shop.database.read() as session:
        first = await kept.of(session, shop.id, space)
        assert await kept.of(session, shop.id, space) is first
        assert await kept.of(session, uuid.uuid4(), space) is not first
        assert await brief.of(session, shop.id, space) is not await brief.of(session, shop.id, space)


async def test_looking_is_bounded(shop: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some questions of each kind are looked for, however many there are."""
    await fill(shop, [english(n) for n in range(40)])
    measuring = calibrating(shop)
    looks: list[Any] = []
    look = measuring.look

    async def counted(*args: Any) -> Any:
        looks.append(args)
        return await look(*args)

    monkeypatch.setattr(measuring, "look", counted)
    await measuring.run(shop.id, await space_of(shop), shop.embedder)
    assert len(looks) == 2 * LOOKS
