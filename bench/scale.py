"""Latency of level search in a large workspace, everything but the embedding of the question.

    python -m bench.scale --data-dir DIR --texts FOLDER… [--chunks 100000] [--json FILE]

The first run fills DIR (an embedded PostgreSQL of its own), later ones only measure. Texts: BEIR-style
folders, whole, then again with sentences exchanged within each corpus until there are `--chunks` chunks.
They go through the product's own pipeline. Vectors: those of the first `--real` windows are computed,
the others are copies of these with Gaussian noise, normalised (mean cosine to the original .99).
A second workspace holds 1 % as many chunks and a third one 12 %, in the same tables and indexes.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from sqlalchemy import text

from app.cards.drafts import NewCard
from app.core import log, loop
from app.db.session import raw
from app.evaluation.folder import Document
from app.index import folding, vector_index
from app.index.rows import text_hash
from app.index.spaces import Spaces
from app.ingestion.pipeline import Pipeline
from app.ingestion.queries import Task
from app.ingestion.submit import Intake
from app.people import queries as people
from app.providers.ports import Embedder, Embeddings, EmbeddingSpace
from app.retrieval import queries
from app.retrieval.retrieve import Retriever
from app.retrieval.types import Evidence, Filters, Level, Question
from app.settings import Settings
from app.wiring import Services, database_url, open_services
from bench.corpora import endless, read_documents, read_questions

NOISE = 0.15
GROUP = 64
STEPS = ("lexical", "recall", "texts")
WORKSPACES = {"large": 1.0, "one-percent": 0.01, "twelve-percent": 0.12}


class PartlyReal:
    """Embeds the first texts and gives noisy copies of their vectors to all others."""

    def __init__(self, inner: Embedder, real: int, cache: Path | None, seed: int) -> None:
        self._inner = inner
        self._real = real
        self._rng = np.random.default_rng(seed)
        self._known: dict[uuid.UUID, np.ndarray] = {}
        self.space: EmbeddingSpace = inner.space
        self.max_tokens = inner.max_tokens
        self.count_tokens = inner.count_tokens
        self._cache = cache
        if cache is not None and cache.exists():
            kept = np.load(cache)
            self._known = {
                uuid.UUID(bytes=key.tobytes()): vector
                for key, vector in zip(kept["keys"], kept["vectors"].astype(np.float32), strict=True)
            }
        self.embedded = self.noisy = 0

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        keys = [text_hash(text) for text in texts]
        fresh = [(key, text) for key, text in zip(keys, texts, strict=True) if key not in self._known]
        fresh = fresh[: max(self._real - len(self._known), 0)]
        if fresh:
            vectors = (await self._inner.passages([text for _, text in fresh])).dense
            self._known.update(zip([key for key, _ in fresh], vectors, strict=True))
        originals = np.stack(list(islice(self._known.values(), self._real)))
        copies = originals[self._rng.integers(len(originals), size=len(keys))]
        copies = copies + self._rng.normal(0, NOISE / np.sqrt(self.space.dimension), copies.shape)
        copies /= np.linalg.norm(copies, axis=1, keepdims=True)
        self.embedded += sum(key in self._known for key in keys)
        self.noisy += sum(key not in self._known for key in keys)
        dense = [self._known.get(key, copy) for key, copy in zip(keys, copies, strict=True)]
        return Embeddings(np.stack(dense).astype(np.float32))

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        return await self._inner.queries(texts)

    async def open(self) -> None: ...

    async def close(self) -> None:
        if self._cache is not None:
            keys = np.frombuffer(b"".join(key.bytes for key in self._known), np.uint8).reshape(-1, 16)
            np.savez(self._cache, keys=keys, vectors=np.stack(list(self._known.values())).astype(np.float16))


class Precomputed:
    """Question vectors from a table, so that no time goes into the model."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[str, np.ndarray] = {}
        self.space = inner.space
        self.max_tokens = inner.max_tokens
        self.count_tokens = inner.count_tokens

    async def learn(self, texts: Sequence[str]) -> None:
        missing = [text for text in texts if text not in self._known]
        if missing:
            self._known.update(zip(missing, (await self._inner.queries(missing)).dense, strict=True))

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        return Embeddings(np.stack([self._known[text] for text in texts]))

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        return await self._inner.passages(texts)

    async def open(self) -> None: ...

    async def close(self) -> None: ...


