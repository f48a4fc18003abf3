"""Folders, archives and single files: every file gets its own result."""

from __future__ import annotations

import os
import struct
import unicodedata
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from app.transfer.archive import entry_names
from app.transfer.errors import ArchiveTooLarge, BrokenArchive, UnreadableFile
from app.transfer.settings import TransferSettings
from app.transfer.vault import FileResult, FormatChoice, detect_format, open_vault, read_file


def read(path: Path, choice: FormatChoice = "auto", settings: TransferSettings | None = None) -> list[FileResult]:
    with open_vault(path, choice, settings) as vault:
        results = list(vault)
        assert len(vault) == len(results)
        return results


def outcome(results: Iterable[FileResult]) -> dict[str, str]:
    return {r.path: r.error or ("attachment" if r.attachment else "note" if r.note else "?") for r in results}


def write(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def zipped(target: Path, files: Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
    return target


MIXED = {
    "Notes/茶.md": "# 茶\n[[Coffee]]".encode(),
    "Notes/Coffee.md": b"---\ntags: drink\n---\nbeans",
    "Notes/broken yaml.md": b"---\na: [\n---\nkept",
    "Notes/empty.md": b" \n",
    "Notes/noise.md": b"\x89PNG\r\n\x1a\n\x00\x00\x81\x8d" + bytes(range(256)) * 8,
    "read me.TXT": "纯文本".encode("gbk"),
    "page.html": b"<p>hello</p>",
    "broken.pdf": b"%PDF-",
    "broken.docx": b"PK",
    "board.canvas": b"{}",
    "inner.zip": b"PK",
    "LICENSE": b"MIT",
    "img/photo.PNG": b"\x89PNG",
    "Templates/Daily.md": b"# {{date}}",
    ".obsidian/app.json": b"{}",
    ".obsidian/plugins/x/README.md": b"plugin",
    ".trash/old.md": b"deleted",
    "Notes/.hidden.md": b"hidden",
}
EXPECTED = {
    "Notes/Coffee.md": "note",
    "Notes/broken yaml.md": "note",
    "Notes/empty.md": "empty_document",
    "Notes/noise.md": "unknown_encoding",
    "Notes/茶.md": "note",
    "LICENSE": "unsupported_type",
    "Templates/Daily.md": "note",
    "board.canvas": "unsupported_type",
    "broken.docx": "unreadable_docx",
    "broken.pdf": "unreadable_pdf",
    "img/photo.PNG": "attachment",
    "inner.zip": "unsupported_type",
    "page.html": "note",
    "read me.TXT": "note",
}


def test_a_folder_where_bad_files_do_not_spoil_the_good(tmp_path: Path) -> None:
    """A4"""
    results = read(write(tmp_path, MIXED))
    assert outcome(results) == EXPECTED
    assert [r.path for r in results] == sorted(EXPECTED)
    assert all(r.detail for r in results if r.error)


def test_a_zip_of_the_folder_gives_the_same_notes(tmp_path: Path) -> None:
    """D19: the identity of a note does not depend on how it came in."""
    folder = read(write(tmp_path / "vault", MIXED))
    inside = zipped(tmp_path / "a.zip", MIXED.items())
    around = zipped(
        tmp_path / "b.zip", [(f"vault/{name}", data) for name, data in MIXED.items()] + [("__MACOSX/._x", b"junk")]
    )
    assert read(inside) == folder
    assert read(around) == folder


def test_a_zip_of_a_plain_folder_keeps_its_name(tmp_path: Path) -> None:
    assert list(outcome(read(zipped(tmp_path / "a.zip", [("notes/a.md", b"a"), ("notes/b.md", b"b")])))) == [
        "notes/a.md",
        "notes/b.md",
    ]


def test_a_vault_can_be_read_twice(tmp_path: Path) -> None:
    with open_vault(zipped(tmp_path / "a.zip", [("a.md", b"a")])) as vault:
        assert list(vault) == list(vault)


def test_one_file(tmp_path: Path) -> None:
    path = write(tmp_path, {"a.md": b"# Title\ntext"}) / "a.md"
    (result,) = read(path)
    assert result == read_file("a.md", b"# Title\ntext")
    assert result.note is not None
    assert (result.note.title, result.note.external_id) == ("Title", "a.md")


def test_a_document_is_named_by_its_file_when_it_has_no_title() -> None:
    result = read_file("docs/2025-03-08 Offer.html", b"<p>76 per kg</p>")
    assert result.note is not None
    assert result.note.title == "2025-03-08 Offer"
    assert result.note.metadata == {"path": "docs/2025-03-08 Offer.html", "aliases": ["2025-03-08 Offer"]}
    assert result.note.created_at is not None


@pytest.mark.parametrize("name", ["missing.md", "missing.zip", "missing"])
def test_a_path_that_does_not_exist(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableFile):
        read(tmp_path / name)


def test_a_parser_s_defect_is_that_file_s_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A2"""
    monkeypatch.setattr("app.transfer.documents.read_html", lambda data: 1 / 0)
    results = read(write(tmp_path, {"a.html": b"<p>x</p>", "b.md": b"x"}))
    assert outcome(results) == {"a.html": "unreadable_file", "b.md": "note"}
    assert "division" not in str(results[0].detail)


# ----------------------------------------------------------------------------------- formats


@pytest.mark.parametrize(
    ("paths", "detected"),
    [
        ([".obsidian/app.json", "a.md"], "obsidian"),
        (["journals/2021_03_08.md", "pages/a.md"], "logseq"),
        (["graph/logseq/config.edn", "graph/pages/a.md"], "logseq"),
        (["journals/monday.md", "a.md"], "markdown"),
        ([], "markdown"),
    ],
)
def test_the_program_is_known_by_its_traces(paths: list[str], detected: str) -> None:
    assert detect_format("auto", paths) == detected
    assert detect_format("logseq", paths) == "logseq"


def test_logseq_s_own_folder_is_not_notes(tmp_path: Path) -> None:
    files = {
        "logseq/config.edn": b"{}",
        "logseq/bak/pages/a/2021.md": b"- old",
        "pages/a___b.md": b"tags:: c\n\n- new",
        "journals/2021_03_08.md": b"- day",
    }
    results = read(write(tmp_path, files))
    assert [(r.path, r.note and r.note.title) for r in results] == [
        ("journals/2021_03_08.md", "2021-03-08"),
        ("pages/a___b.md", "a/b"),
    ]


# ------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    "name",
    [
        "../evil.md",
        "a/../../evil.md",
        "a/../b.md",
        "/etc/passwd.md",
        "C:\\evil.md",
        "C:/evil.md",
        "c:evil.md",
        "\\\\server\\share.md",
        "a\\b.md",
        "line\nbreak.md",
        "bell\x07.md",
    ],
)
def test_names_that_lead_elsewhere_are_refused_one_by_one(tmp_path: Path, name: str) -> None:
    results = read(zipped(tmp_path / "a.zip", [(name, b"evil"), ("good.md", b"good")]))
    assert outcome(results) == {name: "unsafe_path", "good.md": "note"}
    assert read_file(name, b"evil").error == "unsafe_path"


def test_a_path_that_is_too_long_to_be_an_identity() -> None:
    assert read_file("d/" * 254 + "a.md", b"x").error is None
    assert read_file("d/" * 255 + "a.md", b"x").error == "path_too_long"


def test_a_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link.md")
    link.create_system = 3
    link.external_attr = 0o120777 << 16
    assert outcome(read(zipped(tmp_path / "a.zip", [(link, b"/etc/passwd"), ("good.md", b"good")]))) == {
        "good.md": "note",
        "link.md": "unsafe_path",
    }


def test_links_in_a_folder_are_refused_and_not_followed(tmp_path: Path) -> None:
    secret = write(tmp_path / "outside", {"secret.md": b"secret"})
    vault = write(tmp_path / "vault", {"good.md": b"good"})
    (vault / "file.md").symlink_to(secret / "secret.md")
    (vault / "folder").symlink_to(secret)
    (vault / "loop").symlink_to(vault)
    (vault / "gone.md").symlink_to(tmp_path / "nowhere")
    os.mkfifo(vault / "pipe.md")
    assert outcome(read(vault)) == {
        "file.md": "unsafe_path",
        "folder": "unsafe_path",
        "gone.md": "unsafe_path",
        "good.md": "note",
        "loop": "unsafe_path",
        "pipe.md": "unsupported_type",
    }


def test_two_files_never_share_an_identity(tmp_path: Path) -> None:
    """N17: names that differ only in how an accent is composed are one name."""
    twins = [unicodedata.normalize(form, "é.md") for form in ("NFC", "NFD")]
    results = read(zipped(tmp_path / "a.zip", [(twins[0], b"first"), (twins[1], b"second")]))
    assert [(r.path, r.note and r.note.content, r.error) for r in results] == [
        ("é.md", "first", None),
        ("é.md", None, "duplicate_path"),
    ]


def test_the_same_bytes_under_two_names_are_two_notes(tmp_path: Path) -> None:
    """N13"""
    assert outcome(read(write(tmp_path, {"a.md": b"same", "b.md": b"same"}))) == {"a.md": "note", "b.md": "note"}


@pytest.mark.parametrize("codec", ["utf-8", "gbk", "big5"])
def test_names_without_the_utf8_flag(tmp_path: Path, codec: str) -> None:
    names = ["筆記/會議記錄.md", "筆記/讀書.md"] if codec == "big5" else ["笔记/会议记录.md", "笔记/读书.md"]
    infos = []
    for name in names:
        info = zipfile.ZipInfo(name)
        info.flag_bits = 0
        info.orig_filename = name.encode(codec).decode("cp437")
        infos.append(info)
    assert entry_names(infos) == names


def test_a_file_name_that_is_not_utf8_on_disk(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode("会议记录.md".encode("gbk"))).write_bytes(b"text")
    (result,) = read(tmp_path)
    assert result.path == "会议记录.md"
    assert result.note is not None


# -------------------------------------------------------------------------- bombs and damage


@pytest.mark.parametrize("data", [b"", b"not a zip", b"PK\x03\x04" + b"\x00" * 100])
def test_what_is_no_archive(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    with pytest.raises(BrokenArchive):
        read(path)


def test_a_truncated_archive(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", [("a.md", b"text" * 100)])
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(BrokenArchive):
        read(path)


def test_one_damaged_entry(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", [("a.md", os.urandom(200).hex().encode()), ("b.md", b"good")])
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(bytes(data))
    assert outcome(read(path)) == {"a.md": "broken_archive", "b.md": "note"}


def test_one_entry_with_a_password(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", [("a.md", b"secret"), ("b.md", b"good")])
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    assert outcome(read(path)) == {"a.md": "encrypted_file", "b.md": "note"}


def test_a_bomb_by_ratio(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", [("a.md", b"\n" * 30_000_000), ("b.md", b"good")])
    with pytest.raises(ArchiveTooLarge):
        read(path)


def test_one_entry_that_expands_too_far_beside_honest_ones(tmp_path: Path) -> None:
    files = [("a.md", b"\n" * 2_000_000), *((f"{n}.bin", os.urandom(40_000)) for n in range(2))]
    assert outcome(read(zipped(tmp_path / "a.zip", files)))["a.md"] == "archive_too_large"


def test_too_many_entries_and_too_much_in_all(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", [(f"{n}.md", b"x" * 100) for n in range(20)])
    assert len(read(path, settings=TransferSettings(import_max_entries=20, import_max_expanded_bytes=2000))) == 20
    for settings in (TransferSettings(import_max_entries=19), TransferSettings(import_max_expanded_bytes=1999)):
        with pytest.raises(ArchiveTooLarge):
            read(path, settings=settings)


@pytest.mark.parametrize("zip64", [False, True])
def test_a_huge_directory_is_refused_before_it_is_read(tmp_path: Path, zip64: bool) -> None:
    size = 20 * 512 + 1
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 5, 5, 0xFFFFFFFF if zip64 else size, 0, 0)
    if zip64:
        record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 5, 5, size, 0)
        end = record + struct.pack("<4sLQL", b"PK\x06\x07", 0, size, 1) + end
    path = tmp_path / "a.zip"
    path.write_bytes(b"\x00" * size + end)
    with pytest.raises(ArchiveTooLarge):
        read(path, settings=TransferSettings(import_max_entries=20))


def test_a_declared_size_that_is_a_lie_reads_no_more_than_it_says(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", [("a.md", b"x" * 5000)])
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = struct.pack("<L", 10)
    path.write_bytes(bytes(data))
    assert outcome(read(path)) == {"a.md": "broken_archive"}


def test_single_files_have_limits(tmp_path: Path) -> None:
    settings = TransferSettings(import_max_text_bytes=10, import_max_file_bytes=20)
    files = {"fits.md": b"x" * 10, "long.md": b"x" * 11, "long.pdf": b"x" * 21, "page.html": b"x" * 11}
    expected = {
        "fits.md": "note",
        "long.md": "file_too_large",
        "long.pdf": "file_too_large",
        "page.html": "file_too_large",
    }
    assert outcome(read(write(tmp_path / "v", files), settings=settings)) == expected
    assert outcome(read(zipped(tmp_path / "a.zip", files.items()), settings=settings)) == expected
    assert outcome(read_file(name, data, settings=settings) for name, data in files.items()) == expected


def test_nothing_is_written_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "a.zip", [("../../evil.md", b"x"), ("good.md", b"x"), ("page.html", b"<p>x")])
    monkeypatch.chdir(tmp_path)
    read(path)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a.zip"]
