"""Statements about stored providers. They belong to the installation, so no workspace is among their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.locks import lock
from app.vault.tables import VERSIONS, ProviderRow


async def list_versions(session: AsyncSession) -> dict[str, int]:
    """By name; two equal answers mean that nothing was changed between them."""
    rows = await session.execute(select(ProviderRow.name, ProviderRow.version))
    return {row.name: row.version for row in rows}


async def list_rows(session: AsyncSession) -> Sequence[ProviderRow]:
    return (await session.execute(select(ProviderRow).order_by(ProviderRow.name))).scalars().all()


async def lock_vault(session: AsyncSession) -> None:
    """Whoever seals, seals anew or takes away waits here: what is sealed and the keys that open it go together."""
    await lock(session, "vault")


async def find_row(session: AsyncSession, name: str) -> ProviderRow | None:
    return (await session.execute(select(ProviderRow).where(ProviderRow.name == name))).scalar_one_or_none()


async def save_row(session: AsyncSession, name: str, values: Mapping[str, Any]) -> None:
    """With a version that was never seen before."""
    fresh = insert(ProviderRow).values(name=name, **values)
    changed = {**values, "version": VERSIONS.next_value(), "updated_at": func.now()}
    await session.execute(fresh.on_conflict_do_update(index_elements=["name"], set_=changed))


async def delete_row(session: AsyncSession, name: str) -> bool:
    """Whether there was one."""
    done = await session.execute(delete(ProviderRow).where(ProviderRow.name == name).returning(ProviderRow.name))
    return done.first() is not None


async def save_sealed(session: AsyncSession, name: str, sealed: bytes) -> None:
    """The same secret in another envelope."""
    await session.execute(
        update(ProviderRow)
        .where(ProviderRow.name == name)
        .values(sealed_key=sealed, version=VERSIONS.next_value())
        .execution_options(synchronize_session=False)
    )
