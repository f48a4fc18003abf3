"""One change of memories in one transaction: find, decide whose wish counts, write a version or a proposal."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.errors import VersionMismatch
from app.memory import queries
from app.memory.change import (
    Author,
    Change,
    Edited,
    Embedded,
    Look,
    MemoriesFull,
    MemoryArchived,
    MemoryPinned,
    MemoryProposed,
    Outcome,
    Prepared,
    ProposalsFull,
    SlugMissing,
    SlugTaken,
    changed,
    given,
    look_of,
    new_look,
    text_hash,
    title_of,
)
from app.memory.near import NEVER, Nearness, Reader, nearness, paraphrase_cosine
from app.memory.settings import MemorySettings
from app.memory.slugs import derived, free
from app.memory.tables import Memory

_LISTED: Final = 50


class Desk:
    """One change in one transaction. Whoever changes something holds the lock of the workspace's memories."""

    def __init__(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        author: Author,
        settings: MemorySettings,
        reader: Reader,
    ) -> None:
        self._session = session
        self._workspace_id = workspace_id
        self._author = author
        self._settings = settings
        self._reader = reader
        self._at: datetime = now()

    # ---------------------------------------------------------------------------------- looking

    async def look(self, change: Change) -> Edited:
        """What is active, for a model: nothing else ever enters a prompt."""
        if change.action == "list":
            found = await queries.list_memories(self._session, self._workspace_id, queries.ACTIVE, limit=_LISTED)
            return Edited("listed", memories=found)
        memory = await self._named(change)
        self._check_shown(memory)
        return Edited("viewed", memory)

    # --------------------------------------------------------------------------------- changing

    async def change(self, prepared: Prepared) -> Edited:
        change = prepared.change
        match change.action:
            case "create":
                return await self._create(prepared)
            case "upsert":
                memory = await self._find(change)
                if memory is None or (memory.status == "proposed" and self._author.is_user):
                    return await self._create(prepared)
                return await self._existing(memory, change, prepared.embedded)
            case _:
                return await self._existing(await self._named(change), change)

    async def _create(self, prepared: Prepared) -> Edited:
        change = prepared.change
        look = new_look(change, "proposed" if self._author.is_tainted else "active")
        similar = None
        known = await queries.list_memories(self._session, self._workspace_id)
        if change.slug is not None and (taken := next((one for one in known if one.slug == change.slug), None)):
            return await self._onto(taken, look, prepared)
        for verdict, memory in await self._near(look, known, prepared.embedded):
            is_open = self._author.revises and not memory.pinned and not self._author.is_tainted
            if verdict == "same":
                if is_open and memory.status == "archived":
                    return await self._existing(memory, Change("restore", memory.slug))
                return Edited("near_duplicate", memory)
            if is_open and memory.status == "active":
                return await self._existing(memory, replace(change, action="upsert", slug=memory.slug))
            similar = similar or memory.slug
        slug = change.slug or free(derived(change.title or title_of(look.body)), {one.slug for one in known})
        if not self._author.is_tainted:
            await check_room(self._session, self._workspace_id, self._settings)
        memory = await queries.insert_memory(
            self._session, self._workspace_id, slug, look, self._author, self._verb("create"), self._at
        )
        await self._keep_vector(memory, prepared.embedded)
        if self._author.is_tainted:
            await self._propose(memory, replace(change, action="create"))
            return Edited("proposed", memory, similar=similar)
        return Edited("created", memory, similar=similar)

    async def _onto(self, taken: Memory, look: Look, prepared: Prepared) -> Edited:
        """Creating what is there already: the same is no news; what is only proposed gives way to the user."""
        if taken.status == "proposed":
            if not self._author.is_user:
                return Edited("near_duplicate", taken)
            await queries.delete_proposals(self._session, taken)
            await queries.save_look(self._session, taken, look, self._author, "create", self._at)
            taken.last_used_at = None
            await self._keep_vector(taken, prepared.embedded)
            return Edited("created", taken)
        if taken.body == look.body:
            return Edited("near_duplicate", taken)
        raise SlugTaken(f"There is a memory `{taken.slug}` already (version {taken.version}).", slug=taken.slug)

    async def _existing(self, memory: Memory, change: Change, embedded: Embedded | None = None) -> Edited:
        """A change of what is there, or a proposal of it."""
        author = self._author
        if not author.is_user:
            if memory.pinned:
                raise MemoryPinned
            if memory.status == "proposed":
                raise MemoryProposed
            if memory.status == "archived" and change.action not in ("archive", "restore"):
                raise MemoryArchived
        elif memory.status == "proposed" and change.action in ("archive", "restore"):
            raise MemoryProposed
        check_version(memory, change.expected_version)
        if author.is_tainted:
            return await self._propose_change(memory, change)
        outcome = await self.perform(memory, change)
        await self._keep_vector(memory, embedded)
        return Edited(outcome, memory)

    async def perform(self, memory: Memory, change: Change) -> Outcome:
        """Write it. Raises Invalid, MemoriesFull."""
        before = look_of(memory)
        after = self._after(before, change)
        if after == before:
            return "unchanged"
        if before.status == "archived" and after.status == "active":
            await check_room(self._session, self._workspace_id, self._settings)
            # Restoring counts as a use; otherwise it would be archived again tomorrow.
            memory.last_used_at = self._at
        await queries.save_look(self._session, memory, after, self._author, change.action, self._at)
        match change.action:
            case "archive":
                return "archived"
            case "restore":
                return "restored"
        return "updated"

    def _after(self, look: Look, change: Change) -> Look:
        match change.action:
            case "archive":
                return replace(look, status="archived")
            case "restore":
                return replace(look, status="active")
        return changed(look, change)

    async def _propose_change(self, memory: Memory, change: Change) -> Edited:
        """What cannot be done is not proposed; what waits already is not proposed again."""
        if self._after(look_of(memory), change) == look_of(memory):
            return Edited("unchanged", memory)
        waiting = await queries.list_proposals(self._session, self._workspace_id, memory_id=memory.id)
        kept = _kept(change)
        if not any((one.proposal.action, one.proposal.change) == kept for one in waiting):
            await self._propose(memory, change)
        return Edited("proposed", memory)

    async def _propose(self, memory: Memory, change: Change) -> None:
        if await queries.count_proposals(self._session, self._workspace_id) >= self._settings.memory_max_proposals:
            raise ProposalsFull
        await queries.insert_proposal(self._session, memory, change, self._author, self._at)

    # ----------------------------------------------------------------------------------- details

    async def _find(self, change: Change) -> Memory | None:
        if not change.slug:
            return None
        return await queries.find_memory(self._session, self._workspace_id, change.slug)

    async def _named(self, change: Change) -> Memory:
        if not change.slug:
            raise SlugMissing
        return await queries.get_memory(self._session, self._workspace_id, change.slug)

    def _check_shown(self, memory: Memory) -> None:
        if memory.status == "archived":
            raise MemoryArchived
        if memory.status == "proposed":
            raise MemoryProposed

    def _verb(self, verb: str) -> str:
        return "propose" if self._author.is_tainted else verb

    async def _near(
        self, look: Look, known: Sequence[Memory], embedded: Embedded | None
    ) -> list[tuple[Nearness, Memory]]:
        """Those that say it already, or with another value; what is active first."""
        candidates = [one for one in known if one.status != "proposed" or not self._author.is_user]
        if not candidates:
            return []
        cosines: dict[uuid.UUID, float] = {}
        paraphrase = paraphrase_cosine(embedded.model) if embedded is not None else NEVER
        if embedded is not None and paraphrase < NEVER:
            near = await queries.list_near(self._session, self._workspace_id, embedded.space_id, embedded.vector)
            cosines = {memory_id: 1 - distance for memory_id, distance in near.items()}
        return await asyncio.to_thread(self._compare, look, candidates, cosines, paraphrase)

    def _compare(
        self,
        look: Look,
        candidates: Sequence[Memory],
        cosines: dict[uuid.UUID, float],
        paraphrase: float,
    ) -> list[tuple[Nearness, Memory]]:
        new = self._reader.said(look.title, look.body, text_hash(look.title, look.body))
        found: list[tuple[Nearness, Memory]] = []
        for memory in candidates:
            old = self._reader.said(memory.title, memory.body, memory.text_hash)
            verdict = nearness(new, old, cosines.get(memory.id), paraphrase)
            if verdict is not None:
                found.append((verdict, memory))
        ranks = {"active": 0, "proposed": 1, "archived": 2}
        return sorted(found, key=lambda one: (one[0] != "same", ranks[one[1].status]))

    async def _keep_vector(self, memory: Memory, embedded: Embedded | None) -> None:
        if embedded is not None and embedded.text_hash == memory.text_hash:
            row = (memory.workspace_id, memory.id, embedded.space_id, embedded.text_hash, embedded.vector)
            await queries.save_vectors(self._session, [row])


def _kept(change: Change) -> tuple[str, dict[str, object]]:
    return change.action, given(change)


def check_version(memory: Memory, expected: int | None) -> None:
    if expected is not None and expected != memory.version:
        raise VersionMismatch(version=memory.version)


async def check_room(session: AsyncSession, workspace_id: uuid.UUID, settings: MemorySettings) -> None:
    if await queries.count_memories(session, workspace_id) >= settings.memory_max:
        raise MemoriesFull
