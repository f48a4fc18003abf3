"""How far the calibration from unlabelled data is off: against the real questions of labelled sets.

    python -m bench.calibration measure FOLDER… [--cards 150] [--questions 120] [--keep]
    python -m bench.calibration defaults            readings of the shipped sample notes, as Python

Needs MINDCONE_DATABASE_URL and MINDCONE_DATA_DIR (the embedder's files). Every set becomes a workspace of `--cards`
cards, learned by the product's own pipeline and gone afterwards. Per kind of text, μ and σ of the distances of real
questions to the texts of cards that are no answer; then of the calibration (`own`) and of the shipped readings
(`default`) the error of μ in σ and the ratio of σ. Further: quantiles of the best z of questions that were asked of
another set, which nothing here answers, and the lines for texts of another script.
"""

from __future__ import annotations

import argparse
import json
import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.cards.drafts import NewCard
from app.core import log, loop
from app.evaluation.folder import read_folder
from app.index.collections import TextKind
from app.index.spaces import Spaces
from app.ingestion.queries import Task
from app.ingestion.submit import Intake
from app.people import queries as people
from app.retrieval import calibration_queries as stored
from app.retrieval.calibrating import Calibrating, Question, line_points, list_owners_of, load
from app.retrieval.calibration import PAIRS, Calibration, Reading, fit_background, fit_line
from app.retrieval.calibration_defaults import readings_of
from app.retrieval.collections import nearest_many
from app.retrieval.pseudo_questions import script_of
from app.retrieval.queries import SpaceRow
from app.settings import Settings
from app.wiring import Services, database_url, open_services

_GROUP = 16
SAMPLE = Path(__file__).resolve().parents[1] / "app" / "sample_vault"


@dataclass
class Set:
    name: str
    workspace_id: uuid.UUID
    questions: Sequence[tuple[str, set[uuid.UUID]]]
    """Text, and the cards that answer it."""


async def learned(services: Services, name: str, cards: Sequence[NewCard]) -> tuple[uuid.UUID, dict[str, uuid.UUID]]:
    async with services.database.unit() as session:
        workspace_id = (await people.insert_workspace(session, f"calibration-{uuid.uuid4().hex[:8]}", name)).id
    intake = Intake(queued=False)
    async with services.database.unit() as session:
        written = await intake.submit_many(session, workspace_id, cards)
    ids = [one.id for one in written if one.id is not None]
    for at in range(0, len(ids), _GROUP):
        await services.pipeline.ingest(workspace_id, [Task(card_id, 1) for card_id in ids[at : at + _GROUP]])
    return workspace_id, {card.external_id or "": one for card, one in zip(cards, ids, strict=True)}


async def read(services: Services, folder: Path, cards: int, questions: int, seed: int) -> Set:
    found = read_folder(folder)
    rng = random.Random(seed)
    documents = rng.sample(list(found.documents), min(cards, len(found.documents)))
    workspace_id, ids = await learned(
        services,
        folder.name,
        [NewCard(one.title or None, one.text, created_at=one.date, external_id=one.id) for one in documents],
    )
    asked = rng.sample(list(found.queries), min(questions, len(found.queries)))
    return Set(
        folder.name if folder.name not in ("turns", "sessions") else f"{folder.parent.name}/{folder.name}",
        workspace_id,
        [(one.text, {ids[doc] for doc in found.gold.get(one.id, {}) if doc in ids}) for one in asked],
    )


async def compare(services: Services, one: Set, space: SpaceRow, own: Calibration, known: Calibration) -> None:
    vectors = (await services.embedder.queries([text for text, _ in one.questions])).dense
    scripts = np.array([script_of(text) for text, _ in one.questions])
    print(f"\n{one.name}\n  kind               scripts      μ      σ      own μ  own σ   default μ  default σ")
    for kind in TextKind:
        async with services.database.read() as session:
            sample = await stored.draw_texts(session, one.workspace_id, space.id, kind, 900, 7)
        if not len(sample):
            continue
        distances = (1.0 - vectors @ sample.vectors.T).astype(np.float64)
        apart = np.array([[card is None or card not in gold for card in sample.cards] for _, gold in one.questions])
        for asked, script in PAIRS:
            inside = apart & (scripts == asked)[:, None] & (sample.in_han == (script == "han"))[None, :]
            real = fit_background(distances[inside])
            if real is None:
                continue
            told = [
                f"{(found.mu - real.mu) / real.sigma:+.2f}  x{found.sigma / real.sigma:.2f}"
                for found in (calibration.background(kind, asked, script) for calibration in (own, known))
            ]
            print(f"  {kind.name:18s} {asked:>5s}-{script:5s}  {real.mu:.4f} {real.sigma:.4f}   {told[0]}    {told[1]}")


