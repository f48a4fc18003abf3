"""Every dialect against every fault, over a real socket: what comes of it is in the table.

No cell hangs, nothing that was cut is called complete, and only what nobody saw is asked for again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from app.providers.breakers import Breakers
from app.providers.chat_settings import ChatSettings
from app.providers.fake import FakeProvider
from app.providers.fake_script import FAULTS, THOUGHT
from app.providers.guard import GuardedChat
from app.providers.ports import (
    ChatEvent,
    ChatProvider,
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
    ToolSpec,
)
from app.providers.specs import Dialect
from app.providers.wire_chat import WireChat
from tests.wire_endpoint import endpoint

DIALECTS: tuple[Dialect, ...] = ("openai", "anthropic", "gemini")
ANSWER = "你好，世界！ The answer is 42 😀."
KEY = "sk-secret"
WEATHER = ToolSpec("weather", "Today's weather", {"type": "object", "properties": {"city": {"type": "string"}}})

# whole: the answer and its end · odd: strange characters, and its end · empty: nothing, and its end · calls: tool calls
# length, filter: ended so · truncated: said to be cut · the others: the error that is raised
# *: nothing was visible, so the next try is made and brings the whole answer
TABLE = """
fault                                openai      anthropic   gemini
ok                                   whole       whole       whole
json                                 whole       whole       whole
split                                whole       whole       whole
crlf                                 whole       whole       whole
cr                                   whole       whole       whole
no-space                             whole       whole       whole
multi-line                           whole       whole       whole
comments                             whole       whole       whole
nulls                                whole       whole       whole
no-usage                             whole       whole       whole
thoughts                             whole       whole       whole
bad-utf8                             odd         odd         odd
nul                                  odd         odd         odd
controls                             odd         odd         odd
null-content                         empty       empty       empty
length                               length      length      length
content-filter                       filter      filter      filter
blocked                              filter      filter      filter
tool                                 calls       calls       calls
tools                                calls       calls       calls
bad-tool                             calls       calls       down*
cut-tool                             down*       down*       down*
cut                                  truncated   truncated   truncated
cut,after=1                          down*       down*       down*
cut,after=0                          down*       down*       down*
reset                                truncated   truncated   truncated
reset,after=1                        down*       down*       down*
no-end                               truncated   truncated   truncated
no-reason                            truncated   truncated   truncated
no-done                              truncated   truncated   whole
empty                                down*       down*       down*
error                                down        down        down
error,after=1                        down*       down*       down*
error,after=1,code=rate_limit_error  busy*       busy*       busy*
error,after=1,code=overloaded_error  busy*       busy*       busy*
error,after=1,code=UNAVAILABLE       down*       down*       down*
error,after=1,code=RESOURCE_EXHAUSTED  busy*     busy*       busy*
error,after=1,code=invalid_request_error refused refused     refused
error,after=1,code=INVALID_ARGUMENT  refused     refused     refused
error,after=1,code=429               busy*       busy*       busy*
error,after=1,code=503               down*       down*       down*
not-json                             garbled     garbled     garbled
not-json,after=1                     garbled     garbled     garbled
long-line                            garbled     garbled     garbled
html                                 garbled     garbled     garbled
redirect                             refused     refused     refused
slow                                 timeout*    timeout*    timeout*
slow-body                            timeout*    timeout*    timeout*
stall                                timeout     timeout     timeout
stall,after=1                        timeout*    timeout*    timeout*
stall,after=0                        timeout*    timeout*    timeout*
400                                  refused     refused     refused
401                                  refused     refused     refused
403                                  refused     refused     refused
404                                  refused     refused     refused
413                                  refused     refused     refused
408                                  timeout*    timeout*    timeout*
409                                  busy*       busy*       busy*
429                                  busy*       busy*       busy*
429,retry-after=0                    busy*       busy*       busy*
429,retry-after-ms=5                 busy*       busy*       busy*
429,retry-date=0                     busy*       busy*       busy*
500                                  down*       down*       down*
502                                  down*       down*       down*
503,retry-after=0                    busy*       busy*       busy*
504                                  timeout*    timeout*    timeout*
529                                  busy*       busy*       busy*
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()[1:]]
CELLS = [
    pytest.param(dialect, row[0], cell, id=f"{dialect}-{row[0]}")
    for row in ROWS
    for dialect, cell in zip(DIALECTS, row[1:], strict=True)
]
ERRORS: dict[str, type[ProviderError]] = {
    "busy": ProviderBusy,
    "down": ProviderDown,
    "garbled": ProviderGarbled,
    "refused": ProviderRefused,
    "timeout": ProviderTimeout,
}
ENDS = {"whole": "stop", "odd": "stop", "empty": "stop", "calls": "tool_calls", "filter": "content_filter"}
SILENT = ("slow", "stall")
NEEDS_TOOLS = ("tool", "tools", "bad-tool", "cut-tool")


