"""How level explore counts: seeds, bridges, hops and what becomes of them. Pure: values in, values out.

A question names entities. *Seeds* are the cards that fit it: by vector, by words, by being named in it or by naming
what it names. The best of them have *bridges*: entities that the question does not name and that a fact of the card
joins to what is asked. A *hop* goes from there to the cards of the bridge. The constants are those of the recipe that
was measured (see `bench/RESULTS.md`); what can be changed is in the settings.
"""

from __future__ import annotations

import heapq
import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.retrieval.settings import RetrievalSettings


@dataclass(frozen=True, slots=True)
class Scale:
    """What is usual in the workspace and what is best for this question: between them lies what a similarity tells."""

    mean: float = 0.0
    top: float = 0.0

    def lift(self, similarity: float | None) -> float:
        """nz(x) = clip((x − mean) / (max − mean), 0, 1); what is not known is 0."""
        if similarity is None or self.top <= self.mean:
            return 0.0
        return min(max((similarity - self.mean) / (self.top - self.mean), 0.0), 1.0)


def rarity(cards: int) -> float:
    """idf(e) = 1 / log2(1 + df): of an entity that so many cards name; a hub says little."""
    return 1.0 / math.log2(1 + max(1, cards))


class Entity(NamedTuple):
    """`cards` name it, of `titled` it is the whole title, `inside` longer titles it stands."""

    id: uuid.UUID
    name: str
    cards: int
    titled: int
    inside: int = 0

    @property
    def rarity(self) -> float:
        return rarity(self.cards)


class Link(NamedTuple):
    """How a card names an entity: as its whole title (`own`), in a longer one, or in its text."""

    entity: Entity
    card_id: uuid.UUID
    chunk_id: uuid.UUID
    own: bool
    in_title: bool


def base(nearness: float, words: float, share: float = 0.5) -> float:
    """.5·nz(cos) + .5·bm25/max."""
    return (1 - share) * nearness + share * words


def named_share(link: Link, card_base: float, settings: RetrievalSettings) -> float:
    """What a question entity gives to a card: .6/√|T_e| where it is its title, .3·idf·(.3 + .7·base) elsewhere."""
    if link.own:
        return settings.explore_named_title / math.sqrt(max(link.entity.titled, 1))
    return settings.explore_named_mention * link.entity.rarity * (0.3 + 0.7 * card_base)


def seeds(
    bases: Mapping[uuid.UUID, float],
    links: Sequence[Link],
    titled: Mapping[uuid.UUID, int],
    settings: RetrievalSettings,
) -> tuple[dict[uuid.UUID, float], frozenset[uuid.UUID]]:
    """s of every card, and the cards that the question names: of several names of one card's title the best counts,
    names in its text add up. `titled`: cards whose very title stands in the question, with how many have that title.
    """
    titles = {card: settings.explore_named_title / math.sqrt(max(cards, 1)) for card, cards in titled.items()}
    scores = dict(bases)
    once: set[tuple[uuid.UUID, uuid.UUID]] = set()
    own = {(link.card_id, link.entity.id) for link in links if link.own}
    for link in links:
        pair = (link.card_id, link.entity.id)
        share = named_share(link, bases.get(link.card_id, 0.0), settings)
        if link.own:
            titles[link.card_id] = max(titles.get(link.card_id, 0.0), share)
        elif pair not in once and pair not in own:
            once.add(pair)
            scores[link.card_id] = scores.get(link.card_id, 0.0) + share
    for card, share in titles.items():
        scores[card] = scores.get(card, 0.0) + share
    return scores, frozenset(titles)


class Fact(NamedTuple):
    """A relation or a claim that joins a card's entity to the question, and how well it fits (nz)."""

    fit: float
    relation_id: uuid.UUID | None = None
    point_id: uuid.UUID | None = None

    @property
    def id(self) -> uuid.UUID | None:
        return self.relation_id or self.point_id


# What a card's entity counts as of which the card says nothing in particular.
UNSAID = Fact(0.3)


@dataclass(frozen=True, slots=True)
class Bridge:
    """An entity through which a card leads on. `weight` = a·w: how good the card is, and how the fact fits."""

    source: uuid.UUID
    entity: Entity
    fact: Fact
    weight: float


def bridges(
    card_id: uuid.UUID, goodness: float, about: Iterable[tuple[Entity, Fact]], settings: RetrievalSettings
) -> list[Bridge]:
    """The card's best bridges: w = .4 + .6·f, those first that are a title, stand in one, or are rare."""
    ranked = []
    for entity, fact in about:
        if entity.cards <= 1 and not entity.titled and not entity.inside:
            continue
        weight = 0.4 + 0.6 * fact.fit
        worth = 1.0 if entity.titled else 0.8 if entity.inside else 0.5 + 0.5 * entity.rarity
        ranked.append((weight * worth, Bridge(card_id, entity, fact, weight * goodness)))
    ranked.sort(key=lambda pair: (-pair[0], pair[1].entity.id))
    return [bridge for _, bridge in ranked[: settings.explore_bridges]]


