"""Moving all vectors to another embedding space, while search goes on in the current one.

begin → whoever writes, writes both → one job per workspace fills in what was there before → indexes → the switch, one
row → later the vectors that were left are dropped. The story; no SQL. What is done is found in the database, so that a
job that was killed goes on where it was.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.errors import Conflict, NotFound
from app.core.log import get
from app.db.session import Database
from app.graph.cone_queries import lock_graph
from app.graph.vector_tables import TextRole
from app.index import queries as index
from app.index import space_queries, vector_index
from app.index.rows import StoredVector, WindowRow, text_hash
from app.index.spaces import Spaces
from app.index.tables import Space
from app.ingestion import queries, texts
from app.ingestion import reembed_queries as stored
from app.ingestion.chunk import Chunk
from app.ingestion.prepare import shortened, window_rows
from app.ingestion.reembed_queries import TABLES, CardChunks, OwnerText, Pair
from app.ingestion.settings import IngestionSettings
from app.jobs.job import JobContext, NewJob
from app.jobs.queue import enqueue_many
from app.providers.ports import DimensionMismatch, Embedder

log = get(__name__)

REEMBED: Final = "reembed"
_PROBE: Final = "MindCone"
# Texts that change while they are filled in are met again in the next round.
_ROUNDS: Final = 20
_COUNT_UP_TO: Final = 10_000_000
_DROP_ROWS: Final = 5_000

Vectors = dict[uuid.UUID, StoredVector]
Part = Literal["current", "filling", "left"]


class NothingToFill(NotFound):
    """There is no other embedder; set MINDCONE_EMBEDDER_NEXT (and its model, dimension, address) and restart."""

    code = "no_next_embedder"


class AlreadyCurrent(Conflict):
    """Search already reads this embedding space."""

    code = "space_is_current"


class AnotherIsFilled(Conflict):
    """Another embedding space is being filled; let it finish, or abandon it first."""

    code = "space_is_filling"


class NothingIsFilled(Conflict):
    """No embedding space is being filled."""

    code = "no_space_is_filling"


@dataclass(frozen=True, slots=True)
class Stuck:
    """A workspace whose job has given up; begin again, or retry the job, to go on."""

    workspace_id: uuid.UUID
    code: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class SpaceView:
    """`vectors` by table, where they were counted."""

    key: str
    part: Part
    since: datetime | None
    vectors: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the filling is: chunks and texts of the graph that are done, of all there are."""

    done: int
    total: int
    stuck: Sequence[Stuck] = ()


@dataclass(frozen=True, slots=True)
class Status:
    spaces: Sequence[SpaceView]
    progress: Progress | None = None

    def of(self, part: Part) -> SpaceView | None:
        return next((space for space in self.spaces if space.part == part), None)


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


BeforeSwitch = Callable[[int, Embedder], Awaitable[None]]
"""What must be ready in a space (row id, its embedder) before search reads it."""


