"""Statements of filling another embedding space: what is missing there, its texts, and the rows that fill it.

A chunk never changes, so it has its windows there or has not. Texts of the graph do change: the current space is the
measure, and of every vector in it there has to be one of the same text, by its hash, in the other.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pgvector import HalfVector, SparseVector
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.graph.vector_tables import VECTOR_TABLES
from app.index.rows import StoredVector, WindowRow
from app.providers.ports import EmbeddingSpace

PACKAGE: Final = "app.ingestion"
NIL: Final = uuid.UUID(int=0)
TABLES: Final = tuple(table.__tablename__ for table in VECTOR_TABLES)
"""Where the vectors of the graph are."""


@dataclass(frozen=True, slots=True)
class Pair:
    """From the space that search reads to the one that is being filled."""

    current_id: int
    filling_id: int


@dataclass(frozen=True, slots=True)
class ChunkText:
    """A chunk as its windows are made from it; `waits` says that its windows are missing."""

    id: uuid.UUID
    start: int
    end: int
    text: str
    heading: str
    waits: bool


@dataclass(frozen=True, slots=True)
class CardChunks:
    card_id: uuid.UUID
    title: str
    chunks: Sequence[ChunkText]


@dataclass(frozen=True, slots=True)
class OwnerText:
    """A text of the graph whose vector is missing. `text_hash` is what the current space says of it; `parts` are the
    owner's columns from which the text is made.
    """

    owner_id: uuid.UUID
    role: int
    text_hash: uuid.UUID
    parts: Sequence[Any]


Place = tuple[uuid.UUID, int]
"""Owner and role: where a row stands in its table."""
FIRST: Final[Place] = (NIL, -1)


# ------------------------------------------------------------------------------- what is missing


async def list_workspaces(session: AsyncSession) -> list[uuid.UUID]:
    return list((await session.scalars(text("SELECT id FROM workspaces ORDER BY id"))).all())


async def count_missing_chunks(session: AsyncSession, workspace_id: uuid.UUID, space_id: int, up_to: int) -> int:
    """Chunks without windows in a space, counted no further than `up_to`."""
    return int(
        await (await raw(session)).fetchval(load(PACKAGE, "reembed_count_chunks"), workspace_id, space_id, up_to)
    )


async def count_missing_texts(
    session: AsyncSession, workspace_id: uuid.UUID, table: str, pair: Pair, up_to: int
) -> int:
    """Texts of one of the graph's tables without their vector there, counted no further than `up_to`."""
    statement = load(PACKAGE, "reembed_count_texts").replace("{vectors}", _known(table))
    return int(await (await raw(session)).fetchval(statement, workspace_id, pair.current_id, pair.filling_id, up_to))


async def list_cards(
    session: AsyncSession, workspace_id: uuid.UUID, space_id: int, after: uuid.UUID, most_chunks: int
) -> list[CardChunks]:
    """The next cards, by id, that have chunks without windows in a space, about `most_chunks` of these; every chunk of
    each card.
    """
    rows = await (await raw(session)).fetch(load(PACKAGE, "reembed_cards"), workspace_id, space_id, after, most_chunks)
    cards: dict[uuid.UUID, tuple[str, list[ChunkText]]] = {}
    for row in rows:
        chunk = ChunkText(row["id"], row["start"], row["end"], row["text"], row["heading"], row["waits"])
        cards.setdefault(row["card_id"], (row["title"], []))[1].append(chunk)
    return [CardChunks(card_id, title, chunks) for card_id, (title, chunks) in cards.items()]


async def list_texts(
    session: AsyncSession, workspace_id: uuid.UUID, table: str, pair: Pair, after: Place, most: int
) -> list[OwnerText]:
    """The next texts of a table whose vector is missing, or is of another text, by owner and role."""
    # The header names the placeholder, too.
    statement = load(PACKAGE, "reembed_texts").replace("\n{parts}\n", f"\n{_parts(table)}\n")
    statement = statement.replace("{vectors}", _known(table))
    rows = await (await raw(session)).fetch(
        statement, workspace_id, pair.current_id, pair.filling_id, after[0], after[1], most
    )
    return [OwnerText(row["owner_id"], row["role"], row["text_hash"], row["parts"]) for row in rows]


async def list_parts(
    session: AsyncSession, workspace_id: uuid.UUID, table: str, owner_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, Sequence[Any]]:
    """What the texts of these owners are made from, as it is now."""
    rows = await (await raw(session)).fetch(
        f"SELECT v.owner_id, parts.parts FROM unnest($2::uuid[]) AS v (owner_id)\n{_parts(table)}",  # noqa: S608
        workspace_id,
        list(owner_ids),
    )
    return {row["owner_id"]: row["parts"] for row in rows}


# ----------------------------------------------------------------------------------------- filling


async def insert_windows(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space: tuple[int, EmbeddingSpace],
    windows: Mapping[uuid.UUID, Sequence[WindowRow]],
    vectors: Mapping[uuid.UUID, StoredVector],
) -> None:
    """Windows by chunk; of a chunk that is gone, or has them by now, nothing is written."""
    space_id, described = space
    rows = [(chunk, at, window) for chunk, several in windows.items() for at, window in enumerate(several)]
    stored = [vectors[window.text_hash] for _, _, window in rows]
    await (await raw(session)).execute(
        load(PACKAGE, "reembed_insert_windows"),
        workspace_id,
        space_id,
        [chunk for chunk, _, _ in rows],
        [at for _, at, _ in rows],
        [window.start for _, _, window in rows],
        [window.end for _, _, window in rows],
        [window.text_hash for _, _, window in rows],
        [HalfVector(vector.dense) for vector in stored],
        [_sparse(vector, described) for vector in stored],
    )


