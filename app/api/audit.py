"""What admins of the caller's workspace did."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from app.api.deps import Admin, ReadSession
from app.api.pages import Cursor, Limit, Page, cut, decode_id, encode
from app.api.text_types import Name
from app.people import audit_queries as queries

router = APIRouter(prefix="/audit", tags=["audit"])


class AuditShape(BaseModel):
    """`key_id` null: on loopback, where nobody has to say who he is."""

    id: uuid.UUID
    created_at: datetime
    key_id: uuid.UUID | None
    action: str
    target: str | None
    detail: dict[str, Any]


class AuditPage(Page[AuditShape]):
    pass


@router.get("")
async def list_audit_events(
    principal: Admin,
    session: ReadSession,
    limit: Limit = 50,
    cursor: Cursor = None,
    action: Annotated[Name | None, Query(description="`key.created`, or `key` for all that concerns keys")] = None,
) -> AuditPage:
    """Newest first."""
    rows = await queries.list_events(session, principal.workspace_id, limit + 1, decode_id(cursor), action)
    page, last = cut(rows, limit)
    return AuditPage(
        items=[AuditShape.model_validate(row, from_attributes=True) for row in page],
        next_cursor=encode(last.id.hex) if last is not None else None,
    )
