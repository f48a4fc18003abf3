"""`POST /ask`: one question, one answer, nothing kept."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.api.answer_shapes import AnswerShape, AskBody, answer_shape, ask_events, ask_of
from app.api.deps import Chatter, Claimed, Wired
from app.api.gone import unless_gone
from app.api.idempotency import LongRoute
from app.api.search import check_query
from app.api.sse import EventStream
from app.chat.answer import Answer, AnswerEvent
from app.core.errors import MindConeError

router = APIRouter(tags=["answers"], route_class=LongRoute)


@router.post("/ask", response_model=AnswerShape, responses={200: {"content": {"text/event-stream": {}}}})
async def ask(
    principal: Chatter, services: Wired, body: AskBody, request: Request, claim: Claimed
) -> AnswerShape | Response:
    """Answer from the notes, with citations. With `stream`: server-sent events `started, route, hits, token,
    citation, finished`, or `failed` as the last one. A client that goes away ends the work.

    An Idempotency-Key keeps answers in JSON; streams are not kept.
    """
    check_query(body.query, services.settings.query_max_bytes)
    asked = ask_of(body, body.query)
    services.providers.get_provider(asked.provider)
    events = request.app.state.metrics.counting(services.asking.stream(principal.workspace_id, asked))
    if body.stream:
        return EventStream(request, ask_events(events))
    return answer_shape(await unless_gone(request, collect(events)))


async def collect(events: AsyncGenerator[AnswerEvent]) -> Answer:
    """The last event of an answer's stream."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Answer):
                return event
    raise MindConeError
