"""Communities follow the graph: look → cluster → report → put in place. The story; no arithmetic, no SQL.

What is in place is always one whole clustering; the next one is made beside it, and only reports on what has changed
are made anew. A killed run leaves its reports as drafts, and the next one finds them by what they were made from.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import Conflict
from app.core.ids import new_id
from app.core.log import get
from app.db.session import Database
from app.graph import community_queries as queries
from app.graph import cone_queries
from app.graph.community_queries import Changes, CommunityWrite, Joined, ReportWrite, Run, Stored
from app.graph.leiden import Cluster, Clustering, Earlier, Graph, graph_of, pagerank
from app.graph.vector_tables import ReportVector
from app.graph.vectors import VectorEntry, insert_vectors
from app.index import queries as index
from app.index.collections import Collection
from app.index.lexical import insert_recent
from app.index.postings import LexicalRow
from app.index.rows import text_hash
from app.index.spaces import Spaces, WriteSpace
from app.ingestion.communities.clustering import clustered
from app.ingestion.communities.report import (
    MAX_MEMBERS,
    MAX_STATEMENTS,
    Child,
    Finding,
    Member,
    Report,
    ReportBuilder,
    ReportInput,
    Statement,
)
from app.ingestion.communities.settings import CommunitySettings
from app.ingestion.prepare import Counted, count_terms
from app.ingestion.refill import embedded
from app.ingestion.texts import report_texts
from app.jobs.job import JobContext, NewJob
from app.jobs.queue import enqueue, enqueue_many, list_jobs
from app.providers.ports import Vector
from app.text.segment import Segmenter, Terms

log = get(__name__)

COMMUNITIES: Final = "communities"
_AT_ONCE: Final = 16
_CONNECTIONS: Final = 4
"""Of the pool, which others need, too."""
_EMBED: Final = 128
_PER_PAIR: Final = 3
_ATTEMPTS: Final = 3


class SpacesUnsettled(Conflict):
    """Embedding spaces came in faster than the reports could be embedded."""

    code = "spaces_unsettled"


@dataclass(frozen=True, slots=True)
class Seen:
    """All that a run begins with."""

    joined: Sequence[Joined]
    versions: Mapping[uuid.UUID, int]
    stored: Sequence[Stored]
    current: Run | None
    changes: Changes


@dataclass(frozen=True, slots=True)
class Planned:
    """A community as it will be. `stored`: the one that it goes on from."""

    write: CommunityWrite
    stored: Stored | None
    children: Sequence[uuid.UUID]

    @property
    def is_as_before(self) -> bool:
        was, now = self.stored, self.write
        return was is not None and (was.parent_id, was.level, was.fingerprint) == (
            now.parent_id,
            now.level,
            now.fingerprint,
        )

    @property
    def needs_report(self) -> bool:
        return self.stored is None or self.stored.is_stale or self.stored.made_from != self.write.fingerprint


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
                if not await list_jobs(session, one, state="queued", kind=COMMUNITIES, limit=1)
                and not await list_jobs(session, one, state="working", kind=COMMUNITIES, limit=1)
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
        graph, nodes = await asyncio.to_thread(_graph, seen.joined)
        earlier = await asyncio.to_thread(_earlier, seen, nodes, is_full)
        if job is not None:
            await job.progress("cluster")
        clustering = await clustered(graph, self._settings, earlier)
        planned = await asyncio.to_thread(
            _planned, clustering, sorted(nodes, key=nodes.__getitem__), seen, self._builder.version
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
                one.write.id: _of_json(drafts[one.write.fingerprint])
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
                    await queries.insert_draft(session, workspace_id, one.write.fingerprint, _as_json(report))
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
                    below[child] = _of_row(row)
        given = await asyncio.to_thread(_input, one, entities, statements, sizes, below)
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
        texts = {
            one: report_texts(report.title, report.summary, [finding.text for finding in report.findings])
            for one, report in done.made.items()
        }
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
                rows = [
                    ReportWrite(
                        one,
                        prints[one],
                        _as_json(report),
                        "model_failed" in report.flags,
                        counted[one].words,
                        counted[one].grams,
                    )
                    for one, report in done.made.items()
                ]
                docs = await queries.replace_reports(session, workspace_id, rows)
                lexical = [
                    LexicalRow(
                        doc, counted[one].words, counted[one].grams, counted[one].word_terms, counted[one].gram_terms
                    )
                    for one, doc in docs.items()
                ]
                await insert_recent(session, workspace_id, lexical, Collection.report)
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


# ------------------------------------------------------------------------------------- pure parts


def _graph(joined: Sequence[Joined]) -> tuple[Graph, dict[uuid.UUID, int]]:
    """Nodes are numbered by their ids: the same graph, the same numbers."""
    nodes = {node: at for at, node in enumerate(sorted({one.one for one in joined} | {one.other for one in joined}))}
    return graph_of(len(nodes), ((nodes[one.one], nodes[one.other], one.weight) for one in joined)), nodes


def _earlier(seen: Seen, nodes: Mapping[uuid.UUID, int], is_full: bool) -> Earlier | None:
    if seen.current is None or not seen.stored:
        return None
    place = {one.id: at for at, one in enumerate(seen.stored)}
    clusters = tuple(
        Cluster(
            one.level,
            None if one.parent_id is None else place[one.parent_id],
            tuple(sorted(nodes[member] for member in one.members if member in nodes)),
        )
        for one in seen.stored
    )
    known = {member for one in seen.stored if one.level == 0 for member in one.members}
    changed = {nodes[one] for one in seen.changes.entities if one in nodes}
    changed |= {at for node, at in nodes.items() if node not in known}
    gone = sum(node not in nodes for node in known)
    return Earlier(
        clusters,
        frozenset(changed),
        frozenset(place[one] for one in seen.changes.communities if one in place),
        seen.current.full_modularity,
        len(nodes) + 1 if is_full else seen.current.changed + len(changed) + gone,
    )


def _planned(clustering: Clustering, ids: Sequence[uuid.UUID], seen: Seen, version: str) -> list[Planned]:
    """Parents before children. `ids`: of the nodes, by number."""
    number = {node: at for at, node in enumerate(ids)}
    clusters = clustering.clusters
    names = [seen.stored[one.known_as].id if one.known_as is not None else new_id() for one in clusters]
    at_level: dict[tuple[int, int], int] = {
        (one.level, node): at for at, one in enumerate(clusters) for node in one.members
    }
    levels = max((one.level for one in clusters), default=-1) + 1
    inside: dict[int, list[Joined]] = defaultdict(list)
    for edge in seen.joined:
        for level in range(levels):
            at = at_level.get((level, number[edge.one]))
            if at is None or at != at_level.get((level, number[edge.other])):
                break
            inside[at].append(edge)
    below: dict[int, list[uuid.UUID]] = defaultdict(list)
    for at, one in enumerate(clusters):
        if one.parent is not None:
            below[one.parent].append(names[at])
    planned: list[Planned] = []
    for at, one in enumerate(clusters):
        members = [ids[node] for node in one.members]
        made_of = hashlib.sha256(version.encode())
        for member in members:
            made_of.update(f"{member}{seen.versions.get(member)}".encode())
        for edge in inside[at]:
            made_of.update(f"{edge.one}{edge.other}{edge.evidence} {edge.version}".encode())
        for child in below[at]:
            made_of.update(child.bytes)
        write = CommunityWrite(
            names[at],
            None if one.parent is None else names[one.parent],
            one.level,
            len(members),
            sum(edge.weight for edge in inside[at]),
            uuid.UUID(bytes=made_of.digest()[:16]),
            members,
        )
        planned.append(Planned(write, None if one.known_as is None else seen.stored[one.known_as], tuple(below[at])))
    return sorted(planned, key=lambda plan: plan.write.level)


def _input(
    one: Planned,
    entities: Sequence[Any],
    rows: Sequence[Any],
    sizes: Mapping[uuid.UUID, int],
    reports: Mapping[uuid.UUID, Report],
) -> ReportInput:
    evidence: dict[tuple[uuid.UUID, uuid.UUID], int] = defaultdict(int)
    for row in rows:
        evidence[_pair(row)] += 1
    number = {row["id"]: at for at, row in enumerate(entities)}
    graph = graph_of(
        len(number),
        ((number[row["source_id"]], number[row["target_id"]], row["confidence"]) for row in rows),
    )
    ranks = pagerank(graph)
    degrees = [0] * len(number)
    for ends in graph.edges:
        for end in ends:
            degrees[end] += 1
    members = [
        Member(
            row["id"], row["name"], row["type"], row["description"], ranks[at], degrees[at], row["cards"], row["titled"]
        )
        for at, row in enumerate(entities)
    ]
    members.sort(key=lambda member: (-member.pagerank, member.id))
    strongest = sorted(rows, key=lambda row: (-evidence[_pair(row)] * row["confidence"], row["id"]))
    turn: dict[tuple[uuid.UUID, uuid.UUID], int] = defaultdict(int)
    ranked: list[tuple[int, int, Any]] = []
    for row in strongest:
        turn[_pair(row)] += 1
        if turn[_pair(row)] <= _PER_PAIR:
            ranked.append((turn[_pair(row)], -evidence[_pair(row)], row))
    ranked.sort(key=lambda found: (found[0], found[1], found[2]["id"]))
    kept = [row for *_, row in ranked[:MAX_STATEMENTS]]
    return ReportInput(
        one.write.id,
        one.write.level,
        one.write.size,
        len(rows),
        len({row["card_id"] for row in rows}),
        members[:MAX_MEMBERS],
        [
            Statement(
                row["id"],
                row["source_id"],
                row["target_id"],
                row["predicate"],
                row["text"],
                row["card_id"],
                row["chunk_id"],
                row["start"],
                row["end"],
                row["confidence"],
                evidence[_pair(row)],
            )
            for row in kept
        ],
        {row["card_id"]: row["title"] or "" for row in kept},
        sorted(
            (Child(child, sizes[child], reports[child]) for child in one.children if child in reports),
            key=lambda child: (-child.size, child.community_id),
        ),
    )


def _pair(row: Any) -> tuple[uuid.UUID, uuid.UUID]:
    one, other = row["source_id"], row["target_id"]
    return (one, other) if one < other else (other, one)


def _as_json(report: Report) -> dict[str, Any]:
    return {**asdict(report), "findings": [finding.as_json() for finding in report.findings], "flags": [*report.flags]}


def _of_json(value: Mapping[str, Any]) -> Report:
    return Report(
        **{
            **value,
            "findings": tuple(map(Finding.of_json, value["findings"])),
            "flags": tuple(value["flags"]),
        }
    )


def _of_row(row: Any) -> Report:
    return _of_json({key: value for key, value in row.items() if key != "created_at"})
