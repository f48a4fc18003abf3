"""Where in a card something stands that a model only named: names, sentences, the chunk that fits best. Pure.

Exact search first, then without spaces, punctuation, markup, case and width.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from app.ingestion.extract.types import EntityDraft, Span
from app.text.normalise import HAN, fold, name_key

_TELLING: Final = frozenset("+#&%@")
_FIRST_UNSPACED: Final = 0x0E00
"""Scripts from here on are written without spaces, or with endings that do not make another name."""
_MIN_SENTENCE: Final = 6
"""Letters and digits of a sentence that is looked for without its punctuation; less is found anywhere."""
_WORD = re.compile(f"[{HAN}]|[^\\W_{HAN}]+")


class Places:
    """Search in one card's content."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._words: dict[Span, frozenset[str]] = {}

    def find_name(self, name: str, within: Span) -> Span | None:
        """The first place within a span where the text has this name as a name of its own."""
        return next(self._exact(name, within), None) or next(self._folded(name, within), None)

    def find_sentence(self, sentence: str, within: Span) -> Span | None:
        start = self._content.find(sentence, within.start, within.end)
        if start >= 0:
            return Span(start, start + len(sentence))
        bare = _bare(sentence)
        if len(bare) < _MIN_SENTENCE:
            return None
        text, offsets = self._skeleton
        at = text.find(bare, *self._in_skeleton(within))
        return Span(offsets[at], offsets[at + len(bare) - 1] + 1) if at >= 0 else None

    def best_chunk(self, text: str, chunks: Sequence[Span]) -> Span:
        """The chunk that shares most words with `text`; the first of equals. `chunks` is not empty."""
        words = _words(text)
        return max(chunks, key=lambda chunk: (len(words & self._words_of(chunk)), -chunk.start))

    def mentions(self, entities: Sequence[EntityDraft]) -> Mapping[str, tuple[Span, ...]]:
        """Entity name → all places that name it, in order. A place belongs to the longest name there, and of one
        spelling that several have, to the entity whose name it is rather than an alias.
        """
        whole = Span(0, len(self._content))
        owners = {alias: entity.name for entity in reversed(entities) for alias in entity.aliases}
        owners |= {entity.name: entity.name for entity in entities}
        hits: list[tuple[int, int, str]] = []
        for spelling, name in owners.items():
            spans = list(self._exact(spelling, whole)) or list(self._folded(spelling, whole))
            hits += [(span.start, -span.end, name) for span in spans]
        found: dict[str, list[Span]] = {entity.name: [] for entity in entities}
        free_from = 0
        for start, minus_end, name in sorted(hits):
            if start >= free_from:
                found[name].append(Span(start, -minus_end))
                free_from = -minus_end
        return {name: tuple(spans) for name, spans in found.items()}

    # ------------------------------------------------------------------------------- details

    def _exact(self, name: str, within: Span) -> Iterator[Span]:
        yield from occurrences(self._content, name, within.start, within.end)

    def _folded(self, name: str, within: Span) -> Iterator[Span]:
        bare, key = _bare(name), name_key(name)
        if not bare:
            return
        text, offsets = self._skeleton
        at, stop = self._in_skeleton(within)
        while (at := text.find(bare, at, stop)) >= 0:
            start, end = offsets[at], offsets[at + len(bare) - 1] + 1
            if stands_alone(self._content, start, end) and name_key(self._content[start:end]) == key:
                yield Span(start, end)
                at += len(bare)
            else:
                at += 1

    @functools.cached_property
    def _skeleton(self) -> tuple[str, list[int]]:
        """Folded letters and digits only, and the offset that each comes from, ascending."""
        letters: list[str] = []
        offsets: list[int] = []
        for offset, ch in enumerate(self._content):
            kept = _kept(ch)
            if kept:
                letters.append(kept)
                offsets.extend([offset] * len(kept))
        return "".join(letters), offsets

    def _in_skeleton(self, within: Span) -> tuple[int, int]:
        _, offsets = self._skeleton
        return bisect_left(offsets, within.start), bisect_left(offsets, within.end)

    def _words_of(self, chunk: Span) -> frozenset[str]:
        if chunk not in self._words:
            self._words[chunk] = _words(self._content[chunk.start : chunk.end])
        return self._words[chunk]


def occurrences(text: str, name: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Where `name` stands as a name of its own in text[start:end], in order; names are not blank."""
    end = len(text) if end is None else end
    while (start := text.find(name, start, end)) >= 0:
        if stands_alone(text, start, start + len(name)):
            yield Span(start, start + len(name))
        start += len(name)


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether text[start:end] is not a piece of a longer word, number or version: not the Java of JavaScript, the
    GPT-4 of GPT-4.5, the C of C++.
    """
    first, last = text[start], text[end - 1]
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before and _joins(before[-1], first):
        return False
    if after and _joins(last, after[0]):
        return False
    if end - start <= 2 and after[:1] in ("+", "#"):
        return False
    if last.isdigit() and len(after) == 2 and after[0] == "." and after[1].isdigit():
        return False
    return not (first.isdigit() and len(before) == 2 and before[1] == "." and before[0].isdigit())


def _joins(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum() and ord(left) < _FIRST_UNSPACED and ord(right) < _FIRST_UNSPACED


@functools.lru_cache(maxsize=1 << 14)
def _kept(ch: str) -> str:
    """What one character is in a skeleton."""
    return "".join(one for one in fold(ch) if one.isalnum() or one in _TELLING)


def _bare(text: str) -> str:
    return "".join(map(_kept, text))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(fold(text)))
