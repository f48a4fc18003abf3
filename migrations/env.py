"""How Alembic reaches the database: one transaction, a lock timeout, and an advisory lock, so that
two processes that start together migrate one after the other.
"""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
from alembic import context
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine

from app.db.locks import lock_key
from app.index.collections import TextKind
from app.schema import metadata
from app.wiring import migration_dsn

# Tables that are not ours to describe, and indexes that belong to data (some per embedding space).
FOREIGN_TABLES = ("mindcone_pgqueuer",)
DATA_INDEXES = tuple(f"ix_{table}_hnsw_" for table in sorted({kind.vectors for kind in TextKind}))


def include_object(thing: Any, name: str | None, kind: str, reflected: bool, compare_to: Any) -> bool:
    name = name or ""
    if kind == "table":
        return not (reflected and name.startswith(FOREIGN_TABLES))
    if kind == "index":
        return not (reflected and name.startswith(DATA_INDEXES))
    return True


def configure(**options: Any) -> None:
    context.configure(
        target_metadata=metadata,
        include_object=include_object,
        compare_type=True,
        compare_server_default=False,
        transaction_per_migration=False,
        **options,
    )


def offline() -> None:
    configure(dialect_name="postgresql", literal_binds=True)
    with context.begin_transaction():
        context.run_migrations()


def migrate(connection: Connection) -> None:
    connection.execute(text("SET lock_timeout = '15s'"))
    connection.execute(text("SET statement_timeout = 0"))
    connection.commit()
    configure(connection=connection)
    with context.begin_transaction():
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": lock_key("migrations")})
        context.run_migrations()


async def online() -> None:
    dsn = context.config.attributes.get("dsn") or migration_dsn()

    async def connect() -> Any:
        return await asyncpg.connect(dsn, timeout=10, server_settings={"application_name": "mindcone-migrations"})

    engine = create_async_engine("postgresql+asyncpg://", async_creator=connect)
    try:
        async with engine.connect() as connection:
            await connection.run_sync(migrate)
    finally:
        await engine.dispose()


if context.is_offline_mode():
    offline()
else:
    asyncio.run(online())
