"""Commands about notes: import, search, ask, and the demonstration."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.progress import Progress

from app import sample, show
from app.chat.answer import Answer, Ask, Token
from app.commands.common import (
    JsonOption,
    WorkspaceOption,
    asked,
    err,
    level_of,
    load_settings,
    out,
    progress_bar,
    quiet_settings,
    services,
    workspace_id_of,
)
from app.core import loop
from app.ingestion.queries import count_states
from app.retrieval.types import Evidence, Filters, Level, Question
from app.settings import Settings
from app.transfer.importing import FileReport, Summary
from app.transfer.vault import FORMATS, FormatChoice
from app.wiring import Services

app = typer.Typer()


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

    with quiet_settings() as (settings, dsn), progress_bar() as bar:
        summary, states, rejected = loop.run(work(settings, dsn, bar))
    for report in rejected[:50]:
        err.print(f"  {report.path}: {report.code} {report.detail or ''}", highlight=False, markup=False)
    print(json.dumps({"files": dict(summary.outcomes), "codes": dict(summary.codes), "cards": states}))
    if summary.outcomes["rejected"] and not summary.outcomes.keys() - {"rejected", "skipped"}:
        raise typer.Exit(1)


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
    asked(query, load_settings())
    from app.api.search import search_result

    async def work(settings: Settings, dsn: str) -> Evidence:
        async with services(settings, dsn) as opened:
            return await opened.retriever.retrieve(
                await workspace_id_of(opened.database, workspace),
                Question(query, level_of(level), limit, Filters(tags=tag), wants_hits=True),
            )

    with quiet_settings() as (settings, dsn):
        evidence = loop.run(work(settings, dsn))
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
    asked(query, load_settings())
    from app.api.answer_shapes import answer_shape

    async def work(settings: Settings, dsn: str) -> Answer | None:
        async with services(settings, dsn) as opened:
            wanted = Ask(query, level_of(level), provider=provider, model=model)
            return await answered(opened, await workspace_id_of(opened.database, workspace), wanted, quiet=as_json)

    with quiet_settings() as (settings, dsn):
        answer = loop.run(work(settings, dsn))
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
            with progress_bar() as bar:
                await sample.import_sample(opened, workspace_id)
                await learn(opened, workspace_id, bar)
            good = True
            for shown in sample.demo_questions():
                out.rule(f"level {shown.level}: {shown.query}", align="left")
                answer = await answered(opened, workspace_id, Ask(shown.query, level_of(shown.level)), quiet=False)
                show.sources(out, answer) if answer else None
                good = good and answer is not None and (bool(answer.citations) or answer.evidence.level == Level.chat)
            return good

    with quiet_settings() as (settings, dsn):
        good = loop.run(work(settings, dsn))
    raise typer.Exit(0 if good else 1)


async def answered(opened: Services, workspace_id: uuid.UUID, wanted: Ask, *, quiet: bool) -> Answer | None:
    """The answer, printed as it comes."""
    async with aclosing(opened.asking.stream(workspace_id, wanted)) as events:
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
    # Where no worker runs, nobody else would do it.
    await opened.communities.enqueue_due(quiet_seconds=0)
    await work_until_idle(opened)
    return states
