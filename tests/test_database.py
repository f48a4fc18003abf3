"""The database as a machine: limits of every connection, failures that are told, nothing but pgvector."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest
from sqlalchemy import text

from app.core.errors import ConfigurationError, Unavailable
from app.db.session import Database, DatabaseUnavailable, PoolExhausted, asyncpg_dsn, raw
from app.db.settings import DatabaseSettings
from app.people import queries as people

SETTINGS = {
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "1min",
    "client_connection_check_interval": "500ms",
    "jit": "off",
    "TimeZone": "UTC",
}


async def test_every_connection_has_its_limits_however_often_it_is_used_again(database: Database) -> None:
    """M5: settings of a session are lost where they are set once and the connection is reset in between."""
    for _ in range(3):
        async with database.unit() as session:
            found = {name: await session.scalar(text(f"SHOW {name}")) for name in SETTINGS}
            await session.execute(text("SET LOCAL statement_timeout = '1ms'"))
        assert found == SETTINGS


async def test_a_unit_commits_whole_or_not_at_all(database: Database) -> None:
    async with database.unit() as session:
        await people.insert_workspace(session, "kept", "Kept")

    async def failing() -> None:
        async with database.unit() as session:
            await people.insert_workspace(session, "lost", "Lost")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await failing()
    async with database.read() as session:
        assert await people.find_workspace(session, "kept") is not None
        assert await people.find_workspace(session, "lost") is None


@pytest.mark.parametrize("reads_first", [False, True])
async def test_who_is_interrupted_leaves_no_transaction_to_the_next(database: Database, reads_first: bool) -> None:
    """Wherever it happens: what the next one writes over that connection is committed."""
    async with database.unit() as session:
        await (await raw(session)).execute("CREATE TABLE kept (id int)")

    async def interrupted() -> None:
        async with database.unit() as session:
            if reads_first:
                await session.execute(text("SELECT 1"))
            await (await raw(session)).execute("SELECT 1")

    for steps in range(150):
        task = asyncio.create_task(interrupted())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        async with database.unit() as session:
            await (await raw(session)).execute(f"INSERT INTO kept VALUES ({steps})")
    async with database.read() as session:
        assert await session.scalar(text("SELECT count(*) FROM kept")) == 150


async def test_the_raw_connection_is_in_the_session_s_transaction(database: Database) -> None:
    async def failing() -> None:
        async with database.unit() as session:
            await (await raw(session)).execute("CREATE TABLE gone (id int)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await failing()
    async with database.read() as session:
        assert await session.scalar(text("SELECT to_regclass('gone')")) is None


async def test_a_full_pool_says_so(database_dsn: str) -> None:
    settings = DatabaseSettings(database_pool_size=1, database_pool_overflow=0, database_pool_timeout_seconds=0.1)
    database = Database(database_dsn, settings)
    try:
        async with database.read() as held:
            await held.execute(text("SELECT 1"))
            with pytest.raises(PoolExhausted):
                async with database.read() as second:
                    await second.execute(text("SELECT 1"))
        async with database.read() as third:
            assert await third.scalar(text("SELECT 1")) == 1
    finally:
        await database.close()


async def test_a_lost_connection_is_told_and_the_next_one_works(database: Database) -> None:
    async with database.read() as session:
        await session.execute(text("SELECT 1"))
    async with database.read() as other:
        await other.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        )
    with pytest.raises(Unavailable):
        async with database.read() as session:
            await session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    async with database.unit() as session:
        assert await session.scalar(text("SELECT 1")) == 1


async def test_a_database_that_is_not_there_is_waited_for_and_then_named() -> None:
    settings = DatabaseSettings(database_start_timeout_seconds=0.3)
    database = Database("postgresql://nobody@127.0.0.1:1/nothing", settings)
    with pytest.raises(DatabaseUnavailable):
        await database.wait()
    await database.close()


async def test_an_abandoned_query_stops(database: Database) -> None:
    async def slow() -> None:
        async with database.read() as session:
            await session.execute(text("SELECT pg_sleep(30)"))

    async def becomes(running: int) -> None:
        # Each look is a transaction of its own: within one, the view of what others do does not change.
        while True:
            async with database.read() as watching:
                count = (
                    "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()"
                )
                if await watching.scalar(text(f"{count} AND state = 'active'")) == running:
                    return

    async with asyncio.timeout(10):
        task = asyncio.create_task(slow())
        await becomes(1)
    task.cancel()
    async with asyncio.timeout(2):
        await becomes(0)


@pytest.mark.parametrize("url", ["mysql://x/y", "nonsense", "http://localhost/db"])
def test_a_url_of_something_else_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        asyncpg_dsn(url)


async def test_nothing_but_pgvector_is_installed(database_dsn: str) -> None:
    """I10"""
    connection = await asyncpg.connect(database_dsn)
    found = await connection.fetch("SELECT extname FROM pg_extension ORDER BY 1")
    await connection.close()
    assert [row["extname"] for row in found] == ["plpgsql", "vector"]


async def test_a_workspace_is_rows_and_no_ddl(database: Database) -> None:
    """I7"""
    count = text("SELECT count(*) FROM pg_class")
    async with database.unit() as session:
        before = await session.scalar(count)
        for number in range(20):
            await people.insert_workspace(session, f"tenant-{number}", "Tenant")
    async with database.read() as session:
        assert await session.scalar(count) == before
