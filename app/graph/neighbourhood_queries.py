"""The graph around a node, as it is drawn: entities, cards and episodes, and what joins them.

Two entities are joined by statements, a card and an entity by mentions, an episode and an entity by a role or a claim,
an episode and a card where the one tells the other. A merged entity is the one that it stands for. Everything is capped
and in a fixed order: the same graph gives the same answer.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import NotFound
from app.db.session import raw
from app.db.sql import load

NodeKind = Literal["entity", "card", "episode"]
EdgeKind = Literal["relation", "mention", "role", "told_by"]

KINDS: Final[tuple[NodeKind, ...]] = ("entity", "card", "episode")
MOST_PER_ENTITY: Final = 200
"""Cards, roles and claims of one entity that are looked at, the newest."""
EDGES_PER_NODE: Final = 8


class NodeNotFound(NotFound):
    """There is no entity, card or episode with this id here."""

    code = "graph_node_not_found"


@dataclass(frozen=True, slots=True)
class Node:
    """`degree`: how many entities it is joined to, shown or not."""

    id: uuid.UUID
    kind: NodeKind
    label: str
    degree: int


@dataclass(frozen=True, slots=True)
class Edge:
    """`weight`: the confidence of all statements together, or how often. `label`: the predicate, or the role."""

    id: str
    source: uuid.UUID
    target: uuid.UUID
    kind: EdgeKind
    label: str
    weight: float


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    nodes: Sequence[Node]
    edges: Sequence[Edge]


async def get_neighbourhood(
    session: AsyncSession, workspace_id: uuid.UUID, center: uuid.UUID, hops: int, limit: int
) -> Neighbourhood:
    """What is nearest comes first, `limit` nodes with the center. Raises NodeNotFound."""
    found = _by_kind({})
    kind, root = await _center(session, workspace_id, center)
    found[kind].append(root)
    frontier, known = found, [root]
    for _ in range(hops):
        room = limit - len(known)
        if room <= 0:
            break
        fresh = await _neighbours(session, workspace_id, frontier, known, room)
        if not any(fresh.values()):
            break
        found = {kind: [*found[kind], *fresh[kind]] for kind in KINDS}
        known = [node for kind in KINDS for node in found[kind]]
        frontier = fresh
    return await _drawn(session, workspace_id, found, limit)


async def get_overview(session: AsyncSession, workspace_id: uuid.UUID, limit: int) -> Neighbourhood:
    """The best connected entities, and what joins them."""
    rows = await (await raw(session)).fetch(load("app.graph", "best_connected"), workspace_id, limit)
    return await _drawn(session, workspace_id, _by_kind({"entity": [row["id"] for row in rows]}), limit)


async def get_degree(session: AsyncSession, workspace_id: uuid.UUID, entity_id: uuid.UUID) -> int:
    """How many other entities statements join this one to; 0 for one that is not there, or merged into another."""
    nodes = await _nodes(session, workspace_id, _by_kind({"entity": [entity_id]}))
    return nodes[0].degree if nodes else 0


# -------------------------------------------------------------------------------------------- parts

_Ids = Mapping[NodeKind, list[uuid.UUID]]


def _by_kind(ids: Mapping[NodeKind, list[uuid.UUID]]) -> dict[NodeKind, list[uuid.UUID]]:
    return {kind: list(ids.get(kind, ())) for kind in KINDS}


def _lists(ids: _Ids) -> list[list[uuid.UUID]]:
    return [ids[kind] for kind in KINDS]


async def _center(session: AsyncSession, workspace_id: uuid.UUID, center: uuid.UUID) -> tuple[NodeKind, uuid.UUID]:
    row = await (await raw(session)).fetchrow(
        """
        SELECT 0 AS kind, coalesce(merged_into, id) AS id FROM entities WHERE workspace_id = $1 AND id = $2
        UNION ALL
        SELECT 1, id FROM cards WHERE workspace_id = $1 AND id = $2 AND trashed_at IS NULL
        UNION ALL
        SELECT 2, id FROM episodes WHERE workspace_id = $1 AND id = $2
        """,
        workspace_id,
        center,
    )
    if row is None:
        raise NodeNotFound
    return KINDS[row["kind"]], row["id"]


async def _neighbours(
    session: AsyncSession, workspace_id: uuid.UUID, frontier: _Ids, known: Sequence[uuid.UUID], room: int
) -> dict[NodeKind, list[uuid.UUID]]:
    rows = await (await raw(session)).fetch(
        load("app.graph", "neighbours"), workspace_id, *_lists(frontier), list(known), room, MOST_PER_ENTITY
    )
    fresh = _by_kind({})
    for row in rows:
        fresh[KINDS[row["kind"]]].append(row["id"])
    return fresh


async def _drawn(session: AsyncSession, workspace_id: uuid.UUID, ids: _Ids, limit: int) -> Neighbourhood:
    nodes = await _nodes(session, workspace_id, ids)
    rows: list[Any] = await (await raw(session)).fetch(
        load("app.graph", "edges"), workspace_id, *_lists(ids), limit * EDGES_PER_NODE
    )
    return Neighbourhood(nodes, [Edge(**dict(row)) for row in rows])


async def _nodes(session: AsyncSession, workspace_id: uuid.UUID, ids: _Ids) -> list[Node]:
    rows: list[Any] = await (await raw(session)).fetch(load("app.graph", "nodes"), workspace_id, *_lists(ids))
    return [Node(**dict(row)) for row in rows]
