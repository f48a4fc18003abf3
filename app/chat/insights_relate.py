"""What one finding means to another: the same, against it, more than it, or about the same thing. Pure.

Rules in Chinese and English, for where no model is asked: words that both share, numbers and dates, a "not", opposites.
A vector opens the gate and tells paraphrases; it is blind to contradiction, so it never decides one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from app.chat.profiles import language_of
from app.text.anchors import anchors

Relation = Literal["contradicts", "extends", "related"]
Words = Callable[[str], Sequence[str]]

# In the order in which they are told.
RANK: Final = {"contradicts": 0, "extends": 1, "related": 2}

_VALUES: Final = frozenset({"date", "money", "percent", "quantity", "number", "time"})
_NOT: Final = re.compile(
    r"(?i:\b(?:not|never|no longer|cannot|without|hardly|fails? to|none|nobody)\b|n['’]t\b)"
    r"|不|没有?|无法|并非|未(?!来)|别(?!的)|从不|绝不"
)
_OPPOSITES: Final = tuple(
    tuple(re.compile(one, re.IGNORECASE) for one in pair)
    for pair in (
        (
            r"\b(?:increas|ris|grow|climb)\w*|上升|增加|提高|增长|变多",
            r"\b(?:decreas|fall|fell|drop|shrink|declin)\w*|下降|减少|降低|变少",
        ),
        (
            r"\b(?:more|higher|better|faster|cheaper)\b|更多|更高|更好|更快|更便宜",
            r"\b(?:less|fewer|lower|worse|slower|dearer)\b|更少|更低|更差|更慢|更贵",
        ),
        (r"\b(?:safe|harmless)\b|安全|无害", r"\b(?:unsafe|dangerous|harmful|risky)\b|危险|有害|风险"),
        (
            r"\b(?:helps?|improves?|supports?)\b|有助|改善|支持|促进",
            r"\b(?:hurts?|harms?|worsens?|opposes?|prevents?)\b|损害|恶化|反对|阻碍",
        ),
        (
            r"\b(?:possible|works?|succeed\w*|true)\b|可行|成功|有效|可能",
            r"\b(?:impossible|fail\w*|false)\b|不可行|失败|无效|不可能",
        ),
        (r"\b(?:before|early|earlier)\b|之前|早于", r"\b(?:after|late|later)\b|之后|晚于"),
        (r"\b(?:always|all|every)\b|总是|全部|所有", r"\b(?:never|none|only some)\b|从不|没有一个"),
        (r"\b(?:cheap|inexpensive)\b|便宜", r"\b(?:expensive|costly)\b|昂贵|太贵"),
        (r"\b(?:open|opens)\b|开放|开门", r"\b(?:closed|closes)\b|关闭|关门"),
    )
)
_BECAUSE: Final = re.compile(
    r"(?i:\b(?:because|since|due to|therefore|so that|which means)\b)|因为|由于|所以|因此|从而"
)

_CONTRADICTS_SHARED: Final = 0.5
_EXTENDS_SHARED: Final = 0.4
_EXTENDS_NEW: Final = 3
_RELATED_SHARED: Final = 0.25
_FEWEST: Final = 2
# So few words does a question or a label have; and so long is a word that says something: two Han characters, or five
# letters.
_SHORT: Final = 4
_SAYING_BYTES: Final = 5
_SAME_WORDS: Final = 0.5
"""Of the words of both; a vector alone calls short sentences the same that are not."""

_REASONS: Final = {
    "en": {
        "not": "one says it, the other denies it ({words})",
        "value": "another value for the same thing: {new} against {old} ({words})",
        "opposite": "the opposite is said of the same thing ({words})",
        "extends": "adds to what is said about {words}",
        "because": "gives a reason for what is said about {words}",
        "related": "about the same: {words}",
        "near": "near in meaning",
    },
    "zh": {
        "not": "一方肯定，另一方否定（{words}）",
        "value": "同一件事的数值不同：{new} 与 {old}（{words}）",
        "opposite": "对同一件事说法相反（{words}）",
        "extends": "补充了关于{words}的内容",
        "because": "说明了关于{words}的原因",
        "related": "谈的是同一件事：{words}",
        "near": "含义相近",
    },
}
_NAMED: Final = 4


@dataclass(frozen=True)
class Finding:
    """A sentence or a few, with its content words."""

    text: str
    words: frozenset[str]

    @classmethod
    def of(cls, text: str, words: Words) -> Finding:
        return cls(text, frozenset(words(text)))

    @cached_property
    def values(self) -> dict[str, dict[str, str]]:
        """By kind: key → as it is written."""
        found: dict[str, dict[str, str]] = {}
        for one in anchors(self.text):
            if one.kind in _VALUES:
                found.setdefault(one.kind, {})[one.key] = one.text
        return found

    @cached_property
    def topic(self) -> frozenset[str]:
        """Words without numbers."""
        return frozenset(word for word in self.words if not any(char.isdigit() for char in word))

    @cached_property
    def denies(self) -> bool:
        return len(_NOT.findall(self.text)) % 2 == 1


@dataclass(frozen=True, slots=True)
class Related:
    relation: Relation
    reason: str
    strength: float


def relate(new: Finding, old: Finding, cosine: float, gate: float) -> Related | None:
    """What `new` is to `old`; None where they have nothing to do with each other. `cosine` from `gate` on lets in what
    shares no words.
    """
    shared = new.topic & old.topic
    share = len(shared) / max(min(len(new.topic), len(old.topic)), 1)
    if cosine < gate and not _share_a_subject(new, old, shared, share):
        return None
    said = _REASONS[language_of(new.text)]
    words = _named(shared, new.text)
    strength = max(share, cosine)
    if len(shared) >= _FEWEST and share >= _CONTRADICTS_SHARED:
        if against := _other_value(new, old):
            return Related("contradicts", said["value"].format(new=against[0], old=against[1], words=words), strength)
        if new.denies != old.denies:
            return Related("contradicts", said["not"].format(words=words), strength)
        if _are_opposite(new.text, old.text):
            return Related("contradicts", said["opposite"].format(words=words), strength)
    if len(shared) >= _FEWEST and len(new.words - old.words) >= _EXTENDS_NEW:
        if _BECAUSE.search(new.text) and not _BECAUSE.search(old.text):
            return Related("extends", said["because"].format(words=words), strength)
        if share >= _EXTENDS_SHARED:
            return Related("extends", said["extends"].format(words=words), strength)
    return Related("related", said["related"].format(words=words) if shared else said["near"], strength)


def _share_a_subject(new: Finding, old: Finding, shared: frozenset[str], share: float) -> bool:
    """Two words of both; of a question or a label, which has few, one that says something."""
    if share < _RELATED_SHARED:
        return False
    if len(shared) >= _FEWEST:
        return True
    is_short = min(len(new.topic), len(old.topic)) <= _SHORT
    return is_short and any(len(word.encode()) >= _SAYING_BYTES for word in shared)


def same(one: Finding, other: Finding, cosine: float, near: float) -> bool:
    """Whether they say the same: nothing is lost with one of them. Another number, or a "not", is another finding."""
    if one.denies != other.denies or _other_value(one, other) or _are_opposite(one.text, other.text):
        return False
    if one.words == other.words:
        return True
    overlap = len(one.words & other.words) / max(min(len(one.words), len(other.words)), 1)
    return cosine >= near and overlap >= _SAME_WORDS


def repeats(text: Finding, told: Finding) -> bool:
    """Whether `text` says again what somebody was told: most of its words are from there."""
    return bool(text.words) and len(text.words & told.words) / len(text.words) >= _SAME_WORDS


def _other_value(new: Finding, old: Finding) -> tuple[str, str] | None:
    for kind in new.values.keys() & old.values.keys():
        ours, theirs = new.values[kind], old.values[kind]
        if not ours.keys() & theirs.keys():
            return next(iter(ours.values())), next(iter(theirs.values()))
    return None


def _are_opposite(one: str, other: str) -> bool:
    return any(
        (up.search(one) and down.search(other) and not down.search(one) and not up.search(other))
        or (down.search(one) and up.search(other) and not up.search(one) and not down.search(other))
        for up, down in _OPPOSITES
    )


def _named(shared: frozenset[str], text: str) -> str:
    """The longest words first that stand in the text as they are, some of them."""
    found = sorted(shared, key=lambda word: (word not in text.lower(), -len(word), word))
    return ", ".join(found[:_NAMED])
