"""One answer in as many rounds as its tools ask for: speak, call, tell what came of it, speak again; never without end.

Counts every prompt before it is sent. Knows neither where the first prompt comes from nor who keeps what is said.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Final

from app.budget.count import TokenCounter
from app.chat.blocks import PER_MESSAGE_TOKENS
from app.chat.settings import ToolSettings
from app.chat.toolbox import Called, Toolbox
from app.chat.tools import ToolContext
from app.providers.ports import (
    ChatProvider,
    ChatRequest,
    Finished,
    Message,
    StopReason,
    Text,
    ToolCall,
    Usage,
)

_CUT: Final = "\n… (cut: the result is longer)"
_NO_ROOM: Final = "(There is no room left for this result.)"
_LEAST_TOKENS: Final = 24


@dataclass(slots=True)
class Rounds:
    """`prompt_tokens`: what a prompt may hold, by `counter`. `said` tells how long the answer is by now.

    Afterwards: `reason`, `usage` of all rounds, `first_usage`, `counted`, the size of each round's prompt, and
    `speakers`, provider and model of each round, where it is known who spoke.
    """

    provider: ChatProvider
    request: ChatRequest
    settings: ToolSettings
    counter: TokenCounter
    prompt_tokens: int
    toolbox: Toolbox
    context: ToolContext | None = None
    said: Callable[[], int] = lambda: 0
    reason: StopReason = "truncated"
    usage: Usage = field(default_factory=Usage)
    first_usage: Usage = field(default_factory=Usage)
    speakers: list[tuple[str, str]] = field(default_factory=list)
    counted: list[int] = field(default_factory=list)

    async def speak(self) -> AsyncGenerator[str | Called]:
        """Pieces of the answer, and calls: each when it begins, `running` or settled already, and once it is settled.
        Raises ProviderError.
        """
        request = self.request
        text = ""
        while True:
            self.counted.append(self._count(request.messages))
            end = Finished("truncated")
            pieces: list[str] = []
            async with aclosing(self.provider.stream(request)) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        end = event
                    else:
                        piece = _joined(text, event, is_first=not pieces)
                        pieces.append(event.text)
                        text += piece
                        yield piece
            self._account(end)
            calls = self._wanted(end, request)
            if not calls:
                return
            settled: list[Called] = []
            for call in calls:
                called = self.toolbox.begin(call, self.said())
                yield called
                if called.state == "running":
                    assert self.context is not None
                    await self.toolbox.run(called, self.context)
                    yield called
                settled.append(called)
            following = self._following(request, "".join(pieces), calls, settled)
            if following is None:
                self.reason = "length"
                return
            request = following

    def _wanted(self, end: Finished, request: ChatRequest) -> Sequence[ToolCall]:
        """The calls that are to be answered; none where this is the end."""
        is_last = request.tool_choice == "none" or self.context is None or not request.tools
        return () if end.reason != "tool_calls" or is_last else end.tool_calls

    def _account(self, end: Finished) -> None:
        if len(self.counted) == 1:
            self.first_usage = end.usage
        if end.provider:
            self.speakers.append((end.provider, end.model))
        self.reason = end.reason
        self.usage = Usage(
            self.usage.input_tokens + end.usage.input_tokens,
            self.usage.output_tokens + end.usage.output_tokens,
            self.usage.estimated or end.usage.estimated,
        )

    def _following(
        self, request: ChatRequest, said: str, calls: Sequence[ToolCall], settled: Sequence[Called]
    ) -> ChatRequest | None:
        """The next round's request; None where its prompt does not fit any more."""
        # What is no JSON object is not sent back: servers that read it fail of it.
        shown = [
            replace(call, arguments=call.arguments if called.is_readable else "{}")
            for call, called in zip(calls, settled, strict=True)
        ]
        begun = [*request.messages, Message("assistant", said, tool_calls=shown)]
        tags = sum(PER_MESSAGE_TOKENS + self.counter.count(_NO_ROOM) for _ in settled)
        left = self.prompt_tokens - self._count(begun)
        if left < tags:
            return None
        messages = [*begun, *self._results(settled, left)]
        spent = self.usage.input_tokens + self.usage.output_tokens
        if spent + self._count(messages) + (request.max_tokens or 0) > self.settings.tool_turn_tokens:
            return None
        is_last = (
            len(self.counted) + 1 >= self.settings.tool_max_rounds
            or self.toolbox.is_spent
            or all(called.state in ("repeated", "refused") for called in settled)
        )
        return replace(request, messages=messages, tool_choice="none" if is_last else "auto")

    def _results(self, settled: Sequence[Called], left: int) -> list[Message]:
        """What is left is shared out in order: a short result leaves its share to those behind it."""
        messages = []
        for nth, called in enumerate(settled):
            share = left // (len(settled) - nth) - PER_MESSAGE_TOKENS
            text = self._trimmed(called.text or "(nothing)", min(share, self.settings.tool_result_tokens))
            messages.append(Message("tool", text, tool_call_id=called.id))
            left -= self.counter.count(text) + PER_MESSAGE_TOKENS
        return messages

    def _trimmed(self, text: str, most: int) -> str:
        if self.counter.count(text) <= most:
            return text
        room = most - self.counter.count(_CUT)
        return self.counter.truncate(text, room).rstrip() + _CUT if room >= _LEAST_TOKENS else _NO_ROOM

    def _count(self, messages: Sequence[Message]) -> int:
        return sum(
            PER_MESSAGE_TOKENS
            + self.counter.count(message.content)
            + sum(PER_MESSAGE_TOKENS + self.counter.count(_written(call)) for call in message.tool_calls)
            for message in messages
        )


def _written(call: ToolCall) -> str:
    return f"{call.id}{call.name}{call.arguments}{call.carried[1] if call.carried else ''}"


def _joined(text: str, event: Text, *, is_first: bool) -> str:
    """What a round says stands in a paragraph of its own."""
    return f"\n\n{event.text}" if is_first and text.strip() and not text.endswith("\n") else event.text
