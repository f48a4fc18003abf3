"""`mindcone communities …`: what the notes divide into, one of them with its report, and dividing them anew."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from app.commands.common import JsonOption, WorkspaceOption, out, quiet_settings, services, workspace_id_of
from app.core import loop
from app.graph import community_pages as pages
from app.graph.community_pages import Listed
from app.graph.community_queries import find_report
from app.settings import Settings
from app.wiring import open_database

_MEMBERS: Final = 20

app = typer.Typer()


@app.command("list")
def list_communities(
    level: Annotated[int | None, typer.Option(min=0, max=100, help="0: the coarsest; all when left out")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 50,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """The coarsest level first, the largest first."""

    async def work(settings: Settings, dsn: str) -> Sequence[Listed]:
        async with open_database(settings, dsn, "cli") as database:
            place = await workspace_id_of(database, workspace)
            async with database.read() as session:
                return await pages.list_page(session, place, level, None, limit)

    with quiet_settings() as (settings, dsn):
        found = loop.run(work(settings, dsn))
    if as_json:
        print(json.dumps({"items": [_told(one) for one in found]}, ensure_ascii=False))
        return
    table = Table(box=None)
    for name in ("level", "size", "rating", "stale", "title", "id"):
        table.add_column(name, overflow="fold")
    for one in found:
        rating = "" if one.rating is None else f"{one.rating:.1f}"
        stale = "stale" if one.is_stale else ""
        table.add_row(str(one.level), str(one.size), rating, stale, one.title or "", str(one.id))
    out.print(table)


@app.command()
def show(community_id: uuid.UUID, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """One community: its report, its parts, its members with most statements."""

    async def work(settings: Settings, dsn: str) -> dict[str, Any]:
        async with open_database(settings, dsn, "cli") as database:
            place = await workspace_id_of(database, workspace)
            async with database.read() as session:
                found = await pages.get_one(session, place, community_id)
                report = await find_report(session, place, community_id)
                members = await pages.list_members(session, place, community_id, _MEMBERS)
                children = await pages.list_children(session, place, community_id)
        return {
            **_told(found),
            "findings": [one["text"] for one in report["findings"]] if report else [],
            "members": [{"id": str(one["id"]), "name": one["name"], "degree": one["degree"]} for one in members],
            "children": [_told(one) for one in children],
        }

    with quiet_settings() as (settings, dsn):
        told = loop.run(work(settings, dsn))
    if as_json:
        print(json.dumps(told, ensure_ascii=False))
        return
    lines = [
        f"{told['title'] or '(no report yet)'}: level {told['level']}, {told['size']} names",
        told["summary"] or "",
    ]
    lines += [f"- {one}" for one in told["findings"]]
    lines += ["members: " + ", ".join(one["name"] for one in told["members"])]
    lines += [f"part: {one['title']} ({one['size']}) {one['id']}" for one in told["children"]]
    out.print("\n".join(filter(None, lines)), markup=False, highlight=False, soft_wrap=True)


@app.command()
def rebuild(
    full: Annotated[bool, typer.Option(help="Everything anew, not only what has changed")] = True,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Divide the notes into communities, and report on those that are new."""

    async def work(settings: Settings, dsn: str) -> dict[str, Any]:
        async with services(settings, dsn) as opened:
            place = await workspace_id_of(opened.database, workspace)
            made = await opened.communities.rebuild(place, is_full=full)
        return {"communities": made.communities, "reports": made.reports, "modularity": round(made.modularity, 4)}

    with quiet_settings() as (settings, dsn):
        told = loop.run(work(settings, dsn))
    if as_json:
        print(json.dumps(told))
        return
    out.print(
        f"{told['communities']} communities, {told['reports']} reports written, modularity {told['modularity']}",
        highlight=False,
    )


def _told(one: Listed) -> dict[str, Any]:
    return {
        "id": str(one.id),
        "level": one.level,
        "parent_id": None if one.parent_id is None else str(one.parent_id),
        "size": one.size,
        "weight": one.weight,
        "title": one.title,
        "summary": one.summary,
        "rating": one.rating,
        "stale": one.is_stale,
        "created_at": one.created_at.isoformat(),
    }
