"""What one branch found reaches the others: condensed, compared, told once. A flow; formulas are in `insights_relate`.

Texts are embedded and models asked with no session open; what is written is fenced by how far the branch was condensed.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from app.chat import branch_queries
from app.chat import insights_queries as queries
from app.chat.blocks import Note, Turn
from app.chat.branch_tables import BranchInsight
from app.chat.condense import is_question, plain
from app.chat.insights_model import MOST, Judged, condensed, judged
from app.chat.insights_queries import NewInsight, NewLink, Waiting
from app.chat.insights_relate import RANK, Finding, Related, relate, repeats, same
from app.chat.profiles import language_of
from app.chat.queries import lock_conversation
from app.chat.settings import InsightSettings
from app.chat.tables import Branch, Message
from app.chat.tree import Tree
from app.core.log import get
from app.core.tenancy import working_for
from app.db.session import Database
from app.index.spaces import Spaces
from app.jobs.job import JobContext, NewJob
from app.jobs.queue import enqueue
from app.providers.ladder import NotJson
from app.providers.offline_pick import Terms, digest
from app.providers.offline_text import Splitter
from app.providers.ports import ChatProvider, ProviderError, Source

log = get(__name__)

INSIGHTS: Final = "insights"
OFFLINE: Final = "offline"

_MESSAGES: Final = 50
_CANDIDATES: Final = 12
# What says less is no finding; of what users say most is asking and telling what to do.
_LEAST_WORDS: Final = {"assistant": 2, "user": 4}
_MOST_CHARS: Final = 400
# Of another branch, what findings are compared with, besides its own insights.
_COMPARED_MESSAGES: Final = 8
_COMPARED_SENTENCES: Final = 16
_COMPARED_BRANCHES: Final = 24
_JUDGED_PAIRS: Final = 20
_UNLINKED: Final = 100
_NIL: Final = uuid.UUID(int=0)
# [[Note|called so]] is what it is called.
_LINK: Final = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")

FindProvider = Callable[[], ChatProvider | None]


_Told = tuple[uuid.UUID, str]
"""What was said in a branch, with the id of what says it; ids are in the order of time."""


@dataclass(slots=True)
class _Read:
    """What one unit of reading found; then the vectors of what was compared, by text."""

    branch: Branch
    tree: Tree
    messages: Sequence[Message]
    told: Sequence[tuple[uuid.UUID, str]]
    insights: Sequence[BranchInsight]
    linked: set[tuple[uuid.UUID, uuid.UUID]]
    compared: queries.Compared
    ordinals: Mapping[uuid.UUID, int]
    others: Mapping[uuid.UUID, Sequence[_Told]]
    open_at: uuid.UUID | None
    """The first message that is still being said: what comes after it may get company before it."""
    vectors: dict[str, np.ndarray]
    kept: frozenset[str]
    """Texts of insights whose vector is stored."""


@dataclass(slots=True)
class _Thought:
    insights: list[NewInsight] = field(default_factory=list)
    made_by: str = OFFLINE


@dataclass(frozen=True, slots=True)
class _Pair:
    """An insight, and what is known in a branch that it may mean something to, and was not compared yet. Afterwards
    nothing up to `until` is left to compare.
    """

    insight_id: uuid.UUID
    branch_id: uuid.UUID
    new: Finding
    olds: Sequence[Finding]
    until: uuid.UUID


class Insights:
    """`find_provider` gives the model that condenses and compares, or None: then rules do."""

    def __init__(
        self,
        database: Database,
        spaces: Spaces,
        settings: InsightSettings,
        *,
        sentences: Splitter,
        terms: Terms,
        find_provider: FindProvider = lambda: None,
    ) -> None:
        self._database = database
        self._spaces = spaces
        self._settings = settings
        self._sentences = sentences
        self._terms = terms
        self._find_provider = find_provider

    # ------------------------------------------------------------------------- in a turn

    async def notes(
        self, workspace_id: uuid.UUID, conversation_id: uuid.UUID, branch_id: uuid.UUID, question: str
    ) -> list[Note]:
        """What a branch is to be told of others, the most important first; then what was found elsewhere that nobody
        saw a link of, and the question is about.
        """
        most = self._settings.insight_told_most
        async with self._database.read() as session:
            if not await queries.are_elsewhere(session, workspace_id, conversation_id, branch_id):
                return []
            waiting = await queries.list_waiting(session, workspace_id, branch_id, most)
            others = await queries.list_unlinked(session, workspace_id, conversation_id, branch_id, _UNLINKED)
            tree = await branch_queries.get_tree(session, workspace_id, conversation_id) if others else Tree()
        others = [one for one in others if not _knows(tree, branch_id, one[0].branch_id, one[2])]
        if others and len(waiting) < most:
            waiting += (await asyncio.to_thread(self._asked_about, question, others))[: most - len(waiting)]
        return [_note(one, place) for place, one in enumerate(waiting)]

    def _asked_about(
        self, question: str, insights: Sequence[tuple[BranchInsight, str | None, int | None]]
    ) -> list[Waiting]:
        """The nearest first."""
        asked = self._finding(question)
        found = [
            Waiting(one.id, one.text, label, one.branch_id, "related", related.reason, related.strength)
            for one, label, _ in insights
            if (related := relate(self._finding(one.text), asked, 0.0, 1.0)) is not None
        ]
        return sorted(found, key=lambda one: -one.similarity)

    async def note_delivered(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        branch_id: uuid.UUID,
        message_id: uuid.UUID,
        notes: Sequence[Note],
    ) -> None:
        """In the unit of work that completes the answer whose prompt held them."""
        told = [note.id for note in notes if note.id is not None]
        await queries.note_delivered(session, workspace_id, branch_id, message_id, told)

    async def enqueue_if_due(self, session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID) -> bool:
        """In the unit of work that completes an answer. Locks the branch's waiting job: call it late."""
        asked = await queries.count_asked_since(session, workspace_id, branch_id)
        if asked < self._settings.insight_every_messages:
            return False
        job = NewJob(INSIGHTS, workspace_id, {"branch": str(branch_id)}, dedupe_key=str(branch_id), priority=-1)
        await enqueue(session, job)
        return True

    # ------------------------------------------------------------------------- condensing

    async def run(self, job: JobContext) -> None:
        """Payload: `branch`. One that is gone is nothing to do. Twice is once."""
        with working_for(job.workspace_id):
            await self.condense(job.workspace_id, uuid.UUID(job.payload["branch"]), job)

    async def condense(self, workspace_id: uuid.UUID, branch_id: uuid.UUID, job: JobContext | None = None) -> int:
        """Make insights of what is new in a branch, and compare all of its conversation that was not compared; gives
        how many are new. What was compared once, related or not, is not compared again.
        """
        read = await self._read(workspace_id, branch_id)
        if read is None:
            return 0
        thought = await self._thought(read)
        made: list[BranchInsight] = []
        if read.messages:
            until = max(message.ordinal for message in read.messages)
            async with self._database.unit() as session:
                await self._hold(session, read.branch, job)
                if await queries.advance(session, workspace_id, branch_id, read.branch.condensed_ordinal, until):
                    made = await queries.insert_insights(session, read.branch, thought.insights, thought.made_by)
        everything = [*read.insights, *made]
        pairs = await asyncio.to_thread(self._pairs, read, everything)
        links = await self._links(read, pairs)
        fresh = {
            one.id: read.vectors[one.text]
            for one in everything
            if one.text in read.vectors and one.text not in read.kept
        }
        if pairs or fresh:
            async with self._database.unit() as session:
                await self._hold(session, read.branch, job)
                await queries.insert_links(session, workspace_id, links)
                compared = {(pair.insight_id, pair.branch_id): pair.until for pair in pairs}
                await queries.put_compared(session, workspace_id, compared)
                await queries.put_vectors(session, workspace_id, self._space_key, fresh)
        log.info(
            "branch_condensed", branch_id=str(branch_id), insights=len(made), compared=len(pairs), links=len(links)
        )
        return len(made)

    @property
    def _space_key(self) -> str:
        return self._spaces.embedders[0].space.key

    async def _hold(self, session: AsyncSession, branch: Branch, job: JobContext | None) -> None:
        """No branch goes until commit. The conversation first: a turn holds it while it enqueues this very job."""
        await lock_conversation(session, branch.workspace_id, branch.conversation_id)
        if job is not None:
            await job.hold(session)

    async def _read(self, workspace_id: uuid.UUID, branch_id: uuid.UUID) -> _Read | None:
        async with self._database.read() as session:
            branch = await session.get(Branch, (workspace_id, branch_id))
            if branch is None:
                return None
            tree = await branch_queries.get_tree(session, workspace_id, branch.conversation_id)
            others: dict[uuid.UUID, list[_Told]] = {}
            for other in list(tree.nodes)[-_COMPARED_BRANCHES:]:
                # A branch that has said little yet is what led to it.
                recent = await branch_queries.list_recent(session, workspace_id, tree.path(other), _COMPARED_MESSAGES)
                label = tree.nodes[other].label
                said = [(message.id, plain(_turn(message))) for message in recent]
                others[other] = [*([(other, label)] if label else []), *said]
            vectors = await queries.list_vectors(session, workspace_id, branch.conversation_id, self._space_key)
            return _Read(
                branch,
                tree,
                await queries.list_since(session, workspace_id, branch_id, branch.condensed_ordinal, _MESSAGES),
                await queries.list_told(session, workspace_id, branch_id),
                await queries.list_of_conversation(session, workspace_id, branch.conversation_id),
                await queries.list_linked(session, workspace_id, branch.conversation_id),
                await queries.list_compared(session, workspace_id, branch.conversation_id),
                await queries.list_ordinals(session, workspace_id, branch.conversation_id),
                others,
                await queries.find_first_open(session, workspace_id, branch.conversation_id),
                vectors,
                frozenset(vectors),
            )

    async def _thought(self, read: _Read) -> _Thought:
        """At most three findings that nobody has yet."""
        said = [(message, plain(_turn(message))) for message in read.messages if message.status == "complete"]
        said = [(message, text) for message, text in said if text]
        thought = _Thought()
        if not any(message.role == "assistant" for message, _ in said):
            return thought
        found, thought.made_by = await self._found(said)
        if not found:
            return thought
        told = [(insight_id, self._finding(text)) for insight_id, text in read.told]
        known = [self._finding(one.text) for one in read.insights]
        candidates = [self._finding(text) for _, text in found]
        await self._embed(read, [one.text for one in (*candidates, *known)])
        kept: list[Finding] = []
        for (message, _), finding in zip(found, candidates, strict=True):
            near = self._settings.insight_same_cosine
            if any(same(finding, one, _cosine(read, finding, one), near) for one in (*known, *kept)):
                continue
            kept.append(finding)
            echo = next((insight_id for insight_id, one in told if repeats(finding, one)), None)
            thought.insights.append(NewInsight(finding.text, message.id, echo))
            if len(kept) == MOST:
                break
        return thought

    async def _found(self, said: Sequence[tuple[Message, str]]) -> tuple[list[tuple[Message, str]], str]:
        provider = self._find_provider()
        if provider is not None:
            model = self._settings.insight_model or provider.default_model
            try:
                asked = [(message.role, text) for message, text in said]
                found = await condensed(provider, self._settings.insight_model, asked)
                return [(said[place][0], text) for place, text in found], f"{provider.name}/{model}"
            except (NotJson, ProviderError) as error:
                # A branch is condensed all the same; what rules find is true, too.
                log.warning("insights_by_rules", code=error.code)
        return await asyncio.to_thread(self._extracted, said), OFFLINE

    def _extracted(self, said: Sequence[tuple[Message, str]]) -> list[tuple[Message, str]]:
        """The sentences that say most of what was said: of the answers first, then what the user states."""
        by_source = {str(n): message for n, (message, _) in enumerate(said)}
        found: list[tuple[Message, str]] = []
        for role in ("assistant", "user"):
            sources = [Source(str(n), "", text) for n, (message, text) in enumerate(said) if message.role == role]
            for quote in digest(sources, self._sentences, self._terms, _CANDIDATES):
                text = " ".join(_LINK.sub(r"\1", quote.sentence.text).split())[:_MOST_CHARS]
                if is_question(text) or len(set(self._terms(text).words)) < _LEAST_WORDS[role]:
                    continue
                found.append((by_source[quote.source.marker], text))
        return list({text: (message, text) for message, text in reversed(found)}.values())[::-1]

    # ------------------------------------------------------------------------- comparing

    async def _links(self, read: _Read, pairs: Sequence[_Pair]) -> list[NewLink]:
        """What each insight means to each branch that has not been told of it and did not find it itself."""
        await self._embed(read, [one.text for pair in pairs for one in (pair.new, *pair.olds)])
        best = await asyncio.to_thread(self._best, read, pairs)
        opinions, made_by = await self._opinions([(pair.new.text, old.text) for pair, old, _ in best])
        links: list[NewLink] = []
        for nth, (pair, _, related) in enumerate(best):
            opinion = opinions.get(nth, Judged(related.relation, related.reason))
            if opinion.relation is not None:
                by = made_by if nth in opinions else "rules"
                reason = opinion.reason or related.reason
                links.append(NewLink(pair.insight_id, pair.branch_id, opinion.relation, reason, related.strength, by))
        return links

    def _pairs(self, read: _Read, insights: Sequence[BranchInsight]) -> list[_Pair]:
        own: dict[uuid.UUID, list[_Told]] = {}
        at = {message.id: message.ordinal for message in read.messages}
        placed = dict(read.ordinals)
        placed |= {one.id: at[one.source_message_id] for one in insights if one.source_message_id in at}
        for one in insights:
            own.setdefault(one.branch_id, []).append((one.id, one.text))
        finding = cache(self._finding)

        @cache
        def known(other: uuid.UUID) -> list[_Told]:
            # What was found there was mostly said there in the same words, and compared when it was said.
            first: dict[str, uuid.UUID] = {}
            for at, text in (*own.get(other, ()), *self._stretches(read.others[other])):
                first[text] = min(at, first.get(text, at))
            return [(at, text) for text, at in first.items()]

        pairs = []
        for one in insights:
            for other in read.others if not one.is_echo else ():
                after = read.compared.get((one.id, other), _NIL)
                olds = [(at, text) for at, text in known(other) if at > after]
                if (
                    olds
                    and other != one.branch_id
                    and (one.id, other) not in read.linked
                    and not _knows(read.tree, other, one.branch_id, placed.get(one.id))
                ):
                    findings = [finding(text) for _, text in olds]
                    settled = (at for at, _ in olds if read.open_at is None or at < read.open_at)
                    pairs.append(_Pair(one.id, other, finding(one.text), findings, max(settled, default=after)))
        return pairs

    def _best(self, read: _Read, pairs: Sequence[_Pair]) -> list[tuple[_Pair, Finding, Related]]:
        """Of each pair what says most, if anything does."""
        gate = self._settings.insight_gate_cosine
        best: list[tuple[_Pair, Finding, Related]] = []
        for pair in pairs:
            found = [
                (old, related)
                for old in pair.olds
                if (related := relate(pair.new, old, _cosine(read, pair.new, old), gate)) is not None
            ]
            if found:
                old, related = min(found, key=lambda one: (RANK[one[1].relation], -one[1].strength))
                best.append((pair, old, related))
        return best

    async def _opinions(self, pairs: Sequence[tuple[str, str]]) -> tuple[Mapping[int, Judged], str]:
        provider = self._find_provider() if pairs else None
        if provider is None:
            return {}, "rules"
        made_by = f"{provider.name}/{self._settings.insight_model or provider.default_model}"
        try:
            return await judged(provider, self._settings.insight_model, pairs[:_JUDGED_PAIRS]), made_by
        except (NotJson, ProviderError) as error:
            log.warning("insights_compared_by_rules", code=error.code)
            return {}, "rules"

    def _stretches(self, told: Sequence[_Told]) -> list[_Told]:
        """The sentences said last, each once: by whoever said it first of these."""
        found: dict[str, uuid.UUID] = {}
        for at, text in reversed(told):
            for start, end in self._sentences(text):
                sentence = text[start:end].strip()[:_MOST_CHARS]
                found[sentence] = min(at, found.get(sentence, at))
        return [(at, sentence) for sentence, at in found.items() if sentence][:_COMPARED_SENTENCES]

    def _finding(self, text: str) -> Finding:
        return Finding.of(text, lambda one: self._terms(one).words)

    async def _embed(self, read: _Read, texts: Sequence[str]) -> None:
        """What was not yet; nothing where there is no embedder: words alone decide then."""
        wanted = list(dict.fromkeys(texts))
        new = [text for text in wanted if text not in read.vectors]
        if len(wanted) < 2 or not new:
            return
        try:
            found = await self._spaces.embedders[0].queries(new)
        except ProviderError as error:
            log.warning("insights_not_embedded", code=error.code)
            return
        read.vectors.update(zip(new, found.dense, strict=True))


