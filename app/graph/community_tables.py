"""Tables of communities: groups of entities that statements join closely, and a report on each.

What stands in `communities`, `community_members` and `reports` is always one finished clustering: a run prepares the
next one beside it (the expensive part, reports, in `report_drafts`, by fingerprint, so that a killed run finds them
again), and puts it in place in one transaction, the one that makes its run the current one. Ids last as long as at
least half of a community does.

`community_changes` is appended to by triggers (`migrations/sql/0007_communities.sql`): whatever changes a relation,
an entity or a membership says which node or community it was, and the next run takes note. It has no unique keys, so
that nobody who writes to it waits for anybody.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, ForeignKeyConstraint, Identity, Index, Text, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Tenant
from app.graph.tables import Lexical


class CommunityRun(Tenant, Base):
    """One clustering of a workspace. `done` and `total` count reports. `changed` nodes since the last full one, whose
    modularity is `full_modularity`: what tells when the next full one is due.
    """

    __tablename__ = "community_runs"
    __table_args__ = (
        CheckConstraint("state IN ('running', 'done', 'failed')", name="state"),
        CheckConstraint("NOT is_current OR state = 'done'", name="current_is_done"),
        Index("uq_community_runs_current", "workspace_id", unique=True, postgresql_where=text("is_current")),
        Index("uq_community_runs_running", "workspace_id", unique=True, postgresql_where=text("state = 'running'")),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    state: Mapped[str] = mapped_column(Text, server_default="running")
    is_current: Mapped[bool] = mapped_column(server_default=text("false"))
    is_full: Mapped[bool] = mapped_column(comment="clustered anew, rather than placed into what was there")
    nodes: Mapped[int] = mapped_column(server_default="0")
    edges: Mapped[int] = mapped_column(server_default="0")
    communities: Mapped[int] = mapped_column(server_default="0")
    levels: Mapped[int] = mapped_column(server_default="0")
    modularity: Mapped[float] = mapped_column(server_default="0", comment="of level 0")
    full_modularity: Mapped[float] = mapped_column(server_default="0")
    changed: Mapped[int] = mapped_column(server_default="0")
    done: Mapped[int] = mapped_column(server_default="0")
    total: Mapped[int] = mapped_column(server_default="0")
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]


class Community(Tenant, Created, Base):
    """Level 0 is the coarsest; what is too large there is divided on the next one. `run_id`: the run that shaped it
    last. `size` counts its entities, `weight` sums the edges inside it, both as of that run.
    """

    __tablename__ = "communities"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "parent_id"], ["communities.workspace_id", "communities.id"], ondelete="CASCADE"
        ),
        ForeignKeyConstraint(
            ["workspace_id", "run_id"],
            ["community_runs.workspace_id", "community_runs.id"],
            ondelete="SET NULL (run_id)",
        ),
        CheckConstraint("(level = 0) = (parent_id IS NULL)", name="parent"),
        Index("ix_communities_level", "workspace_id", "level", "size", "id"),
        Index("ix_communities_parent_id", "workspace_id", "parent_id"),
        Index("ix_communities_run_id", "workspace_id", "run_id"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    run_id: Mapped[uuid.UUID | None]
    parent_id: Mapped[uuid.UUID | None]
    level: Mapped[int]
    size: Mapped[int]
    weight: Mapped[float]
    fingerprint: Mapped[uuid.UUID] = mapped_column(comment="of its members and of what joins them")


class CommunityMember(Base):
    """An entity of a community, on each level that it reaches. Never one that was merged into another."""

    __tablename__ = "community_members"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "community_id"], ["communities.workspace_id", "communities.id"], ondelete="CASCADE"
        ),
        ForeignKeyConstraint(
            ["workspace_id", "entity_id"], ["entities.workspace_id", "entities.id"], ondelete="CASCADE"
        ),
        Index("ix_community_members_entity_id", "workspace_id", "entity_id"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    community_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    entity_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)


class CommunityChange(Base):
    """A node, or a community that lost one, that the next run looks at; neither: that there is something at all."""

    __tablename__ = "community_changes"

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    n: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    entity_id: Mapped[uuid.UUID | None]
    community_id: Mapped[uuid.UUID | None]
    at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))


class CommunityReport(Created, Lexical, Base):
    """What there is to say about a community, whose id it has. `fingerprint`: of what it was made from; `is_stale`: it
    could not be made anew, or not as it should have been. `flags` as its builder has them.
    """

    __tablename__ = "reports"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "id"], ["communities.workspace_id", "communities.id"], ondelete="CASCADE"
        ),
        Index("uq_reports_doc", "workspace_id", "doc", unique=True),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, comment="the community's")
    title: Mapped[str] = mapped_column(Text)
    summary: Mapped[str] = mapped_column(Text)
    rating: Mapped[float] = mapped_column(comment="0 to 10")
    rating_reason: Mapped[str] = mapped_column(Text)
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    language: Mapped[str] = mapped_column(Text)
    generated_by: Mapped[str] = mapped_column(Text)
    flags: Mapped[list[str]] = mapped_column(JSONB, server_default="[]")
    fingerprint: Mapped[uuid.UUID]
    is_stale: Mapped[bool] = mapped_column(server_default=text("false"))


class ReportDraft(Created, Base):
    """A report that was paid for and is not in its place yet, by what it was made from."""

    __tablename__ = "report_drafts"

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    fingerprint: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    report: Mapped[dict[str, Any]] = mapped_column(JSONB)
