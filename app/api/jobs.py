"""Jobs over HTTP: what is being done, how far it is, cancel and retry."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import StreamingResponse

from app.api.deps import Reader, ReadSession, Wired, Writer, WriteSession
from app.api.idempotency import RecordedRoute
from app.api.pages import Cursor, Limit, Page, cut, decode_id, decode_text, encode
from app.api.sse import Event, EventStream
from app.api.text_types import Name
from app.db.session import Database
from app.jobs import queue
from app.jobs.job import JobView
from app.transfer import queries as transfer
from app.transfer.tables import ImportedFile

router = APIRouter(prefix="/jobs", tags=["jobs"], route_class=RecordedRoute)

State = Literal["queued", "working", "done", "failed", "cancelled"]
ENDED: Final = frozenset({"done", "failed", "cancelled"})
POLL_SECONDS: Final = 0.5
FIRST_FILES: Final = 200


class JobError(BaseModel):
    code: str
    detail: str


class JobShape(BaseModel):
    """`progress` in 0..1; `available_at` is when it may start (again)."""

    id: uuid.UUID
    kind: str
    state: State
    step: str | None
    progress: float | None
    payload: dict[str, Any]
    error: JobError | None = Field(description="Why it failed, or what it waits for")
    attempts: int
    max_attempts: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    available_at: datetime


class JobPage(Page[JobShape]):
    pass


class FileResult(BaseModel):
    """What became of one file of an import; `code` and `detail` say why it is not a card."""

    path: str
    outcome: Literal["created", "updated", "unchanged", "skipped", "rejected"]
    card_id: uuid.UUID | None
    code: str | None
    detail: str | None


class FileResultPage(Page[FileResult]):
    pass


class JobDetail(JobShape):
    results: list[FileResult] | None = Field(
        description="Of an import: its first 200 files; `GET /jobs/{id}/files` has them all"
    )


@router.get("")
async def list_jobs(
    principal: Reader,
    session: ReadSession,
    limit: Limit = 50,
    cursor: Cursor = None,
    state: State | None = None,
    kind: Annotated[Name | None, Query()] = None,
) -> JobPage:
    """Newest first."""
    rows = await queue.list_jobs(
        session, principal.workspace_id, state=state, kind=kind, before=decode_id(cursor), limit=limit + 1
    )
    page, last = cut(rows, limit)
    return JobPage(
        items=[job_shape(job) for job in page], next_cursor=encode(last.id.hex) if last is not None else None
    )


@router.get("/{job_id}")
async def get_job(principal: Reader, session: ReadSession, job_id: uuid.UUID) -> JobDetail:
    job = await queue.get_job(session, principal.workspace_id, job_id)
    results = None
    if job.kind == "import":
        rows = await transfer.list_reports(session, principal.workspace_id, job_id, None, FIRST_FILES)
        results = [_file_result(row) for row in rows]
    return JobDetail(**job_shape(job).model_dump(), results=results)


@router.get("/{job_id}/files")
async def list_job_files(
    principal: Reader, session: ReadSession, job_id: uuid.UUID, limit: Limit = 50, cursor: Cursor = None
) -> FileResultPage:
    """What became of each file of an import, by path."""
    await queue.get_job(session, principal.workspace_id, job_id)
    rows = await transfer.list_reports(session, principal.workspace_id, job_id, decode_text(cursor), limit + 1)
    page, last = cut(rows, limit)
    return FileResultPage(
        items=[_file_result(row) for row in page], next_cursor=encode(last.path) if last is not None else None
    )


@router.get(
    "/{job_id}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "`job` at every change, until it ends"}},
)
async def stream_job(principal: Reader, services: Wired, job_id: uuid.UUID, request: Request) -> EventStream:
    """Server-sent events `job`, each with the job as it is then; the stream ends with the job."""
    async with services.database.read() as session:
        await queue.get_job(session, principal.workspace_id, job_id)
    return EventStream(request, _changes(services.database, principal.workspace_id, job_id))


@router.post("/{job_id}/cancel")
async def cancel_job(principal: Writer, session: WriteSession, job_id: uuid.UUID) -> JobShape:
    """Take it out of the queue, or interrupt it."""
    return job_shape(await queue.cancel(session, principal.workspace_id, job_id))


@router.post("/{job_id}/retry")
async def retry_job(principal: Writer, session: WriteSession, job_id: uuid.UUID) -> JobShape:
    """Put a failed or cancelled job back into the queue, with all its attempts."""
    return job_shape(await queue.retry(session, principal.workspace_id, job_id))


def job_shape(job: JobView) -> JobShape:
    return JobShape(
        id=job.id,
        kind=job.kind,
        state=job.state,
        step=job.step,
        progress=job.progress,
        payload=_payload(job),
        error=JobError(code=job.error_code, detail=job.error_detail or "") if job.error_code else None,
        attempts=job.attempts,
        max_attempts=job.max_attempts,
        created_at=job.created_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
        available_at=job.available_at,
    )


def _payload(job: JobView) -> dict[str, Any]:
    """What was asked for. Where an upload lies on the disk is nobody's business."""
    if job.kind != "import":
        return dict(job.payload)
    files = [{"name": file["name"], "size": file["size"]} for file in job.payload.get("files", ())]
    return {"format": job.payload.get("format", "auto"), "files": files}


def _file_result(row: ImportedFile) -> FileResult:
    return FileResult.model_validate(row, from_attributes=True)


async def _changes(database: Database, workspace_id: uuid.UUID, job_id: uuid.UUID) -> AsyncIterator[Event]:
    said: JobShape | None = None
    while said is None or said.state not in ENDED:
        async with database.read() as session:
            shape = job_shape(await queue.get_job(session, workspace_id, job_id))
        if shape != said:
            said = shape
            yield Event("job", shape.model_dump(mode="json"))
        if shape.state not in ENDED:
            await asyncio.sleep(POLL_SECONDS)
