"""Statements that find and write entities, their names, pairs and decisions. One statement each, no decisions.

Whoever writes here holds `graph_lock` (see `cone_queries.lock_graph`) since before it read what it decided by.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pgvector import HalfVector
from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.ids import new_id
from app.db.session import raw
from app.graph import telling_queries
from app.graph.tables import Entity, EntityPlace
from app.graph.vector_tables import EntityVector
from app.providers.ports import Vector


@dataclass(frozen=True, slots=True)
class EntityNameRow:
    key: str
    name: str
    origin: str = "text"


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """`names` are all it answers to, its own included. `is_ours`: no card outside of the group that is being written
    mentions it.
    """

    id: uuid.UUID
    name: str
    key: str
    kind: str
    sense: int
    type: str
    description: str
    is_edited: bool
    merged_into: uuid.UUID | None
    doc: int
    names: tuple[EntityNameRow, ...]
    is_ours: bool = False

    @property
    def root(self) -> uuid.UUID:
        """The entity that it stands for."""
        return self.merged_into or self.id

    @property
    def aliases(self) -> tuple[str, ...]:
        return tuple(row.name for row in self.names if row.key != self.key)


@dataclass(frozen=True, slots=True)
class EntityWrite:
    """An entity as it shall be; `words` and `grams` are the lengths of its two streams."""

    id: uuid.UUID
    name: str
    key: str
    kind: str
    sense: int
    type: str
    description: str
    words: int
    grams: int
    names: tuple[EntityNameRow, ...]
    merged_into: uuid.UUID | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two that a decision is about."""

    id: uuid.UUID
    key: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Decision:
    left: Side
    right: Side
    layer: str
    score: float | None
    outcome: str
    decided_by: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Word:
    """What a person said last about two names: `merged` (left into right), `apart`, `unmerged` or `split`."""

    left_key: str
    left_kind: str
    right_key: str
    right_kind: str
    outcome: str


@dataclass(frozen=True, slots=True)
class PairWrite:
    left_id: uuid.UUID
    right_id: uuid.UUID
    layer: str
    score: float


_COLUMNS = "e.id, e.name, e.key, e.kind, e.sense, e.type, e.description, e.is_edited, e.merged_into, e.doc"


# ---------------------------------------------------------------------------------------- finding


async def list_stored(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    *,
    keys: Iterable[str] = (),
    ids: Iterable[uuid.UUID] = (),
    docs: Iterable[int] = (),
    cards: Iterable[uuid.UUID] = (),
) -> list[StoredEntity]:
    """Entities that answer to one of these keys, or have one of these ids or numbers; by age. `cards`: the group that
    is being written.
    """
    rows = await (await raw(session)).fetch(
        f"""
        WITH found AS (
            SELECT n.entity_id AS id FROM entity_names n WHERE n.workspace_id = $1 AND n.key = ANY ($2::text[])
            UNION
            SELECT unnest($3::uuid[])
            UNION
            SELECT d.id FROM entities d WHERE d.workspace_id = $1 AND d.doc = ANY ($4::bigint[])
        )
        SELECT {_COLUMNS}, named.keys, named.names, named.origins,
               NOT EXISTS (
                   SELECT FROM mentions m
                   WHERE m.workspace_id = $1 AND m.entity_id = e.id AND m.card_id <> ALL ($5::uuid[])
               ) AS is_ours
        FROM found
        JOIN entities e ON e.workspace_id = $1 AND e.id = found.id
        CROSS JOIN LATERAL (
            SELECT array_agg(n.key ORDER BY n.key) AS keys, array_agg(n.name ORDER BY n.key) AS names,
                   array_agg(n.origin ORDER BY n.key) AS origins
            FROM entity_names n
            WHERE n.workspace_id = $1 AND n.entity_id = e.id
        ) AS named
        ORDER BY e.id
        """,  # noqa: S608
        workspace_id,
        list(keys),
        list(ids),
        list(docs),
        list(cards),
    )
    return [_stored(row) for row in rows]


async def list_names(
    session: AsyncSession, workspace_id: uuid.UUID, keys: Iterable[str]
) -> dict[str, list[tuple[str, str]]]:
    """By key, the names under which the workspace has something, with its type."""
    rows = await (await raw(session)).fetch(
        """
        SELECT DISTINCT n.key, n.name, root.type
        FROM unnest($2::text[]) AS wanted (key)
        JOIN entity_names n ON n.workspace_id = $1 AND n.key = wanted.key
        JOIN entities e ON e.workspace_id = $1 AND e.id = n.entity_id
        JOIN entities root ON root.workspace_id = $1 AND root.id = coalesce(e.merged_into, e.id)
        ORDER BY n.key, n.name
        """,
        workspace_id,
        list(keys),
    )
    names: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        names.setdefault(row["key"], []).append((row["name"], row["type"]))
    return names


