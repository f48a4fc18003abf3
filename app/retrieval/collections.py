"""The wide net: each collection by vector and by words, all of them in one round trip each.

The seven collections are episode summary, facet title, facet description, facet point, entity, chunk, and edge
text. Edges have four kinds of owners, so their texts are four kinds here (`EDGES`); by words a collection is a table.
Knows nothing of what anchors are used for.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.db.together import Part
from app.index.collections import Collection as Table
from app.index.collections import TextKind
from app.index.lexical import search_many
from app.retrieval.queries import PACKAGE, SpaceRow, settle
from app.retrieval.settings import RetrievalSettings

EDGES = (TextKind.facet_edge, TextKind.point_edge, TextKind.relation, TextKind.role)

# (owner, cosine distance) nearest first, or (owner, score from 0 to 1) best first; ties by id.
Anchors = list[tuple[uuid.UUID, float]]

# So many vectors are compared one by one in the time of one step through a vector index; see `level1_search`.
_SCANS_PER_STEP = 27
# And so many rows a walk is about to find.
_ROWS = 64
_LARGE_SECONDS, _SMALL_SECONDS = 300.0, 20.0
_KINDS = tuple(TextKind)


async def nearest(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space: SpaceRow,
    kind: TextKind,
    vector: npt.NDArray[np.float32],
    limit: int,
    approximate: Collection[TextKind] = (),
    ef_search: int = 128,
) -> Anchors:
    """The nearest texts of one kind, as `nearest_many` finds them."""
    return (await nearest_many(session, workspace_id, space, [kind], vector, limit, approximate, ef_search))[kind]


async def nearest_many(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space: SpaceRow,
    kinds: Iterable[TextKind],
    vector: npt.NDArray[np.float32],
    limit: int,
    approximate: Collection[TextKind] = (),
    ef_search: int = 128,
) -> dict[TextKind, Anchors]:
    """Of each kind up to `limit` owners whose text is nearest. An entity that was merged counts as the surviving one.

    `approximate`: kinds that go through their vector index, as `Sizes.large` says; the others are compared one by one.
    """
    wanted = tuple(kind for kind in _KINDS if kind in set(kinds))
    if not wanted:
        return {}
    # Of windows four times as many are read; a second walk for them costs less than a longer one for all the others.
    await settle(session, min(max(ef_search, limit * 5 // 4), 1000))
    part = nearest_part(workspace_id, space, wanted, vector, limit, approximate)
    return anchors_of(await (await raw(session)).fetch(part.statement, *part.values), wanted)


def nearest_part(
    workspace_id: uuid.UUID,
    space: SpaceRow,
    kinds: Iterable[TextKind],
    vector: npt.NDArray[np.float32],
    limit: int,
    approximate: Collection[TextKind] = (),
) -> Part:
    """What `nearest_many` asks of some kinds, once the session is settled."""
    wanted = set(kinds)
    legs = tuple((kind, kind in approximate) for kind in _KINDS if kind in wanted)
    return Part(
        _nearest_statement(space.id, space.dimension, legs),
        (("kind", "int"), ("owner_id", "uuid"), ("distance", "float8")),
        (workspace_id, HalfVector(vector), limit),
    )


def anchors_of(rows: Iterable[Any], kinds: Iterable[TextKind]) -> dict[TextKind, Anchors]:
    """The rows of `nearest_part` by kind, nearest first."""
    found: dict[TextKind, Anchors] = {kind: [] for kind in kinds}
    for row in rows:
        found[_KINDS[row["kind"]]].append((row["owner_id"], row["distance"]))
    for anchors in found.values():
        anchors.sort(key=lambda anchor: (anchor[1], anchor[0]))
    return found


async def by_words(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    tables: Iterable[Table],
    words: Sequence[int],
    grams: Sequence[int],
    limit: int,
) -> dict[Table, Anchors]:
    """Of each table up to `limit` rows by the words of the question (`index.terms.question_hashes`)."""
    hits = await search_many(session, workspace_id, tables, words, grams)
    best = {table: dict(zip(*(part.tolist() for part in one.top(limit)), strict=True)) for table, one in hits.items()}
    owners = await list_owners(session, workspace_id, {table: list(docs) for table, docs in best.items()})
    found = {}
    for table, docs in best.items():
        scores: dict[uuid.UUID, float] = {}
        for doc, owner in owners[table].items():
            scores[owner] = max(docs[doc], scores.get(owner, 0.0))
        found[table] = sorted(scores.items(), key=lambda anchor: (-anchor[1], anchor[0]))
    return found


async def list_owners(
    session: AsyncSession, workspace_id: uuid.UUID, docs: Mapping[Table, Sequence[int]]
) -> dict[Table, dict[int, uuid.UUID]]:
    """Which rows these docs of the postings are; an entity that was merged is the surviving one."""
    owners: dict[Table, dict[int, uuid.UUID]] = {table: {} for table in docs}
    asked = sorted(table for table in docs if docs[table])
    if asked:
        connection = await raw(session)
        rows = await connection.fetch(
            _owners_statement(tuple(asked)), workspace_id, *(list(docs[table]) for table in asked)
        )
        for row in rows:
            owners[Table(row["collection"])][row["doc"]] = row["owner_id"]
    return owners


class Sizes:
    """Which collections of a workspace are too large to be compared one by one; asked again after a while."""

    def __init__(self, settings: RetrievalSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._large: dict[tuple[uuid.UUID, int], tuple[frozenset[TextKind], float]] = {}

    async def large(self, session: AsyncSession, workspace_id: uuid.UUID, space: SpaceRow) -> frozenset[TextKind]:
        """Kinds with a usable vector index that is faster than a scan: a small part of a large space is hard to find
        in it.
        """
        moment = self._clock()
        large, until = self._large.get((workspace_id, space.id), (frozenset[TextKind](), 0.0))
        if until <= moment:
            large = await self._ask(session, workspace_id, space)
            self._large[workspace_id, space.id] = (large, moment + (_LARGE_SECONDS if large else _SMALL_SECONDS))
        return large

    async def _ask(self, session: AsyncSession, workspace_id: uuid.UUID, space: SpaceRow) -> frozenset[TextKind]:
        connection = await raw(session)
        names = {kind.index_name(space.id): kind for kind in _KINDS if kind.is_asked}
        limits: dict[TextKind, int] = {}
        for row in await connection.fetch(load(PACKAGE, "vector_indexes"), list(names)):
            kind = names[row["name"]]
            limit = kind.share(self._settings.exact_scan_windows)
            if limit:
                limit = max(limit, math.isqrt(_SCANS_PER_STEP * _ROWS * row["entries"]))
            limits[kind] = limit
        if not limits:
            return frozenset()
        counted = await connection.fetch(
            _count_statement(space.id, tuple(limits)), workspace_id, [limit + 1 for limit in limits.values()]
        )
        sizes = {_KINDS[row["kind"]]: row["vectors"] for row in counted}
        return frozenset(kind for kind, limit in limits.items() if sizes[kind] > limit)


@cache
def _nearest_statement(space_id: int, dimension: int, legs: tuple[tuple[TextKind, bool], ...]) -> str:
    return "\nUNION ALL\n".join(_leg(space_id, dimension, kind, through_index) for kind, through_index in legs)


def _leg(space_id: int, dimension: int, kind: TextKind, through_index: bool) -> str:
    how = "hnsw" if through_index else "exact"
    leg = load(PACKAGE, f"near_chunks_{how}" if kind is TextKind.chunk else f"near_{how}")
    if kind is TextKind.entity:
        leg = _body(load(PACKAGE, "near_entities")).replace("{near}", _body(leg))
    return _filled(
        leg,
        kind=_KINDS.index(kind),
        vectors=kind.vectors,
        role=kind.vector_role,
        space=int(space_id),
        dimension=int(dimension),
    )


@cache
def _count_statement(space_id: int, kinds: tuple[TextKind, ...]) -> str:
    part = load(PACKAGE, "vectors_up_to")
    return "\nUNION ALL\n".join(
        _filled(
            part,
            kind=_KINDS.index(kind),
            place=place,
            space=int(space_id),
            vectors=kind.vectors,
            role="" if kind.vector_role is None else f"AND v.role = {kind.vector_role}",
        )
        for place, kind in enumerate(kinds, 1)
    )


@cache
def _owners_statement(tables: tuple[Table, ...]) -> str:
    part = load(PACKAGE, "owners")
    return "\nUNION ALL\n".join(
        _filled(
            part,
            collection=int(table),
            place=place,
            table=table.table,
            owner="coalesce(o.merged_into, o.id)" if table is Table.entity else "o.id",
        )
        for place, table in enumerate(tables, 2)
    )


def _filled(part: str, **values: object) -> str:
    for name, value in values.items():
        part = part.replace(f"{{{name}}}", str(value))
    return part


def _body(statement: str) -> str:
    """Without its header, which names the placeholders too."""
    return "\n".join(line for line in statement.splitlines() if not line.startswith("--"))
