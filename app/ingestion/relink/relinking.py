"""A title that arrives is a name that older cards may hold already: they are read again by rules, with all names that
are known by now, and what they say of them is linked, as if the title had been there first. The story.

A job, when a workspace has come to rest. A name is looked for once, in a bounded number of chunks that have all of its
words; what is found is written card by card, and the name is done when all of its cards are. No model is asked, chunks
stay as they are, and only texts that the workspace has not embedded yet are. Cards that a language model has read
are left alone: no name that is known tells it what to find.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.log import get
from app.db.session import Database
from app.graph import cone_queries as cone
from app.graph import entity_queries as entities
from app.graph import name_queries as names
from app.graph.name_queries import NameDue
from app.index import queries as index
from app.index.rows import CardRows, ChunkRow, StoredVector
from app.index.spaces import Spaces, WriteSpace
from app.ingestion import posted_queries, queries
from app.ingestion.embed import embedded
from app.ingestion.extract.offline import OfflineExtractor
from app.ingestion.extract.offline_names import is_name
from app.ingestion.extract.types import Extraction
from app.ingestion.learn import Before, Chunked, Failures, Learned, derive_all, read_from
from app.ingestion.link.linker import Linker, PlanOutdated
from app.ingestion.queries import CardText
from app.ingestion.relink import queries as stored
from app.ingestion.relink.changes import Change, changes, texts_needed
from app.ingestion.relink.places import chunks_with, docs_by_term, sought
from app.ingestion.routing import join_episodes
from app.ingestion.writing import insert_rows
from app.jobs.job import JobContext, NewJob
from app.jobs.queue import enqueue_many, is_asked_for
from app.text.names_marks import read_marks
from app.text.names_match import NameMatcher
from app.text.normalise import name_key
from app.text.segment import Segmenter

log = get(__name__)

RELINK: Final = "relink"
LONGEST_SECONDS: Final = 600.0
"""How long names wait for a workspace that never comes to rest; they are looked for again when it has."""
FAILED_SECONDS: Final = 600.0
_NAMES: Final = 32
_CARDS: Final = 16
_PLANS: Final = 3

Vectors = dict[uuid.UUID, StoredVector]


class Relinking:
    def __init__(self, database: Database, spaces: Spaces, segmenter: Segmenter, linker: Linker) -> None:
        self._database = database
        self._spaces = spaces
        self._segmenter = segmenter
        self._linker = linker
        self._offline = OfflineExtractor(segmenter)

    async def enqueue_due(self, longest_seconds: float = LONGEST_SECONDS) -> int:
        """Jobs for workspaces that have learned titles and come to rest; gives how many. None where one waits, works,
        or has failed lately.
        """
        async with self._database.unit() as session:
            due = [
                one
                for one in await names.list_due_workspaces(session, longest_seconds)
                if not await is_asked_for(session, one, RELINK, FAILED_SECONDS)
            ]
            await enqueue_many(session, [NewJob(RELINK, one, dedupe_key=RELINK, priority=-1) for one in due])
        return len(due)

    async def work(self, job: JobContext) -> None:
        """No payload: whatever names wait."""
        await self.run(job.workspace_id, job)

    async def run(self, workspace_id: uuid.UUID, job: JobContext | None = None) -> int:
        """Gives how many cards were changed. Raises ProviderError where the embedder cannot be reached, LeaseLost."""
        changed = 0
        async with self._database.read() as session:
            # Who is at work may have asked for names before the latest came.
            again = LONGEST_SECONDS if await names.is_being_learned(session, workspace_id) else None
        while True:
            async with self._database.read() as session:
                due = await names.list_names_due(session, workspace_id, _NAMES)
            if not due:
                return changed
            changed += await self._find(workspace_id, due, job)
            async with self._database.unit() as session:
                if job is not None:
                    await job.hold(session)
                # An entity that goes takes its names with it, under this lock.
                await cone.lock_graph(session, workspace_id)
                await names.settle_names(session, workspace_id, due, again)

    async def _find(self, workspace_id: uuid.UUID, due: Sequence[NameDue], job: JobContext | None) -> int:
        wanted = await asyncio.to_thread(lambda: [sought(name.name, self._segmenter) for name in due])
        words = sorted(frozenset().union(*(one.words for one in wanted)))
        grams = sorted(frozenset().union(*(one.grams for one in wanted)))
        async with self._database.read() as session:
            found = await stored.get_postings(session, workspace_id, words, grams)

        def place() -> list[tuple[uuid.UUID, int]]:
            docs = docs_by_term(found)
            return [
                (name.entity_id, doc) for name, one in zip(due, wanted, strict=True) for doc in chunks_with(one, docs)
            ]

        async with self._database.read() as session:
            waiting = await names.list_cards_without(session, workspace_id, await asyncio.to_thread(place))
        spelled: dict[uuid.UUID, set[str]] = defaultdict(set)
        for name in due:
            spelled[name.entity_id].add(name.name)
        by_card: dict[uuid.UUID, set[str]] = defaultdict(set)
        for entity_id, card_id in waiting:
            by_card[card_id] |= spelled[entity_id]
        ids = sorted(by_card)
        changed = 0
        for at in range(0, len(ids), _CARDS):
            changed += await self._relink(workspace_id, {one: by_card[one] for one in ids[at : at + _CARDS]})
            if job is not None:
                await job.progress("relink", (at + _CARDS) / len(ids))
        if changed:
            log.info("cards_relinked", workspace_id=str(workspace_id), cards=changed, names=len(due))
        return changed

    # ------------------------------------------------------------------------------ some cards

    async def _relink(self, workspace_id: uuid.UUID, asked: Mapping[uuid.UUID, set[str]]) -> int:
        async with self._database.read() as session:
            texts = await stored.list_texts(session, workspace_id, list(asked), "offline/")
        texts = await asyncio.to_thread(lambda: [text for text in texts if _holds(text, asked[text.card_id])])
        if not texts:
            return 0
        learned = await self._read(workspace_id, texts)
        learned = [card for card in learned if _names(card, asked[card.card_id])]
        if not learned:
            return 0
        for attempt in range(_PLANS):
            try:
                return await self._link_and_write(workspace_id, learned)
            except PlanOutdated:
                if attempt + 1 == _PLANS:
                    raise
        raise AssertionError

    async def _read(self, workspace_id: uuid.UUID, texts: Sequence[CardText]) -> list[Learned]:
        """By the rules that read them before, with the names that are known now."""
        ids = [text.card_id for text in texts]
        async with self._database.read() as session:
            before = Before(
                await posted_queries.list_posted(session, workspace_id, texts),
                await cone.list_own_episodes(session, workspace_id, ids),
            )
            chunks = await stored.list_chunks(session, workspace_id, ids)
        texts = [text for text in texts if chunks[text.card_id]]
        chunked = await asyncio.to_thread(
            lambda: [self._chunked(workspace_id, text, chunks[text.card_id]) for text in texts]
        )
        async with self._database.read() as session:
            keys = set().union(*(one.keys for one in chunked))
            known = await entities.list_names(session, workspace_id, keys)

        def read() -> list[Learned]:
            named = [one.knowing(known) for one in chunked]
            extractions: dict[uuid.UUID, Extraction] = {}
            failed: Failures = []
            for one in named:
                try:
                    extractions[one.card.card_id] = self._offline.read(one.source)
                except Exception as error:
                    failed.append((one.card, error))
            named = [one for one in named if one.card.card_id in extractions]
            learned, broken = derive_all(named, extractions, before, self._segmenter, self._offline.claims)
            for text, reason in [*failed, *broken]:
                log.error("card_not_relinked", card_id=str(text.card_id), exc_info=reason)
            return learned

        return await asyncio.to_thread(read)

    def _chunked(
        self, workspace_id: uuid.UUID, text: CardText, chunks: Sequence[tuple[uuid.UUID, int, int]]
    ) -> Chunked:
        rows = [
            ChunkRow(chunk_id, ordinal, start, end, "", "", 0, "", 0, 0, {}, {}, ())
            for ordinal, (chunk_id, start, end) in enumerate(chunks)
        ]
        return read_from(workspace_id, text, CardRows(text.card_id, text.text_version, rows), self._segmenter)

    async def _link_and_write(self, workspace_id: uuid.UUID, learned: Sequence[Learned]) -> int:
        drafts = {card.card_id: card.derived.extraction.entities for card in learned}
        ids = [card.card_id for card in learned]
        async with self._database.unit() as session:
            targets = await self._spaces.to_write(session)
        async with self._database.read() as session:
            known = await self._linker.look_up(session, workspace_id, targets[0].id, drafts)
            cones = await stored.list_cones(session, workspace_id, ids)
        plan = await asyncio.to_thread(self._linker.plan, known, drafts)
        wanted = dict(plan.texts)
        for card in learned:
            for text in texts_needed(card, cones[card.card_id]):
                wanted[text.text_hash] = card.derived.embed[text.text_hash]
        made = {target.id: await self._vectors(workspace_id, target, wanted) for target in targets}
        async with self._database.unit() as session:
            targets = await self._spaces.to_write(session)
            if any(target.id not in made for target in targets):
                raise PlanOutdated
            current = await queries.lock_current(session, workspace_id, [card.card for card in learned])
            cards = [card for card in learned if card.card_id in current]
            if not cards:
                return 0
            first, *others = targets
            given = await self._linker.write(
                session,
                workspace_id,
                (first.id, first.embedder.space),
                plan,
                made[first.id],
                sorted(current),
                [(other.id, made[other.id]) for other in others],
            )
            cones = await stored.list_cones(session, workspace_id, sorted(current))
            found = [changes(card, cones[card.card_id], given) for card in cards]
            found = [change for change in found if not change.is_empty]
            needed = {text.text_hash for change in found for text in change.card.derived.cone.texts}
            if any(not needed <= made[target.id].keys() for target in targets):
                raise PlanOutdated
            whole = [change.card for change in found if change.is_whole]
            await join_episodes(session, workspace_id, first.id, whole, made[first.id])
            await _delete(session, workspace_id, found)
            rest = [change.card for change in found]
            await insert_rows(session, workspace_id, rest, targets, made, given)
            pairs = [pair for change in found for pair in change.point_entities]
            await stored.insert_point_entities(session, workspace_id, pairs)
            of = {card.card_id: card for card in cards}
            await stored.tell_counts(session, workspace_id, {card.card_id: of[card.card_id].counts for card in rest})
        return len(found)

    async def _vectors(self, workspace_id: uuid.UUID, target: WriteSpace, wanted: Mapping[uuid.UUID, str]) -> Vectors:
        """Most of these texts were embedded when the card was learned."""
        async with self._database.read() as session:
            known = await index.list_known_vectors(session, workspace_id, target.id, list(wanted), frozenset(wanted))
        missing = [key for key in wanted if key not in known]
        if missing:
            vectors = await embedded(target.embedder, [wanted[key] for key in missing])
            known.update(zip(missing, vectors, strict=True))
        return known


async def _delete(session: AsyncSession, workspace_id: uuid.UUID, found: Sequence[Change]) -> None:
    """What is not said any more, or comes anew."""
    whole = [change.card.card_id for change in found if change.is_whole]
    if whole:
        await cone.delete_cone(session, workspace_id, whole)
    await stored.delete_rows(
        session,
        workspace_id,
        roles=[row for change in found for row in change.roles],
        relations=[row for change in found for row in change.relations],
        mentions_of=[change.card.card_id for change in found if change.card.derived.cone.mentions],
        tellings_of=[change.card.card_id for change in found if change.card.derived.cone.tellings],
        entities_of_points=[point for change in found for point in change.points],
    )


def _holds(text: CardText, spellings: set[str]) -> bool:
    """As the rules look for names that are known: not in addresses, code or front matter."""
    matcher = NameMatcher((spelling, spelling) for spelling in sorted(spellings) if is_name(spelling, marked=True))
    return bool(matcher.find(read_marks(text.content).text))


def _names(card: Learned, spellings: set[str]) -> bool:
    """Whether it names any of these, now that they are known."""
    keys = {name_key(spelling) for spelling in spellings}
    return any(
        name_key(name) in keys for draft in card.derived.extraction.entities for name in (draft.name, *draft.aliases)
    )
