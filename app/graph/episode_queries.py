"""Statements that read episodes."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg
from pgvector import HalfVector
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import NotFound
from app.db.session import raw
from app.db.sql import load
from app.providers.ports import Vector


class EpisodeNotFound(NotFound):
    """There is no such episode here."""

    code = "episode_not_found"


@dataclass(frozen=True, slots=True)
class AskedEpisode:
    """A new episode: the vector of its summary, the folder of its card, and the time in which a neighbour must lie."""

    dense: Vector
    folder: str | None
    period: tuple[datetime, datetime] | None


@dataclass(frozen=True, slots=True)
class NearEpisode:
    """An episode that a new one may join: its root's. `z`: how much nearer its summary is than those of other episodes
    usually are, in their standard deviations; `entities` are keys.
    """

    number: int
    id: uuid.UUID
    title: str
    summary: str
    happened: Any
    path: str | None
    facets: int
    entities: frozenset[str]
    z: float


async def list_near(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space_id: int,
    asked: Sequence[AskedEpisode],
    but_of: Sequence[uuid.UUID],
    limit: int = 3,
) -> list[NearEpisode]:
    """For each of the asked, by its number, the nearest episodes of its folder or its time that are told by none of the
    cards `but_of`. None in a workspace with fewer than 30 episodes, for which near means nothing.
    """
    rows = await (await raw(session)).fetch(
        load("app.graph", "near_episodes"),
        workspace_id,
        space_id,
        [HalfVector(one.dense) for one in asked],
        list(but_of),
        limit,
        [one.folder for one in asked],
        [None if one.period is None else asyncpg.Range(*one.period) for one in asked],
    )
    return [
        NearEpisode(
            row["number"],
            row["id"],
            row["title"],
            row["summary"],
            row["happened"],
            row["path"],
            row["facets"],
            frozenset(row["entities"]),
            float(row["z"]),
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class EpisodeDetail:
    """Rows as the database gives them, in their order."""

    episode: Any
    cards: list[Any]
    facets: list[Any]
    points: list[Any]
    roles: list[Any]


async def get_episode(session: AsyncSession, workspace_id: uuid.UUID, episode_id: uuid.UUID) -> EpisodeDetail:
    """The episode with what continues it. Raises EpisodeNotFound."""
    connection = await raw(session)
    episode = await connection.fetchrow(
        """
        SELECT id, external_id, title, summary, happened, origin, joined_to, created_at
        FROM episodes WHERE workspace_id = $1 AND id = $2
        """,
        workspace_id,
        episode_id,
    )
    if episode is None:
        raise EpisodeNotFound
    rows = await connection.fetch(
        "SELECT id FROM episodes WHERE workspace_id = $1 AND joined_to = $2 ORDER BY id", workspace_id, episode_id
    )
    parts = [episode_id, *(row["id"] for row in rows)]
    cards = await connection.fetch(
        """
        SELECT c.id, c.title, c.external_id
        FROM episode_cards ec
        JOIN cards c ON c.workspace_id = ec.workspace_id AND c.id = ec.card_id
        WHERE ec.workspace_id = $1 AND ec.episode_id = ANY ($2)
        ORDER BY c.created_at, c.id
        """,
        workspace_id,
        parts,
    )
    facets = await connection.fetch(
        """
        SELECT id, card_id, title, description, start, "end", happened
        FROM facets WHERE workspace_id = $1 AND episode_id = ANY ($2) ORDER BY card_id, ordinal
        """,
        workspace_id,
        parts,
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
        WHERE p.workspace_id = $1 AND p.episode_id = ANY ($2)
        ORDER BY p.ordinal
        """,
        workspace_id,
        parts,
    )
    roles = await connection.fetch(
        """
        SELECT r.id, root.id AS entity_id, root.name, r.facet_id, r.text
        FROM roles r
        JOIN entities e ON e.workspace_id = r.workspace_id AND e.id = r.entity_id
        JOIN entities root ON root.workspace_id = e.workspace_id AND root.id = coalesce(e.merged_into, e.id)
        WHERE r.workspace_id = $1 AND r.episode_id = ANY ($2)
        ORDER BY root.name, r.id
        """,
        workspace_id,
        parts,
    )
    return EpisodeDetail(episode, cards, facets, points, roles)
