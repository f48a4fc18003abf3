"""Asking a model for JSON: one call, read as tolerantly as can be, and once more where it cannot be used.

Knows nothing of what is asked: who calls says which values are wanted, and makes of them what he likes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Final

from app.providers.ladder import NotJson, Wanted, climb
from app.providers.ports import (
    ChatProvider,
    ChatRequest,
    Finished,
    Message,
    ProviderError,
    ProviderGarbled,
    ProviderTimeout,
    StopReason,
    Text,
    Usage,
)
from app.providers.spoken import estimate_prompt_tokens, estimate_tokens

_MAX_BAD_CHARS: Final = 4000


@dataclass(slots=True)
class Spent:
    """What the calls of one task have cost so far, those that failed included."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def add(self, usage: Usage) -> None:
        self.calls += 1
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    reason: StopReason


MayAsk = Callable[[ChatRequest], bool]


async def ask_json(
    provider: ChatProvider,
    request: ChatRequest,
    wanted: Wanted,
    spent: Spent,
    *,
    retries: int = 1,
    may_ask: MayAsk | None = None,
) -> Any:
    """The wanted value in the model's answer; asked for again, with what was wrong, where there is none. `spent` counts
    every call. `may_ask` is asked before each further one.

    Raises NotJson when no answer can be used, and what the provider raises.
    """
    asked = request
    for attempt in range(retries + 1):
        said = await _say(provider, asked, spent)
        try:
            if said.reason == "content_filter":
                raise NotJson("The provider's filter stopped the answer.")
            value = (await asyncio.to_thread(climb, said.text, wanted)).value
            if not wanted(value):  # nothing but {} or []
                raise NotJson("The JSON has none of the keys that were asked for.")
            return value
        except NotJson as error:
            again = replace(request, messages=_again(request.messages, said.text, error.detail))
            # What the filter stopped, or had no room, would be so again.
            hopeless = said.reason in ("content_filter", "length")
            if hopeless or attempt == retries or (may_ask is not None and not may_ask(again)):
                raise
            asked = again
    raise NotJson  # pragma: no cover - the loop has returned or raised


async def _say(provider: ChatProvider, request: ChatRequest, spent: Spent) -> _Said:
    """One call. What a model had said when it broke off may be enough."""
    said: list[str] = []
    end: Finished | None = None
    try:
        async with aclosing(provider.stream(request)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    end = event
                elif isinstance(event, Text):
                    said.append(event.text)
    except (ProviderGarbled, ProviderTimeout):
        if not said:
            spent.add(_estimated(request, ""))
            raise
    except ProviderError:
        spent.calls += 1
        raise
    text = "".join(said)
    usage = end.usage if end is not None else Usage()
    spent.add(usage if usage.input_tokens or usage.output_tokens else _estimated(request, text))
    return _Said(text, end.reason if end is not None else "truncated")


def numbers_in(said: Any) -> list[str]:
    """What a model cites by number: `["R3", "[E1]"]`, `"r3, e1"` or `3`, as capitals without brackets."""
    if isinstance(said, str | int):
        said = str(said).replace("，", ",").replace("、", ",").split(",")
    if not isinstance(said, list):
        return []
    return [str(one).strip().strip("[]").upper() for one in said if isinstance(one, str | int)]


def items_in(value: Any, under: str, sign: str) -> list[dict[str, Any]] | None:
    """What a model says of several things: under a key, as a bare list, or as the one thing that has the key `sign`."""
    if isinstance(value, dict):
        value = value.get(under, [value] if sign in value else None)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else None


def number_in(value: Any) -> int | None:
    """`3`, `"3"` or `3.0`."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _estimated(request: ChatRequest, said: str) -> Usage:
    return Usage(estimate_prompt_tokens(request.messages), estimate_tokens(said), estimated=True)


def _again(asked: Sequence[Message], said: str, complaint: str) -> list[Message]:
    told = f"Your answer could not be used. {complaint}\nAnswer again with one complete JSON object and nothing else."
    if said.strip():
        return [*asked, Message("assistant", said[:_MAX_BAD_CHARS]), Message("user", told)]
    last = asked[-1]  # two messages of the user in a row are refused by some
    return [*asked[:-1], Message(last.role, f"{last.content}\n\n{told}")]
