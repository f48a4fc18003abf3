"""The job queue on a real PostgreSQL: asking, doing, failing, handing back, being fair."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from pgqueuer.adapters.persistence.schema_ddl import render_install

from app.core.clock import now
from app.core.errors import Invalid, RateLimited, Unavailable
from app.core.ids import new_id
from app.db import migrate
from app.db.session import Database, raw
from app.jobs.job import (
    Handler,
    JobContext,
    JobFinished,
    JobNotFailed,
    JobPending,
    JobView,
    LeaseLost,
    NewJob,
)
from app.jobs.outcome import judge
from app.jobs.pgqueue import NAMES
from app.jobs.queue import (
    JobNotFound,
    cancel,
    enqueue,
    enqueue_many,
    get_job,
    list_jobs,
    queue_status,
    retry,
)
from app.jobs.run import run_until_idle, run_worker
from app.jobs.schedule import Periodic
from app.jobs.settings import JobSettings
from app.people.tables import Workspace
from app.providers.ports import ProviderBusy, ProviderDown, ProviderRefused, ProviderTimeout

# Intervals that no test waits for: what must happen at once must be noticed, not polled.
QUICK = JobSettings(job_backoff_seconds=0.01, job_backoff_max_seconds=0.02, worker_poll_seconds=60)
# With its one hand full a worker looks for nothing, so it cannot claim again what was taken from it.
ONE_HAND = QUICK.model_copy(update={"worker_concurrency": 1})


async def new_workspace(database: Database) -> uuid.UUID:
    workspace_id = new_id()
    async with database.unit() as session:
        session.add(Workspace(id=workspace_id, slug=str(workspace_id), name="test"))
    return workspace_id


@pytest.fixture
async def workspace(database: Database) -> uuid.UUID:
    return await new_workspace(database)


async def ask(database: Database, *jobs: NewJob) -> list[uuid.UUID]:
    async with database.unit() as session:
        return await enqueue_many(session, jobs)


async def look(database: Database, workspace_id: uuid.UUID, job_id: uuid.UUID) -> JobView:
    async with database.read() as session:
        return await get_job(session, workspace_id, job_id)


async def sql(database: Database, statement: str, *arguments: Any) -> list[Any]:
    async with database.unit() as session:
        rows: list[Any] = await (await raw(session)).fetch(statement, *arguments)
        return rows


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Return as soon as the condition holds; fail when it does not within 20 s."""
    async with asyncio.timeout(20):
        while not await condition():  # noqa: ASYNC110  (what is waited for happens in the database)
            await asyncio.sleep(0.01)


async def until_state(database: Database, workspace_id: uuid.UUID, job_id: uuid.UUID, state: str) -> None:
    async def reached() -> bool:
        return (await look(database, workspace_id, job_id)).state == state

    await until(reached)


@asynccontextmanager
async def worker(
    database: Database, handlers: dict[str, Handler], settings: JobSettings = QUICK, *periodics: Periodic
) -> AsyncIterator[asyncio.Event]:
    """A running worker; on leaving it has been shut down and has returned."""
    shutdown = asyncio.Event()
    task = asyncio.create_task(run_worker(database.dsn, handlers, settings, shutdown, periodics))
    try:
        yield shutdown
    finally:
        shutdown.set()
        await asyncio.wait_for(task, 30)


class Recorder:
    """A handler that writes down what it was given."""

    def __init__(self) -> None:
        self.seen: list[JobContext] = []

    async def __call__(self, context: JobContext) -> None:
        self.seen.append(context)


