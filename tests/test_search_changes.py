"""Level search while things change or fail: cards edited, trashed, removed; an embedder down; postings lost."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sqlalchemy.exc import DBAPIError

from app.cards.drafts import NewCard
from app.db.session import Database
from app.providers.ports import Embeddings, ProviderDown
from app.retrieval.types import Filters, Fusion
from app.text.segment import Segmenter
from tests.search_library import Library, Scattered

pytest_plugins = ("tests.search_library",)

FUSIONS: Sequence[Fusion] = ("absolute", "rrf", "bm25", "dense")


class Silent(Scattered):
    """Knows how to embed passages, and no question."""

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        raise ProviderDown("The embedder is down.")


async def test_a_trashed_card_is_gone_at_once_and_comes_back(plain: Library) -> None:
    kept = await plain.add("Kept", "The kettle boils.")
    gone = await plain.add("Gone", "The kettle whistles.")
    await plain.learn()
    await plain.fold()
    async with plain.database.unit() as session:
        await plain.intake.trash_card(session, plain.id, gone)
    for fusion in FUSIONS:
        assert [hit.card.id for hit in (await plain.search("kettle whistles", fusion=fusion)).hits] == [kept]
    async with plain.database.unit() as session:
        await plain.intake.undelete_card(session, plain.id, gone)
    assert (await plain.search("kettle whistles")).index["stale_cards"] == 1
    await plain.learn()
    for fusion in FUSIONS:
        assert len((await plain.search("kettle whistles", fusion=fusion)).hits) == 2


async def test_a_removed_card_leaves_nothing(plain: Library) -> None:
    """D10: gone from the answers, and from every table."""
    card = await plain.add("Note", "One sentence here.\n\nAnother sentence there.")
    await plain.learn()
    await plain.fold()
    async with plain.database.unit() as session:
        await plain.intake.remove_card(session, plain.id, card)
    for fusion in FUSIONS:
        assert (await plain.search("sentence", fusion=fusion)).hits == []
    await plain.fold()
    for table in ("cards", "chunks", "windows", "staged_vectors", "lex_recent", "lex_block", "lex_tombstone"):
        assert await plain.count(table) == 0, table


async def test_a_card_whose_vectors_cannot_go_stays_whole(plain: Library) -> None:
    """D11: rows and vectors go together or not at all."""
    card = await plain.add("Note", "One sentence here.")
    await plain.learn()
    await plain.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the disk is broken'; END $$"
    )
    await plain.execute("CREATE TRIGGER refuse BEFORE DELETE ON windows FOR EACH ROW EXECUTE FUNCTION refuse()")
    for remove in (plain.intake.trash_card, plain.intake.remove_card):
        with pytest.raises(DBAPIError):
            async with plain.database.unit() as session:
                await remove(session, plain.id, card)
        assert [hit.card.id for hit in (await plain.search("sentence")).hits] == [card]
    await plain.execute("DROP TRIGGER refuse ON windows")
    async with plain.database.unit() as session:
        await plain.intake.remove_card(session, plain.id, card)
    assert await plain.count("windows") == await plain.count("cards") == 0
    await plain.execute("DROP FUNCTION refuse()")


@pytest.mark.parametrize("folded", [False, True])
async def test_an_edited_card_is_found_by_its_new_words_only(library: Library, folded: bool) -> None:
    card = await library.add("Recipe", "Take three onions and some thyme.")
    other = await library.add("Other", "Nothing to see.")
    await library.learn()
    if folded:
        await library.fold()
    await library.change(card, content="取两个番茄，加一点罗勒。")
    # Until it is learned again the old text is what can be searched, and the answer says so.
    before = await library.search("onions")
    assert before.index["stale_cards"] == 1
    await library.learn()
    assert await library.by_words("onions thyme") == set()
    assert await library.by_words("番茄") == {"Recipe"}
    hit = (await library.search("罗勒")).hits[0]
    assert (hit.card.id, hit.evidence[0].text) == (card, "取两个番茄，加一点罗勒。")
    assert (await library.search("番茄")).index["stale_cards"] == 0
    assert await library.rows("SELECT count(*) FROM chunks WHERE workspace_id = :w") == [(2,)]
    assert other in {hit.card.id for hit in (await library.search("nothing")).hits}


async def test_a_new_title_is_found(plain: Library) -> None:
    card = await plain.add("Kettle", "It boils.")
    await plain.learn()
    await plain.change(card, title="Samovar")
    await plain.learn()
    assert await plain.by_words("samovar") == {"Samovar"}
    assert await plain.by_words("kettle") == set()


@pytest.mark.parametrize("fusion", ["absolute", "rrf", "dense"])
async def test_without_the_embedder_the_words_answer(database: Database, segmenter: Segmenter, fusion: Fusion) -> None:
    """An empty leg and a word about it, never an error."""
    library = await Library(database, Silent(), segmenter).open()
    await library.add_many(
        [NewCard("Kettle", "The kettle boils."), NewCard("Bread", "Bread rises."), NewCard("茶", "水壶")]
    )
    await library.learn()
    evidence = await library.search("boiling kettle", fusion=fusion)
    assert [hit.card.title for hit in evidence.hits] == ["Kettle"]
    assert evidence.degraded == ["embedder_unavailable"]
    assert evidence.hits[0].ranks == {"dense": None, "lexical": 1, "sparse": None}
    assert evidence.hits[0].score == pytest.approx(1 / 61, abs=1e-6)
    assert evidence.hits[0].snippet == "The kettle boils."
    nothing = await library.search("unknown words", fusion=fusion)
    assert (nothing.hits, nothing.nothing_relevant, nothing.degraded) == ([], True, ["embedder_unavailable"])


async def test_a_search_by_words_alone_does_not_ask_the_embedder(database: Database, segmenter: Segmenter) -> None:
    library = await Library(database, Silent(), segmenter).open()
    await library.add("Kettle", "The kettle boils.")
    await library.learn()
    evidence = await library.search("kettle", fusion="bm25")
    assert ([hit.card.title for hit in evidence.hits], evidence.degraded) == (["Kettle"], [])


async def test_lost_postings_are_replaced_by_the_full_text_of_record(library: Library) -> None:
    await library.add("Kettle", "The kettle boils on the stove.", tags=["kitchen"])
    await library.add("地图", "墙上挂着一张中国地图。")
    await library.add("Garden", "The stove in the garden.", tags=["garden"])
    await library.learn()
    await library.fold()
    for table in ("lex_recent", "lex_block", "lex_segment", "lex_tombstone"):
        await library.execute(f"DELETE FROM {table} WHERE workspace_id = :w")
    evidence = await library.search("kettle stove")
    assert evidence.hits[0].card.title == "Kettle"
    assert evidence.hits[0].ranks == {"dense": 1, "lexical": 1, "sparse": None}
    assert evidence.degraded == ["lexical_index_rebuilding"]
    assert await library.by_words("kettle stove") == {"Kettle", "Garden"}
    assert await library.by_words("地图") == {"地图"}
    assert await library.by_words("stove", filters=Filters(tags=["garden"])) == {"Garden"}
    assert await library.by_words("a & b | !c <-> d:* 'stove'") == {"Kettle", "Garden"}
    # Words that nothing holds say nothing about the postings.
    assert (await library.search("unheard")).degraded == []


async def test_cards_in_the_queue_are_counted_not_found(plain: Library) -> None:
    await plain.add("Kettle", "The kettle boils.")
    evidence = await plain.search("kettle")
    assert (evidence.hits, evidence.index["stale_cards"]) == ([], 1)
    await plain.learn()
    evidence = await plain.search("kettle")
    assert (len(evidence.hits), evidence.index["stale_cards"]) == (1, 0)
