"""The coverage guard: no date, amount, number, name or identifier of a card is lost on the way into its cone.

Whoever made the episodes, a model, a caller or the rules: what their texts lack comes back as a point, in the words of
the card. Pure.
"""

from __future__ import annotations

import bisect
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from app.ingestion.cone.limits import DEFAULT_LIMITS, ConeLimits
from app.ingestion.cone.phrases import pieces, under, width
from app.ingestion.cone.spoken import speech
from app.ingestion.cone.view import CardView, SentenceView, TurnView, plain_view
from app.ingestion.extract.types import EpisodeDraft, FacetDraft, PointDraft, Source
from app.text.anchors import Anchor, anchors
from app.text.markdown import blocks, strip_marks
from app.text.normalise import fold
from app.text.stopwords import ENGLISH

_NUMERIC: Final = frozenset(("quantity", "number", "money", "percent"))
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f0-9]{2,}|[\u3400-\u9fff]{2}")
_SUBSTRING_CHARS: Final = 200_000
_MAY_HAVE_CODE = re.compile(r"```|~~~|^(?: {4}|\t)", re.MULTILINE)
_ENDS: Final = frozenset(".!?。！？")
_BARE_WORDS: Final = 9.0

Place = tuple[int, int]
"""Episode and facet, by index."""


@dataclass(frozen=True, slots=True)
class _Missing:
    sentence: SentenceView
    anchors: tuple[Anchor, ...]


def cover(
    source: Source,
    episodes: Sequence[EpisodeDraft],
    view: CardView | None = None,
    added: Counter[str] | None = None,
    limits: ConeLimits = DEFAULT_LIMITS,
) -> list[EpisodeDraft]:
    """The episodes, with a point for every sentence whose anchors appear in none of their titles, descriptions, points.

    It goes to the facet whose span holds it, else to the one that shares most words with it. Code is left to the
    chunks. `added` counts the anchors that came back, by kind. Without episodes there is nothing to cover.
    """
    view = view or plain_view(source.content)
    missing = _missing(source.content, episodes, view)
    if not missing or not any(episode.facets for episode in episodes):
        return list(episodes)
    places = _Places(episodes)
    turns = _Turns(view.turns)
    fresh: dict[Place, list[PointDraft]] = defaultdict(list)
    for each in missing:
        shown = strip_marks(each.sentence.text, True)
        at = places.of(each.sentence.start, shown)
        fresh[at] += _points(each, shown, turns.at(each.sentence.start), episodes[at[0]].facets[at[1]], limits)
        if added is not None:
            added.update(anchor.kind for anchor in each.anchors)
    return [
        replace(
            episode,
            facets=tuple(_with(facet, fresh.get((e, f), [])) for f, facet in enumerate(episode.facets)),
        )
        for e, episode in enumerate(episodes)
    ]


def uncovered(content: str, texts: Sequence[str], found: Sequence[Anchor] | None = None) -> list[Anchor]:
    """The anchors of `content` that none of the texts has, those in code left out."""
    found = anchors(content) if found is None else found
    told = _Told(texts)
    lost = [anchor for anchor in found if not told.has(anchor)]
    if not lost or not _MAY_HAVE_CODE.search(content):
        return lost
    code = [(block.start, block.end) for block in blocks(content) if block.kind == "code"]
    starts = [start for start, _ in code]

    def in_code(at: int) -> bool:
        i = bisect.bisect_right(starts, at) - 1
        return i >= 0 and at < code[i][1]

    return [anchor for anchor in lost if not in_code(anchor.start)]


def texts_of(episodes: Sequence[EpisodeDraft]) -> list[str]:
    """Every title of an episode or a facet, every description and every point: what the cone can be searched by."""
    texts: dict[str, None] = {}
    for episode in episodes:
        texts[episode.title] = None
        for facet in episode.facets:
            texts[facet.title] = texts[facet.description] = None
            texts.update((point.text, None) for point in facet.points)
    return [text for text in texts if text]


