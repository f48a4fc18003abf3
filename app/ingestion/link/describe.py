"""Descriptions of entities, kept short (C14). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from app.text.normalise import clean, is_han, name_key
from app.text.sentences import sentences

LONGEST: Final = 600

_TELLING = re.compile(r"\d+|[A-Z][\w-]+|《[^》]+》|[“「][^”」]+[”」]")


def best(descriptions: Iterable[str]) -> str:
    """Of several descriptions the one that says most, bounded; the first of equals."""
    bounded_ones = [bounded(description) for description in descriptions]
    return max(bounded_ones, key=len, default="")


def together(tellings: Iterable[str]) -> str:
    """All that several descriptions say, in one line, each sentence once."""
    said: dict[str, str] = {}
    for telling in tellings:
        text = " ".join(clean(telling).split())
        for start, end in sentences(text):
            sentence = text[start:end].strip()
            if key := name_key(sentence):
                said.setdefault(key, _ended(sentence))
    return " ".join(said.values())


def _ended(sentence: str) -> str:
    if not sentence[-1].isalnum():
        return sentence
    return sentence + ("。" if is_han(sentence[-1]) else ".")


def bounded(description: str, longest: int = LONGEST) -> str:
    """At most `longest` characters in one line: the first sentence, and of the others those that say most."""
    text = " ".join(clean(description).split())
    if len(text) <= longest:
        return text
    parts = [text[start:end].strip() for start, end in sentences(text)]
    ranked = sorted(range(len(parts)), key=lambda i: (i != 0, -_density(parts[i]), i))
    kept: list[int] = []
    room = longest
    for i in ranked:
        if len(parts[i]) + 1 <= room and parts[i] not in (parts[j] for j in kept):
            kept.append(i)
            room -= len(parts[i]) + 1
    return " ".join(parts[i] for i in sorted(kept)) or text[: longest - 1] + "…"


def _density(sentence: str) -> float:
    """Names, numbers and titles per character."""
    return len(_TELLING.findall(sentence)) / (len(sentence) + 20)
