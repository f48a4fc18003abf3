"""What stands between the chat code and providers that fail: retries, circuit breakers, fallbacks, the total time.

A stream is tried again, here or elsewhere, only before its first visible token. Knows nothing of
wire dialects: it guards anything that is a `ChatProvider`, and cleans what all of them say.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from app.core import log
from app.providers.chat_settings import ChatSettings
from app.providers.ports import (
    Capabilities,
    ChatEvent,
    ChatProvider,
    ChatRequest,
    Finished,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ProviderGarbled,
    ProviderTimeout,
    Text,
    ToolCall,
    Usage,
)
from app.providers.spoken import TextCleaner, clean, clean_json, estimate_prompt_tokens, estimate_tokens

_MAX_BACKOFF_SECONDS: Final = 8.0
_MAX_CIRCUITS: Final = 512


class ProviderResting(ProviderDown):
    """The provider failed several times in a row and is left alone for a while."""

    code = "provider_resting"


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    opened_at: float | None = None
    probing: bool = False


class Breakers:
    """One circuit per (provider, model). Open after `breaker_failures` in a row; after the cool-down one probe goes
    through and decides. Only circuits with failures are remembered.
    """

    def __init__(self, settings: ChatSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._max_failures = settings.breaker_failures
        self._cooldown_seconds = settings.breaker_cooldown_seconds
        self._circuits: dict[tuple[str, str], _Circuit] = {}

    def enter(self, key: tuple[str, str]) -> None:
        """Ask before each call, and report its outcome after. Raises ProviderResting while the circuit is open."""
        circuit = self._circuits.get(key)
        if circuit is None or circuit.opened_at is None:
            return
        left_seconds = circuit.opened_at + self._cooldown_seconds - self._clock()
        if left_seconds > 0 or circuit.probing:
            raise ProviderResting(provider=key[0], retry_after_seconds=max(left_seconds, 1.0))
        circuit.probing = True

    def succeeded(self, key: tuple[str, str]) -> None:
        self._circuits.pop(key, None)

    def failed(self, key: tuple[str, str]) -> None:
        if key not in self._circuits and len(self._circuits) >= _MAX_CIRCUITS:  # model names come from requests
            del self._circuits[next(iter(self._circuits))]
        circuit = self._circuits.setdefault(key, _Circuit())
        circuit.failures += 1
        circuit.probing = False
        if circuit.failures >= self._max_failures:
            circuit.opened_at = self._clock()

    def undecided(self, key: tuple[str, str]) -> None:
        """The call says nothing of the provider's health: the client went away, or the request was bad."""
        if key in self._circuits:
            self._circuits[key].probing = False


def _is_sick(error: BaseException | None) -> bool:
    """Whether the error counts against the provider; a rate limit says that it works."""
    if isinstance(error, ProviderBusy):
        return error.extra.get("upstream_status") not in (409, 429)
    return isinstance(error, ProviderDown | ProviderGarbled)


