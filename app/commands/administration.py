"""Commands for whoever looks after an installation."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Final

import typer

from app import show
from app.commands.common import JsonOption, WorkspaceOption, err, out, quiet_settings, workspace_id_of
from app.core.clock import now
from app.doctor.examine import Report
from app.people import queries as people
from app.people.keys import SCOPES, issue, ordered
from app.settings import Settings
from app.wiring import examiner, open_database

DEFAULT_SCOPES: Final = ["read", "write", "chat"]
ScopeOption = Annotated[list[str], typer.Option("--scope", help="read, write, chat, admin; several times for several")]


app = typer.Typer()
keys = typer.Typer(no_args_is_help=True, help="API keys.")
app.add_typer(keys, name="keys")


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
        token = asyncio.run(work(settings, dsn))
    err.print(f"Scopes {', '.join(ordered(scope))}. This is shown once:", highlight=False)
    print(token)


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