class House:
    """One fake server, and providers of any dialect that talk to it."""

    def __init__(self, stack: AsyncExitStack, server: FakeProvider) -> None:
        self._stack = stack
        self.server = server

    async def provider(self, dialect: Dialect, settings: ChatSettings) -> WireChat:
        base_url = self.server.base_url if dialect == "openai" else self.server.root_url
        chat = WireChat(endpoint(base_url, KEY, dialect=dialect), settings)
        await chat.open()
        self._stack.push_async_callback(chat.close)
        return chat


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(FakeProvider(answer=lambda _: ANSWER, api_key=KEY))
        yield House(stack, server)


def patience(fault: str = "", **more: float) -> ChatSettings:
    """Little of it where silence is the fault; elsewhere a busy machine is none."""
    seconds = 0.6 if fault.startswith(SILENT) else 4.0
    return ChatSettings(
        provider_connect_seconds=4.0,
        **{
            "provider_first_byte_seconds": seconds,
            "provider_idle_seconds": seconds,
            "provider_retries": 1,
            "provider_backoff_seconds": 0.0,
        }
        | more,
    )


def ask(fault: str) -> ChatRequest:
    tools = [WEATHER] if fault.partition(",")[0] in NEEDS_TOOLS else []
    model = None if fault == "ok" else f"fault:{fault}"
    return ChatRequest(messages=[Message("user", "hi")], model=model, tools=tools)


async def hear(chat: ChatProvider, request: ChatRequest) -> tuple[str, Finished | ProviderError]:
    """What was said, and how it ended. Insists that it ends, and on the order of events."""
    said: list[ChatEvent] = []
    try:
        async with asyncio.timeout(5):
            async for event in chat.stream(request):
                said.append(event)
    except ProviderError as error:
        assert all(isinstance(event, Text) and event.text for event in said)
        return "".join(event.text for event in said if isinstance(event, Text)), error
    *texts, last = said
    assert isinstance(last, Finished)
    assert all(isinstance(event, Text) and event.text for event in texts)
    return "".join(event.text for event in texts if isinstance(event, Text)), last


def check(cell: str, text: str, end: Finished | ProviderError) -> None:
    kind = cell.removesuffix("*")
    if kind in ERRORS:
        assert type(end) is ERRORS[kind]
        assert isinstance(end, ProviderError)
        assert KEY not in f"{end} {end.detail} {end.extra}"
        assert "127.0.0.1" not in f"{end} {end.detail} {end.extra}"
        return
    assert isinstance(end, Finished)
    assert end.reason == ENDS.get(kind, kind)
    assert bool(end.tool_calls) is (kind == "calls")
    if kind in ("whole", "length"):
        assert text == ANSWER
    elif kind == "truncated":
        assert text
        assert ANSWER.startswith(text)
    elif kind in ("empty", "calls"):
        assert text == ""
    elif kind == "odd":
        assert any(sign in text for sign in ("\ufffd", "tab\there\x01", "a\x00b"))


