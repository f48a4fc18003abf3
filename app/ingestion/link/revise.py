"""What people change about entities: merge, unmerge, split, edit, decide. Each in the caller's unit of work.

Their word is final: it is logged by name, and the linker follows it, also when the entities have gone and
come back. Nothing here looks for something similar: an id means that entity (C11).
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import Conflict, Invalid, NotFound
from app.core.ids import new_id
from app.graph import cone_queries, entity_queries, revision_queries
from app.graph.entity_pages import EntityNotFound
from app.graph.entity_queries import Decision, EntityNameRow, Side, StoredEntity
from app.graph.kinds import compatible, kind_of, type_of
from app.graph.name_queries import note_names
from app.ingestion.link.linker import Linker
from app.ingestion.link.shapes import shown
from app.jobs.job import NewJob
from app.jobs.queue import enqueue
from app.text.normalise import clean, name_key

LINK: Final = "link"
"""The kind of job that embeds what was changed, and asks a model about waiting pairs."""
LONGEST_DESCRIPTION: Final = 2000
MOST_ALIASES: Final = 50

By = Literal["user", "llm", "rule"]
PairDecision = Literal["merge", "apart"]


class PairNotFound(NotFound):
    """There is no such pair of entities here."""

    code = "entity_pair_not_found"


class NotMergeable(Conflict):
    """These two are one entity already."""

    code = "entity_not_mergeable"


class NotMerged(Conflict):
    """This entity is not merged into another one."""

    code = "entity_not_merged"


class NotSplittable(Conflict):
    """These cards do not mention the entity, or no others do; there is nothing to split."""

    code = "entity_not_splittable"


class NameTaken(Conflict):
    """Another entity has this name; merge the two, or choose another name."""

    code = "entity_name_taken"


class PairDecided(Conflict):
    """This pair has already been decided otherwise."""

    code = "entity_pair_decided"


class BadEntity(Invalid):
    """A name is blank, or a text too long."""

    code = "entity_invalid"


@dataclass(frozen=True, slots=True)
class EntityPatch:
    """What shall change; None: stays as it is. `aliases` replaces all of them."""

    name: str | None = None
    type: str | None = None
    description: str | None = None
    aliases: Sequence[str] | None = None


async def merge(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    source_id: uuid.UUID,
    into_id: uuid.UUID,
    *,
    by: By = "user",
    layer: str = "user",
    score: float | None = None,
    detail: dict[str, Any] | None = None,
) -> StoredEntity:
    """Let one entity, and all that stand for it, stand for another; gives that one.

    Raises EntityNotFound, NotMergeable.
    """
    await cone_queries.lock_graph(session, workspace_id)
    source = await _root(session, workspace_id, await _get(session, workspace_id, source_id))
    into = await _root(session, workspace_id, await _get(session, workspace_id, into_id))
    if source.id == into.id:
        raise NotMergeable
    groups = await entity_queries.list_groups(session, workspace_id, [source.id, into.id])
    members, others = ([side.id for side in groups[one.id]] for one in (source, into))
    moved = [member for member in members if member != source.id]
    await entity_queries.set_merged(session, workspace_id, members, into.id)
    await revision_queries.settle_pairs(session, workspace_id, members, others, "merged", by)
    told = {**({"moved": [str(member) for member in moved]} if moved else {}), **(detail or {})}
    await _log(session, workspace_id, _side(source), _side(into), "merged", by, layer, score, told)
    return into


async def unmerge(session: AsyncSession, workspace_id: uuid.UUID, entity_id: uuid.UUID) -> StoredEntity:
    """Let an entity stand for itself again, and for those that it brought along. Raises EntityNotFound, NotMerged."""
    await cone_queries.lock_graph(session, workspace_id)
    entity = await _get(session, workspace_id, entity_id)
    if entity.merged_into is None:
        raise NotMerged
    into = await _get(session, workspace_id, entity.merged_into)
    groups = await entity_queries.list_groups(session, workspace_id, [into.id])
    present = {side.id for side in groups[into.id]} - {into.id}
    brought = [m for m in await revision_queries.find_last_merge(session, workspace_id, entity.id) if m in present]
    await entity_queries.set_merged(session, workspace_id, [entity.id], None)
    if brought:
        await entity_queries.set_merged(session, workspace_id, brought, entity.id)
    gone = [entity.id, *brought]
    stay = [into.id, *(member for member in present if member not in gone)]
    await revision_queries.settle_pairs(session, workspace_id, gone, stay, "apart", "user")
    await _log(session, workspace_id, _side(entity), _side(into), "unmerged", "user")
    return replace(entity, merged_into=None)


async def split(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    linker: Linker,
    entity_id: uuid.UUID,
    card_ids: Sequence[uuid.UUID],
    name: str | None = None,
) -> StoredEntity:
    """What these cards mention becomes an entity of its own, and stays one when they are read again; gives it.

    Raises EntityNotFound, NotSplittable, BadEntity.
    """
    await cone_queries.lock_graph(session, workspace_id)
    entity = await _root(session, workspace_id, await _get(session, workspace_id, entity_id))
    fresh_name = entity.name if name is None else _name(name)
    key = name_key(fresh_name)
    sense = await entity_queries.next_sense(session, workspace_id, key, entity.kind)
    fresh = replace(
        entity,
        id=new_id(),
        name=fresh_name,
        key=key,
        sense=sense,
        description="",
        is_edited=False,
        names=(EntityNameRow(key, fresh_name, "user"),),
    )
    group = [side.id for side in (await entity_queries.list_groups(session, workspace_id, [entity.id]))[entity.id]]
    await linker.create(session, workspace_id, fresh)
    used = await revision_queries.move_card(session, workspace_id, card_ids, group, fresh.id)
    left = await revision_queries.count_mentions(session, workspace_id, [entity.id])
    if not used or not left:
        raise NotSplittable
    keys = {name_key(shown(used_name)) for used_name in used} | {row.key for row in entity.names} | {key}
    await revision_queries.set_places(session, workspace_id, card_ids, sorted(keys - {""}), fresh.id)
    cards = {"cards": [str(card_id) for card_id in card_ids]}
    await _log(session, workspace_id, _side(fresh), _side(entity), "split", "user", detail=cards)
    await _follow_up(session, workspace_id)
    return fresh


async def patch(
    session: AsyncSession, workspace_id: uuid.UUID, linker: Linker, entity_id: uuid.UUID, changes: EntityPatch
) -> StoredEntity:
    """Edit exactly this entity; from then on the machine leaves it alone. An old name stays an alias, unless `aliases`
    are given. Raises EntityNotFound, NameTaken, BadEntity.
    """
    await cone_queries.lock_graph(session, workspace_id)
    before = await _get(session, workspace_id, entity_id)
    name = before.name if changes.name is None else _name(changes.name)
    type_ = before.type if changes.type is None else type_of(changes.type)
    kind = before.kind if changes.type is None else kind_of(type_)
    key = name_key(name)
    sense = before.sense
    if (key, kind) != (before.key, before.kind):
        await _must_be_free(session, workspace_id, before, key, kind)
        sense = await entity_queries.next_sense(session, workspace_id, key, kind)
    description = before.description if changes.description is None else clean(changes.description).strip()
    if len(description) > LONGEST_DESCRIPTION:
        raise BadEntity(f"A description has at most {LONGEST_DESCRIPTION} characters.")
    names = {row.key: row for row in before.names}
    if changes.aliases is not None:
        if len(changes.aliases) > MOST_ALIASES:
            raise BadEntity(f"An entity has at most {MOST_ALIASES} aliases.")
        names = {
            name_key(alias): EntityNameRow(name_key(alias), alias, "user") for alias in map(_name, changes.aliases)
        }
        for alias in names.keys() - {row.key for row in before.names}:
            await _must_be_free(session, workspace_id, before, alias, kind)
    names[key] = EntityNameRow(key, name, "user")
    after = replace(
        before,
        name=name,
        key=key,
        kind=kind,
        sense=sense,
        type=type_,
        description=description,
        names=tuple(names[at] for at in sorted(names)),
        is_edited=True,
    )
    await linker.edit(session, workspace_id, after)
    if after.names != before.names:
        await note_names(session, workspace_id, [after.id])
    await entity_queries.delete_all_vectors(session, workspace_id, [after.id])
    await _log(session, workspace_id, _side(before), _side(after), "edited", "user")
    for row in before.names:
        # A name that somebody takes away is somebody else's.
        if row.key not in names:
            side = Side(after.id, row.key, after.kind, row.name)
            await _log(session, workspace_id, side, _side(after), "apart", "user", "alias")
    await _follow_up(session, workspace_id)
    return after


async def decide_pair(
    session: AsyncSession, workspace_id: uuid.UUID, pair_id: uuid.UUID, decision: PairDecision
) -> None:
    """A person's answer to a candidate; the same answer again changes nothing. Raises PairNotFound, PairDecided."""
    await cone_queries.lock_graph(session, workspace_id)
    pair = await revision_queries.find_pair(session, workspace_id, pair_id)
    if pair is None:
        raise PairNotFound
    if pair.state != "waiting":
        if (pair.state == "merged") == (decision == "merge"):
            return
        raise PairDecided
    await answer_pair(session, workspace_id, pair.left_id, pair.right_id, decision, by="user", layer=pair.layer)


