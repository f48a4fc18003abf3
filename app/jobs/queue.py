"""Asking for work: jobs are put into the queue in the transaction that makes them true.

Everything here runs on the session's own connection, inside its transaction, and commits nothing.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.errors import Invalid, NotFound
from app.core.ids import new_id
from app.db.session import raw
from app.jobs import queries
from app.jobs.job import JobFinished, JobNotFailed, JobPending, JobState, JobView, NewJob, QueueStatus
from app.jobs.pgqueue import Place, put, wake_up

_LIVE: Final[tuple[JobState, ...]] = ("queued", "working")
# An escaped NUL, not preceded by an odd number of backslashes: JSON knows it, jsonb does not.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class JobNotFound(NotFound):
    """There is no such job here."""


async def enqueue(session: AsyncSession, job: NewJob) -> uuid.UUID:
    """The job's id; that of the live job with the same key, if there is one. Raises Invalid."""
    return (await enqueue_many(session, [job]))[0]


async def enqueue_many(session: AsyncSession, jobs: Sequence[NewJob]) -> list[uuid.UUID]:
    """Ids in the order of `jobs`; those that share a key share an id, and the last one's payload counts.

    Locks the live jobs it meets until the transaction ends, so call it late. Raises Invalid.
    """
    asked: dict[object, tuple[uuid.UUID, NewJob]] = {}
    keys: list[object] = []
    for job in jobs:
        job_id = new_id()
        key: object = job_id if job.dedupe_key is None else (job.workspace_id, job.kind, job.dedupe_key)
        keys.append(key)
        asked[key] = (asked[key][0] if key in asked else job_id, job)
    if not asked:
        return []
    connection = await raw(session)
    rows = await queries.write(connection, _columns(list(asked.values())))
    given = {
        row["id"] if row["dedupe_key"] is None else (row["workspace_id"], row["kind"], row["dedupe_key"]): row
        for row in rows
    }
    delays = {job_id: job.delay_seconds for job_id, job in asked.values()}
    await put(
        connection,
        [
            Place(row["workspace_id"], row["id"], row["kind"], row["priority"], row["rank"], delays[row["id"]])
            for row in rows
            if row["id"] in delays
        ],
    )
    waiting = [row for row in rows if row["id"] not in delays and row["state"] == "queued"]
    if waiting:
        await queries.pull_forward(
            connection, [row["id"] for row in waiting], [row["available_at"] for row in waiting], wake_up()
        )
    return [given[key]["id"] for key in keys]


async def cancel(session: AsyncSession, workspace_id: uuid.UUID, job_id: uuid.UUID) -> JobView:
    """Take a job out of the queue, or interrupt it within a second. Raises JobNotFound, JobFinished."""
    if not await queries.cancel(await raw(session), workspace_id, job_id):
        found = await get_job(session, workspace_id, job_id)
        if found.state != "cancelled":
            raise JobFinished
    return await get_job(session, workspace_id, job_id)


async def retry(session: AsyncSession, workspace_id: uuid.UUID, job_id: uuid.UUID) -> JobView:
    """Put a failed or cancelled job back into the queue, with all its attempts.

    Raises JobNotFound, JobNotFailed, JobPending.
    """
    connection = await raw(session)
    row = await queries.reopen(connection, workspace_id, job_id)
    if row is None:
        found = await get_job(session, workspace_id, job_id)
        raise JobPending if found.state in ("failed", "cancelled") else JobNotFailed
    await put(connection, [Place(workspace_id, row["id"], row["kind"], row["priority"], row["rank"], 0.0)])
    return await get_job(session, workspace_id, job_id)


async def get_job(session: AsyncSession, workspace_id: uuid.UUID, job_id: uuid.UUID) -> JobView:
    """Raises JobNotFound."""
    row = await queries.find(session, workspace_id, job_id)
    if row is None:
        raise JobNotFound
    return JobView(*row)


async def list_jobs(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    *,
    state: JobState | None = None,
    kind: str | None = None,
    before: uuid.UUID | None = None,
    limit: int = 50,
) -> Sequence[JobView]:
    """Newest first; `before` is the id of the last one of the page before."""
    rows = await queries.list_page(session, workspace_id, state=state, kind=kind, before=before, limit=limit)
    return [JobView(*row) for row in rows]


async def is_asked_for(session: AsyncSession, workspace_id: uuid.UUID, kind: str, failed_seconds: float = 0.0) -> bool:
    """Whether such a job waits or works there, or has failed within this time: what fails by itself would be asked for
    again all the while.
    """
    waiting = [await list_jobs(session, workspace_id, state=state, kind=kind, limit=1) for state in _LIVE]
    failed = await list_jobs(session, workspace_id, state="failed", kind=kind, limit=1) if failed_seconds else ()
    since = now() - timedelta(seconds=failed_seconds)
    return any(waiting) or any(job.finished_at is None or job.finished_at > since for job in failed)


async def queue_status(session: AsyncSession) -> QueueStatus:
    """How the queue stands, over all workspaces."""
    row = await queries.measure(session)
    return QueueStatus(row["queued"], row["working"], row["oldest_due_seconds"])


def _columns(asked: Sequence[tuple[uuid.UUID, NewJob]]) -> list[list[Any]]:
    return [
        [job_id for job_id, _ in asked],
        [job.workspace_id for _, job in asked],
        [job.kind for _, job in asked],
        [_json(job.payload) for _, job in asked],
        [job.dedupe_key for _, job in asked],
        [job.priority for _, job in asked],
        [job.delay_seconds for _, job in asked],
        [job.max_attempts for _, job in asked],
    ]


def _json(payload: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(dict(payload), ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError) as error:
        raise Invalid("A job's payload must be JSON.") from error
    if _NUL.search(text):
        raise Invalid("A job's payload must not contain NUL.")
    return text
