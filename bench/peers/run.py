"""MindCone beside its peers: one run, one embedder, one corpus.

    python -m bench.peers.run DIR [--data ../shared/data] [--sets mflow 2wiki] [--peers …] [--out FILE]

DIR takes the environments of the peers, the product's database and what the peers write. Each peer gets a virtual
environment with what its `.txt` pins, and a fresh process for every corpus; nothing runs beside it but the embedder,
which is the product's own and answers in this process. How it is made equal and what is not: README.md here.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from app.core import log, loop
from app.evaluation.extractions import Extractions, read_episodes
from app.evaluation.folder import LabelledSet, half, read_folder
from app.evaluation.metrics import Row, mean, measure_run, paired_bootstrap
from app.evaluation.run import percentiles
from app.settings import Settings
from app.wiring import Services, database_url, open_services
from bench.peers import given
from bench.peers.vectors import serving

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent.parent
PEERS: Final[Mapping[str, Sequence[str]]] = {
    "bm25s": ("default",),
    "lightrag": ("naive", "local", "global", "hybrid", "mix"),
    "mflow": ("bundle",),
}
"""A peer's module here, and its ways of asking."""
MAX_LINE: Final = 1 << 28
SHOWN: Final = ("recall@5", "recall@10", "all@8", "all@10", "mrr@10", "any@1")


@dataclass(frozen=True, slots=True)
class Task:
    """A labelled set, how MindCone learns it, and its levels; the last one is compared with the peers."""

    name: str
    folder: str
    levels: Sequence[str]
    where: str | None = None
    episodes: str | None = None
    qrels: str | None = None
    groups: str | None = None
    published: str | None = None


TASKS: Final = (
    Task(
        "mflow",
        "mflow_locomo_dev",
        ("bm25", "dense", "search", "published", "context"),
        where="conv",
        episodes="episodes.jsonl",
        qrels="qrels_sessions.tsv",
        groups="doc_to_session.tsv",
        published="mflow_run.trec",
    ),
    Task("2wiki", "2wiki_dev", ("bm25", "dense", "search", "explore"), published="peer_results.jsonl"),
)

Runs = dict[str, list[str]]
"""Question to documents, best first."""


@dataclass(slots=True)
class Told:
    """What was measured of one way to ask one system."""

    system: str
    runs: Runs
    index_seconds: float | None = None
    texts: int | None = None
    asked_ms: list[float] = field(default_factory=list)
    percentiles: Mapping[str, float] | None = None
    megabytes: float | None = None


async def measure(
    settings: Settings, dsn: str, task: Task, labelled: LabelledSet, asked: argparse.Namespace
) -> list[Told]:
    folder = asked.data / task.folder
    extractions = read_episodes(folder / task.episodes) if task.episodes else {}
    async with open_services(settings, dsn, role="cli") as services:
        told = await _mindcone(services, task, labelled, extractions) if asked.mindcone else []
        corpora, questions = await asyncio.to_thread(_prepare, services, task, labelled, extractions)
        async with serving(services.embedder) as address:
            for peer in asked.peers:
                told += await _peer(peer, asked.dir, address, corpora, questions, labelled)
    return told + _published(folder, task, labelled)


def _read(task: Task, asked: argparse.Namespace) -> LabelledSet:
    folder = asked.data / task.folder
    labelled = read_folder(
        folder,
        qrels=folder / task.qrels if task.qrels else None,
        groups=folder / task.groups if task.groups else None,
    )
    return _some(labelled, asked.questions)


