"""Tables of the cone: episode ← facet ← point, and the roles of entities in them.

An episode has one or more cards and lives as long as it has one (trigger of `migrations/sql/0002_graph.sql`);
facets, points and roles belong to one card and cascade from it.
"""

from __future__ import annotations

import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, Text, text
from sqlalchemy.dialects.postgresql import TSTZRANGE, Range
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Tenant
from app.graph.tables import Lexical


class Episode(Tenant, Created, Lexical, Base):
    """A bounded event or topic: what a reader gets. `happened` is what it is about in time.

    One that goes on where another stopped, told by another card, points at it by `joined_to`, one step, never a chain:
    both keep their own rows, so that either card can go.
    """

    __tablename__ = "episodes"
    __table_args__ = (
        Index("uq_episodes_external_id", "workspace_id", "external_id", unique=True),
        Index("uq_episodes_doc", "workspace_id", "doc", unique=True),
        Index("ix_episodes_happened", "happened", postgresql_using="gist"),
        ForeignKeyConstraint(
            ["workspace_id", "joined_to"],
            ["episodes.workspace_id", "episodes.id"],
            ondelete="SET NULL (joined_to)",
        ),
        Index("ix_episodes_joined_to", "workspace_id", "joined_to", postgresql_where=text("joined_to IS NOT NULL")),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    external_id: Mapped[str | None] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    title_key: Mapped[str] = mapped_column(Text)
    summary: Mapped[str] = mapped_column(Text)
    happened: Mapped[Range[datetime] | None] = mapped_column(TSTZRANGE)
    origin: Mapped[str] = mapped_column(Text, comment="own, or posted by a caller")
    joined_to: Mapped[uuid.UUID | None]


class EpisodeCard(Base):
    """Which cards an episode is told by."""

    __tablename__ = "episode_cards"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "episode_id"], ["episodes.workspace_id", "episodes.id"], ondelete="CASCADE"
        ),
        ForeignKeyConstraint(["workspace_id", "card_id"], ["cards.workspace_id", "cards.id"], ondelete="CASCADE"),
        Index("ix_episode_cards_card_id", "workspace_id", "card_id"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    episode_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    card_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    ordinal: Mapped[int] = mapped_column(comment="place among the card's episodes")


class Facet(Tenant, Lexical, Base):
    """One section of an episode, told by one card."""

    __tablename__ = "facets"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "episode_id", "card_id"],
            ["episode_cards.workspace_id", "episode_cards.episode_id", "episode_cards.card_id"],
            ondelete="CASCADE",
        ),
        Index("ix_facets_episode_id", "workspace_id", "episode_id", "card_id"),
        Index("uq_facets_doc", "workspace_id", "doc", unique=True),
    )

    episode_id: Mapped[uuid.UUID]
    card_id: Mapped[uuid.UUID]
    ordinal: Mapped[int]
    title: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text)
    start: Mapped[int | None]
    end: Mapped[int | None]
    happened: Mapped[Range[datetime] | None] = mapped_column(TSTZRANGE)


class Point(Tenant, Lexical, Base):
    """One atomic claim. `start` and `end` are offsets into the card's content.

    `claim_key` is there for claims of a kind that only one can be true at a time: equal for the same subject and
    attribute, whatever the `claim_value`. `valid_during` and `superseded_by` follow from it, from the dates of the
    cards, and from nothing else: `claims_settle` of `migrations/sql/0002_graph.sql`.
    """

    __tablename__ = "points"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "facet_id"], ["facets.workspace_id", "facets.id"], ondelete="CASCADE"),
        Index("ix_points_facet_id", "workspace_id", "facet_id"),
        Index("ix_points_episode_id", "workspace_id", "episode_id"),
        Index("ix_points_card_id", "workspace_id", "card_id"),
        Index("uq_points_doc", "workspace_id", "doc", unique=True),
        Index("ix_points_claim_key", "workspace_id", "claim_key", postgresql_where=text("claim_key IS NOT NULL")),
    )

    facet_id: Mapped[uuid.UUID]
    episode_id: Mapped[uuid.UUID]
    card_id: Mapped[uuid.UUID]
    chunk_id: Mapped[uuid.UUID | None] = mapped_column(
        comment="the chunk where it stands; replaced with its card's rows"
    )
    ordinal: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    start: Mapped[int | None]
    end: Mapped[int | None]
    speaker: Mapped[str | None] = mapped_column(Text)
    happened: Mapped[Range[datetime] | None] = mapped_column(TSTZRANGE)
    valid_during: Mapped[Range[datetime] | None] = mapped_column(TSTZRANGE)
    superseded_by: Mapped[uuid.UUID | None]
    claim_key: Mapped[uuid.UUID | None]
    claim_value: Mapped[str | None] = mapped_column(Text)


class PointEntity(Base):
    """Whom a claim is about."""

    __tablename__ = "point_entities"
    __table_args__ = (
        ForeignKeyConstraint(["workspace_id", "point_id"], ["points.workspace_id", "points.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["workspace_id", "entity_id"], ["entities.workspace_id", "entities.id"], ondelete="CASCADE"
        ),
        Index("ix_point_entities_entity_id", "workspace_id", "entity_id"),
    )

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    point_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    entity_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)


class Role(Tenant, Lexical, Base):
    """What an entity is or does in an episode, or in one facet of it; the edge's text is "name | role"."""

    __tablename__ = "roles"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace_id", "episode_id", "card_id"],
            ["episode_cards.workspace_id", "episode_cards.episode_id", "episode_cards.card_id"],
            ondelete="CASCADE",
        ),
        ForeignKeyConstraint(["workspace_id", "facet_id"], ["facets.workspace_id", "facets.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["workspace_id", "entity_id"], ["entities.workspace_id", "entities.id"], ondelete="CASCADE"
        ),
        Index("ix_roles_entity_id", "workspace_id", "entity_id"),
        Index("ix_roles_episode_id", "workspace_id", "episode_id", "card_id"),
        Index("ix_roles_facet_id", "workspace_id", "facet_id"),
        Index("uq_roles_doc", "workspace_id", "doc", unique=True),
    )

    entity_id: Mapped[uuid.UUID]
    episode_id: Mapped[uuid.UUID]
    facet_id: Mapped[uuid.UUID | None]
    card_id: Mapped[uuid.UUID]
    text: Mapped[str] = mapped_column(Text)
