"""What the best claims say, said again elsewhere: feedback of the first places to those behind them. Pure numpy.

A question names its subject once; the notes go on about it in words of their own. The claims of the cheapest paths
speak in those words, so what is like them costs less than what is not. Vectors of one encoder share a large common
part, and claims that one question reaches another: only what is left without their mean says how like two of them are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.retrieval.bundle import F8, Places

Vectors = NDArray[np.float32]
Flags = NDArray[np.bool_]


def unlike(vectors: Vectors, paths: F8, cards: Places, claims: int) -> F8:
    """Per claim how much less it is like the `claims` cheapest ones than the likest claim of another card than the
    first is (cosines, 0…2). 0 on the whole first card, whose place is not in question. A row of zeros is no vector: as
    unlike as what has nothing in common with them.
    """
    first = np.argsort(paths, kind="stable")[:claims]
    others: Flags = cards != cards[first[:1]] if len(first) else np.zeros(0, np.bool_)
    if not others.any():
        return np.zeros(len(paths))
    known: Flags = np.count_nonzero(vectors, axis=1) > 0
    apart = np.where(known[:, None], vectors - vectors[known].mean(axis=0), 0) if known.any() else vectors
    lengths = np.linalg.norm(apart, axis=1)
    apart = apart / np.where(lengths > 0, lengths, 1)[:, None]
    said = apart[first].mean(axis=0)
    length = float(np.linalg.norm(said))
    like = (apart @ said).astype(np.float64) / (length if length > 0 else 1.0)
    told: F8 = np.where(others, like[others].max() - like, 0.0)
    return told
