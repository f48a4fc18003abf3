"""Communities of the graph and their reports, over HTTP."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from app.api.deps import Reader, ReadSession, Wired, Writer, WriteSession
from app.api.idempotency import RecordedRoute
from app.api.jobs import JobShape, job_shape
from app.api.pages import Cursor, InvalidCursor, Limit, cut, encode, parts
from app.graph import community_pages as pages
from app.graph.community_pages import Listed
from app.graph.community_queries import find_report
from app.jobs.queue import get_job

router = APIRouter(prefix="/graph/communities", tags=["graph"], route_class=RecordedRoute)

_MEMBERS = 200


class CommunityShape(BaseModel):
    """Level 0 is the coarsest. `stale`: the graph has changed since, or its report could not be made as it should."""

    id: uuid.UUID
    level: int
    parent_id: uuid.UUID | None
    size: int
    weight: float
    title: str | None
    summary: str | None
    rating: float | None
    stale: bool
    created_at: datetime


class CommunityPage(BaseModel):
    items: list[CommunityShape]
    next_cursor: str | None


class MemberShape(BaseModel):
    id: uuid.UUID
    name: str
    type: str
    degree: int


class PlaceShape(BaseModel):
    """`start`, `end`: character offsets into the card's content."""

    card_id: uuid.UUID
    chunk_id: uuid.UUID
    start: int | None
    end: int | None


class FindingShape(BaseModel):
    text: str
    entity_ids: list[uuid.UUID]
    relation_ids: list[uuid.UUID]
    card_ids: list[uuid.UUID]
    places: list[PlaceShape]


class ReportShape(BaseModel):
    """`rating` is from 0 to 10. `generated_by`: `offline`, or `provider/model`."""

    title: str
    summary: str
    rating: float
    rating_reason: str
    findings: list[FindingShape]
    language: str
    generated_by: str
    flags: list[str]
    created_at: datetime


class CommunityDetailShape(CommunityShape):
    """`members`: those with most statements first, at most 200 of `size`."""

    report: ReportShape | None
    members: list[MemberShape]
    children: list[CommunityShape]


@router.get("")
async def list_communities(
    principal: Reader,
    session: ReadSession,
    level: Annotated[int | None, Query(ge=0, le=100, description="0: the coarsest")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> CommunityPage:
    """The coarsest level first, the largest first."""
    found = await pages.list_page(session, principal.workspace_id, level, _after(cursor), limit + 1)
    page, last = cut(found, limit)
    return CommunityPage(
        items=[_shape(one) for one in page], next_cursor=encode(last.level, last.size, last.id.hex) if last else None
    )


@router.post("/rebuild", status_code=202)
async def rebuild_communities(principal: Writer, wired: Wired, session: WriteSession, response: Response) -> JobShape:
    """Cluster everything anew; `GET /jobs/{id}` tells how far it is. Asked for again while it waits it is the same
    job.
    """
    job_id = await wired.communities.ask_for(session, principal.workspace_id)
    response.headers["Location"] = f"/api/v1/jobs/{job_id}"
    return job_shape(await get_job(session, principal.workspace_id, job_id))


@router.get("/{community_id}")
async def get_community(principal: Reader, session: ReadSession, community_id: uuid.UUID) -> CommunityDetailShape:
    """With its report, its members and its parts."""
    found = await pages.get_one(session, principal.workspace_id, community_id)
    report = await find_report(session, principal.workspace_id, community_id)
    members = await pages.list_members(session, principal.workspace_id, community_id, _MEMBERS)
    children = await pages.list_children(session, principal.workspace_id, community_id)
    return CommunityDetailShape(
        **_shape(found).model_dump(),
        report=_report(report) if report else None,
        members=[MemberShape(**row) for row in members],
        children=[_shape(child) for child in children],
    )


def _shape(found: Listed) -> CommunityShape:
    return CommunityShape(
        id=found.id,
        level=found.level,
        parent_id=found.parent_id,
        size=found.size,
        weight=found.weight,
        title=found.title,
        summary=found.summary,
        rating=found.rating,
        stale=found.is_stale,
        created_at=found.created_at,
    )


def _report(row: Any) -> ReportShape:
    return ReportShape(**row)


def _after(cursor: str | None) -> tuple[int, int, uuid.UUID] | None:
    if cursor is None:
        return None
    match parts(cursor):
        case [int(level), int(size), str(last)] if 0 <= level < 2**31 and 0 <= size < 2**31:
            try:
                return level, size, uuid.UUID(hex=last)
            except ValueError as error:
                raise InvalidCursor from error
    raise InvalidCursor
