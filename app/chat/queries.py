"""Statements about conversations and messages."""

from __future__ import annotations

import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.chat.tables import Branch, Conversation, Message
from app.core.clock import now
from app.core.errors import NotFound
from app.core.ids import new_id


class ConversationNotFound(NotFound):
    """There is no such conversation here."""

    code = "conversation_not_found"


class BranchNotFound(NotFound):
    """There is no such branch in this conversation."""

    code = "branch_not_found"


class MessageNotFound(NotFound):
    """There is no such message here."""

    code = "message_not_found"


# ------------------------------------------------------------------------------- conversations


async def insert_conversation(session: AsyncSession, workspace_id: uuid.UUID, title: str | None) -> Conversation:
    """A conversation with its first branch."""
    conversation = Conversation(
        workspace_id=workspace_id,
        id=new_id(),
        title=title,
        title_by="user" if title else None,
        created_at=now(),
        updated_at=now(),
        version=1,
    )
    session.add(conversation)
    await session.flush()
    session.add(Branch(workspace_id=workspace_id, id=new_id(), conversation_id=conversation.id, depth=0))
    await session.flush()
    return conversation


async def get_conversation(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID, *, lock: bool = False
) -> Conversation:
    """Raises ConversationNotFound.

    With `lock` it is held until commit. Whoever writes to more than one row of a conversation takes this lock
    before any other, so that appends, deletions and ends of turns wait for each other in one order.
    """
    wanted = select(Conversation).where(Conversation.workspace_id == workspace_id, Conversation.id == conversation_id)
    found = (await session.scalars(wanted.with_for_update() if lock else wanted)).one_or_none()
    if found is None:
        raise ConversationNotFound
    return found


async def lock_conversation(session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID) -> bool:
    """As `get_conversation` with `lock`, for who needs nothing of it; whether it is there."""
    found = await session.scalar(
        select(Conversation.id)
        .where(Conversation.workspace_id == workspace_id, Conversation.id == conversation_id)
        .with_for_update()
    )
    return found is not None


async def list_conversations(
    session: AsyncSession, workspace_id: uuid.UUID, after: tuple[datetime, uuid.UUID] | None, limit: int
) -> Sequence[Conversation]:
    """Most recently used first; `after` is the place of the last one of the page before."""
    wanted = select(Conversation).where(Conversation.workspace_id == workspace_id)
    if after is not None:
        wanted = wanted.where(tuple_(Conversation.updated_at, Conversation.id) < after)
    wanted = wanted.order_by(Conversation.updated_at.desc(), Conversation.id.desc()).limit(limit)
    return (await session.scalars(wanted)).all()


async def rename_conversation(session: AsyncSession, conversation: Conversation, title: str | None) -> None:
    """A user's title, which nothing overrules; None leaves it to the assistant again. It must be locked."""
    conversation.title = title
    conversation.title_by = "user" if title else None
    conversation.version += 1
    conversation.updated_at = now()
    await session.flush()


async def delete_conversation(session: AsyncSession, conversation: Conversation) -> None:
    """With all its branches and messages. It must be locked."""
    await session.delete(conversation)
    await session.flush()


async def set_first_title(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID, title: str
) -> None:
    """The assistant's title, where there is none. No new version: nobody's change was overruled."""
    await session.execute(
        update(Conversation)
        .where(
            Conversation.workspace_id == workspace_id,
            Conversation.id == conversation_id,
            Conversation.title.is_(None),
        )
        .values(title=title, title_by="assistant")
        .execution_options(synchronize_session=False)
    )


async def set_better_title(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID, title: str
) -> None:
    """In place of the assistant's own; a user's stays. No new version: nobody's change was overruled."""
    await session.execute(
        update(Conversation)
        .where(
            Conversation.workspace_id == workspace_id,
            Conversation.id == conversation_id,
            Conversation.title_by == "assistant",
        )
        .values(title=title)
        .execution_options(synchronize_session=False)
    )


# ------------------------------------------------------------------------------------ branches


async def list_branches(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID
) -> list[tuple[Branch, int]]:
    """Branches with their number of messages, oldest first."""
    rows = await session.execute(
        select(Branch, func.count(Message.id))
        .outerjoin(
            Message,
            (Message.workspace_id == Branch.workspace_id) & (Message.branch_id == Branch.id),
        )
        .where(Branch.workspace_id == workspace_id, Branch.conversation_id == conversation_id)
        .group_by(Branch.workspace_id, Branch.id)
        .order_by(Branch.id)
    )
    return [(branch, count) for branch, count in rows]


async def get_branch(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID, branch_id: uuid.UUID | None
) -> Branch:
    """The branch, or the conversation's first one. Raises ConversationNotFound, BranchNotFound."""
    wanted = select(Branch).where(Branch.workspace_id == workspace_id, Branch.conversation_id == conversation_id)
    if branch_id is not None:
        wanted = wanted.where(Branch.id == branch_id)
    found = (await session.scalars(wanted.order_by(Branch.depth, Branch.id).limit(1))).one_or_none()
    if found is None:
        await get_conversation(session, workspace_id, conversation_id)
        raise BranchNotFound
    return found


# ------------------------------------------------------------------------------------ messages


