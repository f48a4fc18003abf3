"""Things that are to be done every so often by exactly one of all workers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.core.errors import Unavailable
from app.core.log import get
from app.db.locks import lock_key
from app.jobs import queries
from app.jobs.line import Line

log = get(__name__)

_LONGEST_LOOK_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Periodic:
    """`action` is called in one worker, at most once in `every_seconds`, also over restarts, and not
    while it is still going on in another.
    """

    name: str
    every_seconds: float
    action: Callable[[], Awaitable[None]]


async def keep_time(line: Line, periodic: Periodic) -> None:
    """Do `periodic` whenever it is due, until cancelled. An action that fails is logged and due again later."""
    key = lock_key("periodic", periodic.name)
    while True:
        try:
            if await queries.occupy(line, key):
                try:
                    if await queries.take_turn(line, periodic.name, periodic.every_seconds):
                        await periodic.action()
                finally:
                    await queries.vacate(line, key)
        except Unavailable as error:
            log.warning("periodic_postponed", periodic=periodic.name, code=error.code)
        except Exception:
            log.exception("periodic_failed", periodic=periodic.name)
        await asyncio.sleep(min(periodic.every_seconds / 2, _LONGEST_LOOK_SECONDS))
