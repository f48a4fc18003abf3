"""What is known of any stretch of a card's content: its sentences, its anchors, the entities that it names. Pure."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from app.ingestion.cone.view import CardView, SentenceView
from app.text.anchors import Anchor
from app.text.normalise import fold


class Lookup:
    """Every question costs the logarithm of the card."""

    def __init__(self, content: str, view: CardView, found: Sequence[Anchor]) -> None:
        self.content = content
        self.speakers = frozenset(fold(part) for turn in view.turns for part in turn.speaker.split())
        self._sentences = sorted(view.sentences, key=lambda s: s.start)
        self._sentence_starts = [s.start for s in self._sentences]
        self._anchors = found
        self._anchor_starts = [a.start for a in found]
        self._mentions = sorted((span.start, name.name) for name in view.names for span in name.mentions)
        self._mention_starts = [start for start, _ in self._mentions]

    def sentences(self, start: int, end: int) -> list[SentenceView]:
        """Those that begin there."""
        return self._sentences[self._at(self._sentence_starts, start) : self._at(self._sentence_starts, end)]

    def weight(self, start: int, end: int) -> int:
        """Number of anchors."""
        return self._at(self._anchor_starts, end) - self._at(self._anchor_starts, start)

    def telling(self, start: int, end: int) -> int:
        """Number of anchors that are more than the name of somebody present."""
        first, last = self._at(self._anchor_starts, start), self._at(self._anchor_starts, end)
        return sum(fold(anchor.text) not in self.speakers for anchor in self._anchors[first:last])

    def names(self, start: int, end: int) -> tuple[str, ...]:
        """Entities that are named there, or meant by a pronoun; in order."""
        first, last = self._at(self._mention_starts, start), self._at(self._mention_starts, end)
        spelt = [name for _, name in self._mentions[first:last]]
        return tuple(dict.fromkeys([*spelt, *(name for s in self.sentences(start, end) for name in s.names)]))

    def opens_line(self, at: int) -> bool:
        before = self.content[max(0, at - 32) : at].rstrip(" \t>")
        return not before or before[-1] in "\r\n"

    @staticmethod
    def _at(starts: list[int], offset: int) -> int:
        return bisect.bisect_left(starts, offset)
