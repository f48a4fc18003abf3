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
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from app.cards.drafts import NewCard
from app.core.errors import MindConeError
from app.db.session import Database
from app.transfer.errors import DuplicatePath
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
    """What became of one file; `code` and `detail` say why it is not a card.

    `path` is unique in its import: a second file of that path is called `path (2)`.
    """

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
        names = _Names()
        async with _opened(path, choice, self._settings) as vault:
            await self._import(workspace_id, iter(vault), len(vault), names, summary, report, progress)
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

        An archive that cannot be read is one rejected file. What is in all of them together is one import,
        in the order of the upload: of several files with one path the first wins.
        """
        names, summary = _Names(), Summary()
        for is_archive, run in itertools.groupby(files, key=lambda file: file[1].suffix == ARCHIVE):
            if not is_archive:
                single = list(run)
                read = (read_file(name, path.read_bytes(), choice, self._settings) for name, path in single)
                await self._import(workspace_id, read, len(single), names, summary, report, progress)
                continue
            for name, path in run:
                async with AsyncExitStack() as stack:
                    try:
                        vault = await stack.enter_async_context(_opened(path, choice, self._settings))
                    except MindConeError as error:
                        await self._reject(names.shown(name), error, summary, report)
                        continue
                    await self._import(workspace_id, iter(vault), len(vault), names, summary, report, progress)
        return summary

    async def _import(
        self,
        workspace_id: uuid.UUID,
        files: Iterator[FileResult],
        total: int,
        names: _Names,
        summary: Summary,
        report: Report | None,
        progress: FilesDone | None,
    ) -> None:
        done = 0
        while batch := await asyncio.to_thread(_take, files):
            for found in await self._write(workspace_id, [names.first(file) for file in batch], names, report):
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
        self, workspace_id: uuid.UUID, batch: Sequence[FileResult], names: _Names, report: Report | None
    ) -> list[FileReport]:
        cards = [as_card(file.note) for file in batch if file.note is not None]
        async with self._database.unit() as session:
            written = iter(await self._submit(session, workspace_id, cards))
            reports = [
                _report(file, names.shown(file.path), next(written) if file.note is not None else None)
                for file in batch
            ]
            if report:
                await report(session, reports)
        return reports


class _Names:
    """The paths of one import: a path is one note, and each file is answered for under a name of its own."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._shown: set[str] = set()

    def first(self, file: FileResult) -> FileResult:
        """The file, or that it is a duplicate of one before it."""
        if file.path in self._taken and file.error is None:
            return FileResult(file.path, error=DuplicatePath.code, detail=DuplicatePath().detail)
        self._taken.add(file.path)
        return file

    def shown(self, path: str) -> str:
        """The path, with a number where a file of this import is already called so."""
        names = itertools.chain([path], (f"{path} ({number})" for number in itertools.count(2)))
        name = next(name for name in names if name not in self._shown)
        self._shown.add(name)
        return name


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


def _report(file: FileResult, name: str, written: Written | None) -> FileReport:
    if file.attachment:
        return FileReport(name, "skipped", code="attachment")
    if written is None:
        return FileReport(name, "rejected", code=file.error, detail=file.detail)
    error = written.error
    return FileReport(
        name,
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
