"""Names that a text may hold: the keys of its runs of words, to be looked up among the names that are known. Pure."""

from __future__ import annotations

import re
from typing import Final

from app.text.names_words import is_ordinary
from app.text.normalise import HAN, name_key
from app.text.segment import Segmenter
from app.text.stopwords import ENGLISH

LONGEST_WORDS: Final = 5
LONGEST_HAN: Final = 12
MOST_KEYS: Final = 4_000
"""Of one card; a long one is known by how it begins, and by what it names with capitals anyway."""

_WORD = re.compile(f"[^\\W_{HAN}]+(?:[.'’&+#-]+[^\\W_{HAN}]+|\\+\\+|#)*")
# Words of one name stand apart by one of these, and by nothing else.
_GAP = re.compile(r"[ \t]?[-–/·&'’.]?[ \t]?$")


def candidate_keys(text: str, segmenter: Segmenter) -> set[str]:
    """Keys of up to five words in a row, and of up to twelve Han characters along the words that jieba sees."""
    keys: set[str] = set()
    for run in segmenter.tagged(text):
        _add_han(keys, [word for word, *_ in run])
        if len(keys) >= MOST_KEYS:
            return keys
    recent: list[tuple[str, int]] = []
    for match in _WORD.finditer(text):
        if recent and not _GAP.fullmatch(text, recent[-1][1], match.start()):
            recent.clear()
        recent.append((match.group(), match.end()))
        del recent[:-LONGEST_WORDS]
        _add_latin(keys, [word for word, _ in recent])
        if len(keys) >= MOST_KEYS:
            break
    return keys


def _add_latin(keys: set[str], words: list[str]) -> None:
    """Every run that ends with the last word. A lone common word is nobody's name in lower case."""
    last = words[-1]
    if last.lower() in ENGLISH:
        return
    for first in range(len(words)):
        if words[first].lower() in ENGLISH:
            continue
        if first == len(words) - 1 and (last.isdigit() or (last.islower() and is_ordinary(last))):
            continue
        keys.add(name_key(" ".join(words[first:])))


def _add_han(keys: set[str], words: list[str]) -> None:
    for first in range(len(words)):
        name = ""
        for word in words[first : first + LONGEST_WORDS]:
            name += word
            if len(name) > LONGEST_HAN:
                break
            if len(name) > 1:
                keys.add(name)
