"""Statements of calibration: seeded samples of texts and claims, what belongs to a question, readings kept and read."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.db.sql import load
from app.index.collections import Collection, TextKind
from app.retrieval.bundle_scripts import Line
from app.retrieval.calibration import Background, Pair, Reading
from app.retrieval.pseudo_questions import Script, script_of
from app.retrieval.queries import SpaceRow
from app.retrieval.scripts import HAN_SOME
from app.text.normalise import han_share

PACKAGE = "app.retrieval"
_SKIP = 16

_TEXTS = {
    TextKind.episode: "concat_ws(E'\\n', o.title, o.summary)",
    TextKind.facet_title: "o.title",
    TextKind.facet_description: "o.description",
    TextKind.facet_edge: "concat_ws(': ', o.title, o.description)",
    TextKind.point: "o.text",
    TextKind.point_edge: "o.text",
    TextKind.entity: "concat_ws(': ', o.name, nullif(o.description, ''))",
    TextKind.relation: "o.text",
    TextKind.role: "o.text",
}
_CARDS = {
    Collection.episode: "(SELECT ec.card_id FROM episode_cards ec WHERE ec.workspace_id = $1 AND ec.episode_id = o.id "
    "ORDER BY ec.card_id LIMIT 1)",
    Collection.entity: "NULL::uuid",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """Texts of one kind, in the order of their owners: `in_han` their scripts, `some_han` the same for a question in
    Han, `cards` whose they are (an entity is nobody's), `vectors` float32 of unit norm, one per row.
    """

    owners: Sequence[uuid.UUID]
    cards: Sequence[uuid.UUID | None]
    texts: Sequence[str]
    in_han: npt.NDArray[np.bool_]
    some_han: npt.NDArray[np.bool_]
    vectors: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.owners)

    def only(self, places: Sequence[int]) -> Sample:
        return Sample(
            [self.owners[place] for place in places],
            [self.cards[place] for place in places],
            [self.texts[place] for place in places],
            self.in_han[list(places)],
            self.some_han[list(places)],
            self.vectors[list(places)],
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that a card says, of which a question can be made. `id`: of the point, or of the chunk."""

    id: uuid.UUID
    card_id: uuid.UUID
    text: str


@dataclass(frozen=True, slots=True)
class Owner:
    """What a found row is."""

    card_id: uuid.UUID | None
    script: Script


async def find_space(session: AsyncSession, space_id: int | None = None) -> SpaceRow | None:
    """The space of this id, or the current one."""
    which = "s.is_current" if space_id is None else "s.id = :space"
    found = await session.execute(
        text(f"SELECT s.id, s.key, s.dimension, s.sparse, false FROM embedding_spaces s WHERE {which}"),  # noqa: S608
        {} if space_id is None else {"space": space_id},
    )
    row = found.one_or_none()
    return None if row is None else SpaceRow(*row)


async def count_docs(session: AsyncSession, workspace_id: uuid.UUID) -> int:
    """Texts of a workspace that are found by words, of all collections: how large it is, cheaply."""
    return int(await (await raw(session)).fetchval(load(PACKAGE, "calibration_size"), workspace_id))


async def draw_texts(
    session: AsyncSession, workspace_id: uuid.UUID, space_id: int, kind: TextKind, most: int, seed: int
) -> Sample:
    """About `most` texts of a kind, from anywhere in the workspace; the same ones for the same seed and data."""
    connection = await raw(session)
    docs, skips = await _probes(connection, workspace_id, kind.collection, most, seed)
    rows = await connection.fetch(_sample_statement(kind, space_id), workspace_id, docs, skips) if docs else []
    vectors = np.stack([row["dense"].to_numpy() for row in rows]).astype(np.float32) if rows else np.empty((0, 0))
    norms = np.linalg.norm(vectors, axis=1, keepdims=True) if rows else np.ones((0, 1))
    in_han = np.array([script_of(row["said"]) == "han" for row in rows], np.bool_)
    # A passage is embedded with the title of its card.
    told = [max(map(han_share, (row["title"], row["said"]))) for row in rows] if kind is TextKind.chunk else []
    return Sample(
        [row["id"] for row in rows],
        [row["card_id"] for row in rows],
        [row["said"] for row in rows],
        in_han,
        np.array(told) * 100 > HAN_SOME if kind is TextKind.chunk else in_han,
        (vectors / np.maximum(norms, 1e-6)).astype(np.float32),
    )


async def draw_claims(session: AsyncSession, workspace_id: uuid.UUID, most: int, seed: int) -> list[Claim]:
    """Points from anywhere in the workspace; where it has none, chunks."""
    connection = await raw(session)
    for collection, said in ((Collection.point, "o.text"), (Collection.chunk, "left(o.text, 2000)")):
        docs, skips = await _probes(connection, workspace_id, collection, most, seed)
        if not docs:
            continue
        statement = load(PACKAGE, "calibration_claims").replace("{table}", collection.table).replace("{said}", said)
        rows = await connection.fetch(statement, workspace_id, docs, skips)
        if rows:
            return [Claim(row["id"], row["card_id"], row["said"]) for row in rows]
    return []


async def list_kin(
    session: AsyncSession, workspace_id: uuid.UUID, point_ids: Sequence[uuid.UUID], most_cards: int
) -> dict[uuid.UUID, tuple[set[uuid.UUID], set[uuid.UUID]]]:
    """Per point the entities that it is about, and the cards that mention one of them that no more than `most_cards`
    mention.
    """
    rows = await (await raw(session)).fetch(load(PACKAGE, "calibration_kin"), workspace_id, list(point_ids), most_cards)
    kin: dict[uuid.UUID, tuple[set[uuid.UUID], set[uuid.UUID]]] = {}
    for row in rows:
        entities, cards = kin.setdefault(row["point_id"], (set(), set()))
        entities.add(row["entity_id"])
        cards.update(row["cards"])
    return kin


async def list_titles(
    session: AsyncSession, workspace_id: uuid.UUID, card_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, str]:
    rows = await session.execute(
        text("SELECT id, title FROM cards WHERE workspace_id = :workspace AND id = ANY (:ids)"),
        {"workspace": workspace_id, "ids": list(card_ids)},
    )
    return {row[0]: row[1] for row in rows}


async def list_owners(
    session: AsyncSession, workspace_id: uuid.UUID, kind: TextKind, ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, Owner]:
    """Whose these rows are, and in which script."""
    collection = kind.collection
    said = "left(o.text, 400)" if kind is TextKind.chunk else f"left({_TEXTS[kind]}, 400)"
    statement = (
        load(PACKAGE, "calibration_owners")
        .replace("{table}", collection.table)
        .replace("{card}", _CARDS.get(collection, "o.card_id"))
        .replace("{said}", said)
    )
    rows = await (await raw(session)).fetch(statement, workspace_id, list(ids))
    return {row["id"]: Owner(row["card_id"], script_of(row["said"])) for row in rows}


@dataclass(frozen=True, slots=True)
class PointPlace:
    """Where a claim stands, by the numbers of the postings."""

    doc: int
    facet_doc: int
    episode_doc: int


async def list_places(
    session: AsyncSession, workspace_id: uuid.UUID, point_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, PointPlace]:
    rows = await (await raw(session)).fetch(load(PACKAGE, "calibration_places"), workspace_id, list(point_ids))
    return {row["id"]: PointPlace(row["doc"], row["facet_doc"], row["episode_doc"]) for row in rows}


# --------------------------------------------------------------------------------------- readings


async def list_readings(
    session: AsyncSession, workspace_id: uuid.UUID, space_id: int
) -> dict[tuple[str, Pair], Reading]:
    rows = await session.execute(
        text(
            "SELECT collection, script, mu, sigma, pairs, detail FROM calibrations "
            "WHERE workspace_id = :workspace AND space_id = :space"
        ),
        {"workspace": workspace_id, "space": space_id},
    )
    return {(row.collection, pair_of(row.script)): _reading(row) for row in rows}


async def replace_readings(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space_id: int,
    readings: Mapping[tuple[str, Pair], Reading],
    docs: int,
) -> None:
    """`docs`: how large the workspace was."""
    connection = await raw(session)
    await connection.execute(
        "DELETE FROM calibrations WHERE workspace_id = $1 AND space_id = $2", workspace_id, space_id
    )
    await connection.executemany(
        "INSERT INTO calibrations (workspace_id, space_id, collection, script, mu, sigma, pairs, detail) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::jsonb)",
        [
            (
                workspace_id,
                space_id,
                kind,
                written(pair),
                one.background.mu,
                one.background.sigma,
                one.background.pairs,
                json.dumps(_detail(one, docs)),
            )
            for (kind, pair), one in readings.items()
        ],
    )


async def list_due(session: AsyncSession, space_id: int, fewest: int, growth: float) -> list[uuid.UUID]:
    """Workspaces of at least `fewest` texts that were never measured in a space, or have grown by `growth` since; half
    as much where a script was missing.
    """
    rows = await (await raw(session)).fetch(load(PACKAGE, "calibration_due"), space_id, fewest, growth)
    return [row["workspace_id"] for row in rows]


def written(pair: Pair) -> str:
    return f"{pair[0]}-{pair[1]}"


def pair_of(script: str) -> Pair:
    asked, _, of_text = script.partition("-")
    return ("han" if asked == "han" else "latin", "han" if of_text == "han" else "latin")


def _reading(row: Any) -> Reading:
    detail = row.detail
    line = detail.get("line")
    return Reading(
        Background(row.mu, row.sigma, row.pairs, detail.get("texts", 0)),
        detail.get("baseline"),
        _shares(detail.get("foreign")),
        _shares(detail.get("stranger")),
        Line(line["alpha"], line["beta"]) if line else None,
    )


def _shares(stored: Mapping[str, float] | None) -> dict[float, float]:
    return {float(share): z for share, z in (stored or {}).items()}


def _detail(one: Reading, docs: int) -> dict[str, Any]:
    detail: dict[str, Any] = {"texts": one.background.texts, "docs": docs}
    if one.baseline is not None:
        detail["baseline"] = one.baseline
    for name, quantiles in (("foreign", one.foreign), ("stranger", one.stranger)):
        if quantiles:
            detail[name] = {str(share): z for share, z in quantiles.items()}
    if one.line is not None:
        detail["line"] = {"alpha": one.line.alpha, "beta": one.line.beta}
    return detail


async def _probes(
    connection: Any, workspace_id: uuid.UUID, collection: Collection, most: int, seed: int
) -> tuple[list[int], list[int]]:
    """Numbers of the postings to look from, and how many rows to go on from there: without that, rows behind a gap in
    the numbers would be drawn more often.
    """
    statement = load(PACKAGE, "calibration_range").replace("{table}", collection.table)
    first, last = await connection.fetchrow(statement, workspace_id)
    if first is None:
        return [], []
    rng = random.Random(f"{seed} {collection.name}")  # noqa: S311  (a sample, no secret)
    return [rng.randint(first, last) for _ in range(most)], [rng.randrange(_SKIP) for _ in range(most)]


@cache
def _sample_statement(kind: TextKind, space_id: int) -> str:
    if kind is TextKind.chunk:
        return load(PACKAGE, "calibration_windows").replace("{space}", str(int(space_id)))
    collection = kind.collection
    return (
        load(PACKAGE, "calibration_texts")
        .replace("{table}", collection.table)
        .replace("{vectors}", kind.vectors)
        .replace("{role}", str(kind.vector_role))
        .replace("{space}", str(int(space_id)))
        .replace("{card}", _CARDS.get(collection, "o.card_id"))
        .replace("{said}", f"left({_TEXTS[kind]}, 400)")
    )
