"""How much of the embedder's own speed the pipeline keeps: texts per second, alone and end to end.

    python -m bench.ingest --folder FOLDER --data-dir DIR [--cards 200] [--rounds 2]

Each round takes `--cards` other documents and runs pipeline, embedder, embedder, pipeline. The pipeline's
time goes from the first card handed in to the last one ready: transactions, queue, worker, chunks, windows,
vectors, postings. The embedder alone gets the very batches that the pipeline asked for, as many of them
at once. A data directory that is filled already (`bench.scale`) shows whether growth costs anything.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import os
import pstats
import statistics
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import text

from app.cards.drafts import NewCard
from app.core import log, loop
from app.evaluation.folder import Document
from app.index.spaces import Spaces
from app.ingestion import pipeline as pipeline_module
from app.ingestion.pipeline import Outcome, Pipeline
from app.ingestion.queries import Task
from app.people import queries as people
from app.providers.ports import Embedder, Embeddings
from app.settings import Settings
from app.wiring import Services, database_url, open_services
from app.worker import work_until_idle
from bench.corpora import read_documents

BULK = 100
WARM = 100


class Recorder:
    """Passes everything on and remembers the batches."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.space = inner.space
        self.max_tokens = inner.max_tokens
        self.count_tokens = inner.count_tokens
        self.queries = inner.queries
        self.reset()

    def reset(self) -> None:
        self.batches: list[list[str]] = []
        self.in_flight = self.most_in_flight = 0
        self.idle_seconds, self._idle_since = 0.0, time.perf_counter()

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        self.batches.append(list(texts))
        if not self.in_flight:
            self.idle_seconds += time.perf_counter() - self._idle_since
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._inner.passages(texts)
        finally:
            self.in_flight -= 1
            if not self.in_flight:
                self._idle_since = time.perf_counter()

    def ended(self) -> float:
        """Seconds without any call, up to now."""
        return self.idle_seconds + time.perf_counter() - self._idle_since

    async def open(self) -> None: ...

    async def close(self) -> None: ...


@dataclass(slots=True)
class Run:
    """Seconds on the clock, and of CPU: of this process and of the database server."""

    texts: int
    seconds: float
    cpu: float
    server_cpu: float
    submit_seconds: float = 0.0
    first_ready: float = 0.0
    idle_seconds: float = 0.0
    load: float = field(default_factory=lambda: os.getloadavg()[0])

    @property
    def speed(self) -> float:
        return self.texts / self.seconds


class Timed(Pipeline):
    """Knows when the last group of cards was ready: a worker takes a moment more to find that nothing is left."""

    watch: Watch | None = None
    spent: tuple[float, float] = (0.0, 0.0)
    first_ready: float | None = None

    async def ingest(self, workspace_id: uuid.UUID, tasks: Sequence[Task], *, last_attempt: bool = False) -> Outcome:
        outcome = await super().ingest(workspace_id, tasks, last_attempt=last_attempt)
        if self.watch is not None:
            self.spent = self.watch.here
            if self.first_ready is None and outcome.ready:
                self.first_ready = self.spent[0]
        return outcome


class Watch:
    """The clock, and the processor time of this process and of the embedded server's processes."""

    def __init__(self, data_dir: Path) -> None:
        pid = (data_dir / "postgres" / "postmaster.pid").read_text().split()[0]
        self._server = psutil.Process(int(pid))
        self._started = self._now()

    def _now(self) -> tuple[float, float, float]:
        server = 0.0
        for process in (self._server, *self._server.children()):
            with suppress(psutil.NoSuchProcess):
                server += sum(process.cpu_times()[:4])
        return time.perf_counter(), time.process_time(), server

    @property
    def here(self) -> tuple[float, float]:
        """Of the clock and of this process: looking at the server's processes takes milliseconds of the event loop."""
        return time.perf_counter() - self._started[0], time.process_time() - self._started[1]

    @property
    def spent(self) -> tuple[float, float, float]:
        seconds, cpu, server = (now - then for now, then in zip(self._now(), self._started, strict=True))
        return seconds, cpu, server


async def run_pipeline(services: Services, recorder: Recorder, cards: Sequence[NewCard]) -> Run:
    """The cards as somebody's who has just handed them in; the workspace is gone afterwards."""
    async with services.database.unit() as session:
        workspace_id = (await people.insert_workspace(session, f"ingest-{uuid.uuid4().hex}", "Ingest")).id
    recorder.reset()
    watch = Watch(services.settings.data_dir)
    pipeline = services.pipeline
    assert isinstance(pipeline, Timed)
    pipeline.watch, pipeline.first_ready = watch, None

    async def hand_in(first: int, last: int) -> None:
        for at in range(first, last, BULK):
            async with services.database.unit() as session:
                await services.intake.submit_many(session, workspace_id, cards[at : min(at + BULK, last)])

    # The worker begins with the first cards while the others still come in.
    await hand_in(0, BULK)
    working = asyncio.create_task(work_until_idle(services))
    await hand_in(BULK, len(cards))
    submitted, _ = watch.here
    await working
    until, _, server = watch.spent
    run = Run(
        sum(map(len, recorder.batches)),
        *pipeline.spent,
        server,
        submitted,
        pipeline.first_ready or 0.0,
        recorder.ended() - (until - pipeline.spent[0]),
    )
    async with services.database.unit() as session:
        ready = await session.scalar(
            text("SELECT count(*) FROM cards WHERE workspace_id = :w AND state = 'ready'"), {"w": workspace_id}
        )
        assert ready == len(cards), f"{ready} of {len(cards)} cards are ready"
        await session.execute(text("DELETE FROM workspaces WHERE id = :w"), {"w": workspace_id})
    return run


