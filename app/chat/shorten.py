"""A part of something long that fits: whole sentences of a source, the one that matched first; the head and the
tail of what a tool gave back. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Final

from app.budget.count import TokenCounter, cut_at_sentence
from app.chat.blocks import fenced, render_source
from app.chat.citations import Citable
from app.text.sentences import sentences

# Less of a source than this says nothing.
MIN_TOKENS: Final = 32
# What the marks of a cut may cost.
_SLACK: Final = 4
_MAX_CHARS_PER_TOKEN: Final = 16
_LEFT_OUT: Final = "\n[… {count} characters left out …]\n"


class Shortening:
    """The versions of one source that are shorter than it."""

    def __init__(self, source: Citable, counter: TokenCounter) -> None:
        self._source = source
        self._counter = counter

    @property
    def breaks(self) -> bool:
        return len(self._spans) > 1

    def tokens(self, room: int, alone: bool) -> int:
        """Of the version that fits; 0 where there is none."""
        found = self.version(room, alone)
        return self.cost(found) if found is not None else 0

    def version(self, room: int, alone: bool) -> Citable | None:
        """From the sentence that matched (or the first) as far as it fits, then what stands before it. `alone`: cut
        anywhere if there is no end of a sentence near.
        """
        if room - self._frame < MIN_TOKENS:
            return None
        found = self._part(*self._stretch(self._most(room)))
        if alone:
            start = self._spans[self._first][0] if self._spans else 0
            anywhere = fenced(self._source.text[start:])
            cut = cut_at_sentence(anywhere, room - self._frame - _SLACK, self._counter, sentences)
            if len(cut) > 2 * len(found.text):
                found = self._part(start, start + len(cut))
        return found if found.text and self.cost(found) <= room else None

    def cost(self, source: Citable) -> int:
        return source_tokens(source, self._counter)

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return list(sentences(self._source.text))

    @cached_property
    def _frame(self) -> int:
        return self.cost(replace(self._source, text=""))

    @cached_property
    def _first(self) -> int:
        if self._source.focus is None:
            return 0
        place = self._source.focus[0]
        return max((nth for nth, (start, _) in enumerate(self._spans) if start <= place), default=0)

    def _most(self, room: int) -> int:
        """The largest number of sentences that fits, but not all."""
        low, high = 0, len(self._spans) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.cost(self._part(*self._stretch(middle))) <= room:
                low = middle
            else:
                high = middle - 1
        return max(low, 0)

    def _stretch(self, count: int) -> tuple[int, int]:
        if count == 0 or not self._spans:
            return 0, 0
        begin = min(self._first, len(self._spans) - count)
        return self._spans[begin][0], self._spans[begin + count - 1][1]

    def _part(self, start: int, end: int) -> Citable:
        source = self._source
        focus = source.focus
        if focus is not None:
            focus = (max(focus[0], start) - start, min(focus[1], end) - start)
            focus = focus if focus[0] < focus[1] else None
        if source.start is None:
            return replace(source, text=source.text[start:end], focus=focus)
        return replace(
            source,
            text=source.text[start:end],
            start=source.start + start,
            end=source.start + end,
            focus=focus,
        )


def source_tokens(source: Citable, counter: TokenCounter) -> int:
    """With the line end behind it."""
    return counter.count(render_source(source) + "\n")
