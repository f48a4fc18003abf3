"""Entities as people read them: lists, one with all that is said of it, candidates and decisions.

A merged entity is read as the one that it stands for.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, func, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.core.errors import NotFound
from app.db.session import raw
from app.graph.tables import Entity, EntityDecision, EntityName, EntityPair, Mention

MOST_MENTIONS = 200
MOST_RELATIONS = 200
MOST_CARDS = 500

CountPosition = tuple[int, uuid.UUID]
TimePosition = tuple[datetime, uuid.UUID]


class EntityNotFound(NotFound):
    """There is no such entity here."""

    code = "entity_not_found"


@dataclass(frozen=True, slots=True)
class EntityItem:
    """`mentions` and `cards` count those of all that stand for it."""

    id: uuid.UUID
    name: str
    type: str
    description: str
    is_edited: bool
    aliases: Sequence[str]
    mentions: int
    cards: int


@dataclass(frozen=True, slots=True)
class EntityPage:
    items: Sequence[EntityItem]
    following: CountPosition | None


@dataclass(frozen=True, slots=True)
class MergedEntity:
    id: uuid.UUID
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class EntityMention:
    entity_id: uuid.UUID
    card_id: uuid.UUID
    chunk_id: uuid.UUID
    start: int | None
    end: int | None
    name: str


@dataclass(frozen=True, slots=True)
class EntityRelation:
    """`other` is the entity at the other end; `outgoing`: this entity is the source."""

    id: uuid.UUID
    card_id: uuid.UUID
    other_id: uuid.UUID
    other_name: str
    outgoing: bool
    predicate: str
    text: str
    confidence: float


@dataclass(frozen=True, slots=True)
class EntityCard:
    id: uuid.UUID
    title: str
    mentions: int


@dataclass(frozen=True, slots=True)
class EntityDetail:
    """The first of each; the item has the numbers."""

    item: EntityItem
    created_at: datetime
    updated_at: datetime
    merged: Sequence[MergedEntity]
    mentions: Sequence[EntityMention]
    relations: Sequence[EntityRelation]
    cards: Sequence[EntityCard]


@dataclass(frozen=True, slots=True)
class PairItem:
    id: uuid.UUID
    left: EntityItem
    right: EntityItem
    layer: str
    score: float
    state: str
    decided_by: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PairPage:
    items: Sequence[PairItem]
    following: uuid.UUID | None


@dataclass(frozen=True, slots=True)
class DecisionPage:
    items: Sequence[EntityDecision]
    following: TimePosition | None


async def list_entities(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    *,
    key: str | None = None,
    type_: str | None = None,
    limit: int = 50,
    after: CountPosition | None = None,
) -> EntityPage:
    """Those mentioned most first, ties by id. `key`: a piece of a name's key (`name_key` of what was asked for)."""
    counted = _counted(workspace_id).subquery()
    statement = select(counted.c.root, counted.c.mentions).join(
        Entity, and_(Entity.workspace_id == workspace_id, Entity.id == counted.c.root)
    )
    if type_ is not None:
        statement = statement.where(Entity.type == type_)
    if key:
        named = (
            select(func.coalesce(Entity.merged_into, Entity.id))
            .join(EntityName, and_(EntityName.workspace_id == workspace_id, EntityName.entity_id == Entity.id))
            .where(Entity.workspace_id == workspace_id, EntityName.key.contains(key, autoescape=True))
        )
        statement = statement.where(counted.c.root.in_(named))
    if after is not None:
        statement = statement.where(tuple_(-counted.c.mentions, counted.c.root) > tuple_(-after[0], after[1]))
    statement = statement.order_by(counted.c.mentions.desc(), counted.c.root).limit(limit + 1)
    found = (await session.execute(statement)).all()
    items = await list_items(session, workspace_id, [root for root, _ in found[:limit]])
    following = (found[limit - 1][1], found[limit - 1][0]) if len(found) > limit else None
    return EntityPage(items, following)


