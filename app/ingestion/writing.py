"""All rows that a group of cards gets instead of its old ones. The order matters: what owns a vector comes before it.

Belongs in the unit of work that holds the cards and the graph.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from app.graph import cone_queries as cone
from app.graph.cone_queries import EntityIds
from app.graph.vectors import VectorEntry, VectorTable, insert_vectors
from app.index import lexical
from app.index import queries as index
from app.index.collections import Collection
from app.index.postings import LexicalRow
from app.index.rows import StoredVector
from app.index.spaces import WriteSpace
from app.ingestion.learn import Learned

Vectors = dict[uuid.UUID, StoredVector]
"""By text hash."""


async def replace_rows(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    cards: Sequence[Learned],
    targets: Sequence[WriteSpace],
    made: Mapping[int, Vectors],
    entities: EntityIds,
) -> None:
    """`made`: the vectors of each target space; `entities`: what each name of each card means."""
    ids = sorted(card.card_id for card in cards)
    await index.delete_chunks(session, workspace_id, ids)
    await cone.delete_cone(session, workspace_id, ids)
    await _write_chunks(session, workspace_id, cards, targets, made)
    await insert_rows(session, workspace_id, cards, targets, made, entities)
    await index.drop_staged(session, workspace_id, ids)


async def insert_rows(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    cards: Sequence[Learned],
    targets: Sequence[WriteSpace],
    made: Mapping[int, Vectors],
    entities: EntityIds,
) -> None:
    """All but the chunks, beside what is there."""
    await _number(session, cards)
    await cone.insert_cone(session, workspace_id, [card.derived.cone for card in cards], entities)
    await _write_words(session, workspace_id, cards)
    for target in targets:
        await _write_vectors(session, workspace_id, target.id, cards, made[target.id])


async def _write_chunks(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    cards: Sequence[Learned],
    targets: Sequence[WriteSpace],
    made: Mapping[int, Vectors],
) -> None:
    rows = [card.rows for card in cards]
    docs = await index.insert_chunks(session, workspace_id, rows)
    for target in targets:
        space = (target.id, target.embedder.space)
        await index.insert_windows(session, workspace_id, space, rows, made[target.id])
    recent = [
        LexicalRow(docs[chunk.id], chunk.words, chunk.grams, chunk.word_terms, chunk.gram_terms)
        for card in rows
        for chunk in card.chunks
    ]
    await lexical.insert_recent(session, workspace_id, recent)


async def _number(session: AsyncSession, cards: Sequence[Learned]) -> None:
    """Every row that is found by words gets its number in the postings."""
    counted = [words for card in cards for _, words, _ in card.derived.counted]
    for words, doc in zip(counted, await cone.take_docs(session, len(counted)), strict=True):
        words.doc = doc


async def _write_words(session: AsyncSession, workspace_id: uuid.UUID, cards: Sequence[Learned]) -> None:
    rows: dict[Collection, list[LexicalRow]] = defaultdict(list)
    for card in cards:
        for collection, words, counted in card.derived.counted:
            rows[collection].append(
                LexicalRow(words.doc, counted.words, counted.grams, counted.word_terms, counted.gram_terms)
            )
    for collection, some in rows.items():
        await lexical.insert_recent(session, workspace_id, some, collection)


async def _write_vectors(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space_id: int,
    cards: Sequence[Learned],
    vectors: Vectors,
) -> None:
    rows: dict[VectorTable, list[VectorEntry]] = defaultdict(list)
    for card in cards:
        for text in card.derived.cone.texts:
            entry = VectorEntry(text.owner_id, text.role, text.text_hash, vectors[text.text_hash].dense)
            rows[text.table].append(entry)
    for table, some in rows.items():
        await insert_vectors(session, workspace_id, space_id, table, some)
