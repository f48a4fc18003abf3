"""What the fake provider answers: one script per request, faulty where the request asks for a fault.

Pure. Speaks the OpenAI dialect. Knows nothing of sockets: a script is bytes to send, pauses and cuts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime
from typing import Any, Final, Literal

from app.core import clock

FAULTS: Final[Mapping[str, str]] = {
    "<status>": "an HTTP status; retry-after=, retry-after-ms= or retry-date= (seconds from now) add that header",
    "redirect": "307 to another origin",
    "html": "a web page with status 200",
    "json": "one JSON object although a stream was asked for",
    "empty": "200 and no body",
    "slow": "headers after seconds=60",
    "slow-body": "headers at once, the first byte of the body after seconds=60",
    "stall": "silence for seconds=3600 after after=2 pieces (the first has no text)",
    "drip": "a comment every every=0.05 seconds and nothing else",
    "cut": "the connection is closed in the middle of a piece, after after=2 pieces",
    "reset": "as cut, with a TCP reset",
    "error": "an error in the stream after after=2 pieces; code= is its code",
    "bad-utf8": "bytes that are no UTF-8",
    "split": "every byte in a chunk of its own",
    "crlf": "CRLF line ends",
    "cr": "CR line ends",
    "no-space": "`data:` without a space",
    "multi-line": "each JSON object over several data lines",
    "comments": "comments and pings between the pieces",
    "long-line": "one line of bytes=10485760",
    "no-end": "neither a finish reason nor [DONE]",
    "no-reason": "[DONE] without a finish reason",
    "no-done": "a finish reason without [DONE]",
    "nulls": "null chunks, choices, deltas and contents, empty choices, wrong types",
    "not-json": "a data line that is no JSON, after after=2 pieces",
    "no-usage": "no usage, although it was asked for",
    "nul": "NUL characters, lone surrogates and a surrogate pair split over two pieces",
    "controls": "raw control characters inside the JSON strings",
    "length": "stopped by the token limit",
    "content-filter": "stopped by a filter",
    "tool": "a call of the first tool, in pieces",
    "bad-tool": "a tool call whose arguments are no JSON",
    "cut-tool": "as tool, cut in the middle of the arguments",
}
"""Fault → what happens. Asked for as model `fault:<name>[,key=value…]`, or the same without `fault:` in the header
`x-fault` or the query parameter `fault`. With `times=n` only the first n such requests fail.
"""

Cut = Literal["close", "reset"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault by name with its numbers. Raises ValueError for names that are not in FAULTS."""

    kind: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Fault:
        kind, *options = text.split(",")
        if kind not in FAULTS and not re.fullmatch(r"[345]\d\d", kind):
            raise ValueError(f"no such fault: {kind}")
        return cls(kind, dict(option.split("=", 1) for option in options))

    def number(self, key: str, default: float) -> float:
        return float(self.options.get(key, default))


@dataclass(frozen=True, slots=True)
class Said:
    """One answer with what is wrong with it: `text` None is a `null` content, `fault` as in FAULTS with its options.
    `calls` of tools, name and raw arguments, come after the text.
    """

    text: str | None
    fault: str = ""
    calls: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Script:
    """Status, headers and what the body does, step by step."""

    status: int
    headers: Mapping[str, str]
    steps: Sequence[bytes | Pause | Cut] | Iterator[bytes | Pause | Cut]
    before_headers: Pause | None = None


def script(fault: Fault, body: Mapping[str, Any], answer: str | None, calls: Sequence[tuple[str, str]] = ()) -> Script:
    """The script for one `POST …/chat/completions`."""
    if fault.kind.isdigit():
        return _refusal(int(fault.kind), fault)
    if fault.kind == "redirect":
        return Script(307, {"location": "http://elsewhere.invalid/v1/chat/completions"}, [])
    if fault.kind == "html":
        return Script(200, {"content-type": "text/html; charset=utf-8"}, [b"<html><body>Sign in</body></html>"])
    before = Pause(fault.number("seconds", 60)) if fault.kind == "slow" else None
    if fault.kind == "json" or not body.get("stream"):
        return Script(200, {"content-type": "application/json"}, [_json(_whole(body, answer))], before)
    headers = {"content-type": "text/event-stream", "cache-control": "no-cache"}
    return Script(200, headers, _stream(fault, body, answer, calls), before)


# ------------------------------------------------------------------------------- whole answers


def _refusal(status: int, fault: Fault) -> Script:
    headers = {"content-type": "application/json"}
    headers |= {key: fault.options[key] for key in ("retry-after", "retry-after-ms") if key in fault.options}
    if "retry-date" in fault.options:
        at = clock.now() + timedelta(seconds=fault.number("retry-date", 0))
        headers["retry-after"] = format_datetime(at, usegmt=True)
    code = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}.get(status, "fake_error")
    message = f"The fake provider answers {status}; your key is sk-secret."
    return Script(status, headers, [_json({"error": {"message": message, "type": "fake", "code": code}})])


def _whole(body: Mapping[str, Any], answer: str | None) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
    return _envelope(body, "chat.completion") | {"choices": [choice], "usage": _usage(body, answer)}


def _envelope(body: Mapping[str, Any], kind: str = "chat.completion.chunk") -> dict[str, Any]:
    return {"id": "chatcmpl-fake", "object": kind, "created": 0, "model": body.get("model", "fake")}


