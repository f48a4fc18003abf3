"""Bundle Search, preset `chain`: cost flows from the tip of the cone to its base. Pure numpy.

    S(E) = −τ·ln Σ_P exp(−c(P)/τ) − w_E·L(E) − w_T·T(E)
    c(P) = w_e·a·z(edge F→P) − w_p·L(P) + w_f·a·z(F) − w_l·L(F) + w_u·a·U(P)

Every path is a full chain point → facet → episode, so that all are equally long; the cheapest chain decides, never
the average. z: distances against a calibration; a: what vectors are worth beside words; L: the share of the question's
words (`postings.share_of`); T: the question's time against the episode's; U: how unlike the claim is to the best ones.
Knows nothing of SQL or of rows: nodes are places in arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

F8 = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ChainWeights:
    """The constants of the formula; `tau` 0 is the pure minimum."""

    edge: float = 0.25
    point_words: float = 0.25
    facet: float = 0.10
    facet_words: float = 0.25
    episode_words: float = 0.75
    time: float = 0.8
    tau: float = 0.05
    echo: float = 0.3


@dataclass(frozen=True, slots=True)
class Shape:
    """Who hangs on whom: the facet of each point, the telling of each facet (an episode as told by one card)."""

    facet_of_point: Places
    telling_of_facet: Places
    tellings: int

    @property
    def telling_of_point(self) -> Places:
        return self.telling_of_facet[self.facet_of_point]


@dataclass(frozen=True, slots=True)
class Signals:
    """What speaks for each node: z scores (less is nearer), shares of words, matches of time. Per point, facet,
    telling; `unlike`: how much less a point is like the best ones (`bundle_echo`), 0 until those are known;
    `points_extra` and `tellings_extra` are costs that are added as they are; `worth_edge` and `worth_facet` say what
    vectors are worth beside words (`bundle_scripts`).
    """

    z_edge: F8
    words_point: F8
    z_facet: F8
    words_facet: F8
    words_episode: F8
    time: F8
    points_extra: F8
    tellings_extra: F8
    unlike: F8
    worth_edge: F8
    worth_facet: F8


@dataclass(frozen=True, slots=True)
class Costs:
    """`claim`: the step from a point to its facet; `facet`: from a facet to its episode; `base`: what the episode
    itself brings. A path costs `path` = claim + facet + base; `total` is the soft minimum of a telling's paths,
    infinite where it has none.
    """

    claim: F8
    facet: F8
    base: F8
    path: F8
    total: F8


def chain(shape: Shape, signals: Signals, weights: ChainWeights) -> Costs:
    """Costs of every path, and of every telling."""
    claim = weights.edge * signals.worth_edge * signals.z_edge - weights.point_words * signals.words_point
    claim = claim + weights.echo * signals.worth_edge * signals.unlike + signals.points_extra
    facet = weights.facet * signals.worth_facet * signals.z_facet - weights.facet_words * signals.words_facet
    base = -weights.episode_words * signals.words_episode - weights.time * signals.time + signals.tellings_extra
    climbed = claim + facet[shape.facet_of_point]
    at = shape.telling_of_point
    total = soft_minimum(climbed, at, shape.tellings, weights.tau) + base
    return Costs(claim, facet, base, climbed + base[at], total)


def minimum(costs: F8, groups: Places, count: int) -> F8:
    """The least of each group, infinite where there is none."""
    least = np.full(count, np.inf)
    np.minimum.at(least, groups, costs)
    return least


def soft_minimum(costs: F8, groups: Places, count: int, tau: float) -> F8:
    """−τ·ln Σ exp(−c/τ) per group: a little less than the least, the more so the more others are as cheap."""
    least = minimum(costs, groups, count)
    if tau <= 0 or not len(costs):
        return least
    mass = np.zeros(count)
    np.add.at(mass, groups, np.exp(-(costs - least[groups]) / tau))
    return least - tau * np.log(np.where(mass > 0, mass, 1.0))
