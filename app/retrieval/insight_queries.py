"""Statements of level insight: reports of communities, and which of the cards behind them are there."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.retrieval.insight_people import Person, person_of
from app.retrieval.insight_reports import Report, report_of
from app.retrieval.queries import PACKAGE, SpaceRow, conditions_of
from app.retrieval.types import Filters

_ANY = "true"


async def has_reports(session: AsyncSession, workspace_id: uuid.UUID) -> bool:
    connection = await raw(session)
    return bool(await connection.fetchval("SELECT EXISTS (SELECT FROM reports WHERE workspace_id = $1)", workspace_id))


async def is_behind(session: AsyncSession, workspace_id: uuid.UUID) -> bool:
    """Whether the graph has changed since its communities were made."""
    connection = await raw(session)
    return bool(
        await connection.fetchval("SELECT EXISTS (SELECT FROM community_changes WHERE workspace_id = $1)", workspace_id)
    )


async def list_near(
    session: AsyncSession, workspace_id: uuid.UUID, space: SpaceRow, vector: npt.NDArray[np.float32], limit: int
) -> dict[uuid.UUID, dict[int, float]]:
    """Cosine distances of the nearest texts of reports: by report, then by role."""
    rows = await (await raw(session)).fetch(
        load(PACKAGE, "insight_near"), workspace_id, space.id, HalfVector(vector), limit
    )
    found: dict[uuid.UUID, dict[int, float]] = {}
    for row in rows:
        found.setdefault(row["report_id"], {})[row["role"]] = row["distance"]
    return found


async def list_reports(
    session: AsyncSession, workspace_id: uuid.UUID, ids: Iterable[uuid.UUID], docs: Sequence[int]
) -> list[Report]:
    """Reports by id or by doc, in no particular order."""
    rows = await (await raw(session)).fetch(load(PACKAGE, "insight_reports"), workspace_id, list(ids), list(docs))
    return [report_of(row) for row in rows]


async def list_themes(session: AsyncSession, workspace_id: uuid.UUID, most: int, divided: int) -> list[Report]:
    """Reports on the `most` largest communities of the top level, and on the parts of the `divided` largest."""
    rows = await (await raw(session)).fetch(load(PACKAGE, "insight_themes"), workspace_id, most, divided)
    return [report_of(row) for row in rows]


async def list_people(session: AsyncSession, workspace_id: uuid.UUID, most: int) -> list[Person]:
    """Those whom most cards name first."""
    rows = await (await raw(session)).fetch(load(PACKAGE, "insight_people"), workspace_id, most)
    return [person_of(row) for row in rows]


async def list_there(
    session: AsyncSession, workspace_id: uuid.UUID, card_ids: Iterable[uuid.UUID], filters: Filters
) -> set[uuid.UUID]:
    """Those of the cards that may be shown."""
    conditions, values = conditions_of(filters, 3)
    statement = load(PACKAGE, "insight_cards").replace("{conditions}", conditions or _ANY)
    rows = await (await raw(session)).fetch(statement, workspace_id, list(card_ids), *values)
    return {row["id"] for row in rows}
