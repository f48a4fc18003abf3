"""What stands between the chat code and providers that fail: retries, circuit breakers, fallbacks, the total time,
places for calls at a time, and the meter.

A stream is tried again, here or elsewhere, only before its first visible token. Knows nothing of
wire dialects: it guards anything that is a `ChatProvider`, and cleans what all of them say.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final, Protocol

from app.core import log
from app.providers.breakers import Breakers, Places, ProviderResting, is_sick, is_telling
from app.providers.chat_settings import ChatSettings
from app.providers.ports import (
    Capabilities,
    ChatEvent,
    ChatProvider,
    ChatRequest,
    Finished,
    MissingKey,
    ProviderBusy,
    ProviderError,
    ProviderGarbled,
    ProviderTimeout,
    Text,
    Usage,
)
from app.providers.spoken import TextCleaner, clean, clean_json, estimate_prompt_tokens, estimate_tokens

_MAX_BACKOFF_SECONDS: Final = 8.0
_LAST_RESORT: Final = "offline"


class Meter(Protocol):
    """Who counts what calls take."""

    def check(self) -> None:
        """Raises RateLimited when whoever is served here may take no more."""
        ...

    def count(self, provider: str, model: str, purpose: str, usage: Usage, *, is_failure: bool) -> None: ...


class Unmetered:
    def check(self) -> None:
        pass

    def count(self, provider: str, model: str, purpose: str, usage: Usage, *, is_failure: bool) -> None:
        pass


class GuardedChat:
    """A `ChatProvider` made of one or several: the first is asked, the others stand in for it.

    A stand-in uses its own default model and must be able to do what the request needs; only the offline provider,
    where it is named as one, answers without the tools that were offered. The last event names who spoke.
    """

    def __init__(
        self,
        candidates: Sequence[ChatProvider],
        settings: ChatSettings,
        breakers: Breakers,
        places: Places | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._candidates = candidates
        self._first = candidates[0]
        self._settings = settings
        self._breakers = breakers
        self._places = places or Places({}, settings.provider_first_byte_seconds)
        self._meter = meter or Unmetered()
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
        if self._first.name != _LAST_RESORT:
            self._meter.check()
        asked = [(self._first, request)]
        for provider in self._candidates[1:]:
            stand_in = replace(request, model=None)
            if provider.name == _LAST_RESORT:
                stand_in = replace(stand_in, tools=())
            if _able(provider, stand_in):
                asked.append((provider, stand_in))
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
        """One call in its place, told to the breaker and to the meter."""
        async with self._places.taken(provider.name):
            model = request.model or provider.default_model
            key = (provider.name, model)
            self._breakers.enter(key)
            report = self._breakers.undecided
            said: list[str] = []
            usage, failure, is_sent = Usage(), True, True
            try:
                async with aclosing(self._spoken(provider, request, deadline, said)) as events:
                    async for event in events:
                        if isinstance(event, Finished):
                            usage, failure = event.usage, event.reason == "truncated"
                            report = self._breakers.failed if failure else self._breakers.succeeded
                            self._breakers.hear(provider.name, "provider_truncated" if failure else None)
                            event = replace(event, provider=provider.name, model=model)
                        yield event
            except ProviderError as error:
                is_sent = not isinstance(error, MissingKey)
                if is_sick(error):
                    report = self._breakers.failed
                if is_telling(error):
                    self._breakers.hear(provider.name, error.code)
                raise
            except (GeneratorExit, asyncio.CancelledError):
                failure = False  # whoever listened has left
                raise
            finally:
                report(key)
                if said and not (usage.input_tokens or usage.output_tokens):
                    usage = _estimated(request, said)
                if is_sent:
                    self._meter.count(provider.name, model, request.purpose, usage, is_failure=failure)

    async def _spoken(
        self, provider: ChatProvider, request: ChatRequest, deadline: float, said: list[str]
    ) -> AsyncGenerator[ChatEvent]:
        """What the provider says in time, cleaned, its text into `said`, too."""
        cleaner = TextCleaner()
        async with aclosing(_until(deadline, provider.stream(request))) as events:
            async for event in events:
                if isinstance(event, Finished):
                    yield _complete(event, request, said)
                    return
                text = cleaner.feed(event.text)
                if text:
                    said.append(text)
                    yield Text(text)
        raise ProviderGarbled("The provider's stream has no end.")


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
    calls = tuple(
        replace(call, id=clean(call.id), name=clean(call.name), arguments=clean_json(call.arguments))
        for call in event.tool_calls
    )
    usage = event.usage
    if not (usage.input_tokens or usage.output_tokens):
        output_tokens = sum(estimate_tokens(call.name + call.arguments) for call in calls)
        usage = _estimated(request, said)
        usage = replace(usage, output_tokens=usage.output_tokens + output_tokens)
    return replace(event, usage=usage, tool_calls=calls)


def _estimated(request: ChatRequest, said: Sequence[str]) -> Usage:
    return Usage(estimate_prompt_tokens(request.messages), estimate_tokens("".join(said)), estimated=True)


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
