"""Tables of conversations: a tree of branches whose messages know their parent."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, Text, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Tenant


class Conversation(Tenant, Created, Base):
    __tablename__ = "conversations"
    __table_args__ = (Index("ix_conversations_updated_at", "workspace_id", "updated_at", "id"),)

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    title: Mapped[str | None] = mapped_column(Text)
    title_by: Mapped[str | None] = mapped_column(
        Text, comment="user or assistant; the assistant never overrules a user"
    )
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
    version: Mapped[int] = mapped_column(server_default="1")
    appended: Mapped[int] = mapped_column(
        server_default="0", comment="messages ever appended, in whichever branch; those of branches that are gone count"
    )


class Branch(Tenant, Created, Base):
    """A line of messages. The first branch of a conversation has depth 0 and no parent; any other hangs under a message
    of `parent_branch_id`, and what a merged one has besides is in `branch_parents`.
    """

    __tablename__ = "branches"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "conversation_id"],
            ["conversations.workspace_id", "conversations.id"],
            ondelete="CASCADE",
        ),
        ForeignKeyConstraint(
            ["workspace_id", "parent_branch_id"], ["branches.workspace_id", "branches.id"], ondelete="CASCADE"
        ),
        ForeignKeyConstraint(
            ["workspace_id", "parent_message_id"],
            ["messages.workspace_id", "messages.id"],
            ondelete="CASCADE",
            use_alter=True,
        ),
        CheckConstraint("num_nonnulls(parent_branch_id, parent_message_id) IN (0, 2)", name="parent"),
        CheckConstraint("(parent_branch_id IS NULL) = (depth = 0)", name="depth"),
        CheckConstraint("context IN ('compress', 'inherit', 'none')", name="context"),
        Index("ix_branches_conversation_id", "workspace_id", "conversation_id"),
        Index("ix_branches_parent_branch_id", "workspace_id", "parent_branch_id"),
        Index("ix_branches_parent_message_id", "workspace_id", "parent_message_id"),
        # A conversation has one beginning.
        Index(
            "uq_branches_first",
            "workspace_id",
            "conversation_id",
            unique=True,
            postgresql_where=text("parent_branch_id IS NULL"),
        ),
    )

    conversation_id: Mapped[uuid.UUID]
    parent_branch_id: Mapped[uuid.UUID | None]
    parent_message_id: Mapped[uuid.UUID | None]
    profile: Mapped[str | None] = mapped_column(Text)
    context: Mapped[str] = mapped_column(
        Text, server_default="none", comment="how the way to it is told: compress, inherit or none"
    )
    label: Mapped[str | None] = mapped_column(Text)
    depth: Mapped[int] = mapped_column(server_default="0")
    made_by: Mapped[str] = mapped_column(Text, server_default="user", comment="user or model")
    forked_at_ordinal: Mapped[int | None] = mapped_column(
        comment="last ordinal of the parent branch at the fork; null for what was merged or moved"
    )
    forked_at_appended: Mapped[int | None] = mapped_column(comment="messages of the conversation at the fork")
    condensed_ordinal: Mapped[int] = mapped_column(
        server_default="0", comment="up to here it was condensed into insights"
    )
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
    version: Mapped[int] = mapped_column(server_default="1")


class Message(Tenant, Created, Base):
    """One message. An answer is stored, empty and `streaming`, before the model is called; its status is
    true at every moment after that.
    """

    __tablename__ = "messages"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "conversation_id"],
            ["conversations.workspace_id", "conversations.id"],
            ondelete="CASCADE",
        ),
        ForeignKeyConstraint(
            ["workspace_id", "branch_id"], ["branches.workspace_id", "branches.id"], ondelete="CASCADE"
        ),
        CheckConstraint("role IN ('user', 'assistant')", name="role"),
        CheckConstraint("status IN ('streaming', 'complete', 'interrupted', 'failed')", name="status"),
        Index("uq_messages_ordinal", "workspace_id", "branch_id", "ordinal", unique=True),
        Index("ix_messages_conversation_id", "workspace_id", "conversation_id"),
        Index("ix_messages_streaming", "beat_at", postgresql_where=text("status = 'streaming'")),
    )

    conversation_id: Mapped[uuid.UUID]
    branch_id: Mapped[uuid.UUID]
    parent_id: Mapped[uuid.UUID | None]
    ordinal: Mapped[int] = mapped_column(comment="place in its branch, from 1; gives parallel appends an order")
    role: Mapped[str] = mapped_column(Text)
    content: Mapped[str] = mapped_column(Text, server_default="")
    status: Mapped[str] = mapped_column(Text, server_default="complete")
    error_code: Mapped[str | None] = mapped_column(Text)
    provider: Mapped[str | None] = mapped_column(Text)
    model: Mapped[str | None] = mapped_column(Text)
    route: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    citations: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))
    ledger: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    usage: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    tool_calls: Mapped[list[Any] | None] = mapped_column(
        JSONB(none_as_null=True), comment="what the model called on the way, with what came of it"
    )
    timings_ms: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    beat_at: Mapped[datetime | None] = mapped_column(comment="last sign of life of a streaming answer")
    watched_at: Mapped[datetime | None] = mapped_column(comment="when another process last followed a streaming answer")
    stop_requested: Mapped[bool] = mapped_column(server_default=text("false"))
    finished_at: Mapped[datetime | None]
