"""The table of jobs that people see. The queue's own tables belong to pgqueuer (`migrations/sql/0001_queue.sql`)."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, Text, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Tenant

STATES = ("queued", "working", "done", "failed", "cancelled")
_LIVE = "state IN ('queued', 'working')"


class Job(Tenant, Created, Base):
    """One thing to do. Written, changed and finished together with its row in the queue.

    `turn` counts starts and is the fence: whoever works on a job may write to it only while the turn
    is his. `rerun` says that the job was asked for again while it was being worked on. `rank` is its
    place in its workspace's line; workspaces are served by rank, not by arrival.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        CheckConstraint("state IN ('queued', 'working', 'done', 'failed', 'cancelled')", name="state"),
        CheckConstraint("priority BETWEEN -1 AND 1", name="priority"),
        Index(
            "uq_jobs_live_dedupe_key",
            "workspace_id",
            "kind",
            "dedupe_key",
            unique=True,
            postgresql_where=text(f"{_LIVE} AND dedupe_key IS NOT NULL"),
        ),
        Index("ix_jobs_line", "workspace_id", "priority", "rank", postgresql_where=text(_LIVE)),
        Index("ix_jobs_finished_at", "finished_at", postgresql_where=text("finished_at IS NOT NULL")),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text, server_default="queued")
    payload: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    dedupe_key: Mapped[str | None] = mapped_column(Text)
    rerun: Mapped[bool] = mapped_column(server_default=text("false"))
    priority: Mapped[int] = mapped_column(server_default="0")
    rank: Mapped[int] = mapped_column(server_default="1")
    turn: Mapped[int] = mapped_column(server_default="0")
    step: Mapped[str | None] = mapped_column(Text)
    progress: Mapped[float | None]
    error_code: Mapped[str | None] = mapped_column(Text)
    error_detail: Mapped[str | None] = mapped_column(Text)
    attempts: Mapped[int] = mapped_column(server_default="0")
    max_attempts: Mapped[int] = mapped_column(server_default="5")
    busy_since: Mapped[datetime | None]
    available_at: Mapped[datetime] = mapped_column(server_default=func.now())
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
