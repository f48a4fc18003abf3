"""Statements that read what is derived from cards, to tell what changes, and that take single rows of it away."""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.cards.tables import Card
from app.db.session import raw
from app.index import lexical
from app.index.collections import Collection
from app.index.postings import Found
from app.index.tables import Chunk
from app.ingestion.queries import TEXT_COLUMNS, CardText


@dataclass(slots=True)
class StoredCone:
    """Rows of one card. Episodes, facets and points in their order, as (id, what they say); the others by what they
    say, which stands for the row.
    """

    episodes: list[tuple[uuid.UUID, tuple[Any, ...]]] = field(default_factory=list)
    facets: list[tuple[uuid.UUID, tuple[Any, ...]]] = field(default_factory=list)
    points: list[tuple[uuid.UUID, tuple[Any, ...]]] = field(default_factory=list)
    point_entities: set[tuple[uuid.UUID, uuid.UUID]] = field(default_factory=set)
    roles: dict[tuple[Any, ...], list[uuid.UUID]] = field(default_factory=lambda: defaultdict(list))
    relations: dict[tuple[Any, ...], list[uuid.UUID]] = field(default_factory=lambda: defaultdict(list))
    mentions: set[tuple[Any, ...]] = field(default_factory=set)
    tellings: dict[uuid.UUID, str] = field(default_factory=dict)


async def get_postings(
    session: AsyncSession, workspace_id: uuid.UUID, words: Sequence[int], grams: Sequence[int]
) -> Found:
    """Of chunks."""
    part = lexical.postings_part(workspace_id, [Collection.chunk], words, grams)
    rows = await (await raw(session)).fetch(part.statement, *part.values)
    return lexical.found_in(rows, [Collection.chunk], words, grams)[Collection.chunk]


async def list_texts(
    session: AsyncSession, workspace_id: uuid.UUID, card_ids: Sequence[uuid.UUID], by: str
) -> list[CardText]:
    """Of these cards those that are learned, and were read by an extractor of this kind."""
    rows = await session.execute(
        select(*TEXT_COLUMNS)
        .where(
            Card.workspace_id == workspace_id,
            Card.id.in_(card_ids),
            Card.state == "ready",
            Card.trashed_at.is_(None),
            Card.extraction["by"].astext.startswith(by, autoescape=True),
        )
        .order_by(Card.id)
    )
    return [CardText(*row) for row in rows]


async def list_chunks(
    session: AsyncSession, workspace_id: uuid.UUID, card_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[tuple[uuid.UUID, int, int]]]:
    """By card, in order: id, start and end."""
    found: dict[uuid.UUID, list[tuple[uuid.UUID, int, int]]] = defaultdict(list)
    rows = await session.execute(
        select(Chunk.card_id, Chunk.id, Chunk.start, Chunk.end)
        .where(Chunk.workspace_id == workspace_id, Chunk.card_id.in_(card_ids))
        .order_by(Chunk.card_id, Chunk.ordinal)
    )
    for card_id, chunk_id, start, end in rows:
        found[card_id].append((chunk_id, start, end))
    return found


