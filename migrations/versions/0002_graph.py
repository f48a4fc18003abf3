"""The knowledge graph and the cone; postings for every collection; calibrations; paid extractions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects import postgresql

from migrations import statements

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "calibrations",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("script", sa.Text(), nullable=False, comment="of question and text: han-latin, ..."),
        sa.Column("mu", sa.Double(), nullable=False),
        sa.Column("sigma", sa.Double(), nullable=False),
        sa.Column("pairs", sa.Integer(), nullable=False),
        sa.Column("detail", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("computed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_calibrations_workspace_id_workspaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "space_id", "collection", "script", name=op.f("pk_calibrations")),
    )
    op.create_table(
        "entities",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False, comment="the name, normalised"),
        sa.Column("kind", sa.Text(), nullable=False, comment="person, place or thing"),
        sa.Column("sense", sa.Integer(), server_default="0", nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("is_edited", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("merged_into", sa.Uuid(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("doc", sa.BigInteger(), server_default=sa.text("nextval('chunk_doc_seq')"), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("grams", sa.Integer(), nullable=False),
        sa.CheckConstraint("merged_into IS NULL OR merged_into <> id", name=op.f("ck_entities_not_itself")),
        sa.ForeignKeyConstraint(
            ["workspace_id", "merged_into"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_entities_workspace_id_merged_into_entities"),
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_entities_workspace_id_workspaces"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_entities")),
    )
    op.create_index(
        "ix_entities_merged_into",
        "entities",
        ["workspace_id", "merged_into"],
        unique=False,
        postgresql_where=sa.text("merged_into IS NOT NULL"),
    )
    op.create_index("uq_entities_doc", "entities", ["workspace_id", "doc"], unique=True)
    op.create_index("uq_entities_key", "entities", ["workspace_id", "key", "kind", "sense"], unique=True)
    op.create_table(
        "entity_decisions",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("left_id", sa.Uuid(), nullable=False),
        sa.Column("left_key", sa.Text(), nullable=False),
        sa.Column("left_kind", sa.Text(), nullable=False),
        sa.Column("left_name", sa.Text(), nullable=False),
        sa.Column("right_id", sa.Uuid(), nullable=False),
        sa.Column("right_key", sa.Text(), nullable=False),
        sa.Column("right_kind", sa.Text(), nullable=False),
        sa.Column("right_name", sa.Text(), nullable=False),
        sa.Column("layer", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False, comment="merged, apart, candidate, unmerged or split"),
        sa.Column("decided_by", sa.Text(), nullable=False, comment="rule, llm or user"),
        sa.Column("detail", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_entity_decisions_workspace_id_workspaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_entity_decisions")),
    )
    op.create_index("ix_entity_decisions_created_at", "entity_decisions", ["workspace_id", "created_at"], unique=False)
    op.create_index(
        "ix_entity_decisions_left", "entity_decisions", ["workspace_id", "left_key", "left_kind"], unique=False
    )
    op.create_index(
        "ix_entity_decisions_right", "entity_decisions", ["workspace_id", "right_key", "right_kind"], unique=False
    )
    op.create_table(
        "episodes",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("title_key", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("happened", postgresql.TSTZRANGE(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=False, comment="own, or posted by a caller"),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("doc", sa.BigInteger(), server_default=sa.text("nextval('chunk_doc_seq')"), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("grams", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_episodes_workspace_id_workspaces"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_episodes")),
    )
    op.create_index("ix_episodes_happened", "episodes", ["happened"], unique=False, postgresql_using="gist")
    op.create_index("uq_episodes_doc", "episodes", ["workspace_id", "doc"], unique=True)
    op.create_index("uq_episodes_external_id", "episodes", ["workspace_id", "external_id"], unique=True)
    op.create_table(
        "extraction_cache",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Uuid(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_extraction_cache_workspace_id_workspaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "key", name=op.f("pk_extraction_cache")),
    )
    op.create_table(
        "entity_names",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("entity_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), server_default="text", nullable=False, comment="text, or user"),
        sa.ForeignKeyConstraint(
            ["workspace_id", "entity_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_entity_names_workspace_id_entity_id_entities"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "entity_id", "key", name=op.f("pk_entity_names")),
    )
    op.create_index("ix_entity_names_key", "entity_names", ["workspace_id", "key"], unique=False)
    op.create_table(
        "entity_pairs",
        sa.Column("left_id", sa.Uuid(), nullable=False),
        sa.Column("right_id", sa.Uuid(), nullable=False),
        sa.Column("layer", sa.Text(), nullable=False, comment="what proposed it: vector, acronym, alias, ..."),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("state", sa.Text(), server_default="waiting", nullable=False, comment="waiting, merged or apart"),
        sa.Column("decided_by", sa.Text(), nullable=True, comment="rule, llm or user"),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("left_id < right_id", name=op.f("ck_entity_pairs_ordered")),
        sa.ForeignKeyConstraint(
            ["workspace_id", "left_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_entity_pairs_workspace_id_left_id_entities"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "right_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_entity_pairs_workspace_id_right_id_entities"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_entity_pairs")),
    )
    op.create_index("ix_entity_pairs_right_id", "entity_pairs", ["workspace_id", "right_id"], unique=False)
    op.create_index(
        "ix_entity_pairs_waiting",
        "entity_pairs",
        ["workspace_id", "id"],
        unique=False,
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.create_index("uq_entity_pairs_pair", "entity_pairs", ["workspace_id", "left_id", "right_id"], unique=True)
    op.create_table(
        "entity_places",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "card_id"],
            ["cards.workspace_id", "cards.id"],
            name=op.f("fk_entity_places_workspace_id_card_id_cards"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "entity_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_entity_places_workspace_id_entity_id_entities"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "card_id", "key", name=op.f("pk_entity_places")),
    )
    op.create_index("ix_entity_places_entity_id", "entity_places", ["workspace_id", "entity_id"], unique=False)
    op.create_table(
        "entity_vectors",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.Uuid(), nullable=False),
        sa.Column("dense", HALFVEC(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "owner_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_entity_vectors_workspace_id_owner_id_entities"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "owner_id", "space_id", "role", name=op.f("pk_entity_vectors")),
    )
    op.create_index(
        "ix_entity_vectors_text_hash", "entity_vectors", ["workspace_id", "space_id", "text_hash"], unique=False
    )
    op.create_table(
        "episode_cards",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("episode_id", sa.Uuid(), nullable=False),
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False, comment="place among the card's episodes"),
        sa.ForeignKeyConstraint(
            ["workspace_id", "card_id"],
            ["cards.workspace_id", "cards.id"],
            name=op.f("fk_episode_cards_workspace_id_card_id_cards"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "episode_id"],
            ["episodes.workspace_id", "episodes.id"],
            name=op.f("fk_episode_cards_workspace_id_episode_id_episodes"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "episode_id", "card_id", name=op.f("pk_episode_cards")),
    )
    op.create_index("ix_episode_cards_card_id", "episode_cards", ["workspace_id", "card_id"], unique=False)
    op.create_table(
        "episode_vectors",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.Uuid(), nullable=False),
        sa.Column("dense", HALFVEC(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "owner_id"],
            ["episodes.workspace_id", "episodes.id"],
            name=op.f("fk_episode_vectors_workspace_id_owner_id_episodes"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "owner_id", "space_id", "role", name=op.f("pk_episode_vectors")),
    )
    op.create_index(
        "ix_episode_vectors_text_hash", "episode_vectors", ["workspace_id", "space_id", "text_hash"], unique=False
    )
    op.create_table(
        "facets",
        sa.Column("episode_id", sa.Uuid(), nullable=False),
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=True),
        sa.Column("end", sa.Integer(), nullable=True),
        sa.Column("happened", postgresql.TSTZRANGE(), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("doc", sa.BigInteger(), server_default=sa.text("nextval('chunk_doc_seq')"), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("grams", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "episode_id", "card_id"],
            ["episode_cards.workspace_id", "episode_cards.episode_id", "episode_cards.card_id"],
            name=op.f("fk_facets_workspace_id_episode_id_card_id_episode_cards"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_facets")),
    )
    op.create_index("ix_facets_episode_id", "facets", ["workspace_id", "episode_id", "card_id"], unique=False)
    op.create_index("uq_facets_doc", "facets", ["workspace_id", "doc"], unique=True)
    op.create_table(
        "mentions",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("chunk_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("entity_id", sa.Uuid(), nullable=False),
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=True),
        sa.Column("end", sa.Integer(), nullable=True),
        sa.Column("in_title", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False, comment="as it stands there"),
        sa.ForeignKeyConstraint(
            ["workspace_id", "chunk_id"],
            ["chunks.workspace_id", "chunks.id"],
            name=op.f("fk_mentions_workspace_id_chunk_id_chunks"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "entity_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_mentions_workspace_id_entity_id_entities"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "chunk_id", "ordinal", name=op.f("pk_mentions")),
    )
    op.create_index("ix_mentions_card_id", "mentions", ["workspace_id", "card_id", "entity_id"], unique=False)
    op.create_index("ix_mentions_entity_id", "mentions", ["workspace_id", "entity_id", "card_id"], unique=False)
    op.create_table(
        "relations",
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("chunk_id", sa.Uuid(), nullable=False),
        sa.Column("source_id", sa.Uuid(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.Column("predicate", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=True),
        sa.Column("end", sa.Integer(), nullable=True),
        sa.Column("valid_during", postgresql.TSTZRANGE(), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("doc", sa.BigInteger(), server_default=sa.text("nextval('chunk_doc_seq')"), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("grams", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "chunk_id"],
            ["chunks.workspace_id", "chunks.id"],
            name=op.f("fk_relations_workspace_id_chunk_id_chunks"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "source_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_relations_workspace_id_source_id_entities"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "target_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_relations_workspace_id_target_id_entities"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_relations")),
    )
    op.create_index("ix_relations_card_id", "relations", ["workspace_id", "card_id"], unique=False)
    op.create_index("ix_relations_chunk_id", "relations", ["workspace_id", "chunk_id"], unique=False)
    op.create_index("ix_relations_source_id", "relations", ["workspace_id", "source_id"], unique=False)
    op.create_index("ix_relations_target_id", "relations", ["workspace_id", "target_id"], unique=False)
    op.create_index("uq_relations_doc", "relations", ["workspace_id", "doc"], unique=True)
    op.create_table(
        "facet_vectors",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.Uuid(), nullable=False),
        sa.Column("dense", HALFVEC(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "owner_id"],
            ["facets.workspace_id", "facets.id"],
            name=op.f("fk_facet_vectors_workspace_id_owner_id_facets"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "owner_id", "space_id", "role", name=op.f("pk_facet_vectors")),
    )
    op.create_index(
        "ix_facet_vectors_text_hash", "facet_vectors", ["workspace_id", "space_id", "text_hash"], unique=False
    )
    op.create_table(
        "points",
        sa.Column("facet_id", sa.Uuid(), nullable=False),
        sa.Column("episode_id", sa.Uuid(), nullable=False),
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column(
            "chunk_id", sa.Uuid(), nullable=True, comment="the chunk where it stands; replaced with its card's rows"
        ),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=True),
        sa.Column("end", sa.Integer(), nullable=True),
        sa.Column("speaker", sa.Text(), nullable=True),
        sa.Column("happened", postgresql.TSTZRANGE(), nullable=True),
        sa.Column("valid_during", postgresql.TSTZRANGE(), nullable=True),
        sa.Column("superseded_by", sa.Uuid(), nullable=True),
        sa.Column("claim_key", sa.Uuid(), nullable=True),
        sa.Column("claim_value", sa.Text(), nullable=True),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("doc", sa.BigInteger(), server_default=sa.text("nextval('chunk_doc_seq')"), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("grams", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "facet_id"],
            ["facets.workspace_id", "facets.id"],
            name=op.f("fk_points_workspace_id_facet_id_facets"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_points")),
    )
    op.create_index("ix_points_card_id", "points", ["workspace_id", "card_id"], unique=False)
    op.create_index("ix_points_episode_id", "points", ["workspace_id", "episode_id"], unique=False)
    op.create_index("ix_points_facet_id", "points", ["workspace_id", "facet_id"], unique=False)
    op.create_index(
        "ix_points_claim_key",
        "points",
        ["workspace_id", "claim_key"],
        unique=False,
        postgresql_where=sa.text("claim_key IS NOT NULL"),
    )
    op.create_index("uq_points_doc", "points", ["workspace_id", "doc"], unique=True)
    op.create_table(
        "relation_vectors",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.Uuid(), nullable=False),
        sa.Column("dense", HALFVEC(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "owner_id"],
            ["relations.workspace_id", "relations.id"],
            name=op.f("fk_relation_vectors_workspace_id_owner_id_relations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "owner_id", "space_id", "role", name=op.f("pk_relation_vectors")),
    )
    op.create_index(
        "ix_relation_vectors_text_hash", "relation_vectors", ["workspace_id", "space_id", "text_hash"], unique=False
    )
    op.create_table(
        "roles",
        sa.Column("entity_id", sa.Uuid(), nullable=False),
        sa.Column("episode_id", sa.Uuid(), nullable=False),
        sa.Column("facet_id", sa.Uuid(), nullable=True),
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("doc", sa.BigInteger(), server_default=sa.text("nextval('chunk_doc_seq')"), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("grams", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "entity_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_roles_workspace_id_entity_id_entities"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "episode_id", "card_id"],
            ["episode_cards.workspace_id", "episode_cards.episode_id", "episode_cards.card_id"],
            name=op.f("fk_roles_workspace_id_episode_id_card_id_episode_cards"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "facet_id"],
            ["facets.workspace_id", "facets.id"],
            name=op.f("fk_roles_workspace_id_facet_id_facets"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_roles")),
    )
    op.create_index("ix_roles_entity_id", "roles", ["workspace_id", "entity_id"], unique=False)
    op.create_index("ix_roles_episode_id", "roles", ["workspace_id", "episode_id", "card_id"], unique=False)
    op.create_index("ix_roles_facet_id", "roles", ["workspace_id", "facet_id"], unique=False)
    op.create_index("uq_roles_doc", "roles", ["workspace_id", "doc"], unique=True)
    op.create_table(
        "point_entities",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("point_id", sa.Uuid(), nullable=False),
        sa.Column("entity_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "entity_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_point_entities_workspace_id_entity_id_entities"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "point_id"],
            ["points.workspace_id", "points.id"],
            name=op.f("fk_point_entities_workspace_id_point_id_points"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "point_id", "entity_id", name=op.f("pk_point_entities")),
    )
    op.create_index("ix_point_entities_entity_id", "point_entities", ["workspace_id", "entity_id"], unique=False)
    op.create_table(
        "point_vectors",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.Uuid(), nullable=False),
        sa.Column("dense", HALFVEC(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "owner_id"],
            ["points.workspace_id", "points.id"],
            name=op.f("fk_point_vectors_workspace_id_owner_id_points"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "owner_id", "space_id", "role", name=op.f("pk_point_vectors")),
    )
    op.create_index(
        "ix_point_vectors_text_hash", "point_vectors", ["workspace_id", "space_id", "text_hash"], unique=False
    )
    op.create_table(
        "role_vectors",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.Uuid(), nullable=False),
        sa.Column("dense", HALFVEC(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "owner_id"],
            ["roles.workspace_id", "roles.id"],
            name=op.f("fk_role_vectors_workspace_id_owner_id_roles"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "owner_id", "space_id", "role", name=op.f("pk_role_vectors")),
    )
    op.create_index(
        "ix_role_vectors_text_hash", "role_vectors", ["workspace_id", "space_id", "text_hash"], unique=False
    )
    op.create_table(
        "posted_episodes",
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("text_version", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.Column("is_complete", sa.Boolean(), nullable=False),
        sa.Column("body", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("body_hash", sa.Uuid(), nullable=False),
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "card_id"],
            ["cards.workspace_id", "cards.id"],
            name=op.f("fk_posted_episodes_workspace_id_card_id_cards"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "id", name=op.f("pk_posted_episodes")),
    )
    op.create_index("ix_posted_episodes_card_id", "posted_episodes", ["workspace_id", "card_id"], unique=False)
    op.create_index("uq_posted_episodes_external_id", "posted_episodes", ["workspace_id", "external_id"], unique=True)
    op.add_column(
        "cards",
        sa.Column(
            "extraction",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
            comment="who extracted it, what was dropped and added",
        ),
    )
    statements.run("0002_graph")


def downgrade() -> None:
    statements.run("0002_graph_down")
    op.drop_column("cards", "extraction")
    op.drop_table("posted_episodes")
    op.drop_table("role_vectors")
    op.drop_table("point_vectors")
    op.drop_table("point_entities")
    op.drop_table("roles")
    op.drop_table("relation_vectors")
    op.drop_table("points")
    op.drop_table("facet_vectors")
    op.drop_table("relations")
    op.drop_table("mentions")
    op.drop_table("facets")
    op.drop_table("episode_vectors")
    op.drop_table("episode_cards")
    op.drop_table("entity_vectors")
    op.drop_table("entity_places")
    op.drop_table("entity_pairs")
    op.drop_table("entity_names")
    op.drop_table("extraction_cache")
    op.drop_table("episodes")
    op.drop_table("entity_decisions")
    op.drop_table("entities")
    op.drop_table("calibrations")
    for function in (
        "graph_forget_entity()",
        "graph_forget_episode()",
        "graph_lock(uuid)",
        "lexical_forget()",
        "claims_changed()",
        "claims_dated()",
        "claims_settle(uuid, uuid)",
    ):
        op.execute(f"DROP FUNCTION {function}")
