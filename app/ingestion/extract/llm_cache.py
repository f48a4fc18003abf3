"""What models said is paid for once: the port of the store, what is stored, and calls that are under way.

Knows nothing of where it is stored.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Protocol, TypeVar

from app.core.errors import MindConeError
from app.ingestion.extract.llm_shapes import Answer, as_json, validate

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CacheKey:
    """`content_hash` is hex SHA-256 of what the model was shown of the card; `model` is provider/model."""

    content_hash: str
    prompt_version: str
    model: str


class ExtractionCache(Protocol):
    """Values are JSON texts, valid Unicode without NUL. The last writer wins."""

    async def get(self, key: CacheKey) -> str | None: ...

    async def put(self, key: CacheKey, value: str) -> None: ...

    def claim(self, key: CacheKey) -> AbstractAsyncContextManager[bool]:
        """Whether this is ours to ask a model about, as long as the context lasts: nobody else does meanwhile, in
        whatever process. Who died does not keep it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Stored:
    """What is known of a passage: its answer so far, or where it is to be cut because its answer is too long.

    `passes` counts gleanings; `dry`: the last one brought nothing.
    """

    answer: Answer = field(default_factory=Answer)
    passes: int = 0
    dry: bool = False
    split_at: int | None = None


_FORM: Final = 1


def dump(stored: Stored) -> str:
    if stored.split_at is not None:
        return json.dumps({"form": _FORM, "split_at": stored.split_at})
    said = {
        "form": _FORM,
        "passes": stored.passes,
        "dry": stored.dry,
        "dropped": dict(stored.answer.dropped),
        "answer": as_json(stored.answer),
    }
    return json.dumps(said, ensure_ascii=False)


def load(value: str | None) -> Stored | None:
    """What `dump` wrote; None for anything else, which is as good as not stored."""
    try:
        said: Any = json.loads(value or "null")
        if not isinstance(said, dict) or said.get("form") != _FORM:
            return None
        if "split_at" in said:
            return Stored(split_at=int(said["split_at"]))
        answer = replace(validate(said["answer"]), dropped=Counter(said["dropped"]))
        return Stored(answer, int(said["passes"]), bool(said["dry"]))
    except (ValueError, KeyError, TypeError, MindConeError):
        return None


class InFlight(Generic[T]):
    """Callers that want the same thing at the same time share one run of it. It is cancelled with its last caller."""

    def __init__(self) -> None:
        self._runs: dict[CacheKey, tuple[asyncio.Task[T], list[int]]] = {}

    async def run(self, key: CacheKey, make: Callable[[], Awaitable[T]]) -> T:
        if key not in self._runs:
            task = asyncio.ensure_future(_awaited(make))
            self._runs[key] = (task, [0])
            task.add_done_callback(lambda done: self._forget(key, done))
        task, waiting = self._runs[key]
        waiting[0] += 1
        try:
            return await asyncio.shield(task)
        finally:
            waiting[0] -= 1
            if not waiting[0] and not task.done():
                self._forget(key, task)
                task.cancel()

    def _forget(self, key: CacheKey, task: asyncio.Task[T]) -> None:
        if key in self._runs and self._runs[key][0] is task:
            del self._runs[key]
        if task.done() and not task.cancelled():
            task.exception()  # told to those who wait; nobody may be left


async def _awaited(make: Callable[[], Awaitable[T]]) -> T:
    return await make()
