"""Statements that write and remove what is derived from cards: the cone, mentions and relations."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import asyncpg
from sqlalchemy import delete, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw
from app.graph.cone_tables import Episode, EpisodeCard
from app.graph.name_queries import note_names
from app.graph.rows import ConeRows, Period
from app.graph.tables import EntityTelling
from app.text.when import OPEN_END, OPEN_START

EntityIds = Mapping[tuple[uuid.UUID, str], uuid.UUID]
"""Which entity a name means in a card."""


async def lock_graph(session: AsyncSession, workspace_id: uuid.UUID, *, patience_seconds: int = 0) -> None:
    """Hold the workspace's graph until commit. After the locks on cards, never before. With `patience_seconds` it waits
    so long, and so does whatever follows in this transaction; else as long as the session does.
    """
    if patience_seconds:
        await session.execute(
            text("SELECT set_config('lock_timeout', :timeout, true)"), {"timeout": f"{patience_seconds}s"}
        )
    await session.execute(text("SELECT graph_lock(:workspace)"), {"workspace": workspace_id})


async def take_docs(session: AsyncSession, count: int) -> list[int]:
    """So many fresh numbers of the postings."""
    rows = await (await raw(session)).fetch("SELECT nextval('chunk_doc_seq') AS doc FROM generate_series(1, $1)", count)
    return [row["doc"] for row in rows]


async def list_own_episodes(
    session: AsyncSession, workspace_id: uuid.UUID, card_ids: Sequence[uuid.UUID]
) -> dict[tuple[uuid.UUID, str], uuid.UUID]:
    """Ids of the episodes that these cards tell, by card and title: a rewritten one stays the same one."""
    rows = await session.execute(
        select(EpisodeCard.card_id, Episode.title_key, Episode.id)
        .join(Episode, (Episode.workspace_id == EpisodeCard.workspace_id) & (Episode.id == EpisodeCard.episode_id))
        .where(EpisodeCard.workspace_id == workspace_id, EpisodeCard.card_id.in_(card_ids))
        .order_by(EpisodeCard.ordinal.desc())
    )
    return {(card_id, title_key): episode_id for card_id, title_key, episode_id in rows}


async def delete_cone(session: AsyncSession, workspace_id: uuid.UUID, card_ids: Sequence[uuid.UUID]) -> None:
    """Remove what these cards tell: facets, points and roles by cascade, at commit the episodes that nobody tells any
    more; and how they describe entities. Mentions and relations go with the cards' chunks.
    """
    await session.execute(
        delete(EpisodeCard).where(EpisodeCard.workspace_id == workspace_id, EpisodeCard.card_id.in_(card_ids))
    )
    await session.execute(
        delete(EntityTelling).where(EntityTelling.workspace_id == workspace_id, EntityTelling.card_id.in_(card_ids))
    )


async def insert_cone(
    session: AsyncSession, workspace_id: uuid.UUID, cards: Sequence[ConeRows], entities: EntityIds
) -> None:
    """Write all rows but vectors and postings. An episode that is there already gets the new texts, and loses the
    vectors of the old ones. Names of titles are noted: older cards may hold them.
    """
    connection = await raw(session)
    episodes = [row for card in cards for row in card.episodes]
    await connection.execute(
        "DELETE FROM episode_vectors WHERE workspace_id = $1 AND owner_id = ANY ($2)",
        workspace_id,
        [row.id for row in episodes],
    )
    await connection.execute(
        """
        INSERT INTO episodes
            (workspace_id, id, external_id, title, title_key, summary, happened, origin, joined_to, doc, words, grams)
        SELECT $1, r.*
        FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::tstzrange[], $8::text[],
                    $9::uuid[], $10::bigint[], $11::int[], $12::int[]) AS r
        ON CONFLICT (workspace_id, id) DO UPDATE SET
            external_id = excluded.external_id, title = excluded.title, title_key = excluded.title_key,
            summary = excluded.summary, happened = excluded.happened, origin = excluded.origin,
            joined_to = excluded.joined_to, doc = excluded.doc, words = excluded.words, grams = excluded.grams
        """,
        workspace_id,
        [row.id for row in episodes],
        [row.external_id for row in episodes],
        [row.title for row in episodes],
        [row.title_key for row in episodes],
        [row.summary for row in episodes],
        [_range(row.happened) for row in episodes],
        [row.origin for row in episodes],
        [row.joined_to for row in episodes],
        [row.lexical.doc for row in episodes],
        [row.lexical.words for row in episodes],
        [row.lexical.grams for row in episodes],
    )

    async def copy(table: str, columns: str, records: Iterable[tuple[Any, ...]]) -> None:
        await connection.copy_records_to_table(
            table, columns=["workspace_id", *columns.split()], records=((workspace_id, *record) for record in records)
        )

    await copy("episode_cards", "episode_id card_id ordinal", ((row.id, row.card_id, row.ordinal) for row in episodes))
    await copy(
        "facets",
        "id episode_id card_id ordinal title description start end happened doc words grams",
        (
            (row.id, row.episode.id, row.episode.card_id, row.ordinal, row.title, row.description, row.start, row.end,
             _range(row.happened), row.lexical.doc, row.lexical.words, row.lexical.grams)
            for card in cards
            for row in card.facets
        ),
    )  # fmt: skip
    await copy(
        "points",
        "id facet_id episode_id card_id chunk_id ordinal text start end speaker happened claim_key claim_value "
        "doc words grams",
        (
            (row.id, row.facet.id, row.facet.episode.id, card.card_id, row.chunk_id, row.ordinal, row.text, row.start,
             row.end, row.speaker, _range(row.happened), row.claim_key, row.claim_value, row.lexical.doc,
             row.lexical.words, row.lexical.grams)
            for card in cards
            for row in card.points
        ),
    )  # fmt: skip
    await copy(
        "point_entities",
        "point_id entity_id",
        (
            (row.id, entity_id)
            for card in cards
            for row in card.points
            for entity_id in dict.fromkeys(entities[card.card_id, name] for name in row.entities)
        ),
    )
    await copy(
        "roles",
        "id entity_id episode_id facet_id card_id text doc words grams",
        (
            (row.id, entities[card.card_id, row.entity], row.episode.id, row.facet and row.facet.id, card.card_id,
             row.text, row.lexical.doc, row.lexical.words, row.lexical.grams)
            for card in cards
            for row in card.roles
        ),
    )  # fmt: skip
    await copy(
        "relations",
        "id card_id chunk_id source_id target_id predicate text confidence start end doc words grams",
        (
            (row.id, card.card_id, row.chunk_id, entities[card.card_id, row.source], entities[card.card_id, row.target],
             row.predicate, row.text, row.confidence, row.start, row.end, row.lexical.doc, row.lexical.words,
             row.lexical.grams)
            for card in cards
            for row in card.relations
        ),
    )  # fmt: skip
    await copy(
        "mentions",
        "chunk_id ordinal entity_id card_id start end in_title name",
        (
            (row.chunk_id, row.ordinal, entities[card.card_id, row.entity], card.card_id, row.start, row.end,
             row.in_title, row.name)
            for card in cards
            for row in card.mentions
        ),
    )  # fmt: skip
    told: dict[tuple[uuid.UUID, uuid.UUID], str] = {}
    for card in cards:
        for name, description in card.tellings.items():
            place = entities[card.card_id, name], card.card_id
            told[place] = max(told.get(place, ""), description, key=len)
    if told:
        await copy("entity_tellings", "entity_id card_id description", ((*place, said) for place, said in told.items()))
    titles = {entities[card.card_id, row.entity] for card in cards for row in card.mentions if row.in_title}
    if titles:
        await note_names(session, workspace_id, titles)


def _range(period: Period | None) -> asyncpg.Range | None:
    if period is None:
        return None
    return asyncpg.Range(
        None if period.start == OPEN_START else period.start, None if period.end == OPEN_END else period.end
    )
