"""Statements about the state of cards that are being learned."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, text, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.cards.tables import Card
from app.db.session import raw
from app.db.sql import load

DATED_SECONDS = 600
"""A card without a date of its own speaks from about when it came in."""


@dataclass(frozen=True, slots=True)
class Task:
    """One card at one version of its text."""

    card_id: uuid.UUID
    text_version: int


@dataclass(frozen=True, slots=True)
class CardText:
    """`is_dated`: somebody said when it was written; otherwise `created_at` is when it came in."""

    card_id: uuid.UUID
    text_version: int
    ingestion_version: int
    title: str
    content: str
    created_at: datetime
    is_dated: bool
    tags: Sequence[str]
    source: Mapping[str, Any] | None = None


TEXT_COLUMNS = (
    Card.id,
    Card.text_version,
    Card.ingestion_version,
    Card.title,
    Card.content,
    Card.created_at,
    func.abs(func.extract("epoch", Card.created_at - Card.added_at)) > DATED_SECONDS,
    Card.tags,
    Card.source,
)
"""What a `CardText` is made of."""


async def lock_cards(session: AsyncSession, workspace_id: uuid.UUID, card_ids: Sequence[uuid.UUID]) -> None:
    """Hold these cards until commit, taken in id order as everyone takes them: an UPDATE of several rows takes
    them in any order, and two of those can wait for each other.
    """
    await session.execute(
        select(Card.id)
        .where(Card.workspace_id == workspace_id, Card.id.in_(card_ids))
        .order_by(Card.id)
        .with_for_update()
    )


async def start_work(session: AsyncSession, workspace_id: uuid.UUID, tasks: Sequence[Task]) -> list[CardText]:
    """Mark cards as being worked on and give their texts; those that are gone, done or changed are left out."""
    await lock_cards(session, workspace_id, [task.card_id for task in tasks])
    rows = await session.execute(
        update(Card)
        .where(
            Card.workspace_id == workspace_id,
            tuple_(Card.id, Card.text_version).in_([(task.card_id, task.text_version) for task in tasks]),
            Card.trashed_at.is_(None),
            Card.state != "ready",
        )
        .values(
            state="working", step="chunk", progress=0.0, attempts=Card.attempts + 1, error_code=None, error_detail=None
        )
        .returning(*TEXT_COLUMNS)
        .execution_options(synchronize_session=False)
    )
    return [CardText(*row) for row in rows]


async def set_step(
    session: AsyncSession, workspace_id: uuid.UUID, card_ids: Sequence[uuid.UUID], step: str, progress: float
) -> None:
    """Say how far these cards are, 0…1."""
    await lock_cards(session, workspace_id, card_ids)
    await session.execute(
        update(Card)
        .where(Card.workspace_id == workspace_id, Card.id.in_(card_ids), Card.state == "working")
        .values(step=step, progress=progress)
        .execution_options(synchronize_session=False)
    )


async def lock_current(session: AsyncSession, workspace_id: uuid.UUID, read: Sequence[CardText]) -> set[uuid.UUID]:
    """Of these cards, those that are still as they were read; they stay as they are until commit.

    The fence: whoever changed, trashed, removed or queued a card in the meantime wins. In id order, so that two writers
    cannot wait for each other.
    """
    rows = await session.execute(
        select(Card.id)
        .where(
            Card.workspace_id == workspace_id,
            tuple_(Card.id, Card.ingestion_version).in_([(card.card_id, card.ingestion_version) for card in read]),
            Card.trashed_at.is_(None),
        )
        .order_by(Card.id)
        .with_for_update()
    )
    return set(rows.scalars())


async def set_ready(
    session: AsyncSession, workspace_id: uuid.UUID, extraction: Mapping[uuid.UUID, Mapping[str, Any]]
) -> None:
    """These cards are learned; `extraction` says what was found in each."""
    await (await raw(session)).execute(
        """
        UPDATE cards SET state = 'ready', step = NULL, progress = NULL, error_code = NULL, error_detail = NULL,
                         extraction = new.told::jsonb
        FROM unnest($2::uuid[], $3::text[]) AS new (id, told)
        WHERE cards.workspace_id = $1 AND cards.id = new.id
        """,
        workspace_id,
        list(extraction),
        [json.dumps(told, ensure_ascii=False) for told in extraction.values()],
    )


async def set_waiting(
    session: AsyncSession, workspace_id: uuid.UUID, tasks: Sequence[Task], code: str, detail: str
) -> None:
    """Back in the queue, with the reason why it is not done yet."""
    await _set_outcome(session, workspace_id, tasks, "queued", code, detail)


async def set_failed(
    session: AsyncSession, workspace_id: uuid.UUID, tasks: Sequence[Task], code: str, detail: str
) -> None:
    await _set_outcome(session, workspace_id, tasks, "failed", code, detail)


async def _set_outcome(
    session: AsyncSession, workspace_id: uuid.UUID, tasks: Sequence[Task], state: str, code: str, detail: str
) -> None:
    await lock_cards(session, workspace_id, [task.card_id for task in tasks])
    await session.execute(
        update(Card)
        .where(
            Card.workspace_id == workspace_id,
            tuple_(Card.id, Card.text_version).in_([(task.card_id, task.text_version) for task in tasks]),
            Card.state == "working",
        )
        .values(state=state, step=None, progress=None, error_code=code, error_detail=detail)
        .execution_options(synchronize_session=False)
    )


async def list_stranded(session: AsyncSession, limit: int) -> list[Any]:
    """Of every workspace; rows as in `stranded.sql`."""
    return list(await (await raw(session)).fetch(load("app.ingestion", "stranded"), limit))


async def hold_waiting(session: AsyncSession, workspace_id: uuid.UUID, tasks: Sequence[Task]) -> set[Task]:
    """Of these cards, those that still wait with that text; they stay so until commit. In id order."""
    rows = await session.execute(
        select(Card.id, Card.text_version)
        .where(
            Card.workspace_id == workspace_id,
            tuple_(Card.id, Card.text_version).in_([(task.card_id, task.text_version) for task in tasks]),
            Card.state.in_(("queued", "working")),
            Card.trashed_at.is_(None),
        )
        .order_by(Card.id)
        .with_for_update()
    )
    return {Task(*row) for row in rows}


async def set_given_up(
    session: AsyncSession, workspace_id: uuid.UUID, tasks: Sequence[Task], code: str, detail: str
) -> None:
    """Cards whose job is gone have failed, whether they had been begun or not."""
    await session.execute(
        update(Card)
        .where(Card.workspace_id == workspace_id, Card.id.in_([task.card_id for task in tasks]))
        .values(state="failed", step=None, progress=None, error_code=code, error_detail=detail)
        .execution_options(synchronize_session=False)
    )


async def remove_trash(session: AsyncSession, days: int) -> int:
    """Remove cards that have been in the trash for longer than `days`; gives how many."""
    removed = await session.execute(
        text("DELETE FROM cards WHERE trashed_at < now() - make_interval(days => :days)"), {"days": days}
    )
    return int(getattr(removed, "rowcount", 0))


async def count_states(session: AsyncSession, workspace_id: uuid.UUID) -> dict[str, int]:
    """Cards by state, the trash left out."""
    rows = await session.execute(
        select(Card.state, func.count())
        .where(Card.workspace_id == workspace_id, Card.trashed_at.is_(None))
        .group_by(Card.state)
    )
    return dict(rows.tuples().all())
