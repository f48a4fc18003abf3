"""Places behind the first ones go to cards that speak like the first card. Pure numpy.

A question is often answered by several notes on one thing, of which the first hit is one; the others say more of it in
words that the question does not have. How many words two notes share depends on the notes (in one conversation all of
them share many): only what is unusual among the cards at hand counts.
"""

from __future__ import annotations

import numpy as np

from app.retrieval.bundle import F8


def discounts(likeness: F8, above: float, weight: float) -> F8:
    """What each card costs less. `likeness` to the first card, of all cards but that one; it counts `weight` per unit
    that is more than the mean and `above` standard deviations.
    """
    if not len(likeness):
        return np.zeros(0)
    less: F8 = weight * np.maximum(likeness - likeness.mean() - above * likeness.std(), 0.0)
    return less
