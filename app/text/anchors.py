"""The hard facts of a text: dates, money, percentages, numbers, names, identifiers, each with its place.

What a summary must not lose. Chinese and English. Joins what `anchor_values` and `anchor_words` find, so that no two
claim the same characters; knows no meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.text.anchor_values import find_values
from app.text.anchor_words import find_addresses, find_quoted, find_words
from app.text.normalise import fold, name_key

AnchorKind = Literal["date", "money", "percent", "quantity", "number", "name", "identifier"]

_LIST_NUMBER = re.compile(r"^[ \t>]*(\d{1,3})[.)、](?=\s|\D)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Anchor:
    """`text` is text[start:end]. Two ways to write one thing share a `key`: 3,000 and 3000, 5月8日 and May 8."""

    kind: AnchorKind
    text: str
    start: int
    end: int
    key: str


def anchors(text: str) -> list[Anchor]:
    """In order of their starts. Only quoted names and links may hold others."""
    # Of one length: offsets stay.
    text = text.replace("\u00a0", " ").replace("\u3000", " ")
    taken = _Taken(len(text))
    found = [*_values(text, taken)]
    found += [
        Anchor(kind, text[start:end], start, end, name_key(text[start:end]))
        for kind, start, end in find_words(text, taken.free)
    ]
    identifiers = {anchor.start for anchor in found if anchor.kind == "identifier"}
    quoted = [span for span in find_quoted(text) if span[0] not in identifiers]
    if quoted:
        inside = _Taken(len(text))
        for span in quoted:
            inside.take(*span)
        found = [anchor for anchor in found if anchor.kind != "name" or inside.free(anchor.start, anchor.end)]
        found += [Anchor("name", text[start:end], start, end, name_key(text[start:end])) for start, end in quoted]
    found.sort(key=lambda anchor: (anchor.start, -anchor.end))
    return found


def _values(text: str, taken: _Taken) -> Iterator[Anchor]:
    """Addresses, then what is counted. The numbers of a list are none."""
    for match in _LIST_NUMBER.finditer(text):
        taken.take(*match.span(1))
    for start, end in find_addresses(text):
        if taken.free(start, end):
            taken.take(start, end)
            yield Anchor("identifier", text[start:end], start, end, fold(text[start:end]).rstrip("/") or "/")
    for kind, key, start, end in find_values(text):
        if taken.free(start, end):
            taken.take(start, end)
            yield Anchor(kind, text[start:end], start, end, key)


class _Taken:
    """Which characters belong to an anchor already."""

    def __init__(self, length: int) -> None:
        self._marks = bytearray(length)

    def free(self, start: int, end: int) -> bool:
        return self._marks.find(1, start, end) < 0

    def take(self, start: int, end: int) -> None:
        self._marks[start:end] = b"\x01" * (end - start)
