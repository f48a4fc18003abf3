"""Tables of workspaces, API keys and idempotency records."""

from __future__ import annotations

import uuid
from datetime import date, datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, ForeignKeyConstraint, Index, LargeBinary, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Tenant


class Workspace(Created, Base):
    """A tenant. Its own id is its workspace_id everywhere else."""

    __tablename__ = "workspaces"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(Text, unique=True)
    name: Mapped[str] = mapped_column(Text)


class ApiKey(Tenant, Created, Base):
    """An opaque token `mc_<id>_<secret>`; only the SHA-256 of the secret is kept."""

    __tablename__ = "api_keys"
    __table_args__ = (Index("ix_api_keys_id", "id"),)

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    secret_hash: Mapped[bytes] = mapped_column(LargeBinary)
    last4: Mapped[str] = mapped_column(Text)
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text))
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    rate_per_minute: Mapped[int | None]


class KeyRate(Base):
    """When the bucket of a key's requests will have run dry. A crash empties the table, which harms nobody."""

    __tablename__ = "key_rates"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "key_id"], ["api_keys.workspace_id", "api_keys.id"], ondelete="CASCADE"),
        {"prefixes": ["UNLOGGED"]},
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    key_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    dry_at: Mapped[datetime]


class AuditEvent(Tenant, Created, Base):
    """An act of an admin: who, what, on what. `key_id` null: nobody had to say who he was."""

    __tablename__ = "audit_events"

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    key_id: Mapped[uuid.UUID | None]
    action: Mapped[str] = mapped_column(Text)
    target: Mapped[str | None] = mapped_column(Text)
    detail: Mapped[dict[str, Any]] = mapped_column(JSONB)


class UsageDay(Base):
    """What language models took on one day (UTC)."""

    __tablename__ = "usage_days"
    __table_args__ = (Index("ix_usage_days_day", "day"),)

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    provider: Mapped[str] = mapped_column(Text, primary_key=True)
    model: Mapped[str] = mapped_column(Text, primary_key=True)
    purpose: Mapped[str] = mapped_column(Text, primary_key=True)
    calls: Mapped[int] = mapped_column(BigInteger)
    failures: Mapped[int] = mapped_column(BigInteger)
    estimated: Mapped[int] = mapped_column(BigInteger, comment="calls whose tokens the provider did not count")
    input_tokens: Mapped[int] = mapped_column(BigInteger)
    output_tokens: Mapped[int] = mapped_column(BigInteger)


class IdempotencyRecord(Created, Base):
    """What was answered to a POST with this Idempotency-Key; `status` is null while it runs."""

    __tablename__ = "idempotency_records"
    __table_args__ = (Index("ix_idempotency_records_created_at", "created_at"),)

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    fingerprint: Mapped[str] = mapped_column(Text)
    status: Mapped[int | None]
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
    headers: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
