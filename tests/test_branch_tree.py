"""The tree of branches and SplitGuard's conditions, by hand."""

from __future__ import annotations

import uuid

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.split_guard import Limits, Sibling, State, caps, label_key, marks, near_duplicate, refusals
from app.chat.tree import Node, Parent, Stretch, Tree

LIMITS = Limits()


def ident(n: int) -> uuid.UUID:
    return uuid.UUID(int=n)


def node(n: int, *parents: tuple[int, int]) -> Node:
    """A branch under `(branch, ordinal)`s."""
    return Node(ident(n), [Parent(ident(branch), ident(1000 * branch + at), at) for branch, at in parents])


def numbers(ids: list[uuid.UUID]) -> list[int]:
    return [one.int for one in ids]


# 1 ─ 2 ─ 3
#   │   └ 4 ┐
#   └ 5 ────┴ 6 (merged: under 4, also from 5)
TREE = Tree.of([node(1), node(2, (1, 4)), node(3, (2, 2)), node(4, (2, 6)), node(5, (1, 8)), node(6, (4, 2), (5, 4))])


def test_what_is_above_and_below() -> None:
    assert numbers(TREE.ancestors(ident(6))) == [4, 2, 1]
    assert TREE.ancestors(ident(1)) == []
    assert numbers(TREE.children(ident(2))) == [3, 4]
    # What was merged from a branch does not hang under it.
    assert TREE.children(ident(5)) == []
    assert numbers(TREE.siblings(ident(5))) == [2]
    assert TREE.siblings(ident(1)) == []
    assert numbers(TREE.descendants(ident(5))) == [6]
    assert TREE.descendants(ident(5), merged=False) == []
    assert numbers(TREE.descendants(ident(1))) == [2, 5, 3, 4, 6]


def test_depths_are_those_of_the_deepest_parent() -> None:
    assert {one.int: depth for one, depth in TREE.depths().items()} == {1: 0, 2: 1, 3: 2, 4: 2, 5: 1, 6: 3}
    assert TREE.height(ident(2)) == 2
    assert TREE.height(ident(3)) == 0
    assert TREE.height(ident(5)) == 2


def test_a_path_is_a_stretch_of_every_branch_on_the_way() -> None:
    assert TREE.path(ident(1)) == [Stretch(ident(1), None)]
    assert TREE.path(ident(3), 7) == [Stretch(ident(1), 4), Stretch(ident(2), 2), Stretch(ident(3), 7)]
    assert TREE.way_to(ident(3)) == [Stretch(ident(1), 4), Stretch(ident(2), 2)]
    assert TREE.way_to(ident(1)) == []


def test_what_two_ways_share_is_told_once() -> None:
    first, second = TREE.ways_to(ident(6))
    assert first == [Stretch(ident(1), 4), Stretch(ident(2), 6), Stretch(ident(4), 2)]
    # The other one left the first branch later: it is told from there on, with what is before it.
    assert second == [Stretch(ident(1), 8), Stretch(ident(5), 4)]
    twice = Tree.of([node(1), node(2, (1, 4)), node(3, (1, 4)), node(4, (2, 2), (3, 2))])
    assert twice.ways_to(ident(4))[1] == [Stretch(ident(3), 2)]
    assert TREE.ways_to(ident(1)) == []


