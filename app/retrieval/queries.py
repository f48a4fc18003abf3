"""Retrieval's statements: parameters in, rows out. Each runs in the caller's short read session."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector, SparseVector
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.index.postings import Subset, Totals
from app.retrieval.types import Filters

PACKAGE = "app.retrieval"

Docs = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """The embedding space that search reads, as the database knows it."""

    id: int
    key: str
    dimension: int
    sparse: bool
    indexed: bool


async def find_space(session: AsyncSession) -> SpaceRow | None:
    """The current space and whether its vector index is usable."""
    row = (
        await session.execute(
            text(
                "SELECT s.id, s.key, s.dimension, s.sparse, EXISTS ("
                "  SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
                "  WHERE c.relname = 'ix_windows_hnsw_' || s.id AND i.indisvalid) AS indexed "
                "FROM embedding_spaces s WHERE s.is_current"
            )
        )
    ).one_or_none()
    return SpaceRow(*row) if row else None


async def count_windows(session: AsyncSession, workspace_id: uuid.UUID, up_to: int) -> int:
    """Windows of a workspace, counted no further than `up_to`."""
    counted = await session.scalar(
        text("SELECT count(*) FROM (SELECT 1 FROM windows WHERE workspace_id = :workspace LIMIT :limit) AS w"),
        {"workspace": workspace_id, "limit": up_to},
    )
    return int(counted or 0)


async def count_stale_cards(session: AsyncSession, workspace_id: uuid.UUID) -> int:
    """Cards whose newest text is not searchable yet."""
    counted = await session.scalar(
        text(
            "SELECT count(*) FROM cards WHERE workspace_id = :workspace AND state IN ('queued', 'working', 'failed') "
            "AND trashed_at IS NULL"
        ),
        {"workspace": workspace_id},
    )
    return int(counted or 0)


# Each filter with its condition; `$` is the place of its value.
_CONDITIONS = ("c.tags @> $", "c.id = ANY ($)", "c.created_at >= $", "c.created_at < $", "c.metadata @> $::jsonb")


def _values(filters: Filters) -> list[Any]:
    """What the conditions compare with, null where a filter is not given."""
    return [
        list(filters.tags) or None,
        list(filters.card_ids) or None,
        filters.created_after,
        filters.created_before,
        json.dumps(dict(filters.metadata), ensure_ascii=False) if filters.metadata else None,
    ]


async def get_subset(session: AsyncSession, workspace_id: uuid.UUID, filters: Filters) -> Subset:
    """The chunks whose cards pass the filters (one at least), as a collection of its own."""
    given = [pair for pair in zip(_CONDITIONS, _values(filters), strict=True) if pair[1] is not None]
    conditions = " AND ".join(condition.replace("$", f"${place}") for place, (condition, _) in enumerate(given, 2))
    row = await (await raw(session)).fetchrow(
        load(PACKAGE, "subset").replace("{conditions}", conditions), workspace_id, *(value for _, value in given)
    )
    totals = Totals(row["chunks"], row["words"], row["gram_chunks"], row["grams"])
    return Subset(np.sort(np.frombuffer(row["docs"], ">i8").astype(np.uint32)), totals)


async def list_by_words(
    session: AsyncSession, workspace_id: uuid.UUID, tsquery: str, limit: int, allowed: Docs | None
) -> list[tuple[int, float]]:
    """Docs and scores from the full text of record, for a workspace without postings."""
    rows = await (await raw(session)).fetch(
        load(PACKAGE, "words_only"), workspace_id, tsquery, limit, None if allowed is None else allowed.tolist()
    )
    return [(row["doc"], row["score"]) for row in rows]


@dataclass(frozen=True, slots=True)
class PoolRequest:
    """`dense` None: no question vector. `approximate`: through the vector index, where `filters` are asked of
    each window; else they are the `allowed` docs.
    """

    space: SpaceRow
    dense: npt.NDArray[np.float32] | None
    sparse: dict[int, float] | None
    sparse_dimension: int
    lexical_docs: Sequence[int]
    filters: Filters
    allowed: Docs | None
    each: int
    rrf_k: int
    windows: int
    approximate: bool
    ef_search: int


def pool_statement(request: PoolRequest) -> str:
    """The recall statement, put together from its legs."""
    allowed = "" if request.allowed is None else "allowed_cards" if request.approximate else "allowed_chunks"
    dense = "no_windows" if request.dense is None else "dense_hnsw" if request.approximate else "dense_exact"
    sparse = "no_windows" if request.sparse is None else "sparse"
    statement = load(PACKAGE, "pool")
    for name, part in (("dense", dense), ("sparse", sparse), ("allowed", allowed)):
        statement = _put(statement, name, load(PACKAGE, part) if part else "")
    space = request.space
    return statement.replace("{space}", str(int(space.id))).replace("{dimension}", str(int(space.dimension)))


def _put(statement: str, name: str, part: str) -> str:
    """Replace a placeholder that stands on a line of its own (the headers name it too)."""
    return re.sub(rf"^ *{{{name}}}$", lambda _: part, statement, flags=re.MULTILINE)


async def list_pool(session: AsyncSession, workspace_id: uuid.UUID, request: PoolRequest) -> list[Any]:
    """All pooled chunks with ranks, RRF score and exact distance, in one statement."""
    connection = await raw(session)
    if request.approximate:
        await connection.execute(
            f"SET LOCAL hnsw.iterative_scan = strict_order; SET LOCAL hnsw.ef_search = {int(request.ef_search)}"
        )
    rows: list[Any] = await connection.fetch(
        pool_statement(request),
        workspace_id,
        HalfVector(request.dense) if request.dense is not None else None,
        request.each,
        list(request.lexical_docs),
        request.rrf_k,
        None if request.allowed is None or request.approximate else request.allowed.tolist(),
        request.windows,
        SparseVector(request.sparse, request.sparse_dimension) if request.sparse is not None else None,
        *_values(request.filters),
    )
    return rows


async def list_chunks(session: AsyncSession, workspace_id: uuid.UUID, chunk_ids: Sequence[uuid.UUID]) -> list[Any]:
    """Chunks with their cards, in no particular order."""
    rows: list[Any] = await (await raw(session)).fetch(load(PACKAGE, "hydrate"), workspace_id, list(chunk_ids))
    return rows
