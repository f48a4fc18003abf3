"""The fake provider's dialect of Anthropic's messages. Pure; reads requests as strictly as the real server does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from app.providers.fake_script import SIGNATURE, THOUGHT, Answer, Event, chunk, in_pieces
from app.providers.ports import Message, ToolCall

_REASONS: Final = {"stop": "end_turn", "length": "max_tokens", "filter": "refusal", "tools": "tool_use"}
_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_ID = re.compile(r"[A-Za-z0-9_-]+")
_THINKING: Final = "_thought"


class AnthropicFake:
    nulls: Sequence[str] = (
        "null",
        "",
        "[]",
        "{}",
        '"text"',
        '{"type": null}',
        '{"type": "a_new_kind_of_event", "index": 0}',
        '{"type": "message_start", "message": null}',
        '{"type": "message_delta", "delta": null, "usage": null}',
        '{"type": "message_delta", "delta": {"stop_reason": null}, "usage": {"output_tokens": null}}',
        '{"type": "content_block_start", "index": null, "content_block": null}',
        '{"type": "content_block_start", "index": 9, "content_block": {"type": "a_new_kind_of_block"}}',
        '{"type": "content_block_delta", "index": 0, "delta": null}',
        '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": null}}',
        '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": 7}}',
        '{"type": "content_block_delta", "index": 5, "delta": {"type": "input_json_delta", "partial_json": "{"}}',
        '{"type": "content_block_delta", "index": 5, "delta": {"type": "signature_delta", "signature": null}}',
    )

    def key(self, headers: Mapping[str, str]) -> str:
        return headers.get("x-api-key", "")

    def heard(self, body: Mapping[str, Any]) -> list[Message]:
        system = body.get("system")
        system = "\n\n".join(part["text"] for part in system) if isinstance(system, list) else system
        heard = [Message("system", system)] if system else []
        for said in body.get("messages") or ():
            heard += _messages(said)
        return heard

    def tools(self, body: Mapping[str, Any]) -> list[str]:
        return [tool["name"] for tool in body.get("tools") or ()]

    def problem(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
        if "anthropic-version" not in headers:
            return "anthropic-version: header is required"
        if not isinstance(body.get("max_tokens"), int):
            return "max_tokens: Field required"
        turns = body.get("messages") or ()
        if not turns or turns[0].get("role") != "user":
            return "messages: first message must use the user role"
        open_calls: set[str] = set()
        for turn in turns:
            blocks = _blocks(turn)
            if turn.get("role") not in ("user", "assistant") or not blocks:
                return "messages: unknown role or empty content"
            if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
                return "messages: text content blocks must contain non-whitespace text"
            results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            if set(results) != open_calls or [b["type"] for b in blocks[: len(results)]].count("tool_result") < len(
                results
            ):
                return "messages: tool_use ids need tool_result blocks immediately after, and first in their message"
            calls = [block for block in blocks if block["type"] == "tool_use"]
            open_calls = {call["id"] for call in calls}
            for call in calls:
                if not _ID.fullmatch(call["id"]) or not isinstance(call["input"], dict):
                    return "messages: tool_use.id or input"
                if call["id"].endswith(_THINKING) and (
                    blocks[0]["type"] != "thinking" or blocks[0].get("signature") != SIGNATURE
                ):
                    return "messages: expected thinking, but found tool_use"
            if calls and not body.get("tools"):
                return "requests which have tool_use or tool_result blocks must define tools"
        return "messages: tool_use without tool_result" if open_calls else None

    def refusal(self, status: int, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": _TYPES.get(status, "api_error"), "message": message}}

    def whole(self, model: str, answer: Answer) -> dict[str, Any]:
        content: list[dict[str, Any]] = []
        if answer.thoughts:
            content.append({"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE})
        if answer.text or not answer.calls:
            content.append({"type": "text", "text": answer.text})
        content += [
            {"type": "tool_use", "id": call_id, "name": name, "input": _loose(arguments)}
            for call_id, name, arguments in _told(answer)
        ]
        usage = {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
        return _envelope(model) | {"content": content, "stop_reason": _REASONS[answer.reason], "usage": usage}

    def begin(self, model: str, answer: Answer) -> Sequence[Event]:
        usage = {"input_tokens": answer.input_tokens if answer.wants_usage else 0, "output_tokens": 0}
        message = _envelope(model) | {"content": [], "stop_reason": None, "usage": usage}
        return [_event("message_start", message=message), _event("ping")]

    def say(self, model: str, answer: Answer) -> Iterator[Sequence[Event]]:
        index = 0
        if answer.thoughts:
            yield [_block(index, type="thinking", thinking="", signature="")]
            for piece in in_pieces(THOUGHT):
                yield [_delta(index, type="thinking_delta", thinking=piece)]
            yield [_delta(index, type="signature_delta", signature=SIGNATURE), _stop(index)]
            index += 1
        if answer.pieces:
            opening = [_block(index, type="text", text="")]
            for text in answer.pieces:
                yield [*opening, _delta(index, type="text_delta", text=text)]
                opening = []
            yield [_stop(index)]
            index += 1
        for call_id, name, arguments in _told(answer):
            yield [_block(index, type="tool_use", id=call_id, name=name, input={})]
            for piece in in_pieces(arguments):
                yield [_delta(index, type="input_json_delta", partial_json=piece)]
            index += 1

    def end(self, model: str, answer: Answer, *, with_reason: bool, with_terminal: bool) -> Iterator[Event]:
        if with_reason:
            delta = {"stop_reason": _REASONS[answer.reason], "stop_sequence": None}
            usage = {"usage": {"output_tokens": answer.output_tokens}} if answer.wants_usage else {}
            yield _event("message_delta", delta=delta, **usage)
        if with_terminal:
            yield _event("message_stop")

    def error(self, code: str | None) -> Event:
        error: dict[str, Any] = {"type": code or "api_error", "message": "sk-secret broke"}
        if code and code.isdigit():
            error = {"type": "api_error", "message": "sk-secret broke", "code": int(code)}
        return _event("error", error=error)

    def around_text(self) -> tuple[bytes, bytes]:
        before = b'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 0, "delta": '
        return before + b'{"type": "text_delta", "text": "', b'"}}\n\n'


def _blocks(turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = turn.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def _messages(turn: Mapping[str, Any]) -> Iterator[Message]:
    blocks = _blocks(turn)
    for block in blocks:
        if block["type"] == "tool_result":
            yield Message("tool", str(block.get("content") or ""), tool_call_id=block["tool_use_id"])
    text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    calls = [
        ToolCall(block["id"], block["name"], json.dumps(block["input"], ensure_ascii=False))
        for block in blocks
        if block["type"] == "tool_use"
    ]
    if text or calls:
        role: Any = turn["role"]
        yield Message(role, text, calls)


def _told(answer: Answer) -> Iterator[tuple[str, str, str]]:
    for call_id, name, arguments in answer.calls:
        yield call_id.replace("call_", "toolu_") + (_THINKING if answer.thoughts else ""), name, arguments


def _loose(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return {}


def _envelope(model: str) -> dict[str, Any]:
    return {"id": "msg_fake", "type": "message", "role": "assistant", "model": model, "stop_sequence": None}


def _event(kind: str, **fields: Any) -> Event:
    return Event(chunk({"type": kind, **fields}), kind)


def _block(index: int, **block: Any) -> Event:
    return _event("content_block_start", index=index, content_block=block)


def _stop(index: int) -> Event:
    return _event("content_block_stop", index=index)


def _delta(index: int, **delta: Any) -> Event:
    return _event("content_block_delta", index=index, delta=delta)
