"""SQL of the job tables: one statement each, no decisions.

`Runs` is an asyncpg connection (inside a session's transaction) or a worker's line. The queue's rows are
tied to jobs by `dedupe_key` = the job's id and `payload` = workspace and id.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.jobs.tables import Job

PRIORITY_BAND: Final = 1_000_000_000
"""Queue priority = job priority * band - rank. Stands in `enqueue.sql` and `reopen.sql` too."""

VIEW = (
    Job.workspace_id,
    Job.id,
    Job.kind,
    Job.state,
    Job.payload,
    Job.step,
    Job.progress,
    Job.error_code,
    Job.error_detail,
    Job.attempts,
    Job.max_attempts,
    Job.dedupe_key,
    Job.created_at,
    Job.started_at,
    Job.finished_at,
    Job.available_at,
)


class Runs(Protocol):
    async def fetch(self, statement: str, /, *arguments: Any) -> list[Any]: ...

    async def execute(self, statement: str, /, *arguments: Any) -> str: ...


class Claim(NamedTuple):
    """A row of the queue in the hands of one worker."""

    queue_id: int
    worker_id: uuid.UUID
    workspace_id: uuid.UUID
    job_id: uuid.UUID


# ------------------------------------------------------------------------------ asking for work


async def write(runs: Runs, columns: Sequence[Sequence[Any]]) -> list[Any]:
    """Insert jobs, or meet the live ones with the same key. Columns and rows as in `enqueue.sql`."""
    return await runs.fetch(load("app.jobs", "enqueue"), *columns)


async def pull_forward(
    runs: Runs, job_ids: Sequence[uuid.UUID], moments: Sequence[datetime], wake: Sequence[str]
) -> None:
    """Let waiting queue rows start no later than these moments. `wake`: channel and message."""
    await runs.execute(
        """
        WITH pulled AS (
            UPDATE mindcone_pgqueuer q SET execute_after = w.moment
            FROM unnest($1::uuid[], $2::timestamptz[]) AS w (id, moment)
            WHERE q.dedupe_key = w.id::text AND q.status = 'queued' AND q.execute_after > w.moment
            RETURNING 1
        )
        SELECT pg_notify($3, $4) WHERE EXISTS (SELECT FROM pulled)
        """,
        job_ids,
        moments,
        *wake,
    )


async def cancel(runs: Runs, workspace_id: uuid.UUID, job_id: uuid.UUID) -> bool:
    """Whether the job was waiting or being worked on, and is now cancelled."""
    rows = await runs.fetch(
        """
        WITH cancelled AS (
            UPDATE jobs SET state = 'cancelled', rerun = false, finished_at = now()
            WHERE workspace_id = $1 AND id = $2 AND state IN ('queued', 'working')
            RETURNING id
        ),
        dropped AS (
            DELETE FROM mindcone_pgqueuer q USING cancelled
            WHERE q.dedupe_key = cancelled.id::text AND q.status IN ('queued', 'picked')
        )
        SELECT id FROM cancelled
        """,
        workspace_id,
        job_id,
    )
    return bool(rows)


async def reopen(runs: Runs, workspace_id: uuid.UUID, job_id: uuid.UUID) -> Any | None:
    """The job's id, kind, priority and rank when it is waiting again."""
    rows = await runs.fetch(load("app.jobs", "reopen"), workspace_id, job_id)
    return rows[0] if rows else None


async def find(session: AsyncSession, workspace_id: uuid.UUID, job_id: uuid.UUID) -> Any | None:
    found = await session.execute(select(*VIEW).where(Job.workspace_id == workspace_id, Job.id == job_id))
    return found.one_or_none()


async def list_page(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    *,
    state: str | None,
    kind: str | None,
    before: uuid.UUID | None,
    limit: int,
) -> Sequence[Any]:
    """Newest first; ids are UUIDv7, so that they sort by creation."""
    statement = select(*VIEW).where(Job.workspace_id == workspace_id)
    if state is not None:
        statement = statement.where(Job.state == state)
    if kind is not None:
        statement = statement.where(Job.kind == kind)
    if before is not None:
        statement = statement.where(Job.id < before)
    return (await session.execute(statement.order_by(Job.id.desc()).limit(limit))).all()