async def list_groups(
    session: AsyncSession, workspace_id: uuid.UUID, roots: Iterable[uuid.UUID]
) -> dict[uuid.UUID, list[Side]]:
    """Everything that stands for each of these entities, itself first."""
    rows = await (await raw(session)).fetch(
        """
        SELECT coalesce(e.merged_into, e.id) AS root, e.id, e.key, e.kind, e.name
        FROM entities e
        WHERE e.workspace_id = $1 AND e.id = ANY ($2::uuid[])
        UNION
        SELECT e.merged_into, e.id, e.key, e.kind, e.name
        FROM entities e
        WHERE e.workspace_id = $1 AND e.merged_into = ANY ($2::uuid[])
        """,
        workspace_id,
        list(roots),
    )
    groups: dict[uuid.UUID, list[Side]] = {}
    for row in sorted(rows, key=lambda row: (row["id"] != row["root"], row["id"])):
        groups.setdefault(row["root"], []).append(Side(row["id"], row["key"], row["kind"], row["name"]))
    return groups


async def list_places(
    session: AsyncSession, workspace_id: uuid.UUID, card_ids: Iterable[uuid.UUID]
) -> dict[tuple[uuid.UUID, str], uuid.UUID]:
    """What a person said about names in these cards: (card, key) → entity."""
    rows = await session.execute(
        select(EntityPlace.card_id, EntityPlace.key, EntityPlace.entity_id).where(
            EntityPlace.workspace_id == workspace_id, EntityPlace.card_id.in_(list(card_ids))
        )
    )
    return {(card_id, key): entity_id for card_id, key, entity_id in rows}


async def list_words(session: AsyncSession, workspace_id: uuid.UUID, keys: Iterable[str]) -> list[Word]:
    """What people have decided about entities of these keys; the last word on each pair of names."""
    rows = await (await raw(session)).fetch(
        """
        SELECT DISTINCT ON (pair) d.left_key, d.left_kind, d.right_key, d.right_kind, d.outcome
        FROM (
            SELECT * FROM entity_decisions WHERE workspace_id = $1 AND left_key = ANY ($2::text[])
            UNION
            SELECT * FROM entity_decisions WHERE workspace_id = $1 AND right_key = ANY ($2::text[])
        ) AS d
        CROSS JOIN LATERAL (
            SELECT least((d.left_key, d.left_kind)::text, (d.right_key, d.right_kind)::text)
                   || greatest((d.left_key, d.left_kind)::text, (d.right_key, d.right_kind)::text) AS pair
        ) AS p
        WHERE d.decided_by = 'user'
          AND (d.outcome IN ('merged', 'apart', 'unmerged') OR (d.outcome = 'split' AND d.left_key <> d.right_key))
        ORDER BY pair, d.created_at DESC, d.id DESC
        """,
        workspace_id,
        list(keys),
    )
    return [Word(*row) for row in rows]


async def list_nearest(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space_id: int,
    vectors: Sequence[Vector],
    limit: int,
    floor: float,
    *,
    bare_names: bool,
    indexed: bool,
) -> list[list[tuple[uuid.UUID, float]]]:
    """For each vector its nearest entities, as (id, cosine), the nearest first, none below `floor`. `bare_names`: also
    those that nothing is said of. `indexed`: through the space's HNSW index, which has the same of them; else exactly,
    by one pass over the workspace's vectors.
    """
    found: list[list[tuple[uuid.UUID, float]]] = [[] for _ in vectors]
    if not vectors:
        return found
    connection = await raw(session)
    asked = [HalfVector(vector) for vector in vectors]
    described = "" if bare_names else "AND v.described"
    if indexed:
        await connection.execute(
            "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', '80', true)"
        )
        # Only with the index's own expression and predicate, written out, can the planner use it.
        distance = "v.dense::halfvec({0}) <=> q.v::halfvec({0})".format(len(vectors[0]))
        statement = f"""
            SELECT q.n, near.owner_id, 1 - near.distance AS cosine
            FROM unnest($2::halfvec[]) WITH ORDINALITY AS q (v, n)
            CROSS JOIN LATERAL (
                SELECT v.owner_id, {distance} AS distance
                FROM entity_vectors v
                WHERE v.workspace_id = $1 AND v.space_id = {int(space_id)} AND v.role = 0 {described}
                ORDER BY {distance}
                LIMIT $3
            ) AS near
            WHERE near.distance <= 1 - $4::float8
        """  # noqa: S608
        rows = await connection.fetch(statement, workspace_id, asked, limit, floor)
    else:
        # A threshold and no order: an order for each of the vectors takes ten times as long. Norms are 1.
        rows = await connection.fetch(
            f"""
            SELECT q.n, v.owner_id, -(v.dense <#> q.v) AS cosine
            FROM entity_vectors v
            CROSS JOIN unnest($2::halfvec[]) WITH ORDINALITY AS q (v, n)
            WHERE v.workspace_id = $1 AND v.space_id = $3 AND v.role = 0 {described}
              AND v.dense <#> q.v <= -$4::float8
            """,  # noqa: S608
            workspace_id,
            asked,
            space_id,
            floor,
        )
    for row in rows:
        found[row["n"] - 1].append((row["owner_id"], row["cosine"]))
    return [sorted(near, key=lambda one: -one[1])[:limit] for near in found]


