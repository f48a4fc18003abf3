"""Each part of a level switched off alone, on one set that is learned once.

    python -m bench.ablate FOLDER --level explore [--triples FILE | --episodes FILE] [--group F,F] [--where F]
                           [--qrels FILE] [--map FILE] [--data-dir DIR] [--json FILE]

With `--workspace` (and `--database-url`, where it is not in the data directory) a workspace is asked that has learned
the set already. A row is one run of all questions. The last columns are the differences to the whole with their 95 %
interval (paired bootstrap).
"""

from __future__ import annotations

import argparse
import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.core import log, loop
from app.evaluation import queries
from app.evaluation.extractions import read_episodes, read_triples
from app.evaluation.folder import read_folder
from app.evaluation.metrics import mean, measure_run, paired_bootstrap
from app.evaluation.run import Evaluation, as_cards
from app.retrieval.retrieve import Retriever
from app.settings import Settings
from app.wiring import Services, database_url, open_services

PARTS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "explore": {
        "scorer=hops": {"explore_scorer": "hops"},
        "without hops": {"explore_hop": 0.0},
        "without the walk": {"explore_walk": 0.0},
        "without the share of titles": {"explore_named_title": 0.0},
        "with the share of mentions": {"explore_named_mention": 0.3},
        "without titles that the graph missed": {"explore_overlooked": 0},
        "without spellings": {"explore_spellings": 0},
        "without pinned places": {"explore_pinned": 0},
        "the walk on the bounded subgraph": {"explore_walk_mentions": 0},
    },
    "context": {
        "preset=published": {"context_preset": "published"},
        "without the claim's words": {"context_point_words": 0.0},
        "without the facet's words": {"context_facet_words": 0.0},
        "without the episode's words": {"context_episode_words": 0.0},
        "without time": {"context_time": 0.0},
        "without the facet's distance": {"context_facet": 0.0},
        "facet's distance .10": {"context_facet": 0.10},
        "without the claim's distance": {"context_edge": 0.0},
        "without imputation": {"context_impute": 0.0},
        "without the soft minimum": {"context_tau": 0.0},
        "without the echo of the best claims": {"context_echo": 0.0},
        "without likeness to the first card": {"context_alike": 0.0},
        "without claims by themselves": {"context_bare_claim": False},
        "distances in full in Chinese": {"context_han_distance": 1.0},
        "without diversity": {"context_diversity": 0.0},
        "with adaptive confidence": {"context_adaptive": True},
    },
}
SHOWN = ("recall@5", "recall@10", "all@8", "mrr@10", "any@1")


async def ablate(services: Services, arguments: argparse.Namespace) -> dict[str, Any]:
    labelled = read_folder(arguments.folder, arguments.corpus, None, arguments.qrels, arguments.map)
    group = [name for name in arguments.group.split(",") if name]
    corpus = as_cards(labelled.documents, group, arguments.where)
    workspace_id = arguments.workspace
    if workspace_id is None:
        extractions = read_episodes(arguments.episodes) if arguments.episodes else {}
        if arguments.triples:
            extractions = read_triples(arguments.triples, labelled.documents)
        async with services.database.unit() as session:
            workspace_id = await queries.make_workspace(session)
        await services.evaluation._ingest(workspace_id, corpus, extractions, _silent)
        await services.evaluation._calibrate(workspace_id)

    async def rows(changes: Mapping[str, Any]) -> dict[str, Any]:
        settings = services.settings.model_copy(update=dict(changes))
        retriever = Retriever(services.database, services.spaces, services.segmenter, settings)
        asking = Evaluation(
            services.database, services.unqueued, services.pipeline, retriever, services.embedder, services.calibrating
        )
        run, _ = await asking._ask(
            workspace_id, labelled, corpus, arguments.level, 20, bool(group), arguments.where, _silent
        )
        ranked = {query: [doc for doc, _ in ranking] for query, ranking in run.items()}
        return measure_run(ranked, labelled.gold, labelled.groups)

    whole = await rows({})
    report: dict[str, Any] = {"whole": mean(list(whole.values()))}
    _print(arguments.level, report["whole"], {})
    for name, changes in PARTS[arguments.level].items():
        found = await rows(changes)
        versus: dict[str, Any] = paired_bootstrap(found, whole)
        report[name] = {**mean(list(found.values())), "vs": versus}
        _print(name, report[name], versus)
    return report


def _silent(step: str, done: int, total: int) -> None: ...


def _print(name: str, measured: Mapping[str, Any], versus: Mapping[str, Any]) -> None:
    cells = [f"{measured[key]:.3f}" for key in SHOWN]
    told = [f"{key} {one['diff']:+.3f} [{one['ci95'][0]:+.3f}, {one['ci95'][1]:+.3f}]" for key, one in versus.items()]
    print(f"| {name} | {' | '.join(cells)} | {'; '.join(told)} |", flush=True)


async def main(arguments: argparse.Namespace) -> None:
    given = {"database_url": arguments.database_url, "migrate": "off"} if arguments.database_url else {}
    settings = Settings(data_dir=arguments.data_dir, sample="off", log_level="WARNING", **given)
    log.configure("WARNING", "console")
    print(f"| | {' | '.join(SHOWN)} | against the whole |\n|---|{'---|' * (len(SHOWN) + 1)}")
    with database_url(settings) as dsn:
        async with open_services(settings, dsn, role="bench") as services:
            report = await ablate(services, arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1, ensure_ascii=False))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--level", choices=sorted(PARTS), required=True)
    for name in ("corpus", "qrels", "map", "triples", "episodes", "json"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--group", default="")
    parser.add_argument("--where")
    parser.add_argument("--data-dir", type=Path, default=Path("bench-data"))
    parser.add_argument("--database-url")
    parser.add_argument("--workspace", type=uuid.UUID)
    return parser.parse_args()


if __name__ == "__main__":
    loop.run(main(parsed()))
