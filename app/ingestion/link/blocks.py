"""Under which strings a name can meet another one that may mean the same. Pure.

Two names that `evidence` finds something between share a block, so that nobody compares everything with
everything. A block is no evidence by itself.
"""

from __future__ import annotations

import re
from functools import lru_cache

from app.ingestion.link.shapes import NUMERONYM, numberless, shape, singular, without_han_title
from app.ingestion.link.words import GENERATIONS, HAN_BODIES, HAN_HEADS, HEADS

_VOWELS = re.compile(r"[aeiouyhw]")
_TWICE = re.compile(r"(.)\1+")
_HAN_BODY = re.compile(HAN_BODIES)
_HAN_HEAD = re.compile(HAN_HEADS)
_SMALL = frozenset(("of", "the", "and"))


@lru_cache(maxsize=65_536)
def blocks(name: str, kind: str) -> frozenset[str]:
    one = shape(name)
    if not one.words:
        return frozenset()
    found = {"=" + _form(one.core, one.numbers, numberless(one) if one.numbers else one.core)}
    if one.has_han:
        found.add("=" + one.plain)
        found.add("=" + without_han_title(one.plain)[0])
        found.add("=" + _HAN_HEAD.sub("", one.plain))
    elif kind == "person" or (kind == "other" and len(one.core) > 1):
        found.update(_person(one.core))
    if one.is_acronym:
        found.add("a:" + one.letters)
    found.update("a:" + letters for letters in one.initials if 3 <= len(letters) <= 7)
    if not one.has_han and len(one.key) >= 3 and (len(one.core) == 1 or NUMERONYM.match(one.key)):
        found.add(_numeronym(one.key))
    if one.has_han and not one.has_latin and kind != "person":
        found |= _shortened(one.plain)
    if not one.has_han and len(one.bare) >= 8:
        found.add("~" + _skeleton(one.bare))
    return frozenset(found - {"="})


def _form(core: tuple[str, ...], numbers: tuple[str, ...], words: tuple[str, ...]) -> str:
    """The words that carry the name, singular, sorted, without initials and without what names are said without."""
    kept = [word for word in words if word not in _SMALL and not (len(core) > 2 and len(word) == 1)]
    bare = [word for word in kept if word not in HEADS and word not in GENERATIONS] or kept
    return " ".join((*sorted(singular(word) for word in bare), *numbers))


def _person(core: tuple[str, ...]) -> set[str]:
    names = [word for word in core if word not in GENERATIONS]
    if not names:
        return set()
    if len(names) == 1:
        return {"s:" + names[0]}
    return {"s:" + names[-1], "s:" + names[0], f"i:{names[-1]} {names[0][0]}"}


def _numeronym(key: str) -> str:
    """k8s for kubernetes, and for k8s itself."""
    if NUMERONYM.match(key):
        return "n:" + key
    return f"n:{key[0]}{len(key) - 2}{key[-1]}"


def _shortened(plain: str) -> set[str]:
    """北大 and 中科院 keep the first character, and one of the last two."""
    found = {f"h:{plain[0]}{plain[-1]}"} if 2 <= len(plain) <= 4 else set()
    if len(plain) >= 4 and _HAN_BODY.search(plain):
        found |= {f"h:{plain[0]}{plain[-1]}", f"h:{plain[0]}{plain[-2]}"}
    return found


def _skeleton(word: str) -> str:
    """What most misspellings leave alone: the consonants, doubled ones once."""
    return word[0] + _TWICE.sub(r"\1", _VOWELS.sub("", word[1:]))
