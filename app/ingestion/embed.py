"""The texts of groups of cards on their way to vectors: group after group, some calls of the embedder at a time.

In the order in which the groups come, so that the first are written while the others are embedded: were all of them
embedded side by side, all would be ready at the end, and half made until then.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final
from weakref import WeakValueDictionary

from app.core.errors import MindConeError
from app.core.log import get
from app.db.session import Database
from app.index import queries as index
from app.index.rows import StoredVector
from app.index.spaces import WriteSpace
from app.ingestion import queries
from app.ingestion.learn import Learned
from app.ingestion.link.plan import Plan
from app.ingestion.settings import IngestionSettings
from app.ingestion.writing import Vectors
from app.providers.ports import DimensionMismatch, Embedder

log = get(__name__)

FEW_BATCHES: Final = 2
"""Groups of no more need not wait for their turn: a note that is changed during an import."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What a group of cards needs vectors of, by text hash, and the card that each is staged with. `graph_only`: a
    window's vector has words' weights in some spaces, a text's of the graph never has.
    """

    wanted: Mapping[uuid.UUID, str]
    owners: Mapping[uuid.UUID, uuid.UUID]
    graph_only: frozenset[uuid.UUID]

    @classmethod
    def of(cls, learned: Sequence[Learned], plan: Plan) -> Texts:
        wanted: dict[uuid.UUID, str] = {}
        owners: dict[uuid.UUID, uuid.UUID] = {}
        for card in learned:
            for key, text in card.texts.items():
                owners[key], wanted[key] = card.card_id, text
        for key, text in plan.texts.items():
            wanted[key] = text
            owners.setdefault(key, learned[0].card_id)
        windows = {key for card in learned for key in card.rows.texts}
        return cls(wanted, owners, frozenset(wanted.keys() - windows))


@dataclass(frozen=True, slots=True)
class Made:
    """So many texts had no vector in hand, so many of these had none in the workspace either."""

    texts: int
    embedded: int


class Embedding:
    """One per process: its turns and its calls are of all groups that are being learned."""

    def __init__(self, database: Database, settings: IngestionSettings) -> None:
        self._database = database
        self._settings = settings
        self._calls = asyncio.Semaphore(settings.embed_calls)
        self._turns: WeakValueDictionary[uuid.UUID, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, workspace_id: uuid.UUID, texts: int) -> AsyncIterator[AsyncExitStack]:
        """The place of a group with so many texts among those of its workspace; closed, it is the next one's turn.
        Small groups need none.
        """
        async with AsyncExitStack() as turn:
            if texts > FEW_BATCHES * self._settings.embed_batch:
                await turn.enter_async_context(self._turns.setdefault(workspace_id, asyncio.Lock()))
            yield turn

    async def embed(
        self, workspace_id: uuid.UUID, texts: Texts, target: WriteSpace, vectors: Vectors, turn: AsyncExitStack
    ) -> Made:
        """One vector per distinct text, into `vectors`; texts that the workspace knows are not embedded again. Ends the
        turn as soon as all calls are under way.

        Raises what the first failing call raises, and DimensionMismatch; what others gave is staged for the next
        attempt. So it is every now and then: whoever is killed has it, too.
        """
        unknown = [key for key in texts.wanted if key not in vectors]
        async with self._database.read() as session:
            known = await index.list_known_vectors(session, workspace_id, target.id, unknown, texts.graph_only)
        vectors.update(known)
        missing = [key for key in unknown if key not in vectors]
        unsaved: Vectors = {}
        saved_at = time.monotonic()
        calls: list[asyncio.Task[None]] = []
        is_failed = False

        async def save() -> None:
            nonlocal saved_at
            saving = dict(unsaved)
            async with self._database.unit() as session:
                # Locks the cards, in everybody's order; what is staged then needs no other lock on them.
                done = 1 - sum(key not in vectors for key in missing) / len(missing)
                await queries.set_step(session, workspace_id, sorted(set(texts.owners.values())), "embed", done)
                space = (target.id, target.embedder.space)
                await index.stage_vectors(session, workspace_id, space, saving, texts.owners)
            for key in saving:
                unsaved.pop(key, None)
            saved_at = time.monotonic()

        async def call(batch: Sequence[uuid.UUID]) -> None:
            nonlocal is_failed
            try:
                made = await embedded(target.embedder, [texts.wanted[key] for key in batch])
            except BaseException:
                is_failed = True
                raise
            fresh = dict(zip(batch, made, strict=True))
            vectors.update(fresh)
            unsaved.update(fresh)

        try:
            for batch in _batches(missing, self._settings.embed_batch):
                await self._calls.acquire()
                if is_failed:
                    self._calls.release()
                    break
                calls.append(asyncio.create_task(call(batch)))
                # Of the task, not in it: one that is cancelled before it begins never gets so far.
                calls[-1].add_done_callback(lambda _: self._calls.release())
                if unsaved and time.monotonic() - saved_at >= self._settings.embed_save_seconds:
                    await save()
            await turn.aclose()
            # Those that are under way when one fails are paid for, too.
            ended = await asyncio.gather(*calls, return_exceptions=True)
            for error in ended:
                if isinstance(error, BaseException):
                    raise error
        except BaseException as error:
            for task in calls:
                task.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            if unsaved:
                try:
                    await save()
                except (MindConeError, OSError) as second:
                    log.warning("vectors_not_saved", error=type(second).__name__, after=type(error).__name__)
            raise
        return Made(len(unknown), len(missing))


async def embedded(embedder: Embedder, wanted: Sequence[str]) -> list[StoredVector]:
    """A vector per text. Raises DimensionMismatch before anything of a wrong shape is written; ProviderError."""
    made = await embedder.passages(wanted)
    expected = (len(wanted), embedder.space.dimension)
    if made.dense.shape != expected:
        raise DimensionMismatch(f"Expected vectors of shape {expected}, got {made.dense.shape}.")
    weights: Sequence[Mapping[int, float] | None] = made.sparse or [None] * len(wanted)
    return [StoredVector(dense, sparse) for dense, sparse in zip(made.dense, weights, strict=True)]


def _batches(keys: Sequence[uuid.UUID], size: int) -> Iterator[Sequence[uuid.UUID]]:
    """About `size` each; a rest of less than half of that goes with the last, which saves a call."""
    at = 0
    while at < len(keys):
        end = len(keys) if len(keys) - at <= size * 3 // 2 else at + size
        yield keys[at:end]
        at = end
