"""Alembic's view of the database: imports every room's tables, so that `metadata` holds them all."""

from __future__ import annotations

from sqlalchemy import PrimaryKeyConstraint, UniqueConstraint

from app.db.base import Base

metadata = Base.metadata


def index_names() -> set[str]:
    """Every index that the tables declare, those of primary keys and unique constraints included."""
    names = {str(index.name) for table in metadata.tables.values() for index in table.indexes}
    for table in metadata.tables.values():
        for constraint in table.constraints:
            if isinstance(constraint, PrimaryKeyConstraint | UniqueConstraint):
                names.add(str(constraint.name))
    return names
