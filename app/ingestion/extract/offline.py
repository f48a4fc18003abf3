"""The offline extractor: entities, relations and the cone by rules, Chinese and English, without a key or a network.

It only joins what others find: names, pronouns, turns, times, sections. Deterministic, and CPU-heavy: call `read`
in a thread.
"""

from __future__ import annotations

import asyncio
import bisect
import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from app.ingestion.cone.build import build_episodes
from app.ingestion.cone.cover import cover
from app.ingestion.cone.view import CardView, NameView, SentenceView, TurnView
from app.ingestion.extract.offline_entities import find_entities
from app.ingestion.extract.offline_relations import find_relations, view_sentences
from app.ingestion.extract.types import EntityDraft, Extraction, Source, TimeRange
from app.text.anchors import anchors
from app.text.coref import NameSpan, resolve, rewrite
from app.text.dialogue import Turn, addressee_of, stand_alone_turn, turns
from app.text.segment import Segmenter
from app.text.sentences import sentences
from app.text.when import TimeFound, find_date, find_times

TITLE_SALIENCE: Final = 3.0


class OfflineExtractor:
    """An `Extractor` that needs nobody."""

    version = "offline/1"

    def __init__(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter

    async def extract(self, source: Source) -> Extraction:
        return await asyncio.to_thread(self.read, source)

    def read(self, source: Source) -> Extraction:
        entities = find_entities(source, self._segmenter)
        reading = _Reading(source, entities)
        view = reading.view()
        added: Counter[str] = Counter()
        episodes = cover(source, build_episodes(source, view), view, added)
        said = view_sentences(source, [(one.start, one.end, one.text) for one in view.sentences], entities)
        relations = find_relations(source, said, entities, self._segmenter)
        dropped = Counter({f"covered_{kind}": count for kind, count in added.items()})
        return Extraction(tuple(entities), tuple(relations), tuple(episodes), dropped)

    def claims(self, text: str, title: str, said_at: datetime) -> list[str]:
        """The claims of a text that is no card: what stands in the points of its cone."""
        source = Source(uuid.UUID(int=0), title, text, said_at)
        view = _Reading(source, find_entities(source, self._segmenter)).view()
        return [
            point.text
            for episode in cover(source, build_episodes(source, view), view)
            for facet in episode.facets
            for point in facet.points
        ]


class _Reading:
    """A card's text with its pronouns, turns and times understood."""

    def __init__(self, source: Source, entities: Sequence[EntityDraft]) -> None:
        self.source = source
        self.entities = entities
        self.spans = sentences(source.content)
        self.turns = turns(source.content)
        self._turn_starts = [turn.start for turn in self.turns]
        names = sorted(
            (
                NameSpan(span.start, span.end, entity.name, entity.type)
                for entity in entities
                for span in entity.mentions
            ),
            key=lambda name: (name.start, -name.end),
        )
        self.resolutions = resolve(source.content, names, self.spans, source.title)

    def view(self) -> CardView:
        times = self._times()
        said = [
            SentenceView(start, end, self._told(start, end), times.get(number, ()))
            for number, (start, end) in enumerate(self.spans)
        ]
        in_title = self.source.title.casefold()
        names = [
            NameView(
                entity.name,
                entity.mentions,
                len(entity.mentions) + (TITLE_SALIENCE if entity.name.casefold() in in_title else 0.0),
            )
            for entity in self.entities
        ]
        return CardView(
            said,
            [TurnView(turn.start, turn.end, turn.speaker, turn.said_start) for turn in self.turns],
            names,
            tuple(_range(found) for found in find_times(self.source.title, self.source.created_at)),
            anchors(self.source.content),
        )

    def _turn_at(self, offset: int) -> Turn | None:
        at = bisect.bisect_right(self._turn_starts, offset) - 1
        return self.turns[at] if at >= 0 and offset < self.turns[at].end else None

    def _told(self, start: int, end: int) -> str:
        """The sentence as a stranger understands it."""
        content = self.source.content
        turn = self._turn_at(start)
        if turn is None:
            return rewrite(start, end, content, self.resolutions)
        begin = max(start, turn.said_start)
        if begin >= end:
            return content[start:end]
        index = bisect.bisect_right(self._turn_starts, start) - 1
        said = rewrite(begin, end, content, self.resolutions)
        return content[start:begin] + stand_alone_turn(said, turn.speaker, addressee_of(self.turns, index))

    def _times(self) -> dict[int, tuple[TimeRange, ...]]:
        """Times by the number of their sentence. What is said in a turn that names its time is said then."""
        content, said_at = self.source.content, self.source.created_at
        found: dict[int, list[TimeRange]] = {}
        starts = [start for start, _ in self.spans]
        dated = [(turn, find_date(turn.time_text)) for turn in self.turns if turn.time_text]
        own = [(turn, date) for turn, date in dated if date is not None]
        stretches = [(0, len(content), said_at)]
        if own:
            stretches = [(turn.said_start, turn.end, date) for turn, date in own]
        for begin, end, moment in stretches:
            for time in find_times(content[begin:end], moment):
                at = bisect.bisect_right(starts, begin + time.span[0]) - 1
                if at >= 0:
                    found.setdefault(at, []).append(_range(time))
        return {number: tuple(times) for number, times in found.items()}


def _range(time: TimeFound) -> TimeRange:
    return TimeRange(time.start, time.end, time.text)
