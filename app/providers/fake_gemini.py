"""The fake provider's dialect of Gemini. Pure; reads requests as strictly as the real server does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from app.providers.fake_script import SIGNATURE, THOUGHT, Answer, Event, chunk
from app.providers.ports import Message, ToolCall

_REASONS: Final = {"stop": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY", "tools": "STOP"}
_STATUSES: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
_TYPES: Final = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"}
_SCHEMA: Final = {
    *("type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties"),
    *("required", "propertyOrdering", "anyOf", "minimum", "maximum", "minLength", "maxLength", "pattern", "default"),
}
_THINKING: Final = "_thought"


class GeminiFake:
    nulls: Sequence[str] = (
        "null",
        "",
        "[]",
        "{}",
        '"text"',
        '{"candidates": null}',
        '{"candidates": []}',
        '{"candidates": [null]}',
        '{"candidates": [{"content": null, "index": 0}]}',
        '{"candidates": [{"content": {"role": "model"}, "index": 0}]}',
        '{"candidates": [{"content": {"parts": null}}]}',
        '{"candidates": [{"content": {"parts": [null, 7, {"text": null}, {"text": 7}, {"functionCall": null}]}}]}',
        '{"candidates": [{"content": {"parts": [{"functionCall": {"name": null, "args": null}}]}}]}',
        '{"candidates": [{"finishReason": null}], "usageMetadata": null}',
        '{"usageMetadata": {"promptTokenCount": null}, "promptFeedback": null}',
        '{"promptFeedback": {"safetyRatings": []}}',
    )

    def key(self, headers: Mapping[str, str]) -> str:
        return headers.get("x-goog-api-key", "")

    def heard(self, body: Mapping[str, Any]) -> list[Message]:
        system = "\n\n".join(part["text"] for part in (body.get("systemInstruction") or {}).get("parts", ()))
        heard = [Message("system", system)] if system else []
        for content in body.get("contents") or ():
            heard += _messages(content)
        return heard

    def tools(self, body: Mapping[str, Any]) -> list[str]:
        return [told["name"] for tool in body.get("tools") or () for told in tool.get("functionDeclarations", ())]

    def problem(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
        contents = body.get("contents") or ()
        if not contents:
            return "contents is not specified"
        open_calls: list[str] = []
        for content in contents:
            parts = content.get("parts") or ()
            if content.get("role") not in ("user", "model") or not parts:
                return "contents: unknown role or no parts"
            given = [part["functionResponse"] for part in parts if "functionResponse" in part]
            if [result["name"] for result in given] != open_calls:
                return "the number and names of function responses must be those of the function calls before"
            if not all(isinstance(result["response"], dict) for result in given):
                return "function_response.response must be an object"
            calls = [part for part in parts if "functionCall" in part]
            open_calls = [part["functionCall"]["name"] for part in calls]
            for part in calls:
                is_signed = part.get("thoughtSignature") == SIGNATURE
                if str(part["functionCall"].get("id", "")).endswith(_THINKING) and not is_signed:
                    return "Function call is missing a thought_signature in functionCall parts"
        schemas = [told.get("parameters") for tool in body.get("tools") or () for told in tool["functionDeclarations"]]
        schemas.append((body.get("generationConfig") or {}).get("responseSchema"))
        if not all(_is_schema(schema) for schema in schemas if schema is not None):
            return "Invalid JSON payload received. Unknown name in a schema"
        return "function calls without responses" if open_calls else None

    def refusal(self, status: int, message: str) -> dict[str, Any]:
        error: dict[str, Any] = {"code": status, "message": message, "status": _STATUSES.get(status, "INTERNAL")}
        if status == 429:  # it has no header for that
            error["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.005s"}]
        return {"error": error}

    def whole(self, model: str, answer: Answer) -> dict[str, Any]:
        parts = [part for group in _groups(answer) for part in group]
        return _candidate(model, answer, parts, _reason(answer), is_last=True)

    def begin(self, model: str, answer: Answer) -> Sequence[Event]:
        return [Event(chunk(_candidate(model, answer, [{"text": ""}])))]

    def say(self, model: str, answer: Answer) -> Iterator[Sequence[Event]]:
        for parts in _groups(answer):
            yield [Event(chunk(_candidate(model, answer, parts)))]

    def end(self, model: str, answer: Answer, *, with_reason: bool, with_terminal: bool) -> Iterator[Event]:
        if with_reason:
            if answer.reason == "filter" and not answer.pieces:
                said: dict[str, Any] = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": _usage(answer)}
            else:
                said = _candidate(model, answer, [{"text": ""}], _reason(answer), is_last=True)
            yield Event(chunk(said))

    def error(self, code: str | None) -> Event:
        number = int(code) if code and code.isdigit() else None
        status = _STATUSES.get(number or 0, code or "INTERNAL")
        error = {"message": "sk-secret broke", "status": status} | ({"code": number} if number else {})
        return Event(chunk({"error": error}))

    def around_text(self) -> tuple[bytes, bytes]:
        return b'data: {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "', b'"}]}}]}\n\n'


def _messages(content: Mapping[str, Any]) -> Iterator[Message]:
    parts = content.get("parts") or ()
    for part in parts:
        if "functionResponse" in part:
            told = part["functionResponse"]
            text = json.dumps(told["response"], ensure_ascii=False)
            yield Message("tool", text, tool_call_id=told.get("id") or told["name"])
    text = "\n".join(part["text"] for part in parts if "text" in part)
    calls = [
        ToolCall(
            part["functionCall"].get("id", part["functionCall"]["name"]),
            part["functionCall"]["name"],
            json.dumps(part["functionCall"]["args"], ensure_ascii=False),
        )
        for part in parts
        if "functionCall" in part
    ]
    if text or calls:
        yield Message("assistant" if content.get("role") == "model" else "user", text, calls)


def _groups(answer: Answer) -> Iterator[list[dict[str, Any]]]:
    """Parts as they are streamed. A call always comes whole; only a call that was thought about has an id."""
    if answer.thoughts:
        yield [{"text": THOUGHT, "thought": True}]
    for text in answer.pieces:
        yield [{"text": text}]
    if answer.is_fumbled:
        return
    for call_id, name, arguments in answer.calls:
        call: dict[str, Any] = {"name": name, "args": json.loads(arguments)}
        if answer.thoughts:
            yield [{"functionCall": call | {"id": call_id + _THINKING}, "thoughtSignature": SIGNATURE}]
        else:
            yield [{"functionCall": call}]


def _reason(answer: Answer) -> str:
    return "MALFORMED_FUNCTION_CALL" if answer.is_fumbled else _REASONS[answer.reason]


def _candidate(
    model: str, answer: Answer, parts: list[dict[str, Any]], reason: str | None = None, *, is_last: bool = False
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    said: dict[str, Any] = {"candidates": [candidate], "modelVersion": model, "responseId": "fake"}
    if answer.wants_usage:
        said["usageMetadata"] = _usage(answer) if is_last else {"promptTokenCount": answer.input_tokens}
    return said


def _usage(answer: Answer) -> dict[str, int]:
    return {
        "promptTokenCount": answer.input_tokens,
        "candidatesTokenCount": answer.output_tokens,
        "totalTokenCount": answer.input_tokens + answer.output_tokens,
    }


def _is_schema(schema: Any) -> bool:
    if not isinstance(schema, dict) or not schema.keys() <= _SCHEMA:
        return False
    if "anyOf" not in schema and schema.get("type") not in _TYPES:
        return False
    nested = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *filter(None, [schema.get("items")])]
    return all(map(_is_schema, nested))
