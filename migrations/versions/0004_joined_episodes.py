"""Episodes that go on where another stopped."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("episodes", sa.Column("joined_to", sa.Uuid(), nullable=True))
    op.create_foreign_key(
        op.f("fk_episodes_workspace_id_joined_to_episodes"),
        "episodes",
        "episodes",
        ["workspace_id", "joined_to"],
        ["workspace_id", "id"],
        ondelete="SET NULL (joined_to)",
    )
    op.create_index(
        "ix_episodes_joined_to",
        "episodes",
        ["workspace_id", "joined_to"],
        unique=False,
        postgresql_where=sa.text("joined_to IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_episodes_joined_to", table_name="episodes")
    op.drop_constraint(op.f("fk_episodes_workspace_id_joined_to_episodes"), "episodes", type_="foreignkey")
    op.drop_column("episodes", "joined_to")
