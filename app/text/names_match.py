"""Where a text names things whose names are known: longest match, in one pass over its words.

A name is found in any case and with spaces or hyphens between its words when that cannot mislead; a name that is a
common word needs its capital. Knows nothing of what the names stand for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from app.text.names_words import is_ordinary
from app.text.normalise import HAN, is_han

MAX_NAME_CHARS: Final = 120
_TOKEN = re.compile(f"[{HAN}]|[^\\W_{HAN}]+(?:\\+\\+|\\#(?!\\w))?")
_END = "\0"
_JOIN = re.compile(r"[ \t\u00a0]?(?:[-–_/·•.'’&,:：]|\n)?[ \t\u00a0]?$")
_HAN_JOIN = frozenset(("", "·", "•", " "))


class NameMatcher:
    """Names that a text may hold. Several spellings may stand for one name."""

    def __init__(self, spellings: Iterable[tuple[str, str]]) -> None:
        """`spellings`: (as written, the name that it stands for); the first of equal spellings wins."""
        self._root: dict[str, Any] = {}
        for written, name in spellings:
            self._add(written, name)

    def _add(self, written: str, name: str) -> None:
        if len(written) > MAX_NAME_CHARS:
            return
        tokens = _TOKEN.findall(written)
        if not tokens:
            return
        node = self._root
        for token in tokens:
            node = node.setdefault(token.lower(), {})
        exact = _needs_its_case(written, tokens)
        for other, _, needed in node.setdefault(_END, []):
            if other == written or not (needed or exact):
                return
        node[_END].append((written, name, exact))

    def find(self, text: str) -> list[tuple[str, int, int]]:
        """(name, start, end) without overlaps, in order."""
        root = self._root
        if not root:
            return []
        found: list[tuple[str, int, int]] = []
        tokens = [(m.group().lower(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
        i, count = 0, len(tokens)
        while i < count:
            node = root.get(tokens[i][0])
            if node is None:
                i += 1
                continue
            best: tuple[str, int] | None = None
            start = tokens[i][1]
            j = i
            while True:
                ends = node.get(_END)
                if ends is not None:
                    name = _fitting(ends, text, start, tokens[j][2])
                    if name is not None:
                        best = name, j
                j += 1
                if j >= count:
                    break
                node = node.get(tokens[j][0])
                if node is None or not _joined(text, tokens[j - 1][2], tokens[j][1]):
                    break
            if best is None:
                i += 1
            else:
                found.append((best[0], start, tokens[best[1]][2]))
                i = best[1] + 1
        return found


def _fitting(ends: list[tuple[str, str, bool]], text: str, start: int, end: int) -> str | None:
    if text[end - 1].isdigit() and end + 1 < len(text) and text[end] in ".,-" and text[end + 1].isdigit():
        return None
    if text[start].isdigit() and start > 1 and text[start - 1] in ".," and text[start - 2].isdigit():
        return None
    # "GPT" is not what "GPT-4" names.
    if end + 1 < len(text) and text[end] == "-" and text[end + 1].isdigit():
        return None
    written = text[start:end]
    for spelling, name, exact in ends:
        if spelling == written or not exact or (spelling.islower() and written == spelling.capitalize()):
            return name
    return None


def _needs_its_case(written: str, tokens: list[str]) -> bool:
    """Whether another case would be another word: "Apple", "US", "Will"."""
    if len(tokens) > 1:
        return False
    word = tokens[0]
    return not is_han(word[0]) and (len(word) <= 3 or is_ordinary(word.lower()))


def _joined(text: str, end: int, start: int) -> bool:
    """Whether what stands between two words may stand inside a name."""
    if end == start:
        return True
    if start - end > 3:
        return False
    gap = text[end:start]
    if is_han(text[end - 1]) and is_han(text[start]):
        return gap in _HAN_JOIN
    return gap == " " or _JOIN.match(gap) is not None
