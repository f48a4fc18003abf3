"""Statements about insights: what a branch came to, what it means to other branches, who was told."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from pgvector import HalfVector
from sqlalchemy import Text, Uuid, and_, exists, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.chat.branch_tables import BranchInsight, InsightComparison, InsightDelivery, InsightLink
from app.chat.insights_relate import RANK
from app.chat.tables import Branch, Message
from app.core.clock import now
from app.core.ids import new_id
from app.db.session import raw
from app.index.rows import text_hash
from app.providers.ports import Vector


@dataclass(frozen=True, slots=True)
class NewInsight:
    text: str
    source_message_id: uuid.UUID
    from_insight_id: uuid.UUID | None = None


@dataclass(frozen=True, slots=True)
class NewLink:
    insight_id: uuid.UUID
    target_branch_id: uuid.UUID
    relation: str
    reason: str
    similarity: float
    made_by: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """An insight that a branch has not been told yet."""

    insight_id: uuid.UUID
    text: str
    branch_label: str | None
    branch_id: uuid.UUID
    relation: str
    reason: str
    similarity: float


async def count_asked_since(session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID) -> int:
    """Messages of the user in a branch that no insight was made of yet."""
    found = await session.scalar(
        select(func.count())
        .select_from(Message)
        .join(Branch, (Branch.workspace_id == Message.workspace_id) & (Branch.id == Message.branch_id))
        .where(
            Message.workspace_id == workspace_id,
            Message.branch_id == branch_id,
            Message.role == "user",
            Message.ordinal > Branch.condensed_ordinal,
        )
    )
    return found or 0


async def list_since(
    session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID, after: int, limit: int
) -> Sequence[Message]:
    """The newest finished messages behind an ordinal, oldest first; nothing behind one that is still being said."""
    open_at = (
        select(func.min(Message.ordinal))
        .where(
            Message.workspace_id == workspace_id,
            Message.branch_id == branch_id,
            Message.status == "streaming",
        )
        .scalar_subquery()
    )
    rows = await session.scalars(
        select(Message)
        .where(
            Message.workspace_id == workspace_id,
            Message.branch_id == branch_id,
            Message.ordinal > after,
            Message.ordinal < func.coalesce(open_at, 2**31 - 1),
        )
        .order_by(Message.ordinal.desc())
        .limit(limit)
    )
    return list(rows)[::-1]


async def are_elsewhere(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID, branch_id: uuid.UUID
) -> bool:
    """Whether another branch of the conversation has insights at all."""
    found = exists().where(
        BranchInsight.workspace_id == workspace_id,
        BranchInsight.conversation_id == conversation_id,
        BranchInsight.branch_id != branch_id,
    )
    return bool(await session.scalar(select(found)))


async def list_of_conversation(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID
) -> Sequence[BranchInsight]:
    rows = await session.scalars(
        select(BranchInsight)
        .where(BranchInsight.workspace_id == workspace_id, BranchInsight.conversation_id == conversation_id)
        .order_by(BranchInsight.id)
    )
    return rows.all()


async def list_ordinals(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID
) -> dict[uuid.UUID, int]:
    """By insight: the place in its branch of the message that it comes from."""
    rows = await session.execute(
        select(BranchInsight.id, Message.ordinal)
        .join(
            Message,
            (Message.workspace_id == BranchInsight.workspace_id) & (Message.id == BranchInsight.source_message_id),
        )
        .where(BranchInsight.workspace_id == workspace_id, BranchInsight.conversation_id == conversation_id)
    )
    return {row.id: row.ordinal for row in rows}


async def list_unlinked(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID, branch_id: uuid.UUID, limit: int
) -> list[tuple[BranchInsight, str | None, int | None]]:
    """The newest insights of other branches that nothing links to this one, with the label of their branch and the
    place of their message in it.
    """
    linked = exists().where(
        InsightLink.workspace_id == BranchInsight.workspace_id,
        InsightLink.insight_id == BranchInsight.id,
        InsightLink.target_branch_id == branch_id,
    )
    rows = await session.execute(
        select(BranchInsight, Branch.label, Message.ordinal)
        .join(Branch, (Branch.workspace_id == BranchInsight.workspace_id) & (Branch.id == BranchInsight.branch_id))
        .outerjoin(
            Message,
            (Message.workspace_id == BranchInsight.workspace_id) & (Message.id == BranchInsight.source_message_id),
        )
        .where(
            BranchInsight.workspace_id == workspace_id,
            BranchInsight.conversation_id == conversation_id,
            BranchInsight.branch_id != branch_id,
            BranchInsight.is_echo.is_(False),
            ~linked,
        )
        .order_by(BranchInsight.id.desc())
        .limit(limit)
    )
    return [(insight, label, ordinal) for insight, label, ordinal in rows]


async def list_of_branch(
    session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID, after: uuid.UUID | None, limit: int
) -> Sequence[BranchInsight]:
    """Newest first; `after` is the id of the last one of the page before."""
    wanted = select(BranchInsight).where(
        BranchInsight.workspace_id == workspace_id, BranchInsight.branch_id == branch_id
    )
    if after is not None:
        wanted = wanted.where(BranchInsight.id < after)
    return (await session.scalars(wanted.order_by(BranchInsight.id.desc()).limit(limit))).all()


async def list_links(
    session: AsyncSession, workspace_id: uuid.UUID, insights: Sequence[uuid.UUID]
) -> Sequence[tuple[InsightLink, datetime | None]]:
    """With when each was told."""
    rows = await session.execute(
        select(InsightLink, InsightDelivery.delivered_at)
        .outerjoin(
            InsightDelivery,
            and_(
                InsightDelivery.workspace_id == InsightLink.workspace_id,
                InsightDelivery.insight_id == InsightLink.insight_id,
                InsightDelivery.branch_id == InsightLink.target_branch_id,
            ),
        )
        .where(InsightLink.workspace_id == workspace_id, InsightLink.insight_id.in_(insights))
        .order_by(InsightLink.insight_id, InsightLink.target_branch_id)
    )
    return [(link, at) for link, at in rows]


async def list_told(
    session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID
) -> list[tuple[uuid.UUID, str]]:
    """Id and text of what a branch was told by others."""
    rows = await session.execute(
        select(BranchInsight.id, BranchInsight.text)
        .join(
            InsightDelivery,
            (InsightDelivery.workspace_id == BranchInsight.workspace_id)
            & (InsightDelivery.insight_id == BranchInsight.id),
        )
        .where(BranchInsight.workspace_id == workspace_id, InsightDelivery.branch_id == branch_id)
        .order_by(BranchInsight.id)
    )
    return [(insight_id, text) for insight_id, text in rows]


async def list_linked(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID
) -> set[tuple[uuid.UUID, uuid.UUID]]:
    """Pairs of insight and branch that are linked already."""
    rows = await session.execute(
        select(InsightLink.insight_id, InsightLink.target_branch_id)
        .join(
            BranchInsight,
            (BranchInsight.workspace_id == InsightLink.workspace_id) & (BranchInsight.id == InsightLink.insight_id),
        )
        .where(InsightLink.workspace_id == workspace_id, BranchInsight.conversation_id == conversation_id)
    )
    return {(insight_id, branch_id) for insight_id, branch_id in rows}


Compared = dict[tuple[uuid.UUID, uuid.UUID], uuid.UUID]
"""By insight and branch: the id up to which they were compared."""


async def list_compared(session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID) -> Compared:
    rows = await session.execute(
        select(InsightComparison.insight_id, InsightComparison.target_branch_id, InsightComparison.until)
        .join(
            BranchInsight,
            (BranchInsight.workspace_id == InsightComparison.workspace_id)
            & (BranchInsight.id == InsightComparison.insight_id),
        )
        .where(InsightComparison.workspace_id == workspace_id, BranchInsight.conversation_id == conversation_id)
    )
    return {(insight_id, branch_id): until for insight_id, branch_id, until in rows}


async def find_first_open(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID
) -> uuid.UUID | None:
    """The earliest message of a conversation that is still being said."""
    return await session.scalar(
        select(Message.id)
        .where(
            Message.workspace_id == workspace_id,
            Message.conversation_id == conversation_id,
            Message.status == "streaming",
        )
        .order_by(Message.id)
        .limit(1)
    )


async def put_compared(session: AsyncSession, workspace_id: uuid.UUID, compared: Compared) -> None:
    """Of insights and branches that are still there. The conversation must be locked."""
    for (insight_id, branch_id), until in compared.items():
        values: Any = (
            select(BranchInsight.workspace_id, BranchInsight.id, Branch.id, _as(until))
            .join(Branch, (Branch.workspace_id == BranchInsight.workspace_id) & (Branch.id == branch_id))
            .where(BranchInsight.workspace_id == workspace_id, BranchInsight.id == insight_id)
        )
        put = insert(InsightComparison).from_select(["workspace_id", "insight_id", "target_branch_id", "until"], values)
        await session.execute(
            put.on_conflict_do_update(
                index_elements=["workspace_id", "insight_id", "target_branch_id"],
                set_={"until": put.excluded.until},
            )
        )


async def list_vectors(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID, space_key: str
) -> dict[str, Vector]:
    """Vectors of a conversation's insights in that space, by text."""
    rows = await (await raw(session)).fetch(
        """
        SELECT i.text, v.dense
        FROM branch_insights i JOIN insight_vectors v ON v.workspace_id = i.workspace_id AND v.insight_id = i.id
        WHERE i.workspace_id = $1 AND i.conversation_id = $2 AND v.space_key = $3""",
        workspace_id,
        conversation_id,
        space_key,
    )
    return {row["text"]: row["dense"].to_numpy().astype(np.float32) for row in rows}


