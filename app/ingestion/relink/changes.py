"""What a card that was read again says otherwise than before: the rows that are new, and those that are to go. Pure.

Where it tells the same as before, its episodes, facets and claims stay the rows that they are.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from app.graph.cone_queries import EntityIds
from app.graph.rows import ConeRows, RelationRow, RoleRow, TextRow
from app.graph.vector_tables import RelationVector, RoleVector
from app.ingestion.derive import Derived
from app.ingestion.learn import Learned
from app.ingestion.relink.queries import StoredCone

Row = TypeVar("Row", RelationRow, RoleRow)


@dataclass(slots=True)
class Change:
    """`card` has the rows to be written. `is_whole`: instead of all that is there, but its chunks."""

    card: Learned
    is_whole: bool = False
    roles: list[uuid.UUID] = field(default_factory=list)
    """To go, as those of `relations`."""
    relations: list[uuid.UUID] = field(default_factory=list)
    points: list[uuid.UUID] = field(default_factory=list)
    """Which are about somebody else now: `point_entities`, instead of those before."""
    point_entities: list[tuple[uuid.UUID, uuid.UUID]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        cone = self.card.derived.cone
        rows = (cone.roles, cone.relations, cone.mentions, cone.tellings, self.roles, self.relations, self.points)
        return not (self.is_whole or any(rows))


def texts_needed(card: Learned, stored: StoredCone) -> list[TextRow]:
    """What may have to be written with a vector."""
    texts = card.derived.cone.texts
    if not tells_the_same(card.derived.cone, stored):
        return texts
    return [text for text in texts if text.table in (RelationVector, RoleVector)]


def tells_the_same(cone: ConeRows, stored: StoredCone) -> bool:
    """Whether the episodes, the facets and the claims are those that are there."""
    return (
        [(e.ordinal, e.external_id, e.title, e.summary) for e in _ordered(cone.episodes, lambda e: e.ordinal)]
        == [said for _, said in stored.episodes]
        and [
            (f.episode.ordinal, f.ordinal, f.title, f.description, f.start, f.end)
            for f in _ordered(cone.facets, lambda f: (f.episode.ordinal, f.ordinal))
        ]
        == [said for _, said in stored.facets]
        and [
            (p.facet.episode.ordinal, p.facet.ordinal, p.ordinal, p.text, p.start, p.end, p.speaker, p.claim_key,
             p.claim_value)
            for p in _ordered(cone.points, lambda p: (p.facet.episode.ordinal, p.facet.ordinal, p.ordinal))
        ]
        == [said for _, said in stored.points]
    )  # fmt: skip


def _ordered(rows: Iterable[Any], key: Callable[[Any], Any]) -> list[Any]:
    return sorted(rows, key=key)


def changes(card: Learned, stored: StoredCone, entities: EntityIds) -> Change:
    """`entities`: whom the names of the card mean. Rows of the card that are there already get the ids of those."""
    cone = card.derived.cone
    if not tells_the_same(cone, stored):
        every = [row for rows in stored.relations.values() for row in rows]
        return Change(card, is_whole=True, relations=every)

    def entity(name: str) -> uuid.UUID:
        return entities[card.card_id, name]

    for rows, known in (
        (_ordered(cone.episodes, lambda e: e.ordinal), stored.episodes),
        (_ordered(cone.facets, lambda f: (f.episode.ordinal, f.ordinal)), stored.facets),
        (_ordered(cone.points, lambda p: (p.facet.episode.ordinal, p.facet.ordinal, p.ordinal)), stored.points),
    ):
        for row, (row_id, _) in zip(rows, known, strict=True):
            row.id = row_id
    roles, gone_roles = _told_apart(
        cone.roles,
        stored.roles,
        lambda row: (entity(row.entity), row.episode.id, row.facet and row.facet.id, row.text),
    )
    relations, gone_relations = _told_apart(
        cone.relations,
        stored.relations,
        lambda row: (
            *(row.chunk_id, entity(row.source), entity(row.target), row.predicate, row.text),
            *(row.confidence, row.start, row.end),
        ),
    )
    mentions = {
        (row.chunk_id, row.ordinal, entity(row.entity), row.start, row.end, row.in_title, row.name)
        for row in cone.mentions
    }
    about = {(point.id, entity(name)) for point in cone.points for name in point.entities}
    touched = {point for point, _ in about ^ stored.point_entities}
    told: dict[uuid.UUID, str] = {}
    for name, description in cone.tellings.items():
        told[entity(name)] = max(told.get(entity(name), ""), description, key=len)
    kept = ConeRows(
        cone.card_id,
        roles=roles,
        relations=relations,
        mentions=cone.mentions if mentions != stored.mentions else [],
        tellings=cone.tellings if told != stored.tellings else {},
    )
    written = {row.id for row in roles} | {row.id for row in relations}
    kept.texts = [text for text in cone.texts if text.owner_id in written]
    counted = {id(row.lexical) for row in roles} | {id(row.lexical) for row in relations}
    derived = Derived(
        kept, card.derived.extraction, counted=[one for one in card.derived.counted if id(one[1]) in counted]
    )
    return Change(
        Learned(card.card, card.rows, derived),
        roles=gone_roles,
        relations=gone_relations,
        points=sorted(touched),
        point_entities=sorted(pair for pair in about if pair[0] in touched),
    )


def _told_apart(
    rows: Sequence[Row], stored: dict[tuple[Any, ...], list[uuid.UUID]], key: Callable[[Row], tuple[Any, ...]]
) -> tuple[list[Row], list[uuid.UUID]]:
    """Those that are new, and the ids of those that are not said any more."""
    left = defaultdict(list, {said: list(ids) for said, ids in stored.items()})
    new: list[Row] = []
    for row in rows:
        if left[key(row)]:
            left[key(row)].pop()
        else:
            new.append(row)
    return new, sorted(row_id for ids in left.values() for row_id in ids)
