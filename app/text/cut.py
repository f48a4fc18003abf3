"""Where a text may be cut when it must be: behind a clause, else a word, else a character.

Knows no sentences (they end elsewhere) and no tokens.
"""

from __future__ import annotations

import unicodedata
from typing import Final

_CLAUSE: Final = frozenset('，,；;：:、。！？!?)）]】”’"')
_JOINERS: Final = frozenset("\u200c\u200d\ufe0e\ufe0f")
_LONGEST_CHARACTER: Final = 32


def good_cut(content: str, start: int, stop: int) -> int:
    """The last place in content[start:stop] where a clause, else a word, else a character ends; above `start`."""
    earliest = max(start + 1, stop - (stop - start) * 2 // 5)
    for at in range(stop, earliest - 1, -1):
        # "3,000" and "a:b" go on behind an ASCII mark.
        if content[at - 1] in _CLAUSE and not (content[at - 1].isascii() and content[at : at + 1].isalnum()):
            return at
    for at in range(stop, earliest - 1, -1):
        if content[at - 1].isspace() or content[at : at + 1].isspace():
            return max(start + 1, start + len(content[start:at].rstrip()))
    for at in range(stop, max(start, stop - _LONGEST_CHARACTER), -1):
        if _between_characters(content, start, at):
            return at
    return stop


def _between_characters(content: str, start: int, at: int) -> bool:
    """Whether no character, as a reader sees it, is cut at `at`: the common cases of UAX #29. One begins at `start`."""
    if at >= len(content):
        return True
    left, right = content[at - 1], content[at]
    if right in _JOINERS or left == "\u200d" or (left, right) == ("\r", "\n"):
        return False
    if unicodedata.category(right)[0] == "M" or "\U0001f3fb" <= right <= "\U0001f3ff":
        return False
    if _is_flag_letter(right) and _is_flag_letter(left):
        run = 1
        while at - 1 - run >= start and _is_flag_letter(content[at - 1 - run]):
            run += 1
        return run % 2 == 0
    # Conjoining Hangul: a vowel or a final consonant continues the syllable.
    return not ("\u1160" <= right <= "\u11ff" and "\u1100" <= left <= "\ud7ff")


def _is_flag_letter(ch: str) -> bool:
    return "\U0001f1e6" <= ch <= "\U0001f1ff"