# ---------------------------------------------------------------------------------------- writing


async def insert_entities(
    session: AsyncSession, workspace_id: uuid.UUID, rows: Sequence[EntityWrite]
) -> dict[uuid.UUID, int]:
    """Write new entities with their names; gives each one's `doc`."""
    if not rows:
        return {}
    connection = await raw(session)
    written = await connection.fetch(
        """
        INSERT INTO entities (workspace_id, id, name, key, kind, sense, type, description, words, grams, merged_into)
        SELECT $1, new.*
        FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[], $9::int[],
                    $10::int[], $11::uuid[]) AS new
        RETURNING id, doc
        """,
        workspace_id,
        *_columns(
            [
                (r.id, r.name, r.key, r.kind, r.sense, r.type, r.description, r.words, r.grams, r.merged_into)
                for r in rows
            ],
            10,
        ),
    )
    await _copy_names(connection, workspace_id, rows)
    return {row["id"]: row["doc"] for row in written}


async def update_entities(
    session: AsyncSession, workspace_id: uuid.UUID, rows: Sequence[EntityWrite], *, edited: bool = False
) -> dict[uuid.UUID, int]:
    """Rewrite entities and their names; each gets a new `doc`, and the old one is forgotten. `merged_into` stays."""
    if not rows:
        return {}
    connection = await raw(session)
    written = await connection.fetch(
        """
        UPDATE entities AS e
        SET name = new.name, key = new.key, kind = new.kind, sense = new.sense, type = new.type,
            description = new.description, words = new.words, grams = new.grams, updated_at = now(),
            doc = nextval('chunk_doc_seq'), is_edited = e.is_edited OR $11
        FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[], $9::int[],
                    $10::int[]) AS new (id, name, key, kind, sense, type, description, words, grams)
        WHERE e.workspace_id = $1 AND e.id = new.id
        RETURNING e.id, e.doc
        """,
        workspace_id,
        *_columns([(r.id, r.name, r.key, r.kind, r.sense, r.type, r.description, r.words, r.grams) for r in rows], 9),
        edited,
    )
    await connection.execute(
        "DELETE FROM entity_names WHERE workspace_id = $1 AND entity_id = ANY ($2::uuid[])",
        workspace_id,
        [row.id for row in rows],
    )
    await _copy_names(connection, workspace_id, rows)
    return {row["id"]: row["doc"] for row in written}


async def set_merged(
    session: AsyncSession, workspace_id: uuid.UUID, ids: Sequence[uuid.UUID], into: uuid.UUID | None
) -> list[uuid.UUID]:
    """Let these entities stand for another one, or for themselves; gives those that are there. What is told of one is
    told of whom it stands for.
    """
    await telling_queries.note(session, workspace_id, ids)
    rows = await (await raw(session)).fetch(
        """
        UPDATE entities SET merged_into = $3, updated_at = now()
        WHERE workspace_id = $1 AND id = ANY ($2::uuid[])
        RETURNING id
        """,
        workspace_id,
        list(ids),
        into,
    )
    await telling_queries.note(session, workspace_id, ids)
    return [row["id"] for row in rows]


async def insert_decisions(session: AsyncSession, workspace_id: uuid.UUID, decisions: Sequence[Decision]) -> None:
    if not decisions:
        return
    rows = [
        (
            new_id(),
            *(d.left.id, d.left.key, d.left.kind, d.left.name),
            *(d.right.id, d.right.key, d.right.kind, d.right.name),
            *(d.layer, d.score, d.outcome, d.decided_by, json.dumps(dict(d.detail), ensure_ascii=False)),
        )
        for d in decisions
    ]
    await (await raw(session)).execute(
        """
        INSERT INTO entity_decisions
            (workspace_id, id, left_id, left_key, left_kind, left_name, right_id, right_key, right_kind, right_name,
             layer, score, outcome, decided_by, detail, created_at)
        SELECT $1, new.*, clock_timestamp()
        FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::text[], $9::text[],
                    $10::text[], $11::text[], $12::float8[], $13::text[], $14::text[], $15::jsonb[]) AS new
        """,
        workspace_id,
        *_columns(rows, 14),
    )


