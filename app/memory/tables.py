"""Tables of memories: what is remembered, every version of it, what waits for the user's word, vectors."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, Final

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import CheckConstraint, Double, ForeignKey, ForeignKeyConstraint, Index, Text, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Tenant

MAX_BODY_BYTES: Final = 4096

_ONE_OF_TYPES: Final = "type IN ('fact', 'preference', 'insight', 'summary', 'claim')"
_ONE_OF_STATES: Final = "status IN ('active', 'archived', 'proposed')"


class Memory(Tenant, Created, Base):
    """A short text that the assistant keeps. `version` counts every change of anything but `last_used_at`.

    Only what is `active` enters a prompt. What is `proposed` was asked for by somebody who may not be the user.
    """

    __tablename__ = "memories"
    __table_args__ = (
        CheckConstraint(_ONE_OF_TYPES, name="type"),
        CheckConstraint(_ONE_OF_STATES, name="status"),
        CheckConstraint("importance BETWEEN 0 AND 1", name="importance"),
        CheckConstraint(f"octet_length(body) <= {MAX_BODY_BYTES}", name="body"),
        Index("uq_memories_slug", "workspace_id", "slug", unique=True),
        Index("ix_memories_status", "workspace_id", "status", "id"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    slug: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    type: Mapped[str] = mapped_column(Text)
    importance: Mapped[float] = mapped_column(Double)
    status: Mapped[str] = mapped_column(Text)
    pinned: Mapped[bool] = mapped_column(server_default=text("false"))
    version: Mapped[int] = mapped_column(server_default="1")
    text_hash: Mapped[uuid.UUID] = mapped_column(comment="first 128 bits of SHA-256 of what is embedded of it")
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None] = mapped_column(
        comment="when it last stood in the prompt of a completed answer, at most one change a day; or was restored"
    )


class MemoryVersion(Created, Base):
    """How a memory looked at version `n`, and who made it so. `same_as`: the version whose look this one is; undoing
    goes back from there, so that undoing twice goes back twice.
    """

    __tablename__ = "memory_versions"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "memory_id"], ["memories.workspace_id", "memories.id"], ondelete="CASCADE"
        ),
        CheckConstraint("actor IN ('user', 'llm', 'consolidation')", name="actor"),
        Index(
            "ix_memory_versions_message_id",
            "workspace_id",
            "message_id",
            postgresql_where=text("message_id IS NOT NULL"),
        ),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    memory_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True)
    same_as: Mapped[int]
    action: Mapped[str] = mapped_column(Text)
    actor: Mapped[str] = mapped_column(Text)
    message_id: Mapped[uuid.UUID | None] = mapped_column(comment="the answer in whose turn it was written")
    title: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    type: Mapped[str] = mapped_column(Text)
    importance: Mapped[float] = mapped_column(Double)
    status: Mapped[str] = mapped_column(Text)
    pinned: Mapped[bool]


class MemoryProposal(Tenant, Created, Base):
    """A change that a model asked for while text that nobody vouches for was before it. It waits for the user, and
    goes with his decision. `base_version`: what the model saw.
    """

    __tablename__ = "memory_proposals"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "memory_id"], ["memories.workspace_id", "memories.id"], ondelete="CASCADE"
        ),
        Index("ix_memory_proposals_memory_id", "workspace_id", "memory_id"),
    )

    memory_id: Mapped[uuid.UUID]
    action: Mapped[str] = mapped_column(Text)
    change: Mapped[dict[str, Any]] = mapped_column(
        comment="title, body, type, importance, old_str, new_str: those given"
    )
    base_version: Mapped[int]
    message_id: Mapped[uuid.UUID | None]


class MemoryVector(Base):
    """The vector of title and body in one embedding space; that of another text than the present one counts for
    nothing.
    """

    __tablename__ = "memory_vectors"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "memory_id"], ["memories.workspace_id", "memories.id"], ondelete="CASCADE"
        ),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    memory_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    space_id: Mapped[int] = mapped_column(primary_key=True)
    text_hash: Mapped[uuid.UUID]
    dense: Mapped[Any] = mapped_column(HALFVEC)
