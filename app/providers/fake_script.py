"""What the fake provider answers: one script per request, faulty where the request asks for a fault.

Pure. Knows nothing of sockets: a script is bytes to send, pauses and cuts; nor of any dialect's words: these are in
`fake_openai`, `fake_anthropic` and `fake_gemini`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime
from typing import Any, Final, Literal, Protocol

from app.core import clock
from app.providers.ports import Message

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
    "split": "every byte in a chunk of its own, so that no character is whole",
    "crlf": "CRLF line ends",
    "cr": "CR line ends",
    "no-space": "`data:` without a space",
    "multi-line": "each JSON object over several data lines",
    "comments": "comments and pings between the pieces",
    "long-line": "one line of bytes=10485760",
    "no-end": "neither a reason to stop nor the terminal event",
    "no-reason": "the terminal event without a reason to stop",
    "no-done": "a reason to stop without the terminal event (Gemini has none: there it is a good answer)",
    "null-content": "a whole answer whose content is null",
    "nulls": "null chunks, choices, deltas and contents, empty choices, wrong types",
    "not-json": "a data line that is no JSON, after after=2 pieces",
    "no-usage": "no usage, although it was asked for",
    "nul": "NUL characters, lone surrogates and a surrogate pair split over two pieces",
    "controls": "raw control characters inside the JSON strings",
    "length": "stopped by the token limit",
    "content-filter": "stopped by a filter",
    "blocked": "nothing said, because a filter did not like the question",
    "thoughts": "thoughts before the answer; with tools also a call, whose thoughts or signature must come back",
    "tool": "a call of the first tool, in pieces where the dialect has them",
    "tools": "two calls of the first tool at once",
    "bad-tool": "a tool call whose arguments are no JSON (Gemini: MALFORMED_FUNCTION_CALL)",
    "cut-tool": "as tool, cut in the middle of the arguments",
}
"""Fault → what happens. Asked for as model `fault:<name>[,key=value…]`, or the same without `fault:` in the header
`x-fault` or the query parameter `fault`. With `times=n` only the first n such requests fail.
"""

THOUGHT: Final = "Hm, let me see. "
SIGNATURE: Final = "c2lnbmVk"
Cut = Literal["close", "reset"]
Reason = Literal["stop", "length", "filter", "tools"]


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
    `calls` are (name of a tool, arguments as JSON text), made after the text.
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


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream; `kind` is its `event:` line, where the dialect has one."""

    data: str
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in no dialect's words. `pieces` are the text as it is streamed; `calls` have an id too."""

    pieces: Sequence[str | None]
    calls: Sequence[tuple[str, str, str]]
    thoughts: bool
    reason: Reason
    is_fumbled: bool
    input_tokens: int
    output_tokens: int
    wants_usage: bool = True

    @property
    def text(self) -> str | None:
        said = [piece for piece in self.pieces if piece is not None]
        return "".join(said) if said or not self.pieces else None


