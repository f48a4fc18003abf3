"""Callers' own extractions: from the posted item to drafts, and what our own adds where the caller left a part out.

The item has been validated at the door and is kept as JSON, so that a card that is learned again is learned
from it again. Pure.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from app.ingestion.cone.cover import cover
from app.ingestion.cone.look import look
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
    known_type,
)
from app.text.names_match import NameMatcher
from app.text.normalise import name_key
from app.text.when import find_times

DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Posted:
    """One posted episode; `id` is the episode's, `body` as the door stored it."""

    id: uuid.UUID
    external_id: str | None
    is_complete: bool
    body: Mapping[str, Any]


Claims = Callable[[str, str, datetime], Sequence[str]]
"""(a text, its title, the date it speaks from) → the claims it makes."""


def with_posted(source: Source, posted: Sequence[Posted], own: Extraction, claims: Claims) -> Extraction:
    """The card's extraction: the posted episodes, one for each item in order, filled from `own` unless complete.

    Parts that are there are the caller's word: facets, the points of a facet, entities, relations. What is not there
    (no facet at all, a facet without points, no entity, no relation, a claim without times) is ours.
    """
    parts = [_Item(source, item, claims) for item in posted]
    filled = [part for part in parts if not part.item.is_complete]
    entities = _Entities(source)
    relations: list[RelationDraft] = []
    for part in parts:
        entities.add(part.entities)
        relations += part.relations
    if any(not part.entities for part in filled):
        entities.add(own.entities)
    if any(not part.relations for part in filled):
        relations += own.relations
    for relation in relations:
        entities.add([EntityDraft(name) for name in (relation.source, relation.target) if name])
    relations = [
        replace(relation, source=entities.known(relation.source), target=entities.known(relation.target))
        for relation in relations
        if relation.source and relation.target
    ]
    matcher = entities.matcher()
    drafts = entities.drafts(matcher)
    episodes = [
        part.episode(own if number == 0 else Extraction(), drafts, matcher) for number, part in enumerate(parts)
    ]
    added: Counter[str] = Counter()
    if len(filled) == len(parts):
        covered = cover(source, episodes, look(source, drafts), added)
        episodes = [part.dated(episode, matcher) for part, episode in zip(parts, covered, strict=True)]
    return Extraction(tuple(drafts), tuple(relations), tuple(episodes), own.dropped, added)


