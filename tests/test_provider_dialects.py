"""What each dialect makes of a request, and a conversation with tools through all three of them.

The server reads as strictly as the real ones: what they would refuse, it refuses.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from app.providers import anthropic_wire, gemini_wire, openai_wire
from app.providers.anthropic_wire import AnthropicAnswer
from app.providers.chat_settings import ChatSettings
from app.providers.fake import FakeProvider, heard
from app.providers.fake_script import SIGNATURE, THOUGHT, Said
from app.providers.gemini_wire import GeminiAnswer
from app.providers.openai_wire import OpenAIAnswer
from app.providers.ports import (
    ChatRequest,
    Finished,
    Message,
    ProviderBusy,
    ProviderDown,
    Text,
    ToolCall,
    ToolSpec,
    Usage,
)
from app.providers.specs import SPECS, Dialect, Endpoint
from app.providers.sse import ServerEvent
from app.providers.transport import endpoint_url
from app.providers.wire_answer import WireAnswer
from app.providers.wire_chat import WireChat
from tests.wire_endpoint import endpoint

DIALECTS: tuple[Dialect, ...] = ("openai", "anthropic", "gemini")
KEY = "sk-secret"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolSpec("weather", "Today's weather", CITY)
NOW = ToolSpec("now", "The time", {"type": "object", "properties": {}})
SETTINGS = ChatSettings(provider_first_byte_seconds=2.0, provider_idle_seconds=2.0, provider_retries=0)

Ask = Callable[[Dialect], WireChat]


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    async with FakeProvider(api_key=KEY) as server:
        yield server


@pytest.fixture
async def chats(fake: FakeProvider) -> AsyncIterator[dict[Dialect, WireChat]]:
    async with AsyncExitStack() as stack:
        built: dict[Dialect, WireChat] = {}
        for dialect in DIALECTS:
            base_url = fake.base_url if dialect == "openai" else fake.root_url
            built[dialect] = WireChat(endpoint(base_url, KEY, dialect=dialect, returns_thoughts=True), SETTINGS)
            await built[dialect].open()
            stack.push_async_callback(built[dialect].close)
        yield built


async def hear(chat: WireChat, request: ChatRequest) -> tuple[str, Finished]:
    async with asyncio.timeout(5):
        *texts, last = [event async for event in chat.stream(request)]
    assert isinstance(last, Finished)
    return "".join(event.text for event in texts if isinstance(event, Text)), last


# ------------------------------------------------------------------------- a conversation with tools


def forecaster(body: dict[str, Any]) -> Said:
    """Asks for the weather of two cities and for the time, then for one more city, then answers from what it read."""
    said = heard(body)
    results = [message.content for message in said if message.role == "tool"]
    if not results:
        calls = [("weather", '{"city": "北京"}'), ("weather", '{"city": "Oslo \\"S\\""}'), ("now", "{}")]
        return Said("Let me look.", calls=calls)
    if len(results) == 3:
        return Said("", calls=[("weather", '{"city": "Rom"}')])
    return Said(" / ".join(results))


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_conversation_with_tools(chats: dict[Dialect, WireChat], fake: FakeProvider, dialect: Dialect) -> None:
    fake.answer = forecaster
    messages = [Message("system", "Be brief."), Message("user", "What is the weather? {x} %s")]

    async def turn() -> tuple[str, Finished]:
        text, end = await hear(chats[dialect], ChatRequest(messages, tools=[WEATHER, NOW], max_tokens=100))
        messages.append(Message("assistant", text, end.tool_calls))
        for call in end.tool_calls:
            city = json.loads(call.arguments).get("city")
            result = f"{city}: 晴\n24°" if call.name == "weather" else '{"time": "09:00"}'
            messages.append(Message("tool", result, tool_call_id=call.id))
        return text, end

    text, end = await turn()
    assert (text, end.reason) == ("Let me look.", "tool_calls")
    assert [(call.name, json.loads(call.arguments)) for call in end.tool_calls] == [
        ("weather", {"city": "北京"}),
        ("weather", {"city": 'Oslo "S"'}),
        ("now", {}),
    ]
    text, end = await turn()
    assert (text, end.reason) == ("", "tool_calls")
    assert len({call.id for message in messages for call in message.tool_calls}) == 4
    text, end = await turn()
    assert end.reason == "stop"
    for told in ("北京: 晴", "Oslo", "09:00", "Rom: 晴"):
        assert told in text

    understood = fake.exchanges[-1].messages
    assert [message.role for message in understood if message.role != "tool"] == [
        "system",
        "user",
        "assistant",
        "assistant",
    ]
    assert [message.content for message in understood[:2]] == ["Be brief.", "What is the weather? {x} %s"]
    assert [len(message.tool_calls) for message in understood if message.role == "assistant"] == [3, 1]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_what_was_thought_before_a_call_goes_back_with_it(
    chats: dict[Dialect, WireChat], fake: FakeProvider, dialect: Dialect
) -> None:
    messages = [Message("user", "hi")]
    _, end = await hear(chats[dialect], ChatRequest(messages, model="fault:thoughts", tools=[WEATHER]))
    (call,) = end.tool_calls
    field, value = {
        "openai": ("reasoning_content", THOUGHT),
        "anthropic": ("thinking", json.dumps([{"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE}])),
        "gemini": ("thoughtSignature", SIGNATURE),
    }[dialect]
    assert call.carried == (field, value)
    messages += [Message("assistant", "", [call]), Message("tool", "sunny", tool_call_id=call.id)]
    text, end = await hear(chats[dialect], ChatRequest(messages, model="fault:thoughts", tools=[WEATHER]))
    assert (text, end.reason) == ("You said: hi", "stop")
    assert fake.asked() == 2


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("origin", DIALECTS)
async def test_another_provider_takes_over_in_the_middle(
    chats: dict[Dialect, WireChat], dialect: Dialect, origin: Dialect
) -> None:
    """A stand-in reads calls that another dialect made; what those carry is not for it."""
    messages = [Message("user", "hi")]
    _, end = await hear(chats[origin], ChatRequest(messages, model="fault:tools", tools=[WEATHER]))
    messages += [Message("assistant", "", end.tool_calls)]
    messages += [Message("tool", "sunny", tool_call_id=call.id) for call in end.tool_calls]
    text, end = await hear(chats[dialect], ChatRequest(messages, tools=[WEATHER]))
    assert (text, end.reason) == ("You said: hi", "stop")


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_no_more_tools(chats: dict[Dialect, WireChat], fake: FakeProvider, dialect: Dialect) -> None:
    """The last round of a bounded loop: what was called stays known, nothing more may be called."""
    call = ToolCall("call_1", "weather", '{"city": "Rom"}')
    messages = [
        Message("user", "hi"),
        Message("assistant", "", [call]),
        Message("tool", "sunny", tool_call_id="call_1"),
    ]
    await hear(chats[dialect], ChatRequest(messages, tools=[WEATHER], tool_choice="none"))
    told = {
        "openai": lambda body: body["tool_choice"] == "none",
        "anthropic": lambda body: body["tool_choice"] == {"type": "none"},
        "gemini": lambda body: body["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}},
    }[dialect]
    assert told(fake.exchanges[0].body)
    # Tools that are no longer on offer at all are no reason to refuse the conversation.
    text, _ = await hear(chats[dialect], ChatRequest(messages))
    assert text == "You said: hi"


# ------------------------------------------------------------------------------- odd conversations


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_histories_as_they_are(chats: dict[Dialect, WireChat], fake: FakeProvider, dialect: Dialect) -> None:
    """Cut at the front, blank messages, the same role twice, malformed arguments: nothing the real ones refuse."""
    messages = [
        Message("system", "One."),
        Message("system", "Two."),
        Message("assistant", "I was cut off"),
        Message("user", "a"),
        Message("user", "b"),
        Message("assistant", " "),
        Message("user", "c"),
        Message("assistant", "", [ToolCall("call:1/ü", "weather", '{"city": "broken')]),
        Message("tool", "", tool_call_id="call:1/ü"),
        Message("user", "你好\ud83d"),
    ]
    text, end = await hear(chats[dialect], ChatRequest(messages, tools=[WEATHER]))
    assert end.reason == "stop"
    assert text.endswith("你好?")
    said = "\n".join(message.content for message in fake.exchanges[0].messages)
    for words in ("One.", "Two.", "I was cut off", "a", "b", "c"):
        assert words in said


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_where_a_request_goes_and_what_it_shows(
    chats: dict[Dialect, WireChat], fake: FakeProvider, dialect: Dialect
) -> None:
    await hear(chats[dialect], ChatRequest([Message("user", "hi")], model="a b/c:d?e"))
    exchange = fake.exchanges[0]
    path, header, value = {
        "openai": ("/v1/chat/completions", "authorization", f"Bearer {KEY}"),
        "anthropic": ("/v1/messages", "x-api-key", KEY),
        "gemini": ("/v1beta/models/a%20b%2Fc%3Ad%3Fe:streamGenerateContent", "x-goog-api-key", KEY),
    }[dialect]
    assert (exchange.path, exchange.model, exchange.headers[header]) == (path, "a b/c:d?e", value)
    assert sum(KEY in told for told in exchange.headers.values()) == 1
    assert KEY not in exchange.raw.decode()


# ----------------------------------------------------------------------------------- request bodies


def body_of(dialect: Dialect, request: ChatRequest, **more: Any) -> dict[str, Any]:
    wire = {"openai": openai_wire, "anthropic": anthropic_wire, "gemini": gemini_wire}[dialect]
    return wire.request_body(endpoint(dialect=dialect, **more), request)


def of(name: str, model: str | None = None) -> Endpoint:
    spec = SPECS[name]
    return Endpoint(spec=spec, base_url="http://127.0.0.1:1", default_model=model or spec.default_model)


HI = [Message("system", "Be brief."), Message("user", "hi")]
SCHEMA = {
    "type": "object",
    "$defs": {"City": {"type": "object", "properties": {"name": {"type": ["string", "null"], "minLength": 1}}}},
    "properties": {
        "cities": {"type": "array", "items": {"$ref": "#/$defs/City"}, "maxItems": 3},
        "format": {"anyOf": [{"type": "string", "const": "短"}, {"type": "null"}]},
        "degrees": {"type": "number", "exclusiveMinimum": -274},
    },
    "required": ["cities"],
    "additionalProperties": False,
}


def test_the_body_of_a_plain_anthropic_request() -> None:
    assert body_of("anthropic", ChatRequest(HI, temperature=1.5)) == {
        "model": "m",
        "max_tokens": 4096,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "temperature": 1.0,
        "stream": True,
    }


def test_the_body_of_a_plain_gemini_request() -> None:
    assert body_of("gemini", ChatRequest(HI, temperature=0.5, max_tokens=9)) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "generationConfig": {"temperature": 0.5, "maxOutputTokens": 9},
    }


def test_a_schema_in_openais_words() -> None:
    told = body_of("openai", ChatRequest(HI, json_schema=SCHEMA))["response_format"]["json_schema"]
    assert told == {"name": "answer", "schema": SCHEMA}  # not strict: not everything is required
    strict = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}, "required": ["a"]}
    told = body_of("openai", ChatRequest(HI, json_schema=strict))["response_format"]["json_schema"]
    assert told["strict"] is True
    assert told["schema"] == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }


def test_a_schema_in_anthropics_words() -> None:
    told = body_of("anthropic", ChatRequest(HI, json_schema=SCHEMA), extra={"output_config": {"effort": "low"}})
    assert told["output_config"]["effort"] == "low"
    schema = told["output_config"]["format"]["schema"]
    assert schema["$defs"]["City"] == {
        "type": "object",
        "properties": {"name": {"type": ["string", "null"]}},
        "additionalProperties": False,
    }
    assert schema["properties"]["cities"] == {"type": "array", "items": {"$ref": "#/$defs/City"}}
    assert "format" in schema["properties"]  # a name, not a limit
    assert schema["properties"]["degrees"] == {"type": "number"}


def test_a_schema_in_geminis_words() -> None:
    config = body_of("gemini", ChatRequest(HI, json_schema=SCHEMA))["generationConfig"]
    name = {"type": "STRING", "nullable": True, "minLength": 1}
    assert config["responseMimeType"] == "application/json"
    assert config["responseSchema"] == {
        "type": "OBJECT",
        "properties": {
            "cities": {
                "type": "ARRAY",
                "maxItems": 3,
                "items": {
                    "type": "OBJECT",
                    "properties": {"name": name},
                },
            },
            "format": {"type": "STRING", "enum": ["短"], "nullable": True},
            "degrees": {"type": "NUMBER"},
        },
        "required": ["cities"],
    }


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    tree = {"$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}}, "$ref": "#/$defs/T"}
    told = json.dumps(body_of("gemini", ChatRequest(HI, json_schema=tree)))
    assert '"STRING"' in told
    assert len(told) < 2000


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_schema_where_none_is_enforced_stands_in_the_prompt(dialect: Dialect) -> None:
    told = body_of(dialect, ChatRequest(HI, json_schema=SCHEMA), json_mode="none")
    text = json.dumps(told, ensure_ascii=False)
    assert "Answer with one JSON object" in text
    assert "短" in text  # G11
    assert not {"response_format", "output_config"} & told.keys()
    assert "responseSchema" not in text


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_fake_takes_every_schema_and_tool(chats: dict[Dialect, WireChat], dialect: Dialect) -> None:
    _, end = await hear(chats[dialect], ChatRequest(HI, json_schema=SCHEMA))
    assert end.reason == "stop"
    _, end = await hear(chats[dialect], ChatRequest(HI, tools=[WEATHER, NOW]))
    assert end.reason == "stop"


# ------------------------------------------------------------------------------------------- specs


def test_every_provider_has_its_whole_address() -> None:
    at = {name: endpoint_url(spec.base_url or "http://own:1/v1", spec.path) for name, spec in SPECS.items()}
    assert at == {
        "openai": "https://api.openai.com/v1/chat/completions",
        "anthropic": "https://api.anthropic.com/v1/messages",
        "gemini": "https://generativelanguage.googleapis.com/v1beta/models/{model}:streamGenerateContent?alt=sse",
        "deepseek": "https://api.deepseek.com/chat/completions",
        "moonshot": "https://api.moonshot.cn/v1/chat/completions",
        "qwen": "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions",
        "ollama": "http://127.0.0.1:11434/v1/chat/completions",
        "custom": "http://own:1/v1/chat/completions",
    }
    gemini = SPECS["gemini"].spoken_to_as_openai()
    assert endpoint_url(gemini.base_url or "", gemini.path).endswith(".com/v1beta/openai/chat/completions")
    assert endpoint_url("https://proxy/v1beta", SPECS["gemini"].path).count("v1beta") == 1


async def test_gemini_is_spoken_to_as_openai(fake: FakeProvider) -> None:
    spec = SPECS["gemini"].spoken_to_as_openai()
    at = Endpoint(
        spec=spec, base_url=fake.root_url, api_key=endpoint(key=KEY).api_key, default_model="gemini-3.8-flash"
    )
    chat = WireChat(at, SETTINGS)
    await chat.open()
    assert (await hear(chat, ChatRequest(HI)))[0] == "You said: hi"
    await chat.close()
    assert fake.exchanges[0].path == "/v1beta/openai/chat/completions"
    assert fake.exchanges[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("name", SPECS)
def test_every_default_model_is_listed_and_has_a_window(name: str) -> None:
    able = of(name).capabilities()
    assert able.context_window >= 4096
    assert able.streaming
    assert SPECS[name].models[-1].prefix == ""  # no model is without a row
    assert hasattr(ChatSettings(), SPECS[name].base_url_setting)


def test_what_models_refuse_is_not_sent() -> None:
    request = ChatRequest(HI, temperature=0.2, max_tokens=100)
    told = openai_wire.request_body(of("openai"), request)
    assert "temperature" not in told
    assert told["reasoning_effort"] == "none"
    assert told["max_completion_tokens"] == 100
    assert openai_wire.request_body(of("openai", "gpt-4o"), request)["temperature"] == 0.2
    told = openai_wire.request_body(of("moonshot"), request)
    assert "temperature" not in told
    assert told["max_completion_tokens"] > 100  # thoughts count too
    assert openai_wire.request_body(of("deepseek"), request)["thinking"] == {"type": "disabled"}
    told = anthropic_wire.request_body(of("anthropic"), request)
    assert "temperature" not in told
    assert told["max_tokens"] > 100
    assert anthropic_wire.request_body(of("anthropic", "claude-haiku-4-5"), request)["temperature"] == 0.2
    told = gemini_wire.request_body(of("gemini"), request)["generationConfig"]
    assert told["thinkingConfig"] == {"thinkingLevel": "low"}


# ------------------------------------------------------------------------------- pieces of answers


def take(answer: WireAnswer, *chunks: object) -> tuple[str, Finished]:
    text = "".join(answer.take(ServerEvent(json.dumps(chunk))) for chunk in chunks)
    answer.close()
    return text, answer.finished()


def delta(**fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": fields.pop("index", 0), "delta": fields}


STOP = {"type": "message_stop"}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("pause_turn", "truncated"),
        ("something_new", "truncated"),
    ],
)
def test_anthropics_reasons(said: str, reason: str) -> None:
    end = {"type": "message_delta", "delta": {"stop_reason": said}}
    assert take(AnthropicAnswer(), delta(type="text_delta", text="a"), end, STOP)[1].reason == reason


def test_anthropic_counts_what_came_from_its_cache() -> None:
    read = {"input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 1}
    start = {"type": "message_start", "message": {"usage": read}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}
    assert take(AnthropicAnswer(), start, end, STOP)[1].usage == Usage(123, 7)
    late = end | {"usage": {"input_tokens": 9, "output_tokens": 7}}  # as gateways do
    assert take(AnthropicAnswer(), late, STOP)[1].usage == Usage(9, 7)


def test_anthropics_call_without_arguments() -> None:
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "now"}}
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    assert take(AnthropicAnswer(), block, end, STOP)[1].tool_calls == (ToolCall("t", "now", "{}"),)


def candidate(*parts: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    said = {"content": {"parts": list(parts)}} | ({"finishReason": reason} if reason else {})
    return {"candidates": [said]} | more


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("OTHER", "truncated"),
        ("MALFORMED_FUNCTION_CALL", "truncated"),
    ],
)
def test_geminis_reasons(said: str, reason: str) -> None:
    assert take(GeminiAnswer(), candidate({"text": "a"}, reason=said))[1].reason == reason


def test_a_reason_in_every_chunk_is_no_end_of_a_cut_body() -> None:
    answer = GeminiAnswer()
    assert answer.take(ServerEvent(json.dumps(candidate({"text": "a"}, reason="STOP")))) == "a"
    assert answer.finished().reason == "truncated"  # the body was not closed


def test_a_blocked_prompt_is_told_as_filtered() -> None:
    assert take(GeminiAnswer(), {"promptFeedback": {"blockReason": "SAFETY"}}) == ("", Finished("content_filter"))


def test_geminis_calls_without_ids_get_one_each() -> None:
    call = {"functionCall": {"name": "now", "args": {}}}
    first, second = take(GeminiAnswer(), candidate(call, call, reason="STOP"))[1].tool_calls
    assert first.id != second.id
    said = [Message("user", "x"), Message("assistant", "", [first, second])]
    said += [Message("tool", "1", tool_call_id=first.id), Message("tool", "2", tool_call_id=second.id)]
    contents = body_of("gemini", ChatRequest(said))["contents"]
    assert contents[1]["parts"] == [call, call]  # made ids are ours alone
    assert [part["functionResponse"] for part in contents[2]["parts"]] == [
        {"name": "now", "response": {"result": 1}},
        {"name": "now", "response": {"result": 2}},
    ]


def test_gemini_without_sse_sends_a_list() -> None:
    answer = GeminiAnswer()
    chunks = [candidate({"text": "a"}), candidate({"text": "b"}, reason="STOP")]
    assert answer.take_whole(json.dumps(chunks).encode()) == "ab"
    assert answer.finished().reason == "stop"


def test_a_call_that_nobody_can_read_is_asked_for_again() -> None:
    with pytest.raises(ProviderDown):
        take(GeminiAnswer(), candidate(reason="MALFORMED_FUNCTION_CALL"))


def test_thoughts_of_gemini_are_counted_and_not_said() -> None:
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 30}
    said = candidate({"text": "hm", "thought": True}, {"text": "a"}, reason="STOP", usageMetadata=usage)
    assert take(GeminiAnswer(), said) == ("a", Finished("stop", Usage(5, 32)))


def test_parallel_calls_that_all_have_the_index_0() -> None:
    def piece(arguments: str, **fields: Any) -> dict[str, Any]:
        call = fields | {"index": 0, "function": {"arguments": arguments} | ({"name": "f"} if fields else {})}
        return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}

    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    answer = OpenAIAnswer()
    for chunk in (piece('{"a"', id="1"), piece(": 1}"), piece('{"b"', id="2"), piece(": 2}"), end):
        answer.take(ServerEvent(json.dumps(chunk)))
    answer.take(ServerEvent("[DONE]"))
    assert [(call.id, call.arguments) for call in answer.finished().tool_calls] == [
        ("1", '{"a": 1}'),
        ("2", '{"b": 2}'),
    ]


def test_a_signature_on_the_openai_path_goes_back() -> None:
    signed = {"google": {"thought_signature": SIGNATURE}}
    call = {"index": 0, "id": "1", "function": {"name": "f", "arguments": "{}"}, "extra_content": signed}
    answer = OpenAIAnswer()
    answer.take(ServerEvent(json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})))
    answer.take(ServerEvent(json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})))
    answer.take(ServerEvent("[DONE]"))
    said = [Message("user", "x"), Message("assistant", "", answer.finished().tool_calls)]
    assert body_of("openai", ChatRequest(said))["messages"][1]["tool_calls"][0]["extra_content"] == signed


async def test_gemini_says_in_the_body_how_long_to_wait(chats: dict[Dialect, WireChat]) -> None:
    """F1."""
    for model, seconds in (("fault:429", 0.005), ("fault:429,retry-after=7", 7.0)):  # a header goes first
        with pytest.raises(ProviderBusy) as caught:
            await hear(chats["gemini"], ChatRequest(HI, model=model))
        assert caught.value.retry_after_seconds == seconds
