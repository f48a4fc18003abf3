"""Communities of a real workspace: made after learning, only where something has changed, whatever dies on the way."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import multiprocessing
import signal
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.cards.drafts import NewCard
from app.db.session import Database
from app.doctor.examine import Doctor
from app.graph import entity_queries
from app.graph.leiden import graph_of
from app.index.spaces import Spaces
from app.ingestion.communities.clustering import ClusteringDied, clustered
from app.ingestion.communities.rebuild import Communities
from app.ingestion.communities.report import Report, ReportInput
from app.ingestion.communities.report_offline import OfflineReports, build_report
from app.ingestion.communities.settings import CommunitySettings
from app.jobs.job import JobContext
from app.schema import index_names
from app.text.segment import Segmenter
from tests.search_library import Library, Scattered


@pytest.fixture(scope="module")
def segmenter() -> Segmenter:
    return Segmenter()


GROUPS = (
    ("Ada Lovelace", "Charles Babbage", "Mary Somerville", "Luigi Menabrea"),
    ("Marie Curie", "Pierre Curie", "Paul Langevin", "Henri Becquerel"),
    ("Niels Bohr", "Werner Heisenberg", "Lise Meitner", "Max Born"),
    ("Emmy Noether", "David Hilbert", "Felix Klein", "Hermann Weyl"),
    ("Alan Turing", "Alonzo Church", "Joan Clarke", "Max Newman"),
    ("Rosalind Franklin", "Francis Crick", "James Watson", "Maurice Wilkins"),
)


class Counting:
    """Writes reports as the offline builder does, and remembers of what; `fails_after` calls it dies."""

    version = "counting/1"

    def __init__(self, fails_after: int | None = None) -> None:
        self.asked: list[ReportInput] = []
        self.fails_after = fails_after

    async def build(self, given: ReportInput) -> Report:
        if self.fails_after is not None and len(self.asked) >= self.fails_after:
            raise asyncio.CancelledError
        self.asked.append(given)
        return build_report(given)


def note(names: Sequence[str], more: str = "") -> str:
    first, *others = names
    said = [f"[[{first}]] worked with [[{other}]]." for other in others]
    said += [f"[[{one}]] wrote to [[{other}]]." for one, other in itertools.pairwise(others)]
    return " ".join(said) + more


async def filled(database: Database, segmenter: Segmenter) -> tuple[Library, list[uuid.UUID]]:
    library = await Library(database, Scattered(64), segmenter, extractor="offline").open()
    cards = await library.add_many([NewCard(f"Letters {n}", note(names)) for n, names in enumerate(GROUPS)])
    assert (await library.learn()).ready == len(GROUPS)
    return library, cards


def communities(library: Library, builder: Counting | OfflineReports) -> Communities:
    return Communities(library.database, Spaces(library.embedder), library.segmenter, builder, library.settings)


async def told(library: Library) -> set[tuple[frozenset[str], str, str]]:
    rows = await library.rows(
        "SELECT c.id, array_agg(e.name), r.title, r.findings::text FROM communities c "
        "JOIN community_members m ON m.workspace_id = c.workspace_id AND m.community_id = c.id "
        "JOIN entities e ON e.workspace_id = m.workspace_id AND e.id = m.entity_id "
        "JOIN reports r ON r.workspace_id = c.workspace_id AND r.id = c.id "
        "WHERE c.workspace_id = :w GROUP BY c.id, r.title, r.findings"
    )
    return {(frozenset(names), title, findings) for _, names, title, findings in rows}


async def healthy(library: Library) -> None:
    report = await Doctor(library.database, index_names).examine(True)
    assert {name: count for name, count in report.invariants.items() if count} == {}


async def test_groups_that_know_each_other_are_communities(database: Database, segmenter: Segmenter) -> None:
    library, _ = await filled(database, segmenter)
    builder = Counting()
    done = await communities(library, builder).rebuild(library.id)
    assert done.is_full
    assert done.communities == done.reports == len(builder.asked) == await library.count("reports")
    found = await told(library)
    for names in GROUPS:
        assert any(set(names) <= members for members, _, _ in found), names
    assert await library.count("community_changes") == await library.count("report_drafts") == 0
    texts = await library.rows("SELECT owner_id, role FROM report_vectors WHERE workspace_id = :w")
    assert {owner for owner, _ in texts} == {
        row[0] for row in await library.rows("SELECT id FROM reports WHERE workspace_id = :w")
    }
    await healthy(library)


async def test_after_one_changed_card_only_what_it_touches_is_told_anew(
    database: Database, segmenter: Segmenter
) -> None:
    """O1: nobody pays again for what stands as it stood; and ids last."""
    library, cards = await filled(database, segmenter)
    await communities(library, Counting()).rebuild(library.id)
    before = {row[0] for row in await library.rows("SELECT id FROM communities WHERE workspace_id = :w")}
    again = Counting()
    assert (await communities(library, again).rebuild(library.id)).reports == 0
    assert again.asked == []
    await library.change(cards[0], content=note(GROUPS[0], " [[Luigi Menabrea]] met [[Ada Lovelace]] in Turin."))
    await library.learn()
    done = await communities(library, again).rebuild(library.id)
    assert not done.is_full or done.reports < done.communities
    touched = {member.name for given in again.asked for member in given.members}
    assert "Ada Lovelace" in touched
    assert not touched & {*GROUPS[1], *GROUPS[2], *GROUPS[3], *GROUPS[4], *GROUPS[5]}
    assert {row[0] for row in await library.rows("SELECT id FROM communities WHERE workspace_id = :w")} == before
    await healthy(library)


class Meddled:
    """A job in whose course somebody changes the graph, when it has been looked at and not yet been told of."""

    job_id = uuid.uuid4()

    def __init__(self, change: Callable[[], Awaitable[None]]) -> None:
        self.change = change

    async def progress(self, step: str, share: float | None = None) -> None:
        if step == "cluster":
            await self.change()

    async def hold(self, session: AsyncSession) -> None:
        pass


async def test_names_that_become_one_or_go_while_reports_are_written_do_not_stop_it(
    database: Database, segmenter: Segmenter
) -> None:
    library, cards = await filled(database, segmenter)
    by_name = dict(await library.rows("SELECT name, id FROM entities WHERE workspace_id = :w"))

    async def change() -> None:
        async with database.unit() as session:
            for names in GROUPS:
                # Into a stranger of the next community, so that each one has a member that is elsewhere now.
                other = GROUPS[(GROUPS.index(names) + 1) % len(GROUPS)][1]
                await entity_queries.set_merged(session, library.id, [by_name[names[2]]], by_name[other])
        await library.change(cards[3], content="Nothing of that any more.")
        await library.learn()

    asked = Counting()
    await communities(library, asked).rebuild(library.id, job=cast(JobContext, Meddled(change)))
    assert len(asked.asked) >= len(GROUPS)
    await communities(library, Counting()).rebuild(library.id)
    members = [names for names, _, _ in await told(library)]
    assert any({"Ada Lovelace", "Pierre Curie"} <= names for names in members)
    assert not any("Emmy Noether" in names for names in members)
    await healthy(library)


async def test_a_killed_run_goes_on_from_its_drafts(database: Database, segmenter: Segmenter) -> None:
    library, _ = await filled(database, segmenter)
    expected = Counting()
    killed = Counting(fails_after=0)
    with pytest.raises(asyncio.CancelledError):
        await communities(library, killed).rebuild(library.id)
    assert await library.count("communities") == 0
    plan = await communities(library, expected).rebuild(library.id)
    await library.execute("DELETE FROM communities WHERE workspace_id = :w")
    await library.execute("DELETE FROM community_runs WHERE workspace_id = :w")

    class OnlyDrafts(Communities):
        async def _place(self, *_: object) -> None:
            raise asyncio.CancelledError

    dying = OnlyDrafts(database, Spaces(library.embedder), segmenter, Counting(), library.settings)
    with pytest.raises(asyncio.CancelledError):
        await dying.rebuild(library.id)
    assert await library.count("reports") == 0
    after = Counting()
    done = await communities(library, after).rebuild(library.id)
    assert (done.communities, after.asked) == (plan.communities, [])
    await healthy(library)


async def test_without_a_graph_there_are_none(database: Database, segmenter: Segmenter) -> None:
    library = await Library(database, Scattered(64), segmenter, extractor="offline").open()
    done = await communities(library, Counting()).rebuild(library.id)
    assert (done.communities, done.reports) == (0, 0)
    assert await library.rows("SELECT state, is_current FROM community_runs WHERE workspace_id = :w") == [
        ("done", True)
    ]


async def test_what_is_deleted_takes_its_communities_along(database: Database, segmenter: Segmenter) -> None:
    library, cards = await filled(database, segmenter)
    await communities(library, Counting()).rebuild(library.id)
    async with database.unit() as session:
        for card in cards[1:]:
            await library.intake.remove_card(session, library.id, card)
    await healthy(library)
    await communities(library, Counting()).rebuild(library.id)
    names = {name for members, _, _ in await told(library) for name in members}
    assert set(GROUPS[0]) <= names
    assert not names & set(GROUPS[1])
    await healthy(library)


async def test_a_workspace_is_due_when_it_has_come_to_rest(database: Database, segmenter: Segmenter) -> None:
    library, _ = await filled(database, segmenter)
    follower = communities(library, Counting())
    assert await follower.enqueue_due(quiet_seconds=3600) == 0
    assert await follower.enqueue_due(quiet_seconds=0) == 1
    # F7: one is enough, however long it waits.
    assert await follower.enqueue_due(quiet_seconds=0) == 0
    assert await library.rows("SELECT kind, state FROM jobs WHERE workspace_id = :w") == [("communities", "queued")]
    async with database.unit() as session:
        await follower.ask_for(session, library.id)
    assert await follower.enqueue_due(quiet_seconds=0) == 0
    # What was asked for is not taken back by what is only due.
    assert await library.rows("SELECT payload FROM jobs WHERE workspace_id = :w") == [({"full": True},)]
    await library.execute("DELETE FROM jobs WHERE workspace_id = :w")
    await follower.rebuild(library.id)
    assert await follower.enqueue_due(quiet_seconds=0) == 0


async def test_what_commits_while_a_run_looks_is_not_forgotten(database: Database, segmenter: Segmenter) -> None:
    """A mark with an earlier number than those that were read, committed later."""
    library, _ = await filled(database, segmenter)
    follower = communities(library, Counting())
    await follower.rebuild(library.id)
    (entity,) = (await library.rows("SELECT id FROM entities WHERE workspace_id = :w ORDER BY id LIMIT 1"))[0]
    mark = "INSERT INTO community_changes (workspace_id, entity_id) VALUES (:w, :e)"
    async with database.unit() as late:
        await late.execute(text(mark), {"w": library.id, "e": entity})
        async with database.unit() as early:
            await early.execute(text(mark), {"w": library.id, "e": entity})
        await follower.rebuild(library.id)
    assert await library.count("community_changes") == 1


async def test_a_large_graph_is_clustered_in_another_process() -> None:
    """E17: the event loop goes on; whoever stops waiting stops the process."""
    settings = CommunitySettings(community_max_size=10)
    graph = graph_of(400, ((node, node // 2 * 7 % 400, 1.0) for node in range(400)))
    here = await clustered(graph, settings, None)
    assert await clustered(graph, settings, None, in_thread_edges=0) == here
    waiting = asyncio.create_task(clustered(graph, settings, None, in_thread_edges=0))
    while not multiprocessing.active_children():  # noqa: ASYNC110  (nothing tells that a process has begun)
        await asyncio.sleep(0.01)
    (process,) = multiprocessing.active_children()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.to_thread(process.join, 10)
    assert process.exitcode == -signal.SIGKILL
    assert not multiprocessing.active_children()


async def test_a_process_that_dies_is_said_to_have_died() -> None:
    graph = graph_of(400, ((node, node // 2 * 7 % 400, 1.0) for node in range(400)))
    waiting = asyncio.create_task(clustered(graph, CommunitySettings(), None, in_thread_edges=0))
    while not multiprocessing.active_children():  # noqa: ASYNC110  (nothing tells that a process has begun)
        await asyncio.sleep(0.01)
    multiprocessing.active_children()[0].kill()
    with pytest.raises(ClusteringDied):
        await waiting


async def test_reports_that_a_model_failed_to_write_are_written_again(database: Database, segmenter: Segmenter) -> None:
    class Failing(Counting):
        async def build(self, given: ReportInput) -> Report:
            report = await super().build(given)
            return dataclasses.replace(report, flags=("model_failed",))

    library, _ = await filled(database, segmenter)
    done = await communities(library, Failing()).rebuild(library.id)
    stale = await library.rows("SELECT id FROM reports WHERE workspace_id = :w AND is_stale")
    assert len(stale) == done.communities
    again = Counting()
    assert (await communities(library, again).rebuild(library.id)).reports == done.communities
    assert await library.rows("SELECT id FROM reports WHERE workspace_id = :w AND is_stale") == []


async def test_one_report_that_was_paid_for_is_kept_when_the_next_one_dies(
    database: Database, segmenter: Segmenter
) -> None:
    """O2: whatever was told before the end is not asked for again."""
    library, _ = await filled(database, segmenter)

    class Dying(Counting):
        async def build(self, given: ReportInput) -> Report:
            if len(self.asked) < 2:
                return await super().build(given)
            while await library.count("report_drafts") < 2:  # noqa: ASYNC110  (it dies after two were kept)
                await asyncio.sleep(0.01)
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await communities(library, Dying()).rebuild(library.id)
    assert await library.count("report_drafts") == 2
    assert await library.count("reports") == 0
    ((done, total),) = await library.rows("SELECT done, total FROM community_runs WHERE workspace_id = :w")
    assert (done, total > 2) == (2, True)
    again = Counting()
    whole = await communities(library, again).rebuild(library.id)
    assert len(again.asked) == whole.communities - 2
    assert await library.count("reports") == whole.communities
    await healthy(library)
