"""Names that older cards are looked through for, what cards tell of entities, and who is having a text extracted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from migrations import statements

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "names_to_find",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("entity_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column(
            "due_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=True,
            comment="NULL: older cards were looked through",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "entity_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_names_to_find_workspace_id_entity_id_entities"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "entity_id", "key", name=op.f("pk_names_to_find")),
    )
    op.create_index(
        "ix_names_to_find_due",
        "names_to_find",
        ["workspace_id", "due_at"],
        unique=False,
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_table(
        "entity_tellings",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("entity_id", sa.Uuid(), nullable=False),
        sa.Column("card_id", sa.Uuid(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "entity_id"],
            ["entities.workspace_id", "entities.id"],
            name=op.f("fk_entity_tellings_workspace_id_entity_id_entities"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "card_id"],
            ["cards.workspace_id", "cards.id"],
            name=op.f("fk_entity_tellings_workspace_id_card_id_cards"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "entity_id", "card_id", name=op.f("pk_entity_tellings")),
    )
    op.create_index("ix_entity_tellings_card_id", "entity_tellings", ["workspace_id", "card_id"], unique=False)
    op.create_table(
        "descriptions_due",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("n", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("entity_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_descriptions_due_workspace_id_workspaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "n", name=op.f("pk_descriptions_due")),
    )
    op.create_table(
        "extraction_claims",
        sa.Column("workspace_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Uuid(), nullable=False),
        sa.Column("holder", sa.Uuid(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_extraction_claims_workspace_id_workspaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "key", name=op.f("pk_extraction_claims")),
    )
    statements.run("0012_tellings")


def downgrade() -> None:
    op.drop_table("extraction_claims")
    op.drop_table("descriptions_due")
    op.drop_index("ix_entity_tellings_card_id", table_name="entity_tellings")
    op.drop_table("entity_tellings")
    op.execute("DROP FUNCTION descriptions_note()")
    op.drop_index("ix_names_to_find_due", table_name="names_to_find", postgresql_where=sa.text("due_at IS NOT NULL"))
    op.drop_table("names_to_find")