async def list_items(
    session: AsyncSession, workspace_id: uuid.UUID, entity_ids: Sequence[uuid.UUID]
) -> list[EntityItem]:
    """In the order asked for; those that are gone are left out."""
    rows = await (await raw(session)).fetch(
        """
        SELECT e.id, e.name, e.type, e.description, e.is_edited, named.aliases, counted.mentions, counted.cards
        FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, n)
        JOIN entities e ON e.workspace_id = $1 AND e.id = asked.id
        CROSS JOIN LATERAL (
            SELECT array_agg(DISTINCT n.name) FILTER (WHERE n.key <> e.key) AS aliases
            FROM entity_names n
            WHERE n.workspace_id = $1 AND n.entity_id IN (
                SELECT e.id UNION ALL SELECT o.id FROM entities o WHERE o.workspace_id = $1 AND o.merged_into = e.id
            )
        ) AS named
        CROSS JOIN LATERAL (
            SELECT count(*) AS mentions, count(DISTINCT m.card_id) AS cards
            FROM mentions m
            WHERE m.workspace_id = $1 AND m.entity_id IN (
                SELECT e.id UNION ALL SELECT o.id FROM entities o WHERE o.workspace_id = $1 AND o.merged_into = e.id
            )
        ) AS counted
        ORDER BY asked.n
        """,
        workspace_id,
        list(entity_ids),
    )
    return [_item(row) for row in rows]


async def get_entity(session: AsyncSession, workspace_id: uuid.UUID, entity_id: uuid.UUID) -> EntityDetail:
    """Raises EntityNotFound."""
    asked = await session.execute(
        select(func.coalesce(Entity.merged_into, Entity.id)).where(
            Entity.workspace_id == workspace_id, Entity.id == entity_id
        )
    )
    root_id = asked.scalar_one_or_none()
    if root_id is None:
        raise EntityNotFound
    group = (
        await session.execute(
            select(Entity)
            .where(Entity.workspace_id == workspace_id, or_(Entity.id == root_id, Entity.merged_into == root_id))
            .order_by(Entity.id)
        )
    ).scalars()
    members = {entity.id: entity for entity in group}
    root = members.pop(root_id)
    ids = [root_id, *members]
    (item,) = await list_items(session, workspace_id, [root_id])
    return EntityDetail(
        item=item,
        created_at=root.created_at,
        updated_at=root.updated_at,
        merged=[MergedEntity(entity.id, entity.name, entity.type) for entity in members.values()],
        mentions=await _mentions(session, workspace_id, ids),
        relations=await _relations(session, workspace_id, ids),
        cards=await _cards(session, workspace_id, ids),
    )


async def list_pairs(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    *,
    state: str = "waiting",
    limit: int = 50,
    after: uuid.UUID | None = None,
) -> PairPage:
    """The oldest first. Those whose two have become one in another way are left out."""
    left, right = aliased(Entity), aliased(Entity)
    statement = (
        select(EntityPair, func.coalesce(left.merged_into, left.id), func.coalesce(right.merged_into, right.id))
        .join(left, and_(left.workspace_id == workspace_id, left.id == EntityPair.left_id))
        .join(right, and_(right.workspace_id == workspace_id, right.id == EntityPair.right_id))
        .where(EntityPair.workspace_id == workspace_id, EntityPair.state == state)
        .order_by(EntityPair.id)
        .limit(limit + 1)
    )
    if state != "merged":
        statement = statement.where(
            func.coalesce(left.merged_into, left.id) != func.coalesce(right.merged_into, right.id)
        )
    if after is not None:
        statement = statement.where(EntityPair.id > after)
    found = (await session.execute(statement)).all()
    shown = found[:limit]
    sides = {side for pair, *_ in shown for side in (pair.left_id, pair.right_id)}
    items = {item.id: item for item in await list_items(session, workspace_id, list(sides))}
    return PairPage(
        [
            PairItem(
                id=pair.id,
                left=items[pair.left_id],
                right=items[pair.right_id],
                layer=pair.layer,
                score=pair.score,
                state=pair.state,
                decided_by=pair.decided_by,
                created_at=pair.created_at,
            )
            for pair, *_ in shown
        ],
        shown[-1][0].id if len(found) > limit else None,
    )


