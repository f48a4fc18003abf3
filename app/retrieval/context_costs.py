"""What the reached part of the cone costs: records and words in, costs and the choice of hits out. Pure numpy.

Joins what the statements know (`context_queries`) with the formulas (`bundle*`); knows neither SQL nor texts.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from app.index.collections import Collection
from app.index.postings import LexicalHits
from app.retrieval.bundle import F8, ChainWeights, Costs, Places, Shape, Signals, chain
from app.retrieval.bundle_confidence import confidence, node_weight
from app.retrieval.bundle_diversity import pick
from app.retrieval.bundle_echo import unlike
from app.retrieval.bundle_published import EDGE_MISS, HOP, Edges, Links, Starts, normalised, published, starts_of
from app.retrieval.bundle_scales import Scales
from app.retrieval.bundle_scripts import imputed, nearest_other, worth
from app.retrieval.bundle_time import AskedTime, Moments, asked_time, time_match
from app.retrieval.context_queries import Reached, Records
from app.retrieval.scripts import han_from
from app.retrieval.settings import RetrievalSettings
from app.retrieval.types import Preset
from app.text.when import TimeFound

# How many of each list have a start in the published formula.
PUBLISHED_LIST = 100


@dataclass(frozen=True, slots=True)
class Ranked:
    """A card, the place of its cheapest telling, and what that costs after penalties and with `alike`, which is no more
    than 0: what the card costs less for its likeness to the first one.
    """

    card: bytes
    telling: int
    cost: float
    alike: float = 0.0


@dataclass(frozen=True, slots=True)
class Choice:
    """`cards`: the hits, best first; `paths`: claims per hit (places in the records), cheapest first; `evidence`: those
    of them that are shown.
    """

    cards: Sequence[Ranked]
    paths: Sequence[Sequence[int]]
    evidence: Sequence[Sequence[int]]
    wanted: Sequence[tuple[uuid.UUID, uuid.UUID]]


@dataclass(frozen=True, slots=True)
class Priced:
    """Everything that made a rank, by place."""

    reached: Reached
    shape: Shape
    signals: Signals
    costs: Costs

    def says_something(self, stranger_z: float | None, words: float) -> bool:
        """Whether any claim is nearer than questions come that nothing is there for (`stranger_z`; None: not known), or
        has that share of the question's words.
        """
        if not len(self.signals.z_edge):
            return False
        near = stranger_z is None or float(self.signals.z_edge.min()) <= stranger_z
        return near or float(self.signals.words_point.max()) >= words

    def ranked(self, penalty: float, limit: int) -> list[Ranked]:
        """The cheapest `limit` cards, each by its best telling."""
        total = self.costs.total
        finite = np.flatnonzero(np.isfinite(total))
        order = finite[np.argsort(total[finite], kind="stable")]
        tellings = self.reached.tellings
        card_of = [card.tobytes() for card in tellings["card"]]
        episode_of = [episode.tobytes() for episode in tellings["episode"]]
        picked = pick([total[at] for at in order], [(card_of[at], episode_of[at]) for at in order], penalty, len(order))
        hits: dict[bytes, Ranked] = {}
        for at, cost in picked:
            card = card_of[order[at]]
            if card not in hits:
                hits[card] = Ranked(card, int(order[at]), cost)
                if len(hits) == limit:
                    break
        return list(hits.values())

    def claims_of(self, telling: int, most: int) -> list[uuid.UUID]:
        """Of the cheapest paths of a telling, as many as that."""
        own = np.flatnonzero(self.shape.telling_of_point == telling)
        cheapest = own[np.argsort(self.costs.path[own], kind="stable")][:most]
        return [self.reached.id_of(self.reached.points, int(point)) for point in cheapest]

    def chosen(self, ranked: Sequence[Ranked], paths: int, claims: int) -> Choice:
        """These cards with up to `paths` paths for each, and the `claims` cheapest claims of all as evidence, at least
        one for each hit.
        """
        tellings = self.reached.tellings
        card_of = [card.tobytes() for card in tellings["card"]]
        number = {one.card: place for place, one in enumerate(ranked)}
        hit_of_telling = np.array([number.get(card, -1) for card in card_of], np.intp)
        hit_of_point = hit_of_telling[self.shape.telling_of_point] if len(card_of) else np.empty(0, np.intp)
        by_cost = np.argsort(self.costs.path, kind="stable")
        by_cost = by_cost[hit_of_point[by_cost] >= 0]
        shown: list[list[int]] = [[] for _ in ranked]
        walked: list[list[int]] = [[] for _ in ranked]
        for place, point in enumerate(by_cost[: max(claims, paths * len(ranked)) * 4].tolist()):
            hit = int(hit_of_point[point])
            if place < claims:
                shown[hit].append(point)
            if len(walked[hit]) < paths:
                walked[hit].append(point)
        for hit, one in enumerate(ranked):
            own = np.flatnonzero(self.shape.telling_of_point == one.telling)
            best = int(own[np.argmin(self.costs.path[own])])
            # The winning path first, whatever else the card says.
            walked[hit] = [best, *(point for point in walked[hit] if point != best)][:paths]
            shown[hit] = shown[hit] or [best]
        wanted = sorted({point for some in (*shown, *walked) for point in some})
        telling_of = self.shape.telling_of_point
        return Choice(
            ranked,
            walked,
            shown,
            [
                (
                    self.reached.id_of(self.reached.points, point),
                    self.reached.id_of(tellings, int(telling_of[point]), "card"),
                )
                for point in wanted
            ],
        )


def price(
    reached: Reached,
    words: Mapping[Collection, LexicalHits],
    times: Sequence[TimeFound],
    asked_in_han: bool,
    now_seconds: float,
    scales: Scales,
    settings: RetrievalSettings,
    preset: Preset,
    baseline: float,
    at_hand: Set[bytes] = frozenset(),
) -> Priced:
    """Costs of what was reached. `baseline`: squared L2, of claims. `now_seconds`: the moment for which claims should
    be valid. `at_hand`: ids of cards that were spoken of just before; they cost a little less.
    """
    tellings, facets, points = reached.tellings, reached.facets, reached.points
    shape = Shape(_places(points["facet"]), _places(facets["telling"]), len(tellings))
    at = shape.telling_of_point
    point_han, facet_han = (part["han"] > han_from(asked_in_han) for part in (points, facets))
    # What is said under a heading is embedded with it.
    edge_han = point_han | facet_han[shape.facet_of_point] if asked_in_han else point_han
    other_point, other_facet = point_han != asked_in_han, facet_han != asked_in_han
    bare = scales.z("point", points["claim"], asked_in_han, point_han)
    edge = scales.z("point_edge", points["edge"], asked_in_han, edge_han)
    share = _claim_share(points, baseline) if settings.context_adaptive else 0.5
    z_edge = _known(_both(bare, edge, share) if settings.context_bare_claim else edge)
    z_facet = _known(scales.z("facet_description", facets["description"], asked_in_han, facet_han))
    shares = {kind: _share(words[kind], part) for kind, part in _parts(reached).items()}
    z_bare = _known(bare)
    near_facet, facet_has = nearest_other(z_bare, other_point, shape.facet_of_point, len(facets))
    near_telling, telling_has = nearest_other(z_bare, other_point, at, len(tellings))
    factor = settings.context_impute
    signals = Signals(
        z_edge=z_edge,
        words_point=imputed(shares[Collection.point], z_bare, other_point, scales.line("point"), factor),
        z_facet=z_facet,
        words_facet=imputed(
            shares[Collection.facet], near_facet, facet_has | other_facet, scales.line("facet"), factor
        ),
        words_episode=imputed(shares[Collection.episode], near_telling, telling_has, scales.line("episode"), factor),
        time=_best_time([asked_time(one) for one in times], tellings),
        points_extra=np.where(points["until"] <= now_seconds, settings.context_superseded, 0.0),
        tellings_extra=_at_hand(tellings, at_hand, settings.context_at_hand),
        unlike=np.zeros(len(points)),
        worth_edge=worth(asked_in_han, edge_han, settings.context_han_distance),
        worth_facet=worth(asked_in_han, facet_han, settings.context_han_distance),
    )
    weights = ChainWeights(
        edge=settings.context_edge,
        point_words=settings.context_point_words,
        facet=settings.context_facet,
        facet_words=settings.context_facet_words,
        episode_words=settings.context_episode_words,
        time=settings.context_time,
        tau=settings.context_tau,
        echo=settings.context_echo,
    )
    if preset == "published":
        return Priced(reached, shape, signals, _published(reached, shape))
    costs = chain(shape, signals, weights)
    if settings.context_echo and reached.vectors is not None:
        # Nothing is unlike anything before the best claims are known; then they say what the others are like.
        _, cards = np.unique(tellings["card"], return_inverse=True)
        said = unlike(reached.vectors, costs.path, cards[at], settings.context_echo_claims)
        signals = replace(signals, unlike=said)
        costs = chain(shape, signals, weights)
    return Priced(reached, shape, signals, costs)


def _at_hand(tellings: Records, cards: Set[bytes], discount: float) -> F8:
    if not cards:
        return np.zeros(len(tellings))
    return np.array([-discount if card.tobytes() in cards else 0.0 for card in tellings["card"]], np.float64)


def _published(reached: Reached, shape: Shape) -> Costs:
    """The same tree of costs by the published formula: a claim that is shown costs what the path through it would."""
    links = Links(_places(reached.links["telling"]), _places(reached.links["facet"]))
    facets, points = reached.facets, reached.points
    starts = Starts(
        episode=starts_of(_floats(reached.owns["own"]), PUBLISHED_LIST),
        facet=starts_of(np.fmin(_floats(facets["title"]), _floats(facets["description"])), PUBLISHED_LIST),
        point=starts_of(_floats(points["claim"]), PUBLISHED_LIST),
        entity=starts_of(_floats(reached.links["entity"]), PUBLISHED_LIST),
    )
    edges = Edges(
        facet=normalised(_floats(facets["edge"])),
        point=normalised(_floats(points["edge"])),
        entity=normalised(_floats(reached.links["edge"])),
    )
    found = published(shape, links, starts, edges)
    claim = np.nan_to_num(starts.point, posinf=1.0) + np.nan_to_num(edges.point, nan=EDGE_MISS) + HOP
    path = claim + found.climb[shape.facet_of_point]
    return Costs(claim, found.climb, np.zeros(shape.tellings), path, found.total)


def _floats(column: Records) -> F8:
    return column.astype(np.float64)


def _parts(reached: Reached) -> dict[Collection, Records]:
    return {
        Collection.episode: reached.tellings,
        Collection.facet: reached.facets,
        Collection.point: reached.points,
    }


def _share(hits: LexicalHits, part: Records) -> F8:
    return hits.share_of(part["doc"].astype(np.uint32)).astype(np.float64)


def _places(column: Records) -> Places:
    return column.astype(np.intp)


def _known(z: F8) -> F8:
    """A text without a vector is as far away as texts usually are."""
    return np.nan_to_num(z, nan=0.0)


def _both(bare: F8, edge: F8, share: float) -> F8:
    """The claim by itself (`share` of it) and in its context, whichever are known."""
    both = share * bare + (1 - share) * edge
    return np.where(np.isnan(edge), bare, np.where(np.isnan(bare), edge, both))


def _claim_share(points: Records, baseline: float) -> float:
    """By adaptive confidence: how much is to be made of claims by themselves, the rest being of their edges."""
    return node_weight(*(_confidence(_floats(points[name]), baseline) for name in ("claim", "edge")))


def _confidence(distances: F8, baseline: float) -> float:
    known = distances[np.isfinite(distances)]
    if len(known) < 2:
        return 0.0
    best, second = 2 * np.partition(known, 1)[:2]
    return confidence(float(best), float(second), baseline)


def _best_time(asked: Sequence[AskedTime], tellings: Records) -> F8:
    """By the day on which each telling's episode happened, or from which its card speaks, whichever fits better."""
    spoken = time_match(asked, _days(tellings["created"]))
    happened = np.isfinite(tellings["happened"])
    if not asked or not happened.any():
        return spoken
    return np.where(happened, np.maximum(spoken, time_match(asked, _days(tellings["happened"]))), spoken)


def _days(seconds: Records) -> Moments:
    known = np.isfinite(seconds)
    days = np.floor(np.where(known, seconds, 0.0)).astype(np.int64).astype("datetime64[s]").astype("datetime64[D]")
    return np.where(known, days, np.datetime64("NaT"))
