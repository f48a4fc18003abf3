"""How far apart question and text usually are, per kind of text and pair of scripts. Pure.

Distances of an embedding space mean nothing by themselves (in one space unrelated texts are .2 apart, in another .7),
and even within a space questions lie nearer to claims than to summaries, and nearer to their own script. Here every
distance is measured against that of pairs which have nothing to do with each other: z = (d − μ)/σ. From the same
pairs come the baselines of the adaptive confidence, what words would have said across scripts, and how near a question
comes to texts when nothing is there for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from app.index.collections import TextKind
from app.retrieval.bundle_scales import Scale, Scales
from app.retrieval.bundle_scripts import Line
from app.retrieval.pseudo_questions import Script

F8 = npt.NDArray[np.float64]
Pair = tuple[Script, Script]
"""Script of the question, script of the text."""

PAIRS: Final[tuple[Pair, ...]] = (("han", "han"), ("han", "latin"), ("latin", "han"), ("latin", "latin"))
LINES: Final = ("point", "facet", "episode")
SHARES: Final = (0.05, 0.25, 0.5)
"""Of the questions that nothing is there for, those that come nearer to some text than the quantile says."""

KEPT_WORDS: Final[Mapping[Script, float]] = {"latin": 0.65, "han": 1.0}
"""Questions that are made from a claim have its words; real ones say some of them otherwise. Measured at z = −3 on four
English sets (.42–.88) and a Chinese one (1.1) by `bench.calibration`.
"""

# A sample of so many texts weighs as much as what is known of the space already.
_TEXTS_KNOWN: Final = 15.0
_FEWEST: Final = 60
"""Pairs; fewer of them say nothing."""
_CLIP: Final = 2.5
_SIGMA_FLOOR: Final = 1e-3
_BIN: Final = 0.5
_BIN_PAIRS: Final = 5
_DEEPEST: Final = 12.0


@dataclass(frozen=True, slots=True)
class Background:
    """Cosine distances of pairs that have nothing to do with each other; `texts` different ones are among them."""

    mu: float
    sigma: float
    pairs: int = 0
    texts: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """All that is known of one kind of text and pair of scripts.

    `baseline`: squared L2 distance at which a question usually finds a text about its own matter. By share of the
    questions, the best z that they reach: `foreign` among texts about other matters than theirs, `stranger` questions
    about nothing that is here among all texts. `line`: see `bundle_scripts`.
    """

    background: Background
    baseline: float | None = None
    foreign: Mapping[float, float] = field(default_factory=dict)
    stranger: Mapping[float, float] = field(default_factory=dict)
    line: Line | None = None


UNKNOWN: Final = Background(0.60, 0.08)
"""Of a space that nothing is known of and nothing was measured in: somewhere between the narrow and the wide ones."""

Readings = Mapping[tuple[str, Pair], Reading]
"""By name of the kind (of `TextKind`, and `facet` for the line alone) and scripts."""


def fit_background(distances: F8, texts: int = 0) -> Background | None:
    """Mean and deviation without the lower tail, where pairs are that have something to do with each other after all.
    None from too few pairs.
    """
    if distances.size < _FEWEST:
        return None
    kept = distances
    mu, sigma = float(kept.mean()), float(kept.std())
    for _ in range(5):
        kept = distances[distances > mu - _CLIP * sigma]
        mu, sigma = float(kept.mean()), float(kept.std())
    return Background(mu, max(sigma, _SIGMA_FLOOR), int(distances.size), texts)


def fit_line(z: F8, shares: F8, kept_words: float = 1.0) -> Line | None:
    """E[L | z] over z < 0, each step of z weighing the same however many pairs it has: almost all of them are where
    nothing matches. `kept_words`: see `KEPT_WORDS`. None from too few pairs.
    """
    near = -z
    inside = (near > 0) & (near < _DEEPEST)
    near, shares = near[inside], shares[inside]
    step = (near / _BIN).astype(np.int64)
    counts = np.bincount(step) if near.size else np.zeros(0, np.int64)
    full = counts[step] >= _BIN_PAIRS if near.size else np.zeros(0, np.bool_)
    if near.size < _FEWEST or np.count_nonzero(counts >= _BIN_PAIRS) < 3:
        return None
    weights = 1.0 / counts[step[full]]
    x, y = near[full], shares[full]
    mean_x, mean_y = np.average(x, weights=weights), np.average(y, weights=weights)
    beta = float(
        np.average((x - mean_x) * (y - mean_y), weights=weights) / np.average((x - mean_x) ** 2, weights=weights)
    )
    return Line(kept_words * float(mean_y - beta * mean_x), kept_words * beta)


def fit_best(best: F8) -> dict[float, float]:
    """Quantiles of the best z that questions reach. Empty from too few questions."""
    best = best[np.isfinite(best)]
    return {share: float(np.quantile(best, share)) for share in SHARES} if best.size >= 20 else {}


def fit_baseline(best: F8) -> float | None:
    """Median of the least cosine distances to texts about the question's own matter, as squared L2."""
    best = best[np.isfinite(best)]
    return float(2 * np.median(best)) if best.size >= 10 else None


