"""Reading a question: at once where it is short, in a thread where it would hold up others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

LONG_QUERY: Final = 400
"""Characters."""

Read = TypeVar("Read")


async def aside(query: str, read: Callable[[], Read]) -> Read:
    """What `read` makes of the question."""
    return await asyncio.to_thread(read) if len(query) > LONG_QUERY else read()
