"""What peers are given in place of a language model: the extraction that MindCone itself stores for a document, and the
names and words of a question, all by its offline rules. As JSON; knows no peer.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from app.evaluation.extractions import Extractions
from app.evaluation.folder import Document, LabelledQuery
from app.ingestion.extract.offline import OfflineExtractor
from app.ingestion.extract.types import Extraction, Source
from app.ingestion.learn import chunk_all
from app.ingestion.posted import Posted, with_posted
from app.ingestion.queries import CardText
from app.ingestion.settings import IngestionSettings
from app.text.segment import Segmenter

_WORD: Final = re.compile(r"\w[\w'’.-]*\w|\w")


def documents(
    told: Sequence[Document], extractions: Extractions, segmenter: Segmenter, count_tokens: Callable[[str], int]
) -> list[dict[str, Any]]:
    """As `bench.peers.talk.Document`. Posted extractions are the caller's word, the rest is by rules, as in the
    product.
    """
    offline = OfflineExtractor(segmenter)
    target = IngestionSettings().chunk_target_tokens
    found = []
    for document in told:
        at = document.date or datetime.now(UTC)
        card = CardText(uuid.uuid4(), 1, 1, document.title, document.text, at, document.date is not None, ())
        chunked, failed = chunk_all(uuid.uuid4(), [card], segmenter, count_tokens, target, 480, with_keys=False)
        if failed:
            raise failed[0][1]
        source = chunked[0].source
        extraction = offline.read(source)
        posted = [
            Posted(uuid.uuid4(), post.external_id, post.is_complete, post.body)
            for post in extractions.get(document.id, ())
        ]
        if posted:
            extraction = with_posted(source, posted, extraction, offline.claims)
        found.append(
            {
                "id": document.id,
                "title": document.title,
                "text": document.text,
                "at_ms": int(at.timestamp() * 1000) if document.date else None,
                "given": _given(extraction),
            }
        )
    return found


def question(asked: LabelledQuery, segmenter: Segmenter) -> dict[str, Any]:
    """The names that the rules see in it, and its words but for stop words."""
    source = Source(uuid.uuid4(), "", asked.text, datetime.now(UTC))
    kept = set(segmenter.terms(asked.text).words)
    words = [word for word in _WORD.findall(asked.text) if kept.intersection(segmenter.terms(word).words)]
    names = [entity.name for entity in OfflineExtractor(segmenter).read(source).entities]
    return {"text": asked.text, "names": names, "words": list(dict.fromkeys(words))}


def _given(extraction: Extraction) -> dict[str, Any]:
    said: dict[str, list[str]] = {}
    for episode in extraction.episodes:
        for facet in episode.facets:
            for point in facet.points:
                for name in point.entities:
                    said.setdefault(name, []).append(point.text)
    return {
        "entities": [
            {
                "name": entity.name,
                "type": entity.type,
                "description": entity.description,
                "said": list(dict.fromkeys(said.get(entity.name, ()))),
            }
            for entity in extraction.entities
        ],
        "relations": [
            {"source": one.source, "target": one.target, "predicate": one.predicate, "text": one.text}
            for one in extraction.relations
        ],
        "episodes": [
            {
                "title": episode.title,
                "summary": episode.summary,
                "happened": [int(one.timestamp() * 1000) for one in (episode.happened.start, episode.happened.end)]
                if episode.happened
                else None,
                "roles": [{"entity": one.entity, "role": one.role, "facet": one.facet} for one in episode.roles],
                "facets": [
                    {
                        "title": facet.title,
                        "description": facet.description,
                        "points": [{"text": point.text, "entities": list(point.entities)} for point in facet.points],
                    }
                    for facet in episode.facets
                ],
            }
            for episode in extraction.episodes
        ],
    }
