"""Commands that run the product."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from app import sample
from app.commands.common import err, load_settings
from app.settings import Settings
from app.wiring import Services, database_url

app = typer.Typer()


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
