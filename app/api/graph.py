"""The graph over HTTP: entities, who is who, and the neighbourhood of a node for drawing."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy.ext.asyncio import AsyncSession

from app.api.deps import Reader, ReadSession, Wired, Writer, WriteSession
from app.api.graph_shapes import (
    CandidateDecision,
    CandidatePage,
    CandidateShape,
    DecisionPage,
    EntityChange,
    EntityDetailShape,
    EntityMerge,
    EntityPage,
    EntitySplit,
    EntityType,
    GraphShape,
    PairState,
    candidate_shape,
    decision_shape,
    detail_shape,
    entity_patch,
    entity_shape,
    graph_shape,
)
from app.api.idempotency import RecordedRoute
from app.api.pages import (
    Cursor,
    Limit,
    decode_counted,
    decode_id,
    decode_position,
    encode,
    encode_counted,
    encode_position,
)
from app.api.text_types import Line
from app.graph import entity_pages as pages
from app.graph import neighbourhood_queries as neighbourhood
from app.graph.community_pages import list_of_entities
from app.graph.entity_pages import PairItem
from app.graph.revision_queries import find_pair, list_sentences
from app.ingestion.link import revise
from app.text.normalise import name_key

router = APIRouter(prefix="/graph", tags=["graph"], route_class=RecordedRoute)

_CONTEXTS = 2
_CONTEXT_CHARACTERS = 240

Nodes = Annotated[int, Query(ge=1, le=500, description="Most nodes")]


@router.get("")
async def get_graph(
    principal: Reader,
    session: ReadSession,
    center: Annotated[uuid.UUID | None, Query(description="An entity, a card or an episode")] = None,
    hops: Annotated[int, Query(ge=1, le=2)] = 1,
    limit: Nodes = 100,
) -> GraphShape:
    """Nodes and edges around the center, the nearest and strongest first; without a center the best connected
    entities.
    """
    workspace_id = principal.workspace_id
    if center is None:
        found = await neighbourhood.get_overview(session, workspace_id, limit)
    else:
        found = await neighbourhood.get_neighbourhood(session, workspace_id, center, hops, limit)
    entities = [node.id for node in found.nodes if node.kind == "entity"]
    return graph_shape(found, await list_of_entities(session, workspace_id, entities))


# --------------------------------------------------------------------------------------- entities


@router.get("/entities")
async def list_entities(
    principal: Reader,
    session: ReadSession,
    limit: Limit = 50,
    cursor: Cursor = None,
    q: Annotated[Line | None, Query(max_length=300, description="A piece of a name or an alias")] = None,
    type: Annotated[EntityType | None, Query(description="person, place, organization, …")] = None,
) -> EntityPage:
    """Those that are mentioned most first."""
    after = decode_counted(cursor)
    key = name_key(q) if q is not None else None
    if key == "":
        return EntityPage(items=[], next_cursor=None)
    found = await pages.list_entities(session, principal.workspace_id, key=key, type_=type, limit=limit, after=after)
    return EntityPage(items=[entity_shape(item) for item in found.items], next_cursor=encode_counted(found.following))


@router.get("/entities/{entity_id}")
async def get_entity(principal: Reader, session: ReadSession, entity_id: uuid.UUID) -> EntityDetailShape:
    """With its mentions, relations and cards. The id of a merged entity gives the one that it stands for."""
    return await _detail(session, principal.workspace_id, entity_id)


@router.patch("/entities/{entity_id}")
async def change_entity(
    principal: Writer, services: Wired, session: WriteSession, entity_id: uuid.UUID, body: EntityChange
) -> EntityDetailShape:
    """Change exactly this entity; the machine leaves it alone from then on."""
    await revise.patch(session, principal.workspace_id, services.pipeline.linker, entity_id, entity_patch(body))
    return await _detail(session, principal.workspace_id, entity_id)


@router.post("/entities/{entity_id}/merge")
async def merge_entity(
    principal: Writer, session: WriteSession, entity_id: uuid.UUID, body: EntityMerge
) -> EntityDetailShape:
    """Let this entity stand for another one; gives that one. It can be undone."""
    await revise.merge(session, principal.workspace_id, entity_id, body.into)
    return await _detail(session, principal.workspace_id, body.into)


@router.post("/entities/{entity_id}/unmerge")
async def unmerge_entity(principal: Writer, session: WriteSession, entity_id: uuid.UUID) -> EntityDetailShape:
    """Undo the merge of this entity, which then stands for itself again."""
    await revise.unmerge(session, principal.workspace_id, entity_id)
    return await _detail(session, principal.workspace_id, entity_id)


@router.post("/entities/{entity_id}/split")
async def split_entity(
    principal: Writer, services: Wired, session: WriteSession, entity_id: uuid.UUID, body: EntitySplit
) -> EntityDetailShape:
    """What some cards say of it becomes an entity of its own, also when they are read again; gives the new one."""
    fresh = await revise.split(
        session, principal.workspace_id, services.pipeline.linker, entity_id, body.cards, body.name
    )
    return await _detail(session, principal.workspace_id, fresh.id)


async def _detail(session: AsyncSession, workspace_id: uuid.UUID, entity_id: uuid.UUID) -> EntityDetailShape:
    found = await pages.get_entity(session, workspace_id, entity_id)
    return detail_shape(found, await neighbourhood.get_degree(session, workspace_id, found.item.id))


# ------------------------------------------------------------------------------------- who is who


@router.get("/candidates")
async def list_candidates(
    principal: Reader, session: ReadSession, limit: Limit = 50, cursor: Cursor = None, state: PairState = "waiting"
) -> CandidatePage:
    """Pairs of entities that may be one, the oldest first."""
    found = await pages.list_pairs(session, principal.workspace_id, state=state, limit=limit, after=decode_id(cursor))
    return CandidatePage(
        items=await _candidates(session, principal.workspace_id, found.items),
        next_cursor=encode(found.following.hex) if found.following is not None else None,
    )


@router.post("/candidates/{pair_id}")
async def decide_candidate(
    principal: Writer, session: WriteSession, pair_id: uuid.UUID, body: CandidateDecision
) -> CandidateShape:
    """Merge the two, or say that they are not one. No machine overrules it."""
    await revise.decide_pair(session, principal.workspace_id, pair_id, body.decision)
    row = await find_pair(session, principal.workspace_id, pair_id)
    if row is None:
        raise revise.PairNotFound
    # It was read before it was decided.
    await session.refresh(row)
    left, right = await pages.list_items(session, principal.workspace_id, [row.left_id, row.right_id])
    pair = PairItem(row.id, left, right, row.layer, row.score, row.state, row.decided_by, row.created_at)
    return (await _candidates(session, principal.workspace_id, [pair]))[0]


@router.get("/decisions")
async def list_decisions(
    principal: Reader,
    session: ReadSession,
    limit: Limit = 50,
    cursor: Cursor = None,
    entity_id: Annotated[uuid.UUID | None, Query(description="Only what was decided about this one")] = None,
) -> DecisionPage:
    """What was decided about who is who, by whom and why; the newest first."""
    found = await pages.list_decisions(
        session, principal.workspace_id, entity_id=entity_id, limit=limit, before=decode_position(cursor)
    )
    return DecisionPage(
        items=[decision_shape(row) for row in found.items], next_cursor=encode_position(found.following)
    )


async def _candidates(
    session: AsyncSession, workspace_id: uuid.UUID, pairs: Sequence[PairItem]
) -> list[CandidateShape]:
    ids = list({side.id for pair in pairs for side in (pair.left, pair.right)})
    contexts = await list_sentences(session, workspace_id, ids, _CONTEXTS, _CONTEXT_CHARACTERS) if ids else {}
    return [candidate_shape(pair, contexts) for pair in pairs]