class _Told:
    """What a number of texts tell."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._whole = "\n".join(texts)
        self._long = len(self._whole) > _SUBSTRING_CHARS

    def has(self, anchor: Anchor) -> bool:
        if len(anchor.text) > 3 and not self._long and anchor.text in self._whole:
            return True
        if anchor.key in self._keys:
            return True
        if anchor.kind in _NUMERIC:
            # "1,420 merchants" may come as "1,420 affected merchants"; a 3 is anywhere.
            number = anchor.key.split(" ")[0]
            if number in self._numbers and (len(number) > 2 or anchor.kind == "number"):
                return True
        if self._long:
            return len(anchor.text) > 3 and anchor.text in self._whole
        return len(anchor.text) > 2 and fold(anchor.text) in self._folded

    @cached_property
    def _found(self) -> list[Anchor]:
        return anchors(self._whole)

    @cached_property
    def _keys(self) -> set[str]:
        return {anchor.key for anchor in self._found}

    @cached_property
    def _numbers(self) -> set[str]:
        return {anchor.key.split(" ")[0] for anchor in self._found if anchor.kind in _NUMERIC}

    @cached_property
    def _folded(self) -> str:
        return fold(self._whole)


class _Places:
    """Where a sentence belongs."""

    def __init__(self, episodes: Sequence[EpisodeDraft]) -> None:
        self._spans: list[tuple[int, int, Place]] = []
        self._facets: dict[str, list[Place]] = defaultdict(list)
        self._last: Place = next(((e, 0) for e, episode in enumerate(episodes) if episode.facets), (0, 0))
        for e, episode in enumerate(episodes):
            for f, facet in enumerate(episode.facets):
                if facet.start is not None and facet.end is not None:
                    self._spans.append((facet.start, facet.end, (e, f)))
                said = " ".join((facet.title, facet.description, *(point.text for point in facet.points)))
                for word in set(_WORD.findall(fold(said))) - ENGLISH:
                    self._facets[word].append((e, f))
        self._spans.sort()
        self._starts = [start for start, _, _ in self._spans]

    def of(self, start: int, text: str) -> Place:
        """Sentences that share no word with any facet stay with the one before them."""
        self._last = self._nearest(start, text)
        return self._last

    def _nearest(self, start: int, text: str) -> Place:
        i = bisect.bisect_right(self._starts, start) - 1
        if i >= 0 and start < self._spans[i][1]:
            return self._spans[i][2]
        votes: Counter[Place] = Counter()
        for word in set(_WORD.findall(fold(text))) - ENGLISH:
            facets = self._facets.get(word, ())
            for place in facets:
                votes[place] += 840 // len(facets)
        if votes:
            return min(votes, key=lambda place: (-votes[place], place))
        return self._spans[i][2] if i >= 0 else self._last


class _Turns:
    def __init__(self, turns: Sequence[TurnView]) -> None:
        self._turns = sorted(turns, key=lambda turn: turn.start)
        self._starts = [turn.start for turn in self._turns]

    def at(self, offset: int) -> TurnView | None:
        i = bisect.bisect_right(self._starts, offset) - 1
        return self._turns[i] if i >= 0 and offset < self._turns[i].end else None


def _missing(content: str, episodes: Sequence[EpisodeDraft], view: CardView) -> list[_Missing]:
    """By sentence. What is markup only (the target of a link) is not missed."""
    found = anchors(content) if view.anchors is None else view.anchors
    spans = _Spans(episodes)
    unsure = [anchor for anchor in found if not spans.have(anchor)]
    if not unsure:
        return []
    lost = uncovered(content, texts_of(episodes), unsure)
    sentences = sorted(view.sentences, key=lambda s: s.start)
    starts = [sentence.start for sentence in sentences]
    groups: dict[int, list[Anchor]] = defaultdict(list)
    for anchor in lost:
        i = bisect.bisect_right(starts, anchor.start) - 1
        if i >= 0 and anchor.start < sentences[i].end and anchor.text in strip_marks(sentences[i].text, True):
            groups[i].append(anchor)
    return [_Missing(sentences[i], tuple(groups[i])) for i in sorted(groups)]


class _Spans:
    """The points by place: most anchors are in the point that stands for their sentence."""

    def __init__(self, episodes: Sequence[EpisodeDraft]) -> None:
        points = (point for episode in episodes for facet in episode.facets for point in facet.points)
        self._points = sorted((p.start, p.end, p.text) for p in points if p.start is not None and p.end is not None)
        self._starts = [start for start, _, _ in self._points]

    def have(self, anchor: Anchor) -> bool:
        i = bisect.bisect_right(self._starts, anchor.start) - 1
        start = self._starts[i] if i >= 0 else -1
        while i >= 0 and self._starts[i] == start:
            _, end, text = self._points[i]
            if anchor.start < end and anchor.text in text:
                return True
            i -= 1
        return False


def _points(
    missing: _Missing, shown: str, turn: TurnView | None, facet: FacetDraft, limits: ConeLimits
) -> list[PointDraft]:
    """The sentence, or those pieces of a long one that have what was missing."""
    sentence = missing.sentence
    speaker = turn.speaker if turn else None
    if turn is not None and sentence.start < turn.said:
        label, colon, rest = shown.partition("：" if "：" in shown[: len(turn.speaker) + 60] else ":")
        shown = rest.strip() if colon and turn.speaker in label else shown
    points: list[PointDraft] = []
    for piece in pieces(shown, limits.point_words):
        if not any(anchor.text in piece for anchor in missing.anchors):
            continue
        if speaker and speaker not in piece:
            text = speech(speaker, "said", piece)
        else:
            bare = not speaker and width(piece) < _BARE_WORDS and piece[-1] not in _ENDS
            text = under(facet.title, piece) if bare else piece
        points.append(PointDraft(text, sentence.start, sentence.end, times=sentence.times, speaker=speaker))
    return points


def _with(facet: FacetDraft, fresh: Sequence[PointDraft]) -> FacetDraft:
    """The points in the order of the text, where they say where they stand."""
    if not fresh:
        return facet
    known = {point.text for point in facet.points}
    points = [*facet.points, *(point for point in fresh if point.text not in known)]
    if all(point.start is not None for point in points):
        points.sort(key=lambda point: point.start or 0)
    return replace(facet, points=tuple(points))
