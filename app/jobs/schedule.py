"""Things that are to be done every so often by exactly one of all workers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.core.log import get
from app.jobs import queries
from app.jobs.line import Line

log = get(__name__)

_LONGEST_LOOK_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Periodic:
    """`action` is called in one worker, at most once in `every_seconds`, also over restarts.

    It is for short things; long ones it puts into the queue.
    """

    name: str
    every_seconds: float
    action: Callable[[], Awaitable[None]]


async def keep_time(line: Line, periodic: Periodic) -> None:
    """Do `periodic` whenever it is due, until cancelled. An action that fails is logged and due again later."""
    while True:
        try:
            if await queries.take_turn(line, periodic.name, periodic.every_seconds):
                await periodic.action()
        except Exception:
            log.exception("periodic_failed", periodic=periodic.name)
        await asyncio.sleep(min(periodic.every_seconds / 2, _LONGEST_LOOK_SECONDS))
