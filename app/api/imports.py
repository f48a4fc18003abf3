"""Uploads: files are put aside under the data directory and a job is asked for. Reads none of them."""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, File, Form, Response, UploadFile

from app.api.deps import Wired, Writer, WriteSession
from app.api.idempotency import RecordedRoute
from app.api.jobs import JobShape, job_shape
from app.core.errors import Invalid
from app.core.ids import new_id
from app.jobs import queue
from app.jobs.job import NewJob
from app.text.normalise import clean

router = APIRouter(prefix="/imports", tags=["imports"], route_class=RecordedRoute)

UPLOADS: Final = "uploads"
MAX_NAME: Final = 1000


class NoFiles(Invalid):
    """There is no file in this upload."""

    code = "no_files"


@dataclass(frozen=True, slots=True)
class Upload:
    id: uuid.UUID
    folder: Path


async def upload_folder(services: Wired) -> AsyncIterator[Upload]:
    """A place for an upload, which is gone again unless the job that will read it is committed."""
    upload_id = new_id()
    folder = services.settings.data_dir / UPLOADS / upload_id.hex
    try:
        yield Upload(upload_id, folder)
    except BaseException:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        raise


@router.post("", status_code=202)
async def create_import(
    principal: Writer,
    # Before the session, so that it outlives the commit.
    upload: Annotated[Upload, Depends(upload_folder, scope="function")],
    session: WriteSession,
    response: Response,
    files: Annotated[list[UploadFile], File(description="zip, .md, .txt, .html, .pdf, .docx")] = [],  # noqa: B006
    file: Annotated[list[UploadFile], File(description="The same, for clients that send one")] = [],  # noqa: B006
    format: Annotated[Literal["auto", "obsidian", "logseq", "markdown"], Form()] = "auto",
) -> JobShape:
    """Import files into the workspace. The job says what became of each."""
    named = [upload for upload in (*files, *file) if upload.filename or upload.size]
    if not named:
        raise NoFiles
    kept = await asyncio.to_thread(_keep, upload.folder, named)
    job_id = await queue.enqueue(
        session,
        NewJob(
            kind="import",
            workspace_id=principal.workspace_id,
            payload={"upload": upload.id.hex, "format": format, "files": kept},
        ),
    )
    job = await queue.get_job(session, principal.workspace_id, job_id)
    response.headers["Location"] = f"/api/v1/jobs/{job_id}"
    return job_shape(job)


def _keep(folder: Path, uploads: list[UploadFile]) -> list[dict[str, Any]]:
    """Store each upload under a name of ours: what the client calls it is data, never a path."""
    folder.mkdir(parents=True)
    kept = []
    for number, upload in enumerate(uploads):
        name = clean(upload.filename or f"file-{number}")[:MAX_NAME]
        stored = folder / (f"{number}.zip" if name.lower().endswith(".zip") else str(number))
        with stored.open("wb") as target:
            shutil.copyfileobj(upload.file, target, 1024 * 1024)
        kept.append({"stored": stored.name, "name": name, "size": stored.stat().st_size})
    return kept