class Reembedding:
    def __init__(
        self,
        database: Database,
        spaces: Spaces,
        settings: IngestionSettings,
        before_switch: BeforeSwitch | None = None,
    ) -> None:
        self._database = database
        self._spaces = spaces
        self._settings = settings
        self._before_switch = before_switch

    # ------------------------------------------------------------------- what people ask for

    async def begin(self, key: str | None = None) -> Status:
        """From now on vectors are written in this space as well, and jobs fill in the rest; asking again lets jobs
        that gave up try again. `key` None: the next embedder's space.

        Raises NothingToFill, AlreadyCurrent, AnotherIsFilled, ProviderError.
        """
        embedder = await self._target(key)
        # Before anything is written: does it answer, and with vectors of the size that was promised?
        await _checked(embedder, [_PROBE])
        async with self._database.unit() as session:
            await space_queries.lock_spaces(session)
            known = {space.key: space for space in await space_queries.list_spaces(session)}
            wanted = known.get(embedder.space.key)
            if wanted is not None and wanted.is_current:
                raise AlreadyCurrent
            filling = next((space for space in known.values() if space.filling_since is not None), None)
            if filling is not None and filling is not wanted:
                raise AnotherIsFilled(f"{filling.key} is being filled; let it finish, or abandon it first.")
            space_id = wanted.id if wanted is not None else await index.ensure_space(session, embedder.space)
            if filling is None:
                await space_queries.set_filling(session, space_id)
                log.info("reembedding_started", space=embedder.space.key)
            await enqueue_many(session, _jobs(space_id, await stored.list_workspaces(session)))
        return await self.status()

    async def abandon(self) -> None:
        """Stop filling; what was written so far is dropped later. Raises NothingIsFilled."""
        async with self._database.unit() as session:
            await space_queries.lock_spaces(session)
            filling = await space_queries.find_filling(session)
            if filling is None:
                raise NothingIsFilled
            await space_queries.set_left(session, filling.id)
        log.info("reembedding_abandoned", space=filling.key)

    async def status(self, *, counted: bool = False) -> Status:
        """`counted`: with the vectors of each space and the progress, which reads whole tables."""
        async with self._database.read() as session:
            spaces = await space_queries.list_spaces(session)
            views = [
                SpaceView(
                    space.key,
                    _part(space),
                    space.filling_since or space.left_at,
                    await stored.count_rows(session, space.id) if counted else None,
                )
                for space in spaces
            ]
        pair = _pair(spaces)
        return Status(views, await self._progress(pair) if counted and pair is not None else None)

    async def _target(self, key: str | None) -> Embedder:
        embedders = self._spaces.embedders
        if key is not None:
            return self._spaces.embedder(key)
        async with self._database.read() as session:
            current = await index.find_current_space(session)
        others = [one for one in embedders if current is None or one.space.key != current.key]
        if len(embedders) < 2 or not others:
            raise NothingToFill
        if embedders[-1] not in others:
            raise AlreadyCurrent(f"Search already reads {embedders[-1].space.key}.")
        return embedders[-1]

    async def _progress(self, pair: Pair) -> Progress:
        total = missing = 0
        async with self._database.read() as session:
            jobs = await stored.list_jobs(session, REEMBED, _dedupe_key(pair.filling_id))
            total = await stored.count_all(session, pair.current_id)
            for workspace_id in await stored.list_workspaces(session):
                missing += await _count_missing(session, workspace_id, pair)
        stuck = [
            Stuck(j.workspace_id, j.error_code, j.error_detail) for j in jobs if j.state in ("failed", "cancelled")
        ]
        return Progress(max(total - missing, 0), total, stuck)

    # ----------------------------------------------------------------------------- the filling

    async def fill(self, job: JobContext) -> None:
        """Job: make what a workspace lacks in the space `job.payload["space"]`. Raises ProviderError,
        SpaceUnavailable.
        """
        async with self._database.read() as session:
            spaces = {space.id: space for space in await space_queries.list_written(session)}
            pair = _pair(list(spaces.values()))
            if pair is None or pair.filling_id != job.payload["space"]:
                return
            total = await _count_missing(session, job.workspace_id, pair)
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
            known.update(zip(missing, await _checked(embedder, [wanted[key] for key in missing]), strict=True))
        return known

    async def _hold(self, session: AsyncSession, work: _Work) -> None:
        """The fence, before anything is written: the space is still being filled, and the job is still ours."""
        await space_queries.hold_spaces(session)
        filling = await space_queries.find_filling(session)
        if filling is None or filling.id != work.pair.filling_id:
            raise _Over
        await work.job.hold(session)

    # ------------------------------------------------------------------------------ the switch

    async def advance(self) -> bool:
        """Bring the filling further: jobs for what is missing; once nothing is, the indexes and the switch. Says
        whether search reads the new space now. Does nothing where a job has given up, or without its embedder.
        """
        async with self._database.read() as session:
            pair = _pair(spaces := await space_queries.list_written(session))
            if pair is None:
                return False
            jobs = await stored.list_jobs(session, REEMBED, _dedupe_key(pair.filling_id))
        filling = next(space for space in spaces if space.id == pair.filling_id)
        embedder = self._spaces.find(filling.key)
        if embedder is None or any(job.state in ("queued", "working") for job in jobs):
            return False
        lacking = await self._list_lacking(pair)
        if lacking:
            gave_up = {job.workspace_id for job in jobs if job.state in ("failed", "cancelled")}
            async with self._database.unit() as session:
                fresh = [workspace_id for workspace_id in lacking if workspace_id not in gave_up]
                await enqueue_many(session, _jobs(pair.filling_id, fresh))
            return False
        indexed = await vector_index.build_lacking(
            self._database, pair.filling_id, embedder.space.dimension, self._settings.vector_index_windows
        )
        if not indexed:
            return False
        if self._before_switch is not None:
            await self._before_switch(pair.filling_id, embedder)
        return await self._switch(pair)

    async def _list_lacking(self, pair: Pair) -> list[uuid.UUID]:
        async with self._database.read() as session:
            workspaces = await stored.list_workspaces(session)
        lacking = []
        for workspace_id in workspaces:
            async with self._database.read() as session:
                if await _count_missing(session, workspace_id, pair, up_to=1):
                    lacking.append(workspace_id)
        return lacking

    async def _switch(self, pair: Pair) -> bool:
        """Alone: whoever wrote before this wrote both spaces, whoever writes after it writes the new one."""
        async with self._database.unit() as session:
            await space_queries.lock_spaces(session)
            filling = await space_queries.find_filling(session)
            if filling is None or filling.id != pair.filling_id:
                return False
            await space_queries.set_current(session, filling.id)
        log.info("space_switched", space=filling.key)
        return True

    # ---------------------------------------------------------------------------- the dropping

    async def drop_left(self) -> int:
        """Drop the vectors of spaces that were left long enough ago, in small steps; gives how many spaces went."""
        before = now() - timedelta(hours=self._settings.reembed_keep_hours)
        async with self._database.read() as session:
            spaces = [one for one in await space_queries.list_spaces(session) if one.left_at and one.left_at <= before]
            workspaces = await stored.list_workspaces(session)
        gone = 0
        for space in spaces:
            await vector_index.drop(self._database, space.id)
            for workspace_id in workspaces:
                for table in ("windows", *TABLES):
                    await self._drop(workspace_id, table, space.id)
            gone += await self._forget(space)
        return gone

    async def _drop(self, workspace_id: uuid.UUID, table: str, space_id: int) -> None:
        after: uuid.UUID | None = stored.NIL
        while after is not None:
            async with self._database.unit() as session:
                if not await _is_left(session, space_id):
                    return
                after = await stored.delete_vectors(session, workspace_id, table, space_id, after, _DROP_ROWS)

    async def _forget(self, space: Space) -> bool:
        """The space itself, once none of its vectors is left."""
        async with self._database.unit() as session:
            if not await _is_left(session, space.id):
                return False
            await stored.delete_staged(session, space.id)
            if any((await stored.count_rows(session, space.id)).values()):
                return False
            await space_queries.delete_space(session, space.id)
        log.info("space_dropped", space=space.key)
        return True