async def answer_pair(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    left_id: uuid.UUID,
    right_id: uuid.UUID,
    decision: PairDecision,
    *,
    by: By,
    layer: str,
    detail: dict[str, Any] | None = None,
) -> None:
    """Of two that are merged the one that is mentioned more stays. A pair that is one already is settled as that."""
    left = await _root(session, workspace_id, await _get(session, workspace_id, left_id))
    right = await _root(session, workspace_id, await _get(session, workspace_id, right_id))
    if left.id == right.id:
        await revision_queries.settle_pairs(session, workspace_id, [left_id], [right_id], "merged", by)
        return
    if decision == "merge":
        counts = await revision_queries.count_mentions(session, workspace_id, [left.id, right.id])
        more = sorted((left, right), key=lambda one: (-counts.get(one.id, 0), not one.is_edited, one.id))
        await merge(session, workspace_id, more[1].id, more[0].id, by=by, layer=layer, detail=detail)
        await revision_queries.settle_pairs(session, workspace_id, [left_id], [right_id], "merged", by)
        return
    # Between the two that were asked about, not their groups: only these two were looked at.
    one, other = await _get(session, workspace_id, left_id), await _get(session, workspace_id, right_id)
    await revision_queries.settle_pairs(session, workspace_id, [left_id], [right_id], "apart", by)
    await _log(session, workspace_id, _side(one), _side(other), "apart", by, layer, detail=detail)


