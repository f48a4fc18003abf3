"""Writing the vectors of the graph's texts. Knows nothing of what the texts say, or of how vectors are made."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from pgvector import HalfVector
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.graph.vector_tables import (
    EntityVector,
    EpisodeVector,
    FacetVector,
    PointVector,
    RelationVector,
    ReportVector,
    RoleVector,
)
from app.providers.ports import Vector

VectorTable = type[
    EpisodeVector | FacetVector | PointVector | EntityVector | RelationVector | RoleVector | ReportVector
]


@dataclass(frozen=True, slots=True)
class VectorEntry:
    """`dense`: float32 of unit norm and of the space's dimension, the vector of one text of `owner_id`; `role`: which
    (`TextRole`; of reports the number of the finding); `described`: of an entity, whether its text is more than names.
    """

    owner_id: uuid.UUID
    role: int
    text_hash: uuid.UUID
    dense: Vector
    described: bool = False


async def insert_vectors(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space_id: int,
    table: VectorTable,
    rows: Sequence[VectorEntry],
) -> None:
    """Write new vectors by COPY, after their owners."""
    columns = ["workspace_id", "owner_id", "space_id", "role", "text_hash", "dense"]
    records: list[tuple[object, ...]] = [
        (workspace_id, row.owner_id, space_id, int(row.role), row.text_hash, HalfVector(row.dense)) for row in rows
    ]
    if not records:
        return
    if table is EntityVector:
        columns.append("described")
        records = [(*record, row.described) for record, row in zip(records, rows, strict=True)]
    connection = await raw(session)
    await connection.copy_records_to_table(table.__tablename__, columns=columns, records=records)
