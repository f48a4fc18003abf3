"""After a turn: is there something in it to be remembered? Asked in the transaction that stores the answer, done later.

Which turns are still to be looked at is a table of its own, so that there is one job per workspace however many turns
there were while a model was away. Knows nothing of how memories are made.
"""

from __future__ import annotations

import uuid
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.chat import reflection_queries as queries
from app.jobs.job import NewJob
from app.jobs.queue import enqueue

REFLECT: Final = "reflect"


async def enqueue_reflection(
    session: AsyncSession, workspace_id: uuid.UUID, message_id: uuid.UUID, *, is_tainted: bool
) -> None:
    """Called in the unit of work that stores a complete answer. `is_tainted`: as its tools were told. Locks the
    workspace's waiting job, so it comes last.
    """
    await queries.insert_reflection(session, workspace_id, message_id, is_tainted=is_tainted)
    await enqueue(session, NewJob(REFLECT, workspace_id, dedupe_key=REFLECT, priority=-1))
