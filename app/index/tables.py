"""Tables of chunks, their window vectors and the spaces these vectors live in.

A chunk is the evidence (text with offsets into its card); a window is a child of a chunk, one or
two sentences with the title, and the unit that is embedded. Chunks and windows cascade from their
card; the packed postings (`lexical_tables`) follow chunks by a trigger.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from pgvector.sqlalchemy import HALFVEC, SPARSEVEC
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    Sequence,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Tenant

# Small integers for the packed postings: unique within the database, below 2^32.
chunk_doc_seq = Sequence("chunk_doc_seq", metadata=Base.metadata, data_type=BigInteger)


class Space(Created, Base):
    """An embedding space: vectors of one provider, model and dimension. Shared by all workspaces.

    One is current: search reads it. One other may be filled beside it. One that was left keeps its vectors until
    they are dropped.
    """

    __tablename__ = "embedding_spaces"
    __table_args__ = (
        Index(
            "uq_embedding_spaces_current",
            text("(is_current)"),
            unique=True,
            postgresql_where=text("is_current"),
        ),
        Index(
            "uq_embedding_spaces_filling",
            text("(filling_since IS NOT NULL)"),
            unique=True,
            postgresql_where=text("filling_since IS NOT NULL"),
        ),
        CheckConstraint(
            "num_nonnulls(filling_since, left_at) <= CASE WHEN is_current THEN 0 ELSE 1 END", name="one_part"
        ),
    )

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    key: Mapped[str] = mapped_column(Text, unique=True)
    dimension: Mapped[int]
    sparse: Mapped[bool]
    is_current: Mapped[bool] = mapped_column(server_default=text("false"))
    filling_since: Mapped[datetime | None]
    left_at: Mapped[datetime | None]


class Chunk(Tenant, Base):
    """A stretch of a card's content: `content[start:end] == text`."""

    __tablename__ = "chunks"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "card_id"], ["cards.workspace_id", "cards.id"], ondelete="CASCADE"),
        UniqueConstraint("workspace_id", "card_id", "ordinal"),
        UniqueConstraint("workspace_id", "doc"),
        Index("ix_chunks_terms", "terms", postgresql_using="gin"),
    )

    card_id: Mapped[uuid.UUID]
    ordinal: Mapped[int]
    doc: Mapped[int] = mapped_column(BigInteger, server_default=chunk_doc_seq.next_value())
    start: Mapped[int]
    end: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    heading: Mapped[str] = mapped_column(Text, server_default="")
    tokens: Mapped[int]
    words: Mapped[int] = mapped_column(comment="length of the word stream, title counted twice")
    grams: Mapped[int] = mapped_column(comment="length of the character-bigram stream, 0 without Han")
    terms: Mapped[Any] = mapped_column(TSVECTOR)


class Window(Base):
    """The vector of one window of a chunk. `start` and `end` are offsets into the card's content."""

    __tablename__ = "windows"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "chunk_id"], ["chunks.workspace_id", "chunks.id"], ondelete="CASCADE"),
        Index("ix_windows_text_hash", "workspace_id", "space_id", "text_hash"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    chunk_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    space_id: Mapped[int] = mapped_column(primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    card_id: Mapped[uuid.UUID]
    start: Mapped[int]
    end: Mapped[int]
    text_hash: Mapped[uuid.UUID] = mapped_column(comment="first 128 bits of SHA-256 of the embedded text")
    dense: Mapped[Any] = mapped_column(HALFVEC)
    sparse: Mapped[Any | None] = mapped_column(SPARSEVEC)


class StagedVector(Base):
    """A vector that is already paid for while its card is still being worked on; a retry goes on
    from here. Gone when the card is ready.
    """

    __tablename__ = "staged_vectors"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "card_id"], ["cards.workspace_id", "cards.id"], ondelete="CASCADE"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    card_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    space_id: Mapped[int] = mapped_column(primary_key=True)
    text_hash: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    dense: Mapped[Any] = mapped_column(HALFVEC)
    sparse: Mapped[Any | None] = mapped_column(SPARSEVEC)


class Calibration(Base):
    """How far apart question and text usually are: `mu` and `sigma` of the cosine distance of pairs that have nothing
    to do with each other, per collection and pair of scripts. `detail` holds what else was fitted from them.
    """

    __tablename__ = "calibrations"

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    space_id: Mapped[int] = mapped_column(primary_key=True)
    collection: Mapped[str] = mapped_column(Text, primary_key=True)
    script: Mapped[str] = mapped_column(Text, primary_key=True, comment="of question and text: han-latin, ...")
    mu: Mapped[float]
    sigma: Mapped[float]
    pairs: Mapped[int]
    detail: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    computed_at: Mapped[datetime] = mapped_column(server_default=func.now())
