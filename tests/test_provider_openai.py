"""The OpenAI-compatible dialect, unguarded, against a server that speaks it and misbehaves."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from app.core.errors import ConfigurationError
from app.providers.chat_settings import ChatSettings
from app.providers.fake import FakeProvider
from app.providers.openai_wire import OpenAIAnswer, request_body
from app.providers.ports import (
    ChatEvent,
    ChatRequest,
    Finished,
    Message,
    MissingKey,
    ProviderBusy,
    ProviderDown,
    Text,
    ToolCall,
    ToolSpec,
    Usage,
)
from app.providers.sse import ServerEvent
from app.providers.wire_chat import WireChat
from tests.wire_endpoint import endpoint

ANSWER = "你好，世界！ The answer is 42 😀."
KEY = "sk-secret"
SETTINGS = ChatSettings(
    provider_connect_seconds=1.0, provider_first_byte_seconds=0.6, provider_idle_seconds=0.6, provider_retries=0
)

WEATHER = ToolSpec("weather", "Today's weather", {"type": "object", "properties": {"city": {"type": "string"}}})


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    async with FakeProvider(answer=lambda _: ANSWER, api_key=KEY) as server:
        yield server


@pytest.fixture
async def chat(fake: FakeProvider) -> AsyncIterator[WireChat]:
    provider = WireChat(endpoint(fake.base_url, KEY), SETTINGS)
    await provider.open()
    yield provider
    await provider.close()


def ask(fault: str = "", **fields: object) -> ChatRequest:
    model = f"fault:{fault}" if fault else None
    return ChatRequest(messages=[Message("user", "hi")], model=model, **fields)


async def collect(provider: WireChat, request: ChatRequest) -> tuple[str, Finished]:
    """The text and the last event; insists on the port's order of events."""
    async with asyncio.timeout(5):
        events: list[ChatEvent] = [event async for event in provider.stream(request)]
    *texts, last = events
    assert isinstance(last, Finished)
    assert all(isinstance(event, Text) and event.text for event in texts)
    return "".join(event.text for event in texts), last


# ----------------------------------------------------------------------------------- the right way


