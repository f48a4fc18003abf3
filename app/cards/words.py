"""What the words of a filter look for. Pure."""

from __future__ import annotations

from typing import Final

from app.cards.queries import Words
from app.core.errors import Invalid
from app.text.normalise import fold
from app.text.segment import Segmenter
from app.text.stopwords import ENGLISH

MAX_WORDS: Final = 32


class TooManyWords(Invalid):
    """A filter takes up to 32 words; longer questions go to /search."""

    code = "too_many_words"


def words_in(text: str, segmenter: Segmenter) -> Words:
    """Each written word by itself, so that a card may hold them in different chunks. Stop words decide nothing.

    Raises TooManyWords.
    """
    written = list(dict.fromkeys(text.split()))
    if len(written) > MAX_WORDS:
        raise TooManyWords
    telling = [word for word in written if fold(word) not in ENGLISH]
    literals = [literal for word in telling if (literal := segmenter.tsquery_all(word))]
    return Words(telling or written, literals)
