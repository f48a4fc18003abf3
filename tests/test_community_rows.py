"""What the database itself keeps true of communities, whoever changes what they are made of."""

from __future__ import annotations

import uuid

import pytest

from app.core.ids import new_id
from app.db.session import Database
from app.doctor.examine import Doctor
from app.index import queries as index
from app.index import space_queries
from app.index.collections import Collection
from app.index.lexical import search_lexical
from app.index.spaces import Spaces
from app.index.terms import question_hashes
from app.ingestion.communities.rebuild import Communities
from app.ingestion.communities.report_offline import OfflineReports
from app.ingestion.link import revise
from app.ingestion.reembed import REEMBED
from app.ingestion.refill import Filling
from app.jobs.job import JobContext, NewJob
from app.jobs.queue import enqueue
from app.schema import index_names
from app.text.segment import Segmenter
from tests.search_library import Library, Scattered
from tests.test_communities import GROUPS, filled, healthy, note


@pytest.fixture(scope="module")
def segmenter() -> Segmenter:
    return Segmenter()


async def build(library: Library) -> None:
    following = Communities(
        library.database, Spaces(library.embedder), library.segmenter, OfflineReports(), library.settings
    )
    await following.rebuild(library.id)


async def marks(library: Library) -> set[str]:
    """Names of the entities that the next run looks at."""
    rows = await library.rows(
        "SELECT DISTINCT e.name FROM community_changes x JOIN entities e ON e.workspace_id = x.workspace_id "
        "AND e.id = x.entity_id WHERE x.workspace_id = :w"
    )
    return {name for (name,) in rows}


async def entity(library: Library, name: str) -> uuid.UUID:
    ((found,),) = await library.rows("SELECT id FROM entities WHERE workspace_id = :w AND name = :n", n=name)
    return uuid.UUID(str(found))


async def test_before_the_first_run_one_mark_is_enough(database: Database, segmenter: Segmenter) -> None:
    library, _ = await filled(database, segmenter)
    assert await library.count("community_changes") == 1


async def test_a_changed_card_marks_whom_it_joins(database: Database, segmenter: Segmenter) -> None:
    """O1"""
    library, cards = await filled(database, segmenter)
    await build(library)
    await library.change(cards[2], content=note(GROUPS[2], " It rained."))
    await library.learn()
    found = await marks(library)
    assert set(GROUPS[2]) <= found
    assert not found & {name for n, group in enumerate(GROUPS) if n != 2 for name in group}


async def test_merges_mark_both_and_are_followed(database: Database, segmenter: Segmenter) -> None:
    library, _ = await filled(database, segmenter)
    await build(library)
    source, into = await entity(library, "Luigi Menabrea"), await entity(library, "Mary Somerville")
    async with database.unit() as session:
        await revise.merge(session, library.id, source, into)
    assert {"Luigi Menabrea", "Mary Somerville"} <= await marks(library)
    await healthy(library)
    await build(library)
    members = "SELECT count(*) FROM community_members WHERE workspace_id = :w AND entity_id = :e"
    assert await library.rows(members, e=source) == [(0,)]
    await healthy(library)
    async with database.unit() as session:
        await revise.unmerge(session, library.id, source)
    await build(library)
    assert (await library.rows(members, e=source))[0][0] > 0
    await healthy(library)


async def test_what_nothing_mentions_takes_its_community_along(database: Database, segmenter: Segmenter) -> None:
    """At once, in the transaction that deletes: no report speaks of a note that is gone."""
    library, cards = await filled(database, segmenter)
    await build(library)
    ((ids,),) = await library.rows(
        "SELECT array_agg(DISTINCT m.community_id) FROM community_members m JOIN entities e "
        "ON e.workspace_id = m.workspace_id AND e.id = m.entity_id WHERE m.workspace_id = :w AND e.name = :n",
        n=GROUPS[0][0],
    )
    async with database.unit() as session:
        await library.intake.remove_card(session, library.id, cards[0])
    for table in ("communities", "reports"):
        assert await library.rows(f"SELECT id FROM {table} WHERE workspace_id = :w AND id = ANY(:i)", i=ids) == []
    assert (
        await library.rows("SELECT 1 FROM report_vectors WHERE workspace_id = :w AND owner_id = ANY(:i)", i=ids) == []
    )
    assert await library.count("reports") == await library.count("communities") > 0
    await healthy(library)


