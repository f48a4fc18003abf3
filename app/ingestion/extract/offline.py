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
from typing import Final

from app.ingestion.cone.build import build_episodes
from app.ingestion.cone.cover import cover
from app.ingestion.cone.look import look
from app.ingestion.cone.reported import clauses
from app.ingestion.extract.offline_entities import find_entities
from app.ingestion.extract.offline_relations import find_relations, view_sentences
from app.ingestion.extract.types import Extraction, Source
from app.text.dialogue import quoted_turns, speaker_of, stand_alone_turn
from app.text.normalise import name_key
from app.text.segment import Segmenter
from app.text.sentences import sentences
from app.text.stamps import without_stamps

NO_CARD: Final = uuid.UUID(int=0)
SHORT_SENTENCE: Final = 22


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
        """The claims of a text that is no card: what stands in the points of its cone, without the stamps of a log.
        What somebody speaks is told by that name, sentence by sentence.
        """
        called = name_key(title)
        found: list[str] = []
        prose: list[str] = []
        for line in without_stamps(text).split("\n"):
            for quoted, part in quoted_turns(line):
                speaker, said = (quoted, part) if quoted else speaker_of(part) or (None, part)
                if speaker is None:
                    prose.append(said)
                    continue
                found += self._told("\n".join(prose), title, said_at)
                prose = []
                found += _spoken(speaker, said)
        found += self._told("\n".join(prose), title, said_at)
        return [claim for claim in dict.fromkeys(found) if name_key(claim) != called]

    def _told(self, text: str, title: str, said_at: datetime) -> list[str]:
        if not text.strip():
            return []
        source = Source(NO_CARD, title, text, said_at)
        view = look(source, find_entities(source, self._segmenter))
        return [
            point.text
            for episode in cover(source, build_episodes(source, view), view)
            for facet in episode.facets
            for point in facet.points
        ]


def _spoken(speaker: str, said: str) -> list[str]:
    """Sentences with the speaker's name in them; one of a few words goes with the one before."""
    parts: list[str] = []
    for start, end in sentences(said):
        sentence = said[start:end].strip()
        if parts and len(sentence) < SHORT_SENTENCE:
            parts[-1] = f"{parts[-1]} {sentence}"
        elif sentence:
            parts.append(sentence)
    told = [stand_alone_turn(clause, speaker) for part in parts for clause in clauses(part)]
    return [part if speaker in part else f"{speaker}: {part}" for part in told]
