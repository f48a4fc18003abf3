"""Under which hash a term stands in the postings. Both who writes and who asks go through here."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from app.text.segment import Terms, term_hash

_REMEMBERED: Final = 1 << 16


@lru_cache(_REMEMBERED)
def word_hash(word: str) -> int:
    return term_hash("w:" + word)


@lru_cache(_REMEMBERED)
def gram_hash(gram: str) -> int:
    return term_hash("g:" + gram)


def single_hash(character: str) -> int:
    """A lone Han character. Apart from bigrams, so that it is looked for only where it stands alone."""
    return term_hash("s:" + character)


def question_hashes(terms: Terms) -> tuple[list[int], list[int]]:
    """Hashes of a question's words and grams; a run of one Han character asks for that character."""
    singles = set(terms.singles)
    return (
        [word_hash(word) for word in terms.words],
        [single_hash(gram) if gram in singles else gram_hash(gram) for gram in terms.grams],
    )
