"""Statements of the runner: a workspace that comes and goes, and how much lies in it."""

from __future__ import annotations

import uuid
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.ids import new_id
from app.people.tables import Workspace


async def make_workspace(session: AsyncSession) -> uuid.UUID:
    """A workspace for one evaluation."""
    workspace = Workspace(id=new_id(), slug="", name="Evaluation")
    workspace.slug = f"eval-{workspace.id}"
    session.add(workspace)
    return workspace.id


async def remove_workspace(session: AsyncSession, workspace_id: uuid.UUID) -> None:
    await session.execute(text("SET LOCAL statement_timeout = 0"))
    await session.execute(text("DELETE FROM workspaces WHERE id = :id"), {"id": workspace_id})


async def get_size(session: AsyncSession, workspace_id: uuid.UUID) -> dict[str, Any]:
    """Rows and bytes of what was derived."""
    row = (
        await session.execute(
            text(
                "SELECT (SELECT count(*) FROM chunks WHERE workspace_id = :id) AS chunks, "
                "(SELECT count(*) FROM windows WHERE workspace_id = :id) AS windows, "
                "(SELECT coalesce(sum(pg_column_size(w.*)), 0) FROM windows w "
                "WHERE workspace_id = :id) AS window_bytes, "
                "(SELECT coalesce(sum(pg_column_size(c.*)), 0) FROM chunks c WHERE workspace_id = :id) AS chunk_bytes"
            ),
            {"id": workspace_id},
        )
    ).one()
    return {name: int(value) for name, value in row._mapping.items()}
