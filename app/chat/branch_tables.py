"""Tables of what ties branches together: further parents, references, condensed paths, insights and who got them.

Everything cascades from its branch. That a branch never is its own ancestor is a trigger's business
(`migrations/sql/0008_branches.sql`).
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, Text, false, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Tenant

RELATION = "relation IN ('related', 'contradicts', 'extends')"


def _of_branch(column: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["workspace_id", column], ["branches.workspace_id", "branches.id"], ondelete="CASCADE")


def _of_message(column: str, ondelete: str = "CASCADE") -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["workspace_id", column], ["messages.workspace_id", "messages.id"], ondelete=ondelete)


class BranchParent(Base):
    """A further parent of a branch that was merged: its path up to that message is told there, too."""

    __tablename__ = "branch_parents"
    __table_args__ = (
        _of_branch("branch_id"),
        _of_branch("parent_branch_id"),
        _of_message("parent_message_id"),
        Index("ix_branch_parents_parent_branch_id", "workspace_id", "parent_branch_id"),
        Index("ix_branch_parents_parent_message_id", "workspace_id", "parent_message_id"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    branch_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="from 1; 0 is the branch's own")
    parent_branch_id: Mapped[uuid.UUID]
    parent_message_id: Mapped[uuid.UUID]


class BranchLink(Tenant, Created, Base):
    """One branch refers to another (`NodeRef`)."""

    __tablename__ = "branch_links"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "conversation_id"],
            ["conversations.workspace_id", "conversations.id"],
            ondelete="CASCADE",
        ),
        _of_branch("source_branch_id"),
        _of_branch("target_branch_id"),
        CheckConstraint(RELATION, name="relation"),
        CheckConstraint("source_branch_id <> target_branch_id", name="another"),
        Index(
            "uq_branch_links_relation", "workspace_id", "source_branch_id", "target_branch_id", "relation", unique=True
        ),
        Index("ix_branch_links_target_branch_id", "workspace_id", "target_branch_id"),
        Index("ix_branch_links_conversation_id", "workspace_id", "conversation_id"),
    )

    conversation_id: Mapped[uuid.UUID]
    source_branch_id: Mapped[uuid.UUID]
    target_branch_id: Mapped[uuid.UUID]
    relation: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text, server_default="")
    made_by: Mapped[str] = mapped_column(Text, server_default="user", comment="user, model or rules")


class PathDigest(Base):
    """The path up to a message, condensed: paid once. Gone when the path changes."""

    __tablename__ = "path_digests"
    __table_args__ = (_of_message("message_id"),)

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    message_id: Mapped[uuid.UUID] = mapped_column(primary_key=True, comment="the last one of the path")
    text: Mapped[str] = mapped_column(Text)
    made_by: Mapped[str] = mapped_column(Text, comment="provider/model, or offline")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class BranchInsight(Tenant, Created, Base):
    """One thing that was found in a branch. What came from another insight (`from_insight_id`) is not passed on."""

    __tablename__ = "branch_insights"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "conversation_id"],
            ["conversations.workspace_id", "conversations.id"],
            ondelete="CASCADE",
        ),
        _of_branch("branch_id"),
        _of_message("source_message_id", "SET NULL (source_message_id)"),
        ForeignKeyConstraint(
            ["workspace_id", "from_insight_id"],
            ["branch_insights.workspace_id", "branch_insights.id"],
            ondelete="SET NULL (from_insight_id)",
        ),
        Index("uq_branch_insights_text_hash", "workspace_id", "branch_id", "text_hash", unique=True),
        Index("ix_branch_insights_conversation_id", "workspace_id", "conversation_id"),
        Index("ix_branch_insights_source_message_id", "workspace_id", "source_message_id"),
        Index("ix_branch_insights_from_insight_id", "workspace_id", "from_insight_id"),
    )

    conversation_id: Mapped[uuid.UUID]
    branch_id: Mapped[uuid.UUID]
    text: Mapped[str] = mapped_column(Text)
    source_message_id: Mapped[uuid.UUID | None]
    from_insight_id: Mapped[uuid.UUID | None]
    is_echo: Mapped[bool] = mapped_column(
        server_default=false(), comment="came from an insight that may be gone by now"
    )
    made_by: Mapped[str] = mapped_column(Text, server_default="offline", comment="provider/model, or offline")
    text_hash: Mapped[uuid.UUID] = mapped_column(comment="first 128 bits of SHA-256 of the text")


class InsightLink(Base):
    """What an insight means to another branch."""

    __tablename__ = "insight_links"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "insight_id"],
            ["branch_insights.workspace_id", "branch_insights.id"],
            ondelete="CASCADE",
        ),
        _of_branch("target_branch_id"),
        CheckConstraint(RELATION, name="relation"),
        Index("ix_insight_links_target_branch_id", "workspace_id", "target_branch_id"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    insight_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    target_branch_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    relation: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text, server_default="")
    similarity: Mapped[float | None]
    made_by: Mapped[str] = mapped_column(Text, server_default="rules", comment="provider/model, or rules")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class InsightComparison(Base):
    """An insight was compared with all that was said or found in another branch up to that id: ids are in the order of
    time. Links are kept beside; without one it was found to mean nothing there.
    """

    __tablename__ = "insight_comparisons"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "insight_id"],
            ["branch_insights.workspace_id", "branch_insights.id"],
            ondelete="CASCADE",
        ),
        _of_branch("target_branch_id"),
        Index("ix_insight_comparisons_target_branch_id", "workspace_id", "target_branch_id"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    insight_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    target_branch_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    until: Mapped[uuid.UUID] = mapped_column(comment="id of the latest of what it was compared with there")


class InsightVector(Base):
    """The vector of an insight, kept so that it is not made again. That of another space counts for nothing."""

    __tablename__ = "insight_vectors"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "insight_id"],
            ["branch_insights.workspace_id", "branch_insights.id"],
            ondelete="CASCADE",
        ),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    insight_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    space_key: Mapped[str] = mapped_column(Text)
    dense: Mapped[Any] = mapped_column(HALFVEC)


class InsightDelivery(Base):
    """An insight was in a prompt of that branch whose answer completed; each once."""

    __tablename__ = "insight_deliveries"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "insight_id"],
            ["branch_insights.workspace_id", "branch_insights.id"],
            ondelete="CASCADE",
        ),
        _of_branch("branch_id"),
        _of_message("message_id"),
        Index("ix_insight_deliveries_branch_id", "workspace_id", "branch_id"),
        Index("ix_insight_deliveries_message_id", "workspace_id", "message_id"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    insight_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    branch_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    message_id: Mapped[uuid.UUID] = mapped_column(comment="the answer")
    delivered_at: Mapped[datetime] = mapped_column(server_default=func.now())
