"""Tables of entities: names, mentions, relations, and what was decided about who is who.

A mention (entity ↔ chunk) is the provenance: an entity lives as long as something mentions it, or a member
that was merged into it. What loses its last mention goes at commit, by the triggers of
`migrations/sql/0002_graph.sql`, whatever deleted the mention.

A merge moves nothing: `merged_into` points at the surviving entity, so that it can be undone exactly.
Readers follow it: the entity that a mention, a relation or a role stands for is
`coalesce(merged_into, id)`, one step, never a chain.

Whoever changes what entities there are holds `graph_lock(workspace_id)` until commit, taken after the locks
on cards.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, ForeignKeyConstraint, Identity, Index, Text, func, text
from sqlalchemy.dialects.postgresql import JSONB, TSTZRANGE, Range
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Tenant


class Lexical:
    """Mixin: a row that is found by words. `doc` is its number in the postings of its collection; the lengths of
    its two streams are kept for its tombstone.
    """

    doc: Mapped[int] = mapped_column(BigInteger, server_default=text("nextval('chunk_doc_seq')"))
    words: Mapped[int]
    grams: Mapped[int]


class Entity(Tenant, Created, Lexical, Base):
    """Somebody or something that cards name.

    `kind` is the type's class: names of two classes are never one entity. `sense` tells homonyms of one class apart:
    people split them, and the linker does where two descriptions exclude each other. What a person has edited, the
    machine leaves alone.
    """

    __tablename__ = "entities"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "merged_into"], ["entities.workspace_id", "entities.id"]),
        CheckConstraint("merged_into IS NULL OR merged_into <> id", name="not_itself"),
        Index("uq_entities_key", "workspace_id", "key", "kind", "sense", unique=True),
        Index("uq_entities_doc", "workspace_id", "doc", unique=True),
        Index(
            "ix_entities_merged_into", "workspace_id", "merged_into", postgresql_where=text("merged_into IS NOT NULL")
        ),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    key: Mapped[str] = mapped_column(Text, comment="the name, normalised")
    kind: Mapped[str] = mapped_column(Text, comment="person, place or thing")
    sense: Mapped[int] = mapped_column(server_default="0")
    type: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text, server_default="")
    is_edited: Mapped[bool] = mapped_column(server_default=text("false"))
    merged_into: Mapped[uuid.UUID | None]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class EntityName(Base):
    """A name that an entity answers to, its own included."""

    __tablename__ = "entity_names"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "entity_id"], ["entities.workspace_id", "entities.id"], ondelete="CASCADE"
        ),
        Index("ix_entity_names_key", "workspace_id", "key"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    entity_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    origin: Mapped[str] = mapped_column(Text, server_default="text", comment="text, or user")


class Mention(Base):
    """A place where a chunk names an entity. `start` and `end` are offsets into the card's content, both null when
    only the card's title does, or when whoever extracted it gave no place.
    """

    __tablename__ = "mentions"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "chunk_id"], ["chunks.workspace_id", "chunks.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["workspace_id", "entity_id"], ["entities.workspace_id", "entities.id"], ondelete="CASCADE"
        ),
        Index("ix_mentions_entity_id", "workspace_id", "entity_id", "card_id"),
        Index("ix_mentions_card_id", "workspace_id", "card_id", "entity_id"),
        Index("ix_mentions_in_title", "workspace_id", "entity_id", "card_id", postgresql_where=text("in_title")),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    chunk_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    entity_id: Mapped[uuid.UUID]
    card_id: Mapped[uuid.UUID]
    start: Mapped[int | None]
    end: Mapped[int | None]
    in_title: Mapped[bool] = mapped_column(server_default=text("false"))
    name: Mapped[str] = mapped_column(Text, comment="as it stands there")


class Relation(Tenant, Lexical, Base):
    """One statement of one card that joins two entities; `text` is the sentence. Several cards that say the same
    make several rows: the weight of an edge is how often it is said.
    """

    __tablename__ = "relations"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "chunk_id"], ["chunks.workspace_id", "chunks.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["workspace_id", "source_id"], ["entities.workspace_id", "entities.id"], ondelete="CASCADE"
        ),
        ForeignKeyConstraint(
            ["workspace_id", "target_id"], ["entities.workspace_id", "entities.id"], ondelete="CASCADE"
        ),
        Index("ix_relations_chunk_id", "workspace_id", "chunk_id"),
        Index("ix_relations_card_id", "workspace_id", "card_id"),
        Index("ix_relations_source_id", "workspace_id", "source_id"),
        Index("ix_relations_target_id", "workspace_id", "target_id"),
        Index("uq_relations_doc", "workspace_id", "doc", unique=True),
    )

    card_id: Mapped[uuid.UUID]
    chunk_id: Mapped[uuid.UUID]
    source_id: Mapped[uuid.UUID]
    target_id: Mapped[uuid.UUID]
    predicate: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)
    confidence: Mapped[float]
    start: Mapped[int | None]
    end: Mapped[int | None]
    valid_during: Mapped[Range[datetime] | None] = mapped_column(TSTZRANGE)


class EntityPair(Tenant, Created, Base):
    """Two entities that may be one, waiting for a decision; `left_id` is the smaller id."""

    __tablename__ = "entity_pairs"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "left_id"], ["entities.workspace_id", "entities.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["workspace_id", "right_id"], ["entities.workspace_id", "entities.id"], ondelete="CASCADE"
        ),
        CheckConstraint("left_id < right_id", name="ordered"),
        Index("uq_entity_pairs_pair", "workspace_id", "left_id", "right_id", unique=True),
        Index("ix_entity_pairs_right_id", "workspace_id", "right_id"),
        Index("ix_entity_pairs_waiting", "workspace_id", "id", postgresql_where=text("state = 'waiting'")),
    )

    left_id: Mapped[uuid.UUID]
    right_id: Mapped[uuid.UUID]
    layer: Mapped[str] = mapped_column(Text, comment="what proposed it: vector, acronym, alias, ...")
    score: Mapped[float]
    state: Mapped[str] = mapped_column(Text, server_default="waiting", comment="waiting, merged or apart")
    decided_by: Mapped[str | None] = mapped_column(Text, comment="rule, llm or user")
    decided_at: Mapped[datetime | None]


class EntityDecision(Tenant, Created, Base):
    """The log: what was decided about two names, on which grounds, by whom. Append only; no foreign keys, because it
    outlives the entities: what a person decided holds for the same names when they come back.
    """

    __tablename__ = "entity_decisions"
    __table_args__ = (
        Index("ix_entity_decisions_left", "workspace_id", "left_key", "left_kind"),
        Index("ix_entity_decisions_right", "workspace_id", "right_key", "right_kind"),
        Index("ix_entity_decisions_created_at", "workspace_id", "created_at"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    left_id: Mapped[uuid.UUID]
    left_key: Mapped[str] = mapped_column(Text)
    left_kind: Mapped[str] = mapped_column(Text)
    left_name: Mapped[str] = mapped_column(Text)
    right_id: Mapped[uuid.UUID]
    right_key: Mapped[str] = mapped_column(Text)
    right_kind: Mapped[str] = mapped_column(Text)
    right_name: Mapped[str] = mapped_column(Text)
    layer: Mapped[str] = mapped_column(Text)
    score: Mapped[float | None]
    outcome: Mapped[str] = mapped_column(Text, comment="merged, apart, candidate, unmerged or split")
    decided_by: Mapped[str] = mapped_column(Text, comment="rule, llm or user")
    detail: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")


class EntityPlace(Base):
    """A person's word on which entity a name means in one card (from a split); it outlives edits of the card."""

    __tablename__ = "entity_places"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "card_id"], ["cards.workspace_id", "cards.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["workspace_id", "entity_id"], ["entities.workspace_id", "entities.id"], ondelete="CASCADE"
        ),
        Index("ix_entity_places_entity_id", "workspace_id", "entity_id"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    card_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    entity_id: Mapped[uuid.UUID]


class NameToFind(Base):
    """A name that a card's title brought, by which older cards may mention its entity: they are looked through once.

    `due_at` is when; NULL: they were.
    """

    __tablename__ = "names_to_find"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "entity_id"], ["entities.workspace_id", "entities.id"], ondelete="CASCADE"
        ),
        Index("ix_names_to_find_due", "workspace_id", "due_at", postgresql_where=text("due_at IS NOT NULL")),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    entity_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    due_at: Mapped[datetime | None] = mapped_column(
        server_default=func.now(), comment="NULL: older cards were looked through"
    )


class EntityTelling(Base):
    """How one card describes an entity: what its description is put together from."""

    __tablename__ = "entity_tellings"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "entity_id"], ["entities.workspace_id", "entities.id"], ondelete="CASCADE"
        ),
        ForeignKeyConstraint(["workspace_id", "card_id"], ["cards.workspace_id", "cards.id"], ondelete="CASCADE"),
        Index("ix_entity_tellings_card_id", "workspace_id", "card_id"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    entity_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    card_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    description: Mapped[str] = mapped_column(Text)


class DescriptionDue(Base):
    """An entity of which cards tell something else now, noted by triggers (`migrations/sql/0012_tellings.sql`). Without
    unique keys, and without a foreign key that would lock the entity, so that nobody who writes here waits for anybody.
    """

    __tablename__ = "descriptions_due"

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    n: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    entity_id: Mapped[uuid.UUID]
