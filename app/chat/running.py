"""Work that goes on whoever listens: the turns that run in this process.

A listener can leave and come back, and misses nothing. Knows nothing of what the work is.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from app.core.errors import MindConeError, ShuttingDown
from app.core.log import get

log = get(__name__)

Event = TypeVar("Event")
Result = TypeVar("Result")

KEEP_SECONDS = 60.0
CLOSE_SECONDS = 10.0


@dataclass(slots=True, eq=False)
class Run(Generic[Event]):
    """The events of one piece of work so far. `is_done` once the last one is there."""

    events: list[Event] = field(default_factory=list)
    is_done: bool = False
    stopped_by: MindConeError | None = None
    _listeners: int = 0
    _alone_since: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, event: Event) -> None:
        self.events.append(event)
        self._wake()

    def end(self) -> None:
        self.is_done = True
        self._wake()

    async def follow(self) -> AsyncGenerator[Event]:
        """Every event, those of the past included, until the last one. Who stops listening early closes it."""
        heard = 0
        self._listeners += 1
        try:
            while True:
                while heard < len(self.events):
                    heard += 1
                    yield self.events[heard - 1]
                if self.is_done:
                    return
                await self._news.wait()
        finally:
            self._listeners -= 1
            self._alone_since = asyncio.get_running_loop().time()

    @property
    def alone_seconds(self) -> float:
        """For how long nobody has been listening here."""
        return 0.0 if self._listeners else asyncio.get_running_loop().time() - self._alone_since

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class Work(Protocol[Event, Result]):
    """What a run does. Only `speak` can be stopped, by cancelling it."""

    async def speak(self, run: Run[Event]) -> Result:
        """Say events as they come, and give the result without saying it."""
        ...

    async def beat(self, run: Run[Event]) -> None:
        """Called every so often while `speak` is at work."""
        ...

    async def settle(self, run: Run[Event], outcome: Result | BaseException) -> Event:
        """Store what came of `speak`: its result, its failure, or what it was stopped by. Gives the last event."""
        ...


class Runs(Generic[Event]):
    """The runs of this process, by id. Ended ones can be followed for a while longer."""

    def __init__(self, beat_seconds: float) -> None:
        self._beat_seconds = beat_seconds
        self._runs: dict[uuid.UUID, Run[Event]] = {}
        self._speaking: dict[uuid.UUID, asyncio.Task[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closing = False

    def check_open(self) -> None:
        """Raises ShuttingDown."""
        if self._is_closing:
            raise ShuttingDown

    def start(self, key: uuid.UUID, work: Work[Event, Result]) -> Run[Event]:
        """Do the work in the background."""
        run: Run[Event] = Run()
        speaking = asyncio.create_task(work.speak(run), name=f"turn-{key}")
        self._runs[key], self._speaking[key] = run, speaking
        task = asyncio.create_task(self._accompany(key, run, work, speaking))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self._is_closing:
            self.stop(key, ShuttingDown())
        return run

    def find(self, key: uuid.UUID) -> Run[Event] | None:
        return self._runs.get(key)

    def stop(self, key: uuid.UUID, why: MindConeError) -> None:
        """End a run that still speaks; the first reason counts."""
        speaking, run = self._speaking.get(key), self._runs.get(key)
        if speaking is not None and run is not None and not speaking.done() and run.stopped_by is None:
            run.stopped_by = why
            speaking.cancel()

    async def close(self) -> None:
        """Stop everything that speaks, and wait until what was said is stored."""
        self._is_closing = True
        for key in list(self._speaking):
            self.stop(key, ShuttingDown())
        if self._tasks:
            _, late = await asyncio.wait(set(self._tasks), timeout=CLOSE_SECONDS)
            if late:
                log.error("turns_left_behind", count=len(late))

    async def _accompany(
        self, key: uuid.UUID, run: Run[Event], work: Work[Event, Result], speaking: asyncio.Task[Result]
    ) -> None:
        try:
            while not (await asyncio.wait({speaking}, timeout=self._beat_seconds))[0]:
                await work.beat(run)
            run.say(await work.settle(run, _outcome(speaking, run.stopped_by)))
        except Exception as error:
            log.error("turn_broken", kind=type(error).__name__, exc_info=error)
        finally:
            speaking.cancel()
            del self._speaking[key]
            run.end()
            asyncio.get_running_loop().call_later(KEEP_SECONDS, self._runs.pop, key, None)


def _outcome(speaking: asyncio.Task[Result], stopped_by: MindConeError | None) -> Result | BaseException:
    if speaking.cancelled():
        return stopped_by or ShuttingDown()
    error = speaking.exception()
    if error is None:
        return speaking.result()
    # What is stopped in the middle of something may also fail of it.
    return stopped_by or error