# ------------------------------------------------------------------------------------------ details


def _jobs(space_id: int, workspaces: Sequence[uuid.UUID]) -> list[NewJob]:
    return [
        NewJob(REEMBED, workspace_id, {"space": space_id}, dedupe_key=_dedupe_key(space_id), priority=-1)
        for workspace_id in workspaces
    ]


def _dedupe_key(space_id: int) -> str:
    return f"space {space_id}"


def _part(space: Space) -> Part:
    return "current" if space.is_current else "filling" if space.filling_since is not None else "left"


def _pair(spaces: Sequence[Space]) -> Pair | None:
    current = next((space for space in spaces if space.is_current), None)
    filling = next((space for space in spaces if space.filling_since is not None), None)
    return None if current is None or filling is None else Pair(current.id, filling.id)


async def _is_left(session: AsyncSession, space_id: int) -> bool:
    """Whether it is neither read nor written; it stays so until the transaction ends."""
    await space_queries.hold_spaces(session)
    return any(space.id == space_id and space.left_at is not None for space in await space_queries.list_spaces(session))


async def _count_missing(session: AsyncSession, workspace_id: uuid.UUID, pair: Pair, up_to: int = _COUNT_UP_TO) -> int:
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
        if place[0] in parts and text_hash(_TEXTS[table, place[1]](parts[place[0]])) == key
    ]


async def _checked(embedder: Embedder, wanted: Sequence[str]) -> list[StoredVector]:
    """Raises DimensionMismatch before anything of a wrong shape is written; ProviderError."""
    made = await embedder.passages(wanted)
    expected = (len(wanted), embedder.space.dimension)
    if made.dense.shape != expected:
        raise DimensionMismatch(f"Expected vectors of shape {expected}, got {made.dense.shape}.")
    weights: Sequence[Mapping[int, float] | None] = made.sparse or [None] * len(wanted)
    return [StoredVector(dense, sparse) for dense, sparse in zip(made.dense, weights, strict=True)]
