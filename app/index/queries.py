"""Statements that write and maintain chunks, windows and spaces. One statement each, no decisions."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from pgvector import HalfVector, SparseVector
from sqlalchemy import delete, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.index.collections import TextKind
from app.index.rows import CardRows, StoredVector
from app.index.tables import Chunk, Space, StagedVector
from app.providers.ports import EmbeddingSpace

# -------------------------------------------------------------------------------------- spaces


async def ensure_space(session: AsyncSession, space: EmbeddingSpace) -> int:
    """The row id of a space, made on first use."""
    made = insert(Space).values(key=space.key, dimension=space.dimension, sparse=space.sparse)
    await session.execute(made.on_conflict_do_nothing(index_elements=["key"]))
    return (await session.execute(select(Space.id).where(Space.key == space.key))).scalar_one()


async def find_current_space(session: AsyncSession) -> Space | None:
    """The space that search reads."""
    return (await session.execute(select(Space).where(Space.is_current))).scalar_one_or_none()


# ------------------------------------------------------------------------------------- vectors


async def list_known_vectors(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space_id: int,
    hashes: Sequence[uuid.UUID],
    dense_only: Set[uuid.UUID] = frozenset(),
) -> dict[uuid.UUID, StoredVector]:
    """Vectors that this workspace already has for these texts: of windows, staged, or of the graph.

    `dense_only`: those of the texts that need no lexical weights, as texts of the graph do not. In a space that
    has such weights the others take nothing from the graph.
    """
    rows = await (await raw(session)).fetch(
        load("app.index", "known_vectors"),
        workspace_id,
        space_id,
        list(hashes),
        [key in dense_only for key in hashes],
    )
    return {row["text_hash"]: StoredVector(row["dense"].to_numpy(), _weights(row["sparse"])) for row in rows}


async def stage_vectors(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space: tuple[int, EmbeddingSpace],
    vectors: Mapping[uuid.UUID, StoredVector],
    owners: Mapping[uuid.UUID, uuid.UUID],
) -> None:
    """Keep what is already embedded, in case the rest fails; `owners`: text hash to card id. A card that was removed
    meanwhile keeps nothing, and neither does one that somebody else has learned; the caller holds the cards.

    In a fixed order: two workers may have the same cards when one of them was given up for dead.
    """
    space_id, described = space
    await (await raw(session)).execute(
        """
        INSERT INTO staged_vectors (workspace_id, card_id, space_id, text_hash, dense, sparse)
        SELECT $1, owner.id, $2, new.text_hash, new.dense, new.sparse
        FROM (
            SELECT id FROM cards WHERE workspace_id = $1 AND id = ANY ($3) AND state <> 'ready'
            ORDER BY id FOR KEY SHARE
        ) AS owner
        JOIN unnest($3::uuid[], $4::uuid[], $5::halfvec[], $6::sparsevec[]) AS new (card_id, text_hash, dense, sparse)
            ON new.card_id = owner.id
        ORDER BY owner.id, new.text_hash
        ON CONFLICT DO NOTHING
        """,
        workspace_id,
        space_id,
        [owners[key] for key in vectors],
        list(vectors),
        [HalfVector(vector.dense) for vector in vectors.values()],
        [_sparse(vector, described) for vector in vectors.values()],
    )


async def drop_staged(session: AsyncSession, workspace_id: uuid.UUID, card_ids: Sequence[uuid.UUID]) -> None:
    await session.execute(
        delete(StagedVector).where(StagedVector.workspace_id == workspace_id, StagedVector.card_id.in_(card_ids))
    )


# ---------------------------------------------------------------------------- chunks and windows


async def delete_chunks(session: AsyncSession, workspace_id: uuid.UUID, card_ids: Sequence[uuid.UUID]) -> None:
    """Remove everything derived from these cards; postings follow by trigger, windows by cascade."""
    await session.execute(delete(Chunk).where(Chunk.workspace_id == workspace_id, Chunk.card_id.in_(card_ids)))


async def insert_chunks(
    session: AsyncSession, workspace_id: uuid.UUID, cards: Iterable[CardRows]
) -> dict[uuid.UUID, int]:
    """Write the chunks; gives each chunk's `doc`, the small integer that postings know it by."""
    columns: list[list[Any]] = [[] for _ in range(11)]
    for card in cards:
        for chunk in card.chunks:
            row = (
                chunk.id,
                card.card_id,
                chunk.ordinal,
                chunk.start,
                chunk.end,
                chunk.text,
                chunk.heading,
                chunk.tokens,
                chunk.words,
                chunk.grams,
                chunk.terms,
            )
            for column, value in zip(columns, row, strict=True):
                column.append(value)
    rows = await (await raw(session)).fetch(
        """
        INSERT INTO chunks
            (workspace_id, id, card_id, ordinal, start, "end", text, heading, tokens, words, grams, terms)
        SELECT $1, r.id, r.card_id, r.ordinal, r.start, r.stop, r.text, r.heading, r.tokens, r.words, r.grams,
               r.terms::tsvector
        FROM unnest($2::uuid[], $3::uuid[], $4::int[], $5::int[], $6::int[], $7::text[], $8::text[], $9::int[],
                    $10::int[], $11::int[], $12::text[])
             AS r (id, card_id, ordinal, start, stop, text, heading, tokens, words, grams, terms)
        RETURNING id, doc
        """,
        workspace_id,
        *columns,
    )
    return {row["id"]: row["doc"] for row in rows}