# ----------------------------------------------------------------------------------------- filling


async def fill(services: Services, arguments: argparse.Namespace) -> dict[str, Any]:
    """Workspaces `large`, `one-percent` and `twelve-percent`, learned by the product's own pipeline."""
    embedder = PartlyReal(services.embedder, arguments.real, arguments.vectors, arguments.seed)
    pipeline = Pipeline(services.database, Spaces(embedder), services.segmenter, services.settings)
    documents = endless(read_documents(arguments.texts), arguments.seed)
    report: dict[str, Any] = {}
    for slug, share in WORKSPACES.items():
        async with services.database.unit() as session:
            workspace_id = (await people.insert_workspace(session, slug, slug)).id
        started = time.perf_counter()
        folding_seconds = await _learn(services, pipeline, workspace_id, int(arguments.chunks * share), documents)
        report[slug] = {
            "seconds": round(time.perf_counter() - started, 1),
            "of_that_folding": round(folding_seconds, 1),
        }
        print(slug, report[slug], flush=True)
    await embedder.close()
    report["windows_embedded"], report["windows_noisy_copies"] = embedder.embedded, embedder.noisy
    started = time.perf_counter()
    built = await vector_index.build_if_needed(
        services.database, embedder.space, services.settings.vector_index_windows
    )
    report["hnsw"] = {"built": built, "seconds": round(time.perf_counter() - started, 1)}
    connection = await services.database.connect()
    try:
        await connection.execute("SET statement_timeout = 0")
        await connection.execute("VACUUM ANALYZE", timeout=None)
    finally:
        await connection.close()
    return report


async def _learn(
    services: Services, pipeline: Pipeline, workspace_id: uuid.UUID, chunks: int, documents: Iterator[Document]
) -> float:
    """Cards until there are so many chunks; gives the seconds that folding took."""
    intake = Intake(services.settings.card_max_bytes, queued=False)
    made = number = 0
    spent = 0.0
    while made < chunks:
        cards = [_card(number + i, document) for i, document in enumerate(islice(documents, GROUP))]
        number += len(cards)
        async with services.database.unit() as session:
            written = await intake.submit_many(session, workspace_id, cards)
        await pipeline.ingest(workspace_id, [Task(one.id, 1) for one in written if one.id is not None])
        async with services.database.read() as session:
            made = await session.scalar(
                text("SELECT count(*) FROM chunks WHERE workspace_id = :id"), {"id": workspace_id}
            )
        started = time.perf_counter()
        for step in (folding.fold, folding.compact):
            moved = 1
            while moved:
                async with services.database.unit() as session:
                    moved = await step(session, workspace_id)
        spent += time.perf_counter() - started
        if number // GROUP % 20 == 0:
            print(f"  {made:,} of {chunks:,} chunks", flush=True)
    return spent


def _card(number: int, document: Document) -> NewCard:
    """Tags: every hundredth card has `rare`, every other one `common`."""
    tags = [*(["rare"] if number % 100 == 7 else []), *(["common"] if number % 2 else [])]
    return NewCard(
        document.title or None, document.text, tags=tags, metadata={"set": number % 20}, created_at=document.date
    )


# --------------------------------------------------------------------------------------- measuring


class Cpu:
    """Milliseconds of processor time, of this process and of the server's backends that work for it."""

    def __init__(self, backends: Sequence[int]) -> None:
        self._backends = [psutil.Process(pid) for pid in backends]

    @classmethod
    async def watch(cls, services: Services) -> Cpu:
        async with services.database.read() as session:
            connection = await raw(session)
            rows = await connection.fetch(
                "SELECT pid FROM pg_stat_activity WHERE application_name = current_setting('application_name')"
            )
        return cls([row["pid"] for row in rows])

    def now(self) -> tuple[float, float]:
        server = sum(sum(process.cpu_times()[:2]) for process in self._backends)
        return 1000 * time.process_time(), 1000 * server


