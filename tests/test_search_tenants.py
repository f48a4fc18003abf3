"""A small tenant in a large database, and a narrow filter in a large workspace, get as many cards as they ask for."""

from __future__ import annotations

import uuid

import pytest

from app.cards.drafts import NewCard
from app.db.session import Database
from app.index import vector_index
from app.retrieval.types import Filters, Fusion
from app.text.segment import Segmenter
from tests.search_library import Library, Scattered, fill

pytest_plugins = ("tests.search_library",)

MANY = 1500


@pytest.fixture(scope="module")
def crowd(shelf_dsn: str, segmenter: Segmenter) -> tuple[uuid.UUID, uuid.UUID]:
    """A large workspace, in which 1 % of the cards are tagged `rare`, and one with 1 % as many cards."""
    large = [
        NewCard(
            f"Note {n}",
            f"Entry {n} says word{n % 7}.",
            tags=["rare"] if n % 100 == 7 else ["common"],
            metadata={"even": n % 2 == 0},
        )
        for n in range(MANY)
    ]
    small = [NewCard(f"Small {n}", f"Entry {n} says word{n % 7}.") for n in range(MANY // 100)]
    return fill(shelf_dsn, Scattered(), segmenter, large), fill(shelf_dsn, Scattered(), segmenter, small)


# Below the number of windows a workspace is scanned; a sixth of it is the number of cards that a filter may pass to
# be narrow. 0: always through the vector index.
SCANS = {"exact": 30_000, "filter asked of candidates": 6 * 1000, "approximate": 0}


@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize("fusion", ["absolute", "rrf", "dense"])
async def test_one_percent_gets_as_many_cards_as_it_asks_for(
    shelf: Database, segmenter: Segmenter, crowd: tuple[uuid.UUID, uuid.UUID], scan: str, fusion: Fusion
) -> None:
    """I5: as a filter and as a tenant, without and with the vector index."""
    scattered = Scattered()
    knobs = {"exact_scan_windows": SCANS[scan], "hnsw_ef_search": 100}
    large, small = (Library(shelf, scattered, segmenter, **knobs).at(workspace_id) for workspace_id in crowd)
    if scan == "approximate":
        await vector_index.build_if_needed(shelf, scattered.space, 0)
    for query in ("word3", "Entry 77 says word0.", "nothing of this kind"):
        rare = await large.search(query, filters=Filters(tags=["rare"]), fusion=fusion)
        assert len(rare.hits) == 10
        assert all(hit.card.tags == ["rare"] for hit in rare.hits)
        assert len((await large.search(query, filters=Filters(tags=["common"]), fusion=fusion, limit=100)).hits) == 100
        everything = await small.search(query, fusion=fusion, limit=100)
        assert {hit.card.title for hit in everything.hits} == {f"Small {n}" for n in range(MANY // 100)}
        assert [hit.ranks["dense"] is not None for hit in everything.hits] == [True] * (MANY // 100)


async def test_narrow_and_wide_filters_find_the_same_nearest_cards(
    shelf: Database, segmenter: Segmenter, crowd: tuple[uuid.UUID, uuid.UUID]
) -> None:
    """However a filter is carried out, what passes it is the same; and so is what is nearest of that."""
    narrow, wide = (
        Library(shelf, Scattered(), segmenter, exact_scan_windows=SCANS[scan]).at(crowd[0])
        for scan in ("exact", "filter asked of candidates")
    )
    for filters in (Filters(tags=["common"]), Filters(tags=["common"], metadata={"even": True})):
        for query in ("word3", "Entry 77 says word0."):
            one = await narrow.search(query, filters=filters, fusion="dense", limit=50)
            other = await wide.search(query, filters=filters, fusion="dense", limit=50)
            assert [hit.card.id for hit in one.hits] == [hit.card.id for hit in other.hits]
            assert len(one.hits) == 50
