"""Chunks: offsets that hold, sizes that fit, cuts where a reader would make them."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.ingestion.chunk import Chunk, chunk


def words_and_han(text: str) -> int:
    """About what a tokenizer counts: a word is one token, a Han character or a mark another."""
    return len(re.findall(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+|[^\w\s]", text))


def check(content: str, target: int = 300, limit: int = 480, count=words_and_han) -> list[Chunk]:
    found = chunk(content, count, target, limit)
    done = 0
    for piece in found:
        assert piece.text == content[piece.start : piece.end]
        assert content[done : piece.start].strip() == ""
        assert piece.text.strip() != ""
        assert count(piece.text) <= limit
        done = piece.end
    assert content[done:].strip() == ""
    return found


def starts(chunks: list[Chunk]) -> list[str]:
    return [piece.text.splitlines()[0] for piece in chunks]


def sentence(n: int, words: int = 12) -> str:
    return f"Sentence {n} has " + "some more words in it " * (words // 5) + "today."


# --------------------------------------------------------------------------------- properties

pieces = [
    *"#-*>`|~ \t\n\r1.[]:=ab中文。！？é\u0301👨\u200d👩🇩🇪\u3000\x0b\u2028",
    "\n\n",
    "# ",
    "```\n",
    "A: ",
    " words and more. ",
]
markdown = st.lists(st.sampled_from(pieces), max_size=200).map("".join)


@given(markdown, st.integers(2, 20), st.integers(2, 30))
@example("🇩🇪" * 40, 5, 9)
@example("a" * 100, 2, 2)
@example("# " + "h " * 60 + "\n" + "## b\n" * 20, 4, 6)
def test_content_is_reassembled_and_limits_hold(content: str, target: int, limit: int):
    """B10."""
    check(content, target, limit)
    check(content, target, limit, count=len)


@given(markdown)
def test_counted_in_bytes(content: str):
    """A counter that sees white space, and knows characters of several tokens."""
    check(content, 40, 60, count=lambda text: len(text.encode()))


@pytest.mark.parametrize("blank", ["", " ", "\n\n\t \r\n", "\u3000\n"])
def test_blank_content_has_no_chunks(blank: str):
    assert chunk(blank, words_and_han) == []


@pytest.mark.parametrize("short", ["雨", "他有猫。", "a", "- x", "# 标题", "😀", "\u200b"])
def test_short_content_is_one_chunk(short: str):
    """B14."""
    assert [piece.text for piece in check(f"\n {short}\n")] in ([short], [f" {short}"])


# ------------------------------------------------------------------------------------ structure


def test_headings_start_chunks_and_stay_with_their_text():
    body = " ".join(sentence(i) for i in range(14))
    found = check("\n\n".join(f"## Part {i}\n\n{body}" for i in range(4)), 200, 300)
    assert starts(found) == ["## Part 0", "## Part 1", "## Part 2", "## Part 3"]


def test_short_sections_share_a_chunk():
    found = check("\n\n".join(f"## Part {i}\n\n{sentence(i)}" for i in range(6)), 40, 60)
    assert len(found) == 3
    assert all(text.startswith("## ") for text in starts(found))


def test_heading_path():
    long = " ".join(sentence(i) for i in range(30))
    content = f"intro\n\n# Setup\n\n## Linux\n\n{long}\n\n# Use\n\n### Deep\n\n{long}\n\n## 中文\n\n{long}"
    found = check(content, 200, 300)
    paths = list(dict.fromkeys(piece.heading for piece in found))
    assert paths == ["", "Setup > Linux", "Use > Deep", "Use > 中文"]
    assert [piece.heading for piece in found if piece.text.startswith("# Setup")] == ["Setup > Linux"]


def test_code_and_tables_stay_whole_where_they_fit():
    code = "```python\n" + "\n\n".join(f"x{i} = {i}" for i in range(60)) + "\n```"
    table = "| a | b |\n| --- | --- |\n" + "\n".join(f"| {i} | {i} |" for i in range(35))
    filler = " ".join(sentence(i) for i in range(10))
    found = check(f"{filler}\n\n{code}\n\n{filler}\n\n{table}\n\n{filler}", 150, 300)
    assert sum(code in piece.text for piece in found) == 1
    assert sum(table in piece.text for piece in found) == 1


def test_long_code_is_cut_between_lines():
    code = "```\n" + "\n".join(f"value_{i} = compute({i}, {i})" for i in range(300)) + "\n```"
    found = check(code, 100, 160)
    lines = code.splitlines()
    assert [line for piece in found for line in piece.text.splitlines()] == lines


def test_indentation_of_cut_code_is_kept():
    code = "```\n" + "\n".join(f"    value_{i} = compute({i}, {i})  # {i}" for i in range(100)) + "\n```"
    assert {text[:4] for text in starts(check(code, 50, 80))} <= {"    ", "```"}


def test_a_line_that_introduces_code_stays_with_it():
    code = "```\n" + "\n".join(f"v{i} = {i}" for i in range(80)) + "\n```"
    (whole,) = check(f"Run this:\n\n{code}", 200, 300)
    assert whole.text.startswith("Run this:")


def test_paragraphs_before_sentences():
    paragraphs = [" ".join(sentence(10 * p + i) for i in range(6)) for p in range(6)]
    found = check("\n\n".join(paragraphs), 200, 300)
    assert all(text.startswith(f"Sentence {10 * p}") for p, text in zip((0, 2, 4), starts(found), strict=True))


def test_sentences_where_a_paragraph_is_too_long():
    text = " ".join(sentence(i) for i in range(60))
    found = check(text, 100, 150)
    assert len(found) > 5
    assert all(re.match(r"Sentence \d+ has", piece.text) and piece.text.endswith("today.") for piece in found)


def test_chinese_sentences():
    found = check("".join(f"第{i}句话说的是一件很小的事情。" for i in range(80)), 100, 150)
    assert len(found) > 5
    assert all(piece.text.startswith("第") and piece.text.endswith("。") for piece in found)


def test_list_items():
    items = [f"- item {i}: {sentence(i, 20)}" for i in range(30)]
    found = check("\n".join(items), 100, 150)
    assert all(piece.text.startswith("- item") for piece in found)


def test_dialogue_is_cut_between_turns():
    turns = [
        f"[2024-01-0{i % 9 + 1} 10:0{i % 10}] {'Alice' if i % 2 else '鲍勃'}: {sentence(i)} {sentence(i)}"
        for i in range(40)
    ]
    found = check("\n".join(turns), 100, 150)
    assert len(found) > 10
    assert all(piece.text.startswith("[2024") and piece.text.endswith("today.") for piece in found)


def test_full_width_colons_speak_too():
    turns = [f"{'甲乙'[i % 2]}：这是第{i}句话。接着还有一句。" for i in range(40)]
    assert all(text[0] in "甲乙" for text in starts(check("\n".join(turns), 60, 90)))


def test_leftovers_join_the_chunk_before():
    text = " ".join(sentence(i) for i in range(16)) + "\n\nThe end."
    assert check(text, 100, 150)[-1].text.endswith("The end.")
    assert len(check(text, 100, 150)[-1].text) > 100


def test_long_sentences_are_cut_at_clauses_then_words():
    clauses = "，".join("这一小句有十来个字而已" for _ in range(100))
    assert all(piece.text.endswith("，") for piece in check(clauses, 100, 150)[:-1])
    words = "word " * 1_000
    assert all(piece.text.endswith("word") and piece.text.startswith("word") for piece in check(words, 100, 150))


@pytest.mark.parametrize("one", ["e\u0301", "👨\u200d👩\u200d👧", "👍🏽", "🇩🇪", "\u1112\u1161\u11ab", "❤\ufe0f", "कि"])
def test_no_character_is_cut(one: str):
    found = check(one * 300, 40, 60, count=len)
    assert len(found) > 4
    assert all(len(piece.text) % len(one) == 0 for piece in found)


def test_white_space_counts_when_the_counter_counts_it():
    check("a\n\n" + "\n" * 300 + "b\n" + " " * 300 + "c", 50, 80, count=len)


# ----------------------------------------------------------------------------------------- cost


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        "字",
        "x",
        "Short one. ",
        "a\n",
        "- a b c\n",
        "# h\n",
        "|a|b|\n|-|-|\n",
        "para here.\n\n",
        "🇩🇪",
        "> ",
        "A: b\n",
    ],
)
def test_a_large_card_is_linear(unit: str):
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return len(text) // 4 + 1

    def cost(size: int) -> tuple[float, int]:
        nonlocal counted
        counted = 0
        began = time.process_time()
        chunk(unit * (size // len(unit)), count)
        return time.process_time() - began, counted

    small_seconds, _ = cost(20_000)
    large_seconds, large_counted = cost(200_000)
    # Quadratic work would take a hundred times as long.
    assert large_seconds < 40 * max(small_seconds, 0.01)
    assert large_counted < 10 * 200_000
