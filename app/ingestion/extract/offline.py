"""The offline extractor: entities, relations and the cone by rules, Chinese and English, without a key or a network.

It only joins what others find: names, pronouns, turns, times, sections. Deterministic, and CPU-heavy: call `read`
in a thread.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from dataclasses import replace
from datetime import datetime

from app.ingestion.cone.build import build_episodes
from app.ingestion.cone.cover import cover
from app.ingestion.cone.look import look
from app.ingestion.extract.offline_entities import find_entities
from app.ingestion.extract.offline_relations import find_relations, view_sentences
from app.ingestion.extract.types import Extraction, Source
from app.text.normalise import name_key
from app.text.segment import Segmenter
from app.text.stamps import without_stamps

NO_CARD = uuid.UUID(int=0)


class OfflineExtractor:
    """An `Extractor` that needs nobody."""

    version = "offline/1"

    def __init__(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter

    async def extract(self, source: Source, *, final: bool = False) -> Extraction:
        return await asyncio.to_thread(self.read, source)

    def read(self, source: Source) -> Extraction:
        entities = find_entities(source, self._segmenter)
        view = look(source, entities)
        added: Counter[str] = Counter()
        episodes = cover(source, build_episodes(source, view), view, added)
        said = view_sentences(source, [(one.start, one.end, one.text) for one in view.sentences], entities)
        relations = find_relations(source, said, entities, self._segmenter)
        return Extraction(tuple(entities), tuple(relations), tuple(episodes), added=added)

    def completed(self, source: Source, found: Extraction) -> Extraction:
        """What a model found, with what it left out: every anchor of the text, and a cone where it gave none."""
        view = look(source, found.entities)
        added: Counter[str] = Counter()
        told = found.episodes or build_episodes(source, view)
        return replace(found, episodes=tuple(cover(source, told, view, added)), added=added)

    def claims(self, text: str, title: str, said_at: datetime) -> list[str]:
        """The claims of a text that is no card: what stands in the points of its cone, without the stamps of a log."""
        source = Source(NO_CARD, title, without_stamps(text), said_at)
        view = look(source, find_entities(source, self._segmenter))
        called = name_key(title)
        return [
            point.text
            for episode in cover(source, build_episodes(source, view), view)
            for facet in episode.facets
            for point in facet.points
            if name_key(point.text) != called
        ]
