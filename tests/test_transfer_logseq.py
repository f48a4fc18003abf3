"""Logseq: page names in file names, journals, properties."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.transfer.errors import EmptyDocument
from app.transfer.logseq import items, page_of, properties
from app.transfer.notes import ParsedNote, parse_note


def page(path: str, text: str) -> ParsedNote:
    return parse_note(path, text.encode(), "logseq")


def test_a_journal_has_its_day_as_title_date_and_in_the_words_that_links_use() -> None:
    parsed = page("journals/2021_03_08.md", "- woke up early")
    assert parsed.title == "2021-03-08"
    assert parsed.created_at == datetime(2021, 3, 8, tzinfo=UTC)
    assert parsed.metadata["aliases"] == ["2021_03_08", "2021-03-08", "Mar 8th, 2021"]


@pytest.mark.parametrize(
    ("day", "written"), [("01", "1st"), ("02", "2nd"), ("03", "3rd"), ("11", "11th"), ("13", "13th"), ("21", "21st")]
)
def test_ordinals_as_logseq_writes_them(day: str, written: str) -> None:
    assert page_of(f"journals/2021_01_{day}.md").other_names == (f"Jan {written}, 2021",)


def test_an_impossible_day_is_a_page() -> None:
    assert page("journals/2021_02_30.md", "x").created_at is None
    assert page("pages/2021_03_08.md", "x").title == "2021_03_08"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("pages/Community___Sprint (2022).md", "Community/Sprint (2022)"),
        ("pages/a%2Fb%3F.md", "a/b?"),
        ("pages/100%.md", "100%"),
    ],
)
def test_names_that_file_systems_cannot_hold(path: str, name: str) -> None:
    parsed = page(path, "- x")
    assert parsed.title == name
    assert parsed.external_id == path
    aliases = parsed.metadata["aliases"]
    assert isinstance(aliases, list)
    assert name in aliases


def test_page_properties_are_read_and_stay_in_the_text() -> None:
    text = "title:: Page embed\ntype:: [[Feature]]\nalias:: 页面嵌入, embed\ntags:: [[a, b]], #c, d\n\n- ## Usage\n"
    parsed = page("pages/page_embed.md", text)
    assert (parsed.title, parsed.tags, parsed.content) == ("Page embed", ["a, b", "c", "d"], text)
    assert parsed.metadata["type"] == "[[Feature]]"
    assert parsed.metadata["aliases"] == ["页面嵌入", "embed", "page_embed"]


def test_properties_of_later_blocks_are_not_the_page_s() -> None:
    assert properties("- title:: A\n  tags:: b\n- first block\n  title:: not this") == {"title": "A", "tags": "b"}
    assert properties("text\ntitle:: no") == {}
    assert properties("std::vector is C++\n") == {}


def test_created_at_in_milliseconds() -> None:
    assert page("pages/x.md", "created-at:: 1741426200000\n\n- x").created_at == datetime(2025, 3, 8, 9, 30, tzinfo=UTC)


def test_items_of_a_property() -> None:
    assert items("[[a, b]] #c,d ,, #[[e f]]") == ["a, b", "c", "d", "e f"]


@pytest.mark.parametrize("text", ["-", "- \n-\n", "---\ntitle: Mar 8th, 2021\n---\n\n-"])
def test_a_day_without_a_word_is_empty(text: str) -> None:
    with pytest.raises(EmptyDocument):
        page("journals/2021_03_08.md", text)


def test_headings_inside_bullets_are_not_titles() -> None:
    assert page("pages/x.md", "# Heading\n- # another").title == "x"