def strongest(found: Iterable[Bridge]) -> list[Bridge]:
    """One bridge per entity, the strongest first."""
    best: dict[uuid.UUID, Bridge] = {}
    for bridge in found:
        known = best.get(bridge.entity.id)
        if known is None or bridge.weight > known.weight:
            best[bridge.entity.id] = bridge
    return sorted(best.values(), key=lambda bridge: (-bridge.weight, bridge.entity.id))


class Hop(NamedTuple):
    """A way over a bridge to a card: `strength` is that of its last link, `score` that of all of it."""

    bridge: Bridge
    link: Link
    strength: float
    score: float


def strength(link: Link, rest: float, settings: RetrievalSettings) -> float:
    """link·((1 − μ) + μ·res): μ = .5 for titles, of which few are meant by chance, and 1 for mentions."""
    if link.own:
        return (0.5 + 0.5 * rest) / math.pow(max(link.entity.titled, 1), 0.25)
    if link.in_title:
        return settings.explore_inside_link * (0.5 + 0.5 * rest)
    return settings.explore_mention_link * (0.5 + 0.5 * min(1.0, 2 * link.entity.rarity)) * rest


def hop(bridge: Bridge, link: Link, rest: float, settings: RetrievalSettings) -> Hop:
    """`rest`: how the card fits what the question still asks once the bridge is crossed."""
    strong = strength(link, rest, settings)
    return Hop(bridge, link, strong, bridge.weight * strong)


def beam(
    seeded: Mapping[uuid.UUID, float],
    named: frozenset[uuid.UUID],
    hops: Iterable[Hop],
    settings: RetrievalSettings,
) -> dict[uuid.UUID, float]:
    """max(s, .9·s_max·hop); a card that the question names needs no way to it."""
    top = max(seeded.values(), default=0.0)
    scores = dict(seeded)
    for one in hops:
        card = one.link.card_id
        if card not in named:
            scores[card] = max(scores.get(card, 0.0), settings.explore_hop * top * one.score)
    return scores


def merged(
    beamed: Mapping[uuid.UUID, float], walked: Mapping[uuid.UUID, float], settings: RetrievalSettings, limit: int
) -> list[tuple[uuid.UUID, float]]:
    """beam/max + √(ppr/max), best first, the first two places from the beam; ties by id. At most `limit`."""
    top = max(beamed.values(), default=0.0) or 1.0
    far = max(walked.values(), default=0.0) or 1.0
    weight = settings.explore_walk
    scores = {
        card: beamed.get(card, 0.0) / top + weight * math.sqrt(walked.get(card, 0.0) / far)
        for card in beamed.keys() | (walked.keys() if weight else set())
    }
    first = _best(beamed, settings.explore_pinned if weight else 0)
    pinned = {card for card, _ in first}
    rest = [(card, score) for card, score in _best(scores, limit + len(first)) if card not in pinned]
    # A score that grows down the list would contradict the order.
    best = max((score for _, score in rest), default=0.0)
    return [*((card, max(scores[card], best)) for card, _ in first), *rest][:limit]


def _best(scores: Mapping[uuid.UUID, float], most: int) -> list[tuple[uuid.UUID, float]]:
    return heapq.nsmallest(most, scores.items(), key=lambda pair: (-pair[1], pair[0]))


def reset(
    facts: Sequence[tuple[float, Sequence[Entity]]],
    named: Iterable[Entity],
    bases: Mapping[uuid.UUID, float],
) -> tuple[dict[uuid.UUID, float], dict[uuid.UUID, float]]:
    """Where the walk starts again: (entities, cards). Of the best facts' entities mean(nz)/df, of the
    question's 1/√df, cards .05·base.
    """
    fits: dict[uuid.UUID, list[float]] = {}
    known: dict[uuid.UUID, Entity] = {}
    for fit, about in facts:
        for entity in about:
            known[entity.id] = entity
            fits.setdefault(entity.id, []).append(fit)
    entities = {key: sum(found) / len(found) / max(known[key].cards, 1) for key, found in fits.items()}
    for entity in named:
        entities[entity.id] = entities.get(entity.id, 0.0) + 1 / math.sqrt(max(entity.cards, 1))
    return entities, {card: 0.05 * value for card, value in bases.items()}
