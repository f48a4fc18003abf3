"""Conversations over HTTP: their turns, messages and branches."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncSession

from app.api.answer_shapes import ToolCallShape, TurnBody, TurnShape, ask_of, ids_of, turn_shape
from app.api.deps import Chatter, Claimed, Reader, ReadSession, Wired, WriteSession
from app.api.etag import IfMatch, etag, expected_version
from app.api.gone import unless_gone
from app.api.idempotency import LongRoute
from app.api.pages import Cursor, Limit, Page, cut, decode_number, decode_position, encode, encode_position
from app.api.search import check_query
from app.api.sse import EventStream
from app.api.text_types import Line, Shape
from app.api.turn_stream import Place, placed, turn_events, watched_events
from app.chat import branch_queries, queries
from app.chat.answer import Answer
from app.chat.tables import Conversation, Message
from app.chat.turn import Failed, Started, TurnEvent
from app.core.errors import MindConeError, VersionMismatch

router = APIRouter(tags=["conversations"], route_class=LongRoute)


class ConversationBody(Shape):
    title: Annotated[Line, Field(max_length=500)] | None = None


class ConversationShape(BaseModel):
    id: uuid.UUID
    title: str | None
    created_at: datetime
    updated_at: datetime
    version: int


class MessageShape(BaseModel):
    """`status` of an answer: streaming, complete, interrupted (partial, kept) or failed."""

    id: uuid.UUID
    branch_id: uuid.UUID
    parent_id: uuid.UUID | None
    ordinal: int
    role: str
    content: str
    status: str
    error_code: str | None
    provider: str | None
    model: str | None
    route: dict[str, Any] | None
    citations: Sequence[Any] | None
    ledger: dict[str, Any] | None
    usage: dict[str, Any] | None
    tool_calls: Sequence[ToolCallShape] | None
    timings_ms: dict[str, Any] | None
    created_at: datetime
    finished_at: datetime | None


@router.post("/conversations", status_code=201)
async def create_conversation(
    principal: Chatter, session: WriteSession, response: Response, body: ConversationBody | None = None
) -> ConversationShape:
    """Begin a conversation; without a title the first question gives it one."""
    made = await queries.insert_conversation(session, principal.workspace_id, body.title if body else None)
    response.headers["ETag"] = etag(made.version)
    response.headers["Location"] = f"/api/v1/conversations/{made.id}"
    return conversation_shape(made)


@router.get("/conversations")
async def list_conversations(
    principal: Reader, session: ReadSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[ConversationShape]:
    """Most recently used first."""
    rows = await queries.list_conversations(session, principal.workspace_id, decode_position(cursor), limit + 1)
    page, last = cut(rows, limit)
    return Page[ConversationShape](
        items=[conversation_shape(row) for row in page],
        next_cursor=encode_position((last.updated_at, last.id)) if last else None,
    )


@router.get("/conversations/{conversation_id}")
async def get_conversation(
    principal: Reader, session: ReadSession, conversation_id: uuid.UUID, response: Response
) -> ConversationShape:
    found = await queries.get_conversation(session, principal.workspace_id, conversation_id)
    response.headers["ETag"] = etag(found.version)
    return conversation_shape(found)


@router.patch("/conversations/{conversation_id}")
async def update_conversation(
    principal: Chatter,
    session: WriteSession,
    conversation_id: uuid.UUID,
    body: ConversationBody,
    response: Response,
    if_match: IfMatch = None,
) -> ConversationShape:
    """Give it a title, which nothing overrules; null leaves the title to the assistant again."""
    found = await _locked(session, principal.workspace_id, conversation_id, if_match)
    if "title" in body.model_fields_set:
        await queries.rename_conversation(session, found, body.title)
    response.headers["ETag"] = etag(found.version)
    return conversation_shape(found)


@router.delete("/conversations/{conversation_id}", status_code=204)
async def delete_conversation(
    principal: Chatter, session: WriteSession, conversation_id: uuid.UUID, if_match: IfMatch = None
) -> None:
    """With all its branches and messages. A turn that runs is ended."""
    found = await _locked(session, principal.workspace_id, conversation_id, if_match)
    await queries.delete_conversation(session, found)


@router.get("/conversations/{conversation_id}/messages")
async def list_messages(
    principal: Reader,
    session: ReadSession,
    conversation_id: uuid.UUID,
    branch_id: Annotated[uuid.UUID | None, Query(description="The first branch when left out")] = None,
    path: Annotated[
        bool, Query(description="With what leads to the branch, from the conversation's beginning")
    ] = False,
    limit: Limit = 200,
    cursor: Cursor = None,
) -> Page[MessageShape]:
    """Messages of a branch in their order: its own, or its whole path, of which each message says whose it is."""
    after = decode_number(cursor) or 0
    workspace_id = principal.workspace_id
    if path:
        branch = await queries.get_branch(session, workspace_id, conversation_id, branch_id)
        tree = await branch_queries.get_tree(session, workspace_id, conversation_id)
        rows = await branch_queries.list_path(session, workspace_id, tree.path(branch.id), after=after, limit=limit + 1)
    else:
        found = await queries.list_messages(session, workspace_id, conversation_id, branch_id, after, limit + 1)
        rows = [(message.ordinal, message) for message in found]
    page, last = cut(rows, limit)
    return Page[MessageShape](
        items=[message_shape(row) for _, row in page], next_cursor=encode(last[0]) if last is not None else None
    )


@router.post(
    "/conversations/{conversation_id}/turns",
    response_model=TurnShape,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def create_turn(
    principal: Chatter, services: Wired, conversation_id: uuid.UUID, body: TurnBody, request: Request, claim: Claimed
) -> TurnShape | Response:
    """Say something and get an answer. The question is stored before anything else happens.

    With `stream`: server-sent events. A client that goes away can come back by `GET /turns/{message_id}/events`;
    a turn that nobody listens to for a while is interrupted, and keeps what was said. An Idempotency-Key keeps
    answers in JSON, whether their client waits for them or not; streams are not kept.
    """
    check_query(body.content, services.settings.query_max_bytes)
    run = await services.conversations.take_turn(
        principal.workspace_id,
        conversation_id,
        body.branch_id,
        ask_of(body, body.content),
        may_write=principal.may("write"),
    )
    events = request.app.state.metrics.counting(run.follow())
    if body.stream:
        return EventStream(request, placed(turn_events(events), Place.parse(None)))
    # Who repeats the request with its key wants the answer to the first one.
    return await (unless_gone(request, _collected(events)) if claim is None else _collected(events))


@router.post("/turns/{message_id}/stop", status_code=202)
async def stop_turn(principal: Chatter, services: Wired, message_id: uuid.UUID) -> Response:
    """End an answer now; what was said is kept. One that has ended stays as it is."""
    await services.conversations.stop(principal.workspace_id, message_id)
    return Response(status_code=202)


@router.get("/turns/{message_id}/events", responses={200: {"content": {"text/event-stream": {}}}})
async def follow_turn(
    principal: Reader,
    services: Wired,
    message_id: uuid.UUID,
    request: Request,
    last_event_id: Annotated[str | None, Header(max_length=100)] = None,
) -> Response:
    """Listen to a turn again, from its beginning or from after `Last-Event-ID`."""
    conversations = services.conversations
    run = await conversations.find_run(principal.workspace_id, message_id)
    events = (
        watched_events(conversations.watch(principal.workspace_id, message_id))
        if run is None
        else turn_events(run.follow())
    )
    return EventStream(request, placed(events, Place.parse(last_event_id)))


async def _locked(
    session: AsyncSession, workspace_id: uuid.UUID, conversation_id: uuid.UUID, if_match: str | None
) -> Conversation:
    """Raises ConversationNotFound, VersionMismatch."""
    found = await queries.get_conversation(session, workspace_id, conversation_id, lock=True)
    if expected_version(if_match, found.version) not in (None, found.version):
        raise VersionMismatch(version=found.version)
    return found


async def _collected(events: AsyncGenerator[TurnEvent]) -> TurnShape:
    """Raises what the turn failed of, with the ids of its messages: they are stored all the same."""
    started: Started | None = None
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Started):
                started = event
            elif isinstance(event, Failed):
                ids = {name: str(value) for name, value in ids_of(started).items()} if started else {}
                event.error.extra.update(ids, message_status=event.status)
                raise event.error
            elif isinstance(event, Answer) and started is not None:
                return turn_shape(started, event)
    raise MindConeError


def conversation_shape(row: Conversation) -> ConversationShape:
    return ConversationShape.model_construct(
        id=row.id, title=row.title, created_at=row.created_at, updated_at=row.updated_at, version=row.version
    )


def message_shape(row: Message) -> MessageShape:
    values = {name: getattr(row, name) for name in MessageShape.model_fields}
    if row.tool_calls is not None:
        values["tool_calls"] = [ToolCallShape.model_construct(**call) for call in row.tool_calls]
    return MessageShape.model_construct(**values)