async def test_another_workspace_is_left_alone(database: Database, segmenter: Segmenter) -> None:
    """D8, D17"""
    library, _ = await filled(database, segmenter)
    await build(library)
    other = await Library(database, library.embedder, segmenter, "other", extractor="offline").open()
    await other.add("Letters", note(GROUPS[0]))
    await other.learn()
    await build(other)
    stood = "SELECT id, title, doc, created_at FROM reports WHERE workspace_id = :w ORDER BY id"
    before = await other.rows(stood)
    assert before
    await library.execute("DELETE FROM relations WHERE workspace_id = :w")
    await build(library)
    assert await library.count("communities") == 0
    assert await other.rows(stood) == before
    assert await other.count("community_changes") == 0


async def test_a_workspace_goes_with_all_of_it(database: Database, segmenter: Segmenter) -> None:
    library, _ = await filled(database, segmenter)
    await build(library)
    await library.execute("DELETE FROM workspaces WHERE id = :w")
    for table in (
        "communities", "community_members", "community_runs", "community_changes", "reports", "report_vectors",
        "report_drafts",
    ):  # fmt: skip
        assert await library.count(table) == 0, table


async def test_reports_are_found_by_words_after_a_rebuild(database: Database, segmenter: Segmenter) -> None:
    """O7"""
    library, cards = await filled(database, segmenter)

    async def found(question: str) -> set[int]:
        words, grams = question_hashes(segmenter.terms(question))
        async with database.read() as session:
            hits = await search_lexical(session, library.id, words, grams, collection=Collection.report)
        return set(hits.docs.tolist())

    await build(library)
    first = await found("Somerville")
    assert first
    await library.change(cards[0], content=note(GROUPS[0], " [[Mary Somerville]] met [[Ada Lovelace]] in Turin."))
    await library.learn()
    await build(library)
    again = await found("Somerville")
    docs = {row[0] for row in await library.rows("SELECT doc FROM reports WHERE workspace_id = :w")}
    assert again
    assert again <= docs
    assert not again & first
    await library.fold()
    assert await found("Somerville") == again


async def test_another_space_is_filled_with_reports_too(database: Database, segmenter: Segmenter) -> None:
    """H4"""
    library, _ = await filled(database, segmenter)
    await build(library)
    following = Scattered(24)
    async with database.unit() as session:
        space = await index.ensure_space(session, following.space)
        await space_queries.set_filling(session, space)
        job_id = await enqueue(session, NewJob(REEMBED, library.id, {"space": space}))
    await library.execute("UPDATE jobs SET state = 'working', turn = 1 WHERE workspace_id = :w AND id = :j", j=job_id)
    job = JobContext(library.id, job_id, REEMBED, {"space": space}, 1, 5, 1)
    await Filling(database, Spaces(library.embedder, following), library.settings).run(job)
    both = await library.rows(
        "SELECT owner_id, role, count(DISTINCT space_id), count(DISTINCT text_hash) FROM report_vectors "
        "WHERE workspace_id = :w GROUP BY owner_id, role"
    )
    assert both
    assert {(spaces, hashes) for _, _, spaces, hashes in both} == {(2, 1)}
    # What is written while it fills is written to both.
    await library.execute("UPDATE reports SET is_stale = true WHERE workspace_id = :w")
    spaces = Spaces(library.embedder, following)
    await Communities(database, spaces, segmenter, OfflineReports(), library.settings).rebuild(library.id)
    counts = await library.rows("SELECT space_id, count(*) FROM report_vectors WHERE workspace_id = :w GROUP BY 1")
    assert len(counts) == 2
    assert len({count for _, count in counts}) == 1
    assert (await Doctor(database, index_names).examine(True)).invariants["report_without_vector"] == 0


async def test_a_run_that_lost_its_job_writes_nothing(database: Database, segmenter: Segmenter) -> None:
    library, _ = await filled(database, segmenter)
    lost = JobContext(library.id, new_id(), "communities", {}, 1, 5, 1)
    following = Communities(database, Spaces(library.embedder), segmenter, OfflineReports(), library.settings)
    with pytest.raises(Exception, match="no longer yours"):
        await following.rebuild(library.id, job=lost)
    assert await library.count("communities") == 0
