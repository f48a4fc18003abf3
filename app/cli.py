"""`mindcone …`: the command line. Parses arguments and prints; thinks nothing."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from app import sample, show
from app.chat.answer import Answer, Ask, Token
from app.core import log
from app.core.clock import now
from app.core.errors import MindConeError, NotFound
from app.db.session import Database, asyncpg_dsn
from app.doctor.examine import Report
from app.ingestion.queries import count_states
from app.people import queries as people
from app.people.keys import SCOPES, issue, ordered
from app.retrieval.types import Evidence, Filters, Level, Question
from app.settings import Settings, unknown_variables
from app.transfer.importing import FileReport, Summary
from app.transfer.vault import FORMATS, FormatChoice
from app.wiring import Services, database_url, examiner, open_database, open_services

DEFAULT_SCOPES: Final = ["read", "write", "chat"]
ScopeOption = Annotated[list[str], typer.Option("--scope", help="read, write, chat, admin; several times for several")]
WorkspaceOption = Annotated[
    str | None, typer.Option("--workspace", help="Slug of the workspace; the default one when left out")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, as the API would answer")]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A knowledge backend for card notes.",
)
db = typer.Typer(no_args_is_help=True, help="The schema of the database.")
keys = typer.Typer(no_args_is_help=True, help="API keys.")
app.add_typer(db, name="db")
app.add_typer(keys, name="keys")

out = Console()
err = Console(stderr=True)


def main() -> None:
    """Entry point: expected failures are one line on stderr and exit code 1."""
    try:
        app()
    except MindConeError as error:
        err.print(f"[red]{error.code}[/red]: {error.detail}", highlight=False)
        sys.exit(1)


def load_settings(**overrides: Any) -> Settings:
    """Settings from the environment."""
    settings = Settings(**{name: value for name, value in overrides.items() if value is not None})
    log.configure(settings.log_level, settings.log_format)
    return settings


@app.callback()
def name_unknown_variables() -> None:
    """A knowledge backend for card notes."""
    for name in unknown_variables():
        err.print(f"[yellow]warning[/yellow]: {name} is set, but there is no such setting", highlight=False)


@asynccontextmanager
async def services(settings: Settings, dsn: str) -> AsyncIterator[Services]:
    async with open_services(settings, dsn, role="cli") as opened:
        yield opened


@contextmanager
def quiet_settings(**overrides: Any) -> Iterator[tuple[Settings, str]]:
    """Settings and database for a command that prints its own words: the log only speaks of trouble."""
    settings = load_settings(**overrides)
    log.configure("WARNING", "console")
    with database_url(settings) as dsn:
        yield settings, dsn


# --------------------------------------------------------------------------------------- running


@app.command()
def run(
    host: Annotated[str | None, typer.Option(help="Address to listen on (MINDCONE_HOST)")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on (MINDCONE_PORT)")] = None,
) -> None:
    """Database, API and worker, until Ctrl-C."""
    from app.serve import check_doors, serve

    settings = load_settings(host=host, port=port)
    check_doors(settings)
    with owned(settings), database_url(settings) as dsn:
        asyncio.run(serve(settings, dsn, _welcome))


@app.command()
def worker(parent: Annotated[int | None, typer.Option(hidden=True)] = None) -> None:
    """A worker of its own, beside a running instance."""
    from app.worker import work

    settings = load_settings()
    with database_url(settings) as dsn:
        asyncio.run(work(settings, dsn, parent))


@contextmanager
def owned(settings: Settings) -> Iterator[None]:
    """The data directory for ourselves, where the embedded database lives in it."""
    if settings.database_url:
        yield
        return
    from app.db.embedded import EmbeddedPostgres

    with EmbeddedPostgres(settings.data_dir).own():
        yield


async def _welcome(opened: Services, url: str) -> None:
    """Said once requests are answered; the sample is imported on the first start."""
    command = Path(sys.argv[0]).name if sys.argv[0].endswith("mindcone") else "mindcone"
    err.print(f"\n  MindCone is running at {url}   (documentation: {url}/docs)\n", highlight=False)
    if opened.settings.sample == "on" and await sample.is_wanted(opened):
        summary = await sample.import_sample(opened)
        err.print(f"  Sample vault: {summary.outcomes['created']} notes imported; they become searchable in seconds.\n")
    question = json.dumps({"query": "Which supplier do we buy the Yunnan beans from?"})
    err.print(
        f"  curl -s {url}/api/v1/ask -H 'Content-Type: application/json' \\\n    -d '{question}'\n\n"
        f"  {command} search '林晓雯 烘焙'\n  {command} ask 'What did we change about the roasting temperature?'\n"
        f"  {command} import ~/my-notes\n  {command} doctor\n",
        highlight=False,
        markup=False,
    )


# --------------------------------------------------------------------------------------- database


@db.command("upgrade")
def db_upgrade() -> None:
    """Bring the schema up to date (MINDCONE_MIGRATION_URL, where the app's own role may not)."""
    from app.db import migrate

    with quiet_settings() as (settings, dsn):
        owner = asyncpg_dsn(settings.migration_url) if settings.migration_url else dsn
        found = asyncio.run(migrate.status(owner))
        if not found.known:
            raise migrate.UnknownSchema
        migrate.upgrade(owner)
        out.print(f"{found.current or 'empty'} -> {found.head}" if found.pending else f"{found.head}: nothing to do")


@db.command("status")
def db_status() -> None:
    """Where the schema stands; exit code 1 when it is not at head."""
    from app.db import migrate

    with quiet_settings() as (_, dsn):
        found = asyncio.run(migrate.status(dsn))
    state = "unknown" if not found.known else "pending" if found.pending else "current"
    print(json.dumps({"current": found.current, "head": found.head, "state": state, "pending": list(found.pending)}))
    raise typer.Exit(0 if state == "current" else 1)


@db.command("sql")
def db_sql() -> None:
    """Print the SQL that builds the schema from nothing."""
    from app.db import migrate

    print(migrate.upgrade_sql())


# ------------------------------------------------------------------------------------------ notes


@app.command("import")
def import_notes(
    path: Annotated[Path, typer.Argument(exists=True, help="A folder, a zip, or a file")],
    format: Annotated[str, typer.Option(help="auto, obsidian, logseq, markdown")] = "auto",
    workspace: WorkspaceOption = None,
    wait: Annotated[bool, typer.Option(help="Return when everything is searchable")] = True,
) -> None:
    """Import Markdown, text, HTML, PDF and Word files. Importing again updates what has changed."""
    if format not in FORMATS:
        raise typer.BadParameter("--format is auto, obsidian, logseq or markdown")

    async def work(settings: Settings, dsn: str, bar: Progress) -> tuple[Summary, dict[str, int], list[FileReport]]:
        rejected: list[FileReport] = []
        files = bar.add_task("files", total=None)

        async def done(count: int, total: int) -> None:
            bar.update(files, completed=count, total=total)

        async def keep(_: Any, reports: Sequence[FileReport]) -> None:
            rejected.extend(report for report in reports if report.outcome == "rejected")

        async with services(settings, dsn) as opened:
            workspace_id = await workspace_id_of(opened.database, workspace)
            summary = await opened.importer.import_path(
                workspace_id, path.absolute(), cast(FormatChoice, format), report=keep, progress=done
            )
            states = await learn(opened, workspace_id, bar) if wait else {}
        return summary, states, rejected

    with quiet_settings() as (settings, dsn), _progress() as bar:
        summary, states, rejected = asyncio.run(work(settings, dsn, bar))
    for report in rejected[:50]:
        err.print(f"  {report.path}: {report.code} {report.detail or ''}", highlight=False, markup=False)
    print(json.dumps({"files": dict(summary.outcomes), "codes": dict(summary.codes), "cards": states}))


@app.command()
def search(
    query: str,
    level: Annotated[str, typer.Option(help="auto, chat, search, explore, context, insight")] = "auto",
    limit: Annotated[int, typer.Option(min=1, max=100)] = 5,
    tag: Annotated[list[str], typer.Option(help="Only cards with this tag; several times for several")] = [],  # noqa: B006
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find cards."""
    from app.api.search import search_result

    async def work(settings: Settings, dsn: str) -> Evidence:
        async with services(settings, dsn) as opened:
            return await opened.retriever.retrieve(
                await workspace_id_of(opened.database, workspace),
                Question(query, level_of(level), limit, Filters(tags=tag)),
            )

    with quiet_settings() as (settings, dsn):
        evidence = asyncio.run(work(settings, dsn))
    if as_json:
        print(search_result(evidence).model_dump_json(indent=1))
    else:
        show.evidence(out, evidence)


@app.command()
def ask(
    query: str,
    level: Annotated[str, typer.Option(help="auto, chat, search, explore, context, insight")] = "auto",
    provider: Annotated[str | None, typer.Option(help="offline, openai, deepseek, …")] = None,
    model: Annotated[str | None, typer.Option()] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the notes; the answer comes with its sources."""
    from app.api.answer_shapes import answer_shape

    async def work(settings: Settings, dsn: str) -> Answer | None:
        async with services(settings, dsn) as opened:
            asked = Ask(query, level_of(level), provider=provider, model=model)
            return await answered(opened, await workspace_id_of(opened.database, workspace), asked, quiet=as_json)

    with quiet_settings() as (settings, dsn):
        answer = asyncio.run(work(settings, dsn))
    if answer is None:
        raise typer.Exit(1)
    if as_json:
        print(answer_shape(answer).model_dump_json(indent=1))
    else:
        show.sources(out, answer)


@app.command()
def demo() -> None:
    """Import the sample vault, ask one question per level, print answers with citations and paths, exit."""

    async def work(settings: Settings, dsn: str) -> bool:
        async with services(settings, dsn) as opened, AsyncExitStack() as stack:
            workspace_id = await stack.enter_async_context(sample.throw_away(opened))
            with _progress() as bar:
                await sample.import_sample(opened, workspace_id)
                await learn(opened, workspace_id, bar)
            good = True
            for asked in sample.demo_questions():
                out.rule(f"level {asked.level}: {asked.query}", align="left")
                answer = await answered(opened, workspace_id, Ask(asked.query, level_of(asked.level)), quiet=False)
                show.sources(out, answer) if answer else None
                good = good and answer is not None and (bool(answer.citations) or answer.evidence.level == Level.chat)
            return good

    with quiet_settings() as (settings, dsn):
        good = asyncio.run(work(settings, dsn))
    raise typer.Exit(0 if good else 1)


async def answered(opened: Services, workspace_id: uuid.UUID, asked: Ask, *, quiet: bool) -> Answer | None:
    """The answer, printed as it comes."""
    async with aclosing(opened.answering.stream(workspace_id, asked)) as events:
        async for event in events:
            if isinstance(event, Token) and not quiet:
                out.print(event.text, end="", highlight=False, markup=False, soft_wrap=True)
            if isinstance(event, Answer):
                if not quiet:
                    out.print()
                return event
    return None


async def learn(opened: Services, workspace_id: uuid.UUID, bar: Progress) -> dict[str, int]:
    """Wait until every card is searchable, working on them here where no worker runs. Gives cards by state."""
    from app.worker import work_until_idle

    task = bar.add_task("learning", total=None)
    working = asyncio.create_task(work_until_idle(opened))
    while True:
        async with opened.database.read() as session:
            states = await count_states(session, workspace_id)
        waiting = states.get("queued", 0) + states.get("working", 0)
        bar.update(task, completed=sum(states.values()) - waiting, total=sum(states.values()))
        if not waiting:
            break
        if working.done():
            working.result()
            working = asyncio.create_task(work_until_idle(opened))
        await asyncio.sleep(0.2)
    await working
    return states


async def workspace_id_of(database: Database, slug: str | None) -> uuid.UUID:
    """The workspace of that name, or the default one. Raises NotFound."""
    async with database.unit() as session:
        if slug is None:
            return await people.ensure_default_workspace(session)
        found = await people.find_workspace(session, slug)
    if found is None:
        raise NotFound(f"There is no workspace {slug!r}.")
    return found.id


def level_of(name: str) -> Level | None:
    if name == "auto":
        return None
    try:
        return Level(int(name)) if name.isdecimal() else Level[name]
    except (KeyError, ValueError):
        raise typer.BadParameter(f"{name!r} is not auto, {', '.join(level.name for level in Level)} or 0-4") from None


# --------------------------------------------------------------------------------------- operations


@app.command()
def doctor(
    deep: Annotated[bool, typer.Option(help="Also the invariants that read whole tables")] = False,
    as_json: JsonOption = False,
) -> None:
    """Is everything as it should be? Exit code 1 when not."""

    async def work(settings: Settings, dsn: str) -> Report:
        async with open_database(settings, dsn, "cli") as database:
            return await examiner(database)(deep)

    with quiet_settings() as (settings, dsn):
        report = asyncio.run(work(settings, dsn))
    if as_json:
        print(json.dumps(asdict(report), ensure_ascii=False, indent=1, default=str))
    else:
        show.report(out, report)
    raise typer.Exit(0 if report.ok else 1)


@keys.command("create")
def create_key(
    name: str,
    scope: ScopeOption = DEFAULT_SCOPES,
    workspace: WorkspaceOption = None,
    days: Annotated[int | None, typer.Option(min=1, help="Valid for so many days")] = None,
) -> None:
    """Make an API key; the token is printed once and never again."""
    if unknown := sorted(set(scope) - set(SCOPES)):
        raise typer.BadParameter(f"no such scope: {', '.join(unknown)}")

    async def work(settings: Settings, dsn: str) -> str:
        async with open_database(settings, dsn, "cli") as database:
            issued = issue()
            workspace_id = await workspace_id_of(database, workspace)
            async with database.unit() as session:
                await people.insert_key(
                    session,
                    workspace_id,
                    issued,
                    name=name,
                    scopes=ordered(scope),
                    expires_at=now() + timedelta(days=days) if days else None,
                )
            return issued.token

    with quiet_settings() as (settings, dsn):
        print(asyncio.run(work(settings, dsn)))


@app.command("fake-provider")
def fake_provider(
    port: Annotated[int, typer.Option()] = 8999, host: Annotated[str, typer.Option()] = "127.0.0.1"
) -> None:
    """A model server that misbehaves on demand, for testing clients against it."""
    from app.providers.fake import FakeProvider

    async def work() -> None:
        async with FakeProvider(host, port) as fake:
            err.print(f"{fake.base_url}  (model names such as fault:429 choose the fault)", highlight=False)
            await fake.serve_forever()

    with suppress(KeyboardInterrupt):
        asyncio.run(work())


# ------------------------------------------------------------------------------------ evaluation

LevelChoice = Annotated[
    list[str], typer.Option("--level", help="search, bm25, dense, rrf, …; several times for several")
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
    split: Annotated[str, typer.Option(help="all, or one half of the queries: tune, report")] = "all",
    run: Annotated[Path | None, typer.Option(help="Write a TREC run; with several levels, one file each")] = None,
    report: Annotated[Path | None, typer.Option("--json", help="Write everything measured as JSON")] = None,
    vs: Annotated[str | None, typer.Option(help="Level to compare with, by paired bootstrap")] = None,
    corpus: Annotated[Path | None, typer.Option()] = None,
    queries: Annotated[Path | None, typer.Option()] = None,
    qrels: Annotated[Path | None, typer.Option()] = None,
    groups: Annotated[Path | None, typer.Option("--map", help="TSV: a document counts as its group")] = None,
    database: Annotated[str | None, typer.Option("--database-url")] = None,
) -> None:
    """Measure retrieval on a labelled set: yours, or any BEIR-style folder. Uses a throw-away workspace."""
    from app.evaluation.folder import read_folder
    from app.evaluation.metrics import measure_run, paired_bootstrap
    from app.evaluation.run import LEVELS, Result, write_run

    for name in [*level, *([vs] if vs else [])]:
        if name not in LEVELS:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(LEVELS)}")
    if split not in ("all", "tune", "report"):
        raise typer.BadParameter("--split is all, tune or report")
    labelled = read_folder(folder, corpus, queries, qrels, groups, split)  # type: ignore[arg-type]

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
                progress=show,
            )

    with quiet_settings(database_url=database) as (settings, dsn), _progress() as bar:
        result = asyncio.run(measure(settings, dsn, bar))
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


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=err
    )


if __name__ == "__main__":
    main()
