"""Changing memories, one story for the user, the model and what reflects on turns.

prepare (secrets out, importance clamped, embedded: no session) → apply (one unit of work: lock, find, decide, write a
version). Knows nothing of chat: a tool, a job and a route call it.
"""

from __future__ import annotations

import uuid
from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.log import get
from app.db.session import Database
from app.index.spaces import Spaces
from app.memory import queries
from app.memory.change import (
    USER,
    Author,
    Change,
    Edited,
    Embedded,
    Look,
    MemoryProposed,
    NothingToUndo,
    Prepared,
    ProposalStale,
    change_of,
    changed,
    embedded_text,
    look_of,
    new_look,
    sanitised,
    text_hash,
)
from app.memory.desk import Desk, check_room, check_version
from app.memory.near import Reader
from app.memory.settings import MemorySettings
from app.memory.tables import Memory
from app.providers.ports import ProviderError

log = get(__name__)


class Editing:
    def __init__(self, database: Database, spaces: Spaces, reader: Reader, settings: MemorySettings) -> None:
        self._database = database
        self._spaces = spaces
        self._reader = reader
        self._settings = settings

    async def edit(self, workspace_id: uuid.UUID, change: Change, author: Author) -> Edited:
        """Prepare and apply in a unit of work of its own. Raises as they do."""
        prepared = await self.prepare(change, author)
        async with self._database.unit() as session:
            return await self.apply(session, workspace_id, prepared, author)

    async def prepare(self, change: Change, author: Author = USER) -> Prepared:
        """What may be stored of a change. Holds no session of anybody. Raises Invalid."""
        bare, redacted = sanitised(change, by_user=author.is_user)
        if bare.action not in ("create", "upsert") or bare.body is None:
            return Prepared(bare, redacted)
        look = new_look(bare, "active")
        return Prepared(bare, redacted, await self._embed(look))

    async def apply(self, session: AsyncSession, workspace_id: uuid.UUID, prepared: Prepared, author: Author) -> Edited:
        """Raises NotFound, Conflict, Invalid or VersionMismatch, each with a code of its own."""
        desk = Desk(session, workspace_id, author, self._settings, self._reader)
        change = prepared.change
        if change.action in ("list", "view"):
            edited = await desk.look(change)
        else:
            await queries.lock_memories(session, workspace_id)
            edited = await desk.change(prepared)
        return replace(edited, redacted=prepared.redacted)

    # ------------------------------------------------------------------------------- the user's

    async def pin(self, session: AsyncSession, workspace_id: uuid.UUID, slug: str, *, pinned: bool) -> Memory:
        """Keep it from models and from fading, or no longer. Raises MemoryNotFound, MemoryProposed."""
        memory = await self._held(session, workspace_id, slug)
        if memory.status == "proposed":
            raise MemoryProposed
        if memory.pinned is not pinned:
            look = replace(look_of(memory), pinned=pinned)
            await queries.save_look(session, memory, look, USER, "pin" if pinned else "unpin", now())
        return memory

    async def undo(
        self, session: AsyncSession, workspace_id: uuid.UUID, slug: str, expected_version: int | None = None
    ) -> Memory:
        """Back to how it looked before the last change, as a new version; again: one further back.

        Raises MemoryNotFound, MemoryProposed, VersionMismatch, NothingToUndo, MemoriesFull.
        """
        memory = await self._held(session, workspace_id, slug)
        check_version(memory, expected_version)
        if memory.status == "proposed":
            raise MemoryProposed
        current = await queries.find_version(session, memory, memory.version)
        earlier = await queries.find_version(session, memory, current.same_as - 1) if current else None
        if earlier is None or earlier.status == "proposed":
            raise NothingToUndo
        look = look_of(earlier)
        if memory.status == "archived" and look.status == "active":
            await check_room(session, workspace_id, self._settings)
            memory.last_used_at = now()
        await queries.save_look(session, memory, look, USER, "undo", now(), same_as=earlier.same_as)
        return memory

    async def remove(
        self, session: AsyncSession, workspace_id: uuid.UUID, slug: str, expected_version: int | None = None
    ) -> None:
        """For good, with all versions: for users alone. Raises MemoryNotFound, VersionMismatch."""
        memory = await self._held(session, workspace_id, slug)
        check_version(memory, expected_version)
        await queries.delete_memory(session, memory)

    async def revise(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        change: Change,
        *,
        pinned: bool | None = None,
    ) -> Memory:
        """A user's change of some fields. Raises MemoryNotFound, VersionMismatch, Invalid."""
        change, _ = sanitised(change, by_user=True)
        memory = await self._held(session, workspace_id, change.slug or "")
        check_version(memory, change.expected_version)
        look = changed(look_of(memory), change)
        if pinned is not None and memory.status != "proposed":
            look = replace(look, pinned=pinned)
        if look != look_of(memory):
            await queries.save_look(session, memory, look, USER, "update", now())
        return memory

    async def decide(
        self, session: AsyncSession, workspace_id: uuid.UUID, proposal_id: uuid.UUID, *, accept: bool
    ) -> Memory | None:
        """What a model proposed is done, or forgotten: then a memory that was never more than proposed is gone (None).

        Raises ProposalNotFound, ProposalStale, and as `apply`.
        """
        await queries.lock_memories(session, workspace_id)
        found = await queries.get_proposal(session, workspace_id, proposal_id)
        memory, proposal = found.memory, found.proposal
        by_user = replace(USER, message_id=proposal.message_id)
        if memory.status == "proposed":
            if not accept:
                await queries.delete_memory(session, memory)
                return None
            await queries.delete_proposals(session, memory)
            await check_room(session, workspace_id, self._settings)
            look = replace(look_of(memory), status="active")
            # Confirming counts as a use, however long it waited.
            memory.last_used_at = now()
            await queries.save_look(session, memory, look, by_user, "accept", now())
            return memory
        await queries.delete_proposal(session, proposal)
        if accept:
            if proposal.action == "upsert" and proposal.base_version != memory.version:
                raise ProposalStale
            desk = Desk(session, workspace_id, by_user, self._settings, self._reader)
            await desk.perform(memory, change_of(proposal.action, memory.slug, proposal.change))
        return memory

    async def _held(self, session: AsyncSession, workspace_id: uuid.UUID, slug: str) -> Memory:
        await queries.lock_memories(session, workspace_id)
        return await queries.get_memory(session, workspace_id, slug)

    async def _embed(self, look: Look) -> Embedded | None:
        """None where that cannot be had: words alone decide then, and the vector is made later."""
        async with self._database.read() as session:
            space = await queries.find_space(session)
        embedder = self._spaces.find(space.key) if space else None
        if space is None or embedder is None:
            return None
        try:
            embeddings = await embedder.passages([embedded_text(look.title, look.body)])
        except ProviderError as error:
            log.warning("memory_not_embedded", code=error.code)
            return None
        return Embedded(space.id, embedder.space.model, text_hash(look.title, look.body), embeddings.dense[0])
