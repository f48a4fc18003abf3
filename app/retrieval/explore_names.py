"""Which entities a question names: the longest names first, and those inside of them that stand alone elsewhere.

Pure.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.retrieval.explore import Entity
from app.text.gazetteer import Run
from app.text.names_words import is_ordinary
from app.text.normalise import is_chinese, is_han
from app.text.stopwords import ENGLISH

# A lone word inside a longer name counts where so many cards use it by itself.
_ALONE_CARDS = 3
# What more cards speak of is nothing in particular.
_FEW_CARDS = 10


@dataclass(frozen=True, slots=True)
class Known:
    """What answers to a key: entities, and the cards that have it for their title."""

    entities: Sequence[Entity] = ()
    cards: Sequence[uuid.UUID] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """What a question names: entities, and titles of cards (with how many cards have that title)."""

    entities: Sequence[Entity]
    titles: Mapping[uuid.UUID, int]
    runs: Sequence[Run] = ()

    def __bool__(self) -> bool:
        return bool(self.entities or self.titles)


def is_particular(name: Known) -> bool:
    """Whether few cards speak of what has this name: the graph leads from it to what is asked, while that of a hub
    leads everywhere.
    """
    spoken_of = [entity.cards for entity in name.entities] or [len(name.cards)]
    return any(1 <= cards <= _FEW_CARDS for cards in spoken_of)


def has_its_card(name: Known) -> bool:
    """Whether a card is about something particular of this name."""
    if not name.entities:
        return is_particular(name)
    return any(1 <= entity.cards <= _FEW_CARDS and entity.titled > 0 for entity in name.entities)


def is_topic(question: str, run: Run) -> bool:
    """Whether what stands there is no name but common words, as far as can be seen: small ones, where others in the
    question have capitals. In a question in Chinese all Latin words are names.
    """
    said = question[run.start : run.end]
    if is_han(said[0]) or any(ch.isupper() or ch.isdigit() for ch in said) or is_chinese(question):
        return False
    return any(ch.isupper() for ch in question[1:])


def named(question: str, runs: Iterable[Run], known: Mapping[str, Known]) -> Named:
    """What stands behind the runs whose keys are `known`. The longest ones are names; one that overlaps a longer one is
    none, one inside of it may be.
    """
    names = [(run, known[run.key]) for run in runs if run.key in known and _is_name(question, run)]
    names.sort(key=lambda name: (name[0].start - name[0].end, name[0].start))
    kept: list[Run] = []
    found: list[tuple[int, Known]] = []
    for run, one in names:
        around = [other for other in kept if run.start < other.end and other.start < run.end]
        if any(run.start < other.start or run.end > other.end for other in around):
            continue
        if around and not _stands_alone(run, one):
            continue
        kept.append(run)
        found.append((run.start, one))
    entities: dict[uuid.UUID, Entity] = {}
    titles: dict[uuid.UUID, int] = {}
    for _, one in sorted(found, key=lambda pair: pair[0]):
        for entity in one.entities:
            entities.setdefault(entity.id, entity)
        for card in one.cards:
            titles[card] = min(titles.get(card, len(one.cards)), len(one.cards))
    return Named(list(entities.values()), titles, kept)


def _is_name(question: str, run: Run) -> bool:
    text = question[run.start : run.end]
    if is_han(text[0]) or any(ch.isupper() or ch.isdigit() for ch in text):
        # "Director of what?": a common word at the beginning has its capital from there.
        return run.words > 1 or run.start > 0 or is_han(text[0]) or not is_ordinary(text.lower())
    words = text.split()
    return words[0].lower() not in ENGLISH and words[-1].lower() not in ENGLISH


def _stands_alone(run: Run, known: Known) -> bool:
    if run.words > 1 or known.cards:
        return True
    return any(entity.titled or entity.cards >= _ALONE_CARDS for entity in known.entities)
