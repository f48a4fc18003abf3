"""Retries, breakers, fallbacks and the total time, around the real dialect and the fake server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing

import anyio
import pytest

from app.core.errors import RateLimited
from app.providers.breakers import Breakers, Places, ProviderCrowded, ProviderResting
from app.providers.chat_settings import ChatSettings
from app.providers.fake import FakeProvider
from app.providers.fake_script import FAULTS
from app.providers.guard import GuardedChat
from app.providers.ports import (
    Capabilities,
    ChatEvent,
    ChatRequest,
    Finished,
    Message,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ProviderGarbled,
    ProviderRefused,
    ProviderTimeout,
    Text,
    ToolCall,
    ToolSpec,
    Usage,
)
from app.providers.wire_chat import WireChat
from tests.wire_endpoint import endpoint

ANSWER = "All is well, 一切都好."


def settings(**fields: object) -> ChatSettings:
    short = {
        "provider_first_byte_seconds": 0.6,
        "provider_idle_seconds": 0.6,
        "provider_total_seconds": 3.0,
        "provider_retries": 2,
        "provider_backoff_seconds": 0.0,
    }
    return ChatSettings(**short | fields)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class House:
    """Fake servers and guarded providers over them."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self.clock = Clock()

    async def server(self, answer: str = ANSWER) -> FakeProvider:
        return await self._stack.enter_async_context(FakeProvider(answer=lambda _: answer))

    async def provider(self, server: FakeProvider, knobs: ChatSettings, name: str = "one", **row: object) -> WireChat:
        fields = {"name": name, "default_model": "plain", "context_window": 1000} | row
        provider = WireChat(endpoint(server.base_url, **fields), knobs)
        await provider.open()
        self._stack.push_async_callback(provider.close)
        return provider

    async def guarded(self, *servers: FakeProvider, knobs: ChatSettings | None = None, **row: object) -> GuardedChat:
        knobs = knobs or settings()
        names = ("one", "two", "three")
        built = [await self.provider(server, knobs, name, **row) for name, server in zip(names, servers, strict=False)]
        return GuardedChat(built, knobs, Breakers(knobs, self.clock))


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        yield House(stack)


def ask(fault: str = "", **fields: object) -> ChatRequest:
    model = f"fault:{fault}" if fault else None
    return ChatRequest(messages=[Message("user", "hi")], model=model, **fields)


async def listen(provider: GuardedChat, request: ChatRequest, heard: list[ChatEvent]) -> None:
    """Into `heard`, which keeps what came before an error."""
    async with asyncio.timeout(10):
        async for event in provider.stream(request):
            heard.append(event)


async def collect(provider: GuardedChat, request: ChatRequest) -> tuple[str, Finished]:
    events: list[ChatEvent] = []
    await listen(provider, request, events)
    *texts, last = events
    assert isinstance(last, Finished)
    return "".join(event.text for event in texts), last


# ---------------------------------------------------------------------------------------- retries


@pytest.mark.parametrize(
    "fault",
    ["408", "409", "429", "500", "502", "503", "504", "529", "slow", "slow-body", "empty", "error,after=1",
     "cut,after=0", "cut,after=1", "reset,after=1", "cut-tool"],
)  # fmt: skip
async def test_what_fails_before_the_first_token_is_tried_again(house: House, fault: str):
    """F1, F8"""
    server = await house.server()
    chat = await house.guarded(server)
    text, finished = await collect(chat, ask(f"{fault},times=2"))
    assert (text, finished.reason) == (ANSWER, "stop")
    assert server.asked() == 3


@pytest.mark.parametrize("fault", ["400", "401", "403", "404", "413", "422", "html", "not-json,after=1"])
async def test_what_another_try_cannot_help_is_not_tried_again(house: House, fault: str):
    """J1 among them: a prompt that is too long stays too long."""
    server = await house.server()
    chat = await house.guarded(server)
    with pytest.raises((ProviderRefused, ProviderGarbled)):
        await collect(chat, ask(fault))
    assert server.asked() == 1


@pytest.mark.parametrize("fault", ["error", "stall", "not-json", "long-line"])
async def test_what_fails_after_the_first_token_is_not_tried_again(house: House, fault: str):
    """K8"""
    server = await house.server()
    chat = await house.guarded(server)
    said: list[ChatEvent] = []
    with pytest.raises(ProviderError):
        await listen(chat, ask(f"{fault},times=1"), said)
    assert said
    assert all(isinstance(event, Text) for event in said)
    assert server.asked() == 1


