"""Where a branch stands, in lines for a prompt: what is above it, what refers to it, what was cited. Pure."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.chat.blocks import Note
from app.chat.profiles import Language, name_of
from app.chat.tree import Tree
from app.text.normalise import fold

_EXCERPT_CHARS: Final = 160
_WORDS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "main": "the main branch",
        "branch": 'branch "{label}"',
        "here": "This branch",
        "above": "Above it",
        "cards": "Cards cited in {branch}",
        "stands": '"{label}" ({profile})',
        "forked": "{branch}, left at: {text}",
        "related": "{source} is related to {target}",
        "contradicts": "{source} contradicts {target}",
        "extends": "{source} extends {target}",
        "this": "this branch",
        "earlier": "earlier",
    },
    "zh": {
        "main": "主分支",
        "branch": "分支「{label}」",
        "here": "本分支",
        "above": "上级",
        "cards": "{branch}引用过的卡片",
        "stands": "「{label}」（{profile}）",
        "forked": "{branch}，从这里分出：{text}",
        "related": "{source}与{target}相关",
        "contradicts": "{source}与{target}矛盾",
        "extends": "{source}延伸了{target}",
        "this": "本分支",
        "earlier": "之前",
    },
}
_BRANCH_WORD = re.compile(r"\bbranch(?:es)?\b|分支", re.IGNORECASE)
_THIS = re.compile(r"\b(?:this|the current|our) branch\b|(?:这个|这条|当前|本)分支", re.IGNORECASE)
_UP = re.compile(
    r"\b(?:parent|main|root|original|first) branch\b|(?:父|主|上级|上一级|原来的|最初的|原)分支", re.IGNORECASE
)
_ALL = re.compile(
    r"\b(?:other|sibling|all|both|these|those|neighbou?ring|two|different) (?:\w+ )?branch(?:es)?\b|\bbranches\b"
    r"|(?:其他|别的|兄弟|所有|各个?|两个|这些|那些|几个|平行|全部)的?分支|各分支",
    re.IGNORECASE,
)


_MERGED = re.compile(r"\b(?:both|these|those|two)\b|两|这些|那些|这几", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reference:
    """One branch refers to another."""

    source_id: uuid.UUID
    target_id: uuid.UUID
    relation: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cited:
    """Titles of cards that a branch's answers point to, those cited last first."""

    branch_id: uuid.UUID
    titles: Sequence[str]


def topology(
    tree: Tree,
    branch_id: uuid.UUID,
    language: Language,
    *,
    left_at: Mapping[uuid.UUID, str],
    references: Sequence[Reference],
    cited: Sequence[Cited],
    most_ancestors: int,
) -> list[Note]:
    """What there is to say, what matters most first. `left_at`: the message of a branch under which the chain goes on.
    Nothing for a conversation that never split.
    """
    words = _WORDS[language]
    node = tree.nodes[branch_id]
    told: list[tuple[str, str]] = []
    if node.parents:
        stands = words["stands"].format(label=node.label or "", profile=name_of(node.profile, language))
        told.append((words["here"], stands))
    for one in references:
        source, target = (
            words["this"] if end == branch_id else called(tree, end, language) for end in (one.source_id, one.target_id)
        )
        told.append((words[one.relation].format(source=source, target=target), excerpt(one.reason)))
    chain = tree.ancestors(branch_id)[:most_ancestors]
    for ancestor in chain:
        text = words["forked"].format(
            branch=called(tree, ancestor, language), text=excerpt(left_at.get(ancestor, "")) or "…"
        )
        told.append((words["above"], text))
    for few in cited:
        if few.branch_id in (branch_id, *chain) and (chain or few.branch_id != branch_id):
            place = words["this"] if few.branch_id == branch_id else called(tree, few.branch_id, language)
            told.append((words["cards"].format(branch=place), "; ".join(few.titles)))
    return [Note(label, text, score=1.0 - nth / (len(told) + 1)) for nth, (label, text) in enumerate(told)]


def called(tree: Tree, branch_id: uuid.UUID, language: Language) -> str:
    """How a branch is spoken of."""
    words = _WORDS[language]
    node = tree.nodes[branch_id]
    label = " ".join((node.label or "").split())
    if not label:
        return words["main"] if not node.parents else str(branch_id)
    return words["branch"].format(label=label)


def earlier(language: Language) -> str:
    return _WORDS[language]["earlier"]


def asked_branches(
    question: str, tree: Tree, branch_id: uuid.UUID, last_said: Mapping[uuid.UUID, int]
) -> list[uuid.UUID]:
    """The branches that a question speaks of: by label, by their place, or, where it only says "that branch", the one
    in which something was said last. `last_said` orders branches by time. None where it speaks of this one or of none.
    """
    folded = fold(question)
    others = [one for one in sorted(last_said, key=lambda one: -last_said[one]) if one != branch_id]
    speaks = _BRANCH_WORD.search(question) is not None
    named = [
        one
        for one in others
        if (label := fold(tree.nodes[one].label or "").strip()) and _names(folded, label, sure=speaks)
    ]
    if named:
        return named
    if not speaks:
        return []
    if _UP.search(question):
        chain = tree.ancestors(branch_id)
        is_main = re.search(r"main|root|first|original|主|最初|原", question, re.IGNORECASE) is not None
        return [chain[-1] if is_main else chain[0]] if chain else []
    if _ALL.search(question):
        merged = [parent.branch_id for parent in tree.nodes[branch_id].parents]
        return merged if len(merged) > 1 and _MERGED.search(question) else others
    if _THIS.search(question):
        return []
    return others[:1]


def _names(question: str, label: str, *, sure: bool) -> bool:
    """A label that stands in the question; in one that does not speak of branches it must be quoted."""
    if sure:
        return label in question
    return any(f"{left}{label}{right}" in question for left, right in ('""', "''", "“”", "「」", "『』", "‘’"))


def excerpt(text: str, most: int = _EXCERPT_CHARS) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
