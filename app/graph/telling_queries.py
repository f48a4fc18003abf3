"""Statements about what cards tell of entities, and of which entities they tell something else now."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw


@dataclass(frozen=True, slots=True)
class Due:
    """Entities (roots of what was merged) whose description is to be put together anew. `noted`: the numbers of what
    was read here; who wrote an earlier one may commit later.
    """

    noted: Sequence[int] = ()
    entities: Sequence[uuid.UUID] = field(default_factory=tuple)


async def list_workspaces_due(session: AsyncSession, many: int) -> list[uuid.UUID]:
    """Where something is told otherwise, and no card is waiting or at work, or so many things are."""
    rows = await (await raw(session)).fetch(
        """
        SELECT due.workspace_id
        FROM (SELECT workspace_id, count(*) AS count FROM descriptions_due GROUP BY workspace_id) AS due
        WHERE due.count >= $1
           OR NOT EXISTS (
               SELECT FROM cards c
               WHERE c.workspace_id = due.workspace_id AND c.state IN ('queued', 'working') AND c.trashed_at IS NULL
           )
        ORDER BY due.workspace_id
        """,
        many,
    )
    return [row["workspace_id"] for row in rows]


async def get_due(session: AsyncSession, workspace_id: uuid.UUID, limit: int) -> Due:
    row = await (await raw(session)).fetchrow(
        """
        SELECT coalesce(array_agg(due.n), '{}') AS noted,
            coalesce(array_agg(DISTINCT coalesce(e.merged_into, e.id)) FILTER (WHERE e.id IS NOT NULL), '{}')
                AS entities
        FROM (
            SELECT n, entity_id FROM descriptions_due WHERE workspace_id = $1 ORDER BY n LIMIT $2
        ) AS due
        LEFT JOIN entities e ON e.workspace_id = $1 AND e.id = due.entity_id
        """,
        workspace_id,
        limit,
    )
    return Due(row["noted"], row["entities"])


async def settle_due(session: AsyncSession, workspace_id: uuid.UUID, due: Due) -> None:
    await (await raw(session)).execute(
        "DELETE FROM descriptions_due WHERE workspace_id = $1 AND n = ANY ($2::bigint[])", workspace_id, list(due.noted)
    )


async def note(session: AsyncSession, workspace_id: uuid.UUID, entity_ids: Sequence[uuid.UUID]) -> None:
    """The descriptions of these, or of those that they stand for, are to be put together anew."""
    await (await raw(session)).execute(
        """
        INSERT INTO descriptions_due (workspace_id, entity_id)
        SELECT DISTINCT workspace_id, coalesce(merged_into, id) FROM entities
        WHERE workspace_id = $1 AND id = ANY ($2::uuid[])
        """,
        workspace_id,
        list(entity_ids),
    )


async def list_tellings(
    session: AsyncSession, workspace_id: uuid.UUID, entity_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[str]]:
    """What cards say of each of these and of those that stand for it, the oldest card first; each text once."""
    found: dict[uuid.UUID, dict[str, None]] = defaultdict(dict)
    rows = await (await raw(session)).fetch(
        """
        SELECT root.id, t.description
        FROM unnest($2::uuid[]) AS root (id)
        JOIN entities e ON e.workspace_id = $1 AND (e.id = root.id OR e.merged_into = root.id)
        JOIN entity_tellings t ON t.workspace_id = $1 AND t.entity_id = e.id
        ORDER BY root.id, t.card_id, t.entity_id
        """,
        workspace_id,
        list(entity_ids),
    )
    for row in rows:
        found[row["id"]].setdefault(row["description"])
    return {entity_id: list(found[entity_id]) for entity_id in entity_ids}
