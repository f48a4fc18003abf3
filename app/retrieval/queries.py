"""Retrieval's statements: parameters in, rows out. Each runs in the caller's short read session."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector, SparseVector
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.db.together import Part
from app.index.postings import Subset, Totals
from app.retrieval.scripts import han_from
from app.retrieval.types import Filters

PACKAGE = "app.retrieval"

Docs = npt.NDArray[np.uint32]

_SETTINGS = text(load(PACKAGE, "pool_settings").replace("$1::text", "CAST(:ef_search AS text)"))


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """The embedding space that search reads, as the database knows it."""

    id: int
    key: str
    dimension: int
    sparse: bool
    indexed: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """What a search in a workspace works with; no `space` before the first embedder was there."""

    space: SpaceRow | None
    stale_cards: int


async def get_scope(session: AsyncSession, workspace_id: uuid.UUID, most_stale: int = 10_000) -> Scope:
    """The current space, and cards whose newest text is not searchable yet, counted no further than `most_stale`."""
    part = scope_part(workspace_id, most_stale)
    return scope_of(await (await raw(session)).fetchrow(part.statement, *part.values))


def scope_part(workspace_id: uuid.UUID, most_stale: int = 10_000) -> Part:
    """What `get_scope` asks; one row."""
    columns = (
        ("id", "bigint"),
        ("key", "text"),
        ("dimension", "int"),
        ("sparse", "bool"),
        ("indexed", "bool"),
        ("stale_cards", "bigint"),
    )
    return Part(load(PACKAGE, "scope"), columns, (workspace_id, most_stale))


def scope_of(row: Any) -> Scope:
    space = None
    if row["id"] is not None:
        space = SpaceRow(row["id"], row["key"], row["dimension"], row["sparse"], row["indexed"])
    return Scope(space, row["stale_cards"])


async def settle(session: AsyncSession, ef_search: int) -> None:
    """Plans by look-up for what is asked after this, until the transaction ends."""
    if session.in_transaction():
        await (await raw(session)).fetch(load(PACKAGE, "pool_settings"), str(ef_search))
    else:
        # The transaction begins with it: a round trip less.
        await session.execute(_SETTINGS, {"ef_search": str(ef_search)})


def offer_part(workspace_id: uuid.UUID) -> Part:
    """Whether there is anything to look for, learned already or not; whether any of it is in the cone; whether there
    are reports on it; how many passages its cards hold, and the share of those in Chinese. One row.
    """
    flags = (("has_cards", "bool"), ("has_cone", "bool"), ("has_reports", "bool"))
    columns = (*flags, ("passages", "float8"), ("han", "float8"))
    return Part(load(PACKAGE, "offer"), columns, (workspace_id,))


async def count_windows(session: AsyncSession, workspace_id: uuid.UUID, space_id: int, up_to: int) -> int:
    """Windows of a workspace in a space, counted no further than `up_to`."""
    counted = await session.scalar(
        text(
            "SELECT count(*) FROM (SELECT 1 FROM windows "
            "WHERE workspace_id = :workspace AND space_id = :space LIMIT :limit) AS w"
        ),
        {"workspace": workspace_id, "space": space_id, "limit": up_to},
    )
    return int(counted or 0)


async def estimate_windows(session: AsyncSession) -> int:
    """Windows of all workspaces, as the planner believes."""
    estimated = await session.scalar(text("SELECT reltuples FROM pg_class WHERE oid = 'windows'::regclass"))
    return max(int(estimated or 0), 0)


# Each filter with its condition; `$` is the place of its value.
_CONDITIONS = ("c.tags @> $", "c.id = ANY ($)", "c.created_at >= $", "c.created_at < $", "c.metadata @> $::jsonb")


def filter_values(filters: Filters) -> list[Any]:
    """What the conditions compare with, null where a filter is not given."""
    return [
        list(filters.tags) or None,
        list(filters.card_ids) or None,
        filters.created_after,
        filters.created_before,
        json.dumps(dict(filters.metadata), ensure_ascii=False) if filters.metadata else None,
    ]


def conditions_of(filters: Filters, first: int) -> tuple[str, list[Any]]:
    """The conditions of the given filters, on a row `c` of cards, and their values, which stand from $`first` on."""
    given = [pair for pair in zip(_CONDITIONS, filter_values(filters), strict=True) if pair[1] is not None]
    told = " AND ".join(condition.replace("$", f"${place}") for place, (condition, _) in enumerate(given, first))
    return told, [value for _, value in given]


async def find_subset(
    session: AsyncSession, workspace_id: uuid.UUID, filters: Filters, most_cards: int
) -> Subset | None:
    """The chunks whose cards pass the filters (one at least), as a collection of its own. None when more cards pass."""
    conditions, values = conditions_of(filters, 3)
    row = await (await raw(session)).fetchrow(
        load(PACKAGE, "subset").replace("{conditions}", conditions),
        workspace_id,
        most_cards,
        *values,
    )
    if row["cards"] > most_cards:
        return None
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
    """`dense` None: no question vector. `approximate`: through the vector index. `allowed`: the docs that `filters`
    let pass, where they are few; without it the filters are asked of one row after the other. `other_han`: the nearest
    windows of this script alone (True: Han) are recalled as well, where windows are compared one by one.
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
    other_han: bool | None = None

    @property
    def lexical_chunks(self) -> int:
        return 2 * self.each


