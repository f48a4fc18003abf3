"""Commands about the schema."""

from __future__ import annotations

import json

import asyncpg
import typer

from app.commands.common import out, quiet_settings
from app.core import loop
from app.db import migrate
from app.db.roles import grant
from app.db.session import asyncpg_dsn

app = typer.Typer()


@app.command("upgrade")
def db_upgrade() -> None:
    """Bring the schema up to date (MINDCONE_MIGRATION_URL, where the app's own role may not)."""
    with quiet_settings() as (settings, dsn):
        owner = asyncpg_dsn(settings.migration_url) if settings.migration_url else dsn
        found = loop.run(migrate.status(owner))
        if not found.known:
            raise migrate.UnknownSchema
        migrate.upgrade(owner)
        out.print(f"{found.current or 'empty'} -> {found.head}" if found.pending else f"{found.head}: nothing to do")


@app.command("status")
def db_status() -> None:
    """Where the schema stands; exit code 1 when it is not at head."""
    with quiet_settings() as (_, dsn):
        found = loop.run(migrate.status(dsn))
    state = "unknown" if not found.known else "pending" if found.pending else "current"
    print(json.dumps({"current": found.current, "head": found.head, "state": state, "pending": list(found.pending)}))
    raise typer.Exit(0 if state == "current" else 1)


@app.command("grant")
def db_grant(role: str) -> None:
    """Let a role that owns nothing run MindCone: MINDCONE_DATABASE_URL names it, MINDCONE_MIGRATION_URL the owner."""

    async def work(owner: str) -> None:
        connection = await asyncpg.connect(owner)
        try:
            await grant(connection, role)
        finally:
            await connection.close()

    with quiet_settings() as (settings, dsn):
        loop.run(work(asyncpg_dsn(settings.migration_url) if settings.migration_url else dsn))
    out.print(f"{role} may read and write rows, and nothing else", highlight=False)


@app.command("sql")
def db_sql() -> None:
    """Print the SQL that builds the schema from nothing."""
    print(migrate.upgrade_sql())
