"""The OpenAI wire format, so that existing clients talk to the notes. Model names pick the level.

Unknown fields are ignored here; errors have OpenAI's shape, which `problems` gives them.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, Final, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from app.api.answer_shapes import citation_shape
from app.api.ask import collect
from app.api.deps import Authenticated, Chatter, Wired
from app.api.gone import unless_gone
from app.api.problems import openai_document, status_of
from app.api.search import check_query
from app.api.sse import EventStream, Wire, on_one_line
from app.api.text_types import Integer, Text
from app.chat.answer import Answer, AnswerEvent, Ask, Routed, Token
from app.chat.prompt import Turn
from app.core.errors import Invalid, MindConeError, NotFound
from app.providers.ports import StopReason, Usage
from app.retrieval.types import Level

router = APIRouter(prefix="/v1", tags=["openai"])

MODELS: Final[dict[str, Level | None]] = {"mindcone": None, **{f"mindcone-{level.name}": level for level in Level}}
# No tool was offered, so a call of one is no end of its own; neither is a stream that broke off.
_FINISH: Final[Mapping[StopReason, str]] = {"stop": "stop", "content_filter": "content_filter"}


class ModelNotFound(NotFound):
    """There is no such model; see /v1/models."""

    code = "model_not_found"


class NoQuestion(Invalid):
    """The last message must be the user's, and say something."""

    code = "no_question"


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Part(_Loose):
    type: str
    text: Text | None = None


class ChatMessage(_Loose):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Text | list[Part] | None = None

    @property
    def said(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text)
        return self.content or ""


class StreamOptions(_Loose):
    include_usage: bool | None = None


class CompletionBody(_Loose):
    model: Text = "mindcone"
    messages: list[ChatMessage] = Field(min_length=1, max_length=1000)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    max_tokens: Integer | None = Field(None, ge=1)
    max_completion_tokens: Integer | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=2)
    n: Integer | None = None
    tool_choice: Any = None

    @field_validator("n")
    @classmethod
    def _is_one(cls, value: int | None) -> int | None:
        if value not in (None, 1):
            raise PydanticCustomError("one_answer", "One answer is given at a time: n must be 1")
        return value

    @field_validator("tool_choice")
    @classmethod
    def _forces_nothing(cls, value: Any) -> Any:
        """Tools on offer may go uncalled; a call that is demanded could only be missed in silence."""
        if value not in (None, "none", "auto"):
            raise PydanticCustomError("no_tools", "Answers are words from the notes: no tool can be demanded")
        return value


@router.get("/models")
async def list_models(principal: Authenticated) -> dict[str, Any]:
    """One model per level; `mindcone` lets the router choose."""
    return {"object": "list", "data": [_model(name) for name in MODELS]}


@router.get("/models/{model}")
async def get_model(principal: Authenticated, model: str) -> dict[str, Any]:
    if model not in MODELS:
        raise ModelNotFound
    return _model(model)


@router.post("/chat/completions", response_model=None, responses={200: {"content": {"text/event-stream": {}}}})
async def create_chat_completion(
    principal: Chatter, services: Wired, body: CompletionBody, request: Request
) -> dict[str, Any] | Response:
    """Answer the last user message from the notes; the messages before it are the conversation."""
    asked = ask_of(body)
    check_query(asked.query, services.settings.query_max_bytes)
    events = request.app.state.metrics.counting(services.asking.stream(principal.workspace_id, asked))
    if body.stream:
        # Until the model speaks an error can have its status; after that it can only be an event.
        first = await unless_gone(request, _first(events))
        return EventStream(request, _chunks(first, events, body), wire=_WIRE)
    answer = await unless_gone(request, collect(events))
    return {
        **_head("chat.completion", body),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": answer.text, "refusal": None},
                "finish_reason": _finish(answer),
                "logprobs": None,
            }
        ],
        "usage": _usage(answer.usage),
        "citations": citations(answer),
    }


def ask_of(body: CompletionBody) -> Ask:
    """Raises ModelNotFound, NoQuestion."""
    if body.model not in MODELS:
        raise ModelNotFound
    spoken = [message for message in body.messages if message.role in ("user", "assistant")]
    if not spoken or spoken[-1].role != "user" or not spoken[-1].said.strip():
        raise NoQuestion
    return Ask(
        query=spoken[-1].said,
        level=MODELS[body.model],
        history=[
            Turn("user" if message.role == "user" else "assistant", message.said)
            for message in spoken[:-1]
            if message.said
        ],
        instructions="\n\n".join(
            message.said for message in body.messages if message.role in ("system", "developer") and message.said
        ),
        max_tokens=body.max_completion_tokens or body.max_tokens,
        temperature=body.temperature,
    )


async def _first(events: AsyncIterator[AnswerEvent]) -> AnswerEvent:
    async for event in events:
        if not isinstance(event, Routed):
            return event
    raise MindConeError


async def _chunks(
    first: AnswerEvent, events: AsyncGenerator[AnswerEvent], body: CompletionBody
) -> AsyncGenerator[dict[str, Any] | str]:
    wants_usage = bool(body.stream_options and body.stream_options.include_usage)
    head = _head("chat.completion.chunk", body) | ({"usage": None} if wants_usage else {})

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]}

    async with aclosing(events):
        yield chunk({"role": "assistant", "content": ""})
        event: AnswerEvent | None = first
        while event is not None:
            if isinstance(event, Token):
                yield chunk({"content": event.text})
            elif isinstance(event, Answer):
                yield chunk({}, _finish(event)) | {"citations": citations(event)}
                if wants_usage:
                    yield head | {"choices": [], "usage": _usage(event.usage)}
            event = await anext(events, None)
    yield "[DONE]"


def _encode(chunk: dict[str, Any] | str) -> bytes:
    return f"data: {chunk if isinstance(chunk, str) else on_one_line(chunk)}\n\n".encode(errors="replace")


def _failed(request: Request, error: MindConeError) -> dict[str, Any]:
    return openai_document(status_of(error), error.code, error.detail)


_WIRE: Final = Wire(_encode, _failed)


def citations(answer: Answer) -> list[dict[str, Any]]:
    return [citation_shape(citation).model_dump(mode="json") for citation in answer.citations]


def _head(kind: str, body: CompletionBody) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": body.model}


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "mindcone"}


def _finish(answer: Answer) -> str:
    return _FINISH.get(answer.stop_reason, "length")


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