class Measurement:
    """Questions asked one after the other; times per step, in milliseconds."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}
        self.hits: list[int] = []

    def add(self, evidence: Evidence) -> None:
        timings = dict(evidence.timings_ms)
        timings["total"] -= timings.pop("embedding", 0.0)
        for step in (*STEPS, "total"):
            self.times.setdefault(step, []).append(timings[step])
        self.hits.append(len(evidence.hits))

    def summary(self, client_ms: float, server_ms: float) -> dict[str, Any]:
        """With the processor time of all questions, which says more than the clock on a busy machine."""
        return {
            "n": len(self.hits),
            "cpu_ms": {"client": round(client_ms / len(self.hits), 2), "server": round(server_ms / len(self.hits), 2)},
            "fewest_hits": min(self.hits),
            **{
                step: {f"p{p}": round(float(np.percentile(times, p)), 2) for p in (50, 95, 99)}
                for step, times in self.times.items()
            },
            "load": round(os.getloadavg()[0], 2),
        }


async def measure(services: Services, arguments: argparse.Namespace) -> dict[str, Any]:
    embedder = Precomputed(services.embedder)
    retriever = Retriever(services.database, Spaces(embedder), services.segmenter, services.settings)
    questions = read_questions(arguments.texts, arguments.questions, arguments.seed)
    long = " ".join(word for question in questions for word in question.split())
    long = " ".join(long.split()[:2000]) if len(long.split()) >= 2000 else long
    special = {
        "2,000 words": [long],
        "stop words": ["the of and to is it", "的 了 是 在"],
        "one Han character": ["野", "水", "人"],
    }
    await embedder.learn([*questions, *(text for texts in special.values() for text in texts)])
    spaces = {slug: await _workspace(services, slug) for slug in WORKSPACES}

    async def asked(
        name: str, texts: Sequence[str], slug: str = "large", repeat: int = 1, **how: Any
    ) -> tuple[str, dict[str, Any]]:
        for query in texts[:20]:
            await retriever.retrieve(spaces[slug], Question(query, Level.search, **how))
        measured = Measurement()
        cpu = await Cpu.watch(services)
        before = cpu.now()
        for query in [*texts] * repeat:
            measured.add(await retriever.retrieve(spaces[slug], Question(query, Level.search, **how)))
        summary = measured.summary(*(after - earlier for after, earlier in zip(cpu.now(), before, strict=True)))
        _print_row(name, summary)
        return name, summary

    # A server that has been up for a while.
    for query in questions:
        await retriever.retrieve(spaces["large"], Question(query, Level.search))
    _print_head()
    rows = [
        await asked("absolute", questions),
        await asked("rrf", questions, fusion="rrf"),
        await asked("absolute, limit 100", questions, limit=100),
        await asked("filter: 1 % of the cards", questions, filters=Filters(tags=["rare"])),
        await asked("filter: 50 % of the cards", questions, filters=Filters(tags=["common"])),
        await asked("rrf, filter: 50 %", questions, fusion="rrf", filters=Filters(tags=["common"])),
        await asked("filter: 5 % by metadata", questions, filters=Filters(metadata={"set": 3})),
        await asked("workspace of 1 %", questions, slug="one-percent"),
        await asked("workspace of 12 %", questions, slug="twelve-percent"),
        *[await asked(name, texts, repeat=10) for name, texts in special.items()],
    ]
    return {
        "questions": dict(rows),
        "hnsw": await _recall(services, spaces["large"], embedder, questions[: arguments.recall_questions]),
        "hnsw_workspace_of_12": await _recall(
            services, spaces["twelve-percent"], embedder, questions[: arguments.recall_questions]
        ),
        "sizes": await _sizes(services),
        "rss_mb": round(psutil.Process().memory_info().rss / 2**20),
        "cores": os.cpu_count(),
    }


async def _recall(
    services: Services, workspace_id: uuid.UUID, embedder: Precomputed, questions: Sequence[str]
) -> dict[str, float]:
    """Share of the exact dense leg's best cards that the vector index finds, asked as level search asks it."""
    each = services.settings.search_each
    shares: dict[int, list[float]] = {10: [], 100: []}
    async with services.database.read() as session:
        space = (await queries.get_scope(session, workspace_id)).space
    assert space is not None
    for question in questions:
        vector = (await embedder.queries([question])).dense[0]
        found: dict[bool, dict[uuid.UUID, int]] = {}
        for approximate in (True, False):
            request = queries.PoolRequest(
                space=space,
                dense=vector,
                sparse=None,
                sparse_dimension=0,
                lexical_docs=[],
                filters=Filters(),
                allowed=None,
                each=each,
                rrf_k=60,
                windows=2 * each if approximate else 4 * each,
                approximate=approximate,
                ef_search=max(services.settings.hnsw_ef_search, 2 * each * 5 // 4),
            )
            async with services.database.read() as session:
                pool = await queries.list_pool(session, workspace_id, request)
            found[approximate] = {row["card_id"]: row["dense_rank"] for row in pool}
        for depth, collected in shares.items():
            exact = {card for card, rank in found[False].items() if rank <= depth}
            near = {card for card, rank in found[True].items() if rank <= depth}
            collected.append(len(exact & near) / len(exact))
    return {f"recall@{depth}": round(float(np.mean(collected)), 4) for depth, collected in shares.items()}


async def _workspace(services: Services, slug: str) -> uuid.UUID:
    async with services.database.read() as session:
        found = await people.find_workspace(session, slug)
    assert found is not None, f"{slug} is missing: was the data directory filled?"
    return found.id


async def _sizes(services: Services) -> dict[str, Any]:
    """Rows, and MB of each table (with what is stored out of line) and index of more than 1 MB."""
    async with services.database.read() as session:
        connection = await raw(session)
        relations = await connection.fetch(
            "SELECT c.relname, pg_table_size(c.oid) AS bytes FROM pg_class c "
            "WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'i') ORDER BY 2 DESC"
        )
        rows = await connection.fetchrow(
            "SELECT (SELECT count(*) FROM cards) AS cards, (SELECT count(*) FROM chunks) AS chunks, "
            "(SELECT count(*) FROM windows) AS windows, (SELECT count(*) FROM lex_segment) AS segments"
        )
    return {
        "rows": dict(rows),
        "mb": {row["relname"]: round(row["bytes"] / 2**20, 1) for row in relations if row["bytes"] > 2**20},
    }


def _print_head() -> None:
    columns = "".join(f"{step:>20}" for step in ("total", *STEPS))
    print(f"\n{'p50 / p95 / p99, ms':<26}{columns}{'cpu of us + server':>20}{'load':>6}{'n':>5}{'hits':>5}")


def _print_row(name: str, summary: dict[str, Any]) -> None:
    cells = [" / ".join(f"{summary[step][f'p{p}']:.1f}" for p in (50, 95, 99)) for step in ("total", *STEPS)]
    cells.append(f"{summary['cpu_ms']['client']:.1f} + {summary['cpu_ms']['server']:.1f}")
    row = "".join(f"{cell:>20}" for cell in cells)
    print(f"{name:<26}{row}{summary['load']:>6}{summary['n']:>5}{summary['fewest_hits']:>5}", flush=True)


async def main(arguments: argparse.Namespace) -> None:
    settings = Settings(data_dir=arguments.data_dir, sample="off", log_level="WARNING")
    log.configure("WARNING", "console")
    filled = arguments.data_dir / "bench-filled.json"
    with database_url(settings) as dsn:
        async with open_services(settings, dsn, role="bench") as services:
            if not filled.exists():
                report = await fill(services, arguments)
                filled.write_text(json.dumps(report, indent=1))
            report = {"filling": json.loads(filled.read_text()), **await measure(services, arguments)}
    print(json.dumps({key: report[key] for key in report if key != "questions"}, indent=1))
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1, ensure_ascii=False))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--texts", type=Path, nargs="+", required=True, help="folders, or corpus files in them")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--real", type=int, default=20_000, help="windows whose vectors are computed")
    parser.add_argument("--vectors", type=Path, help="a .npz file that keeps computed vectors between runs")
    parser.add_argument("--questions", type=int, default=60, help="of each folder, at most")
    parser.add_argument("--recall-questions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    loop.run(main(parsed()))
