"""Which text one call reads: consecutive chunks up to a limit, and halves of it where the answer is too long. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.ingestion.extract.types import Source, Span
from app.text.cut import good_cut
from app.text.sentences import sentences

_MIN_HALF_CHARS: Final = 160
"""Below this a text is never too much for a model."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a card as a call reads it. `start` is its offset in the card, `cuts` where it may be cut best, counted
    from its own beginning. Neither matters to what a model says of it.
    """

    title: str
    text: str
    start: int = 0
    cuts: tuple[int, ...] = ()

    @property
    def span(self) -> Span:
        return Span(self.start, self.start + len(self.text))

    @property
    def content_hash(self) -> str:
        """Of everything that the model is shown of the card."""
        shown = json.dumps([self.title, self.text], ensure_ascii=False)
        return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()

    def find_middle(self) -> int | None:
        """Where to cut it in halves: behind a chunk, else a paragraph, a sentence, a clause near the middle. None where
        it is too short for that.
        """
        size = len(self.text)
        if size < 2 * _MIN_HALF_CHARS:
            return None
        for candidates in (self.cuts, _paragraph_ends(self.text), [end for _, end in sentences(self.text)]):
            best = min(candidates, key=lambda at: abs(at - size // 2), default=0)
            if size // 4 <= best <= size - size // 4:
                return best
        return good_cut(self.text, size // 4, size // 2 + size // 8)

    def halves(self, at: int) -> tuple[Passage, Passage]:
        first = tuple(cut for cut in self.cuts if cut < at)
        second = tuple(cut - at for cut in self.cuts if cut > at)
        return (
            Passage(self.title, self.text[:at], self.start, first),
            Passage(self.title, self.text[at:], self.start + at, second),
        )


def passages(source: Source, limit_tokens: int, count: Callable[[str], int]) -> Iterator[Passage]:
    """The card in passages of at most `limit_tokens`, chunks whole where they fit; blank ones are left out."""
    content = source.content
    group: list[Span] = []
    tokens = 0
    for chunk in source.chunks or [Span(0, len(content))]:
        size = count(content[chunk.start : chunk.end])
        if group and tokens + size > limit_tokens:
            yield from _fitting(_passage(source, group), limit_tokens, count)
            group, tokens = [], 0
        group.append(chunk)
        tokens += size
    if group:
        yield from _fitting(_passage(source, group), limit_tokens, count)


def _passage(source: Source, group: Sequence[Span]) -> Passage:
    start, end = group[0].start, max(chunk.end for chunk in group)
    cuts = tuple(chunk.start - start for chunk in group[1:] if start < chunk.start < end)
    return Passage(source.title, source.content[start:end], start, cuts)


def _fitting(passage: Passage, limit_tokens: int, count: Callable[[str], int]) -> Iterator[Passage]:
    if not passage.text.strip():
        return
    middle = passage.find_middle() if not passage.cuts and count(passage.text) > limit_tokens else None
    if middle is None:
        yield passage
    else:
        for half in passage.halves(middle):
            yield from _fitting(half, limit_tokens, count)


def _paragraph_ends(text: str) -> list[int]:
    ends: list[int] = []
    at = text.find("\n\n")
    while at >= 0:
        ends.append(at + 2)
        at = text.find("\n\n", at + 2)
    return ends
