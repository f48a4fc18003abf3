"""Anchors: what a summary must not lose, against sentences checked by hand."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from app.text.anchors import anchors

LABELLED = Path(__file__).parent / "data" / "anchors.jsonl"


def keys(text: str) -> list[str]:
    return [anchor.key for anchor in anchors(text)]


def scores(half: str) -> tuple[float, float]:
    """Precision and recall of (kind, text)."""
    right = found = expected = 0
    for line in LABELLED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["half"] == half:
            got = {(anchor.kind, anchor.text) for anchor in anchors(row["text"])}
            want = {(kind, text) for kind, text in row["anchors"]}
            right += len(got & want)
            found += len(got)
            expected += len(want)
    return right / found, right / expected


def test_the_labelled_set_is_large_enough_and_in_both_languages() -> None:
    rows = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 70
    assert sum(row["text"].isascii() for row in rows) >= 30
    assert sum(any("\u4e00" <= ch <= "\u9fff" for ch in row["text"]) for row in rows) >= 30


@pytest.mark.parametrize(("half", "least"), [("tune", 0.98), ("held", 0.94)])
def test_labelled_sentences(half: str, least: float) -> None:
    precision, recall = scores(half)
    assert precision >= least
    assert recall >= least


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("3,000 merchants", "3000 merchants"),
        ("200万元", "2,000,000元"),
        ("$3 million", "3,000,000 dollars"),
        ("¥300", "300元"),
        ("三年", "3年"),
        ("five years", "5 years"),
        ("12 percent", "12%"),
        ("百分之十二", "12%"),
        ("三成", "30%"),
        ("8 May, 2023", "May 8, 2023"),
        ("2023年5月8日", "2023-05-08"),
        ("3.50 km", "3.5公里"),
        ("GPT-4", "gpt 4 is GPT4"),
        ("5月8日", "May 8th"),
    ],
)
def test_two_ways_to_write_one_thing_share_a_key(one: str, two: str) -> None:
    assert keys(one)[0] in keys(two)


@pytest.mark.parametrize(
    ("one", "two"), [("GPT-3", "GPT-4"), ("C", "C++"), ("v1.2.3", "v1.2.4"), ("5 years", "6 years"), ("12%", "1.2%")]
)
def test_what_differs_in_a_digit_differs_in_its_key(one: str, two: str) -> None:
    """C5: a changed number is another fact."""
    assert not set(keys(one)) & set(keys(two))


def test_offsets_point_into_the_text() -> None:
    text = "《三体》 costs ¥48；see app/core/ids.py,\u00a0v2.1.0\u3000on 2024-05-01."
    found = anchors(text)
    assert [text[a.start : a.end] for a in found] == [a.text for a in found]
    assert {a.kind for a in found} == {"name", "money", "identifier", "date"}


@pytest.mark.parametrize("text", ["", "   \n", "他十分高兴。", "It is what it is.", "…", "一切都好"])
def test_texts_without_anchors(text: str) -> None:
    assert anchors(text) == []


def test_numbers_of_a_list_and_openers_of_sentences_are_none() -> None:
    assert keys("1. Install it\n2. Run it\nThe end. When done, stop.") == []


@pytest.mark.parametrize(
    "unit", ["a", "1,", "一", "A ", ".", "/a", '"', "a-", "1.", "年", "[[", "1-", "http://", "《", "第", "@a."]
)
def test_no_text_makes_it_slow(unit: str) -> None:
    """Linear: twice the text costs about twice the time, however it is made."""
    costs = []
    for size in (20_000, 80_000):
        text = (unit * size)[:size]
        began = time.process_time()
        anchors(text)
        costs.append(time.process_time() - began)
    assert costs[1] < 1.0
    assert costs[1] < 16 * max(costs[0], 0.005)
