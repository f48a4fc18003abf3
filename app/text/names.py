"""The names in a text, Chinese, English or mixed: of passages when they are learned, of questions when they are asked.

One entrance to `names_en` and `names_zh`. Knows neither cards nor entities; a name is a span of the text and a guess of
what it names.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final

from app.text.names_en import NameType, Spot, find_capitalised, type_of
from app.text.names_marks import Marks, read_marks
from app.text.names_zh import find_han, type_of_han
from app.text.normalise import HAN
from app.text.segment import Segmenter

__all__ = ["NameType", "Spot", "find_names", "guess_type", "spots_in"]

_HAN = re.compile(f"[{HAN}]")
_UPPER = re.compile(r"[^\W\d_]")
_QUOTED = re.compile(r"[“\"「『]([^“”\"「」『』\n]{2,80})[”\"」』]")
_HEADING: Final = re.compile(r"^[ \t>]*(?:[-*+][ \t]+)?#{1,6}[ \t]", re.MULTILINE)
_LATIN_WORD = re.compile(r"[A-Za-z][\w'’.-]*")


def find_names(text: str, segmenter: Segmenter, known: Set[str] = frozenset()) -> list[Spot]:
    """Names in `text` as it is written, in order, without overlaps. `known`: names in lower case that need no proof."""
    return spots_in(read_marks(text), segmenter, known)


def spots_in(marks: Marks, segmenter: Segmenter, known: Set[str] = frozenset()) -> list[Spot]:
    """As `find_names`, of a text whose marks are read already."""
    text = marks.text
    headings = {m.start() for m in _HEADING.finditer(text)} if "#" in text else set()
    spots = [*_titles(text)]
    if _UPPER.search(text):
        spots += find_capitalised(text, known, headings)
    if _HAN.search(text):
        spots += find_han(text, segmenter.tagged(text), known)
    return _apart(spots)


def _titles(text: str) -> list[Spot]:
    """Quoted words that all begin with a capital: "Playing It Wild" is a work."""
    found = []
    for match in _QUOTED.finditer(text):
        words = _LATIN_WORD.findall(match[1])
        if len(words) > 1 and words[0][0].isupper() and words[-1][0].isupper():
            long = [word for word in words if len(word) > 3]
            if long and all(word[0].isupper() for word in long):
                start, end = match.span(1)
                while end > start and text[end - 1] in ",.!?，。！？ ":
                    end -= 1
                found.append(Spot(start, end, "work"))
    return found


def _apart(spots: list[Spot]) -> list[Spot]:
    """The longer of two that overlap."""
    kept: list[Spot] = []
    for spot in sorted(spots, key=lambda s: (s.start, -s.end)):
        if kept and spot.start < kept[-1].end:
            if spot.end - spot.start > kept[-1].end - kept[-1].start:
                kept[-1] = spot
            continue
        kept.append(spot)
    return kept


def guess_type(name: str) -> NameType:
    """What a name by itself says of the thing; "other" where it says nothing."""
    if _HAN.search(name):
        return type_of_han(name)
    words = name.split()
    return type_of(words) if words and words[0][:1].isupper() else "other"