async def test_an_answer_is_streamed_with_usage(chat: WireChat, fake: FakeProvider):
    async with asyncio.timeout(5):
        events = [event async for event in chat.stream(ask())]
    assert len(events) > 5
    assert "".join(event.text for event in events[:-1]) == ANSWER
    assert events[-1] == Finished("stop", Usage(1, len(ANSWER) // 4))
    exchange = fake.exchanges[0]
    assert exchange.path == "/v1/chat/completions"
    assert exchange.headers["authorization"] == f"Bearer {KEY}"
    assert exchange.body["model"] == "m"
    assert exchange.body["stream"] is True


async def test_one_connection_serves_many_calls(chat: WireChat, fake: FakeProvider):
    for _ in range(5):
        await collect(chat, ask())
    assert fake.connections == 1


async def test_many_calls_at_once(chat: WireChat, fake: FakeProvider):
    results = await asyncio.gather(*(collect(chat, ask("comments")) for _ in range(40)))
    assert {text for text, _ in results} == {ANSWER}
    assert fake.asked() == 40


@pytest.mark.parametrize(("fault", "reason"), [("length", "length"), ("content-filter", "content_filter")])
async def test_stop_reasons(chat: WireChat, fault: str, reason: str):
    text, finished = await collect(chat, ask(fault))
    assert (text, finished.reason) == (ANSWER, reason)


async def test_a_tool_call_is_put_together(chat: WireChat):
    text, finished = await collect(chat, ask("tool", tools=[WEATHER]))
    assert text == ""
    assert finished.reason == "tool_calls"
    assert finished.tool_calls == (ToolCall("call_fake", "weather", '{"query": "天气"}'),)


# --------------------------------------------------- faults (all of them: test_provider_matrix)


async def test_an_error_after_text_leaves_the_text(chat: WireChat):
    stream = chat.stream(ask("error,after=3"))
    said = (await anext(stream)).text + (await anext(stream)).text
    assert ANSWER.startswith(said)
    with pytest.raises(ProviderDown):
        await anext(stream)


async def test_retry_after_is_told(chat: WireChat):
    with pytest.raises(ProviderBusy) as caught:
        await collect(chat, ask("429,retry-after=7"))
    assert caught.value.retry_after_seconds == 7


async def test_nobody_listens():
    chat = WireChat(endpoint(), SETTINGS)
    await chat.open()
    with pytest.raises(ProviderDown):
        await collect(chat, ask())
    await chat.close()


# ------------------------------------------------------------------------------------------ keys


@pytest.mark.parametrize("key", [None, "", "  "])
async def test_a_missing_key_is_an_error_before_anything_is_sent(fake: FakeProvider, key: str | None):
    chat = WireChat(endpoint(fake.base_url, key), SETTINGS)
    await chat.open()
    with pytest.raises(MissingKey):
        await collect(chat, ask())
    await chat.close()
    assert fake.connections == 0


async def test_a_key_is_not_needed_everywhere():
    async with FakeProvider() as server:
        chat = WireChat(endpoint(server.base_url, None, needs_key=False), SETTINGS)
        await chat.open()
        assert (await collect(chat, ask()))[0] == "You said: hi"
        await chat.close()
        assert "authorization" not in server.exchanges[0].headers


@pytest.mark.parametrize("key", ["sk-\nx", "密钥", "a\x00b"])
def test_what_is_no_key_is_refused_without_repeating_it(key: str):
    with pytest.raises(ConfigurationError) as caught:
        WireChat(endpoint(key=key), SETTINGS)
    assert key not in str(caught.value)


# ------------------------------------------------------------------------------- going away (K4)


async def test_closing_the_stream_closes_the_connection(chat: WireChat, fake: FakeProvider):
    """K4"""
    stream = chat.stream(ask("stall"))
    async with aclosing(stream):
        assert isinstance(await anext(stream), Text)
    await asyncio.wait_for(fake.exchanges[0].ended.wait(), 2)
    assert fake.exchanges[0].outcome == "client_gone"


@pytest.mark.parametrize("fault", ["slow", "slow-body", "stall"])
async def test_cancelling_closes_the_connection(fake: FakeProvider, fault: str):
    """K4, in every phase of a call; with the default timeouts, so that nothing else can close it."""
    chat = WireChat(endpoint(fake.base_url, KEY), ChatSettings())
    await chat.open()
    task = asyncio.create_task(collect(chat, ask(fault)))
    await fake.wait_for_request()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(fake.exchanges[0].ended.wait(), 2)
    assert fake.exchanges[0].outcome == "client_gone"
    await chat.close()


async def test_forgetting_the_stream_closes_the_connection(fake: FakeProvider):
    """K4: a `break` out of `async for` closes nothing by itself; the loop's finaliser does."""
    chat = WireChat(endpoint(fake.base_url, KEY), ChatSettings())
    await chat.open()
    stream = chat.stream(ask("stall"))
    await anext(stream)
    del stream
    gc.collect()
    await asyncio.wait_for(fake.exchanges[0].ended.wait(), 2)
    assert fake.exchanges[0].outcome == "client_gone"
    await chat.close()


async def test_the_loop_is_free_during_a_slow_answer(chat: WireChat):
    """E17: forty answers, and a task beside them that is never kept waiting."""
    loop = asyncio.get_running_loop()
    answers = asyncio.gather(*(collect(chat, ask("comments")) for _ in range(40)))
    longest = 0.0
    while not answers.done():
        before = loop.time()
        await asyncio.sleep(0)
        longest = max(longest, loop.time() - before)
    await answers
    assert longest < 0.2


# ---------------------------------------------------------------------------------- request body


def test_the_body_of_a_plain_request():
    assert request_body(endpoint(), ask()) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_the_body_of_a_full_request():
    request = ChatRequest(
        messages=[
            Message("system", "s"),
            Message("user", "u"),
            Message("assistant", "", [ToolCall("1", "weather", "{}")]),
            Message("tool", "sunny", tool_call_id="1"),
        ],
        model="other",
        max_tokens=7,
        temperature=0.0,
        tools=[WEATHER],
    )
    body = request_body(endpoint(max_tokens_field="max_completion_tokens"), request)
    assert body["model"] == "other"
    assert body["max_completion_tokens"] == 7
    assert "max_tokens" not in body
    assert body["temperature"] == 0.0
    assert body["tools"][0]["function"] == {
        "name": "weather",
        "description": "Today's weather",
        "parameters": dict(WEATHER.parameters),
    }
    assert body["messages"][2] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
    }
    assert body["messages"][3] == {"role": "tool", "content": "sunny", "tool_call_id": "1"}


@pytest.mark.parametrize("messages", [[Message("system", "s"), Message("user", "u")], [Message("user", "u")]])
def test_json_by_schema_by_object_and_by_prompt(messages: list[Message]):
    request = ChatRequest(messages=messages, json_schema={"type": "object", "title": "标题"})
    by_schema, by_object, by_prompt = (
        request_body(endpoint(json_mode=mode), request) for mode in ("schema", "object", "none")
    )
    assert by_schema["response_format"]["json_schema"]["schema"] == {"type": "object", "title": "标题"}
    assert by_schema["messages"] == [{"role": m.role, "content": m.content} for m in messages]
    assert by_object["response_format"] == {"type": "json_object"}
    assert "response_format" not in by_prompt
    for body in (by_object, by_prompt):
        first, *others = body["messages"]
        assert first["role"] == "system"
        assert '"标题"' in first["content"]
        assert others == [{"role": "user", "content": "u"}]


async def test_han_characters_travel_as_themselves_and_lone_surrogates_do_not(chat: WireChat, fake: FakeProvider):
    """G11"""
    await collect(chat, ChatRequest(messages=[Message("user", "你好" * 100 + "\ud83d")]))
    assert fake.exchanges[0].body["messages"][0]["content"] == "你好" * 100 + "?"
    assert int(fake.exchanges[0].headers["content-length"]) < 800


# ----------------------------------------------------------------------------- chunks of an answer


def take(*chunks: object, done: bool = True) -> tuple[str, Finished]:
    answer = OpenAIAnswer()
    texts = [answer.take(ServerEvent(json.dumps(chunk))) for chunk in chunks]
    if done:
        answer.take(ServerEvent("[DONE]"))
    return "".join(texts), answer.finished()


def piece(reason: str | None = None, **delta: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def call(arguments: object, **fields: object) -> dict[str, object]:
    return fields | {"function": {"arguments": arguments} | ({"name": "f"} if "id" in fields else {})}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("stop", "stop"),
        ("function_call", "stop"),  # of nothing
        ("model_length", "length"),
        ("insufficient_system_resource", "truncated"),
        ("something new", "truncated"),
    ],
)
def test_only_known_reasons_are_an_end(said: str, reason: str):
    assert take(piece(content="a"), piece(said))[1].reason == reason