class Calibration:
    """What was measured in a workspace, over what is `known` of its space, if anything is; of a pair with few texts
    both count.
    """

    def __init__(self, known: Readings, measured: Readings | None = None) -> None:
        self._known = known
        self._measured = measured or {}
        self._backgrounds = {
            (kind.name, pair): self._background(kind.name, pair) for kind in TextKind for pair in PAIRS
        }

    def background(self, kind: TextKind, asked: Script, script: Script) -> Background:
        return self._backgrounds[kind.name, (asked, script)]

    def z(
        self, kind: TextKind, asked: Script, in_han: npt.NDArray[np.bool_], distances: npt.NDArray[np.floating]
    ) -> F8:
        """(d − μ)/σ of many texts, of which `in_han` says the script; NaN where d is. The nearer, the lower."""
        han, latin = self.background(kind, asked, "han"), self.background(kind, asked, "latin")
        mu, sigma = np.where(in_han, han.mu, latin.mu), np.where(in_han, han.sigma, latin.sigma)
        z: F8 = (distances.astype(np.float64) - mu) / sigma
        return z

    def line(self, kind: str, asked: Script) -> Line:
        """E[L | z] of `LINES` for questions of a script: from pairs of that script, else of the other one."""
        for script in (asked, _other(asked)):
            for readings in (self._measured, self._known):
                found = readings.get((kind, (script, script)))
                if found is not None and found.line is not None:
                    return found.line
        return Line(0.0, 0.0)

    def baseline(self, kind: TextKind, asked: Script) -> float:
        """Squared L2, for the adaptive confidence; where none was measured, two deviations nearer than usual."""
        for readings in (self._measured, self._known):
            found = readings.get((kind.name, (asked, asked)))
            if found is not None and found.baseline is not None:
                return found.baseline
        usual = self.background(kind, asked, asked)
        return 2 * (usual.mu - 2 * usual.sigma)

    def foreign(self, kind: TextKind, asked: Script, share: float = 0.05) -> float | None:
        """The z that only such a share (of `SHARES`) of questions reach among texts about other matters than theirs."""
        return self._best("foreign", kind, asked, share)

    def stranger(self, kind: TextKind, asked: Script, share: float = 0.05) -> float | None:
        """The z that only such a share of questions reach that are about nothing here."""
        return self._best("stranger", kind, asked, share)

    def speaks_both(self, kind: TextKind, asked: Script) -> bool:
        """Whether, as far as was measured here, at least half as many texts are in the other script as in this one."""
        own, other = (self._measured.get((kind.name, (asked, script))) for script in (asked, _other(asked)))
        told = 0 if own is None else own.background.texts
        return other is not None and other.background.texts * 2 >= told

    def holds_both(self, kind: TextKind, asked: Script) -> bool:
        """The same, and some in this one."""
        return (kind.name, (asked, asked)) in self._measured and self.speaks_both(kind, asked)

    def scales(self, asked: Script) -> Scales:
        """What the bundle's costs are measured by, for a question of this script."""
        return Scales(
            known={
                (kind, pair[0] == "han", pair[1] == "han"): Scale(one.mu, one.sigma)
                for (kind, pair), one in self._backgrounds.items()
            },
            lines={kind: self.line(kind, asked) for kind in LINES},
        )

    def _best(self, name: Literal["foreign", "stranger"], kind: TextKind, asked: Script, share: float) -> float | None:
        for readings in (self._measured, self._known):
            found = readings.get((kind.name, (asked, asked)))
            quantiles: Mapping[float, float] = {} if found is None else getattr(found, name)
            if share in quantiles:
                return quantiles[share]
        return None

    def _background(self, kind: str, pair: Pair) -> Background:
        own, known = self._measured.get((kind, pair)), self._known.get((kind, pair))
        if own is None:
            found = known.background if known is not None else _relative(self._measured, kind, pair)
            return found or _relative(self._known, kind, pair) or UNKNOWN
        here = own.background
        if known is None:
            return here
        weight = here.texts / (here.texts + _TEXTS_KNOWN)
        return Background(
            weight * here.mu + (1 - weight) * known.background.mu,
            weight * here.sigma + (1 - weight) * known.background.sigma,
            here.pairs,
            here.texts,
        )


def _relative(some: Readings, kind: str, pair: Pair) -> Background | None:
    """What is nearest to a kind and pair that were not measured: the same pair of another kind, then the same kind with
    one script or the other.
    """
    asked, script = pair
    kinds = [kind, *(other.name for other in TextKind if other.name != kind)]
    for other_pair in (pair, (script, script), (asked, asked)):
        for name in kinds:
            if (name, other_pair) in some:
                return some[name, other_pair].background
    return None


def _other(script: Script) -> Script:
    return "latin" if script == "han" else "han"
