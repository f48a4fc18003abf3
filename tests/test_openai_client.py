"""The OpenAI wire format, spoken to by OpenAI's own client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from fastapi import FastAPI
from openai import AsyncOpenAI

from app.main import Server
from app.providers.fake import FakeProvider
from app.settings import Settings
from app.wiring import Services
from tests.api_client import create, ingest_all, make_key
from tests.chat_client import until, with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

CONTENT = "# Ferry\n\nThe ferry to Hiddensee leaves at nine in the morning.\n"
_PART = "messages.1.content.0.text"
HI: Any = [{"role": "user", "content": "Hi"}]


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    # With keys, as a client of OpenAI always sends one.
    return with_model(tmp_path, fake, auth="on")


@pytest.fixture
async def ai(app: FastAPI, server: Server, services: Services) -> AsyncIterator[AsyncOpenAI]:
    token, _ = await make_key(services, "chat")
    async with AsyncOpenAI(base_url=f"{app.state.url}/v1", api_key=token, max_retries=0, timeout=20) as client:
        yield client


@pytest.fixture
async def ferry(services: Services, app: FastAPI) -> dict[str, Any]:
    token, _ = await make_key(services, "write")
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1:8000", headers={"X-API-Key": token}
    ) as client:
        card = await create(client, title="Ferry", content=CONTENT)
    await ingest_all(services)
    return card


def error_of(caught: pytest.ExceptionInfo[openai.APIStatusError]) -> dict[str, Any]:
    """The whole error as it came, which must have OpenAI's members and no others."""
    body: dict[str, Any] = caught.value.response.json()
    assert caught.value.response.headers["content-type"] == "application/json"
    assert caught.value.response.headers["x-request-id"]
    assert body.keys() == {"error"}
    error: dict[str, Any] = body["error"]
    assert error.keys() == {"message", "type", "code", "param"}
    return error


async def test_models(ai: AsyncOpenAI) -> None:
    names = [model.id async for model in ai.models.list()]
    assert names == [
        "mindcone",
        "mindcone-chat",
        "mindcone-search",
        "mindcone-explore",
        "mindcone-context",
        "mindcone-insight",
    ]
    one = await ai.models.retrieve("mindcone-search")
    assert (one.id, one.object, one.owned_by) == ("mindcone-search", "model", "mindcone")
    with pytest.raises(openai.NotFoundError) as caught:
        await ai.models.retrieve("gpt-4")
    assert error_of(caught)["code"] == "model_not_found"


async def test_a_completion(ai: AsyncOpenAI, ferry: dict[str, Any], fake: FakeProvider) -> None:
    fake.answer = lambda body: "The ferry to Hiddensee leaves at nine in the morning. [1] Never [9]."
    done = await ai.chat.completions.create(
        model="mindcone-search",
        messages=[
            {"role": "system", "content": "Rhyme."},
            {"role": "user", "content": "Hi {x}"},
            {"role": "assistant", "content": "Hello."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "When does the ferry"},
                    {"type": "text", "text": "leave?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,xx"}},
                ],
            },
        ],
        temperature=0.3,
        max_tokens=50,
        user="me",
        extra_body={"unknown": {"field": 1}},
    )
    assert (done.object, done.model) == ("chat.completion", "mindcone-search")
    assert done.id.startswith("chatcmpl-")
    (choice,) = done.choices
    assert choice.message.role == "assistant"
    assert choice.message.content == "The ferry to Hiddensee leaves at nine in the morning. [1] Never."
    assert choice.finish_reason == "stop"
    assert done.usage is not None
    assert done.usage.total_tokens == done.usage.prompt_tokens + done.usage.completion_tokens > 0
    (citation,) = done.model_extra["citations"]  # type: ignore[index]
    assert citation["id"] == ferry["id"]
    assert CONTENT[citation["start"] : citation["end"]] == citation["quote"]

    body = fake.exchanges[-1].body
    assert (body["temperature"], body["max_tokens"]) == (0.3, 50)
    said = [message["content"] for message in body["messages"]]
    assert said[0].endswith("\n\nRhyme.")
    assert said[1:3] == ["Hi {x}", "Hello."]
    assert said[3].startswith('<source id="1" title="Ferry">')
    assert said[3].endswith("Question: When does the ferry\nleave?")


