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
from app.memory.queries import MemorySpace, Remembered
from app.memory.relevance import Background, Candidate, Ranked, rank
from app.memory.settings import MemorySettings
from app.memory.tables import Memory
from app.providers.ports import Embedder, ProviderError, Vector
from app.text.normalise import is_chinese

log = get(__name__)

Script = Literal["han", "latin"]


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
            known = await queries.list_remembered(session, workspace_id, space.id if space else None, vector)
            unread = [one.id for one in known if self._reader.find(one.text_hash) is None]
            texts = await queries.list_texts(session, workspace_id, unread)
            background: BackgroundOf | None = None
            if space is not None and vector is not None:
                background = await self._backgrounds.of(session, workspace_id, space)
        ranked = await asyncio.to_thread(self._rank, question, known, texts, background)
        types = {one.id: one.type for one in known}
        async with self._database.read() as session:
            told = await queries.list_texts(session, workspace_id, [one.id for one in ranked])
        return [_recalled(one, types[one.id], *told[one.id][:3]) for one in ranked if one.id in told]

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
        known: Sequence[Remembered],
        texts: Mapping[uuid.UUID, tuple[str, str, str, uuid.UUID]],
        background: BackgroundOf | None,
    ) -> list[Ranked]:
        at = now()
        asked: Script = "han" if is_chinese(question) else "latin"
        backgrounds = {
            is_han: background(asked, "han" if is_han else "latin") if background else _NO_BACKGROUND
            for is_han in (True, False)
        }
        for _, title, body, text_hash in texts.values():
            self._reader.said(title, body, text_hash)
        candidates = []
        for one in known:
            said = self._reader.find(one.text_hash)
            if said is None:
                # Changed just now; the next question finds it.
                continue
            unused = decay.days_unused(Age(one.importance, one.created_at, one.last_used_at), at)
            candidates.append(
                Candidate(
                    id=one.id,
                    distance=one.distance if background else None,
                    background=backgrounds[said.is_han],
                    words=said.words,
                    decayed=decay.decayed(one.importance, unused, self._settings.decay_mode),
                    concerns_all=one.pinned or one.type == "preference",
                )
            )
        return rank(self._reader.words(question), candidates, self._settings.memory_recalled)


_NO_BACKGROUND = Background(1.0, 1.0)


def age_of(memory: Memory) -> Age:
    return Age(memory.importance, memory.created_at, memory.last_used_at)


def _recalled(ranked: Ranked, kind: str, slug: str, title: str, body: str) -> Recalled:
    return Recalled(ranked.id, slug, title, body, kind, ranked.relevance, ranked.score)
