"""The shapes of a job: as it is asked for, as a handler sees it, as people see it.

Knows nothing of the queue that carries it.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import Conflict
from app.jobs import queries
from app.text.normalise import clean

JobState = Literal["queued", "working", "done", "failed", "cancelled"]


class LeaseLost(Conflict):
    """This job is no longer yours: it was cancelled or another worker has taken it."""

    code = "lease_lost"


class JobFinished(Conflict):
    """The job has already finished."""

    code = "job_finished"


class JobNotFailed(Conflict):
    """Only a failed or cancelled job can be retried."""

    code = "job_not_failed"


class JobPending(Conflict):
    """The same work is already waiting or being done in another job."""

    code = "job_pending"


@dataclass(frozen=True, slots=True)
class NewJob:
    """Something to be done in a workspace.

    `dedupe_key`: at most one job of this kind and key is live in the workspace. Asking again while it
    waits replaces its payload; asking again while it is being worked on makes it run once more.
    `priority`: -1, 0 or 1; a higher one always goes first, within one the workspaces take turns.
    """

    kind: str
    workspace_id: uuid.UUID
    payload: Mapping[str, Any] = field(default_factory=dict)
    dedupe_key: str | None = None
    priority: Literal[-1, 0, 1] = 0
    delay_seconds: float = 0.0
    max_attempts: int = 5


@dataclass(slots=True)
class JobContext:
    """What a handler gets. Handlers are idempotent: a job may be started more than once."""

    workspace_id: uuid.UUID
    job_id: uuid.UUID
    kind: str
    payload: Mapping[str, Any]
    attempt: int
    max_attempts: int
    turn: int
    cancelled: bool = False
    step: str | None = None
    fraction: float | None = None
    unsaved: bool = False

    @property
    def is_last_attempt(self) -> bool:
        """Whether a failure of this attempt, if it counts, is the end of the job."""
        return self.attempt >= self.max_attempts

    async def progress(self, step: str, fraction: float | None = None) -> None:
        """Say what is going on; `fraction` of the whole in 0..1. Cheap: written with the next tick."""
        self.step = clean(step)
        self.fraction = None if fraction is None or math.isnan(fraction) else min(max(fraction, 0.0), 1.0)
        self.unsaved = True

    async def hold(self, session: AsyncSession) -> None:
        """The fence: keep this job mine until the session's transaction ends, or raise LeaseLost.

        Called first in the unit of work that writes a handler's result, or right after the locks that whoever enqueues
        this job holds already.
        """
        if self.cancelled or not await queries.hold(session, self.workspace_id, self.job_id, self.turn):
            raise LeaseLost


Handler = Callable[[JobContext], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as people see it. `progress` in 0..1; `available_at` is when it may start (again)."""

    workspace_id: uuid.UUID
    id: uuid.UUID
    kind: str
    state: JobState
    payload: Mapping[str, Any]
    step: str | None
    progress: float | None
    error_code: str | None
    error_detail: str | None
    attempts: int
    max_attempts: int
    dedupe_key: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    available_at: datetime


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """The queue over all workspaces; `oldest_due_seconds` is 0 when nothing that is due waits."""

    queued: int
    working: int
    oldest_due_seconds: float
