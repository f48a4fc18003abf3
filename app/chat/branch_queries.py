"""Statements about branches: the tree, the path to a place in it, references, condensed paths."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Integer, Uuid, Values, column, delete, func, or_, select, text, update, values
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.chat.branch_tables import BranchInsight, BranchLink, BranchParent, PathDigest
from app.chat.profiles import Context
from app.chat.queries import BranchNotFound, MessageNotFound, get_conversation
from app.chat.split_guard import State, siblings_under
from app.chat.tables import Branch, Conversation, Message
from app.chat.tree import Node, Parent, Stretch, Tree
from app.core.clock import now
from app.core.errors import NotFound
from app.core.ids import new_id
from app.db.locks import lock

Relation = Literal["related", "contradicts", "extends"]


class LinkNotFound(NotFound):
    """There is no such link of this branch."""

    code = "link_not_found"


# ------------------------------------------------------------------------------------ the tree


async def lock_tree(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID
) -> tuple[Conversation, Tree]:
    """The conversation and its branches, which nobody else changes until commit. Raises ConversationNotFound.

    Forks, merges and moves wait for each other by the tree's own lock, then for appends by the conversation's row.
    """
    await lock(session, "tree", workspace_id, conversation_id)
    conversation = await get_conversation(session, workspace_id, conversation_id, lock=True)
    return conversation, await get_tree(session, workspace_id, conversation_id)


async def get_tree(session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID) -> Tree:
    """Empty where there is no such conversation."""
    rows = await session.execute(
        select(Branch.id, Branch.parent_branch_id, Branch.parent_message_id, Message.ordinal, Branch.label)
        .add_columns(Branch.profile, Branch.context)
        .outerjoin(Message, (Message.workspace_id == Branch.workspace_id) & (Message.id == Branch.parent_message_id))
        .where(Branch.workspace_id == workspace_id, Branch.conversation_id == conversation_id)
        .order_by(Branch.id)
    )
    further: dict[uuid.UUID, list[Parent]] = {}
    for row in await session.execute(
        select(
            BranchParent.branch_id,
            BranchParent.parent_branch_id,
            BranchParent.parent_message_id,
            Message.ordinal,
        )
        .join(Branch, (Branch.workspace_id == BranchParent.workspace_id) & (Branch.id == BranchParent.branch_id))
        .join(
            Message,
            (Message.workspace_id == BranchParent.workspace_id) & (Message.id == BranchParent.parent_message_id),
        )
        .where(BranchParent.workspace_id == workspace_id, Branch.conversation_id == conversation_id)
        .order_by(BranchParent.branch_id, BranchParent.ordinal)
    ):
        further.setdefault(row.branch_id, []).append(Parent(row.parent_branch_id, row.parent_message_id, row.ordinal))
    return Tree.of(
        Node(
            row.id,
            [
                *([Parent(row.parent_branch_id, row.parent_message_id, row.ordinal)] if row.parent_branch_id else []),
                *further.get(row.id, []),
            ],
            row.label,
            row.profile,
            row.context,
        )
        for row in rows
    )


async def get_branch_of(
    session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID, *, fresh: bool = False
) -> Branch:
    """The branch, of whichever conversation; `fresh` as it is now, whatever was read before. Raises BranchNotFound."""
    wanted = select(Branch).where(Branch.workspace_id == workspace_id, Branch.id == branch_id)
    if fresh:
        wanted = wanted.execution_options(populate_existing=True)
    found = (await session.scalars(wanted)).one_or_none()
    if found is None:
        raise BranchNotFound
    return found


async def get_message_of(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID, message_id: uuid.UUID
) -> Message:
    """Raises MessageNotFound where it is not of this conversation."""
    found = (
        await session.scalars(
            select(Message).where(
                Message.workspace_id == workspace_id,
                Message.conversation_id == conversation_id,
                Message.id == message_id,
            )
        )
    ).one_or_none()
    if found is None:
        raise MessageNotFound
    return found


async def find_last_message(session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID) -> Message | None:
    return (
        await session.scalars(
            select(Message)
            .where(Message.workspace_id == workspace_id, Message.branch_id == branch_id)
            .order_by(Message.ordinal.desc())
            .limit(1)
        )
    ).one_or_none()


async def get_split_state(
    session: AsyncSession, conversation: Conversation, tree: Tree, branch_id: uuid.UUID
) -> tuple[State, int]:
    """What decides whether this branch may be forked, and its last ordinal. The tree must be locked."""
    workspace_id = conversation.workspace_id
    last = await session.scalar(
        select(func.coalesce(func.max(Message.ordinal), 0)).where(
            Message.workspace_id == workspace_id, Message.branch_id == branch_id
        )
    )
    forked = await session.scalar(
        select(func.max(Branch.forked_at_ordinal)).where(
            Branch.workspace_id == workspace_id, Branch.parent_branch_id == branch_id
        )
    )
    latest = await session.scalar(
        select(func.max(Branch.forked_at_appended)).where(
            Branch.workspace_id == workspace_id, Branch.conversation_id == conversation.id
        )
    )
    state = State(
        depth=tree.depths()[branch_id],
        siblings=siblings_under(tree, branch_id),
        branch_messages=None if forked is None else int(last or 0) - forked,
        conversation_messages=None if latest is None else conversation.appended - latest,
    )
    return state, int(last or 0)


async def insert_branch(
    session: AsyncSession,
    conversation: Conversation,
    parents: Sequence[Message],
    *,
    label: str,
    profile: str,
    context: Context,
    depth: int,
    made_by: str,
    forked_at_ordinal: int | None = None,
) -> Branch:
    """Under the first of `parents`, with the others as further ones. The tree must be locked."""
    at = now()
    under = parents[0]
    branch = Branch(
        workspace_id=conversation.workspace_id,
        id=new_id(),
        conversation_id=conversation.id,
        parent_branch_id=under.branch_id,
        parent_message_id=under.id,
        label=label,
        profile=profile,
        context=context,
        depth=depth,
        made_by=made_by,
        forked_at_ordinal=forked_at_ordinal,
        forked_at_appended=None if forked_at_ordinal is None else conversation.appended,
        condensed_ordinal=0,
        created_at=at,
        updated_at=at,
        version=1,
    )
    session.add(branch)
    await session.flush()
    session.add_all(
        BranchParent(
            workspace_id=branch.workspace_id,
            branch_id=branch.id,
            ordinal=place,
            parent_branch_id=message.branch_id,
            parent_message_id=message.id,
        )
        for place, message in enumerate(parents[1:], 1)
    )
    conversation.updated_at = at
    await session.flush()
    return branch


async def place_branch(session: AsyncSession, branch: Branch, under: Message) -> None:
    """Hang it under another message. It must be locked with its tree; depths are the caller's to set."""
    branch.parent_branch_id, branch.parent_message_id = under.branch_id, under.id
    branch.forked_at_ordinal = branch.forked_at_appended = None
    await session.flush()
    await session.execute(
        update(Message)
        .where(Message.workspace_id == branch.workspace_id, Message.branch_id == branch.id, Message.ordinal == 1)
        .values(parent_id=under.id)
        .execution_options(synchronize_session=False)
    )


