"""Statements about extractions that were paid for."""

from __future__ import annotations

import uuid

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
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


async def take_claim(
    session: AsyncSession, workspace_id: uuid.UUID, key: uuid.UUID, holder: uuid.UUID, seconds: float
) -> bool:
    """Whether the holder has it now: nobody had, or whoever had it did not renew it."""
    taken = await (await raw(session)).fetchval(
        """
        INSERT INTO extraction_claims AS claim (workspace_id, key, holder, until)
        VALUES ($1, $2, $3, now() + make_interval(secs => $4))
        ON CONFLICT (workspace_id, key) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE claim.until < now()
        RETURNING true
        """,
        workspace_id,
        key,
        holder,
        seconds,
    )
    return bool(taken)


async def renew_claim(
    session: AsyncSession, workspace_id: uuid.UUID, key: uuid.UUID, holder: uuid.UUID, seconds: float
) -> None:
    await (await raw(session)).execute(
        """
        UPDATE extraction_claims SET until = now() + make_interval(secs => $4)
        WHERE workspace_id = $1 AND key = $2 AND holder = $3
        """,
        workspace_id,
        key,
        holder,
        seconds,
    )


async def drop_claim(session: AsyncSession, workspace_id: uuid.UUID, key: uuid.UUID, holder: uuid.UUID) -> None:
    """And what the dead have left here a day ago."""
    await (await raw(session)).execute(
        """
        DELETE FROM extraction_claims
        WHERE workspace_id = $1 AND ((key = $2 AND holder = $3) OR until < now() - interval '1 day')
        """,
        workspace_id,
        key,
        holder,
    )
