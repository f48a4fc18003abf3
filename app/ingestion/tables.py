"""Tables of extractions that are there already: what a model was paid for, and what callers posted."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Tenant


class CachedExtraction(Created, Base):
    """What a model is never asked twice. `key` is the first half of SHA-256 over text, prompt version, provider and
    model.
    """

    __tablename__ = "extraction_cache"

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class ExtractionClaim(Base):
    """Who is having a text extracted, so that nobody else pays for it at the same time; until when, unless renewed."""

    __tablename__ = "extraction_claims"

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    holder: Mapped[uuid.UUID]
    until: Mapped[datetime]


class PostedEpisode(Tenant, Created, Base):
    """A caller's own extraction of one episode of a card, at one version of its text; `id` is the episode's. It stands
    in for ours until the text changes.
    """

    __tablename__ = "posted_episodes"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "card_id"], ["cards.workspace_id", "cards.id"], ondelete="CASCADE"),
        Index("ix_posted_episodes_card_id", "workspace_id", "card_id"),
        Index("uq_posted_episodes_external_id", "workspace_id", "external_id", unique=True),
    )

    card_id: Mapped[uuid.UUID]
    text_version: Mapped[int]
    ordinal: Mapped[int]
    external_id: Mapped[str | None] = mapped_column(Text)
    is_complete: Mapped[bool]
    body: Mapped[dict[str, Any]] = mapped_column(JSONB)
    body_hash: Mapped[uuid.UUID]
