"""The HNSW indexes of an embedding space: built where there are many vectors, beside the traffic."""

from __future__ import annotations

from app.core.log import get
from app.db.locks import lock_key
from app.db.session import Database
from app.index import queries
from app.index.collections import TextKind
from app.providers.ports import EmbeddingSpace

log = get(__name__)


async def build_if_needed(database: Database, space: EmbeddingSpace, threshold: int) -> bool:
    """Build the index of each kind of text of which the space has more than `threshold` vectors, one after the other;
    says whether any was built.

    On a connection of its own, outside of any transaction, without a statement timeout. A build that was
    interrupted leaves an invalid index, which the next one replaces.
    """
    async with database.read() as session:
        current = await queries.find_current_space(session)
        if current is None or current.key != space.key:
            return False
        space_id, dimension = current.id, current.dimension
    built = False
    for kind in TextKind:
        async with database.read() as session:
            if await queries.has_vector_index(session, space_id, kind):
                continue
            if await queries.count_vectors(session, space_id, kind, threshold + 1) <= threshold:
                continue
        if not await _build(database, space_id, dimension, kind):
            break
        built = True
    return built


async def _build(database: Database, space_id: int, dimension: int, kind: TextKind) -> bool:
    """False when another process is building already."""
    connection = await database.connect()
    try:
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", lock_key("vector_index")):
            return False
        await connection.execute("SET statement_timeout = 0; SET lock_timeout = 0")
        log.info("vector_index_started", space=space_id, kind=kind.name)
        for statement in queries.vector_index_ddl(space_id, dimension, kind):
            await connection.execute(statement, timeout=None)
        log.info("vector_index_built", space=space_id, kind=kind.name)
    finally:
        await connection.close()
    return True
