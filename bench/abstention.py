"""How well level context tells questions that its notes answer from questions that they do not.

    python -m bench.abstention FOLDER --foreign FOLDER… [--group F,F] [--where F] [--data-dir DIR] [--questions 100]

FOLDER is learned (or lies in `--workspace` of `--database-url`) and asked its own questions and those of other sets,
which nothing in it answers. Printed: the area under the curve of the best hit's score, some points of the curve, and
where the product stands with its own threshold (`nothing_relevant`).
"""

from __future__ import annotations

import argparse
import random
import uuid
from pathlib import Path

import numpy as np

from app.core import log, loop
from app.evaluation import queries
from app.evaluation.folder import LabelledSet, read_folder
from app.evaluation.run import as_cards
from app.retrieval.types import Filters, Level, Question
from app.settings import Settings
from app.wiring import Services, database_url, open_services


async def asked(
    services: Services, workspace_id: uuid.UUID, labelled: LabelledSet, most: int, where: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """Of some questions the best hit's score, and whether nothing was said to be relevant."""
    some = random.Random(7).sample(list(labelled.queries), min(most, len(labelled.queries)))
    scores, nothing = [], []
    for query in some:
        filters = Filters(metadata={where: query.metadata[where]}) if where and where in query.metadata else Filters()
        evidence = await services.retriever.retrieve(workspace_id, Question(query.text, Level.context, 5, filters))
        scores.append(evidence.hits[0].score if evidence.hits else -np.inf)
        nothing.append(evidence.nothing_relevant)
    return np.array(scores), np.array(nothing)


def area(own: np.ndarray, foreign: np.ndarray) -> float:
    """The chance that an own question scores higher than a foreign one."""
    return float((own[:, None] > foreign).mean() + 0.5 * (own[:, None] == foreign).mean())


async def run(services: Services, arguments: argparse.Namespace) -> None:
    labelled = read_folder(arguments.folder)
    workspace_id = arguments.workspace
    if workspace_id is None:
        corpus = as_cards(labelled.documents, [n for n in arguments.group.split(",") if n], arguments.where)
        async with services.database.unit() as session:
            workspace_id = await queries.make_workspace(session)
        await services.evaluation._ingest(workspace_id, corpus, {}, lambda step, done, total: None)
        await services.evaluation._calibrate(workspace_id)
    own, refused = await asked(services, workspace_id, labelled, arguments.questions, arguments.where)
    print(f"own questions of {arguments.folder.name}: {len(own)}, refused by the product {refused.mean():.3f}")
    for folder in arguments.foreign:
        foreign, told = await asked(services, workspace_id, read_folder(folder), arguments.questions, None)
        print(f"{folder.name}: {len(foreign)}, AUC {area(own, foreign):.3f}, refused by the product {told.mean():.3f}")
        for kept in (0.99, 0.95, 0.90, 0.80):
            threshold = np.quantile(own, 1 - kept)
            print(f"  answering {kept:.2f} of the own questions refuses {(foreign < threshold).mean():.3f} of these")


async def main(arguments: argparse.Namespace) -> None:
    given = {"database_url": arguments.database_url, "migrate": "off"} if arguments.database_url else {}
    settings = Settings(data_dir=arguments.data_dir, sample="off", log_level="WARNING", **given)
    log.configure("WARNING", "console")
    with database_url(settings) as dsn:
        async with open_services(settings, dsn, role="bench") as services:
            await run(services, arguments)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--foreign", type=Path, nargs="+", required=True)
    parser.add_argument("--group", default="")
    parser.add_argument("--where")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--data-dir", type=Path, default=Path("bench-data"))
    parser.add_argument("--database-url")
    parser.add_argument("--workspace", type=uuid.UUID)
    return parser.parse_args()


if __name__ == "__main__":
    loop.run(main(parsed()))
