"""The fake provider speaks the real dialect: OpenAI's own client understands it, and raw bytes are as promised."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator

import httpx
import openai
import pytest
from typer.testing import CliRunner

from app.cli import app
from app.providers.fake import FakeProvider
from app.providers.fake_script import FAULTS, Fault


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    async with FakeProvider(api_key="sk-right") as server:
        yield server


@pytest.fixture
async def client(fake: FakeProvider) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=fake.base_url, api_key="sk-right", max_retries=0) as client:
        yield client


HI = [{"role": "user", "content": "你好"}]


async def test_whole_answers(client: openai.AsyncOpenAI):
    answer = await client.chat.completions.create(model="fake", messages=HI)
    assert answer.choices[0].message.content == "You said: 你好"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens == 4


@pytest.mark.parametrize("model", ["fake", "fault:crlf", "fault:split", "fault:comments", "fault:no-space"])
async def test_streams(client: openai.AsyncOpenAI, model: str):
    said, reasons, usages = "", [], []
    stream = await client.chat.completions.create(
        model=model, messages=HI, stream=True, stream_options={"include_usage": True}
    )
    async for chunk in stream:
        for choice in chunk.choices or ():
            said += choice.delta.content or ""
            reasons.append(choice.finish_reason)
        usages.append(getattr(chunk, "usage", None))
    assert said == "You said: 你好"
    assert reasons[-1] == "stop"
    assert [usage.total_tokens for usage in usages if usage] == [4]


async def test_tool_calls(client: openai.AsyncOpenAI):
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    async with client.chat.completions.stream(model="fault:tool", messages=HI, tools=tools) as stream:
        answer = await stream.get_final_completion()
    call = answer.choices[0].message.tool_calls[0]
    assert (call.function.name, json.loads(call.function.arguments)) == ("weather", {"query": "天气"})
    assert answer.choices[0].finish_reason == "tool_calls"


async def test_errors(client: openai.AsyncOpenAI, fake: FakeProvider):
    with pytest.raises(openai.RateLimitError) as caught:
        await client.chat.completions.create(model="fault:429,retry-after=3", messages=HI)
    assert caught.value.response.headers["retry-after"] == "3"
    with pytest.raises(openai.NotFoundError):
        await client.chat.completions.create(model="fault:no-such-fault", messages=HI)
    with pytest.raises(openai.AuthenticationError):
        await client.with_options(api_key="sk-wrong").chat.completions.create(model="fake", messages=HI)


async def test_faults_by_header_and_by_query_and_for_a_number_of_times(client: openai.AsyncOpenAI, fake: FakeProvider):
    for extra in ({"extra_headers": {"x-fault": "500,times=1"}}, {"extra_query": {"fault": "502,times=1"}}):
        with pytest.raises(openai.InternalServerError):
            await client.chat.completions.create(model="fake", messages=HI, **extra)
        assert (await client.chat.completions.create(model="fake", messages=HI, **extra)).choices
    assert fake.asked("fake") == fake.asked() == 4
    assert [exchange.outcome for exchange in fake.exchanges] == ["sent"] * 4


async def test_it_lists_its_models_and_what_it_was_asked(client: openai.AsyncOpenAI, fake: FakeProvider):
    names = [model.id async for model in client.models.list()]
    assert names == ["fake", *(f"fault:{fault}" for fault in FAULTS)]
    await client.chat.completions.create(model="fake", messages=HI)
    seen = await client.get("/requests", cast_to=object)
    assert [(one["path"], one["model"], one["outcome"]) for one in seen][1] == ("/v1/chat/completions", "fake", "sent")


async def raw(fake: FakeProvider, fault: str) -> bytes:
    """Everything that comes over the wire."""
    body = json.dumps({"model": f"fault:{fault}", "messages": HI, "stream": True}).encode()
    host, port = fake.base_url.removeprefix("http://").removesuffix("/v1").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nauthorization: Bearer sk-right\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    received = bytearray()
    async with asyncio.timeout(5):
        while not received.endswith(b"0\r\n\r\n"):
            piece = await reader.read(1 << 16)
            if not piece:
                break
            received += piece
    writer.close()
    return bytes(received)


@pytest.mark.parametrize(
    ("fault", "there", "not_there"),
    [
        ("no-done", b'"finish_reason": "stop"', b"[DONE]"),
        ("no-reason", b"[DONE]", b'"finish_reason": "stop"'),
        ("no-end", b"said:", b"[DONE]"),
        ("no-space", b"data:{", b"data: {"),
        ("crlf", b"}\r\n\r\n", b"}\n\n"),
        ("cr", b"}\r\r", b"}\n"),
        ("bad-utf8", b"\xff\xfe\xe4\xbd", b"\x00"),
        ("nul", b"\\u0000", b"\x00"),
        ("comments", b"event: ping", b"\x00"),
        ("multi-line", b'\ndata:  "object"', b"\x00"),
        ("cut", b'"half', b"0\r\n\r\n"),
        ("not-json", b"data: {oops", b"\x00"),
    ],
)
async def test_the_bytes_are_as_promised(fake: FakeProvider, fault: str, there: bytes, not_there: bytes):
    received = await raw(fake, fault)
    assert there in received
    assert not_there not in received


async def test_a_long_line_is_long(fake: FakeProvider):
    received = await raw(fake, "long-line")
    assert max(map(len, received.split(b"\n\n"))) > 10 << 20


async def test_leaving_ends_what_is_still_open(fake: FakeProvider):
    async with FakeProvider() as other:
        reader, writer = await asyncio.open_connection(*other.base_url.removeprefix("http://")[:-3].split(":"))
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 24\r\n\r\n" + b'{"model": "fault:slow" }')
        await other.wait_for_request()
    async with asyncio.timeout(2):
        assert await reader.read() == b""
    writer.close()


@pytest.mark.parametrize("text", ["", "nonsense", "200", "429x", "600", "stall,after"])
def test_unknown_faults(text: str):
    with pytest.raises(ValueError):
        Fault.parse(text)


async def test_a_plan_of_faults_is_played_in_order():
    async with (
        FakeProvider(faults=["429,retry-after=0", "ok", "length"]) as planned,
        openai.AsyncOpenAI(base_url=planned.base_url, api_key="x", max_retries=0) as client,
    ):
        with pytest.raises(openai.RateLimitError):
            await client.chat.completions.create(model="fake", messages=HI)
        ends = [await client.chat.completions.create(model="fake", messages=HI) for _ in range(3)]
    assert [end.choices[0].finish_reason for end in ends] == ["stop", "length", "stop"]


def test_a_plan_with_an_unknown_fault_is_refused():
    with pytest.raises(ValueError, match="no such fault"):
        FakeProvider(faults=["nonsense"])


@pytest.mark.parametrize(
    ("path", "headers", "body", "problem"),
    [
        ("/v1/messages", {}, {"max_tokens": 1, "messages": HI}, "anthropic-version"),
        ("/v1/messages", {"anthropic-version": "x"}, {"messages": HI}, "max_tokens"),
        ("/v1beta/models/m:generateContent", {}, {}, "contents"),
        (
            "/v1/chat/completions",
            {},
            {"model": "m", "messages": [*HI, {"role": "tool", "content": "x", "tool_call_id": "1"}]},
            "tool message must follow",
        ),
    ],
)
async def test_it_refuses_what_the_real_ones_refuse(path: str, headers: dict[str, str], body: object, problem: str):
    async with FakeProvider() as server, httpx.AsyncClient(base_url=server.root_url, trust_env=False) as client:
        reply = await client.post(path, json=body, headers=headers)
    assert reply.status_code == 400
    assert problem in reply.json()["error"]["message"]


def test_help_and_list_name_every_fault():
    told = CliRunner().invoke(app, ["fake-provider", "--help"], env={"COLUMNS": "160"})
    listed = CliRunner().invoke(app, ["fake-provider", "--list"])
    assert told.exit_code == listed.exit_code == 0
    for fault in FAULTS.keys() - {"<status>"}:
        assert re.search(rf"(?<![\w-]){fault}(?![\w-])", told.output), fault
        assert re.search(rf"^{fault} ", listed.output, re.MULTILINE), fault
