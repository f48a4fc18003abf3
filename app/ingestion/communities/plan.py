"""What a run makes of what it has seen: the graph, the clustering that stands, the communities that will be, and what
their reports are made of. Pure.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.core.ids import new_id
from app.graph.community_queries import Changes, CommunityWrite, Joined, Run, Stored
from app.graph.leiden import Cluster, Clustering, Earlier, Graph, graph_of, pagerank
from app.ingestion.communities.report import (
    MAX_MEMBERS,
    MAX_STATEMENTS,
    Child,
    Member,
    Report,
    ReportInput,
    Statement,
)

_PER_PAIR: Final = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """All that a run begins with."""

    joined: Sequence[Joined]
    versions: Mapping[uuid.UUID, int]
    stored: Sequence[Stored]
    current: Run | None
    changes: Changes


@dataclass(frozen=True, slots=True)
class Planned:
    """A community as it will be. `stored`: the one that it goes on from."""

    write: CommunityWrite
    stored: Stored | None
    children: Sequence[uuid.UUID]

    @property
    def is_as_before(self) -> bool:
        was, now = self.stored, self.write
        return was is not None and (was.parent_id, was.level, was.fingerprint) == (
            now.parent_id,
            now.level,
            now.fingerprint,
        )

    @property
    def needs_report(self) -> bool:
        return self.stored is None or self.stored.is_stale or self.stored.made_from != self.write.fingerprint


def drawn(joined: Sequence[Joined]) -> tuple[Graph, dict[uuid.UUID, int]]:
    """Nodes are numbered by their ids: the same graph, the same numbers."""
    nodes = {node: at for at, node in enumerate(sorted({one.one for one in joined} | {one.other for one in joined}))}
    return graph_of(len(nodes), ((nodes[one.one], nodes[one.other], one.weight) for one in joined)), nodes


def standing(seen: Seen, nodes: Mapping[uuid.UUID, int], is_full: bool) -> Earlier | None:
    if seen.current is None or not seen.stored:
        return None
    place = {one.id: at for at, one in enumerate(seen.stored)}
    clusters = tuple(
        Cluster(
            one.level,
            None if one.parent_id is None else place[one.parent_id],
            tuple(sorted(nodes[member] for member in one.members if member in nodes)),
        )
        for one in seen.stored
    )
    known = {member for one in seen.stored if one.level == 0 for member in one.members}
    changed = {nodes[one] for one in seen.changes.entities if one in nodes}
    changed |= {at for node, at in nodes.items() if node not in known}
    gone = sum(node not in nodes for node in known)
    return Earlier(
        clusters,
        frozenset(changed),
        frozenset(place[one] for one in seen.changes.communities if one in place),
        seen.current.full_modularity,
        len(nodes) + 1 if is_full else seen.current.changed + len(changed) + gone,
    )


def next_communities(clustering: Clustering, ids: Sequence[uuid.UUID], seen: Seen, version: str) -> list[Planned]:
    """Parents before children. `ids`: of the nodes, by number."""
    number = {node: at for at, node in enumerate(ids)}
    clusters = clustering.clusters
    names = [seen.stored[one.known_as].id if one.known_as is not None else new_id() for one in clusters]
    at_level: dict[tuple[int, int], int] = {
        (one.level, node): at for at, one in enumerate(clusters) for node in one.members
    }
    levels = max((one.level for one in clusters), default=-1) + 1
    inside: dict[int, list[Joined]] = defaultdict(list)
    for edge in seen.joined:
        for level in range(levels):
            at = at_level.get((level, number[edge.one]))
            if at is None or at != at_level.get((level, number[edge.other])):
                break
            inside[at].append(edge)
    below: dict[int, list[uuid.UUID]] = defaultdict(list)
    for at, one in enumerate(clusters):
        if one.parent is not None:
            below[one.parent].append(names[at])
    plans: list[Planned] = []
    for at, one in enumerate(clusters):
        members = [ids[node] for node in one.members]
        made_of = hashlib.sha256(version.encode())
        for member in members:
            made_of.update(f"{member}{seen.versions.get(member)}".encode())
        for edge in inside[at]:
            made_of.update(f"{edge.one}{edge.other}{edge.evidence} {edge.version}".encode())
        for child in below[at]:
            made_of.update(child.bytes)
        write = CommunityWrite(
            names[at],
            None if one.parent is None else names[one.parent],
            one.level,
            len(members),
            sum(edge.weight for edge in inside[at]),
            uuid.UUID(bytes=made_of.digest()[:16]),
            members,
        )
        plans.append(Planned(write, None if one.known_as is None else seen.stored[one.known_as], tuple(below[at])))
    return sorted(plans, key=lambda plan: plan.write.level)


def report_input(
    one: Planned,
    entities: Sequence[Any],
    rows: Sequence[Any],
    sizes: Mapping[uuid.UUID, int],
    reports: Mapping[uuid.UUID, Report],
) -> ReportInput:
    evidence: dict[tuple[uuid.UUID, uuid.UUID], int] = defaultdict(int)
    for row in rows:
        evidence[_pair(row)] += 1
    number = {row["id"]: at for at, row in enumerate(entities)}
    graph = graph_of(
        len(number),
        ((number[row["source_id"]], number[row["target_id"]], row["confidence"]) for row in rows),
    )
    ranks = pagerank(graph)
    degrees = [0] * len(number)
    for ends in graph.edges:
        for end in ends:
            degrees[end] += 1
    members = [
        Member(
            row["id"], row["name"], row["type"], row["description"], ranks[at], degrees[at], row["cards"], row["titled"]
        )
        for at, row in enumerate(entities)
    ]
    members.sort(key=lambda member: (-member.pagerank, member.id))
    strongest = sorted(rows, key=lambda row: (-evidence[_pair(row)] * row["confidence"], row["id"]))
    turn: dict[tuple[uuid.UUID, uuid.UUID], int] = defaultdict(int)
    ranked: list[tuple[int, int, Any]] = []
    for row in strongest:
        turn[_pair(row)] += 1
        if turn[_pair(row)] <= _PER_PAIR:
            ranked.append((turn[_pair(row)], -evidence[_pair(row)], row))
    ranked.sort(key=lambda found: (found[0], found[1], found[2]["id"]))
    kept = [row for *_, row in ranked[:MAX_STATEMENTS]]
    return ReportInput(
        one.write.id,
        one.write.level,
        one.write.size,
        len(rows),
        len({row["card_id"] for row in rows}),
        members[:MAX_MEMBERS],
        [
            Statement(
                row["id"],
                row["source_id"],
                row["target_id"],
                row["predicate"],
                row["text"],
                row["card_id"],
                row["chunk_id"],
                row["start"],
                row["end"],
                row["confidence"],
                evidence[_pair(row)],
            )
            for row in kept
        ],
        sorted(
            (Child(child, sizes[child], reports[child]) for child in one.children if child in reports),
            key=lambda child: (-child.size, child.community_id),
        ),
    )


def _pair(row: Any) -> tuple[uuid.UUID, uuid.UUID]:
    one, other = row["source_id"], row["target_id"]
    return (one, other) if one < other else (other, one)
