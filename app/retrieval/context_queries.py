"""Statements of Bundle Search: anchors and the reached part of the cone in one, the texts of what won in another."""

from __future__ import annotations

import uuid
from collections.abc import Collection as Some
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.db.together import Part
from app.index.collections import Collection, TextKind
from app.index.postings import Subset, Totals
from app.retrieval.queries import PACKAGE, SpaceRow, conditions_of, filled, filter_values, settle
from app.retrieval.scripts import bytes_from
from app.retrieval.types import Filters

LEGS: Final = {TextKind.point_edge: 0, TextKind.facet_description: 1}
"""Texts by which a question may find an episode, and the number of their leg. Claims by themselves find no other."""
OTHER_LEGS: Final = {TextKind.point_edge: 2, TextKind.facet_description: 3, TextKind.point: 4}
"""The same among texts of the other script, where claims by themselves do find others."""
_TEXTS: Final = {"points": "text", "facets": "description"}

# PostgreSQL sends big-endian; a uuid is its sixteen bytes.
TELLING = np.dtype([("episode", "V16"), ("card", "V16"), ("doc", ">i8"), ("happened", ">f8"), ("created", ">f8")])
FACET = np.dtype(
    [
        ("id", "V16"),
        ("doc", ">i8"),
        ("telling", ">i4"),
        ("han", ">i4"),
        ("title", ">f4"),
        ("description", ">f4"),
        ("edge", ">f4"),
    ]
)
POINT = np.dtype(
    [
        ("id", "V16"),
        ("doc", ">i8"),
        ("facet", ">i4"),
        ("han", ">i4"),
        ("claim", ">f4"),
        ("edge", ">f4"),
        ("until", ">f8"),
    ]
)
# What `halfvec_send` puts in front of the numbers: how many they are, and two bytes of nothing.
VECTOR_HEAD = 4

OWN = np.dtype([("own", ">f4")])
LINK = np.dtype([("telling", ">i4"), ("facet", ">i4"), ("entity", ">f4"), ("edge", ">f4")])

Records = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True)
class Reached:
    """The reached part of the cone: TELLING, FACET and POINT records in order; distances are NaN where a text has no
    vector, times (seconds of the epoch) where none is known. OWN (one per telling), LINK records and the vectors of the
    points (a row of zeros: none) only on request.
    """

    tellings: Records
    facets: Records
    points: Records
    owns: Records
    links: Records
    vectors: npt.NDArray[np.float32] | None = None

    def id_of(self, part: Records, place: int, name: str = "id") -> uuid.UUID:
        return uuid.UUID(bytes=part[name][place].tobytes())


@dataclass(frozen=True, slots=True)
class Passing:
    """The few cards that filters let pass, and their rows as collections of their own."""

    cards: Sequence[uuid.UUID]
    subsets: Mapping[Collection, Subset]


@dataclass(frozen=True, slots=True)
class ConeRequest:
    """`vector` None: words alone. `approximate`: kinds that go through their vector index. `cards`: whose episodes are
    reached in any case. `also_han`: each kind that is compared one by one is also looked for among texts of this script
    alone (True: Han), as near as they come.
    """

    space: SpaceRow
    vector: npt.NDArray[np.float32] | None
    docs: Mapping[Collection, Sequence[int]]
    filters: Filters
    passing: Passing | None
    approximate: Some[TextKind]
    anchors: int
    nodes: int
    episodes: int
    with_links: bool
    with_vectors: bool
    rrf_k: int
    ef_search: int
    cards: Sequence[uuid.UUID] = ()
    also_han: bool | None = None


async def find_passing(
    session: AsyncSession, workspace_id: uuid.UUID, filters: Filters, most_cards: int
) -> Passing | None:
    """What of the cone the filters let pass; None when more than `most_cards` cards do."""
    conditions, values = conditions_of(filters, 3)
    rows = await (await raw(session)).fetch(
        load(PACKAGE, "context_subset").replace("{conditions}", conditions), workspace_id, most_cards, *values
    )
    found = {row["collection"]: row for row in rows}
    cards = found.pop(-1)
    if cards["rows"] > most_cards:
        return None
    subsets = {}
    for collection in (Collection.episode, Collection.facet, Collection.point):
        row = found.get(collection)
        docs = b"" if row is None else row["docs"]
        totals = Totals() if row is None else Totals(row["rows"], row["words"], row["gram_rows"], row["grams"])
        subsets[collection] = Subset(np.sort(np.frombuffer(docs, ">i8").astype(np.uint32)), totals)
    ids = np.frombuffer(cards["docs"] or b"", "V16")
    return Passing([uuid.UUID(bytes=one.tobytes()) for one in ids], subsets)


async def get_reached(session: AsyncSession, workspace_id: uuid.UUID, request: ConeRequest) -> Reached:
    """The episodes that the anchors reach, with all their facets and points, in one statement."""
    await settle(session, request.ef_search)
    rows = await (await raw(session)).fetch(
        cone_statement(request),
        workspace_id,
        HalfVector(request.vector) if request.vector is not None else None,
        request.anchors,
        list(request.docs.get(Collection.point, ())),
        list(request.docs.get(Collection.facet, ())),
        list(request.docs.get(Collection.episode, ())),
        request.rrf_k,
        request.nodes,
        *filter_values(request.filters),
        None if request.passing is None else list(request.passing.cards),
        request.episodes,
        *([list(request.cards)] if request.cards else []),
    )
    parts: list[list[Any]] = [[] for _ in _PARTS]
    for row in sorted(rows, key=_place):
        parts[row["part"]].append(row["packed"])
    vectors = None
    if request.with_vectors:
        parts[2], vectors = _cut(parts[2], request.space.dimension)
    tables = [np.frombuffer(b"".join(part), dtype) for part, dtype in zip(parts, _PARTS, strict=True)]
    tellings, facets, points, owns, links = tables
    return Reached(tellings, facets, points, owns, links, vectors)


