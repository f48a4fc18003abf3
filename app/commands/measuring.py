"""`mindcone eval`: retrieval quality on labelled sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from app.commands.common import progress_bar, quiet_settings, services
from app.core import loop
from app.settings import Settings

app = typer.Typer()

LevelChoice = Annotated[
    list[str],
    typer.Option(
        "--level",
        help="search, explore, context, insight, auto; bm25, dense, rrf, hops, published; several times for several",
    ),
]


@app.command("eval")
def evaluate(
    folder: Annotated[Path, typer.Argument(help="corpus.jsonl, queries.jsonl, qrels.tsv")],
    level: LevelChoice = ["search"],  # noqa: B006
    limit: Annotated[int, typer.Option(help="Cards asked for; measured at least 20 deep")] = 10,
    group: Annotated[
        str, typer.Option(help="Metadata fields, by comma: one card of the documents that share them")
    ] = "",
    where: Annotated[str | None, typer.Option(help="Only documents whose field equals the query's")] = None,
    by: Annotated[str | None, typer.Option(help="Metadata field of the questions: measured for each value too")] = None,
    split: Annotated[str, typer.Option(help="all, or one half of the queries: tune, report")] = "all",
    run: Annotated[Path | None, typer.Option(help="Write a TREC run; with several levels, one file each")] = None,
    report: Annotated[Path | None, typer.Option("--json", help="Write everything measured as JSON")] = None,
    vs: Annotated[str | None, typer.Option(help="Level to compare with, by paired bootstrap")] = None,
    corpus: Annotated[Path | None, typer.Option()] = None,
    queries: Annotated[Path | None, typer.Option()] = None,
    qrels: Annotated[Path | None, typer.Option()] = None,
    groups: Annotated[Path | None, typer.Option("--map", help="TSV: a document counts as its group")] = None,
    episodes: Annotated[Path | None, typer.Option(help="JSON lines as POST /episodes takes them")] = None,
    triples: Annotated[Path | None, typer.Option(help="JSON lines {pid, s, p, o}: relations of documents")] = None,
    preset: Annotated[str | None, typer.Option(help="How level context counts: chain, published")] = None,
    scorer: Annotated[str | None, typer.Option(help="How level explore counts: default, hops")] = None,
    database: Annotated[str | None, typer.Option("--database-url")] = None,
) -> None:
    """Measure retrieval on a labelled set: yours, or any BEIR-style folder. Uses a throw-away workspace."""
    from app.evaluation.extractions import read_episodes, read_triples
    from app.evaluation.folder import read_folder
    from app.evaluation.metrics import measure_run, paired_bootstrap
    from app.evaluation.run import LEVELS, Result, write_run

    for name in [*level, *([vs] if vs else [])]:
        if name not in LEVELS:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(LEVELS)}")
    if split not in ("all", "tune", "report"):
        raise typer.BadParameter("--split is all, tune or report")
    if preset not in (None, "chain", "published"):
        raise typer.BadParameter("--preset is chain or published")
    if scorer not in (None, "default", "hops"):
        raise typer.BadParameter("--scorer is default or hops")
    if episodes and triples:
        raise typer.BadParameter("--episodes and --triples exclude each other")
    labelled = read_folder(folder, corpus, queries, qrels, groups, split)  # type: ignore[arg-type]

    extractions = read_episodes(episodes) if episodes else None
    if triples:
        extractions = read_triples(triples, labelled.documents)

    async def measure(settings: Settings, dsn: str, bar: Progress) -> Result:
        tasks: dict[str, Any] = {}

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=total)
            bar.update(tasks[step], completed=done)

        async with services(settings, dsn) as opened:
            return await opened.evaluation.run(
                labelled,
                list(dict.fromkeys([*level, *([vs] if vs else [])])),
                limit=limit,
                group=[name for name in group.split(",") if name],
                where=where,
                extractions=extractions,
                preset=preset,  # type: ignore[arg-type]
                scorer=scorer,  # type: ignore[arg-type]
                by=by,
                progress=show,
            )

    with quiet_settings(database_url=database) as (settings, dsn), progress_bar() as bar:
        result = loop.run(measure(settings, dsn, bar))
    if vs:
        rows = {
            name: measure_run({q: [d for d, _ in r] for q, r in one.items()}, labelled.gold, labelled.groups)
            for name, one in result.runs.items()
        }
        for name in level:
            result.report["levels"][name]["vs"] = {vs: paired_bootstrap(rows[name], rows[vs])}
    if run:
        for name in result.runs:
            path = run if len(level) == 1 and name == level[0] else run.with_name(f"{run.stem}.{name}{run.suffix}")
            write_run(path, result.runs[name], f"mindcone-{name}")
    text = json.dumps(result.report, ensure_ascii=False, indent=1)
    if report:
        report.write_text(text + "\n", encoding="utf-8")
    print(text)
