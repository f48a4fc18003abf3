"""What speaks for it in the names themselves that two of them are one entity. Pure.

`sure` is enough to merge; `hint` is enough to ask. Vectors have no say here: in a small model's space
"Llama 2" and "Llama 3" are closer than "Post-it" and "Post It".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from app.graph.kinds import OTHER
from app.ingestion.link.shapes import Shape, numberless, numeronym_of, singular, without_han_title
from app.ingestion.link.words import FEMALE, GENERATIONS, HAN_BODIES, HAN_HEADS, HEADS, MALE

_PROPER: Final = frozenset({"person", "place", "organization", "work"})
_INFLECTED: Final = frozenset({"concept", OTHER})
_HAN_BODY = re.compile(HAN_BODIES)
_HAN_HEAD = re.compile(HAN_HEADS)


@dataclass(frozen=True, slots=True)
class Evidence:
    reason: str
    strength: Literal["sure", "hint"]


def between(a: Shape, a_type: str, b: Shape, b_type: str) -> Evidence | None:
    """The strongest that there is. The keys differ, and no guard speaks against it."""
    types = {a_type, b_type}
    persons = types <= {"person", OTHER}
    if bool(a.qualifier) != bool(b.qualifier):
        return Evidence("qualifier", "hint") if a.plain == b.plain else None
    if a.plain == b.plain:
        return Evidence("traditional", "sure")
    if persons and (found := _persons(a, b, "person" in types, types == {"person"})) is not None:
        return found
    if "person" not in types and (found := _things(a, a_type, b, b_type)) is not None:
        return found
    if _misspelt(a, b, types, persons):
        return Evidence("spelling", "sure")
    for short, long in ((a, b), (b, a)):
        # Two letters stand for too many things.
        if short.is_acronym and len(short.letters) > 2 and short.letters in long.initials:
            return Evidence("acronym", "hint") if a_type == b_type or OTHER in types else None
        if numeronym_of(short.key, long.key):
            return Evidence("numeronym", "sure")
        if "person" not in types and _shortened_han(short, long):
            return Evidence("acronym", "hint")
    return None


# ------------------------------------------------------------------------------------- persons


def _persons(a: Shape, b: Shape, is_known: bool, is_sure: bool) -> Evidence | None:
    """`is_known`: at least one of them is said to be a person; `is_sure`: both are."""
    if a.has_han and b.has_han:
        return _han_persons(a, b) if is_known else None
    if a.has_han or b.has_han:
        return None
    left, right = _without(a.core, GENERATIONS), _without(b.core, GENERATIONS)
    if left == right:
        if set(a.words) & GENERATIONS != set(b.words) & GENERATIONS:
            return Evidence("generation", "hint")
        if a.titles == b.titles:
            return Evidence("form", "hint" if len(left) == 1 and not is_known else "sure")
        gendered = (a.titles | b.titles) & (MALE | FEMALE) and len(left) == 1
        return Evidence("title", "hint" if gendered or not is_known else "sure")
    if not is_known or set(a.words) & GENERATIONS != set(b.words) & GENERATIONS:
        return None
    if len(left) > 2 and sorted(left) == sorted(right):
        return Evidence("order", "sure")
    if min(len(left), len(right)) > 1 and left[-1] == right[-1]:
        return _given_names(left[:-1], right[:-1])
    if len(left) != len(right) and 1 in (len(left), len(right)):
        short, long = sorted((left, right), key=len)
        if not is_sure:
            return None
        return Evidence("part", "hint") if short[0] in (long[0], long[-1]) and len(short[0]) > 1 else None
    return None


def _given_names(left: tuple[str, ...], right: tuple[str, ...]) -> Evidence | None:
    """Names before the same surname: Donald J. and Donald, J.R.R. and John Ronald Reuel."""
    if len(left) == len(right) and all(
        one == other or (1 in (len(one), len(other)) and one[0] == other[0])
        for one, other in zip(left, right, strict=True)
    ):
        is_spelt = left[0] == right[0] or len(left) > 1
        return Evidence("initials", "sure" if is_spelt else "hint")
    if left[0] != right[0]:
        return None
    mine, theirs = _letters(left[1:]), _letters(right[1:])
    if tuple(w for w in left[1:] if len(w) > 1) == tuple(w for w in right[1:] if len(w) > 1) and not (mine and theirs):
        return Evidence("middle", "sure")
    return Evidence("middle", "hint") if len(left) == 1 or len(right) == 1 else None


def _letters(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if len(word) == 1)


def _han_persons(a: Shape, b: Shape) -> Evidence | None:
    (left, left_title), (right, right_title) = without_han_title(a.plain), without_han_title(b.plain)
    if left == right and not (left_title and right_title):
        return Evidence("title", "sure")
    return None


def _without(words: tuple[str, ...], some: frozenset[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in some) or words


# ---------------------------------------------------------------------------------------- things


def _things(a: Shape, a_type: str, b: Shape, b_type: str) -> Evidence | None:
    types = {a_type, b_type}
    if a.bare == b.bare:
        if types == {"organization"} or not (a.is_company or b.is_company):
            return Evidence("form", "sure")
        return Evidence("form", "hint") if types <= {"organization", OTHER} else None
    left, right = _significant(a.core), _significant(b.core)
    if left == right:
        return Evidence("form", "sure")
    if _inflected(left, right, a, b, types):
        return Evidence("plural", "sure")
    if ("of" in a.core) != ("of" in b.core) and len(left) > 1 and sorted(left) == sorted(right):
        return Evidence("order", "sure")
    if a.numbers and a.numbers == b.numbers and (bare := numberless(a)) and bare == numberless(b):
        return Evidence("number", "sure")
    short, long = sorted((a, b), key=lambda one: len(one.plain))
    if types <= {"organization", "place", OTHER}:
        if long.core[: len(short.core)] == short.core and set(long.core[len(short.core) :]) <= HEADS:
            return Evidence("head", "hint")
        if len(short.plain) > 1 and _HAN_HEAD.sub("", long.plain) == short.plain:
            # 吉林 is a province, 吉林市 a city in it.
            is_same = types == {"place"} and long.plain[-1] in "市省" and short.plain != "吉林"
            return Evidence("head", "sure" if is_same else "hint")
    return None


def _significant(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in ("of", "the", "and")) or words


def _inflected(left: tuple[str, ...], right: tuple[str, ...], a: Shape, b: Shape, types: set[str]) -> bool:
    """Singular and plural. A lone word as somebody's or something's proper name has none: Window, Windows."""
    if len(left) != len(right) or left[:-1] != right[:-1]:
        return False
    if len(left) == 1 and not types <= _INFLECTED:
        return False
    return singular(left[-1]) == singular(right[-1]) or _latin_plural(left[-1], right[-1])


def _latin_plural(one: str, other: str) -> bool:
    """indexes, indices; analysis, analyses."""
    short, long = sorted((one, other), key=len)
    return (short, long) in _IRREGULAR or (short.endswith("is") and long == short[:-2] + "es")


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((one, other) for one, _, other in (pair.partition("/") for pair in text.split()))


_IRREGULAR: Final = _pairs("""
    index/indices vertex/vertices matrix/matrices person/people child/children datum/data medium/media woman/women
    criterion/criteria phenomenon/phenomena appendix/appendices man/men foot/feet tooth/teeth mouse/mice
