"""One turn of a conversation once its question is stored: answer it, store the end.

From the first moment to the last the stored status of the answer is true, whatever dies. Knows
nothing of who listens.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from sqlalchemy.exc import DBAPIError

from app.budget.ledger import Ledger
from app.chat import queries
from app.chat.afterwards import TITLE_CHARS, Afterwards, Completed
from app.chat.answer import Answer, Answering, Ask, CallEnded, Calling, Draft, Routed, Token
from app.chat.blocks import Note
from app.chat.citations import Citable, Citation
from app.chat.insights import Insights
from app.chat.remembering import Remembering
from app.chat.running import Run
from app.chat.standing import Standing
from app.chat.toolbox import Called
from app.chat.tools import Tool, ToolContext
from app.core.errors import Conflict, MindConeError, ShuttingDown, Unavailable
from app.core.log import get
from app.db.session import Database
from app.providers.ports import ChatProvider, ChatRequest, Message
from app.providers.whole import whole_text
from app.retrieval.types import Route

log = get(__name__)

# Waits before an end that the database did not take is offered again: a restart takes seconds, and so may a lock that
# somebody holds; a deadlock is over at once.
_OFFER_AGAIN_SECONDS: Final = (0.2, 1.0, 3.0)


class TurnStopped(Conflict):
    """The answer was stopped; what was said so far is kept."""

    code = "stopped"


class NobodyListening(Conflict):
    """Nobody listened to the answer any more; what was said so far is kept."""

    code = "nobody_listening"


class EndedElsewhere(Conflict):
    """This answer was ended or deleted in the meantime."""

    code = "ended_elsewhere"


class NotStored(Unavailable):
    """The end of this answer could not be stored; the beginning is."""

    code = "not_stored"


INTERRUPTIONS: Final = (TurnStopped, NobodyListening, EndedElsewhere, NotStored, ShuttingDown)


@dataclass(frozen=True, slots=True)
class Started:
    """Both messages are stored."""

    conversation_id: uuid.UUID
    branch_id: uuid.UUID
    user_message_id: uuid.UUID
    message_id: uuid.UUID


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn did not come to an end of its own."""

    error: MindConeError

    @property
    def status(self) -> Literal["interrupted", "failed"]:
        """How the message is stored."""
        return "interrupted" if isinstance(self.error, INTERRUPTIONS) else "failed"


TurnEvent = Started | Routed | Token | CallEnded | Answer | Failed


