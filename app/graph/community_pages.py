"""Communities as people read them: lists, one with its members and parts, and which one an entity is in."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import NotFound
from app.db.session import raw


class CommunityNotFound(NotFound):
    """There is no community with this id here; a rebuild may have divided it otherwise."""

    code = "community_not_found"


@dataclass(frozen=True, slots=True)
class Listed:
    id: uuid.UUID
    level: int
    parent_id: uuid.UUID | None
    size: int
    weight: float
    title: str | None
    summary: str | None
    rating: float | None
    is_stale: bool
    created_at: datetime


# Which communities have changed is found once, however many are listed.
_LISTED = """
    WITH touched AS MATERIALIZED (
        SELECT x.community_id AS id FROM community_changes x WHERE x.workspace_id = $1 AND x.community_id IS NOT NULL
        UNION
        SELECT m.community_id
        FROM (
            SELECT DISTINCT coalesce(e.merged_into, x.entity_id) AS id
            FROM community_changes x
            LEFT JOIN entities e ON e.workspace_id = $1 AND e.id = x.entity_id
            WHERE x.workspace_id = $1 AND x.entity_id IS NOT NULL
        ) AS changed
        JOIN community_members m ON m.workspace_id = $1 AND m.entity_id = changed.id
    )
    SELECT c.id, c.level, c.parent_id, c.size, c.weight, r.title, r.summary, r.rating,
        coalesce(r.is_stale, true) OR c.id IN (SELECT id FROM touched) AS is_stale, c.created_at
    FROM communities c LEFT JOIN reports r ON r.workspace_id = c.workspace_id AND r.id = c.id
    WHERE c.workspace_id = $1
"""


async def list_page(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    level: int | None,
    after: tuple[int, int, uuid.UUID] | None,
    limit: int,
) -> list[Listed]:
    """The coarsest level first, the largest first; `after`: level, size and id of the last one of the page before."""
    at_level, size, last = after or (-1, 0, uuid.UUID(int=0))
    rows = await (await raw(session)).fetch(
        _LISTED
        + """
        AND ($2::int IS NULL OR c.level = $2) AND (c.level, -c.size, c.id) > ($3, -$4::int, $5)
        ORDER BY c.level, c.size DESC, c.id LIMIT $6
        """,
        workspace_id,
        level,
        at_level,
        size,
        last,
        limit,
    )
    return [Listed(*row.values()) for row in rows]


async def get_one(session: AsyncSession, workspace_id: uuid.UUID, community_id: uuid.UUID) -> Listed:
    """Raises CommunityNotFound."""
    row = await (await raw(session)).fetchrow(_LISTED + " AND c.id = $2", workspace_id, community_id)
    if row is None:
        raise CommunityNotFound
    return Listed(*row.values())


async def list_members(
    session: AsyncSession, workspace_id: uuid.UUID, community_id: uuid.UUID, limit: int
) -> list[Any]:
    """Those with most statements first; those of what was merged into a member are its own."""
    rows = await (await raw(session)).fetch(
        """
        SELECT e.id, e.name, e.type,
            (SELECT count(DISTINCT r.id)
             FROM entities k JOIN relations r ON r.workspace_id = $1 AND (r.source_id = k.id OR r.target_id = k.id)
             WHERE k.workspace_id = $1 AND (k.id = e.id OR k.merged_into = e.id)) AS degree
        FROM community_members m JOIN entities e ON e.workspace_id = m.workspace_id AND e.id = m.entity_id
        WHERE m.workspace_id = $1 AND m.community_id = $2
        ORDER BY degree DESC, e.id LIMIT $3
        """,
        workspace_id,
        community_id,
        limit,
    )
    return list(rows)


async def list_children(session: AsyncSession, workspace_id: uuid.UUID, community_id: uuid.UUID) -> list[Listed]:
    rows = await (await raw(session)).fetch(
        _LISTED + " AND c.parent_id = $2 ORDER BY c.size DESC, c.id", workspace_id, community_id
    )
    return [Listed(*row.values()) for row in rows]


async def list_of_entities(
    session: AsyncSession, workspace_id: uuid.UUID, entities: Sequence[uuid.UUID]
) -> dict[uuid.UUID, uuid.UUID]:
    """The coarsest community of each."""
    rows = await (await raw(session)).fetch(
        """
        SELECT m.entity_id, c.id FROM community_members m
        JOIN communities c ON c.workspace_id = m.workspace_id AND c.id = m.community_id AND c.level = 0
        WHERE m.workspace_id = $1 AND m.entity_id = ANY ($2)
        """,
        workspace_id,
        list(entities),
    )
    return {row[0]: row[1] for row in rows}
