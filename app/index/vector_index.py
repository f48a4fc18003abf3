"""The HNSW indexes of an embedding space: built where there are many vectors, beside the traffic."""

from __future__ import annotations

import asyncpg
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.log import get
from app.db.locks import lock_key
from app.db.session import Database
from app.index import queries
from app.index.collections import TextKind
from app.providers.ports import EmbeddingSpace

log = get(__name__)


async def build_if_needed(
    database: Database, space: EmbeddingSpace, threshold: int, *, bare_names: bool = False
) -> bool:
    """Give the current space, if it is this one, its indexes; says whether any was built.

    One for each kind of text that has an index and of which there are more than its share of `threshold` vectors, one
    after the other. `bare_names`: in this space entities are compared by vector that nothing is said of.
    """
    async with database.read() as session:
        current = await queries.find_current_space(session)
        if current is None or current.key != space.key:
            return False
        space_id, dimension = current.id, current.dimension
        lacking = await _list_lacking(session, space_id, threshold, bare_names)
    built = [await _build(database, space_id, dimension, kind, bare_names) for kind in lacking]
    return any(built)


async def build_lacking(
    database: Database, space_id: int, dimension: int, threshold: int, *, bare_names: bool = False
) -> bool:
    """The same for any space; says whether it has all of them now, which it has not while another process builds."""
    async with database.read() as session:
        lacking = await _list_lacking(session, space_id, threshold, bare_names)
    for kind in lacking:
        await _build(database, space_id, dimension, kind, bare_names)
    async with database.read() as session:
        return not await _list_lacking(session, space_id, threshold, bare_names)


async def drop(database: Database, space_id: int) -> None:
    """Remove the indexes of a space, beside the traffic."""
    connection = await database.connect(as_owner=True)
    try:
        await connection.execute("SET statement_timeout = 0; SET lock_timeout = 0")
        for kind in TextKind:
            await connection.execute(queries.vector_index_ddl(space_id, 1, kind)[0], timeout=None)
    finally:
        await connection.close()


async def _list_lacking(session: AsyncSession, space_id: int, threshold: int, bare_names: bool) -> list[TextKind]:
    lacking = []
    for kind in TextKind:
        most = kind.share(threshold)
        if kind.is_indexed and not await queries.has_vector_index(session, space_id, kind):
            counted = await queries.count_vectors(session, space_id, kind, most + 1, bare_names=bare_names)
            if counted > most:
                lacking.append(kind)
    return lacking


async def _build(database: Database, space_id: int, dimension: int, kind: TextKind, bare_names: bool) -> bool:
    """False when another process is building already.

    On a connection of its own, outside of any transaction, without a statement timeout. A build that was
    interrupted leaves an invalid index, which the next one replaces.
    """
    connection = await database.connect(as_owner=True)
    try:
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", lock_key("vector_index")):
            return False
        await connection.execute("SET statement_timeout = 0; SET lock_timeout = 0")
        log.info("vector_index_started", space=space_id, kind=kind.name)
        for statement in queries.vector_index_ddl(space_id, dimension, kind, bare_names=bare_names):
            await connection.execute(statement, timeout=None)
        log.info("vector_index_built", space=space_id, kind=kind.name)
    except asyncpg.InsufficientPrivilegeError:
        log.warning("vector_index_needs_the_owner", kind=kind.name, setting="MINDCONE_MIGRATION_URL")
        return False
    finally:
        await connection.close()
    return True
