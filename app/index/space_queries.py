"""Statements about embedding spaces: which there are, which is read, which are written. One each, no decisions."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.db.locks import lock, lock_shared
from app.index.tables import Space

_SPACES = "embedding_spaces"


async def hold_spaces(session: AsyncSession) -> None:
    """Which spaces are written stays as it is until this transaction ends. Taken before any other lock."""
    await lock_shared(session, _SPACES)


async def lock_spaces(session: AsyncSession) -> None:
    """Wait until nobody writes vectors, and keep everybody from it until this transaction ends."""
    await lock(session, _SPACES)


async def list_spaces(session: AsyncSession) -> Sequence[Space]:
    """All of them, the current one first, then the one that is being filled."""
    found = await session.scalars(
        select(Space)
        .order_by(Space.is_current.desc(), Space.filling_since.is_(None), Space.id)
        .execution_options(populate_existing=True)
    )
    return found.all()


async def list_written(session: AsyncSession) -> Sequence[Space]:
    """The current space and the one that is being filled, in this order."""
    return [space for space in await list_spaces(session) if space.is_current or space.filling_since is not None]


async def find_filling(session: AsyncSession) -> Space | None:
    return (await session.scalars(select(Space).where(Space.filling_since.is_not(None)))).one_or_none()


async def set_filling(session: AsyncSession, space_id: int) -> None:
    await session.execute(update(Space).where(Space.id == space_id).values(filling_since=now(), left_at=None))


async def set_left(session: AsyncSession, space_id: int) -> None:
    """Neither read nor written any more."""
    await session.execute(
        update(Space).where(Space.id == space_id).values(is_current=False, filling_since=None, left_at=now())
    )


async def set_current(session: AsyncSession, space_id: int) -> None:
    """The switch, all in one statement's moment: the space before it is left."""
    await session.execute(update(Space).where(Space.is_current).values(is_current=False, left_at=now()))
    await session.execute(
        update(Space).where(Space.id == space_id).values(is_current=True, filling_since=None, left_at=None)
    )


async def delete_space(session: AsyncSession, space_id: int) -> None:
    """Forget a space whose vectors are gone, with what was measured in it."""
    await session.execute(text("DELETE FROM calibrations WHERE space_id = :space"), {"space": space_id})
    await session.execute(delete(Space).where(Space.id == space_id, Space.left_at.is_not(None)))
