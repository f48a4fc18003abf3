"""Branches fork, merge and tell each other what they found."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations import statements

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "branch_links",
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("source_branch_id", sa.Uuid(), nullable=False),
        sa.Column("target_branch_id", sa.Uuid(), nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("made_by", sa.Text(), server_default="user", nullable=False, comment="user, model or rules"),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("relation IN ('related', 'contradicts', 'extends')", name=op.f("ck_branch_links_relation")),
        sa.CheckConstraint("source_branch_id <> target_branch_id", name=op.f("ck_branch_links_another")),
        sa.ForeignKeyConstraint(
            ["workspace_id", "conversation_id"],
            ["conversations.workspace_id", "conversations.id"],
            name=op.f("fk_branch_links_workspace_id_conversation_id_conversations"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "source_branch_id"],
            ["branches.workspace_id", "branches.id"],
            name=op.f("fk_branch_links_workspace_id_source_branch_id_branches"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "target_branch_id"],
            ["branches.workspace_id", "branches.id"],
            name=op.f("fk_branch_links_workspace_id_target_branch_id_branches"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_branch_links")),
    )
    op.create_index(
        "ix_branch_links_conversation_id", "branch_links", ["workspace_id", "conversation_id"], unique=False
    )
    op.create_index(
        "ix_branch_links_target_branch_id", "branch_links", ["workspace_id", "target_branch_id"], unique=False
    )
    op.create_index(
        "uq_branch_links_relation",
        "branch_links",
        ["workspace_id", "source_branch_id", "target_branch_id", "relation"],
        unique=True,
    )
    op.create_table(
        "branch_insights",
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("branch_id", sa.Uuid(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("source_message_id", sa.Uuid(), nullable=True),
        sa.Column("from_insight_id", sa.Uuid(), nullable=True),
        sa.Column(
            "is_echo",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="came from an insight that may be gone by now",
        ),
        sa.Column("made_by", sa.Text(), server_default="offline", nullable=False, comment="provider/model, or offline"),
        sa.Column("text_hash", sa.Uuid(), nullable=False, comment="first 128 bits of SHA-256 of the text"),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "branch_id"],
            ["branches.workspace_id", "branches.id"],
            name=op.f("fk_branch_insights_workspace_id_branch_id_branches"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "conversation_id"],
            ["conversations.workspace_id", "conversations.id"],
            name=op.f("fk_branch_insights_workspace_id_conversation_id_conversations"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "from_insight_id"],
            ["branch_insights.workspace_id", "branch_insights.id"],
            name=op.f("fk_branch_insights_workspace_id_from_insight_id_branch_insights"),
            ondelete="SET NULL (from_insight_id)",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "source_message_id"],
            ["messages.workspace_id", "messages.id"],
            name=op.f("fk_branch_insights_workspace_id_source_message_id_messages"),
            ondelete="SET NULL (source_message_id)",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_branch_insights")),
    )
    op.create_index(
        "ix_branch_insights_conversation_id", "branch_insights", ["workspace_id", "conversation_id"], unique=False
    )
    op.create_index(
        "ix_branch_insights_from_insight_id", "branch_insights", ["workspace_id", "from_insight_id"], unique=False
    )
    op.create_index(
        "ix_branch_insights_source_message_id", "branch_insights", ["workspace_id", "source_message_id"], unique=False
    )
    op.create_index(
        "uq_branch_insights_text_hash", "branch_insights", ["workspace_id", "branch_id", "text_hash"], unique=True
    )
    op.create_table(
        "branch_parents",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("branch_id", sa.Uuid(), nullable=False),
        sa.Column(
            "ordinal", sa.Integer(), autoincrement=False, nullable=False, comment="from 1; 0 is the branch's own"
        ),
        sa.Column("parent_branch_id", sa.Uuid(), nullable=False),
        sa.Column("parent_message_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "branch_id"],
            ["branches.workspace_id", "branches.id"],
            name=op.f("fk_branch_parents_workspace_id_branch_id_branches"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "parent_branch_id"],
            ["branches.workspace_id", "branches.id"],
            name=op.f("fk_branch_parents_workspace_id_parent_branch_id_branches"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "parent_message_id"],
            ["messages.workspace_id", "messages.id"],
            name=op.f("fk_branch_parents_workspace_id_parent_message_id_messages"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "branch_id", "ordinal", name=op.f("pk_branch_parents")),
    )
    op.create_index(
        "ix_branch_parents_parent_branch_id", "branch_parents", ["workspace_id", "parent_branch_id"], unique=False
    )
    op.create_index(
        "ix_branch_parents_parent_message_id", "branch_parents", ["workspace_id", "parent_message_id"], unique=False
    )
    op.create_table(
        "path_digests",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False, comment="the last one of the path"),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False, comment="provider/model, or offline"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "message_id"],
            ["messages.workspace_id", "messages.id"],
            name=op.f("fk_path_digests_workspace_id_message_id_messages"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "message_id", name=op.f("pk_path_digests")),
    )
    op.create_table(
        "insight_deliveries",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("insight_id", sa.Uuid(), nullable=False),
        sa.Column("branch_id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False, comment="the answer"),
        sa.Column("delivered_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "branch_id"],
            ["branches.workspace_id", "branches.id"],
            name=op.f("fk_insight_deliveries_workspace_id_branch_id_branches"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "insight_id"],
            ["branch_insights.workspace_id", "branch_insights.id"],
            name=op.f("fk_insight_deliveries_workspace_id_insight_id_branch_insights"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "message_id"],
            ["messages.workspace_id", "messages.id"],
            name=op.f("fk_insight_deliveries_workspace_id_message_id_messages"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "insight_id", "branch_id", name=op.f("pk_insight_deliveries")),
    )
    op.create_index(
        "ix_insight_deliveries_branch_id", "insight_deliveries", ["workspace_id", "branch_id"], unique=False
    )
    op.create_index(
        "ix_insight_deliveries_message_id", "insight_deliveries", ["workspace_id", "message_id"], unique=False
    )
    op.create_table(
        "insight_links",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("insight_id", sa.Uuid(), nullable=False),
        sa.Column("target_branch_id", sa.Uuid(), nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("similarity", sa.Double(), nullable=True),
        sa.Column("made_by", sa.Text(), server_default="rules", nullable=False, comment="provider/model, or rules"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("relation IN ('related', 'contradicts', 'extends')", name=op.f("ck_insight_links_relation")),
        sa.ForeignKeyConstraint(
            ["workspace_id", "insight_id"],
            ["branch_insights.workspace_id", "branch_insights.id"],
            name=op.f("fk_insight_links_workspace_id_insight_id_branch_insights"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "target_branch_id"],
            ["branches.workspace_id", "branches.id"],
            name=op.f("fk_insight_links_workspace_id_target_branch_id_branches"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "insight_id", "target_branch_id", name=op.f("pk_insight_links")),
    )
    op.create_index(
        "ix_insight_links_target_branch_id", "insight_links", ["workspace_id", "target_branch_id"], unique=False
    )
    op.add_column("branches", sa.Column("parent_branch_id", sa.Uuid(), nullable=True))
    op.add_column(
        "branches",
        sa.Column(
            "context",
            sa.Text(),
            server_default="none",
            nullable=False,
            comment="how the way to it is told: compress, inherit or none",
        ),
    )
    op.add_column(
        "branches", sa.Column("made_by", sa.Text(), server_default="user", nullable=False, comment="user or model")
    )
    op.add_column(
        "branches",
        sa.Column(
            "forked_at_ordinal",
            sa.Integer(),
            nullable=True,
            comment="last ordinal of the parent branch at the fork; null for what was merged or moved",
        ),
    )
    op.add_column(
        "branches",
        sa.Column(
            "forked_at_appended", sa.Integer(), nullable=True, comment="messages of the conversation at the fork"
        ),
    )
    op.add_column(
        "branches",
        sa.Column(
            "condensed_ordinal",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="up to here it was condensed into insights",
        ),
    )
    op.add_column(
        "branches", sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)
    )
    op.add_column("branches", sa.Column("version", sa.Integer(), server_default="1", nullable=False))
    op.create_index("ix_branches_parent_branch_id", "branches", ["workspace_id", "parent_branch_id"], unique=False)
    op.create_index("ix_branches_parent_message_id", "branches", ["workspace_id", "parent_message_id"], unique=False)
    op.create_index(
        "uq_branches_first",
        "branches",
        ["workspace_id", "conversation_id"],
        unique=True,
        postgresql_where=sa.text("parent_branch_id IS NULL"),
    )
    op.create_foreign_key(
        op.f("fk_branches_workspace_id_parent_message_id_messages"),
        "branches",
        "messages",
        ["workspace_id", "parent_message_id"],
        ["workspace_id", "id"],
        ondelete="CASCADE",
    )
    op.create_foreign_key(
        op.f("fk_branches_workspace_id_parent_branch_id_branches"),
        "branches",
        "branches",
        ["workspace_id", "parent_branch_id"],
        ["workspace_id", "id"],
        ondelete="CASCADE",
    )
    op.add_column(
        "messages",
        sa.Column(
            "tool_calls",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
            comment="what the model called on the way, with what came of it",
        ),
    )
    op.add_column(
        "conversations",
        sa.Column(
            "appended",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="messages ever appended, in whichever branch; those of branches that are gone count",
        ),
    )
    op.create_check_constraint(
        op.f("ck_branches_parent"), "branches", "num_nonnulls(parent_branch_id, parent_message_id) IN (0, 2)"
    )
    op.create_check_constraint(op.f("ck_branches_depth"), "branches", "(parent_branch_id IS NULL) = (depth = 0)")
    op.create_check_constraint(op.f("ck_branches_context"), "branches", "context IN ('compress', 'inherit', 'none')")
    op.execute("""
        UPDATE conversations c SET appended = (
            SELECT count(*) FROM messages m WHERE m.workspace_id = c.workspace_id AND m.conversation_id = c.id)
        WHERE appended = 0""")
    statements.run("0008_branches")


def downgrade() -> None:
    # What came before knows one branch for a conversation, and nothing of forks.
    for name, table in (("branches_check", "branches"), ("branch_parents_check", "branch_parents")):
        op.execute(f"DROP TRIGGER {name} ON {table}")
    op.execute("DELETE FROM branches WHERE parent_branch_id IS NOT NULL")
    for name in ("parent", "depth", "context"):
        op.drop_constraint(op.f(f"ck_branches_{name}"), "branches", type_="check")
    op.drop_column("messages", "tool_calls")
    op.drop_column("conversations", "appended")
    op.drop_constraint(op.f("fk_branches_workspace_id_parent_branch_id_branches"), "branches", type_="foreignkey")
    op.drop_constraint(op.f("fk_branches_workspace_id_parent_message_id_messages"), "branches", type_="foreignkey")
    op.drop_index("uq_branches_first", table_name="branches", postgresql_where=sa.text("parent_branch_id IS NULL"))
    op.drop_index("ix_branches_parent_message_id", table_name="branches")
    op.drop_index("ix_branches_parent_branch_id", table_name="branches")
    op.drop_column("branches", "version")
    op.drop_column("branches", "updated_at")
    op.drop_column("branches", "condensed_ordinal")
    op.drop_column("branches", "forked_at_appended")
    op.drop_column("branches", "forked_at_ordinal")
    op.drop_column("branches", "made_by")
    op.drop_column("branches", "context")
    op.drop_column("branches", "parent_branch_id")
    op.drop_table("insight_links")
    op.drop_table("insight_deliveries")
    op.drop_table("path_digests")
    op.drop_table("branch_parents")
    op.drop_table("branch_insights")
    op.drop_table("branch_links")
    for function in (
        "branches_check()",
        "branch_parents_check()",
        "branches_check_parent(uuid, uuid, uuid, uuid, uuid)",
    ):
        op.execute(f"DROP FUNCTION {function}")
