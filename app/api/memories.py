"""What the assistant remembers, over HTTP: read, write, archive, undo; what fades; what waits for the user's word."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response
from sqlalchemy.ext.asyncio import AsyncSession

from app.api.deps import Reader, ReadSession, Wired, Writer, WriteSession
from app.api.etag import IfMatch, etag, expected_version
from app.api.idempotency import RecordedRoute
from app.api.memory_shapes import (
    DecidedShape,
    FadingPage,
    MemoryChange,
    MemoryCreate,
    MemoryShape,
    MemoryVersionShape,
    PinBody,
    ProposalCreate,
    ProposalDecision,
    ProposalDecisionById,
    ProposalShape,
    WrittenMemory,
    change_of,
    fading_shape,
    memory_shape,
    patch_of,
    proposal_shape,
    version_shape,
    written_shape,
)
from app.api.pages import Cursor, Limit, Page, cut, decode_id, decode_number, encode
from app.api.text_types import Text
from app.core.clock import now
from app.memory import queries
from app.memory.change import USER, Author, Change, Status
from app.memory.decay import due_within
from app.memory.recall import age_of
from app.text.normalise import fold
from app.wiring import Services

router = APIRouter(prefix="/memories", tags=["memory"], route_class=RecordedRoute)

SlugInPath = Annotated[Text, Path(max_length=300)]
Days = Annotated[float, Query(ge=0, le=36_500, allow_inf_nan=False)]
_PROPOSED = Author("llm", is_tainted=True)


@router.get("")
async def list_memories(
    principal: Reader, session: ReadSession, limit: Limit = 50, cursor: Cursor = None, status: Status | None = None
) -> Page[MemoryShape]:
    """The newest first, of every status unless one is named."""
    rows = await queries.list_memories(
        session, principal.workspace_id, status, before=decode_id(cursor), limit=limit + 1
    )
    page, last = cut(rows, limit)
    return Page[MemoryShape](
        items=[memory_shape(row) for row in page], next_cursor=encode(last.id.hex) if last is not None else None
    )


@router.post("", status_code=201, responses={200: {"model": WrittenMemory, "description": "It was there already"}})
async def create_memory(
    principal: Writer,
    services: Wired,
    session: WriteSession,
    body: MemoryCreate,
    request: Request,
    response: Response,
    upsert: bool = False,
) -> WrittenMemory:
    """Have something remembered. What another memory says already is not written again: that one is given (200).

    Secrets in it (keys, passwords, card and identity numbers) are taken out before it is stored. With `upsert=true` a
    memory with this slug is changed (200).
    """
    prepared = await services.memories.prepare(change_of(body, upsert=upsert))
    edited = await services.memories.apply(session, principal.workspace_id, prepared, USER)
    assert edited.memory is not None
    response.status_code = 201 if edited.outcome == "created" else 200
    response.headers["ETag"] = etag(edited.memory.version)
    response.headers["Location"] = f"{request.url.path}/{quote(edited.memory.slug)}"
    return written_shape(edited)


# ----------------------------------------------------------------------------------------- fading


@router.get("/decay")
async def simulate_decay(
    principal: Reader,
    services: Wired,
    session: ReadSession,
    days: Days = 60,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> FadingPage:
    """What would be archived in so many days if nothing was used until then, the first one first."""
    at, mode = now(), services.settings.decay_mode
    known = await queries.list_memories(session, principal.workspace_id, queries.ACTIVE)
    memories = [one for one in known if not one.pinned]
    due = [memories[place] for place in due_within([age_of(one) for one in memories], at, days, mode)]
    start = decode_number(cursor) or 0
    then = at + timedelta(days=days)
    return FadingPage(
        days=days,
        at=then,
        mode=mode,
        items=[fading_shape(one, then, mode) for one in due[start : start + limit]],
        next_cursor=encode(start + limit) if len(due) > start + limit else None,
    )


# -------------------------------------------------------------------------------------- proposals


@router.get("/proposals")
async def list_proposals(
    principal: Reader, session: ReadSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[ProposalShape]:
    """What models asked for while text that nobody vouches for was before them, the oldest first."""
    rows = await queries.list_proposals(session, principal.workspace_id, after=decode_id(cursor), limit=limit + 1)
    page, last = cut(rows, limit)
    return Page[ProposalShape](
        items=[proposal_shape(row) for row in page],
        next_cursor=encode(last.proposal.id.hex) if last is not None else None,
    )


@router.post("/proposals", responses={201: {"model": WrittenMemory, "description": "A new proposal"}})
async def decide_or_propose(
    principal: Writer,
    services: Wired,
    session: WriteSession,
    body: ProposalDecisionById | ProposalCreate,
    response: Response,
) -> DecidedShape | WrittenMemory:
    """Decide about a proposal (`{id, decision}`), or make one (a memory's fields), which then waits for a decision."""
    if isinstance(body, ProposalDecisionById):
        return await _decided(services, session, principal.workspace_id, body.id, body)
    prepared = await services.memories.prepare(change_of(body), _PROPOSED)
    edited = await services.memories.apply(session, principal.workspace_id, prepared, _PROPOSED)
    response.status_code = 201 if edited.outcome == "proposed" else 200
    return written_shape(edited)


@router.post("/proposals/{proposal_id}")
async def decide_proposal(
    principal: Writer, services: Wired, session: WriteSession, proposal_id: uuid.UUID, body: ProposalDecision
) -> DecidedShape:
    """Do what was proposed, or forget it."""
    return await _decided(services, session, principal.workspace_id, proposal_id, body)


async def _decided(
    services: Services, session: AsyncSession, workspace_id: uuid.UUID, proposal_id: uuid.UUID, body: ProposalDecision
) -> DecidedShape:
    memory = await services.memories.decide(session, workspace_id, proposal_id, accept=body.decision == "accept")
    return DecidedShape.model_construct(
        id=proposal_id, decision=body.decision, memory=memory_shape(memory) if memory is not None else None
    )


# --------------------------------------------------------------------------------------- one of them


@router.get("/{slug}")
async def get_memory(principal: Reader, session: ReadSession, slug: SlugInPath, response: Response) -> MemoryShape:
    memory = await queries.get_memory(session, principal.workspace_id, fold(slug))
    response.headers["ETag"] = etag(memory.version)
    return memory_shape(memory)


@router.patch("/{slug}")
async def update_memory(
    principal: Writer,
    services: Wired,
    session: WriteSession,
    slug: SlugInPath,
    body: MemoryChange,
    response: Response,
    if_match: IfMatch = None,
) -> MemoryShape:
    """Change some of it, also what is archived or only proposed."""
    change = patch_of(fold(slug), body, expected_version(if_match))
    pinned = body.pinned if "pinned" in body.model_fields_set else None
    memory = await services.memories.revise(session, principal.workspace_id, change, pinned=pinned)
    response.headers["ETag"] = etag(memory.version)
    return memory_shape(memory)


@router.delete("/{slug}", status_code=204)
async def delete_memory(
    principal: Writer, services: Wired, session: WriteSession, slug: SlugInPath, if_match: IfMatch = None
) -> None:
    """For good, with all versions. To keep it from prompts alone, archive it."""
    await services.memories.remove(session, principal.workspace_id, fold(slug), expected_version(if_match))


@router.get("/{slug}/versions")
async def list_memory_versions(
    principal: Reader, session: ReadSession, slug: SlugInPath, limit: Limit = 50, cursor: Cursor = None
) -> Page[MemoryVersionShape]:
    """How it looked and who made it so, the newest first."""
    memory = await queries.get_memory(session, principal.workspace_id, fold(slug))
    rows = await queries.list_versions(session, memory, limit + 1, decode_number(cursor))
    page, last = cut(rows, limit)
    return Page[MemoryVersionShape](
        items=[version_shape(row) for row in page], next_cursor=encode(last.n) if last is not None else None
    )


@router.post("/{slug}/archive")
async def archive_memory(
    principal: Writer,
    services: Wired,
    session: WriteSession,
    slug: SlugInPath,
    response: Response,
    if_match: IfMatch = None,
) -> MemoryShape:
    """Out of every prompt; it can be restored."""
    change = Change("archive", fold(slug), expected_version=expected_version(if_match))
    return await _changed(services, session, principal.workspace_id, change, response)


@router.post("/{slug}/restore")
async def restore_memory(
    principal: Writer,
    services: Wired,
    session: WriteSession,
    slug: SlugInPath,
    response: Response,
    if_match: IfMatch = None,
) -> MemoryShape:
    """As it was before it was archived, type and versions included. Counts as a use."""
    change = Change("restore", fold(slug), expected_version=expected_version(if_match))
    return await _changed(services, session, principal.workspace_id, change, response)


@router.post("/{slug}/pin")
async def pin_memory(
    principal: Writer,
    services: Wired,
    session: WriteSession,
    slug: SlugInPath,
    response: Response,
    body: PinBody | None = None,
) -> MemoryShape:
    """No model may change it, and it does not fade; with `pinned` false, no longer."""
    memory = await services.memories.pin(
        session, principal.workspace_id, fold(slug), pinned=body.pinned if body else True
    )
    response.headers["ETag"] = etag(memory.version)
    return memory_shape(memory)


@router.post("/{slug}/undo")
async def undo_memory(
    principal: Writer,
    services: Wired,
    session: WriteSession,
    slug: SlugInPath,
    response: Response,
    if_match: IfMatch = None,
) -> MemoryShape:
    """As it was before the last change, whoever made it; once more: before the one before."""
    memory = await services.memories.undo(session, principal.workspace_id, fold(slug), expected_version(if_match))
    response.headers["ETag"] = etag(memory.version)
    return memory_shape(memory)


async def _changed(
    services: Services, session: AsyncSession, workspace_id: uuid.UUID, change: Change, response: Response
) -> MemoryShape:
    prepared = await services.memories.prepare(change)
    edited = await services.memories.apply(session, workspace_id, prepared, USER)
    assert edited.memory is not None
    response.headers["ETag"] = etag(edited.memory.version)
    return memory_shape(edited.memory)
