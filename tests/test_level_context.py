"""Level context against a real database: from anchors over the cone to hits, their paths and what can be cited."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.cards.drafts import NewCard
from app.core.errors import Unavailable
from app.db.session import Database
from app.db.settings import DatabaseSettings
from app.index.spaces import Spaces
from app.providers.embedding.e5 import E5Embedder
from app.providers.ports import Embeddings, ProviderError
from app.retrieval.calibration import Calibration
from app.retrieval.retrieve import Retriever
from app.retrieval.types import Evidence, Filters, Level, Preset, Question
from app.text.segment import Segmenter
from tests.search_library import Library

pytest_plugins = ("tests.search_library",)


def day(month: int, number: int) -> datetime:
    return datetime(2023, month, number, tzinfo=UTC)


CARDS = [
    NewCard(
        "Harbour walk",
        "## Morning\nAnna repaired the red sailing boat in Hamburg. She paid 420 euros for the new sail.\n\n"
        "## Evening\nBruno cooked fish soup for the whole crew. The kitchen smelled of dill.",
        created_at=day(5, 4),
        tags=["boat", "north"],
        metadata={"trip": "sea"},
        external_id="harbour",
    ),
    NewCard(
        "Garden log",
        "## Vegetables\nClara planted 30 tomato seedlings behind the shed. The soil was dry after weeks of sun.\n\n"
        "## Trees\nThe old pear tree lost a branch in the storm.",
        created_at=day(6, 20),
        tags=["garden"],
        metadata={"trip": "none"},
        external_id="garden",
    ),
    NewCard(
        "Boat sale",
        "## Offer\nAnna sold the red sailing boat to Dario for 9000 euros. Dario wants to sail it to Denmark.",
        created_at=day(9, 1),
        tags=["boat"],
        metadata={"trip": "sea"},
        external_id="sale",
    ),
    NewCard(
        "读书会",
        "## 讨论\n小林在读书会上介绍了量子计算机的历史。大家讨论了两个小时。\n\n"
        "## 安排\n下次读书会定在十月，由王芳主持。",
        created_at=day(9, 10),
        tags=["书"],
        metadata={"trip": "none"},
        external_id="books",
    ),
]


@pytest.fixture(scope="module")
def filled(shelf_dsn: str, e5: E5Embedder, segmenter: Segmenter) -> uuid.UUID:
    async def learned() -> uuid.UUID:
        database = Database(shelf_dsn, DatabaseSettings())
        library = await Library(database, e5, segmenter, slug=uuid.uuid4().hex, extractor="offline").open()
        await library.add_many(CARDS)
        outcome = await library.learn()
        assert (outcome.ready, outcome.failed) == (len(CARDS), {})
        await database.close()
        return library.id

    return asyncio.run(learned())


@pytest.fixture
def notes(shelf: Database, e5: E5Embedder, segmenter: Segmenter, filled: uuid.UUID) -> Library:
    return Library(shelf, e5, segmenter, extractor="offline").at(filled)


async def ask(library: Library, query: str, **how: Any) -> Evidence:
    return await library.retriever.retrieve(library.id, Question(query, Level.context, **how))


def names(evidence: Evidence) -> list[str | None]:
    return [hit.card.external_id for hit in evidence.hits]


async def contents(library: Library) -> dict[uuid.UUID, str]:
    return dict(await library.rows("SELECT id, content FROM cards WHERE workspace_id = :w"))


class Broken:
    """An embedder that answers nobody."""

    def __init__(self, working: E5Embedder) -> None:
        self.space, self.max_tokens, self.count_tokens = working.space, working.max_tokens, working.count_tokens

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        raise BrokenDown

    passages = queries

    async def open(self) -> None: ...

    async def close(self) -> None: ...


class BrokenDown(ProviderError, Unavailable):
    """It is down."""

    code = "broken_down"


async def test_the_claim_that_answers_comes_first_with_its_path(notes: Library) -> None:
    evidence = await ask(notes, "How much did Anna pay for the new sail?")
    assert (evidence.level, evidence.degraded, evidence.nothing_relevant) == (Level.context, [], False)
    hit = evidence.hits[0]
    assert (hit.card.external_id, hit.episode and hit.episode["title"]) == ("harbour", "Harbour walk")
    assert "420 euros" in hit.snippet
    steps = hit.paths[0]["steps"]
    assert [step["node"]["kind"] for step in steps] == ["point", "facet", "episode", "card"]
    assert [step["edge"] and step["edge"]["kind"] for step in steps] == [
        "facet_point",
        "episode_facet",
        "card_episode",
        None,
    ]
    assert "420 euros" in steps[0]["node"]["label"]
    assert "420 euros" in steps[0]["edge"]["text"]
    assert steps[3]["node"]["id"] == str(hit.card.id)


async def test_the_steps_of_a_path_cost_what_the_path_costs(notes: Library) -> None:
    evidence = await ask(notes, "What did Bruno cook?", explain=True)
    for hit in evidence.hits:
        for path in hit.paths:
            costs = [step["edge"]["cost"] for step in path["steps"][:-1]]
            assert sum(costs) == pytest.approx(path["cost"], abs=1e-5)
            assert path["score"] == -path["cost"]
        assert hit.explain is not None
        # A soft minimum is at most the least of what it is of.
        assert hit.explain["total"] <= hit.explain["path"] == pytest.approx(hit.paths[0]["cost"])
        parts = ("total", "penalty", "alike")
        assert hit.explain["cost"] == pytest.approx(sum(hit.explain[part] for part in parts))
        assert hit.score == pytest.approx(-hit.explain["cost"])
    assert [hit.score for hit in evidence.hits] == sorted((hit.score for hit in evidence.hits), reverse=True)


async def test_a_claim_that_is_unlike_the_best_ones_costs_more(notes: Library) -> None:
    asked = {"query": "What happened to the boat?", "explain": True}
    alone = Retriever(
        notes.retriever._database,
        Spaces(notes.embedder),
        Segmenter(),
        notes.settings.model_copy(update={"context_echo": 0.0}),
    )
    plain = await alone.retrieve(notes.id, Question(asked["query"], Level.context, explain=True))
    evidence = await ask(notes, **asked)
    assert names(evidence)[0] == names(plain)[0]
    told = {hit.card.external_id: hit.explain for hit in evidence.hits if hit.explain}
    before = {hit.card.external_id: hit.explain for hit in plain.hits if hit.explain}
    assert all(one["unlike"] == 0 for one in before.values())
    first = names(evidence)[0]
    assert told[first]["unlike"] == 0
    assert told[first]["cost"] == pytest.approx(before[first]["cost"])
    assert {name for name, one in told.items() if one["unlike"] > 0}
    for name, one in told.items():
        assert one["cost"] >= before[name]["cost"] - 1e-6
        assert one["claim"] == pytest.approx(
            0.2 * one["z_edge"] - 0.5 * one["words_point"] + 0.3 * one["unlike"] + one["superseded"], abs=1e-5
        )


FERRIES = [
    ("jadran", "Jadran", "Why did the night ferry stop? The turbocharger of the Jadran broke off the island of Vis."),
    ("yard", "Shipyard bill", "The Jadran needs a new turbocharger; the island of Vis waits for it."),
    *(
        (f"harbour {n}", f"Harbour of {town}", f"Boats lie in the harbour of {town} at night. Gulls sleep there.")
        for n, town in enumerate(("Split", "Ancona", "Bari", "Hvar", "Zadar", "Rijeka", "Pula"))
    ),
]


async def test_cards_that_speak_like_the_first_one_come_next(
    shelf: Database, e5: E5Embedder, segmenter: Segmenter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where words of its own, which the question does not have, are unusual among the others."""
    library = await Library(shelf, e5, segmenter, slug=uuid.uuid4().hex, extractor="offline").open()
    await library.add_many([NewCard(title, content, external_id=name) for name, title, content in FERRIES])
    await library.learn()
    question = Question("Why did the night ferry stop?", Level.context, explain=True)

    async def told(question: Question = question, **knobs: Any) -> list[tuple[str | None, float, float]]:
        settings = library.settings.model_copy(update={"context_alike": 40.0, **knobs})
        retriever = Retriever(shelf, Spaces(e5), segmenter, settings)
        evidence = await retriever.retrieve(library.id, question)
        assert [hit.score for hit in evidence.hits] == sorted((hit.score for hit in evidence.hits), reverse=True)
        return [(hit.card.external_id, hit.score, hit.explain["alike"]) for hit in evidence.hits if hit.explain]

    plain = await told(context_alike=0.0)
    names = [name for name, _, _ in plain]
    assert (names[0], len(names), {alike for _, _, alike in plain}) == ("jadran", len(FERRIES), {0.0})
    behind = names.index("yard")
    assert behind > 3
    for kept in (1, 3):
        promoted = await told(context_alike_kept=kept)
        assert promoted[:kept] == plain[:kept]
        assert promoted[kept][0] == "yard"
        assert promoted[kept][2] < 0
        assert promoted[kept][1] == pytest.approx(min(plain[behind][1] - promoted[kept][2], plain[kept - 1][1]))
        assert {name for name, _, _ in promoted} == set(names)
    # As they are for whoever wants no more than what is kept, and where all words are too common to be read.
    assert await told(context_alike_kept=len(FERRIES)) == plain
    assert await told(replace(question, limit=3), context_alike_kept=3) == plain[:3]
    await library.fold()
    assert await told(context_alike_kept=1, context_alike_bytes=0) == plain
    assert (await told(context_alike_kept=1))[1][0] == "yard"
    # Notes in two scripts share no words.
    monkeypatch.setattr(Calibration, "speaks_both", lambda *_: True)
    assert [alike for _, _, alike in await told(context_alike_kept=1)] == [0.0] * len(FERRIES)


