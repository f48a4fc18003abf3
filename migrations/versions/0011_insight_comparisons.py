"""How far insights were compared with other branches, and their vectors, so that neither is done again."""

from __future__ import annotations

import pgvector.sqlalchemy
import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "insight_comparisons",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("insight_id", sa.Uuid(), nullable=False),
        sa.Column("target_branch_id", sa.Uuid(), nullable=False),
        sa.Column("until", sa.Uuid(), nullable=False, comment="id of the latest of what it was compared with there"),
        sa.ForeignKeyConstraint(
            ["workspace_id", "insight_id"],
            ["branch_insights.workspace_id", "branch_insights.id"],
            name=op.f("fk_insight_comparisons_workspace_id_insight_id_branch_insights"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "target_branch_id"],
            ["branches.workspace_id", "branches.id"],
            name=op.f("fk_insight_comparisons_workspace_id_target_branch_id_branches"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "insight_id", "target_branch_id", name=op.f("pk_insight_comparisons")),
    )
    op.create_index(
        "ix_insight_comparisons_target_branch_id",
        "insight_comparisons",
        ["workspace_id", "target_branch_id"],
        unique=False,
    )
    op.create_table(
        "insight_vectors",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("insight_id", sa.Uuid(), nullable=False),
        sa.Column("space_key", sa.Text(), nullable=False),
        sa.Column("dense", pgvector.sqlalchemy.HALFVEC(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "insight_id"],
            ["branch_insights.workspace_id", "branch_insights.id"],
            name=op.f("fk_insight_vectors_workspace_id_insight_id_branch_insights"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "insight_id", name=op.f("pk_insight_vectors")),
    )


def downgrade() -> None:
    op.drop_table("insight_vectors")
    op.drop_index("ix_insight_comparisons_target_branch_id", table_name="insight_comparisons")
    op.drop_table("insight_comparisons")
