"""Alembic's view of the database: imports every room's tables, so that `metadata` holds them all."""

from __future__ import annotations

from sqlalchemy import PrimaryKeyConstraint, UniqueConstraint

from app.cards import tables as cards
from app.chat import branch_tables as branches
from app.chat import reflection_tables as reflections
from app.chat import tables as chat
from app.db.base import Base
from app.graph import community_tables as communities
from app.graph import cone_tables as cone
from app.graph import tables as graph
from app.graph import vector_tables as vectors
from app.index import lexical_tables as lexical
from app.index import tables as index
from app.ingestion import tables as ingestion
from app.jobs import tables as jobs
from app.memory import tables as memory
from app.people import tables as people
from app.transfer import tables as transfer
from app.vault import tables as vault

ROOMS = (
    people,
    cards,
    index,
    lexical,
    graph,
    cone,
    communities,
    vectors,
    ingestion,
    jobs,
    transfer,
    chat,
    branches,
    memory,
    reflections,
    vault,
)
"""Whose tables there are; importing them is what declares them."""

metadata = Base.metadata


def index_names() -> set[str]:
    """Every index that the tables declare, those of primary keys and unique constraints included."""
    names = {str(index.name) for table in metadata.tables.values() for index in table.indexes}
    for table in metadata.tables.values():
        for constraint in table.constraints:
            if isinstance(constraint, PrimaryKeyConstraint | UniqueConstraint):
                names.add(str(constraint.name))
    return names
