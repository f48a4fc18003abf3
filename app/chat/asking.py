"""A question outside of any conversation: answered with what is remembered, and nothing of it kept."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from app.chat.answer import Answer, AnswerEvent, Answering, Ask
from app.chat.remembering import Remembering
from app.core.errors import MindConeError
from app.core.log import get
from app.db.session import Database

log = get(__name__)


class Asking:
    def __init__(self, database: Database, answering: Answering, remembering: Remembering) -> None:
        self._database = database
        self._answering = answering
        self._remembering = remembering

    async def stream(self, workspace_id: uuid.UUID, ask: Ask) -> AsyncGenerator[AnswerEvent]:
        """As `Answering.stream`, which it leads."""
        ask = replace(ask, memories=await self._remembering.memories(workspace_id, ask.query))
        async with aclosing(self._answering.stream(workspace_id, ask)) as events:
            async for event in events:
                if isinstance(event, Answer) and event.is_complete and event.memories:
                    await self._note_used(workspace_id, event)
                yield event

    async def _note_used(self, workspace_id: uuid.UUID, answer: Answer) -> None:
        """An answer is not lost because that could not be noted."""
        try:
            async with self._database.unit() as session:
                await self._remembering.note_used(session, workspace_id, answer.memories)
        except MindConeError as error:
            log.warning("use_not_noted", code=error.code)
