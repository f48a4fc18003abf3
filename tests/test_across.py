"""Passages in another script than the question's: what they are scored by, and that levels search and explore reach
them.
"""

from __future__ import annotations

import uuid

import pytest

from app.cards.drafts import NewCard
from app.db.session import Database
from app.index.collections import TextKind
from app.index.spaces import Spaces
from app.providers.embedding.e5 import E5Embedder
from app.retrieval.across import Across, across
from app.retrieval.bundle_scripts import Line
from app.retrieval.calibration import Background, Calibration, Reading
from app.retrieval.retrieve import Retriever
from app.retrieval.types import Filters, Level, Question
from app.text.segment import Segmenter
from tests.search_library import Library, fill

pytest_plugins = ("tests.search_library",)

BESIDE = Across(True, Background(0.20, 0.02), Background(0.26, 0.01), Line(-0.1, 0.1), 1.5)


def test_a_passage_in_the_other_script_is_as_far_as_its_z_says() -> None:
    """z = (.23 − .26) / .01 = −3, so .20 − 3 · .02; words 1.5 · (.1 · 3 − .1)."""
    distances, shares = BESIDE.scores([0.23, 0.23], [0.0, 0.05], [True, False])
    assert distances == pytest.approx([0.14, 0.23])
    assert shares == pytest.approx([0.3, 0.05])


def test_words_that_it_does_have_count_where_they_say_more() -> None:
    distances, shares = BESIDE.scores([0.23, 0.30], [0.4, 0.02], [True, True])
    assert distances == pytest.approx([0.14, 0.28])
    assert shares == pytest.approx([0.4, 0.02])


def test_without_a_distance_nothing_is_said() -> None:
    assert BESIDE.scores([None, 0.2], [0.1, 0.0], [True, False]) == ([None, 0.2], [0.1, 0.0])


@pytest.mark.parametrize(
    ("han", "latin", "holds"), [(100, 100, True), (100, 200, True), (100, 49, False), (None, 100, False)]
)
def test_only_a_workspace_that_holds_both_scripts_is_read_so(han: int | None, latin: int, holds: bool) -> None:
    """Where nothing is in the question's own script, everything is compared with everything as it is."""
    told = {
        (TextKind.chunk.name, ("han", script)): Reading(Background(0.2, 0.02, 1000, texts))
        for script, texts in (("han", han), ("latin", latin))
        if texts is not None
    }
    found = across(Calibration({}, told), True, 1.0)  # type: ignore[arg-type]
    assert (found is not None) == holds
    assert found is None or not found.other_han


CARDS = [
    NewCard("读书会", "小林在读书会上介绍了量子计算机的历史，大家讨论了两个小时。", external_id="books"),
    NewCard("卖车", "小王把旧自行车卖给了邻居，价钱是三百块。", external_id="bicycle", tags=["sold"]),
    NewCard("帆船比赛", "周末有一场帆船比赛，红队得了第二名。", external_id="race"),
    NewCard("Boat sale", "Anna sold the red sailing boat to Dario for 9000 euros.", external_id="sale", tags=["sold"]),
    NewCard("Garden log", "Clara planted 30 tomato seedlings behind the shed.", external_id="garden"),
    NewCard("Soup", "Bruno cooked fish soup for the whole crew.", external_id="soup"),
]


@pytest.fixture(scope="module")
def filled(shelf_dsn: str, e5: E5Embedder, segmenter: Segmenter) -> uuid.UUID:
    return fill(shelf_dsn, e5, segmenter, CARDS)


@pytest.fixture
def notes(shelf: Database, e5: E5Embedder, segmenter: Segmenter, filled: uuid.UUID) -> Library:
    return Library(shelf, e5, segmenter).at(filled)


@pytest.mark.parametrize("filters", [Filters(), Filters(tags=["sold"])], ids=["all", "few pass"])
async def test_notes_in_another_language_are_found_among_those_in_the_question_s_own(
    notes: Library, monkeypatch: pytest.MonkeyPatch, filters: Filters
) -> None:
    """All passages in the question's script are nearer than the one that answers it."""
    narrow = notes.settings.model_copy(update={"search_each": 1})
    retriever = Retriever(notes.retriever._database, Spaces(notes.embedder), Segmenter(), narrow)
    question = Question("那艘红色的帆船卖了多少欧元？", Level.search, filters=filters)
    found = {}
    for both in (False, True):
        monkeypatch.setattr(Calibration, "holds_both", lambda self, kind, asked, both=both: both)
        hits = (await retriever.retrieve(notes.id, question)).hits
        found[both] = [hit.card.external_id for hit in hits]
    assert "sale" not in found[False]
    assert "sale" in found[True]
