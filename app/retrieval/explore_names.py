"""Which entities a question names: the longest names first, and those inside of them that stand alone elsewhere.

Pure.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence

from app.retrieval.explore import Entity
from app.text.gazetteer import Run
from app.text.names_words import is_ordinary
from app.text.normalise import is_han
from app.text.stopwords import ENGLISH

# A lone word inside a longer name counts where so many cards use it by itself.
_ALONE_CARDS = 3


def named(question: str, runs: Sequence[Run], known: Mapping[str, Sequence[Entity]]) -> list[Entity]:
    """The entities behind the runs (as `candidate_runs` orders them) whose keys are `known`, in order, each once."""
    found: dict[uuid.UUID, Entity] = {}
    end = 0
    for run in runs:
        entities = known.get(run.key, ())
        if not entities or not _is_name(question, run):
            continue
        if run.start >= end:
            end = run.end
        elif run.end > end or not _stands_alone(run, entities):
            # It begins inside of a longer name and goes beyond, or is a mere part of it.
            continue
        for entity in entities:
            found.setdefault(entity.id, entity)
    return list(found.values())


def _is_name(question: str, run: Run) -> bool:
    text = question[run.start : run.end]
    if is_han(text[0]) or any(ch.isupper() or ch.isdigit() for ch in text):
        # "Director of what?": a common word at the beginning has its capital from there.
        return run.words > 1 or run.start > 0 or is_han(text[0]) or not is_ordinary(text.lower())
    words = text.split()
    return words[0].lower() not in ENGLISH and words[-1].lower() not in ENGLISH


def _stands_alone(run: Run, entities: Iterable[Entity]) -> bool:
    return run.words > 1 or any(entity.titled or entity.cards >= _ALONE_CARDS for entity in entities)
