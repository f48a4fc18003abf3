"""The fake provider's OpenAI dialect. Pure; reads requests as strictly as the real servers do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from app.providers.fake_script import THOUGHT, Answer, Event, chunk, in_pieces
from app.providers.ports import Message, ToolCall

_REASONS: Final = {"stop": "stop", "length": "length", "filter": "content_filter", "tools": "tool_calls"}


class OpenAIFake:
    nulls: Sequence[str] = (
        "null",
        "",
        "[]",
        '"text"',
        "{}",
        '{"choices": null}',
        '{"choices": []}',
        '{"choices": [null]}',
        '{"choices": "none"}',
        '{"choices": [{"index": 0, "delta": null}]}',
        '{"choices": [{"index": 0, "delta": {"content": null, "tool_calls": null}}]}',
        '{"choices": [{"index": 0, "delta": {"content": 7, "tool_calls": [null, {"index": 0}]}}]}',
        '{"choices": [{"index": null, "delta": {}, "finish_reason": ""}], "usage": null}',
        '{"choices": [{"index": 0, "delta": {}}], "usage": {"prompt_tokens": null}}',
    )

    def key(self, headers: Mapping[str, str]) -> str:
        return headers.get("authorization", "").removeprefix("Bearer ")

    def heard(self, body: Mapping[str, Any]) -> list[Message]:
        return [_message(said) for said in body.get("messages") or () if isinstance(said, dict)]

    def tools(self, body: Mapping[str, Any]) -> list[str]:
        return [tool["function"]["name"] for tool in body.get("tools") or ()]

    def problem(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
        open_calls: set[str] = set()
        for message, raw in zip(self.heard(body), body.get("messages") or (), strict=False):
            if message.role == "tool":
                if message.tool_call_id not in open_calls:
                    return "a tool message must follow an assistant's message with that call"
                open_calls.discard(message.tool_call_id)
                continue
            if open_calls:
                return f"calls without a result: {sorted(open_calls)}"
            open_calls = {call.id for call in message.tool_calls}
            if message.tool_calls and _thought_at(message) and raw.get("reasoning_content") != THOUGHT:
                return "the reasoning_content of a call must be passed back"
        return f"calls without a result: {sorted(open_calls)}" if open_calls else None

    def refusal(self, status: int, message: str) -> dict[str, Any]:
        code = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}.get(status, "fake_error")
        return {"error": {"message": message, "type": "fake", "code": code}}

    def whole(self, model: str, answer: Answer) -> dict[str, Any]:
        said: dict[str, Any] = {"role": "assistant", "content": answer.text}
        if answer.thoughts:
            said["reasoning_content"] = THOUGHT
        if answer.calls:
            said["tool_calls"] = [
                {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
                for call_id, name, arguments in _told(answer)
            ]
        choice = {"index": 0, "message": said, "finish_reason": _REASONS[answer.reason]}
        return _envelope(model, "chat.completion") | {"choices": [choice], "usage": _usage(answer)}

    def begin(self, model: str, answer: Answer) -> Sequence[Event]:
        """The first carries the role only, as the real ones do."""
        is_silent = answer.pieces == [None] or answer.calls
        return [_delta(model, {"role": "assistant", "content": None if is_silent else ""})]

    def say(self, model: str, answer: Answer) -> Iterator[Sequence[Event]]:
        if answer.thoughts:
            for piece in in_pieces(THOUGHT):
                yield [_delta(model, {"reasoning_content": piece, "content": None})]
        for text in answer.pieces:
            yield [_delta(model, {"content": text})]
        for n, (call_id, name, arguments) in enumerate(_told(answer)):
            head = {"index": n, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
            yield [_delta(model, {"tool_calls": [head]})]
            for piece in in_pieces(arguments):
                yield [_delta(model, {"tool_calls": [{"index": n, "function": {"arguments": piece}}]})]

    def end(self, model: str, answer: Answer, *, with_reason: bool, with_terminal: bool) -> Iterator[Event]:
        if with_reason:
            yield _delta(model, {}, _REASONS[answer.reason])
        if answer.wants_usage and (with_reason or with_terminal):
            yield Event(chunk(_envelope(model) | {"choices": [], "usage": _usage(answer)}))
        if with_terminal:
            yield Event("[DONE]")

    def error(self, code: str | None) -> Event:
        code = code or "server_error"
        return Event(chunk({"error": {"message": "sk-secret broke", "type": code, "code": code}}))

    def around_text(self) -> tuple[bytes, bytes]:
        return b'data: {"choices": [{"index": 0, "delta": {"content": "', b'"}}]}\n\n'


def _message(said: Mapping[str, Any]) -> Message:
    calls = [
        ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in said.get("tool_calls") or ()
    ]
    content = said.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    role: Any = said.get("role")
    return Message(role, str(content or ""), calls, said.get("tool_call_id"))


_THINKING: Final = "_thought"


def _told(answer: Answer) -> Iterator[tuple[str, str, str]]:
    for call_id, name, arguments in answer.calls:
        yield call_id + (_THINKING if answer.thoughts else ""), name, arguments


def _thought_at(message: Message) -> bool:
    return any(call.id.endswith(_THINKING) for call in message.tool_calls)


def _envelope(model: str, kind: str = "chat.completion.chunk") -> dict[str, Any]:
    return {"id": "chatcmpl-fake", "object": kind, "created": 0, "model": model}


def _delta(model: str, delta: Mapping[str, Any], reason: str | None = None) -> Event:
    return Event(chunk(_envelope(model) | {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))


def _usage(answer: Answer) -> dict[str, int]:
    counts = {"prompt_tokens": answer.input_tokens, "completion_tokens": answer.output_tokens}
    return counts | {"total_tokens": sum(counts.values())}
