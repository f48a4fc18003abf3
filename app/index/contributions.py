"""What each term of a question gives to some docs: BM25 taken apart, so that other questions can be put together from
the same postings. Pure numpy, as `postings`, and knows as little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.index.postings import (
    K1,
    POSTING,
    RECENT_HEAD,
    U4,
    B,
    Found,
    Ints,
    LexicalHits,
    Records,
    TermWeights,
    recent_postings,
)

F8 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Contributions:
    """BM25 of each doc (rows, in the order asked) by term (columns): `words` and `grams` by the terms' hashes."""

    word_terms: Sequence[int]
    gram_terms: Sequence[int]
    words: F8
    grams: F8

    def beside(self, other: Contributions) -> Contributions:
        """The same docs with the terms of both; they share none."""
        return Contributions(
            [*self.word_terms, *other.word_terms],
            [*self.gram_terms, *other.gram_terms],
            np.hstack((self.words, other.words)),
            np.hstack((self.grams, other.grams)),
        )

    def scores(self, words: Iterable[int], grams: Iterable[int]) -> F8:
        """BM25 of the docs for a question of these terms; with grams the mean of both streams, each as a share of its
        best doc.
        """
        by_words = self.words @ _chosen(self.word_terms, words)
        chosen = _chosen(self.gram_terms, grams)
        if not chosen.any():
            return by_words
        return (_share(by_words) + _share(self.grams @ chosen)) / 2


def contributions(found: Found, hits: LexicalHits, docs: U4, b: float = B) -> Contributions:
    """`hits`: what `score` or `weigh` makes of `found`, for its weights. `docs` in any order, living ones."""
    order = np.argsort(docs, kind="stable")
    ascending = docs[order]
    place = _Places(ascending)
    heads = np.frombuffer(b"".join(found.recent_heads), RECENT_HEAD)
    split = sum(ord < len(found.words) for ord in found.ords)
    totals = hits.totals

    def stream(
        weights: TermWeights,
        ords: Sequence[int],
        blocks: Sequence[bytes],
        recent: tuple[Ints, Records],
        n: int,
        length: int,
    ) -> F8:
        table = np.zeros((len(docs), len(weights.terms)))
        average = length / n if n > 0 and length > 0 else 1.0
        for ord, block in zip(ords, blocks, strict=True):
            _add(table, place, np.frombuffer(block, POSTING), ord, average, b)
        owners, postings = recent
        if len(owners):
            _add(table, place, postings, owners, average, b)
        back = np.empty_like(table)
        back[order] = table * (weights.idf.astype(np.float64) * (K1 + 1))
        return back

    return Contributions(
        found.words.tolist(),
        found.grams.tolist(),
        stream(
            hits.word_terms,
            found.ords[:split],
            found.blocks[:split],
            recent_postings(found.words, heads["doc"], heads["words"], heads["word_terms"], found.recent_words),
            totals.docs,
            totals.words,
        ),
        stream(
            hits.gram_terms,
            [ord - len(found.words) for ord in found.ords[split:]],
            found.blocks[split:],
            recent_postings(found.grams, heads["doc"], heads["grams"], heads["gram_terms"], found.recent_grams),
            totals.gram_docs,
            totals.grams,
        ),
    )


class DocsWithAll:
    """Which docs have all of some words: from postings, the shorter ones in them first."""

    def __init__(self, found: Found) -> None:
        self._blocks: dict[int, list[Records]] = {}
        terms = found.words.tolist()
        for ord, block in zip(found.ords, found.blocks, strict=True):
            if ord < len(terms):
                self._blocks.setdefault(terms[ord], []).append(np.frombuffer(block, POSTING))
        heads = np.frombuffer(b"".join(found.recent_heads), RECENT_HEAD)
        owners, postings = recent_postings(
            found.words, heads["doc"], heads["words"], heads["word_terms"], found.recent_words
        )
        for ord in np.unique(owners).tolist():
            self._blocks.setdefault(terms[ord], []).append(postings[owners == ord])

    def of(self, words: Iterable[int], limit: int, most: int) -> list[int]:
        """At most `limit` docs, those first that use the words most for their length. None where every word is in more
        than `most` docs: such words tell nothing.
        """
        lists = [self._blocks.get(word) for word in set(words)]
        if not lists or not all(lists):
            return []
        postings = sorted(
            (blocks[0] if len(blocks) == 1 else np.concatenate(blocks) for blocks in lists if blocks), key=len
        )
        if len(postings[0]) > most:
            return []
        docs = postings[0]["doc"].astype(np.uint32)
        # Where each doc stands in every list.
        places = [np.arange(len(docs))]
        for other in postings[1:]:
            others = other["doc"].astype(np.uint32)
            order = None if _ascends(others) else np.argsort(others, kind="stable")
            at = np.minimum(np.searchsorted(others, docs, sorter=order), len(other) - 1)
            if order is not None:
                at = order[at]
            there = others[at] == docs
            docs, places = docs[there], [*(place[there] for place in places), at[there]]
        weight = np.sum([_density(some[at]) for some, at in zip(postings, places, strict=True)], axis=0)
        if len(docs) > limit:
            # Everything as good as the last one stays, so that ties are decided by doc.
            good = weight >= np.partition(weight, len(weight) - limit)[len(weight) - limit]
            docs, weight = docs[good], weight[good]
        best = np.lexsort((docs, -weight))[:limit]
        return [int(doc) for doc in docs[best]]


def _density(postings: Records) -> F8:
    density: F8 = postings["tf"] / np.sqrt(np.maximum(postings["len"], 1).astype(np.float64))
    return density


class _Places:
    """Where each of some docs stands among `ascending`."""

    def __init__(self, ascending: U4) -> None:
        self._docs = ascending

    def of(self, docs: U4) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """(positions in `docs`, their places) of those that are there."""
        if not len(docs) or not len(self._docs):
            return np.empty(0, np.intp), np.empty(0, np.intp)
        if _ascends(docs):
            # The postings of a term: far more than the docs that are asked about.
            at = np.minimum(np.searchsorted(docs, self._docs), len(docs) - 1)
            places = np.flatnonzero(docs[at] == self._docs)
            return at[places], places
        at = np.minimum(np.searchsorted(self._docs, docs), len(self._docs) - 1)
        which = np.flatnonzero(self._docs[at] == docs)
        return which, at[which]


def _ascends(docs: U4) -> bool:
    """Strictly."""
    return bool((docs[1:] > docs[:-1]).all())


def _add(table: F8, place: _Places, postings: Records, term: int | Ints, average: float, b: float) -> None:
    """Saturated term frequencies into the columns `term`: one of all postings, or one each."""
    which, rows = place.of(postings["doc"].astype(np.uint32))
    tf = postings["tf"][which].astype(np.float64)
    length = postings["len"][which].astype(np.float64)
    columns = term if isinstance(term, int) else term[which]
    table[rows, columns] = tf / (tf + K1 * (1 - b + b / average * length))


def _chosen(terms: Sequence[int], wanted: Iterable[int]) -> F8:
    chosen = set(wanted)
    return np.fromiter((term in chosen for term in terms), np.float64, len(terms))


def _share(scores: F8) -> F8:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
