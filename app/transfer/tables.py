"""What became of each file of an import."""

from __future__ import annotations

import uuid

from sqlalchemy import ForeignKeyConstraint, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base


class ImportedFile(Base):
    """One file of an import job: `outcome` created, updated, unchanged, skipped or rejected (then with a code)."""

    __tablename__ = "imported_files"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "job_id"], ["jobs.workspace_id", "jobs.id"], ondelete="CASCADE"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    job_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    path: Mapped[str] = mapped_column(Text, primary_key=True)
    outcome: Mapped[str] = mapped_column(Text)
    card_id: Mapped[uuid.UUID | None]
    code: Mapped[str | None] = mapped_column(Text)
    detail: Mapped[str | None] = mapped_column(Text)
