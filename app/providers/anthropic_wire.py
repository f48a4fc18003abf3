"""Anthropic's messages dialect as data: the body of a request, and the events of an answer.

Pure. Its answers are content blocks, told apart by index; roles must take turns, and the user begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from app.providers.ports import ChatRequest, Message, StopReason, ToolCall, Usage
from app.providers.schemas import enforceable, schema_rule
from app.providers.specs import Endpoint
from app.providers.sse import ServerEvent
from app.providers.wire_answer import Call, WireAnswer, arguments_object, count, parsed, stream_error

_DEFAULT_MAX_TOKENS: Final = 4096  # it must be said
_THOUGHTS: Final = "thinking"
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]")

# ------------------------------------------------------------------------------------- request


def request_body(endpoint: Endpoint, request: ChatRequest) -> dict[str, Any]:
    """The JSON body of `POST /v1/messages` for this endpoint."""
    traits = endpoint.traits(request.model)
    body: dict[str, Any] = {
        "model": request.model or endpoint.default_model,
        "max_tokens": (request.max_tokens or _DEFAULT_MAX_TOKENS) + traits.thought_tokens,
        "messages": _turns(request.messages),
        "stream": True,
        **traits.extra,
    }
    system = [message.content for message in request.messages if message.role == "system" and message.content.strip()]
    if request.json_schema is not None:
        if traits.json_mode == "schema":
            output = {"format": {"type": "json_schema", "schema": enforceable(request.json_schema)}}
            body["output_config"] = {**traits.extra.get("output_config", {}), **output}
        else:
            system.append(schema_rule(request.json_schema))
    if system:
        body["system"] = "\n\n".join(system)
    if request.temperature is not None and traits.temperature:
        body["temperature"] = min(request.temperature, 1.0)
    tools = _tools(request)
    if tools:
        body["tools"] = tools
        if request.tool_choice == "none" or not request.tools:
            body["tool_choice"] = {"type": "none"}
    return body


def _tools(request: ChatRequest) -> list[dict[str, Any]]:
    """The tools on offer; where none are, those that the messages speak of, which it insists on knowing."""
    if request.tools:
        return [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
            for tool in request.tools
        ]
    called = dict.fromkeys(call.name for message in request.messages for call in message.tool_calls)
    return [{"name": name, "input_schema": {"type": "object"}} for name in called]


def _turns(messages: Iterable[Message]) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    for message in messages:
        blocks = _blocks(message)
        if not blocks:
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": "…"}]})
    return turns


def _blocks(message: Message) -> list[dict[str, Any]]:
    """Content blocks of one message. Blank text is left out, because it is refused."""
    if message.role == "system":
        return []
    if message.role == "tool":
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": _id(message.tool_call_id or "")}
        return [block | ({"content": message.content} if message.content.strip() else {})]
    text = [{"type": "text", "text": message.content}] if message.content.strip() else []
    thoughts = [block for call in message.tool_calls for block in _carried(call)]
    return [*thoughts, *text, *(_tool_use(call) for call in message.tool_calls)]


def _tool_use(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": _id(call.id), "name": call.name, "input": arguments_object(call.arguments)}


def _carried(call: ToolCall) -> list[dict[str, Any]]:
    """The thoughts before a call, signed: a model that thinks wants them back unchanged."""
    field, value = call.carried or ("", "")
    blocks = parsed(value) if field == _THOUGHTS else None
    return blocks if isinstance(blocks, list) else []


def _id(call_id: str) -> str:
    """Ids of other providers may hold characters that are refused here."""
    return _NOT_IN_IDS.sub("_", call_id)


# -------------------------------------------------------------------------------------- answer


class AnthropicAnswer(WireAnswer):
    """Collects the events of one answer; it ends with `message_stop`."""

    REASONS: ClassVar[Mapping[str, StopReason]] = {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool_calls",
        "refusal": "content_filter",
    }

    def __init__(self) -> None:
        super().__init__()
        self._calls: dict[Any, Call] = {}
        self._thoughts: dict[Any, dict[str, Any]] = {}
        self._input_tokens = 0
        self._output_tokens = 0

    def take(self, event: ServerEvent) -> str:
        data = event.data.strip()
        said = parsed(data) if data else None
        if not isinstance(said, dict):
            return ""
        kind = said.get("type") or event.kind
        index = said.get("index") if isinstance(said.get("index"), int) else 0
        if kind == "error" or said.get("error"):
            raise stream_error(said.get("error") or said)
        if kind == "message_start":
            self._take_usage(_dict(said.get("message")).get("usage"))
        elif kind == "content_block_start":
            return self._begin(index, _dict(said.get("content_block")))
        elif kind == "content_block_delta":
            return self._take_delta(index, _dict(said.get("delta")))
        elif kind == "message_delta":
            self._end_for(_dict(said.get("delta")).get("stop_reason"))
            self._take_usage(said.get("usage"))
        elif kind == "message_stop":
            self.ended = True
        return ""

    def take_whole(self, body: bytes) -> str:
        said = parsed(body.decode("utf-8", "replace"))
        if not isinstance(said, dict):
            return ""
        if said.get("type") == "error" or said.get("error"):
            raise stream_error(said.get("error") or said)
        content = said.get("content")
        texts = [self._begin(n, _dict(block)) for n, block in enumerate(content if isinstance(content, list) else ())]
        self._take_usage(said.get("usage"))
        self._end_for(said.get("stop_reason"))
        self.ended = self._reason is not None
        return "".join(texts)

    def _all_calls(self) -> Iterable[Call]:
        calls = list(self._calls.values())
        thoughts = [self._thoughts[index] for index in sorted(self._thoughts)]
        if calls and thoughts:
            calls[0].carried = (_THOUGHTS, json.dumps(thoughts, ensure_ascii=False))
        for call in calls:
            call.arguments = call.arguments or "{}"
        return calls

    def _begin(self, index: Any, block: Mapping[str, Any]) -> str:
        kind = block.get("type")
        if kind == "text":
            return self._say(block.get("text"))
        if kind == "tool_use":
            given = block.get("input")
            self._calls[index] = Call(
                str(block.get("id") or ""),
                str(block.get("name") or ""),
                json.dumps(given, ensure_ascii=False) if given else "",
            )
        elif kind in (_THOUGHTS, "redacted_thinking"):
            self._thoughts[index] = dict(block)
        return ""

    def _take_delta(self, index: Any, delta: Mapping[str, Any]) -> str:
        kind = delta.get("type")
        if kind == "text_delta":
            return self._say(delta.get("text"))
        if kind == "input_json_delta" and index in self._calls and isinstance(delta.get("partial_json"), str):
            self._calls[index].arguments += delta["partial_json"]
        elif kind in ("thinking_delta", "signature_delta") and index in self._thoughts:
            field = kind.removesuffix("_delta")
            if isinstance(delta.get(field), str):
                self._thoughts[index][field] = str(self._thoughts[index].get(field) or "") + delta[field]
        return ""

    def _take_usage(self, usage: Any) -> None:
        """Counts are totals so far. What came from the cache was read as well."""
        told = _dict(usage)
        read = sum(
            count(told.get(key)) for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        )
        self._input_tokens = read or self._input_tokens
        self._output_tokens = count(told.get("output_tokens")) or self._output_tokens
        self._usage = Usage(self._input_tokens, self._output_tokens)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
