"""The OpenAI wire format, so that existing clients talk to the notes. Model names pick the level.

Unknown fields are ignored here; errors have OpenAI's shape.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, Final, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from app.api.ask import collect
from app.api.deps import Reader, Wired
from app.api.problems import status_of
from app.api.search import check_query
from app.api.text_types import Text
from app.chat.answer import Answer, Answering, Ask, Token
from app.chat.prompt import Turn
from app.core.errors import Invalid, MindConeError, NotFound
from app.core.log import get
from app.people.keys import Principal
from app.providers.ports import Role, Usage
from app.retrieval.types import Level

log = get(__name__)

router = APIRouter(prefix="/v1", tags=["openai"])

MODELS: Final[dict[str, Level | None]] = {"mindcone": None, **{f"mindcone-{level.name}": level for level in Level}}
_FINISH: Final = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "content_filter": "content_filter"}


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
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=2)


@router.get("/models")
async def list_models(principal: Reader) -> dict[str, Any]:
    """One model per level; `mindcone` lets the router choose."""
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 0, "owned_by": "mindcone"} for name in MODELS],
    }


@router.get("/models/{model}")
async def get_model(principal: Reader, model: str) -> Response:
    if model not in MODELS:
        return _told(ModelNotFound())
    return JSONResponse({"id": model, "object": "model", "created": 0, "owned_by": "mindcone"})


@router.post("/chat/completions")
async def create_chat_completion(
    principal: Reader, services: Wired, body: CompletionBody, request: Request
) -> Response:
    """Answer the last user message from the notes; the messages before it are the conversation."""
    try:
        asked = ask_of(body)
        check_query(asked.query, services.settings.query_max_bytes)
        if body.stream:
            return await _streamed(services.answering, principal, asked, body)
        answer = await collect(services.answering, principal, asked)
    except MindConeError as error:
        return _told(error)
    return JSONResponse(
        {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body.model,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": answer.text, "refusal": None},
                    "finish_reason": _FINISH.get(answer.stop_reason, "length"),
                    "logprobs": None,
                }
            ],
            "usage": _usage(answer.usage),
            "citations": citations(answer),
        }
    )


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
        history=[Turn(_role(message), message.said) for message in spoken[:-1] if message.said],
        instructions="\n\n".join(
            message.said for message in body.messages if message.role in ("system", "developer") and message.said
        ),
        max_tokens=body.max_completion_tokens or body.max_tokens,
        temperature=body.temperature,
    )


def _role(message: ChatMessage) -> Role:
    return "user" if message.role == "user" else "assistant"


async def _streamed(answering: Answering, principal: Principal, asked: Ask, body: CompletionBody) -> Response:
    from starlette.responses import StreamingResponse

    # Until the evidence is there an error can still have its status; after that it is an event.
    events = answering.stream(principal.workspace_id, asked)
    await anext(events)
    return StreamingResponse(
        _frames(events, body), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _frames(events: AsyncIterator[Any], body: CompletionBody) -> AsyncIterator[bytes]:
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": "chat.completion.chunk", "created": int(time.time())}
    include_usage = bool(body.stream_options and body.stream_options.include_usage)

    def frame(choices: Sequence[Any], **more: Any) -> bytes:
        chunk = {**head, "model": body.model, "choices": choices, **({"usage": None} if include_usage else {}), **more}
        return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()

    def choice(delta: dict[str, Any], finish: str | None = None) -> list[Any]:
        return [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]

    yield frame(choice({"role": "assistant", "content": ""}))
    try:
        async with aclosing(events) as answering:  # type: ignore[type-var]
            async for event in answering:
                if isinstance(event, Token):
                    yield frame(choice({"content": event.text}))
                elif isinstance(event, Answer):
                    yield frame(choice({}, _FINISH.get(event.stop_reason, "length")), citations=citations(event))
                    if include_usage:
                        yield frame([], usage=_usage(event.usage))
    except MindConeError as error:
        yield f"data: {json.dumps({'error': _error(error)}, ensure_ascii=False)}\n\n".encode()
    except Exception as error:
        log.error("completion_failed", exc_info=error)
        yield f"data: {json.dumps({'error': _error(MindConeError())})}\n\n".encode()
    yield b"data: [DONE]\n\n"


def citations(answer: Answer) -> list[dict[str, Any]]:
    return [
        {
            "marker": one.marker,
            "kind": one.kind,
            "id": str(one.id),
            "quote": one.quote,
            "start": one.start,
            "end": one.end,
        }
        for one in answer.citations
    ]


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def _told(error: MindConeError) -> Response:
    return JSONResponse({"error": _error(error)}, status_of(error))


def _error(error: MindConeError) -> dict[str, Any]:
    kind = "invalid_request_error" if isinstance(error, Invalid | NotFound) else "server_error"
    return {"message": error.detail, "type": kind, "code": error.code, "param": None}
