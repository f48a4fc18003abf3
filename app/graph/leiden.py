"""Communities of a weighted graph by Leiden, level by level. Pure, and the only file that imports igraph or leidenalg.

Level 0 is the coarsest; what has more than `max_size` nodes there is divided on its own subgraph into level 1, and so
on until nothing divides any more. Deterministic: nodes are numbers, edges are sorted, the seed is fixed. Traag et al.
2019 (RBConfigurationVertexPartition, iterated until nothing moves). Blocks, without giving way to other threads: who
serves people calls it in another process.
"""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import igraph
import leidenalg

SEED: Final = 20_260_601
CHANGED_SHARE: Final = 0.10
"""Of the nodes that are new or changed since the last full clustering: more, and all are clustered anew."""
LOST_MODULARITY: Final = 0.02
ALIKE: Final = 0.5
"""Jaccard of their members: a community that keeps as much keeps its name."""
LARGE: Final = 2_000
"""Edges above which igraph's own Leiden divides: the same objective, and on WordNet (184,083 edges) a modularity of
.866 in 11 s where leidenalg comes to .865 in 291 s.
"""
STARTS: Final = 10
STARTED_EDGES: Final = 20_000
"""The whole graph is divided from several starts, as long as that takes no more edges; the best one counts."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes 0…`size`-1; `edges` joins pairs of them with weights > 0. Loops and parallel edges are added up or left out
    by `graph_of`.
    """

    size: int
    edges: tuple[tuple[int, int], ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Cluster:
    """`members` ascending. `parent`: place in the list of clusters, whose parents come before their children."""

    level: int
    parent: int | None
    members: tuple[int, ...]
    known_as: int | None = None
    """Which one of the earlier clusters it goes on from."""


@dataclass(frozen=True, slots=True)
class Clustering:
    """`modularity`: of level 0. `is_full`: everything was clustered anew."""

    clusters: tuple[Cluster, ...]
    modularity: float
    is_full: bool


@dataclass(frozen=True, slots=True)
class Earlier:
    """The clustering that stands, in the numbers of today's graph. `changed`: nodes whose edges are not those of then;
    `dirty`: clusters that lost a member. `full_modularity`, `changed_since`: as of the last full clustering, and how
    many nodes have changed since, today's included.
    """

    clusters: tuple[Cluster, ...]
    changed: frozenset[int] = frozenset()
    dirty: frozenset[int] = frozenset()
    full_modularity: float = 0.0
    changed_since: int = 0


@dataclass(slots=True)
class _Divider:
    """Clusters in the making. `kept`: children of each earlier cluster."""

    graph: Any
    max_size: int
    resolution: float
    seed: int
    out: list[Cluster] = field(default_factory=list)

    def divide(self, nodes: Sequence[int], level: int, parent: int | None) -> None:
        """All of `nodes` as clusters of `level`, and what is too large as those below."""
        parts = self._parts(nodes, is_whole=parent is None)
        if parent is not None and len(parts) < 2:
            return
        for part in parts:
            self._add(part, level, parent, None)
            if len(part) > self.max_size:
                self.divide(part, level + 1, len(self.out) - 1)

    def place(
        self,
        nodes: Sequence[int],
        level: int,
        parent: int | None,
        earlier: Earlier,
        children: Mapping[int | None, Sequence[int]],
        known_as: int | None,
    ) -> None:
        """New nodes into the earlier clusters below `known_as`, where the others stay; what is untouched stays."""
        kept = {node: one for one in children.get(known_as, ()) for node in earlier.clusters[one].members}
        if not kept:
            if parent is None or len(nodes) > self.max_size:
                self.divide(nodes, level, parent)
            return
        for one, part in self._placed(nodes, kept):
            self._add(part, level, parent, one)
            at = len(self.out) - 1
            if one is None:
                if len(part) > self.max_size:
                    self.divide(part, level + 1, at)
                continue
            before = earlier.clusters[one].members
            if part == before and one not in earlier.dirty and not earlier.changed.intersection(part):
                self._keep(one, level, at, earlier, children)
            else:
                self.place(part, level + 1, at, earlier, children, one)

    def _keep(
        self, one: int, level: int, at: int, earlier: Earlier, children: Mapping[int | None, Sequence[int]]
    ) -> None:
        for child in children.get(one, ()):
            if not earlier.clusters[child].members:
                continue  # what was left of it is in no statement any more
            self._add(earlier.clusters[child].members, level + 1, at, child)
            self._keep(child, level + 1, len(self.out) - 1, earlier, children)

    def _placed(self, nodes: Sequence[int], kept: Mapping[int, int]) -> list[tuple[int | None, tuple[int, ...]]]:
        ids = sorted({kept[node] for node in nodes if node in kept})
        number = {one: at for at, one in enumerate(ids)}
        alone = itertools.count(len(ids))
        membership = [number[kept[node]] if node in kept else next(alone) for node in nodes]
        if any(node not in kept for node in nodes):
            subgraph = self.graph.induced_subgraph(nodes, implementation="create_from_scratch")
            partition = leidenalg.RBConfigurationVertexPartition(
                subgraph, initial_membership=membership, weights="weight", resolution_parameter=self.resolution
            )
            optimiser = leidenalg.Optimiser()
            optimiser.set_rng_seed(self.seed)
            names = list(membership)
            optimiser.optimise_partition(
                partition, n_iterations=-1, is_membership_fixed=[node in kept for node in nodes]
            )
            membership = _named_as_before(partition.membership, names, [node in kept for node in nodes], len(ids))
        parts: dict[int, list[int]] = defaultdict(list)
        for node, part in zip(nodes, membership, strict=True):
            parts[part].append(node)
        return [
            (ids[part] if part < len(ids) else None, tuple(members))
            for part, members in sorted(
                parts.items(), key=lambda found: (found[0] >= len(ids), -len(found[1]), found[1])
            )
        ]

    def _parts(self, nodes: Sequence[int], *, is_whole: bool) -> list[tuple[int, ...]]:
        """The largest first."""
        if len(nodes) == 1:
            return [tuple(nodes)]
        subgraph = self.graph.induced_subgraph(nodes, implementation="create_from_scratch")
        starts = min(max(STARTED_EDGES // max(subgraph.ecount(), 1), 1), STARTS) if is_whole else 1
        found = [self._divided(subgraph, self.seed + start) for start in range(starts)]
        partition = max(found, key=lambda one: _quality(subgraph, one.membership, self.resolution))
        parts = [tuple(sorted(nodes[at] for at in part)) for part in partition if part]
        return sorted(parts, key=lambda part: (-len(part), part))

    def _divided(self, subgraph: Any, seed: int) -> Any:
        if subgraph.ecount() <= LARGE:
            return leidenalg.find_partition(
                subgraph,
                leidenalg.RBConfigurationVertexPartition,
                weights="weight",
                n_iterations=-1,
                seed=seed,
                resolution_parameter=self.resolution,
            )
        igraph.set_random_number_generator(random.Random(seed))  # noqa: S311  (no secret)
        try:
            return subgraph.community_leiden(
                objective_function="modularity", weights="weight", resolution=self.resolution, n_iterations=-1
            )
        finally:
            igraph.set_random_number_generator(random)

    def _add(self, members: Iterable[int], level: int, parent: int | None, known_as: int | None) -> None:
        self.out.append(Cluster(level, parent, tuple(sorted(members)), known_as))


def graph_of(size: int, edges: Iterable[tuple[int, int, float]]) -> Graph:
    """Loops and weights of nothing are left out, parallel edges are one. In whatever order they come."""
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for one, other, weight in sorted(edges):
        if one != other and weight > 0:
            weights[min(one, other), max(one, other)] += weight
    pairs = sorted(weights)
    return Graph(size, tuple(pairs), tuple(weights[pair] for pair in pairs))


def cluster(
    graph: Graph, *, max_size: int, resolution: float = 1.0, seed: int = SEED, earlier: Earlier | None = None
) -> Clustering:
    """Clusters of the nodes that have an edge; small components are clusters, too.

    With an `earlier` clustering only what has changed is touched, unless so much has that all of it is done anew; then
    clusters are called what they were called where half of their members stayed together.
    """
    drawn = igraph.Graph(n=graph.size, edges=graph.edges)
    drawn.es["weight"] = graph.weights
    nodes = [node for node, degree in enumerate(drawn.degree()) if degree]
    if not nodes:
        return Clustering((), 0.0, is_full=True)
    if earlier is not None and earlier.clusters and earlier.changed_since <= CHANGED_SHARE * len(nodes):
        children: dict[int | None, list[int]] = defaultdict(list)
        for at, one in enumerate(earlier.clusters):
            children[one.parent].append(at)
        present = frozenset(nodes)
        trimmed = Earlier(
            tuple(
                Cluster(one.level, one.parent, tuple(node for node in one.members if node in present))
                for one in earlier.clusters
            ),
            earlier.changed,
            earlier.dirty,
        )
        divider = _Divider(drawn, max_size, resolution, seed)
        divider.place(nodes, 0, None, trimmed, children, None)
        modularity = _modularity(drawn, nodes, divider.out)
        if modularity >= earlier.full_modularity - LOST_MODULARITY:
            return Clustering(tuple(divider.out), modularity, is_full=False)
    divider = _Divider(drawn, max_size, resolution, seed)
    divider.divide(nodes, 0, None)
    clusters = tuple(_matched(divider.out, earlier.clusters if earlier else ()))
    return Clustering(clusters, _modularity(drawn, nodes, divider.out), is_full=True)


def pagerank(graph: Graph) -> list[float]:
    """Of every node, over weights; they sum to 1."""
    if not graph.size:
        return []
    drawn = igraph.Graph(n=graph.size, edges=graph.edges)
    ranks: list[float] = drawn.pagerank(weights=list(graph.weights) or None)
    return ranks


def _quality(subgraph: Any, membership: Sequence[int], resolution: float) -> float:
    return float(subgraph.modularity(membership, weights="weight", resolution=resolution))


def _modularity(drawn: Any, nodes: Sequence[int], clusters: Sequence[Cluster]) -> float:
    membership = [0] * drawn.vcount()
    for at, one in enumerate(clusters, 1):
        if one.level == 0:
            for node in one.members:
                membership[node] = at
    return round(float(drawn.modularity(membership, weights="weight")), 6)


def _named_as_before(found: Sequence[int], before: Sequence[int], is_fixed: Sequence[bool], old: int) -> list[int]:
    """The optimiser numbers communities by size: numbers of the fixed nodes are what they were."""
    names = {now: then for now, then, fixed in zip(found, before, is_fixed, strict=True) if fixed}
    new: dict[int, int] = {}
    return [names[now] if now in names else new.setdefault(now, old + len(new)) for now in found]


def _matched(clusters: Sequence[Cluster], earlier: Sequence[Cluster]) -> Iterable[Cluster]:
    """Each earlier name goes to the one cluster of its level that is most like it, where any is alike enough."""
    at_level: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, one in enumerate(earlier):
        for node in one.members:
            at_level[one.level, node].append(place)
    pairs: list[tuple[float, int, int]] = []
    for place, one in enumerate(clusters):
        shared: dict[int, int] = defaultdict(int)
        for node in one.members:
            for other in at_level.get((one.level, node), ()):
                shared[other] += 1
        for other, count in shared.items():
            likeness = count / (len(one.members) + len(earlier[other].members) - count)
            if likeness >= ALIKE:
                pairs.append((-likeness, place, other))
    names: dict[int, int] = {}
    taken: set[int] = set()
    for _, place, other in sorted(pairs):
        if place not in names and other not in taken:
            names[place] = other
            taken.add(other)
    for place, one in enumerate(clusters):
        yield Cluster(one.level, one.parent, one.members, names.get(place))
