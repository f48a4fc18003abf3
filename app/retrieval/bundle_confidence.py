"""Adaptive confidence: how much a collection's list of anchors can be trusted. Pure.

    conf = f_dist(d1 / b) · f_gap(d2 − d1)

of the two best distances d1 ≤ d2 (squared L2) and the collection's baseline b.
"""

from __future__ import annotations


def f_dist(ratio: float) -> float:
    """1 below .5, linear to .5 at 1 and .3 at 1.5, then on down to .1."""
    if ratio < 0.5:
        return 1.0
    if ratio < 1.0:
        return 1.5 - ratio
    if ratio < 1.5:
        return 0.9 - 0.4 * ratio
    return max(0.1, 0.3 - 0.2 * (ratio - 1.5))


def f_gap(gap: float) -> float:
    """1 above .15, .6…1 down to .05, .2….6 down to .01, .2 below."""
    if gap > 0.15:
        return 1.0
    if gap >= 0.05:
        return 0.6 + 0.4 * (gap - 0.05) / 0.10
    if gap >= 0.01:
        return 0.2 + 0.4 * (gap - 0.01) / 0.04
    return 0.2


def confidence(best: float, second: float, baseline: float) -> float:
    return f_dist(best / baseline) * f_gap(second - best)


def node_weight(node: float, edge: float) -> float:
    """How much of the trust is the nodes', the rest being the edges'."""
    return min(max(node / (node + edge + 0.01), 0.2), 0.8)
