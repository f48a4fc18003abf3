"""Tables of the packed lexical index: BM25 postings of every collection, without any extension.

A row of a collection (`collections.Collection`) is known here by its `doc`, a small integer that is unique in the
database. It starts in `lex_recent` (its own terms, scored by brute force), is folded into a segment (`lex_block`:
all postings of one term in one segment) and, when it is deleted, is named in `lex_tombstone` until its segment
takes note. Exactly one of `lex_recent` and one segment holds a doc at any time; every statement that reads more
than one of these tables must be ONE statement, so that it sees one snapshot.

No foreign keys, on purpose: one per block would check and share-lock the same parent row thousands of
times per fold, and a tombstone is written while its parent is being deleted. What ties these rows to
their owners are the triggers of `migrations/sql/0001_lexical.sql` and `0002_graph.sql`; `lexical_stats` counts
whether they agree.

Knows nothing of text or scores; the layout of the bytes is `postings`'.
"""

from __future__ import annotations

import uuid

from sqlalchemy import BigInteger, LargeBinary, SmallInteger
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base


class LexRecent(Base):
    """A doc that no segment holds yet. `*_terms`: packed `postings.TERM` records, by hash."""

    __tablename__ = "lex_recent"

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    collection: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    doc: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    words: Mapped[int] = mapped_column(comment="length of the word stream")
    grams: Mapped[int] = mapped_column(comment="length of the character-bigram stream, 0 without Han")
    word_terms: Mapped[bytes] = mapped_column(LargeBinary)
    gram_terms: Mapped[bytes] = mapped_column(LargeBinary)


class LexBlock(Base):
    """The postings of one term in one segment: packed `postings.POSTING` records, in no order."""

    __tablename__ = "lex_block"

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    collection: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    term_hash: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    seg: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    postings: Mapped[bytes] = mapped_column(LargeBinary)


class LexSegment(Base):
    """What is true of a segment as a whole. The four sums leave out the dead docs; `members` and
    `dead` are packed little-endian u4 docs, `dead` a part of `members`.
    """

    __tablename__ = "lex_segment"

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    collection: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    seg: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    docs: Mapped[int]
    words: Mapped[int] = mapped_column(BigInteger)
    gram_docs: Mapped[int]
    grams: Mapped[int] = mapped_column(BigInteger)
    members: Mapped[bytes] = mapped_column(LargeBinary)
    dead: Mapped[bytes] = mapped_column(LargeBinary, server_default="")


class LexTombstone(Base):
    """A deleted doc that a segment still counts."""

    __tablename__ = "lex_tombstone"

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    collection: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    doc: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    words: Mapped[int]
    grams: Mapped[int]
