"""After a turn: is there something in it to be remembered? Asked in the transaction that stores the answer, done later.

Which turns are still to be looked at is a table of its own, so that there is one job per workspace however many turns
there were while a model was away. Knows nothing of how memories are made.
"""

from __future__ import annotations

import uuid
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.chat import reflection_queries as queries
from app.chat.reflection_queries import Exchange
from app.core.log import get
from app.core.tenancy import working_for
from app.db.session import Database
from app.jobs.job import JobContext, NewJob
from app.jobs.queue import enqueue
from app.memory.reflect import Reflecting, Said

log = get(__name__)

REFLECT: Final = "reflect"
_AT_ONCE: Final = 20


async def enqueue_reflection(
    session: AsyncSession, workspace_id: uuid.UUID, message_id: uuid.UUID, *, is_tainted: bool
) -> None:
    """Called in the unit of work that stores a complete answer, where `Reflection.wants` to. `is_tainted`: as the
    answer's tools were told. Locks the workspace's waiting job, so it comes last.
    """
    await queries.insert_reflection(session, workspace_id, message_id, is_tainted=is_tainted)
    await enqueue(session, NewJob(REFLECT, workspace_id, dedupe_key=REFLECT, priority=-1))


class Reflection:
    def __init__(self, database: Database, reflecting: Reflecting, *, is_on: bool) -> None:
        self._database = database
        self._reflecting = reflecting
        self._is_on = is_on

    def wants(self, asked: str) -> bool:
        """Whether a turn with this question is to be reflected on."""
        return self._is_on and self._reflecting.wants(asked)

    async def run(self, job: JobContext) -> None:
        """No payload: whatever turns of the workspace wait. Each is written in the unit of work that strikes it off, so
        that twice is once. Raises ProviderError when the model cannot be had; the rest waits.
        """
        with working_for(job.workspace_id):
            while True:
                async with self._database.read() as session:
                    waiting = await queries.list_exchanges(session, job.workspace_id, _AT_ONCE)
                if not waiting:
                    return
                for exchange in waiting:
                    await self._reflect(job, exchange)

    async def _reflect(self, job: JobContext, exchange: Exchange) -> None:
        said = Said(exchange.asked, exchange.answered, exchange.is_tainted, exchange.message_id)
        thought = await self._reflecting.think(job.workspace_id, said)
        async with self._database.unit() as session:
            if await queries.delete_reflection(session, job.workspace_id, exchange.message_id):
                written = await self._reflecting.write(session, job.workspace_id, thought)
                log.info("turn_reflected", written=[one.outcome for one in written])
            # Not first: a turn holds the memories that it used while it enqueues this very job.
            await job.hold(session)