async def strangers(services: Services, one: Set, others: Sequence[Set], space: SpaceRow, own: Calibration) -> None:
    """Questions of other sets: how often their best z is beyond the quantile that the calibration tells."""
    asked = [(text, False) for other in others for text, _ in other.questions][:100]
    asked = random.Random(3).sample(asked, min(len(asked), 60))
    asked += [(text, True) for text, gold in one.questions if gold][:60]
    vectors = (await services.embedder.queries([text for text, _ in asked])).dense
    for kind in (TextKind.point, TextKind.point_edge, TextKind.chunk, TextKind.facet_description):
        best: dict[bool, list[float]] = {False: [], True: []}
        limits: dict[bool, list[float]] = {False: [], True: []}
        for (text, answerable), vector in zip(asked, vectors, strict=True):
            script = script_of(text)
            async with services.database.read() as session:
                found = (await nearest_many(session, one.workspace_id, space, [kind], vector, 20))[kind]
                owners = await stored.list_owners(session, one.workspace_id, kind, [owner for owner, _ in found])
            limit = own.stranger(kind, script, 0.05)
            if not found or limit is None:
                continue
            z = own.z(
                kind,
                script,
                np.array([owners[owner].script == "han" for owner, _ in found]),
                np.array([distance for _, distance in found]),
            )
            best[answerable].append(float(z.min()))
            limits[answerable].append(limit)
        if best[False] and best[True]:
            no, yes = np.array(best[False]), np.array(best[True])
            auc = float(np.mean(no[:, None] > yes[None, :]))
            below = [float(np.mean(np.array(best[a]) < np.array(limits[a]))) for a in (False, True)]
            print(
                f"  {kind.name:18s} best z of strangers {np.median(no):+.2f}, of its own {np.median(yes):+.2f}, "
                f"AUC {auc:.3f}; beyond the 5 % limit {below[0]:.2f} of strangers, {below[1]:.2f} of its own"
            )


async def lines(services: Services, one: Set, space: SpaceRow, calibrating: Calibrating, own: Calibration) -> None:
    """The lines of the calibration, and those of real questions."""
    asked = [question for question in one.questions if question[1]][:40]
    vectors = (await services.embedder.queries([text for text, _ in asked])).dense
    looked = []
    for (text, cards), vector in zip(asked, vectors, strict=True):
        question = Question(text, script_of(text), uuid.uuid4(), set(cards), vector=vector)
        async with services.database.read() as session:
            looked.append(await calibrating.look(session, one.workspace_id, space, question))
    async with services.database.read() as session:
        owners = await list_owners_of(session, one.workspace_id, looked)
    for script in sorted({script_of(text) for text, _ in asked}):
        for kind, (z, shares) in line_points(script, own, looked, owners[TextKind.point]).items():
            real, line = fit_line(z, shares), own.line(kind, script)
            if real is not None:
                told = [f"{at.alpha + 3 * at.beta:.3f}" for at in (real, line)]
                print(
                    f"  line {kind:8s} {script:5s} real α {real.alpha:+.4f} β {real.beta:.4f}, "
                    f"own α {line.alpha:+.4f} β {line.beta:.4f}; at z = −3 {told[0]} and {told[1]}"
                )


async def measure(services: Services, arguments: argparse.Namespace) -> None:
    calibrating = Calibrating(services.database, Spaces(services.embedder), services.segmenter, services.settings)
    async with services.database.read() as session:
        space = await stored.find_space(session)
    assert space is not None
    sets: list[Set] = []
    try:
        for folder in arguments.folders:
            sets.append(await read(services, folder, arguments.cards, arguments.questions, arguments.seed))
        for one in sets:
            await calibrating.run(one.workspace_id, space, services.embedder)
            async with services.database.read() as session:
                own = await load(session, one.workspace_id, space)
            await compare(services, one, space, own, Calibration(readings_of(space.key)))
            await lines(services, one, space, calibrating, own)
            await strangers(services, one, [other for other in sets if other is not one], space, own)
    finally:
        for one in sets:
            if not arguments.keep:
                await remove(services, one.workspace_id)


async def defaults(services: Services, arguments: argparse.Namespace) -> None:
    """The sample notes, measured, as the constants of `calibration_defaults`."""
    cards = [
        NewCard(path.stem, path.read_text(encoding="utf-8"), external_id=str(path))
        for path in sorted(SAMPLE.rglob("*.md"))
    ]
    workspace_id, _ = await learned(services, "sample", cards)
    calibrating = Calibrating(services.database, Spaces(services.embedder), services.segmenter, services.settings)
    try:
        async with services.database.read() as session:
            space = await stored.find_space(session)
        assert space is not None
        await calibrating.run(workspace_id, space, services.embedder)
        async with services.database.read() as session:
            readings = await stored.list_readings(session, workspace_id, space.id)
        print(json.dumps({"space": space.key, "readings": [_told(key, one) for key, one in sorted(readings.items())]}))
    finally:
        await remove(services, workspace_id)


def _told(key: Any, one: Reading) -> list[Any]:
    (kind, pair), line = key, one.line
    return [
        kind,
        *pair,
        round(one.background.mu, 4),
        round(one.background.sigma, 4),
        None if one.baseline is None else round(one.baseline, 3),
        [round(one.foreign[share], 2) for share in sorted(one.foreign)],
        [round(one.stranger[share], 2) for share in sorted(one.stranger)],
        None if line is None else [round(line.alpha, 4), round(line.beta, 4)],
    ]


async def remove(services: Services, workspace_id: uuid.UUID) -> None:
    from app.evaluation import queries as evaluation

    async with services.database.unit() as session:
        await evaluation.remove_workspace(session, workspace_id)


async def main(arguments: argparse.Namespace) -> None:
    log.configure("WARNING", "console")
    settings = Settings(
        sample="off", migrate="on", database_statement_timeout_seconds=300, database_idle_in_transaction_seconds=300
    )
    with database_url(settings) as dsn:
        async with open_services(settings, dsn, role="bench") as services:
            await arguments.action(services, arguments)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(required=True)
    measuring = actions.add_parser("measure")
    measuring.add_argument("folders", nargs="+", type=Path)
    measuring.add_argument("--cards", type=int, default=150)
    measuring.add_argument("--questions", type=int, default=120)
    measuring.add_argument("--seed", type=int, default=1)
    measuring.add_argument("--keep", action="store_true", help="leave the workspaces where they are")
    measuring.set_defaults(action=measure)
    actions.add_parser("defaults").set_defaults(action=defaults)
    return parser.parse_args()


if __name__ == "__main__":
    loop.run(main(parsed()))