async def run_alone(services: Services, batches: Sequence[Sequence[str]], at_once: int) -> Run:
    slots = asyncio.Semaphore(at_once)

    async def embed(batch: Sequence[str]) -> None:
        async with slots:
            await services.embedder.passages(batch)

    watch = Watch(services.settings.data_dir)
    await asyncio.gather(*map(embed, batches))
    return Run(sum(map(len, batches)), *watch.spent)


async def main(arguments: argparse.Namespace) -> None:
    settings = Settings(data_dir=arguments.data_dir, sample="off")
    log.configure("WARNING", "console")
    documents = [document for corpus in read_documents(arguments.folder) for document in corpus]
    needed = arguments.cards * arguments.rounds
    assert len(documents) >= needed + WARM, f"{needed + WARM} documents are needed, {len(documents)} are there"
    with database_url(settings) as dsn:
        async with open_services(settings, dsn, role="bench") as services:
            recorder = Recorder(services.embedder)
            pipeline = Timed(services.database, Spaces(recorder), services.segmenter, settings)
            services = replace(services, pipeline=pipeline)
            # A worker that has been at work for a while: other cards first.
            await run_pipeline(services, recorder, [_card(document) for document in documents[needed : needed + WARM]])
            learned, alone = [], []
            for number in range(arguments.rounds):
                cards = [
                    _card(document) for document in documents[number * arguments.cards : (number + 1) * arguments.cards]
                ]
                learned.append(await run_pipeline(services, recorder, cards))
                batches = recorder.batches
                alone.append(await run_alone(services, batches, recorder.most_in_flight))
                alone.append(await run_alone(services, batches, recorder.most_in_flight))
                learned.append(await run_pipeline(services, recorder, cards))
                _print(learned[-2], alone[-2], arguments.cards)
                _print(learned[-1], alone[-1], arguments.cards)
            report = _summary(learned, alone, arguments.cards)
            if arguments.profile:
                await _profile(services, recorder, cards)
    print(json.dumps(report, indent=1))
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1))
    if report["ratio"] < arguments.bar:
        raise SystemExit(1)


def _card(document: Document) -> NewCard:
    return NewCard(document.title or None, document.text, created_at=document.date)


def _print(pipeline: Run, alone: Run, cards: int) -> None:
    print(
        f"pipeline {pipeline.speed:6.1f} texts/s ({cards / pipeline.seconds:5.1f} cards/s), alone {alone.speed:6.1f} "
        f"texts/s, ratio {pipeline.speed / alone.speed:.3f}, load {pipeline.load:.1f}",
        flush=True,
    )


def _summary(pipeline: Sequence[Run], alone: Sequence[Run], cards: int) -> dict[str, Any]:
    """CPU per text."""
    texts = sum(run.texts for run in pipeline)
    embedder = 1000 * sum(run.cpu for run in alone) / texts
    process = 1000 * sum(run.cpu for run in pipeline) / texts - embedder
    server = 1000 * sum(run.server_cpu for run in pipeline) / texts
    seconds, alone_seconds = sum(run.seconds for run in pipeline), sum(run.seconds for run in alone)
    return {
        "cards": cards * len(pipeline),
        "texts": texts,
        "texts_per_card": round(texts / (cards * len(pipeline)), 2),
        "pipeline_texts_per_second": round(texts / seconds, 1),
        "pipeline_cards_per_second": round(cards * len(pipeline) / seconds, 2),
        "alone_texts_per_second": round(sum(run.texts for run in alone) / alone_seconds, 1),
        "ratio": round(alone_seconds / seconds * texts / sum(run.texts for run in alone), 3),
        "ratio_of_pairs_median": round(
            statistics.median(p.speed / a.speed for p, a in zip(pipeline, alone, strict=True)), 3
        ),
        "embedder_idle_share": round(sum(run.idle_seconds for run in pipeline) / seconds, 3),
        "first_ready_seconds": round(sum(run.first_ready for run in pipeline) / len(pipeline), 2),
        "seconds": round(seconds / len(pipeline), 1),
        "submit_share": round(sum(run.submit_seconds for run in pipeline) / seconds, 3),
        "embedder_cpu_ms": round(embedder, 2),
        "beyond_embedder_cpu_ms": {"process": round(process, 2), "server": round(server, 2)},
        # What the ratio would be if nothing ever waited and every core were busy all the time.
        "ratio_by_cpu": round(embedder / (embedder + process + server), 3),
        "load": round(os.getloadavg()[0], 2),
    }


async def _profile(services: Services, recorder: Recorder, cards: Sequence[NewCard]) -> None:
    """Where the time of the main thread and of preparing goes, embedding left out (it has threads of its own)."""
    profile = cProfile.Profile()
    prepared: list[cProfile.Profile] = []

    def profiled(step: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            with cProfile.Profile() as inner:
                done = step(*args, **kwargs)
            prepared.append(inner)
            return done

        return run

    for module, name in ((pipeline_module, "chunk_all"), (pipeline_module, "derive_all"), (Pipeline, "_read")):
        setattr(module, name, profiled(getattr(module, name)))
    profile.enable()
    await run_pipeline(services, recorder, cards)
    profile.disable()
    texts = sum(map(len, recorder.batches))
    for name, profiles in (("event loop", [profile]), ("prepare", prepared)):
        stats = pstats.Stats(*profiles)
        print(f"\n{name}: {1000 * stats.total_tt / texts:.2f} ms per text, profiler included")  # type: ignore[attr-defined]
        stats.sort_stats("tottime").print_stats(18)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, nargs="+", required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--cards", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--bar", type=float, default=0.9, help="exit 1 below this ratio")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    loop.run(main(parsed()))
