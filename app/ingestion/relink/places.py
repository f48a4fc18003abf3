"""Which chunks may hold a name: all of its words stand in them. Pure, on the postings of the lexical index.

What is found here is only worth a look: words may stand anywhere in a chunk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

import numpy as np

from app.index.postings import POSTING, RECENT_HEAD, U4, Found, recent_postings
from app.index.terms import gram_hash, single_hash, word_hash
from app.text.normalise import HAN
from app.text.segment import Segmenter
from app.text.stopwords import ENGLISH

MOST_CHUNKS: Final = 200
"""Of one name, the latest. A name whose words are more common than that is not looked for everywhere."""

_PART = re.compile(f"[{HAN}]+|[^\\s{HAN}]+")
_HAN = re.compile(f"[{HAN}]")
_NOTHING: Final[U4] = np.empty(0, np.uint32)


@dataclass(frozen=True, slots=True)
class Sought:
    """Of each part of a name one of several sets of terms, all of which stand in a chunk that holds the name."""

    parts: tuple[tuple[tuple[int, ...], ...], ...]
    words: frozenset[int]
    grams: frozenset[int]


def sought(name: str, segmenter: Segmenter) -> Sought:
    parts: list[tuple[tuple[int, ...], ...]] = []
    words: set[int] = set()
    grams: set[int] = set()
    written = _PART.findall(name)
    telling = [part for part in written if part.lower() not in ENGLISH]
    for part in telling or written:
        terms = segmenter.terms(part)
        if _HAN.match(part):
            single = set(terms.singles)
            found = tuple(single_hash(gram) if gram in single else gram_hash(gram) for gram in terms.grams)
            grams.update(found)
            alternatives: tuple[tuple[int, ...], ...] = (found,) if found else ()
        else:
            # The word as it is written stands first, then what it is made of: "spaced-repetition", "SystemAdmin".
            hashes = [word_hash(word) for word in terms.words]
            words.update(hashes)
            alternatives = tuple(filter(None, (tuple(hashes[:1]), tuple(hashes[1:]))))
        if alternatives:
            parts.append(alternatives)
    return Sought(tuple(parts), frozenset(words), frozenset(grams))


def docs_by_term(found: Found) -> dict[int, U4]:
    """Numbers of the chunks that have each term, ascending; deleted ones may be among them."""
    heads = np.frombuffer(b"".join(found.recent_heads), RECENT_HEAD)
    docs: dict[int, list[U4]] = {}
    for at, block in zip(found.ords, found.blocks, strict=True):
        term = found.words[at] if at < len(found.words) else found.grams[at - len(found.words)]
        docs.setdefault(int(term), []).append(np.frombuffer(block, POSTING)["doc"].astype(np.uint32))
    for terms, lengths, counts, packed in (
        (found.words, "words", "word_terms", found.recent_words),
        (found.grams, "grams", "gram_terms", found.recent_grams),
    ):
        owners, postings = recent_postings(terms, heads["doc"], heads[lengths], heads[counts], packed)
        for owner in np.unique(owners):
            docs.setdefault(int(terms[owner]), []).append(postings["doc"][owners == owner].astype(np.uint32))
    return {term: np.unique(np.concatenate(some)) for term, some in docs.items()}


def chunks_with(name: Sought, docs: Mapping[int, U4]) -> Sequence[int]:
    """Numbers of the chunks that may hold the name, the latest first, at most `MOST_CHUNKS`."""
    if not name.parts:
        return ()
    found = _all(
        reduce(np.union1d, [_all(docs.get(term, _NOTHING) for term in terms) for terms in part]) for part in name.parts
    )
    return [int(doc) for doc in found[::-1][:MOST_CHUNKS]]


def _all(sets: Iterable[U4]) -> U4:
    return reduce(np.intersect1d, sorted(sets, key=len))
