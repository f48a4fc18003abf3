"""Filling an embedding space in one workspace: what the current space has and this one lacks, step by step.

What is missing is asked of the database before every step, and nothing is remembered: a job that was killed goes on
where it was, and what changes meanwhile is met again. Knows nothing of how a filling begins or ends.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.log import get
from app.db.session import Database
from app.graph.cone_queries import lock_graph
from app.graph.vector_tables import TextRole
from app.index import queries as index
from app.index import space_queries
from app.index.rows import StoredVector, WindowRow, text_hash
from app.index.spaces import Spaces
from app.index.tables import Space
from app.ingestion import queries, texts
from app.ingestion import reembed_queries as stored
from app.ingestion.chunk import Chunk
from app.ingestion.embed import embedded
from app.ingestion.prepare import shortened, window_rows
from app.ingestion.reembed_queries import TABLES, CardChunks, OwnerText, Pair
from app.ingestion.settings import IngestionSettings
from app.jobs.job import JobContext
from app.providers.ports import Embedder

log = get(__name__)

# Texts that change while they are filled in are met again in the next round.
_ROUNDS: Final = 20
_COUNT_UP_TO: Final = 10_000_000

Vectors = dict[uuid.UUID, StoredVector]


@dataclass(slots=True)
class _Work:
    """What one job knows while it runs."""

    job: JobContext
    pair: Pair
    current: Embedder
    filling: Embedder
    total: int
    done: int = 0

    async def went(self, many: int, step: str) -> None:
        self.done += many
        await self.job.progress(step, min(self.done / self.total, 1.0) if self.total else 1.0)


class _Over(Exception):
    """The space is not being filled any more."""


@dataclass(slots=True)
class _Waiting:
    """Windows to be made, by chunk, and the cards that these belong to."""

    cards: set[uuid.UUID] = field(default_factory=set)
    windows: dict[uuid.UUID, Sequence[WindowRow]] = field(default_factory=dict)
    texts: dict[uuid.UUID, str] = field(default_factory=dict)


class Filling:
    def __init__(self, database: Database, spaces: Spaces, settings: IngestionSettings) -> None:
        self._database = database
        self._spaces = spaces
        self._settings = settings

    async def run(self, job: JobContext) -> None:
        """Make what a workspace lacks in the space `job.payload["space"]`. Raises ProviderError,
        SpaceUnavailable.
        """
        async with self._database.read() as session:
            spaces = {space.id: space for space in await space_queries.list_written(session)}
            pair = pair_of(list(spaces.values()))
            if pair is None or pair.filling_id != job.payload["space"]:
                return
            total = await count_missing(session, job.workspace_id, pair)
        work = _Work(
            job,
            pair,
            self._spaces.embedder(spaces[pair.current_id].key),
            self._spaces.embedder(spaces[pair.filling_id].key),
            total,
        )
        try:
            for _ in range(_ROUNDS):
                found = await self._fill_windows(work)
                for table in TABLES:
                    found += await self._fill_texts(work, table)
                if not found:
                    break
        except _Over:
            log.info("reembedding_over", space=spaces[pair.filling_id].key)

    async def _fill_windows(self, work: _Work) -> int:
        """One pass over the cards; gives how many chunks were waiting."""
        found = 0
        after = stored.NIL
        while True:
            async with self._database.read() as session:
                cards = await stored.list_cards(
                    session, work.job.workspace_id, work.pair.filling_id, after, self._settings.reembed_batch
                )
            if not cards:
                return found
            after = cards[-1].card_id
            for batch in await asyncio.to_thread(self._batches, work, cards):
                found += len(batch.windows)
                vectors = await self._vectors(work, work.pair.filling_id, work.filling, batch.texts, dense_only=False)
                async with self._database.unit() as session:
                    await self._hold(session, work)
                    await queries.lock_cards(session, work.job.workspace_id, sorted(batch.cards))
                    await stored.insert_windows(
                        session,
                        work.job.workspace_id,
                        (work.pair.filling_id, work.filling.space),
                        batch.windows,
                        vectors,
                    )
                await work.went(len(batch.windows), "windows")

    def _batches(self, work: _Work, cards: Sequence[CardChunks]) -> list[_Waiting]:
        """The windows of these cards, the same as when they were learned, in steps of about `reembed_batch` texts."""
        batches = [_Waiting()]
        for card in cards:
            for chunk_id, rows in _windows(card, work.current):
                if len(batches[-1].texts) + len(rows) > self._settings.reembed_batch and batches[-1].texts:
                    batches.append(_Waiting())
                batches[-1].cards.add(card.card_id)
                batches[-1].windows[chunk_id] = rows
                batches[-1].texts.update((row.text_hash, row.text) for row in rows)
        return batches

    async def _fill_texts(self, work: _Work, table: str) -> int:
        """One pass over a table of the graph; gives how many texts were waiting."""
        found = 0
        after = stored.FIRST
        workspace_id = work.job.workspace_id
        while True:
            async with self._database.read() as session:
                rows = await stored.list_texts(
                    session, workspace_id, table, work.pair, after, self._settings.reembed_batch
                )
            if not rows:
                return found
            after = rows[-1].owner_id, rows[-1].role
            found += len(rows)
            said = {(row.owner_id, row.role): _text(table, row) for row in rows}
            wanted = {text_hash(text): text for text in said.values()}
            places = [(place, text_hash(text)) for place, text in said.items()]
            # Whose text has changed without its vector: put right in the current space, too.
            stale = [(place, key) for (place, key), row in zip(places, rows, strict=True) if key != row.text_hash]
            vectors = await self._vectors(work, work.pair.filling_id, work.filling, wanted, dense_only=True)
            corrected: Vectors = {}
            if stale:
                log.warning("vectors_of_other_texts", table=table, count=len(stale))
                lacking = {key: wanted[key] for _, key in stale}
                corrected = await self._vectors(work, work.pair.current_id, work.current, lacking, dense_only=True)
            async with self._database.unit() as session:
                await self._hold(session, work)
                await lock_graph(session, workspace_id)
                if stale:
                    stale = await _still_said(session, workspace_id, table, stale)
                    await stored.correct_vectors(session, workspace_id, table, work.pair.current_id, stale, corrected)
                await stored.put_vectors(session, workspace_id, table, work.pair, places, vectors)
            await work.went(len(rows), table.removesuffix("_vectors"))

    async def _vectors(
        self, work: _Work, space_id: int, embedder: Embedder, wanted: Mapping[uuid.UUID, str], *, dense_only: bool
    ) -> Vectors:
        """One vector per text; what the workspace has in this space already is not made again."""
        async with self._database.read() as session:
            known = await index.list_known_vectors(
                session, work.job.workspace_id, space_id, list(wanted), frozenset(wanted if dense_only else ())
            )
        missing = [key for key in wanted if key not in known]
        if missing:
            known.update(zip(missing, await embedded(embedder, [wanted[key] for key in missing]), strict=True))
        return known

    async def _hold(self, session: AsyncSession, work: _Work) -> None:
        """The fence, before anything is written: the space is still being filled, and the job is still ours."""
        await space_queries.hold_spaces(session)
        filling = await space_queries.find_filling(session)
        if filling is None or filling.id != work.pair.filling_id:
            raise _Over
        await work.job.hold(session)


def pair_of(spaces: Sequence[Space]) -> Pair | None:
    current = next((space for space in spaces if space.is_current), None)
    filling = next((space for space in spaces if space.filling_since is not None), None)
    return None if current is None or filling is None else Pair(current.id, filling.id)


async def count_missing(session: AsyncSession, workspace_id: uuid.UUID, pair: Pair, up_to: int = _COUNT_UP_TO) -> int:
    missing = await stored.count_missing_chunks(session, workspace_id, pair.filling_id, up_to)
    for table in TABLES:
        if missing < up_to:
            missing += await stored.count_missing_texts(session, workspace_id, table, pair, up_to)
    return missing


def _windows(card: CardChunks, current: Embedder) -> Iterator[tuple[uuid.UUID, list[WindowRow]]]:
    """Windows of the chunks that wait for them. All chunks are gone through: a text that an earlier one has is left
    out of a later one.
    """
    longest = max(current.max_tokens - 32, 32)
    head = shortened(card.title, current.count_tokens, longest // 4)
    seen: set[uuid.UUID] = set()
    for chunk in card.chunks:
        rows = window_rows(head, Chunk(chunk.start, chunk.end, chunk.text, chunk.heading), seen)
        if chunk.waits:
            yield chunk.id, rows


_TEXTS: Final[Mapping[tuple[str, int], Callable[[Sequence[str]], str]]] = {
    ("episode_vectors", TextRole.own): lambda parts: texts.episode_text(*parts),
    ("facet_vectors", TextRole.own): lambda parts: texts.facet_title_text(parts[0]),
    ("facet_vectors", TextRole.description): lambda parts: texts.facet_description_text(parts[1]),
    ("facet_vectors", TextRole.edge): lambda parts: texts.facet_edge_text(*parts),
    ("point_vectors", TextRole.own): lambda parts: texts.point_text(parts[1]),
    ("point_vectors", TextRole.edge): lambda parts: texts.point_edge_text(*parts),
    ("entity_vectors", TextRole.own): lambda parts: texts.entity_text(parts[0], parts[2:], parts[1]),
    ("relation_vectors", TextRole.own): lambda parts: texts.relation_text(parts[0]),
    ("role_vectors", TextRole.own): lambda parts: parts[0],
}


def text_of(table: str, role: int, parts: Sequence[str]) -> str:
    """The text that a vector of this table and role stands for; `parts` as `reembed_queries` reads them."""
    if table == "report_vectors":
        # One that has lost findings keeps no vector of them: nothing is what there is to say.
        return (texts.report_texts(parts[0], parts[1], parts[2:]) + [""] * role)[role]
    return _TEXTS[table, role](parts)


def _text(table: str, row: OwnerText) -> str:
    return text_of(table, row.role, row.parts)


async def _still_said(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    table: str,
    rows: Sequence[tuple[stored.Place, uuid.UUID]],
) -> list[tuple[stored.Place, uuid.UUID]]:
    """Those whose owner still says what it said when its text was read."""
    parts = await stored.list_parts(session, workspace_id, table, [place[0] for place, _ in rows])
    return [
        (place, key)
        for place, key in rows
        if place[0] in parts and text_hash(text_of(table, place[1], parts[place[0]])) == key
    ]
