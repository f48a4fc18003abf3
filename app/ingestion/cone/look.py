"""All that reads a card before its cone is built, in one place: sentences that stand alone, turns, names, times.

Pure. Which entities the card has is given; what their pronouns, the speakers' I and you and "yesterday" mean is asked
of `app.text`.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from app.ingestion.cone.dates import is_day
from app.ingestion.cone.view import CardView, NameView, SentenceView, TurnView
from app.ingestion.extract.types import EntityDraft, Source, TimeRange
from app.text.anchors import anchors
from app.text.coref import NameSpan, resolve, rewrite
from app.text.dialogue import addressee_of, stand_alone_turn, turns
from app.text.markdown import strip_marks
from app.text.sentences import sentences
from app.text.when import find_times

_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.{0,80})$", re.MULTILINE)

Timed = tuple[int, TimeRange]


def look(source: Source, entities: Sequence[EntityDraft] = ()) -> CardView:
    """A time is told from the day that the card's title or the heading above it names, else from `created_at`."""
    content = source.content
    spans = sentences(content)
    said = [TurnView(turn.start, turn.end, turn.speaker, turn.said_start) for turn in turns(content)]
    names = sorted(
        (NameSpan(m.start, m.end, entity.name, entity.type) for entity in entities for m in entity.mentions),
        key=lambda name: name.start,
    )
    resolved = resolve(content, names, spans, source.title)
    pronouns = [found.start for found in resolved]
    named = {entity.name for entity in entities}
    title_times = _times(source.title, source.created_at)
    times = _Timeline(content, _day(title_times) or source.created_at)
    speakers = {turn.speaker for turn in said}
    starts = [turn.start for turn in said]
    views: list[SentenceView] = []
    for start, end in spans:
        i = bisect.bisect_right(starts, start) - 1
        turn = said[i] if i >= 0 and start < said[i].end else None
        if turn is None:
            text = rewrite(start, end, content, resolved)
        else:
            text = rewrite(min(end, max(start, turn.said)), end, content, resolved)
            text = stand_alone_turn(text, turn.speaker, addressee_of(speakers, turn.speaker))
        first = bisect.bisect_left(pronouns, start)
        meant = (found.name for found in resolved[first : bisect.bisect_left(pronouns, end)])
        told = (turn.speaker,) if turn is not None and turn.speaker in text else ()
        known = tuple(name for name in dict.fromkeys((*told, *meant)) if name in named)
        views.append(SentenceView(start, end, text, times.within(start, end), known))
    return CardView(
        views,
        said,
        [NameView(entity.name, entity.mentions, float(len(entity.mentions))) for entity in entities],
        tuple(time for _, time in title_times),
        anchors(content),
    )


class _Timeline:
    """The times of a content by place."""

    def __init__(self, content: str, said_at: datetime) -> None:
        self._times = [
            timed for start, end, at in _days(content, said_at) for timed in _times(content[start:end], at, start)
        ]
        self._starts = [at for at, _ in self._times]

    def within(self, start: int, end: int) -> tuple[TimeRange, ...]:
        first = bisect.bisect_left(self._starts, start)
        return tuple(time for _, time in self._times[first : bisect.bisect_left(self._starts, end)])


def _days(content: str, said_at: datetime) -> Iterator[tuple[int, int, datetime]]:
    """The stretches of a journal, each with the day of its heading; other contents are one."""
    start = 0
    if "#" in content:
        for heading in _HEADING.finditer(content):
            if is_day(strip_marks(heading.group(1))):
                yield start, heading.start(), said_at
                start = heading.start()
                said_at = _day(_times(heading.group(1), said_at)) or said_at
    yield start, len(content), said_at


def _times(text: str, said_at: datetime, offset: int = 0) -> list[Timed]:
    return [
        (offset + found.span[0], TimeRange(found.start, found.end, found.text)) for found in find_times(text, said_at)
    ]


def _day(times: Sequence[Timed]) -> datetime | None:
    """The one day that is named."""
    days = {time.start for _, time in times if (time.end - time.start).days <= 1}
    return days.pop() if len(days) == 1 else None
