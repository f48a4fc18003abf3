"""The HNSW index of an embedding space: built when the space is large, beside the traffic."""

from __future__ import annotations

from app.core.log import get
from app.db.locks import lock_key
from app.db.session import Database
from app.index import queries
from app.providers.ports import EmbeddingSpace

log = get(__name__)


async def build_if_needed(database: Database, space: EmbeddingSpace, threshold: int) -> bool:
    """Build the index once the space has more than `threshold` vectors; says whether it was built.

    On a connection of its own, outside of any transaction, without a statement timeout. A build that was
    interrupted leaves an invalid index, which the next one replaces.
    """
    async with database.read() as session:
        current = await queries.find_current_space(session)
        if current is None or current.key != space.key or await queries.has_vector_index(session, current.id):
            return False
        if await queries.count_windows(session, current.id, threshold + 1) <= threshold:
            return False
        space_id, dimension = current.id, current.dimension
    connection = await database.connect()
    try:
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", lock_key("vector_index")):
            return False
        await connection.execute("SET statement_timeout = 0; SET lock_timeout = 0")
        log.info("vector_index_started", space=space.key)
        for statement in queries.vector_index_ddl(space_id, dimension):
            await connection.execute(statement, timeout=None)
        log.info("vector_index_built", space=space.key)
    finally:
        await connection.close()
    return True
