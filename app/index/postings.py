"""Packed postings: the bytes of the lexical index, and BM25 over them. Pure numpy; `segments` folds and merges.

Knows nothing of SQL, of text or of workspaces: terms are 64-bit hashes, rows of a collection are `doc` numbers
below 2^32. Two streams are scored apart, each with its own lengths and document frequencies:
*words*, and *grams* (character bigrams and single characters of chunks with Han).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75

U4 = NDArray[np.uint32]
I8 = NDArray[np.int64]
F4 = NDArray[np.float32]
Ints = NDArray[np.intp]
Records = NDArray[np.void]

# One occurrence list entry. `len`: length of the stream that the term belongs to, in that doc.
POSTING = np.dtype([("doc", "<u4"), ("len", "<u2"), ("tf", "<u2")])
# One term of one recent doc.
TERM = np.dtype([("hash", "<i8"), ("tf", "<u2")])
_TERM_LOW_BITS = np.dtype({"names": ["low"], "formats": ["<u2"], "offsets": [0], "itemsize": TERM.itemsize})
# What the search statement says of a deleted doc and of a recent one (PostgreSQL sends big-endian).
RECENT_HEAD = np.dtype(
    [("doc", ">i8"), ("words", ">i4"), ("grams", ">i4"), ("word_terms", ">i4"), ("gram_terms", ">i4")]
)
TOMBSTONE = np.dtype([("doc", ">i8"), ("words", ">i4"), ("grams", ">i4")])

U2_MAX = 0xFFFF
DOC_BYTES = 4
# Scores are gathered in an array indexed by doc as long as the docs lie this close together.
_DENSE_SPAN = 1 << 20
_BATCH_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class LexicalRow:
    """What the index knows of one row of a collection. `words`, `grams`: lengths of the two streams (`grams` 0 without
    Han); `word_terms`, `gram_terms`: term hash → occurrences. Single characters are gram terms that
    do not count in `grams`.
    """

    doc: int
    words: int
    grams: int
    word_terms: Mapping[int, int]
    gram_terms: Mapping[int, int]


def pack_terms(occurrences: Mapping[int, int]) -> bytes:
    """TERM records by ascending hash, from term hash → occurrences (more than 65,535 count as that)."""
    if not occurrences:
        return b""
    hashes = np.fromiter(occurrences.keys(), np.int64, len(occurrences))
    counts = np.fromiter(occurrences.values(), np.int64, len(occurrences))
    order = np.argsort(hashes)
    packed = np.empty(len(occurrences), TERM)
    packed["hash"] = hashes[order]
    packed["tf"] = np.minimum(counts, U2_MAX)[order]
    return packed.tobytes()


def pack_docs(docs: U4) -> bytes:
    """Little-endian u4, ascending."""
    return np.sort(docs).astype("<u4").tobytes()


def unpack_docs(packed: bytes) -> U4:
    return np.frombuffer(packed, "<u4")


@dataclass(frozen=True, slots=True)
class Totals:
    """Number of docs and sum of their lengths, per stream."""

    docs: int = 0
    words: int = 0
    gram_docs: int = 0
    grams: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """What the search statement brought, as it came. `words`, `grams`: the question's terms, ascending
    and unique; `blocks[i]` are postings of term `ords[i]` (ascending), counted through words, then grams.
    `totals` still count the docs of `tombstones` and know nothing of the recent ones.
    """

    words: I8
    grams: I8
    ords: Sequence[int]
    blocks: Sequence[bytes]
    totals: Totals
    dead: bytes = b""
    tombstones: bytes = b""
    recent_heads: Sequence[bytes] = ()
    recent_words: Sequence[bytes] = ()
    recent_grams: Sequence[bytes] = ()

    @property
    def size(self) -> int:
        """Bytes of folded postings: how long it takes to score them."""
        return sum(map(len, self.blocks))


@dataclass(frozen=True, slots=True)
class TermWeights:
    """Per term of the question: document frequency and idf (0 where no living doc has it)."""

    terms: I8
    df: I8
    idf: F4


@dataclass(frozen=True, slots=True)
class LexicalHits:
    """Every doc with a term of the question, ascending. `words` and `grams` are raw BM25 per stream
    (`grams` zero without Han); `lex` is the absolute score, 0…1:
    BM25/B over the words, with Han the mean of that and BM25/B over the grams, B = (k1 + 1)·Σ idf. `word_mass` and
    `gram_mass`: Σ idf over all terms of the question, those that no doc has at the idf of a term that none has.
    """

    docs: U4
    lex: F4
    words: F4
    grams: F4
    word_terms: TermWeights
    gram_terms: TermWeights
    totals: Totals
    word_mass: float = 0.0
    gram_mass: float = 0.0

    def __len__(self) -> int:
        return len(self.docs)

    def top(self, n: int, allowed: U4 | None = None) -> tuple[U4, F4]:
        """The best `n` docs and their `lex`, best first, ties by doc; only among `allowed` (ascending) if given."""
        docs, lex = self.docs, self.lex
        if allowed is not None:
            keep = _positions(allowed, docs) >= 0
            docs, lex = docs[keep], lex[keep]
        if n <= 0:
            return docs[:0], lex[:0]
        if len(docs) > n:
            # Everything as good as the n-th stays, so that ties are decided by doc and not by chance.
            keep = lex >= np.partition(lex, len(lex) - n)[len(lex) - n]
            docs, lex = docs[keep], lex[keep]
        order = np.lexsort((docs, -lex))[:n]
        return docs[order], lex[order]

    def score_of(self, docs: U4) -> F4:
        """`lex` of any docs, in their order; 0 where none of the question's terms occurs."""
        if not len(self.docs):
            return np.zeros(len(docs), np.float32)
        at = _positions(self.docs, docs)
        return np.where(at >= 0, self.lex[at], np.float32(0))

    def share_of(self, docs: U4) -> F4:
        """BM25 over the idf mass of the whole question (0…k1 + 1) of any docs, in their order: how much of what is
        asked a doc speaks of, words that none of them has included. With Han the mean of both streams.
        """
        if not len(self.docs):
            return np.zeros(len(docs), np.float32)
        at = _positions(self.docs, docs)
        share = self.words[at] / np.float32(self.word_mass or 1.0)
        if self.gram_mass:
            share = (share + self.grams[at] / np.float32(self.gram_mass)) / 2
        return np.where(at >= 0, share, np.float32(0)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Subset:
    """The docs (ascending) that a filtered question is about, and their totals."""

    docs: U4
    totals: Totals


def score(found: Found, subset: Subset | None = None, b: float = B) -> LexicalHits:
    """BM25 (k1 1.2, `b`; idf ln(1 + (N − df + .5)/(df + .5))) of everything that was found.

    With a `subset` only its docs are hits, and it is the collection whose statistics count: a word that is
    rare in all notes can be common in those that the question is about.
    """
    words, grams, totals, dead = _opened(found)
    if subset is not None:
        totals = subset.totals
    place = _Places([*words.batches, *grams.batches], dead, None if subset is None else subset.docs)
    raw_words, word_terms, word_bound = words.score(place, totals.docs, totals.words, b)
    raw_grams, gram_terms, gram_bound = grams.score(place, totals.gram_docs, totals.grams, b)
    # Of booleans few among many are found at once, of numbers they are looked for one by one.
    hit = np.flatnonzero(raw_words != 0 if not len(found.grams) else (raw_words != 0) | (raw_grams != 0))
    in_words, in_grams = raw_words[hit], raw_grams[hit]
    lex = in_words / word_bound if word_bound else np.zeros(len(hit))
    if len(found.grams):
        lex = (lex + (in_grams / gram_bound if gram_bound else 0.0)) / 2
    return LexicalHits(
        place.docs_at(hit),
        lex.astype(np.float32),
        in_words.astype(np.float32),
        in_grams.astype(np.float32),
        word_terms,
        gram_terms,
        totals,
        _mass(word_terms, totals.docs),
        _mass(gram_terms, totals.gram_docs),
    )


def weigh(found: Found) -> LexicalHits:
    """What `score` finds out about terms, without any docs: a small part of the work."""
    words, grams, totals, dead = _opened(found)
    word_terms, gram_terms = words.weigh(dead, totals.docs), grams.weigh(dead, totals.gram_docs)
    none = np.empty(0, np.float32)
    return LexicalHits(
        np.empty(0, np.uint32),
        none,
        none,
        none,
        word_terms,
        gram_terms,
        totals,
        _mass(word_terms, totals.docs),
        _mass(gram_terms, totals.gram_docs),
    )


def _opened(found: Found) -> tuple[_Stream, _Stream, Totals, U4]:
    """Both streams, the totals of living docs, and the docs that are none any more."""
    heads = np.frombuffer(b"".join(found.recent_heads), RECENT_HEAD)
    tombstones = np.frombuffer(found.tombstones, TOMBSTONE)
    totals = Totals(
        found.totals.docs + len(heads) - len(tombstones),
        found.totals.words + int(heads["words"].sum()) - int(tombstones["words"].sum()),
        found.totals.gram_docs + int((heads["grams"] > 0).sum()) - int((tombstones["grams"] > 0).sum()),
        found.totals.grams + int(heads["grams"].sum()) - int(tombstones["grams"].sum()),
    )
    split = sum(ord < len(found.words) for ord in found.ords)
    words = _Stream(
        found.words,
        found.ords[:split],
        found.blocks[:split],
        recent_postings(found.words, heads["doc"], heads["words"], heads["word_terms"], found.recent_words),
    )
    grams = _Stream(
        found.grams,
        [ord - len(found.words) for ord in found.ords[split:]],
        found.blocks[split:],
        recent_postings(found.grams, heads["doc"], heads["grams"], heads["gram_terms"], found.recent_grams),
    )
    return words, grams, totals, np.concatenate((unpack_docs(found.dead), tombstones["doc"].astype(np.uint32)))


def _mass(terms: TermWeights, docs: int) -> float:
    """Σ idf, with that of a term that no doc has (df 0) for those that are unknown."""
    unknown = int((terms.df == 0).sum())
    return float(terms.idf.sum()) + unknown * float(np.log1p((max(docs, 0) + 0.5) / 0.5))


def recent_postings(
    terms: I8, docs: Records, lengths: Records, counts: Records, packed: Sequence[bytes]
) -> tuple[Ints, Records]:
    """Brute force: which of `terms` occur in the recent docs. Their postings by ascending term, and each one's term."""
    if not len(terms) or not packed:
        return np.empty(0, np.intp), np.empty(0, POSTING)
    records = b"".join(packed)
    # Most records are none of the question's terms; a table over the hashes' low bits tells so quickest.
    maybe = np.zeros(1 << 16, np.bool_)
    maybe[terms & U2_MAX] = True
    at = np.flatnonzero(maybe[np.frombuffer(records, _TERM_LOW_BITS)["low"]])
    term = np.frombuffer(records, TERM)[at]
    owners = np.minimum(np.searchsorted(terms, term["hash"]), len(terms) - 1)
    real = np.flatnonzero(terms[owners] == term["hash"])
    real = real[np.argsort(owners[real], kind="stable")]
    rows = np.searchsorted(np.cumsum(counts), at[real], side="right")
    postings = np.empty(len(real), POSTING)
    postings["doc"] = docs[rows]
    postings["len"] = np.minimum(lengths[rows], U2_MAX)
    postings["tf"] = term["tf"][real]
    return owners[real], postings


class _Places:
    """Gives each doc a place in a score array: its distance from the smallest doc, or its rank
    where docs lie too far apart for that.
    """

    def __init__(self, batches: Sequence[_Batch], dead: U4, allowed: U4 | None = None) -> None:
        low = min((int(batch.docs.min()) for batch in batches), default=0)
        high = max((int(batch.docs.max()) for batch in batches), default=-1)
        self._low = np.uint32(low)
        self._ranked: U4 | None = None
        self.size = high - low + 1
        if self.size > max(_DENSE_SPAN, 4 * sum(len(batch.docs) for batch in batches)):
            self._ranked = np.unique(np.concatenate([batch.docs for batch in batches]))
            self.size = len(self._ranked)
        self.dead: NDArray[np.bool_] | None = None
        if batches and (len(dead) or allowed is not None):
            self.dead = np.zeros(self.size, np.bool_)
            if allowed is not None:
                self.dead[:] = True
                self.dead[self._of_some(allowed, low, high)] = False
            self.dead[self._of_some(dead, low, high)] = True

    def of(self, docs: U4) -> Ints:
        if self._ranked is not None:
            return np.searchsorted(self._ranked, docs)
        return (docs - self._low).astype(np.intp)

    def _of_some(self, docs: U4, low: int, high: int) -> Ints:
        """Places of those of `docs` that have one."""
        docs = docs[(docs >= low) & (docs <= high)]
        if self._ranked is not None:
            docs = docs[_positions(self._ranked, docs) >= 0]
        return self.of(docs)

    def docs_at(self, places: Ints) -> U4:
        if self._ranked is not None:
            return self._ranked[places]
        return places.astype(np.uint32) + self._low


class _Batch:
    """Some postings, as runs of `counts[i]` postings of term `owners[i]`; small enough for the CPU's cache."""

    def __init__(self, owners: Ints, counts: I8, packed: bytes) -> None:
        self.owners = owners
        self.counts = counts
        self.postings = np.frombuffer(packed, POSTING)
        self.docs: U4 = self.postings["doc"].astype(np.uint32)

    def without(self, dead: NDArray[np.bool_], place: _Places) -> _Batch:
        return self.kept(~dead[place.of(self.docs)])

    def kept(self, alive: NDArray[np.bool_]) -> _Batch:
        counts = np.add.reduceat(alive, np.cumsum(self.counts) - self.counts, dtype=np.int64)
        return _Batch(self.owners, counts, self.postings[alive].tobytes())


class _Stream:
    """One stream's postings of the question's terms, the folded ones by term and then the recent ones by term."""

    def __init__(self, terms: I8, ords: Sequence[int], blocks: Sequence[bytes], recent: tuple[Ints, Records]) -> None:
        self._terms = terms
        self.batches: list[_Batch] = []
        start = size = 0
        for end, block in enumerate(blocks, 1):
            size += len(block)
            if size >= _BATCH_BYTES or end == len(blocks):
                counts = np.array([len(packed) // POSTING.itemsize for packed in blocks[start:end]], np.int64)
                owners = np.array(ords[start:end], np.intp)
                self.batches.append(_Batch(owners, counts, b"".join(blocks[start:end])))
                start, size = end, 0
        owners, postings = recent
        if len(owners):
            self.batches.append(_Batch(owners, np.ones(len(owners), np.int64), postings.tobytes()))

    def score(
        self, place: _Places, n_docs: int, total_length: int, b: float
    ) -> tuple[NDArray[np.float64], TermWeights, float]:
        """Raw BM25 by place, the terms' weights, and the bound B."""
        batches = self.batches
        if place.dead is not None:
            batches = [batch.without(place.dead, place) for batch in batches]
        df, idf = self._frequencies(batches, n_docs)
        average = total_length / n_docs if n_docs > 0 and total_length > 0 else 1.0
        raw = np.zeros(place.size)
        for batch in batches:
            tf = batch.postings["tf"].astype(np.float32)
            length = batch.postings["len"].astype(np.float32)
            saturated = tf / (tf + (np.float32(K1 * (1 - b)) + np.float32(K1 * b / average) * length))
            weights = np.repeat(idf[batch.owners] * (K1 + 1), batch.counts)
            np.add.at(raw, place.of(batch.docs), weights * saturated)
        return raw, TermWeights(self._terms, df, idf.astype(np.float32)), (K1 + 1) * float(idf.sum())

    def weigh(self, dead: U4, n_docs: int) -> TermWeights:
        """The terms' weights alone."""
        batches = self.batches
        if len(dead):
            batches = [batch.kept(np.isin(batch.docs, dead, invert=True)) for batch in batches]
        df, idf = self._frequencies(batches, n_docs)
        return TermWeights(self._terms, df, idf.astype(np.float32))

    def _frequencies(self, batches: Sequence[_Batch], n_docs: int) -> tuple[I8, NDArray[np.float64]]:
        df = np.zeros(len(self._terms), np.int64)
        for batch in batches:
            np.add.at(df, batch.owners, batch.counts)
        return df, np.where(df > 0, np.log1p((n_docs - df + 0.5) / (df + 0.5)), 0.0)


def _positions(ascending: U4, docs: U4) -> Ints:
    """Where each doc stands in `ascending`, −1 where it does not."""
    if not len(ascending):
        return np.full(len(docs), -1, np.intp)
    at = np.minimum(np.searchsorted(ascending, docs), len(ascending) - 1)
    return np.where(ascending[at] == docs, at, -1)
