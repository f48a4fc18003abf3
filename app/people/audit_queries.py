"""What admins did: one row per act, written in the transaction of the act itself. Never holds a secret or content."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.ids import new_id
from app.people.keys import Principal
from app.people.tables import AuditEvent


async def record(
    session: AsyncSession, principal: Principal, action: str, target: str | None = None, **detail: Any
) -> None:
    """`action` is `<what>.<done>`, e.g. `key.created`. `target` names the thing."""
    await session.execute(
        insert(AuditEvent).values(
            workspace_id=principal.workspace_id,
            id=new_id(),
            key_id=principal.key_id,
            action=action,
            target=target,
            detail=detail,
        )
    )


async def list_events(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    limit: int,
    after: uuid.UUID | None = None,
    action: str | None = None,
) -> Sequence[AuditEvent]:
    """Newest first; `action` may be the first half alone."""
    statement = select(AuditEvent).where(AuditEvent.workspace_id == workspace_id)
    if action is not None:
        within = AuditEvent.action.startswith(f"{action}.", autoescape=True)
        statement = statement.where((AuditEvent.action == action) | within)
    if after is not None:
        statement = statement.where(AuditEvent.id < after)
    return (await session.execute(statement.order_by(AuditEvent.id.desc()).limit(limit))).scalars().all()
