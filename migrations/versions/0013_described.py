"""Entities that something is said of are marked beside their vectors; vector indexes that nobody asks go."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from migrations import statements

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "entity_vectors",
        sa.Column(
            "described",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="The text says more than names: only then newcomers are compared with it",
        ),
    )
    statements.run("0013_described")
    op.create_index(
        "ix_entity_vectors_described",
        "entity_vectors",
        ["workspace_id", "space_id", "owner_id"],
        unique=False,
        postgresql_where=sa.text("described"),
    )


def downgrade() -> None:
    op.drop_index("ix_entity_vectors_described", table_name="entity_vectors", postgresql_where=sa.text("described"))
    statements.run("0013_described_down")
    op.drop_column("entity_vectors", "described")
