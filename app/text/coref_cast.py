"""Who appears in a text: the persons behind its names, and each place where one is mentioned.

A part of a name is the same person as the whole, unless their sexes differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.text.coref_names import gender_of, name_words, person_names
from app.text.coref_shapes import Gender, NameSpan

_OF_SOMEBODY = re.compile(r"['’]s\b|\b(?:and|with|vs)\b|[&–—:]")
_YEARS = re.compile(r" \((?:born|b\.|[^)\n]{0,60}\d{4})")


@dataclass(slots=True)
class Mention:
    """A name or a resolved pronoun. Sentence -1: the title only."""

    sentence: int
    token: int
    start: int
    role: str
    is_pronoun: bool = False
    is_sure: bool = True
    is_first: bool = False
    """First person of its sentence."""
    opens: bool = False
    quoted: bool = False
    bracketed: bool = False
    conjoined: bool = False
    relative: bool = False
    main: bool = True
    says: bool = False


@dataclass(slots=True)
class Person:
    name: str
    words: tuple[str, ...]
    gender: Gender | None
    sure: bool
    """Whether the caller says that it is a person."""
    years: bool = False
    """Introduced with years of life behind the name."""
    mentions: list[Mention] = field(default_factory=list)


class Cast:
    """`persons` by index; `entity_of[i]` is the person of `names[i]`; `topic` whom the title names, or -1."""

    def __init__(self, text: str, names: Sequence[NameSpan], title: str) -> None:
        self.text = text
        self.names = names
        self.persons: list[Person] = []
        self.topic = -1
        self._by_name: dict[str, int] = {}
        self._by_word: dict[str, list[int]] = {}
        if title and self._is_person(title):
            words = name_words(title)
            self.topic = 0
            self.persons.append(Person(title, words, gender_of(title, 0, len(title)), True))
            self._remember(0, title, words)
        self.entity_of = [self._entity(n) for n in names]

    def _is_person(self, title: str) -> bool:
        words = name_words(title)
        if _OF_SOMEBODY.search(title):
            # "Jon's Studio", "Tim and John": not who is called so.
            return False
        if len(words) > 1 and any(n.start == 0 and n.end == len(title) for n in person_names(title)):
            return True
        return any(n.type == "person" and _is_part(name_words(n.name), words) for n in self.names)

    def _entity(self, span: NameSpan) -> int:
        words = name_words(span.name) or (span.name.lower(),)
        gender = span.gender or gender_of(self.text, span.start, span.end)
        at = self._by_name.get(span.name, -1)
        if at < 0:
            at = self._namesake(words, gender)
        if at < 0:
            at = len(self.persons)
            self.persons.append(Person(span.name, words, gender, span.type == "person"))
        person = self.persons[at]
        person.gender = person.gender or gender
        person.sure = person.sure or span.type == "person"
        person.years = person.years or _YEARS.match(self.text, span.end) is not None
        if len(words) > len(person.words):
            person.name, person.words = span.name, words
        self._remember(at, span.name, words)
        return at

    def _namesake(self, words: tuple[str, ...], gender: Gender | None) -> int:
        """The person of a longer or shorter name: whom the title names, else the one who came last."""
        known = self._by_word.get(words[-1], [])
        if words[0] != words[-1]:
            known = sorted({*known, *self._by_word.get(words[0], [])})
        for i in ([0] if self.topic == 0 and 0 in known else []) + known[: -_NAMESAKES - 1 : -1]:
            person = self.persons[i]
            clash = gender is not None and person.gender is not None and gender != person.gender
            # A surname first and a full name later are often two of one family.
            fuller = len(person.words) == 1 and person.words[0] != words[0]
            if not clash and (_is_part(words, person.words) or (_is_part(person.words, words) and not fuller)):
                return i
        return -1

    def _remember(self, at: int, name: str, words: tuple[str, ...]) -> None:
        self._by_name[name] = at
        for word in {words[0], words[-1]}:
            known = self._by_word.setdefault(word, [])
            if at not in known[-_NAMESAKES:]:
                known.append(at)


_NAMESAKES = 8


def _is_part(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Whether the words of one name may be said for those of the other: first or last, or both with some left out."""
    if not short or len(short) > len(long):
        return False
    if len(short) == 1:
        return short[0] in (long[0], long[-1])
    return short == long or (len(short) < len(long) and short[0] == long[0] and short[-1] == long[-1])