_STATEMENTS: Final = {
    "episodes": "SELECT c.card_id, e.id, c.ordinal, e.external_id, e.title, e.summary FROM episode_cards c "
    "JOIN episodes e ON e.workspace_id = $1 AND e.id = c.episode_id "
    "WHERE c.workspace_id = $1 AND c.card_id = ANY ($2::uuid[]) ORDER BY c.card_id, c.ordinal, e.id",
    "facets": 'SELECT f.card_id, f.id, c.ordinal, f.ordinal, f.title, f.description, f.start, f."end" FROM facets f '
    "JOIN episode_cards c ON c.workspace_id = $1 AND c.episode_id = f.episode_id AND c.card_id = f.card_id "
    "WHERE f.workspace_id = $1 AND f.card_id = ANY ($2::uuid[]) ORDER BY f.card_id, c.ordinal, f.ordinal, f.id",
    "points": 'SELECT p.card_id, p.id, c.ordinal, f.ordinal, p.ordinal, p.text, p.start, p."end", p.speaker, '
    "p.claim_key, p.claim_value FROM points p "
    "JOIN facets f ON f.workspace_id = $1 AND f.id = p.facet_id "
    "JOIN episode_cards c ON c.workspace_id = $1 AND c.episode_id = f.episode_id AND c.card_id = f.card_id "
    "WHERE p.workspace_id = $1 AND p.card_id = ANY ($2::uuid[]) "
    "ORDER BY p.card_id, c.ordinal, f.ordinal, p.ordinal, p.id",
    "point_entities": "SELECT p.card_id, pe.point_id, pe.entity_id FROM points p "
    "JOIN point_entities pe ON pe.workspace_id = $1 AND pe.point_id = p.id "
    "WHERE p.workspace_id = $1 AND p.card_id = ANY ($2::uuid[])",
    "roles": "SELECT card_id, id, entity_id, episode_id, facet_id, text FROM roles "
    "WHERE workspace_id = $1 AND card_id = ANY ($2::uuid[])",
    "relations": 'SELECT card_id, id, chunk_id, source_id, target_id, predicate, text, confidence, start, "end" '
    "FROM relations WHERE workspace_id = $1 AND card_id = ANY ($2::uuid[])",
    "mentions": 'SELECT card_id, chunk_id, ordinal, entity_id, start, "end", in_title, name FROM mentions '
    "WHERE workspace_id = $1 AND card_id = ANY ($2::uuid[])",
    "tellings": "SELECT card_id, entity_id, description FROM entity_tellings "
    "WHERE workspace_id = $1 AND card_id = ANY ($2::uuid[])",
}


async def list_cones(
    session: AsyncSession, workspace_id: uuid.UUID, card_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, StoredCone]:
    """All that is derived from these cards but texts for the index and vectors."""
    cones = {card_id: StoredCone() for card_id in card_ids}
    connection = await raw(session)
    for kind, statement in _STATEMENTS.items():
        for card_id, *row in await connection.fetch(statement, workspace_id, list(card_ids)):
            rows = getattr(cones[card_id], kind)
            if kind in ("roles", "relations"):
                rows[tuple(row[1:])].append(row[0])
            elif kind == "tellings":
                rows[row[0]] = row[1]
            elif kind in ("mentions", "point_entities"):
                rows.add(tuple(row))
            else:
                rows.append((row[0], tuple(row[1:])))
    return cones


async def delete_rows(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    *,
    roles: Sequence[uuid.UUID] = (),
    relations: Sequence[uuid.UUID] = (),
    mentions_of: Sequence[uuid.UUID] = (),
    tellings_of: Sequence[uuid.UUID] = (),
    entities_of_points: Sequence[uuid.UUID] = (),
) -> None:
    """Roles and relations by id, mentions and tellings by card, whom points are about by point."""
    connection = await raw(session)
    for table, column, ids in (
        ("roles", "id", roles),
        ("relations", "id", relations),
        ("mentions", "card_id", mentions_of),
        ("entity_tellings", "card_id", tellings_of),
        ("point_entities", "point_id", entities_of_points),
    ):
        if ids:
            await connection.execute(
                f"DELETE FROM {table} WHERE workspace_id = $1 AND {column} = ANY ($2::uuid[])",  # noqa: S608
                workspace_id,
                list(ids),
            )


async def insert_point_entities(
    session: AsyncSession, workspace_id: uuid.UUID, pairs: Sequence[tuple[uuid.UUID, uuid.UUID]]
) -> None:
    """(point, entity)."""
    await (await raw(session)).copy_records_to_table(
        "point_entities",
        columns=["workspace_id", "point_id", "entity_id"],
        records=[(workspace_id, *pair) for pair in pairs],
    )


async def tell_counts(
    session: AsyncSession, workspace_id: uuid.UUID, counts: Mapping[uuid.UUID, Mapping[str, int]]
) -> None:
    """What cards say of how much was found in them."""
    await (await raw(session)).execute(
        """
        UPDATE cards SET extraction = coalesce(extraction, '{}') || new.told::jsonb
        FROM unnest($2::uuid[], $3::text[]) AS new (id, told)
        WHERE cards.workspace_id = $1 AND cards.id = new.id
        """,
        workspace_id,
        list(counts),
        [json.dumps(dict(told)) for told in counts.values()],
    )
