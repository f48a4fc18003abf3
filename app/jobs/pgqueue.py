"""The keeper of pgqueuer: the only file that imports it.

pgqueuer claims rows, listens, beats and recovers abandoned claims. What a claim means, and how it ends, is
decided by the crew: job and queue row change in one statement, which pgqueuer's own log of outcomes
would undo for a claim that another worker has taken over (it goes by the row's id alone).
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, NamedTuple, Protocol, Self

from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment, QueryQueueBuilder, QuerySchedulerBuilder
from pgqueuer.adapters.persistence.queries import Queries
from pgqueuer.core.qm import QueueManager
from pgqueuer.core.tm import TaskManager
from pgqueuer.domain import models, types
from pgqueuer.domain.settings import DBSettings, Durability
from pgqueuer.ports.driver import Driver, NotifyCallback
from pgqueuer.ports.repository import EntrypointExecutionParameter

from app.core.log import get
from app.jobs import queries
from app.jobs.line import Line
from app.jobs.queries import Claim, Runs

log = get(__name__)

# Every name is spelled out: what is left out, pgqueuer reads from the environment, also from variables
# as common as CHANNEL, FUNCTION and TRIGGER.
NAMES: Final = DBSettings(
    prefix="mindcone_",
    db_schema=None,
    channel=types.Channel("mindcone_ch_pgqueuer"),
    function="mindcone_fn_pgqueuer_changed",
    statistics_table="mindcone_pgqueuer_statistics",
    queue_status_type="mindcone_pgqueuer_status",
    queue_table="mindcone_pgqueuer",
    queue_table_log="mindcone_pgqueuer_log",
    trigger="mindcone_tg_pgqueuer_changed",
    schedules_table="mindcone_pgqueuer_schedules",
    durability=Durability.balanced,
    widen_id=True,
)

_BATCH = 16


class Place(NamedTuple):
    """A job's row in the queue: what, whose, and where in the line."""

    workspace_id: uuid.UUID
    job_id: uuid.UUID
    kind: str
    priority: int
    rank: int
    delay_seconds: float


class Crew(Protocol):
    """Who does the work that is claimed."""

    @property
    def free(self) -> int:
        """How many more jobs it would take at this moment."""
        ...

    @property
    def idle(self) -> bool: ...

    def has(self, queue_id: int) -> bool: ...

    async def begin(self, claims: Sequence[Claim]) -> bool:
        """Take on claims that can be started and hand the others back; whether any may come again soon."""
        ...

    async def work(self, queue_id: int) -> None:
        """Do a claim that was begun and write how it ended."""
        ...


def _statements(driver: Driver) -> dict[str, Any]:
    return {
        "driver": driver,
        "qbe": QueryBuilderEnvironment(NAMES),
        "qbq": QueryQueueBuilder(NAMES),
        "qbs": QuerySchedulerBuilder(NAMES),
    }


def wake_up() -> tuple[str, str]:
    """Channel and message that make idle workers look into the queue."""
    event = models.TableChangedEvent(
        channel=NAMES.channel,
        sent_at=models.utc_now(),
        type="table_changed_event",
        operation="update",
        table=NAMES.queue_table,
    )
    return NAMES.channel, event.model_dump_json(exclude={"received_at"})


async def put(runs: Runs, places: Sequence[Place]) -> None:
    """Put jobs into the queue, in the transaction of `runs`. Those that are in it already are left alone."""
    if not places:
        return
    driver = _OnLine(runs) if isinstance(runs, Line) else AsyncpgDriver(runs)
    await Queries(**_statements(driver)).enqueue(
        [place.kind for place in places],
        [f"{place.workspace_id}/{place.job_id}".encode() for place in places],
        [place.priority * queries.PRIORITY_BAND - place.rank for place in places],
        [timedelta(seconds=place.delay_seconds) for place in places],
        [str(place.job_id) for place in places],
        on_conflict="skip",
    )


@dataclass
class Worker:
    """One worker's place at the queue."""

    line: Line
    crew: Crew
    kinds: Mapping[str, int]
    heartbeat_seconds: float
    poll_seconds: float
    drain: bool = False
    wait_for_delayed: bool = False
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    _driver: _OnLine | None = None

    def wake(self) -> None:
        """Look into the queue now."""
        if self._driver is not None:
            self._driver.wake()

    async def run(self) -> None:
        """Claim and do jobs until `stop` is set and what is in hand has ended; with `drain`, until
        nothing is due (or, with `wait_for_delayed`, nothing is waiting). `kinds`: limits, 0 for none.
        """
        self._driver = driver = _OnLine(self.line)
        self.line.on_return = driver.wake
        claims = _Claims(**_statements(driver), worker=self, on_line=driver)
        manager = QueueManager(claims, channel=NAMES.channel)
        manager.shutdown = self.stop
        claims.worker_id = manager.queue_manager_id
        for kind, limit in self.kinds.items():
            manager.entrypoint(kind, concurrency_limit=limit, accepts_context=False)(self._do)
        await manager.run(
            dequeue_timeout=timedelta(seconds=self.poll_seconds),
            batch_size=_BATCH,
            heartbeat_timeout=timedelta(seconds=self.heartbeat_seconds),
            log_aggregation_interval=timedelta(0),
        )

    async def _do(self, job: models.Job) -> None:
        try:
            await self.crew.work(job.id)
        finally:
            self.wake()


