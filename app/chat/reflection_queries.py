"""Statements about turns that are to be reflected on. One each, no decisions."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.chat.reflection_tables import Reflection
from app.chat.tables import Message


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer. `is_tainted`: text that nobody vouches for was before the model."""

    message_id: uuid.UUID
    asked: str
    answered: str
    is_tainted: bool


async def insert_reflection(
    session: AsyncSession, workspace_id: uuid.UUID, message_id: uuid.UUID, *, is_tainted: bool
) -> None:
    """Once for each answer."""
    await session.execute(
        upsert(Reflection)
        .values(workspace_id=workspace_id, message_id=message_id, is_tainted=is_tainted)
        .on_conflict_do_nothing()
    )


async def list_exchanges(session: AsyncSession, workspace_id: uuid.UUID, limit: int) -> Sequence[Exchange]:
    """Those that wait, the oldest first."""
    question = aliased(Message)
    rows = await session.execute(
        select(Message.id, question.content, Message.content, Reflection.is_tainted)
        .select_from(Reflection)
        .join(Message, (Message.workspace_id == Reflection.workspace_id) & (Message.id == Reflection.message_id))
        .join(question, (question.workspace_id == Message.workspace_id) & (question.id == Message.parent_id))
        .where(Reflection.workspace_id == workspace_id)
        .order_by(Reflection.created_at, Reflection.message_id)
        .limit(limit)
    )
    return [Exchange(*row) for row in rows]


async def delete_reflection(session: AsyncSession, workspace_id: uuid.UUID, message_id: uuid.UUID) -> bool:
    """Whether it was still there; nobody else has it until this transaction ends."""
    gone = await session.execute(
        delete(Reflection)
        .where(Reflection.workspace_id == workspace_id, Reflection.message_id == message_id)
        .returning(Reflection.message_id)
    )
    return gone.scalar_one_or_none() is not None
