"""What descriptions say about who is meant: professions that do not go together, and other names. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product
from typing import Final

from app.ingestion.link.shapes import shape, shown
from app.ingestion.link.words import CUES_HAN, CUES_HAN_JOINED, CUES_LATIN, KINDRED, PROFESSIONS
from app.text.normalise import HAN, fold, name_key

_CLAUSE = re.compile(r"[，。,.;；!！?？\n]")
_WORD = re.compile(r"[a-zà-ÿ]+")
_SAID = re.compile(
    r"^\s*(?:是|为|,|，|—|–|-|\(|（|:|：|\bis\b|\bwas\b|\bwho (?:is|was)\b)+"
    r"\s*(?:an?\b|the\b|我的|一位|一名|一个)?"
)
_STOP: Final = '[^，。,.;；:：!！?？()（）\\n「」“”"《》]{1,60}'
_JOIN: Final = "(?:为|是|叫|作|做|:|：)"
_QUOTE: Final = "[「“\"'《]"
# 英文单词, 中文意思是 and 英文字母 tell no name: a language does where a word of it follows.
_CUE = re.compile(
    f"(?:(?:{CUES_HAN}){_JOIN}?|(?:{CUES_HAN_JOINED})(?:{_JOIN}|(?=\\s*(?:{_QUOTE}|[a-z])))"
    f"|(?:英文|英语){_JOIN}?(?=\\s*{_QUOTE}?\\s*[a-z])|中文(?:为|叫|:|：|(?=\\s*{_QUOTE}))"
    f"|\\b(?:{CUES_LATIN})\\b)\\s*{_QUOTE}?\\s*({_STOP})",
    re.IGNORECASE,
)
_LATIN_RUN = re.compile(f"^[^{HAN}]+")
_LONGEST_CLAUSE: Final = 60

_BY_WORD: Final = {word: group for group, (latin, _) in PROFESSIONS.items() for word in latin}
_HAN_PROFESSION = re.compile("|".join(word for _, han in PROFESSIONS.values() for word in han))
_BY_HAN: Final = {word: group for group, (_, han) in PROFESSIONS.items() for word in han}


def contradict(name: str, one: str, other: str) -> bool:
    """Whether two descriptions of somebody of this name are of two people: their professions have nothing in common."""
    left, right = professions(name, one), professions(name, other)
    return bool(left and right) and not any(a == b or frozenset((a, b)) in KINDRED for a, b in product(left, right))


@lru_cache(maxsize=8192)
def professions(name: str, description: str) -> frozenset[str]:
    """Groups of `PROFESSIONS` that the description gives its subject; what it says of others does not count."""
    text = fold(description)
    at = text.find(fold(name)) if name else -1
    if at >= 0:
        # A sentence with the name in it: only what is said of the name.
        match = _SAID.match(text[at + len(fold(name)) :])
        if match is None:
            return frozenset()
        text = text[at + len(fold(name)) + match.end() :]
    clauses = _CLAUSE.split(text.strip())
    clause = " ".join(clauses[: 1 if at >= 0 else 2])[:_LONGEST_CLAUSE]
    found = {_BY_WORD[word] for word in _WORD.findall(clause) if word in _BY_WORD}
    found.update(_BY_HAN[word] for word in _HAN_PROFESSION.findall(clause))
    return frozenset(found)


@lru_cache(maxsize=8192)
def stated_names(description: str) -> tuple[str, ...]:
    """Other names that the description states: "short for Kubernetes", "笔名老舍"."""
    found = []
    for match in _CUE.finditer(description):
        said = shown(match[1])
        latin = _LATIN_RUN.match(said)
        # "英文 forgetting curve提出": a Latin name ends where Han begins.
        found.append(latin[0].strip() if latin and latin[0].strip() and not said.isascii() else said)
    return tuple(dict.fromkeys(name for name in found if name_key(name)))


def leading_name(description: str) -> str:
    """What stands in front of the description's first comma: "IBM: International Business Machines, maker of …"."""
    return shown(_CLAUSE.split(description, maxsplit=1)[0])


def spells_out(acronym: str, description: str) -> str:
    """The expansion that a description opens with, or an empty string."""
    head = leading_name(description)
    return head if shape(acronym).letters in shape(head).initials else ""
