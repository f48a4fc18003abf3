"""Statements for revising what the linker has decided: pairs, splits, and what people and models are asked.

One statement each, no decisions. The writing ones under `graph_lock`, as those of `entity_queries`.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from sqlalchemy import and_, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.graph import telling_queries
from app.graph.tables import Entity, EntityDecision, EntityPair, Mention


async def find_last_merge(session: AsyncSession, workspace_id: uuid.UUID, entity_id: uuid.UUID) -> Sequence[uuid.UUID]:
    """Who stood for this entity when it was last merged into another."""
    detail = await session.scalar(
        select(EntityDecision.detail)
        .where(
            EntityDecision.workspace_id == workspace_id,
            EntityDecision.left_id == entity_id,
            EntityDecision.outcome == "merged",
            EntityDecision.left_id != EntityDecision.right_id,
        )
        .order_by(EntityDecision.created_at.desc(), EntityDecision.id.desc())
        .limit(1)
    )
    return [uuid.UUID(moved) for moved in (detail or {}).get("moved", ())]


async def find_pair(session: AsyncSession, workspace_id: uuid.UUID, pair_id: uuid.UUID) -> EntityPair | None:
    return (
        await session.execute(
            select(EntityPair).where(EntityPair.workspace_id == workspace_id, EntityPair.id == pair_id)
        )
    ).scalar_one_or_none()


async def settle_pairs(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    left: Sequence[uuid.UUID],
    right: Sequence[uuid.UUID],
    state: str,
    decided_by: str,
) -> None:
    """Say of every pair between these two groups how it was decided."""
    await session.execute(
        update(EntityPair)
        .where(
            EntityPair.workspace_id == workspace_id,
            or_(
                and_(EntityPair.left_id.in_(left), EntityPair.right_id.in_(right)),
                and_(EntityPair.left_id.in_(right), EntityPair.right_id.in_(left)),
            ),
        )
        .values(state=state, decided_by=decided_by, decided_at=func.now())
        .execution_options(synchronize_session=False)
    )


async def mark_unsure(session: AsyncSession, workspace_id: uuid.UUID, pair_ids: Sequence[uuid.UUID]) -> None:
    """A model could not tell: these wait for a person, and are not asked about again."""
    await session.execute(
        update(EntityPair)
        .where(EntityPair.workspace_id == workspace_id, EntityPair.id.in_(pair_ids), EntityPair.state == "waiting")
        .values(decided_by="llm", decided_at=func.now())
        .execution_options(synchronize_session=False)
    )


async def list_undecided(session: AsyncSession, workspace_id: uuid.UUID, limit: int) -> Sequence[EntityPair]:
    """Waiting pairs that no model was asked about yet, the oldest first."""
    rows = await session.execute(
        select(EntityPair)
        .where(EntityPair.workspace_id == workspace_id, EntityPair.state == "waiting", EntityPair.decided_by.is_(None))
        .order_by(EntityPair.id)
        .limit(limit)
    )
    return rows.scalars().all()


async def list_workspaces_undecided(session: AsyncSession) -> list[uuid.UUID]:
    """Where pairs wait that no model was asked about."""
    rows = await session.execute(
        select(EntityPair.workspace_id)
        .where(EntityPair.state == "waiting", EntityPair.decided_by.is_(None))
        .distinct()
        .order_by(EntityPair.workspace_id)
    )
    return list(rows.scalars())


async def count_mentions(
    session: AsyncSession, workspace_id: uuid.UUID, ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, int]:
    """Of each of these entities and those that stand for it, together under the one asked for."""
    rows = await session.execute(
        select(func.coalesce(Entity.merged_into, Entity.id), func.count())
        .join(Mention, and_(Mention.workspace_id == Entity.workspace_id, Mention.entity_id == Entity.id))
        .where(Entity.workspace_id == workspace_id, func.coalesce(Entity.merged_into, Entity.id).in_(ids))
        .group_by(func.coalesce(Entity.merged_into, Entity.id))
    )
    return {row[0]: row[1] for row in rows}


async def list_sentences(
    session: AsyncSession, workspace_id: uuid.UUID, entity_ids: Sequence[uuid.UUID], each: int, width: int
) -> dict[uuid.UUID, list[str]]:
    """Where these entities are mentioned: a stretch of at most `width` characters around some of their mentions."""
    rows = await (await raw(session)).fetch(
        """
        SELECT e.id, said.text
        FROM unnest($2::uuid[]) AS e (id)
        CROSS JOIN LATERAL (
            SELECT substr(c.text, greatest(coalesce(m.start, c.start) - c.start - $4 / 2, 0) + 1, $4) AS text
            FROM mentions m
            JOIN chunks c ON c.workspace_id = m.workspace_id AND c.id = m.chunk_id
            WHERE m.workspace_id = $1 AND m.entity_id = e.id
            ORDER BY m.card_id DESC, m.ordinal
            LIMIT $3
        ) AS said
        """,
        workspace_id,
        list(entity_ids),
        each,
        width,
    )
    found: dict[uuid.UUID, list[str]] = {entity_id: [] for entity_id in entity_ids}
    for row in rows:
        found[row["id"]].append(row["text"])
    return found


async def move_card(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    card_ids: Sequence[uuid.UUID],
    old: Sequence[uuid.UUID],
    new: uuid.UUID,
) -> Sequence[str]:
    """What these cards say of the old entities, they say of the new one; gives the names that they use for it."""
    connection = await raw(session)
    moved = await connection.fetch(
        """
        UPDATE mentions SET entity_id = $4
        WHERE workspace_id = $1 AND card_id = ANY ($2::uuid[]) AND entity_id = ANY ($3::uuid[])
        RETURNING name
        """,
        workspace_id,
        list(card_ids),
        list(old),
        new,
    )
    await telling_queries.note(session, workspace_id, [*old, new])
    for statement in (
        "UPDATE relations SET source_id = $4 "
        "WHERE workspace_id = $1 AND card_id = ANY ($2::uuid[]) AND source_id = ANY ($3::uuid[])",
        "UPDATE relations SET target_id = $4 "
        "WHERE workspace_id = $1 AND card_id = ANY ($2::uuid[]) AND target_id = ANY ($3::uuid[])",
        "UPDATE roles SET entity_id = $4 "
        "WHERE workspace_id = $1 AND card_id = ANY ($2::uuid[]) AND entity_id = ANY ($3::uuid[])",
        """
        WITH gone AS (
            DELETE FROM point_entities pe USING points p
            WHERE p.workspace_id = $1 AND pe.workspace_id = $1 AND pe.point_id = p.id
              AND p.card_id = ANY ($2::uuid[]) AND pe.entity_id = ANY ($3::uuid[])
            RETURNING pe.point_id
        )
        INSERT INTO point_entities (workspace_id, point_id, entity_id)
        SELECT DISTINCT $1::uuid, point_id, $4::uuid FROM gone ON CONFLICT DO NOTHING
        """,
        """
        WITH gone AS (
            DELETE FROM entity_tellings
            WHERE workspace_id = $1 AND card_id = ANY ($2::uuid[]) AND entity_id = ANY ($3::uuid[])
            RETURNING card_id, description
        )
        INSERT INTO entity_tellings (workspace_id, entity_id, card_id, description)
        SELECT DISTINCT ON (card_id) $1::uuid, $4::uuid, card_id, description FROM gone
        ORDER BY card_id, length(description) DESC, description
        """,
    ):
        await connection.execute(statement, workspace_id, list(card_ids), list(old), new)
    return [row["name"] for row in moved]


async def set_places(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    card_ids: Sequence[uuid.UUID],
    keys: Sequence[str],
    entity_id: uuid.UUID,
) -> None:
    """In these cards these names mean this entity."""
    await (await raw(session)).execute(
        """
        INSERT INTO entity_places (workspace_id, card_id, key, entity_id)
        SELECT $1, c.id, k.key, $4
        FROM unnest($2::uuid[]) AS c (id) CROSS JOIN unnest($3::text[]) AS k (key)
        ON CONFLICT (workspace_id, card_id, key) DO UPDATE SET entity_id = excluded.entity_id
        """,
        workspace_id,
        list(card_ids),
        list(keys),
        entity_id,
    )


async def list_without_vector(
    session: AsyncSession, workspace_id: uuid.UUID, space_id: int, limit: int
) -> list[uuid.UUID]:
    """Entities that a person has changed or made, and that nothing finds by vector yet."""
    rows = await (await raw(session)).fetch(
        """
        SELECT e.id FROM entities e
        WHERE e.workspace_id = $1
          AND NOT EXISTS (
              SELECT FROM entity_vectors v WHERE v.workspace_id = $1 AND v.owner_id = e.id AND v.space_id = $2
          )
        ORDER BY e.id
        LIMIT $3
        """,
        workspace_id,
        space_id,
        limit,
    )
    return [row["id"] for row in rows]
