"""Latency of levels explore and context in a large graph, everything but the embedding of the question.

    python -m bench.scale_graph --data-dir DIR --folder FOLDER [--corpus FILE] --copies 2 16 [--json FILE]
    python -m bench.scale_graph --database-url URL --workspace ID --folder FOLDER [--corpus FILE] --copies 2 16

A labelled set is learned once by the product's own pipeline (or lies in the workspace that is named). Then all its rows
are multiplied in SQL, straight in the tables: cards, chunks, the cone, entities with their names, mentions, relations,
postings. Copies have the names of the original with a number behind them, so that a name of a question finds one
entity; each vector is that of the original plus one of 997 Gaussian noise vectors, normalised (mean cosine .99). One
entity becomes a hub of 10,000 relations and mentions. Asked are the set's questions and some about the hub, each
workload once for nothing and then `--rounds` times measured: on two cores a question is now and then held up by another
process, so that of forty questions asked once the third slowest says little. Anchors and edges: chunks, entities,
relations, mentions, episodes, facets, points, roles, and who a claim is about.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncpg
import numpy as np

from app.core import log, loop
from app.evaluation.folder import LabelledSet, read_folder
from app.evaluation.run import as_cards, percentiles
from app.index import folding, vector_index
from app.index.collections import Collection
from app.index.postings import POSTING, pack_docs, unpack_docs
from app.index.spaces import Spaces
from app.ingestion.pipeline import Pipeline
from app.ingestion.queries import Task
from app.ingestion.submit import Intake
from app.people import queries as people
from app.providers.ports import Embeddings
from app.retrieval.retrieve import Retriever
from app.retrieval.types import Level, Question
from app.settings import Settings
from app.wiring import Services, database_url, open_services
from bench.scale import Cpu, Precomputed

SLUG = "graph"
HUB_EDGES = 10_000
NOISES = 997
NOISE = 0.15
TABLES = (
    "cards",
    "chunks",
    "windows",
    "entities",
    "entity_names",
    "entity_vectors",
    "mentions",
    "relations",
    "relation_vectors",
    "episodes",
    "episode_cards",
    "episode_vectors",
    "facets",
    "facet_vectors",
    "points",
    "point_vectors",
    "point_entities",
    "roles",
    "role_vectors",
)
ANCHORS = (
    "chunks",
    "entities",
    "relations",
    "mentions",
    "episodes",
    "facets",
    "points",
    "roles",
    "point_entities",
)
# Texts stay what they are; what is a name gets a number.
NAMES = {"cards": ("title", "title_key"), "entities": ("name", "key"), "entity_names": ("name", "key")}
# By which of these a row is one of the seed's.
OWNERS = ("id", "owner_id", "chunk_id", "point_id", "entity_id", "episode_id")
KEPT = {"workspace_id", "text_hash", "claim_key"}


async def learn(services: Services, labelled: LabelledSet) -> uuid.UUID:
    """The set once, through the pipeline."""
    async with services.database.unit() as session:
        found = await people.find_workspace(session, SLUG)
        workspace = found or await people.insert_workspace(session, SLUG, SLUG)
    if found is not None:
        return workspace.id
    intake = Intake(services.settings.card_max_bytes, queued=False)
    pipeline = Pipeline(services.database, Spaces(services.embedder), services.segmenter, services.settings)
    cards = list(as_cards(labelled.documents, (), None).cards.values())
    for at in range(0, len(cards), 64):
        async with services.database.unit() as session:
            written = await intake.submit_many(session, workspace.id, cards[at : at + 64])
        await pipeline.ingest(workspace.id, [Task(one.id, 1) for one in written if one.id is not None])
    return workspace.id


async def prepare(services: Services, workspace_id: uuid.UUID) -> None:
    """Nothing recent in the lexical index, as after a while; and the hub, once."""
    for collection in Collection:
        moved = 1
        while moved:
            async with services.database.unit() as session:
                moved = await folding.fold(session, workspace_id, 1, 5_000, collection)
    connection = await services.database.connect()
    try:
        await connection.execute("SET session_replication_role = replica")
        if not await connection.fetchval(
            "SELECT EXISTS (SELECT 1 FROM mentions WHERE workspace_id = $1 AND ordinal > 30000)", workspace_id
        ):
            await _hub(connection, workspace_id)
            await connection.execute("VACUUM ANALYZE", timeout=None)
    finally:
        await connection.close()


async def multiply(services: Services, workspace_id: uuid.UUID, before: int, copies: int) -> float:
    """From `before` times the seed to `copies` times; gives the seconds."""
    started = time.perf_counter()
    await prepare(services, workspace_id)
    if copies == before:
        return round(time.perf_counter() - started, 1)
    connection = await services.database.connect()
    try:
        await connection.execute("SET statement_timeout = 0; SET session_replication_role = replica")
        stride = 0
        for table in ("chunks", "entities", "relations", "episodes", "facets", "points", "roles"):
            last = await connection.fetchval(
                f"SELECT max(doc) FROM {table} WHERE workspace_id = $1 AND {_seed('id')}", workspace_id
            )
            stride = max(stride, (last or 0) + 1)
        await connection.execute(
            "CREATE TEMP TABLE noise (n int PRIMARY KEY, vector halfvec)",
        )
        dimension = services.embedder.space.dimension
        rng = np.random.default_rng(7)
        vectors = rng.normal(0, NOISE / np.sqrt(dimension), (NOISES, dimension)).astype(np.float32)
        for n, vector in enumerate(vectors):
            written = "[" + ",".join(f"{value:.5f}" for value in vector) + "]"
            await connection.execute("INSERT INTO noise VALUES ($1, $2::text::halfvec)", n, written)
        for table in TABLES:
            await connection.execute(
                await _copying(connection, table, stride), workspace_id, before, copies - 1, timeout=None
            )
        await _postings(connection, workspace_id, before, copies, stride)
        await connection.execute("VACUUM ANALYZE", timeout=None)
    finally:
        await connection.close()
    await vector_index.build_if_needed(
        services.database, services.embedder.space, services.settings.vector_index_windows
    )
    return round(time.perf_counter() - started, 1)


def _seed(column: str) -> str:
    """Ids of copies have a 0 where those of a UUID have their variant."""
    return f"substr({column}::text, 20, 1) <> '0'"


async def _copying(connection: Any, table: str, stride: int) -> str:
    columns = await connection.fetch(
        "SELECT column_name AS name, udt_name AS kind FROM information_schema.columns "
        "WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER' AND is_identity = 'NO' "
        "ORDER BY ordinal_position",
        table,
    )
    values: list[tuple[str, str]] = []
    names: dict[str, str] = {}
    for row in columns:
        name, kind = f'"{row["name"]}"', row["kind"]
        value = f"s.{name}"
        if kind == "uuid" and row["name"] not in KEPT:
            names[row["name"]] = value
            value = f"overlay({value}::text placing lpad(to_hex(k), 4, '0') from 20 for 4)::uuid"
        elif row["name"] == "doc":
            value = f"{value} + k * {stride}"
        elif row["name"] == "external_id":
            value = f"{value} || ' ' || k"
        elif row["name"] in NAMES.get(table, ()):
            between = "'·'" if row["name"].endswith("key") else "' '"
            value = f"{value} || {between} || k"
        elif row["name"] == "dense":
            value = f"l2_normalize({value} + noise.vector)"
        values.append((name, value))
    noise = (
        ""
        if not any(row["name"] == "dense" for row in columns)
        else "JOIN noise ON noise.n = (hashtext(s.text_hash::text || k) & 2147483647) % " + str(NOISES)
    )
    return (
        f"INSERT INTO {table} ({', '.join(name for name, _ in values)}) "
        f"SELECT {', '.join(value for _, value in values)} FROM {table} s "
        f"CROSS JOIN generate_series($2::int, $3::int) AS k "
        f"{noise} "
        f"WHERE s.workspace_id = $1 AND {_seed(next(names[name] for name in OWNERS if name in names))}"
    )


async def _postings(connection: Any, workspace_id: uuid.UUID, before: int, copies: int, stride: int) -> None:
    """One segment per collection, with the copies' docs behind the seed's."""
    moves = np.arange(copies, dtype=np.uint32) * np.uint32(stride)
    for collection in Collection:
        segments = await connection.fetch(
            "SELECT * FROM lex_segment WHERE workspace_id = $1 AND collection = $2", workspace_id, collection
        )
        if not segments:
            continue
        blocks: dict[int, list[Any]] = defaultdict(list)
        async with connection.transaction():
            async for row in connection.cursor(
                "SELECT term_hash, postings FROM lex_block WHERE workspace_id = $1 AND collection = $2",
                workspace_id,
                collection,
                prefetch=2000,
            ):
                found = np.frombuffer(row["postings"], POSTING)
                blocks[row["term_hash"]].append(found[found["doc"] < stride])

        def moved(parts: list[Any]) -> bytes:
            seed = np.concatenate(parts)
            many = np.tile(seed, copies)
            many["doc"] += np.repeat(moves, len(seed))
            return many.tobytes()

        docs = np.concatenate([unpack_docs(row["members"]) for row in segments])
        docs = docs[docs < stride]
        sums = [
            sum(row[name] for row in segments) // before * copies for name in ("docs", "words", "gram_docs", "grams")
        ]
        for table in ("lex_block", "lex_segment"):
            await connection.execute(
                f"DELETE FROM {table} WHERE workspace_id = $1 AND collection = $2", workspace_id, collection
            )
        seg = segments[0]["seg"]
        await connection.copy_records_to_table(
            "lex_block",
            records=((workspace_id, int(collection), term, seg, moved(parts)) for term, parts in blocks.items()),
            columns=["workspace_id", "collection", "term_hash", "seg", "postings"],
        )
        members = pack_docs((docs[None, :] + moves[:, None]).ravel().astype(np.uint32))
        await connection.execute(
            "INSERT INTO lex_segment (workspace_id, collection, seg, docs, words, gram_docs, grams, members) "
            "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            workspace_id,
            collection,
            seg,
            *sums,
            members,
        )


async def _hub(connection: Any, workspace_id: uuid.UUID) -> None:
    """The entity that most mention gets `HUB_EDGES` more relations and mentions."""
    hub = await connection.fetchval(
        "SELECT entity_id FROM mentions WHERE workspace_id = $1 GROUP BY 1 ORDER BY count(*) DESC LIMIT 1", workspace_id
    )
    await connection.execute(
        'INSERT INTO mentions (workspace_id, chunk_id, ordinal, entity_id, card_id, start, "end", in_title, name) '
        "SELECT workspace_id, id, 30000 + n, $2, card_id, 0, 1, false, 'Hub' FROM chunks, generate_series(1, 20) AS n "
        "WHERE workspace_id = $1 LIMIT $3",
        workspace_id,
        hub,
        HUB_EDGES // 2,
    )
    await connection.execute(
        "UPDATE relations SET source_id = $2 WHERE workspace_id = $1 AND id IN "
        "(SELECT id FROM relations WHERE workspace_id = $1 ORDER BY md5(id::text) LIMIT $3)",
        workspace_id,
        hub,
        HUB_EDGES // 2,
    )


class Remembering(Precomputed):
    """Levels may ask for less than the question; what they ask for is known the second time."""

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        await self.learn(texts)
        return await super().queries(texts)


async def measure(services: Services, workspace_id: uuid.UUID, questions: list[str], rounds: int) -> dict[str, Any]:
    embedder = Remembering(services.embedder)
    retriever = Retriever(services.database, Spaces(embedder), services.segmenter, services.settings)
    async with services.database.read() as session:
        connection = (await (await session.connection()).get_raw_connection()).driver_connection
        size = {
            table: await connection.fetchval(f"SELECT count(*) FROM {table} WHERE workspace_id = $1", workspace_id)
            for table in ANCHORS
        }
        hub = await connection.fetchval(
            "SELECT name FROM entities WHERE workspace_id = $1 AND id = (SELECT entity_id FROM mentions "
            "WHERE workspace_id = $1 GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)",
            workspace_id,
        )
    about_hub = [f"What is {hub} known for?", f"Who lives in {hub}?", f"Which films were made in {hub}?"] * 7
    print(json.dumps({"anchors and edges": sum(size.values()), "chunks": size["chunks"], "hub": hub}), flush=True)
    report: dict[str, Any] = {"rows": size, "anchors_and_edges": sum(size.values())}
    for level in (Level.search, Level.explore, Level.context):
        for name, asked in (("questions", questions), ("hub", about_hub)):
            for query in asked:
                await retriever.retrieve(workspace_id, Question(query, level))
            cpu = await Cpu.watch(services)
            before, sent = cpu.now(), _Sent()
            spent: list[float] = []
            steps: dict[str, list[float]] = defaultdict(list)
            with sent:
                for query in asked * rounds:
                    evidence = await retriever.retrieve(workspace_id, Question(query, level))
                    spent.append(evidence.timings_ms["total"] - evidence.timings_ms.get("embedding", 0.0))
                    for step, value in evidence.timings_ms.items():
                        steps[step].append(value)
            client, server = (after - earlier for after, earlier in zip(cpu.now(), before, strict=True))
            row = {
                **percentiles(spent),
                "statements": round(sent.count / len(spent), 1),
                "cpu_ms": {"client": round(client / len(spent), 1), "server": round(server / len(spent), 1)},
                "steps_p50": {step: percentiles(values)["p50"] for step, values in steps.items()},
                "load": round(os.getloadavg()[0], 1),
            }
            report[f"{level.name}, {name}"] = row
            print(level.name, name, json.dumps(row), flush=True)
    return report


class _Sent:
    """Counts what is sent to the server."""

    def __enter__(self) -> _Sent:
        self.count, self._fetch = 0, asyncpg.Connection.fetch

        async def fetch(connection: Any, query: str, *values: Any, **how: Any) -> Any:
            self.count += 1
            return await self._fetch(connection, query, *values, **how)

        asyncpg.Connection.fetch = fetch
        return self

    def __exit__(self, *_: object) -> None:
        asyncpg.Connection.fetch = self._fetch


async def main(arguments: argparse.Namespace) -> None:
    given = {"database_url": arguments.database_url, "migrate": "off"} if arguments.database_url else {}
    settings = Settings(data_dir=arguments.data_dir, sample="off", log_level="WARNING", **given)
    log.configure("WARNING", "console")
    labelled = read_folder(arguments.folder, corpus=arguments.corpus)
    questions = [query.text for query in labelled.queries][: arguments.questions]
    report: dict[str, Any] = {}
    with database_url(settings) as dsn:
        async with open_services(settings, dsn, role="bench") as services:
            workspace_id = arguments.workspace or await learn(services, labelled)
            before = 1
            for copies in arguments.copies:
                seconds = await multiply(services, workspace_id, before, copies)
                before = max(copies, before)
                report[f"x {copies}"] = {
                    "seconds": seconds,
                    **await measure(services, workspace_id, questions, arguments.rounds),
                }
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1, ensure_ascii=False))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--database-url")
    parser.add_argument("--workspace", type=uuid.UUID, help="that has been learned already")
    parser.add_argument("--copies", type=int, nargs="+", default=[2, 16])
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    loop.run(main(parsed()))
