"""Leiden on GraphRAG's own graph of a novella, and on a large made-up one: modularity, depth, seconds, memory.

    python -m bench.communities [--carol ../shared/data/graphrag_carol] [--nodes 118000] [--edges 378000]

The large graph is made: groups of 20 to 200 nodes, four of five edges inside a group, degrees with a heavy tail.
"""

from __future__ import annotations

import argparse
import csv
import random
import resource
import time
from collections import Counter
from pathlib import Path

from app.graph.leiden import Graph, cluster, graph_of

GRAPHRAG_MAX_SIZE = 10


def carol(folder: Path) -> Graph:
    with (folder / "relationships.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    names = sorted({name for row in rows for name in (row["source"], row["target"])})
    number = {name: at for at, name in enumerate(names)}
    return graph_of(len(names), ((number[row["source"]], number[row["target"]], float(row["weight"])) for row in rows))


def made(nodes: int, edges: int, seed: int = 1) -> Graph:
    chance = random.Random(seed)
    groups: list[range] = []
    at = 0
    while at < nodes:
        size = min(chance.randint(20, 200), nodes - at)
        groups.append(range(at, at + size))
        at += size
    home = {node: group for group in groups for node in group}
    found: set[tuple[int, int]] = set()
    while len(found) < edges:
        one = chance.randrange(nodes)
        group = home[one]
        if chance.random() < 0.8:
            other = group[min(int(chance.paretovariate(1.2)) - 1, len(group) - 1)]
        else:
            other = chance.randrange(nodes)
        if one != other:
            found.add((min(one, other), max(one, other)))
    return graph_of(nodes, ((one, other, chance.choice((0.5, 1.0, 2.0))) for one, other in sorted(found)))


def tell(name: str, graph: Graph, max_size: int) -> None:
    started = time.perf_counter()
    found = cluster(graph, max_size=max_size)
    seconds = time.perf_counter() - started
    levels = Counter(one.level for one in found.clusters)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name}: {graph.size} nodes, {len(graph.edges)} edges, max size {max_size}: modularity {found.modularity:.4f} "
        f"at level 0, communities by level {dict(sorted(levels.items()))}, {seconds:.1f} s, {peak:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--carol", type=Path, default=Path("../shared/data/graphrag_carol"))
    parser.add_argument("--nodes", type=int, default=118_000)
    parser.add_argument("--edges", type=int, default=378_000)
    arguments = parser.parse_args()
    if arguments.carol.exists():
        tell("novella", carol(arguments.carol), GRAPHRAG_MAX_SIZE)
    tell("made", made(arguments.nodes, arguments.edges), 50)


if __name__ == "__main__":
    main()
