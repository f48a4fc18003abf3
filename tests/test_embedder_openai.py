"""Embeddings from a server that speaks OpenAI's format over a socket, well and badly."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest

from app.core import clock
from app.core.errors import ConfigurationError
from app.providers.embedding import MAX_DIMENSION, build, openai_embeddings
from app.providers.embedding.openai_embeddings import OpenAIEmbeddings, split
from app.providers.embedding.openai_vectors import parse
from app.providers.ports import (
    DimensionMismatch,
    ProviderBusy,
    ProviderDown,
    ProviderGarbled,
    ProviderRefused,
    ProviderTimeout,
)
from app.providers.settings import EmbedderSettings

KEY = "sk-very-secret-1234"
DIMENSION = 4
Body = Mapping[str, Any]
Reply = tuple[int, Mapping[str, str], bytes] | None


def vector(text: str) -> list[float]:
    """What the server knows of a text: not of unit norm, different for different lengths."""
    return [1.0, float(len(text)), float(ord(text[-1]) % 7), 0.5]


def good(body: Body) -> Reply:
    data = [{"object": "embedding", "index": at, "embedding": vector(t)} for at, t in enumerate(body["input"])]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    reply = {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}
    return 200, {"content-type": "application/json"}, json.dumps(reply).encode()


def status(code: int, **headers: str) -> Callable[[Body], Reply]:
    error = {"error": {"message": f"bad key {KEY} at host", "type": "some_error", "code": None}}
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _body: (code, {"content-type": "application/json", **sent}, json.dumps(error).encode())


def content(value: Any, media_type: str = "application/json") -> Callable[[Body], Reply]:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return lambda _body: (200, {"content-type": media_type}, raw)


class Server:
    """Answers with the scripted replies, then well. None as a reply closes the connection; a reply that is
    shorter than its content-length is cut.
    """

    def __init__(self) -> None:
        self.script: list[Callable[[Body], Reply]] = []
        self.bodies: list[Body] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: list[str] = []
        self.held: asyncio.Event | None = None
        self.at_work = self.most_at_work = 0

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
                body = json.loads(await reader.readexactly(int(headers["content-length"])))
                self.paths.append(head[0])
                self.headers.append({**headers, "authorization": next((x for x in head if "Bearer" in x), "")})
                self.bodies.append(body)
                self.at_work += 1
                self.most_at_work = max(self.at_work, self.most_at_work)
                if self.held is not None:
                    await self.held.wait()
                self.at_work -= 1
                reply = (self.script.pop(0) if self.script else good)(body)
                if reply is None:
                    return
                code, sent, raw = reply
                lines = [f"HTTP/1.1 {code} X", *(f"{name}: {value}" for name, value in sent.items())]
                if "content-length" not in sent:
                    lines.append(f"content-length: {len(raw)}")
                writer.write("\r\n".join([*lines, "", ""]).encode() + raw)
                await writer.drain()
                if int(sent.get("content-length", len(raw))) != len(raw):
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def settings(server: Server, **changes: Any) -> EmbedderSettings:
    values: dict[str, Any] = {
        "embedder": "openai",
        "embedder_model": "text-embedding-x",
        "embedder_base_url": server.url,
        "embedder_api_key": KEY,
        "embedder_dimension": DIMENSION,
        "embedder_retries": 2,
        "embedder_passage_deadline_seconds": 20,
    }
    return EmbedderSettings(**values | changes)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as server:
        yield server


@pytest.fixture
async def connect(server: Server, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[..., Any]]:
    """Makes an open embedder; back-off is short, what the server asks for is kept."""
    monkeypatch.setattr(openai_embeddings, "_FIRST_BACKOFF_SECONDS", 0.001)
    monkeypatch.setattr(openai_embeddings, "_MIN_WAIT_SECONDS", 0.001)
    opened: list[OpenAIEmbeddings] = []

    async def _connect(**changes: Any) -> OpenAIEmbeddings:
        opened.append(OpenAIEmbeddings(settings(server, **changes)))
        await opened[-1].open()
        return opened[-1]

    yield _connect
    for embedder in opened:
        await embedder.close()


def unit(text: str) -> np.ndarray:
    return np.array(vector(text)) / np.linalg.norm(vector(text))


async def test_request_and_reply(server: Server, connect: Callable[..., Any]):
    """The server answers in reverse order; `index` puts it right."""
    embedder = await connect(embedder_passage_prefix="doc: ")
    texts = ["a", "bcd", "中文笔记", "e" * 50]
    result = await embedder.passages(texts)
    assert np.allclose(result.dense, [unit(f"doc: {text}") for text in texts], atol=1e-6)
    assert result.dense.dtype == np.float32
    assert np.allclose(np.linalg.norm(result.dense, axis=1), 1, atol=1e-6)
    assert result.truncated == frozenset()
    assert server.paths == ["POST /v1/embeddings HTTP/1.1"]
    assert server.bodies == [
        {"model": "text-embedding-x", "input": [f"doc: {t}" for t in texts], "encoding_format": "float"}
    ]
    assert server.headers[0]["authorization"].endswith(f"Bearer {KEY}")
    assert (await embedder.queries(["a"])).dense[0] == pytest.approx(unit("a"), abs=1e-6)
    assert (await embedder.queries([])).dense.shape == (0, DIMENSION)
    assert embedder.space.key == "openai/text-embedding-x/4"


async def test_dimension_is_asked_for_when_wanted(server: Server, connect: Callable[..., Any]):
    """F10: each setting has its effect."""
    embedder = await connect(embedder_send_dimension=True, embedder_api_key=None, embedder_query_prefix="q: ")
    await embedder.queries(["a"])
    assert server.bodies[0]["dimensions"] == DIMENSION
    assert server.bodies[0]["input"] == ["q: a"]
    assert server.headers[0]["authorization"] == ""


async def test_opening_makes_no_call(server: Server, connect: Callable[..., Any]):
    embedder = await connect()
    assert embedder.space.dimension == DIMENSION
    assert server.paths == []


async def test_batches_are_capped_by_tokens_and_count(server: Server, connect: Callable[..., Any]):
    """F5."""
    embedder = await connect(embedder_batch_tokens=30, embedder_batch_count=3, embedder_threads=1)
    texts = ["word " * n for n in (1, 2, 3, 4, 20, 5, 9, 40, 1, 1)]
    result = await embedder.passages(texts)
    assert np.allclose(result.dense, [unit(text) for text in texts], atol=1e-6)
    sizes = [[embedder.count_tokens(text) for text in body["input"]] for body in server.bodies]
    assert [text for body in server.bodies for text in body["input"]] == texts
    assert all(len(batch) <= 3 and (sum(batch) <= 30 or len(batch) == 1) for batch in sizes)
    assert len(sizes) == 5


def test_split():
    assert split([], 10, 2) == []
    assert split([5, 5, 5], 10, 9) == [range(2), range(2, 3)]
    assert split([50, 1, 50], 10, 9) == [range(1), range(1, 2), range(2, 3)]
    assert split([1] * 5, 10, 2) == [range(2), range(2, 4), range(4, 5)]


async def test_too_long_texts_are_cut_and_reported(server: Server, connect: Callable[..., Any]):
    """J8, A10: the marker of end-of-text counts as plain text."""
    embedder = await connect(embedder_max_tokens=16)
    assert embedder.max_tokens == 16
    assert embedder.count_tokens("<|endoftext|>") > 3
    longest = "word " * 15 + "end"
    assert embedder.count_tokens(longest) == 16
    result = await embedder.passages([longest, longest + " more", "🧠" * 40])
    assert result.truncated == {1, 2}
    sent = server.bodies[0]["input"]
    assert sent[:2] == [longest, longest]
    assert set(sent[2]) == {"🧠"}
    assert embedder.count_tokens(sent[2]) <= 16


async def test_unstorable_characters_are_not_sent(server: Server, connect: Callable[..., Any]):
    embedder = await connect()
    await embedder.passages(["a\x00b", "lone \ud83d"])
    assert server.bodies[0]["input"] == ["ab", "lone "]


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503, 529])
async def test_passing_troubles_are_retried(code: int, server: Server, connect: Callable[..., Any]):
    """F8."""
    server.script = [status(code), status(code)]
    embedder = await connect()
    assert (await embedder.passages(["a"])).dense.shape == (1, DIMENSION)
    assert len(server.bodies) == 3


async def test_broken_connections_are_retried(server: Server, connect: Callable[..., Any]):
    cut = json.dumps({"data": []}).encode()
    server.script = [lambda _: None, lambda _: (200, {"content-length": "500"}, cut)]
    embedder = await connect()
    assert (await embedder.passages(["a"])).dense.shape == (1, DIMENSION)
    assert len(server.bodies) == 3


async def test_failures_end_after_the_retries(server: Server, connect: Callable[..., Any]):
    server.script = [status(500)] * 9
    embedder = await connect(embedder_retries=2)
    with pytest.raises(ProviderDown) as caught:
        await embedder.passages(["a"])
    assert caught.value.retryable
    assert len(server.bodies) == 3


async def test_waiting_as_told_is_no_failure(server: Server, connect: Callable[..., Any]):
    """F4, F1: more 429 than retries, one of them a date; the batch stays whole."""
    soon = format_datetime(clock.now(), usegmt=True)
    server.script = [status(429, retry_after_ms="5")] * 5 + [status(429, retry_after=soon), status(500)]
    embedder = await connect(embedder_retries=1)
    assert (await embedder.passages(["a", "b"])).dense.shape == (2, DIMENSION)
    assert [len(body["input"]) for body in server.bodies] == [2] * 8


async def test_retry_after_is_kept(server: Server, connect: Callable[..., Any]):
    server.script = [status(429, retry_after="0.3")]
    embedder = await connect()
    started = time.monotonic()
    await embedder.queries(["a"])
    assert time.monotonic() - started >= 0.3


async def test_no_waiting_beyond_the_deadline(server: Server, connect: Callable[..., Any]):
    """E16: whoever must wait long gets told, and holds nothing."""
    server.script = [status(429, retry_after="3600")]
    embedder = await connect(embedder_query_deadline_seconds=5)
    started = time.monotonic()
    with pytest.raises(ProviderBusy) as caught:
        await embedder.queries(["a"])
    assert caught.value.retry_after_seconds == 3600
    assert time.monotonic() - started < 4


async def test_waiting_holds_no_slot(server: Server, connect: Callable[..., Any]):
    """E16: with one slot, a batch that waits lets the next one through."""
    server.script = [status(429, retry_after="0.5")]
    embedder = await connect(embedder_threads=1, embedder_batch_count=1)
    await embedder.passages(["first", "second"])
    assert [body["input"] for body in server.bodies] == [["first"], ["second"], ["first"]]


async def test_requests_at_once_are_bounded(server: Server, connect: Callable[..., Any]):
    server.held = asyncio.Event()
    embedder = await connect(embedder_threads=3, embedder_batch_count=1)
    passages = asyncio.create_task(embedder.passages([f"text {n}" for n in range(12)]))
    async with asyncio.timeout(10):
        while server.at_work < 3:  # noqa: ASYNC110 - the server's own task changes it
            await asyncio.sleep(0.001)
    question = asyncio.create_task(embedder.queries(["does not stand behind passages"]))
    async with asyncio.timeout(10):
        while server.at_work < 4:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    server.held.set()
    await passages
    await question
    assert server.most_at_work == 4


@pytest.mark.parametrize("code", [301, 400, 401, 403, 404, 413, 422])
async def test_refusals_are_final(code: int, server: Server, connect: Callable[..., Any]):
    server.script = [status(code, location="http://127.0.0.1:9/steal")]
    embedder = await connect()
    with pytest.raises(ProviderRefused) as caught:
        await embedder.passages(["a"])
    assert len(server.bodies) == 1
    assert KEY not in str(caught.value)
    assert "host" not in str(caught.value)


async def test_one_refused_batch_stops_the_others(server: Server, connect: Callable[..., Any]):
    server.script = [good, status(400)]
    embedder = await connect(embedder_threads=1, embedder_batch_count=1)
    with pytest.raises(ProviderRefused):
        await embedder.passages(["a"] * 50)
    assert len(server.bodies) == 2


async def test_unreachable_and_silent_servers(server: Server, connect: Callable[..., Any]):
    nowhere = await connect(embedder_base_url="http://127.0.0.1:9/v1", embedder_retries=1)
    with pytest.raises(ProviderDown):
        await nowhere.queries(["a"])
    server.held = asyncio.Event()
    slow = await connect(embedder_read_seconds=0.05, embedder_retries=1)
    with pytest.raises(ProviderTimeout):
        await slow.queries(["a"])
    assert len(server.bodies) == 2
    hurried = await connect(embedder_query_deadline_seconds=0.05)
    with pytest.raises(ProviderTimeout):
        await hurried.queries(["a"])
    server.held.set()


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"data": [{"index": 0, "embedding": [1, 2, 3, 4]}]}, ProviderGarbled),
        ({"data": []}, ProviderGarbled),
        ({"data": [{"index": i, "embedding": [1, 2, 3, 4]} for i in range(3)]}, ProviderGarbled),
        ({"data": [{"index": 0, "embedding": [1, 2, 3, 4]}, {"index": 1, "embedding": None}]}, ProviderGarbled),
        ({"data": [{"index": 0, "embedding": [1, 2, 3, 4]}, {"index": 1}]}, ProviderGarbled),
        ({"data": [{"index": 0, "embedding": [1, 2, 3, 4]}] * 2}, ProviderGarbled),
        ({"data": [{"index": i, "embedding": [1, 2, 3, 4]} for i in (0, 2)]}, ProviderGarbled),
        ({"data": [{"index": i, "embedding": [1, 2, 3, 4]} for i in (-1, 0)]}, ProviderGarbled),
        ({"data": [{"index": i, "embedding": [0, 0, 0, 0]} for i in (0, 1)]}, ProviderGarbled),
        ({"data": [{"index": i, "embedding": [1, "2", 3, 4]} for i in (0, 1)]}, ProviderGarbled),
        ({"data": [{"index": i, "embedding": [1, float("nan"), 3, 4]} for i in (0, 1)]}, ProviderGarbled),
        ({"data": [{"index": i, "embedding": "AACAPwAAAEA="} for i in (0, 1)]}, ProviderGarbled),
        ({"data": [None, None]}, ProviderGarbled),
        ({"error": {"message": "no", "code": "overloaded"}}, ProviderGarbled),
        ([1, 2], ProviderGarbled),
        (b"not json", ProviderGarbled),
        (b"", ProviderGarbled),
        (b"[" * 100_000, ProviderGarbled),
        (b'{"data": [{"embedding": [1, 2, 3, 1' + b"0" * 400 + b"]}, {}]}", ProviderGarbled),
        ({"data": [{"index": i, "embedding": [1, 2, 3]} for i in (0, 1)]}, DimensionMismatch),
        ({"data": [{"index": i, "embedding": [1, 2, 3, 4, 5]} for i in (0, 1)]}, DimensionMismatch),
        ({"data": [{"index": i, "embedding": []} for i in (0, 1)]}, DimensionMismatch),
    ],
)
async def test_garbled_replies(reply: Any, error: type[Exception], server: Server, connect: Callable[..., Any]):
    """H1, H10, H11: no vector comes out of a reply that is not right in every point; nothing is retried."""
    server.script = [content(reply)]
    embedder = await connect()
    with pytest.raises(error) as caught:
        await embedder.passages(["a", "b"])
    assert type(caught.value) is error
    assert len(server.bodies) == 1


async def test_a_web_page_and_a_flood(server: Server, connect: Callable[..., Any]):
    server.script = [content(b"<html>", "text/html; charset=utf-8"), content(b" " * (2 << 20))]
    embedder = await connect()
    for _ in range(2):
        with pytest.raises(ProviderGarbled):
            await embedder.passages(["a"])
    assert len(server.bodies) == 2


def test_parse_without_index_and_with_extreme_numbers():
    reply = {"data": [{"embedding": [3.0, 4.0]}, {"embedding": [1e300, 0]}, {"embedding": [0, 1e-300]}]}
    assert parse(json.dumps(reply).encode(), 3, 2).tolist() == [pytest.approx([0.6, 0.8]), [1, 0], [0, 1]]


async def test_the_key_stays_out_of_sight(
    server: Server, connect: Callable[..., Any], capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    server.script = [status(401)]
    embedder = await connect()
    with pytest.raises(ProviderRefused) as caught:
        await embedder.queries(["a"])
    out = capfd.readouterr()
    shown = f"{out.out}{out.err}{caplog.text}{caught.value!r}{caught.value.extra}{settings(server)!r}{vars(embedder)}"
    assert KEY not in shown


@pytest.mark.parametrize(
    "changes",
    [
        {"embedder_base_url": None},
        {"embedder_base_url": "ftp://x"},
        {"embedder_base_url": "not a url"},
        {"embedder_model": None},
        {"embedder_dimension": None},
        {"embedder_dimension": MAX_DIMENSION + 1},
        {"embedder_api_key": "key\nwith: header"},
    ],
)
async def test_settings_that_do_not_fit(changes: Mapping[str, Any], server: Server, tmp_path: Any):
    """H5: a dimension that cannot be indexed is refused at the start."""
    with pytest.raises(ConfigurationError):
        build(settings(server, **changes), tmp_path)