class _Item:
    """One item, read."""

    def __init__(self, source: Source, item: Posted, claims: Claims) -> None:
        self.source = source
        self.item = item
        self._claims = claims
        occurred = item.body.get("occurred_at")
        self._said_at = datetime.fromisoformat(occurred) if occurred else source.created_at
        body = item.body
        self.entities = [
            EntityDraft(
                entity["name"],
                known_type(entity.get("type")),
                entity.get("description") or "",
                tuple(entity.get("aliases") or ()),
            )
            for entity in body.get("entities") or ()
        ]
        self.relations = [
            RelationDraft(
                relation["source"],
                relation["target"],
                relation.get("predicate") or "",
                relation.get("text")
                or " ".join([relation["source"], relation.get("predicate") or "", relation["target"]]),
            )
            for relation in body.get("relations") or ()
        ]

    def episode(self, own: Extraction, entities: Sequence[EntityDraft], matcher: NameMatcher) -> EpisodeDraft:
        body = self.item.body
        facets = tuple(self._facet(facet, matcher) for facet in body.get("facets") or ())
        roles: tuple[RoleDraft, ...] = ()
        if not facets and not self.item.is_complete and own.episodes:
            facets = tuple(facet for episode in own.episodes for facet in episode.facets)
            if len(own.episodes) == 1:
                names = {entity.name for entity in entities}
                roles = tuple(role for role in own.episodes[0].roles if role.entity in names)
        return EpisodeDraft(
            title=body["title"],
            summary=body.get("summary") or " ".join(facet.description for facet in facets),
            facets=facets,
            roles=roles,
            happened=_day(body.get("occurred_at")),
            external_id=self.item.external_id,
        )

    def dated(self, episode: EpisodeDraft, matcher: NameMatcher) -> EpisodeDraft:
        """What the guard has added says with whom and when it is about, too."""
        facets = (
            replace(
                facet,
                points=tuple(
                    point if point.entities or point.times else self._told(point, matcher) for point in facet.points
                ),
            )
            for facet in episode.facets
        )
        return replace(episode, facets=tuple(facets))

    def _facet(self, facet: Mapping[str, Any], matcher: NameMatcher) -> FacetDraft:
        description = facet.get("description") or ""
        points = [PointDraft(point["text"], *self._place(point)) for point in facet.get("points") or ()]
        if not points and description and not self.item.is_complete:
            said = self._claims(description, facet["title"], self._said_at)
            points = [PointDraft(claim, *self._place({"text": claim})) for claim in said]
        return FacetDraft(facet["title"], description, tuple(self._told(point, matcher) for point in points))

    def _told(self, point: PointDraft, matcher: NameMatcher) -> PointDraft:
        """With whom and when it is about."""
        names = tuple(dict.fromkeys(name for name, _, _ in matcher.find(point.text)))
        if self.item.is_complete:
            return replace(point, entities=names)
        times = tuple(TimeRange(time.start, time.end, time.text) for time in find_times(point.text, self._said_at))
        return replace(point, entities=names, times=times)

    def _place(self, point: Mapping[str, Any]) -> tuple[int | None, int | None]:
        """Where the card says it: the caller's word where it fits the card, or else where the very words stand."""
        start, end = point.get("start"), point.get("end")
        if start is not None and end is not None and 0 <= start < end <= len(self.source.content):
            return start, end
        found = self.source.content.find(point["text"])
        return (found, found + len(point["text"])) if found >= 0 else (None, None)


class _Entities:
    """Entities by key, the first one's name kept, with the places where the card names them."""

    def __init__(self, source: Source) -> None:
        self._content = source.content
        self._found: dict[str, EntityDraft] = {}
        self._names: dict[str, str] = {}

    def add(self, drafts: Sequence[EntityDraft]) -> None:
        for draft in drafts:
            key = name_key(draft.name)
            name = self._names.get(key)
            if name is None:
                self._found[draft.name] = draft
                for other in (draft.name, *draft.aliases):
                    self._names.setdefault(name_key(other), draft.name)
                continue
            known = self._found[name]
            self._found[name] = replace(
                known,
                type=known.type if known.type != "other" else draft.type,
                description=known.description or draft.description,
                aliases=tuple(dict.fromkeys([*known.aliases, *draft.aliases])),
                mentions=known.mentions or draft.mentions,
            )

    def known(self, name: str) -> str:
        return self._names[name_key(name)]

    def matcher(self) -> NameMatcher:
        """Finds them by all their names; own names go before aliases."""
        drafts = self._found.values()
        aliases = [(alias, draft.name) for draft in drafts for alias in draft.aliases]
        return NameMatcher([*((draft.name, draft.name) for draft in drafts), *aliases])

    def drafts(self, matcher: NameMatcher) -> list[EntityDraft]:
        """With the places where the card names them."""
        places: dict[str, list[Span]] = {}
        for name, start, end in matcher.find(self._content):
            places.setdefault(name, []).append(Span(start, end))
        return [
            draft if draft.mentions else replace(draft, mentions=tuple(places.get(draft.name, ())))
            for draft in self._found.values()
        ]


def _day(moment: str | None) -> TimeRange | None:
    """The day of an ISO moment, as the door stored it."""
    if not moment:
        return None
    start = datetime.fromisoformat(moment).replace(hour=0, minute=0, second=0, microsecond=0)
    return TimeRange(start, start + DAY)
