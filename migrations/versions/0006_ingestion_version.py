"""What is to be learned of a card has a version of its own: not only its text can change."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("cards", sa.Column("ingestion_version", sa.Integer(), server_default="1", nullable=False))


def downgrade() -> None:
    op.drop_column("cards", "ingestion_version")
