"""`mindcone …`: the command line, put together from `commands/`."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from app.commands import administration, communities, database, measuring, memory, notes, routing, running, spaces
from app.commands.common import err
from app.core.errors import MindConeError
from app.settings import unknown_variables

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
for part in (running, notes, routing, measuring, administration, spaces):
    app.add_typer(part.app)
app.add_typer(database.app, name="db", no_args_is_help=True, help="The schema of the database.")
app.add_typer(communities.app, name="communities", no_args_is_help=True, help="What the notes divide into.")
app.add_typer(memory.app, name="memory", no_args_is_help=True, help="What the assistant remembers.")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mindcone {version('mindcone')}")
        raise typer.Exit


@app.callback()
def name_unknown_variables(
    shown: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it and exit")
    ] = False,
) -> None:
    """A knowledge backend for card notes."""
    for name in unknown_variables():
        err.print(f"[yellow]warning[/yellow]: {name} is set, but there is no such setting", highlight=False)


def main() -> None:
    """Entry point: expected failures are one line on stderr and exit code 1."""
    try:
        app()
    except MindConeError as error:
        err.print(f"[red]{error.code}[/red]: {error.detail}", highlight=False)
        sys.exit(1)


if __name__ == "__main__":
    main()
