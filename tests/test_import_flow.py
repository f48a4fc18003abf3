"""Files that come in through the importer: each contributes, each is answered for (N20, A2, D19)."""

from __future__ import annotations

import unicodedata
import uuid
import warnings
import zipfile
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncSession

from app.jobs import queue
from app.jobs.job import NewJob
from app.transfer import queries
from app.transfer.importing import FileReport, Importer
from app.transfer.settings import TransferSettings
from tests.search_library import Library

pytest_plugins = ("tests.search_library",)

ANIMALS = [f"beast{number}ling" for number in range(20)]


def importer(library: Library) -> Importer:
    return Importer(library.database, library.intake.submit_many, TransferSettings())


async def test_every_file_of_many_contributes(plain: Library, tmp_path: Path) -> None:
    """N20"""
    for animal in ANIMALS:
        (tmp_path / f"{animal}.md").write_text(f"# About\n\nThe {animal} sleeps in winter.", encoding="utf-8")
    summary = await importer(plain).import_path(plain.id, tmp_path)
    assert summary.outcomes == {"created": 20}
    await plain.learn()
    for animal in ANIMALS:
        assert await plain.by_words(animal) == {"About"}
        (hit,) = (await plain.search(animal, fusion="bm25")).hits
        assert hit.card.external_id == f"{animal}.md"


async def test_importing_again_changes_what_changed_and_nothing_else(plain: Library, tmp_path: Path) -> None:
    """D19"""
    (tmp_path / "same.md").write_text("stays as it is", encoding="utf-8")
    (tmp_path / "other.md").write_text("first words", encoding="utf-8")
    await importer(plain).import_path(plain.id, tmp_path)
    await plain.learn()
    (tmp_path / "other.md").write_text("second thoughts", encoding="utf-8")
    summary = await importer(plain).import_path(plain.id, tmp_path)
    assert summary.outcomes == {"unchanged": 1, "updated": 1}
    assert len(await plain.tasks()) == 1
    assert await plain.count("cards") == 2


async def test_a_bad_file_is_one_report_among_good_ones(plain: Library, tmp_path: Path) -> None:
    files = [(name, tmp_path / name) for name in ("a.md", "b.pdf", "c.zip", "d.png", "nul.txt")]
    (tmp_path / "a.md").write_text("good", encoding="utf-8")
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4 broken")
    (tmp_path / "c.zip").write_bytes(b"PK not a zip")
    (tmp_path / "d.png").write_bytes(b"\x89PNG")
    (tmp_path / "nul.txt").write_bytes(b"before\x00after")
    reports: dict[str, FileReport] = {}
    summary = await importer(plain).import_upload(
        plain.id,
        files,
        report=lambda _, found: _keep(reports, found),
    )
    assert {path: (one.outcome, one.code) for path, one in reports.items()} == {
        "a.md": ("created", None),
        "b.pdf": ("rejected", "unreadable_pdf"),
        "c.zip": ("rejected", "broken_archive"),
        "d.png": ("skipped", "attachment"),
        "nul.txt": ("created", None),
    }
    assert summary.outcomes == {"created": 2, "rejected": 2, "skipped": 1}
    assert await plain.rows("SELECT content FROM cards WHERE external_id = 'nul.txt'") == [("beforeafter",)]


NFC, NFD = (unicodedata.normalize(form, "Übung.md") for form in ("NFC", "NFD"))


def _zip(path: Path, *entries: tuple[str, str]) -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore", UserWarning)  # zipfile warns of the twins that are wanted here
        for name, content in entries:
            archive.writestr(name, content)
    return path


async def _kept_reports(library: Library, files: list[tuple[str, Path]]) -> list[tuple[str, str, str | None, bool]]:
    """(path, outcome, code, has a card) of each file, as it is stored for the job."""
    async with library.database.unit() as session:
        job_id = await queue.enqueue(session, NewJob("import", library.id))

    async def save(session: AsyncSession, found: object) -> None:
        await queries.save_reports(session, library.id, job_id, found)  # type: ignore[arg-type]

    summary = await importer(library).import_upload(library.id, files, report=save)
    async with library.database.read() as session:
        rows = await queries.list_reports(session, library.id, job_id, None, 100)
    assert summary.outcomes.total() == len(rows)
    return [(row.path, row.outcome, row.code, row.card_id is not None) for row in rows]


