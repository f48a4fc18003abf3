"""How cards become searchable: read → chunk → embed → write. The story; no arithmetic, no SQL.

Several cards go through together, so that statements and batches are shared; each is fenced by its
own version, and what goes wrong with one is said of that one. A retry goes on where the last
attempt stopped: vectors that are already paid for are staged beside their card.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import MindConeError
from app.core.log import get
from app.db.session import Database
from app.index import lexical
from app.index import queries as index
from app.index.postings import LexicalRow
from app.index.rows import CardRows, StoredVector
from app.ingestion import queries
from app.ingestion.prepare import prepare
from app.ingestion.queries import CardText, Task
from app.ingestion.settings import IngestionSettings
from app.providers.ports import DimensionMismatch, Embedder, Embeddings
from app.text.segment import Segmenter

log = get(__name__)

Vectors = dict[uuid.UUID, StoredVector]


@dataclass(slots=True)
class Outcome:
    """What became of a group of cards; `failed` maps a card to its error code."""

    ready: int = 0
    texts: int = 0
    embedded: int = 0
    failed: dict[uuid.UUID, str] = field(default_factory=dict)


class Pipeline:
    def __init__(
        self, database: Database, embedder: Embedder, segmenter: Segmenter, settings: IngestionSettings
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._segmenter = segmenter
        self._settings = settings
        self._space_id: int | None = None
        # Preparing is Python: several groups at once would only all be late for the embedder.
        self._preparing = asyncio.Lock()

    async def ingest(self, workspace_id: uuid.UUID, tasks: Sequence[Task], *, last_attempt: bool = False) -> Outcome:
        """Learn these cards. Those that are done already, gone or changed are passed over.

        Raises whatever went wrong with all of them: the cards are back in the queue by then (after the
        `last_attempt`: failed), and keep what was already embedded.
        """
        outcome = Outcome()
        async with self._database.unit() as session:
            texts = await queries.start_work(session, workspace_id, tasks)
        if not texts:
            return outcome
        try:
            prepared = await self._prepare(workspace_id, texts, outcome)
            vectors = await self._embed(workspace_id, prepared, outcome)
            await self._write(workspace_id, prepared, vectors, outcome)
        except BaseException as error:
            await self._hand_back(workspace_id, texts, error, last_attempt)
            raise
        return outcome

    async def _prepare(self, workspace_id: uuid.UUID, texts: Sequence[CardText], outcome: Outcome) -> list[CardRows]:
        async with self._preparing:
            prepared, broken = await asyncio.to_thread(self._prepare_all, texts)
        for text, error in broken:
            # The text itself cannot be worked on; the others of the group can.
            log.error("card_unreadable", card_id=str(text.card_id), exc_info=error)
            outcome.failed[text.card_id] = "unreadable_content"
            async with self._database.unit() as session:
                await queries.set_failed(
                    session,
                    workspace_id,
                    [Task(text.card_id, text.text_version)],
                    "unreadable_content",
                    "This card's text could not be cut into chunks.",
                )
        return prepared

    def _prepare_all(self, texts: Sequence[CardText]) -> tuple[list[CardRows], list[tuple[CardText, Exception]]]:
        prepared, broken = [], []
        # Room for the prefix and the special tokens that the model adds to each text.
        longest = max(self._embedder.max_tokens - 32, 32)
        target = min(self._settings.chunk_target_tokens, longest)
        for text in texts:
            try:
                prepared.append(
                    prepare(
                        text.card_id,
                        text.text_version,
                        text.title,
                        text.content,
                        self._segmenter,
                        self._embedder.count_tokens,
                        target,
                        longest,
                    )
                )
            except Exception as error:
                broken.append((text, error))
        return prepared, broken

    async def _embed(self, workspace_id: uuid.UUID, prepared: Sequence[CardRows], outcome: Outcome) -> Vectors:
        """One vector per distinct text; texts that the workspace knows are not embedded again."""
        owners = {key: card.card_id for card in prepared for key in card.texts}
        wanted = {key: text for card in prepared for key, text in card.texts.items()}
        outcome.texts += len(wanted)
        async with self._database.unit() as session:
            space_id = await self.space(session)
            vectors = await index.list_known_vectors(session, workspace_id, space_id, list(wanted))
        missing = [key for key in wanted if key not in vectors]
        batches = list(_batches(missing, self._settings.embed_batch))
        for number, batch in enumerate(batches):
            fresh = self._checked(await self._embedder.passages([wanted[key] for key in batch]), batch)
            vectors.update(fresh)
            outcome.embedded += len(batch)
            if number + 1 < len(batches):
                async with self._database.unit() as session:
                    await index.stage_vectors(session, workspace_id, (space_id, self._embedder.space), fresh, owners)
                    await queries.set_step(
                        session, workspace_id, sorted(set(owners.values())), "embed", (number + 1) / len(batches)
                    )
        return vectors

    def _checked(self, embeddings: Embeddings, keys: Sequence[uuid.UUID]) -> Vectors:
        """Vectors by text. Raises DimensionMismatch before anything of a wrong shape is written."""
        expected = (len(keys), self._embedder.space.dimension)
        if embeddings.dense.shape != expected:
            raise DimensionMismatch(f"Expected vectors of shape {expected}, got {embeddings.dense.shape}.")
        sparse: Sequence[Mapping[int, float] | None] = embeddings.sparse or [None] * len(keys)
        return {
            key: StoredVector(dense, weights)
            for key, dense, weights in zip(keys, embeddings.dense, sparse, strict=True)
        }

    async def _write(
        self, workspace_id: uuid.UUID, prepared: Sequence[CardRows], vectors: Vectors, outcome: Outcome
    ) -> None:
        async with self._database.unit() as session:
            tasks = [Task(card.card_id, card.text_version) for card in prepared]
            current = await queries.lock_current(session, workspace_id, tasks)
            cards = [card for card in prepared if card.card_id in current]
            if not cards:
                return
            ids = sorted(card.card_id for card in cards)
            space_id = await self.space(session)
            await index.delete_chunks(session, workspace_id, ids)
            docs = await index.insert_chunks(session, workspace_id, cards)
            await index.insert_windows(session, workspace_id, (space_id, self._embedder.space), cards, vectors)
            await lexical.insert_recent(session, workspace_id, _recent(cards, docs))
            await index.drop_staged(session, workspace_id, ids)
            await queries.set_ready(session, workspace_id, {card_id: {} for card_id in ids})
        outcome.ready += len(cards)

    async def space(self, session: AsyncSession) -> int:
        """Row id of the embedder's space."""
        if self._space_id is None:
            self._space_id = await index.ensure_space(session, self._embedder.space)
        return self._space_id

    async def _hand_back(
        self, workspace_id: uuid.UUID, texts: Sequence[CardText], error: BaseException, last_attempt: bool
    ) -> None:
        """Cards of a failed group say why they wait; losing the database as well changes nothing."""
        tasks = [Task(text.card_id, text.text_version) for text in texts]
        code, detail = _told(error)
        settle = queries.set_failed if last_attempt and isinstance(error, Exception) else queries.set_waiting
        try:
            async with self._database.unit() as session:
                await settle(session, workspace_id, tasks, code, detail)
        except (MindConeError, OSError) as second:
            log.warning("hand_back_failed", error=type(second).__name__)


def _told(error: BaseException) -> tuple[str, str]:
    """What people may know of an error."""
    if isinstance(error, MindConeError):
        return error.code, error.detail
    if isinstance(error, Exception):
        return "internal", "The work failed unexpectedly."
    return "interrupted", "The work was interrupted and will go on."


def _recent(cards: Iterable[CardRows], docs: Mapping[uuid.UUID, int]) -> list[LexicalRow]:
    return [
        LexicalRow(docs[chunk.id], chunk.words, chunk.grams, chunk.word_terms, chunk.gram_terms)
        for card in cards
        for chunk in card.chunks
    ]


def _batches(keys: Sequence[uuid.UUID], size: int) -> Iterator[Sequence[uuid.UUID]]:
    """About `size` each; a rest of less than half of that goes with the last, which saves a round of staging."""
    at = 0
    while at < len(keys):
        end = len(keys) if len(keys) - at <= size * 3 // 2 else at + size
        yield keys[at:end]
        at = end
