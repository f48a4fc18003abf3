"""Statements of level explore: parameters in, rows out. Each runs in the caller's short read session."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.retrieval.explore import Entity
from app.retrieval.explore_names import Known
from app.retrieval.queries import PACKAGE, SpaceRow, filled, filter_values
from app.retrieval.types import Filters

Vector = npt.NDArray[np.float32]

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
def facts_statement() -> str:
    return _whole("explore_facts", most="$4")


@cache
def bridges_statement(space_id: int) -> str:
    return _whole("explore_bridges", most="$6", space=space_id)


@cache
def cards_statement(space_id: int, filtered: bool) -> str:
    return _whole("explore_cards", many=load(PACKAGE, "only_cards") if filtered else "", space=space_id)


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
    return filled(load(PACKAGE, "explore_graph"), some=body(load(PACKAGE, "explore_some")) if some else "")


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


async def settle(session: AsyncSession, ef_search: int) -> None:
    """Plans by look-up, as `pool_settings` says, until the transaction ends."""
    await session.execute(text(load(PACKAGE, "pool_settings")), {"ef_search": str(ef_search)})


def entity_of(row: Any) -> Entity:
    return Entity(row["entity_id"], row["name"], row["cards"], row["titled"], row["inside"], row["node"])


async def list_named(
    session: AsyncSession, workspace_id: uuid.UUID, keys: Iterable[str], most: int
) -> dict[str, Known]:
    """Of each key the entities that answer to it, and the cards that have it for their title."""
    rows = await (await raw(session)).fetch(names_statement(), workspace_id, sorted(set(keys)), most)
    entities: dict[str, list[Entity]] = {}
    cards: dict[str, list[uuid.UUID]] = {}
    for row in sorted(rows, key=lambda row: (row["key"], row["entity_id"] or row["card_id"])):
        if row["card_id"] is not None:
            cards.setdefault(row["key"], []).append(row["card_id"])
        else:
            entities.setdefault(row["key"], []).append(entity_of(row))
    return {key: Known(entities.get(key, ()), cards.get(key, ())) for key in entities.keys() | cards.keys()}


async def list_cards(
    session: AsyncSession,
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
) -> list[Any]:
    """Cards of these entities, and `more` of them; `docs`: chunks whose title may hold an entity."""
    rows: list[Any] = await (await raw(session)).fetch(
        cards_statement(space.id, bool(filters)),
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
    )
    return rows


async def list_bridges(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space: SpaceRow,
    vector: Vector | None,
    cards: Sequence[uuid.UUID],
    facts: int,
    each: int,
    most: int,
) -> list[Any]:
    """What these cards say of whom."""
    rows: list[Any] = await (await raw(session)).fetch(
        bridges_statement(space.id),
        workspace_id,
        None if vector is None else HalfVector(vector),
        list(cards),
        facts,
        each,
        most,
    )
    return rows


async def list_spellings(
    session: AsyncSession, workspace_id: uuid.UUID, keys: Sequence[str], around: int
) -> dict[str, list[tuple[str, uuid.UUID]]]:
    """Of each key the names (key, entity) next to it in the order of names."""
    rows = await (await raw(session)).fetch(load(PACKAGE, "explore_spellings"), workspace_id, list(keys), around)
    found: dict[str, list[tuple[str, uuid.UUID]]] = {key: [] for key in keys}
    for row in rows:
        found[row["asked"]].append((row["key"], row["entity_id"]))
    return found


async def list_entities(
    session: AsyncSession, workspace_id: uuid.UUID, ids: Iterable[uuid.UUID], most: int
) -> dict[uuid.UUID, Entity]:
    """What these entities stand for."""
    rows = await (await raw(session)).fetch(entities_statement(), workspace_id, list(ids), most)
    return {row["asked"]: entity_of(row) for row in rows}


async def list_claims(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space: SpaceRow,
    vector: Vector,
    cards: Sequence[uuid.UUID],
    compared: int,
    kept: int,
) -> list[Any]:
    """What these cards claim, nearest first."""
    statement = load(PACKAGE, "explore_claims").replace("{space}", str(int(space.id)))
    rows: list[Any] = await (await raw(session)).fetch(
        statement, workspace_id, HalfVector(vector), list(cards), compared, kept
    )
    return rows


async def list_titles(
    session: AsyncSession, workspace_id: uuid.UUID, keys: Iterable[str], most: int
) -> dict[str, list[Entity]]:
    """Of each key the entities that answer to it and are the title of a card."""
    rows = await (await raw(session)).fetch(titles_statement(), workspace_id, sorted(set(keys)), most)
    found: dict[str, list[Entity]] = {}
    for row in rows:
        found.setdefault(row["key"], []).append(entity_of(row))
    return found


async def list_facts(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    relations: Sequence[uuid.UUID],
    points: Sequence[uuid.UUID],
    most: int,
) -> list[Any]:
    """Whom these relations and claims are about."""
    rows: list[Any] = await (await raw(session)).fetch(
        facts_statement(), workspace_id, list(relations), list(points), most
    )
    return rows


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


async def list_told(
    session: AsyncSession, workspace_id: uuid.UUID, relations: Iterable[uuid.UUID], points: Iterable[uuid.UUID]
) -> list[Any]:
    """What relations and claims say, for paths."""
    rows: list[Any] = await (await raw(session)).fetch(told_statement(), workspace_id, list(relations), list(points))
    return rows


async def get_version(session: AsyncSession, workspace_id: uuid.UUID) -> tuple[Any, ...]:
    """Another one after every write that changes the graph."""
    row = await (await raw(session)).fetchrow(load(PACKAGE, "explore_version"), workspace_id)
    return tuple(row)


async def count_mentions(session: AsyncSession, workspace_id: uuid.UUID, up_to: int) -> int:
    """Mentions of a workspace, counted no further than `up_to`."""
    return int(await (await raw(session)).fetchval(load(PACKAGE, "explore_size"), workspace_id, up_to))


async def get_graph(
    session: AsyncSession, workspace_id: uuid.UUID, cards: Sequence[uuid.UUID] | None
) -> tuple[bytes, bytes]:
    """Mentions and relations, packed; of these cards, or of all (None)."""
    rows = await (await raw(session)).fetch(
        graph_statement(cards is not None), workspace_id, None if cards is None else list(cards)
    )
    parts: tuple[list[bytes], list[bytes]] = ([], [])
    for row in rows:
        parts[row["part"]].append(row["packed"])
    return b"".join(parts[0]), b"".join(parts[1])


async def list_means(session: AsyncSession, workspace_id: uuid.UUID, space: SpaceRow, some: int) -> list[Vector | None]:
    """The mean vectors of the workspace's windows, relations and claims; None where it has none."""
    rows = await (await raw(session)).fetch(means_statement(space.id), workspace_id, some)
    means: list[Vector | None] = [None] * len(_MEANS)
    for row in rows:
        if row["mean"] is not None:
            means[row["kind"]] = np.asarray(row["mean"].to_numpy(), np.float32)
    return means
