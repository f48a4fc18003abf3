"""Tables of cards, revisions and wikilinks."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, Text, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Tenant

STATES = ("queued", "working", "ready", "failed")


class Card(Tenant, Base):
    """A Markdown note. `created_at` is the date the text speaks from, `added_at` when it came in.

    `version` counts every change (ETag, revision number); `text_version` is the version at which title or content last
    changed. `ingestion_version` counts each time that the card is to be learned (its text, tags or date are others, a
    caller posts its episodes, somebody asks for it): whoever writes what was learned is fenced by it.
    """

    __tablename__ = "cards"
    __table_args__ = (
        CheckConstraint("state IN ('queued', 'working', 'ready', 'failed')", name="state"),
        Index("uq_cards_external_id", "workspace_id", "external_id", unique=True),
        Index("ix_cards_created_at", "workspace_id", "created_at", "id"),
        Index("ix_cards_title_key", "workspace_id", "title_key"),
        Index("ix_cards_state", "workspace_id", "state"),
        Index("ix_cards_trashed_at", "workspace_id", "trashed_at", postgresql_where=text("trashed_at IS NOT NULL")),
        Index("ix_cards_tags", "tags", postgresql_using="gin"),
        Index("ix_cards_metadata", "metadata", postgresql_using="gin", postgresql_ops={"metadata": "jsonb_path_ops"}),
        Index("ix_cards_link_keys", "link_keys", postgresql_using="gin"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    title: Mapped[str] = mapped_column(Text)
    title_key: Mapped[str] = mapped_column(Text, comment="folded title: what a wikilink is resolved by")
    link_keys: Mapped[list[str]] = mapped_column(
        ARRAY(Text), server_default="{}", comment="folded aliases and file names that also resolve to this card"
    )
    content: Mapped[str] = mapped_column(Text)
    content_hash: Mapped[str] = mapped_column(Text, comment="SHA-256 of title and content")
    tags: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default="{}")
    source: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    meta: Mapped[dict[str, Any]] = mapped_column("metadata", JSONB, server_default="{}")
    external_id: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    added_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
    trashed_at: Mapped[datetime | None]
    version: Mapped[int] = mapped_column(server_default="1")
    text_version: Mapped[int] = mapped_column(server_default="1")
    ingestion_version: Mapped[int] = mapped_column(server_default="1")
    state: Mapped[str] = mapped_column(Text, server_default="queued")
    step: Mapped[str | None] = mapped_column(Text)
    progress: Mapped[float | None]
    error_code: Mapped[str | None] = mapped_column(Text)
    error_detail: Mapped[str | None] = mapped_column(Text)
    attempts: Mapped[int] = mapped_column(server_default="0")
    extraction: Mapped[dict[str, Any] | None] = mapped_column(
        JSONB(none_as_null=True), comment="who extracted it, what was dropped and added"
    )


class CardRevision(Tenant, Created, Base):
    """How a card looked at version `n`."""

    __tablename__ = "card_revisions"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "card_id"], ["cards.workspace_id", "cards.id"], ondelete="CASCADE"),
        Index("uq_card_revisions_n", "workspace_id", "card_id", "n", unique=True),
    )

    card_id: Mapped[uuid.UUID]
    n: Mapped[int]
    title: Mapped[str] = mapped_column(Text)
    content: Mapped[str] = mapped_column(Text)
    tags: Mapped[list[str]] = mapped_column(ARRAY(Text))
    source: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    meta: Mapped[dict[str, Any]] = mapped_column("metadata", JSONB)
    card_created_at: Mapped[datetime]


class CardLink(Base):
    """One `[[wikilink]]` in a card. The target is resolved by key when it is read, so a link
    written before its target exists starts to work by itself.
    """

    __tablename__ = "card_links"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "card_id"], ["cards.workspace_id", "cards.id"], ondelete="CASCADE"),
        Index("ix_card_links_target", "workspace_id", "target_key"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    card_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    target: Mapped[str] = mapped_column(Text)
    target_key: Mapped[str] = mapped_column(Text)
    alias: Mapped[str | None] = mapped_column(Text)
    start: Mapped[int]
    end: Mapped[int]
