"""What is remembered that has to do with a question; and that it was of use.

Embeds outside of any session. A memory without a vector is found by its words.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.log import get
from app.db.session import Database
from app.index.spaces import Spaces
from app.memory import decay, queries
from app.memory.decay import Age
from app.memory.near import Reader
from app.memory.queries import MemorySpace
from app.memory.relevance import Background, Candidate, Ranked, rank
from app.memory.settings import MemorySettings
from app.memory.tables import Memory
from app.providers.ports import Embedder, ProviderError, Vector
from app.text.normalise import han_share

log = get(__name__)

Script = Literal["han", "latin"]
_HAN_SHARE = 0.3


class Backgrounds(Protocol):
    """What is known of distances in a space."""

    async def of(self, session: AsyncSession, workspace_id: uuid.UUID, space: MemorySpace) -> BackgroundOf: ...


class BackgroundOf(Protocol):
    def __call__(self, asked: Script, script: Script) -> Background: ...


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory for a prompt, with relevance × decayed as its score."""

    id: uuid.UUID
    slug: str
    title: str
    body: str
    type: str
    relevance: float
    score: float


class Recall:
    def __init__(
        self,
        database: Database,
        spaces: Spaces,
        reader: Reader,
        settings: MemorySettings,
        backgrounds: Backgrounds,
    ) -> None:
        self._database = database
        self._spaces = spaces
        self._reader = reader
        self._settings = settings
        self._backgrounds = backgrounds

    async def recall(self, workspace_id: uuid.UUID, question: str) -> list[Recalled]:
        """Active memories that a prompt about this question is offered, the best first."""
        if not self._settings.memory_recalled:
            return []
        async with self._database.read() as session:
            if not await queries.has_any(session, workspace_id):
                return []
            space = await queries.find_space(session)
        vector = await self._vector(question, space)
        async with self._database.read() as session:
            memories = await queries.list_memories(session, workspace_id, queries.ACTIVE)
            distances: Mapping[uuid.UUID, float] = {}
            background: BackgroundOf | None = None
            if space is not None and vector is not None:
                distances = await queries.list_near(session, workspace_id, space.id, vector, only_active=True)
                background = await self._backgrounds.of(session, workspace_id, space)
        ranked = await asyncio.to_thread(self._rank, question, memories, distances, background)
        by_id = {memory.id: memory for memory in memories}
        return [_recalled(one, by_id[one.id]) for one in ranked]

    async def note_used(self, session: AsyncSession, workspace_id: uuid.UUID, ids: Sequence[uuid.UUID]) -> None:
        """These stood in the prompt of an answer that is complete. In the unit of work that says so."""
        if ids:
            await queries.touch(session, workspace_id, ids, now())

    async def archive_faded(self) -> int:
        """One pass over all workspaces; gives how many were archived."""
        async with self._database.unit() as session:
            archived = await queries.archive_faded(
                session,
                now(),
                decay.rate_per_day(self._settings.decay_mode),
                decay.ARCHIVE_BELOW,
                int(decay.ARCHIVE_AFTER_DAYS),
            )
        if archived:
            log.info("memories_archived", count=archived)
        return archived

    async def _vector(self, question: str, space: MemorySpace | None) -> Vector | None:
        embedder: Embedder | None = self._spaces.find(space.key) if space else None
        if embedder is None:
            return None
        try:
            vector: Vector = (await embedder.queries([question])).dense[0]
        except ProviderError as error:
            log.warning("question_not_embedded", code=error.code)
            return None
        return vector

    def _rank(
        self,
        question: str,
        memories: Sequence[Memory],
        distances: Mapping[uuid.UUID, float],
        background: BackgroundOf | None,
    ) -> list[Ranked]:
        at = now()
        asked = _script(question)
        candidates = [
            Candidate(
                id=one.id,
                distance=distances.get(one.id) if background else None,
                background=background(asked, _script(one.body)) if background else _NO_BACKGROUND,
                words=self._reader.said(one.title, one.body, one.text_hash).words,
                decayed=decay.decayed(one.importance, decay.days_unused(age_of(one), at), self._settings.decay_mode),
                concerns_all=one.pinned or one.type == "preference",
            )
            for one in memories
        ]
        return rank(self._reader.words(question), candidates, self._settings.memory_recalled)


_NO_BACKGROUND = Background(1.0, 1.0)


def age_of(memory: Memory) -> Age:
    return Age(memory.importance, memory.created_at, memory.last_used_at)


def _script(text: str) -> Script:
    return "han" if han_share(text) > _HAN_SHARE else "latin"


def _recalled(ranked: Ranked, memory: Memory) -> Recalled:
    return Recalled(memory.id, memory.slug, memory.title, memory.body, memory.type, ranked.relevance, ranked.score)
