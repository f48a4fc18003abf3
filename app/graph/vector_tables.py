"""Vectors of the graph's texts, one table per owner, all of one shape.

A row is the vector of one text in one embedding space; `role` says which text of its owner it is. Rows
cascade from their owner. Equal texts share a `text_hash`, and are never embedded twice.
"""

from __future__ import annotations

import uuid
from enum import IntEnum
from typing import Any

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import ForeignKeyConstraint, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base


class TextRole(IntEnum):
    """Which text of its owner a vector stands for."""

    own = 0
    """Episode: title and summary. Facet: title. Point: the bare claim. Entity: name, aliases, description.
    Relation: the sentence. Role: "name | role"."""
    description = 1
    """Facet only."""
    edge = 2
    """Facet: "title: description". Point: "facet → claim"."""


class VectorRow:
    """Mixin of the vector tables."""

    workspace_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    owner_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    space_id: Mapped[int] = mapped_column(primary_key=True)
    role: Mapped[int] = mapped_column(primary_key=True)
    text_hash: Mapped[uuid.UUID]
    dense: Mapped[Any] = mapped_column(HALFVEC)


def _args(table: str, owners: str) -> tuple[ForeignKeyConstraint, Index]:
    return (
        ForeignKeyConstraint(
            ["workspace_id", "owner_id"], [f"{owners}.workspace_id", f"{owners}.id"], ondelete="CASCADE"
        ),
        Index(f"ix_{table}_text_hash", "workspace_id", "space_id", "text_hash"),
    )


class EpisodeVector(VectorRow, Base):
    __tablename__ = "episode_vectors"
    __table_args__ = _args(__tablename__, "episodes")


class FacetVector(VectorRow, Base):
    __tablename__ = "facet_vectors"
    __table_args__ = _args(__tablename__, "facets")


class PointVector(VectorRow, Base):
    __tablename__ = "point_vectors"
    __table_args__ = _args(__tablename__, "points")


class EntityVector(VectorRow, Base):
    __tablename__ = "entity_vectors"
    __table_args__ = (
        *_args(__tablename__, "entities"),
        Index(
            "ix_entity_vectors_described", "workspace_id", "space_id", "owner_id", postgresql_where=text("described")
        ),
    )

    described: Mapped[bool] = mapped_column(
        server_default=text("false"), comment="The text says more than names: only then newcomers are compared with it"
    )


class RelationVector(VectorRow, Base):
    __tablename__ = "relation_vectors"
    __table_args__ = _args(__tablename__, "relations")


class RoleVector(VectorRow, Base):
    __tablename__ = "role_vectors"
    __table_args__ = _args(__tablename__, "roles")


class ReportVector(VectorRow, Base):
    """Of a community's report: `role` 0 is its title and summary, n its n-th finding."""

    __tablename__ = "report_vectors"
    __table_args__ = _args(__tablename__, "reports")


VECTOR_TABLES = (EpisodeVector, FacetVector, PointVector, EntityVector, RelationVector, RoleVector, ReportVector)
