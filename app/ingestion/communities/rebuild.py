"""Communities follow the graph: look → cluster → report → put in place. The story; no arithmetic, no SQL.

What is in place is always one whole clustering; the next one is made beside it, and only reports on what has changed
are made anew. A killed run leaves its reports as drafts, and the next one finds them by what they were made from.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import Conflict
from app.core.log import get
from app.db.session import Database
from app.graph import community_queries as queries
from app.graph import cone_queries
from app.graph.community_queries import ReportWrite
from app.graph.vector_tables import ReportVector
from app.graph.vectors import VectorEntry, insert_vectors
from app.index import queries as index
from app.index.collections import Collection
from app.index.lexical import insert_recent
from app.index.postings import LexicalRow
from app.index.rows import text_hash
from app.index.spaces import Spaces, WriteSpace
from app.ingestion.communities.clustering import clustered
from app.ingestion.communities.plan import Planned, Seen, drawn, next_communities, report_input, standing
from app.ingestion.communities.report import MODEL_FAILED, Report, ReportBuilder
from app.ingestion.communities.settings import CommunitySettings
from app.ingestion.embed import embedded
from app.ingestion.prepare import Counted, count_terms
from app.jobs.job import JobContext, NewJob
from app.jobs.queue import enqueue, enqueue_many, is_asked_for
from app.providers.ports import Vector
from app.text.segment import Segmenter, Terms

log = get(__name__)

COMMUNITIES: Final = "communities"
_AT_ONCE: Final = 16
_CONNECTIONS: Final = 4
"""Of the pool, which others need, too."""
_EMBED: Final = 128
_ATTEMPTS: Final = 3


class SpacesUnsettled(Conflict):
    """Embedding spaces came in faster than the reports could be embedded."""

    code = "spaces_unsettled"


@dataclass(slots=True)
class Rebuilt:
    """What a run came to. `reports`: how many were made, not found as drafts."""

    communities: int = 0
    reports: int = 0
    is_full: bool = False
    modularity: float = 0.0
    made: dict[uuid.UUID, Report] = field(default_factory=dict)


class Communities:
    def __init__(
        self,
        database: Database,
        spaces: Spaces,
        segmenter: Segmenter,
        builder: ReportBuilder,
        settings: CommunitySettings,
    ) -> None:
        self._database = database
        self._spaces = spaces
        self._segmenter = segmenter
        self._builder = builder
        self._settings = settings
        self._building = asyncio.Semaphore(_AT_ONCE)
        self._asking = asyncio.Semaphore(_CONNECTIONS)

    async def enqueue_due(self, quiet_seconds: float | None = None) -> int:
        """Jobs for workspaces that have changed and come to rest; gives how many.

        None where one waits (it may be a full one) or works: a run takes note at its end, and would be asked for again
        all the while.
        """
        quiet = self._settings.communities_quiet_seconds if quiet_seconds is None else quiet_seconds
        async with self._database.unit() as session:
            due = [
                one
                for one in await queries.list_due(session, quiet, self._settings.communities_longest_seconds)
                if not await is_asked_for(session, one, COMMUNITIES)
            ]
            await enqueue_many(session, [NewJob(COMMUNITIES, one, dedupe_key=COMMUNITIES, priority=-1) for one in due])
        return len(due)

    async def ask_for(self, session: AsyncSession, workspace_id: uuid.UUID) -> uuid.UUID:
        """A job that clusters everything anew; gives its id."""
        return await enqueue(session, NewJob(COMMUNITIES, workspace_id, {"full": True}, dedupe_key=COMMUNITIES))

    async def work(self, job: JobContext) -> None:
        """Payload: `full`, to cluster everything anew."""
        await self.rebuild(job.workspace_id, is_full=bool(job.payload.get("full")), job=job)

    async def rebuild(
        self, workspace_id: uuid.UUID, *, is_full: bool = False, job: JobContext | None = None
    ) -> Rebuilt:
        """Raises ProviderError where the embedder cannot be reached, and LeaseLost."""
        async with self._database.unit() as session:
            run_id = await queries.start_run(session, workspace_id)
        seen = await self._look(workspace_id)
        graph, nodes = await asyncio.to_thread(drawn, seen.joined)
        earlier = await asyncio.to_thread(standing, seen, nodes, is_full)
        if job is not None:
            await job.progress("cluster")
        clustering = await clustered(graph, self._settings, earlier)
        planned = await asyncio.to_thread(
            next_communities, clustering, sorted(nodes, key=nodes.__getitem__), seen, self._builder.version
        )
        done = Rebuilt(len(planned), is_full=clustering.is_full, modularity=clustering.modularity)
        await self._report(workspace_id, run_id, planned, done, job)
        figures = {
            "is_full": clustering.is_full,
            "nodes": len({node for one in clustering.clusters if one.level == 0 for node in one.members}),
            "edges": len(graph.edges),
            "communities": len(planned),
            "levels": len({one.write.level for one in planned}),
            "modularity": clustering.modularity,
            "full_modularity": clustering.modularity
            if clustering.is_full or seen.current is None
            else seen.current.full_modularity,
            "changed": 0 if clustering.is_full or earlier is None else earlier.changed_since,
        }
        await self._place(workspace_id, run_id, planned, done, figures, seen.changes.noted, job)
        log.info("communities_rebuilt", communities=done.communities, reports=done.reports, is_full=done.is_full)
        return done

    async def _look(self, workspace_id: uuid.UUID) -> Seen:
        """The log is read first: what changes after that is looked at again by the next run."""
        async with self._database.read() as session:
            changes = await queries.get_changes(session, workspace_id)
            return Seen(
                await queries.list_joined(session, workspace_id),
                await queries.list_versions(session, workspace_id),
                await queries.list_stored(session, workspace_id),
                await queries.find_current(session, workspace_id),
                changes,
            )

    # ----------------------------------------------------------------------------------- reports

    async def _report(
        self,
        workspace_id: uuid.UUID,
        run_id: uuid.UUID,
        planned: Sequence[Planned],
        done: Rebuilt,
        job: JobContext | None,
    ) -> None:
        """The deepest first: a parent may read the reports below it."""
        wanted = [one for one in planned if one.needs_report]
        async with self._database.unit() as session:
            await queries.set_progress(session, workspace_id, run_id, 0, len(wanted))
            drafts = await queries.list_drafts(session, workspace_id, [one.write.fingerprint for one in wanted])
        sizes = {one.write.id: one.write.size for one in planned}
        deepest = max((one.write.level for one in wanted), default=0)
        for level in range(deepest, -1, -1):
            layer = [one for one in wanted if one.write.level == level]
            known = {
                one.write.id: Report.of_json(drafts[one.write.fingerprint])
                for one in layer
                if one.write.fingerprint in drafts
            }
            done.made.update(known)

            async def tell(one: Planned) -> None:
                async with self._building:
                    report = await self._build(workspace_id, one, sizes, done)
                done.made[one.write.id] = report
                done.reports += 1
                # At once: what was paid for is not paid for again.
                async with self._asking, self._database.unit() as session:
                    await queries.insert_draft(session, workspace_id, one.write.fingerprint, report.as_json())
                    await queries.set_progress(session, workspace_id, run_id, len(done.made), len(wanted))
                if job is not None:
                    await job.progress("reports", len(done.made) / len(wanted))

            await _all([asyncio.ensure_future(tell(one)) for one in layer if one.write.id not in known])

    async def _build(
        self, workspace_id: uuid.UUID, one: Planned, sizes: Mapping[uuid.UUID, int], done: Rebuilt
    ) -> Report:
        async with self._asking, self._database.read() as session:
            entities, statements = await queries.list_told(session, workspace_id, one.write.members)
            below = dict(done.made)
            for child in one.children:
                if child not in below and (row := await queries.find_report(session, workspace_id, child)):
                    below[child] = Report.of_json(row)
        given = await asyncio.to_thread(report_input, one, entities, statements, sizes, below)
        return await self._builder.build(given)

    # ------------------------------------------------------------------------------------- place

    async def _place(
        self,
        workspace_id: uuid.UUID,
        run_id: uuid.UUID,
        planned: Sequence[Planned],
        done: Rebuilt,
        figures: Mapping[str, Any],
        noted: Sequence[int],
        job: JobContext | None,
    ) -> None:
        """Raises SpacesUnsettled."""
        if job is not None:
            await job.progress("embed", 1.0)
        texts = {one: report.texts() for one, report in done.made.items()}
        counted = await asyncio.to_thread(lambda: {one: self._counted(report) for one, report in done.made.items()})
        made: dict[int, dict[str, Vector]] = {}
        for _ in range(_ATTEMPTS):
            async with self._database.unit() as session:
                targets = await self._spaces.to_write(session)
            for target in targets:
                await self._embed(workspace_id, target, texts, made.setdefault(target.id, {}))
            async with self._database.unit() as session:
                targets = await self._spaces.to_write(session)
                if any(target.id not in made for target in targets):
                    continue  # a space came in meanwhile
                if job is not None:
                    await job.hold(session)
                await cone_queries.lock_graph(session, workspace_id)
                await queries.replace_communities(
                    session,
                    workspace_id,
                    run_id,
                    [one.write.id for one in planned if one.is_as_before],
                    [one.write for one in planned if not one.is_as_before],
                )
                prints = {one.write.id: one.write.fingerprint for one in planned}
                docs = await self._put_reports(session, workspace_id, prints, done.made, counted)
                for target in targets:
                    vectors = made[target.id]
                    entries = [
                        VectorEntry(one, role, text_hash(text), vectors[text])
                        for one in docs
                        for role, text in enumerate(texts[one])
                    ]
                    await insert_vectors(session, workspace_id, target.id, ReportVector, entries)
                await queries.finish_run(session, workspace_id, run_id, noted, figures)
                return
        raise SpacesUnsettled

    async def _put_reports(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        prints: Mapping[uuid.UUID, uuid.UUID],
        made: Mapping[uuid.UUID, Report],
        counted: Mapping[uuid.UUID, Counted],
    ) -> dict[uuid.UUID, int]:
        """With their words; gives the number of each in the postings."""
        rows = [
            ReportWrite(
                one,
                prints[one],
                report.as_json(),
                MODEL_FAILED in report.flags,
                counted[one].words,
                counted[one].grams,
            )
            for one, report in made.items()
        ]
        docs = await queries.replace_reports(session, workspace_id, rows)
        lexical = [
            LexicalRow(doc, counted[one].words, counted[one].grams, counted[one].word_terms, counted[one].gram_terms)
            for one, doc in docs.items()
        ]
        await insert_recent(session, workspace_id, lexical, Collection.report)
        return docs

    async def _embed(
        self,
        workspace_id: uuid.UUID,
        target: WriteSpace,
        texts: Mapping[uuid.UUID, Sequence[str]],
        made: dict[str, Vector],
    ) -> None:
        """Findings are often sentences that have their vector already."""
        keys = {text_hash(text): text for one in texts.values() for text in one if text not in made}
        async with self._database.read() as session:
            known = await index.list_known_vectors(session, workspace_id, target.id, list(keys), frozenset(keys))
        made.update((keys[key], vector.dense) for key, vector in known.items())
        missing = [text for text in keys.values() if text not in made]
        for at in range(0, len(missing), _EMBED):
            vectors = await embedded(target.embedder, missing[at : at + _EMBED])
            made.update(zip(missing[at : at + _EMBED], (one.dense for one in vectors), strict=True))

    def _counted(self, report: Report) -> Counted:
        return count_terms(Terms([], [], []), self._segmenter.terms(report.words()))


async def _all(tasks: Sequence[asyncio.Future[None]]) -> None:
    """Every one of them is done or stopped when this ends. Raises what the first one raises."""
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
