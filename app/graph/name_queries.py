"""Statements about names by which older cards may mention an entity: noted when a title brings them, found once.

Knows nothing of how a name is found in a text.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw


@dataclass(frozen=True, slots=True)
class NameDue:
    """A name of an entity that older cards are still to be looked through for."""

    entity_id: uuid.UUID
    key: str
    name: str


async def note_names(session: AsyncSession, workspace_id: uuid.UUID, entity_ids: Collection[uuid.UUID]) -> None:
    """The names of these entities are to be looked for, those that were not before. Under the graph's lock."""
    await (await raw(session)).execute(
        """
        INSERT INTO names_to_find (workspace_id, entity_id, key)
        SELECT n.workspace_id, n.entity_id, n.key FROM entity_names n
        WHERE n.workspace_id = $1 AND n.entity_id = ANY ($2::uuid[])
        ORDER BY n.entity_id, n.key
        ON CONFLICT DO NOTHING
        """,
        workspace_id,
        list(entity_ids),
    )


async def list_due_workspaces(session: AsyncSession, longest_seconds: float) -> list[uuid.UUID]:
    """Where names wait and no card does, or where they have waited for too long."""
    rows = await (await raw(session)).fetch(
        """
        SELECT waiting.workspace_id
        FROM (
            SELECT workspace_id, min(due_at) AS due_at FROM names_to_find WHERE due_at <= now() GROUP BY workspace_id
        ) AS waiting
        WHERE waiting.due_at <= now() - make_interval(secs => $1)
           OR NOT EXISTS (
               SELECT FROM cards c
               WHERE c.workspace_id = waiting.workspace_id AND c.state IN ('queued', 'working') AND c.trashed_at IS NULL
           )
        ORDER BY waiting.workspace_id
        """,
        longest_seconds,
    )
    return [row["workspace_id"] for row in rows]


async def is_being_learned(session: AsyncSession, workspace_id: uuid.UUID) -> bool:
    """Whether cards are being worked on, which may not have seen the latest names."""
    return bool(
        await (await raw(session)).fetchval(
            "SELECT EXISTS (SELECT FROM cards WHERE workspace_id = $1 AND state = 'working' AND trashed_at IS NULL)",
            workspace_id,
        )
    )


async def list_names_due(session: AsyncSession, workspace_id: uuid.UUID, limit: int) -> list[NameDue]:
    """The longest waiting first. A name that the entity does not have any more is given, too, as it is written in its
    key.
    """
    rows = await (await raw(session)).fetch(
        """
        SELECT due.entity_id, due.key, coalesce(n.name, due.key) AS name
        FROM names_to_find due
        LEFT JOIN entity_names n
            ON n.workspace_id = due.workspace_id AND n.entity_id = due.entity_id AND n.key = due.key
        WHERE due.workspace_id = $1 AND due.due_at <= now()
        ORDER BY due.due_at, due.entity_id, due.key
        LIMIT $2
        """,
        workspace_id,
        limit,
    )
    return [NameDue(*row) for row in rows]


async def settle_names(
    session: AsyncSession, workspace_id: uuid.UUID, names: Sequence[NameDue], again_seconds: float | None
) -> None:
    """These were looked for; once more after a while where `again_seconds` says so."""
    await (await raw(session)).execute(
        """
        UPDATE names_to_find AS due SET due_at = now() + make_interval(secs => $4)
        FROM unnest($2::uuid[], $3::text[]) AS found (entity_id, key)
        WHERE due.workspace_id = $1 AND due.entity_id = found.entity_id AND due.key = found.key
        """,
        workspace_id,
        [name.entity_id for name in names],
        [name.key for name in names],
        again_seconds,
    )


async def list_cards_without(
    session: AsyncSession, workspace_id: uuid.UUID, places: Sequence[tuple[uuid.UUID, int]]
) -> list[tuple[uuid.UUID, uuid.UUID]]:
    """Of entities and chunks (by their numbers in the postings) the entities and learned cards where the card does not
    mention the entity, or one that stands for the same; by card.
    """
    rows = await (await raw(session)).fetch(
        """
        WITH asked AS (
            SELECT DISTINCT place.entity_id, c.card_id
            FROM unnest($2::uuid[], $3::bigint[]) AS place (entity_id, doc)
            JOIN chunks c ON c.workspace_id = $1 AND c.doc = place.doc
        )
        SELECT asked.entity_id, asked.card_id
        FROM asked
        JOIN cards ON cards.workspace_id = $1 AND cards.id = asked.card_id
        JOIN entities e ON e.workspace_id = $1 AND e.id = asked.entity_id
        WHERE cards.state = 'ready' AND cards.trashed_at IS NULL
          AND NOT EXISTS (
              SELECT FROM mentions m
              JOIN entities o ON o.workspace_id = $1 AND o.id = m.entity_id
              WHERE m.workspace_id = $1 AND m.card_id = asked.card_id
                AND coalesce(o.merged_into, o.id) = coalesce(e.merged_into, e.id)
          )
        ORDER BY asked.card_id, asked.entity_id
        """,
        workspace_id,
        [entity_id for entity_id, _ in places],
        [doc for _, doc in places],
    )
    return [(row["entity_id"], row["card_id"]) for row in rows]