def _usage(body: Mapping[str, Any], answer: str | None) -> dict[str, int]:
    said = sum(len(str(message.get("content") or "")) for message in body.get("messages", ()))
    counts = {"prompt_tokens": max(1, said // 4), "completion_tokens": max(1, len(answer or "") // 4)}
    return counts | {"total_tokens": sum(counts.values())}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


# ------------------------------------------------------------------------------------- streams


def _stream(
    fault: Fault, body: Mapping[str, Any], answer: str | None, calls: Sequence[tuple[str, str]] = ()
) -> Iterator[bytes | Pause | Cut]:
    kind = fault.kind
    if kind == "empty":
        return
    if kind == "slow-body":
        yield Pause(fault.number("seconds", 60))
    while kind == "drip":
        yield b": still thinking\n\n"
        yield Pause(fault.number("every", 0.05))
    deltas = [*_deltas(kind, body, answer), *_call_deltas(calls)]
    stop_after = min(int(fault.number("after", 2)), len(deltas) - 1)
    for n, delta in enumerate(deltas):
        if n == stop_after:
            yield from _break(fault)
            if kind in ("cut", "reset", "error"):
                return
        chunk = _envelope(body) | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield from _render(kind, json.dumps(chunk, ensure_ascii=kind in ("nul", "controls")))
        if kind == "cut-tool" and n == len(deltas) - 1:
            yield "close"
            return
    yield from _ending(kind or ("tool" if calls else ""), body, answer)


def _call_deltas(calls: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Each call in pieces: its name, then its arguments."""
    for n, (name, arguments) in enumerate(calls):
        opened = {"index": n, "id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": ""}}
        yield {"tool_calls": [opened]}
        for start in range(0, len(arguments), 24):
            yield {"tool_calls": [{"index": n, "function": {"arguments": arguments[start : start + 24]}}]}


def _deltas(kind: str, body: Mapping[str, Any], answer: str | None) -> list[dict[str, Any]]:
    """The first carries the role only, as the real ones do."""
    if kind in ("tool", "bad-tool", "cut-tool"):
        return [{"role": "assistant", "content": None}, *_tool_deltas(kind, body)]
    if answer is None:
        return [{"role": "assistant", "content": None}, {"content": None}]
    pieces = re.findall(r"\s*\S{1,6}", answer)
    if kind == "nul":
        pieces = ["a\x00b", "\ud83d", "\ude00", " \ud800c"]
    return [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces)]


def _tool_deltas(kind: str, body: Mapping[str, Any]) -> list[dict[str, Any]]:
    tools = body.get("tools") or [{"function": {"name": "look_up"}}]
    arguments = '{"query": "天气" "broken' if kind == "bad-tool" else '{"query": "天气"}'
    pieces: list[dict[str, Any]] = [{"name": tools[0]["function"]["name"], "arguments": ""}]
    pieces += [{"arguments": arguments[n : n + 6]} for n in range(0, len(arguments), 6)]
    if kind == "cut-tool":
        pieces.pop()
    calls = [{"index": 0, "function": piece} for piece in pieces]
    calls[0] |= {"id": "call_fake", "type": "function"}
    return [{"tool_calls": [call]} for call in calls]


def _break(fault: Fault) -> Iterator[bytes | Pause | Cut]:
    if fault.kind == "stall":
        yield Pause(fault.number("seconds", 3600))
    elif fault.kind in ("cut", "reset"):
        yield b'data: {"choices": [{"index": 0, "delta": {"content": "half'
        yield "close" if fault.kind == "cut" else "reset"
    elif fault.kind == "error":
        code = fault.options.get("code", "server_error")
        yield b"data: " + _json({"error": {"message": "sk-secret broke", "type": code, "code": code}}) + b"\n\n"
    elif fault.kind == "not-json":
        yield b"data: {oops\n\n"
    elif fault.kind == "bad-utf8":
        yield b'data: {"choices": [{"index": 0, "delta": {"content": "bad \xff\xfe\xe4\xbd bytes "}}]}\n\n'
    elif fault.kind == "long-line":
        size_bytes = int(fault.number("bytes", 10 << 20))
        yield b'data: {"choices": [{"index": 0, "delta": {"content": "'
        for _ in range(0, size_bytes, 1 << 16):
            yield b"x" * (1 << 16)
        yield b'"}}]}\n\n'
    elif fault.kind == "controls":
        yield b'data: {"choices": [{"index": 0, "delta": {"content": "tab\there\x01 "}}]}\n\n'
    elif fault.kind == "nulls":
        for chunk in _NULLS:
            yield b"data: " + chunk.encode() + b"\n\n"


_NULLS: Final = (
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


def _ending(kind: str, body: Mapping[str, Any], answer: str | None) -> Iterator[bytes]:
    reasons = {"length": "length", "content-filter": "content_filter", "tool": "tool_calls", "bad-tool": "tool_calls"}
    if kind not in ("no-end", "no-reason"):
        choice = {"index": 0, "delta": {}, "finish_reason": reasons.get(kind, "stop")}
        yield from _render(kind, json.dumps(_envelope(body) | {"choices": [choice]}))
    if (body.get("stream_options") or {}).get("include_usage") and kind not in ("no-usage", "no-end"):
        yield from _render(kind, json.dumps(_envelope(body) | {"choices": [], "usage": _usage(body, answer)}))
    if kind not in ("no-end", "no-done"):
        yield from _render(kind, "[DONE]")


def _render(kind: str, data: str) -> Iterator[bytes]:
    """One event on the wire, in the fault's manner of writing."""
    end = {"crlf": "\r\n", "cr": "\r"}.get(kind, "\n")
    field_name = "data:" if kind == "no-space" else "data: "
    lines = [data]
    if kind == "multi-line" and data != "[DONE]":
        lines = json.dumps(json.loads(data), ensure_ascii=False, indent=1).split("\n")
    if kind == "comments":
        yield b': keep-alive\n\nevent: ping\ndata: {"type": "ping"}\n\n'
    event = ("".join(field_name + line + end for line in lines) + end).encode()
    if kind == "split":
        yield from (event[n : n + 1] for n in range(len(event)))
    else:
        yield event
