"""How often an API key may come in: a leaky bucket per key, kept in the database, so that all processes count together.

One statement per request on a table that need not survive a crash. The moment at which a key's bucket will have run
dry is all that is stored (GCRA).
"""

from __future__ import annotations

import uuid

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import RateLimited

_TAKE = text("""
    INSERT INTO key_rates AS k (workspace_id, key_id, dry_at)
    VALUES (:workspace_id, :key_id, clock_timestamp() + make_interval(secs => :step))
    ON CONFLICT (workspace_id, key_id) DO UPDATE
    SET dry_at = greatest(k.dry_at, clock_timestamp()) + make_interval(secs => :step)
    WHERE greatest(k.dry_at, clock_timestamp()) + make_interval(secs => :step)
        <= clock_timestamp() + make_interval(secs => :depth)
    RETURNING true
""")
_WAIT = text("""
    SELECT extract(epoch FROM dry_at - clock_timestamp())::float8 + :step - :depth
    FROM key_rates WHERE workspace_id = :workspace_id AND key_id = :key_id
""")


class TooOften(RateLimited):
    """This API key is used too often; come back in a moment."""

    code = "rate_limited"


async def take(
    session: AsyncSession, workspace_id: uuid.UUID, key_id: uuid.UUID, *, per_minute: int, burst: int
) -> None:
    """Count one request of the key. Raises TooOften; then nothing is counted."""
    step = 60.0 / per_minute
    values = {"workspace_id": workspace_id, "key_id": key_id, "step": step, "depth": max(step * burst, step)}
    if (await session.execute(_TAKE, values)).first() is None:
        wait_seconds = await session.scalar(_WAIT, values)
        raise TooOften(retry_after_seconds=max(float(wait_seconds or 0.0), step))
