"""After a turn: what of it is worth remembering? Thought about without a session, written in one unit of work.

By rules (what a user plainly asks to be kept), or by a model whose answer is read by the ladder; both write by the
rules of everybody else. From a turn whose prompt held text that nobody vouches for only the user's own words are read.
Knows nothing of conversations: who calls it has the turn.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import MindConeError
from app.core.log import get
from app.memory.change import Author, Change, Edited, Prepared
from app.memory.edit import Editing
from app.memory.recall import Recall
from app.memory.reflect_prompt import SCHEMA, changes_in, is_answer, messages
from app.memory.wishes import wishes
from app.providers.json_answer import Spent, ask_json
from app.providers.ladder import NotJson
from app.providers.ports import ChatProvider, ChatRequest

log = get(__name__)

_ANSWER_TOKENS: Final = 1500


@dataclass(frozen=True, slots=True)
class Said:
    """One turn. `is_tainted`: text that nobody vouches for was before the model that answered."""

    asked: str
    answered: str
    is_tainted: bool
    message_id: uuid.UUID | None = None


@dataclass(frozen=True, slots=True)
class Thought:
    """What is to be written, and in whose name."""

    author: Author
    prepared: Sequence[Prepared] = ()


class Reflecting:
    """`find_provider` gives the model that reflects, or None: then rules do."""

    def __init__(
        self,
        memories: Editing,
        recall: Recall,
        find_provider: Callable[[], ChatProvider | None],
        model: str | None = None,
    ) -> None:
        self._memories = memories
        self._recall = recall
        self._find_provider = find_provider
        self._model = model

    def wants(self, asked: str) -> bool:
        """Whether there may be anything in a turn with this question. Cheap."""
        return self._find_provider() is not None or bool(wishes(asked))

    async def think(self, workspace_id: uuid.UUID, said: Said) -> Thought:
        """Raises ProviderError when the model cannot be had: then it is to be tried again."""
        author = Author("consolidation", message_id=said.message_id)
        prepared = []
        for change in await self._changes(workspace_id, said):
            try:
                prepared.append(await self._memories.prepare(change, author))
            except MindConeError as error:
                log.info("reflection_dropped", action=change.action, code=error.code)
        return Thought(author, prepared)

    async def write(self, session: AsyncSession, workspace_id: uuid.UUID, thought: Thought) -> list[Edited]:
        """What came of each change that could be made; one that could not spoils no other."""
        done = []
        for prepared in thought.prepared:
            try:
                async with session.begin_nested():
                    done.append(await self._memories.apply(session, workspace_id, prepared, thought.author))
            except MindConeError as error:
                log.info("reflection_refused", action=prepared.change.action, code=error.code)
        return done

    async def _changes(self, workspace_id: uuid.UUID, said: Said) -> list[Change]:
        provider = self._find_provider()
        if provider is not None:
            try:
                return await self._thought_of(provider, workspace_id, said)
            except NotJson as error:
                log.warning("reflection_not_json", code=error.code)
        found = await asyncio.to_thread(wishes, said.asked)
        return [Change("create", body=one.body, type=one.type, importance=one.importance) for one in found]

    async def _thought_of(self, provider: ChatProvider, workspace_id: uuid.UUID, said: Said) -> list[Change]:
        known = await self._recall.recall(workspace_id, said.asked)
        request = ChatRequest(
            messages(said.asked, "" if said.is_tainted else said.answered, known),
            model=self._model,
            max_tokens=_ANSWER_TOKENS,
            json_schema=SCHEMA if provider.capabilities(self._model).json_schema else None,
            purpose="extract",
        )
        spent = Spent()
        changes, dropped = changes_in(await ask_json(provider, request, is_answer, spent))
        log.info("reflected", changes=len(changes), dropped=dropped, calls=spent.calls, tokens=spent.tokens)
        return changes
