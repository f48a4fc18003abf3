"""Where sentences end, in Chinese and English, one linear pass without backtracking.

Knows punctuation, abbreviations, decimals and line ends; knows nothing of Markdown or meaning.
"""

from __future__ import annotations

import re
from typing import Final

from app.text.normalise import is_han

_CLOSERS: Final = "\"'”’」』）)］]】》〉*_"
# A run of enders with the quotes and brackets that close after it, or a line end.
_END = re.compile(
    f"(?:[。！？；｡!?]|…+|\\.+)[。！？；｡…!?.]*[{re.escape(_CLOSERS)}]*|[\\r\\n\\x0b\\x0c\\x85\\u2028\\u2029]"
)
_LINE_ENDS = frozenset("\r\n\x0b\x0c\x85\u2028\u2029")
_HARD = frozenset("。！？；｡")
_QUOTES = frozenset("\"'”’")
_LOOK_BACK = 24
_LAST_WORD = re.compile(r"[^\s(\[{\"'“‘，。、；：（「『]+$")

_ABBREVIATION_LIST = """
    mr mrs ms dr prof rev fr hon pres gov sen rep gen col lt sgt capt cmdr maj adm st mt ft jr sr vs ed eds cf ca
    approx est dept univ assn bros inc ltd co corp llc plc al etc viz resp ave blvd rd tel avg incl excl ext
    e.g i.e a.m p.m u.s u.k u.n ph.d m.d b.a m.a b.sc m.sc d.c"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
_NEVER_LAST_LIST = "mr mrs ms dr prof rev hon gov sen rep gen col lt sgt capt cmdr maj adm st mt vs e.g i.e cf"
_NEVER_LAST = frozenset(_NEVER_LAST_LIST.split())
# Words of their own otherwise: "No. He sat in the sun."
_BEFORE_NUMBER_LIST = """
    no nos vol vols pp p fig figs eq eqs sec ch art min max
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun"""
_BEFORE_NUMBER = frozenset(_BEFORE_NUMBER_LIST.split())
# Abbreviations that also close a sentence do so in front of one of these.
_STARTER_LIST = """
    The He She It They We You This That These Those There In On At After Before When While But However And So If
    His Her Its Their Our My As For From With Since Although Then Also Later Today What Who Why How Where"""
_STARTERS = frozenset(_STARTER_LIST.split())
_NEXT_WORD = re.compile(r"[\"'“‘(\[]*([A-Za-z]+)")


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) of the sentences in order; together they cover everything but white space.

    A line end is always a boundary. Closing quotes belong to the sentence that they close.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if text[match.start()] in _LINE_ENDS:
            _add(spans, text, start, match.start())
        elif _ends(text, start, match.start(), match.end()):
            _add(spans, text, start, match.end())
        else:
            continue
        start = match.end()
    _add(spans, text, start, len(text))
    return spans


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))


def _ends(text: str, start: int, at: int, end: int) -> bool:
    """Whether the enders at text[at:end], in a sentence that began at `start`, close it."""
    if end == len(text):
        return True
    after = text[end]
    if text[at] in _HARD:
        return True
    if not (after.isspace() or is_han(after) or after in "“「『《（"):
        return False
    if text[at] != ".":
        # "Why?" he asked. is one sentence.
        return text[end - 1] not in _QUOTES or not text[end : end + 8].lstrip()[:1].islower()
    if is_han(after) and at and text[at - 1].isascii() and text[at - 1].isalnum():
        # "见 v1.2.再说", "3.安装": a dot between a Latin letter or digit and a Han character is no full stop.
        return False
    if at + 1 < end and text[at + 1] == ".":
        # An ellipsis pauses before a small letter and ends before anything else.
        following = text[end : end + 8].lstrip()[:1]
        return not following.islower()
    return not _abbreviated(text, start, at, end)


def _abbreviated(text: str, start: int, at: int, end: int) -> bool:
    """Whether the full stop at `at` belongs to the word before it."""
    tail = text[max(start, at - _LOOK_BACK) : at]
    found = _LAST_WORD.search(tail)
    if found is None:
        return False
    word = found.group()
    bare = word.lower()
    if word.isdigit():
        # "3. Install" opens a list item.
        return len(word) <= 3 and not text[start : at - len(word)].strip()
    behind = text[end : end + 32].lstrip()
    if bare in _BEFORE_NUMBER:
        return behind[:1].isdigit()
    initial = len(word) == 1 and word.isupper()
    if not (initial or bare in _ABBREVIATIONS or ("." in word and len(word) <= 6 and word.replace(".", "").isalpha())):
        return False
    if bare in _NEVER_LAST:
        return True
    following = _NEXT_WORD.match(behind)
    return following is None or following.group(1) not in _STARTERS