async def measure(session: AsyncSession) -> Any:
    """Over all workspaces: jobs queued, jobs being worked on, and for how many seconds the oldest has been due."""
    rows = await (await raw(session)).fetch(
        """
        SELECT
            count(*) FILTER (WHERE state = 'queued') AS queued,
            count(*) FILTER (WHERE state = 'working') AS working,
            GREATEST(
                EXTRACT(EPOCH FROM now() - min(available_at) FILTER (WHERE state = 'queued')), 0
            )::float8 AS oldest_due_seconds
        FROM jobs WHERE state IN ('queued', 'working')
        """
    )
    return rows[0]


# -------------------------------------------------------------------------------- doing the work


async def begin(runs: Runs, claims: Sequence[Claim]) -> list[Any]:
    """Start claimed jobs; rows as in `begin.sql`."""
    return await runs.fetch(
        load("app.jobs", "begin"), [claim.workspace_id for claim in claims], [claim.job_id for claim in claims]
    )


async def give_back(runs: Runs, worker_id: uuid.UUID, queue_ids: Sequence[int], delay_seconds: float) -> None:
    await runs.execute(
        """
        UPDATE mindcone_pgqueuer SET
            status = 'queued', execute_after = now() + make_interval(secs => $3),
            updated = now(), queue_manager_id = NULL, slot = NULL
        WHERE id = ANY($1::bigint[]) AND queue_manager_id = $2
        """,
        queue_ids,
        worker_id,
        delay_seconds,
    )


async def drop(runs: Runs, worker_id: uuid.UUID, queue_ids: Sequence[int]) -> None:
    await runs.execute(
        "DELETE FROM mindcone_pgqueuer WHERE id = ANY($1::bigint[]) AND queue_manager_id = $2", queue_ids, worker_id
    )


async def beat(runs: Runs, worker_id: uuid.UUID, queue_ids: Sequence[int]) -> None:
    """Say that these claims are alive; those that another worker has taken over are left alone."""
    await runs.execute(
        "UPDATE mindcone_pgqueuer SET heartbeat = now() WHERE id = ANY($1::bigint[]) AND queue_manager_id = $2",
        queue_ids,
        worker_id,
    )


async def settle(
    runs: Runs, claim: Claim, turn: int, outcome: Sequence[Any], wake: Sequence[str]
) -> tuple[str | None, bool]:
    """(state written, still mine) as in `settle.sql`; `outcome`: state, delay, counted, busy, code, detail."""
    rows = await runs.fetch(
        load("app.jobs", "settle"),
        claim.workspace_id,
        claim.job_id,
        turn,
        claim.queue_id,
        claim.worker_id,
        *outcome,
        *wake,
    )
    return rows[0]["state"], rows[0]["mine"]


async def tick(
    runs: Runs, held: Sequence[tuple[uuid.UUID, uuid.UUID, int, str | None, float | None, bool]]
) -> set[tuple[uuid.UUID, int]]:
    """Write the news of jobs in hand; ids and turns of those that are lost. Elements as in `tick.sql`."""
    rows = await runs.fetch(load("app.jobs", "tick"), *map(list, zip(*held, strict=True)))
    return {(row["id"], row["turn"]) for row in rows}


async def hold(session: AsyncSession, workspace_id: uuid.UUID, job_id: uuid.UUID, turn: int) -> bool:
    """Whether it is still this turn of the job; if so, until the transaction ends."""
    rows = await (await raw(session)).fetch(
        "SELECT FROM jobs WHERE workspace_id = $1 AND id = $2 AND turn = $3 AND state = 'working' FOR SHARE",
        workspace_id,
        job_id,
        turn,
    )
    return bool(rows)


