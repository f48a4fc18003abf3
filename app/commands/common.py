"""What the commands share: settings and database, options, progress bars."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from app.core import log
from app.core.errors import ConfigurationError, NotFound
from app.db.session import Database
from app.people import queries as people
from app.retrieval.types import Level
from app.settings import PREFIX, Settings
from app.text.normalise import has_forbidden
from app.wiring import Services, database_url, open_services

WorkspaceOption = Annotated[
    str | None, typer.Option("--workspace", help="Slug of the workspace; the default one when left out")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, as the API would answer")]

out = Console()
err = Console(stderr=True)


def load_settings(**overrides: Any) -> Settings:
    """Settings from the environment. Raises ConfigurationError, naming the variable."""
    try:
        settings = Settings(**{name: value for name, value in overrides.items() if value is not None})
    except ValidationError as error:
        told = [f"{PREFIX}{'_'.join(map(str, one['loc'])).upper()}: {one['msg']}" for one in error.errors()]
        raise ConfigurationError("; ".join(told)) from error
    log.configure(settings.log_level, settings.log_format)
    return settings


@contextmanager
def quiet_settings(**overrides: Any) -> Iterator[tuple[Settings, str]]:
    """Settings and database for a command that prints its own words: the log only speaks of trouble."""
    settings = load_settings(**overrides)
    log.configure("WARNING", "console")
    with database_url(settings) as dsn:
        yield settings, dsn


@asynccontextmanager
async def services(settings: Settings, dsn: str) -> AsyncIterator[Services]:
    async with open_services(settings, dsn, role="cli") as opened:
        yield opened


def asked(query: str, settings: Settings) -> str:
    """What was typed, if it is a question; the API's limits hold here, too."""
    if not query.strip():
        raise typer.BadParameter("the question is blank")
    if has_forbidden(query):
        raise typer.BadParameter("the question is not UTF-8 text")
    if len(query.encode()) > settings.query_max_bytes:
        raise typer.BadParameter(f"a question may hold {settings.query_max_bytes} bytes")
    return query


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


def progress_bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=err
    )
