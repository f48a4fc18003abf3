"""Embedding spaces that are filled beside the current one, or were left."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("embedding_spaces", sa.Column("filling_since", sa.DateTime(timezone=True), nullable=True))
    op.add_column("embedding_spaces", sa.Column("left_at", sa.DateTime(timezone=True), nullable=True))
    op.create_check_constraint(
        op.f("ck_embedding_spaces_one_part"),
        "embedding_spaces",
        "num_nonnulls(filling_since, left_at) <= CASE WHEN is_current THEN 0 ELSE 1 END",
    )
    op.create_index(
        "uq_embedding_spaces_filling",
        "embedding_spaces",
        [sa.literal_column("(filling_since IS NOT NULL)")],
        unique=True,
        postgresql_where=sa.text("filling_since IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("uq_embedding_spaces_filling", table_name="embedding_spaces")
    op.drop_constraint(op.f("ck_embedding_spaces_one_part"), "embedding_spaces", type_="check")
    op.drop_column("embedding_spaces", "left_at")
    op.drop_column("embedding_spaces", "filling_since")
