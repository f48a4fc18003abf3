"""The OpenAI-compatible dialect as data: the body of a request, and the chunks of an answer.

Pure. `openai_chat` posts the one and feeds the other; nothing here knows how they travel.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import SecretStr

from app.providers.ports import (
    ChatRequest,
    Finished,
    Message,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ProviderGarbled,
    ProviderRefused,
    StopReason,
    ToolCall,
    Usage,
)
from app.providers.sse import ServerEvent
from app.providers.transport import status_error, upstream_code

# What servers that speak this dialect were seen to say. Anything else is not known to be an end.
_REASONS: Final[Mapping[str, StopReason]] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}
# How errors inside a stream are told apart: by words in their code or type.
_BUSY: Final = ("rate_limit", "overloaded", "busy", "throttl")
_REFUSED: Final = ("invalid", "context_length", "auth", "permission", "not_found", "quota", "filter")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One server that speaks the dialect. `json_mode` `object` knows no schema: the prompt carries it."""

    name: str
    base_url: str
    path: str
    default_model: str
    context_window: int
    api_key: SecretStr | None = None
    needs_key: bool = True
    tools: bool = True
    json_mode: Literal["schema", "object", "none"] = "schema"
    max_tokens_field: str = "max_tokens"


# ------------------------------------------------------------------------------------- request


def request_body(endpoint: Endpoint, request: ChatRequest) -> dict[str, Any]:
    """The JSON body of `POST …/chat/completions` for this endpoint."""
    messages = [_message(message) for message in request.messages]
    body: dict[str, Any] = {
        "model": request.model or endpoint.default_model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.max_tokens is not None:
        body[endpoint.max_tokens_field] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
            }
            for tool in request.tools
        ]
    if request.json_schema is not None:
        _ask_for_json(body, endpoint, request.json_schema)
    return body


def _message(message: Message) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        said["content"] = message.content or None
        said["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        said["tool_call_id"] = message.tool_call_id
    return said


def _ask_for_json(body: dict[str, Any], endpoint: Endpoint, schema: Mapping[str, Any]) -> None:
    if endpoint.json_mode == "schema":
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema)}}
        return
    if endpoint.json_mode == "object":
        body["response_format"] = {"type": "json_object"}
    rule = "Answer with one JSON object and nothing else. It follows this JSON schema:\n"
    rule += json.dumps(schema, ensure_ascii=False)
    messages = body["messages"]
    if messages and messages[0]["role"] == "system":
        messages[0]["content"] += "\n\n" + rule
    else:
        messages.insert(0, {"role": "system", "content": rule})


# -------------------------------------------------------------------------------------- answer


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""


class Completion:
    """Collects the chunks of one answer. Chunks, choices and fields that are null or missing are stepped over."""

    def __init__(self) -> None:
        self.spoke = False
        self.ended = False
        self._reason: str | None = None
        self._usage = Usage()
        self._calls: dict[Any, _Call] = {}

    def take(self, event: ServerEvent) -> str:
        """The visible text of one event. Raises ProviderError for an error that came after the 200."""
        data = event.data.strip()
        if data == "[DONE]":
            self.ended = True
            return ""
        chunk = _parsed(data) if data else None
        if isinstance(chunk, dict) and event.kind == "error":
            raise _stream_error(chunk.get("error") or chunk)
        return self._take_chunk(chunk)

    def take_whole(self, body: bytes) -> str:
        """The text of an answer that came as one JSON object."""
        text = self._take_chunk(_parsed(body.decode("utf-8", "replace")))
        self.ended = self._reason is not None
        return text

    def finished(self) -> Finished:
        """The last event. Without a reason and `[DONE]` the answer is `truncated`; raises ProviderDown if it is
        also empty, because then trying again repeats nothing.
        """
        if not (self.ended and self._reason):
            if not self.spoke:
                raise ProviderDown("The provider's answer ended before it began.")
            return Finished("truncated", self._usage)
        reason = _REASONS.get(self._reason, "truncated")
        calls = tuple(
            ToolCall(call.id or f"call_{n}", call.name, call.arguments)
            for n, call in enumerate(self._calls.values())
            if call.name
        )
        if calls and reason == "stop":  # some servers call tools and say "stop"
            reason = "tool_calls"
        # Calls of an answer that was cut short may be cut themselves, and must not run.
        return Finished(reason, self._usage, calls if reason == "tool_calls" else ())

    def _take_chunk(self, chunk: Any) -> str:
        if not isinstance(chunk, dict):
            return ""
        if chunk.get("error") or ("choices" not in chunk and chunk.get("code") and "message" in chunk):
            raise _stream_error(chunk.get("error") or chunk)
        self._take_usage(chunk.get("usage"))
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict) or choice.get("index"):
            return ""
        self._take_usage(choice.get("usage"))
        text = self._take_delta(choice.get("delta") or choice.get("message"))
        reason = choice.get("finish_reason")
        if reason == "error":
            raise ProviderDown("The provider broke off.")
        if isinstance(reason, str) and reason:
            self._reason = reason
        return text

    def _take_delta(self, delta: Any) -> str:
        if not isinstance(delta, dict):
            return ""
        calls = delta.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                self._take_call(call, position)
        text = _text(delta.get("content")) or _text(delta.get("refusal"))
        self.spoke = self.spoke or bool(text)
        return text

    def _take_call(self, piece: Mapping[str, Any], position: int) -> None:
        index = piece.get("index")
        known = self._calls.setdefault(index if isinstance(index, int) else piece.get("id") or position, _Call())
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        known.id = known.id or str(piece.get("id") or "")
        known.name = known.name or str(function.get("name") or "")
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            known.arguments += arguments
        elif arguments is not None:
            known.arguments += json.dumps(arguments, ensure_ascii=False)

    def _take_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            into, out_of = usage.get("prompt_tokens"), usage.get("completion_tokens")
            if isinstance(into, int) and isinstance(out_of, int):
                self._usage = Usage(max(0, into), max(0, out_of))


def _parsed(data: str) -> Any:
    try:
        return json.loads(data, strict=False)
    except (ValueError, RecursionError) as error:
        raise ProviderGarbled from error


def _text(content: Any) -> str:
    """Content is a string, or a list of parts of which some are text."""
    if isinstance(content, str):
        return content
    parts: Sequence[Any] = content if isinstance(content, list) else ()
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _stream_error(error: Any) -> ProviderError:
    """The error of a stream whose status was 200, told by its code in numbers or words."""
    fields = error if isinstance(error, dict) else {}
    for key in ("code", "status", "status_code"):
        number = str(fields.get(key, ""))
        if number.isascii() and number.isdigit() and 400 <= int(number) < 600:
            return status_error(int(number), {})
    code = upstream_code(json.dumps(fields).encode()) or "no code"
    words = " ".join(str(fields.get(key, "")) for key in ("code", "type")).lower()
    if any(sign in words for sign in _BUSY):
        return ProviderBusy(f"The provider asks to come back later ({code}).", upstream_code=code)
    if any(sign in words for sign in _REFUSED):
        return ProviderRefused(f"The provider refused the request ({code}).", upstream_code=code)
    return ProviderDown(f"The provider broke off ({code}).", upstream_code=code)
