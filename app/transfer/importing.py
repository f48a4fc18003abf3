"""Files in: a folder, an archive or a file becomes cards, some files at a time.

Each batch of files is one unit of work, so that an import that is interrupted has imported what it
said it had, and doing it again changes nothing that is already there.
"""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from app.cards.drafts import NewCard
from app.core.errors import MindConeError
from app.db.session import Database
from app.transfer.notes import ParsedNote
from app.transfer.settings import TransferSettings
from app.transfer.vault import FileResult, FormatChoice, Vault, open_vault, read_file

BATCH_FILES = 50
ARCHIVE = ".zip"

FileOutcome = Literal["created", "updated", "unchanged", "skipped", "rejected"]


class Written(Protocol):
    """What became of one card, in the words of whoever writes cards."""

    @property
    def outcome(self) -> Literal["created", "updated", "unchanged", "rejected"]: ...
    @property
    def id(self) -> uuid.UUID | None: ...
    @property
    def error(self) -> MindConeError | None: ...


Submit = Callable[[AsyncSession, uuid.UUID, Sequence[NewCard]], Awaitable[Sequence[Written]]]


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file; `code` and `detail` say why it is not a card."""

    path: str
    outcome: FileOutcome
    card_id: uuid.UUID | None = None
    code: str | None = None
    detail: str | None = None
    warnings: Sequence[str] = ()


@dataclass(slots=True)
class Summary:
    """Files by outcome, and rejected ones by code."""

    outcomes: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)

    def add(self, report: FileReport) -> None:
        self.outcomes[report.outcome] += 1
        if report.code:
            self.codes[report.code] += 1


Report = Callable[[AsyncSession, Sequence[FileReport]], Awaitable[None]]
FilesDone = Callable[[int, int], Awaitable[None]]


class Importer:
    def __init__(self, database: Database, submit: Submit, settings: TransferSettings) -> None:
        self._database = database
        self._submit = submit
        self._settings = settings

    async def import_path(
        self,
        workspace_id: uuid.UUID,
        path: Path,
        choice: FormatChoice = "auto",
        *,
        report: Report | None = None,
        progress: FilesDone | None = None,
    ) -> Summary:
        """Import all files at `path`. `report` is called in the unit of work that writes a batch's cards,
        `progress` after it with files done and files in all.

        Raises UnreadableFile, BrokenArchive, ArchiveTooLarge when nothing at all can be read.
        """
        summary = Summary()
        async with _opened(path, choice, self._settings) as vault:
            await self._import(workspace_id, iter(vault), len(vault), summary, report, progress)
        return summary

    async def import_upload(
        self,
        workspace_id: uuid.UUID,
        files: Sequence[tuple[str, Path]],
        choice: FormatChoice = "auto",
        *,
        report: Report | None = None,
        progress: FilesDone | None = None,
    ) -> Summary:
        """As `import_path`, for uploaded files: pairs of the client's name and where the bytes lie.

        An archive that cannot be read is one rejected file.
        """
        summary = Summary()
        single = [(name, path) for name, path in files if path.suffix != ARCHIVE]
        for name, path in files:
            if path.suffix != ARCHIVE:
                continue
            try:
                found = await self.import_path(workspace_id, path, choice, report=report, progress=progress)
            except MindConeError as error:
                await self._reject(name, error, summary, report)
            else:
                summary.outcomes += found.outcomes
                summary.codes += found.codes
        read = (read_file(name, path.read_bytes(), choice, self._settings) for name, path in single)
        await self._import(workspace_id, read, len(single), summary, report, progress)
        return summary

    async def _import(
        self,
        workspace_id: uuid.UUID,
        files: Iterator[FileResult],
        total: int,
        summary: Summary,
        report: Report | None,
        progress: FilesDone | None,
    ) -> None:
        done = 0
        while batch := await asyncio.to_thread(_take, files):
            for found in await self._write(workspace_id, batch, report):
                summary.add(found)
            done += len(batch)
            if progress:
                await progress(done, total)

    async def _reject(self, name: str, error: MindConeError, summary: Summary, report: Report | None) -> None:
        rejected = FileReport(name, "rejected", code=error.code, detail=error.detail)
        summary.add(rejected)
        if report:
            async with self._database.unit() as session:
                await report(session, [rejected])

    async def _write(
        self, workspace_id: uuid.UUID, batch: Sequence[FileResult], report: Report | None
    ) -> list[FileReport]:
        notes = {file.path: file.note for file in batch if file.note is not None}
        async with self._database.unit() as session:
            written = await self._submit(session, workspace_id, [as_card(note) for note in notes.values()])
            outcomes = dict(zip(notes, written, strict=True))
            reports = [_report(file, outcomes.get(file.path)) for file in batch]
            if report:
                await report(session, reports)
        return reports


def as_card(note: ParsedNote) -> NewCard:
    """The card that a note becomes; its path is its identity, so that importing again updates it."""
    return NewCard(
        title=note.title,
        content=note.content,
        tags=note.tags,
        created_at=note.created_at,
        source={"kind": "file", "path": note.path},
        metadata=note.metadata,
        external_id=note.external_id,
    )


def _report(file: FileResult, written: Written | None) -> FileReport:
    if file.attachment:
        return FileReport(file.path, "skipped", code="attachment")
    if written is None:
        return FileReport(file.path, "rejected", code=file.error, detail=file.detail)
    error = written.error
    return FileReport(
        file.path,
        written.outcome,
        written.id,
        code=error.code if error else None,
        detail=error.detail if error else None,
        warnings=file.note.warnings if file.note else (),
    )


def _take(files: Iterator[FileResult]) -> list[FileResult]:
    return list(itertools.islice(files, BATCH_FILES))


@asynccontextmanager
async def _opened(path: Path, choice: FormatChoice, settings: TransferSettings) -> AsyncIterator[Vault]:
    """`open_vault` in a thread: looking into an archive reads it."""
    opened = open_vault(path, choice, settings)
    vault = await asyncio.to_thread(opened.__enter__)
    try:
        yield vault
    finally:
        await asyncio.to_thread(opened.__exit__, None, None, None)
