"""Providers that were configured while running; what keys may and did: rates, acts of admins, tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE SEQUENCE provider_versions AS bigint")
    op.create_table(
        "provider_settings",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=True),
        sa.Column("default_model", sa.Text(), nullable=True),
        sa.Column("allow_private", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("sealed_key", sa.LargeBinary(), nullable=True),
        sa.Column("key_last4", sa.Text(), nullable=True),
        sa.Column("key_origin", sa.Text(), nullable=True),
        sa.Column(
            "version", sa.BigInteger(), server_default=sa.text("nextval('provider_versions'::regclass)"), nullable=False
        ),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "(sealed_key IS NULL) = (key_last4 IS NULL)", name=op.f("ck_provider_settings_key_has_last4")
        ),
        sa.CheckConstraint(
            "(sealed_key IS NULL) = (key_origin IS NULL)", name=op.f("ck_provider_settings_key_has_origin")
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_provider_settings")),
    )
    op.add_column("api_keys", sa.Column("rate_per_minute", sa.Integer(), nullable=True))
    op.create_table(
        "key_rates",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=False),
        sa.Column("dry_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "key_id"],
            ["api_keys.workspace_id", "api_keys.id"],
            name=op.f("fk_key_rates_workspace_id_key_id_api_keys"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "key_id", name=op.f("pk_key_rates")),
        prefixes=["UNLOGGED"],
    )
    op.create_table(
        "audit_events",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=True),
        sa.Column("detail", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_audit_events_workspace_id_workspaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_audit_events")),
    )
    op.create_table(
        "usage_days",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column(
            "estimated", sa.BigInteger(), nullable=False, comment="calls whose tokens the provider did not count"
        ),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_usage_days_workspace_id_workspaces"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("workspace_id", "day", "provider", "model", "purpose", name=op.f("pk_usage_days")),
    )
    op.create_index("ix_usage_days_day", "usage_days", ["day"])


def downgrade() -> None:
    for table in ("usage_days", "audit_events", "key_rates"):
        op.drop_table(table)
    op.drop_column("api_keys", "rate_per_minute")
    op.drop_table("provider_settings")
    op.execute("DROP SEQUENCE provider_versions")