@pytest.mark.parametrize("fault", ["cut", "reset", "no-end", "no-done", "no-reason"])
async def test_a_truncated_answer_is_kept_and_not_repeated(house: House, fault: str):
    server = await house.server()
    chat = await house.guarded(server)
    text, finished = await collect(chat, ask(f"{fault},times=1"))
    assert finished.reason == "truncated"
    assert text
    assert ANSWER.startswith(text)
    assert server.asked() == 1


async def test_the_last_error_comes_out_when_the_retries_are_used_up(house: House):
    server = await house.server()
    chat = await house.guarded(server)
    with pytest.raises(ProviderDown):
        await collect(chat, ask("500"))
    assert server.asked() == 3


@pytest.mark.parametrize("header", ["retry-after-ms=120", "retry-after=0.12"])
async def test_retry_after_is_honoured(house: House, header: str):
    """F1"""
    server = await house.server()
    chat = await house.guarded(server)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await collect(chat, ask(f"429,{header},times=2"))
    assert loop.time() - began >= 0.24
    assert server.asked() == 3


async def test_a_date_is_honoured(house: House):
    """F1: a date has whole seconds only, so 1.5 seconds may become 0.5."""
    server = await house.server()
    chat = await house.guarded(server)
    began = asyncio.get_running_loop().time()
    await collect(chat, ask("503,retry-date=1.5,times=1"))
    assert asyncio.get_running_loop().time() - began > 0.4
    assert server.asked() == 2


async def test_a_wait_that_is_too_long_is_the_callers(house: House):
    server = await house.server()
    chat = await house.guarded(server, knobs=settings(provider_max_wait_seconds=5))
    with pytest.raises(ProviderBusy) as caught:
        await collect(chat, ask("429,retry-after=6"))
    assert caught.value.retry_after_seconds == 6
    assert server.asked() == 1


async def test_no_wait_goes_beyond_the_total_time(house: House):
    server = await house.server()
    chat = await house.guarded(server, knobs=settings(provider_total_seconds=1))
    with pytest.raises(ProviderBusy):
        await collect(chat, ask("429,retry-after=2"))
    assert server.asked() == 1


@pytest.mark.parametrize("fault", ["drip", "drip,every=0.1"])
async def test_the_total_time_ends_what_never_ends(house: House, fault: str):
    server = await house.server()
    chat = await house.guarded(server, knobs=settings(provider_total_seconds=0.5))
    with pytest.raises(ProviderTimeout):
        await collect(chat, ask(fault))
    await asyncio.wait_for(server.exchanges[0].ended.wait(), 2)
    assert server.exchanges[0].outcome == "client_gone"
    assert server.asked() == 1


@pytest.mark.parametrize("fault", sorted(FAULTS.keys() - {"<status>"} | {"400", "429", "500", "529"}))
async def test_no_cell_of_the_matrix_hangs_or_lies(house: House, fault: str):
    """Whatever a provider does, a call ends: with an error of ours, with the whole answer, or with less and a
    reason that says so.
    """
    server = await house.server()
    chat = await house.guarded(server, knobs=settings(provider_total_seconds=1.0, provider_retries=1))
    tools = [ToolSpec("look_up", "", {})]
    try:
        text, finished = await collect(chat, ask(fault, tools=tools))
    except ProviderError:
        return
    if finished.reason == "stop":
        assert text in (ANSWER, *ODD_ANSWERS.get(fault, ()))
    else:
        assert finished.reason in ("truncated", "length", "content_filter", "tool_calls")
    assert "\x00" not in text
    text.encode()


ODD_ANSWERS = {
    "nul": ["ab😀 c"],
    "null-content": [""],
    "bad-utf8": [ANSWER.replace("All", "Allbad \ufffd\ufffd\ufffd bytes ", 1)],
    "controls": [ANSWER.replace("All", "Alltab\there\x01 ", 1)],
}


async def test_what_a_model_says_is_cleaned(house: House):
    """A8: NUL and lone surrogates go, a pair split over two pieces is put together."""
    server = await house.server()
    chat = await house.guarded(server)
    assert (await collect(chat, ask("nul")))[0] == "ab😀 c"


async def test_usage_is_estimated_where_it_is_missing(house: House):
    server = await house.server()
    chat = await house.guarded(server)
    assert (await collect(chat, ask("no-usage")))[1].usage == Usage(5, 8, estimated=True)
    assert (await collect(chat, ask()))[1].usage == Usage(1, 4, estimated=False)


