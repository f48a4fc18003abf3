"""One turn of a conversation: store the question, retrieve, answer, store the end.

The user's message is stored before anything else happens, with a placeholder for the answer; from
then on the answer's status is true at every moment, whatever dies.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import Any

from app.chat import queries
from app.chat.answer import Answer, Answering, Ask, Routed, Token
from app.chat.prompt import Turn
from app.chat.running import Run, Runs
from app.chat.settings import AnswerSettings
from app.core.errors import MindConeError
from app.core.log import get
from app.db.session import Database
from app.providers.ports import ChatRequest, Message, Text
from app.providers.registry import ChatProviders
from app.retrieval.types import Route

log = get(__name__)

HISTORY_MESSAGES = 50
TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Started:
    """Both messages are stored."""

    conversation_id: uuid.UUID
    branch_id: uuid.UUID
    user_message_id: uuid.UUID
    message_id: uuid.UUID


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn ended without an end of its own; what was said so far is stored with `status`."""

    code: str
    detail: str
    status: str


TurnEvent = Started | Routed | Token | Answer | Failed


class Conversations:
    def __init__(
        self, database: Database, answering: Answering, providers: ChatProviders, settings: AnswerSettings
    ) -> None:
        self._database = database
        self._answering = answering
        self._providers = providers
        self._settings = settings
        self._runs: Runs[TurnEvent] = Runs()

    async def close(self) -> None:
        await self._runs.close()

    async def take_turn(
        self, workspace_id: uuid.UUID, conversation_id: uuid.UUID, branch_id: uuid.UUID | None, ask: Ask
    ) -> Run[TurnEvent]:
        """Store the question and start the answer. Raises ConversationNotFound, BranchNotFound, NotFound (provider).

        The first event is `Started`, the last one `Answer` or `Failed`.
        """
        provider = self._providers.get_provider(ask.provider)
        async with self._database.unit() as session:
            branch = await queries.lock_branch(session, workspace_id, conversation_id, branch_id)
            asked, answer = await queries.append_turn(
                session, branch, ask.query, provider.name, ask.model or provider.default_model
            )
            started = Started(conversation_id, branch.id, asked.id, answer.id)
            ordinal = asked.ordinal

        async def work(run: Run[TurnEvent]) -> None:
            run.say(started)
            await self._answer(workspace_id, started, ordinal, ask, run)

        return self._runs.start(started.message_id, work)

    async def stop(self, workspace_id: uuid.UUID, message_id: uuid.UUID) -> None:
        """End an answer, in whichever process it runs; one that has ended is left as it is. Raises MessageNotFound."""
        async with self._database.unit() as session:
            await queries.get_message(session, workspace_id, message_id)
            await queries.request_stop(session, workspace_id, message_id)
        self._runs.stop(message_id, "stopped")

    async def find_run(self, workspace_id: uuid.UUID, message_id: uuid.UUID) -> Run[TurnEvent] | None:
        """The running turn, if it runs here. Raises MessageNotFound."""
        async with self._database.read() as session:
            await queries.get_message(session, workspace_id, message_id)
        return self._runs.find(message_id)

    async def watch(self, workspace_id: uuid.UUID, message_id: uuid.UUID) -> AsyncIterator[Any]:
        """A turn that runs elsewhere or is over, as the database tells it: the message row, whenever it changed,
        until it has its end. Raises MessageNotFound.
        """
        seen: tuple[str, str] | None = None
        while True:
            async with self._database.read() as session:
                message = await queries.get_message(session, workspace_id, message_id)
            if (message.content, message.status) != seen:
                seen = (message.content, message.status)
                yield message
            if message.status != "streaming":
                return
            await asyncio.sleep(self._settings.turn_beat_seconds / 2)

    # ------------------------------------------------------------------------------- in the task

    async def _answer(
        self, workspace_id: uuid.UUID, turn: Started, ordinal: int, ask: Ask, run: Run[TurnEvent]
    ) -> None:
        said: list[str] = []
        route: Route | None = None
        beating = asyncio.create_task(self._beat(workspace_id, turn.message_id, said, run))
        try:
            async with self._database.read() as session:
                history = [
                    Turn(message.role, message.content)  # type: ignore[arg-type]
                    for message in await queries.list_history(
                        session, workspace_id, turn.branch_id, ordinal, HISTORY_MESSAGES
                    )
                ]
            async with aclosing(self._answering.stream(workspace_id, replace(ask, history=history))) as events:  # type: ignore[type-var]
                async for event in events:
                    if isinstance(event, Answer):
                        await self._finish(workspace_id, turn, ask, event, run)
                        return
                    if isinstance(event, Token):
                        said.append(event.text)
                    else:
                        route = event.evidence.route
                    run.say(event)
        except asyncio.CancelledError:
            # Ended by somebody: a stop, a shutdown, nobody listening. Keeping what was said comes first.
            code = run.stop_reason or "interrupted"
            await asyncio.shield(
                self._end(
                    workspace_id,
                    turn,
                    said,
                    route,
                    Failed(code, _WHY.get(code, _WHY["interrupted"]), "interrupted"),
                    run,
                )
            )
        except MindConeError as error:
            await self._end(workspace_id, turn, said, route, Failed(error.code, error.detail, "failed"), run)
        except Exception as error:
            log.error("turn_failed", message_id=str(turn.message_id), exc_info=error)
            await self._end(workspace_id, turn, said, route, Failed("internal", MindConeError().detail, "failed"), run)
        finally:
            beating.cancel()

    async def _finish(
        self, workspace_id: uuid.UUID, turn: Started, ask: Ask, answer: Answer, run: Run[TurnEvent]
    ) -> None:
        """An answer that the model did not finish itself is kept, and not called complete."""
        async with self._database.unit() as session:
            await queries.finish_message(
                session,
                workspace_id,
                turn.message_id,
                {
                    "content": answer.text,
                    "status": "complete" if answer.complete else "interrupted",
                    "error_code": None if answer.complete else f"stopped_{answer.stop_reason}",
                    "provider": answer.provider,
                    "model": answer.model,
                    "route": route_as_json(answer.evidence.route),
                    "citations": citations_as_json(answer),
                    "ledger": asdict(answer.ledger),
                    "usage": asdict(answer.usage),
                    "timings_ms": answer.timings_ms,
                },
            )
        run.say(answer)
        await self._give_title(workspace_id, turn, ask)

    async def _end(
        self,
        workspace_id: uuid.UUID,
        turn: Started,
        said: list[str],
        route: Route | None,
        failed: Failed,
        run: Run[TurnEvent],
    ) -> None:
        try:
            async with self._database.unit() as session:
                await queries.finish_message(
                    session,
                    workspace_id,
                    turn.message_id,
                    {
                        "content": "".join(said),
                        "status": failed.status,
                        "error_code": failed.code,
                        "route": route_as_json(route) if route else None,
                    },
                )
        except (MindConeError, OSError) as error:
            # The placeholder stays `streaming` and is called interrupted once it has been silent for long enough.
            log.error("turn_not_stored", message_id=str(turn.message_id), error=type(error).__name__)
        run.say(failed)

    async def _beat(self, workspace_id: uuid.UUID, message_id: uuid.UUID, said: list[str], run: Run[TurnEvent]) -> None:
        """Save what there is every so often, and notice that nobody wants the answer any more."""
        while True:
            await asyncio.sleep(self._settings.turn_beat_seconds)
            try:
                async with self._database.unit() as session:
                    wanted = await queries.save_beat(session, workspace_id, message_id, "".join(said))
            except (MindConeError, OSError) as error:
                log.warning("beat_failed", message_id=str(message_id), error=type(error).__name__)
                continue
            if not wanted:
                self._runs.stop(message_id, "stopped")
            elif run.alone_seconds() > self._settings.turn_detached_seconds:
                self._runs.stop(message_id, "nobody_listening")

    async def _give_title(self, workspace_id: uuid.UUID, turn: Started, ask: Ask) -> None:
        """A first title from the first question. It can fail without harm."""
        try:
            title = await self._title(ask.query)
            async with self._database.unit() as session:
                await queries.set_first_title(session, workspace_id, turn.conversation_id, title)
        except (MindConeError, OSError) as error:
            log.warning("title_failed", error=type(error).__name__)

    async def _title(self, question: str) -> str:
        said = []
        request = ChatRequest([Message("user", question)], question=question, purpose="title")
        async for event in self._providers.get_provider("offline").stream(request):
            if isinstance(event, Text):
                said.append(event.text)
        return "".join(said).strip()[:TITLE_CHARS] or question[:TITLE_CHARS]


_WHY = {
    "stopped": "The answer was stopped.",
    "shutting_down": "The server is stopping; ask again in a moment.",
    "nobody_listening": "Nobody was listening any more.",
    "interrupted": "The answer was interrupted.",
}


def route_as_json(route: Route) -> dict[str, Any]:
    return {
        "level": route.level.name,
        "reason": route.reason,
        "confidence": route.confidence,
        "gates": list(route.gates),
        "escalated_from": route.escalated_from.name if route.escalated_from is not None else None,
    }


def citations_as_json(answer: Answer) -> list[dict[str, Any]]:
    return [
        {**asdict(citation), "id": str(citation.id), "chunk_id": str(citation.chunk_id) if citation.chunk_id else None}
        for citation in answer.citations
    ]
