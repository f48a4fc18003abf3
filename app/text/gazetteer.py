"""Names that a text may hold: the keys of its runs of words, to be looked up among the names that are known. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.text.names_words import is_ordinary
from app.text.normalise import HAN, name_key
from app.text.segment import Segmenter
from app.text.stopwords import ENGLISH

LONGEST_WORDS: Final = 5
LONGEST_HAN: Final = 12
LONGEST_QUESTION_WORDS: Final = 12
"""Titles can be long, and a question is short."""
MOST_KEYS: Final = 4_000
"""Of one card; a long one is known by how it begins, and by what it names with capitals anyway."""

_OWNER = re.compile(r"['’]s?\Z")
_WORD = re.compile(f"[^\\W_{HAN}]+(?:[.'’&+#-]+[^\\W_{HAN}]+|\\+\\+|#)*")
# What is not in the dictionary is often cut together with the small word behind it: 林晓东于 2012 年.
_FOLLOWS = frozenset("于在是的和与从对为把被向到由曾也就说将让给跟")
# Words of one name stand apart by one of these, and by nothing else.
_QUOTED = re.compile(r"[“\"「『《]\s*([^“”\"「」『』《》\n]{2,80}?)\s*[”\"」』》]")
# Words with capitals, and up to two small ones between them: "Conchobar mac Nessa", "Infanta María de la Paz".
_CAPITALS = re.compile(r"[^\W\d_a-z]\w*(?:[.'’&-]*\s*(?:[a-z]+[ -]){0,2}[^\W\d_a-z]\w*|[.'’&-]+\w+)*")
_GAP = re.compile(r"[ \t]?[-–/·&'’.]?[ \t]?$")


@dataclass(frozen=True, slots=True)
class Run:
    """Words that may be a name: `text[start:end]`, under its key. `words` counts them, a Han word as one."""

    key: str
    start: int
    end: int
    words: int


def candidate_runs(text: str, segmenter: Segmenter) -> list[Run]:
    """Every run of a question's words, with whatever stands between them: what is looked up by its key need not look
    like a name. In order of where they start, the longer ones first.
    """
    runs: list[Run] = []
    for han in segmenter.tagged(text):
        for first in range(len(han)):
            start = han[first][2]
            for count, (*_, end) in enumerate(han[first : first + LONGEST_WORDS], 1):
                if end - start > LONGEST_HAN:
                    break
                if end - start > 1:
                    runs.append(Run(text[start:end], start, end, count))
                if end - start > 2 and text[end - 1] in _FOLLOWS:
                    runs.append(Run(text[start : end - 1], start, end - 1, count))
    words = [match.span() for match in _WORD.finditer(text)]
    for last, (_, written) in enumerate(words):
        # "McDonald's", but "Ada's mother".
        owner = _OWNER.search(text, *words[last])
        for end in (written, owner.start()) if owner else (written,):
            for first in range(max(last + 1 - LONGEST_QUESTION_WORDS, 0), last + 1):
                start = words[first][0]
                if first < last or _may_stand_alone(text[start:end]):
                    runs.append(Run(name_key(text[start:end]), start, end, last + 1 - first))
        if len(runs) >= MOST_KEYS:
            break
    return sorted(runs, key=lambda run: (run.start, -run.end))


def likely_keys(text: str, segmenter: Segmenter) -> set[str]:
    """Fewer than `candidate_keys`, and at a tenth of the time: of what stands in quotes, of what is written with
    capitals and the parts of that, and of Han as there.
    """
    keys: set[str] = set()
    for run in segmenter.tagged(text):
        _add_han(keys, [word for word, *_ in run])
    spans = [match.span(1) for match in _QUOTED.finditer(text)]
    for match in _CAPITALS.finditer(text):
        words = [word.span() for word in _WORD.finditer(text, *match.span())]
        large = [place for place, (start, _) in enumerate(words) if not text[start].islower()]
        for first in large:
            for last in large:
                start, end = words[first][0], words[last][1]
                if first < last < first + LONGEST_QUESTION_WORDS or (
                    first == last and _may_stand_alone(text[start:end])
                ):
                    spans.append((start, end))
                    if owner := _OWNER.search(text, *words[last]):
                        spans.append((start, owner.start()))
    keys.update(name_key(text[start:end]) for start, end in spans)
    return keys


def candidate_keys(text: str, segmenter: Segmenter) -> set[str]:
    """Keys of up to five words in a row, and of up to twelve Han characters along the words that jieba sees."""
    keys: set[str] = set()
    for run in segmenter.tagged(text):
        _add_han(keys, [word for word, *_ in run])
        if len(keys) >= MOST_KEYS:
            return keys
    recent: list[_Word] = []
    end = 0
    for match in _WORD.finditer(text):
        if recent and not _GAP.fullmatch(text, end, match.start()):
            recent.clear()
        written, end = match.group(), match.end()
        recent.append(_word(written))
        del recent[:-LONGEST_WORDS]
        _add_latin(keys, recent)
        if ("'" in written or "’" in written) and (owner := _OWNER.search(written)):
            _add_latin(keys, [*recent[:-1], _word(written[: owner.start()])])
        if len(keys) >= MOST_KEYS:
            break
    return keys


_Word = tuple[str, str, bool]
"""(as written, its key where that is the word in lower case, whether it is a stop word)"""


def _word(written: str) -> _Word:
    lower = written.lower()
    return written, lower if written.isascii() and written.isalnum() else "", lower in ENGLISH


def _add_latin(keys: set[str], words: Sequence[_Word]) -> None:
    """Every run that ends with the last word and neither begins nor ends with a stop word."""
    written, key, stops = words[-1]
    if stops:
        return
    if _may_stand_alone(written):
        keys.add(key or name_key(written))
    for first in range(len(words) - 2, -1, -1):
        _, lower, stops = words[first]
        # As `name_key` would put them together: a gap between digits is part of the name.
        gap = "." if key and lower and lower[-1].isdigit() and key[0].isdigit() else ""
        key = f"{lower}{gap}{key}" if key and lower else ""
        if not stops:
            keys.add(key or name_key(" ".join(word for word, *_ in words[first:])))


def _may_stand_alone(word: str) -> bool:
    """A lone common word is nobody's name in lower case."""
    return not (word.isdigit() or word.lower() in ENGLISH or (word.islower() and is_ordinary(word)))


def _add_han(keys: set[str], words: list[str]) -> None:
    for first in range(len(words)):
        name = ""
        for word in words[first : first + LONGEST_WORDS]:
            name += word
            if len(name) > LONGEST_HAN:
                break
            if len(name) > 1:
                keys.add(name)
            if len(name) > 2 and name[-1] in _FOLLOWS:
                keys.add(name[:-1])