def _some(labelled: LabelledSet, number: int) -> LabelledSet:
    """About `number` of the questions, evenly from all of them; 0: all."""
    kept = labelled.queries[:: max(len(labelled.queries) // number, 1)] if number else labelled.queries
    return LabelledSet(labelled.documents, kept, {one.id: labelled.gold[one.id] for one in kept}, labelled.groups)


async def _mindcone(services: Services, task: Task, labelled: LabelledSet, extractions: Extractions) -> list[Told]:
    result = await services.evaluation.run(labelled, task.levels, where=task.where, extractions=extractions)
    ingested = result.report["ingestion"]
    return [
        Told(
            f"MindCone {level}",
            {query: [document for document, _ in ranking] for query, ranking in result.runs[level].items()},
            ingested["seconds"],
            ingested["texts"],
            percentiles=result.report["levels"][level]["retrieval_ms"],
        )
        for level in task.levels
    ]


def _prepare(
    services: Services, task: Task, labelled: LabelledSet, extractions: Extractions
) -> tuple[dict[str, list[Any]], dict[str, list[tuple[str, Any]]]]:
    """Documents and questions by corpus: where questions are asked of some documents only, a corpus is what they may
    find.
    """

    def corpus_of(metadata: Mapping[str, Any]) -> str:
        return str(metadata[task.where]) if task.where else task.name

    corpora: dict[str, list[Any]] = {}
    read = given.documents(labelled.documents, extractions, services.segmenter, services.embedder.count_tokens)
    for document, one in zip(labelled.documents, read, strict=True):
        corpora.setdefault(corpus_of(document.metadata), []).append(one)
    questions: dict[str, list[tuple[str, Any]]] = {}
    for query in labelled.queries:
        asked = (query.id, given.question(query, services.segmenter))
        questions.setdefault(corpus_of(query.metadata), []).append(asked)
    return corpora, questions


async def _peer(
    peer: str,
    directory: Path,
    address: str,
    corpora: Mapping[str, Sequence[Any]],
    questions: Mapping[str, Sequence[tuple[str, Any]]],
    labelled: LabelledSet,
) -> list[Told]:
    told = {mode: Told(f"{peer} {mode}", {}, 0.0, 0, megabytes=0.0) for mode in PEERS[peer]}
    python = await asyncio.to_thread(_environment, peer, directory)
    for number, (corpus, documents) in enumerate(corpora.items(), 1):
        _say(f"{peer}: corpus {number} of {len(corpora)}, {len(documents)} documents")
        async with _process(peer, python, directory, address) as ask:
            learned = await ask({"do": "index", "documents": documents})
            last = learned
            for mode, one in told.items():
                for query, question in questions.get(corpus, ()):
                    last = await ask({"do": "ask", "mode": mode, "question": question})
                    one.runs[query] = last["ranking"]
                    one.asked_ms.append((last["seconds"] - last["waited"]) * 1000)
            for one in told.values():
                one.index_seconds = (one.index_seconds or 0.0) + learned["seconds"]
                one.texts = (one.texts or 0) + learned["texts"]
                one.megabytes = max(one.megabytes or 0.0, last["megabytes"])
                one.percentiles = percentiles(one.asked_ms)
                _say(_so_far(one, labelled))
    return list(told.values())


def _so_far(told: Told, labelled: LabelledSet) -> str:
    """Of the corpora that are done."""
    gold = {query: documents for query, documents in labelled.gold.items() if query in told.runs}
    found = mean(list(measure_run(told.runs, gold, labelled.groups).values()))
    shown = ", ".join(f"{name} {found.get(name, 0.0):.3f}" for name in SHOWN)
    took = f"indexed {told.texts} texts in {told.index_seconds:.1f} s, {told.percentiles} ms, {told.megabytes:.0f} MB"
    return f"{told.system}: {len(gold)} questions, {shown}; {took}"


def _environment(peer: str, directory: Path) -> Path:
    """Its Python. Made once; made anew when what is pinned changes."""
    pinned = HERE / f"{peer}.txt"
    home = directory / f"venv-{peer}"
    python, stamp = home / "bin" / "python", home / "pinned.txt"
    if not stamp.exists() or stamp.read_bytes() != pinned.read_bytes():
        _say(f"{peer}: making an environment in {home}")
        alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        install = ("install", "--quiet", "--disable-pip-version-check", "--requirement", str(pinned))
        with (directory / f"{peer}.log").open("a") as heard:
            subprocess.run([python, "-m", "pip", *install], check=True, env=alone, stdout=heard, stderr=heard)
        shutil.copyfile(pinned, stamp)
    return python


@asynccontextmanager
async def _process(peer: str, python: Path, directory: Path, address: str) -> AsyncIterator[Any]:
    """A function from an order to what came of it. Raises RuntimeError when the process ends before its answer."""
    home = directory / f"data-{peer}"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    with (directory / f"{peer}.log").open("a") as heard:
        process = await asyncio.create_subprocess_exec(
            *(python, "-m", f"bench.peers.{peer}"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=heard,
            cwd=home,
            env={**kept, "PYTHONPATH": str(ROOT), "PEER_FOLDER": str(home), "PEER_EMBEDDER": address},
            limit=MAX_LINE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        async def ask(order: Mapping[str, Any]) -> Any:
            stdin.write(json.dumps(order).encode() + b"\n")
            await stdin.drain()
            line = await stdout.readline()
            if not line:
                raise RuntimeError(f"{peer} ended; see {heard.name}")
            return json.loads(line)

        try:
            yield ask
        finally:
            stdin.close()
            try:
                await asyncio.wait_for(process.wait(), 20)
            except TimeoutError:
                process.kill()
                await process.wait()
    shutil.rmtree(home, ignore_errors=True)


def _published(folder: Path, task: Task, labelled: LabelledSet) -> list[Told]:
    """What others have measured on the same documents with models of their own, where the set brings it along."""
    path = folder / task.published if task.published else folder
    if not path.is_file():
        return []
    if path.suffix == ".trec":
        rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
        runs: Runs = {}
        for query, _, document, *_rest in rows:
            runs.setdefault(query, []).append(document)
        return [Told("M-FLOW, its authors' run", {query: runs.get(query, []) for query in labelled.gold})]
    questions = {query.text: query.id for query in labelled.queries}
    found: dict[str, Runs] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for system, titles in row["retrieved"].items():
            if system.endswith("@51") and row["q"] in questions:
                found.setdefault(system.removesuffix("@51"), {})[questions[row["q"]]] = [
                    _by_title(title, labelled) for title in titles
                ]
    return [Told(f"{system}, published run", runs) for system, runs in found.items()]


def _by_title(title: str, labelled: LabelledSet) -> str:
    """Titles of that file may be cut."""
    exact = next((one.id for one in labelled.documents if one.title == title), None)
    return exact or next((one.id for one in labelled.documents if one.title.startswith(title)), title)


def report(told: Sequence[Told], task: Task, labelled: LabelledSet) -> list[dict[str, Any]]:
    rows = {one.system: measure_run(one.runs, labelled.gold, labelled.groups) for one in told}
    ours = rows.get(f"MindCone {task.levels[-1]}")
    reported = []
    for one in told:
        measured = rows[one.system]
        kept: dict[str, Row] = {query: row for query, row in measured.items() if half(query) == "report"}
        reported.append(
            {
                "system": one.system,
                "n": len(measured),
                "unanswered": sum(not one.runs.get(query) for query in labelled.gold),
                "index_seconds": one.index_seconds,
                "texts": one.texts,
                "query_ms": one.percentiles,
                "megabytes": one.megabytes,
                **mean(list(measured.values())),
                "report_half": mean(list(kept.values())),
                "ours_minus_this": paired_bootstrap(ours, measured) if ours and one.runs else None,
            }
        )
    return reported


def print_table(task: Task, rows: Sequence[Mapping[str, Any]]) -> None:
    print(f"\n### {task.name} ({rows[0]['n']} questions)\n")
    print("| system | index s (texts) | query p50 / p95 ms | R@5 | R@10 | all@8 | all@10 | MRR | any@1 |", end="")
    print(f" {task.levels[-1]} − this, R@5 | R@10 |")
    print("|" + "---|" * 11)
    for row in rows:
        spent, took = row["query_ms"], row["index_seconds"]
        cells = [row["system"]]
        cells.append(f"{took:.1f} ({row['texts']})" if took is not None else "")
        cells.append(f"{spent['p50']:.1f} / {spent['p95']:.1f}" if spent else "")
        cells += [f"{row[name]:.3f}" for name in SHOWN]
        versus = row["ours_minus_this"]
        for name in ("recall@5", "recall@10"):
            gap = versus and versus[name]
            cells.append(f"{gap['diff']:+.3f} [{gap['ci95'][0]:+.3f}, {gap['ci95'][1]:+.3f}]" if gap else "")
        print(f"| {' | '.join(cells)} |")


def _say(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="+", choices=[task.name for task in TASKS], default=None)
    parser.add_argument("--peers", nargs="*", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--questions", type=int, default=0, help="about N of every set, for all systems alike")
    parser.add_argument("--no-mindcone", dest="mindcone", action="store_false")
    parser.add_argument("--out", type=Path, help="write everything measured as JSON")
    asked = parser.parse_args()
    asked.dir = asked.dir.resolve()
    asked.dir.mkdir(parents=True, exist_ok=True)
    log.configure("ERROR")
    settings = Settings(data_dir=asked.dir / "mindcone", sample="off")
    everything: dict[str, Any] = {}
    with database_url(settings) as dsn:
        for task in TASKS:
            if asked.sets and task.name not in asked.sets:
                continue
            labelled = _read(task, asked)
            rows = report(loop.run(measure(settings, dsn, task, labelled, asked)), task, labelled)
            everything[task.name] = rows
            print_table(task, rows)
    if asked.out:
        asked.out.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