async def test_the_name_picks_the_level(ai: AsyncOpenAI, ferry: dict[str, Any], fake: FakeProvider) -> None:
    for model, is_grounded in (("mindcone", True), ("mindcone-chat", False), ("mindcone-insight", True)):
        await ai.chat.completions.create(model=model, messages=[{"role": "user", "content": "Which ferry?"}])
        assert ("<source" in fake.exchanges[-1].body["messages"][-1]["content"]) is is_grounded


async def test_a_stream(ai: AsyncOpenAI, ferry: dict[str, Any], fake: FakeProvider) -> None:
    fake.answer = lambda body: "The ferry to Hiddensee leaves at nine in the morning. [1] Never [9]. 再见\u2028。"
    stream = await ai.chat.completions.create(
        model="mindcone-search",
        messages=[{"role": "user", "content": "When does the ferry leave?"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [chunk async for chunk in stream]
    assert len({chunk.id for chunk in chunks}) == 1
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    deltas = [chunk.choices[0].delta for chunk in chunks[:-1]]
    assert deltas[0].role == "assistant"
    text = "".join(delta.content or "" for delta in deltas)
    assert text == "The ferry to Hiddensee leaves at nine in the morning. [1] Never. 再见\u2028。"
    reasons = [chunk.choices[0].finish_reason for chunk in chunks[:-1]]
    assert reasons == [None] * (len(reasons) - 1) + ["stop"]
    assert chunks[-2].model_extra["citations"][0]["id"] == ferry["id"]  # type: ignore[index]
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens > 0
    assert all(chunk.usage is None for chunk in chunks[:-1])


async def test_a_stream_without_usage(ai: AsyncOpenAI) -> None:
    stream = await ai.chat.completions.create(model="mindcone-chat", messages=HI, stream=True)
    chunks = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "You said: Hi"
    assert all(chunk.choices and chunk.usage is None for chunk in chunks)


class TestEnds:
    @pytest.mark.parametrize(
        ("fault", "reason"),
        [
            ("fault:length", "length"),
            ("fault:cut,after=3", "length"),
            ("fault:content-filter", "content_filter"),
            ("fault:tool", "length"),
        ],
    )
    async def test_only_a_real_end_is_a_stop(
        self, ai: AsyncOpenAI, services: Services, fault: str, reason: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.use(services, fault, monkeypatch)
        done = await ai.chat.completions.create(model="mindcone-chat", messages=HI)
        assert done.choices[0].finish_reason == reason
        stream = await ai.chat.completions.create(model="mindcone-chat", messages=HI, stream=True)
        assert [chunk.choices[0].finish_reason async for chunk in stream][-1] == reason

    async def test_an_error_before_the_first_word_has_its_status(
        self, ai: AsyncOpenAI, services: Services, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.use(services, "fault:429,retry-after=60", monkeypatch)
        for stream in (False, True):
            with pytest.raises(openai.InternalServerError) as caught:
                await ai.chat.completions.create(model="mindcone-chat", messages=HI, stream=stream)
            assert caught.value.status_code == 503
            assert caught.value.response.headers["retry-after"] == "60"
            error = error_of(caught)
            assert (error["type"], error["code"]) == ("server_error", "provider_busy")
            assert "secret" not in error["message"]

    async def test_an_error_after_it_is_an_event(
        self, ai: AsyncOpenAI, services: Services, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """K8."""
        self.use(services, "fault:error,after=3", monkeypatch)
        stream = await ai.chat.completions.create(model="mindcone-chat", messages=HI, stream=True)
        said: list[str | None] = []

        async def listen() -> None:
            async for chunk in stream:
                said.append(chunk.choices[0].delta.content)

        with pytest.raises(openai.APIError, match="provider") as caught:
            await listen()
        assert said == ["", "You", " said:"]
        assert isinstance(caught.value.body, dict)
        assert caught.value.body["type"] == "server_error"

    def use(self, services: Services, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The model that answers, which clients of this interface cannot choose."""
        provider = services.providers.get_provider()
        monkeypatch.setattr(type(provider), "default_model", model)


async def test_what_is_asked_wrongly(ai: AsyncOpenAI, fake: FakeProvider) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        await ai.chat.completions.create(model="gpt-4", messages=HI)
    assert error_of(missing) == {
        "message": "There is no such model; see /v1/models.",
        "type": "invalid_request_error",
        "code": "model_not_found",
        "param": None,
    }
    odd: Any
    for odd, code, param in (
        ([], "validation_error", "messages"),
        ([{"role": "king", "content": "Hi"}], "validation_error", "messages.0.role"),
        ([{"role": "user", "content": "a\x00b"}], "validation_error", "messages.0.content"),
        ([{"role": "user", "content": 5}], "validation_error", "messages.0.content"),
        ([*HI, {"role": "user", "content": [{"type": "text", "text": 5}]}], "validation_error", _PART),
        ([{"role": "user", "content": [{"text": "x"}]}], "validation_error", "messages.0.content.0.type"),
        ([{"role": "system", "content": "Hi"}], "no_question", None),
        ([*HI, {"role": "assistant", "content": "Hi"}], "no_question", None),
        ([{"role": "user", "content": " "}], "no_question", None),
        ([{"role": "user", "content": "字" * 11_000}], "query_too_large", None),
        ([{"role": "user", "content": []}], "no_question", None),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}], "no_question", None),
    ):
        with pytest.raises(openai.UnprocessableEntityError) as caught:
            await ai.chat.completions.create(model="mindcone", messages=odd)
        error = error_of(caught)
        assert (error["type"], error["code"]) == ("invalid_request_error", code)
        assert error["param"] == param
    assert fake.asked() == 0


@pytest.mark.parametrize(
    ("fields", "param", "words"),
    [
        ({"n": 2}, "n", "n must be 1"),
        ({"n": 0}, "n", "n must be 1"),
        ({"n": 2, "stream": True}, "n", "n must be 1"),
        ({"tool_choice": "required"}, "tool_choice", "no tool can be demanded"),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, "tool_choice", "no tool can be demanded"),
        ({"temperature": 3}, "temperature", "less than or equal to 2"),
        ({"max_tokens": 0}, "max_tokens", "greater than or equal to 1"),
    ],
)
async def test_what_cannot_be_given_is_refused_by_its_name(
    ai: AsyncOpenAI, fake: FakeProvider, fields: dict[str, Any], param: str, words: str
) -> None:
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        await ai.chat.completions.create(model="mindcone", messages=HI, **fields)
    error = error_of(caught)
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert words in error["message"]
    assert fake.asked() == 0


async def test_what_clients_send_besides(ai: AsyncOpenAI, fake: FakeProvider) -> None:
    """Tools on offer, a tool's results in the history, parts without text, nulls: answered all the same."""
    tools: Any = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages: Any = [
        {"role": "developer", "content": [{"type": "text", "text": "Rhyme."}]},
        {"role": "user", "content": "Before", "name": "me"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "42", "tool_call_id": "c1"},
        {"role": "assistant", "content": [{"type": "text", "text": "It is 42."}], "refusal": None},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "Hi"}]},
    ]
    done = await ai.chat.completions.create(
        model="mindcone-chat",
        messages=messages,
        tools=tools,
        tool_choice="auto",
        n=1,
        stop=None,
        max_tokens=None,
        temperature=None,
        stream_options=None,
        seed=7,
        metadata={"a": "b"},
    )
    assert done.choices[0].message.content == "You said: Hi"
    assert done.choices[0].message.tool_calls is None
    sent = [(message["role"], message["content"]) for message in fake.exchanges[-1].body["messages"]]
    assert sent[0][1].endswith("\n\nRhyme.")
    assert sent[1:] == [("user", "Before"), ("assistant", "It is 42."), ("user", "Hi")]
    assert "tools" not in fake.exchanges[-1].body


@pytest.mark.parametrize("wanted", [True, False, None])
async def test_usage_comes_last_and_only_when_wanted(ai: AsyncOpenAI, wanted: bool | None) -> None:
    options: Any = None if wanted is None else {"include_usage": wanted}
    stream = await ai.chat.completions.create(
        model="mindcone-chat", messages=HI, stream=True, stream_options=options, n=1
    )
    chunks = [chunk async for chunk in stream]
    counted = [position for position, chunk in enumerate(chunks) if chunk.usage is not None]
    assert counted == ([len(chunks) - 1] if wanted else [])
    assert [len(chunk.choices) for chunk in chunks].count(0) == len(counted)


async def test_the_helper_that_puts_a_stream_together(ai: AsyncOpenAI) -> None:
    async with ai.chat.completions.stream(model="mindcone-chat", messages=HI) as stream:
        done = await stream.get_final_completion()
    assert (done.choices[0].message.content, done.choices[0].finish_reason) == ("You said: Hi", "stop")


async def test_what_does_not_exist(ai: AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        await ai.embeddings.create(model="mindcone", input="x")
    assert error_of(caught)["code"] == "not_found"


async def test_who_may_ask(ai: AsyncOpenAI, services: Services) -> None:
    for wrong in ("mc_wrong_key", "sk-something", "x"):
        with pytest.raises(openai.AuthenticationError) as refused:
            await ai.with_options(api_key=wrong).chat.completions.create(model="mindcone", messages=HI)
        error = error_of(refused)
        assert (error["type"], error["code"]) == ("invalid_request_error", "invalid_api_key")
    for scope in ("read", "write"):
        other, _ = await make_key(services, scope)
        with pytest.raises(openai.PermissionDeniedError) as denied:
            await ai.with_options(api_key=other).chat.completions.create(model="mindcone", messages=HI)
        assert error_of(denied)["code"] == "missing_scope"
        # What there is to choose from is for everybody who has a key.
        assert (await ai.with_options(api_key=other).models.list()).data
        assert (await ai.with_options(api_key=other).models.retrieve("mindcone")).id == "mindcone"


async def test_a_body_that_is_too_large(ai: AsyncOpenAI) -> None:
    with pytest.raises(openai.APIStatusError) as caught:
        await ai.chat.completions.create(model="mindcone", messages=[{"role": "user", "content": "x" * (9 << 20)}])
    assert caught.value.status_code == 413
    assert error_of(caught)["code"] == "too_large"


async def test_a_long_conversation_is_cut_to_fit(ai: AsyncOpenAI, fake: FakeProvider) -> None:
    """J1: the window of the fake model is 8192 tokens."""
    turns: Any = [
        {"role": role, "content": f"{n} " + "word " * 300} for n in range(40) for role in ("user", "assistant")
    ]
    done = await ai.chat.completions.create(model="mindcone", messages=[*turns, *HI])
    assert done.choices[0].message.content == "You said: Hi"
    sent = fake.exchanges[-1].body["messages"]
    assert 2 < len(sent) < len(turns)
    assert sent[-2]["content"] == turns[-1]["content"]


async def test_a_client_that_goes_away_ends_the_models_work(
    ai: AsyncOpenAI, services: Services, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K4."""
    TestEnds().use(services, "fault:stall,after=3", monkeypatch)
    stream = await ai.chat.completions.create(model="mindcone-chat", messages=HI, stream=True)
    async for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    await stream.close()
    TestEnds().use(services, "fault:slow", monkeypatch)
    waiting = asyncio.create_task(ai.chat.completions.create(model="mindcone-chat", messages=HI, stream=True))
    await fake.wait_for_request(2)
    waiting.cancel()

    async def are_gone() -> bool:
        return [exchange.outcome for exchange in fake.exchanges] == ["client_gone"] * 2

    await until(are_gone)