async def append_turn(
    session: AsyncSession, branch: Branch, content: str, provider: str | None, model: str | None
) -> tuple[Message, Message]:
    """The user's message and an empty, streaming answer after it. The conversation must be locked."""
    at = now()
    last = (
        await session.execute(
            select(Message.id, Message.ordinal)
            .where(Message.workspace_id == branch.workspace_id, Message.branch_id == branch.id)
            .order_by(Message.ordinal.desc())
            .limit(1)
        )
    ).one_or_none()
    parent, ordinal = (last.id, last.ordinal) if last else (branch.parent_message_id, 0)
    asked = Message(
        workspace_id=branch.workspace_id,
        id=new_id(),
        conversation_id=branch.conversation_id,
        branch_id=branch.id,
        parent_id=parent,
        ordinal=ordinal + 1,
        role="user",
        content=content,
        status="complete",
        created_at=at,
        finished_at=at,
    )
    answer = Message(
        workspace_id=branch.workspace_id,
        id=new_id(),
        conversation_id=branch.conversation_id,
        branch_id=branch.id,
        parent_id=asked.id,
        ordinal=ordinal + 2,
        role="assistant",
        content="",
        status="streaming",
        provider=provider,
        model=model,
        created_at=at,
        beat_at=func.now(),
    )
    session.add_all([asked, answer])
    await session.execute(
        update(Conversation)
        .where(Conversation.workspace_id == branch.workspace_id, Conversation.id == branch.conversation_id)
        .values(updated_at=at, appended=Conversation.appended + 2)
        .execution_options(synchronize_session=False)
    )
    await session.flush()
    return asked, answer


async def list_messages(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    conversation_id: uuid.UUID,
    branch_id: uuid.UUID | None = None,
    after: int = 0,
    limit: int | None = None,
) -> Sequence[Message]:
    """Messages of a branch (the first one when none is named) in their order, those after ordinal `after`.

    Raises ConversationNotFound, BranchNotFound.
    """
    branch = await get_branch(session, workspace_id, conversation_id, branch_id)
    messages = (
        select(Message)
        .where(Message.workspace_id == workspace_id, Message.branch_id == branch.id, Message.ordinal > after)
        .order_by(Message.ordinal)
    )
    return (await session.scalars(messages.limit(limit) if limit else messages)).all()


async def get_answer(session: AsyncSession, workspace_id: uuid.UUID, message_id: uuid.UUID) -> Message:
    """The assistant's message with this id. Raises MessageNotFound."""
    found = (
        await session.scalars(
            select(Message).where(
                Message.workspace_id == workspace_id, Message.id == message_id, Message.role == "assistant"
            )
        )
    ).one_or_none()
    if found is None:
        raise MessageNotFound
    return found


@dataclass(frozen=True, slots=True)
class Wanted:
    """What others have said of a streaming answer. `unwatched_seconds`: since another process last followed it."""

    stop_requested: bool
    unwatched_seconds: float


async def save_beat(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    message_id: uuid.UUID,
    content: str,
    tool_calls: Sequence[dict[str, Any]] = (),
) -> Wanted | None:
    """Keep what an answer has said and called so far. None when somebody has ended or deleted it."""
    saved = await session.execute(
        update(Message)
        .where(Message.workspace_id == workspace_id, Message.id == message_id, Message.status == "streaming")
        .values(content=content, tool_calls=list(tool_calls) or None, beat_at=func.now())
        .returning(Message.stop_requested, func.extract("epoch", func.now() - Message.watched_at))
        .execution_options(synchronize_session=False)
    )
    row = saved.one_or_none()
    if row is None:
        return None
    stop_requested, seconds = row
    return Wanted(stop_requested, math.inf if seconds is None else float(seconds))


async def finish_message(
    session: AsyncSession, workspace_id: uuid.UUID, message_id: uuid.UUID, values: dict[str, Any]
) -> bool:
    """Give a streaming answer its end. Says whether it has that end now: the first one is final, but may be given
    twice, by whoever did not hear that it was stored.
    """
    is_open = Message.status == "streaming"
    if values["status"] == "complete":
        is_open |= (Message.status == "complete") & (Message.content == values["content"])
    saved = await session.execute(
        update(Message)
        .where(Message.workspace_id == workspace_id, Message.id == message_id, is_open)
        .values(**values, finished_at=now())
        .returning(Message.id)
        .execution_options(synchronize_session=False)
    )
    return saved.scalar_one_or_none() is not None


async def request_stop(session: AsyncSession, workspace_id: uuid.UUID, message_id: uuid.UUID) -> None:
    """Ask whichever process runs this answer to end it."""
    await _note(session, workspace_id, message_id, stop_requested=True)


async def note_watched(session: AsyncSession, workspace_id: uuid.UUID, message_id: uuid.UUID) -> None:
    """Tell whichever process runs this answer that somebody follows it elsewhere."""
    await _note(session, workspace_id, message_id, watched_at=func.now())


async def _note(session: AsyncSession, workspace_id: uuid.UUID, message_id: uuid.UUID, **values: Any) -> None:
    await session.execute(
        update(Message)
        .where(Message.workspace_id == workspace_id, Message.id == message_id, Message.status == "streaming")
        .values(**values)
        .execution_options(synchronize_session=False)
    )


async def interrupt_stale(session: AsyncSession, silent_seconds: float) -> int:
    """Answers whose process died keep what they have and are said to be interrupted. Gives their number."""
    ended = await session.execute(
        update(Message)
        .where(
            Message.status == "streaming",
            Message.beat_at < func.now() - func.make_interval(0, 0, 0, 0, 0, 0, silent_seconds),
        )
        .values(status="interrupted", error_code="process_lost", finished_at=func.now())
        .returning(Message.id)
        .execution_options(synchronize_session=False)
    )
    return len(ended.all())
