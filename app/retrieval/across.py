"""Passages in another script than the question's, beside those in its own: what they would have scored, had they been
in that script. Pure.

The vectors of one script lie nearer to each other than to those of another, and passages of another script share no
word with the question. Distances are told apart by what is usual for each pair of scripts; what words would have said
is read off them (`bundle_scripts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from app.index.collections import TextKind
from app.retrieval.bundle_scripts import Line
from app.retrieval.calibration import Background, Calibration
from app.retrieval.pseudo_questions import Script

# A passage has as many words of a question as the episode that it tells.
_LINE: Final = "episode"


@dataclass(frozen=True, slots=True)
class Across:
    """`other_han`: which the other script is; `own`, `other`: distances of the question to unrelated passages."""

    other_han: bool
    own: Background
    other: Background
    line: Line
    factor: float

    def scores(
        self, distances: Sequence[float | None], shares: Sequence[float], in_other: Sequence[bool]
    ) -> tuple[list[float | None], list[float]]:
        """Distances of passages, and their shares of the question's words, as if all were in its script."""
        apart, said = list(distances), list(shares)
        places = [place for place, other in enumerate(in_other) if other and distances[place] is not None]
        z = (np.array([distances[place] for place in places], np.float64) - self.other.mu) / self.other.sigma
        told = self.factor * self.line.at(np.minimum(z, 0.0))
        for place, distance, share in zip(places, self.own.mu + self.own.sigma * z, told, strict=True):
            apart[place], said[place] = float(distance), max(said[place], float(share))
        return apart, said


def across(calibration: Calibration, asked_in_han: bool, factor: float) -> Across | None:
    """None where a workspace does not hold both scripts."""
    asked: Script = "han" if asked_in_han else "latin"
    other: Script = "latin" if asked_in_han else "han"
    if not calibration.holds_both(TextKind.chunk, asked):
        return None
    return Across(
        not asked_in_han,
        calibration.background(TextKind.chunk, asked, asked),
        calibration.background(TextKind.chunk, asked, other),
        calibration.line(_LINE, asked),
        factor,
    )
