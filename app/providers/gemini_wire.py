"""Gemini's own dialect as data: the body of `streamGenerateContent`, and the chunks of an answer.

Pure. Calls have names and, from newer models, ids; a stream has no terminal event, so its last word is the
`finishReason` together with a body that was not cut.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from app.providers.ports import ChatRequest, Message, ProviderDown, StopReason, ToolCall, Usage
from app.providers.schemas import for_gemini, schema_rule
from app.providers.specs import Endpoint
from app.providers.sse import ServerEvent
from app.providers.wire_answer import Call, WireAnswer, arguments_object, count, is_made, parsed, stream_error

_SIGNATURE: Final = "thoughtSignature"
# What it makes of a call that it could not write: nothing was said, and the next try is another.
_FUMBLED: Final = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")

# ------------------------------------------------------------------------------------- request


def request_body(endpoint: Endpoint, request: ChatRequest) -> dict[str, Any]:
    """The JSON body of `POST …:streamGenerateContent` for this endpoint; the model stands in the address."""
    traits = endpoint.traits(request.model)
    system = [message.content for message in request.messages if message.role == "system" and message.content]
    generation: dict[str, Any] = dict(traits.extra)
    if request.max_tokens is not None:
        generation["maxOutputTokens"] = request.max_tokens + traits.thought_tokens
    if request.temperature is not None and traits.temperature:
        generation["temperature"] = request.temperature
    if request.json_schema is not None:
        if traits.json_mode == "schema":
            generation |= {
                "responseMimeType": "application/json",
                "responseSchema": for_gemini(request.json_schema),
            }
        else:
            system.append(schema_rule(request.json_schema))
    body: dict[str, Any] = {"contents": _contents(request.messages)}
    if system:
        body["systemInstruction"] = {"parts": [{"text": text} for text in system]}
    if generation:
        body["generationConfig"] = generation
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in request.tools]}]
        if request.tool_choice == "none":
            body["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}
    return body


def _declaration(tool: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if tool.parameters.get("properties"):  # an object without properties is refused
        told["parameters"] = for_gemini(tool.parameters)
    return told


def _contents(messages: Sequence[Message]) -> list[dict[str, Any]]:
    contents: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    for message in messages:
        names |= {call.id: call.name for call in message.tool_calls}
        parts = _parts(message, names)
        if not parts:
            continue
        role = "model" if message.role == "assistant" else "user"
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": role, "parts": parts})
    return contents


def _parts(message: Message, names: Mapping[str, str]) -> list[dict[str, Any]]:
    if message.role == "system":
        return []
    if message.role == "tool":
        call_id = message.tool_call_id or ""
        result: dict[str, Any] = {"name": names.get(call_id, call_id), "response": _response(message.content)}
        return [{"functionResponse": result | ({} if is_made(call_id) else {"id": call_id})}]
    text = [{"text": message.content}] if message.content else []
    return [*text, *(_function_call(call) for call in message.tool_calls)]


def _function_call(call: ToolCall) -> dict[str, Any]:
    told: dict[str, Any] = {"name": call.name, "args": arguments_object(call.arguments)}
    part: dict[str, Any] = {"functionCall": told | ({} if is_made(call.id) else {"id": call.id})}
    field, value = call.carried or ("", "")
    return part | ({_SIGNATURE: value} if field == _SIGNATURE else {})


def _response(content: str) -> dict[str, Any]:
    """It wants an object."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = content
    return value if isinstance(value, dict) else {"result": value}


# -------------------------------------------------------------------------------------- answer


class GeminiAnswer(WireAnswer):
    """Collects the chunks of one answer. Some models name a reason in every chunk, so only the body's end is one."""

    REASONS: ClassVar[Mapping[str, StopReason]] = {
        "STOP": "stop",
        "MAX_TOKENS": "length",
        **dict.fromkeys(
            ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "BLOCKED"),
            "content_filter",
        ),
    }

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[Call] = []

    def take(self, event: ServerEvent) -> str:
        data = event.data.strip()
        return self._take_chunk(parsed(data)) if data else ""

    def take_whole(self, body: bytes) -> str:
        """Without `alt=sse` the chunks come as one JSON list."""
        said = parsed(body.decode("utf-8", "replace"))
        text = "".join(map(self._take_chunk, said if isinstance(said, list) else [said]))
        self.close()
        return text

    def close(self) -> None:
        self.ended = True
        if self._reason in _FUMBLED and not self.spoke:
            raise ProviderDown("The model wrote a tool call that cannot be read.", upstream_code=self._reason)

    def _all_calls(self) -> Iterable[Call]:
        return self._calls

    def _take_chunk(self, chunk: Any) -> str:
        if not isinstance(chunk, dict):
            return ""
        if chunk.get("error"):
            raise stream_error(chunk["error"])
        self._take_usage(chunk.get("usageMetadata"))
        feedback = chunk.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            self._end_for("BLOCKED")
        candidates = chunk.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(candidate, dict) or candidate.get("index"):
            return ""
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        text = "".join(self._take_part(part) for part in (parts if isinstance(parts, list) else ()))
        self._end_for(candidate.get("finishReason"))
        return text

    def _take_part(self, part: Any) -> str:
        if not isinstance(part, dict):
            return ""
        call = part.get("functionCall")
        if isinstance(call, dict):
            arguments = call.get("args")
            signature = part.get(_SIGNATURE)
            self._calls.append(
                Call(
                    str(call.get("id") or ""),
                    str(call.get("name") or ""),
                    # Text is what no JSON came of; handed on as written.
                    arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False),
                    (_SIGNATURE, signature) if isinstance(signature, str) and signature else None,
                )
            )
        return "" if part.get("thought") else self._say(part.get("text"))

    def _take_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            said = count(usage.get("candidatesTokenCount")) + count(usage.get("thoughtsTokenCount"))
            read = count(usage.get("promptTokenCount")) + count(usage.get("toolUsePromptTokenCount"))
            self._usage = Usage(read or self._usage.input_tokens, said or self._usage.output_tokens)
