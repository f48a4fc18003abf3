"""Windows: title and two sentences, overlapping by one."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ingestion.windows import MAX_WINDOWS, body_start, windows

ONE = "The first sentence has seven whole words."
TWO = "A second one also has enough words."
THREE = "Finally the third sentence closes the text."


def texts(title: str, text: str, heading: str = "") -> list[str]:
    return [window.text for window in windows(title, text, heading)]


def test_two_sentences_overlapping_by_one():
    assert texts("T", f"{ONE} {TWO} {THREE}") == [f"T\n{ONE} {TWO}", f"T\n{TWO} {THREE}"]


@pytest.mark.parametrize("text", [ONE, f"{ONE} {TWO}"])
def test_up_to_two_sentences_are_one_window(text: str):
    assert texts("T", text) == [f"T\n{text}"]


def test_offsets_are_those_of_the_raw_text():
    text = f"## Head\n\n- **{ONE}**\n- [{TWO}](https://x.y/z)\n- {THREE}\n"
    first, second = windows("T", text)
    assert text[first.start : first.end] == f"## Head\n\n- **{ONE}**\n- [{TWO}](https://x.y/z)"
    assert text[second.start : second.end] == f"- [{TWO}](https://x.y/z)\n- {THREE}"
    assert first.text == f"T\nHead {ONE} {TWO}"
    assert second.text == f"T\n{TWO} {THREE}"


def test_short_sentences_take_the_next_one_in():
    assert texts("", f"Hey Mel! Good to see you! {ONE} {TWO} {THREE}") == [
        f"Hey Mel! Good to see you! {ONE}",
        f"{ONE} {TWO}",
        f"{TWO} {THREE}",
    ]


def test_a_short_last_sentence_joins_the_one_before():
    assert texts("", f"{ONE} {TWO} {THREE} Bye.") == [f"{ONE} {TWO}", f"{TWO} {THREE} Bye."]


def test_chinese_width():
    long, short = "这一句话有足够多的汉字在里面。", "很短。"
    assert texts("题", f"{long}{short}{long}{long}") == [
        f"题\n{long} {short} {long}",
        f"题\n{short} {long} {long}",
    ]


def test_heading_path_follows_the_title():
    assert texts("T", ONE, "Setup > Linux") == [f"T\nSetup > Linux\n{ONE}"]


@pytest.mark.parametrize("first", ["T itle", "# T itle", "## **T itle** ##", "t-itle"])
def test_a_repeated_title_is_not_embedded_twice(first: str):
    text = f"{first}\n\n{ONE}"
    assert texts("T itle", text) == [f"T itle\n{ONE}"]
    assert body_start("T itle", text) == text.index(ONE)


@pytest.mark.parametrize("text", ["Title goes on here", "Title", "", "Other\nTitle", "\n# Title\n\n"])
def test_what_is_no_repetition_stays(text: str):
    assert body_start("Title", text) == 0


def test_noise_is_not_embedded():
    text = "| 名称 | 值 |\n| --- | --- |\n| 甲 | 12 |\n\n```python\nx = 1\n```\n\n---\n"
    assert texts("", text) == ["名称 值 甲 12 x = 1"]


@pytest.mark.parametrize("nothing", ["", "  \n", "---", "```\n```", "."])
def test_a_text_that_says_nothing_has_none(nothing: str):
    assert windows("T", nothing) == []


@pytest.mark.parametrize("short", ["他有猫", "雨天", "42"])
def test_short_text_has_one(short: str):
    """B14."""
    assert texts("T", short) == [f"T\n{short}"]


def test_long_sentences_are_split():
    text = ", ".join(f"clause number {i} with some words" for i in range(60))
    found = windows("", text)
    assert len(found) > 1
    assert all(len(window.text.split()) <= 2 * 120 for window in found)
    han = "，".join("这一小句有十来个字而已" for _ in range(60))
    assert len(windows("", han)) > 1


def test_their_number_is_bounded():
    text = "\n".join(f"line {i} has just enough words here" for i in range(1_000))
    found = windows("T", text)
    assert MAX_WINDOWS // 2 <= len(found) <= MAX_WINDOWS
    assert found[0].start == 0
    assert found[-1].end == len(text)
    assert all(f"line {i} has" in "".join(window.text for window in found) for i in range(0, 1_000, 37))


@given(
    st.lists(st.sampled_from([*"#-*|`[]() \n.。！ab中", "some words here. ", "https://x.y "]), max_size=200).map(
        "".join
    )
)
def test_spans_are_in_order_and_cover_every_word(text: str):
    found = windows("Title", text)
    assert all(0 <= w.start < w.end <= len(text) and w.text.startswith("Title\n") for w in found)
    assert all(a.start < b.start <= a.end and a.end < b.end for a, b in itertools.pairwise(found))
    if "words" in text:
        covered = set[int]()
        for window in found:
            covered.update(range(window.start, window.end))
        at = text.find("words")
        while at >= 0:
            assert at in covered
            at = text.find("words", at + 1)


@pytest.mark.parametrize("unit", ["a. ", "字", "x", "[", "<a", "# ", "**", "| "])
def test_any_chunk_is_quick(unit: str):
    began = time.process_time()
    windows("T", unit * (20_000 // len(unit)))
    assert time.process_time() - began < 2