async def save_depths(session: AsyncSession, workspace_id: uuid.UUID, depths: Mapping[uuid.UUID, int]) -> None:
    """Of a locked tree, those that differ."""
    await session.execute(
        text(
            "UPDATE branches b SET depth = d.depth FROM unnest(CAST(:ids AS uuid[]), CAST(:depths AS int[])) "
            "AS d (id, depth) WHERE b.workspace_id = :workspace AND b.id = d.id AND b.depth <> d.depth"
        ),
        {"workspace": workspace_id, "ids": list(depths), "depths": list(depths.values())},
    )


async def delete_branches(session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID) -> None:
    """With its messages and all that hangs under it."""
    await session.execute(delete(Branch).where(Branch.workspace_id == workspace_id, Branch.id == branch_id))


# ------------------------------------------------------------------------------------ the path


async def list_path(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    path: Sequence[Stretch],
    *,
    after: int = 0,
    limit: int | None = None,
) -> list[tuple[int, Message]]:
    """The messages of a path in order, each with its place from 1; those behind place `after`."""
    told = _told(path)
    rows = await session.execute(
        select(Message, told.c.before)
        .join(told, (Message.branch_id == told.c.branch_id) & (Message.ordinal <= told.c.until))
        .where(Message.workspace_id == workspace_id, told.c.before + Message.ordinal > after)
        .order_by(told.c.place, Message.ordinal)
        .limit(limit)
    )
    return [(before + message.ordinal, message) for message, before in rows]


