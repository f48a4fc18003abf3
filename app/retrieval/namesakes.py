"""Which entities of a workspace the walk takes for one: those that were merged, and twins (one name, two kinds).

They are few. In this process they are a table that is kept and follows what is written, so that nobody looks up the
name of each entity that a walk comes by.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy.ext.asyncio import AsyncSession

from app.retrieval import explore_queries

Keys = npt.NDArray[np.uint64]

# Ids as they are packed, in two halves.
ID = (">u8", (2,))
# 2^64 divided by the golden ratio: ids that differ in one half only never get the same key.
_SPREAD = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1

_MOST_WORKSPACES = 64
# Whatever the log of decisions did not tell is found out after so long.
_READ_ANEW_SECONDS = 600.0


def keys_of(ids: npt.NDArray[Any]) -> Keys:
    """One number per id; `ids` are pairs of halves."""
    halves = ids.astype(np.uint64)
    keys: Keys = halves[:, 0] * np.uint64(_SPREAD) + halves[:, 1]
    return keys


def packed(ids: Iterable[uuid.UUID]) -> npt.NDArray[Any]:
    """Ids in halves."""
    return np.frombuffer(b"".join(one.bytes for one in ids), ">u8").reshape(-1, 2)


def _key(one: uuid.UUID) -> int:
    whole = one.int
    return ((whole >> 64) * _SPREAD + (whole & _MASK)) & _MASK


class Namesakes:
    """By the key of an entity that is taken for another the key of that one."""

    def __init__(self, roots: Mapping[int, int]) -> None:
        self.roots = roots
        ids = sorted(roots)
        self._ids = np.array(ids, np.uint64)
        self._roots = np.array([roots[one] for one in ids], np.uint64)

    def of(self, keys: Keys) -> Keys:
        """What each of these is taken for, itself most of the time."""
        if not len(self._ids):
            return keys
        at = np.minimum(np.searchsorted(self._ids, keys), len(self._ids) - 1)
        return np.where(self._ids[at] == keys, self._roots[at], keys)


@dataclass(frozen=True, slots=True)
class _Kept:
    doc: int
    decided: Any
    namesakes: Namesakes
    read_at: float


class Known:
    """The namesakes of the workspaces that were asked last."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[uuid.UUID, _Kept] = OrderedDict()
        self._locks: dict[uuid.UUID, asyncio.Lock] = {}

    async def of(self, session: AsyncSession, workspace_id: uuid.UUID, state: tuple[int, Any]) -> Namesakes:
        """`state`: the last doc of an entity and the last decision upon one, as `explore_queries` tells them."""
        async with self._locks.setdefault(workspace_id, asyncio.Lock()):
            kept = self._kept.get(workspace_id)
            if kept is None or (kept.doc, kept.decided) != state:
                kept = await self._read(session, workspace_id, state, kept)
                self._kept[workspace_id] = kept
        self._kept.move_to_end(workspace_id)
        while len(self._kept) > _MOST_WORKSPACES:
            gone, _ = self._kept.popitem(last=False)
            self._locks.pop(gone, None)
        return kept.namesakes

    async def _read(
        self, session: AsyncSession, workspace_id: uuid.UUID, state: tuple[int, Any], before: _Kept | None
    ) -> _Kept:
        now = self._clock()
        if before is not None and now - before.read_at < _READ_ANEW_SECONDS:
            rows = await explore_queries.list_namesakes_since(session, workspace_id, before.doc, before.decided)
            roots = dict(before.namesakes.roots)
            known = roots.keys() | set(roots.values())
            # An entity that got another name may have left namesakes behind.
            if not any(row["is_new"] and _key(row["id"]) in known for row in rows):
                for row in rows:
                    roots.pop(_key(row["id"]), None)
                    if row["root"] != row["id"]:
                        roots[_key(row["id"])] = _key(row["root"])
                return _Kept(*state, Namesakes(roots), before.read_at)
        rows = await explore_queries.list_namesakes(session, workspace_id)
        return _Kept(*state, Namesakes({_key(row["id"]): _key(row["root"]) for row in rows}), now)
