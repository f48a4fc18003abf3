"""Older cards hold a name that a title brings later: they are linked to it as if it had been there first."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from app.db.session import Database
from app.index.spaces import Spaces
from app.ingestion.extract.offline import OfflineExtractor
from app.ingestion.extract.types import Extraction, Source
from app.ingestion.link.revise import EntityPatch
from app.ingestion.link.revise import patch as revise_patch
from app.ingestion.relink import places
from app.ingestion.relink.places import chunks_with, docs_by_term, sought
from app.ingestion.relink.queries import get_postings
from app.ingestion.relink.relinking import RELINK, Relinking
from app.text.segment import Segmenter
from tests.provenance_desk import examined
from tests.search_library import Library, Scattered

pytest_plugins = ("tests.search_library",)

GRAPH = {
    "entities": "SELECT e.name, e.type, e.description, r.name FROM entities e LEFT JOIN entities r "
    "ON r.workspace_id = e.workspace_id AND r.id = e.merged_into WHERE e.workspace_id = :w",
    "names": "SELECT e.name, n.key, n.name FROM entity_names n JOIN entities e "
    "ON e.workspace_id = n.workspace_id AND e.id = n.entity_id WHERE n.workspace_id = :w",
    "mentions": "SELECT c.title, e.name, m.start, m.end, m.in_title, m.name, m.ordinal FROM mentions m "
    "JOIN entities e ON e.workspace_id = m.workspace_id AND e.id = m.entity_id "
    "JOIN cards c ON c.workspace_id = m.workspace_id AND c.id = m.card_id WHERE m.workspace_id = :w",
    "relations": "SELECT c.title, s.name, t.name, r.predicate, r.text, r.confidence FROM relations r "
    "JOIN entities s ON s.workspace_id = r.workspace_id AND s.id = r.source_id "
    "JOIN entities t ON t.workspace_id = r.workspace_id AND t.id = r.target_id "
    "JOIN cards c ON c.workspace_id = r.workspace_id AND c.id = r.card_id WHERE r.workspace_id = :w",
    "roles": "SELECT c.title, e.name, ep.title, f.title, r.text FROM roles r "
    "JOIN entities e ON e.workspace_id = r.workspace_id AND e.id = r.entity_id "
    "JOIN episodes ep ON ep.workspace_id = r.workspace_id AND ep.id = r.episode_id "
    "LEFT JOIN facets f ON f.workspace_id = r.workspace_id AND f.id = r.facet_id "
    "JOIN cards c ON c.workspace_id = r.workspace_id AND c.id = r.card_id WHERE r.workspace_id = :w",
    "points": "SELECT c.title, f.title, p.ordinal, p.text, e.name FROM points p "
    "JOIN facets f ON f.workspace_id = p.workspace_id AND f.id = p.facet_id "
    "JOIN cards c ON c.workspace_id = p.workspace_id AND c.id = p.card_id "
    "LEFT JOIN point_entities pe ON pe.workspace_id = p.workspace_id AND pe.point_id = p.id "
    "LEFT JOIN entities e ON e.workspace_id = p.workspace_id AND e.id = pe.entity_id WHERE p.workspace_id = :w",
    "episodes": "SELECT title, summary FROM episodes WHERE workspace_id = :w",
    "cards": "SELECT title, state, extraction->>'entities', extraction->>'relations', extraction->>'points' "
    "FROM cards WHERE workspace_id = :w",
    "vectors": "SELECT 'relation', text_hash FROM relation_vectors WHERE workspace_id = :w "
    "UNION ALL SELECT 'role', text_hash FROM role_vectors WHERE workspace_id = :w "
    "UNION ALL SELECT 'point', text_hash FROM point_vectors WHERE workspace_id = :w "
    "UNION ALL SELECT 'entity', text_hash FROM entity_vectors WHERE workspace_id = :w",
}

OLD = (
    "Reading week",
    "Maria Lopez explained in Lisbon how she uses flashcards for exams. It takes 20 minutes a day.\n\n"
    "I tried the leitner box as well, and Maria Lopez told me that Sebastian Leitner built it in 1972.",
)
NEW = ("Leitner Box", "A Leitner box is a simple method of using flashcards, proposed by Sebastian Leitner.")
OLD_ZH = ("周记", "今天王小明向我推荐了间隔重复学习法，他说2019年在北京大学用过。这个方法每天只要20分钟。")
NEW_ZH = ("间隔重复学习法", "间隔重复学习法是一种按递增的间隔复习的学习方法。")


@pytest.fixture
async def written(database: Database, scattered: Scattered, segmenter: Segmenter) -> Library:
    return await Library(database, scattered, segmenter, extractor="offline").open()


async def other(library: Library, slug: str = "other") -> Library:
    return await Library(library.database, Scattered(), library.segmenter, slug=slug, extractor="offline").open()


def relinking(library: Library) -> Relinking:
    return Relinking(library.database, Spaces(library.embedder), library.segmenter, library.pipeline.linker)


async def told(library: Library, *cards: tuple[str, str]) -> None:
    """One after the other, each learned before the next one comes, and what is due done."""
    for title, content in cards:
        await library.add(title, content)
        assert (await library.learn()).failed == {}
        await relinking(library).run(library.id)


async def graph(library: Library) -> dict[str, list[Any]]:
    return {kind: sorted(await library.rows(statement), key=repr) for kind, statement in GRAPH.items()}


async def mentioned(library: Library, title: str) -> set[str]:
    """What the text of a card names."""
    rows = await library.rows(
        "SELECT e.key FROM mentions m JOIN entities e ON e.workspace_id = m.workspace_id AND e.id = m.entity_id "
        "JOIN cards c ON c.workspace_id = m.workspace_id AND c.id = m.card_id "
        "WHERE m.workspace_id = :w AND c.title = :title AND m.start IS NOT NULL",
        title=title,
    )
    return {row[0] for row in rows}


@pytest.mark.parametrize(("old", "new", "key"), [(OLD, NEW, "leitnerbox"), (OLD_ZH, NEW_ZH, "间隔重复学习法")])
async def test_both_orders_give_the_same_graph(
    written: Library, old: tuple[str, str], new: tuple[str, str], key: str
) -> None:
    await told(written, old)
    assert key not in await mentioned(written, old[0])
    chunks = await written.rows("SELECT id FROM chunks WHERE workspace_id = :w")
    points = await written.rows("SELECT id FROM points WHERE workspace_id = :w")
    await told(written, new)
    assert key in await mentioned(written, old[0])
    forward = await other(written)
    await told(forward, new, old)
    assert await graph(written) == await graph(forward)
    assert await examined(written) == {}
    # What the card says is where it was: citations of it go on to hold.
    assert set(chunks) < set(await written.rows("SELECT id FROM chunks WHERE workspace_id = :w"))
    assert set(points) < set(await written.rows("SELECT id FROM points WHERE workspace_id = :w"))


async def test_what_else_a_known_name_changes_is_told_anew(written: Library) -> None:
    """A pronoun has something to stand for now: claims read otherwise."""
    old = ("Notes", "I read bell hooks in Oslo. She moved to Stanford in 1973 and wrote 30 books there.")
    new = ("bell hooks", "bell hooks was an American author and professor.")
    await told(written, old)
    before = await graph(written)
    await told(written, new)
    after = await graph(written)
    assert not {row[3] for row in before["points"]} <= {row[3] for row in after["points"]}
    forward = await other(written)
    await told(forward, new, old)
    assert await graph(written) == await graph(forward)
    assert await examined(written) == {}


async def test_a_renamed_card_is_found_in_older_ones(written: Library) -> None:
    await told(written, OLD, ("Flash cards", NEW[1]))
    assert "leitnerbox" not in await mentioned(written, OLD[0])
    (row,) = await written.rows("SELECT id FROM cards WHERE workspace_id = :w AND title = 'Flash cards'")
    await written.change(row[0], title=NEW[0])
    await written.learn()
    await relinking(written).run(written.id)
    assert "leitnerbox" in await mentioned(written, OLD[0])
    assert await examined(written) == {}


async def test_a_name_that_a_person_gives_is_found_in_older_cards(written: Library) -> None:
    await told(written, OLD, ("Flash cards", NEW[1]))
    (row,) = await written.rows("SELECT id FROM entities WHERE workspace_id = :w AND key = 'flashcards'")
    async with written.database.unit() as session:
        patch = EntityPatch(aliases=["Leitner Box"])
        await revise_patch(session, written.id, written.pipeline.linker, row[0], patch)
    assert await relinking(written).run(written.id) == 1
    found = await written.rows(
        "SELECT m.name FROM mentions m JOIN cards c ON c.workspace_id = m.workspace_id AND c.id = m.card_id "
        "WHERE m.workspace_id = :w AND m.entity_id = :id AND c.title = :t",
        id=row[0],
        t=OLD[0],
    )
    assert ("leitner box",) in found


async def test_a_name_is_looked_for_once_and_only_what_is_new_is_embedded(written: Library) -> None:
    assert isinstance(written.embedder, Scattered)
    for card in (OLD, NEW):
        await written.add(*card)
        await written.learn()
    before = set(written.embedder.embedded)
    assert await relinking(written).run(written.id) == 1
    new = [said for said in written.embedder.embedded if said not in before]
    assert len(new) == len(written.embedder.embedded) - len(before)
    assert all("eitner" in said for said in new)
    assert len(new) <= 4
    rows = await graph(written)
    # Asked for again, as by a job that was killed after it had written: nothing is read, embedded or written twice.
    await written.execute("UPDATE names_to_find SET due_at = now() WHERE workspace_id = :w")
    calls, stamps = len(written.embedder.calls), await written.rows("SELECT xmin FROM mentions WHERE workspace_id = :w")
    assert await relinking(written).run(written.id) == 0
    assert (len(written.embedder.calls), await written.rows("SELECT xmin FROM mentions WHERE workspace_id = :w")) == (
        calls,
        stamps,
    )
    assert await graph(written) == rows


async def test_a_job_that_dies_is_done_by_the_next(written: Library) -> None:
    await told(written, OLD)
    await written.add(*NEW)
    await written.learn()

    class Dies(Scattered):
        async def passages(self, texts: Any) -> Any:
            raise KeyboardInterrupt

    dying = Relinking(written.database, Spaces(Dies()), written.segmenter, written.pipeline.linker)
    with pytest.raises(KeyboardInterrupt):
        await dying.run(written.id)
    assert "leitnerbox" not in await mentioned(written, OLD[0])
    assert await relinking(written).run(written.id) == 1
    forward = await other(written)
    await told(forward, NEW, OLD)
    assert await graph(written) == await graph(forward)


async def test_a_card_that_has_changed_meanwhile_is_left_to_who_learns_it(written: Library) -> None:
    await told(written, OLD)
    await written.add(*NEW)
    await written.learn()
    (card,) = await written.rows("SELECT id FROM cards WHERE workspace_id = :w AND title = :t", t=OLD[0])

    class Slow(Scattered):
        async def passages(self, texts: Any) -> Any:
            await written.change(card[0], content="Nothing of that.")
            return await super().passages(texts)

    await Relinking(written.database, Spaces(Slow()), written.segmenter, written.pipeline.linker).run(written.id)
    await written.learn()
    assert await mentioned(written, OLD[0]) == set()
    assert await examined(written) == {}


async def test_workspaces_are_due_when_they_have_come_to_rest(written: Library) -> None:
    async def due(seconds: float = 600.0) -> int:
        """How many jobs wait after asking for those that are due."""
        await relinking(written).enqueue_due(seconds)
        ((count,),) = await written.rows("SELECT count(*) FROM jobs WHERE workspace_id = :w AND kind = :k", k=RELINK)
        return int(count)

    assert await due() == 0
    await written.add(*NEW)
    await written.learn()
    waiting = await written.add(*OLD)
    assert await due() == 0
    # At work, with the names of before: what it holds is looked for once more when it is done.
    await written.execute("UPDATE cards SET state = 'working' WHERE id = :id", id=waiting)
    assert await due(0.0) == 1
    await relinking(written).run(written.id)
    ((open_,),) = await written.rows("SELECT count(*) FROM names_to_find WHERE workspace_id = :w AND due_at > now()")
    assert open_ == await written.count("names_to_find") > 0
    await written.execute("UPDATE cards SET state = 'ready' WHERE id = :id", id=waiting)
    await written.execute("UPDATE names_to_find SET due_at = now() WHERE workspace_id = :w")
    await relinking(written).run(written.id)
    assert await written.rows("SELECT 1 FROM names_to_find WHERE workspace_id = :w AND due_at IS NOT NULL") == []


async def test_cards_that_a_model_has_read_are_left_alone(written: Library) -> None:
    await told(written, OLD)
    await written.execute('UPDATE cards SET extraction = extraction || \'{"by": "llm/x"}\' WHERE workspace_id = :w')
    await written.add(*NEW)
    await written.learn()
    assert await relinking(written).run(written.id) == 0
    assert "leitnerbox" not in await mentioned(written, OLD[0])


async def test_a_card_that_cannot_be_read_keeps_no_other_from_it(
    written: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    await told(written, OLD, ("Reading again", OLD[1]))
    await written.add(*NEW)
    await written.learn()
    read = OfflineExtractor.read

    def broken(self: OfflineExtractor, source: Source) -> Extraction:
        if source.title == OLD[0]:
            raise ZeroDivisionError
        return read(self, source)

    monkeypatch.setattr(OfflineExtractor, "read", broken)
    assert await relinking(written).run(written.id) == 1
    assert "leitnerbox" in await mentioned(written, "Reading again")
    assert await written.rows("SELECT 1 FROM names_to_find WHERE workspace_id = :w AND due_at IS NOT NULL") == []


async def test_what_has_failed_is_not_asked_for_again_at_once(written: Library) -> None:
    async def due() -> int:
        async with written.database.unit() as session:
            await session.execute(text("UPDATE jobs SET state = 'failed', finished_at = now() WHERE kind = 'relink'"))
        return await relinking(written).enqueue_due()

    await told(written, OLD)
    await written.add(*NEW)
    await written.learn()
    assert [await due(), await due()] == [1, 0]
    await written.execute("UPDATE jobs SET finished_at = now() - interval '11 minutes' WHERE workspace_id = :w")
    assert await relinking(written).enqueue_due() == 1


async def test_common_words_cost_no_more_than_the_bound(written: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MOST_CHUNKS", 3)  # of which one is the new card's own
    await told(
        written, *((f"Day {n}", f"On day {n} of May I used the leitner box for {n} minutes.") for n in range(3, 8))
    )
    await told(written, NEW)
    holding = [n for n in range(3, 8) if "leitnerbox" in await mentioned(written, f"Day {n}")]
    assert holding == [6, 7]


@pytest.mark.parametrize(
    ("name", "holds", "lacks"),
    [
        ("spaced repetition", "Spaced-repetition works.", "Repetition works."),
        ("spaced-repetition", "I like spaced repetition.", "I like space."),
        ("SystemAdmin", "the system admin left", "the admin left"),
        ("system admin", "SystemAdmin left", "the system left"),
        ("The Lord of the Rings", "a lord of the rings", "a lord of the manor"),
        ("间隔重复", "他用间隔重复学习", "他间隔一天重复"),
        ("GTD工作法", "我的GTD工作法很好", "我的工作法很好"),
        ("C++", "in C++ and Rust", "in C and Rust"),
        ("M. Ward", "by M. Ward, a singer", "by Ward, a singer"),
    ],
)
async def test_which_chunks_may_hold_a_name(
    database: Database, scattered: Scattered, segmenter: Segmenter, name: str, holds: str, lacks: str
) -> None:
    library = await Library(database, scattered, segmenter).open()
    for content in (holds, lacks, "Something else."):
        await library.add(f"Card {len(content)}", content)
    await library.learn()
    one = sought(name, segmenter)
    ((doc,),) = await library.rows("SELECT doc FROM chunks WHERE workspace_id = :w AND text = :t", t=holds)
    for _ in range(2):
        async with library.database.read() as session:
            found = await get_postings(session, library.id, sorted(one.words), sorted(one.grams))
        assert chunks_with(one, docs_by_term(found)) == [doc]
        await library.fold()