def _turn(message: Message) -> Turn:
    return Turn("user" if message.role == "user" else "assistant", message.content)


def _knows(tree: Tree, branch_id: uuid.UUID, found_in: uuid.UUID, ordinal: int | None) -> bool:
    """Whether what was found there, at that place, is on the way to the branch: then it is told already."""
    if branch_id not in tree.nodes:
        return True
    return any(
        stretch.branch_id == found_in and (stretch.until is None or ordinal is None or ordinal <= stretch.until)
        for way in tree.ways_to(branch_id)
        for stretch in way
    )


def _cosine(read: _Read, one: Finding, other: Finding) -> float:
    left, right = read.vectors.get(one.text), read.vectors.get(other.text)
    return 0.0 if left is None or right is None else float(left @ right)


_HEADS: Final = {
    "en": {
        "contradicts": "Contradicts this branch",
        "extends": "Adds to this branch",
        "related": "On the same subject",
    },
    "zh": {"contradicts": "与本分支矛盾", "extends": "补充本分支", "related": "与本分支相关"},
}


def _note(one: Waiting, place: int) -> Note:
    """With what it means here in its label: the text alone is the other branch's."""
    language = language_of(one.text)
    head = _HEADS[language][one.relation]
    label = one.branch_label or ("主线" if language == "zh" else "main branch")
    return Note(f"{label} · {head}", one.text, score=-float(place), id=one.insight_id)
