"""The event loop that every process runs on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's, or asyncio's on Windows, for which there are no wheels of it."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run(work: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, on this loop. Raises what the work raises."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)
