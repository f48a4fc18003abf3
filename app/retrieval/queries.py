"""Retrieval's statements: parameters in, rows out. Each runs in the caller's short read session."""

from __future__ import annotations

import json
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


async def get_subset(session: AsyncSession, workspace_id: uuid.UUID, filters: Filters) -> Subset:
    """The chunks whose cards pass the filters, as a collection of its own."""
    row = await (await raw(session)).fetchrow(
        load(PACKAGE, "allowed_docs"),
        workspace_id,
        list(filters.tags) or None,
        list(filters.card_ids) or None,
        filters.created_after,
        filters.created_before,
        json.dumps(dict(filters.metadata), ensure_ascii=False) if filters.metadata else None,
    )
    totals = Totals(row["chunks"], row["words"], row["gram_chunks"], row["grams"])
    return Subset(np.asarray(row["docs"], dtype=np.uint32), totals)


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
    """`dense` None: no question vector. `approximate`: through the vector index."""

    space: SpaceRow
    dense: npt.NDArray[np.float32] | None
    sparse: dict[int, float] | None
    sparse_dimension: int
    lexical_docs: Sequence[int]
    allowed: Docs | None
    each: int
    rrf_k: int
    windows: int
    approximate: bool
    ef_search: int


def pool_statement(space: SpaceRow, *, dense: bool, sparse: bool, approximate: bool) -> str:
    """The recall statement, put together from its legs."""
    legs = {"space": str(int(space.id)), "dimension": str(int(space.dimension))}
    dense_name = "dense_none" if not dense else "dense_hnsw" if approximate else "dense_exact"
    statement = load(PACKAGE, "pool")
    statement = _put(load(PACKAGE, "pool"), "{dense}", load(PACKAGE, dense_name))
    statement = _put(statement, "{sparse}", load(PACKAGE, "sparse" if sparse else "sparse_none"))
    for key, value in legs.items():
        statement = statement.replace("{" + key + "}", value)
    return statement


def _put(statement: str, name: str, leg: str) -> str:
    """Replace a placeholder that stands on a line of its own (the file's header names it too)."""
    return statement.replace(f"(\n{name}\n)", f"(\n{leg})")


async def list_pool(session: AsyncSession, workspace_id: uuid.UUID, request: PoolRequest) -> list[Any]:
    """All pooled chunks with ranks, RRF score and exact distance, in one statement."""
    connection = await raw(session)
    if request.approximate:
        await connection.execute(
            f"SET LOCAL hnsw.iterative_scan = strict_order; SET LOCAL hnsw.ef_search = {int(request.ef_search)}"
        )
    statement = pool_statement(
        request.space,
        dense=request.dense is not None,
        sparse=request.sparse is not None,
        approximate=request.approximate,
    )
    rows: list[Any] = await connection.fetch(
        statement,
        workspace_id,
        HalfVector(request.dense) if request.dense is not None else None,
        request.each,
        list(request.lexical_docs),
        request.rrf_k,
        None if request.allowed is None else request.allowed.tolist(),
        request.windows,
        SparseVector(request.sparse, request.sparse_dimension) if request.sparse is not None else None,
    )
    return rows


async def list_chunks(session: AsyncSession, workspace_id: uuid.UUID, chunk_ids: Sequence[uuid.UUID]) -> list[Any]:
    """Chunks with their cards, in no particular order."""
    rows: list[Any] = await (await raw(session)).fetch(load(PACKAGE, "hydrate"), workspace_id, list(chunk_ids))
    return rows
