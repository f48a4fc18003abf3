"""What follows from a turn that is complete, in the transaction that completes it: notes of use, and jobs for later.

Every job is deduped and bears being run twice. Called last in the unit of work: it locks jobs that wait.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.chat import queries
from app.chat.answer import Answer
from app.chat.insights import Insights
from app.chat.reflection import Reflection, enqueue_reflection
from app.chat.remembering import Remembering
from app.core.log import get
from app.core.tenancy import working_for
from app.db.session import Database
from app.jobs.job import JobContext, NewJob
from app.jobs.queue import enqueue
from app.providers.ports import ChatProvider, ChatRequest, Message
from app.providers.whole import whole_text

log = get(__name__)

TITLE: Final = "title"
TITLE_CHARS: Final = 80


@dataclass(frozen=True, slots=True)
class Completed:
    """A turn whose answer came to its own end. `is_first_title`: its conversation had none until now.
    `may_write`: whoever asked may change what is remembered.
    """

    workspace_id: uuid.UUID
    conversation_id: uuid.UUID
    branch_id: uuid.UUID
    message_id: uuid.UUID
    asked: str
    answer: Answer
    is_first_title: bool
    may_write: bool


class Titling:
    """Better titles than the first one, by a model, if one was chosen for it. What a user wrote stays."""

    def __init__(self, database: Database, find_provider: Callable[[], ChatProvider | None], model: str | None) -> None:
        self._database = database
        self._find_provider = find_provider
        self._model = model

    @property
    def is_on(self) -> bool:
        return self._find_provider() is not None

    async def run(self, job: JobContext) -> None:
        """Payload: `conversation`, `asked`. Raises ProviderError."""
        provider = self._find_provider()
        if provider is None:
            return
        asked = str(job.payload["asked"])
        request = ChatRequest(
            [
                Message(
                    "system", "Give the conversation that begins so a title of at most eight words, in its language."
                ),
                Message("user", asked),
            ],
            model=self._model,
            max_tokens=40,
            question=asked,
            purpose="title",
        )
        with working_for(job.workspace_id):
            said = await whole_text(provider, request)
        title = " ".join(said.split()).strip(" \"'“”「」《》")[:TITLE_CHARS]
        if not title:
            return
        async with self._database.unit() as session:
            await queries.set_better_title(session, job.workspace_id, uuid.UUID(job.payload["conversation"]), title)
            # Not first: a turn holds the conversation while it enqueues this very job.
            await job.hold(session)


class Afterwards:
    def __init__(self, remembering: Remembering, insights: Insights, reflection: Reflection, titling: Titling) -> None:
        self._remembering = remembering
        self._insights = insights
        self._reflection = reflection
        self._titling = titling

    async def record(self, session: AsyncSession, turn: Completed) -> None:
        """What stood in the prompt was used or delivered; what is to be thought about later is queued."""
        answer = turn.answer
        await self._remembering.note_used(session, turn.workspace_id, answer.memories)
        await self._insights.note_delivered(
            session, turn.workspace_id, turn.branch_id, turn.message_id, answer.insights
        )
        await self._insights.enqueue_if_due(session, turn.workspace_id, turn.branch_id)
        if turn.is_first_title and self._titling.is_on:
            payload = {"conversation": str(turn.conversation_id), "asked": turn.asked[:4000]}
            key = str(turn.conversation_id)
            await enqueue(session, NewJob(TITLE, turn.workspace_id, payload, dedupe_key=key, priority=-1))
        if turn.may_write and self._reflection.wants(turn.asked):
            await enqueue_reflection(session, turn.workspace_id, turn.message_id, is_tainted=answer.is_tainted)
