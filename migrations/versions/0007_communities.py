"""Communities and their reports."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects import postgresql

from migrations import statements

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "community_changes",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("n", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("entity_id", sa.Uuid(), nullable=True),
        sa.Column("community_id", sa.Uuid(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_community_changes_workspace_id_workspaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "n", name=op.f("pk_community_changes")),
    )
    op.create_table(
        "community_runs",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.Text(), server_default="running", nullable=False),
        sa.Column("is_current", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column(
            "is_full", sa.Boolean(), nullable=False, comment="clustered anew, rather than placed into what was there"
        ),
        sa.Column("nodes", sa.Integer(), server_default="0", nullable=False),
        sa.Column("edges", sa.Integer(), server_default="0", nullable=False),
        sa.Column("communities", sa.Integer(), server_default="0", nullable=False),
        sa.Column("levels", sa.Integer(), server_default="0", nullable=False),
        sa.Column("modularity", sa.Double(), server_default="0", nullable=False, comment="of level 0"),
        sa.Column("full_modularity", sa.Double(), server_default="0", nullable=False),
        sa.Column("changed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("done", sa.Integer(), server_default="0", nullable=False),
        sa.Column("total", sa.Integer(), server_default="0", nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("NOT is_current OR state = 'done'", name=op.f("ck_community_runs_current_is_done")),
        sa.CheckConstraint("state IN ('running', 'done', 'failed')", name=op.f("ck_community_runs_state")),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_community_runs_workspace_id_workspaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_community_runs")),
    )
    op.create_index(
        "uq_community_runs_current",
        "community_runs",
        ["workspace_id"],
        unique=True,
        postgresql_where=sa.text("is_current"),
    )
    op.create_index(
        "uq_community_runs_running",
        "community_runs",
        ["workspace_id"],
        unique=True,
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_table(
        "report_drafts",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("fingerprint", sa.Uuid(), nullable=False),
        sa.Column("report", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_report_drafts_workspace_id_workspaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "fingerprint", name=op.f("pk_report_drafts")),
    )
    op.create_table(
        "communities",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=True),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("fingerprint", sa.Uuid(), nullable=False, comment="of its members and of what joins them"),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("(level = 0) = (parent_id IS NULL)", name=op.f("ck_communities_parent")),
        sa.ForeignKeyConstraint(
            ["workspace_id", "parent_id"],
            ["communities.workspace_id", "communities.id"],
            name=op.f("fk_communities_workspace_id_parent_id_communities"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "run_id"],
            ["community_runs.workspace_id", "community_runs.id"],
            name=op.f("fk_communities_workspace_id_run_id_community_runs"),
            ondelete="SET NULL (run_id)",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_communities_workspace_id_workspaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_communities")),
    )
    op.create_index("ix_communities_level", "communities", ["workspace_id", "level", "size", "id"], unique=False)
    op.create_index("ix_communities_parent_id", "communities", ["workspace_id", "parent_id"], unique=False)
    op.create_index("ix_communities_run_id", "communities", ["workspace_id", "run_id"], unique=False)
    op.create_table(
        "community_members",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("entity_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "community_id"],
            ["communities.workspace_id", "communities.id"],
            name=op.f("fk_community_members_workspace_id_community_id_communities"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "entity_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_community_members_workspace_id_entity_id_entities"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "community_id", "entity_id", name=op.f("pk_community_members")),
    )
    op.create_index("ix_community_members_entity_id", "community_members", ["workspace_id", "entity_id"], unique=False)
    op.create_table(
        "reports",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False, comment="the community's"),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("rating", sa.Double(), nullable=False, comment="0 to 10"),
        sa.Column("rating_reason", sa.Text(), nullable=False),
        sa.Column("findings", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("generated_by", sa.Text(), nullable=False),
        sa.Column("flags", postgresql.JSONB(astext_type=sa.Text()), server_default="[]", nullable=False),
        sa.Column("fingerprint", sa.Uuid(), nullable=False),
        sa.Column("is_stale", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("doc", sa.BigInteger(), server_default=sa.text("nextval('chunk_doc_seq')"), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("grams", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "id"],
            ["communities.workspace_id", "communities.id"],
            name=op.f("fk_reports_workspace_id_id_communities"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_reports")),
    )
    op.create_index("uq_reports_doc", "reports", ["workspace_id", "doc"], unique=True)
    op.create_table(
        "report_vectors",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.Uuid(), nullable=False),
        sa.Column("dense", HALFVEC(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "owner_id"],
            ["reports.workspace_id", "reports.id"],
            name=op.f("fk_report_vectors_workspace_id_owner_id_reports"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "owner_id", "space_id", "role", name=op.f("pk_report_vectors")),
    )
    op.create_index(
        "ix_report_vectors_text_hash", "report_vectors", ["workspace_id", "space_id", "text_hash"], unique=False
    )
    statements.run("0007_communities")


def downgrade() -> None:
    statements.run("0007_communities_down")
    for table in (
        "report_vectors",
        "reports",
        "community_members",
        "communities",
        "report_drafts",
        "community_runs",
        "community_changes",
    ):
        op.drop_table(table)
    for function in (
        "communities_forget()",
        "communities_note_member()",
        "communities_note_entity()",
        "communities_note_moved()",
        "communities_note_relations()",
        "communities_note(uuid, uuid[])",
    ):
        op.execute(f"DROP FUNCTION {function}")
