"""Titles that name an entity are found without reading all of its mentions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_mentions_in_title",
        "mentions",
        ["workspace_id", "entity_id", "card_id"],
        postgresql_where=sa.text("in_title"),
    )


def downgrade() -> None:
    op.drop_index("ix_mentions_in_title", table_name="mentions")