async def insert_windows(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space: tuple[int, EmbeddingSpace],
    cards: Sequence[CardRows],
    vectors: Mapping[uuid.UUID, StoredVector],
) -> None:
    """Write the windows of these cards by COPY. `vectors` holds one vector per text hash."""
    space_id, described = space
    halves: dict[uuid.UUID, tuple[HalfVector, SparseVector | None]] = {}
    for key in {window.text_hash for card in cards for chunk in card.chunks for window in chunk.windows}:
        halves[key] = (HalfVector(vectors[key].dense), _sparse(vectors[key], described))
    await (await raw(session)).copy_records_to_table(
        "windows",
        columns=[
            "workspace_id",
            "chunk_id",
            "space_id",
            "ordinal",
            "card_id",
            "start",
            "end",
            "text_hash",
            "dense",
            "sparse",
        ],
        records=[
            (
                workspace_id,
                chunk.id,
                space_id,
                ordinal,
                card.card_id,
                window.start,
                window.end,
                window.text_hash,
                *halves[window.text_hash],
            )
            for card in cards
            for chunk in card.chunks
            for ordinal, window in enumerate(chunk.windows)
        ],
    )


# ------------------------------------------------------------------------------- the vector index


async def count_vectors(
    session: AsyncSession, space_id: int, kind: TextKind, up_to: int, *, bare_names: bool = False
) -> int:
    """How many vectors of a kind a space has for an index, counted no further than `up_to`."""
    belongs = _belongs(kind, bare_names)
    statement = load("app.index", "count_vectors").replace("{table}", kind.vectors).replace("{belongs}", belongs)
    counted = await session.scalar(text(statement), {"space": space_id, "limit": up_to})
    return int(counted or 0)


async def has_vector_index(session: AsyncSession, space_id: int, kind: TextKind = TextKind.chunk) -> bool:
    """Whether the HNSW index exists and is valid."""
    return bool(
        await session.scalar(
            text(
                "SELECT EXISTS (SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
                "WHERE c.relname = :name AND i.indisvalid)"
            ),
            {"name": kind.index_name(space_id)},
        )
    )


def vector_index_ddl(
    space_id: int, dimension: int, kind: TextKind = TextKind.chunk, *, bare_names: bool = False
) -> tuple[str, str]:
    """Statements that drop an invalid left-over and build the index, outside of a transaction. `bare_names`: entities
    that nothing is said of are in it as well.

    Cast and partial, because the column holds vectors of every space and dimension; by role as well, because what
    is searched are texts of one kind, and a walk past the others would be three times as long. Few neighbours and many
    candidates: putting a vector in costs half, for the same recall in the same time as with twice as many neighbours.
    """
    name = kind.index_name(space_id)
    return (
        f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
        f"CREATE INDEX CONCURRENTLY {name} ON {kind.vectors} "
        f"USING hnsw ((dense::halfvec({int(dimension)})) halfvec_cosine_ops) WITH (m = 8, ef_construction = 64) "
        f"WHERE space_id = {int(space_id)} {_belongs(kind, bare_names)}",
    )


def _belongs(kind: TextKind, bare_names: bool) -> str:
    role = "" if kind.vector_role is None else f"AND role = {kind.vector_role}"
    return f"{role} AND described" if kind is TextKind.entity and not bare_names else role


def _sparse(vector: StoredVector, space: EmbeddingSpace) -> SparseVector | None:
    return SparseVector(dict(vector.sparse), space.sparse_dimension) if vector.sparse is not None else None


def _weights(stored: SparseVector | None) -> dict[int, float] | None:
    return dict(zip(stored.indices(), stored.values(), strict=True)) if stored is not None else None
