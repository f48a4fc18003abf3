"""Bundle Search, preset `published`: the article's formula, kept exact for comparison. Pure numpy.

    C(F) = min{ start(F);  min_P start(P) + edge(F,P) + hop;  min_N start(N) + edge(F,N) + hop }
    S(E) = min{ start(E) + .30;  min_F C(F) + edge'(E,F) + hop';  min_N start(N) + edge(E,N) + hop }
    start(F) < .10: edge' = .10, hop' = .05;  < .20: edge' = .3·edge, hop' = .015;  else edge' = edge, hop' = hop

Starts and edges are min–max normalised inside of their list; who is in no list has no start, an edge without a vector
costs .9.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.retrieval.bundle import F8, Places, Shape, minimum

HOP = 0.05
DIRECT = 0.30
EDGE_MISS = 0.9


@dataclass(frozen=True, slots=True)
class Links:
    """Entities as they touch the cone: each link's telling and facet (−1: the episode as a whole)."""

    telling: Places
    facet: Places


@dataclass(frozen=True, slots=True)
class Starts:
    """Normalised costs in 0…1, infinite for a node that is in no list. Per telling, facet, point, link."""

    episode: F8
    facet: F8
    point: F8
    entity: F8


@dataclass(frozen=True, slots=True)
class Edges:
    """Normalised costs in 0…1, NaN for an edge without a vector. Per facet (to its episode), point, link."""

    facet: F8
    point: F8
    entity: F8


@dataclass(frozen=True, slots=True)
class PublishedCosts:
    """`facet`: C(F); `climb`: what the step from a facet to its episode costs; `total`: S(E)."""

    facet: F8
    climb: F8
    total: F8


def normalised(distances: F8, kept: int | None = None) -> F8:
    """Min–max over those that are known; with `kept` only so many of the nearest are in the list, the others
    infinite. Unknown ones stay NaN.
    """
    known = np.isfinite(distances)
    if not known.any():
        return distances.astype(np.float64)
    if kept is not None and known.sum() > kept:
        known &= distances <= np.partition(distances[known], kept - 1)[kept - 1]
    low, high = distances[known].min(), distances[known].max()
    scaled = (distances - low) / (high - low) if high > low else np.zeros(len(distances))
    return np.where(known, scaled, np.where(np.isnan(distances), np.nan, np.inf))


def starts_of(distances: F8, kept: int) -> F8:
    """`normalised`; a text without a vector is in no list."""
    return np.nan_to_num(normalised(distances, kept), nan=np.inf, posinf=np.inf)


def published(shape: Shape, links: Links, starts: Starts, edges: Edges) -> PublishedCosts:
    point_edge, facet_edge, link_edge = (_missed(some) for some in (edges.point, edges.facet, edges.entity))
    inside = links.facet >= 0
    facets = len(starts.facet)
    through_points = minimum(starts.point + point_edge + HOP, shape.facet_of_point, facets)
    by_entity = starts.entity + link_edge + HOP
    through_entities = minimum(by_entity[inside], links.facet[inside], facets)
    facet = np.minimum(starts.facet, np.minimum(through_points, through_entities))
    climb = _discounted(starts.facet, facet_edge)
    total = np.minimum(
        starts.episode + DIRECT,
        np.minimum(
            minimum(facet + climb, shape.telling_of_facet, shape.tellings),
            minimum(by_entity[~inside], links.telling[~inside], shape.tellings),
        ),
    )
    return PublishedCosts(facet, climb, total)


def _missed(edges: F8) -> F8:
    return np.where(np.isfinite(edges), edges, EDGE_MISS)


def _discounted(start: F8, edge: F8) -> F8:
    """edge' + hop' of a facet."""
    near = np.where(start < 0.20, 0.3 * edge + 0.015, edge + HOP)
    return np.where(start < 0.10, 0.10 + 0.05, near)
