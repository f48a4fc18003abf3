"""The lexical index in PostgreSQL: exact after every history, exact for every snapshot, nothing left behind."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from app.cards.tables import Card
from app.db.session import Database, raw
from app.db.settings import DatabaseSettings
from app.db.sql import load
from app.index import folding
from app.index.collections import Collection
from app.index.folding import compact, fold, fold_all, list_foldable, rebuild
from app.index.lexical import insert_recent, lexical_stats, search_lexical
from app.index.lexical_tables import LexBlock, LexRecent, LexSegment, LexTombstone
from app.index.postings import LexicalHits, LexicalRow
from app.people.tables import Workspace
from tests.conftest import TEMPLATE, with_database
from tests.test_lexical_postings import as_dict, reference, row


@pytest.fixture(scope="module")
def lexical_dsn(server_dsn: str) -> Iterator[str]:
    """One database for all tests here: each has a workspace of its own."""
    name = f"lexical_{uuid.uuid4().hex}"
    asyncio.run(_run(server_dsn, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}"))
    yield with_database(server_dsn, name)
    asyncio.run(_run(server_dsn, f"DROP DATABASE {name} WITH (FORCE)"))


async def _run(dsn: str, statement: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(statement)
    await connection.close()


@pytest.fixture
async def database(lexical_dsn: str) -> AsyncIterator[Database]:
    opened = Database(lexical_dsn, DatabaseSettings())
    yield opened
    await opened.close()


class Notes:
    """One workspace of chunks, and what ought to be in it."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.id = uuid.uuid4()
        self.card = uuid.uuid4()

    async def open(self) -> Notes:
        async with self.db.unit() as session:
            session.add(Workspace(id=self.id, slug=self.id.hex, name="notes"))
            await session.flush()
            session.add(
                Card(workspace_id=self.id, id=self.card, title="t", title_key="t", content="", content_hash="h")
            )
        return self

    async def add(self, session: AsyncSession, *rows: LexicalRow) -> None:
        await (await raw(session)).executemany(
            'INSERT INTO chunks (workspace_id, id, card_id, ordinal, doc, words, grams, start, "end", text, tokens,'
            " terms) VALUES ($1, gen_random_uuid(), $2, $3::bigint::int, $3::bigint, $4, $5, 0, 0, '', 0, '')",
            [(self.id, self.card, r.doc, r.words, r.grams) for r in rows],
        )
        await insert_recent(session, self.id, rows)

    async def remove(self, session: AsyncSession, *docs: int) -> None:
        await (await raw(session)).execute(
            "DELETE FROM chunks WHERE workspace_id = $1 AND doc = ANY($2)", self.id, list(docs)
        )

    async def added(self, *rows: LexicalRow) -> None:
        async with self.db.unit() as session:
            await self.add(session, *rows)

    async def removed(self, *docs: int) -> None:
        async with self.db.unit() as session:
            await self.remove(session, *docs)

    async def folded(self, at_least: int = 1, at_most: int = 1000) -> int:
        async with self.db.unit() as session:
            return await fold(session, self.id, at_least, at_most)

    async def compacted(self, **knobs: Any) -> int:
        async with self.db.unit() as session:
            return await compact(session, self.id, **knobs)

    async def search(self, words: str = "", grams: str = "") -> LexicalHits:
        async with self.db.read() as session:
            return await search_lexical(session, self.id, [*map(ord, words)], [*map(ord, grams)])

    async def counts(self) -> dict[str, int]:
        """Rows per table of this workspace."""
        async with self.db.read() as session:
            return {
                table.__tablename__: await session.scalar(
                    text(f"SELECT count(*) FROM {table.__tablename__} WHERE workspace_id = :id"), {"id": self.id}
                )
                for table in (LexRecent, LexBlock, LexSegment, LexTombstone)
            }

    async def in_order(self) -> None:
        async with self.db.read() as session:
            stats = await lexical_stats(session, self.id)
        assert stats.in_order, stats