async def put_vectors(
    session: AsyncSession, workspace_id: uuid.UUID, space_key: str, vectors: Mapping[uuid.UUID, Vector]
) -> None:
    """By insight; those that are gone are passed over. The conversation must be locked."""
    if not vectors:
        return
    await (await raw(session)).executemany(
        """
        INSERT INTO insight_vectors (workspace_id, insight_id, space_key, dense)
        SELECT workspace_id, id, $3, $4 FROM branch_insights WHERE workspace_id = $1 AND id = $2
        ON CONFLICT (workspace_id, insight_id)
        DO UPDATE SET space_key = excluded.space_key, dense = excluded.dense""",
        [(workspace_id, insight_id, space_key, HalfVector(vector)) for insight_id, vector in vectors.items()],
    )


async def advance(
    session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID, before: int, after: int
) -> bool:
    """Note how far a branch was condensed; not where somebody else has done so meanwhile."""
    done = await session.execute(
        update(Branch)
        .where(Branch.workspace_id == workspace_id, Branch.id == branch_id, Branch.condensed_ordinal == before)
        .values(condensed_ordinal=after)
        .returning(Branch.id)
        .execution_options(synchronize_session=False)
    )
    return done.scalar_one_or_none() is not None


async def insert_insights(
    session: AsyncSession, branch: Branch, insights: Sequence[NewInsight], made_by: str
) -> list[BranchInsight]:
    """Those that are new; the same text in the same branch is none. The conversation must be locked."""
    at = now()
    made: list[BranchInsight] = []
    for one in insights:
        row = await session.scalar(
            insert(BranchInsight)
            .values(
                workspace_id=branch.workspace_id,
                id=new_id(),
                conversation_id=branch.conversation_id,
                branch_id=branch.id,
                text=one.text,
                source_message_id=one.source_message_id,
                # Of one that has gone since it was told only that is known.
                from_insight_id=select(BranchInsight.id)
                .where(BranchInsight.workspace_id == branch.workspace_id, BranchInsight.id == one.from_insight_id)
                .scalar_subquery(),
                is_echo=one.from_insight_id is not None,
                made_by=made_by,
                text_hash=text_hash(one.text),
                created_at=at,
            )
            .on_conflict_do_nothing()
            .returning(BranchInsight)
        )
        if row is not None:
            made.append(row)
    return made


