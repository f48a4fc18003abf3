"""May a conversation split here? Three conditions and two caps, each with what is missing. Pure.

Knows neither the database nor who asks; labels come with the vectors that they were compared by.
"""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from app.chat.tree import Tree
from app.text.normalise import fold, name_key

Condition = Literal["depth", "children", "branch_messages", "label", "conversation_messages"]
Vector = npt.NDArray[np.float32]

# What tells "option 1" from "option 2", to which vectors are blind.
_MARKS: Final = re.compile(r"\d+(?:[.,]\d+)*|(?<![a-z])[a-z](?![a-z])|[一二三四五六七八九十甲乙丙丁]")


@dataclass(frozen=True, slots=True)
class Limits:
    branch_messages: int = 5
    conversation_messages: int = 3
    depth: int = 5
    children: int = 8
    label_cosine: float = 0.9


@dataclass(frozen=True, slots=True)
class Sibling:
    id: uuid.UUID
    label: str


@dataclass(frozen=True, slots=True)
class State:
    """What the database says. `depth` is of the branch that is to be forked; the messages since a fork are None where
    there was none.
    """

    depth: int
    siblings: Sequence[Sibling]
    branch_messages: int | None
    conversation_messages: int | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """`missing`: how many messages are; 0 where none would help. `sibling`: whose label it is too near to."""

    condition: Condition
    missing: int
    needed: int
    present: int
    sibling: Sibling | None = None


def refusals(
    state: State, label: str, vectors: Mapping[str, Vector], limits: Limits, *, forced: bool = False
) -> list[Refusal]:
    """Every condition that fails, the caps first: those hold whoever insists. `vectors` of labels, of unit norm, may be
    missing; then only the wording counts.
    """
    found = caps(state.depth + 1, len(state.siblings), limits)
    if forced:
        return found
    found += _too_few("branch_messages", limits.branch_messages, state.branch_messages)
    found += taken(label, state.siblings, vectors, limits)
    return found + _too_few("conversation_messages", limits.conversation_messages, state.conversation_messages)


def caps(depth: int, children: int, limits: Limits) -> list[Refusal]:
    """Of a branch that would be so deep, under one that has so many already."""
    found: list[Refusal] = []
    if depth > limits.depth:
        found.append(Refusal("depth", 0, limits.depth, depth))
    if children >= limits.children:
        found.append(Refusal("children", 0, limits.children, children))
    return found


def taken(label: str, siblings: Sequence[Sibling], vectors: Mapping[str, Vector], limits: Limits) -> list[Refusal]:
    """Where a label beside it says the same."""
    near = near_duplicate(label, siblings, vectors, limits.label_cosine)
    return [] if near is None else [Refusal("label", 0, 0, 1, near)]


def siblings_under(tree: Tree, branch_id: uuid.UUID, but: uuid.UUID | None = None) -> list[Sibling]:
    """The branches that hang under one, without `but`."""
    nodes = [tree.nodes[child] for child in tree.children(branch_id) if child != but]
    return [Sibling(node.id, node.label or "") for node in nodes]


def near_duplicate(
    label: str, siblings: Sequence[Sibling], vectors: Mapping[str, Vector], cosine: float
) -> Sibling | None:
    """The sibling whose label says the same: by its letters, or by its vector and with the same numbers in it."""
    own, key = vectors.get(label), label_key(label)
    for sibling in siblings:
        if label_key(sibling.label) == key:
            return sibling
    for sibling in siblings:
        other = vectors.get(sibling.label)
        if own is None or other is None or marks(label) != marks(sibling.label):
            continue
        if float(own @ other) >= cosine:
            return sibling
    return None


def label_key(label: str) -> str:
    """Labels that differ in case, width, spaces or punctuation alone are one; what is nothing else stays itself."""
    return name_key(label) or fold(label).strip()


def marks(label: str) -> list[str]:
    """Numbers and single letters of a label, in order."""
    return _MARKS.findall(unicodedata.normalize("NFKC", label).lower())


def _too_few(condition: Condition, needed: int, present: int | None) -> list[Refusal]:
    if present is None or present >= needed:
        return []
    return [Refusal(condition, needed - present, needed, present)]