@pytest.mark.parametrize(
    ("moved", "under", "cycle"),
    [
        (2, 2, True),
        (2, 3, True),
        (2, 6, True),
        (5, 6, True),
        (3, 4, False),
        (6, 3, False),
        (4, 5, False),
        (5, 4, False),
    ],
)
def test_a_cycle_is_seen_over_forks_and_merges(moved: int, under: int, cycle: bool) -> None:
    assert TREE.would_cycle(ident(moved), ident(under)) is cycle


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=40))
def test_moves_that_are_allowed_never_make_a_cycle(moves: list[tuple[int, int]]) -> None:
    parents: dict[int, list[int]] = {n: [(n - 1) // 2] for n in range(1, 16)}
    parents[15].append(4)

    def tree() -> Tree:
        return Tree.of(node(n, *((up, 1) for up in parents.get(n, []))) for n in range(16))

    for moved, under in moves:
        if not 0 < moved < 16 or under > 15 or tree().would_cycle(ident(moved), ident(under)):
            continue
        parents[moved] = [under, *parents[moved][1:]]
    depths = tree().depths()
    for n, ups in parents.items():
        assert depths[ident(n)] == 1 + max(depths[ident(up)] for up in ups)
        assert ident(0) in tree().ancestors(ident(n))


# ------------------------------------------------------------------------------------ SplitGuard


def state(
    depth: int = 0, labels: tuple[str, ...] = (), branch: int | None = None, conversation: int | None = None
) -> State:
    return State(depth, [Sibling(ident(n), label) for n, label in enumerate(labels)], branch, conversation)


def conditions(found: State, label: str = "new", *, forced: bool = False) -> list[tuple[str, int]]:
    return [(one.condition, one.missing) for one in refusals(found, label, {}, LIMITS, forced=forced)]


def test_the_first_fork_is_free() -> None:
    assert conditions(state()) == []


@pytest.mark.parametrize(("present", "missing"), [(0, 5), (4, 1), (5, 0), (6, 0)])
def test_five_messages_in_the_branch(present: int, missing: int) -> None:
    found = conditions(state(branch=present, conversation=9))
    assert found == ([("branch_messages", missing)] if missing else [])


@pytest.mark.parametrize(("present", "missing"), [(0, 3), (2, 1), (3, 0)])
def test_three_messages_in_the_conversation(present: int, missing: int) -> None:
    assert conditions(state(conversation=present)) == ([("conversation_messages", missing)] if missing else [])


def test_all_that_fails_is_said_and_the_caps_first() -> None:
    full = state(5, tuple(f"no {n}" for n in range(8)), 1, 1)
    assert conditions(full, "NO 3") == [
        ("depth", 0),
        ("children", 0),
        ("branch_messages", 4),
        ("label", 0),
        ("conversation_messages", 2),
    ]
    assert conditions(full, "NO 3", forced=True) == [("depth", 0), ("children", 0)]
    assert conditions(state(4, ("a",) * 7, 5, 3), "b") == []


def test_caps_by_number() -> None:
    assert caps(5, 7, LIMITS) == []
    assert [one.condition for one in caps(6, 8, LIMITS)] == ["depth", "children"]
    (deep,) = caps(7, 0, LIMITS)
    assert (deep.needed, deep.present) == (5, 7)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Costs", "costs", True),
        ("Costs ", " COSTS!", True),
        ("ＣＯＳＴＳ", "costs", True),
        ("供应商 选择", "供应商选择", True),
        ("供应商选择。", "供应商选择", True),
        ("Straße", "STRASSE", True),
        ("?", "!", False),
        ("C", "C++", False),
        ("costs", "cost", False),
        ("成本", "风险", False),
    ],
)
def test_labels_by_their_letters(one: str, other: str, same: bool) -> None:
    assert (label_key(one) == label_key(other)) is same


@pytest.mark.parametrize(("cosine", "same"), [(0.89, False), (0.9, True), (0.99, True)])
def test_labels_by_their_vectors(cosine: float, same: bool) -> None:
    vectors = {
        "prices": np.array([1.0, 0.0], dtype=np.float32),
        "costs": np.array([cosine, np.sqrt(1 - cosine**2)], dtype=np.float32),
    }
    sibling = Sibling(ident(1), "costs")
    # Rounding of float32 must not decide.
    assert near_duplicate("prices", [sibling], vectors, 0.9 - 1e-6) == (sibling if same else None)
    assert near_duplicate("prices", [sibling], {"prices": vectors["prices"]}, 0.9) is None
    assert near_duplicate("prices", [sibling], {}, 0.9) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("option 1", "option 2"),
        ("方案一", "方案二"),
        ("2024 budget", "2025 budget"),
        ("供应商A的风险", "供应商B的风险"),
        ("plan a", "plan b"),
        ("v1.2", "v1.3"),
    ],
)
def test_labels_that_differ_in_a_number_are_different(one: str, other: str) -> None:
    """C5, of labels."""
    same = np.ones(1, dtype=np.float32)
    assert marks(one) != marks(other)
    assert near_duplicate(one, [Sibling(ident(1), other)], {one: same, other: same}, 0.9) is None
