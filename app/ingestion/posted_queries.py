"""Statements about posted episodes."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import select, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.ingestion.posted import Posted
from app.ingestion.queries import CardText
from app.ingestion.tables import PostedEpisode

PostedByCard = dict[uuid.UUID, list[Posted]]


async def list_posted(session: AsyncSession, workspace_id: uuid.UUID, cards: Sequence[CardText]) -> PostedByCard:
    """What callers said of these texts, in the order in which they said it."""
    rows = await session.scalars(
        select(PostedEpisode)
        .where(
            PostedEpisode.workspace_id == workspace_id,
            tuple_(PostedEpisode.card_id, PostedEpisode.text_version).in_(
                [(card.card_id, card.text_version) for card in cards]
            ),
        )
        .order_by(PostedEpisode.card_id, PostedEpisode.ordinal)
    )
    found: PostedByCard = defaultdict(list)
    for row in rows:
        found[row.card_id].append(Posted(row.id, row.external_id, row.is_complete, row.body))
    return found


async def find_posted(session: AsyncSession, workspace_id: uuid.UUID, external_id: str) -> PostedEpisode | None:
    return (
        await session.scalars(
            select(PostedEpisode)
            .where(PostedEpisode.workspace_id == workspace_id, PostedEpisode.external_id == external_id)
            .with_for_update()
        )
    ).one_or_none()


async def next_ordinal(session: AsyncSession, workspace_id: uuid.UUID, card_id: uuid.UUID) -> int:
    rows = await session.scalars(
        select(PostedEpisode.ordinal)
        .where(PostedEpisode.workspace_id == workspace_id, PostedEpisode.card_id == card_id)
        .order_by(PostedEpisode.ordinal.desc())
        .limit(1)
    )
    last = rows.one_or_none()
    return 0 if last is None else last + 1


async def insert_posted(session: AsyncSession, row: PostedEpisode) -> bool:
    """Whether it was written; not when somebody else has just posted this external id."""
    made = await session.execute(
        insert(PostedEpisode)
        .values(
            workspace_id=row.workspace_id,
            id=row.id,
            card_id=row.card_id,
            text_version=row.text_version,
            ordinal=row.ordinal,
            external_id=row.external_id,
            is_complete=row.is_complete,
            body=row.body,
            body_hash=row.body_hash,
        )
        .on_conflict_do_nothing()
        .returning(PostedEpisode.id)
    )
    return made.scalar_one_or_none() is not None


async def delete_stale(session: AsyncSession, workspace_id: uuid.UUID, cards: Sequence[tuple[uuid.UUID, int]]) -> None:
    """What was posted about texts that these cards (id, text version) no longer have."""
    await (await raw(session)).execute(
        """
        DELETE FROM posted_episodes p
        USING unnest($2::uuid[], $3::int[]) AS now (card_id, text_version)
        WHERE p.workspace_id = $1 AND p.card_id = now.card_id AND p.text_version <> now.text_version
        """,
        workspace_id,
        [card_id for card_id, _ in cards],
        [version for _, version in cards],
    )