# ------------------------------------------------------------------------------- circuit breakers


async def test_a_breaker_opens_per_provider_and_model_and_closes_after_a_probe(house: House):
    server = await house.server()
    chat = await house.guarded(server, knobs=settings(provider_retries=0, breaker_failures=3))
    for _ in range(3):
        with pytest.raises(ProviderDown):
            await collect(chat, ask("500,times=4"))
    with pytest.raises(ProviderResting):
        await collect(chat, ask("500,times=4"))
    assert server.asked() == 3
    assert (await collect(chat, ask()))[0] == ANSWER  # another model of the same provider
    house.clock.now += 29
    with pytest.raises(ProviderResting):
        await collect(chat, ask("500,times=4"))
    house.clock.now += 2
    with pytest.raises(ProviderDown, match="500"):  # the probe fails: open again
        await collect(chat, ask("500,times=4"))
    with pytest.raises(ProviderResting):
        await collect(chat, ask("500,times=4"))
    house.clock.now += 31
    for _ in range(2):
        assert (await collect(chat, ask("500,times=4")))[0] == ANSWER


async def test_retries_stop_when_the_breaker_opens(house: House):
    server = await house.server()
    chat = await house.guarded(server, knobs=settings(provider_retries=9, breaker_failures=4))
    with pytest.raises(ProviderResting):
        await collect(chat, ask("500"))
    assert server.asked() == 4


async def test_one_probe_at_a_time_and_a_cancelled_one_gives_its_place_back(house: House):
    server = await house.server()
    chat = await house.guarded(server, knobs=settings(provider_retries=0, breaker_failures=1, provider_idle_seconds=30))
    with pytest.raises(ProviderDown):
        await collect(chat, ask("cut,after=1,times=1"))
    house.clock.now += 31
    probe = chat.stream(ask("cut,after=1,times=1"))
    async with aclosing(probe):
        await anext(probe)
        with pytest.raises(ProviderResting):
            await collect(chat, ask("cut,after=1,times=1"))
    assert (await collect(chat, ask("cut,after=1,times=1")))[0] == ANSWER


@pytest.mark.parametrize("fault", ["429", "409", "400", "401"])
async def test_limits_and_refusals_are_no_illness(house: House, fault: str):
    server = await house.server()
    chat = await house.guarded(server, knobs=settings(provider_retries=0, breaker_failures=1))
    for _ in range(3):
        with pytest.raises((ProviderBusy, ProviderRefused)):
            await collect(chat, ask(fault))
    assert server.asked() == 3


@pytest.mark.parametrize("fault", ["529", "slow", "long-line", "error", "empty"])
async def test_these_are(house: House, fault: str):
    server = await house.server()
    chat = await house.guarded(server, knobs=settings(provider_retries=0, breaker_failures=1))
    with pytest.raises(ProviderError):
        await collect(chat, ask(fault))
    with pytest.raises(ProviderResting):
        await collect(chat, ask(fault))


async def test_truncated_answers_open_the_breaker_too(house: House):
    server = await house.server()
    chat = await house.guarded(server, knobs=settings(breaker_failures=1))
    assert (await collect(chat, ask("cut")))[1].reason == "truncated"
    with pytest.raises(ProviderResting):
        await collect(chat, ask("cut"))


async def test_a_client_that_goes_away_is_no_failure(house: House):
    """K4, K5"""
    server = await house.server()
    chat = await house.guarded(server, knobs=settings(breaker_failures=1, provider_idle_seconds=30))
    for turn in range(3):
        stream = chat.stream(ask("stall"))
        async with aclosing(stream):
            assert isinstance(await anext(stream), Text)
        await asyncio.wait_for(server.exchanges[turn].ended.wait(), 2)
        assert server.exchanges[turn].outcome == "client_gone"


async def test_a_cancelled_scope_of_the_web_framework_closes_the_connection(house: House):
    """K4: Starlette cancels through anyio, where every further await is cancelled too."""
    server = await house.server()
    chat = await house.guarded(server, knobs=settings(provider_idle_seconds=30, provider_total_seconds=30))
    async with anyio.create_task_group() as group:
        group.start_soon(collect, chat, ask("stall"))
        exchange = await server.wait_for_request()
        group.cancel_scope.cancel()
    await asyncio.wait_for(exchange.ended.wait(), 2)
    assert exchange.outcome == "client_gone"