class GuardedChat:
    """A `ChatProvider` made of one or several: the first is asked, the others stand in for it.

    A stand-in uses its own default model and must be able to do what the request needs.
    """

    def __init__(self, candidates: Sequence[ChatProvider], settings: ChatSettings, breakers: Breakers) -> None:
        self._candidates = candidates
        self._first = candidates[0]
        self._settings = settings
        self._breakers = breakers
        self._log = log.get(__name__)

    @property
    def name(self) -> str:
        return self._first.name

    @property
    def default_model(self) -> str:
        return self._first.default_model

    def capabilities(self, model: str | None = None) -> Capabilities:
        return self._first.capabilities(model)

    async def open(self) -> None:
        for provider in self._candidates:
            await provider.open()

    async def close(self) -> None:
        for provider in self._candidates:
            await provider.close()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        deadline = asyncio.get_running_loop().time() + self._settings.provider_total_seconds
        asked = [(self._first, request)]
        stand_in = replace(request, model=None)
        asked += [(provider, stand_in) for provider in self._candidates[1:] if _able(provider, stand_in)]
        for position, (provider, its_request) in enumerate(asked):
            spoke = False
            try:
                async with aclosing(self._persist(provider, its_request, deadline)) as events:
                    async for event in events:
                        spoke = True
                        yield event
                return
            except ProviderError as error:
                is_last = position == len(asked) - 1
                if spoke or is_last or not (error.retryable or isinstance(error, ProviderGarbled)):
                    raise
                self._log.warning("provider_fallback", failed=provider.name, code=error.code)

    async def _persist(
        self, provider: ChatProvider, request: ChatRequest, deadline: float
    ) -> AsyncGenerator[ChatEvent]:
        """Ask one provider until it speaks, refuses, or the retries or the time are used up."""
        now = asyncio.get_running_loop().time
        for attempt in range(self._settings.provider_retries + 1):
            spoke = False
            try:
                async with aclosing(self._once(provider, request, deadline)) as events:
                    async for event in events:
                        spoke = True
                        yield event
                return
            except ProviderError as error:
                wait_seconds = self._wait_seconds(error, attempt)
                if spoke or wait_seconds is None or now() + wait_seconds >= deadline:
                    raise
                self._log.info("provider_retry", provider=provider.name, code=error.code, wait_seconds=wait_seconds)
            await asyncio.sleep(wait_seconds)

    def _wait_seconds(self, error: ProviderError, attempt: int) -> float | None:
        """How long to wait before attempt + 1; None when there should be none."""
        if not error.retryable or isinstance(error, ProviderResting) or attempt >= self._settings.provider_retries:
            return None
        asked_seconds = error.retry_after_seconds if isinstance(error, ProviderBusy) else None
        if asked_seconds is not None:
            return asked_seconds if asked_seconds <= self._settings.provider_max_wait_seconds else None
        backoff_seconds = min(self._settings.provider_backoff_seconds * 2.0**attempt, _MAX_BACKOFF_SECONDS)
        return backoff_seconds * random.uniform(0.5, 1.0)  # noqa: S311 - spreads clients, hides nothing

    async def _once(self, provider: ChatProvider, request: ChatRequest, deadline: float) -> AsyncGenerator[ChatEvent]:
        """One call: cleaned, timed, its outcome told to the breaker."""
        key = (provider.name, request.model or provider.default_model)
        self._breakers.enter(key)
        report = self._breakers.undecided
        cleaner = TextCleaner()
        said: list[str] = []
        try:
            async with aclosing(_until(deadline, provider.stream(request))) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        report = self._breakers.failed if event.reason == "truncated" else self._breakers.succeeded
                        yield _complete(event, request, said)
                        return
                    text = cleaner.feed(event.text)
                    if text:
                        said.append(text)
                        yield Text(text)
            raise ProviderGarbled("The provider's stream has no end.")
        except ProviderError as error:
            if _is_sick(error):
                report = self._breakers.failed
            raise
        finally:
            report(key)


def _able(provider: ChatProvider, request: ChatRequest) -> bool:
    able = provider.capabilities()
    needed_tokens = estimate_prompt_tokens(request.messages) + (request.max_tokens or 0)
    return (
        (able.tools or not request.tools)
        and (able.json_schema or request.json_schema is None)
        and needed_tokens <= able.context_window
    )


def _complete(event: Finished, request: ChatRequest, said: Sequence[str]) -> Finished:
    """`event` with its tool calls cleaned, and its usage estimated where the provider did not count."""
    calls = tuple(ToolCall(clean(c.id), clean(c.name), clean_json(c.arguments)) for c in event.tool_calls)
    usage = event.usage
    if not (usage.input_tokens or usage.output_tokens):
        output_tokens = sum(estimate_tokens(c.name + c.arguments) for c in calls) + estimate_tokens("".join(said))
        usage = Usage(estimate_prompt_tokens(request.messages), output_tokens, estimated=True)
    return Finished(event.reason, usage, calls)


async def _until(deadline: float, events: AsyncIterator[ChatEvent]) -> AsyncGenerator[ChatEvent]:
    """`events`, ended by ProviderTimeout at `deadline` of the loop's clock. Only waiting for the provider is
    interrupted, never the consumer.
    """
    try:
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    event = await anext(events, None)
            except TimeoutError as error:
                raise ProviderTimeout("The provider did not finish in time.") from error
            if event is None:
                return
            yield event
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()