def pool_statement(request: PoolRequest) -> str:
    """The recall statement, put together from its legs."""
    few = request.allowed is not None
    return _pool_statement(
        request.space.id,
        request.space.dimension,
        "no_windows" if request.dense is None else "dense_hnsw" if request.approximate else "dense_exact",
        "no_windows" if request.sparse is None else "sparse",
        "only_chunks" if few else "",
        "only_cards" if request.filters and not few else "",
        request.other_han if request.dense is not None and not request.approximate else None,
    )


@cache
def _pool_statement(
    space_id: int, dimension: int, dense: str, sparse: str, few: str, many: str, other_han: bool | None
) -> str:
    parts = {"other_chunks": "", "dense": dense, "other": "no_windows", "sparse": sparse}
    if other_han is not None:
        parts |= {"other_chunks": "other_chunks", "other": "no_windows" if many else "dense_other"}
        parts |= {"passage": "passage_in_han" if other_han else "passage_without_han"}
    parts |= {"few": few, "many": many}
    loaded = {name: load(PACKAGE, part) if part else "" for name, part in parts.items()}
    in_other = "false" if other_han is None else "p.chunk_id IN (SELECT id FROM other_chunks)"
    statement = filled(load(PACKAGE, "pool"), **loaded, in_other=f"{in_other} AS in_other")
    statement = statement.replace("{percent}", str(2 * han_from(not other_han)))
    return statement.replace("{space}", str(int(space_id))).replace("{dimension}", str(int(dimension)))


def filled(statement: str, **parts: str) -> str:
    """Replace placeholders that stand on a line of their own (the headers name them too), with the row each is about.
    One after the other: a part may hold those that come after it.
    """
    for name, part in parts.items():
        statement = _put(statement, name, part)
    return statement


def _put(statement: str, name: str, part: str) -> str:
    line = rf"^ *{{{name}(?:: (\S+))?}}$"
    return re.sub(line, lambda match: part.replace("{row}", match[1] or ""), statement, flags=re.MULTILINE)


async def list_pool(session: AsyncSession, workspace_id: uuid.UUID, request: PoolRequest) -> list[Any]:
    """All pooled chunks with ranks, RRF score and exact distance, in one statement."""
    await settle(session, request.ef_search)
    part = pool_part(workspace_id, request)
    rows: list[Any] = await (await raw(session)).fetch(part.statement, *part.values)
    return rows


def pool_part(workspace_id: uuid.UUID, request: PoolRequest) -> Part:
    """What `list_pool` asks, once the session is settled."""
    columns = (
        ("card_id", "uuid"),
        ("dense_rank", "bigint"),
        ("lexical_rank", "bigint"),
        ("sparse_rank", "bigint"),
        ("rrf", "float8"),
        ("chunk_id", "uuid"),
        ("doc", "bigint"),
        ("distance", "float8"),
        ("start", "int"),
        ("end", "int"),
        ("in_other", "bool"),
    )
    values = (
        workspace_id,
        HalfVector(request.dense) if request.dense is not None else None,
        request.each,
        list(request.lexical_docs),
        request.rrf_k,
        None if request.allowed is None else request.allowed.tolist(),
        request.windows,
        SparseVector(request.sparse, request.sparse_dimension) if request.sparse is not None else None,
        *filter_values(request.filters),
        request.lexical_chunks,
    )
    return Part(pool_statement(request), columns, values)


async def list_chunks(session: AsyncSession, workspace_id: uuid.UUID, chunk_ids: Sequence[uuid.UUID]) -> list[Any]:
    """Chunks with their cards, in no particular order."""
    part = chunks_part(workspace_id, chunk_ids)
    rows: list[Any] = await (await raw(session)).fetch(part.statement, *part.values)
    return rows


def chunks_part(workspace_id: uuid.UUID, chunk_ids: Sequence[uuid.UUID]) -> Part:
    """What `list_chunks` asks."""
    columns = (
        ("chunk_id", "uuid"),
        ("text", "text"),
        ("start", "int"),
        ("end", "int"),
        ("card_id", "uuid"),
        ("title", "text"),
        ("external_id", "text"),
        ("created_at", "timestamptz"),
        ("tags", "text[]"),
    )
    return Part(load(PACKAGE, "hydrate"), columns, (workspace_id, list(chunk_ids)))
