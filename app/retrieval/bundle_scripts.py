"""Evidence of words where there can be none: text in another script than the question's. Pure.

A Chinese claim shares no word with an English question. What its words would have said, had they been in the
question's script, is read off its vector: E[L | z] is a line, fitted on pairs of one script.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.retrieval.bundle import F8, Places

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Line:
    """E[L | z] = alpha + beta·(−z)."""

    alpha: float
    beta: float

    def at(self, z: F8) -> F8:
        return np.maximum(0.0, self.alpha + self.beta * -z)


def imputed(words: F8, z: F8, other_script: Flags, line: Line, factor: float) -> F8:
    """`words`, raised to `factor` times what the line says where the text is of another script; z above 0 (further
    away than usual) says nothing.
    """
    told = factor * line.at(np.minimum(z, 0.0))
    return np.where(other_script, np.maximum(words, told), words)


def nearest_other(z: F8, other_script: Flags, groups: Places, count: int) -> tuple[F8, Flags]:
    """Per group the least z among its texts of another script (0 where none is near), and whether it has any."""
    least = np.zeros(count)
    has = np.zeros(count, np.bool_)
    np.minimum.at(least, groups[other_script], z[other_script])
    has[groups[other_script]] = True
    return least, has