""")


# ------------------------------------------------------------------------------------- misspelling


def _misspelt(a: Shape, b: Shape, types: set[str], persons: bool) -> bool:
    """One letter or two apart, in long names only; ordinary words that are as close as that are different words."""
    if a.has_han or b.has_han or len(a.core) != len(b.core) or min(len(a.bare), len(b.bare)) < 8:
        return False
    changed = [pair for pair in zip(a.core, b.core, strict=True) if pair[0] != pair[1]]
    if len(changed) != 1 or len(a.core) - len(changed) < (1 if persons and "person" in types else 0):
        return False
    one, other = changed[0]
    if not types & _PROPER and not (_capital(one, a) and _capital(other, b) and any(w.islower() for w in a.written)):
        return False
    return _near(one, other, len(a.bare))


def _capital(word: str, shape_: Shape) -> bool:
    return any(written[:1].isupper() and written.lower() == word for written in shape_.written)


def _near(one: str, other: str, whole: int) -> bool:
    short, long = sorted((one, other), key=len)
    if one[0] != other[0] or one[-1] != other[-1] or long.startswith(short) or singular(one) == singular(other):
        return False
    allowed = 2 if len(short) >= 10 or (len(short) >= 6 and whole >= 13) else 1
    if len(short) < (5 if whole >= 14 else 6):
        return False
    return distance(one, other, allowed) <= allowed


def distance(one: str, other: str, most: int) -> int:
    """Edits from one to the other (a swap of neighbours is one); `most` + 1 where there are more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, x in enumerate(one, 1):
        before_last, before, row = before, row, [i]
        for j, y in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == other[j - 2] and one[i - 2] == y:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def _shortened_han(short: Shape, long: Shape) -> bool:
    """北大 and 北京大学, 中科院 and 中国科学院: its characters in their order, from the first on."""
    if not (short.has_han and long.has_han) or short.has_latin or long.has_latin:
        return False
    if not 2 <= len(short.plain) <= 4 or len(long.plain) < 2 * len(short.plain) or short.plain[0] != long.plain[0]:
        return False
    if short.plain in long.plain or not _HAN_BODY.search(long.plain):
        return False
    rest = iter(long.plain)
    return all(ch in rest for ch in short.plain)
