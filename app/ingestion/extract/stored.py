"""Language-model extraction for every workspace: each pays for its own texts, and what it paid for is its own."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Final

from app.core.errors import MindConeError
from app.core.ids import new_id
from app.db.session import Database
from app.ingestion import cache_queries as queries
from app.ingestion.cone.cover import texts_of, uncovered
from app.ingestion.extract.llm import LlmExtractor
from app.ingestion.extract.llm_cache import CacheKey, ExtractionCache
from app.ingestion.extract.types import Extraction, Source, TimeRange
from app.text.when import find_times

MOST_WORKSPACES: Final = 64
CLAIM_SECONDS: Final = 30.0
"""How long a text is kept from others by a process that has died."""


class StoredCache:
    """An `ExtractionCache` in the database, of one workspace."""

    def __init__(self, database: Database, workspace_id: uuid.UUID, claim_seconds: float = CLAIM_SECONDS) -> None:
        self._database = database
        self._workspace_id = workspace_id
        self._claim_seconds = claim_seconds

    async def get(self, key: CacheKey) -> str | None:
        async with self._database.read() as session:
            return await queries.find_extraction(session, self._workspace_id, _hashed(key))

    async def put(self, key: CacheKey, value: str) -> None:
        async with self._database.unit() as session:
            await queries.put_extraction(session, self._workspace_id, _hashed(key), value)

    @asynccontextmanager
    async def claim(self, key: CacheKey) -> AsyncIterator[bool]:
        """A row that is renewed while it is held, so that neither a transaction nor a connection is."""
        of, holder = (self._workspace_id, _hashed(key)), new_id()
        async with self._database.unit() as session:
            mine = await queries.take_claim(session, *of, holder, self._claim_seconds)
        if not mine:
            yield False
            return
        renewing = asyncio.create_task(self._renew(*of, holder))
        try:
            yield True
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            with suppress(MindConeError, OSError):  # it ends by itself
                async with self._database.unit() as session:
                    await queries.drop_claim(session, *of, holder)

    async def _renew(self, workspace_id: uuid.UUID, key: uuid.UUID, holder: uuid.UUID) -> None:
        while True:
            await asyncio.sleep(self._claim_seconds / 3)
            with suppress(MindConeError, OSError):
                async with self._database.unit() as session:
                    await queries.renew_claim(session, workspace_id, key, holder, self._claim_seconds)


class WorkspaceExtractor:
    """An `Extractor` that keeps what workspaces pay for apart. `make` builds the extractor over a cache."""

    def __init__(
        self, database: Database, make: Callable[[ExtractionCache, asyncio.Semaphore], LlmExtractor], concurrency: int
    ) -> None:
        self._database = database
        self._make = make
        self._permits = asyncio.Semaphore(concurrency)
        self._made: OrderedDict[uuid.UUID, LlmExtractor] = OrderedDict()

    @property
    def version(self) -> str:
        return self._of(uuid.UUID(int=0)).version

    async def extract(self, source: Source, *, final: bool = False) -> Extraction:
        return await self._of(source.workspace_id).extract(source, final=final)

    def _of(self, workspace_id: uuid.UUID) -> LlmExtractor:
        made = self._made.pop(workspace_id, None)
        if made is None:
            made = self._make(StoredCache(self._database, workspace_id), self._permits)
        self._made[workspace_id] = made
        if len(self._made) > MOST_WORKSPACES:
            self._made.popitem(last=False)
        return made


def missed(text: str, extraction: Extraction) -> Sequence[str]:
    """Anchors of a passage (names, dates, amounts) that nothing in the extraction tells."""
    told = [*texts_of(extraction.episodes), *(relation.text for relation in extraction.relations)]
    told += [part for entity in extraction.entities for part in (entity.name, entity.description, *entity.aliases)]
    return list(dict.fromkeys(anchor.text for anchor in uncovered(text, [part for part in told if part])))


def resolve_times(text: str, said_at: datetime) -> Sequence[TimeRange]:
    return [TimeRange(time.start, time.end, time.text) for time in find_times(text, said_at)]


def _hashed(key: CacheKey) -> uuid.UUID:
    told = "\0".join((key.content_hash, key.prompt_version, key.model))
    return uuid.UUID(bytes=hashlib.sha256(told.encode()).digest()[:16])
