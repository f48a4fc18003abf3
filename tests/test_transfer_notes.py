"""Markdown notes: frontmatter, titles, tags, dates, and what is kept for writing them back."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import MindConeError
from app.transfer import frontmatter
from app.transfer.dates import parse_timestamp
from app.transfer.errors import EmptyDocument
from app.transfer.notes import ParsedNote, parse_note


def note(text: str, path: str = "folder/Stem.md") -> ParsedNote:
    return parse_note(path, text.encode())


def metadata(yaml: str) -> dict[str, Any]:
    return dict(note(f"---\n{yaml}\n---\nbody").metadata)


FULL = """---
title: 埃塞俄比亚 耶加雪菲
tags: [coffee, "#origin/ethiopia", 手冲]
aliases:
  - Yirgacheffe
created: 2025-03-08 09:30
rating: 4.5
bought: 2025-03-01
---

# Notes

Body with a [[Link]].
"""


def test_everything_a_frontmatter_says() -> None:
    parsed = note(FULL)
    assert parsed.title == "埃塞俄比亚 耶加雪菲"
    assert parsed.tags == ["coffee", "origin/ethiopia", "手冲"]
    assert parsed.created_at == datetime(2025, 3, 8, 9, 30, tzinfo=UTC)
    assert parsed.content == "# Notes\n\nBody with a [[Link]].\n"
    assert parsed.warnings == []
    assert parsed.metadata == {
        "rating": 4.5,
        "bought": "2025-03-01",
        "frontmatter_raw": FULL[: FULL.index("# Notes")],
        "path": "folder/Stem.md",
        "aliases": ["Yirgacheffe", "Stem"],
    }


@pytest.mark.parametrize(
    "data",
    [
        FULL.encode(),
        FULL.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + FULL.encode(),
        b"---\n---\nempty block",
        b"---\ntitle: never closed\n\ntext",
        b"no block  \n\n\n",
        b"---\ntitle: only a block\n---\n",
        b"---\r\n: [broken\r\n---\r\nbody\r\n",
        "---\ntitle: 标题\n---\n正文".encode("gb18030"),
    ],
)
def test_a_file_can_be_written_back_byte_for_byte(data: bytes) -> None:
    parsed = parse_note("a.md", data)
    text = str(parsed.metadata.get("frontmatter_raw", "")) + parsed.content
    assert text.encode(str(parsed.metadata.get("encoding", "utf-8"))) == data


# ------------------------------------------------------------------------------------ titles


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From the block\n---\n# Heading", "From the block"),
        ("---\ntitle: 1.10\n---\nx", "1.10"),
        ("---\ntitle: 2025-03-08\n---\nx", "2025-03-08"),
        ("---\ntitle:\n---\n# Heading", "Heading"),
        ("intro\n\n#  The **bold** [[note|one]] and [a link](http://x) ##\n\n## Sub", "The bold one and a link"),
        ("```sh\n# a comment\n```\ntext", "Stem"),
        ("```sh\n# a comment\n```\n# After the fence", "After the fence"),
        ("# Tasks\n\n# Journal\n", "Stem"),
        ("#tag is no heading", "Stem"),
        ("#\n\ntext", "Stem"),
        ("# C#", "C#"),
        ("text only", "Stem"),
    ],
)
def test_title_is_the_block_s_then_the_only_h1_then_the_file_s(text: str, title: str) -> None:
    assert note(text).title == title


def test_the_stem_stays_a_name_for_links_whatever_the_title() -> None:
    assert note("---\ntitle: Other\n---\nx").metadata["aliases"] == ["Stem"]
    assert note("---\naliases: 甲, Stem，乙\n---\nx").metadata["aliases"] == ["甲", "Stem", "乙"]


def test_identity_is_the_path_in_one_normal_form() -> None:
    """D19: macOS writes names decomposed, others composed."""
    composed, decomposed = note("x", "café/é.md"), note("x", "café/é.md")
    assert composed.external_id == decomposed.external_id == "café/é.md"
    assert composed.title == decomposed.title == "é"


# -------------------------------------------------------------------------------------- tags


@pytest.mark.parametrize(
    ("yaml", "tags"),
    [
        ("tags: a, b", ["a", "b"]),
        ("tags: a b 茶", ["a", "b", "茶"]),
        ("tags: #a #b", ["a", "b"]),
        ('tags: "#a"', ["a"]),
        ("tags:\n  - #a\n  - b\n  - '#c/d'", ["a", "b", "c/d"]),
        ("tags: [#a, #b]", ["a", "b"]),
        ("tags: [2025, 007, true]", ["2025", "007", "true"]),
        ("Tags: [a, a, ' ', null]", ["a"]),
        ("tag: single", ["single"]),
        ("tags:", []),
        ("tags: {a: 1}", []),
    ],
)
def test_tags_in_all_the_ways_people_write_them(yaml: str, tags: list[str]) -> None:
    assert note(f"---\n{yaml}\n---\nbody").tags == tags


def test_tags_beyond_what_a_card_holds_are_left_out_and_it_is_said() -> None:
    parsed = note("---\ntags: [" + "x" * 201 + ", " + ", ".join(f"t{n}" for n in range(150)) + "]\n---\nbody")
    assert parsed.tags == [f"t{n}" for n in range(100)]
    assert parsed.warnings == ["tags_cut"]


# ------------------------------------------------------------------------------------- dates


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2025-03-08", datetime(2025, 3, 8, tzinfo=UTC)),
        ("20250308", datetime(2025, 3, 8, tzinfo=UTC)),
        ("2025/3/8 7:05", datetime(2025, 3, 8, 7, 5, tzinfo=UTC)),
        ("2025年3月8日", datetime(2025, 3, 8, tzinfo=UTC)),
        ("2025-03-08T09:30:00+08:00", datetime(2025, 3, 8, 1, 30, tzinfo=UTC)),
        ("2025-03-08 09:30:00 +0800", datetime(2025, 3, 8, 1, 30, tzinfo=UTC)),
        ("2025-03-08T09:30:00Z", datetime(2025, 3, 8, 9, 30, tzinfo=UTC)),
        ("[[2025-03-08]]", datetime(2025, 3, 8, tzinfo=UTC)),
        ("Mar 8th, 2025", datetime(2025, 3, 8, tzinfo=UTC)),
        ("Saturday, March 8, 2025", datetime(2025, 3, 8, tzinfo=UTC)),
        ("1741426200000", datetime(2025, 3, 8, 9, 30, tzinfo=UTC)),
        ("2025-02-30", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("8/3/2025", None),
        ("2025", None),
        ("last spring", None),
        ("", None),
        (" " * 100_000, None),
    ],
)
def test_dates_that_are_unambiguous_and_no_others(written: str, moment: datetime | None) -> None:
    assert parse_timestamp(written) == moment


@pytest.mark.parametrize("key", ["created", "created_at", "date created", "Creation-Date", "createTime", "date"])
def test_keys_that_mean_the_day_of_the_note(key: str) -> None:
    parsed = note(f"---\n{key}: 2025-03-08\n---\nbody")
    assert parsed.created_at == datetime(2025, 3, 8, tzinfo=UTC)
    assert key not in parsed.metadata


def test_an_unreadable_date_is_kept_as_it_is_and_said() -> None:
    parsed = note("---\ncreated: last spring\ndate: 2025-03-08\n---\nbody")
    assert parsed.created_at == datetime(2025, 3, 8, tzinfo=UTC)
    assert parsed.metadata["created"] == "last spring"
    assert parsed.warnings == ["created_unreadable"]


@pytest.mark.parametrize("stem", ["2025-03-08", "2025_03_08", "20250308 Standup", "2025-03-08-周六"])
def test_a_daily_note_has_the_date_of_its_name(stem: str) -> None:
    assert note("body", f"daily/{stem}.md").created_at == datetime(2025, 3, 8, tzinfo=UTC)


@pytest.mark.parametrize("stem", ["2025-13-08", "12025-03-08", "202503081", "2025-03", "v2025-03-08"])
def test_other_numbers_in_names_are_no_dates(stem: str) -> None:
    assert note("body", f"{stem}.md").created_at is None


# ---------------------------------------------------------------------------------- metadata


def test_values_stay_what_was_written() -> None:
    yaml = (
        "isbn: 007\nflag: true\nno: no\ntime: 12:30\nn: -3\nbig: 12345678901234567890\nnan: .nan\ninf: 1e999\n"
        "when: 2025-03-08 10:00\nnested: {a: [1, null]}\nnothing:\ntext: '5'"
    )
    values = {key: value for key, value in metadata(yaml).items() if key not in ("path", "aliases", "frontmatter_raw")}
    assert values == {
        "isbn": "007",
        "flag": True,
        "no": "no",
        "time": "12:30",
        "n": -3,
        "big": "12345678901234567890",
        "nan": ".nan",
        "inf": "1e999",
        "when": "2025-03-08 10:00",
        "nested": {"a": [1, None]},
        "nothing": None,
        "text": "5",
    }


def test_escapes_cannot_smuggle_in_what_the_database_refuses() -> None:
    """A4"""
    parsed = note('---\ntitle: "a\\0b"\ntags: ["\\ud800t"]\n"k\\0ey": "v\\u0000"\n---\nbody')
    assert (parsed.title, parsed.tags, parsed.metadata["key"]) == ("ab", ["t"], "v")


def test_nul_in_a_note_is_removed_and_said() -> None:
    """A1"""
    parsed = parse_note("a.md", b"one\x00two")
    assert (parsed.content, parsed.warnings) == ("onetwo", ["nul_removed"])


def test_our_own_keys_win_over_the_note_s() -> None:
    assert metadata("path: /etc/passwd\nencoding: x")["path"] == "folder/Stem.md"


# -------------------------------------------------------------------------- broken and hostile


@pytest.mark.parametrize(
    "yaml",
    [
        "title: a: b",
        "a: [1, 2",
        "just words",
        "- a\n- b",
        "\ttabs: 1",
        "title: {{title}}",
        "a: *unknown",
        "a: &a [*a]",
        "? [x]\n: y",
        "bell: \x07",
        "a: " + "[" * 400 + "]" * 400,
        "a: " + "x" * 70_000,
    ],
)
def test_a_block_that_cannot_be_read_stays_in_the_text(yaml: str) -> None:
    text = f"---\n{yaml}\n---\nbody"
    parsed = note(text)
    assert parsed.content == text
    assert parsed.warnings == ["frontmatter_unreadable"]
    assert parsed.title == "Stem"


def test_tags_that_construct_objects_construct_nothing() -> None:
    assert metadata('x: !!python/object/apply:os.system ["true"]')["x"] == ["true"]


@pytest.mark.parametrize("merge", ["", "<<: "])
def test_a_bomb_of_aliases_is_refused_quickly(merge: str) -> None:
    if merge:
        levels = ["a0: &a0 {k: v}"] + [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
    else:
        levels = ["a0: &a0 [lol]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    started = time.perf_counter()
    with pytest.raises(frontmatter.FrontmatterUnreadable):
        frontmatter.parse("\n".join(levels))
    assert time.perf_counter() - started < 2


def test_a_modest_use_of_anchors_is_fine() -> None:
    assert metadata("a: &x [1, 2]\nb: *x")["b"] == [1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "---\n" + "tags: [" + "#" * 60_000 + "\n---\nx",
        "---\n" + "- " * 30_000 + "\n---\nx",
        "# " + " a" * 500_000,
        "# " + "#" * 500_000 + "x",
        "-" * 500_000,
        "---\n" * 100_000,
        "---" + " " * 500_000 + "x",
        "```\n" * 100_000 + "# x",
        "[[" * 200_000,
    ],
)
def test_no_input_makes_the_patterns_slow(text: str) -> None:
    started = time.perf_counter()
    note(text)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("text", ["", " \n\t\r\n", "﻿", "​　\n"])
def test_nothing_is_an_empty_document(text: str) -> None:
    """F11"""
    with pytest.raises(EmptyDocument):
        note(text)


def test_a_note_that_is_only_a_block_says_what_the_block_says() -> None:
    text = "---\ntitle: 逃出绝命镇\ndirector: 乔丹·皮尔\n---\n\n"
    parsed = note(text)
    assert (parsed.title, parsed.content) == ("逃出绝命镇", text)
    assert parsed.metadata["director"] == "乔丹·皮尔"


def test_short_chinese_text_is_a_note() -> None:
    """B14"""
    assert note("茶").content == "茶"


@given(st.one_of(st.binary(max_size=400), st.text(max_size=400).map(lambda text: text.encode("utf-8", "ignore"))))
def test_any_bytes_are_a_storable_note_or_a_typed_error(data: bytes) -> None:
    try:
        parsed = parse_note("a.md", b"---\n" + data)
    except MindConeError:
        return
    stored = json.dumps([parsed.title, parsed.content, parsed.tags, parsed.metadata], allow_nan=False)
    assert "\\u0000" not in stored
    json.loads(stored)
    (parsed.title + parsed.content).encode("utf-8")
