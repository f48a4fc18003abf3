"""Whether learning a card costs more in a large workspace: one workspace grows, step by step, with the whole cone.

    python -m bench.growth --data-dir DIR --texts FOLDER… [--cards 20000] [--step 1000] [--hashes]

A real worker with everything it does every so often; the documents of all folders in mixed order, then the same with
their sentences exchanged (`bench.corpora.endless`) until there are enough. Per step: texts per second of the clock, and
milliseconds of CPU per text, of the embedder's threads, of the rest of the process and of PostgreSQL. On a machine that
does other work the clock says little; CPU says it all the same. With `--hashes` vectors are random
directions, the same for the same text: what is left is all that could grow.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import threading
import uuid
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import psutil
from sqlalchemy import text

from app.cards.drafts import NewCard
from app.core import log, loop
from app.index.spaces import Spaces
from app.ingestion.pipeline import Pipeline
from app.jobs.run import run_worker
from app.people import queries as people
from app.providers.ports import Embeddings
from app.settings import Settings
from app.wiring import Services, database_url, open_services
from app.worker import handlers, periodics
from bench.corpora import endless, read_documents
from bench.ingest import Recorder, Watch

BULK = 100
POLL_SECONDS = 0.2


class Hashes(Recorder):
    """Random directions in place of the model."""

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        self.batches.append(list(texts))
        rngs = (np.random.default_rng(list(hashlib.blake2b(one.encode(), digest_size=16).digest())) for one in texts)
        dense = np.stack([rng.standard_normal(self.space.dimension, np.float32) for rng in rngs])
        return Embeddings(dense=dense / np.linalg.norm(dense, axis=1, keepdims=True))


def embedder_seconds() -> float:
    """CPU of the embedder's own threads so far."""
    ticks = 0
    for thread in threading.enumerate():
        if thread.name.startswith("embedder-"):
            stat = Path(f"/proc/self/task/{thread.native_id}/stat").read_text()
            ticks += sum(map(int, stat.rsplit(")", 1)[1].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


async def learn(services: Services, workspace_id: uuid.UUID, cards: list[NewCard], total: int) -> None:
    """Hand the cards in and wait until `total` cards are ready."""
    for at in range(0, len(cards), BULK):
        async with services.database.unit() as session:
            await services.intake.submit_many(session, workspace_id, cards[at : at + BULK])
    while True:
        async with services.database.read() as session:
            rows = await session.execute(
                text("SELECT state, count(*) AS count FROM cards WHERE workspace_id = :w GROUP BY state"),
                {"w": workspace_id},
            )
        states: dict[str, int] = {row.state: row.count for row in rows}
        assert not states.get("failed"), states
        if states.get("ready") == total:
            return
        await asyncio.sleep(POLL_SECONDS)


async def main(arguments: argparse.Namespace) -> None:
    settings = Settings(data_dir=arguments.data_dir, sample="off")
    log.configure("WARNING", "console")
    documents = islice(endless(read_documents(arguments.texts), seed=1), arguments.cards)
    cards = [NewCard(d.title or None, d.text, created_at=d.date) for d in documents]
    with database_url(settings) as dsn:
        async with open_services(settings, dsn, role="worker") as services:
            recorder = (Hashes if arguments.hashes else Recorder)(services.embedder)
            pipeline = Pipeline(services.database, Spaces(recorder), services.segmenter, settings)
            services = replace(services, pipeline=pipeline)
            async with services.database.unit() as session:
                workspace_id = (await people.insert_workspace(session, f"growth-{uuid.uuid4().hex}", "Growth")).id
            shutdown = asyncio.Event()
            working = asyncio.create_task(run_worker(dsn, handlers(services), settings, shutdown, periodics(services)))
            print("| cards | texts per card | cards/s | texts/s | CPU ms per text: embedder | process | PostgreSQL |")
            print("|---|---|---|---|---|---|---|")
            for at in range(0, len(cards), arguments.step):
                recorder.reset()
                watch, embedder = Watch(settings.data_dir), embedder_seconds()
                some = cards[at : at + arguments.step]
                await learn(services, workspace_id, some, at + len(some))
                seconds, cpu, server = watch.spent
                embedder = embedder_seconds() - embedder
                texts = sum(map(len, recorder.batches))
                print(
                    f"| {at + len(some)} | {texts / len(some):.1f} | {len(some) / seconds:.1f} | {texts / seconds:.0f} "
                    f"| {1000 * embedder / texts:.2f} | {1000 * (cpu - embedder) / texts:.2f} "
                    f"| {1000 * server / texts:.2f} |",
                    flush=True,
                )
            shutdown.set()
            await working
            print(json.dumps({"rss_mb": psutil.Process().memory_info().rss // 2**20}))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--texts", type=Path, nargs="+", required=True)
    parser.add_argument("--cards", type=int, default=20_000)
    parser.add_argument("--step", type=int, default=1_000)
    parser.add_argument("--hashes", action="store_true", help="random vectors instead of the model's")
    return parser.parse_args()


if __name__ == "__main__":
    loop.run(main(parsed()))
