"""Conversations as the doors know them: take a turn, stop it, listen to it again.

Turns run in this process or in another one; what another one does is told by the database.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import Final

from app.chat import queries
from app.chat.afterwards import Afterwards
from app.chat.answer import Answering, Ask
from app.chat.insights import Insights
from app.chat.remembering import Remembering
from app.chat.running import Run, Runs
from app.chat.settings import AnswerSettings
from app.chat.standing import Standing
from app.chat.tables import Message
from app.chat.tools import Tool
from app.chat.turn import Started, TurnEvent, TurnStopped, TurnWork
from app.db.session import Database
from app.providers.registry import ChatProviders

# The one who gives titles: costs nothing and is always there.
TITLES_BY: Final = "offline"


class Conversations:
    """Without `remembering`, `insights` and `afterwards` nothing is remembered, told to branches, thought about."""

    def __init__(
        self,
        database: Database,
        answering: Answering,
        standing: Standing,
        providers: ChatProviders,
        settings: AnswerSettings,
        remembering: Remembering | None = None,
        *,
        tools: Sequence[Tool] = (),
        insights: Insights | None = None,
        afterwards: Afterwards | None = None,
    ) -> None:
        self._database = database
        self._answering = answering
        self._standing = standing
        self._providers = providers
        self._settings = settings
        self._remembering = remembering
        self._tools = tools
        self._insights = insights
        self._afterwards = afterwards
        self._runs: Runs[TurnEvent] = Runs(settings.turn_beat_seconds)

    async def close(self) -> None:
        """Interrupt the turns that run here, and wait until they are stored."""
        await self._runs.close()

    async def take_turn(
        self,
        workspace_id: uuid.UUID,
        conversation_id: uuid.UUID,
        branch_id: uuid.UUID | None,
        ask: Ask,
        *,
        may_write: bool = False,
    ) -> Run[TurnEvent]:
        """Store the question and start the answer. The first event is `Started`, the last one `Answer` or `Failed`.
        Unless whoever asks `may_write`, nothing is remembered of it but by somebody who may.

        Raises NotFound (provider), ConversationNotFound, BranchNotFound, ShuttingDown; then nothing is stored.
        """
        self._runs.check_open()
        provider = self._providers.get_provider(ask.provider)
        async with self._database.unit() as session:
            conversation = await queries.get_conversation(session, workspace_id, conversation_id, lock=True)
            branch = await queries.get_branch(session, workspace_id, conversation_id, branch_id)
            asked, answer = await queries.append_turn(
                session, branch, ask.query, provider.name, ask.model or provider.default_model
            )
        work = TurnWork(
            database=self._database,
            answering=self._answering,
            standing=self._standing,
            workspace_id=workspace_id,
            started=Started(conversation.id, branch.id, asked.id, answer.id),
            ordinal=asked.ordinal,
            ask=ask,
            titled_by=self._providers.get_provider(TITLES_BY) if conversation.title is None else None,
            detached_seconds=self._settings.turn_detached_seconds,
            stop=partial(self._runs.stop, answer.id),
            tools=self._tools,
            may_write=may_write,
            remembering=self._remembering,
            insights=self._insights,
            afterwards=self._afterwards,
        )
        return self._runs.start(answer.id, work)

    async def stop(self, workspace_id: uuid.UUID, message_id: uuid.UUID) -> None:
        """End an answer, in whichever process it runs; one that has ended is left as it is. Raises MessageNotFound."""
        async with self._database.unit() as session:
            await queries.get_answer(session, workspace_id, message_id)
            await queries.request_stop(session, workspace_id, message_id)
        self._runs.stop(message_id, TurnStopped())

    async def find_run(self, workspace_id: uuid.UUID, message_id: uuid.UUID) -> Run[TurnEvent] | None:
        """The turn, if it runs or ran just now in this process. Raises MessageNotFound."""
        async with self._database.read() as session:
            await queries.get_answer(session, workspace_id, message_id)
        return self._runs.find(message_id)

    async def watch(self, workspace_id: uuid.UUID, message_id: uuid.UUID) -> AsyncGenerator[Message]:
        """A turn of another process, or one that is over, as the database tells it: the message whenever it has
        changed, until it has its end. The other process knows that somebody follows. Raises MessageNotFound.
        """
        poll_seconds = self._settings.turn_beat_seconds / 2
        clock = asyncio.get_running_loop().time
        noted = float("-inf")
        seen: tuple[str, str] | None = None
        while True:
            async with self._database.read() as session:
                message = await queries.get_answer(session, workspace_id, message_id)
            if (message.content, message.status) != seen:
                seen = (message.content, message.status)
                yield message
            if message.status != "streaming":
                return
            if clock() - noted >= self._settings.turn_detached_seconds / 4:
                async with self._database.unit() as session:
                    await queries.note_watched(session, workspace_id, message_id)
                noted = clock()
            await asyncio.sleep(poll_seconds)
