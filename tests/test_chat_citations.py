"""Markers in answers: what counts as one, what it points to, and that nothing dead is shown."""

from __future__ import annotations

import itertools
import uuid

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.chat.citations import QUOTE_CHARS, Citable, Citation, Citer

TEXTS = {
    "1": "The ferry leaves at nine. It needs forty\nminutes to the island.",
    "2": "渡轮九点出发，四十分钟到岛上。午后没有船。",
    "3": "Short.",
}
SOURCES = {
    marker: Citable(marker, "card", uuid.uuid4(), f"T{marker}", text, uuid.uuid4(), 100, 100 + len(text))
    for marker, text in TEXTS.items()
}


def said(answer: str, *cuts: int) -> Citer:
    citer = Citer(SOURCES)
    places = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    pieces = [answer[start:end] for start, end in itertools.pairwise(places)]
    shown = "".join([*map(citer.feed, pieces), citer.close()])
    assert shown == citer.text
    return citer


def markers(citer: Citer) -> list[str]:
    return [citation.marker for citation in citer.citations]


@pytest.mark.parametrize(
    ("answer", "text", "cited", "removed"),
    [
        ("At nine [1].", "At nine [1].", ["1"], 0),
        ("At nine[1].", "At nine[1].", ["1"], 0),
        ("Both [2, 1] say so.", "Both [2, 1] say so.", ["2", "1"], 0),
        ("Both [1,2][3].", "Both [1, 2][3].", ["1", "2", "3"], 0),
        ("九点【1】。", "九点[1]。", ["1"], 0),
        ("九点［1］【2，1、3】。", "九点[1][2, 1, 3]。", ["1", "2", "3"], 0),
        ("Notes [^1] and [[2]].", "Notes [1] and [2].", ["1", "2"], 0),
        ("See [see [1]].", "See [see [1]].", ["1"], 0),
        ("Twice [1] and [1, 1].", "Twice [1] and [1].", ["1"], 0),
        # Dead ones leave no gap.
        ("Nowhere [9].", "Nowhere.", [], 1),
        ("Half [1, 9, 8].", "Half [1].", ["1"], 2),
        ("[7] first", " first", [], 1),
        ("无【12】处。", "无处。", [], 1),
        # Not markers at all.
        ("A link [1](http://x.y) stays.", "A link [1](http://x.y) stays.", [], 0),
        ("[text](url) ![9](img)", "[text](url) ![9](img)", [], 0),
        ("In 2024 [2024] or [0] or [01] or [1-3] or [ ] or [x].", None, [], 0),
        (r"\[1\] and [1", r"\[1\] and [1", [], 0),
        # Code.
        ("Use `arr[1]` here [1].", "Use `arr[1]` here [1].", ["1"], 0),
        ("Use ``a`[9]`` now.", None, [], 0),
        ("A lone ` tick [1].", "A lone ` tick [1].", ["1"], 0),
        ("```py\nx = a[9]\n```\nDone [9].", "```py\nx = a[9]\n```\nDone.", [], 1),
        ("- ~~~\n  a[9]\n  ~~~\n[1]", "- ~~~\n  a[9]\n  ~~~\n[1]", ["1"], 0),
        ("````\n```\na[9]\n````\n[1]", "````\n```\na[9]\n````\n[1]", ["1"], 0),
        ("~~gone~~ [9] `", "~~gone~~ `", [], 1),
        ("```inline[9]``` x[1]", "```inline[9]``` x[1]", ["1"], 0),
        ("```\nnever closed [9]", "```\nnever closed [9]", [], 0),
        ("", "", [], 0),
    ],
)
def test_what_is_a_marker(answer: str, text: str | None, cited: list[str], removed: int) -> None:
    citer = said(answer)
    assert citer.text == (answer if text is None else text)
    assert markers(citer) == cited
    assert citer.removed == removed


ALPHABET = st.sampled_from(
    [
        "[1]",
        "[9]",
        "【2】",
        "[",
        "]",
        "[[",
        "]]",
        "(",
        "1",
        "9",
        ",",
        " ",
        "\n",
        "`",
        "```",
        "~~~",
        "a",
        "。",
        "- ",
        "^",
    ]
)


@settings(max_examples=200, deadline=None)
@given(answer=st.lists(ALPHABET, max_size=30).map("".join), cuts=st.lists(st.integers(0, 60), max_size=20))
@example(answer="``a`[9]`` " + "b" * 199 + "`" + " [1]", cuts=list(range(300)))
@example(answer="`" + "b" * 199 + "`` [1] `", cuts=list(range(300)))
def test_pieces_do_not_matter(answer: str, cuts: list[int]) -> None:
    whole, pieced = said(answer), said(answer, *cuts)
    assert pieced.text == whole.text
    assert pieced.citations == whole.citations
    assert pieced.removed == whole.removed


def test_text_is_not_held_back_for_long() -> None:
    citer = Citer(SOURCES)
    assert citer.feed("At nine") == "At nine"
    assert citer.feed(" [1") == ""
    assert citer.feed("]") == ""
    assert citer.feed(".") == " [1]."
    assert citer.feed(" [" + "1," * 21) == " [" + "1," * 21
    assert citer.feed("`x") == ""
    assert citer.feed("y" * 300) == "`x" + "y" * 300


def quote(answer: str) -> tuple[str, str]:
    """What is quoted, and what stands at the offsets in the card."""
    (citation,) = said(answer).citations
    assert citation.start is not None
    assert citation.end is not None
    content = "." * 100 + TEXTS[citation.marker]
    return citation.quote, content[citation.start : citation.end]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("- The ferry leaves at nine. [1]", "The ferry leaves at nine."),
        ("It needs forty minutes to the island. [1]", "It needs forty\nminutes to the island."),
        ("Mine. The ferry leaves at nine. [1]", "The ferry leaves at nine."),
        ("午后没有船。[2]", "午后没有船。"),
        ("1. 渡轮九点出发，四十分钟到岛上。【2】", "渡轮九点出发，四十分钟到岛上。"),
        # Said in other words, or in too few: the source speaks for itself.
        ("It goes early [1].", TEXTS["1"]),
        ("It [1].", TEXTS["1"]),
        ("没有船[2]。", TEXTS["2"]),
    ],
)
def test_quotes_stand_at_their_offsets(answer: str, expected: str) -> None:
    assert quote(answer) == (expected, expected)


def test_the_quote_is_what_was_said_since_the_last_marker() -> None:
    citer = said("Short. [3] The ferry leaves at nine. [1]")
    assert [citation.quote for citation in citer.citations] == ["Short.", "The ferry leaves at nine."]


def test_long_sources_are_quoted_in_part() -> None:
    source = Citable("1", "card", uuid.uuid4(), "T", "长" * 1000, None, 7, 1007)
    citer = Citer({"1": source})
    citer.feed("x [1]")
    citer.close()
    assert citer.citations == [Citation("1", "card", source.id, "长" * QUOTE_CHARS, None, 7, 7 + QUOTE_CHARS)]


def test_a_source_without_a_place_is_quoted_without_one() -> None:
    source = Citable("1", "report", uuid.uuid4(), "T", "All about ferries.")
    citer = Citer({"1": source})
    citer.feed("All about ferries. [1]")
    citer.close()
    assert citer.citations == [Citation("1", "report", source.id, "All about ferries.")]


def test_many_brackets_take_no_time() -> None:
    citer = Citer(SOURCES)
    for _ in range(4000):
        citer.feed("[1,[`~ ")
    citer.close()
    assert len(citer.text) == 4000 * 7