async def insert_pairs(
    session: AsyncSession, workspace_id: uuid.UUID, space_id: int, pairs: Sequence[PairWrite]
) -> list[tuple[uuid.UUID, uuid.UUID]]:
    """Let pairs wait for a decision; those that are known already stay as they are. Gives the new ones. Without a score
    of its own a pair gets the cosine of its vectors.
    """
    if not pairs:
        return []
    rows = await (await raw(session)).fetch(
        """
        INSERT INTO entity_pairs (workspace_id, id, left_id, right_id, layer, score)
        SELECT $1, new.id, new.left_id, new.right_id, new.layer,
               coalesce(nullif(new.score, 0), 1 - (l.dense <=> r.dense), 0)
        FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::float8[])
             AS new (id, left_id, right_id, layer, score)
        LEFT JOIN entity_vectors l
            ON l.workspace_id = $1 AND l.space_id = $7 AND l.role = 0 AND l.owner_id = new.left_id
        LEFT JOIN entity_vectors r
            ON r.workspace_id = $1 AND r.space_id = $7 AND r.role = 0 AND r.owner_id = new.right_id
        ON CONFLICT (workspace_id, left_id, right_id) DO NOTHING
        RETURNING left_id, right_id
        """,
        workspace_id,
        *_columns(
            [(new_id(), min(p.left_id, p.right_id), max(p.left_id, p.right_id), p.layer, p.score) for p in pairs], 5
        ),
        space_id,
    )
    return [(row["left_id"], row["right_id"]) for row in rows]


async def settle_joined_pairs(session: AsyncSession, workspace_id: uuid.UUID, ids: Sequence[uuid.UUID]) -> None:
    """Pairs with one of these that wait, and are one entity by now, do not wait any more."""
    await (await raw(session)).execute(
        """
        UPDATE entity_pairs p SET state = 'merged', decided_by = 'rule', decided_at = now()
        FROM entities l, entities r
        WHERE p.workspace_id = $1 AND p.state = 'waiting'
          AND (p.left_id = ANY ($2::uuid[]) OR p.right_id = ANY ($2::uuid[]))
          AND l.workspace_id = $1 AND l.id = p.left_id AND r.workspace_id = $1 AND r.id = p.right_id
          AND coalesce(l.merged_into, l.id) = coalesce(r.merged_into, r.id)
        """,
        workspace_id,
        list(ids),
    )


async def delete_vectors(session: AsyncSession, workspace_id: uuid.UUID, space_id: int, ids: list[uuid.UUID]) -> None:
    """Before new ones are written in their place."""
    await (await raw(session)).execute(
        "DELETE FROM entity_vectors WHERE workspace_id = $1 AND space_id = $2 AND owner_id = ANY ($3::uuid[])",
        workspace_id,
        space_id,
        ids,
    )


async def delete_all_vectors(session: AsyncSession, workspace_id: uuid.UUID, ids: Sequence[uuid.UUID]) -> None:
    """In every space: these entities are described by another text now."""
    await session.execute(
        delete(EntityVector).where(EntityVector.workspace_id == workspace_id, EntityVector.owner_id.in_(ids))
    )


async def next_sense(session: AsyncSession, workspace_id: uuid.UUID, key: str, kind: str) -> int:
    """A number that no entity of this key and kind has."""
    most = await session.scalar(
        select(func.max(Entity.sense)).where(
            Entity.workspace_id == workspace_id, Entity.key == key, Entity.kind == kind
        )
    )
    return 0 if most is None else int(most) + 1


async def _copy_names(connection: Any, workspace_id: uuid.UUID, rows: Sequence[EntityWrite]) -> None:
    await connection.copy_records_to_table(
        "entity_names",
        columns=["workspace_id", "entity_id", "key", "name", "origin"],
        records=[(workspace_id, row.id, name.key, name.name, name.origin) for row in rows for name in row.names],
    )


def _columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]


def _stored(row: Any) -> StoredEntity:
    names = zip(row["keys"] or (), row["names"] or (), row["origins"] or (), strict=True)
    return StoredEntity(
        id=row["id"],
        name=row["name"],
        key=row["key"],
        kind=row["kind"],
        sense=row["sense"],
        type=row["type"],
        description=row["description"],
        is_edited=row["is_edited"],
        merged_into=row["merged_into"],
        doc=row["doc"],
        names=tuple(EntityNameRow(*name) for name in names),
        is_ours=row["is_ours"],
    )
