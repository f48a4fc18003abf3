"""From a model's answer about one passage to an extraction with places in the card. Pure.

The model's word is checked against the text: what the text does not name is no entity, and a relation holds
between entities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from app.ingestion.extract.llm_places import Places, occurrences
from app.ingestion.extract.llm_shapes import Answer, Claim, Focus, Section
from app.ingestion.extract.merge import merge_entities
from app.ingestion.extract.types import (
    EntityDraft,
    EpisodeDraft,
    Extraction,
    FacetDraft,
    PointDraft,
    RelationDraft,
    RoleDraft,
    Source,
    Span,
    TimeRange,
)
from app.text.normalise import name_key

ResolveTimes = Callable[[str, datetime], Sequence[TimeRange]]
"""(a text, the date from which it speaks) → the ranges of the expressions of time in it."""


def assemble(source: Source, places: Places, within: Span, answer: Answer, times: ResolveTimes | None) -> Extraction:
    """What the answer says of `source.content[within]`. Mentions are left out: `with_mentions` adds those of the card.

    A name that stands neither in the passage nor in the title is dropped; an end of a relation that is no entity
    becomes one of type "other" where the passage has the name, else the relation is dropped.
    """
    return _Assembly(source, places, within, answer, times).extraction()


def with_mentions(extraction: Extraction, places: Places) -> Extraction:
    """`extraction` with the places of its entities all over the card, beside those that are there already."""
    found = places.mentions(extraction.entities)
    entities = tuple(
        replace(e, mentions=tuple(sorted({*e.mentions, *found[e.name]}, key=lambda span: (span.start, span.end))))
        for e in extraction.entities
    )
    return replace(extraction, entities=entities)


class _Assembly:
    def __init__(
        self, source: Source, places: Places, within: Span, answer: Answer, times: ResolveTimes | None
    ) -> None:
        self._source = source
        self._places = places
        self._title = Places(source.title)
        self._within = within
        self._chunks = [c for c in source.chunks if within.start < c.end and c.start < within.end] or [within]
        self._answer = answer
        self._times = times
        self._known = {name_key(name): kind for name, kind in source.known}
        self._dropped: Counter[str] = Counter(answer.dropped)
        self._entities: dict[str, EntityDraft] = {}
        self._names: dict[str, str] = {}

    def extraction(self) -> Extraction:
        self._take_entities()
        relations = [kept for relation in self._answer.relations if (kept := self._relation(relation))]
        episodes = tuple(self._episode(focus) for focus in self._answer.episodes)
        return Extraction(tuple(self._entities.values()), tuple(relations), episodes, self._dropped)

    # ------------------------------------------------------------------------------ entities

    def _take_entities(self) -> None:
        entities, _ = merge_entities(self._answer.entities)
        for entity in entities:
            if any(self._stands_here(spelling) for spelling in (entity.name, *entity.aliases)):
                self._take(entity)
            else:
                self._dropped["entity_not_in_text"] += 1
        for entity in self._entities.values():
            for alias in entity.aliases:
                self._names.setdefault(name_key(alias), entity.name)

    def _take(self, entity: EntityDraft) -> None:
        key = name_key(entity.name)
        if entity.type == "other":
            entity = replace(entity, type=self._known.get(key, "other"))
        self._entities[key] = entity
        self._names[key] = entity.name

    def _stands_here(self, name: str) -> bool:
        whole_title = Span(0, len(self._source.title))
        found = self._places.find_name(name, self._within) or self._title.find_name(name, whole_title)
        return found is not None

    def _find(self, name: str) -> str | None:
        """The entity that a name means; one is made of a name that only a relation has."""
        key = name_key(name)
        if key not in self._names and self._places.find_name(name, self._within):
            self._take(EntityDraft(name))
            self._dropped["entity_added"] += 1
        return self._names.get(key)

    # ----------------------------------------------------------------------------- relations

    def _relation(self, relation: RelationDraft) -> RelationDraft | None:
        source, target = self._find(relation.source), self._find(relation.target)
        if source is None or target is None:
            self._dropped["relation_end_unknown"] += 1
            return None
        if source == target:
            self._dropped["relation_to_itself"] += 1
            return None
        place = self._place(relation.text)
        return replace(relation, source=source, target=target, start=place.start, end=place.end)

    # ------------------------------------------------------------------------------ episodes

    def _episode(self, focus: Focus) -> EpisodeDraft:
        facets: list[FacetDraft] = []
        roles: list[RoleDraft] = []
        for number, section in enumerate(focus.sections):
            points = tuple(map(self._point, section.claims))
            facets.append(self._facet(section, points))
            roles += self._roles(section, points, number)
        for name in dict.fromkeys(role.entity for role in roles):
            entity = self._entities[name_key(name)]
            if entity.description:
                roles.append(RoleDraft(name, entity.description))
        summary = "\n".join(section.description for section in focus.sections)
        return EpisodeDraft(focus.title or self._source.title, summary, tuple(facets), tuple(roles))

    def _facet(self, section: Section, points: Sequence[PointDraft]) -> FacetDraft:
        places = [Span(p.start, p.end) for p in points if p.start is not None and p.end is not None]
        places = places or [self._place(section.description)]
        start, end = min(place.start for place in places), max(place.end for place in places)
        return FacetDraft(section.title, section.description, tuple(points), start, end)

    def _roles(self, section: Section, points: Iterable[PointDraft], facet: int) -> list[RoleDraft]:
        """As the model says, else the first point that is about the entity."""
        said: dict[str, str] = {}
        for name, role in section.roles:
            entity = self._names.get(name_key(name))
            if entity is None:
                self._dropped["role_entity_unknown"] += 1
            else:
                said.setdefault(entity, role)
        for point in points:
            for entity in point.entities:
                said.setdefault(entity, point.text)
        return [RoleDraft(entity, role, facet) for entity, role in said.items()]

    def _point(self, claim: Claim) -> PointDraft:
        about = [self._names.get(name_key(name)) for name in claim.about]
        self._dropped["point_entity_unknown"] += about.count(None)
        named = (e.name for e in self._entities.values() if next(occurrences(claim.text, e.name), None))
        entities = tuple(dict.fromkeys([*(name for name in about if name is not None), *named]))
        place = self._place(claim.text)
        return PointDraft(claim.text, place.start, place.end, entities, self._ranges(claim))

    def _ranges(self, claim: Claim) -> tuple[TimeRange, ...]:
        if self._times is None:
            return ()
        texts = [claim.text, *(time for time in claim.times if time not in claim.text)]
        ranges = {(r.start, r.end): r for t in reversed(texts) for r in self._times(t, self._source.created_at)}
        return tuple(sorted(ranges.values(), key=lambda found: (found.start, found.end)))

    def _place(self, text: str) -> Span:
        return self._places.find_sentence(text, self._within) or self._places.best_chunk(text, self._chunks)
