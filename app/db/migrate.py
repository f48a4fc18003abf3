"""The schema's version: bring it up to date, ask for it, refuse one that this program does not know."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from app.core.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[2]


class UnknownSchema(ConfigurationError):
    """The database has a schema that this version of MindCone does not know."""

    code = "unknown_schema"


class SchemaPending(ConfigurationError):
    """The database schema is older than this program: run `mindcone db upgrade`."""

    code = "schema_pending"


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """`current` is None on an empty database; `known` says whether this program has that revision."""

    current: str | None
    head: str
    known: bool
    pending: tuple[str, ...]


def config(dsn: str | None = None, output: io.StringIO | None = None) -> Config:
    """Alembic's configuration, bound to `dsn` when given."""
    built = Config(str(ROOT / "alembic.ini"), output_buffer=output) if output else Config(str(ROOT / "alembic.ini"))
    built.attributes["dsn"] = dsn
    return built


def upgrade(dsn: str) -> None:
    """Bring the schema to head. Blocking: call it in a thread. Safe when several processes do."""
    command.upgrade(config(dsn), "head")


def upgrade_sql() -> str:
    """The SQL that would build the schema from nothing."""
    output = io.StringIO()
    command.upgrade(config(output=output), "head", sql=True)
    return output.getvalue()


async def status(dsn: str) -> SchemaStatus:
    """Where the database stands."""
    scripts = ScriptDirectory.from_config(config())
    head = scripts.get_current_head()
    if head is None:
        raise ConfigurationError("This installation has no migrations.")
    connection = await asyncpg.connect(dsn, timeout=10)
    try:
        exists = await connection.fetchval("SELECT to_regclass('alembic_version') IS NOT NULL")
        current = await connection.fetchval("SELECT version_num FROM alembic_version") if exists else None
    finally:
        await connection.close()
    line = [script.revision for script in scripts.walk_revisions()][::-1]
    if current is None:
        return SchemaStatus(None, head, True, tuple(line))
    if current not in line:
        return SchemaStatus(current, head, False, ())
    return SchemaStatus(current, head, True, tuple(line[line.index(current) + 1 :]))


async def require_current(dsn: str) -> None:
    """Return when the schema is at head. Raises UnknownSchema, SchemaPending."""
    found = await status(dsn)
    if not found.known:
        raise UnknownSchema
    if found.pending:
        raise SchemaPending
