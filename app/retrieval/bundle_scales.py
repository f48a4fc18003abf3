"""Distances as z scores: how much nearer a text is than texts usually are. Pure.

The background is that of question–text pairs which have nothing to do with each other, per kind of text and pair of
scripts; a workspace has its own when it was calibrated, else those of the embedded model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.retrieval.bundle import F8
from app.retrieval.bundle_scripts import Line


@dataclass(frozen=True, slots=True)
class Scale:
    mu: float
    sigma: float


# multilingual-e5-small, int8: dialogue, reports, notes.
_MU, _SIGMA = 0.215, 0.03
_LINES = {"point": Line(-0.0707, 0.0983), "episode": Line(-0.2134, 0.2116), "facet": Line(-0.2085, 0.2124)}


@dataclass(frozen=True, slots=True)
class Scales:
    """`known`: by kind of text and scripts (question in Han, text in Han)."""

    known: Mapping[tuple[str, bool, bool], Scale] = field(default_factory=dict)
    lines: Mapping[str, Line] = field(default_factory=lambda: _LINES)

    def z(self, kind: str, distances: NDArray[np.floating], asked_in_han: bool, in_han: NDArray[np.bool_]) -> F8:
        """(d − μ)/σ, NaN where d is."""
        han, other = self._scale(kind, asked_in_han, True), self._scale(kind, asked_in_han, False)
        mu, sigma = np.where(in_han, han.mu, other.mu), np.where(in_han, han.sigma, other.sigma)
        z: F8 = (distances.astype(np.float64) - mu) / sigma
        return z

    def line(self, kind: str) -> Line:
        return self.lines[kind]

    def _scale(self, kind: str, asked_in_han: bool, in_han: bool) -> Scale:
        return self.known.get((kind, asked_in_han, in_han), Scale(_MU, _SIGMA))