async def list_recent(
    session: AsyncSession, workspace_id: uuid.UUID, path: Sequence[Stretch], limit: int
) -> list[Message]:
    """The newest finished messages of a path, oldest first. Failed answers are no history."""
    told = _told(path)
    rows = await session.scalars(
        select(Message)
        .join(told, (Message.branch_id == told.c.branch_id) & (Message.ordinal <= told.c.until))
        .where(
            Message.workspace_id == workspace_id,
            Message.status.in_(("complete", "interrupted")),
            Message.content != "",
        )
        .order_by(told.c.place.desc(), Message.ordinal.desc())
        .limit(limit)
    )
    return list(rows)[::-1]


async def list_cited_cards(
    session: AsyncSession, workspace_id: uuid.UUID, path: Sequence[Stretch], limit: int
) -> list[CitedCard]:
    """Cards that the answers of a path point to and that are still there, those cited last first."""
    rows = await session.execute(
        text("""
            SELECT c.id, c.title, cited.branch_id
            FROM (
                SELECT DISTINCT ON (t ->> 'id') CAST(t ->> 'id' AS uuid) AS id, m.branch_id, s.place, m.ordinal
                FROM unnest(CAST(:branches AS uuid[]), CAST(:untils AS int[])) WITH ORDINALITY
                    AS s (branch_id, until, place)
                JOIN messages m
                    ON m.workspace_id = :workspace AND m.branch_id = s.branch_id AND m.ordinal <= s.until
                CROSS JOIN LATERAL jsonb_array_elements(
                    CASE WHEN jsonb_typeof(m.citations) = 'array' THEN m.citations ELSE '[]' END) AS t
                WHERE t ->> 'kind' = 'card'
                ORDER BY t ->> 'id', s.place DESC, m.ordinal DESC
            ) AS cited
            JOIN cards c ON c.workspace_id = :workspace AND c.id = cited.id AND c.trashed_at IS NULL
            ORDER BY cited.place DESC, cited.ordinal DESC, c.id
            LIMIT :limit"""),
        {
            "workspace": workspace_id,
            "branches": [stretch.branch_id for stretch in path],
            "untils": [_END if stretch.until is None else stretch.until for stretch in path],
            "limit": limit,
        },
    )
    return [CitedCard(row.id, row.title, row.branch_id) for row in rows]


@dataclass(frozen=True, slots=True)
class CitedCard:
    """`branch_id`: where it was cited last."""

    id: uuid.UUID
    title: str
    branch_id: uuid.UUID


async def find_digest(session: AsyncSession, workspace_id: uuid.UUID, message_id: uuid.UUID) -> PathDigest | None:
    """The path up to a message, if it was condensed already."""
    return await session.get(PathDigest, (workspace_id, message_id))


async def save_digest(
    session: AsyncSession, workspace_id: uuid.UUID, message_id: uuid.UUID, said: str, made_by: str
) -> None:
    """The first one stays. A message that has gone in the meantime has no path."""
    here = select(Message.id).where(Message.workspace_id == workspace_id, Message.id == message_id)
    if await session.scalar(here.with_for_update(read=True, key_share=True)) is None:
        return
    await session.execute(
        insert(PathDigest)
        .values(workspace_id=workspace_id, message_id=message_id, text=said, made_by=made_by, created_at=now())
        .on_conflict_do_nothing()
    )


async def forget_digests(session: AsyncSession, workspace_id: uuid.UUID, branches: Sequence[uuid.UUID]) -> None:
    """Of paths that lead through a branch that was moved."""
    await session.execute(
        delete(PathDigest)
        .where(
            PathDigest.workspace_id == workspace_id,
            PathDigest.message_id.in_(
                select(Message.id).where(Message.workspace_id == workspace_id, Message.branch_id.in_(branches))
            ),
        )
        .execution_options(synchronize_session=False)
    )


_END = 2**31 - 1