async def test_distances_count_half_beside_words_where_question_and_note_are_chinese(notes: Library) -> None:
    evidence = await ask(notes, "量子计算机的历史是谁讲的？", explain=True)
    told = {hit.card.external_id: hit.explain for hit in evidence.hits if hit.explain}
    assert set(told) > {"books"}
    for name, one in told.items():
        worth = 0.5 if name == "books" else 1.0
        assert one["claim"] == pytest.approx(
            worth * (0.2 * one["z_edge"] + 0.3 * one["unlike"]) - 0.5 * one["words_point"], abs=1e-5
        )
        assert one["facet"] == pytest.approx(0.12 * worth * one["z_facet"] - 0.25 * one["words_facet"], abs=1e-5)


async def test_notes_in_another_language_are_reached_beside_those_in_the_question_s_own(
    notes: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claims in the question's script are nearer than all others: one place per leg is theirs."""
    narrow = notes.settings.model_copy(update={"context_anchors": 1})
    retriever = Retriever(notes.retriever._database, Spaces(notes.embedder), Segmenter(), narrow)
    question = Question("那艘红色的帆船卖了多少钱？", Level.context)
    reached = {}
    for both in (False, True):
        monkeypatch.setattr(Calibration, "speaks_both", lambda self, kind, asked, both=both: both)
        reached[both] = set(names(await retriever.retrieve(notes.id, question)))
    assert reached[False] == {"books"}
    assert reached[True] - {"books"} <= {"harbour", "sale"}
    assert "sale" in reached[True]


async def test_every_span_is_what_stands_at_its_place(notes: Library) -> None:
    texts = await contents(notes)
    evidence = await ask(notes, "量子计算机")
    assert names(evidence)[0] == "books"
    kinds = [span.kind for span in evidence.hits[0].evidence]
    assert kinds == sorted(kinds, reverse=True), "claims first"
    assert {"claim", "chunk"} == set(kinds)
    for hit in evidence.hits:
        assert hit.evidence
        for span in hit.evidence:
            assert texts[hit.card.id][span.start : span.end] == span.text
            if span.focus:
                assert span.start <= span.focus[0] < span.focus[1] <= span.end


async def test_a_question_in_another_language_finds_the_note(notes: Library) -> None:
    assert names(await ask(notes, "Who presented the history of quantum computers?"))[0] == "books"
    assert names(await ask(notes, "谁修好了红色的帆船？"))[0] in ("harbour", "sale")


async def test_the_time_that_is_asked_for_decides_between_two_that_fit(notes: Library) -> None:
    early = await ask(notes, "What happened to the red sailing boat in May 2023?")
    late = await ask(notes, "What happened to the red sailing boat in September 2023?")
    assert (names(early)[0], names(late)[0]) == ("harbour", "sale")


@pytest.mark.parametrize("exact_scan_windows", [30_000, 0], ids=["few pass", "many pass"])
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(tags=["boat"]), {"harbour", "sale"}),
        (Filters(tags=["boat", "north"]), {"harbour"}),
        (Filters(tags=["Boat"]), set()),
        (Filters(created_after=day(9, 1)), {"sale", "books"}),
        (Filters(created_before=day(9, 1)), {"harbour", "garden"}),
        (Filters(metadata={"trip": "none"}), {"garden", "books"}),
        (Filters(tags=["boat"], metadata={"trip": "none"}), set()),
    ],
)
async def test_filters_hold_for_every_leg(
    shelf: Database,
    e5: E5Embedder,
    segmenter: Segmenter,
    filled: uuid.UUID,
    filters: Filters,
    expected: set[str],
    exact_scan_windows: int,
) -> None:
    library = Library(shelf, e5, segmenter, extractor="offline", exact_scan_windows=exact_scan_windows).at(filled)
    evidence = await ask(library, "Who sold the red boat, planted tomatoes, 主持读书会?", filters=filters)
    assert set(names(evidence)) == expected
    assert evidence.nothing_relevant == (not expected)


