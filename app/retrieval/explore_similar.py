"""Names in a question that nothing answers to: which known names they may be meant for. Pure.

First those of which the words are a part ("Greenfield-Central High" School), then those that are spelt nearly so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from app.text.gazetteer import Run
from app.text.names import Spot
from app.text.normalise import fold, name_key

T = TypeVar("T")

MOST_NAMES: Final = 4
"""Names of a question that are looked for in this way."""
_COVERED = 0.6
# More than so many are no guess any more.
_MOST_MEANT = 3
_SHORTEST = 5


def unanswered(question: str, spots: Iterable[Spot], answered: Sequence[Run]) -> list[str]:
    """Names as the question writes them of which no known name covers most."""
    found = []
    for spot in spots:
        covered = max((min(spot.end, run.end) - max(spot.start, run.start) for run in answered), default=0)
        name = question[spot.start : spot.end]
        if covered < _COVERED * len(name) and len(name_key(name)) >= _SHORTEST - 1:
            found.append(name)
    return found[:MOST_NAMES]


def parts_of(name: str, known: Sequence[tuple[str, T]]) -> list[T]:
    """Those of the `known` (name, what it is) in which all words of this name stand, in their order; few, or none."""
    words = _words(name)
    meant = [(len(_words(other)), one) for other, one in known if _within(words, _words(other))]
    if not meant or not words:
        return []
    meant.sort(key=lambda pair: pair[0])
    return [one for _, one in meant] if len(meant) <= _MOST_MEANT else []


def spelt_like(key: str, known: Iterable[tuple[str, T]]) -> list[T]:
    """Those of the `known` (key, what it is) whose key is the nearest: one letter in five may differ, no digit."""
    if len(key) < _SHORTEST:
        return []
    most = len(key) // 5
    digits = [ch for ch in key if ch.isdigit()]
    found = []
    for other, one in known:
        if abs(len(other) - len(key)) <= most and [ch for ch in other if ch.isdigit()] == digits:
            far = distance(key, other, most)
            if far <= most:
                found.append((far, other, one))
    best = min((far for far, _, _ in found), default=0)
    return [one for far, _, one in sorted(found, key=lambda row: (row[0], row[1])) if far == best][:_MOST_MEANT]


def distance(left: str, right: str, most: int) -> int:
    """Letters to put in, take out, exchange or swap with the next one; `most` + 1 when there are more."""
    # Neighbours in the order of names begin alike.
    start = _alike(left, right)
    end = _alike(left[:start:-1], right[:start:-1])
    left, right = left[start : len(left) - end], right[start : len(right) - end]
    before: list[int] = []
    last = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i] + [most + 1] * len(right)
        # Further from the diagonal than `most` nothing is within it.
        for j in range(max(i - most, 1), min(i + most, len(right)) + 1):
            b = right[j - 1]
            row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                row[j] = min(row[j], before[j - 2] + 1)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1] if last[-1] <= most else most + 1


def _alike(left: str, right: str) -> int:
    """How many letters are the same until one differs."""
    return next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _words(name: str) -> list[str]:
    return "".join(ch if ch.isalnum() else " " for ch in fold(name)).split()


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether the words stand one after the other in the other name, which has more of them."""
    size = len(part)
    return size < len(whole) and any(list(whole[at : at + size]) == list(part) for at in range(len(whole) - size + 1))
