"""Statements that read episodes."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import NotFound
from app.db.session import raw


class EpisodeNotFound(NotFound):
    """There is no such episode here."""

    code = "episode_not_found"


@dataclass(frozen=True, slots=True)
class EpisodeDetail:
    """Rows as the database gives them, in their order."""

    episode: Any
    cards: list[Any]
    facets: list[Any]
    points: list[Any]
    roles: list[Any]


async def get_episode(session: AsyncSession, workspace_id: uuid.UUID, episode_id: uuid.UUID) -> EpisodeDetail:
    """Raises EpisodeNotFound."""
    connection = await raw(session)
    episode = await connection.fetchrow(
        """
        SELECT id, external_id, title, summary, happened, origin, created_at
        FROM episodes WHERE workspace_id = $1 AND id = $2
        """,
        workspace_id,
        episode_id,
    )
    if episode is None:
        raise EpisodeNotFound
    cards = await connection.fetch(
        """
        SELECT c.id, c.title, c.external_id
        FROM episode_cards ec
        JOIN cards c ON c.workspace_id = ec.workspace_id AND c.id = ec.card_id
        WHERE ec.workspace_id = $1 AND ec.episode_id = $2
        ORDER BY c.created_at, c.id
        """,
        workspace_id,
        episode_id,
    )
    facets = await connection.fetch(
        """
        SELECT id, card_id, title, description, start, "end", happened
        FROM facets WHERE workspace_id = $1 AND episode_id = $2 ORDER BY card_id, ordinal
        """,
        workspace_id,
        episode_id,
    )
    points = await connection.fetch(
        """
        SELECT p.*,
               ARRAY(
                   SELECT DISTINCT coalesce(e.merged_into, e.id)
                   FROM point_entities pe
                   JOIN entities e ON e.workspace_id = pe.workspace_id AND e.id = pe.entity_id
                   WHERE pe.workspace_id = p.workspace_id AND pe.point_id = p.id
               ) AS entities
        FROM points p
        WHERE p.workspace_id = $1 AND p.episode_id = $2
        ORDER BY p.ordinal
        """,
        workspace_id,
        episode_id,
    )
    roles = await connection.fetch(
        """
        SELECT r.id, root.id AS entity_id, root.name, r.facet_id, r.text
        FROM roles r
        JOIN entities e ON e.workspace_id = r.workspace_id AND e.id = r.entity_id
        JOIN entities root ON root.workspace_id = e.workspace_id AND root.id = coalesce(e.merged_into, e.id)
        WHERE r.workspace_id = $1 AND r.episode_id = $2
        ORDER BY root.name, r.id
        """,
        workspace_id,
        episode_id,
    )
    return EpisodeDetail(episode, cards, facets, points, roles)