@dataclass(slots=True)
class TurnWork:
    """The `Work` of one turn. `titled_by` gives a conversation without a title its first one; `may_write`: as tools
    are told."""

    database: Database
    answering: Answering
    standing: Standing
    workspace_id: uuid.UUID
    started: Started
    ordinal: int
    ask: Ask
    titled_by: ChatProvider | None
    detached_seconds: float
    stop: Callable[[MindConeError], None]
    tools: Sequence[Tool] = ()
    may_write: bool = False
    remembering: Remembering | None = None
    insights: Insights | None = None
    afterwards: Afterwards | None = None
    draft: Draft = field(default_factory=Draft)
    calls_told: int = 0

    async def speak(self, run: Run[TurnEvent]) -> Answer:
        run.say(self.started)
        started = self.started
        # Three short units of reading that need nothing of each other.
        ask, memories, insights = await asyncio.gather(
            self.standing.told(self.workspace_id, started.conversation_id, started.branch_id, self.ordinal, self.ask),
            self._memories(),
            self._insights(),
        )
        context = ToolContext(
            self.workspace_id,
            started.conversation_id,
            started.branch_id,
            started.message_id,
            may_write=self.may_write,
            is_tainted=True,
        )
        ask = replace(ask, memories=memories, insights=insights, tools=self.tools, context=context)
        async with aclosing(self.answering.stream(self.workspace_id, ask, self.draft)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return event
                if isinstance(event, Calling | CallEnded) and (ended := await self._keep()):
                    # What somebody else has ended does nothing more.
                    raise ended
                if not isinstance(event, Calling):
                    self.calls_told += isinstance(event, CallEnded)
                    run.say(event)
        raise MindConeError

    async def _memories(self) -> Sequence[Citable]:
        if self.remembering is None:
            return ()
        return await self.remembering.memories(self.workspace_id, self.ask.query)

    async def _insights(self) -> Sequence[Note]:
        if self.insights is None:
            return ()
        started = self.started
        return await self.insights.notes(self.workspace_id, started.conversation_id, started.branch_id, self.ask.query)

    async def beat(self, run: Run[TurnEvent]) -> None:
        """Save what there is, and notice when nobody wants the rest."""
        if (ended := await self._keep(run)) is not None:
            self.stop(ended)

    async def _keep(self, run: Run[TurnEvent] | None = None) -> MindConeError | None:
        """Save what there is; why the turn is to end now, if it is."""
        calls = [called.stored() for called in self.draft.calls]
        try:
            async with self.database.unit() as session:
                wanted = await queries.save_beat(
                    session, self.workspace_id, self.started.message_id, self.draft.citer.text, calls
                )
        except Exception as error:
            log.warning("beat_failed", message_id=str(self.started.message_id), kind=type(error).__name__)
            return None
        if wanted is None:
            return EndedElsewhere()
        if wanted.stop_requested:
            return TurnStopped()
        if run is not None and min(run.alone_seconds, wanted.unwatched_seconds) > self.detached_seconds:
            return NobodyListening()
        return None

    async def settle(self, run: Run[TurnEvent], outcome: Answer | BaseException) -> TurnEvent:
        message_id = str(self.started.message_id)
        last: Answer | Failed
        if isinstance(outcome, Answer):
            last, values = outcome, _ended(outcome)
        else:
            if not isinstance(outcome, MindConeError):
                log.error("turn_failed", message_id=message_id, exc_info=outcome)
            last = Failed(outcome if isinstance(outcome, MindConeError) else MindConeError())
            # What was called when it was stopped is told as it is kept.
            for called in self.draft.calls[self.calls_told :]:
                run.say(CallEnded(called))
            if rest := self.draft.citer.close():
                run.say(Token(rest))
            values = _broken_off(self.draft, last)
        try:
            is_stored = await self._store(values, outcome if isinstance(outcome, Answer) else None)
        except Exception as error:
            # The placeholder stays `streaming`, and is called interrupted when it has been silent for a while.
            log.error("turn_not_stored", message_id=message_id, kind=type(error).__name__)
            return Failed(NotStored())
        log.info(
            "turn_ended",
            message_id=message_id,
            status=values["status"],
            code=values["error_code"],
            stored=is_stored,
        )
        return last if is_stored else Failed(EndedElsewhere())

    async def _store(self, values: dict[str, Any], answer: Answer | None) -> bool:
        title = await self._title()
        for wait_seconds in (*_OFFER_AGAIN_SECONDS, None):
            try:
                async with self.database.unit() as session:
                    # Before the message: the conversation's row is locked first, everywhere.
                    if not await queries.lock_conversation(session, self.workspace_id, self.started.conversation_id):
                        return False
                    if title:
                        await queries.set_first_title(session, self.workspace_id, self.started.conversation_id, title)
                    is_stored = await queries.finish_message(
                        session, self.workspace_id, self.started.message_id, values
                    )
                    if is_stored and answer is not None and answer.is_complete and self.afterwards is not None:
                        await self.afterwards.record(session, self._completed(answer))
                    return is_stored
            except (Unavailable, DBAPIError):
                if wait_seconds is None:
                    raise
                await asyncio.sleep(wait_seconds)
        return False

    def _completed(self, answer: Answer) -> Completed:
        started = self.started
        return Completed(
            self.workspace_id,
            started.conversation_id,
            started.branch_id,
            started.message_id,
            self.ask.query,
            answer,
            is_first_title=self.titled_by is not None,
            may_write=self.may_write,
        )

    async def _title(self) -> str | None:
        if self.titled_by is None:
            return None
        request = ChatRequest([Message("user", self.ask.query)], question=self.ask.query, purpose="title")
        try:
            said = await whole_text(self.titled_by, request)
        except MindConeError as error:
            log.warning("title_failed", code=error.code)
            return None
        return said.strip()[:TITLE_CHARS] or None


def _ended(answer: Answer) -> dict[str, Any]:
    """An answer that the model did not finish itself is kept, and not called complete."""
    return {
        "content": answer.text,
        "status": "complete" if answer.is_complete else "interrupted",
        "error_code": None if answer.is_complete else answer.stop_reason,
        "provider": answer.provider,
        "model": answer.model,
        "route": _route(answer.evidence.route),
        "citations": _citations(answer.citations),
        "ledger": _ledger(answer.ledger, answer.removed_citations, is_tainted=answer.is_tainted),
        "usage": asdict(answer.usage),
        "tool_calls": _calls(answer.tool_calls),
        "timings_ms": answer.timings_ms,
    }


def _broken_off(draft: Draft, failed: Failed) -> dict[str, Any]:
    return {
        "content": draft.citer.text,
        "status": failed.status,
        "error_code": failed.error.code,
        "route": _route(draft.evidence.route) if draft.evidence else None,
        "citations": _citations(draft.citer.citations),
        "ledger": _ledger(draft.ledger, draft.citer.removed, is_tainted=draft.is_tainted) if draft.ledger else None,
        "tool_calls": _calls(draft.calls),
    }


def _route(route: Route) -> dict[str, Any]:
    return {
        "level": route.level.name,
        "reason": route.reason,
        "confidence": route.confidence,
        "gates": list(route.gates),
        "escalated_from": route.escalated_from.name if route.escalated_from is not None else None,
    }


def _ledger(ledger: Ledger, removed: int, *, is_tainted: bool) -> dict[str, Any]:
    """With whether text that nobody vouches for was in the prompt, so that later turns know it of the answer."""
    return {**asdict(ledger), "removed_citations": removed, "is_tainted": is_tainted}


def _calls(calls: Sequence[Called]) -> list[dict[str, Any]] | None:
    return [called.stored() for called in calls] or None


def _citations(citations: Sequence[Citation]) -> list[dict[str, Any]]:
    return [
        {**asdict(citation), "id": str(citation.id), "chunk_id": str(citation.chunk_id) if citation.chunk_id else None}
        for citation in citations
    ]
