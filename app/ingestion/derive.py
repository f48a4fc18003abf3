"""From an extraction to the rows of the cone and the graph. Pure, and CPU-heavy: call it in a thread.

Every row gets the texts under which it is found by vector (`texts`) and the terms under which it is found
by words. What the extraction names without saying where stands in the card's first chunk.
"""

from __future__ import annotations

import bisect
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from app.core.ids import new_id
from app.graph.rows import (
    ConeRows,
    EpisodeRow,
    FacetRow,
    MentionRow,
    Period,
    PointRow,
    RelationRow,
    RoleRow,
    TextRow,
    Words,
)
from app.graph.vector_tables import (
    EpisodeVector,
    FacetVector,
    PointVector,
    RelationVector,
    RoleVector,
    TextRole,
)
from app.graph.vectors import VectorTable
from app.index.collections import Collection
from app.index.rows import ChunkRow, text_hash
from app.ingestion import texts
from app.ingestion.cone.validity import claim_key
from app.ingestion.extract.types import EpisodeDraft, Extraction, FacetDraft, PointDraft, Source, TimeRange
from app.ingestion.link.describe import bounded
from app.ingestion.prepare import Counted, count_terms
from app.text.normalise import name_key
from app.text.segment import Segmenter, Terms
from app.text.when import month_words

MENTIONS_PER_CHUNK: Final = 20
"""Of one entity; more places say nothing new."""
# Expressions of a claim that lie further apart than this are several times, not one.
_ONE_TIME: Final = timedelta(days=400)
_EMPTY = Terms()


@dataclass(slots=True)
class Derived:
    """`embed` maps the hash of every text that needs a vector to the text; `counted` what the postings say of a row,
    by collection, beside the row's own `Words`.
    """

    cone: ConeRows
    extraction: Extraction
    embed: dict[uuid.UUID, str] = field(default_factory=dict)
    counted: list[tuple[Collection, Words, Counted]] = field(default_factory=list)


def derive(
    source: Source,
    extraction: Extraction,
    chunks: Sequence[ChunkRow],
    segmenter: Segmenter,
    posted: Mapping[int, uuid.UUID] | None = None,
    kept: Mapping[str, uuid.UUID] | None = None,
    *,
    dated: bool = False,
) -> Derived:
    """`posted` maps the index of an episode to the id that it was promised, `kept` a title's key to the id of the
    episode that the card told under it before; `dated`: the card's date is part of what it says, and its rows are
    found by the words of it.
    """
    return _Derivation(source, extraction, chunks, segmenter, posted or {}, dict(kept or {}), dated).run()


