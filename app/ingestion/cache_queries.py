"""Statements about extractions that were paid for."""

from __future__ import annotations

import uuid

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.ingestion.tables import CachedExtraction


async def find_extraction(session: AsyncSession, workspace_id: uuid.UUID, key: uuid.UUID) -> str | None:
    found = await session.scalars(
        select(CachedExtraction.value).where(CachedExtraction.workspace_id == workspace_id, CachedExtraction.key == key)
    )
    return found.one_or_none()


async def put_extraction(session: AsyncSession, workspace_id: uuid.UUID, key: uuid.UUID, value: str) -> None:
    """The last writer wins."""
    new = insert(CachedExtraction).values(workspace_id=workspace_id, key=key, value=value)
    await session.execute(
        new.on_conflict_do_update(index_elements=["workspace_id", "key"], set_={"value": new.excluded.value})
    )