async def insert_links(session: AsyncSession, workspace_id: uuid.UUID, links: Sequence[NewLink]) -> None:
    """Between insights and branches that are still there. The conversation must be locked."""
    for one in links:
        there = select(
            exists().where(BranchInsight.workspace_id == workspace_id, BranchInsight.id == one.insight_id),
            exists().where(Branch.workspace_id == workspace_id, Branch.id == one.target_branch_id),
        )
        if all((await session.execute(there)).one()):
            await session.execute(
                insert(InsightLink)
                .values(
                    workspace_id=workspace_id,
                    insight_id=one.insight_id,
                    target_branch_id=one.target_branch_id,
                    relation=one.relation,
                    reason=one.reason,
                    similarity=one.similarity,
                    made_by=one.made_by,
                )
                .on_conflict_do_nothing()
            )


async def list_waiting(
    session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID, limit: int
) -> list[Waiting]:
    """What this branch is to be told: contradictions, then extensions, then the rest; the nearest first."""
    told = exists().where(
        InsightDelivery.workspace_id == InsightLink.workspace_id,
        InsightDelivery.insight_id == InsightLink.insight_id,
        InsightDelivery.branch_id == InsightLink.target_branch_id,
    )
    rows = await session.execute(
        select(BranchInsight, InsightLink, Branch.label)
        .join(
            InsightLink,
            (InsightLink.workspace_id == BranchInsight.workspace_id) & (InsightLink.insight_id == BranchInsight.id),
        )
        .join(Branch, (Branch.workspace_id == BranchInsight.workspace_id) & (Branch.id == BranchInsight.branch_id))
        .where(
            InsightLink.workspace_id == workspace_id,
            InsightLink.target_branch_id == branch_id,
            BranchInsight.is_echo.is_(False),
            ~told,
        )
        .order_by(
            func.array_position(sorted(RANK, key=lambda name: RANK[name]), InsightLink.relation),
            InsightLink.similarity.desc().nulls_last(),
            BranchInsight.id,
        )
        .limit(limit)
    )
    return [
        Waiting(
            insight.id,
            insight.text,
            label,
            insight.branch_id,
            link.relation,
            link.reason,
            link.similarity or 0.0,
        )
        for insight, link, label in rows
    ]


async def note_delivered(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    branch_id: uuid.UUID,
    message_id: uuid.UUID,
    insights: Sequence[uuid.UUID],
) -> None:
    """In the unit of work that completes the answer; those that are gone by now are passed over. What nothing linked to
    the branch until now is linked by having been asked about.
    """
    if not insights:
        return
    asked: Any = select(
        BranchInsight.workspace_id,
        BranchInsight.id,
        _as(branch_id),
        literal("related", Text()),
        literal("asked about here", Text()),
    ).where(BranchInsight.workspace_id == workspace_id, BranchInsight.id.in_(insights))
    await session.execute(
        insert(InsightLink)
        .from_select(["workspace_id", "insight_id", "target_branch_id", "relation", "reason"], asked)
        .on_conflict_do_nothing()
    )
    values: Any = select(BranchInsight.workspace_id, BranchInsight.id, _as(branch_id), _as(message_id)).where(
        BranchInsight.workspace_id == workspace_id, BranchInsight.id.in_(insights)
    )
    await session.execute(
        insert(InsightDelivery)
        .from_select(["workspace_id", "insight_id", "branch_id", "message_id"], values)
        .on_conflict_do_nothing()
    )


def _as(value: uuid.UUID) -> Any:
    return literal(value, Uuid())