async def put_vectors(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    table: str,
    pair: Pair,
    texts: Sequence[tuple[Place, uuid.UUID]],
    vectors: Mapping[uuid.UUID, StoredVector],
) -> None:
    """Vectors of these texts (place, hash) in the space that is being filled, where the current one still says the
    same of them. Under the lock of the graph.
    """
    await (await raw(session)).execute(
        _with_more(load(PACKAGE, "reembed_put_vectors"), table, "excluded.described"),
        workspace_id,
        pair.current_id,
        pair.filling_id,
        [place[0] for place, _ in texts],
        [place[1] for place, _ in texts],
        [key for _, key in texts],
        [HalfVector(vectors[key].dense) for _, key in texts],
    )


async def correct_vectors(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    table: str,
    space_id: int,
    texts: Sequence[tuple[Place, uuid.UUID]],
    vectors: Mapping[uuid.UUID, StoredVector],
) -> None:
    """Put right vectors that a space has of other texts than these. Under the lock of the graph."""
    await (await raw(session)).execute(
        _with_more(load(PACKAGE, "reembed_correct_vectors"), table, _IS_DESCRIBED),
        workspace_id,
        space_id,
        [place[0] for place, _ in texts],
        [place[1] for place, _ in texts],
        [key for _, key in texts],
        [HalfVector(vectors[key].dense) for _, key in texts],
    )


# ---------------------------------------------------------------------------------------- counting


async def count_rows(session: AsyncSession, space_id: int) -> dict[str, int]:
    """Vectors of a space by table."""
    counted = {}
    for table in ("windows", *TABLES):
        statement = f"SELECT count(*) FROM {table} WHERE space_id = :space"  # noqa: S608
        counted[table] = int(await session.scalar(text(statement), {"space": space_id}) or 0)
    return counted


async def count_all(session: AsyncSession, space_id: int) -> int:
    """What there is to fill: chunks, and texts of the graph."""
    counted = int(await session.scalar(text("SELECT count(*) FROM chunks")) or 0)
    rows = await count_rows(session, space_id)
    return counted + sum(rows[table] for table in TABLES)


@dataclass(frozen=True, slots=True)
class JobState:
    """The newest job that fills a space in a workspace."""

    workspace_id: uuid.UUID
    state: str
    progress: float | None
    error_code: str | None
    error_detail: str | None


async def list_jobs(session: AsyncSession, kind: str, dedupe_key: str) -> list[JobState]:
    """The newest one of each workspace."""
    rows = await session.execute(
        text(
            "SELECT DISTINCT ON (workspace_id) workspace_id, state, progress, error_code, error_detail FROM jobs "
            "WHERE kind = :kind AND dedupe_key = :key ORDER BY workspace_id, created_at DESC, id DESC"
        ),
        {"kind": kind, "key": dedupe_key},
    )
    return [JobState(*row) for row in rows]


# ---------------------------------------------------------------------------------------- dropping


async def delete_vectors(
    session: AsyncSession, workspace_id: uuid.UUID, table: str, space_id: int, after: uuid.UUID, most: int
) -> uuid.UUID | None:
    """Remove some vectors of a space that was left, by owner, and give the last owner; None at the end. Rows that
    somebody else is just removing are passed over.
    """
    owner = "chunk_id" if table == "windows" else "owner_id"
    statement = (
        load(PACKAGE, "reembed_delete_vectors")
        .replace("{vectors}", "windows" if table == "windows" else _known(table))
        .replace("{owner}", owner)
    )
    last: uuid.UUID | None = await (await raw(session)).fetchval(statement, workspace_id, space_id, after, most)
    return last


async def delete_staged(session: AsyncSession, space_id: int) -> None:
    await session.execute(text("DELETE FROM staged_vectors WHERE space_id = :space"), {"space": space_id})


def _known(table: str) -> str:
    """The name, if it is one: it becomes part of a statement."""
    if table not in TABLES:
        raise ValueError(table)
    return table


_IS_DESCRIBED = "(SELECT e.description <> '' FROM entities e WHERE e.workspace_id = $1 AND e.id = new.owner_id)"


def _with_more(statement: str, table: str, described: str) -> str:
    """Entities' vectors say as well whether their text is more than names; `described`: what it is now."""
    more = ("", "", "")
    if table == "entity_vectors":
        more = (", described", ", c.described", f", described = {described}")
    for name, value in zip(("column", "value", "renewed"), more, strict=True):
        statement = statement.replace(f"{{{name}}}", value)
    return statement.replace("{vectors}", _known(table))


def _parts(table: str) -> str:
    return load(PACKAGE, f"reembed_parts_{_known(table).removesuffix('_vectors')}")


def _sparse(vector: StoredVector, space: EmbeddingSpace) -> SparseVector | None:
    return SparseVector(dict(vector.sparse), space.sparse_dimension) if vector.sparse is not None else None