class Gate:
    """A handler that says when it has started and goes on when it may."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.open = asyncio.Event()
        self.seen: list[JobContext] = []

    async def __call__(self, context: JobContext) -> None:
        self.seen.append(context)
        self.started.set()
        await self.open.wait()


# ------------------------------------------------------------------------------ asking for work


async def _ask_and_change_my_mind(database: Database, workspace: uuid.UUID) -> None:
    async with database.unit() as session:
        await enqueue(session, NewJob("note", workspace, {"n": 1}))
        raise RuntimeError("changed my mind")


async def test_a_job_lives_and_dies_with_the_transaction_that_asked_for_it(
    database: Database, workspace: uuid.UUID
) -> None:
    with pytest.raises(RuntimeError, match="changed my mind"):
        await _ask_and_change_my_mind(database, workspace)
    assert await sql(database, "SELECT id FROM jobs") == []
    assert await sql(database, "SELECT id FROM mindcone_pgqueuer") == []

    async with database.unit() as session:
        # Before any statement of SQLAlchemy's own: its transaction must have begun all the same.
        job_id = await enqueue(session, NewJob("note", workspace, {"n": 2}))
        other = await asyncpg.connect(database.dsn)
        assert await other.fetchval("SELECT count(*) FROM jobs") == 0
        assert await other.fetchval("SELECT count(*) FROM mindcone_pgqueuer") == 0
        await other.close()
    handler = Recorder()
    await run_until_idle(database.dsn, {"note": handler}, QUICK)
    (context,) = handler.seen
    assert (context.workspace_id, context.job_id, context.payload) == (workspace, job_id, {"n": 2})
    assert context.attempt == 1
    done = await look(database, workspace, job_id)
    assert (done.state, done.progress, done.attempts) == ("done", 1.0, 1)
    assert done.started_at is not None
    assert done.finished_at is not None
    assert done.created_at <= done.started_at <= done.finished_at
    assert await sql(database, "SELECT id FROM mindcone_pgqueuer") == []


async def test_ids_come_back_in_the_order_of_the_jobs(database: Database, workspace: uuid.UUID) -> None:
    other = await new_workspace(database)
    jobs = [NewJob("note", workspace if n % 3 else other, {"n": n}) for n in range(10)]
    ids = await ask(database, *jobs)
    for job, job_id in zip(jobs, ids, strict=True):
        assert (await look(database, job.workspace_id, job_id)).payload == job.payload
    assert await ask(database) == []


async def test_one_live_job_per_key_and_the_last_payload_counts(database: Database, workspace: uuid.UUID) -> None:
    """F7, E7."""
    other = await new_workspace(database)
    (first,) = await ask(database, NewJob("fold", workspace, {"n": 1}, dedupe_key="k"))
    again = await ask(
        database,
        NewJob("fold", workspace, {"n": 2}, dedupe_key="k"),
        NewJob("fold", workspace, {"n": 3}, dedupe_key="k"),
        NewJob("fold", other, {"n": 4}, dedupe_key="k"),
        NewJob("note", workspace, {"n": 5}, dedupe_key="k"),
        NewJob("fold", workspace, {"n": 6}),
    )
    assert again[0] == again[1] == first
    assert len({first, *again[2:]}) == 4
    handler = Recorder()
    await run_until_idle(database.dsn, {"fold": handler, "note": handler}, QUICK)
    assert sorted(context.payload["n"] for context in handler.seen) == [3, 4, 5, 6]
    (later,) = await ask(database, NewJob("fold", workspace, {"n": 7}, dedupe_key="k"))
    assert later != first


async def test_an_outage_with_many_writes_leaves_one_pending_job_that_keeps_its_backoff(
    database: Database, workspace: uuid.UUID
) -> None:
    """F7."""
    runs = 0

    async def consolidate(context: JobContext) -> None:
        nonlocal runs
        runs += 1
        for _ in range(5):
            await ask(database, NewJob("fold", workspace, dedupe_key="fold"))
        raise ProviderDown

    (job_id,) = await ask(database, NewJob("fold", workspace, dedupe_key="fold"))
    settings = JobSettings(job_backoff_seconds=100)
    await run_until_idle(database.dsn, {"fold": consolidate}, settings)
    await ask(database, NewJob("fold", workspace, dedupe_key="fold"))
    await run_until_idle(database.dsn, {"fold": consolidate}, settings)
    assert runs == 1
    (row,) = await sql(database, "SELECT * FROM jobs")
    assert (row["id"], row["state"], row["attempts"], row["error_code"]) == (job_id, "queued", 0, "provider_down")
    assert row["available_at"] > now() + timedelta(seconds=60)
    (queued,) = await sql(database, "SELECT * FROM mindcone_pgqueuer")
    assert queued["execute_after"] == row["available_at"]


async def test_asked_again_while_working_it_runs_once_more_and_never_beside_itself(
    database: Database, workspace: uuid.UUID
) -> None:
    gate = Gate()
    (job_id,) = await ask(database, NewJob("fold", workspace, {"n": 1}, dedupe_key="k"))
    async with worker(database, {"fold": gate}):
        await gate.started.wait()
        for n in (2, 3):
            assert await ask(database, NewJob("fold", workspace, {"n": n}, dedupe_key="k")) == [job_id]
        assert (await look(database, workspace, job_id)).state == "working"
        gate.open.set()
        await until_state(database, workspace, job_id, "done")
    assert [context.payload["n"] for context in gate.seen] == [1, 3]
    assert await sql(database, "SELECT id FROM mindcone_pgqueuer") == []


async def test_a_job_asked_for_again_after_it_failed_for_good_gets_a_fresh_start(
    database: Database, workspace: uuid.UUID
) -> None:
    gate = Gate()

    async def handler(context: JobContext) -> None:
        if context.payload["n"] == 1:
            await gate(context)
            raise _Permanent

    (job_id,) = await ask(database, NewJob("fold", workspace, {"n": 1}, dedupe_key="k"))
    async with worker(database, {"fold": handler}):
        await gate.started.wait()
        await ask(database, NewJob("fold", workspace, {"n": 2}, dedupe_key="k"))
        gate.open.set()
        await until_state(database, workspace, job_id, "done")
    assert (await look(database, workspace, job_id)).attempts == 1


async def test_a_waiting_job_cannot_start_before_what_it_was_asked_about_is_committed(
    database: Database, workspace: uuid.UUID
) -> None:
    handler = Recorder()
    (job_id,) = await ask(database, NewJob("fold", workspace, {"n": 1}, dedupe_key="k"))
    (other,) = await ask(database, NewJob("fold", workspace, {"n": 0}))
    async with worker(database, {"fold": handler}):
        await until_state(database, workspace, other, "done")
    handler.seen.clear()
    (job_id,) = await ask(database, NewJob("fold", workspace, {"n": 1}, dedupe_key="k2"))
    async with database.unit() as session:
        assert await enqueue(session, NewJob("fold", workspace, {"n": 2}, dedupe_key="k2")) == job_id
        shutdown = asyncio.Event()
        running = asyncio.create_task(run_worker(database.dsn, {"fold": handler}, QUICK, shutdown))
        (passing,) = await ask(database, NewJob("fold", workspace, {"n": 3}))
        await until_state(database, workspace, passing, "done")
        assert [context.payload["n"] for context in handler.seen] == [3]
    await until_state(database, workspace, job_id, "done")
    shutdown.set()
    await running
    assert [context.payload["n"] for context in handler.seen] == [3, 2]
    assert handler.seen[1].attempt == 1


async def test_writers_that_name_the_same_keys_in_opposite_order_do_not_deadlock(
    database: Database, workspace: uuid.UUID
) -> None:
    """E1."""
    keys = [f"k{n}" for n in range(40)]

    async def write(order: list[str]) -> list[uuid.UUID]:
        return await ask(database, *(NewJob("fold", workspace, {"k": key}, dedupe_key=key) for key in order))

    for _ in range(5):
        one, two = await asyncio.gather(write(keys), write(keys[::-1]))
        assert one == two[::-1]
    assert await sql(database, "SELECT count(*) AS n FROM mindcone_pgqueuer") == [(40,)]


async def test_a_delayed_job_waits_and_can_be_pulled_forward(database: Database, workspace: uuid.UUID) -> None:
    handler = Recorder()
    (job_id,) = await ask(database, NewJob("fold", workspace, dedupe_key="k", delay_seconds=3600))
    await run_until_idle(database.dsn, {"fold": handler}, QUICK)
    assert handler.seen == []
    async with worker(database, {"fold": handler}):
        # The worker sleeps with the distant moment in mind; being asked again wakes it.
        await ask(database, NewJob("fold", workspace, dedupe_key="k", delay_seconds=0))
        await until_state(database, workspace, job_id, "done")


async def test_a_drain_can_wait_for_what_is_due_later(database: Database, workspace: uuid.UUID) -> None:
    handler = Recorder()
    await ask(database, NewJob("fold", workspace, delay_seconds=0.3))
    await run_until_idle(database.dsn, {"fold": handler}, QUICK, wait_for_delayed=True)
    assert len(handler.seen) == 1


@pytest.mark.parametrize(
    "payload", [{"a": "x\x00y"}, {"a\x00": 1}, {"a": ["\\\x00"]}, {"a": "\ud800"}, {"a": float("nan")}, {"a": b"x"}]
)
async def test_a_payload_that_cannot_be_stored_is_refused_before_the_database_sees_it(
    database: Database, workspace: uuid.UUID, payload: dict[str, Any]
) -> None:
    """A2."""
    async with database.unit() as session:
        with pytest.raises(Invalid):
            await enqueue(session, NewJob("note", workspace, payload))
        # The transaction is unharmed; a backslash in front of u0000 is just text.
        job_id = await enqueue(session, NewJob("note", workspace, {"a": "\\u0000", "b": "汉字 🧠"}))
    assert (await look(database, workspace, job_id)).payload == {"a": "\\u0000", "b": "汉字 🧠"}


# ---------------------------------------------------------------------------------- going wrong


class _Permanent(Exception):
    permanent = True


async def test_a_job_of_an_unknown_kind_fails_visibly_and_can_be_retried_by_a_worker_that_knows_it(
    database: Database, workspace: uuid.UUID
) -> None:
    """M7, N7."""
    handler = Recorder()
    strange, known = await ask(database, NewJob("from_the_past", workspace), NewJob("note", workspace))
    settings = QUICK.model_copy(update={"job_unknown_grace_seconds": 0.0, "job_sweep_seconds": 0.05})
    async with worker(database, {"note": handler}, settings):
        await until_state(database, workspace, strange, "failed")
        await until_state(database, workspace, known, "done")
        (late,) = await ask(database, NewJob("note", workspace))
        await until_state(database, workspace, late, "done")
    failed = await look(database, workspace, strange)
    assert failed.error_code == "unknown_job"
    assert await sql(database, "SELECT id FROM mindcone_pgqueuer") == []
    async with database.unit() as session:
        reopened = await retry(session, workspace, strange)
    assert (reopened.state, reopened.error_code, reopened.finished_at) == ("queued", None, None)
    await run_until_idle(database.dsn, {"from_the_past": handler}, QUICK)
    assert (await look(database, workspace, strange)).state == "done"


async def test_an_unknown_kind_is_given_time_to_be_taken_by_a_newer_worker(
    database: Database, workspace: uuid.UUID
) -> None:
    (job_id,) = await ask(database, NewJob("from_the_future", workspace))
    settings = QUICK.model_copy(update={"job_sweep_seconds": 0.01, "job_unknown_grace_seconds": 3600.0})
    sweeps = "SELECT count(*) FROM mindcone_pgqueuer_schedules WHERE last_run > $1"
    begun = now()

    async def swept() -> bool:
        return bool((await sql(database, sweeps, begun))[0]["count"])

    async with worker(database, {}, settings):
        await until(swept)
    assert (await look(database, workspace, job_id)).state == "queued"


async def test_poison_is_parked_after_its_attempts_and_the_queue_moves(
    database: Database, workspace: uuid.UUID
) -> None:
    """A2, F11: errors whose text PostgreSQL refuses, too."""
    attempts: list[int] = []

    async def poison(context: JobContext) -> None:
        attempts.append(context.attempt)
        await context.progress("chew\x00ing \ud800", 0.5)
        raise Invalid("bad \x00 text \ud800 here")

    handler = Recorder()
    bad, good = await ask(database, NewJob("poison", workspace, max_attempts=3), NewJob("note", workspace))
    await run_until_idle(database.dsn, {"poison": poison, "note": handler}, ONE_HAND, wait_for_delayed=True)
    assert attempts == [1, 2, 3]
    failed = await look(database, workspace, bad)
    assert (failed.state, failed.attempts, failed.error_code) == ("failed", 3, "invalid")
    assert failed.error_detail == "bad  text  here"
    assert (await look(database, workspace, good)).state == "done"
    assert await sql(database, "SELECT id FROM mindcone_pgqueuer") == []


async def test_the_text_of_a_foreign_error_is_shown_to_nobody(database: Database, workspace: uuid.UUID) -> None:
    async def handler(context: JobContext) -> None:
        raise ValueError("postgresql://user:secret@host/db")

    (job_id,) = await ask(database, NewJob("note", workspace, max_attempts=1))
    await run_until_idle(database.dsn, {"note": handler}, QUICK)
    failed = await look(database, workspace, job_id)
    assert failed.error_code == "internal"
    assert failed.error_detail == "The job failed unexpectedly."
    assert await sql(database, "SELECT traceback FROM mindcone_pgqueuer_log WHERE traceback IS NOT NULL") == []


async def test_waiting_for_another_attempt_holds_no_slot_and_is_not_forgotten(
    database: Database, workspace: uuid.UUID
) -> None:
    """E16. With one slot and a distant poll, a retry must be noticed when it is due."""
    order: list[str] = []

    async def handler(context: JobContext) -> None:
        order.append(context.payload["name"])
        if context.payload["name"] == "first" and context.attempt == 1:
            raise ConnectionError

    settings = JobSettings(
        worker_concurrency=1, worker_poll_seconds=60, job_backoff_seconds=0.2, job_backoff_max_seconds=0.2
    )
    first, second = await ask(
        database, NewJob("note", workspace, {"name": "first"}), NewJob("note", workspace, {"name": "second"})
    )
    async with worker(database, {"note": handler}, settings):
        await until_state(database, workspace, first, "done")
    assert order == ["first", "second", "first"]
    assert (await look(database, workspace, first)).attempts == 2
    assert (await look(database, workspace, second)).attempts == 1


async def test_a_busy_provider_is_waited_for_as_long_as_it_asks_and_costs_no_attempt(
    database: Database, workspace: uuid.UUID
) -> None:
    """F1."""

    async def handler(context: JobContext) -> None:
        raise ProviderBusy(retry_after_seconds=120)

    (job_id,) = await ask(database, NewJob("note", workspace, max_attempts=1))
    begun = now()
    await run_until_idle(database.dsn, {"note": handler}, QUICK)
    waiting = await look(database, workspace, job_id)
    assert (waiting.state, waiting.attempts, waiting.error_code) == ("queued", 0, "provider_busy")
    assert timedelta(seconds=120) <= waiting.available_at - begun < timedelta(seconds=160)

    # After an hour of that, attempts count.
    await sql(database, "UPDATE jobs SET busy_since = now() - interval '61 minutes', available_at = now()")
    await sql(database, "UPDATE mindcone_pgqueuer SET execute_after = now()")
    await run_until_idle(database.dsn, {"note": handler}, QUICK)
    parked = await look(database, workspace, job_id)
    assert (parked.state, parked.attempts, parked.error_code) == ("failed", 1, "provider_busy")


async def test_an_error_that_is_permanent_fails_at_once(database: Database, workspace: uuid.UUID) -> None:
    async def handler(context: JobContext) -> None:
        raise _Permanent

    (job_id,) = await ask(database, NewJob("note", workspace))
    await run_until_idle(database.dsn, {"note": handler}, QUICK)
    failed = await look(database, workspace, job_id)
    assert (failed.state, failed.attempts) == ("failed", 1)


async def test_a_row_that_is_not_ours_is_thrown_out_of_the_queue(database: Database, workspace: uuid.UUID) -> None:
    handler = Recorder()
    for payload in (b"\xff", b"nonsense", f"{workspace}/{new_id()}".encode(), None):
        await sql(
            database,
            "INSERT INTO mindcone_pgqueuer (priority, entrypoint, payload, status) VALUES (0, 'note', $1, 'queued')",
            payload,
        )
    (job_id,) = await ask(database, NewJob("note", workspace))
    await run_until_idle(database.dsn, {"note": handler}, QUICK)
    assert [context.job_id for context in handler.seen] == [job_id]
    assert await sql(database, "SELECT id FROM mindcone_pgqueuer") == []


# ------------------------------------------------------------------- stopping, losing, taking over


async def test_a_stopping_worker_finishes_what_it_can_and_hands_back_the_rest(
    database: Database, workspace: uuid.UUID
) -> None:
    """M8."""
    quick, slow = Gate(), Gate()
    one, two = await ask(database, NewJob("quick", workspace), NewJob("slow", workspace))
    settings = QUICK.model_copy(update={"worker_grace_seconds": 0.5})
    async with worker(database, {"quick": quick, "slow": slow}, settings) as shutdown:
        await quick.started.wait()
        await slow.started.wait()
        shutdown.set()
        (late,) = await ask(database, NewJob("quick", workspace))
        quick.open.set()
    assert slow.seen[0].cancelled
    assert (await look(database, workspace, one)).state == "done"
    for job_id in (two, late):
        handed_back = await look(database, workspace, job_id)
        assert (handed_back.state, handed_back.attempts, handed_back.error_code) == ("queued", 0, None)
        assert handed_back.available_at <= now()
    slow.open.set()
    await run_until_idle(database.dsn, {"quick": quick, "slow": slow}, QUICK)
    assert (await look(database, workspace, two)).state == "done"
    assert [context.attempt for context in slow.seen] == [1, 1]


async def test_a_cancelled_worker_hands_back_at_once(database: Database, workspace: uuid.UUID) -> None:
    """M8."""
    gate = Gate()
    (job_id,) = await ask(database, NewJob("note", workspace))
    task = asyncio.create_task(run_worker(database.dsn, {"note": gate}, QUICK, asyncio.Event()))
    await gate.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    handed_back = await look(database, workspace, job_id)
    assert (handed_back.state, handed_back.attempts) == ("queued", 0)


async def test_a_drain_that_takes_too_long_raises_and_loses_nothing(database: Database, workspace: uuid.UUID) -> None:
    gate = Gate()
    (job_id,) = await ask(database, NewJob("note", workspace))
    with pytest.raises(TimeoutError):
        await run_until_idle(database.dsn, {"note": gate}, QUICK, timeout_seconds=0.5)
    assert (await look(database, workspace, job_id)).state == "queued"


async def test_the_worker_survives_the_loss_of_its_connection(database: Database, workspace: uuid.UUID) -> None:
    """The job in hand is finished once, and new ones are still heard of: LISTEN came back too."""
    gate, handler = Gate(), Recorder()
    (job_id,) = await ask(database, NewJob("slow", workspace))
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND "
    kill += "application_name = 'mindcone-worker'"
    async with worker(database, {"slow": gate, "note": handler}):
        await gate.started.wait()
        for _ in range(3):
            assert len(await sql(database, kill)) == 1
            (after,) = await ask(database, NewJob("note", workspace))
            await until_state(database, workspace, after, "done")
        gate.open.set()
        await until_state(database, workspace, job_id, "done")
    assert len(gate.seen) == 1
    assert (await look(database, workspace, job_id)).attempts == 1
    assert len(handler.seen) == 3


async def test_a_job_whose_worker_fell_silent_is_taken_over_and_the_sleeper_writes_nothing(
    database: Database, workspace: uuid.UUID
) -> None:
    gate = Gate()
    written: list[str] = []

    async def sleeper(context: JobContext) -> None:
        await gate(context)
        async with database.unit() as session:
            await context.hold(session)
            written.append("sleeper")

    async def successor(context: JobContext) -> None:
        async with database.unit() as session:
            await context.hold(session)
            written.append("successor")
        assert context.attempt == 2
        raise ConnectionError

    (job_id,) = await ask(database, NewJob("note", workspace, max_attempts=3))
    async with worker(database, {"note": sleeper}, ONE_HAND):
        await gate.started.wait()
        await sql(database, "UPDATE mindcone_pgqueuer SET heartbeat = now() - interval '31 seconds'")
        settings = QUICK.model_copy(update={"job_backoff_seconds": 100.0, "job_backoff_max_seconds": 100.0})
        await run_until_idle(database.dsn, {"note": successor}, settings)
        gate.open.set()
    assert written == ["successor"]
    waiting = await look(database, workspace, job_id)
    assert (waiting.state, waiting.attempts) == ("queued", 2)
    # The sleeper's end has not taken the successor's row out of the queue.
    (queued,) = await sql(database, "SELECT * FROM mindcone_pgqueuer")
    assert (queued["status"], queued["execute_after"]) == ("queued", waiting.available_at)


async def test_only_the_present_turn_holds_a_job(database: Database, workspace: uuid.UUID) -> None:
    seen: list[JobContext] = []

    async def handler(context: JobContext) -> None:
        seen.append(context)
        async with database.unit() as session:
            await context.hold(session)
        if context.attempt == 1:
            raise ConnectionError

    await ask(database, NewJob("note", workspace))
    await run_until_idle(database.dsn, {"note": handler}, QUICK, wait_for_delayed=True)
    assert [context.turn for context in seen] == [1, 2]
    for context in seen:
        async with database.read() as session:
            with pytest.raises(LeaseLost):
                await context.hold(session)


async def test_a_job_that_takes_every_worker_down_is_parked(database: Database, workspace: uuid.UUID) -> None:
    handler = Recorder()
    (job_id,) = await ask(database, NewJob("note", workspace, max_attempts=2))
    stale = "UPDATE mindcone_pgqueuer SET status = 'picked', queue_manager_id = gen_random_uuid(), "
    stale += "heartbeat = now() - interval '31 seconds'"
    await sql(database, "UPDATE jobs SET state = 'working', turn = 1, attempts = 1, started_at = now()")
    await sql(database, stale)
    gate = Gate()
    async with worker(database, {"note": gate}, ONE_HAND):
        await gate.started.wait()
        assert gate.seen[0].attempt == 2
        await sql(database, stale)
        await run_until_idle(database.dsn, {"note": handler}, QUICK)
        gate.open.set()
    assert handler.seen == []
    parked = await look(database, workspace, job_id)
    assert (parked.state, parked.attempts, parked.error_code) == ("failed", 2, "worker_lost")
    assert await sql(database, "SELECT id FROM mindcone_pgqueuer") == []


# ------------------------------------------------------------------------------- cancel and retry


async def test_cancelling(database: Database, workspace: uuid.UUID) -> None:
    gate, handler = Gate(), Recorder()
    working, waiting = await ask(database, NewJob("slow", workspace), NewJob("note", workspace, delay_seconds=3600))
    async with worker(database, {"slow": gate, "note": handler}):
        await gate.started.wait()
        for job_id in (working, waiting):
            async with database.unit() as session:
                assert (await cancel(session, workspace, job_id)).state == "cancelled"
            async with database.unit() as session:
                assert (await cancel(session, workspace, job_id)).state == "cancelled"

        async def interrupted() -> bool:
            return gate.seen[0].cancelled

        await until(interrupted)
    assert (await look(database, workspace, working)).state == "cancelled"
    assert handler.seen == []
    assert await sql(database, "SELECT id FROM mindcone_pgqueuer") == []
    async with database.unit() as session:
        await retry(session, workspace, waiting)
    await run_until_idle(database.dsn, {"note": handler}, QUICK)
    assert (await look(database, workspace, waiting)).state == "done"
    async with database.unit() as session:
        with pytest.raises(JobFinished):
            await cancel(session, workspace, waiting)


async def test_a_failed_job_is_retried_with_all_its_attempts(database: Database, workspace: uuid.UUID) -> None:
    """N7."""
    broken = True
    attempts: list[int] = []

    async def handler(context: JobContext) -> None:
        attempts.append(context.attempt)
        if broken:
            raise ConnectionError

    (job_id,) = await ask(database, NewJob("note", workspace, max_attempts=2, dedupe_key="k"))
    await run_until_idle(database.dsn, {"note": handler}, QUICK, wait_for_delayed=True)
    assert (await look(database, workspace, job_id)).state == "failed"
    broken = False
    async with database.unit() as session:
        assert (await retry(session, workspace, job_id)).attempts == 0
    async with database.unit() as session:
        with pytest.raises(JobNotFailed):
            await retry(session, workspace, job_id)
    await run_until_idle(database.dsn, {"note": handler}, QUICK)
    assert (await look(database, workspace, job_id)).state == "done"
    assert attempts == [1, 2, 1]
    async with database.unit() as session:
        with pytest.raises(JobNotFailed):
            await retry(session, workspace, job_id)


async def test_a_failed_job_is_not_retried_beside_a_newer_one_for_the_same_work(
    database: Database, workspace: uuid.UUID
) -> None:
    async def handler(context: JobContext) -> None:
        raise _Permanent

    (job_id,) = await ask(database, NewJob("note", workspace, dedupe_key="k"))
    await run_until_idle(database.dsn, {"note": handler}, QUICK)
    await ask(database, NewJob("note", workspace, dedupe_key="k"))
    async with database.unit() as session:
        with pytest.raises(JobPending):
            await retry(session, workspace, job_id)


async def test_jobs_of_another_workspace_do_not_exist(database: Database, workspace: uuid.UUID) -> None:
    """N1."""
    stranger = await new_workspace(database)
    (job_id,) = await ask(database, NewJob("note", workspace))
    async with database.unit() as session:
        for act in (get_job, cancel, retry):
            with pytest.raises(JobNotFound):
                await act(session, stranger, job_id)
            with pytest.raises(JobNotFound):
                await act(session, workspace, new_id())
        assert list(await list_jobs(session, stranger)) == []
    assert (await look(database, workspace, job_id)).state == "queued"


async def test_listing_in_pages(database: Database, workspace: uuid.UUID) -> None:
    """N19."""
    ids = await ask(database, *(NewJob("note" if n % 2 else "fold", workspace) for n in range(7)))
    async with database.unit() as session:
        await cancel(session, workspace, ids[3])
    async with database.read() as session:
        pages: list[uuid.UUID] = []
        while page := await list_jobs(session, workspace, before=pages[-1] if pages else None, limit=3):
            pages += [job.id for job in page]
        assert pages == ids[::-1]
        assert [job.id for job in await list_jobs(session, workspace, state="cancelled")] == [ids[3]]
        assert [job.id for job in await list_jobs(session, workspace, kind="fold")] == ids[::2][::-1]
        status = await queue_status(session)
    assert (status.queued, status.working) == (6, 0)
    assert status.oldest_due_seconds > 0


async def test_progress_is_seen_while_the_job_goes_on(database: Database, workspace: uuid.UUID) -> None:
    gate = Gate()

    async def handler(context: JobContext) -> None:
        await context.progress("reading", float("nan"))
        await context.progress("writing", 0.25)
        await gate(context)

    (job_id,) = await ask(database, NewJob("note", workspace))
    async with worker(database, {"note": handler}):

        async def seen() -> bool:
            job = await look(database, workspace, job_id)
            return (job.state, job.step, job.progress) == ("working", "writing", 0.25)

        await until(seen)
        gate.open.set()
    assert (await look(database, workspace, job_id)).progress == 1.0


# --------------------------------------------------------------------------- fairness and limits


async def test_workspaces_take_turns_whatever_the_length_of_their_lines(database: Database) -> None:
    crowd, single, late = [await new_workspace(database) for _ in range(3)]
    order: list[tuple[uuid.UUID, int]] = []

    async def handler(context: JobContext) -> None:
        order.append((context.workspace_id, context.payload["n"]))
        if len(order) == 50:
            # A line that opens while another is half served stands beside it, not before all of it.
            await ask(database, *(NewJob("note", late, {"n": n}) for n in range(20)))

    await ask(database, *(NewJob("note", crowd, {"n": n}) for n in range(150)))
    await ask(database, NewJob("note", single, {"n": 0}))
    await run_until_idle(database.dsn, {"note": handler}, ONE_HAND)
    assert order.index((single, 0)) == 1
    assert [n for who, n in order if who == crowd] == list(range(150))
    assert [n for who, n in order if who == late] == list(range(20))
    # From the 51st on they alternate: of any 4 in a row, 2 are of each.
    both = [who for who, _ in order[51:91]]
    assert all(both[at : at + 4].count(late) == 2 for at in range(0, 40, 4))


async def test_priority_goes_before_fairness(database: Database, workspace: uuid.UUID) -> None:
    other = await new_workspace(database)
    order: list[int] = []

    async def handler(context: JobContext) -> None:
        order.append(context.payload["n"])

    await ask(
        database,
        *(NewJob("note", workspace, {"n": n}, priority=-1) for n in (4, 5)),
        *(NewJob("note", workspace, {"n": n}) for n in (2, 3)),
        *(NewJob("note", other, {"n": n}, priority=1) for n in (0, 1)),
    )
    await run_until_idle(database.dsn, {"note": handler}, ONE_HAND)
    assert order == [0, 1, 2, 3, 4, 5]


async def test_no_more_jobs_at_once_than_allowed_and_no_fewer(database: Database, workspace: uuid.UUID) -> None:
    """The limit of a kind holds over all workers, the limit of a worker over all kinds."""
    inside: dict[str, int] = {"fold": 0, "note": 0}
    most: dict[str, int] = {"fold": 0, "note": 0}
    together = asyncio.Event()

    async def handler(context: JobContext) -> None:
        inside[context.kind] += 1
        most[context.kind] = max(most[context.kind], inside[context.kind])
        if inside == {"fold": 1, "note": 5}:
            together.set()
        await together.wait()
        # Two turns of the loop of others: whoever may come in beside us has come in.
        await asyncio.sleep(0.02)
        inside[context.kind] -= 1

    jobs = [NewJob("fold", workspace) for _ in range(6)] + [NewJob("note", workspace) for _ in range(30)]
    ids = await ask(database, *jobs)
    settings = QUICK.model_copy(update={"worker_concurrency": 3, "worker_kind_limits": {"fold": 1}})
    handlers: dict[str, Handler] = {"fold": handler, "note": handler}
    async with worker(database, handlers, settings), worker(database, handlers, settings):
        for job_id in ids:
            await until_state(database, workspace, job_id, "done")
    assert most["fold"] == 1
    assert most["note"] in (5, 6)


# ---------------------------------------------------------------------------------- housekeeping


async def test_a_periodic_is_done_by_one_of_all_workers(database: Database) -> None:
    hourly, often, inside, most = 0, 0, 0, 0

    async def count_hourly() -> None:
        nonlocal hourly
        hourly += 1
        raise RuntimeError("once is enough")

    async def count_often() -> None:
        nonlocal often, inside, most
        inside += 1
        most = max(most, inside)
        try:
            # Longer than the period, so that the other worker finds it due and going on.
            await asyncio.sleep(0.06)
        finally:
            inside -= 1
        often += 1

    periodics = (Periodic("hourly", 3600, count_hourly), Periodic("often", 0.02, count_often))

    async def enough() -> bool:
        return often >= 5

    for _ in range(2):
        often = 0
        async with worker(database, {}, QUICK, *periodics), worker(database, {}, QUICK, *periodics):
            await until(enough)
    assert hourly == 1
    assert most == 1


async def test_finished_jobs_and_the_queue_log_do_not_pile_up(database: Database, workspace: uuid.UUID) -> None:
    handler = Recorder()
    ids = await ask(
        database,
        NewJob("ingest", workspace, {"age": "2 hours"}),
        NewJob("ingest", workspace, {"age": "30 minutes"}),
        NewJob("note", workspace, {"age": "29 days"}),
        NewJob("note", workspace, {"age": "31 days"}),
    )
    await run_until_idle(database.dsn, {"ingest": handler, "note": handler}, QUICK)
    (failed,) = await ask(database, NewJob("ingest", workspace, {"age": "2 hours"}))
    async with database.unit() as session:
        await cancel(session, workspace, failed)
    await sql(database, "UPDATE jobs SET finished_at = now() - (payload->>'age')::interval")
    assert (await sql(database, "SELECT count(*) AS n FROM mindcone_pgqueuer_log"))[0]["n"] > 0
    await sql(database, "UPDATE mindcone_pgqueuer_log SET created = now() - interval '11 minutes'")

    async def swept() -> bool:
        return (await sql(database, "SELECT count(*) AS n FROM mindcone_pgqueuer_log"))[0]["n"] == 0

    async with worker(database, {}):
        await until(swept)
    left = {row["id"] for row in await sql(database, "SELECT id FROM jobs")}
    assert left == {ids[1], ids[2], failed}


async def test_a_job_without_its_row_in_the_queue_is_queued_again(database: Database, workspace: uuid.UUID) -> None:
    """A dump may be restored, or a table truncated, without the other."""
    handler = Recorder()
    (job_id,) = await ask(database, NewJob("note", workspace))
    await sql(database, "TRUNCATE mindcone_pgqueuer")
    await sql(database, "UPDATE jobs SET available_at = now() - interval '2 minutes'")
    async with worker(database, {"note": handler}):
        await until_state(database, workspace, job_id, "done")


async def test_deleting_a_workspace_takes_its_jobs_out_of_the_queue(database: Database, workspace: uuid.UUID) -> None:
    handler = Recorder()
    await ask(database, NewJob("note", workspace))
    await sql(database, "DELETE FROM workspaces")
    await run_until_idle(database.dsn, {"note": handler}, QUICK)
    assert handler.seen == []
    assert await sql(database, "SELECT id FROM mindcone_pgqueuer") == []


# ---------------------------------------------------------------------------------------- schema


def test_the_frozen_schema_is_what_pgqueuer_declares() -> None:
    """When this fails after an upgrade of pgqueuer, a migration with its changes is due."""
    header, _, declared = render_install(NAMES).partition("\n\n")
    assert header.startswith("-- pgqueuer")
    frozen = (migrate.ROOT / "migrations" / "sql" / "0001_queue.sql").read_text(encoding="utf-8")
    statements = [part.strip() for part in frozen.split("-- next\n")[1:]]
    assert "\n\n".join(statements[:-1]) == declared


def test_the_environment_does_not_rename_the_queue() -> None:
    """pgqueuer reads the names of its objects from variables as common as CHANNEL and FUNCTION."""
    names = ("CHANNEL", "FUNCTION", "TRIGGER", "QUEUE_TABLE", "QUEUE_TABLE_LOG", "SCHEDULES_TABLE", "DURABILITY")
    program = "from app.jobs.pgqueue import NAMES; print(NAMES.model_dump_json())"
    environment = {**os.environ, **dict.fromkeys(names, "volatile"), "PGQUEUER_SCHEMA": "x", "PGQUEUER_PREFIX": "y_"}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    assert found.stdout.decode().strip() == NAMES.model_dump_json()


# --------------------------------------------------------------------------------------- outcome


def _judge(error: BaseException, attempt: int = 1, busy_seconds: float = 0.0, jitter: float = 0.5) -> Any:
    settings = JobSettings(job_backoff_seconds=2, job_backoff_max_seconds=300, job_patience_seconds=3600)
    return judge(error, attempt=attempt, max_attempts=5, busy_seconds=busy_seconds, settings=settings, jitter=jitter)


@pytest.mark.parametrize(("attempt", "delay"), [(1, 2), (2, 4), (3, 8), (4, 16)])
def test_backoff_doubles(attempt: int, delay: float) -> None:
    outcome = _judge(ProviderRefused(), attempt)
    assert (outcome.state, outcome.counted, outcome.delay_seconds) == ("queued", True, delay)
    assert _judge(ProviderRefused(), attempt, jitter=0).delay_seconds == delay * 0.75
    assert _judge(ProviderRefused(), attempt, jitter=1).delay_seconds == delay * 1.25


def test_the_last_attempt_parks() -> None:
    assert _judge(ProviderRefused(), 5).state == "failed"
    assert _judge(ProviderBusy(), 5).state == "queued"


@pytest.mark.parametrize(
    ("error", "counted"),
    [
        (RateLimited(), False),
        (Unavailable(), False),
        (ProviderBusy(), False),
        (ProviderDown(), False),
        (ProviderTimeout(), True),
        (ProviderRefused(), True),
        (KeyError("x"), True),
    ],
)
def test_whose_fault_counts_as_an_attempt(error: Exception, counted: bool) -> None:
    assert _judge(error).counted is counted
    assert _judge(error, busy_seconds=3600).counted is True


def test_nobody_comes_back_earlier_than_asked() -> None:
    assert _judge(ProviderBusy(retry_after_seconds=40), jitter=0).delay_seconds == 40
    assert _judge(ProviderBusy(retry_after_seconds=40), jitter=1).delay_seconds == 50
    assert _judge(ProviderBusy(retry_after_seconds=1e12), jitter=0).delay_seconds == 3600
    assert _judge(ProviderBusy(retry_after_seconds=float("nan"))).delay_seconds == 2
    # While it stays busy, the waits grow to a quarter of the time waited so far.
    assert _judge(ProviderBusy(retry_after_seconds=5), busy_seconds=400).delay_seconds == 100


def test_of_several_failures_the_one_that_waiting_does_not_cure_speaks() -> None:
    busy = ProviderBusy(retry_after_seconds=40)
    assert _judge(ExceptionGroup("", [busy, ProviderDown()])).code == "provider_busy"
    assert _judge(ExceptionGroup("", [busy, ProviderDown()]), jitter=0).delay_seconds == 40
    mixed = _judge(ExceptionGroup("", [busy, ExceptionGroup("", [ProviderRefused("no such model")])]))
    assert (mixed.code, mixed.detail, mixed.counted) == ("provider_refused", "no such model", True)
    assert _judge(ExceptionGroup("", [busy, _Permanent()])).state == "failed"