async def test_card_ids_filter(notes: Library) -> None:
    (card_id,) = (hit.card.id for hit in (await ask(notes, "tomato seedlings", limit=1)).hits)
    assert names(await ask(notes, "red sailing boat", filters=Filters(card_ids=[card_id]))) == ["garden"]


async def test_known_by_then(notes: Library) -> None:
    assert "sale" not in names(await ask(notes, "Who has the red boat?", as_of=day(8, 1)))


@pytest.mark.parametrize("preset", ["chain", "published"])
async def test_both_presets_answer(notes: Library, preset: Preset) -> None:
    evidence = await ask(notes, "Who planted tomato seedlings?", preset=preset, explain=True)
    assert names(evidence)[0] == "garden"
    assert len(evidence.hits[0].paths[0]["steps"]) == 4


async def test_the_same_question_has_the_same_answer(notes: Library) -> None:
    first, second = [(await ask(notes, "Who wants to sail to Denmark?")).hits for _ in range(2)]
    assert [(hit.card.id, hit.score, hit.paths) for hit in first] == [
        (hit.card.id, hit.score, hit.paths) for hit in second
    ]


async def test_limit_counts_cards(notes: Library) -> None:
    assert len((await ask(notes, "What did Anna do?", limit=2)).hits) == 2


async def test_words_alone_find_when_the_embedder_is_down(
    shelf: Database, e5: E5Embedder, segmenter: Segmenter, filled: uuid.UUID
) -> None:
    library = Library(shelf, Broken(e5), segmenter, extractor="offline").at(filled)
    evidence = await ask(library, "tomato seedlings behind the shed")
    assert (names(evidence)[0], evidence.degraded) == ("garden", ["embedder_unavailable"])