# ---------------------------------------------------------------------------------- housekeeping


async def fail_unknown(runs: Runs, kinds: Sequence[str], grace_seconds: float) -> int:
    """Fail jobs that nobody here can do and that have been due for `grace_seconds`; how many."""
    rows = await runs.fetch(
        """
        WITH strange AS (
            SELECT workspace_id, id FROM jobs
            WHERE state IN ('queued', 'working') AND kind <> ALL($1::text[])
              AND available_at <= now() - make_interval(secs => $2)
              AND EXISTS (
                  SELECT FROM mindcone_pgqueuer q
                  WHERE q.dedupe_key = jobs.id::text
                    AND (q.status = 'queued' OR q.status = 'picked' AND q.heartbeat < now() - interval '1 minute')
              )
            FOR UPDATE SKIP LOCKED
        ),
        failed AS (
            UPDATE jobs j SET
                state = 'failed', finished_at = now(), error_code = 'unknown_job',
                error_detail = 'This version does not know jobs of this kind.'
            FROM strange WHERE j.workspace_id = strange.workspace_id AND j.id = strange.id
            RETURNING j.id
        ),
        dropped AS (
            DELETE FROM mindcone_pgqueuer q USING failed
            WHERE q.dedupe_key = failed.id::text AND q.status IN ('queued', 'picked')
        )
        SELECT id FROM failed
        """,
        kinds,
        grace_seconds,
    )
    return len(rows)


async def list_strays(runs: Runs, limit: int) -> list[Any]:
    """Live jobs without a row in the queue: workspace_id, id, kind, priority, rank."""
    return await runs.fetch(
        """
        SELECT workspace_id, id, kind, priority, rank FROM jobs
        WHERE state IN ('queued', 'working') AND available_at < now() - interval '1 minute'
          AND NOT EXISTS (
              SELECT FROM mindcone_pgqueuer q
              WHERE q.dedupe_key = jobs.id::text AND q.status IN ('queued', 'picked')
          )
        LIMIT $1
        """,
        limit,
    )


async def forget(runs: Runs, keep_days: float, ingest_keep_hours: float, log_keep_seconds: float) -> None:
    """Delete finished jobs and the queue's log of transitions when their time is over, in portions."""
    await runs.execute(
        """
        DELETE FROM jobs WHERE (workspace_id, id) IN (
            SELECT workspace_id, id FROM jobs
            WHERE finished_at < now() - make_interval(secs => 3600 * $2)
              AND (
                  state = 'done' AND kind = 'ingest'
                  OR finished_at < now() - make_interval(secs => 86400 * $1)
              )
            ORDER BY finished_at LIMIT 20000
        )
        """,
        keep_days,
        ingest_keep_hours,
    )
    await runs.execute(
        "DELETE FROM mindcone_pgqueuer_log WHERE created < now() - make_interval(secs => $1)", log_keep_seconds
    )


async def take_turn(runs: Runs, name: str, every_seconds: float) -> bool:
    """Whether `name` is due and this caller is the one to do it: one caller per period over all workers."""
    rows = await runs.fetch(
        """
        INSERT INTO mindcone_pgqueuer_schedules AS s (expression, entrypoint, last_run, next_run)
        VALUES ('periodic', $1, now(), now() + make_interval(secs => $2))
        ON CONFLICT (expression, entrypoint) DO UPDATE SET
            last_run = now(), updated = now(), next_run = EXCLUDED.next_run
        WHERE s.last_run <= now() - make_interval(secs => $2)
        RETURNING s.id
        """,
        name,
        every_seconds,
    )
    return bool(rows)


async def occupy(runs: Runs, key: int) -> bool:
    """Take an advisory lock for as long as the connection lives, or say that another has it."""
    rows = await runs.fetch("SELECT pg_try_advisory_lock($1) AS taken", key)
    return bool(rows[0]["taken"])


async def vacate(runs: Runs, key: int) -> None:
    await runs.execute("SELECT pg_advisory_unlock($1)", key)
