"""What the planner knows of the tables that searches read. A database that has just been filled knows nothing until
autovacuum has come by, and then plans every statement for tables of one row.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

TABLES: Final = (
    *("cards", "chunks", "windows", "lex_recent", "lex_block"),
    *("entities", "entity_names", "mentions", "relations", "roles", "point_entities"),
    *("episodes", "episode_cards", "facets", "points"),
    *("episode_vectors", "facet_vectors", "point_vectors", "entity_vectors", "relation_vectors", "role_vectors"),
)


async def analyse(session: AsyncSession) -> None:
    """Count anew, for tables that nobody else is counting. Without the right to do so nothing happens."""
    await session.execute(text(f"ANALYZE (SKIP_LOCKED) {', '.join(TABLES)}"))