def _told(path: Sequence[Stretch]) -> Values:
    """The stretches of a path as rows; `before`: how many messages of the path are in earlier ones."""
    rows, before = [], 0
    for place, stretch in enumerate(path):
        rows.append((stretch.branch_id, _END if stretch.until is None else stretch.until, before, place))
        before += stretch.until or 0
    columns = (column("branch_id", Uuid), *(column(name, Integer) for name in ("until", "before", "place")))
    return values(*columns, name="told").data(rows)


# ------------------------------------------------------------------------------------ references


async def save_link(
    session: AsyncSession,
    source: Branch,
    target: Branch,
    relation: Relation,
    reason: str,
    made_by: str,
) -> tuple[BranchLink, bool]:
    """The link, and whether it is new; the same relation of the same branches has its reason renewed."""
    statement = (
        insert(BranchLink)
        .values(
            workspace_id=source.workspace_id,
            id=new_id(),
            conversation_id=source.conversation_id,
            source_branch_id=source.id,
            target_branch_id=target.id,
            relation=relation,
            reason=reason,
            made_by=made_by,
            created_at=now(),
        )
        .on_conflict_do_update(
            index_elements=["workspace_id", "source_branch_id", "target_branch_id", "relation"],
            set_={"reason": reason, "made_by": made_by},
        )
        .returning(BranchLink, text("(xmax = 0) AS is_new"))
        .execution_options(populate_existing=True)
    )
    link, is_new = (await session.execute(statement)).one()
    return link, bool(is_new)


async def list_links(session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID) -> Sequence[BranchLink]:
    """References both ways, oldest first."""
    return (
        await session.scalars(
            select(BranchLink)
            .where(
                BranchLink.workspace_id == workspace_id,
                or_(BranchLink.source_branch_id == branch_id, BranchLink.target_branch_id == branch_id),
            )
            .order_by(BranchLink.id)
        )
    ).all()


async def list_tree_links(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID
) -> Sequence[BranchLink]:
    """Every reference of a conversation's branches, oldest first."""
    return (
        await session.scalars(
            select(BranchLink)
            .where(BranchLink.workspace_id == workspace_id, BranchLink.conversation_id == conversation_id)
            .order_by(BranchLink.id)
        )
    ).all()


async def delete_link(session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID, link_id: uuid.UUID) -> None:
    """Raises LinkNotFound."""
    gone = await session.execute(
        delete(BranchLink)
        .where(
            BranchLink.workspace_id == workspace_id,
            BranchLink.id == link_id,
            or_(BranchLink.source_branch_id == branch_id, BranchLink.target_branch_id == branch_id),
        )
        .returning(BranchLink.id)
    )
    if gone.scalar_one_or_none() is None:
        raise LinkNotFound


# ------------------------------------------------------------------------------------ the picture


@dataclass(frozen=True, slots=True)
class Counted:
    """A branch with what is in it."""

    branch: Branch
    messages: int
    insights: int
    last_message_at: datetime | None


async def list_counted(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    conversation_id: uuid.UUID,
    branch_id: uuid.UUID | None = None,
) -> list[Counted]:
    """The conversation's branches, oldest first, or that one."""
    of_branch = (Message.workspace_id == Branch.workspace_id) & (Message.branch_id == Branch.id)
    counted = select(func.count(), func.max(Message.created_at)).where(of_branch).correlate(Branch).lateral("counted")
    insights = (
        select(func.count())
        .where(BranchInsight.workspace_id == Branch.workspace_id, BranchInsight.branch_id == Branch.id)
        .correlate(Branch)
        .scalar_subquery()
    )
    rows = await session.execute(
        select(Branch, *counted.c, insights)
        .join(counted, text("true"))
        .where(Branch.workspace_id == workspace_id, Branch.conversation_id == conversation_id)
        .where(text("true") if branch_id is None else Branch.id == branch_id)
        .order_by(Branch.id)
    )
    return [Counted(branch, messages, found, last) for branch, messages, last, found in rows]


async def list_last_said(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID
) -> dict[uuid.UUID, int]:
    """The branches in which anything was said, by the order in which they were last spoken in; later is larger."""
    rows = await session.execute(
        select(Message.branch_id)
        .where(Message.workspace_id == workspace_id, Message.conversation_id == conversation_id)
        .group_by(Message.branch_id)
        .order_by(func.max(Message.created_at), Message.branch_id)
    )
    return {branch_id: place for place, branch_id in enumerate(rows.scalars(), 1)}
