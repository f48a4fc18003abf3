"""The hands of one worker: runs handlers on claimed jobs and writes how each of them ended.

Knows handlers by the kind of job, and nothing of what they do.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from structlog.contextvars import bound_contextvars

from app.core.errors import MindConeError
from app.core.log import get
from app.core.tenancy import working_for
from app.jobs import pgqueue, queries
from app.jobs.job import Handler, JobContext, LeaseLost
from app.jobs.line import Line
from app.jobs.outcome import DONE, HANDED_BACK, Outcome, judge
from app.jobs.queries import Claim
from app.jobs.settings import JobSettings

log = get(__name__)

STUBBORN_SECONDS = 5.0
"""How long a handler may go on after it was cancelled, before it is left to itself (it is fenced)."""
_TICK_SECONDS = 0.5
_BUSY_SECONDS = 0.1

Stop = Literal["shutdown", "lost"]


@dataclass(slots=True)
class _Run:
    """One job in hand. `over`: the handler did not heed its cancellation."""

    claim: Claim
    context: JobContext
    max_attempts: int
    busy_seconds: float
    over: asyncio.Future[None]
    task: asyncio.Task[None] | None = None
    stop: Stop | None = None


@dataclass
class Crew:
    """At most `settings.worker_concurrency` jobs at a time."""

    line: Line
    handlers: Mapping[str, Handler]
    settings: JobSettings
    _runs: dict[int, _Run] = field(default_factory=dict)
    _leaving: bool = False

    @property
    def free(self) -> int:
        return 0 if self._leaving else self.settings.worker_concurrency - len(self._runs)

    @property
    def idle(self) -> bool:
        return not self._runs

    def has(self, queue_id: int) -> bool:
        return queue_id in self._runs

    async def begin(self, claims: Sequence[Claim]) -> bool:
        """Take on claims that can be started and hand the others back; whether any may come again soon."""
        rows = {row["id"]: row for row in await queries.begin(self.line, claims)}
        busy: list[int] = []
        gone: list[int] = []
        for claim in claims:
            row = rows[claim.job_id]
            if row["verdict"] == "busy":
                busy.append(claim.queue_id)
            elif row["verdict"] == "gone":
                gone.append(claim.queue_id)
            else:
                context = JobContext(
                    workspace_id=claim.workspace_id,
                    job_id=claim.job_id,
                    kind=row["kind"],
                    payload=json.loads(row["payload"]),
                    attempt=row["attempts"],
                    max_attempts=row["max_attempts"],
                    turn=row["turn"],
                )
                over = asyncio.get_running_loop().create_future()
                self._runs[claim.queue_id] = _Run(claim, context, row["max_attempts"], row["busy_seconds"], over)
        if busy:
            await queries.give_back(self.line, claims[0].worker_id, busy, _BUSY_SECONDS)
        if gone:
            await queries.drop(self.line, claims[0].worker_id, gone)
        return bool(busy)

    async def work(self, queue_id: int) -> None:
        """Do a claim that was begun and write how it ended."""
        run = self._runs[queue_id]
        context = run.context
        try:
            with (
                working_for(context.workspace_id),
                bound_contextvars(
                    job_id=str(context.job_id), workspace_id=str(context.workspace_id), job_kind=context.kind
                ),
            ):
                outcome = await self._perform(run)
                if outcome is not None:
                    await self._settle(run, outcome)
        finally:
            del self._runs[queue_id]

    async def watch(self) -> None:
        """Write progress and notice jobs that were cancelled or taken over, until cancelled."""
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            try:
                await self._tick()
            except Exception:
                log.exception("tick_failed")

    async def _tick(self) -> None:
        held = list(self._runs.values())
        if held:
            news = [(run.context, run.context.unsaved) for run in held]
            for context, _ in news:
                context.unsaved = False
            lost = await queries.tick(
                self.line,
                [(c.workspace_id, c.job_id, c.turn, c.step, c.fraction, unsaved) for c, unsaved in news],
            )
            for run in held:
                gone = (run.context.job_id, run.context.turn) in lost
                if gone and run.stop is None and run.task is not None and not run.task.done():
                    log.info("job_lost", job_id=str(run.context.job_id))
                    self._interrupt(run, "lost")

    def leave(self) -> None:
        """Interrupt everything in hand; it goes back into the queue and its attempts do not count."""
        self._leaving = True
        for run in self._runs.values():
            if run.stop is None:
                self._interrupt(run, "shutdown")

    def _interrupt(self, run: _Run, why: Stop) -> None:
        run.stop = why
        run.context.cancelled = True
        if run.task is not None:
            run.task.cancel()
            asyncio.get_running_loop().call_later(STUBBORN_SECONDS, _end, run.over)

    async def _perform(self, run: _Run) -> Outcome | None:
        if self._leaving:
            return HANDED_BACK
        handler = self.handlers[run.context.kind]
        run.task = task = asyncio.create_task(_call(handler, run.context), name=f"job {run.context.kind}")
        try:
            await asyncio.wait({task, run.over}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done():
            log.error("job_ignores_cancellation")
            return HANDED_BACK if run.stop == "shutdown" else None
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if run.stop == "lost" or isinstance(error, LeaseLost):
            return None
        if error is None:
            return DONE
        if run.stop == "shutdown":
            return HANDED_BACK
        return self._judge(run, error)

    def _judge(self, run: _Run, error: BaseException) -> Outcome:
        outcome = judge(
            error,
            attempt=run.context.attempt,
            max_attempts=run.max_attempts,
            busy_seconds=run.busy_seconds,
            settings=self.settings,
            jitter=random.random(),  # noqa: S311  (spreads waits, guards nothing)
        )
        write = log.error if outcome.state == "failed" else log.warning
        write(
            "job_failed" if outcome.state == "failed" else "job_retried",
            code=outcome.code,
            attempt=run.context.attempt,
            delay_seconds=round(outcome.delay_seconds, 3),
            exc_info=None if isinstance(error, MindConeError) else error,
        )
        return outcome

    async def _settle(self, run: _Run, outcome: Outcome) -> None:
        values = (
            outcome.state,
            outcome.delay_seconds,
            outcome.counted,
            outcome.busy,
            outcome.code,
            outcome.detail,
        )
        while True:
            written, mine = await queries.settle(self.line, run.claim, run.context.turn, values, pgqueue.wake_up())
            if written is not None or not mine:
                return
            # Somebody is just asking for the same work again and holds the row until he commits.
            await asyncio.sleep(_BUSY_SECONDS / 2)


async def _call(handler: Handler, context: JobContext) -> None:
    await handler(context)


def _end(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
