"""The ways on which level explore came to a card, as they are shown: entity –fact→ entity –mentioned in→ card. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.retrieval.explore import Entity, Hop, Link


@dataclass(frozen=True, slots=True)
class Told:
    """A relation or a claim: what it says, in which card; the ends (id, name) of a relation."""

    text: str
    card_id: uuid.UUID
    card_title: str
    ends: tuple[tuple[uuid.UUID, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Trail:
    """Entities one after the other, each with the relation that leads on and how strong that is; the last one is the
    link's, and leads to the card.
    """

    steps: Sequence[tuple[Entity, uuid.UUID, float]]
    link: Link
    score: float


def direct(link: Link, title: str, weight: float) -> dict[str, Any]:
    """What the question names stands in the card."""
    return _path(weight, [(_entity(link.entity), _mention(link, weight))], link.card_id, title)


def across(one: Hop, title: str, told: Told | None, asked: Sequence[Entity], source_title: str) -> dict[str, Any]:
    """Over a bridge: from the other end of the relation, or from the card whose claim it is."""
    fact, bridge = one.bridge.fact, one.bridge
    weight = round(bridge.weight, 6)
    if told is not None and fact.relation_id is not None:
        edge = {"kind": "relation", "id": str(fact.relation_id), "text": told.text}
        first = _other_end(told, bridge.entity, asked) or _card(told.card_id, told.card_title)
    elif told is not None:
        edge = {"kind": "claim", "id": str(fact.point_id), "text": told.text}
        first = _card(told.card_id, told.card_title)
    else:
        edge = {"kind": "mention", "id": str(bridge.source), "text": bridge.entity.name}
        first = _card(bridge.source, source_title)
    steps = [
        (first, {**edge, "cost": _cost(weight), "weight": weight}),
        (_entity(bridge.entity), _mention(one.link, one.strength)),
    ]
    return _path(one.score, steps, one.link.card_id, title)


def along(trail: Trail, title: str, told: Mapping[uuid.UUID | None, Told]) -> dict[str, Any]:
    """Over relations, one or two."""
    steps = []
    for entity, relation_id, strength in trail.steps:
        weight = round(strength, 6)
        text = told[relation_id].text if relation_id in told else ""
        edge = {"kind": "relation", "id": str(relation_id), "text": text, "cost": _cost(weight), "weight": weight}
        steps.append((_entity(entity), edge))
    steps.append((_entity(trail.link.entity), _mention(trail.link, trail.score)))
    return _path(trail.score, steps, trail.link.card_id, title)


def facts_of(hops: Iterable[Hop]) -> tuple[set[uuid.UUID], set[uuid.UUID]]:
    """(relations, claims) that these ways cross."""
    relations: set[uuid.UUID] = set()
    points: set[uuid.UUID] = set()
    for one in hops:
        fact = one.bridge.fact
        if fact.relation_id is not None:
            relations.add(fact.relation_id)
        elif fact.point_id is not None:
            points.add(fact.point_id)
    return relations, points


def told_of(rows: Iterable[Mapping[str, Any]]) -> dict[uuid.UUID | None, Told]:
    """By the id of the relation or claim."""
    found: dict[uuid.UUID | None, Told] = {}
    for row in rows:
        ends = ((row["source_id"], row["source"]), (row["target_id"], row["target"])) if row["relation_id"] else ()
        found[row["relation_id"] or row["point_id"]] = Told(row["text"], row["card_id"], row["title"], ends)
    return found


def _other_end(told: Told, entity: Entity, asked: Sequence[Entity]) -> dict[str, str] | None:
    """The end that is not the bridge; what the question names before anything else."""
    others = [end for end in told.ends if end[0] != entity.id]
    named = {one.id for one in asked}
    others.sort(key=lambda end: end[0] not in named)
    return {"kind": "entity", "id": str(others[0][0]), "label": others[0][1]} if others else None


def _path(
    weight: float, steps: Sequence[tuple[dict[str, str], dict[str, Any]]], card_id: uuid.UUID, title: str
) -> dict[str, Any]:
    walked = [{"node": node, "edge": edge} for node, edge in steps]
    return {
        "cost": _cost(weight),
        "score": round(weight, 6),
        "steps": [*walked, {"node": _card(card_id, title), "edge": None}],
    }


def _mention(link: Link, weight: float) -> dict[str, Any]:
    kind = "title" if link.own else "in_title" if link.in_title else "mention"
    weight = round(weight, 6)
    return {
        "kind": kind,
        "id": str(link.chunk_id),
        "text": link.entity.name,
        "cost": _cost(weight),
        "weight": weight,
    }


def _entity(entity: Entity) -> dict[str, str]:
    return {"kind": "entity", "id": str(entity.id), "label": entity.name}


def _card(card_id: uuid.UUID, title: str) -> dict[str, str]:
    return {"kind": "card", "id": str(card_id), "label": title}


def _cost(weight: float) -> float:
    """What is missing to a perfect link."""
    return round(max(1.0 - weight, 0.0), 6)
