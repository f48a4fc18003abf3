"""What a vector index costs and finds: milliseconds of the server's CPU per row built, put in and asked, and recall.

    python -m bench.vector_index --data-dir DIR --texts FOLDER… [--rows 20000] [--cached FILE]

Sentences of all folders as passages, their questions as questions, real vectors of the bundled model. Nine tenths are
there when an index is built, the rest is put in afterwards, in one statement of each third, right after a checkpoint.
Recall is the share of the exact nearest that a question gets. The vectors are kept in `--cached`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncpg
import numpy as np
import numpy.typing as npt
import psutil

from app.core import log, loop
from app.providers.ports import Embedder
from app.settings import Settings
from app.text.sentences import sentences
from app.wiring import database_url, open_services
from bench.corpora import read_documents, read_questions

QUESTIONS_OF_EACH, BATCH = 60, 256
NEAREST = (10, 50)
# (method, options, settings that questions are asked with)
INDEXES: Sequence[tuple[str, str, Sequence[str]]] = (
    ("hnsw", "m = 16, ef_construction = 64", ("hnsw.ef_search = 200",)),
    ("hnsw", "m = 16, ef_construction = 32", ("hnsw.ef_search = 200",)),
    ("hnsw", "m = 12, ef_construction = 64", ("hnsw.ef_search = 300",)),
    ("hnsw", "m = 8, ef_construction = 64", ("hnsw.ef_search = 200", "hnsw.ef_search = 400")),
    ("hnsw", "m = 8, ef_construction = 32", ("hnsw.ef_search = 400",)),
    ("ivfflat", "lists = 140", ("ivfflat.probes = 14", "ivfflat.probes = 28")),
    ("ivfflat", "lists = 280", ("ivfflat.probes = 28", "ivfflat.probes = 56")),
)

Vectors = npt.NDArray[np.float32]


async def embedded(embedder: Embedder, folders: Sequence[Path], rows: int) -> tuple[Vectors, Vectors]:
    """(passages, questions)"""
    found = sorted({d.text[a:b] for corpus in read_documents(folders) for d in corpus for a, b in sentences(d.text)})
    texts = random.Random(1).sample(found, min(rows, len(found)))
    questions = read_questions(folders, QUESTIONS_OF_EACH, seed=1)
    passages = [(await embedder.passages(texts[at : at + BATCH])).dense for at in range(0, len(texts), BATCH)]
    asked = [(await embedder.queries([question])).dense for question in questions]
    return np.concatenate(passages), np.concatenate(asked)


class Table:
    """Vectors of a table of its own, and the CPU of the one server process that works on them."""

    def __init__(self, connection: asyncpg.Connection[Any], server: psutil.Process) -> None:
        self._connection, self._server = connection, server

    async def run(self, statement: str, *values: Any) -> float:
        """Milliseconds of CPU."""
        before = self._cpu()
        await self._connection.execute(statement, *values)
        return self._cpu() - before

    async def put(self, first: int, vectors: Vectors) -> tuple[float, float]:
        """(milliseconds of CPU, whole pages logged) per row."""
        numbers, literals = list(range(first, first + len(vectors))), [_literal(vector) for vector in vectors]
        pages = await self._pages_logged()
        spent = await self.run(
            "INSERT INTO vectors_of_bench SELECT * FROM unnest($1::int[], $2::text[]::halfvec[])", numbers, literals
        )
        return spent / len(vectors), (await self._pages_logged() - pages) / len(vectors)

    async def ask(self, questions: Vectors, exact: Sequence[Sequence[int]]) -> tuple[float, list[float]]:
        """(milliseconds of CPU per question, recall at each of NEAREST)"""
        order = f"dense::halfvec({questions.shape[1]}) <=> $1::text::halfvec({questions.shape[1]})"
        statement = await self._connection.prepare(
            f"SELECT id FROM vectors_of_bench ORDER BY {order} LIMIT {max(NEAREST)}"
        )
        literals = [_literal(question) for question in questions]
        before = self._cpu()
        found = [[row["id"] for row in await statement.fetch(literal)] for literal in literals]
        spent = (self._cpu() - before) / len(literals)
        return spent, [
            float(np.mean([len({*got[:n]} & {*best[:n]}) / n for got, best in zip(found, exact, strict=True)]))
            for n in NEAREST
        ]

    def _cpu(self) -> float:
        return 1000 * float(sum(self._server.cpu_times()[:2]))

    async def _pages_logged(self) -> int:
        await self._connection.execute("SELECT pg_stat_force_next_flush()")
        return int(await self._connection.fetchval("SELECT wal_fpi FROM pg_stat_wal"))


def _literal(vector: Vectors) -> str:
    return f"[{','.join(f'{value:.5f}' for value in vector)}]"


async def compare(dsn: str, passages: Vectors, questions: Vectors) -> None:
    connection = await asyncpg.connect(dsn, command_timeout=3600)
    table = Table(connection, psutil.Process(await connection.fetchval("SELECT pg_backend_pid()")))
    there = len(passages) * 9 // 10
    third = (len(passages) - there) // 3
    similar = questions @ passages[:there].T
    exact = [np.argsort(-row)[: max(NEAREST)].tolist() for row in similar]
    try:
        await connection.execute("SET statement_timeout = 0; SET max_parallel_maintenance_workers = 0")
        await connection.execute("DROP TABLE IF EXISTS vectors_of_bench")
        await connection.execute("CREATE TABLE vectors_of_bench (id int PRIMARY KEY, dense halfvec)")
        for at in range(0, there, BATCH):
            await table.put(at, passages[at : min(at + BATCH, there)])
        await connection.execute("ANALYZE vectors_of_bench; SET enable_seqscan = off")
        print(f"{there} rows, {len(questions)} questions")
        print("| index | build | put in | pages logged | asked with | question | recall@10 | @50 |")
        print("|---|---|---|---|---|---|---|---|")
        for method, options, asked_with in INDEXES:
            column = f"(dense::halfvec({passages.shape[1]})) halfvec_cosine_ops"
            made = f"CREATE INDEX bench_vectors ON vectors_of_bench USING {method} ({column}) WITH ({options})"
            built = await table.run(made) / there
            asked = []
            for setting in asked_with:
                await connection.execute(f"SET {setting}")
                asked.append((setting, *await table.ask(questions, exact)))
            await connection.execute("CHECKPOINT")
            put = [await table.put(n, passages[n : n + third]) for n in range(there, there + 3 * third, third)]
            spent, pages = np.mean(put, axis=0)
            for setting, cost, recall in asked:
                print(
                    f"| {method} {options} | {built:.3f} | {spent:.2f} | {pages:.1f} | {setting} | {cost:.2f} "
                    f"| {recall[0]:.3f} | {recall[1]:.3f} |",
                    flush=True,
                )
            await connection.execute("DROP INDEX bench_vectors")
            await connection.execute("DELETE FROM vectors_of_bench WHERE id >= $1", there)
            await connection.execute("VACUUM vectors_of_bench")
    finally:
        await connection.execute("DROP TABLE IF EXISTS vectors_of_bench")
        await connection.close()


async def vectors(settings: Settings, dsn: str, arguments: argparse.Namespace) -> tuple[Vectors, Vectors]:
    async with open_services(settings, dsn, role="bench") as services:
        return await embedded(services.embedder, arguments.texts, arguments.rows)


def main(arguments: argparse.Namespace) -> None:
    settings = Settings(data_dir=arguments.data_dir, sample="off")
    log.configure("WARNING", "console")
    cached: Path | None = arguments.cached
    with database_url(settings) as dsn:
        if cached is not None and cached.exists():
            with np.load(cached) as kept:
                passages, questions = kept["passages"], kept["questions"]
        else:
            passages, questions = loop.run(vectors(settings, dsn, arguments))
            if cached is not None:
                np.savez(cached, passages=passages, questions=questions)
        loop.run(compare(dsn, passages, questions))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--texts", type=Path, nargs="+", required=True)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--cached", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main(parsed())
