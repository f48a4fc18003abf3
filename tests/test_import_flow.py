"""Files that come in through the importer: each contributes, each is answered for (N20, A2, D19)."""

from __future__ import annotations

from pathlib import Path

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


async def _keep(reports: dict[str, FileReport], found: object) -> None:
    for one in found:  # type: ignore[attr-defined]
        reports[one.path] = one
