"""Commands that run the product."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from app import sample
from app.commands.common import err, load_settings
from app.core import loop
from app.settings import Settings
from app.wiring import Services, database_url

app = typer.Typer()


@app.command()
def run(
    host: Annotated[str | None, typer.Option(help="Address to listen on (MINDCONE_HOST)")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on (MINDCONE_PORT)")] = None,
) -> None:
    """Database, API and worker, until Ctrl-C."""
    from app.serve import check_doors, listening, serve

    settings = load_settings(host=host, port=port)
    check_doors(settings)
    with listening(settings) as socket, owned(settings), database_url(settings) as dsn:
        loop.run(serve(settings, dsn, socket, _welcome))


@app.command()
def worker(parent: Annotated[int | None, typer.Option(hidden=True)] = None) -> None:
    """A worker of its own, beside a running instance."""
    from app.worker import work

    settings = load_settings()
    with database_url(settings) as dsn:
        loop.run(work(settings, dsn, parent))


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
    """Said once requests are answered; the sample is imported, and learned, on the first start."""
    say(f"\n  MindCone is running at {url}   (documentation: {url}/docs)\n")
    if opened.settings.sample == "on" and await sample.is_wanted(opened):
        summary = await sample.import_sample(opened)
        say(f"  Sample vault: {summary.outcomes['created']} notes imported; learning them takes some seconds …")
        await sample.learned(opened)
        say("  … done.\n")
    command = _command()
    if opened.settings.auth_required:
        say(f"  Requests need an API key: {command} keys create NAME\n")
    question = json.dumps({"query": "Why did the first restore of the backup fail?"})
    key = " -H 'Authorization: Bearer mc_…'" if opened.settings.auth_required else ""
    say(
        f"  curl -s {url}/api/v1/ask{key} -H 'Content-Type: application/json' \\\n    -d '{question}'\n\n"
        f"  {command} search '林晓雯 烘焙'\n  {command} ask '现在启明合作社的水洗豆多少钱一公斤？'\n"
        f"  {command} import ~/my-notes\n  {command} doctor\n"
    )


def say(text: str) -> None:
    """A line as it is: never wrapped, never coloured."""
    err.print(text, highlight=False, markup=False, soft_wrap=True)


def _command() -> str:
    """How the reader can call this program from where they are."""
    called = Path(sys.argv[0])
    if called.name != "mindcone":
        return "mindcone"
    return str(called.relative_to(Path.cwd())) if called.is_relative_to(Path.cwd()) else str(called)