async def list_decisions(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    *,
    entity_id: uuid.UUID | None = None,
    limit: int = 50,
    before: TimePosition | None = None,
) -> DecisionPage:
    """The log, newest first; of one entity, where one is given."""
    statement = select(EntityDecision).where(EntityDecision.workspace_id == workspace_id)
    if entity_id is not None:
        statement = statement.where(or_(EntityDecision.left_id == entity_id, EntityDecision.right_id == entity_id))
    if before is not None:
        statement = statement.where(tuple_(EntityDecision.created_at, EntityDecision.id) < tuple_(*before))
    statement = statement.order_by(EntityDecision.created_at.desc(), EntityDecision.id.desc()).limit(limit + 1)
    found = (await session.execute(statement)).scalars().all()
    last = found[limit - 1] if len(found) > limit else None
    return DecisionPage(found[:limit], (last.created_at, last.id) if last is not None else None)


# -------------------------------------------------------------------------------------------- parts


def _counted(workspace_id: uuid.UUID) -> Select[uuid.UUID, int]:
    root = func.coalesce(Entity.merged_into, Entity.id).label("root")
    return (
        select(root, func.count(Mention.entity_id).label("mentions"))
        .select_from(Entity)
        .outerjoin(Mention, and_(Mention.workspace_id == workspace_id, Mention.entity_id == Entity.id))
        .where(Entity.workspace_id == workspace_id)
        .group_by(root)
    )


async def _mentions(session: AsyncSession, workspace_id: uuid.UUID, ids: Sequence[uuid.UUID]) -> list[EntityMention]:
    rows = await session.execute(
        select(Mention.entity_id, Mention.card_id, Mention.chunk_id, Mention.start, Mention.end, Mention.name)
        .where(Mention.workspace_id == workspace_id, Mention.entity_id.in_(ids))
        .order_by(Mention.card_id.desc(), Mention.chunk_id, Mention.ordinal)
        .limit(MOST_MENTIONS)
    )
    return [EntityMention(*row) for row in rows]


async def _relations(session: AsyncSession, workspace_id: uuid.UUID, ids: Sequence[uuid.UUID]) -> list[EntityRelation]:
    rows = await (await raw(session)).fetch(
        """
        SELECT r.id, r.card_id, coalesce(o.merged_into, o.id) AS other_id, root.name AS other_name, r.outgoing,
               r.predicate, r.text, r.confidence
        FROM (
            (SELECT s.*, true AS outgoing, s.target_id AS other FROM relations s
             WHERE s.workspace_id = $1 AND s.source_id = ANY ($2::uuid[]) ORDER BY s.id DESC LIMIT $3)
            UNION ALL
            (SELECT t.*, false, t.source_id FROM relations t
             WHERE t.workspace_id = $1 AND t.target_id = ANY ($2::uuid[]) ORDER BY t.id DESC LIMIT $3)
        ) AS r
        JOIN entities o ON o.workspace_id = $1 AND o.id = r.other
        JOIN entities root ON root.workspace_id = $1 AND root.id = coalesce(o.merged_into, o.id)
        WHERE coalesce(o.merged_into, o.id) <> ALL ($2::uuid[])
        ORDER BY r.id DESC
        LIMIT $3
        """,
        workspace_id,
        list(ids),
        MOST_RELATIONS,
    )
    return [EntityRelation(**dict(row)) for row in rows]


async def _cards(session: AsyncSession, workspace_id: uuid.UUID, ids: Sequence[uuid.UUID]) -> list[EntityCard]:
    rows = await (await raw(session)).fetch(
        """
        SELECT c.id, c.title, named.mentions
        FROM (
            SELECT m.card_id, count(*) AS mentions FROM mentions m
            WHERE m.workspace_id = $1 AND m.entity_id = ANY ($2::uuid[])
            GROUP BY m.card_id
        ) AS named
        JOIN cards c ON c.workspace_id = $1 AND c.id = named.card_id AND c.trashed_at IS NULL
        ORDER BY named.mentions DESC, c.id DESC
        LIMIT $3
        """,
        workspace_id,
        list(ids),
        MOST_CARDS,
    )
    return [EntityCard(**dict(row)) for row in rows]


def _item(row: Any) -> EntityItem:
    return EntityItem(
        id=row["id"],
        name=row["name"],
        type=row["type"],
        description=row["description"],
        is_edited=row["is_edited"],
        aliases=tuple(alias for alias in row["aliases"] or () if alias != row["name"]),
        mentions=row["mentions"],
        cards=row["cards"],
    )
