"""The process that works the queue, and its short form that works it until nothing is left."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

from app.core.log import get
from app.db.session import asyncpg_dsn
from app.jobs import queries
from app.jobs.crew import STUBBORN_SECONDS, Crew
from app.jobs.job import Handler
from app.jobs.line import Line, LineClosed
from app.jobs.pgqueue import Place, Worker, put
from app.jobs.schedule import Periodic, keep_time
from app.jobs.settings import JobSettings

log = get(__name__)

_RESTART_SECONDS = 1.0
_MARGIN_SECONDS = 2.0
_STRAYS = 1000


async def run_worker(
    database_dsn: str,
    handlers: Mapping[str, Handler],
    settings: JobSettings,
    shutdown: asyncio.Event,
    periodics: Sequence[Periodic] = (),
) -> None:
    """Do jobs until `shutdown` is set; then finish what is in hand, or after
    `worker_grace_seconds` hand it back. Cancelled, it hands back at once.

    The database may go away and come back meanwhile. `database_dsn` must lead to the server or to a
    session pooler: it listens. Raises ConfigurationError when the first connection is refused for good.
    """
    async with Line(asyncpg_dsn(database_dsn)) as line:
        crew = Crew(line, handlers, settings)
        sweep = Periodic("jobs.sweep", settings.job_sweep_seconds, partial(_sweep, line, handlers, settings))
        helpers = [crew.watch(), *(keep_time(line, periodic) for periodic in (sweep, *periodics))]
        await _employ(_worker(line, crew, settings), crew, helpers, shutdown)


async def run_until_idle(
    database_dsn: str,
    handlers: Mapping[str, Handler],
    settings: JobSettings | None = None,
    *,
    wait_for_delayed: bool = False,
    timeout_seconds: float = 60.0,
) -> None:
    """Do everything that is due (with `wait_for_delayed` also what is due later, retries included) and
    return; jobs of unknown kinds fail. Raises TimeoutError, after having handed back what was in hand.
    """
    settings = settings or JobSettings()
    async with Line(asyncpg_dsn(database_dsn)) as line:
        crew = Crew(line, handlers, settings)
        worker = _worker(line, crew, settings)
        worker.drain, worker.wait_for_delayed = True, wait_for_delayed
        async with asyncio.timeout(timeout_seconds):
            await _employ(worker, crew, [crew.watch()], asyncio.Event())
        await queries.fail_unknown(line, list(handlers), 0.0)


def _worker(line: Line, crew: Crew, settings: JobSettings) -> Worker:
    return Worker(
        line=line,
        crew=crew,
        kinds={kind: settings.worker_kind_limits.get(kind, 0) for kind in crew.handlers},
        heartbeat_seconds=settings.worker_heartbeat_seconds,
        poll_seconds=settings.worker_poll_seconds,
    )


async def _employ(
    worker: Worker, crew: Crew, helpers: Sequence[Coroutine[Any, Any, None]], shutdown: asyncio.Event
) -> None:
    grace = crew.settings.worker_grace_seconds
    working = asyncio.create_task(_work(worker), name="queue")
    asked = asyncio.create_task(shutdown.wait())
    beside = [asked, *(asyncio.create_task(helper) for helper in helpers)]
    try:
        await asyncio.wait({working, asked}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        grace = 0.0
        raise
    finally:
        worker.stop.set()
        worker.line.hurry(grace + STUBBORN_SECONDS)
        await asyncio.wait({working}, timeout=grace)
        if not working.done():
            crew.leave()
            await asyncio.wait({working}, timeout=STUBBORN_SECONDS + _MARGIN_SECONDS)
        for task in (working, *beside):
            task.cancel()
        await asyncio.wait({working, *beside})
    if not working.cancelled():
        working.result()


async def _work(worker: Worker) -> None:
    while not worker.stop.is_set():
        try:
            await worker.run()
        except LineClosed:
            log.error("queue_closed_without_database")
            return
        except Exception:
            # A full disk, a deadlock, a table that is being migrated: not a reason to stop for good.
            log.exception("queue_interrupted")
            await asyncio.sleep(_RESTART_SECONDS)


async def _sweep(line: Line, handlers: Mapping[str, Handler], settings: JobSettings) -> None:
    failed = await queries.fail_unknown(line, list(handlers), settings.job_unknown_grace_seconds)
    if failed:
        log.error("jobs_of_unknown_kind_failed", count=failed)
    strays = await queries.list_strays(line, _STRAYS)
    if strays:
        log.error("stray_jobs_queued_again", count=len(strays))
        await put(line, [Place(s["workspace_id"], s["id"], s["kind"], s["priority"], s["rank"], 0.0) for s in strays])
    await queries.forget(line, settings.job_keep_days, settings.job_ingest_keep_hours, settings.job_log_keep_seconds)
