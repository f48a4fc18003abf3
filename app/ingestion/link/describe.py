"""Descriptions of entities, kept short (C14). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from app.text.normalise import clean
from app.text.sentences import sentences

LONGEST: Final = 600

_TELLING = re.compile(r"\d+|[A-Z][\w-]+|《[^》]+》|[“「][^”」]+[”」]")


def best(descriptions: Iterable[str]) -> str:
    """Of several descriptions the one that says most, bounded; the first of equals."""
    bounded_ones = [bounded(description) for description in descriptions]
    return max(bounded_ones, key=len, default="")


def bounded(description: str) -> str:
    """At most `LONGEST` characters in one line: the first sentence, and of the others those that say most."""
    text = " ".join(clean(description).split())
    if len(text) <= LONGEST:
        return text
    parts = [text[start:end].strip() for start, end in sentences(text)]
    ranked = sorted(range(len(parts)), key=lambda i: (i != 0, -_density(parts[i]), i))
    kept: list[int] = []
    room = LONGEST
    for i in ranked:
        if len(parts[i]) + 1 <= room and parts[i] not in (parts[j] for j in kept):
            kept.append(i)
            room -= len(parts[i]) + 1
    return " ".join(parts[i] for i in sorted(kept)) or text[: LONGEST - 1] + "…"


def _density(sentence: str) -> float:
    """Names, numbers and titles per character."""
    return len(_TELLING.findall(sentence)) / (len(sentence) + 20)