class _Derivation:
    def __init__(
        self,
        source: Source,
        extraction: Extraction,
        chunks: Sequence[ChunkRow],
        segmenter: Segmenter,
        posted: Mapping[int, uuid.UUID],
        kept: dict[str, uuid.UUID],
        dated: bool,
    ) -> None:
        self.source = source
        self.extraction = extraction
        self.chunks = chunks
        self.starts = [chunk.start for chunk in chunks]
        self.segmenter = segmenter
        self.posted = posted
        self.kept = kept
        self.dated = dated
        self.names = {entity.name for entity in extraction.entities}
        self.out = Derived(ConeRows(source.card_id), extraction)

    def run(self) -> Derived:
        for number, draft in enumerate(self.extraction.episodes):
            self._episode(number, draft)
        self._relations()
        self._mentions()
        self.out.cone.tellings = {
            entity.name: bounded(entity.description) for entity in self.extraction.entities if entity.description
        }
        return self.out

    # ---------------------------------------------------------------------------------- the cone

    def _episode(self, number: int, draft: EpisodeDraft) -> None:
        happened = _period(draft.happened)
        day = self.source.created_at.replace(hour=0, minute=0, second=0, microsecond=0)
        said = happened or (Period(day, day + timedelta(days=1)) if self.dated else None)
        dates = self.segmenter.terms(month_words(said.start, said.end)) if said else _EMPTY
        title_key = name_key(draft.title)
        row = EpisodeRow(
            id=self.posted.get(number) or self.kept.pop(title_key, None) or new_id(),
            card_id=self.source.card_id,
            ordinal=number,
            external_id=draft.external_id,
            title=draft.title,
            title_key=title_key,
            summary=draft.summary,
            happened=happened,
            origin="posted" if number in self.posted else "own",
            lexical=Words(0, 0),
        )
        self.out.cone.episodes.append(row)
        self._embed(EpisodeVector, row.id, TextRole.own, texts.episode_text(draft.title, draft.summary))
        facets: list[FacetRow] = []
        told: list[Terms] = []
        for ordinal, facet in enumerate(draft.facets):
            made, terms = self._facet(row, ordinal, facet, dates)
            facets.append(made)
            told.append(terms)
        body = _joined(told) if told else self.segmenter.terms(draft.summary)
        self._count(Collection.episode, row.lexical, self.segmenter.terms(draft.title), body)
        for role in draft.roles:
            if role.entity in self.names and role.role.strip():
                text = texts.role_text(role.entity, role.role)
                within = facets[role.facet] if role.facet is not None and role.facet < len(facets) else None
                made_role = RoleRow(new_id(), row, within, role.entity, text, Words(0, 0))
                self.out.cone.roles.append(made_role)
                self._embed(RoleVector, made_role.id, TextRole.own, text)
                self._count(Collection.role, made_role.lexical, _EMPTY, self.segmenter.terms(text))

    def _facet(self, episode: EpisodeRow, ordinal: int, draft: FacetDraft, dates: Terms) -> tuple[FacetRow, Terms]:
        """The row, and the terms of all that it tells."""
        times = [time for point in draft.points for time in point.times]
        row = FacetRow(
            id=new_id(),
            episode=episode,
            ordinal=ordinal,
            title=draft.title,
            description=draft.description,
            start=draft.start,
            end=draft.end,
            happened=_hull(times),
            lexical=Words(0, 0),
        )
        self.out.cone.facets.append(row)
        self._embed(FacetVector, row.id, TextRole.own, texts.facet_title_text(draft.title))
        if draft.description.strip():
            self._embed(FacetVector, row.id, TextRole.description, texts.facet_description_text(draft.description))
            self._embed(FacetVector, row.id, TextRole.edge, texts.facet_edge_text(draft.title, draft.description))
        points = [self._point(row, number, point, dates) for number, point in enumerate(draft.points)]
        whole = (
            self.source.content[draft.start : draft.end] if draft.start is not None and draft.end is not None else None
        )
        # What the section says in its own words, or else what is said of it: never twice.
        told = (
            self.segmenter.terms(whole)
            if whole
            else _joined(points)
            if points
            else self.segmenter.terms(draft.description)
        )
        title = self.segmenter.terms(draft.title)
        self._count(Collection.facet, row.lexical, title, _joined([told, dates]))
        return row, _joined([title, told])

    def _point(self, facet: FacetRow, ordinal: int, draft: PointDraft, dates: Terms) -> Terms:
        chunk = self._chunk_at(draft.start)
        claim = claim_key(draft.text, draft.entities, bool(draft.times), facet.episode.title)
        row = PointRow(
            id=new_id(),
            facet=facet,
            chunk_id=chunk.id if chunk is not None else None,
            ordinal=ordinal,
            text=draft.text,
            start=draft.start,
            end=draft.end,
            speaker=draft.speaker,
            happened=_hull(draft.times),
            entities=tuple(name for name in dict.fromkeys(draft.entities) if name in self.names),
            lexical=Words(0, 0),
            claim_key=claim.key if claim else None,
            claim_value=claim.value if claim else None,
        )
        self.out.cone.points.append(row)
        self._embed(PointVector, row.id, TextRole.own, texts.point_text(draft.text))
        self._embed(PointVector, row.id, TextRole.edge, texts.point_edge_text(facet.title, draft.text))
        terms = self.segmenter.terms(draft.text)
        self._count(Collection.point, row.lexical, _EMPTY, _joined([terms, dates]))
        return terms

    # --------------------------------------------------------------------------------- the graph

    def _relations(self) -> None:
        seen: set[tuple[str, str, str]] = set()
        for draft in self.extraction.relations:
            key = (draft.source, draft.target, draft.text)
            if key in seen or draft.source == draft.target:
                continue
            if draft.source not in self.names or draft.target not in self.names:
                self.out.extraction.dropped["relation_without_entity"] += 1
                continue
            seen.add(key)
            row = RelationRow(
                id=new_id(),
                chunk_id=(self._chunk_at(draft.start) or self.chunks[0]).id,
                source=draft.source,
                target=draft.target,
                predicate=draft.predicate,
                text=draft.text,
                confidence=draft.confidence,
                start=draft.start,
                end=draft.end,
                lexical=Words(0, 0),
            )
            self.out.cone.relations.append(row)
            self._embed(RelationVector, row.id, TextRole.own, texts.relation_text(draft.text))
            self._count(Collection.relation, row.lexical, _EMPTY, self.segmenter.terms(draft.text))

    def _mentions(self) -> None:
        ordinals: Counter[uuid.UUID] = Counter()

        def add(chunk: ChunkRow, entity: str, start: int | None, end: int | None, name: str, in_title: bool) -> None:
            ordinal = ordinals[chunk.id]
            ordinals[chunk.id] += 1
            self.out.cone.mentions.append(MentionRow(chunk.id, ordinal, entity, start, end, in_title, name))

        title = name_key(self.source.title)
        for draft in self.extraction.entities:
            per_chunk: Counter[uuid.UUID] = Counter()
            for span in draft.mentions:
                chunk = self._chunk_at(span.start)
                if chunk is None or per_chunk[chunk.id] >= MENTIONS_PER_CHUNK:
                    continue
                per_chunk[chunk.id] += 1
                add(chunk, draft.name, span.start, span.end, self.source.content[span.start : span.end], False)
            if not per_chunk or name_key(draft.name) == title:
                add(self.chunks[0], draft.name, None, None, draft.name, name_key(draft.name) in title)

    # ----------------------------------------------------------------------------------- details

    def _chunk_at(self, start: int | None) -> ChunkRow | None:
        if start is None:
            return None
        return self.chunks[max(bisect.bisect_right(self.starts, start) - 1, 0)]

    def _embed(self, table: VectorTable, owner_id: uuid.UUID, role: TextRole, text: str) -> None:
        key = text_hash(text)
        self.out.embed[key] = text
        self.out.cone.texts.append(TextRow(table, owner_id, role, key))

    def _count(self, collection: Collection, words: Words, title: Terms, body: Terms) -> None:
        counted = count_terms(title, body)
        words.words, words.grams = counted.words, counted.grams
        self.out.counted.append((collection, words, counted))


def _joined(parts: Sequence[Terms]) -> Terms:
    return Terms(
        [word for part in parts for word in part.words],
        [gram for part in parts for gram in part.grams],
        [single for part in parts for single in part.singles],
    )


def _period(time: TimeRange | None) -> Period | None:
    return None if time is None else Period(time.start, time.end)


def _hull(times: Sequence[TimeRange]) -> Period | None:
    """One period around all times, or the first one where they lie far apart."""
    if not times:
        return None
    start, end = min(time.start for time in times), max(time.end for time in times)
    return Period(start, end) if end - start <= _ONE_TIME else Period(times[0].start, times[0].end)
