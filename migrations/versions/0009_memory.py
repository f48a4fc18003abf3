"""What the assistant remembers of itself."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def _of_memory(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["workspace_id", "memory_id"],
        ["memories.workspace_id", "memories.id"],
        name=op.f(f"fk_{table}_workspace_id_memory_id_memories"),
        ondelete="CASCADE",
    )


def _created() -> sa.Column[sa.DateTime]:
    return sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def upgrade() -> None:
    op.create_table(
        "memories",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("importance", sa.Double(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("pinned", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column(
            "text_hash", sa.Uuid(), nullable=False, comment="first 128 bits of SHA-256 of what is embedded of it"
        ),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column(
            "last_used_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when it last stood in the prompt of a completed answer, at most one change a day; or was restored",
        ),
        sa.Column("id", sa.Uuid(), nullable=False),
        _created(),
        sa.CheckConstraint(
            "type IN ('fact', 'preference', 'insight', 'summary', 'claim')", name=op.f("ck_memories_type")
        ),
        sa.CheckConstraint("status IN ('active', 'archived', 'proposed')", name=op.f("ck_memories_status")),
        sa.CheckConstraint("importance BETWEEN 0 AND 1", name=op.f("ck_memories_importance")),
        sa.CheckConstraint("octet_length(body) <= 4096", name=op.f("ck_memories_body")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_memories_workspace_id_workspaces"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_memories")),
    )
    op.create_index("uq_memories_slug", "memories", ["workspace_id", "slug"], unique=True)
    op.create_index("ix_memories_status", "memories", ["workspace_id", "status", "id"], unique=False)
    op.create_table(
        "memory_versions",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("same_as", sa.Integer(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=True, comment="the answer in whose turn it was written"),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("importance", sa.Double(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        _created(),
        sa.CheckConstraint("actor IN ('user', 'llm', 'consolidation')", name=op.f("ck_memory_versions_actor")),
        _of_memory("memory_versions"),
        sa.PrimaryKeyConstraint("workspace_id", "memory_id", "n", name=op.f("pk_memory_versions")),
    )
    op.create_index(
        "ix_memory_versions_message_id",
        "memory_versions",
        ["workspace_id", "message_id"],
        unique=False,
        postgresql_where=sa.text("message_id IS NOT NULL"),
    )
    op.create_table(
        "memory_proposals",
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column(
            "change",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="title, body, type, importance, old_str, new_str: those given",
        ),
        sa.Column("base_version", sa.Integer(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        _created(),
        _of_memory("memory_proposals"),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_memory_proposals")),
    )
    op.create_index("ix_memory_proposals_memory_id", "memory_proposals", ["workspace_id", "memory_id"], unique=False)
    op.create_table(
        "memory_vectors",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.Uuid(), nullable=False),
        sa.Column("dense", HALFVEC(), nullable=False),
        _of_memory("memory_vectors"),
        sa.PrimaryKeyConstraint("workspace_id", "memory_id", "space_id", name=op.f("pk_memory_vectors")),
    )
    op.create_table(
        "reflections",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False, comment="the answer"),
        sa.Column("is_tainted", sa.Boolean(), nullable=False),
        _created(),
        sa.ForeignKeyConstraint(
            ["workspace_id", "message_id"],
            ["messages.workspace_id", "messages.id"],
            name=op.f("fk_reflections_workspace_id_message_id_messages"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "message_id", name=op.f("pk_reflections")),
    )


def downgrade() -> None:
    op.drop_table("reflections")
    op.drop_table("memory_vectors")
    op.drop_index("ix_memory_proposals_memory_id", table_name="memory_proposals")
    op.drop_table("memory_proposals")
    op.drop_index(
        "ix_memory_versions_message_id",
        table_name="memory_versions",
        postgresql_where=sa.text("message_id IS NOT NULL"),
    )
    op.drop_table("memory_versions")
    op.drop_index("ix_memories_status", table_name="memories")
    op.drop_index("uq_memories_slug", table_name="memories")
    op.drop_table("memories")
