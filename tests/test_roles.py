"""The application as a role that is no superuser and owns nothing: everything works, and it can change no schema."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import httpx
import pytest

from app import wiring
from app.db.roles import RoleNotFound, RoleTooStrong, grant
from app.jobs.run import run_until_idle
from app.main import create_app
from app.settings import Settings
from app.text.segment import Segmenter
from app.wiring import open_services
from app.worker import handlers, periodics
from tests.api_client import API, WordEmbedder, create

pytest_plugins = ("tests.api_client",)


@pytest.fixture
async def owner(database_dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database_dsn)
    yield connection
    await connection.close()


@pytest.fixture
async def role(owner: asyncpg.Connection) -> AsyncIterator[str]:
    name = f"app_{uuid.uuid4().hex}"
    await owner.execute(f"CREATE ROLE {name} LOGIN")
    yield name
    await owner.execute(f"DROP OWNED BY {name}")
    await owner.execute(f"DROP ROLE {name}")


def as_role(dsn: str, role: str) -> str:
    scheme, _, rest = dsn.partition("://")
    return f"{scheme}://{role}@{rest.partition('@')[2]}"


async def test_a_role_that_owns_nothing_runs_everything(
    database_dsn: str,
    owner: asyncpg.Connection,
    role: str,
    segmenter: Segmenter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await grant(owner, role)
    monkeypatch.setattr(wiring, "build_embedder", lambda settings, data_dir: WordEmbedder(segmenter))
    monkeypatch.setattr(wiring, "Segmenter", lambda: segmenter)
    dsn = as_role(database_dsn, role)
    settings = Settings(
        data_dir=tmp_path, sample="off", database_url=dsn, migration_url=database_dsn, vector_index_windows=1
    )
    async with open_services(settings, dsn) as services:
        transport = httpx.ASGITransport(create_app(services))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            for n in range(3):
                await create(
                    client, title=f"Harbour {n}", content=f"Ada Lovelace works in harbour {n}. The crane is old."
                )
            await run_until_idle(dsn, handlers(services), settings)
            for periodic in periodics(services):
                await periodic.action()
            await run_until_idle(dsn, handlers(services), settings)
            for level in ("search", "explore", "context", "insight"):
                found = await client.post(f"{API}/search", json={"query": "Who works in harbour 1?", "level": level})
                assert found.status_code == 200, found.text
                assert found.json()["hits"] or level == "insight"
            made = await client.post(f"{API}/memories", json={"slug": "tea", "body": "Likes tea"})
            assert made.status_code == 201, made.text
            conversation = (await client.post(f"{API}/conversations", json={})).json()["id"]
            turn = await client.post(f"{API}/conversations/{conversation}/turns", json={"content": "Who likes tea?"})
            assert turn.json()["status"] == "complete", turn.text
            forked = await client.post(
                f"{API}/conversations/{conversation}/branches",
                json={"from_message_id": turn.json()["message_id"], "profile": "explore", "label": "Teas"},
            )
            assert forked.status_code == 201, forked.text
            stored = await client.put(f"{API}/providers/openai", json={"default_model": "gpt-6-luna"})
            assert stored.status_code == 200, stored.text
            for card in (await client.get(f"{API}/cards")).json()["items"][:1]:
                assert (await client.delete(f"{API}/cards/{card['id']}")).status_code == 204
            report = await services.doctor(True)
            assert report.ok, report
    assert await owner.fetchval("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%USING hnsw%'") >= 1
    assert (
        await owner.fetchval(
            "SELECT count(*) FROM pg_class c JOIN pg_roles r ON r.oid = relowner WHERE rolname = $1", role
        )
        == 0
    )
    connection = await asyncpg.connect(dsn)
    for forbidden in (
        "ALTER TABLE cards ADD COLUMN x int",
        "DROP TABLE memories",
        "TRUNCATE messages",
        "CREATE TABLE mine (x int)",
        "UPDATE alembic_version SET version_num = 'x'",
        "ALTER TABLE cards DISABLE TRIGGER ALL",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(forbidden)
    await connection.close()


async def test_tables_of_later_migrations_are_granted_with_them(
    database_dsn: str, owner: asyncpg.Connection, role: str
) -> None:
    await grant(owner, role)
    await owner.execute("CREATE TABLE later (id int)")
    connection = await asyncpg.connect(as_role(database_dsn, role))
    assert await connection.fetch("SELECT * FROM later") == []
    await connection.close()


async def test_roles_that_are_none_or_too_strong_are_refused(owner: asyncpg.Connection) -> None:
    for name in ("nobody_there", "x; DROP TABLE cards", ""):
        with pytest.raises(RoleNotFound):
            await grant(owner, name)
    with pytest.raises(RoleTooStrong):
        await grant(owner, "postgres")
