"""The follow-up of linking: vectors for what people have changed, and layer 3 over pairs that wait. The story.

A job, because neither an embedder nor a model is waited for in a transaction. Between reading and writing people may
have decided, or cards gone: everything is looked at again under the graph's lock.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.log import get
from app.db.session import Database
from app.graph import cone_queries, entity_queries, revision_queries, telling_queries
from app.graph.entity_queries import StoredEntity
from app.graph.vector_tables import EntityVector, TextRole
from app.graph.vectors import VectorEntry, insert_vectors
from app.index.rows import text_hash
from app.index.spaces import Spaces
from app.ingestion.link import revise
from app.ingestion.link.describing import Describing
from app.ingestion.link.judge import PAIRS_PER_CALL, Judge, Ruling, Sheet
from app.ingestion.link.plan import Known
from app.ingestion.link.revise import LINK
from app.ingestion.texts import entity_text
from app.jobs.job import NewJob
from app.jobs.queue import enqueue_many, is_asked_for
from app.providers.ports import ProviderError

log = get(__name__)

FAILED_SECONDS: Final = 600.0
"""After a job that has failed: a model that is away for long, or a key that is wrong, is not asked all the while."""
MANY_TOLD: Final = 500
"""Changes of what is told after which descriptions follow although more cards are coming."""
_BATCH: Final = 128
_SENTENCES: Final = 3
_SENTENCE_CHARACTERS: Final = 240


@dataclass(slots=True)
class Resolved:
    described: int = 0
    embedded: int = 0
    merged: int = 0
    apart: int = 0
    unsure: int = 0


@dataclass(frozen=True, slots=True)
class _Waiting:
    pair_id: uuid.UUID
    left: StoredEntity
    right: StoredEntity
    layer: str


class Resolver:
    """Where `find_judge` gives none (offline) pairs keep waiting for a person; without `describing` descriptions stay
    as they were written.
    """

    def __init__(
        self,
        database: Database,
        spaces: Spaces,
        find_judge: Callable[[], Judge | None] = lambda: None,
        describing: Describing | None = None,
    ) -> None:
        self._database = database
        self._spaces = spaces
        self._find_judge = find_judge
        self._describing = describing

    async def enqueue_due(self, failed_seconds: float = FAILED_SECONDS) -> int:
        """Jobs for workspaces where cards tell something else of entities now, or where pairs wait that a model was not
        asked about because it was away until the job failed, or is there only now. Gives how many; none where one waits
        or works, or has failed lately.
        """
        async with self._database.unit() as session:
            due: set[uuid.UUID] = set()
            if self._describing is not None:
                due |= set(await telling_queries.list_workspaces_due(session, MANY_TOLD))
            if self._find_judge() is not None:
                due |= set(await revision_queries.list_workspaces_undecided(session))
            due -= {one for one in due if await is_asked_for(session, one, LINK, failed_seconds)}
            await enqueue_many(session, [NewJob(LINK, one, dedupe_key=LINK, priority=-1) for one in sorted(due)])
        return len(due)

    async def run(self, workspace_id: uuid.UUID) -> Resolved:
        """The handler of the job. Idempotent. Raises ProviderError."""
        done = Resolved()
        away: ProviderError | None = None
        if self._describing is not None:
            async with self._database.read() as session:
                at_rest = workspace_id in await telling_queries.list_workspaces_due(session, MANY_TOLD)
            try:
                done.described = await self._describing.run(workspace_id) if at_rest else 0
            except ProviderError as error:
                away = error
        done.embedded = await self.embed_missing(workspace_id)
        if (judge := self._find_judge()) is not None:
            await self.resolve_pairs(workspace_id, judge, done)
        if away is not None:
            raise away
        return done

    async def embed_missing(self, workspace_id: uuid.UUID) -> int:
        """Vectors for entities that have none, in every space that is written; gives how many entities. What is edited
        meanwhile is left to the job that the edit asked for.
        """
        total = 0
        while True:
            async with self._database.unit() as session:
                targets = await self._spaces.to_write(session)
                ids = await revision_queries.list_without_vector(session, workspace_id, targets[0].id, _BATCH)
                texts = await _texts(session, workspace_id, ids)
            if not texts:
                return total
            told = [text for text, _ in texts.values()]
            made = {target.id: (await target.embedder.passages(told)).dense for target in targets}
            async with self._database.unit() as session:
                targets = await self._spaces.to_write(session)
                if any(target.id not in made for target in targets):
                    continue
                await cone_queries.lock_graph(session, workspace_id)
                missing = await revision_queries.list_without_vector(session, workspace_id, targets[0].id, 100 * _BATCH)
                said = await _texts(session, workspace_id, [one for one in missing if one in texts])
                kept = [(at, one, *texts[one]) for at, one in enumerate(texts) if said.get(one) == texts[one]]
                for target in targets:
                    entries = [
                        VectorEntry(one, TextRole.own, text_hash(text), made[target.id][at], described)
                        for at, one, text, described in kept
                    ]
                    await insert_vectors(session, workspace_id, target.id, EntityVector, entries)
            total += len(kept)
            if not kept:
                return total

    async def resolve_pairs(self, workspace_id: uuid.UUID, judge: Judge, done: Resolved) -> None:
        """Ask about every pair that waits and that no model was asked about."""
        while True:
            async with self._database.read() as session:
                waiting, questions = await self._questions(session, workspace_id)
            if not waiting:
                return
            rulings = await judge.judge(questions)
            async with self._database.unit() as session:
                await self._write(session, workspace_id, waiting, rulings, done)

    async def _questions(
        self, session: AsyncSession, workspace_id: uuid.UUID
    ) -> tuple[list[_Waiting], list[tuple[Sheet, Sheet]]]:
        pairs = await revision_queries.list_undecided(session, workspace_id, PAIRS_PER_CALL)
        ids = list({entity_id for pair in pairs for entity_id in (pair.left_id, pair.right_id)})
        if not ids:
            return [], []
        entities = {e.id: e for e in await entity_queries.list_stored(session, workspace_id, ids=ids)}
        said = await revision_queries.list_sentences(session, workspace_id, ids, _SENTENCES, _SENTENCE_CHARACTERS)
        waiting = [_Waiting(p.id, entities[p.left_id], entities[p.right_id], p.layer) for p in pairs]
        return waiting, [(_sheet(one.left, said), _sheet(one.right, said)) for one in waiting]

    async def _write(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        waiting: Sequence[_Waiting],
        rulings: Sequence[Ruling],
        done: Resolved,
    ) -> None:
        await cone_queries.lock_graph(session, workspace_id)
        unsure: list[uuid.UUID] = []
        for one, ruling in zip(waiting, rulings, strict=True):
            pair = await revision_queries.find_pair(session, workspace_id, one.pair_id)
            if pair is None or pair.state != "waiting":
                continue
            answer = ruling.answer
            if answer == "same" and await self._set_apart(session, workspace_id, pair.left_id, pair.right_id):
                answer = "different"
            if answer == "unsure":
                unsure.append(pair.id)
                done.unsure += 1
                continue
            decision: revise.PairDecision = "merge" if answer == "same" else "apart"
            await revise.answer_pair(
                session,
                workspace_id,
                pair.left_id,
                pair.right_id,
                decision,
                by="llm",
                layer="llm",
                detail={"reason": ruling.reason, "proposed_by": one.layer},
            )
            done.merged += decision == "merge"
            done.apart += decision == "apart"
        if unsure:
            await revision_queries.mark_unsure(session, workspace_id, unsure)
        log.info("pairs_judged", pairs=len(waiting), merged=done.merged, apart=done.apart, unsure=done.unsure)

    async def _set_apart(
        self, session: AsyncSession, workspace_id: uuid.UUID, left: uuid.UUID, right: uuid.UUID
    ) -> bool:
        """Whether a person has said of any two of these groups that they are not one."""
        entities = await entity_queries.list_stored(session, workspace_id, ids=[left, right])
        groups = await entity_queries.list_groups(session, workspace_id, [entity.root for entity in entities])
        keys = {side.key for sides in groups.values() for side in sides}
        known = Known(words=await entity_queries.list_words(session, workspace_id, keys))
        ours, theirs = (groups.get(entity.root, []) for entity in entities)
        return any(known.said((a.key, a.kind), (b.key, b.kind)) == "apart" for a in ours for b in theirs)


def _sheet(entity: StoredEntity, said: dict[uuid.UUID, list[str]]) -> Sheet:
    return Sheet(entity.name, entity.type, entity.aliases, entity.description, said.get(entity.id, ()))


async def _texts(
    session: AsyncSession, workspace_id: uuid.UUID, ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, tuple[str, bool]]:
    """What is embedded of these entities, as they are now, and whether it is more than names."""
    entities = await entity_queries.list_stored(session, workspace_id, ids=ids) if ids else []
    return {one.id: (entity_text(one.name, one.aliases, one.description), bool(one.description)) for one in entities}
