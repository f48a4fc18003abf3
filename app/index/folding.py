"""Housekeeping of the lexical index: recent docs into segments, segments into larger ones, all anew.

Each function does one bounded piece of work in the caller's transaction and is safe beside searches,
inserts and deletes; of two on one collection of a workspace the second does nothing. `fold` holds the rows of the
docs that it moves, so commit it at once: whoever deletes one of them waits. Knows nothing of text.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, any_, delete, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.locks import lock, try_lock
from app.db.session import Database, raw
from app.db.sql import load
from app.index.collections import Collection
from app.index.lexical_tables import LexBlock, LexRecent, LexSegment, LexTombstone
from app.index.postings import DOC_BYTES, LexicalRow, pack_docs, pack_terms, unpack_docs
from app.index.segments import Blocks, Segment, group_recent, merge_blocks, plan_merge

# Rows per COPY and per read of a merge: a few MB, and no more than some ms of the event loop.
_BATCH = 5_000

# doc, words, grams, word_terms, gram_terms
_Packed = Sequence[Any]


async def list_foldable(session: AsyncSession, at_least: int = 500) -> list[tuple[uuid.UUID, Collection]]:
    """Workspaces and collections for which `fold` has something to do."""
    statement = text(load("app.index", "lexical_list_foldable"))
    rows = await session.execute(statement, {"at_least": at_least})
    return [(workspace_id, Collection(collection)) for workspace_id, collection in rows]


async def fold_all(database: Database, rows: int = 500, workspace_id: uuid.UUID | None = None) -> None:
    """Recent postings into segments, segments into larger ones, wherever there are `rows` of them (or in this workspace
    alone); each step its own unit of work.
    """
    async with database.read() as session:
        foldable = await list_foldable(session, rows)
    for found, collection in foldable:
        if workspace_id is not None and found != workspace_id:
            continue
        for step in (partial(fold, at_least=rows), partial(compact, unit=rows)):
            moved = 1
            while moved:
                async with database.unit() as session:
                    moved = await step(session, found, collection=collection)


async def fold(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    at_least: int = 500,
    at_most: int = 2000,
    collection: Collection = Collection.chunk,
) -> int:
    """Move recent docs into a segment and tombstones into theirs, each once there are `at_least` of them.

    Returns how many rows moved; call it, and commit, until that is 0.
    """
    if not await _alone(session, workspace_id, collection) or not await _stays(session, workspace_id):
        return 0
    enough = max(at_least, 1)
    moved = 0
    if await _count(session, workspace_id, collection, LexRecent) >= enough:
        connection = await raw(session)
        docs = await connection.fetch(load("app.index", "lexical_take_recent"), workspace_id, collection, at_most)
        if docs:
            await _write_segment(session, workspace_id, collection, docs)
        moved += len(docs)
    if await _count(session, workspace_id, collection, LexTombstone) >= enough:
        moved += await _bury(session, workspace_id, collection)
    return moved


async def compact(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    unit: int = 500,
    fan_in: int = 8,
    dead_share: float = 0.2,
    largest: int = 250_000,
    collection: Collection = Collection.chunk,
) -> int:
    """Do the next merge that `plan_merge` asks for, without the dead docs. Returns how many segments went into it.

    A fraction of a millisecond per doc, a few MB of memory; it waits for nobody, and nobody waits for it
    until its last statement.
    """
    if not await _alone(session, workspace_id, collection):
        return 0
    sizes = await session.execute(
        select(LexSegment.seg, func.octet_length(LexSegment.members), func.octet_length(LexSegment.dead)).where(
            *_of(LexSegment, workspace_id, collection)
        )
    )
    segments = [Segment(seg, members // DOC_BYTES, dead // DOC_BYTES) for seg, members, dead in sizes]
    merged = plan_merge(segments, unit, fan_in, dead_share, largest)
    if not merged:
        return 0
    async with session.begin_nested() as savepoint:
        await _merge(session, workspace_id, collection, merged)
        if not await _stays(session, workspace_id):
            await savepoint.rollback()
            return 0
        for table in (LexBlock, LexSegment):
            await session.execute(delete(table).where(*_of(table, workspace_id, collection), table.seg.in_(merged)))
    return len(merged)


async def rebuild(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    rows: AsyncIterable[LexicalRow],
    collection: Collection = Collection.chunk,
) -> int:
    """Replace a collection's index by `rows`, one for each row of its table, read in this same session.

    The session must be fresh: REPEATABLE READ makes table and index one snapshot, so that what others
    delete or insert meanwhile keeps its tombstone or recent row. When somebody deletes a recent doc in the first
    instant this fails with SQLSTATE 40001 or 55P03: try again. Returns how many docs were indexed.
    """
    await session.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
    await lock(session, "lexical", workspace_id, collection.name)
    if not await _stays(session, workspace_id):
        return 0
    # Never wait for someone who is deleting a recent doc: they may want the next one that we hold.
    mine = select(LexRecent.doc).where(*_of(LexRecent, workspace_id, collection))
    await session.execute(mine.with_for_update(nowait=True))
    for table in (LexRecent, LexTombstone, LexSegment, LexBlock):
        await session.execute(delete(table).where(*_of(table, workspace_id, collection)))
    total = 0
    batch: list[_Packed] = []
    async for row in rows:
        batch.append((row.doc, row.words, row.grams, pack_terms(row.word_terms), pack_terms(row.gram_terms)))
        if len(batch) == _BATCH:
            await _write_segment(session, workspace_id, collection, batch)
            total += len(batch)
            batch = []
    if batch:
        await _write_segment(session, workspace_id, collection, batch)
    return total + len(batch)


_Table = type[LexRecent] | type[LexTombstone] | type[LexSegment] | type[LexBlock]


def _of(table: _Table, workspace_id: uuid.UUID, collection: Collection) -> tuple[ColumnElement[bool], ...]:
    return table.workspace_id == workspace_id, table.collection == collection


async def _alone(session: AsyncSession, workspace_id: uuid.UUID, collection: Collection) -> bool:
    """Whether nobody else is at work here; and until we commit, nobody will be."""
    return await try_lock(session, "lexical", workspace_id, collection.name)


async def _stays(session: AsyncSession, workspace_id: uuid.UUID) -> bool:
    """Whether nobody is deleting the workspace; and until we commit, nobody will."""
    statement = text(load("app.index", "lexical_keep_workspace"))
    return await session.scalar(statement, {"id": workspace_id}) is not None


async def _count(session: AsyncSession, workspace_id: uuid.UUID, collection: Collection, table: _Table) -> int:
    counted = select(func.count()).select_from(table).where(*_of(table, workspace_id, collection))
    return (await session.scalars(counted)).one()


async def _next_seg(session: AsyncSession, workspace_id: uuid.UUID, collection: Collection) -> int:
    last = select(func.coalesce(func.max(LexSegment.seg), 0)).where(*_of(LexSegment, workspace_id, collection))
    return (await session.scalars(last)).one() + 1


async def _write_segment(
    session: AsyncSession, workspace_id: uuid.UUID, collection: Collection, recent: Sequence[_Packed]
) -> None:
    seg = await _next_seg(session, workspace_id, collection)
    docs, words, grams, word_terms, gram_terms = zip(*recent, strict=True)
    members = np.array(docs, np.uint32)
    for lengths, packed in ((words, word_terms), (grams, gram_terms)):
        blocks = await asyncio.to_thread(group_recent, members, np.array(lengths, np.int64), packed)
        await _write_blocks(session, workspace_id, collection, seg, blocks)
    await session.execute(
        insert(LexSegment).values(
            workspace_id=workspace_id,
            collection=collection,
            seg=seg,
            docs=len(docs),
            words=sum(words),
            gram_docs=sum(length > 0 for length in grams),
            grams=sum(grams),
            members=pack_docs(members),
        )
    )


async def _write_blocks(
    session: AsyncSession, workspace_id: uuid.UUID, collection: Collection, seg: int, blocks: Blocks
) -> None:
    connection = await raw(session)
    packed = blocks.packed()
    key = int(collection)
    while batch := [(workspace_id, key, term, seg, postings) for term, postings in islice(packed, _BATCH)]:
        await connection.copy_records_to_table(
            "lex_block", records=batch, columns=("workspace_id", "collection", "term_hash", "seg", "postings")
        )


async def _bury(session: AsyncSession, workspace_id: uuid.UUID, collection: Collection) -> int:
    """Tell each segment which of its docs are tombstoned. Returns how many tombstones are thereby gone."""
    tombstones = await session.execute(
        select(LexTombstone.doc, LexTombstone.words, LexTombstone.grams).where(
            *_of(LexTombstone, workspace_id, collection)
        )
    )
    docs, words, grams = np.array(tombstones.all(), np.int64).T
    segments = await session.execute(
        select(LexSegment.seg, LexSegment.members).where(*_of(LexSegment, workspace_id, collection))
    )
    for seg, members in segments.all():
        mine = np.isin(docs, unpack_docs(members))
        if mine.any():
            taken = {
                "workspace_id": workspace_id,
                "collection": collection,
                "seg": seg,
                "docs": int(mine.sum()),
                "words": int(words[mine].sum()),
                "gram_docs": int((grams[mine] > 0).sum()),
                "grams": int(grams[mine].sum()),
                "gone": pack_docs(docs[mine].astype(np.uint32)),
            }
            await session.execute(text(load("app.index", "lexical_bury")), taken)
    # By name, not all: others may have written tombstones since.
    await session.execute(
        delete(LexTombstone).where(
            *_of(LexTombstone, workspace_id, collection), LexTombstone.doc == any_(docs.tolist())
        )
    )
    return len(docs)


async def _merge(session: AsyncSession, workspace_id: uuid.UUID, collection: Collection, segs: Sequence[int]) -> None:
    """Write the living postings of `segs` as one new segment beside them."""
    seg = await _next_seg(session, workspace_id, collection)
    found = await session.execute(
        select(LexSegment).where(*_of(LexSegment, workspace_id, collection), LexSegment.seg.in_(segs))
    )
    old = found.scalars().all()
    dead = np.concatenate([unpack_docs(segment.dead) for segment in old])
    async for terms, packed in _blocks_by_term(session, workspace_id, collection, segs):
        blocks = await asyncio.to_thread(merge_blocks, terms, packed, dead)
        await _write_blocks(session, workspace_id, collection, seg, blocks)
    members = np.concatenate([unpack_docs(segment.members) for segment in old])
    living = members[np.isin(members, dead, invert=True)]
    if len(living):
        await session.execute(
            insert(LexSegment).values(
                workspace_id=workspace_id,
                collection=collection,
                seg=seg,
                docs=sum(segment.docs for segment in old),
                words=sum(segment.words for segment in old),
                gram_docs=sum(segment.gram_docs for segment in old),
                grams=sum(segment.grams for segment in old),
                members=pack_docs(living),
            )
        )


async def _blocks_by_term(
    session: AsyncSession, workspace_id: uuid.UUID, collection: Collection, segs: Sequence[int]
) -> AsyncIterator[tuple[Sequence[int], Sequence[bytes]]]:
    """Terms (ascending, one per block) and blocks of these segments, in batches that split no term."""
    rows = await session.stream(
        select(LexBlock.term_hash, LexBlock.postings)
        .where(*_of(LexBlock, workspace_id, collection), LexBlock.seg.in_(segs))
        .order_by(LexBlock.term_hash),
        execution_options={"yield_per": _BATCH},
    )
    held: list[Any] = []
    async for batch in rows.partitions():
        whole = [*held, *batch]
        last = whole[-1][0]
        end = next((i for i in range(len(whole), 0, -1) if whole[i - 1][0] != last), 0)
        held = whole[end:]
        if end:
            yield [term for term, _ in whole[:end]], [postings for _, postings in whole[:end]]
    if held:
        yield [term for term, _ in held], [postings for _, postings in held]