def _cut(points: Sequence[bytes], dimension: int) -> tuple[list[bytes], npt.NDArray[np.float32]]:
    """POINT records, and the vectors that stand behind those that have one."""
    vectors = np.zeros((len(points), dimension), np.float32)
    whole = POINT.itemsize + VECTOR_HEAD + 2 * dimension
    known = [place for place, packed in enumerate(points) if len(packed) == whole]
    told = b"".join(points[place][-2 * dimension :] for place in known)
    vectors[known] = np.frombuffer(told, ">f2").reshape(-1, dimension)
    return [packed[: POINT.itemsize] for packed in points], vectors


_PARTS = (TELLING, FACET, POINT, OWN, LINK)
_place = itemgetter("part", "place")


def cone_statement(request: ConeRequest) -> str:
    """The statement, put together from its legs."""
    few = request.passing is not None
    legs = tuple((kind, kind in request.approximate and not few) for kind in LEGS)
    return _cone_statement(
        request.space.id,
        request.space.dimension,
        legs if request.vector is not None else (),
        few,
        bool(request.filters) and not few,
        request.with_links,
        request.with_vectors,
        bool(request.cards),
        request.also_han,
    )


@cache
def _cone_statement(
    space_id: int,
    dimension: int,
    legs: tuple[tuple[TextKind, bool], ...],
    few: bool,
    many: bool,
    links: bool,
    vectors: bool,
    at_hand: bool,
    also_han: bool | None,
) -> str:
    parts = [_leg(kind, through_index, few, many) for kind, through_index in legs]
    if also_han is not None and not (few or many):
        others = [kind for kind, through_index in legs if not through_index]
        if TextKind.point_edge in others:
            others.append(TextKind.point)
        parts += [_other_leg(kind, also_han) for kind in others]
    near = "\nUNION ALL\n".join(parts)
    statement = filled(
        load(PACKAGE, "context_cone"),
        near=near or load(PACKAGE, "context_no_vector"),
        few="AND {row} = ANY ($14::uuid[])" if few else "",
        many=load(PACKAGE, "only_cards") if many else "",
        vectors="|| coalesce(halfvec_send(d.dense), ''::bytea)" if vectors else "",
        links=load(PACKAGE, "context_links") if links else "",
        cards=load(PACKAGE, "context_cards") if at_hand else "",
    )
    return statement.replace("{space}", str(int(space_id))).replace("{dimension}", str(int(dimension)))


def _leg(kind: TextKind, through_index: bool, few: bool, many: bool) -> str:
    conditions = filled(load(PACKAGE, "context_many_owners"), many=load(PACKAGE, "only_cards")) if many else ""
    leg = filled(
        load(PACKAGE, "context_near_hnsw" if through_index else "context_near_exact"),
        few=load(PACKAGE, "context_few_owners") if few else "",
        many=conditions,
    )
    for name, value in (
        ("kind", LEGS[kind]),
        ("table", kind.collection.table),
        ("vectors", kind.vectors),
        ("role", kind.vector_role),
    ):
        leg = leg.replace(f"{{{name}}}", str(value))
    return f"({leg})"


def _other_leg(kind: TextKind, han: bool) -> str:
    leg = load(PACKAGE, "context_near_other")
    for name, value in (
        ("kind", OTHER_LEGS[kind]),
        ("table", kind.collection.table),
        ("text", _TEXTS[kind.collection.table]),
        ("vectors", kind.vectors),
        ("role", kind.vector_role),
        ("han", str(han).lower()),
        ("share", bytes_from(not han)),
    ):
        leg = leg.replace(f"{{{name}}}", str(value))
    return f"({leg})"


async def list_told(
    session: AsyncSession, workspace_id: uuid.UUID, wanted: Sequence[tuple[uuid.UUID, uuid.UUID]]
) -> list[Any]:
    """The texts of (point, card) pairs with all that is above them, in no particular order."""
    rows: list[Any] = await (await raw(session)).fetch(
        load(PACKAGE, "context_hydrate"), workspace_id, [point for point, _ in wanted], [card for _, card in wanted]
    )
    return rows


async def list_passages(
    session: AsyncSession, workspace_id: uuid.UUID, cards: Sequence[uuid.UUID], claims: Sequence[uuid.UUID]
) -> tuple[list[str], list[npt.NDArray[np.uint32]]]:
    """Texts of the first card, its beginning and where these claims of it stand, and the docs of each card's chunks."""
    rows = await (await raw(session)).fetch(load(PACKAGE, "context_passages"), workspace_id, list(cards), list(claims))
    docs = [np.zeros(0, np.uint32)] * len(cards)
    for row in rows:
        if row["docs"] is not None:
            docs[row["place"] - 1] = np.frombuffer(row["docs"], ">i8").astype(np.uint32)
    return [row["text"] for row in rows if row["text"] is not None], docs


def cone_part(workspace_id: uuid.UUID) -> Part:
    """Whether any card of the workspace has claims: one row."""
    statement = "SELECT EXISTS (SELECT 1 FROM points WHERE workspace_id = $1) AS cone"
    return Part(statement, (("cone", "bool"),), (workspace_id,))