# ------------------------------------------------------------------------------------------- details


async def _get(session: AsyncSession, workspace_id: uuid.UUID, entity_id: uuid.UUID) -> StoredEntity:
    found = await entity_queries.list_stored(session, workspace_id, ids=[entity_id])
    if not found:
        raise EntityNotFound
    return found[0]


async def _root(session: AsyncSession, workspace_id: uuid.UUID, entity: StoredEntity) -> StoredEntity:
    return entity if entity.merged_into is None else await _get(session, workspace_id, entity.merged_into)


async def _must_be_free(
    session: AsyncSession, workspace_id: uuid.UUID, entity: StoredEntity, key: str, kind: str
) -> None:
    for other in await entity_queries.list_stored(session, workspace_id, keys=[key]):
        if other.key == key and compatible(other.kind, kind) and other.root != entity.root:
            raise NameTaken(entity_id=str(other.root))


def _name(name: str) -> str:
    told = shown(name)
    if not name_key(told):
        raise BadEntity("A name must have at least one letter, digit or sign.")
    return told


def _side(entity: StoredEntity) -> Side:
    return Side(entity.id, entity.key, entity.kind, entity.name)


async def _log(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    left: Side,
    right: Side,
    outcome: str,
    by: By,
    layer: str = "user",
    score: float | None = None,
    detail: dict[str, Any] | None = None,
) -> None:
    decision = Decision(left, right, layer, score, outcome, by, detail or {})
    await entity_queries.insert_decisions(session, workspace_id, [decision])


async def _follow_up(session: AsyncSession, workspace_id: uuid.UUID) -> None:
    """Changed entities get their vectors outside of this unit of work."""
    await enqueue(session, NewJob(LINK, workspace_id, dedupe_key=LINK))
