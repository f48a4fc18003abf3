"""The first schema: cards, people, jobs, conversations, and what search reads."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC, SPARSEVEC
from sqlalchemy.dialects import postgresql

from migrations import statements

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    op.execute("CREATE SEQUENCE chunk_doc_seq AS bigint")
    op.create_table(
        "embedding_spaces",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("sparse", sa.Boolean(), nullable=False),
        sa.Column("is_current", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_embedding_spaces")),
        sa.UniqueConstraint("key", name=op.f("uq_embedding_spaces_key")),
    )
    op.create_index(
        "uq_embedding_spaces_current",
        "embedding_spaces",
        [sa.literal_column("(is_current)")],
        unique=True,
        postgresql_where=sa.text("is_current"),
    )
    op.create_table(
        "lex_block",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("term_hash", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seg", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("postings", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "term_hash", "seg", name=op.f("pk_lex_block")),
    )
    op.create_table(
        "lex_recent",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("doc", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("words", sa.Integer(), nullable=False, comment="length of the word stream"),
        sa.Column(
            "grams", sa.Integer(), nullable=False, comment="length of the character-bigram stream, 0 without Han"
        ),
        sa.Column("word_terms", sa.LargeBinary(), nullable=False),
        sa.Column("gram_terms", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "doc", name=op.f("pk_lex_recent")),
    )
    op.create_table(
        "lex_segment",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("seg", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("docs", sa.Integer(), nullable=False),
        sa.Column("words", sa.BigInteger(), nullable=False),
        sa.Column("gram_docs", sa.Integer(), nullable=False),
        sa.Column("grams", sa.BigInteger(), nullable=False),
        sa.Column("members", sa.LargeBinary(), nullable=False),
        sa.Column("dead", sa.LargeBinary(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "seg", name=op.f("pk_lex_segment")),
    )
    op.create_table(
        "lex_tombstone",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("doc", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("grams", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "doc", name=op.f("pk_lex_tombstone")),
    )
    op.create_table(
        "workspaces",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workspaces")),
        sa.UniqueConstraint("slug", name=op.f("uq_workspaces_slug")),
    )
    op.create_table(
        "api_keys",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("last4", sa.Text(), nullable=False),
        sa.Column("scopes", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_api_keys_workspace_id_workspaces"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_api_keys")),
    )
    op.create_index("ix_api_keys_id", "api_keys", ["id"], unique=False)
    op.create_table(
        "cards",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("title_key", sa.Text(), nullable=False, comment="folded title: what a wikilink is resolved by"),
        sa.Column(
            "link_keys",
            postgresql.ARRAY(sa.Text()),
            server_default="{}",
            nullable=False,
            comment="folded aliases and file names that also resolve to this card",
        ),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False, comment="SHA-256 of title and content"),
        sa.Column("tags", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("source", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("metadata", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("trashed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("text_version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("state", sa.Text(), server_default="queued", nullable=False),
        sa.Column("step", sa.Text(), nullable=True),
        sa.Column("progress", sa.Double(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("state IN ('queued', 'working', 'ready', 'failed')", name=op.f("ck_cards_state")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_cards_workspace_id_workspaces"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_cards")),
    )
    op.create_index("ix_cards_created_at", "cards", ["workspace_id", "created_at", "id"], unique=False)
    op.create_index("ix_cards_link_keys", "cards", ["link_keys"], unique=False, postgresql_using="gin")
    op.create_index(
        "ix_cards_metadata",
        "cards",
        ["metadata"],
        unique=False,
        postgresql_using="gin",
        postgresql_ops={"metadata": "jsonb_path_ops"},
    )
    op.create_index("ix_cards_state", "cards", ["workspace_id", "state"], unique=False)
    op.create_index("ix_cards_tags", "cards", ["tags"], unique=False, postgresql_using="gin")
    op.create_index("ix_cards_title_key", "cards", ["workspace_id", "title_key"], unique=False)
    op.create_index(
        "ix_cards_trashed_at",
        "cards",
        ["workspace_id", "trashed_at"],
        unique=False,
        postgresql_where=sa.text("trashed_at IS NOT NULL"),
    )
    op.create_index("uq_cards_external_id", "cards", ["workspace_id", "external_id"], unique=True)
    op.create_table(
        "conversations",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column(
            "title_by", sa.Text(), nullable=True, comment="user or assistant; the assistant never overrules a user"
        ),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_conversations_workspace_id_workspaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_conversations")),
    )
    op.create_index("ix_conversations_updated_at", "conversations", ["workspace_id", "updated_at", "id"], unique=False)
    op.create_table(
        "idempotency_records",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("headers", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_idempotency_records_workspace_id_workspaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "key", name=op.f("pk_idempotency_records")),
    )
    op.create_index("ix_idempotency_records_created_at", "idempotency_records", ["created_at"], unique=False)
    op.create_table(
        "jobs",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="queued", nullable=False),
        sa.Column("payload", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("dedupe_key", sa.Text(), nullable=True),
        sa.Column("rerun", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("priority", sa.Integer(), server_default="0", nullable=False),
        sa.Column("rank", sa.Integer(), server_default="1", nullable=False),
        sa.Column("turn", sa.Integer(), server_default="0", nullable=False),
        sa.Column("step", sa.Text(), nullable=True),
        sa.Column("progress", sa.Double(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("max_attempts", sa.Integer(), server_default="5", nullable=False),
        sa.Column("busy_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("available_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("state IN ('queued', 'working', 'done', 'failed', 'cancelled')", name=op.f("ck_jobs_state")),
        sa.CheckConstraint("priority BETWEEN -1 AND 1", name=op.f("ck_jobs_priority")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_jobs_workspace_id_workspaces"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_jobs")),
    )
    op.create_index(
        "ix_jobs_finished_at",
        "jobs",
        ["finished_at"],
        unique=False,
        postgresql_where=sa.text("finished_at IS NOT NULL"),
    )
    op.create_index(
        "ix_jobs_line",
        "jobs",
        ["workspace_id", "priority", "rank"],
        unique=False,
        postgresql_where=sa.text("state IN ('queued', 'working')"),
    )
    op.create_index(
        "uq_jobs_live_dedupe_key",
        "jobs",
        ["workspace_id", "kind", "dedupe_key"],
        unique=True,
        postgresql_where=sa.text("state IN ('queued', 'working') AND dedupe_key IS NOT NULL"),
    )
    op.create_table(
        "branches",
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("parent_message_id", sa.Uuid(), nullable=True),
        sa.Column("profile", sa.Text(), nullable=True),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("depth", sa.Integer(), server_default="0", nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "conversation_id"],
            ["conversations.workspace_id", "conversations.id"],
            name=op.f("fk_branches_workspace_id_conversation_id_conversations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_branches")),
    )
    op.create_index("ix_branches_conversation_id", "branches", ["workspace_id", "conversation_id"], unique=False)
    op.create_table(
        "card_links",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("target_key", sa.Text(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=True),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "card_id"],
            ["cards.workspace_id", "cards.id"],
            name=op.f("fk_card_links_workspace_id_card_id_cards"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "card_id", "ordinal", name=op.f("pk_card_links")),
    )
    op.create_index("ix_card_links_target", "card_links", ["workspace_id", "target_key"], unique=False)
    op.create_table(
        "card_revisions",
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("tags", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("source", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("metadata", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("card_created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "card_id"],
            ["cards.workspace_id", "cards.id"],
            name=op.f("fk_card_revisions_workspace_id_card_id_cards"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_card_revisions")),
    )
    op.create_index("uq_card_revisions_n", "card_revisions", ["workspace_id", "card_id", "n"], unique=True)
    op.create_table(
        "chunks",
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("doc", sa.BigInteger(), server_default=sa.text("nextval('chunk_doc_seq')"), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("heading", sa.Text(), server_default="", nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False, comment="length of the word stream, title counted twice"),
        sa.Column(
            "grams", sa.Integer(), nullable=False, comment="length of the character-bigram stream, 0 without Han"
        ),
        sa.Column("terms", postgresql.TSVECTOR(), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "card_id"],
            ["cards.workspace_id", "cards.id"],
            name=op.f("fk_chunks_workspace_id_card_id_cards"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_chunks")),
        sa.UniqueConstraint("workspace_id", "card_id", "ordinal", name=op.f("uq_chunks_workspace_id_card_id_ordinal")),
        sa.UniqueConstraint("workspace_id", "doc", name=op.f("uq_chunks_workspace_id_doc")),
    )
    op.create_index("ix_chunks_terms", "chunks", ["terms"], unique=False, postgresql_using="gin")
    op.create_table(
        "imported_files",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("card_id", sa.Uuid(), nullable=True),
        sa.Column("code", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["workspace_id", "job_id"],
            ["jobs.workspace_id", "jobs.id"],
            name=op.f("fk_imported_files_workspace_id_job_id_jobs"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "job_id", "path", name=op.f("pk_imported_files")),
    )
    op.create_table(
        "staged_vectors",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.Uuid(), nullable=False),
        sa.Column("dense", HALFVEC(), nullable=False),
        sa.Column("sparse", SPARSEVEC(), nullable=True),
        sa.ForeignKeyConstraint(
            ["workspace_id", "card_id"],
            ["cards.workspace_id", "cards.id"],
            name=op.f("fk_staged_vectors_workspace_id_card_id_cards"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "card_id", "space_id", "text_hash", name=op.f("pk_staged_vectors")),
    )
    op.create_table(
        "messages",
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("branch_id", sa.Uuid(), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column(
            "ordinal",
            sa.Integer(),
            nullable=False,
            comment="place in its branch, from 1; gives parallel appends an order",
        ),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), server_default="", nullable=False),
        sa.Column("status", sa.Text(), server_default="complete", nullable=False),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("provider", sa.Text(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("route", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("citations", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("ledger", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("usage", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("timings_ms", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column(
            "beat_at", sa.DateTime(timezone=True), nullable=True, comment="last sign of life of a streaming answer"
        ),
        sa.Column(
            "watched_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when another process last followed a streaming answer",
        ),
        sa.Column("stop_requested", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("role IN ('user', 'assistant')", name=op.f("ck_messages_role")),
        sa.CheckConstraint(
            "status IN ('streaming', 'complete', 'interrupted', 'failed')", name=op.f("ck_messages_status")
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "branch_id"],
            ["branches.workspace_id", "branches.id"],
            name=op.f("fk_messages_workspace_id_branch_id_branches"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "conversation_id"],
            ["conversations.workspace_id", "conversations.id"],
            name=op.f("fk_messages_workspace_id_conversation_id_conversations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_messages")),
    )
    op.create_index("ix_messages_conversation_id", "messages", ["workspace_id", "conversation_id"], unique=False)
    op.create_index(
        "ix_messages_streaming", "messages", ["beat_at"], unique=False, postgresql_where=sa.text("status = 'streaming'")
    )
    op.create_index("uq_messages_ordinal", "messages", ["workspace_id", "branch_id", "ordinal"], unique=True)
    op.create_table(
        "windows",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("chunk_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.Uuid(), nullable=False, comment="first 128 bits of SHA-256 of the embedded text"),
        sa.Column("dense", HALFVEC(), nullable=False),
        sa.Column("sparse", SPARSEVEC(), nullable=True),
        sa.ForeignKeyConstraint(
            ["workspace_id", "chunk_id"],
            ["chunks.workspace_id", "chunks.id"],
            name=op.f("fk_windows_workspace_id_chunk_id_chunks"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "chunk_id", "space_id", "ordinal", name=op.f("pk_windows")),
    )
    op.create_index("ix_windows_text_hash", "windows", ["workspace_id", "space_id", "text_hash"], unique=False)
    # Vectors are incompressible and read with every row: never out of line.
    op.execute("ALTER TABLE windows ALTER COLUMN dense SET STORAGE PLAIN")
    for name in ("0001_lexical", "0001_queue"):
        statements.run(name)


def downgrade() -> None:
    for table in ("pgqueuer", "pgqueuer_log", "pgqueuer_schedules", "pgqueuer_statistics"):
        op.execute(f"DROP TABLE mindcone_{table}")
    op.execute("DROP FUNCTION mindcone_fn_pgqueuer_changed()")
    op.execute("DROP TYPE mindcone_pgqueuer_status")
    op.drop_index("ix_windows_text_hash", table_name="windows")
    op.drop_table("windows")
    op.drop_index("uq_messages_ordinal", table_name="messages")
    op.drop_index("ix_messages_streaming", table_name="messages", postgresql_where=sa.text("status = 'streaming'"))
    op.drop_index("ix_messages_conversation_id", table_name="messages")
    op.drop_table("messages")
    op.drop_table("staged_vectors")
    op.drop_table("imported_files")
    op.drop_index("ix_chunks_terms", table_name="chunks", postgresql_using="gin")
    op.drop_table("chunks")
    op.drop_index("uq_card_revisions_n", table_name="card_revisions")
    op.drop_table("card_revisions")
    op.drop_index("ix_card_links_target", table_name="card_links")
    op.drop_table("card_links")
    op.drop_index("ix_branches_conversation_id", table_name="branches")
    op.drop_table("branches")
    op.drop_index(
        "uq_jobs_live_dedupe_key",
        table_name="jobs",
        postgresql_where=sa.text("state IN ('queued', 'working') AND dedupe_key IS NOT NULL"),
    )
    op.drop_index("ix_jobs_line", table_name="jobs", postgresql_where=sa.text("state IN ('queued', 'working')"))
    op.drop_index("ix_jobs_finished_at", table_name="jobs", postgresql_where=sa.text("finished_at IS NOT NULL"))
    op.drop_table("jobs")
    op.drop_index("ix_idempotency_records_created_at", table_name="idempotency_records")
    op.drop_table("idempotency_records")
    op.drop_index("ix_conversations_updated_at", table_name="conversations")
    op.drop_table("conversations")
    op.drop_index("uq_cards_external_id", table_name="cards")
    op.drop_index("ix_cards_trashed_at", table_name="cards", postgresql_where=sa.text("trashed_at IS NOT NULL"))
    op.drop_index("ix_cards_title_key", table_name="cards")
    op.drop_index("ix_cards_tags", table_name="cards", postgresql_using="gin")
    op.drop_index("ix_cards_state", table_name="cards")
    op.drop_index(
        "ix_cards_metadata", table_name="cards", postgresql_using="gin", postgresql_ops={"metadata": "jsonb_path_ops"}
    )
    op.drop_index("ix_cards_link_keys", table_name="cards", postgresql_using="gin")
    op.drop_index("ix_cards_created_at", table_name="cards")
    op.drop_table("cards")
    op.drop_index("ix_api_keys_id", table_name="api_keys")
    op.drop_table("api_keys")
    op.drop_table("workspaces")
    op.drop_table("lex_tombstone")
    op.drop_table("lex_segment")
    op.drop_table("lex_recent")
    op.drop_table("lex_block")
    op.drop_index("uq_embedding_spaces_current", table_name="embedding_spaces", postgresql_where=sa.text("is_current"))
    op.drop_table("embedding_spaces")
    op.execute("DROP SEQUENCE chunk_doc_seq")
    op.execute("DROP FUNCTION lexical_forget_chunk()")
    op.execute("DROP FUNCTION lexical_forget_workspace()")
    op.execute("DROP FUNCTION lexical_forget_all()")
