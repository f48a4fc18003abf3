"""What words and distances say by the scripts of question and text. Pure.

A Chinese claim shares no word with an English question. What its words would have said, had they been in the
question's script, is read off its vector: E[L | z] is a line, fitted on pairs of one script.

Encoders put Chinese texts close together, so that a deviation of their distances is a small step, which tells less of
two texts than the words that one of them has and the other lacks.
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


def worth(asked_in_han: bool, in_han: Flags, han: float) -> F8:
    """What a text's distance is worth beside words: `han` where question and text are both in Han, else 1."""
    return np.where(in_han, han, 1.0) if asked_in_han else np.ones(len(in_han))
