"""Several statements in one round trip: parts of one, whose rows come back apart.

Each part keeps its own file, its own `$1` and its own columns. Together they are planned and answered once, of one
snapshot. And statements in two sessions at the same time. Knows no table.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw

T = TypeVar("T")

Columns = tuple[tuple[str, str], ...]

_PLACE = re.compile(r"\$(\d+)")


@dataclass(frozen=True, slots=True)
class Part:
    """A statement, the columns (name, type) that are wanted of it, and its values."""

    statement: str
    columns: Columns
    values: Sequence[Any] = ()


async def fetch_together(session: AsyncSession, *parts: Part) -> list[list[Any]]:
    """The rows of each part, in its own order where it has one. A row has the columns of all parts, those of the others
    empty; columns of the same name must be of the same type.
    """
    statement = _together(tuple((part.statement, part.columns, len(part.values)) for part in parts))
    found: list[list[Any]] = [[] for _ in parts]
    for row in await (await raw(session)).fetch(statement, *(value for part in parts for value in part.values)):
        found[row["part"]].append(row)
    return found


async def fetch_part(session: AsyncSession, part: Part) -> list[Any]:
    """The rows of one part by itself."""
    (rows,) = await fetch_together(session, part)
    return rows


@asynccontextmanager
async def running(work: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """This work, while something else is done in the block; it ends with it."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait((task,))
        if not task.cancelled():
            # Whoever failed first is told of; without this the loop would complain of the other.
            task.exception()


@lru_cache(maxsize=512)
def _together(parts: tuple[tuple[str, Columns, int], ...]) -> str:
    # Padding by hand instead of one record per row: the driver takes five times as long to read records.
    types = {name: kind for _, columns, _ in parts for name, kind in columns}
    written, before = [], 0
    for number, (statement, columns, values) in enumerate(parts):
        own = dict(columns)
        told = "".join(
            f', part."{name}"' if name in own else f', NULL::{kind} AS "{name}"' for name, kind in types.items()
        )
        shifted = _shifted(statement, before)
        written.append(f"SELECT {number} AS part{told}\nFROM (\n{shifted}\n) AS part")
        before += values
    return "\nUNION ALL\n".join(written)


def _shifted(statement: str, by: int) -> str:
    return _PLACE.sub(lambda match: f"${int(match[1]) + by}", statement)
