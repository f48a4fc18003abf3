"""Whether the vectors of the graph still stand for what their owners say. Reads every text once."""

from __future__ import annotations

import uuid
from typing import Final

from app.db.session import Database
from app.doctor import graph_queries
from app.index.rows import text_hash
from app.ingestion.reembed_queries import list_parts
from app.ingestion.refill import text_of

_PAGE: Final = 2000
_FIRST: Final = uuid.UUID(int=0)


async def count_stale_vectors(database: Database, workspace_id: uuid.UUID) -> int:
    """Vectors of the current space whose owner says something else by now."""
    stale = 0
    for table in graph_queries.VECTORS:
        after = _FIRST
        while True:
            async with database.read() as session:
                rows = await graph_queries.list_vectors(session, workspace_id, table, after, _PAGE)
                owners = list(dict.fromkeys(owner for owner, _, _ in rows))
                parts = await list_parts(session, workspace_id, table, owners) if owners else {}
            if not rows:
                break
            stale += sum(
                text_hash(text_of(table, role, parts[owner])) != key for owner, role, key in rows if owner in parts
            )
            after = owners[-1]
    return stale
