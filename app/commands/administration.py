"""Commands for whoever looks after an installation."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Final

import typer

from app import show
from app.commands.common import JsonOption, WorkspaceOption, err, out, quiet_settings, workspace_id_of
from app.core import loop
from app.core.clock import now
from app.doctor.examine import Report
from app.people import queries as people
from app.people.keys import SCOPES, issue, ordered
from app.settings import Settings
from app.wiring import examiner, open_database, rotate_vault

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
        report = loop.run(work(settings, dsn))
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
        token = loop.run(work(settings, dsn))
    err.print(f"Scopes {', '.join(ordered(scope))}. This is shown once:", highlight=False)
    print(token)


@keys.command("rotate-vault")
def rotate_vault_key() -> None:
    """Seal the stored keys of AI providers with a new master key.

    Where the master key is in the data directory a fresh one is made. Where it is a setting, set MINDCONE_VAULT_KEY to
    the new one and MINDCONE_VAULT_KEYS_OLD to the one before, restart all processes, run this, and remove the old one.
    """

    async def work(settings: Settings, dsn: str) -> int:
        async with open_database(settings, dsn, "cli") as database:
            return await rotate_vault(settings, database)

    with quiet_settings() as (settings, dsn):
        count = loop.run(work(settings, dsn))
    err.print(f"{count} stored keys are sealed with the new master key.", highlight=False)


@app.command("fake-provider")
def fake_provider(
    port: Annotated[int, typer.Option(help="0: any that is free")] = 8999,
    host: Annotated[str, typer.Option()] = "127.0.0.1",
    answer: Annotated[str | None, typer.Option(help="what it says; without, it repeats the question")] = None,
    api_key: Annotated[str | None, typer.Option(help="refuse every other key with 401")] = None,
    fault: Annotated[
        list[str] | None, typer.Option(help="a script: one fault per request, in order; `ok` is none; may be repeated")
    ] = None,
    list_faults: Annotated[bool, typer.Option("--list", help="tell what each fault does, and stop")] = False,
) -> None:
    """A model server that misbehaves on demand, for testing clients and set-ups against it.

    It speaks OpenAI chat completions (/v1/chat/completions), Anthropic messages (/v1/messages) and Gemini
    (/v1beta/models/MODEL:streamGenerateContent), and refuses what the real ones would refuse.

    A request asks for a fault by its model, `fault:NAME[,key=value…]`, by the header `x-fault: NAME[,…]` or by
    `?fault=NAME[,…]`; with `times=N` only the first N such requests fail. Or --fault plans them ahead.

    \b
    HTTP     any status 300-599 (429,retry-after=3 · 503,retry-after-ms=50)
             redirect · html · empty · json
    time     slow · slow-body · stall (seconds=, after=) · drip (every=)
    cuts     cut · reset · error (after=, code=) · no-end · no-reason · no-done
    bytes    bad-utf8 · split · crlf · cr · no-space · multi-line · comments
             long-line (bytes=) · not-json · nul · controls
    answers  null-content · nulls · no-usage · length · content-filter
             blocked · thoughts
    tools    tool · tools · bad-tool · cut-tool

    GET /v1/models lists them as models, GET /requests tells what was asked and how each reply ended.
    """
    from app.providers.fake import FakeProvider, echo
    from app.providers.fake_script import FAULTS

    if list_faults:
        for name, what in FAULTS.items():
            print(f"{name:15} {what}")
        return

    async def work() -> None:
        say = echo if answer is None else lambda _: answer
        async with FakeProvider(host, port, answer=say, api_key=api_key, faults=fault or ()) as fake:
            err.print(f"{fake.base_url}  (model names such as fault:429 choose the fault)", highlight=False)
            await fake.serve_forever()

    try:
        with suppress(KeyboardInterrupt):
            loop.run(work())
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
