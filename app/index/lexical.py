"""The lexical index: write the terms of new rows, search them, and ask whether all is in order.

Every function takes a session and belongs to its transaction; `folding` keeps the index small.
Each collection is an index of its own, with its own document frequencies; what names none is about chunks.
Deleting needs no call: triggers follow every row. Knows nothing of text (terms come as hashes)
and of cards.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.db.together import Part
from app.index.collections import Collection
from app.index.postings import I8, B, Found, LexicalHits, LexicalRow, Subset, Totals, pack_terms, score, unpack_docs

# More than this many bytes of postings take over 2 ms to score: not on the event loop.
_SCORE_IN_THREAD_BYTES = 1 << 21


async def insert_recent(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    rows: Sequence[LexicalRow],
    collection: Collection = Collection.chunk,
) -> None:
    """Index rows of a collection. Belongs in the transaction that inserts them, one each, empty ones too."""
    connection = await raw(session)
    await connection.execute(
        load("app.index", "lexical_insert_recent"),
        workspace_id,
        collection,
        [row.doc for row in rows],
        [row.words for row in rows],
        [row.grams for row in rows],
        [pack_terms(row.word_terms) for row in rows],
        [pack_terms(row.gram_terms) for row in rows],
    )


async def search_lexical(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    words: Sequence[int],
    grams: Sequence[int] = (),
    subset: Subset | None = None,
    collection: Collection = Collection.chunk,
) -> LexicalHits:
    """Every row of a collection with one of these terms (of the `subset`, where one is given), scored exactly.

    `grams` are given for a question with Han.
    """
    (found,) = (await _find(session, workspace_id, [collection], words, grams)).values()
    if found.size > _SCORE_IN_THREAD_BYTES:
        return await asyncio.to_thread(score, found, subset)
    return score(found, subset)


async def search_many(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    collections: Iterable[Collection],
    words: Sequence[int],
    grams: Sequence[int] = (),
    subsets: Mapping[Collection, Subset] | None = None,
    b: float = B,
) -> dict[Collection, LexicalHits]:
    """`search_lexical` of several collections in one statement, so that all of them are of the same moment.

    `b`: how much BM25 makes of a doc's length.
    """
    found = await _find(session, workspace_id, collections, words, grams)
    if sum(one.size for one in found.values()) > _SCORE_IN_THREAD_BYTES:
        return await asyncio.to_thread(_score_all, found, subsets or {}, b)
    return _score_all(found, subsets or {}, b)


async def search_alike(
    session: AsyncSession, workspace_id: uuid.UUID, words: Sequence[int], grams: Sequence[int], most_bytes: int
) -> LexicalHits:
    """`search_lexical` of chunks with the terms of a text, of which the commonest are left out where there would be
    more than `most_bytes` of postings.
    """
    asked = sorted({*words, *grams})
    rows = await (await raw(session)).fetch(
        load("app.index", "lexical_affordable"), workspace_id, asked, Collection.chunk, most_bytes
    )
    kept = {row["hash"] for row in rows}
    return await search_lexical(
        session, workspace_id, [term for term in words if term in kept], [term for term in grams if term in kept]
    )


def _score_all(
    found: Mapping[Collection, Found], subsets: Mapping[Collection, Subset], b: float
) -> dict[Collection, LexicalHits]:
    return {collection: score(one, subsets.get(collection), b) for collection, one in found.items()}


async def _find(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    collections: Iterable[Collection],
    words: Sequence[int],
    grams: Sequence[int],
) -> dict[Collection, Found]:
    part = postings_part(workspace_id, collections, words, grams)
    rows = await (await raw(session)).fetch(part.statement, *part.values)
    return found_in(rows, collections, words, grams)


def postings_part(
    workspace_id: uuid.UUID, collections: Iterable[Collection], words: Sequence[int], grams: Sequence[int] = ()
) -> Part:
    """The postings of these terms as they lie there, for who wants more of them than a score, or asks other things in
    the same round trip.
    """
    word_terms, gram_terms = _terms(words), _terms(grams)
    return Part(
        load("app.index", "lexical_search"),
        (("collection", "smallint"), ("ord", "int"), ("a", "bytea"), ("b", "bytea"), ("c", "bytea")),
        (
            workspace_id,
            [*word_terms.tolist(), *gram_terms.tolist()],
            bool(len(gram_terms)),
            sorted(set(collections)),
        ),
    )


def found_in(
    rows: Iterable[Any], collections: Iterable[Collection], words: Sequence[int], grams: Sequence[int] = ()
) -> dict[Collection, Found]:
    """What the rows of `postings_part` say; terms and collections as they were asked."""
    wanted = sorted(set(collections))
    by_collection: dict[int, list[Any]] = {collection: [] for collection in wanted}
    for row in rows:
        by_collection[row["collection"]].append(row)
    return {collection: _found(by_collection[collection], _terms(words), _terms(grams)) for collection in wanted}


def _terms(hashes: Sequence[int]) -> I8:
    return np.unique(np.asarray(hashes, np.int64))


def _found(rows: Sequence[Any], word_terms: I8, gram_terms: I8) -> Found:
    """What the statement says of one collection."""
    blocks = sorted((row for row in rows if row["ord"] >= 0), key=lambda row: row["ord"])
    recent = [row for row in rows if row["ord"] == -2]
    (segments,) = (row for row in rows if row["ord"] == -1)
    return Found(
        words=word_terms,
        grams=gram_terms,
        ords=[row["ord"] for row in blocks],
        blocks=[row["a"] for row in blocks],
        totals=Totals(*np.frombuffer(segments["a"], ">i8").tolist()),
        dead=segments["b"] or b"",
        tombstones=segments["c"] or b"",
        recent_heads=[row["a"] for row in recent],
        recent_words=[row["b"] for row in recent],
        recent_grams=[row["c"] for row in recent if row["c"] is not None],
    )


@dataclass(frozen=True, slots=True)
class LexicalStats:
    """Where a collection's docs are. In order when `missing`, `orphans` and `duplicates` are 0 and `sums_agree`.

    `owners`: rows of its table; `missing`: rows that no search finds; `orphans`: found without a row;
    `duplicates`: found twice.
    """

    owners: int
    indexed: int
    recent: int
    tombstones: int
    segments: int
    dead: int
    missing: int
    orphans: int
    duplicates: int
    sums_agree: bool

    @property
    def in_order(self) -> bool:
        return self.sums_agree and not (self.missing or self.orphans or self.duplicates)


async def lexical_stats(
    session: AsyncSession, workspace_id: uuid.UUID, collection: Collection = Collection.chunk
) -> LexicalStats:
    """Reads every doc number of the collection (about 0.1 s at 100k chunks)."""
    connection = await raw(session)
    statement = load("app.index", "lexical_stats").replace("{owners}", collection.table)
    row = await connection.fetchrow(statement, workspace_id, collection)
    owners, recent, tombstones = (
        np.frombuffer(row[name] or b"", ">i8").astype(np.int64) for name in ("owners", "recent", "tombstones")
    )
    members, dead = (unpack_docs(row[name] or b"").astype(np.int64) for name in ("members", "dead"))
    gone = np.concatenate((dead, tombstones))
    listed = np.concatenate((recent, members[np.isin(members, gone, invert=True)]))
    indexed = np.unique(listed)
    sums_agree = all(
        row[f"owner_{name}"] == row[f"recent_{name}"] + row[f"segment_{name}"] - row[f"tombstone_{name}"]
        for name in ("docs", "words", "gram_docs", "grams")
    )
    return LexicalStats(
        owners=len(owners),
        indexed=len(indexed),
        recent=len(recent),
        tombstones=len(tombstones),
        segments=row["segments"],
        dead=len(dead),
        missing=len(np.setdiff1d(owners, indexed, assume_unique=True)),
        orphans=len(np.setdiff1d(indexed, owners, assume_unique=True)),
        duplicates=len(listed) - len(indexed),
        sums_agree=sums_agree,
    )
