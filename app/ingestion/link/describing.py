"""Descriptions follow what cards tell: put together anew where a card tells something else, or is gone. The story.

What fits the bound is said as the cards say it; what does not is summarised by a language model where one is
configured, else its most telling sentences stand. Sources stay as they are told, card by card; what people have
written is left alone.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from app.core.log import get
from app.db.session import Database
from app.graph import cone_queries, entity_queries, telling_queries
from app.graph.entity_queries import StoredEntity
from app.ingestion.extract.llm_cache import CacheKey
from app.ingestion.extract.stored import StoredCache
from app.ingestion.link.describe import LONGEST, best, bounded, together
from app.ingestion.link.linker import Linker
from app.ingestion.link.summary import ENTITIES_PER_CALL, Describer, Stated
from app.providers.ports import ProviderError, ProviderRefused

log = get(__name__)

_BATCH: Final = 128


@dataclass(frozen=True, slots=True)
class _Waiting:
    entity: StoredEntity
    told: Sequence[str]


class Describing:
    def __init__(
        self, database: Database, linker: Linker, find_describer: Callable[[], Describer | None] = lambda: None
    ) -> None:
        self._database = database
        self._linker = linker
        self._find_describer = find_describer

    async def run(self, workspace_id: uuid.UUID) -> int:
        """Idempotent; gives how many descriptions were changed: those entities have no vector then.

        Raises ProviderError where a model is away: the sentences that say most stand until it is asked again.
        """
        changed = 0
        while True:
            async with self._database.read() as session:
                due = await telling_queries.get_due(session, workspace_id, _BATCH)
                entities = await entity_queries.list_stored(session, workspace_id, ids=due.entities)
                told = await telling_queries.list_tellings(session, workspace_id, due.entities)
            if not due.noted:
                return changed
            waiting = [_Waiting(entity, told[entity.id]) for entity in entities if not entity.is_edited]
            described, away = await self._described(workspace_id, waiting)
            async with self._database.unit() as session:
                await cone_queries.lock_graph(session, workspace_id)
                # Who has changed since is noted anew.
                ids = [one.entity.id for one in waiting]
                now = {e.id: e for e in await entity_queries.list_stored(session, workspace_id, ids=ids)}
                told = await telling_queries.list_tellings(session, workspace_id, ids)
                after = [
                    replace(now[one.entity.id], description=described[one.entity.id])
                    for one in waiting
                    if now.get(one.entity.id) == one.entity
                    and told[one.entity.id] == list(one.told)
                    and described[one.entity.id] != one.entity.description
                ]
                await self._linker.describe(session, workspace_id, after)
                if away is None:
                    await telling_queries.settle_due(session, workspace_id, due)
            changed += len(after)
            if away is not None:
                raise away

    async def _described(
        self, workspace_id: uuid.UUID, waiting: Sequence[_Waiting]
    ) -> tuple[dict[uuid.UUID, str], ProviderError | None]:
        """And what keeps the model from saying better."""
        describer = self._find_describer()
        if describer is None:
            return {one.entity.id: _kept(one) for one in waiting}, None
        described = {one.entity.id: together(one.told) for one in waiting}
        long = {
            one.entity.id: Stated(one.entity.name, one.entity.type, described[one.entity.id])
            for one in waiting
            if len(described[one.entity.id]) > LONGEST
        }
        summarised, away = await self._summarised(workspace_id, describer, long)
        return {one: summarised.get(one) or bounded(text) for one, text in described.items()}, away

    async def _summarised(
        self, workspace_id: uuid.UUID, describer: Describer, long: Mapping[uuid.UUID, Stated]
    ) -> tuple[dict[uuid.UUID, str], ProviderError | None]:
        """Paid for once for what is stated, call by call."""
        cache = StoredCache(self._database, workspace_id)
        keys = {one: CacheKey(stated.content_hash, describer.version, describer.model) for one, stated in long.items()}
        found: dict[uuid.UUID, str] = {}
        for one, key in keys.items():
            if description := _loaded(await cache.get(key)):
                found[one] = description
        missing = [one for one in long if one not in found]
        if not missing:
            return found, None
        for at in range(0, len(missing), ENTITIES_PER_CALL):
            some = missing[at : at + ENTITIES_PER_CALL]
            try:
                described = await describer.describe([long[one] for one in some])
            except ProviderError as error:
                log.warning("not_described", workspace_id=str(workspace_id), code=error.code)
                return found, None if isinstance(error, ProviderRefused) else error
            for one, description in zip(some, described, strict=True):
                if description is not None:
                    found[one] = description
                    await cache.put(keys[one], json.dumps({"description": description}, ensure_ascii=False))
        log.info("described", workspace_id=str(workspace_id), asked=len(missing), usable=len(found))
        return found, None


def _kept(one: _Waiting) -> str:
    """By rules one card's word is enough: the one that stands, as long as a card says so."""
    told = [bounded(telling) for telling in one.told]
    return one.entity.description if one.entity.description in told else best(told)


def _loaded(value: str | None) -> str | None:
    said: Any = json.loads(value or "null")
    return said.get("description") if isinstance(said, dict) else None
