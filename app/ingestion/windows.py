"""The child vectors of a chunk: title and two sentences, overlapping by one.

A long text under a single vector is hard to find; chunks stay the evidence, windows are what is
embedded. Pure; knows neither vectors nor tables.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.text.markdown import strip_marks
from app.text.normalise import han_share, name_key
from app.text.sentences import sentences

MAX_WINDOWS: Final = 32
_SHORT: Final = 6.0
_LONG: Final = 120.0
_HAN_CHARS_PER_WORD: Final = 1.7
_MOSTLY_LATIN: Final = 0.2
_CLAUSE_END = re.compile(r"[，,；;、:：)）]\s*|\s+")


@dataclass(frozen=True, slots=True)
class Window:
    """`text` is what to embed, the title included; it stands for chunk[start:end]."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence without Markdown's marks; `width` in words."""

    start: int
    end: int
    text: str
    width: float

    def __add__(self, other: _Unit) -> _Unit:
        return _Unit(self.start, other.end, f"{self.text} {other.text}", self.width + other.width)


def windows(title: str, chunk_text: str, heading: str = "") -> list[Window]:
    """Windows in order, at most MAX_WINDOWS; up to two sentences give one. Empty for a text that says nothing.

    `heading`: the path of headings that the chunk stands under; it follows the title in every window.
    """
    title = title.strip()
    units = _joined(list(_units(title, chunk_text)))
    if not units:
        return []
    while len(units) > MAX_WINDOWS + 1:
        units = [a + b for a, b in zip(units[::2], units[1::2], strict=False)] + units[len(units) // 2 * 2 :]
    pairs = [a + b for a, b in itertools.pairwise(units)] or units
    head = "".join(f"{line}\n" for line in (title, heading.strip()) if line)
    return [Window(pair.start, pair.end, head + pair.text) for pair in pairs]


def body_start(title: str, text: str) -> int:
    """Offset where `text` begins after a first line that only repeats `title`; 0 when it does not."""
    start = len(text) - len(text.lstrip())
    line = text[start:].splitlines()[0] if start < len(text) else ""
    # Marks and spaces make a line longer than its title, but not by this much; most first lines are whole paragraphs.
    if not title or len(line) > 3 * len(title) + 40:
        return 0
    if not name_key(title) or name_key(strip_marks(line)) != name_key(title):
        return 0
    rest = text[start + len(line) :].lstrip()
    return len(text) - len(rest) if rest else 0


def _units(title: str, text: str) -> Iterator[_Unit]:
    """Sentences that say something, the long ones in pieces, without a leading repetition of the title."""
    skip = body_start(title, text)
    for start, end in sentences(text):
        if start < skip:
            continue
        shown = strip_marks(text[start:end], _opens_line(text, start))
        if len(shown) < 2:
            continue
        width = _width(shown)
        if width <= _LONG:
            yield _Unit(start, end, shown, width)
            continue
        for first, last in _pieces(text, start, end, int(width // _LONG) + 1):
            shown = strip_marks(text[first:last], first == start and _opens_line(text, start))
            if shown:
                yield _Unit(first, last, shown, _width(shown))


def _joined(units: list[_Unit]) -> list[_Unit]:
    """Units of at least six words: a shorter one takes the next in, the last goes to the one before."""
    joined: list[_Unit] = []
    for unit in units:
        if joined and joined[-1].width < _SHORT:
            joined[-1] += unit
        else:
            joined.append(unit)
    if len(joined) > 1 and joined[-1].width < _SHORT:
        last = joined.pop()
        joined[-1] += last
    return joined


def _pieces(text: str, start: int, end: int, parts: int) -> Iterator[tuple[int, int]]:
    """text[start:end] in about `parts` pieces of similar length, cut where a clause or a word ends."""
    size = -(-(end - start) // parts)
    while end - start > size * 3 // 2:
        cuts = [m.end() for m in _CLAUSE_END.finditer(text, start + size // 2, start + size)]
        cut = cuts[-1] if cuts else start + size
        yield start, cut
        start = cut
    yield start, end


def _width(text: str) -> float:
    """Length in words; Han characters count as 1.7 to a word."""
    return len(text.split()) if han_share(text) < _MOSTLY_LATIN else len(text) / _HAN_CHARS_PER_WORD


def _opens_line(text: str, start: int) -> bool:
    before = text[max(0, start - 64) : start].rstrip(" \t")
    return not before or before[-1] in "\r\n"
