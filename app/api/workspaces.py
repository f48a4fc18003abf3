"""Workspaces. Admins of the default workspace run the instance; all others see their own alone."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from app.api.deps import Admin, Claimed, NotOperator, ReadSession, Wired, WriteSession
from app.api.idempotency import RecordedRoute
from app.api.keys import IssuedKeyShape, key_shape
from app.api.pages import Cursor, Limit, Page, cut, decode_position, encode_position
from app.api.text_types import Name, Shape
from app.people import audit_queries as audit
from app.people import queries
from app.people.keys import SCOPES, Principal, issue
from app.people.tables import Workspace
from app.wiring import Services

router = APIRouter(prefix="/workspaces", tags=["workspaces"], route_class=RecordedRoute)


class WorkspaceCreate(Shape):
    model_config = ConfigDict(json_schema_extra={"example": {"slug": "family", "name": "Family"}})

    slug: Annotated[str, Field(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$")]
    name: Name


class WorkspaceShape(BaseModel):
    id: uuid.UUID
    slug: str
    name: str
    created_at: datetime


class WorkspaceCreated(WorkspaceShape):
    key: IssuedKeyShape = Field(description="The first admin key of the workspace; its token is shown only here")


class WorkspacePage(Page[WorkspaceShape]):
    pass


@router.post("", status_code=201)
async def create_workspace(
    principal: Admin,
    services: Wired,
    session: WriteSession,
    claim: Claimed,
    body: WorkspaceCreate,
    request: Request,
    response: Response,
) -> WorkspaceCreated:
    if not _is_operator(principal, services):
        raise NotOperator
    if claim is not None:
        claim.is_secret = True
    workspace = await queries.insert_workspace(session, body.slug, body.name)
    issued = issue()
    key = await queries.insert_key(session, workspace.id, issued, name="first key", scopes=SCOPES)
    await audit.record(session, principal, "workspace.created", str(workspace.id), slug=workspace.slug)
    response.headers["Location"] = f"{request.url.path}/{workspace.id}"
    response.headers["Cache-Control"] = "no-store"
    return WorkspaceCreated(
        **workspace_shape(workspace).model_dump(),
        key=IssuedKeyShape(**key_shape(key).model_dump(), token=issued.token),
    )


@router.get("")
async def list_workspaces(
    principal: Admin, services: Wired, session: ReadSession, limit: Limit = 50, cursor: Cursor = None
) -> WorkspacePage:
    """Newest first."""
    only = None if _is_operator(principal, services) else principal.workspace_id
    rows = await queries.list_workspaces(session, limit + 1, decode_position(cursor), only)
    page, last = cut(rows, limit)
    following = (last.created_at, last.id) if last is not None else None
    return WorkspacePage(items=[workspace_shape(row) for row in page], next_cursor=encode_position(following))


@router.get("/{workspace_id}")
async def get_workspace(
    principal: Admin, services: Wired, session: ReadSession, workspace_id: uuid.UUID
) -> WorkspaceShape:
    if workspace_id != principal.workspace_id and not _is_operator(principal, services):
        raise queries.WorkspaceNotFound
    return workspace_shape(await queries.get_workspace(session, workspace_id))


def workspace_shape(workspace: Workspace) -> WorkspaceShape:
    return WorkspaceShape(id=workspace.id, slug=workspace.slug, name=workspace.name, created_at=workspace.created_at)


def _is_operator(principal: Principal, services: Services) -> bool:
    return principal.workspace_id == services.default_workspace
