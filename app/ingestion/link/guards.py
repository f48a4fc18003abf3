"""What keeps two names apart, whatever their vectors say: kinds, numbers, signs, qualifiers, opposites. Pure.

Every function gives the guard's name, or None where it has nothing against it.
"""

from __future__ import annotations

from collections import Counter

from app.graph.kinds import compatible
from app.ingestion.link.shapes import Shape
from app.ingestion.link.words import (
    FEMALE,
    GENERATIONS,
    HAN_NEGATIONS,
    HAN_OPPOSITES,
    MALE,
    NEGATIONS,
    OPPOSITE_BEGINNINGS,
    OPPOSITES,
)

_PROPER = frozenset({"organization", "product", "work"})


def kinds(a_kind: str, b_kind: str) -> str | None:
    return None if compatible(a_kind, b_kind) else "type"


def common_noun(a: Shape, a_type: str, b: Shape, b_type: str) -> str | None:
    """Apple the company, apple the fruit: one is a proper name, the other an ordinary word, and written like one."""
    for proper, proper_type, noun, noun_type in ((a, a_type, b, b_type), (b, b_type, a, a_type)):
        if (
            proper_type in _PROPER
            and noun_type == "concept"
            and noun.has_latin
            and noun.name.islower()
            and proper.name[:1].isupper()
        ):
            return "type"
    return None


def names(a: Shape, b: Shape, is_person: bool) -> str | None:
    """What stands against it in the names themselves."""
    return (
        _numbers(a, b)
        or _signs(a, b)
        or _letters(a, b, is_person)
        or _qualifiers(a, b)
        or _titles(a, b)
        or _generations(a, b)
        or _opposites(a, b)
    )


def alias(name: Shape, other: Shape) -> str | None:
    """Against a name that a text gives as another one of this entity."""
    if name.numbers and other.numbers and name.numbers != other.numbers:
        return "digits"
    if name.numbers != other.numbers and _wordy(name) == _wordy(other):
        return "digits"
    if name.key != other.key and name.signs != other.signs and _letters_of(name) == _letters_of(other):
        return "signs"
    return None


def prefix(a: Shape, b: Shape) -> str | None:
    """Java and JavaScript, 咖啡 and 咖啡馆: one name goes on where the other ends."""
    short, long = sorted((a.plain, b.plain), key=len)
    return "prefix" if short != long and (long.startswith(short) or long.endswith(short)) else None


def shared_part(a: Shape, b: Shape) -> str | None:
    """Leiden algorithm and Louvain algorithm: they share a part, and each has one of its own."""
    if a.has_han and b.has_han:
        return "own_part" if any(gram in b.plain for gram in _grams(a.plain)) else None
    left, right = set(a.core), set(b.core)
    if left & right and left - right and right - left:
        return "own_part"
    # MySQL and PostgreSQL; in front of that stands what `prefix` has let pass.
    return "own_part" if len(left) == len(right) == 1 and _common(*left, *right) >= 3 else None


def _numbers(a: Shape, b: Shape) -> str | None:
    if a.numbers == b.numbers:
        return None
    if a.has_han != b.has_han and not (a.numbers and b.numbers):
        # 三星 and Samsung: a Han numeral need not be a number.
        return None
    return "digits"


def _signs(a: Shape, b: Shape) -> str | None:
    return "signs" if a.signs != b.signs else None


def _letters(a: Shape, b: Shape, is_person: bool) -> str | None:
    """Plan A, Plan B; vitamin C, vitamin D."""
    if is_person:
        return None
    left, right = _single(a), _single(b)
    return "letter" if left != right and ((left and right) or len(a.words) == len(b.words) == 1) else None


def _single(shape: Shape) -> Counter[str]:
    return Counter(word for word in shape.core if len(word) == 1 and word.isascii() and word.isalpha())


def _qualifiers(a: Shape, b: Shape) -> str | None:
    return "qualifier" if a.qualifier and b.qualifier and a.qualifier != b.qualifier else None


def _titles(a: Shape, b: Shape) -> str | None:
    """Mr. and Mrs. Bennet; Dr. and President, where there is no more than a surname."""
    if not a.titles or not b.titles or a.titles == b.titles:
        return None
    sexes = {"m" if shape.titles & MALE else "f" if shape.titles & FEMALE else "" for shape in (a, b)}
    return "title" if sexes == {"m", "f"} or len(a.core) == 1 or len(b.core) == 1 else None


def _generations(a: Shape, b: Shape) -> str | None:
    left, right = set(a.words) & GENERATIONS, set(b.words) & GENERATIONS
    return "generation" if left and right and left != right else None


def _opposites(a: Shape, b: Shape) -> str | None:
    if a.has_han and b.has_han:
        return _han_opposites(a.plain, b.plain)
    left, right = set(a.core) - set(b.core), set(b.core) - set(a.core)
    for group in OPPOSITES:
        if left & group and right & group:
            return "opposite"
    for one in left:
        for other in right:
            if _opposite_words(one, other):
                return "opposite"
    return None


def _opposite_words(one: str, other: str) -> bool:
    """hypertension and hypotension, supervised and unsupervised."""
    short, long = sorted((one, other), key=len)
    if len(short) > 3 and any(long == negation + short for negation in NEGATIONS):
        return True
    for beginnings in OPPOSITE_BEGINNINGS:
        for left in beginnings:
            if one.startswith(left) and len(rest := one.removeprefix(left)) > 3:
                for right in beginnings:
                    if left != right and other == right + rest:
                        return True
    return False


def _han_opposites(a: str, b: str) -> str | None:
    left, right = Counter(a), Counter(b)
    mine, theirs = set(left - right), set(right - left)
    if any(mine & set(group) and theirs & set(group) for group in HAN_OPPOSITES):
        return "opposite"
    short, long = sorted((a, b), key=len)
    if len(short) > 1 and len(long) == len(short) + 1 and long[1:] == short and long[0] in HAN_NEGATIONS:
        return "opposite"
    return None


def _wordy(shape: Shape) -> tuple[str, ...]:
    return tuple(word for word in shape.words if not any(ch.isdigit() for ch in word))


def _letters_of(shape: Shape) -> str:
    return "".join(ch for ch in shape.key if ch.isalnum())


def _common(one: str, other: str) -> int:
    """Letters that two words begin or end with."""
    return max(_beginning(one, other), _beginning(one[::-1], other[::-1]))


def _beginning(one: str, other: str) -> int:
    return next((at for at, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))


def _grams(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(len(text) - 1)]
