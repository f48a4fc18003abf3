"""What a turn is told of its conversation: the branch so far, the way to it by its profile, and where it stands.

One short unit of reading; then, once for a way, a model that condenses it, with no session open.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from sqlalchemy.ext.asyncio import AsyncSession

from app.budget.count import TokenCounter, counter_for
from app.chat import branch_queries
from app.chat.answer import OFFLINE, Ask
from app.chat.blocks import Note, Turn, fenced
from app.chat.branch_queries import CitedCard
from app.chat.condense import PROMPTS, condense, plain, recalled
from app.chat.profiles import instructions_of, language_of
from app.chat.queries import BranchNotFound
from app.chat.settings import BranchSettings
from app.chat.tables import Message
from app.chat.topology import Cited, Reference, asked_branches, called, earlier, topology
from app.chat.tree import Stretch, Tree
from app.core.log import get
from app.db.session import Database
from app.providers import ports
from app.providers.offline_pick import Terms
from app.providers.offline_text import Splitter
from app.providers.ports import ChatProvider, ChatRequest, ProviderError, Role
from app.providers.registry import ChatProviders
from app.providers.whole import whole_text
from app.retrieval.route import leans_on_conversation

log = get(__name__)

HISTORY_MESSAGES: Final = 50
# Of other branches that a question speaks of.
_ASKED_BRANCHES: Final = 4
_ASKED_MESSAGES: Final = 20
_ASKED_TOKENS: Final = 300
_MESSAGE_CHARS: Final = 4000


@dataclass(slots=True)
class _Read:
    """What one unit of reading found. `ways`: the messages that lead to the branch, for each of its parents."""

    tree: Tree
    own: Sequence[Message]
    ways: Sequence[Sequence[Message]] = ()
    digests: Sequence[str | None] = ()
    cards: Sequence[CitedCard] = ()
    references: Sequence[Reference] = ()
    asked: Sequence[tuple[uuid.UUID, Sequence[Message]]] = ()


class Standing:
    """`sentences` and `terms` are those of the text floor."""

    def __init__(
        self,
        database: Database,
        providers: ChatProviders,
        settings: BranchSettings,
        *,
        sentences: Splitter,
        terms: Terms,
    ) -> None:
        self._database = database
        self._providers = providers
        self._settings = settings
        self._sentences = sentences
        self._terms = terms
        self._counter: TokenCounter = counter_for(OFFLINE, "")

    async def told(
        self, workspace_id: uuid.UUID, conversation_id: uuid.UUID, branch_id: uuid.UUID, before: int, ask: Ask
    ) -> Ask:
        """The question with all that the conversation says about it, up to (not with) ordinal `before` of its branch.

        Raises BranchNotFound when it has gone.
        """
        async with self._database.read() as session:
            read = await self._read(session, workspace_id, conversation_id, branch_id, before, ask.query)
        node = read.tree.nodes[branch_id]
        language = language_of(ask.query)
        history = [_turn(message) for message in read.own]
        way: list[Turn] = []
        digest = ""
        if node.context == "inherit":
            way = [_turn(message) for message in _joined(read.tree, branch_id, read.ways)]
        elif node.context == "compress":
            digest = await self._digest(workspace_id, read, branch_id, ask)
        places = await asyncio.to_thread(self._places, read, branch_id, ask.query)
        asked = [Note(label, text, 1.0) for label, text, _ in places]
        return replace(
            ask,
            history=[*way, *history],
            before=digest,
            topology=[
                *asked,
                *topology(
                    read.tree,
                    branch_id,
                    language,
                    left_at=_left_at(read, branch_id),
                    references=read.references,
                    cited=_cited(read.cards),
                    most_ancestors=self._settings.branch_ancestors,
                ),
            ],
            context_cards=[card.id for card in read.cards],
            told=self._recalled(ask.query, digest, [*way, *history], places),
            instructions="\n\n".join(filter(None, (ask.instructions, instructions_of(node.profile, language)))),
        )

    # ------------------------------------------------------------------------------------ reading

    async def _read(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        conversation_id: uuid.UUID,
        branch_id: uuid.UUID,
        before: int,
        question: str,
    ) -> _Read:
        tree = await branch_queries.get_tree(session, workspace_id, conversation_id)
        if branch_id not in tree.nodes:
            raise BranchNotFound
        own = [Stretch(branch_id, before - 1)]
        read = _Read(tree, await branch_queries.list_recent(session, workspace_id, own, HISTORY_MESSAGES))
        node = tree.nodes[branch_id]
        ways = tree.ways_to(branch_id) if node.context != "none" else []
        limit = self._settings.branch_path_messages
        read.ways = [await branch_queries.list_recent(session, workspace_id, way, limit) for way in ways]
        if node.context == "compress":
            found = [
                await branch_queries.find_digest(session, workspace_id, parent.message_id) for parent in node.parents
            ]
            read.digests = [None if one is None else one.text for one in found]
        path = [*tree.way_to(branch_id), *own]
        read.cards = await branch_queries.list_cited_cards(session, workspace_id, path, self._settings.branch_cards)
        if len(tree.nodes) > 1:
            links = await branch_queries.list_links(session, workspace_id, branch_id)
            read.references = [
                Reference(link.source_branch_id, link.target_branch_id, link.relation, link.reason) for link in links
            ]
            if leans_on_conversation(question):
                said = await branch_queries.list_last_said(session, workspace_id, conversation_id)
                asked = asked_branches(question, tree, branch_id, said)[:_ASKED_BRANCHES]
                read.asked = [
                    (
                        one,
                        await branch_queries.list_recent(session, workspace_id, [Stretch(one, None)], _ASKED_MESSAGES),
                    )
                    for one in asked
                ]
        return read

    # ------------------------------------------------------------------------------------ condensing

    async def _digest(self, workspace_id: uuid.UUID, read: _Read, branch_id: uuid.UUID, ask: Ask) -> str:
        """The ways to the branch, each condensed; from the store where it was paid for already."""
        node = read.tree.nodes[branch_id]
        most = self._settings.branch_digest_tokens // max(len(node.parents), 1)
        parts: list[str] = []
        for parent, messages, stored in zip(node.parents, read.ways, read.digests, strict=True):
            text = stored if stored is not None and len(node.parents) == 1 else None
            if text is None and messages:
                text, made_by = await self._condensed([_turn(message) for message in messages], most, ask)
                # What is still being said may say more later; half of a digest is none.
                if len(node.parents) == 1 and messages[-1].id == parent.message_id and text:
                    async with self._database.unit() as session:
                        await branch_queries.save_digest(session, workspace_id, parent.message_id, text, made_by)
            if text and len(node.parents) > 1:
                text = f"{called(read.tree, parent.branch_id, language_of(text))}\n{text}"
            parts.append(text or "")
        return "\n\n".join(filter(None, parts))

    async def _condensed(self, turns: Sequence[Turn], most: int, ask: Ask) -> tuple[str, str]:
        """By the model that is asked, or without one; and who did it."""
        provider = self._providers.get_provider(ask.provider)
        if provider.name != OFFLINE:
            model = ask.model or provider.default_model
            try:
                async with asyncio.timeout(self._settings.branch_digest_seconds):
                    if text := await self._summarised(provider, model, turns, most):
                        return text, f"{provider.name}/{model}"
            except (ProviderError, TimeoutError) as error:
                log.warning("path_not_condensed", kind=type(error).__name__)
        text = await asyncio.to_thread(condense, turns, self._sentences, self._terms, most, self._counter.count)
        return text, OFFLINE

    async def _summarised(self, provider: ChatProvider, model: str, turns: Sequence[Turn], most: int) -> str:
        said = "\n\n".join(f"{turn.role}: {fenced(plain(turn))[:_MESSAGE_CHARS]}" for turn in turns)
        request = ChatRequest(
            messages=[
                ports.Message("system", PROMPTS[language_of(said)].format(tokens=most)),
                ports.Message("user", f"<earlier>\n{said}\n</earlier>"),
            ],
            model=model,
            max_tokens=most,
            purpose="summarise",
        )
        return self._counter.truncate(await whole_text(provider, request), most).strip()

    # ------------------------------------------------------------------------------------ recalling

    def _places(self, read: _Read, branch_id: uuid.UUID, question: str) -> list[tuple[str, str, list[Turn]]]:
        """The branches that are asked about: how they are called, what was said in them in short, and at length."""
        places = []
        for one, messages in read.asked:
            turns = [_turn(message) for message in messages]
            text = condense(turns, self._sentences, self._terms, _ASKED_TOKENS, self._counter.count)
            if text:
                places.append((called(read.tree, one, language_of(question)), text, turns))
        return places

    def _recalled(
        self, question: str, digest: str, history: Sequence[Turn], places: Sequence[tuple[str, str, Sequence[Turn]]]
    ) -> list[Note]:
        """What a question about the conversation can be answered from: the branches that it speaks of, or what was said
        on the way here.
        """
        if not leans_on_conversation(question):
            return []
        if places:
            said = [(label, plain(turn)) for label, _, turns in places for turn in turns]
        else:
            said = [(earlier(language_of(question)), digest), *(("", plain(turn)) for turn in history)]
        return [Note(label, text) for label, text in recalled(question, said, self._sentences)]


def _turn(message: Message) -> Turn:
    """An answer that was given with something before it that nobody vouches for may repeat it."""
    is_tainted = message.role == "assistant" and (
        (message.route or {}).get("level") != "chat" or bool((message.ledger or {}).get("is_tainted"))
    )
    return Turn(cast(Role, message.role), message.content, is_tainted)


def _joined(tree: Tree, branch_id: uuid.UUID, ways: Sequence[Sequence[Message]]) -> list[Message]:
    """All ways, what they share once and first; the way under which the branch hangs comes last, next to it."""
    found: dict[uuid.UUID, Message] = {}
    above = [{parent.branch_id, *tree.ancestors(parent.branch_id)} for parent in tree.nodes[branch_id].parents]
    shared = set.intersection(*above) if above else set()
    for way in ways[:1]:
        found.update({message.id: message for message in way if message.branch_id in shared})
    for way in (*ways[1:], *ways[:1]):
        for message in way:
            found.setdefault(message.id, message)
    return list(found.values())


def _left_at(read: _Read, branch_id: uuid.UUID) -> Mapping[uuid.UUID, str]:
    """The last thing said in each branch on the way, as far as it was read."""
    return {message.branch_id: plain(_turn(message)) for way in read.ways[:1] for message in way}


def _cited(cards: Sequence[CitedCard]) -> list[Cited]:
    of_branch: dict[uuid.UUID, list[str]] = {}
    for card in cards:
        of_branch.setdefault(card.branch_id, []).append(card.title)
    return [Cited(branch_id, titles) for branch_id, titles in of_branch.items()]