@pytest.fixture
async def notes(database: Database) -> Notes:
    return await Notes(database).open()


@asynccontextmanager
async def abandoned(db: Database) -> AsyncIterator[AsyncSession]:
    """A transaction that is rolled back in the end."""
    async with db.read() as session:
        yield session


async def until_blocked(db: Database, task: asyncio.Task[Any]) -> None:
    """Return when some backend of this database waits for a lock. Fails when the task ends instead."""
    async with db.engine.connect() as connection:
        while not await connection.scalar(
            text(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
        ):
            assert not task.done(), "expected to wait for a lock"
            await connection.rollback()


RECENT = "(workspace_id, collection, doc, words, grams, word_terms, gram_terms)"
EMPTY = {"lex_recent": 0, "lex_block": 0, "lex_segment": 0, "lex_tombstone": 0}


# -- exact after every history ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
async def test_every_history_scores_like_the_plain_formula(
    notes: Notes, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random inserts, deletes, folds, burials and merges; after each step all terms, with and without Han."""
    monkeypatch.setattr(folding, "_BATCH", 5)  # merges and folds in many batches
    rnd = random.Random(seed)
    living: dict[int, LexicalRow] = {}
    doc = 0
    done: Counter[str] = Counter()
    for _ in range(60):
        match rnd.choice(("add", "add", "remove", "fold", "compact")):
            case "add":
                rows = []
                for _ in range(rnd.randint(1, 6)):
                    doc += rnd.randint(1, 3)
                    grams = "".join(rnd.choices("uvwxy", k=rnd.randint(0, 6))) if rnd.random() < 0.5 else ""
                    rows.append(row(doc, "".join(rnd.choices("abcdefgh", k=rnd.randint(0, 9))), grams))
                await notes.added(*rows)
                living |= {r.doc: r for r in rows}
            case "remove":
                gone = rnd.sample(sorted(living), min(len(living), rnd.randint(1, 5)))
                await notes.removed(*gone)
                living = {d: r for d, r in living.items() if d not in gone}
                done["removed"] += len(gone)
            case "fold":
                done["folded"] += await notes.folded(at_least=rnd.randint(1, 8), at_most=rnd.randint(1, 12))
            case "compact":
                done["merged"] += await notes.compacted(unit=4, fan_in=2, dead_share=0.3)
        words = "".join(rnd.choices("abcdefghz", k=rnd.randint(0, 7)))
        grams = "".join(rnd.choices("uvwxyz", k=rnd.randint(0, 4)))
        hits = await notes.search(words, grams)
        assert as_dict(hits) == pytest.approx(reference(list(living.values()), words, grams), rel=1e-5)
        await notes.in_order()
    assert min(done["removed"], done["folded"], done["merged"]) > 0, done


async def test_workspaces_do_not_see_each_other(database: Database) -> None:
    one, two = await Notes(database).open(), await Notes(database).open()
    await one.added(row(1, "ab"), row(2, "b"))
    await two.added(row(3, "a"), row(4, "abc"))
    await two.folded()
    assert (await one.search("a")).docs.tolist() == [1]
    assert (await two.search("a")).docs.tolist() == [3, 4]
    async with database.read() as session:
        assert (two.id, Collection.chunk) not in await list_foldable(session, 1)
        assert (one.id, Collection.chunk) in await list_foldable(session, 2)
        assert (one.id, Collection.chunk) not in await list_foldable(session, 3)


async def test_all_of_a_workspace_is_folded_or_all_there_is(database: Database) -> None:
    one, two, three = [await Notes(database).open() for _ in range(3)]
    await one.added(row(11, "ab"), row(12, "b"))
    await two.added(row(13, "a"), row(14, "abc"))
    await three.added(row(15, "a"))

    async def waiting() -> set[uuid.UUID]:
        async with database.read() as session:
            return {found for found, _ in await list_foldable(session, 1)} & {one.id, two.id, three.id}

    await fold_all(database, 2, two.id)
    assert await waiting() == {one.id, three.id}
    await fold_all(database, 2)
    assert await waiting() == {three.id}
    assert (await two.search("a")).docs.tolist() == [13, 14]


async def test_an_empty_workspace_finds_nothing(notes: Notes) -> None:
    hits = await notes.search("a", "b")
    assert len(hits) == 0
    assert hits.totals.docs == 0
    assert await notes.folded() == 0
    assert await notes.compacted() == 0
    await notes.in_order()


async def test_a_question_of_two_thousand_terms_is_exact(notes: Notes) -> None:
    rnd = random.Random(5)
    rows = [LexicalRow(d, 40, 0, Counter(rnd.choices(range(3000), k=40)), {}) for d in range(300)]
    await notes.added(*rows[:200])
    await notes.folded()
    await notes.added(*rows[200:])
    words = "".join(map(chr, range(2000)))
    assert as_dict(await notes.search(words)) == pytest.approx(reference(rows, words, ""), rel=1e-5)


async def test_fold_waits_for_enough_and_takes_the_oldest(notes: Notes) -> None:
    await notes.added(*(row(d, "a") for d in range(10)))
    assert await notes.folded(at_least=11) == 0
    assert await notes.folded(at_least=10, at_most=4) == 4
    assert await notes.counts() == {"lex_recent": 6, "lex_block": 1, "lex_segment": 1, "lex_tombstone": 0}
    await notes.removed(0, 3, 5)
    assert await notes.counts() == {"lex_recent": 5, "lex_block": 1, "lex_segment": 1, "lex_tombstone": 2}
    assert await notes.folded(at_least=2, at_most=5) == 5 + 2
    assert await notes.counts() == {"lex_recent": 0, "lex_block": 2, "lex_segment": 2, "lex_tombstone": 0}
    assert await notes.compacted(fan_in=3, dead_share=0.4) == 1
    assert (await notes.search("a")).docs.tolist() == [1, 2, 4, 6, 7, 8, 9]
    await notes.in_order()


async def test_a_segment_that_died_out_disappears(notes: Notes) -> None:
    await notes.added(row(1, "a", "x"), row(2, "ab"))
    await notes.folded()
    await notes.removed(1, 2)
    await notes.folded()
    assert await notes.compacted() == 1
    assert await notes.counts() == EMPTY


# -- exact for every snapshot -----------------------------------------------------------------------


async def test_searches_see_every_doc_once_while_everything_moves(notes: Notes) -> None:
    """Each transaction deletes one chunk and adds one, so that every moment has the same number of them."""
    population = 60
    await notes.added(*(row(d, "ab", "x") for d in range(population)))
    following = iter(range(population, 10**6))
    living = list(range(population))
    stop = asyncio.Event()
    searches = 0

    async def replace(rnd: random.Random) -> None:
        while not stop.is_set():
            mine = living.pop(rnd.randrange(len(living)))
            fresh = next(following)
            async with notes.db.unit() as session:
                await notes.remove(session, mine)
                await notes.add(session, row(fresh, "ab", "x"))
            living.append(fresh)

    async def maintain(task: Callable[[], Coroutine[Any, Any, int]]) -> int:
        worked = 0
        while not stop.is_set():
            worked += await task()
        return worked

    async def look() -> None:
        nonlocal searches
        for _ in range(150):
            hits = await notes.search("a", "x")
            assert len(hits) == len(set(hits.docs.tolist())) == population
            assert (hits.totals.docs, hits.totals.words, hits.totals.gram_docs) == (
                population,
                2 * population,
                population,
            )
            assert hits.word_terms.df.tolist() == hits.gram_terms.df.tolist() == [population]
            assert len(set(hits.lex.tolist())) == 1
            searches += 1

    async with asyncio.TaskGroup() as group:
        for seed in range(3):
            group.create_task(replace(random.Random(seed)))
        folder = group.create_task(maintain(lambda: notes.folded(at_least=5, at_most=20)))
        merger = group.create_task(maintain(lambda: notes.compacted(unit=5, fan_in=2)))
        await asyncio.gather(look(), look())
        stop.set()
    assert searches == 300
    assert folder.result() > 0
    assert merger.result() > 0
    assert (await notes.search("b")).docs.tolist() == sorted(living)
    await notes.in_order()


async def test_a_delete_waits_for_the_fold_and_then_leaves_a_tombstone(notes: Notes) -> None:
    await notes.added(row(1, "a"), row(2, "a"))
    async with notes.db.unit() as folding_session:
        assert await fold(folding_session, notes.id, 1) == 2
        deleting = asyncio.create_task(notes.removed(1))
        await until_blocked(notes.db, deleting)
    await deleting
    assert await notes.counts() == {"lex_recent": 0, "lex_block": 1, "lex_segment": 1, "lex_tombstone": 1}
    assert (await notes.search("a")).docs.tolist() == [2]
    await notes.in_order()


async def test_a_delete_waits_for_a_fold_that_fails_and_leaves_nothing(notes: Notes) -> None:
    await notes.added(row(1, "a"), row(2, "a"))
    async with abandoned(notes.db) as folding_session:
        assert await fold(folding_session, notes.id, 1) == 2
        deleting = asyncio.create_task(notes.removed(1))
        await until_blocked(notes.db, deleting)
    await deleting
    assert await notes.counts() == {"lex_recent": 1, "lex_block": 0, "lex_segment": 0, "lex_tombstone": 0}
    await notes.in_order()


@pytest.mark.parametrize("keep", [True, False])
async def test_a_fold_passes_over_what_is_being_deleted(notes: Notes, keep: bool) -> None:
    await notes.added(row(1, "a"), row(2, "a"))
    async with notes.db.read() as deleting:
        await notes.remove(deleting, 1)
        assert await notes.folded() == 1
        await (deleting.rollback() if keep else deleting.commit())
    assert (await notes.search("a")).docs.tolist() == ([1, 2] if keep else [2])
    assert (await notes.counts())["lex_tombstone"] == 0
    await notes.in_order()


@pytest.mark.parametrize("keep", [True, False])
async def test_a_delete_during_a_merge_keeps_its_tombstone(notes: Notes, keep: bool) -> None:
    for doc in (1, 2, 3):
        await notes.added(row(doc, "a"))
        await notes.folded()
    async with notes.db.read() as deleting:
        await notes.remove(deleting, 2)
        assert await notes.compacted(fan_in=2) == 3
        assert await notes.folded() == 0
        await (deleting.rollback() if keep else deleting.commit())
    assert (await notes.search("a")).docs.tolist() == ([1, 2, 3] if keep else [1, 3])
    await notes.in_order()


async def test_of_two_folds_at_once_the_second_does_nothing(notes: Notes) -> None:
    await notes.added(row(1, "a"), row(2, "a"))
    async with notes.db.unit() as session:
        assert await fold(session, notes.id, 1, 1) == 1
        assert await notes.folded() == 0
        assert await notes.compacted(fan_in=1) == 0
    assert await notes.folded() == 1


# -- deletion by any path ---------------------------------------------------------------------------


async def test_deleting_a_card_takes_its_chunks_along(notes: Notes) -> None:
    await notes.added(row(1, "a"))
    await notes.folded()
    await notes.added(row(2, "a"))
    async with notes.db.unit() as session:
        await session.execute(text("DELETE FROM cards WHERE workspace_id = :id"), {"id": notes.id})
    assert len(await notes.search("a")) == 0
    assert await notes.counts() == {"lex_recent": 0, "lex_block": 1, "lex_segment": 1, "lex_tombstone": 1}
    await notes.in_order()


async def drop_workspace(session: AsyncSession, notes: Notes) -> None:
    await session.execute(text("DELETE FROM workspaces WHERE id = :id"), {"id": notes.id})


async def test_deleting_a_workspace_leaves_nothing(notes: Notes) -> None:
    await notes.added(row(1, "a", "x"), row(2, "b"))
    await notes.folded()
    await notes.added(row(3, "a"))
    await notes.removed(2)
    async with notes.db.unit() as session:
        await drop_workspace(session, notes)
    assert await notes.counts() == EMPTY


async def test_deleting_a_workspace_waits_for_a_fold_in_it(notes: Notes) -> None:
    await notes.added(row(1, "a"))

    async def drop() -> None:
        async with notes.db.unit() as session:
            await drop_workspace(session, notes)

    async with notes.db.unit() as session:
        assert await fold(session, notes.id, 1) == 1
        dropping = asyncio.create_task(drop())
        await until_blocked(notes.db, dropping)
    await dropping
    assert await notes.counts() == EMPTY


async def test_nothing_is_folded_or_merged_in_a_workspace_that_is_being_deleted(notes: Notes) -> None:
    for doc in (1, 2):
        await notes.added(row(doc, "a"))
        await notes.folded()
    async with notes.db.unit() as session:
        await drop_workspace(session, notes)
        assert await notes.compacted(fan_in=2) == 0
        assert await notes.folded() == 0
    assert await notes.counts() == EMPTY


async def test_emptying_the_chunks_empties_the_index(notes: Notes) -> None:
    await notes.added(row(1, "a"), row(2, "a"))
    await notes.folded(at_most=1)
    async with notes.db.unit() as session:
        await session.execute(text("TRUNCATE workspaces CASCADE"))
    assert await notes.counts() == EMPTY


# -- rebuilding -------------------------------------------------------------------------------------


async def stored(session: AsyncSession, notes: Notes, terms: dict[int, LexicalRow]) -> AsyncIterator[LexicalRow]:
    chunks = await session.stream_scalars(
        text("SELECT doc FROM chunks WHERE workspace_id = :id ORDER BY doc"), {"id": notes.id}
    )
    async for doc in chunks:
        yield terms[doc]


async def test_rebuilding_replaces_everything(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "_BATCH", 3)
    await notes.added(*(row(d, "old") for d in range(8)))
    await notes.folded(at_most=5)
    await notes.removed(1, 7)
    async with notes.db.unit() as session:
        rows = {d: row(d, "nw", "x") for d in range(8)}
        assert await rebuild(session, notes.id, stored(session, notes, rows)) == 6
    assert len(await notes.search("old")) == 0
    assert (await notes.search("w", "x")).docs.tolist() == [0, 2, 3, 4, 5, 6]
    assert (await notes.counts())["lex_segment"] == 2
    async with notes.db.read() as session:
        stats = await lexical_stats(session, notes.id)
    assert (stats.missing, stats.orphans, stats.duplicates) == (0, 0, 0)


async def test_what_happens_during_a_rebuild_is_not_lost(notes: Notes) -> None:
    """Docs 1-4 folded, 5 recent. While it runs: 2 goes, 6 comes; 3 goes before its chunks are read."""
    rows = {d: row(d, "a") for d in range(1, 7)}
    await notes.added(*(rows[d] for d in (1, 2, 3, 4)))
    await notes.folded()
    await notes.added(rows[5])

    async def read(session: AsyncSession) -> AsyncIterator[LexicalRow]:
        await notes.removed(3)
        async for found in stored(session, notes, rows):
            yield found
        await notes.removed(2)
        await notes.added(rows[6])

    async with notes.db.unit() as session:
        assert await rebuild(session, notes.id, read(session)) == 5
    assert (await notes.search("a")).docs.tolist() == [1, 4, 5, 6]
    await notes.in_order()


async def test_a_rebuild_gives_way_to_a_delete_in_its_first_instant(notes: Notes) -> None:
    await notes.added(row(1, "a"), row(2, "a"))
    async with notes.db.unit() as deleting:
        await notes.remove(deleting, 1)
        with pytest.raises(DBAPIError, match="could not obtain lock"):
            async with notes.db.unit() as session:
                await rebuild(session, notes.id, stored(session, notes, {}))
    assert (await notes.search("a")).docs.tolist() == [2]


async def test_a_rebuild_needs_a_fresh_session(notes: Notes) -> None:
    async with notes.db.read() as session:
        await session.execute(text("SELECT 1"))
        with pytest.raises(DBAPIError, match="must be called before any query"):
            await rebuild(session, notes.id, stored(session, notes, {}))


# -- doctor and plans -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "shown"),
    [
        ("DELETE FROM lex_recent WHERE workspace_id = $1", {"missing": 2}),
        ("DELETE FROM lex_segment WHERE workspace_id = $1", {"missing": 2}),
        ("UPDATE lex_segment SET words = words + 1 WHERE workspace_id = $1", {"sums_agree": False}),
        (f"INSERT INTO lex_recent {RECENT} VALUES ($1, 0, 1, 1, 0, '', '')", {"duplicates": 1}),
        (f"INSERT INTO lex_recent {RECENT} VALUES ($1, 0, 77, 1, 0, '', '')", {"orphans": 1}),
        (
            "INSERT INTO lex_tombstone (workspace_id, collection, doc, words, grams) VALUES ($1, 0, 1, 1, 0)",
            {"missing": 1},
        ),
    ],
)
async def test_stats_show_what_is_broken(notes: Notes, damage: str, shown: dict[str, Any]) -> None:
    await notes.added(row(1, "a"), row(2, "a"))
    await notes.folded()
    await notes.added(row(3, "a"), row(4, "a"))
    await notes.in_order()
    async with notes.db.read() as session:
        await (await raw(session)).execute(damage, notes.id)
        stats = await lexical_stats(session, notes.id)
    assert not stats.in_order
    assert {name: getattr(stats, name) for name in shown} == shown


async def test_stats_count(notes: Notes) -> None:
    await notes.added(row(1, "ab"), row(2, "a"), row(3, "a"))
    await notes.folded()
    await notes.removed(1)
    await notes.folded()
    await notes.removed(2)
    await notes.added(row(4, "a"))
    async with notes.db.read() as session:
        stats = await lexical_stats(session, notes.id)
    assert (stats.owners, stats.indexed, stats.recent, stats.tombstones) == (2, 2, 1, 1)
    assert (stats.segments, stats.dead) == (1, 1)


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", ()) for node in _nodes(child))]


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
async def test_search_reads_blocks_by_their_key_once_per_term(database: Database, mode: str) -> None:
    """Whatever the plan is made for: one index search per term, and no table read from end to end."""
    for workspace in range(12):
        notes = await Notes(database).open()
        docs = range(workspace * 1000, workspace * 1000 + 300)
        await notes.added(*(LexicalRow(d, 30, 0, Counter(range(d, d + 30)), {}) for d in docs))
        await notes.folded(at_most=150)
    async with database.engine.connect() as autocommit:
        await autocommit.execution_options(isolation_level="AUTOCOMMIT")
        await autocommit.execute(text("VACUUM ANALYZE lex_block, lex_recent, lex_segment, lex_tombstone"))
    async with database.read() as session:
        connection = await raw(session)
        await connection.execute(f"SET LOCAL plan_cache_mode = {mode}")
        await connection.execute(
            "PREPARE search (uuid, bigint[], boolean, smallint[]) AS " + load("app.index", "lexical_search")
        )
        (plan,) = await session.scalar(
            text(
                f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE search('{notes.id}', '{{11010,11020,11030}}', false, '{{0}}')"
            )
        )
        await connection.execute("DEALLOCATE search")
    blocks = [node for node in _nodes(plan["Plan"]) if node.get("Relation Name") == "lex_block"]
    assert [(node["Node Type"], node["Index Name"], node["Actual Loops"]) for node in blocks] == [
        ("Index Scan", "pk_lex_block", 3)
    ]
    (recent,) = [node for node in _nodes(plan["Plan"]) if node.get("Relation Name") == "lex_recent"]
    assert recent["Node Type"] in ("Index Scan", "Bitmap Heap Scan")
    assert recent["Actual Rows"] == 150
