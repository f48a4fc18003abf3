"""How cards are learned: read → chunk → extract → embed → link → write. The story; no arithmetic, no SQL.

Several cards go through together, so that statements and batches are shared; each is fenced by its
own version, and what goes wrong with one is said of that one. A retry goes on where the last
attempt stopped: vectors and extractions that are already paid for are kept.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import MindConeError
from app.core.log import get
from app.db.session import Database
from app.graph import cone_queries as cone
from app.graph import entity_queries as entities
from app.index import statistics
from app.index.spaces import Spaces, WriteSpace
from app.ingestion import posted_queries, queries
from app.ingestion.embed import Embedding, Texts
from app.ingestion.extract.llm import most_telling
from app.ingestion.extract.offline import OfflineExtractor
from app.ingestion.extract.types import Extraction, Extractor
from app.ingestion.learn import Before, Chunked, Failures, Learned, chunk_all, derive_all
from app.ingestion.link.linker import Linker, PlanOutdated
from app.ingestion.link.plan import Plan
from app.ingestion.link.revise import LINK
from app.ingestion.queries import CardText, Task
from app.ingestion.routing import join_episodes
from app.ingestion.settings import IngestionSettings
from app.ingestion.writing import Vectors, replace_rows
from app.jobs.job import NewJob
from app.jobs.queue import enqueue
from app.text.segment import Segmenter

log = get(__name__)

FIRST_ANALYSIS: Final = 16
"""Cards after which a process sees to it that the planner knows what is there."""
PLANS: Final = 5
"""How often a group is linked anew because others were faster."""


@dataclass(slots=True)
class Outcome:
    """What became of a group of cards; `failed` maps a card to its error code."""

    ready: int = 0
    texts: int = 0
    embedded: int = 0
    failed: dict[uuid.UUID, str] = field(default_factory=dict)


class Pipeline:
    """`find_extractor` gives the one that reads at the moment, asked for each group of cards; None: rules alone, by the
    offline extractor. With `extract` off in the settings: chunks alone.
    """

    def __init__(
        self,
        database: Database,
        spaces: Spaces,
        segmenter: Segmenter,
        settings: IngestionSettings,
        find_extractor: Callable[[], Extractor | None] = lambda: None,
    ) -> None:
        self._database = database
        self._spaces = spaces
        self._segmenter = segmenter
        self._settings = settings
        self._offline = OfflineExtractor(segmenter)
        self._find_extractor = find_extractor
        self._linker = Linker(segmenter)
        self._embedding = Embedding(database, settings)
        # Preparing is Python: several groups at once would only all be late for the embedder.
        self._preparing = asyncio.Lock()
        # Writers of one workspace wait for each other here, without a connection, and not in the database.
        self._writing: WeakValueDictionary[uuid.UUID, asyncio.Lock] = WeakValueDictionary()
        self._learned, self._analyse_at = 0, FIRST_ANALYSIS

    @property
    def linker(self) -> Linker:
        """Who links the names; what people change goes through the same one."""
        return self._linker

    async def ingest(self, workspace_id: uuid.UUID, tasks: Sequence[Task], *, last_attempt: bool = False) -> Outcome:
        """Learn these cards. Those that are done already, gone or changed are passed over.

        Raises whatever went wrong with all of them, or kept a model from reading some: the cards that are not ready
        are back in the queue by then (after the `last_attempt`: failed), and keep what was already embedded.
        """
        outcome = Outcome()
        async with self._database.unit() as session:
            texts = await queries.start_work(session, workspace_id, tasks)
        if not texts:
            return outcome
        reads = self._find_extractor() or self._offline
        try:
            learned, unread = await self._learn(workspace_id, texts, reads, outcome, last_attempt)
            if learned:
                await self._link_and_write(workspace_id, learned, reads, outcome)
            await self._analyse(outcome.ready)
            if unread is not None:
                raise unread
        except BaseException as error:
            await self._hand_back(workspace_id, texts, error, last_attempt)
            raise
        return outcome

    # ------------------------------------------------------------------------- chunk and extract

    async def _learn(
        self,
        workspace_id: uuid.UUID,
        texts: Sequence[CardText],
        reads: Extractor,
        outcome: Outcome,
        last_attempt: bool,
    ) -> tuple[list[Learned], BaseException | None]:
        """What can be written, and why the rest cannot yet."""
        waits: BaseException | None = None
        # Room for the prefix and the special tokens that the model adds to each text; of the embedder with the least.
        longest = max(min(embedder.max_tokens for embedder in self._spaces.embedders) - 32, 32)
        count_tokens = self._spaces.embedders[0].count_tokens
        target = min(self._settings.chunk_target_tokens, longest)
        async with self._database.read() as session:
            before = Before(
                await posted_queries.list_posted(session, workspace_id, texts),
                await cone.list_own_episodes(session, workspace_id, [text.card_id for text in texts]),
            )
        extracting = self._settings.extractor != "off"

        async def chunk() -> tuple[list[Chunked], Failures]:
            chunked, broken = await asyncio.to_thread(
                partial(chunk_all, with_keys=extracting),
                *(workspace_id, texts, self._segmenter, count_tokens, target, longest),
            )
            if extracting:
                async with self._database.read() as session:
                    keys = set().union(*(one.keys for one in chunked))
                    names = await entities.list_names(session, workspace_id, keys)
                chunked = [one.knowing(names) for one in chunked]
            return chunked, broken

        if reads is self._offline:
            # One group after the other, whole: were all groups chunked first, the embedder would wait for the last.
            async with self._preparing:
                chunked, broken = await chunk()
                learned, unread = await asyncio.to_thread(self._read_and_derive, chunked, before, extracting)
        else:
            async with self._preparing:
                chunked, broken = await chunk()
            extractions: dict[uuid.UUID, Extraction] = {}
            if extracting:
                extractions, waits = await self._extract(workspace_id, chunked, reads, before.posted, last_attempt)
                chunked = [one for one in chunked if one.card.card_id in extractions]
            async with self._preparing:
                learned, unread = await asyncio.to_thread(
                    derive_all, chunked, extractions, before, self._segmenter, self._offline.claims
                )
        broken += unread
        await self._say_broken(workspace_id, broken, outcome)
        return learned, waits

    def _read_and_derive(
        self, chunked: Sequence[Chunked], before: Before, extracting: bool
    ) -> tuple[list[Learned], Failures]:
        extractions = {one.card.card_id: self._read(one) for one in chunked if extracting}
        return derive_all(chunked, extractions, before, self._segmenter, self._offline.claims)

    def _read(self, one: Chunked) -> Extraction:
        """By rules. Where they fail, the card is found by its words and its chunks all the same."""
        try:
            return self._offline.read(one.source)
        except Exception as error:
            log.error("extraction_failed", card_id=str(one.card.card_id), exc_info=error)
            return Extraction()

    async def _extract(
        self,
        workspace_id: uuid.UUID,
        chunked: Sequence[Chunked],
        reads: Extractor,
        posted: Container[uuid.UUID],
        last_attempt: bool,
    ) -> tuple[dict[uuid.UUID, Extraction], BaseException | None]:
        """By a model; after the last attempt by rules, for a card is found better with these than with nothing.

        What callers left out of extractions of their own is read by rules: nobody pays for what he has already.
        Gives what was read, and the error that kept the model from the others.
        """
        async with self._database.unit() as session:
            await queries.set_step(session, workspace_id, sorted(one.card.card_id for one in chunked), "extract", 0.0)

        async def one_card(one: Chunked) -> Extraction:
            if one.card.card_id in posted:
                return await asyncio.to_thread(self._read, one)
            try:
                found = await reads.extract(one.source, final=last_attempt)
            except Exception as error:
                if not last_attempt:
                    raise
                code, _ = _told(error)
                unknown = None if isinstance(error, MindConeError) else error
                log.warning("extracted_by_rules", card_id=str(one.card.card_id), code=code, exc_info=unknown)
                found = await asyncio.to_thread(self._read, one)
                found.dropped["model_unavailable"] += 1
                return found
            return await asyncio.to_thread(self._completed, one, found)

        found = await asyncio.gather(*(one_card(one) for one in chunked), return_exceptions=True)
        errors = [result for result in found if isinstance(result, BaseException)]
        read = {
            one.card.card_id: result
            for one, result in zip(chunked, found, strict=True)
            if isinstance(result, Extraction)
        }
        return read, most_telling(errors) if errors else None

    def _completed(self, one: Chunked, found: Extraction) -> Extraction:
        """What a model has said is kept, whatever the rules make of it."""
        try:
            return self._offline.completed(one.source, found)
        except Exception as error:
            log.error("extraction_not_completed", card_id=str(one.card.card_id), exc_info=error)
            return found

    async def _say_broken(self, workspace_id: uuid.UUID, broken: Failures, outcome: Outcome) -> None:
        """The text itself cannot be worked on; the others of the group can."""
        for text, error in broken:
            log.error("card_unreadable", card_id=str(text.card_id), exc_info=error)
            outcome.failed[text.card_id] = "unreadable_content"
            async with self._database.unit() as session:
                await queries.set_failed(
                    session,
                    workspace_id,
                    [Task(text.card_id, text.text_version)],
                    "unreadable_content",
                    "This card's text could not be cut into chunks.",
                )

    # ------------------------------------------------------------------------------------- embed

    async def _link_and_write(
        self, workspace_id: uuid.UUID, learned: Sequence[Learned], reads: Extractor, outcome: Outcome
    ) -> None:
        """Embedding takes its time; when others have changed what the plan counts on, only what is new is embedded."""
        made: dict[int, Vectors] = {}
        for attempt in range(PLANS):
            async with self._database.unit() as session:
                targets = await self._targets(session)
            # What is made already waits for nobody: a group that is linked anew is written before others change more.
            known = made.get(targets[0].id, {})
            missing = sum(key not in known for card in learned for key in card.texts)
            async with self._embedding.turn(workspace_id, missing) as turn:
                plan = await self._plan_links(workspace_id, learned, targets[0].id)
                texts = Texts.of(learned, plan)
                for target in targets:
                    vectors = made.setdefault(target.id, {})
                    count = await self._embedding.embed(workspace_id, texts, target, vectors, turn)
                    outcome.texts += count.texts
                    outcome.embedded += count.embedded
            try:
                async with self._writing.setdefault(workspace_id, asyncio.Lock()):
                    await self._write(workspace_id, learned, plan, made, reads, outcome)
                return
            except PlanOutdated:
                if attempt + 1 == PLANS:
                    raise

    async def _targets(self, session: AsyncSession) -> list[WriteSpace]:
        """Where vectors go, the space that search reads first."""
        if not (targets := await self._spaces.to_write(session)):
            await self._spaces.settle(session)
            targets = await self._spaces.to_write(session)
        return targets

    async def _plan_links(self, workspace_id: uuid.UUID, learned: Sequence[Learned], space_id: int) -> Plan:
        drafts = {card.card_id: card.derived.extraction.entities for card in learned}
        async with self._database.read() as session:
            known = await self._linker.look_up(session, workspace_id, space_id, drafts)
        return await asyncio.to_thread(self._linker.plan, known, drafts)

    # ------------------------------------------------------------------------------------- write

    async def _write(
        self,
        workspace_id: uuid.UUID,
        learned: Sequence[Learned],
        plan: Plan,
        made: Mapping[int, Vectors],
        reads: Extractor,
        outcome: Outcome,
    ) -> None:
        """Raises PlanOutdated when a space came in while the texts were embedded."""
        async with self._database.unit() as session:
            targets = await self._targets(session)
            if any(target.id not in made for target in targets):
                raise PlanOutdated
            current = await queries.lock_current(session, workspace_id, [card.card for card in learned])
            cards = [card for card in learned if card.card_id in current]
            if not cards:
                return
            first, *others = targets
            # Cards first, then the graph, which the linker locks: everybody's order.
            entities = await self._linker.write(
                session,
                workspace_id,
                (first.id, first.embedder.space),
                plan,
                made[first.id],
                sorted(current),
                [(other.id, made[other.id]) for other in others],
            )
            await join_episodes(session, workspace_id, first.id, cards, made[first.id])
            await replace_rows(session, workspace_id, cards, targets, made, entities)
            await posted_queries.delete_stale(
                session, workspace_id, [(card.card_id, card.card.text_version) for card in cards]
            )
            by = "off" if self._settings.extractor == "off" else reads.version
            await queries.set_ready(session, workspace_id, {card.card_id: _told_of(card, by) for card in cards})
            if reads is not self._offline and plan.newcomers:
                # A model decides about the pairs that rules leave open; one pending job a workspace.
                await enqueue(session, NewJob(LINK, workspace_id, dedupe_key=LINK))
        outcome.ready += len(cards)

    # ----------------------------------------------------------------------------------- details

    async def _analyse(self, ready: int) -> None:
        """Whenever twice as many cards are learned as the last time: later, autovacuum is soon enough."""
        self._learned += ready
        if self._learned < self._analyse_at:
            return
        self._analyse_at = 2 * self._learned
        async with self._database.unit() as session:
            await statistics.analyse(session)

    async def _hand_back(
        self, workspace_id: uuid.UUID, texts: Sequence[CardText], error: BaseException, last_attempt: bool
    ) -> None:
        """Cards of a failed group say why they wait; losing the database as well changes nothing."""
        tasks = [Task(text.card_id, text.text_version) for text in texts]
        code, detail = _told(error)
        settle = queries.set_failed if last_attempt and isinstance(error, Exception) else queries.set_waiting
        try:
            async with self._database.unit() as session:
                await settle(session, workspace_id, tasks, code, detail)
        except (MindConeError, OSError) as second:
            log.warning("hand_back_failed", error=type(second).__name__)


def _told(error: BaseException) -> tuple[str, str]:
    """What people may know of an error."""
    if isinstance(error, MindConeError):
        return error.code, error.detail
    if isinstance(error, Exception):
        return "internal", "The work failed unexpectedly."
    return "interrupted", "The work was interrupted and will go on."


def _told_of(card: Learned, by: str) -> dict[str, object]:
    """What a card says of its extraction; `by`: the extractor, or off."""
    return {
        "by": by,
        **card.counts,
        "dropped": dict(+card.derived.extraction.dropped),
        "added": dict(+card.derived.extraction.added),
    }
