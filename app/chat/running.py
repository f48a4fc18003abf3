"""Answers in the making: each runs in a task of its own, whoever listens.

A client that goes away does not end a turn: it can come back to it by id, and misses nothing. Only when
nobody has listened for a while is it interrupted. A stop ends it at once.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Event = TypeVar("Event")


@dataclass(slots=True)
class Run(Generic[Event]):
    """The events of one turn so far. `done` once the last one is there."""

    events: list[Event] = field(default_factory=list)
    done: bool = False
    listeners: int = 0
    stop_reason: str | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _alone_since: float = 0.0

    def say(self, event: Event) -> None:
        self.events.append(event)
        self._wake()

    def end(self) -> None:
        self.done = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def follow(self, after: int = 0) -> AsyncIterator[tuple[int, Event]]:
        """Every event from number `after` on (numbers start at 1), those of the past included, then the end."""
        self.listeners += 1
        try:
            while True:
                while after < len(self.events):
                    after += 1
                    yield after, self.events[after - 1]
                if self.done:
                    return
                await self._changed.wait()
        finally:
            self.listeners -= 1
            self._alone_since = asyncio.get_running_loop().time()

    def alone_seconds(self) -> float:
        """For how long nobody has been listening."""
        return 0.0 if self.listeners else asyncio.get_running_loop().time() - self._alone_since


class Runs(Generic[Event]):
    """The turns that run in this process, by message id."""

    def __init__(self, keep_seconds: float = 60.0) -> None:
        self._keep_seconds = keep_seconds
        self._runs: dict[uuid.UUID, tuple[Run[Event], asyncio.Task[None]]] = {}
        self._closing = False

    def start(self, message_id: uuid.UUID, work: Callable[[Run[Event]], Awaitable[None]]) -> Run[Event]:
        """Run `work` in the background; it says events and handles its own cancellation."""
        run: Run[Event] = Run()
        run._alone_since = asyncio.get_running_loop().time()
        task = asyncio.create_task(self._work(message_id, run, work), name=f"turn-{message_id}")
        self._runs[message_id] = (run, task)
        return run

    def find(self, message_id: uuid.UUID) -> Run[Event] | None:
        found = self._runs.get(message_id)
        return found[0] if found else None

    def stop(self, message_id: uuid.UUID, reason: str) -> bool:
        """End a turn of this process; says whether there was one to end."""
        found = self._runs.get(message_id)
        if found is None or found[0].done:
            return False
        run, task = found
        run.stop_reason = run.stop_reason or reason
        task.cancel()
        return True

    async def close(self) -> None:
        """Interrupt everything that runs and wait until it has stored what it has."""
        self._closing = True
        tasks = [task for _, task in self._runs.values() if not task.done()]
        for message_id in list(self._runs):
            self.stop(message_id, "shutting_down")
        if tasks:
            await asyncio.wait(tasks, timeout=10.0)

    async def _work(
        self, message_id: uuid.UUID, run: Run[Event], work: Callable[[Run[Event]], Awaitable[None]]
    ) -> None:
        try:
            await work(run)
        finally:
            run.end()
            # Late listeners still find the end of it for a while; afterwards the database tells it.
            asyncio.get_running_loop().call_later(self._keep_seconds, self._runs.pop, message_id, None)
