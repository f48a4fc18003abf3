"""Statements about imported files."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.transfer.importing import FileReport
from app.transfer.tables import ImportedFile


async def save_reports(
    session: AsyncSession, workspace_id: uuid.UUID, job_id: uuid.UUID, reports: Sequence[FileReport]
) -> None:
    """Remember what became of these files; a repeated report on a path has the last word."""
    if not reports:
        return
    # One statement cannot write a row twice.
    last = {report.path: report for report in reports}
    rows = insert(ImportedFile).values(
        [
            {
                "workspace_id": workspace_id,
                "job_id": job_id,
                "path": report.path,
                "outcome": report.outcome,
                "card_id": report.card_id,
                "code": report.code,
                "detail": report.detail,
            }
            for report in last.values()
        ]
    )
    await session.execute(
        rows.on_conflict_do_update(
            index_elements=["workspace_id", "job_id", "path"],
            set_={name: rows.excluded[name] for name in ("outcome", "card_id", "code", "detail")},
        )
    )


async def list_reports(
    session: AsyncSession, workspace_id: uuid.UUID, job_id: uuid.UUID, after: str | None, limit: int
) -> Sequence[ImportedFile]:
    """Files of an import by path, those after `after`."""
    wanted = select(ImportedFile).where(ImportedFile.workspace_id == workspace_id, ImportedFile.job_id == job_id)
    if after is not None:
        wanted = wanted.where(ImportedFile.path > after)
    return (await session.scalars(wanted.order_by(ImportedFile.path).limit(limit))).all()
