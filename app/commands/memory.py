"""`mindcone memory …`: what the assistant remembers, one memory, and what would fade."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Annotated, Any

import typer
from rich.table import Table

from app.commands.common import JsonOption, WorkspaceOption, out, quiet_settings, workspace_id_of
from app.core import loop
from app.core.clock import now
from app.memory import queries
from app.memory.decay import Mode, due_within, fading
from app.memory.recall import age_of
from app.memory.tables import Memory
from app.text.normalise import fold
from app.wiring import open_database

app = typer.Typer()


@app.command("list")
def list_memories(
    status: Annotated[str | None, typer.Option(help="active, archived or proposed; all when left out")] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """What is remembered, the newest first."""
    if status not in (None, "active", "archived", "proposed"):
        raise typer.BadParameter("--status is active, archived or proposed")
    found, mode = _read(workspace, lambda session, place: queries.list_memories(session, place, status))
    _show(found, mode, as_json=as_json)


@app.command()
def show(slug: str, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """One memory as it is."""
    found, mode = _read(workspace, lambda session, place: queries.get_memory(session, place, fold(slug)))
    if as_json:
        print(json.dumps(_told(found, mode), ensure_ascii=False))
        return
    _show([found], mode, as_json=False)
    out.print(f"\n{found.body}", markup=False, highlight=False)


@app.command()
def decay(
    days: Annotated[float, typer.Option(min=0, max=36_500, help="How far ahead")] = 60,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """What would be archived in so many days if nothing was used until then."""
    known, mode = _read(workspace, lambda session, place: queries.list_memories(session, place, queries.ACTIVE))
    memories = [one for one in known if not one.pinned]
    due = due_within([age_of(one) for one in memories], now(), days, mode)
    _show([memories[place] for place in due], mode, as_json=as_json, ahead=days)


def _read(workspace: str | None, ask: Callable[[Any, Any], Coroutine[Any, Any, Any]]) -> tuple[Any, Mode]:
    with quiet_settings() as (settings, dsn):

        async def work() -> Any:
            async with open_database(settings, dsn, "cli") as database:
                place = await workspace_id_of(database, workspace)
                async with database.read() as session:
                    return await ask(session, place)

        return loop.run(work()), settings.decay_mode


def _told(memory: Memory, mode: Mode, ahead: float = 0) -> dict[str, Any]:
    faded = fading(age_of(memory), now() + timedelta(days=ahead), mode)
    return {
        "slug": memory.slug,
        "title": memory.title,
        "body": memory.body,
        "type": memory.type,
        "importance": memory.importance,
        "decayed": faded.decayed,
        "decayed_half_life": faded.decayed_half_life,
        "status": memory.status,
        "pinned": memory.pinned,
        "version": memory.version,
        "due_at": faded.due_at.isoformat(),
    }


def _show(memories: Sequence[Memory], mode: Mode, *, as_json: bool, ahead: float = 0) -> None:
    told = [_told(one, mode, ahead) for one in memories]
    if as_json:
        print(json.dumps({"items": told}, ensure_ascii=False))
        return
    table = Table(box=None)
    for name in ("slug", "title", "type", "status", "importance", "decayed", "due"):
        table.add_column(name)
    for one in told:
        decayed = one["decayed" if mode == "efold" else "decayed_half_life"]
        table.add_row(
            one["slug"],
            one["title"],
            one["type"],
            one["status"] + (" (pinned)" if one["pinned"] else ""),
            f"{one['importance']:.2f}",
            f"{decayed:.3f}",
            "" if one["pinned"] or one["status"] != "active" else one["due_at"][:10],
        )
    out.print(table)