async def test_cancelling_ends_the_call_and_its_retries(house: House):
    """K4: also during a back-off."""
    server = await house.server()
    chat = await house.guarded(server)
    task = asyncio.create_task(collect(chat, ask("429,retry-after=2")))
    await (await server.wait_for_request()).ended.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert server.asked() == 1


def test_only_sick_circuits_are_remembered_and_not_without_end():
    breakers = Breakers(settings(), Clock())
    for n in range(2000):
        breakers.enter(("one", f"model {n}"))
        breakers.failed(("one", f"model {n}"))
    assert len(breakers._circuits) <= 512
    breakers.succeeded(("one", "model 1999"))
    assert ("one", "model 1999") not in breakers._circuits


# ---------------------------------------------------------------------------------------- fallback


async def test_a_fallback_answers_with_its_own_model(house: House):
    first, second = await house.server(), await house.server("from the second")
    chat = await house.guarded(first, second)
    text, _ = await collect(chat, ask("500"))
    assert text == "from the second"
    assert (first.asked("fault:500"), second.asked("plain")) == (3, 1)
    assert chat.name == "one"


@pytest.mark.parametrize("fault", ["429,retry-after=60", "html", "slow", "empty"])
async def test_when_a_fallback_helps(house: House, fault: str):
    first, second = await house.server(), await house.server("from the second")
    chat = await house.guarded(first, second, knobs=settings(provider_retries=0))
    assert (await collect(chat, ask(fault)))[0] == "from the second"


@pytest.mark.parametrize("fault", ["400", "401", "error", "stall"])
async def test_when_it_does_not(house: House, fault: str):
    """Refusals are ours to mend, and what was said cannot be unsaid."""
    first, second = await house.server(), await house.server("from the second")
    chat = await house.guarded(first, second)
    with pytest.raises(ProviderError):
        await collect(chat, ask(fault))
    assert second.asked() == 0


async def test_an_open_breaker_falls_back_at_once(house: House):
    first, second = await house.server(), await house.server("from the second")
    chat = await house.guarded(first, second, knobs=settings(provider_retries=0, breaker_failures=1))
    for _ in range(3):
        assert (await collect(chat, ask("500")))[0] == "from the second"
    assert first.asked() == 1


async def test_when_all_fail_the_last_error_comes_out(house: House):
    first = await house.server()
    chat = await house.guarded(first, first, knobs=settings(provider_retries=0), default_model="fault:429")
    with pytest.raises(ProviderBusy):
        await collect(chat, ask("500"))
    assert first.asked() == 2


class Scripted:
    """A provider in memory, to say what no server could be made to say."""

    name = "scripted"
    default_model = "s"

    def __init__(self, able: Capabilities, *events: ChatEvent | ProviderError) -> None:
        self._able = able
        self._events = events
        self.asked = 0

    def capabilities(self, model: str | None = None) -> Capabilities:
        return self._able

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatEvent]:
        self.asked += 1
        for event in self._events:
            if isinstance(event, ProviderError):
                raise event
            yield event


def guard(*providers: Scripted) -> GuardedChat:
    knobs = settings(provider_retries=0)
    return GuardedChat(providers, knobs, Breakers(knobs))


@pytest.mark.parametrize(
    ("able", "fields", "helps"),
    [
        (Capabilities(1000), {}, True),
        (Capabilities(1000, tools=True), {"tools": [ToolSpec("t", "", {})]}, True),
        (Capabilities(1000), {"tools": [ToolSpec("t", "", {})]}, False),
        (Capabilities(1000, json_schema=True), {"json_schema": {}}, True),
        (Capabilities(1000), {"json_schema": {}}, False),
        (Capabilities(1000), {"max_tokens": 999}, False),
    ],
)
async def test_a_fallback_must_be_able(able: Capabilities, fields: dict[str, Sequence[ToolSpec]], helps: bool):
    down = Scripted(Capabilities(9000, tools=True, json_schema=True), ProviderDown())
    other = Scripted(able, Text("yes"), Finished("stop"))
    if helps:
        assert (await collect(guard(down, other), ask(**fields)))[0] == "yes"
    else:
        with pytest.raises(ProviderDown):
            await collect(guard(down, other), ask(**fields))
    assert other.asked == int(helps)


