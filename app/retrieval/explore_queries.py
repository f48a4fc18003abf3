"""Statements of level explore: parameters in, rows out. Each runs in the caller's short read session; a `_part` is one
that is asked together with others.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.db.together import Columns, Part
from app.retrieval.explore import Entity
from app.retrieval.explore_names import Known
from app.retrieval.queries import PACKAGE, SpaceRow, filled, filter_values
from app.retrieval.types import Filters

Vector = npt.NDArray[np.float32]

# Mentions, relations and titles of a graph.
Packed = tuple[bytes, bytes, bytes]

# Owners of facts and windows, whose mean vectors say what is usual: (owners, vectors, owner column, condition).
_MEANS = (
    ("chunks", "windows", "chunk_id", ""),
    ("relations", "relation_vectors", "owner_id", "AND v.role = 0"),
    ("points", "point_vectors", "owner_id", "AND v.role = 2"),
)


def body(statement: str) -> str:
    """Without its header, which names the placeholders too."""
    return "\n".join(line for line in statement.splitlines() if not line.startswith("--"))


@cache
def names_statement() -> str:
    return _whole("explore_names", most="$3")


@cache
def titles_statement() -> str:
    return _whole("explore_titles", most="$3")


@cache
def entities_statement() -> str:
    return _whole("explore_entities", most="$3")


@cache
def called_statement() -> str:
    return _whole("explore_called")


@cache
def facts_statement() -> str:
    return _whole("explore_facts", most="$4")


@cache
def bridges_statement(space_id: int) -> str:
    return _whole("explore_bridges", most="$6", space=space_id)


@cache
def cards_statement(space_id: int, filtered: bool) -> str:
    return _whole("explore_cards", many=load(PACKAGE, "only_cards") if filtered else "", space=space_id)


@cache
def claims_statement(space_id: int) -> str:
    return load(PACKAGE, "explore_claims").replace("{space}", str(int(space_id)))


@cache
def neighbours_statement(space_id: int) -> str:
    return _whole("explore_neighbours", space=space_id)


@cache
def told_statement() -> str:
    root = body(load(PACKAGE, "explore_root"))
    return filled(
        load(PACKAGE, "explore_told"),
        source=root.replace("AS root", "AS source"),
        target=root.replace("AS root", "AS target"),
    )


@cache
def graph_statement(some: bool) -> str:
    return filled(
        load(PACKAGE, "explore_graph"),
        some=body(load(PACKAGE, "explore_some")) if some else "",
        spread="" if some else body(load(PACKAGE, "explore_spread")),
    )


@cache
def namesakes_statement() -> str:
    return _whole("explore_namesakes")


@cache
def namesakes_since_statement() -> str:
    return _whole("explore_namesakes_since")


@cache
def means_statement(space_id: int) -> str:
    part = body(load(PACKAGE, "explore_mean"))
    parts = []
    for kind, (owners, vectors, owner, condition) in enumerate(_MEANS):
        one = part
        for name, value in (
            ("kind", kind),
            ("owners", owners),
            ("vectors", vectors),
            ("owner", owner),
            ("condition", condition),
            ("space", int(space_id)),
        ):
            one = one.replace(f"{{{name}}}", str(value))
        parts.append(one)
    return "\nUNION ALL\n".join(parts)


def _whole(name: str, most: str = "", many: str = "", space: int = 0) -> str:
    """A statement with the parts that several share."""
    statement = filled(
        load(PACKAGE, name),
        many=many,
        counted=body(load(PACKAGE, "explore_counts")).replace("{most}", most),
        root=body(load(PACKAGE, "explore_root")),
        members=body(load(PACKAGE, "explore_members")),
    )
    return statement.replace("{space}", str(int(space)))


# What is told of an entity, and of a chunk that was reached.
_ENTITY: Columns = (
    ("entity_id", "uuid"),
    ("name", "text"),
    ("cards", "int"),
    ("titled", "int"),
    ("inside", "int"),
)
_CHUNK: Columns = (
    ("card_id", "uuid"),
    ("chunk_id", "uuid"),
    ("doc", "bigint"),
    ("distance", "float8"),
    ("start", "int"),
    ("end", "int"),
)


def entity_of(row: Any) -> Entity:
    return Entity(row["entity_id"], row["name"], row["cards"], row["titled"], row["inside"])


def names_part(workspace_id: uuid.UUID, keys: Iterable[str], most: int) -> Part:
    """Of each key the entities that answer to it, and the cards that have it for their title."""
    columns = (("key", "text"), *_ENTITY, ("card_id", "uuid"))
    return Part(names_statement(), columns, (workspace_id, sorted(set(keys)), most))


def known_of(rows: Iterable[Any]) -> dict[str, Known]:
    """The rows of `names_part` by key."""
    entities: dict[str, list[Entity]] = {}
    cards: dict[str, list[uuid.UUID]] = {}
    for row in sorted(rows, key=lambda row: (row["key"], row["entity_id"] or row["card_id"])):
        if row["card_id"] is not None:
            cards.setdefault(row["key"], []).append(row["card_id"])
        else:
            entities.setdefault(row["key"], []).append(entity_of(row))
    return {key: Known(entities.get(key, ()), cards.get(key, ())) for key in entities.keys() | cards.keys()}


def cards_part(
    workspace_id: uuid.UUID,
    space: SpaceRow,
    vector: Vector | None,
    filters: Filters,
    *,
    entities: Sequence[uuid.UUID] = (),
    each: int = 0,
    known: Sequence[uuid.UUID] = (),
    more: Iterable[uuid.UUID] = (),
    docs: Sequence[tuple[int, uuid.UUID]] = (),
) -> Part:
    """Cards of these entities, and `more` of them; `docs`: chunks whose title may hold an entity."""
    return Part(
        cards_statement(space.id, bool(filters)),
        (("entity_id", "uuid"), ("title", "text"), ("own", "bool"), ("title_name", "text"), *_CHUNK),
        (
            workspace_id,
            None if vector is None else HalfVector(vector),
            list(entities),
            each,
            list(known),
            list(more),
            [doc for doc, _ in docs],
            [entity for _, entity in docs],
            # With the places that their conditions have in the pool.
            *filter_values(filters),
        ),
    )


def bridges_part(
    workspace_id: uuid.UUID,
    space: SpaceRow,
    vector: Vector | None,
    cards: Sequence[uuid.UUID],
    facts: int,
    each: int,
    most: int,
) -> Part:
    """What these cards say of whom."""
    columns = (
        ("card_id", "uuid"),
        ("title", "text"),
        *_ENTITY,
        ("relation_id", "uuid"),
        ("relation_distance", "float8"),
        ("point_id", "uuid"),
        ("point_distance", "float8"),
    )
    return Part(
        bridges_statement(space.id),
        columns,
        (workspace_id, None if vector is None else HalfVector(vector), list(cards), facts, each, most),
    )


def spellings_part(workspace_id: uuid.UUID, keys: Sequence[str], around: int) -> Part:
    """Of each key the names next to it in the order of names."""
    columns = (("asked", "text"), ("key", "text"), ("entity_id", "uuid"))
    return Part(load(PACKAGE, "explore_spellings"), columns, (workspace_id, list(keys), around))


def spellings_of(rows: Iterable[Any], keys: Iterable[str]) -> dict[str, list[tuple[str, uuid.UUID]]]:
    """The rows of `spellings_part`: of each key (key, entity)."""
    found: dict[str, list[tuple[str, uuid.UUID]]] = {key: [] for key in keys}
    for row in rows:
        found[row["asked"]].append((row["key"], row["entity_id"]))
    return found


async def list_called(
    session: AsyncSession, workspace_id: uuid.UUID, ids: Iterable[uuid.UUID], docs: Iterable[int]
) -> dict[uuid.UUID, tuple[uuid.UUID, str]]:
    """Of each of these entities the one that it stands for, and its name; `docs` are more of them, as postings know
    them.
    """
    rows = await (await raw(session)).fetch(called_statement(), workspace_id, list(ids), list(docs))
    return {row["asked"]: (row["entity_id"], row["name"]) for row in rows}


async def list_entities(
    session: AsyncSession, workspace_id: uuid.UUID, ids: Iterable[uuid.UUID], most: int
) -> list[Entity]:
    """What these entities stand for, counted."""
    rows = await (await raw(session)).fetch(entities_statement(), workspace_id, list(ids), most)
    return [entity_of(row) for row in rows]


def claims_part(
    workspace_id: uuid.UUID, space: SpaceRow, vector: Vector, cards: Sequence[uuid.UUID], compared: int, kept: int
) -> Part:
    """What these cards claim, nearest first."""
    return Part(
        claims_statement(space.id),
        (("card_id", "uuid"), ("point_id", "uuid"), ("text", "text"), ("distance", "float8")),
        (workspace_id, HalfVector(vector), list(cards), compared, kept),
    )


def titles_part(workspace_id: uuid.UUID, keys: Iterable[str], most: int) -> Part:
    """The entities that answer to one of the keys and are the title of a card."""
    return Part(titles_statement(), (("key", "text"), *_ENTITY), (workspace_id, sorted(set(keys)), most))


def titles_of(rows: Iterable[Any]) -> dict[str, list[Entity]]:
    """The rows of `titles_part` by key."""
    found: dict[str, list[Entity]] = {}
    for row in rows:
        found.setdefault(row["key"], []).append(entity_of(row))
    return found


def facts_part(workspace_id: uuid.UUID, relations: Sequence[uuid.UUID], points: Sequence[uuid.UUID], most: int) -> Part:
    """Whom these relations and claims are about."""
    columns = (("relation_id", "uuid"), ("point_id", "uuid"), *_ENTITY)
    return Part(facts_statement(), columns, (workspace_id, list(relations), list(points), most))


async def list_neighbours(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space: SpaceRow,
    vector: Vector | None,
    entities: Sequence[uuid.UUID],
    compared: int,
    kept: int,
) -> list[Any]:
    """Where the relations of these entities lead."""
    rows: list[Any] = await (await raw(session)).fetch(
        neighbours_statement(space.id),
        workspace_id,
        None if vector is None else HalfVector(vector),
        list(entities),
        compared,
        kept,
    )
    return rows


def told_part(workspace_id: uuid.UUID, relations: Iterable[uuid.UUID], points: Iterable[uuid.UUID]) -> Part:
    """What relations and claims say, for paths."""
    columns = (
        ("relation_id", "uuid"),
        ("point_id", "uuid"),
        ("card_id", "uuid"),
        ("title", "text"),
        ("text", "text"),
        ("source_id", "uuid"),
        ("source", "text"),
        ("target_id", "uuid"),
        ("target", "text"),
    )
    return Part(told_statement(), columns, (workspace_id, list(relations), list(points)))


def version_part(workspace_id: uuid.UUID) -> Part:
    """What `get_version` asks."""
    columns = (
        ("chunks", "bigint"),
        ("relations", "bigint"),
        ("entities", "bigint"),
        ("trashed", "timestamptz"),
        ("decided", "timestamptz"),
    )
    return Part(load(PACKAGE, "explore_version"), columns, (workspace_id,))


def version_of(row: Any) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("chunks", "relations", "entities", "trashed", "decided"))


async def get_version(session: AsyncSession, workspace_id: uuid.UUID) -> tuple[Any, ...]:
    """Another one after every write that changes the graph."""
    part = version_part(workspace_id)
    return version_of(await (await raw(session)).fetchrow(part.statement, *part.values))


async def count_mentions(session: AsyncSession, workspace_id: uuid.UUID, up_to: int) -> int:
    """Mentions of a workspace, counted no further than `up_to`."""
    return int(await (await raw(session)).fetchval(load(PACKAGE, "explore_size"), workspace_id, up_to))


async def get_graph(session: AsyncSession, workspace_id: uuid.UUID, cards: Sequence[uuid.UUID] | None) -> Packed:
    """Mentions, relations and titles, packed; of these cards, or of all (None)."""
    rows = await (await raw(session)).fetch(
        graph_statement(cards is not None), workspace_id, None if cards is None else list(cards)
    )
    parts: tuple[list[bytes], list[bytes], list[bytes]] = ([], [], [])
    for row in rows:
        # Nothing at all is one row too, where all is one group.
        parts[row["part"]].append(row["packed"] or b"")
    return b"".join(parts[0]), b"".join(parts[1]), b"".join(parts[2])


def state_of_entities(version: Sequence[Any]) -> tuple[int, Any]:
    """What of a version changes with the namesakes."""
    return version[2] or 0, version[4]


async def list_namesakes(session: AsyncSession, workspace_id: uuid.UUID) -> list[Any]:
    """Entities that the walk knows by the id of another, which is their `root`."""
    rows: list[Any] = await (await raw(session)).fetch(namesakes_statement(), workspace_id)
    return rows


async def list_namesakes_since(session: AsyncSession, workspace_id: uuid.UUID, doc: int, decided: Any) -> list[Any]:
    """What may be another one's namesake now, or no longer; `is_new`: got its name after this."""
    rows: list[Any] = await (await raw(session)).fetch(namesakes_since_statement(), workspace_id, doc, decided)
    return rows


async def list_means(session: AsyncSession, workspace_id: uuid.UUID, space: SpaceRow, some: int) -> list[Vector | None]:
    """The mean vectors of the workspace's windows, relations and claims; None where it has none."""
    rows = await (await raw(session)).fetch(means_statement(space.id), workspace_id, some)
    means: list[Vector | None] = [None] * len(_MEANS)
    for row in rows:
        if row["mean"] is not None:
            means[row["kind"]] = np.asarray(row["mean"].to_numpy(), np.float32)
    return means