class FakeDialect(Protocol):
    """How the fake reads requests and writes answers in one dialect."""

    nulls: Sequence[str]
    """Odd but harmless chunks."""

    def key(self, headers: Mapping[str, str]) -> str: ...

    def heard(self, body: Mapping[str, Any]) -> list[Message]:
        """The conversation as the port has it; system messages first."""
        ...

    def tools(self, body: Mapping[str, Any]) -> list[str]: ...

    def problem(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
        """Why a real server would refuse this request."""
        ...

    def refusal(self, status: int, message: str) -> dict[str, Any]: ...

    def whole(self, model: str, answer: Answer) -> dict[str, Any]: ...

    def begin(self, model: str, answer: Answer) -> Sequence[Event]: ...

    def say(self, model: str, answer: Answer) -> Iterator[Sequence[Event]]:
        """One group of events per piece."""
        ...

    def end(self, model: str, answer: Answer, *, with_reason: bool, with_terminal: bool) -> Iterator[Event]: ...

    def error(self, code: str | None) -> Event: ...

    def around_text(self) -> tuple[bytes, bytes]:
        """What stands on the wire before and after the raw characters of a piece of text."""
        ...


def script(
    dialect: FakeDialect, fault: Fault, body: Mapping[str, Any], said: Said, *, model: str, stream: bool
) -> Script:
    """The script for one request for an answer."""
    if fault.kind.isdigit():
        return _refusal(dialect, int(fault.kind), fault)
    if fault.kind == "redirect":
        return Script(307, {"location": "http://elsewhere.invalid/v1/chat/completions"}, [])
    if fault.kind == "html":
        return Script(200, {"content-type": "text/html; charset=utf-8"}, [b"<html><body>Sign in</body></html>"])
    before = Pause(fault.number("seconds", 60)) if fault.kind == "slow" else None
    answer = _answer(dialect, fault.kind, body, said)
    if fault.kind == "json" or not stream:
        return Script(200, {"content-type": "application/json"}, [as_json(dialect.whole(model, answer))], before)
    headers = {"content-type": "text/event-stream", "cache-control": "no-cache"}
    return Script(200, headers, _stream(dialect, fault, answer, model), before)


def refused(dialect: FakeDialect, status: int, message: str) -> Script:
    return Script(status, {"content-type": "application/json"}, [as_json(dialect.refusal(status, message))])


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _refusal(dialect: FakeDialect, status: int, fault: Fault) -> Script:
    headers = {"content-type": "application/json"}
    headers |= {key: fault.options[key] for key in ("retry-after", "retry-after-ms") if key in fault.options}
    if "retry-date" in fault.options:
        at = clock.now() + timedelta(seconds=fault.number("retry-date", 0))
        headers["retry-after"] = format_datetime(at, usegmt=True)
    message = f"The fake provider answers {status}; your key is sk-secret."
    return Script(status, headers, [as_json(dialect.refusal(status, message))])


def _answer(dialect: FakeDialect, kind: str, body: Mapping[str, Any], said: Said) -> Answer:
    heard = dialect.heard(body)
    tools = dialect.tools(body)
    calls = list(said.calls)
    text = None if kind == "null-content" else said.text
    calls_now = kind in ("tool", "tools", "bad-tool", "cut-tool") or (kind == "thoughts" and tools and not calls)
    if calls_now and heard and heard[-1].role != "tool":  # who has its result, answers
        arguments = '{"query": "天气" "broken' if kind == "bad-tool" else '{"query": "天气"}'
        calls = [(tools[0] if tools else "look_up", arguments)] * (2 if kind == "tools" else 1)
        text = ""
    earlier = sum(len(message.tool_calls) for message in heard)
    pieces: list[str | None] = [None] if text is None else list(re.findall(r"\s*\S{1,6}", text))
    if kind == "nul":
        pieces = ["a\x00b", "\ud83d", "\ude00", " \ud800c"]
    reasons: Mapping[str, Reason] = {"length": "length", "content-filter": "filter", "blocked": "filter"}
    spoken = sum(len(message.content) for message in heard)
    return Answer(
        pieces=[] if kind == "blocked" else pieces,
        calls=[(f"call_fake{n + earlier or ''}", *call) for n, call in enumerate(calls)],
        thoughts=kind == "thoughts",
        reason=reasons.get(kind, "tools" if calls else "stop"),
        is_fumbled=kind == "bad-tool",
        input_tokens=max(1, spoken // 4),
        output_tokens=max(1, len(text or "") // 4),
        wants_usage=kind != "no-usage",
    )


# ------------------------------------------------------------------------------------- streams


def _stream(dialect: FakeDialect, fault: Fault, answer: Answer, model: str) -> Iterator[bytes | Pause | Cut]:
    kind = fault.kind
    if kind == "empty":
        return
    if kind == "slow-body":
        yield Pause(fault.number("seconds", 60))
    while kind == "drip":
        yield b": still thinking\n\n"
        yield Pause(fault.number("every", 0.05))
    groups = [dialect.begin(model, answer), *dialect.say(model, answer)]
    stop_after = min(int(fault.number("after", 2)), len(groups) - 1)
    for n, group in enumerate(groups):
        if n == stop_after:
            yield from _break(dialect, fault)
            if kind in ("cut", "reset", "error"):
                return
        if kind == "cut-tool" and n == len(groups) - 1:
            last = b"".join(_render(kind, group[-1]))
            yield last[: len(last) * 2 // 3]
            yield "close"
            return
        for event in group:
            yield from _render(kind, event)
    ending = dialect.end(
        model,
        answer,
        with_reason=kind not in ("no-end", "no-reason"),
        with_terminal=kind not in ("no-end", "no-done"),
    )
    for event in ending:
        yield from _render(kind, event)


def _break(dialect: FakeDialect, fault: Fault) -> Iterator[bytes | Pause | Cut]:
    before, after = dialect.around_text()
    if fault.kind == "stall":
        yield Pause(fault.number("seconds", 3600))
    elif fault.kind in ("cut", "reset"):
        yield before + b"half"
        yield "close" if fault.kind == "cut" else "reset"
    elif fault.kind == "error":
        yield from _render("", dialect.error(fault.options.get("code")))
    elif fault.kind == "not-json":
        yield b"data: {oops\n\n"
    elif fault.kind == "bad-utf8":
        yield before + b"bad \xff\xfe\xe4\xbd bytes " + after
    elif fault.kind == "long-line":
        yield before
        for _ in range(0, int(fault.number("bytes", 10 << 20)), 1 << 16):
            yield b"x" * (1 << 16)
        yield after
    elif fault.kind == "controls":
        yield before + b"tab\there\x01 " + after
    elif fault.kind == "nulls":
        for chunk in dialect.nulls:
            yield b"data: " + chunk.encode() + b"\n\n"


def _render(kind: str, event: Event) -> Iterator[bytes]:
    """One event on the wire, in the fault's manner of writing."""
    end = {"crlf": "\r\n", "cr": "\r"}.get(kind, "\n")
    space = "" if kind == "no-space" else " "
    lines = [event.data]
    if kind == "multi-line" and event.data != "[DONE]":
        lines = json.dumps(json.loads(event.data), ensure_ascii=False, indent=1).split("\n")
    if kind == "comments":
        yield b': keep-alive\n\nevent: ping\ndata: {"type": "ping"}\n\n'
    head = f"event:{space}{event.kind}{end}" if event.kind else ""
    told = (head + "".join(f"data:{space}{line}{end}" for line in lines) + end).encode(errors="surrogatepass")
    if kind == "split":
        yield from (told[n : n + 1] for n in range(len(told)))
    else:
        yield told


def chunk(value: Any) -> str:
    """JSON for the wire: as itself, unless it holds what no UTF-8 can."""
    told = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if re.search(r"[\ud800-\udfff]", told) else told


def in_pieces(arguments: str) -> Iterator[str]:
    yield from (arguments[n : n + 6] for n in range(0, len(arguments), 6))