@pytest.mark.parametrize("query", ["?!", "the of and", "\"'; -- :* & | !", "的", "x" * 5000, "wann? " * 500])
async def test_any_question_is_answered(notes: Library, query: str) -> None:
    assert (await ask(notes, query)).level is Level.context


async def test_without_a_cone_level_search_answers(plain: Library) -> None:
    await plain.add("Note", "The gate is painted green.")
    await plain.learn()
    evidence = await ask(plain, "green gate")
    assert (evidence.level, list(evidence.route.gates)) == (Level.search, ["no_cone"])
    assert [hit.card.title for hit in evidence.hits] == ["Note"]


async def test_a_question_about_nothing_here_is_told_so(notes: Library) -> None:
    own = await ask(notes, "Who bought the red sailing boat from Anna?")
    other = await ask(notes, "Which enzyme unwinds DNA before bacterial replication?")
    assert (own.nothing_relevant, other.nothing_relevant) == (False, True)


async def test_an_empty_workspace_is_no_error(plain: Library) -> None:
    evidence = await ask(plain, "anything?")
    assert (evidence.hits, evidence.nothing_relevant) == ([], True)


async def test_what_is_in_the_trash_is_never_found(database: Database, e5: E5Embedder, segmenter: Segmenter) -> None:
    library = await Library(database, e5, segmenter, extractor="offline").open()
    gone = await library.add("Boat", "Anna repaired the red sailing boat in Hamburg.")
    await library.add("Garden", "Clara planted tomato seedlings behind the shed.")
    await library.learn()
    assert (await ask(library, "red sailing boat")).hits[0].card.title == "Boat"
    async with database.unit() as session:
        await library.intake.trash_card(session, library.id, gone)
    assert [hit.card.title for hit in (await ask(library, "red sailing boat")).hits] == ["Garden"]


async def test_a_workspace_sees_its_own_notes_only(
    shelf: Database, e5: E5Embedder, segmenter: Segmenter, filled: uuid.UUID
) -> None:
    other = await Library(shelf, e5, segmenter, slug=uuid.uuid4().hex, extractor="offline").open()
    await other.add("Elsewhere", "Anna repaired the red sailing boat in Hamburg.")
    await other.learn()
    assert [hit.card.title for hit in (await ask(other, "red sailing boat")).hits] == ["Elsewhere"]
    assert "Elsewhere" not in [hit.card.title for hit in (await ask(other.at(filled), "red sailing boat")).hits]
