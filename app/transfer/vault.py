"""Walks a folder, a zip or a single file and yields what each file became. No database, no HTTP.

One bad file is one bad result; only an archive that cannot be opened at all raises. Synchronous
and CPU-bound: iterate it in a worker thread.

Hidden files and folders (`.obsidian`, `.trash`, `.git`), `__MACOSX` and Logseq's own `logseq/`
are the programs' business and are passed over without a word.
"""

from __future__ import annotations

import os
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final, Literal, TypeAlias, get_args

from app.core import log
from app.core.errors import MindConeError
from app.transfer import documents
from app.transfer.archive import check_bounds, check_entry, entry_names, open_archive, read_entry, safe_path
from app.transfer.encoding import clean, decode_name
from app.transfer.errors import DuplicatePath, FileTooLarge, PathTooLong, UnreadableFile, UnsafePath, UnsupportedType
from app.transfer.notes import ParsedNote, VaultFormat, build, parse_note
from app.transfer.settings import TransferSettings

FormatChoice: TypeAlias = Literal["auto"] | VaultFormat
FORMATS: Final = ("auto", *get_args(VaultFormat))

NOTES = frozenset({".md", ".markdown", ".mdown", ".mkd"})
PLAIN = frozenset({".txt", ".text"})
PAGES = frozenset({".html", ".htm", ".xhtml"})
ATTACHMENTS = frozenset(
    {".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".ico", ".heic", ".avif", ".tif", ".tiff"}
    | {".mp3", ".m4a", ".wav", ".ogg", ".flac", ".webm", ".mp4", ".mov", ".mkv", ".avi", ".3gp"}
    | {".css", ".js", ".woff", ".woff2", ".ttf", ".otf"}
)
# As long as the `external_id` that others may give a card.
MAX_PATH_CHARACTERS = 512
_JOURNAL = re.compile(r"(^|/)journals/\d{4}_\d{2}_\d{2}\.(md|org)$")


@dataclass(frozen=True, slots=True)
class FileResult:
    """What one file became: a note, an attachment that is passed over, or an error's code and text."""

    path: str
    note: ParsedNote | None = None
    attachment: bool = False
    error: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    read: Callable[[int], bytes]
    problem: MindConeError | None = None


class Vault:
    """The files of one import, in the order of their paths. Each iteration reads them anew."""

    def __init__(self, entries: Sequence[_Entry], vault_format: VaultFormat, settings: TransferSettings) -> None:
        shown = [entry for entry in entries if not _passed_over(entry.path, vault_format)]
        self._entries = _without_twins(sorted(shown, key=lambda entry: entry.path))
        self._settings = settings
        self.format = vault_format

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[FileResult]:
        return (_result(entry, self.format, self._settings) for entry in self._entries)


@contextmanager
def open_vault(path: Path, choice: FormatChoice = "auto", settings: TransferSettings | None = None) -> Iterator[Vault]:
    """A folder, a zip, or one file. Raises `UnreadableFile`, `BrokenArchive` and `ArchiveTooLarge`."""
    settings = settings or TransferSettings()
    with ExitStack() as stack:
        try:
            traces: list[str] = []
            if path.is_dir():
                entries = _folder(path)
                traces = [".obsidian/"] if (path / ".obsidian").is_dir() else []
            elif path.suffix.lower() == ".zip":
                entries = _zip(
                    stack.enter_context(open_archive(stack.enter_context(path.open("rb")), settings)), settings
                )
            else:
                entries = [_file(path.resolve(strict=True), path.name)]
        except OSError as error:
            raise UnreadableFile from error
        yield Vault(entries, detect_format(choice, [*traces, *(entry.path for entry in entries)]), settings)


def read_file(
    name: str, data: bytes, choice: FormatChoice = "auto", settings: TransferSettings | None = None
) -> FileResult:
    """One uploaded file; `name` is a file name or a relative path and becomes its identity. Never raises."""
    entry = _checked(name, lambda limit: _within(data, limit))
    return _result(entry, detect_format(choice, [name]), settings or TransferSettings())


def detect_format(choice: FormatChoice, paths: Sequence[str]) -> VaultFormat:
    """Which program keeps these files, by the traces it leaves; `choice` wins unless it is `auto`."""
    if choice != "auto":
        return choice
    if any(_JOURNAL.search(path) or path.endswith("logseq/config.edn") for path in paths):
        return "logseq"
    return "obsidian" if any(".obsidian" in path.split("/")[:-1] for path in paths) else "markdown"


# ------------------------------------------------------------------------------ one file


def _result(entry: _Entry, vault_format: VaultFormat, settings: TransferSettings) -> FileResult:
    suffix = PurePosixPath(entry.path).suffix.lower()
    try:
        if entry.problem is not None:
            raise entry.problem
        if suffix in ATTACHMENTS:
            return FileResult(entry.path, attachment=True)
        if len(entry.path) > MAX_PATH_CHARACTERS:
            raise PathTooLong
        return FileResult(entry.path, note=_note(entry, suffix, vault_format, settings))
    except MindConeError as error:
        return FileResult(entry.path, error=error.code, detail=error.detail)
    except Exception as error:
        # A parser's own defect belongs to this file; the next one is read all the same.
        log.get(__name__).warning("import_parser_failed", suffix=suffix, error=type(error).__name__)
        return FileResult(entry.path, error=UnreadableFile.code, detail=UnreadableFile().detail)


def _note(entry: _Entry, suffix: str, vault_format: VaultFormat, settings: TransferSettings) -> ParsedNote:
    if suffix in NOTES:
        return parse_note(entry.path, entry.read(settings.import_max_text_bytes), vault_format)
    if suffix in PLAIN:
        document = documents.read_plain(entry.read(settings.import_max_text_bytes))
    elif suffix in PAGES:
        document = documents.read_html(entry.read(settings.import_max_text_bytes))
    elif suffix == ".pdf":
        document = documents.read_pdf(entry.read(settings.import_max_file_bytes), settings.import_max_pages)
    elif suffix == ".docx":
        document = documents.read_docx(entry.read(settings.import_max_file_bytes), settings)
    else:
        raise UnsupportedType
    return build(
        entry.path,
        content=document.text,
        title=document.title,
        created_at=document.created_at,
        metadata=document.metadata,
        warnings=document.warnings,
    )


# ------------------------------------------------------------------------- where files are


def _checked(name: str, read: Callable[[int], bytes]) -> _Entry:
    try:
        return _Entry(unicodedata.normalize("NFC", safe_path(name)), read)
    except UnsafePath as problem:
        return _Entry(clean(name), read, problem)


def _within(data: bytes, limit_bytes: int) -> bytes:
    if len(data) > limit_bytes:
        raise FileTooLarge
    return data


def _file(path: Path, name: str) -> _Entry:
    def read(limit_bytes: int) -> bytes:
        try:
            with path.open("rb") as file:
                return _within(file.read(limit_bytes + 1), limit_bytes)
        except OSError as error:
            raise UnreadableFile from error

    if path.is_symlink():
        return _Entry(name, read, UnsafePath())
    if not path.is_file():
        return _Entry(name, read, UnsupportedType())
    return _Entry(unicodedata.normalize("NFC", name), read)


def _folder(root: Path) -> list[_Entry]:
    entries: list[_Entry] = []

    def unreadable(error: OSError) -> None:
        name = Path(error.filename).relative_to(root).as_posix()
        entries.append(_Entry(_shown_name(name), lambda _: b"", UnreadableFile()))

    for folder, subfolders, files in os.walk(root, onerror=unreadable):
        here = Path(folder)
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        links = [name for name in subfolders if (here / name).is_symlink()]
        for name in (*files, *links):
            path = here / name
            entries.append(_file(path, _shown_name(path.relative_to(root).as_posix())))
    return entries


def _zip(archive: zipfile.ZipFile, settings: TransferSettings) -> list[_Entry]:
    infos = [info for info in archive.infolist() if not info.is_dir()]
    check_bounds(infos, settings)
    entries = []
    for info, name in zip(infos, entry_names(infos), strict=True):
        entry = _checked(name, partial(_read_from, archive, info))
        try:
            check_entry(info, settings)
        except MindConeError as problem:
            entry = _Entry(entry.path, entry.read, entry.problem or problem)
        entries.append(entry)
    return _inside_vault(entries)


def _read_from(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit_bytes: int) -> bytes:
    return read_entry(archive, info, limit_bytes)


def _inside_vault(entries: list[_Entry]) -> list[_Entry]:
    """Zipping a vault's folder puts its name before every path; the same notes must stay the same notes."""
    paths = [entry.path for entry in entries if entry.problem is None and not entry.path.startswith("__MACOSX/")]
    markers = (re.match(r"([^/]+)/(?:\.obsidian/|logseq/config\.edn$)", path) for path in paths)
    roots = {match[1] + "/" for match in markers if match}
    if len(roots) != 1 or not all(path.startswith(root) for root in roots for path in paths):
        return entries
    root = roots.pop()
    return [_Entry(entry.path.removeprefix(root), entry.read, entry.problem) for entry in entries]


def _passed_over(path: str, vault_format: VaultFormat) -> bool:
    parts = path.split("/")
    hidden = any(part.startswith(".") and part not in (".", "..") for part in parts)
    return hidden or parts[0] == "__MACOSX" or (vault_format == "logseq" and parts[0] == "logseq")


def _without_twins(entries: list[_Entry]) -> list[_Entry]:
    seen: set[str] = set()
    result = []
    for entry in entries:
        twin = entry.path in seen and entry.problem is None
        result.append(_Entry(entry.path, entry.read, DuplicatePath()) if twin else entry)
        seen.add(entry.path)
    return result


def _shown_name(name: str) -> str:
    """A name whose bytes are not UTF-8 reached Python with lone surrogates in it."""
    return decode_name(os.fsencode(name))