def test_every_fault_has_a_row() -> None:
    rows = {row[0].partition(",")[0] for row in ROWS}
    assert FAULTS.keys() - rows == {"<status>", "drip"}  # statuses are rows of their own; drip is below
    assert len(rows) >= 14


@pytest.mark.parametrize(("dialect", "fault", "cell"), CELLS)
async def test_a_cell(house: House, dialect: Dialect, fault: str, cell: str) -> None:
    """G4, K7, K8."""
    chat = await house.provider(dialect, patience(fault))
    text, end = await hear(chat, ask(fault))
    check(cell, text, end)
    if cell.endswith("*"):
        assert text == ""
    assert house.server.asked() == 1


@pytest.mark.parametrize(("dialect", "fault", "cell"), CELLS)
async def test_a_cell_behind_the_guard(house: House, dialect: Dialect, fault: str, cell: str) -> None:
    """F1: what failed once is tried again, but only before its first visible token."""
    settings = patience(fault)
    chat = GuardedChat([await house.provider(dialect, settings)], settings, Breakers(settings))
    text, end = await hear(chat, ask("ok" if fault == "ok" else f"{fault},times=1"))
    if cell.endswith("*"):
        assert isinstance(end, Finished)
        assert (text, end.reason, end.tool_calls) == (ANSWER, "stop", ())
        assert house.server.asked() == 2
        return
    assert house.server.asked() == 1
    if cell == "odd":  # cleaned on the way
        assert isinstance(end, Finished)
        assert end.reason == "stop"
        assert "\x00" not in text
        assert text.encode()
    else:
        check(cell, text, end)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_dripping_comments_end_with_the_total_time(house: House, dialect: Dialect) -> None:
    settings = patience("", provider_total_seconds=0.5)
    chat = GuardedChat([await house.provider(dialect, settings)], settings, Breakers(settings))
    text, end = await hear(chat, ask("drip"))
    assert (text, type(end)) == ("", ProviderTimeout)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_malformed_arguments_are_handed_on_as_written(house: House, dialect: Dialect) -> None:
    """A13: who parses them decides. Gemini hands none on."""
    if dialect == "gemini":
        return
    _, end = await hear(await house.provider(dialect, patience()), ask("bad-tool"))
    assert isinstance(end, Finished)
    assert [call.arguments for call in end.tool_calls] == ['{"query": "天气" "broken']


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_thoughts_are_not_said(house: House, dialect: Dialect) -> None:
    text, _ = await hear(await house.provider(dialect, patience()), ask("thoughts"))
    assert THOUGHT not in text


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("fault", ["ok", "json", "length", "blocked", "cut"])
async def test_what_the_provider_counted_is_told(house: House, dialect: Dialect, fault: str) -> None:
    _, end = await hear(await house.provider(dialect, patience()), ask(fault))
    assert isinstance(end, Finished)
    if fault == "cut":  # Anthropic and Gemini count what they read at the start
        assert end.usage.input_tokens == (0 if dialect == "openai" else 1)
        assert end.usage.output_tokens == 0
    else:
        assert (end.usage.input_tokens, end.usage.output_tokens) == (1, len(ANSWER) // 4)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_nothing_is_asked_again_after_a_visible_token(house: House, dialect: Dialect) -> None:
    settings = patience("stall")
    chat = GuardedChat([await house.provider(dialect, settings)], settings, Breakers(settings))
    for fault in ("error,after=3", "stall,after=3", "cut,after=3"):
        before = house.server.asked()
        text, _ = await hear(chat, ask(fault))
        assert text
        assert ANSWER.startswith(text)
        assert house.server.asked() == before + 1


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_client_that_goes_away_closes_the_connection(house: House, dialect: Dialect) -> None:
    """K4."""
    chat = await house.provider(dialect, ChatSettings())
    stream = chat.stream(ask("stall"))
    assert isinstance(await anext(stream), Text)
    await stream.aclose()
    await asyncio.wait_for(house.server.exchanges[0].ended.wait(), 2)
    assert house.server.exchanges[0].outcome == "client_gone"
