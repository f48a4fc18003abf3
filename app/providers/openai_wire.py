"""The OpenAI-compatible dialect as data: the body of a request, and the chunks of an answer.

Pure. `wire_chat` posts the one and feeds the other; nothing here knows how they travel.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from app.providers.ports import ChatRequest, Message, ProviderDown, StopReason, Usage
from app.providers.schemas import enforceable, is_strict, schema_rule
from app.providers.specs import Endpoint
from app.providers.sse import ServerEvent
from app.providers.wire_answer import Call, WireAnswer, count, parsed, stream_error

# ------------------------------------------------------------------------------------- request


def request_body(endpoint: Endpoint, request: ChatRequest) -> dict[str, Any]:
    """The JSON body of `POST …/chat/completions` for this endpoint."""
    traits = endpoint.traits(request.model)
    body: dict[str, Any] = {
        "model": request.model or endpoint.default_model,
        "messages": [_message(endpoint, message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        **traits.extra,
    }
    if request.max_tokens is not None:
        body[endpoint.spec.max_tokens_field] = request.max_tokens + traits.thought_tokens
    if request.temperature is not None and traits.temperature:
        body["temperature"] = request.temperature
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
            }
            for tool in request.tools
        ]
        if request.tool_choice != "auto":
            body["tool_choice"] = request.tool_choice
    if request.json_schema is not None:
        _ask_for_json(body, traits.json_mode, request.json_schema)
    return body


def _message(endpoint: Endpoint, message: Message) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        said["content"] = message.content or None
        said["tool_calls"] = []
        for call in message.tool_calls:
            told: dict[str, Any] = {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments or "{}"},
            }
            field, value = call.carried or ("", "")
            if field == "extra_content":
                told["extra_content"] = parsed(value)
            elif field == "reasoning_content" and endpoint.spec.returns_thoughts:
                said["reasoning_content"] = value
            said["tool_calls"].append(told)
    if message.tool_call_id is not None:
        said["tool_call_id"] = message.tool_call_id
    return said


def _ask_for_json(body: dict[str, Any], mode: str, schema: Mapping[str, Any]) -> None:
    if mode == "schema":
        told: dict[str, Any] = {"name": "answer", "schema": dict(schema)}
        if is_strict(enforceable(schema)):
            told |= {"schema": enforceable(schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": told}
        return
    if mode == "object":
        body["response_format"] = {"type": "json_object"}
    rule = schema_rule(schema)
    messages = body["messages"]
    if messages and messages[0]["role"] == "system":
        messages[0]["content"] += "\n\n" + rule
    else:
        messages.insert(0, {"role": "system", "content": rule})


# -------------------------------------------------------------------------------------- answer


class OpenAIAnswer(WireAnswer):
    """Collects the chunks of one answer; it ends with `[DONE]`."""

    REASONS: ClassVar[Mapping[str, StopReason]] = {
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

    def __init__(self) -> None:
        super().__init__()
        self._calls: dict[Any, Call] = {}
        self._thoughts: list[str] = []

    def take(self, event: ServerEvent) -> str:
        data = event.data.strip()
        if data == "[DONE]":
            self.ended = True
            return ""
        chunk = parsed(data) if data else None
        if isinstance(chunk, dict) and event.kind == "error":
            raise stream_error(chunk.get("error") or chunk)
        return self._take_chunk(chunk)

    def take_whole(self, body: bytes) -> str:
        text = self._take_chunk(parsed(body.decode("utf-8", "replace")))
        self.ended = self._reason is not None
        return text

    def is_last(self, data: str) -> bool:
        return data.strip() == "[DONE]" or super().is_last(data)

    def _all_calls(self) -> Iterable[Call]:
        calls = [call for call in self._calls.values() if call.name]
        if calls and self._thoughts and calls[0].carried is None:
            calls[0].carried = ("reasoning_content", "".join(self._thoughts))
        return calls

    def _take_chunk(self, chunk: Any) -> str:
        if not isinstance(chunk, dict):
            return ""
        if chunk.get("error") or ("choices" not in chunk and chunk.get("code") and "message" in chunk):
            raise stream_error(chunk.get("error") or chunk)
        self._take_usage(chunk.get("usage"))
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict) or choice.get("index"):
            return ""
        self._take_usage(choice.get("usage"))
        text = self._take_delta(choice.get("delta") or choice.get("message"))
        if choice.get("finish_reason") == "error":
            raise ProviderDown("The provider broke off.")
        self._end_for(choice.get("finish_reason"))
        return text

    def _take_delta(self, delta: Any) -> str:
        if not isinstance(delta, dict):
            return ""
        calls = delta.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                self._take_call(call, position)
        thought = delta.get("reasoning_content")
        if isinstance(thought, str) and thought:
            self._thoughts.append(thought)
        return self._say(_text(delta.get("content")) or _text(delta.get("refusal")))

    def _take_call(self, piece: Mapping[str, Any], position: int) -> None:
        index, call_id = piece.get("index"), str(piece.get("id") or "")
        key: Any = index if isinstance(index, int) else call_id or position
        known = self._calls.get(key)
        if known is not None and known.id and call_id not in ("", known.id):
            # Some servers give all calls the index 0. The later one takes the place, so that its pieces find it.
            self._calls[key, known.id] = self._calls.pop(key)
            known = None
        if known is None:
            known = self._calls[key] = Call()
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        known.id = known.id or call_id
        known.name = known.name or str(function.get("name") or "")
        if isinstance(piece.get("extra_content"), dict):
            known.carried = ("extra_content", json.dumps(piece["extra_content"], ensure_ascii=False))
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            known.arguments += arguments
        elif arguments is not None:
            known.arguments += json.dumps(arguments, ensure_ascii=False)

    def _take_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            into, out_of = usage.get("prompt_tokens"), usage.get("completion_tokens")
            if isinstance(into, int) and isinstance(out_of, int):
                self._usage = Usage(count(into), count(out_of))


def _text(content: Any) -> str:
    """Content is a string, or a list of parts of which some are text."""
    if isinstance(content, str):
        return content
    parts: Sequence[Any] = content if isinstance(content, list) else ()
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))
