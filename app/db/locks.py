"""Advisory locks: the short list of things that only one process may do at a time."""

from __future__ import annotations

import hashlib
import uuid

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession


def lock_key(*parts: str | uuid.UUID) -> int:
    """A stable signed 64-bit key for `pg_advisory_*lock`."""
    digest = hashlib.blake2b("\x1f".join(str(part) for part in parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


async def lock(session: AsyncSession, *parts: str | uuid.UUID) -> None:
    """Wait for the lock; it is held until the transaction ends."""
    await session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": lock_key(*parts)})


async def lock_shared(session: AsyncSession, *parts: str | uuid.UUID) -> None:
    """Wait until nobody holds the lock alone; others may share it. Held until the transaction ends."""
    await session.execute(text("SELECT pg_advisory_xact_lock_shared(:key)"), {"key": lock_key(*parts)})


async def try_lock(session: AsyncSession, *parts: str | uuid.UUID) -> bool:
    """Take the lock until the transaction ends, or say that another has it."""
    taken = await session.scalar(text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": lock_key(*parts)})
    return bool(taken)
