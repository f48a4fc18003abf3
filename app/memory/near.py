"""Whether two memories say the same thing. Pure: words, values, and a cosine where there is one.

Careful on one side: what says something that the other does not is no duplicate, however near its vector. Another
number, date or name, or a "not", makes another statement; where nothing else differs it revises the first.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from app.text.anchors import anchors
from app.text.normalise import is_chinese, name_key

Nearness = Literal["same", "revised"]
Words = Callable[[str], Sequence[str]]

_SAME_WORDS: Final = 0.6
"""Of all words of both; with nearly all of the new one's in the old one."""
_CONTAINED: Final = 0.9
_REVISED_WORDS: Final = 0.75
_PARAPHRASED_WORDS: Final = 0.4
_FEWEST_WORDS: Final = 3
"""A body of fewer means nothing without its title."""
_NOT = re.compile(
    r"(?i:\b(?:not|never|no longer|cannot|without|stopped|quit)\b|n['’]t\b|\bdis(?=like))|[不没无别勿未非]|讨厌|停止|戒"
)
_VALUES: Final = frozenset({"date", "money", "percent", "quantity", "number"})
_ASIDE: Final = frozenset({"user", "users", "the", "用户", "please"})
_REMEMBERED: Final = 20_000
_DIGIT = re.compile(r"\d")

# From which cosine on two passages are paraphrases. In e5-small two statements that contradict each other reach .98.
_PARAPHRASE: Final = {"bge-m3": 0.90}
NEVER: Final = 2.0


def paraphrase_cosine(model: str) -> float:
    """`NEVER` for spaces that were not measured: there words alone decide."""
    return next((cosine for name, cosine in _PARAPHRASE.items() if name in model.lower()), NEVER)


@dataclass(frozen=True, slots=True)
class Said:
    """What a memory says, as far as comparing goes."""

    key: str
    words: frozenset[str]
    values: frozenset[str]
    others: frozenset[str]
    is_denied: bool
    is_han: bool


class Reader:
    """What memories say, remembered: the same ones are compared again and again. `words` cuts a text into stemmed words
    without stop words.
    """

    def __init__(self, words: Words) -> None:
        self._words = words
        self._known: dict[uuid.UUID, Said] = {}

    def said(self, title: str, body: str, text_hash: uuid.UUID) -> Said:
        """`text_hash` stands for title and body."""
        found = self._known.get(text_hash)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[text_hash] = said(title, body, self._words)
        return found

    def find(self, text_hash: uuid.UUID) -> Said | None:
        """What was read before."""
        return self._known.get(text_hash)

    def words(self, text: str) -> frozenset[str]:
        return _words(text, self._words)


def said(title: str, body: str, words: Words) -> Said:
    in_body = _words(body, words)
    text = body if len(in_body) >= _FEWEST_WORDS else f"{title}\n{body}"
    found = anchors(text)
    return Said(
        key=name_key(text),
        words=_words(text, words),
        values=frozenset(one.key for one in found if one.kind in _VALUES),
        others=frozenset(one.key for one in found if one.kind not in _VALUES),
        is_denied=_NOT.search(text) is not None,
        is_han=is_chinese(body),
    )


def nearness(new: Said, old: Said, cosine: float | None = None, paraphrase: float = NEVER) -> Nearness | None:
    """How the new one stands to the old one: says nothing else, says it with another value, or neither."""
    if new.key == old.key:
        return "same"
    if not new.words or not old.words:
        return None
    shared = len(new.words & old.words)
    overlap = shared / len(new.words | old.words)
    contained = shared / len(new.words)
    if new.is_denied == old.is_denied and new.values <= old.values and new.others <= old.others:
        if contained >= _CONTAINED and overlap >= _SAME_WORDS:
            return "same"
        if cosine is not None and cosine >= paraphrase and overlap >= _PARAPHRASED_WORDS:
            return "same"
    plain_new, plain_old = _without_figures(new.words), _without_figures(old.words)
    both = plain_new | plain_old
    is_alike = bool(both) and len(plain_new & plain_old) / len(both) >= _REVISED_WORDS
    differs = new.values != old.values or new.is_denied != old.is_denied
    if is_alike and differs and new.others == old.others:
        return "revised"
    return None


def _words(text: str, words: Words) -> frozenset[str]:
    return frozenset(words(text)) - _ASIDE


def _without_figures(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if not _DIGIT.search(word))
