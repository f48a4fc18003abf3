"""One embedded PostgreSQL per test run; each test gets a database of its own, cloned from a migrated template."""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path

import asyncpg
import hypothesis
import pytest
from filelock import FileLock

from app.core import loop
from app.db import migrate
from app.db.embedded import EmbeddedPostgres
from app.db.session import Database
from app.db.settings import DatabaseSettings

# The same examples in every run: what is green here is green there.
hypothesis.settings.register_profile("steady", derandomize=True, deadline=None)
hypothesis.settings.load_profile("steady")

TEMPLATE = "mindcone_template"
SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_configure(config: pytest.Config) -> None:
    # What a developer has set for running the product must not reach the tests.
    for name in [name for name in os.environ if name.startswith("MINDCONE_")]:
        del os.environ[name]
    if not SHARED.is_dir() and not hasattr(config, "workerinput"):
        sys.stderr.write(f"\nNOTE: {SHARED} is absent: tests that need its data are SKIPPED.\n")


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Tests run on the loop that the product runs on."""
    return {"product": loop.new_event_loop}


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data beside the project; skips, loudly, where there is none."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"{SHARED} is absent: this test needs its real data")
    return SHARED / "data"


def with_database(dsn: str, name: str) -> str:
    head, _, tail = dsn.partition("?")
    return f"{head.rsplit('/', 1)[0]}/{name}?{tail}"


@pytest.fixture(scope="session")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that all processes of this test run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def server_dsn(run_dir: Path) -> Iterator[str]:
    """The run's PostgreSQL, with a migrated template in it. The last process to leave stops it."""
    from app.db.lease import lease

    with lease(run_dir / "data") as dsn:
        with FileLock(run_dir / "template.lock"):
            asyncio.run(_ensure_template(dsn))
        yield dsn


async def _ensure_template(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        if not await connection.fetchval("SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", TEMPLATE):
            # Databases of tests need not survive a power cut.
            for setting in ("fsync", "full_page_writes", "synchronous_commit"):
                await connection.execute(f"ALTER SYSTEM SET {setting} = off")
            await connection.execute("SELECT pg_reload_conf()")
            await connection.execute(f"CREATE DATABASE {TEMPLATE}")
            await asyncio.to_thread(migrate.upgrade, with_database(dsn, TEMPLATE))
    finally:
        await connection.close()


@pytest.fixture
async def database_dsn(server_dsn: str) -> AsyncIterator[str]:
    """A fresh migrated database."""
    name = f"test_{uuid.uuid4().hex}"
    connection = await asyncpg.connect(server_dsn)
    try:
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")
        yield with_database(server_dsn, name)
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await connection.close()


@pytest.fixture
async def database(database_dsn: str) -> AsyncIterator[Database]:
    opened = Database(database_dsn, DatabaseSettings(), application_name="mindcone-test")
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def postgres(run_dir: Path, server_dsn: str) -> EmbeddedPostgres:
    """The keeper of the run's server, for tests that ask it something."""
    return EmbeddedPostgres(run_dir / "data")
