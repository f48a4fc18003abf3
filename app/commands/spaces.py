"""`mindcone reembed`: move all vectors to another embedder while search goes on."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Final

import typer
from rich.progress import Progress

from app.commands.common import JsonOption, err, out, progress_bar, quiet_settings, services
from app.core import loop
from app.ingestion.reembed import Status
from app.settings import Settings
from app.wiring import Services

_LOOK_SECONDS: Final = 1.0

app = typer.Typer()


@app.command()
def reembed(
    to: Annotated[
        str | None, typer.Option(help="Key of a configured embedding space; MINDCONE_EMBEDDER_NEXT's when left out")
    ] = None,
    status: Annotated[bool, typer.Option("--status", help="Only say how far it is")] = False,
    abandon: Annotated[bool, typer.Option("--abandon", help="Stop, and forget what was filled in")] = False,
    wait: Annotated[bool, typer.Option(help="Return when search reads the new space")] = True,
    as_json: JsonOption = False,
) -> None:
    """Move all vectors to the embedder of MINDCONE_EMBEDDER_NEXT; search reads the present ones until all are there.

    Set MINDCONE_EMBEDDER_NEXT (and _MODEL, _DIMENSION, _BASE_URL …) for every process beside the present embedder and
    restart them, run this, and when it is done make the next embedder the only one. Asked again, it goes on.
    """
    if status and abandon:
        raise typer.BadParameter("either --status or --abandon")

    async def work(settings: Settings, dsn: str) -> Status:
        async with services(settings, dsn) as opened:
            if abandon:
                await opened.reembedding.abandon()
            elif not status:
                await opened.reembedding.begin(to)
                if wait:
                    with progress_bar() as bar:
                        await _follow(opened, bar)
            return await opened.reembedding.status(counted=True)

    with quiet_settings() as (settings, dsn):
        found = loop.run(work(settings, dsn))
    if as_json:
        print(json.dumps(asdict(found), ensure_ascii=False, default=str))
    else:
        _show(found)
    if found.progress is not None and found.progress.stuck:
        raise typer.Exit(1)


async def _follow(opened: Services, bar: Progress) -> None:
    """Until nothing is being filled, or a job has given up; works on it here where no worker runs."""
    from app.worker import advance_space, work_until_idle

    task = bar.add_task("filling", total=None)
    working = asyncio.create_task(work_until_idle(opened))
    while True:
        started = time.monotonic()
        found = await opened.reembedding.status(counted=True)
        if found.progress is None or found.progress.stuck:
            break
        bar.update(task, completed=found.progress.done, total=found.progress.total)
        # Counting reads whole tables: no more than a tenth of the time is spent on it.
        await asyncio.wait({working}, timeout=max(_LOOK_SECONDS, 10 * (time.monotonic() - started)))
        if working.done():
            working.result()
            await advance_space(opened)
            working = asyncio.create_task(work_until_idle(opened))
    await working


def _show(found: Status) -> None:
    for space in found.spaces:
        counts: Mapping[str, Any] = space.vectors or {}
        since = f" since {space.since:%Y-%m-%d %H:%M}" if space.since else ""
        out.print(f"{space.key}: {space.part}{since}, {sum(counts.values())} vectors", highlight=False)
    if found.progress is not None:
        out.print(f"{found.progress.done} of {found.progress.total} texts are there", highlight=False)
        for stuck in found.progress.stuck:
            err.print(f"[red]{stuck.code}[/red] in workspace {stuck.workspace_id}: {stuck.detail}", highlight=False)
        if found.progress.stuck:
            err.print("Once that is put right, run `mindcone reembed` again; it goes on where it stopped.")
