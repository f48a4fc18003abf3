"""Guesses of persons' names in English text, and of a person's sex from the name and the words around it.

A fallback for callers without an extractor; nothing here reads a dictionary of places or companies worth the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.text.coref_shapes import Gender, NameSpan
from app.text.coref_words import (
    FEMALE_NAMES,
    FEMALE_NOUNS,
    FEMALE_TITLES,
    MALE_NAMES,
    MALE_NOUNS,
    MALE_TITLES,
    MONTHS_AND_DAYS,
    NOT_PERSON_WORDS,
    OPENERS,
    PLACES,
    SURNAMES,
    TITLES,
)

_CAPITAL = r"(?:[A-Z]\.(?:[A-Z]\.)*|(?:[dODL]['’])?[A-ZÀ-ÖØ-Þ][A-Za-zÀ-ɏ*]*(?:-[A-Za-zÀ-ɏ*]+)*)"
_PARTICLE = r"(?:de|la|le|van|von|der|den|di|da|du|del|della|dos|bin|bint|ibn|al|el|ben|ter|zu|y)"
_SPAN = re.compile(rf"(?<![\w'’]){_CAPITAL}(?:\.? +(?:{_PARTICLE} +){{0,2}}{_CAPITAL})*(?P<of> of [A-Z][a-z]+)?")
_WORD = re.compile(r"[^\W_][\w*-]*\.?")
_BEFORE = re.compile(r"([\w-]+)[ ,'’`]*$")
_APPOSITION = re.compile(r",? (?:an?|the|his|her|their|my|whose) ((?:[\w-]+ ){0,4}[\w-]+)")
_STOP = re.compile(r"(\w+)\. +")
_LOOK = 40


def person_names(text: str) -> list[NameSpan]:
    """Spans that look like persons' names, in order; of type "other" where little speaks for a person."""
    found = list(_capitalised(text))
    parts = {
        word
        for start, end in found
        if len(words := name_words(text[start:end])) > 1 and _is_person(text, start, end, words)
        for word in words
    }
    names: list[NameSpan] = []
    for start, end in found:
        words = name_words(text[start:end])
        if not words or all(word in TITLES for word in words) or not _is_person(text, start, end, words):
            continue
        sure = (
            len(words) > 1
            or words[0] in parts
            or words[0] in MALE_NAMES
            or words[0] in FEMALE_NAMES
            or bool(_titles(text[start:end]))
        )
        names.append(NameSpan(start, end, text[start:end], "person" if sure else "other"))
    return names


def name_words(name: str) -> tuple[str, ...]:
    """The words of a name in small letters, without titles."""
    words = [word.rstrip(".").lower() for word in _WORD.findall(name)]
    bare = [word for word in words if word not in TITLES]
    return tuple(bare or words)


def gender_of(text: str, start: int, end: int) -> Gender | None:
    """The sex of the person named at text[start:end], from titles and trades around it, else from the given name."""
    name = text[start:end]
    for title in _titles(name):
        if title in MALE_TITLES:
            return "male"
        if title in FEMALE_TITLES:
            return "female"
    before = _BEFORE.search(text, max(0, start - _LOOK), start)
    if before is not None and text[before.end() - 1 : before.end()] not in "'’":
        noun = before.group(1).lower()
        gap = text[before.end(1) : start]
        if "." not in gap and gap in (" ", ", "):
            if noun in MALE_NOUNS or (noun in MALE_TITLES and gap == " "):
                return "male"
            if noun in FEMALE_NOUNS or (noun in FEMALE_TITLES and gap == " "):
                return "female"
    after = _APPOSITION.match(text, end, end + _LOOK) if text.startswith(",", end) else None
    if after is not None:
        for noun in after.group(1).lower().split():
            if noun in MALE_NOUNS:
                return "male"
            if noun in FEMALE_NOUNS:
                return "female"
    return gender_of_words(name_words(name))


def gender_of_words(words: tuple[str, ...]) -> Gender | None:
    first = words[0].split("-")[0] if words else ""
    if len(words) == 1 and first in SURNAMES:
        return None
    return "male" if first in MALE_NAMES else "female" if first in FEMALE_NAMES else None


def _titles(name: str) -> list[str]:
    return [word for word in (w.rstrip(".").lower() for w in _WORD.findall(name)[:2]) if word in TITLES]


def _capitalised(text: str) -> Iterator[tuple[int, int]]:
    for match in _SPAN.finditer(text):
        start, end = match.span()
        if match["of"] and not _regal(text[start : match.start("of")]):
            end = match.start("of")
        # A full stop in the middle ends a sentence unless it follows an initial or a title.
        for stop in _STOP.finditer(text, start, end):
            word = stop.group(1).lower()
            if len(word) > 1 and word not in TITLES and word not in ("jr", "sr"):
                yield from _trimmed(text, start, stop.end(1))
                start = stop.end()
        yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span without the words that open a sentence: "When Mary"."""
    while start < end:
        word = _WORD.match(text, start, end)
        if word is None or not _opener(text, start, word.group().rstrip(".").lower()):
            yield start, end
            return
        start = word.end()
        while start < end and text[start] in " .":
            start += 1


def _regal(name: str) -> bool:
    """Whether " of Somewhere" belongs to the name: "Mary of York", "Edward I of England"."""
    words = [word for word in name.lower().split() if word not in TITLES and word not in OPENERS]
    return (
        0 < len(words) <= 2
        and (words[0] in MALE_NAMES or words[0] in FEMALE_NAMES)
        and all(re.fullmatch("[ivx]+", word) for word in words[1:])
    )


def _opener(text: str, start: int, word: str) -> bool:
    if word in OPENERS:
        return True
    # "Staying with Ann", "Considered the best": a participle that opens a sentence.
    participle = len(word) > 4 and word.endswith(("ing", "ed")) and word not in MALE_NAMES and word not in FEMALE_NAMES
    return participle and (text[max(0, start - 4) : start].rstrip(" \"'`“")[-1:] in ".!?:;\n")


def _is_person(text: str, start: int, end: int, words: tuple[str, ...]) -> bool:
    known = words[0] in MALE_NAMES or words[0] in FEMALE_NAMES
    if any(word in NOT_PERSON_WORDS or word in MONTHS_AND_DAYS for word in words):
        return known and len(words) == 1 and words[0] not in MONTHS_AND_DAYS and not _follows(text, start, "in", "of")
    name = text[start:end]
    if all(word in PLACES or word in OPENERS for word in words):
        return known and not _follows(text, start, "in", "from", "of", "to", "at", ",")
    if words[0] in PLACES and not known:
        return False
    if len(words) == 1:
        if len(name) < 2 or (name.isupper() and len(name) > 1 and name.isascii() and not _titles(name)):
            return False
        if not known and _follows(text, start, "in", "at", "near", "the", "a", "an", "since", "during"):
            return False
    if (
        text[start - 1 : start] in ('"', "“", "`", "‘")
        and text[end : end + 1] in ('"', "”", "'", "’", ",")
        and not known
    ):
        # The name of a song, of a word that is spoken of.
        return False
    return not (_follows(text, start, "the") and not _titles(name))


def _follows(text: str, start: int, *words: str) -> bool:
    before = text[max(0, start - 12) : start].lower().rstrip()
    last = before.rsplit(" ", 1)[-1]
    return last in words or last.lstrip("(\"'`“") in words