async def test_of_twins_in_an_archive_the_first_wins(plain: Library, tmp_path: Path) -> None:
    """The same name twice, and names that differ in their normal form only."""
    twins = [("dup.md", "first"), ("dup.md", "second"), (NFD, "one"), ("a.md", "other"), (NFC, "two")]
    archive = _zip(tmp_path / "0.zip", *twins, ("dup.md", "third"))
    assert sorted(await _kept_reports(plain, [("notes.zip", archive)])) == sorted(
        [
            ("a.md", "created", None, True),
            ("dup.md", "created", None, True),
            ("dup.md (2)", "rejected", "duplicate_path", False),
            ("dup.md (3)", "rejected", "duplicate_path", False),
            (NFC, "created", None, True),
            (f"{NFC} (2)", "rejected", "duplicate_path", False),
        ]
    )
    contents = await plain.rows("SELECT external_id, content FROM cards")
    assert sorted(contents) == sorted([("a.md", "other"), ("dup.md", "first"), (NFC, "one")])


async def test_twins_are_counted_as_what_they_are(plain: Library, tmp_path: Path) -> None:
    archive = _zip(tmp_path / "notes.zip", ("dup.md", "first"), ("dup.md", "second"))
    summary = await importer(plain).import_path(plain.id, archive)
    assert summary.outcomes == {"created": 1, "rejected": 1}
    assert summary.codes == {"duplicate_path": 1}


async def test_of_twins_in_an_upload_the_first_wins(plain: Library, tmp_path: Path) -> None:
    """Over all its files and archives, in their order; a second archive that is broken is told of too."""
    for number, content in enumerate(("first", "second", "other", "accent", "same accent")):
        (tmp_path / str(number)).write_text(content, encoding="utf-8")
    (tmp_path / "b.zip").write_bytes(b"PK not a zip")
    files = [
        ("dup.md", tmp_path / "0"),
        ("broken.zip", tmp_path / "b.zip"),
        ("one.zip", _zip(tmp_path / "1.zip", ("dup.md", "third"), ("in.md", "first archive"))),
        ("dup.md", tmp_path / "1"),
        ("other.md", tmp_path / "2"),
        ("two.zip", _zip(tmp_path / "2.zip", ("in.md", "second archive"))),
        ("broken.zip", tmp_path / "b.zip"),
        (NFC, tmp_path / "3"),
        (NFD, tmp_path / "4"),
    ]
    assert sorted(await _kept_reports(plain, files)) == sorted(
        [
            ("broken.zip", "rejected", "broken_archive", False),
            ("broken.zip (2)", "rejected", "broken_archive", False),
            ("dup.md", "created", None, True),
            ("dup.md (2)", "rejected", "duplicate_path", False),
            ("dup.md (3)", "rejected", "duplicate_path", False),
            ("in.md", "created", None, True),
            ("in.md (2)", "rejected", "duplicate_path", False),
            ("other.md", "created", None, True),
            (NFC, "created", None, True),
            (f"{NFC} (2)", "rejected", "duplicate_path", False),
        ]
    )
    contents = await plain.rows("SELECT external_id, content FROM cards")
    assert sorted(contents) == sorted(
        [("dup.md", "first"), ("in.md", "first archive"), ("other.md", "other"), (NFC, "accent")]
    )


async def test_a_path_that_is_reported_twice_at_once_keeps_the_last_word(plain: Library) -> None:
    async with plain.database.unit() as session:
        job_id = await queue.enqueue(session, NewJob("import", plain.id))
        card_id = uuid.uuid4()
        reports = [FileReport("a.md", "rejected", code="x"), FileReport("a.md", "created", card_id)]
        await queries.save_reports(session, plain.id, job_id, reports)
        (row,) = await queries.list_reports(session, plain.id, job_id, None, 10)
    assert (row.outcome, row.card_id, row.code) == ("created", card_id, None)


async def _keep(reports: dict[str, FileReport], found: object) -> None:
    for one in found:  # type: ignore[attr-defined]
        reports[one.path] = one