def test_other_choices_are_ignored():
    other = {"choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": "length"}]}
    assert take(piece(content="a"), other, piece("stop")) == ("a", Finished("stop"))


def test_content_in_parts_and_refusals_are_text():
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, None, {"type": "text", "text": "b"}]
    assert take(piece(content=parts), piece(refusal="no"), piece("stop"))[0] == "abno"


def test_reasoning_is_not_visible():
    text, _ = take(
        piece(reasoning_content="hm", content=None), piece(reasoning="hm"), piece(content="a"), piece("stop")
    )
    assert text == "a"


def test_two_calls_interleaved():
    chunks = [
        piece(tool_calls=[call("{", index=0, id="a"), call("[", index=1, id="b")]),
        piece(tool_calls=[call("]", index=1)]),
        piece(tool_calls=[call("}", index=0)]),
        piece("tool_calls"),
    ]
    assert take(*chunks)[1].tool_calls == (ToolCall("a", "f", "{}"), ToolCall("b", "f", "[]"))


def test_calls_without_index_or_text_or_the_right_reason():
    calls = [call({"x": "你"}, id="a"), call(None, id="b")]
    finished = take(piece(tool_calls=calls), piece("stop"))[1]
    assert finished.reason == "tool_calls"
    assert finished.tool_calls == (ToolCall("a", "f", '{"x": "你"}'), ToolCall("b", "f", ""))


def test_calls_of_a_cut_answer_do_not_run():
    calls = piece(tool_calls=[call('{"x": ', index=0, id="a")])
    assert take(piece(content="a"), calls, piece("length"))[1].tool_calls == ()
    assert take(piece(content="a"), calls, done=False)[1] == Finished("truncated")


def test_usage_inside_the_choice():
    last = {
        "choices": [
            {"index": 0, "delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
        ]
    }
    assert take(piece(content="a"), last)[1].usage == Usage(3, 4)


def test_an_error_without_an_envelope():
    with pytest.raises(ProviderBusy):
        take({"code": "Throttling.RateQuota", "message": "slow down"})


def test_an_error_event():
    with pytest.raises(ProviderDown):
        OpenAIAnswer().take(ServerEvent('{"message": "boom"}', "error"))


def test_an_answer_may_be_empty_but_must_end():
    assert take(piece("stop")) == ("", Finished("stop"))
    with pytest.raises(ProviderDown):
        take(piece("stop"), done=False)
