"""A conversation as a tree of branches: what is above, what is below, which messages lead to a place. Pure.

A branch hangs under a message of another one; a merged branch has further parents besides. Nothing is copied: the path
to a message is a stretch of every branch on the way.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

Id = uuid.UUID


@dataclass(frozen=True, slots=True)
class Parent:
    """A message that a branch hangs under, and its place in its own branch."""

    branch_id: Id
    message_id: Id
    ordinal: int


@dataclass(frozen=True, slots=True)
class Node:
    """A branch. The first of `parents` is the one that it hangs under; the first branch of a conversation has none."""

    id: Id
    parents: Sequence[Parent] = ()
    label: str | None = None
    profile: str | None = None
    context: str = "none"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages of a branch from its first to ordinal `until`; all of them where that is None."""

    branch_id: Id
    until: int | None


@dataclass(frozen=True)
class Tree:
    """All branches of one conversation, oldest first."""

    nodes: Mapping[Id, Node] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Tree:
        return cls({node.id: node for node in nodes})

    @cached_property
    def _below(self) -> Mapping[Id, Sequence[Id]]:
        below: dict[Id, list[Id]] = {}
        for node in self.nodes.values():
            for parent in dict.fromkeys(parent.branch_id for parent in node.parents):
                below.setdefault(parent, []).append(node.id)
        return below

    def children(self, branch_id: Id) -> list[Id]:
        """Branches that hang under this one."""
        return [
            child for child in self._below.get(branch_id, ()) if self.nodes[child].parents[0].branch_id == branch_id
        ]

    def siblings(self, branch_id: Id) -> list[Id]:
        """The others that hang under the same branch."""
        parents = self.nodes[branch_id].parents
        return [child for child in self.children(parents[0].branch_id) if child != branch_id] if parents else []

    def ancestors(self, branch_id: Id) -> list[Id]:
        """The chain from its parent up to the first branch."""
        chain: list[Id] = []
        parents = self.nodes[branch_id].parents
        while parents and parents[0].branch_id not in chain:
            chain.append(parents[0].branch_id)
            parents = self.nodes[chain[-1]].parents
        return chain

    def descendants(self, branch_id: Id, *, merged: bool = True) -> list[Id]:
        """All below it, nearest first; with `merged` also what it was merged into."""
        found: dict[Id, None] = {}
        front = [branch_id]
        while front:
            below = [child for one in front for child in (self._below.get(one, ()) if merged else self.children(one))]
            front = [child for child in dict.fromkeys(below) if child not in found]
            found.update(dict.fromkeys(front))
        return list(found)

    def would_cycle(self, branch_id: Id, new_parent: Id) -> bool:
        """Whether the branch would become its own ancestor."""
        return branch_id == new_parent or new_parent in self.descendants(branch_id)

    def depths(self) -> dict[Id, int]:
        """0 for the first branch, else one more than the deepest parent."""
        known: dict[Id, int] = {}

        def depth(branch_id: Id) -> int:
            if branch_id not in known:
                known[branch_id] = 0
                above = [depth(parent.branch_id) for parent in self.nodes[branch_id].parents]
                known[branch_id] = 1 + max(above) if above else 0
            return known[branch_id]

        for branch_id in self.nodes:
            depth(branch_id)
        return known

    def height(self, branch_id: Id) -> int:
        """How many levels hang below it."""
        depths = self.depths()
        return max((depths[one] for one in self.descendants(branch_id)), default=depths[branch_id]) - depths[branch_id]

    def path(self, branch_id: Id, until: int | None = None) -> list[Stretch]:
        """From the beginning of the conversation to ordinal `until` of this branch, or to its end."""
        return [*self.way_to(branch_id), Stretch(branch_id, until)]

    def way_to(self, branch_id: Id) -> list[Stretch]:
        """What leads to the branch and is not in it."""
        parents = self.nodes[branch_id].parents
        return self.path(parents[0].branch_id, parents[0].ordinal) if parents else []

    def ways_to(self, branch_id: Id) -> list[list[Stretch]]:
        """The path up to each of its parents, that which it hangs under first; of the others what is not in an
        earlier one.
        """
        ways: list[list[Stretch]] = []
        told: dict[Id, int] = {}
        for parent in self.nodes[branch_id].parents:
            way = [
                stretch
                for stretch in self.path(parent.branch_id, parent.ordinal)
                if stretch.until is None or stretch.until > told.get(stretch.branch_id, 0)
            ]
            for stretch in way:
                told[stretch.branch_id] = max(told.get(stretch.branch_id, 0), stretch.until or 0)
            ways.append(way)
        return ways
