"""What the router costs and misses: auto beside every level that is always the same, on labelled sets.

    python -m bench.regret DIR FOLDER… [--levels search explore context insight auto] [--split all]

Each set is learned once in a throw-away workspace of the data directory DIR; every level answers every question.
Recall is that of `mindcone eval`. What a question costs is a weight of its level: how many statements and comparisons
it takes beside level search (`COSTS`), not milliseconds, which a shared machine blurs. The regret of a way is how far
its recall@5 stays below the best single level of the set, plus LAMBDA for every unit of cost above the cheapest.
Without reports level insight is level search, and is counted as that.
"""

from __future__ import annotations

import argparse
import asyncio
import uuid
from collections import Counter
from pathlib import Path
from typing import Any, Final

from app.core import log
from app.evaluation.folder import read_folder
from app.evaluation.run import Evaluation
from app.retrieval.retrieve import Retriever
from app.retrieval.types import Evidence, Level, Question
from app.settings import Settings
from app.wiring import database_url, open_services

COSTS: Final = {Level.chat: 0.0, Level.search: 1.0, Level.explore: 2.0, Level.context: 2.5, Level.insight: 4.0}
LAMBDA: Final = 0.005
ALLOWED: Final = 0.01


class Recording(Retriever):
    """Remembers which level answered each question that the router decided on."""

    def __init__(self, inner: Retriever) -> None:
        self.__dict__.update(inner.__dict__)
        self.used: dict[str, list[tuple[str, Level, str]]] = {}

    async def retrieve(self, workspace_id: uuid.UUID, question: Question) -> Evidence:
        evidence = await super().retrieve(workspace_id, question)
        way = "auto" if question.level is None else question.level.name
        self.used.setdefault(way, []).append((question.query, evidence.route.level, evidence.route.reason))
        return evidence


async def measure(settings: Settings, dsn: str, folder: Path, levels: list[str], split: str) -> None:
    async with open_services(settings, dsn) as services:
        recording = Recording(services.retriever)
        evaluation = Evaluation(
            services.database, services.unqueued, services.pipeline, recording, services.embedder, services.calibrating
        )
        labelled = read_folder(folder, split=split)  # type: ignore[arg-type]
        result = await evaluation.run(labelled, levels)
    told: dict[str, Any] = result.report["levels"]
    costs = {way: sum(COSTS[level] for _, level, _ in used) / len(used) for way, used in recording.used.items()}
    single = [way for way in levels if way != "auto"]
    best = max(told[way]["recall@5"] for way in single)
    cheapest, deepest = min(costs[way] for way in single), max(costs[way] for way in single)
    print(f"\n### {folder.name} ({result.report['ingestion']['cards']} cards, {len(labelled.queries)} questions)\n")
    print("| always | R@5 | R@10 | cost | regret |\n|---|---|---|---|---|")
    for way in levels:
        regret = best - told[way]["recall@5"] + LAMBDA * (costs[way] - cheapest)
        print(
            f"| {way} | {told[way]['recall@5']:.3f} | {told[way]['recall@10']:.3f} | {costs[way]:.2f} | {regret:.3f} |"
        )
    if "auto" in levels:
        spread = Counter(level.name for _, level, _ in recording.used["auto"])
        within = told["auto"]["recall@5"] >= best - ALLOWED
        print(f"\nauto went to {dict(spread)}; within {ALLOWED} of the best: {'yes' if within else 'no'}; ", end="")
        print(f"cheaper than the deepest: {'yes' if costs['auto'] < deepest else 'no'}")
        reasons = Counter((level.name, reason) for _, level, reason in recording.used["auto"])
        print("by", ", ".join(f"{level}/{reason} {count}" for (level, reason), count in reasons.most_common()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--levels", nargs="+", default=["search", "explore", "context", "insight", "auto"])
    parser.add_argument("--split", choices=("all", "tune", "report"), default="all")
    chosen = parser.parse_args()
    log.configure("ERROR")
    settings = Settings(data_dir=chosen.data_dir, sample="off")
    with database_url(settings) as dsn:
        for folder in chosen.folders:
            asyncio.run(measure(settings, dsn, folder, chosen.levels, chosen.split))


if __name__ == "__main__":
    main()
