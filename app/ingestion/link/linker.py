"""From the names that cards use to entities: read, plan, embed, write. The story; no arithmetic, no SQL.

`look_up` and `plan` before the vectors are made, `write` in the unit of work that writes the cards: it looks again
under the graph's lock, because others have written in the meantime.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import Conflict
from app.graph import cone_queries, entity_queries
from app.graph.entity_queries import EntityWrite, Side, StoredEntity
from app.graph.vector_tables import EntityVector, TextRole
from app.graph.vectors import VectorEntry, insert_vectors
from app.index import lexical
from app.index import queries as index
from app.index.collections import Collection, TextKind
from app.index.postings import LexicalRow
from app.index.rows import StoredVector, text_hash
from app.index.terms import word_hash
from app.ingestion.link import plan as planning
from app.ingestion.link.blocks import blocks
from app.ingestion.link.match import NEIGHBOURS, Matched, Matcher, near_each_other
from app.ingestion.link.plan import Drafts, Known, Names, Newcomer, Place, Plan
from app.ingestion.link.thresholds import Thresholds, thresholds_for
from app.ingestion.prepare import Counted, count_terms
from app.ingestion.texts import entity_text
from app.providers.ports import EmbeddingSpace
from app.text.segment import Segmenter, Terms

MOST_BLOCK_PARTNERS = 300
PATIENCE_SECONDS = 120
"""Learning can wait for who is writing; a person who merges two names is told sooner."""

SpaceVectors = tuple[int, Mapping[uuid.UUID, StoredVector]]
"""A space's row id, and vectors of it by text hash."""


class PlanOutdated(Conflict):
    """Entities that this plan counted on have gone in the meantime; look up and plan again."""

    code = "link_plan_outdated"


