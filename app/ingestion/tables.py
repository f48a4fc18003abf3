"""The table of extractions that are paid for: what a model said of a text is never asked twice."""

from __future__ import annotations

import uuid
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created


class CachedExtraction(Created, Base):
    """`key` is the first half of SHA-256 over text, prompt version, provider and model."""

    __tablename__ = "extraction_cache"

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    value: Mapped[dict[str, Any]] = mapped_column(JSONB)
