"""The schema that migrations build is the one that the tables describe (M1, M2, E4)."""

from __future__ import annotations

import asyncio
import sys
import uuid

import asyncpg
import pytest
from alembic import command
from alembic.script import ScriptDirectory

from app.db import migrate
from app.index.collections import TextKind
from app.settings import Settings
from app.wiring import prepare_schema
from tests.conftest import with_database


def test_there_is_one_head() -> None:
    assert len(ScriptDirectory.from_config(migrate.config()).get_heads()) == 1


async def test_migrations_build_what_the_tables_describe(database_dsn: str) -> None:
    await asyncio.to_thread(command.check, migrate.config(database_dsn))


async def test_down_to_nothing_and_up_again(database_dsn: str) -> None:
    await asyncio.to_thread(command.downgrade, migrate.config(database_dsn), "base")
    connection = await asyncpg.connect(database_dsn)
    left = await connection.fetch(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = 'public' AND c.relkind IN ('r', 'S', 'v', 'p') AND c.relname <> 'alembic_version' "
        "AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')"
    )
    await connection.close()
    assert [row["relname"] for row in left] == []
    await asyncio.to_thread(migrate.upgrade, database_dsn)
    assert (await migrate.status(database_dsn)).pending == ()


async def test_older_vectors_learn_what_is_said_of_their_owners(database_dsn: str) -> None:
    """And the vector indexes that nobody asks any more go, while those that are asked stay."""
    await asyncio.to_thread(command.downgrade, migrate.config(database_dsn), "0012")
    connection = await asyncpg.connect(database_dsn)
    workspace, told, bare = (uuid.uuid4() for _ in range(3))
    try:
        await connection.execute("INSERT INTO workspaces (id, slug, name) VALUES ($1, 'old', '')", workspace)
        await connection.execute(
            "INSERT INTO embedding_spaces (id, key, dimension, sparse, is_current) VALUES (7, 'a/b/3', 3, false, true)"
        )
        for number, (entity, description) in enumerate([(told, "A lighthouse."), (bare, "")]):
            await connection.execute(
                "INSERT INTO entities (workspace_id, id, name, key, kind, type, description, words, grams) "
                "VALUES ($1, $2, $3, $3, 'thing', 'other', $4, 1, 0)",
                workspace,
                entity,
                str(number),
                description,
            )
            await connection.execute(
                "INSERT INTO entity_vectors (workspace_id, owner_id, space_id, role, text_hash, dense) "
                "VALUES ($1, $2, 7, 0, $2, '[1,0,0]')",
                workspace,
                entity,
            )
        for kind in TextKind:
            role = "" if kind.vector_role is None else f"AND role = {kind.vector_role}"
            await connection.execute(
                f"CREATE INDEX {kind.index_name(7)} ON {kind.vectors} "
                f"USING hnsw ((dense::halfvec(3)) halfvec_cosine_ops) WHERE space_id = 7 {role}"
            )
        await asyncio.to_thread(migrate.upgrade, database_dsn)
        described = await connection.fetch("SELECT owner_id, described FROM entity_vectors")
        assert {row["owner_id"]: row["described"] for row in described} == {told: True, bare: False}
        left = await connection.fetch("SELECT indexname FROM pg_indexes WHERE indexname LIKE '%hnsw%'")
        assert {row["indexname"] for row in left} == {kind.index_name(7) for kind in TextKind if kind.is_asked}
    finally:
        await connection.close()


async def test_two_processes_migrate_an_empty_database_together(server_dsn: str) -> None:
    """E4"""
    connection = await asyncpg.connect(server_dsn)
    await connection.execute("CREATE DATABASE migrated_together")
    dsn = with_database(server_dsn, "migrated_together")
    code = "import sys; from app.db import migrate; migrate.upgrade(sys.argv[1])"
    processes = [await asyncio.create_subprocess_exec(sys.executable, "-c", code, dsn) for _ in range(2)]
    assert [await process.wait() for process in processes] == [0, 0]
    assert (await migrate.status(dsn)).pending == ()
    await connection.execute("DROP DATABASE migrated_together WITH (FORCE)")
    await connection.close()


async def test_migrations_go_to_the_owners_address(server_dsn: str) -> None:
    """M4: their session lock and their rights need another way than the app's, which may lead through a pooler."""
    connection = await asyncpg.connect(server_dsn)
    await connection.execute("CREATE DATABASE migrated_by_its_owner")
    dsn = with_database(server_dsn, "migrated_by_its_owner")
    nowhere = "postgresql://nobody@127.0.0.1:1/nowhere"
    await prepare_schema(Settings(migrate="on", database_url=nowhere, migration_url=dsn), nowhere)
    assert (await migrate.status(dsn)).pending == ()
    await connection.execute("DROP DATABASE migrated_by_its_owner WITH (FORCE)")
    await connection.close()


async def test_a_schema_from_the_future_is_refused(database_dsn: str) -> None:
    connection = await asyncpg.connect(database_dsn)
    await connection.execute("UPDATE alembic_version SET version_num = '9999'")
    await connection.close()
    for settings in (Settings(migrate="on"), Settings(migrate="off")):
        with pytest.raises(migrate.UnknownSchema):
            await prepare_schema(settings, database_dsn)


async def test_an_old_schema_is_named_where_migrating_is_not_ours_to_do(database_dsn: str) -> None:
    await asyncio.to_thread(command.downgrade, migrate.config(database_dsn), "base")
    with pytest.raises(migrate.SchemaPending):
        await prepare_schema(Settings(migrate="auto", database_url=database_dsn), database_dsn)


def test_the_sql_can_be_printed() -> None:
    script = migrate.upgrade_sql()
    assert "CREATE TABLE cards" in script
    assert "CREATE EXTENSION IF NOT EXISTS vector" in script