class Linker:
    """`thresholds` replaces the table's for every space, where a calibration has measured them."""

    def __init__(self, segmenter: Segmenter, thresholds: Thresholds | None = None) -> None:
        self._segmenter = segmenter
        self._thresholds = thresholds

    async def look_up(self, session: AsyncSession, workspace_id: uuid.UUID, space_id: int, drafts: Drafts) -> Known:
        """What is there under the names of these drafts. Reads only."""
        names = await asyncio.to_thread(planning.read, drafts)
        return await self._look_up(session, workspace_id, names)

    async def _look_up(self, session: AsyncSession, workspace_id: uuid.UUID, names: Names) -> Known:
        keys = planning.keys_of(names)
        if not keys:
            return Known([], {}, [], names)
        places = await entity_queries.list_places(session, workspace_id, names)
        words = await entity_queries.list_words(session, workspace_id, keys)
        told = {key for word in words if word.outcome == "merged" for key in (word.left_key, word.right_key)}
        entities = await entity_queries.list_stored(
            session, workspace_id, keys=keys | told, ids=set(places.values()), cards=names
        )
        return Known(entities, places, words, names)

    def plan(self, known: Known, drafts: Drafts | None = None) -> Plan:
        """Which names are known, which are new; `texts` need vectors. Pure, and CPU-heavy: call it in a thread. The
        drafts are those that were looked up, and read already.
        """
        plan = planning.make(known)
        for new in plan.newcomers:
            self._count(plan, new)
        for changed in plan.changed:
            self._count(plan, changed.after)
        return plan

    async def write(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        space: tuple[int, EmbeddingSpace],
        plan: Plan,
        vectors: Mapping[uuid.UUID, StoredVector],
        cards: Iterable[uuid.UUID] | None = None,
        also: Sequence[SpaceVectors] = (),
    ) -> dict[Place, uuid.UUID]:
        """Write what is new and what has changed; gives the entity of every name in every card. `cards`: those of the
        plan that are still to be written; without them all. Mentions, relations and roles are the caller's.

        Takes the graph's lock, after the caller's locks on cards. `vectors` by text hash, at least of `plan.texts`;
        `also` the same of the other spaces that are written. Raises PlanOutdated when a text has none.
        """
        wanted = set(plan.known.names if cards is None else cards)
        names = {card: found for card, found in plan.known.names.items() if card in wanted}
        await cone_queries.lock_graph(session, workspace_id, patience_seconds=PATIENCE_SECONDS)
        known = await self._look_up(session, workspace_id, names)
        current = plan
        if known != plan.known:
            current = planning.make(known)
            current.counted = plan.counted
        needed = [text_hash(new.text) for new in current.newcomers]
        needed += [text_hash(_text_of(changed.after)) for changed in current.changed]
        if any(key not in made for key in needed for made in (vectors, *(made for _, made in also))):
            raise PlanOutdated
        matched = await self._match(session, workspace_id, space, known, current, vectors)
        written = [(space[0], vectors), *also]
        await self._insert(session, workspace_id, current, matched, written)
        await self._update(session, workspace_id, current, written)
        for merge in matched.merges:
            await entity_queries.set_merged(session, workspace_id, [merge.one.id, *merge.moved], merge.into)
        await entity_queries.insert_pairs(session, workspace_id, space[0], matched.pairs)
        joined = {*matched.roots, *(one for merge in matched.merges for one in (merge.one.id, *merge.moved))}
        if joined:
            await entity_queries.settle_joined_pairs(session, workspace_id, sorted(joined))
        await entity_queries.insert_decisions(session, workspace_id, matched.decisions)
        return current.given

    # ------------------------------------------------------------------------------------ layer 2

    async def _match(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        space: tuple[int, EmbeddingSpace],
        known: Known,
        plan: Plan,
        vectors: Mapping[uuid.UUID, StoredVector],
    ) -> Matched:
        thresholds = self._thresholds or thresholds_for(space[1].key)
        asking = [new for new in plan.newcomers if new.description or not thresholds.only_asks]
        dense = {new.id: vectors[text_hash(new.text)].dense for new in asking}
        near = near_each_other(list(dense), list(dense.values()), thresholds)
        if dense:
            indexed = await index.has_vector_index(session, space[0], TextKind.entity)
            found = await entity_queries.list_nearest(
                session,
                workspace_id,
                space[0],
                list(dense.values()),
                NEIGHBOURS,
                thresholds.floor,
                bare_names=not thresholds.only_asks,
                indexed=indexed,
            )
            for new_id, neighbours in zip(dense, found, strict=True):
                near.setdefault(new_id, []).extend(neighbours)
        docs = await self._sharing_blocks(session, workspace_id, plan.newcomers)
        ids = {other for neighbours in near.values() for other, _ in neighbours} - dense.keys()
        partners = (
            await entity_queries.list_stored(session, workspace_id, ids=ids, docs=docs, cards=plan.known.names)
            if ids or docs
            else []
        )
        groups = await self._groups(session, workspace_id, known, plan, partners)
        return Matcher(plan, known, partners, near, groups, thresholds).run()

    async def _groups(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        known: Known,
        plan: Plan,
        partners: Iterable[StoredEntity],
    ) -> dict[uuid.UUID, list[Side]]:
        """Who stands for whom, where it can matter: people have had their say, or two that are there may become one."""
        if not known.words and all(changed.after.names == changed.before.names for changed in plan.changed):
            return {}
        roots = {entity.root for entity in (*known.entities, *partners)}
        groups = await entity_queries.list_groups(session, workspace_id, roots)
        keys = {side.key for sides in groups.values() for side in sides} | {new.key for new in plan.newcomers}
        known.words = await entity_queries.list_words(session, workspace_id, keys)
        return groups

    async def _sharing_blocks(
        self, session: AsyncSession, workspace_id: uuid.UUID, newcomers: Sequence[Newcomer]
    ) -> list[int]:
        """Numbers of the entities whose names meet a newcomer's in some block."""
        terms = {_block_term(block) for new in newcomers for block in blocks(new.name, new.kind)}
        if not terms:
            return []
        hits = await lexical.search_lexical(session, workspace_id, sorted(terms), collection=Collection.entity)
        return [int(doc) for doc in hits.top(MOST_BLOCK_PARTNERS)[0]]

    # ------------------------------------------------------------------------------------ writing

    async def _insert(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        plan: Plan,
        matched: Matched,
        written: Sequence[SpaceVectors],
    ) -> None:
        newcomers = plan.newcomers
        counted = {new.id: self._count(plan, new) for new in plan.newcomers}
        rows = [
            EntityWrite(
                *(new.id, new.name, new.key, new.kind, new.sense, new.type, new.description),
                *(counted[new.id].words, counted[new.id].grams),
                new.names,
                matched.roots.get(new.id),
            )
            for new in newcomers
        ]
        docs = await entity_queries.insert_entities(session, workspace_id, rows)
        await self._index(session, workspace_id, docs, counted)
        entries = [(new.id, text_hash(new.text), bool(new.description)) for new in newcomers]
        for space_id, vectors in written:
            await _insert_vectors(session, workspace_id, space_id, entries, vectors)

    async def _update(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        plan: Plan,
        written: Sequence[SpaceVectors],
    ) -> None:
        if not plan.changed:
            return
        after = [changed.after for changed in plan.changed]
        await self._rewrite(session, workspace_id, after, plan, edited=False)
        entries = [(e.id, text_hash(_text_of(e)), bool(e.description)) for e in after]
        for space_id, vectors in written:
            await entity_queries.delete_vectors(session, workspace_id, space_id, [e.id for e in after])
            await _insert_vectors(session, workspace_id, space_id, entries, vectors)

    async def create(self, session: AsyncSession, workspace_id: uuid.UUID, entity: StoredEntity) -> None:
        """Write one new entity, without its vector."""
        counted = self._count(None, entity)
        row = EntityWrite(
            *(entity.id, entity.name, entity.key, entity.kind, entity.sense, entity.type, entity.description),
            *(counted.words, counted.grams, entity.names),
        )
        docs = await entity_queries.insert_entities(session, workspace_id, [row])
        await self._index(session, workspace_id, docs, {entity.id: counted})

    async def edit(self, session: AsyncSession, workspace_id: uuid.UUID, entity: StoredEntity) -> None:
        """Write one entity as a person wants it, with its names and postings, without its vector."""
        await self._rewrite(session, workspace_id, [entity], None, edited=True)

    async def describe(self, session: AsyncSession, workspace_id: uuid.UUID, entities: Sequence[StoredEntity]) -> None:
        """Write what is said of these now, without their vectors. Under the graph's lock."""
        await self._rewrite(session, workspace_id, entities, None, edited=False)
        await entity_queries.delete_all_vectors(session, workspace_id, [entity.id for entity in entities])

    async def _rewrite(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        after: Sequence[StoredEntity],
        plan: Plan | None,
        *,
        edited: bool,
    ) -> None:
        counted = {e.id: self._count(plan, e) for e in after}
        rows = [
            EntityWrite(
                *(e.id, e.name, e.key, e.kind, e.sense, e.type, e.description),
                *(counted[e.id].words, counted[e.id].grams),
                e.names,
            )
            for e in after
        ]
        docs = await entity_queries.update_entities(session, workspace_id, rows, edited=edited)
        await self._index(session, workspace_id, docs, counted)

    async def _index(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        docs: Mapping[uuid.UUID, int],
        counted: Mapping[uuid.UUID, Counted],
    ) -> None:
        if not docs:
            return
        rows = [
            LexicalRow(doc, counted[id_].words, counted[id_].grams, counted[id_].word_terms, counted[id_].gram_terms)
            for id_, doc in docs.items()
        ]
        await lexical.insert_recent(session, workspace_id, rows, Collection.entity)

    def _count(self, plan: Plan | None, one: Newcomer | StoredEntity) -> Counted:
        """Words of the names, like a title's, and of the description; the name's blocks stand with them, but count for
        nothing. Once per plan.
        """
        text = entity_text(one.name, one.aliases, one.description)
        if plan is not None and (known := plan.counted.get((text, one.kind))) is not None:
            return known
        title = self._segmenter.terms(" ".join((one.name, *one.aliases)))
        body = self._segmenter.terms(one.description) if one.description else Terms()
        counted = count_terms(title, body)
        counted.word_terms.update((_block_term(block), 1) for block in blocks(one.name, one.kind))
        if plan is not None:
            plan.counted[text, one.kind] = counted
        return counted


def _text_of(entity: StoredEntity) -> str:
    return entity_text(entity.name, entity.aliases, entity.description)


def _block_term(block: str) -> int:
    # No word has a space in front.
    return word_hash(" " + block)


async def _insert_vectors(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space_id: int,
    entries: Iterable[tuple[uuid.UUID, uuid.UUID, bool]],
    vectors: Mapping[uuid.UUID, StoredVector],
) -> None:
    rows = [VectorEntry(owner, TextRole.own, key, vectors[key].dense, described) for owner, key, described in entries]
    await insert_vectors(session, workspace_id, space_id, EntityVector, rows)
