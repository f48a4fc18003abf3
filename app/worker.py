"""The process that works the queue: job names and their handlers, and what is done every so often.

A door like the API: it thinks nothing, it calls the faculties.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import uuid
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncSession

from app.chat import queries as chat
from app.chat.afterwards import TITLE
from app.chat.insights import INSIGHTS
from app.chat.reflection import REFLECT
from app.core.clock import now
from app.core.errors import NotFound
from app.core.log import get
from app.index import folding, vector_index
from app.ingestion import queries as ingestion
from app.ingestion.communities.rebuild import COMMUNITIES
from app.ingestion.link.revise import LINK
from app.ingestion.link.thresholds import thresholds_for
from app.ingestion.queries import Task
from app.ingestion.reembed import REEMBED
from app.ingestion.relink.relinking import RELINK
from app.ingestion.stranded import mend_stranded
from app.ingestion.submit import INGEST
from app.jobs.job import Handler, JobContext
from app.jobs.run import run_until_idle, run_worker
from app.jobs.schedule import Periodic
from app.people import queries as people
from app.retrieval.calibrating import CALIBRATE
from app.settings import Settings
from app.transfer import queries as transfer
from app.transfer.importing import FileReport
from app.wiring import Services, open_services

log = get(__name__)

IMPORT = "import"
UPLOADS = "uploads"
UNTIL_IDLE_SECONDS = 6 * 3600.0
REQUESTS_KEPT = timedelta(hours=24)
UPLOADS_KEPT = timedelta(days=7)


class UploadMissing(NotFound):
    """The uploaded files are no longer there; upload them again."""

    code = "upload_missing"
    permanent = True


def handlers(services: Services) -> dict[str, Handler]:
    """Every kind of job that this version knows."""
    return {
        INGEST: partial(ingest, services),
        IMPORT: partial(import_files, services),
        REEMBED: services.reembedding.fill,
        CALIBRATE: services.calibrating.calibrate,
        COMMUNITIES: services.communities.work,
        LINK: partial(link, services),
        RELINK: services.relinking.work,
        REFLECT: services.reflection.run,
        INSIGHTS: services.insights.run,
        TITLE: services.titling.run,
    }


async def ingest(services: Services, job: JobContext) -> None:
    """Payload: `cards`, pairs of card id and text version."""
    tasks = [Task(uuid.UUID(card_id), int(version)) for card_id, version in job.payload["cards"]]
    await services.pipeline.ingest(job.workspace_id, tasks, last_attempt=job.is_last_attempt)


async def link(services: Services, job: JobContext) -> None:
    """No payload: whatever pairs of names wait for a model, and entities for their description or their vector."""
    await services.resolver.run(job.workspace_id)


async def import_files(services: Services, job: JobContext) -> None:
    """Payload: `upload`, a folder of the data directory, `files` in it, `format`. The folder goes when all is in."""
    folder = services.settings.data_dir / UPLOADS / uuid.UUID(job.payload["upload"]).hex
    files = [(file["name"], folder / Path(file["stored"]).name) for file in job.payload["files"]]

    async def save(session: AsyncSession, reports: Sequence[FileReport]) -> None:
        await transfer.save_reports(session, job.workspace_id, job.job_id, reports)

    async def progress(done: int, total: int) -> None:
        await job.progress("files", done / total if total else 1.0)

    if not await asyncio.to_thread(folder.is_dir):
        raise UploadMissing
    await services.importer.import_upload(
        job.workspace_id, files, job.payload.get("format", "auto"), report=save, progress=progress
    )
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def periodics(services: Services) -> list[Periodic]:
    """What some worker does every so often."""
    return [
        Periodic("index.fold", 3.0, partial(fold_postings, services)),
        Periodic("index.vectors", 30.0, partial(build_vector_index, services)),
        Periodic("spaces.calibrate", 60.0, partial(enqueue_calibrations, services)),
        Periodic("communities.due", 5.0, partial(enqueue_communities, services)),
        Periodic("names.due", 5.0, partial(enqueue_relinking, services)),
        Periodic("links.due", 60.0, partial(enqueue_linking, services)),
        Periodic("spaces.advance", 10.0, partial(advance_space, services)),
        Periodic("spaces.drop", 300.0, partial(drop_spaces, services)),
        Periodic("chat.stale", 10.0, partial(interrupt_stale, services)),
        Periodic("cards.stranded", 15.0, partial(mend_stranded_cards, services)),
        Periodic("cards.trash", 3600.0, partial(empty_trash, services)),
        Periodic("memory.vectors", 10.0, partial(embed_memories, services)),
        Periodic("memory.archive", 3600.0, partial(archive_memories, services)),
        Periodic("requests.forget", 3600.0, partial(forget_requests, services)),
        Periodic("uploads.sweep", 3600.0, partial(sweep_uploads, services)),
    ]


async def fold_postings(services: Services) -> None:
    """Recent postings into segments, segments into larger ones."""
    await folding.fold_all(services.database, services.settings.fold_rows)


async def build_vector_index(services: Services) -> None:
    """What a space has too much of for exact scans gets its HNSW index, without locking anyone out."""
    for embedder in services.spaces.embedders:
        await vector_index.build_if_needed(
            services.database,
            embedder.space,
            services.settings.vector_index_windows,
            bare_names=not thresholds_for(embedder.space.key).only_asks,
        )


async def enqueue_calibrations(services: Services) -> None:
    """Workspaces whose distances were never measured, or when they were much smaller."""
    await services.calibrating.enqueue_due()


async def enqueue_communities(services: Services) -> None:
    """Graphs that have changed and come to rest are divided into communities, and reported on."""
    await services.communities.enqueue_due()


async def enqueue_relinking(services: Services) -> None:
    """Titles that were learned are looked for in older cards, once a workspace has come to rest."""
    await services.relinking.enqueue_due()


async def enqueue_linking(services: Services) -> None:
    """Descriptions that cards tell otherwise now; pairs that a model was not asked about, as it was away."""
    await services.resolver.enqueue_due()


async def advance_space(services: Services) -> None:
    """An embedding space that is being filled gets its jobs, its indexes, and becomes the current one."""
    await services.reembedding.advance()


async def drop_spaces(services: Services) -> None:
    """Vectors of spaces that were left long ago."""
    await services.reembedding.drop_left()


async def interrupt_stale(services: Services) -> None:
    """Answers whose process died are said to be interrupted."""
    async with services.database.unit() as session:
        await chat.interrupt_stale(session, services.settings.turn_stale_seconds)


async def mend_stranded_cards(services: Services) -> None:
    """Cards whose job is gone are tried one by one, or say why they are not learned."""
    while await mend_stranded(services.database):
        pass


async def empty_trash(services: Services) -> None:
    async with services.database.unit() as session:
        removed = await ingestion.remove_trash(session, services.settings.trash_days)
    if removed:
        log.info("trash_emptied", cards=removed)


async def embed_memories(services: Services) -> None:
    """Memories that were changed, or that an embedder was away for, get their vectors."""
    await services.memory_vectors.fill()
    await services.memory_vectors.drop_left()


async def archive_memories(services: Services) -> None:
    """What has faded leaves the prompts."""
    await services.recall.archive_faded()


async def forget_requests(services: Services) -> None:
    """Answers to repeated requests are kept for a day."""
    async with services.database.unit() as session:
        await people.delete_records_before(session, now() - REQUESTS_KEPT)


async def sweep_uploads(services: Services) -> None:
    """Uploads whose request was killed before its job was committed, or whose import has long failed."""
    await asyncio.to_thread(_remove_older, services.settings.data_dir / UPLOADS, now() - UPLOADS_KEPT)


def _remove_older(folder: Path, moment: datetime) -> None:
    for upload in folder.iterdir() if folder.is_dir() else ():
        if datetime.fromtimestamp(upload.stat().st_mtime, UTC) < moment:
            shutil.rmtree(upload, ignore_errors=True)
            log.info("upload_removed", upload=upload.name)


async def work_until_idle(services: Services) -> None:
    """Do everything that is due, and return."""
    await run_until_idle(
        services.database.dsn, handlers(services), services.settings, timeout_seconds=UNTIL_IDLE_SECONDS
    )
    await fold_postings(services)


async def work(settings: Settings, dsn: str, parent: int | None = None) -> None:
    """Open the services, work until SIGTERM or SIGINT (or until process `parent` is gone), hand back the rest."""
    shutdown = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):
            loop.add_signal_handler(name, shutdown.set)
    async with open_services(settings, dsn, role="worker") as services:
        log.info("worker_started")
        watch = asyncio.create_task(_leave_with(parent, shutdown)) if parent else None
        await run_worker(dsn, handlers(services), settings, shutdown, periodics(services))
        if watch:
            watch.cancel()
    log.info("worker_stopped")


async def _leave_with(parent: int, shutdown: asyncio.Event) -> None:
    """An orphan would go on with a database that the next start wants for itself."""
    while os.getppid() == parent:  # noqa: ASYNC110  (nothing tells a process that its parent died)
        await asyncio.sleep(1.0)
    log.warning("parent_gone")
    shutdown.set()