async def test_tool_calls_are_cleaned():
    call = ToolCall("1\x00", "f", '{"a": "\\u0000b"}')
    _, finished = await collect(guard(Scripted(Capabilities(9), Finished("tool_calls", tool_calls=[call]))), ask())
    assert finished.tool_calls == (ToolCall("1", "f", '{"a": "b"}'),)


async def test_a_stream_without_end_is_an_error():
    with pytest.raises(ProviderGarbled):
        await collect(guard(Scripted(Capabilities(9), Text("a"))), ask())


# ---------------------------------------------------------------------- places, stand-ins, the meter


class Counted:
    def __init__(self) -> None:
        self.calls: list[tuple[str, str, str, int, bool]] = []

    def check(self) -> None:
        if len(self.calls) >= 3:
            raise RateLimited

    def count(self, provider: str, model: str, purpose: str, usage: Usage, *, is_failure: bool) -> None:
        self.calls.append((provider, model, purpose, usage.output_tokens, is_failure))


async def test_who_stood_in_is_named(house: House):
    first, second = await house.server(), await house.server()
    chat = await house.guarded(first, second, knobs=settings(provider_retries=0))
    finished = (await collect(chat, ask()))[1]
    assert (finished.provider, finished.model) == ("one", "plain")
    finished = (await collect(chat, ask("500")))[1]
    assert (finished.provider, finished.model) == ("two", "plain")


async def test_every_call_is_metered_once(house: House):
    """Failures too, and what was said before somebody left."""
    server, meter = await house.server(), Counted()
    knobs = settings(provider_retries=1, provider_idle_seconds=30)
    provider = await house.provider(server, knobs)
    chat = GuardedChat([provider], knobs, Breakers(knobs, house.clock), meter=meter)
    await collect(chat, ask("500,times=1"))
    assert [(model, output > 0, failed) for _, model, _, output, failed in meter.calls] == [
        ("fault:500,times=1", False, True),
        ("fault:500,times=1", True, False),
    ]
    stream = chat.stream(ask("stall"))
    async with aclosing(stream):
        await anext(stream)
    _, model, purpose, output_tokens, failed = meter.calls[-1]
    assert (model, purpose, failed) == ("fault:stall", "answer", False)
    assert output_tokens > 0
    with pytest.raises(RateLimited):
        await collect(chat, ask())
    assert len(meter.calls) == 3


async def test_calls_wait_for_a_place_and_not_for_ever(house: House):
    """E16: who backs off, or waits, holds no place."""
    server = await house.server()
    knobs = settings(provider_retries=0, provider_idle_seconds=30)
    provider = await house.provider(server, knobs)
    chat = GuardedChat([provider], knobs, Breakers(knobs, house.clock), Places({"one": 1}, 0.2))
    held = chat.stream(ask("stall"))
    async with aclosing(held):
        await anext(held)
        with pytest.raises(ProviderCrowded) as caught:
            await collect(chat, ask())
        assert caught.value.retry_after_seconds == 1
        assert server.asked() == 1
        other = asyncio.create_task(collect(chat, ask()))
        await asyncio.sleep(0)
    assert (await other)[0] == ANSWER


async def test_who_backs_off_holds_no_place(house: House):
    """E16"""
    server = await house.server()
    knobs = settings(provider_max_wait_seconds=20)
    provider = await house.provider(server, knobs)
    chat = GuardedChat([provider], knobs, Breakers(knobs, house.clock), Places({"one": 1}, 0.2))
    backing_off = asyncio.create_task(collect(chat, ask("429,retry-after=0.6,times=1")))
    await server.wait_for_request()
    await asyncio.wait_for(server.exchanges[0].ended.wait(), 2)
    assert (await collect(chat, ask()))[0] == ANSWER
    assert not backing_off.done()
    assert (await backing_off)[0] == ANSWER


async def test_a_crowd_is_no_illness(house: House):
    server = await house.server()
    knobs = settings(provider_retries=0, breaker_failures=1, provider_idle_seconds=30)
    provider = await house.provider(server, knobs)
    breakers = Breakers(knobs, house.clock)
    chat = GuardedChat([provider], knobs, breakers, Places({"one": 1}, 0.05))
    held = chat.stream(ask("stall"))
    async with aclosing(held):
        await anext(held)
        for _ in range(3):
            with pytest.raises(ProviderCrowded):
                await collect(chat, ask())
    assert (await collect(chat, ask()))[0] == ANSWER
    assert breakers.last_heard("one").code is None
