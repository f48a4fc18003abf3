"""What the router costs and misses: auto beside every level that is always the same, on labelled sets.

    python -m bench.regret DIR FOLDER… [--levels search explore context insight auto] [--split all] [--sample N]
        [--group FIELD,FIELD] [--where FIELD] [--asked FOLDER]

Each set is learned once in a throw-away workspace of the data directory DIR; every level answers every question.
Recall is that of `mindcone eval`. What a question costs is a weight of its level: how many statements and comparisons
it takes beside level search (`COSTS`), not milliseconds, which a shared machine blurs; a question that was asked again
one level deeper costs both. The regret of a way is how far its recall@5 stays below the best single level of the set,
plus LAMBDA for every unit of cost above the cheapest. Without reports level insight is level search, and is counted as
that. Policies were tuned on one half of the questions (`half` of their ids), so both halves are told. With `--asked`
what each level found for each question is kept as JSON, so that other policies can be tried without asking again.
"""

from __future__ import annotations

import argparse
import json
import random
import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from app.core import log, loop
from app.evaluation.folder import LabelledSet, read_folder
from app.retrieval.retrieve import Retriever
from app.retrieval.types import Evidence, Level, Question, Route
from app.settings import Settings
from app.wiring import database_url, open_services

COSTS: Final = {Level.chat: 0.0, Level.search: 1.0, Level.explore: 2.0, Level.context: 2.5, Level.insight: 4.0}
LAMBDA: Final = 0.005
ALLOWED: Final = 0.01
SEED: Final = 7


class Recording(Retriever):
    """Remembers which level answered each question that the router decided on."""

    def __init__(self, inner: Retriever) -> None:
        self.__dict__.update(inner.__dict__)
        self.used: dict[str, list[Route]] = {}

    async def retrieve(self, workspace_id: uuid.UUID, question: Question) -> Evidence:
        evidence = await super().retrieve(workspace_id, question)
        way = "auto" if question.level is None else question.level.name
        self.used.setdefault(way, []).append(evidence.route)
        return evidence


def cost(route: Route) -> float:
    return COSTS[route.level] + (0.0 if route.escalated_from is None else COSTS[route.escalated_from])


def some(labelled: LabelledSet, most: int | None) -> LabelledSet:
    """So many of the questions, the same ones every time."""
    if most is None or most >= len(labelled.queries):
        return labelled
    kept = random.Random(SEED).sample(sorted(labelled.queries, key=lambda query: query.id), most)
    return replace(labelled, queries=kept, gold={query.id: labelled.gold[query.id] for query in kept})


async def measure(settings: Settings, dsn: str, folder: Path, chosen: argparse.Namespace) -> None:
    levels: list[str] = chosen.levels
    labelled = some(read_folder(folder, split=chosen.split), chosen.sample)
    async with open_services(settings, dsn) as services:
        recording = Recording(services.retriever)
        services.evaluation._retriever = recording
        group = [name for name in chosen.group.split(",") if name]
        result = await services.evaluation.run(labelled, levels, group=group, where=chosen.where)
    told: dict[str, Any] = result.report["levels"]
    costs = {way: sum(map(cost, used)) / len(used) for way, used in recording.used.items()}
    single = [way for way in levels if way != "auto"]
    best = max(told[way]["recall@5"] for way in single)
    cheapest, deepest = min(costs[way] for way in single), max(costs[way] for way in single)
    print(f"\n### {folder.name} ({result.report['ingestion']['cards']} cards, {len(labelled.queries)} questions)\n")
    print("| always | R@5 | tune, report half | R@10 | cost | regret |\n|---|---|---|---|---|---|")
    for way in levels:
        regret = best - told[way]["recall@5"] + LAMBDA * (costs[way] - cheapest)
        halves = ", ".join(f"{told[way]['halves'].get(half, {}).get('recall@5', 0):.3f}" for half in ("tune", "report"))
        print(
            f"| {way} | {told[way]['recall@5']:.3f} | {halves} | {told[way]['recall@10']:.3f} "
            f"| {costs[way]:.2f} | {regret:.3f} |"
        )
    if "auto" in levels:
        used = recording.used["auto"]
        within = told["auto"]["recall@5"] >= best - ALLOWED
        print(f"\nwithin {ALLOWED} of the best: {'yes' if within else 'no'}; ", end="")
        print(f"cheaper than the deepest: {'yes' if costs['auto'] < deepest else 'no'}")
        ways = Counter(f"{one.level.name} ({', '.join([one.reason, *one.gates])})" for one in used)
        print("auto went to", ", ".join(f"{way} {count}" for way, count in ways.most_common()))
    if chosen.asked:
        rankings = {
            way: {query: [doc for doc, _ in found] for query, found in run.items()} for way, run in result.runs.items()
        }
        chosen.asked.mkdir(parents=True, exist_ok=True)
        (chosen.asked / f"{folder.name}.json").write_text(json.dumps(rankings, ensure_ascii=False), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--levels", nargs="+", default=["search", "explore", "context", "insight", "auto"])
    parser.add_argument("--split", choices=("all", "tune", "report"), default="all")
    parser.add_argument("--sample", type=int, help="so many questions of each set")
    parser.add_argument("--group", default="", help="documents with the same of these fields are one card")
    parser.add_argument("--where", help="questions look only at cards with their own value of this field")
    parser.add_argument("--asked", type=Path, help="a folder for what each level found")
    chosen = parser.parse_args()
    log.configure("ERROR")
    settings = Settings(data_dir=chosen.data_dir, sample="off")
    with database_url(settings) as dsn:
        for folder in chosen.folders:
            loop.run(measure(settings, dsn, folder, chosen))


if __name__ == "__main__":
    main()
