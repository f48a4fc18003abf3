"""Filters of level search: they restrict all legs, exactly, however few cards they leave."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from app.cards.drafts import NewCard
from app.db.session import Database
from app.providers.embedding.e5 import E5Embedder
from app.retrieval.types import Filters, Fusion
from app.text.segment import Segmenter
from tests.search_library import Library, fill

pytest_plugins = ("tests.search_library",)

DAY = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def filled(shelf_dsn: str, e5: E5Embedder, segmenter: Segmenter) -> uuid.UUID:
    cards = [
        NewCard(
            "Oak", "The oak tree grows slowly.", tags=["tree", "wood"], created_at=DAY, metadata={"n": 1, "lang": "en"}
        ),
        NewCard(
            "Pine",
            "The pine tree keeps its needles.",
            tags=["tree"],
            created_at=DAY + timedelta(days=1),
            metadata={"n": 2, "lang": "en", "deep": {"a": [1, 2]}},
        ),
        NewCard(
            "松树",
            "松树 is the pine tree in Chinese.",
            tags=["tree", "中文"],
            created_at=DAY + timedelta(days=2),
            metadata={"n": 3, "lang": "zh"},
        ),
        NewCard("Stone", "A stone is no tree.", created_at=DAY + timedelta(days=3), metadata={"n": None}),
    ]
    return fill(shelf_dsn, e5, segmenter, cards)


@pytest.fixture
def notes(shelf: Database, e5: E5Embedder, segmenter: Segmenter, filled: uuid.UUID) -> Library:
    return Library(shelf, e5, segmenter).at(filled)


@pytest.mark.parametrize("fusion", ["absolute", "rrf", "bm25", "dense"])
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), {"Oak", "Pine", "松树", "Stone"}),
        (Filters(tags=["tree"]), {"Oak", "Pine", "松树"}),
        (Filters(tags=["tree", "wood"]), {"Oak"}),
        (Filters(tags=["中文"]), {"松树"}),
        (Filters(tags=["Tree"]), set()),
        (Filters(created_after=DAY + timedelta(days=1)), {"Pine", "松树", "Stone"}),
        (Filters(created_before=DAY + timedelta(days=1)), {"Oak"}),
        (Filters(created_after=DAY + timedelta(days=1), created_before=DAY + timedelta(days=3)), {"Pine", "松树"}),
        (Filters(metadata={"lang": "en"}), {"Oak", "Pine"}),
        (Filters(metadata={"lang": "en", "n": 2}), {"Pine"}),
        (Filters(metadata={"n": "2"}), set()),
        (Filters(metadata={"n": None}), {"Stone"}),
        (Filters(metadata={"deep": {"a": [2]}}), {"Pine"}),
        (Filters(tags=["tree"], metadata={"lang": "zh"}, created_after=DAY), {"松树"}),
        (Filters(tags=["wood"], metadata={"lang": "zh"}), set()),
        (Filters(card_ids=[uuid.uuid4()]), set()),
    ],
)
async def test_filters_hold_for_every_way_of_ranking(
    notes: Library, filters: Filters, expected: set[str], fusion: Fusion
) -> None:
    evidence = await notes.search("pine tree", filters=filters, fusion=fusion)
    assert {hit.card.title for hit in evidence.hits} == expected
    assert (evidence.nothing_relevant, evidence.degraded) == (not expected, [])


async def test_card_ids_are_alternatives(notes: Library) -> None:
    ids = {title: card_id for card_id, title in await notes.rows("SELECT id, title FROM cards WHERE workspace_id = :w")}
    filters = Filters(card_ids=[ids["Oak"], ids["松树"], uuid.uuid4()])
    assert set(await notes.titles("tree", filters=filters)) == {"Oak", "松树"}
    assert await notes.titles("tree", filters=Filters(card_ids=[ids["Oak"], ids["松树"]], tags=["wood"])) == ["Oak"]


async def test_ids_of_another_workspace_find_nothing(notes: Library, segmenter: Segmenter) -> None:
    """D7."""
    other = await Library(notes.database, notes.embedder, segmenter, slug=uuid.uuid4().hex).open()
    await other.add("Tree", "A tree of somebody else.", tags=["tree"])
    await other.learn()
    ids = [card_id for (card_id,) in await other.rows("SELECT id FROM cards WHERE workspace_id = :w")]
    assert await notes.titles("tree", filters=Filters(card_ids=ids)) == []
    assert set(await notes.titles("tree", filters=Filters(tags=["tree"]))) == {"Oak", "Pine", "松树"}