class _OnLine(Driver):
    """pgqueuer's view of a line. Notices are coalesced: one look answers all that came before it."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._callback: NotifyCallback | None = None
        self._awake = False
        self._shutdown = asyncio.Event()

    async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        return [dict(row) for row in await self._line.fetch(query, *args)]

    async def execute(self, query: str, *args: object) -> str:
        return await self._line.execute(query, *args)

    async def notify(self, channel: str, payload: str) -> None:
        await self._line.execute("SELECT pg_notify($1, $2)", channel, payload)

    async def add_listener(self, channel: str, callback: NotifyCallback) -> None:
        self._callback = callback
        await self._line.listen(channel, self._hear)

    def _hear(self, payload: str) -> None:
        if '"table_changed_event"' in payload:
            self.wake()
        elif self._callback is not None:
            self._callback(payload)

    def wake(self) -> None:
        if not self._awake and self._callback is not None:
            self._awake = True
            self._callback(wake_up()[1])

    def looking(self) -> None:
        self._awake = False

    @property
    def shutdown(self) -> asyncio.Event:
        return self._shutdown

    @property
    def tm(self) -> TaskManager:
        return TaskManager()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...


@dataclass
class _Claims(Queries):
    """pgqueuer's statements, with the crew deciding how many claims there may be and how they end."""

    worker: Worker = field(kw_only=True)
    on_line: _OnLine = field(kw_only=True)
    worker_id: uuid.UUID = field(default_factory=uuid.uuid4, kw_only=True)

    async def dequeue(
        self,
        batch_size: int,
        entrypoints: dict[types.QueueEntrypoint, EntrypointExecutionParameter],
        queue_manager_id: types.QueueManagerId,
        global_concurrency_limit: int | None,
        heartbeat_timeout: timedelta,
    ) -> list[models.Job]:
        crew = self.worker.crew
        soon = False
        # Also with both hands full: the manager throws away notices that came while it was busy.
        self.on_line.looking()
        while entrypoints and (free := min(crew.free, batch_size)) > 0:
            self.on_line.looking()
            jobs = await super().dequeue(
                free, entrypoints, queue_manager_id, global_concurrency_limit, heartbeat_timeout
            )
            # A heartbeat that came too late lets us claim what is still in our own hands.
            fresh = [job for job in jobs if not crew.has(job.id)]
            claims = [claim for job in fresh if (claim := _claim(job, queue_manager_id)) is not None]
            if len(claims) < len(fresh):
                known = {claim.queue_id for claim in claims}
                await queries.drop(self.worker.line, queue_manager_id, [j.id for j in fresh if j.id not in known])
            if claims:
                soon = await crew.begin(claims) or soon
            if started := [job for job in fresh if crew.has(job.id)]:
                return started
            if not fresh:
                break
        if self.worker.drain and crew.idle and not soon and not await self._expects_more(list(entrypoints)):
            self.worker.stop.set()
        return []

    async def _expects_more(self, entrypoints: list[types.QueueEntrypoint]) -> bool:
        if self.worker.wait_for_delayed:
            return await super().queued_work(entrypoints) > 0
        return await super().eligible_queued_work(entrypoints) > 0

    async def eligible_queued_work(self, entrypoints: list[types.QueueEntrypoint]) -> int:
        # With both hands full there is nothing to look for; whoever finishes wakes us.
        return await super().eligible_queued_work(entrypoints) if self.worker.crew.free > 0 else 0

    async def queued_work(self, entrypoints: list[types.QueueEntrypoint]) -> int:
        return await super().queued_work(entrypoints) if self.worker.crew.free > 0 else 0

    async def update_heartbeat(self, job_ids: list[types.JobId]) -> None:
        await queries.beat(self.worker.line, self.worker_id, list(set(job_ids)))

    async def log_jobs(
        self, job_status: list[tuple[models.Job, types.JOB_STATUS, models.TracebackRecord | None]]
    ) -> None:
        """The crew has written how it ended."""


def _claim(job: models.Job, worker_id: uuid.UUID) -> Claim | None:
    try:
        workspace_id, _, job_id = (job.payload or b"").decode().partition("/")
        return Claim(job.id, worker_id, uuid.UUID(workspace_id), uuid.UUID(job_id))
    except ValueError:
        log.error("foreign_queue_row", queue_id=job.id)
        return None
