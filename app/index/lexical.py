"""The lexical index: write the terms of new chunks, search them, and ask whether all is in order.

Every function takes a session and belongs to its transaction; `folding` keeps the index small.
Deleting needs no call: triggers follow every chunk. Knows nothing of text (terms come as hashes)
and of cards.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.index.postings import Found, LexicalHits, LexicalRow, Subset, Totals, pack_terms, score, unpack_docs

# More than this many bytes of postings take over 2 ms to score: not on the event loop.
_SCORE_IN_THREAD_BYTES = 1 << 21


async def insert_recent(session: AsyncSession, workspace_id: uuid.UUID, rows: Sequence[LexicalRow]) -> None:
    """Index chunks. Belongs in the transaction that inserts them, one row per chunk, empty ones too."""
    connection = await raw(session)
    await connection.execute(
        load("app.index", "lexical_insert_recent"),
        workspace_id,
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
) -> LexicalHits:
    """Every chunk with one of these terms (of the `subset`, where one is given), scored exactly.

    `grams` are given for a question with Han.
    """
    word_terms = np.unique(np.asarray(words, np.int64))
    gram_terms = np.unique(np.asarray(grams, np.int64))
    connection = await raw(session)
    rows = await connection.fetch(
        load("app.index", "lexical_search"),
        workspace_id,
        [*word_terms.tolist(), *gram_terms.tolist()],
        bool(len(gram_terms)),
    )
    blocks = sorted((row for row in rows if row["ord"] >= 0), key=lambda row: row["ord"])
    recent = [row for row in rows if row["ord"] == -2]
    (segments,) = (row for row in rows if row["ord"] == -1)
    found = Found(
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
    if sum(map(len, found.blocks)) > _SCORE_IN_THREAD_BYTES:
        return await asyncio.to_thread(score, found, subset)
    return score(found, subset)


@dataclass(frozen=True, slots=True)
class LexicalStats:
    """Where a workspace's docs are. In order when `missing`, `orphans` and `duplicates` are 0 and `sums_agree`.

    `missing`: chunks that no search finds; `orphans`: found without a chunk; `duplicates`: found twice.
    """

    chunks: int
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


async def lexical_stats(session: AsyncSession, workspace_id: uuid.UUID) -> LexicalStats:
    """Reads every doc number of the workspace (about 0.1 s at 100k chunks)."""
    connection = await raw(session)
    row = await connection.fetchrow(load("app.index", "lexical_stats"), workspace_id)
    chunks, recent, tombstones = (
        np.frombuffer(row[name] or b"", ">i8").astype(np.int64) for name in ("chunks", "recent", "tombstones")
    )
    members, dead = (unpack_docs(row[name] or b"").astype(np.int64) for name in ("members", "dead"))
    gone = np.concatenate((dead, tombstones))
    listed = np.concatenate((recent, members[np.isin(members, gone, invert=True)]))
    indexed = np.unique(listed)
    sums_agree = all(
        row[f"chunk_{name}"] == row[f"recent_{name}"] + row[f"segment_{name}"] - row[f"tombstone_{name}"]
        for name in ("docs", "words", "gram_docs", "grams")
    )
    return LexicalStats(
        chunks=len(chunks),
        indexed=len(indexed),
        recent=len(recent),
        tombstones=len(tombstones),
        segments=row["segments"],
        dead=len(dead),
        missing=len(np.setdiff1d(chunks, indexed, assume_unique=True)),
        orphans=len(np.setdiff1d(indexed, chunks, assume_unique=True)),
        duplicates=len(listed) - len(indexed),
        sums_agree=sums_agree,
    )
