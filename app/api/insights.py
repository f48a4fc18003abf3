"""What a branch found, and what other branches were told of it, over HTTP."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession

from app.api.deps import Chatter, Reader, ReadSession, Wired
from app.api.idempotency import LongRoute
from app.api.pages import Cursor, Limit, Page, cut, decode_id, encode
from app.chat import insights_queries as queries
from app.chat.branch_queries import get_branch_of
from app.chat.branch_tables import BranchInsight

router = APIRouter(tags=["branches"], route_class=LongRoute)

_SHOWN = 50


class InsightLinkShape(BaseModel):
    """What an insight means to another branch. `delivered_at`: when it stood in a prompt of that branch whose answer
    completed; null: it is still to be told.
    """

    target_branch_id: uuid.UUID
    relation: str
    reason: str
    similarity: float | None
    made_by: str
    delivered_at: datetime | None


class InsightShape(BaseModel):
    """`is_echo`: it says again what another branch told (`from_insight_id`), and is not passed on."""

    id: uuid.UUID
    branch_id: uuid.UUID
    text: str
    source_message_id: uuid.UUID | None
    from_insight_id: uuid.UUID | None
    is_echo: bool
    made_by: str
    created_at: datetime
    links: Sequence[InsightLinkShape]


class CondensedShape(BaseModel):
    """`new`: how many were not there before. `items`: the newest ones of the branch."""

    new: int
    items: Sequence[InsightShape]


@router.post("/branches/{branch_id}/insights")
async def condense_branch(principal: Chatter, services: Wired, branch_id: uuid.UUID) -> CondensedShape:
    """Condense what is new in the branch now, and compare it with the other branches. Nothing new: nothing is made."""
    workspace_id = principal.workspace_id
    async with services.database.read() as session:
        await get_branch_of(session, workspace_id, branch_id)
    made = await services.insights.condense(workspace_id, branch_id)
    async with services.database.read() as session:
        found = await queries.list_of_branch(session, workspace_id, branch_id, None, _SHOWN)
        return CondensedShape(new=made, items=await _shaped(session, workspace_id, found))


@router.get("/branches/{branch_id}/insights")
async def list_insights(
    principal: Reader, session: ReadSession, branch_id: uuid.UUID, limit: Limit = 50, cursor: Cursor = None
) -> Page[InsightShape]:
    """Newest first, with what each means to which branch."""
    await get_branch_of(session, principal.workspace_id, branch_id)
    after = decode_id(cursor)
    rows = await queries.list_of_branch(session, principal.workspace_id, branch_id, after, limit + 1)
    page, last = cut(rows, limit)
    return Page[InsightShape](
        items=await _shaped(session, principal.workspace_id, page),
        next_cursor=encode(last.id.hex) if last is not None else None,
    )


async def _shaped(
    session: AsyncSession, workspace_id: uuid.UUID, insights: Sequence[BranchInsight]
) -> list[InsightShape]:
    links: dict[uuid.UUID, list[InsightLinkShape]] = {}
    for link, delivered_at in await queries.list_links(session, workspace_id, [one.id for one in insights]):
        links.setdefault(link.insight_id, []).append(
            InsightLinkShape.model_construct(
                target_branch_id=link.target_branch_id,
                relation=link.relation,
                reason=link.reason,
                similarity=link.similarity,
                made_by=link.made_by,
                delivered_at=delivered_at,
            )
        )
    return [
        InsightShape.model_construct(
            id=one.id,
            branch_id=one.branch_id,
            text=one.text,
            source_message_id=one.source_message_id,
            from_insight_id=one.from_insight_id,
            is_echo=one.is_echo,
            made_by=one.made_by,
            created_at=one.created_at,
            links=links.get(one.id, []),
        )
        for one in insights
    ]
