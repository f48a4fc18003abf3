"""Moving all vectors to another embedding space, while search goes on in the current one.

begin → whoever writes, writes both → one job per workspace fills in what was there before → indexes → the switch, one
row → later the vectors that were left are dropped. The story; no SQL. What is done is found in the database, so that a
job that was killed goes on where it was.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.errors import Conflict, NotFound
from app.core.log import get
from app.db.session import Database
from app.index import queries as index
from app.index import space_queries, vector_index
from app.index.spaces import Spaces
from app.index.tables import Space
from app.ingestion import reembed_queries as stored
from app.ingestion.embed import embedded
from app.ingestion.link.thresholds import thresholds_for
from app.ingestion.reembed_queries import TABLES, Pair
from app.ingestion.refill import Filling, count_missing, pair_of
from app.ingestion.settings import IngestionSettings
from app.jobs.job import JobContext, NewJob
from app.jobs.queue import enqueue_many
from app.providers.ports import Embedder

log = get(__name__)

REEMBED: Final = "reembed"
_PROBE: Final = "MindCone"
_DROP_ROWS: Final = 5_000

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
    """How far the filling is: chunks, texts of the graph and memories that are done, of all there are."""

    done: int
    total: int
    stuck: Sequence[Stuck] = ()


@dataclass(frozen=True, slots=True)
class Status:
    spaces: Sequence[SpaceView]
    progress: Progress | None = None

    def of(self, part: Part) -> SpaceView | None:
        return next((space for space in self.spaces if space.part == part), None)


BeforeSwitch = Callable[[int, Embedder], Awaitable[None]]
"""What must be ready in a space (row id, its embedder) before search reads it."""


class Kept(Protocol):
    """Vectors that somebody else keeps beside those of cards and their graph."""

    @property
    def table(self) -> str: ...

    async def fill(self, workspace_id: uuid.UUID) -> int:
        """Make what a workspace lacks in all spaces that are written. Raises ProviderError."""
        ...

    async def drop_left(self) -> None: ...

    async def count_vectors(self, session: AsyncSession, space_id: int) -> int: ...

    async def count_texts(self, session: AsyncSession) -> int:
        """What there is to be embedded, over all workspaces."""
        ...

    async def count_lacking(self, session: AsyncSession, workspace_id: uuid.UUID, space_id: int) -> int: ...


class Reembedding:
    def __init__(
        self,
        database: Database,
        spaces: Spaces,
        settings: IngestionSettings,
        before_switch: BeforeSwitch | None = None,
        beside: Sequence[Kept] = (),
    ) -> None:
        self._database = database
        self._spaces = spaces
        self._settings = settings
        self._before_switch = before_switch
        self._beside = beside
        self._filling = Filling(database, spaces, settings)

    # ------------------------------------------------------------------- what people ask for

    async def begin(self, key: str | None = None) -> Status:
        """From now on vectors are written in this space as well, and jobs fill in the rest; asking again lets jobs
        that gave up try again. `key` None: the next embedder's space.

        Raises NothingToFill, AlreadyCurrent, AnotherIsFilled, ProviderError.
        """
        embedder = await self._target(key)
        # Before anything is written: does it answer, and with vectors of the size that was promised?
        await embedded(embedder, [_PROBE])
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
                    await self._count_rows(session, space.id) if counted else None,
                )
                for space in spaces
            ]
        pair = pair_of(spaces)
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
            for kept in self._beside:
                total += await kept.count_texts(session)
            for workspace_id in await stored.list_workspaces(session):
                missing += await count_missing(session, workspace_id, pair)
                missing += await self._count_lacking(session, workspace_id, pair)
        stuck = [
            Stuck(j.workspace_id, j.error_code, j.error_detail) for j in jobs if j.state in ("failed", "cancelled")
        ]
        return Progress(max(total - missing, 0), total, stuck)

    async def fill(self, job: JobContext) -> None:
        """Job: make what a workspace lacks in the space `job.payload["space"]`. Raises ProviderError,
        SpaceUnavailable.
        """
        await self._filling.run(job)
        for kept in self._beside:
            await kept.fill(job.workspace_id)

    async def _count_rows(self, session: AsyncSession, space_id: int) -> dict[str, int]:
        """Vectors of a space by table."""
        counted = await stored.count_rows(session, space_id)
        for kept in self._beside:
            counted[kept.table] = await kept.count_vectors(session, space_id)
        return counted

    async def _count_lacking(self, session: AsyncSession, workspace_id: uuid.UUID, pair: Pair) -> int:
        return sum([await kept.count_lacking(session, workspace_id, pair.filling_id) for kept in self._beside])

    # ------------------------------------------------------------------------------ the switch

    async def advance(self) -> bool:
        """Bring the filling further: jobs for what is missing; once nothing is, the indexes and the switch. Says
        whether search reads the new space now. Does nothing where a job has given up, or without its embedder.
        """
        async with self._database.read() as session:
            pair = pair_of(spaces := await space_queries.list_written(session))
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
            self._database,
            pair.filling_id,
            embedder.space.dimension,
            self._settings.vector_index_windows,
            bare_names=not thresholds_for(filling.key).only_asks,
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
                if await count_missing(session, workspace_id, pair, up_to=1) or await self._count_lacking(
                    session, workspace_id, pair
                ):
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
        for kept in self._beside if spaces else ():
            await kept.drop_left()
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
            if any((await self._count_rows(session, space.id)).values()):
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


async def _is_left(session: AsyncSession, space_id: int) -> bool:
    """Whether it is neither read nor written; it stays so until the transaction ends."""
    await space_queries.hold_spaces(session)
    return any(space.id == space_id and space.left_at is not None for space in await space_queries.list_spaces(session))
