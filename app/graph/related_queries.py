"""Which cards belong together, by what they name."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw

MOST_CARDS = 200
"""An entity that more cards name joins nobody; reading its mentions would only cost time."""


@dataclass(frozen=True, slots=True)
class RelatedCard:
    """`score`: the rarer the entities that both name, the higher; `names` are some of these, rarest first."""

    id: uuid.UUID
    title: str
    score: float
    names: Sequence[str]


async def list_related_cards(
    session: AsyncSession, workspace_id: uuid.UUID, card_id: uuid.UUID, limit: int = 10
) -> list[RelatedCard]:
    """Cards outside of the trash, best first."""
    rows = await (await raw(session)).fetch(
        """
        WITH mine AS MATERIALIZED (
            SELECT DISTINCT coalesce(e.merged_into, e.id) AS id
            FROM mentions m
            JOIN entities e ON e.workspace_id = m.workspace_id AND e.id = m.entity_id
            WHERE m.workspace_id = $1 AND m.card_id = $2
        ),
        members AS MATERIALIZED (
            SELECT mine.id AS root, member.id
            FROM mine
            CROSS JOIN LATERAL (
                SELECT mine.id
                UNION ALL
                SELECT e.id FROM entities e WHERE e.workspace_id = $1 AND e.merged_into = mine.id
            ) AS member
        ),
        shared AS MATERIALIZED (
            SELECT DISTINCT members.root, m.card_id
            FROM members
            CROSS JOIN LATERAL (
                SELECT m.card_id FROM mentions m
                WHERE m.workspace_id = $1 AND m.entity_id = members.id
                LIMIT $4 * 20
            ) AS m
        ),
        weighed AS (
            SELECT root, card_id, 1 / ln(1 + count(*) OVER (PARTITION BY root)) AS weight,
                   count(*) OVER (PARTITION BY root) AS cards
            FROM shared
        )
        SELECT c.id, c.title, sum(w.weight) AS score,
               (array_agg(e.name ORDER BY w.weight DESC, e.name))[1:5] AS names
        FROM weighed w
        JOIN cards c ON c.workspace_id = $1 AND c.id = w.card_id AND c.trashed_at IS NULL
        JOIN entities e ON e.workspace_id = $1 AND e.id = w.root
        WHERE w.card_id <> $2 AND w.cards <= $4
        GROUP BY c.id, c.title
        ORDER BY score DESC, c.id
        LIMIT $3
        """,
        workspace_id,
        card_id,
        limit,
        MOST_CARDS,
    )
    return [RelatedCard(row["id"], row["title"], float(row["score"]), row["names"]) for row in rows]
