"""Communities of small graphs whose parts are plain to see."""

from __future__ import annotations

import itertools
import random

from app.graph.leiden import Clustering, Earlier, Graph, cluster, graph_of, pagerank

Edges = list[tuple[int, int, float]]


def cliques(count: int, size: int) -> Edges:
    """Cliques in a ring, each joined to the next by one edge."""
    inside = [
        (clique * size + one, clique * size + other, 1.0)
        for clique in range(count)
        for one, other in itertools.combinations(range(size), 2)
    ]
    return [*inside, *((n * size, ((n + 1) % count) * size + 1, 1.0) for n in range(count))]


def parts(found: Clustering, level: int = 0) -> list[tuple[int, ...]]:
    return sorted(one.members for one in found.clusters if one.level == level)


def after(found: Clustering, graph: Graph, changed: set[int], since: int) -> Clustering:
    earlier = Earlier(found.clusters, frozenset(changed), frozenset(), found.modularity, since)
    return cluster(graph, max_size=12, earlier=earlier)


def test_cliques_are_communities_whatever_the_order_of_the_edges() -> None:
    edges = cliques(6, 5)
    expected = [tuple(range(n * 5, n * 5 + 5)) for n in range(6)]
    found = cluster(graph_of(30, edges), max_size=5)
    assert parts(found) == expected
    assert found.is_full
    turned = [(other, one, weight) for one, other, weight in random.Random(1).sample(edges, len(edges))]
    assert cluster(graph_of(30, turned), max_size=5) == found


def test_no_node_no_edge_and_loops_are_fine() -> None:
    """O: an empty graph has no communities, a node without an edge is in none."""
    assert cluster(graph_of(0, []), max_size=5) == Clustering((), 0.0, True)
    assert cluster(graph_of(3, [(1, 1, 2.0), (0, 1, 0.0)]), max_size=5).clusters == ()
    pair = cluster(graph_of(4, [(1, 2, 1.0), (2, 1, 1.0), (3, 3, 1.0)]), max_size=5)
    assert parts(pair) == [(1, 2)]
    assert graph_of(4, [(1, 2, 1.0), (2, 1, 1.0)]).weights == (2.0,)


def test_small_components_are_kept() -> None:
    found = cluster(graph_of(8, [*cliques(1, 5)[:10], (5, 6, 1.0)]), max_size=10)
    assert parts(found) == [(0, 1, 2, 3, 4), (5, 6)]


def test_what_is_too_large_is_divided_below_its_parent() -> None:
    found = cluster(graph_of(120, cliques(24, 5)), max_size=8)
    assert max(one.level for one in found.clusters) >= 1
    for at, one in enumerate(found.clusters):
        children = [other for other in found.clusters if other.parent == at]
        assert (one.level == 0) == (one.parent is None)
        if children:
            assert sorted(node for child in children for node in child.members) == list(one.members)
            assert {child.level for child in children} == {one.level + 1}
        if one.parent is not None:
            assert one.parent < at


def test_a_new_node_joins_its_neighbours_and_the_others_stay() -> None:
    edges = cliques(12, 5)
    found = cluster(graph_of(61, edges), max_size=12)
    grown = after(found, graph_of(61, [*edges, (60, 0, 1.0), (60, 2, 1.0), (60, 3, 1.0)]), {0, 2, 3, 60}, 4)
    assert not grown.is_full
    (home,) = [one for one in grown.clusters if one.level == 0 and 60 in one.members]
    assert home.known_as is not None
    assert set(found.clusters[home.known_as].members) == set(home.members) - {60}
    untouched = [one for one in grown.clusters if 60 not in one.members]
    assert untouched
    assert all(one.known_as is not None and found.clusters[one.known_as].members == one.members for one in untouched)


def test_new_nodes_of_their_own_become_a_new_community() -> None:
    edges = cliques(12, 5)
    found = cluster(graph_of(63, edges), max_size=12)
    grown = after(found, graph_of(63, [*edges, (60, 61, 1.0), (61, 62, 1.0)]), {60, 61, 62}, 3)
    (fresh,) = [one for one in grown.clusters if one.known_as is None]
    assert fresh.members == (60, 61, 62)


def test_much_change_clusters_all_anew_and_names_last() -> None:
    """More than a tenth: and a community that keeps half of its members keeps its name."""
    edges = cliques(6, 5)
    found = cluster(graph_of(30, edges), max_size=12)
    again = after(found, graph_of(30, edges), {0, 1, 2, 3}, 4)
    assert again.is_full
    assert [one.known_as for one in again.clusters] == list(range(len(found.clusters)))
    assert parts(again) == parts(found)


def test_modularity_that_falls_clusters_all_anew() -> None:
    edges = cliques(20, 5)
    found = cluster(graph_of(100, edges), max_size=12)
    bad = Earlier(found.clusters, frozenset({0}), frozenset(), found.modularity + 0.1, 1)
    assert cluster(graph_of(100, edges), max_size=12, earlier=bad).is_full
    good = Earlier(found.clusters, frozenset({0}), frozenset(), found.modularity, 1)
    assert not cluster(graph_of(100, edges), max_size=12, earlier=good).is_full


def test_pagerank_follows_weights() -> None:
    ranks = pagerank(graph_of(3, [(0, 1, 3.0), (1, 2, 1.0)]))
    assert abs(sum(ranks) - 1) < 1e-9
    assert ranks[1] > ranks[0] > ranks[2]
    assert pagerank(graph_of(0, [])) == []
