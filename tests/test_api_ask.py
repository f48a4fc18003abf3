"""`POST /ask` over HTTP: whole and as a stream, and what happens when the one who asked goes away."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from app.db import session
from app.main import Server
from app.providers.fake import FakeProvider
from app.settings import Settings
from app.wiring import Services
from tests.api_client import API, assert_problem, create, ingest_all, make_key
from tests.chat_client import all_told, names, text_of, told, until, with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

FERRY = "# Ferry\n\nThe ferry to Hiddensee leaves at nine in the morning. It needs forty minutes.\n"
QUESTION = "When does the ferry to Hiddensee leave?"


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    return with_model(tmp_path, fake)


@pytest.fixture
async def ferry(client: httpx.AsyncClient, services: Services) -> dict[str, Any]:
    card = await create(client, title="Ferry", content=FERRY)
    await create(client, title="Tea", content="# Tea\n\nThe tea needs four minutes.")
    await ingest_all(services)
    return card


async def test_the_whole_answer(client: httpx.AsyncClient, ferry: dict[str, Any]) -> None:
    answer = await client.post(f"{API}/ask", json={"query": QUESTION, "provider": "offline"})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["answer"].startswith("From your notes")
    assert "leaves at nine in the morning. [1]" in body["answer"]
    first = body["citations"][0]
    assert first.keys() == {"marker", "kind", "id", "chunk_id", "quote", "start", "end"}
    assert (first["marker"], first["kind"], first["id"]) == ("1", "card", ferry["id"])
    assert (
        FERRY[first["start"] : first["end"]]
        == first["quote"]
        == "The ferry to Hiddensee leaves at nine in the morning."
    )
    assert (body["route"]["level"], body["route"]["gates"]) == ("explore", ["known_name"])
    assert body["hits"][0]["card"]["id"] == ferry["id"]
    assert (body["status"], body["stop_reason"], body["removed_citations"]) == ("complete", "stop", 0)
    assert (body["nothing_relevant"], body["degraded"]) == (False, [])
    assert (body["provider"], body["model"]) == ("offline", "extractive")
    assert body["usage"]["estimated"] is True
    assert body["ledger"]["total_tokens"] <= body["ledger"]["window_tokens"]
    assert body["ledger"]["buckets"]["retrieved_cards"]["packed"]
    assert body["timings_ms"]["total"] > 0


async def test_the_stream_is_the_same_answer(
    client: httpx.AsyncClient, ferry: dict[str, Any], fake: FakeProvider
) -> None:
    """The contract's events in their order."""
    fake.answer = lambda body: "The ferry to Hiddensee leaves at nine in the morning. [1] Or not [66]. 九点【1】。"
    whole = (await client.post(f"{API}/ask", json={"query": QUESTION})).json()
    events = await all_told(client, "POST", "/ask", json={"query": QUESTION, "stream": True})
    assert names(events) == ["started", "route", "hits", "token", "citation", "finished"]
    finished = events[-1].data
    assert text_of(events) == finished["answer"] == whole["answer"]
    assert finished["answer"].endswith("[1] Or not. 九点[1]。")
    assert [event.data for event in events if event.event == "citation"] == finished["citations"] == whole["citations"]
    assert finished["removed_citations"] == 1
    assert events[1].data == finished["route"] == whole["route"]
    assert events[2].data["hits"] == finished["hits"] == whole["hits"]
    assert finished.keys() == whole.keys()


async def test_nothing_to_find(client: httpx.AsyncClient) -> None:
    body = {"query": "Where is it?", "level": "search", "provider": "offline"}
    answer = (await client.post(f"{API}/ask", json=body)).json()
    assert answer["nothing_relevant"] is True
    assert answer["answer"].startswith("The notes at hand do not say.")
    events = await all_told(client, "POST", "/ask", json=body | {"stream": True})
    assert events[2].data == {"hits": [], "reports": [], "nothing_relevant": True, "degraded": []}


async def test_without_reports_level_search_answers(client: httpx.AsyncClient, ferry: dict[str, Any]) -> None:
    answer = (await client.post(f"{API}/ask", json={"query": QUESTION, "level": "insight"})).json()
    assert (answer["route"]["level"], answer["route"]["gates"]) == ("search", ["no_reports"])
    assert answer["hits"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"query": " \n"}, 422, "blank_query"),
        ({"query": "a\x00b"}, 422, "validation_error"),
        ({"query": "a", "limit": 0}, 422, "validation_error"),
        ({"query": "a", "limit": 101}, 422, "validation_error"),
        ({"query": "a", "limit": "5"}, 422, "validation_error"),
        ({"query": "a", "limit": True}, 422, "validation_error"),
        ({"query": "a", "level": 5}, 422, "validation_error"),
        ({"query": "a", "surprise": 1}, 422, "validation_error"),
        ({"query": "a", "provider": "nobody"}, 404, "provider_not_found"),
        ({"query": "字" * 11_000}, 422, "query_too_large"),
        ({"query": "a", "provider": "deepseek"}, 409, "provider_missing_key"),
        ({"query": "a", "model": "fault:401"}, 502, "provider_refused"),
        ({"query": "a", "model": "fault:429"}, 503, "provider_busy"),
        ({"query": "a", "model": "fault:html"}, 502, "provider_garbled"),
        ({"query": "a", "model": "fault:error,after=3"}, 502, None),
    ],
)
async def test_what_cannot_be_answered(
    client: httpx.AsyncClient, body: dict[str, Any], status: int, code: str | None
) -> None:
    answer = await client.post(f"{API}/ask", json=body)
    problem = assert_problem(answer, status, code or answer.json()["code"])
    assert "secret" not in answer.text
    if status == 503:
        assert int(answer.headers["retry-after"]) >= 1
    if status in (404, 422):
        return
    events = await all_told(client, "POST", "/ask", json=body | {"stream": True})
    assert [events[0].event, events[-1].event] == ["started", "failed"]
    assert (events[-1].data["code"], events[-1].data["status"]) == (problem["code"], status)


async def test_truncated_is_not_complete(client: httpx.AsyncClient) -> None:
    for model, reason in (("fault:cut,after=3", "truncated"), ("fault:length", "length")):
        answer = (await client.post(f"{API}/ask", json={"query": "Hi", "model": model})).json()
        assert (answer["status"], answer["stop_reason"]) == ("interrupted", reason)


class TestTinyWindow:
    @pytest.fixture
    def settings(self, tmp_path: Path, fake: FakeProvider) -> Settings:
        return with_model(tmp_path, fake, chat_context_tokens=512)

    async def test_a_question_that_does_not_fit(self, client: httpx.AsyncClient) -> None:
        body = {"query": "word " * 600}
        problem = assert_problem(await client.post(f"{API}/ask", json=body), 422, "question_too_long")
        assert problem["needed_tokens"] > problem["window_tokens"]
        events = await all_told(client, "POST", "/ask", json=body | {"stream": True})
        assert names(events) == ["started", "route", "hits", "failed"]
        assert events[-1].data["code"] == "question_too_long"


async def test_a_repeated_request_gets_the_first_answer(client: httpx.AsyncClient, fake: FakeProvider) -> None:
    """N14."""
    key = {"Idempotency-Key": "ask-1"}
    first = await client.post(f"{API}/ask", json={"query": "Hi"}, headers=key)
    again = await client.post(f"{API}/ask", json={"query": "Hi"}, headers=key)
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert fake.asked() == 1
    assert_problem(await client.post(f"{API}/ask", json={"query": "Ho"}, headers=key), 422, "idempotency_key_reused")
    # Streams are not kept, and do not keep the key either.
    for _ in range(2):
        events = await all_told(
            client, "POST", "/ask", json={"query": "Hi", "stream": True}, headers={"Idempotency-Key": "ask-2"}
        )
        assert events[-1].event == "finished"
    # Neither does a failure.
    for _ in range(2):
        failed = await client.post(
            f"{API}/ask", json={"query": "Hi", "model": "fault:500"}, headers={"Idempotency-Key": "ask-3"}
        )
        assert_problem(failed, 502, "provider_down")


async def test_it_takes_the_scope_chat(locked: Callable[..., httpx.AsyncClient], services: Services) -> None:
    token, _ = await make_key(services, "chat")
    async with locked(Authorization=f"Bearer {token}") as client:
        assert (await client.post(f"{API}/ask", json={"query": "Hi"})).status_code == 200
    token, _ = await make_key(services, "read", "write")
    async with locked(Authorization=f"Bearer {token}") as client:
        assert_problem(await client.post(f"{API}/ask", json={"query": "Hi"}), 403, "missing_scope")
    async with locked() as client:
        assert_problem(await client.post(f"{API}/ask", json={"query": "Hi"}), 401, "unauthorized")


# ---------------------------------------------------------------------------- clients that vanish


async def ended(fake: FakeProvider, count: int) -> list[str]:
    """What became of the model's replies, once all have their end."""
    async with asyncio.timeout(10):
        for number in range(1, count + 1):
            await (await fake.wait_for_request(number)).ended.wait()
    return [exchange.outcome for exchange in fake.exchanges]


async def backends(services: Services) -> Callable[[], Awaitable[bool]]:
    """Whether no connection of ours is at work or in a transaction, seen from the server and from the pool."""
    probe = await services.database.connect()

    async def idle() -> bool:
        busy = await probe.fetchval(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'"
        )
        return bool(busy == 0) and services.database.pool_status()["in_use"] == 0

    return idle


async def post(app: FastAPI, path: str, body: dict[str, Any]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = app.state.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
    await writer.drain()
    return reader, writer


async def test_fifty_clients_that_vanish_leave_nothing_behind(
    app: FastAPI, server: Server, services: Services, fake: FakeProvider, remote: httpx.AsyncClient
) -> None:
    """K4, E11: in the middle of their streams."""
    idle = await backends(services)
    body = {"query": "Hi", "model": "fault:drip,every=0.2", "stream": True}
    opened = await asyncio.gather(*(post(app, f"{API}/ask", body) for _ in range(50)))
    await fake.wait_for_request(50)
    for reader, _ in opened:
        await reader.readuntil(b"event: hits")
    for _, writer in opened:
        writer.transport.abort()
    gone = time.perf_counter()
    assert await ended(fake, 50) == ["client_gone"] * 50
    await until(idle)
    assert time.perf_counter() - gone < 2
    assert (await remote.post(f"{API}/ask", json={"query": "Hi"})).json()["answer"] == "You said: Hi"


async def test_clients_that_vanish_while_it_searches(
    app: FastAPI, server: Server, services: Services, ferry: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """E11: with a statement at work in the database."""
    idle = await backends(services)
    working = asyncio.Event()

    async def slow(*_: Any, **__: Any) -> None:
        async with services.database.read() as opened:
            working.set()
            await opened.execute(text("SELECT pg_sleep(30)"))

    monkeypatch.setattr(services.retriever, "retrieve", slow)
    for path, body in (
        ("/ask", {"query": "Hi", "stream": True}),
        ("/ask", {"query": "Hi"}),
        ("/search", {"query": "Hi"}),
    ):
        working.clear()
        clients = [await post(app, f"{API}{path}", body) for _ in range(8)]
        await working.wait()
        assert not await idle()
        for _, writer in clients:
            writer.transport.abort()
        await until(idle)


async def test_a_connection_that_nobody_waits_for_any_more_is_closed(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E11."""
    probe = await services.database.connect()
    pids: asyncio.Queue[int] = asyncio.Queue()

    async def never_ready(connection: Any) -> None:
        pids.put_nowait(connection.get_server_pid())
        await asyncio.sleep(60)

    monkeypatch.setattr(session, "register_vector", never_ready)
    connecting = asyncio.create_task(services.database.connect())
    pid = await pids.get()
    connecting.cancel()
    await asyncio.wait({connecting})
    assert connecting.cancelled()

    async def is_closed() -> bool:
        return not await probe.fetchval("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid)

    await until(is_closed)
    await probe.close()


async def test_a_client_that_does_not_wait_for_the_whole_answer(
    app: FastAPI, server: Server, fake: FakeProvider, remote: httpx.AsyncClient
) -> None:
    """K4, K5."""
    _, writer = await post(app, f"{API}/ask", {"query": "Hi", "model": "fault:slow"})
    await fake.wait_for_request()
    writer.transport.abort()
    assert await ended(fake, 1) == ["client_gone"]

    async def is_counted() -> bool:
        counted = (await remote.get("/metrics")).text
        return 'mindcone_http_requests_total{method="POST",route="ask",status="499"} 1.0' in counted

    await until(is_counted)
    counted = (await remote.get("/metrics")).text
    assert 'status="500"' not in counted
    assert "mindcone_answers_total{" not in counted


async def test_answers_are_counted(client: httpx.AsyncClient) -> None:
    await client.post(f"{API}/ask", json={"query": "Hi"})
    await all_told(client, "POST", "/ask", json={"query": "Hi", "model": "fault:length", "stream": True})
    conversation = (await client.post(f"{API}/conversations")).json()["id"]
    await client.post(f"{API}/conversations/{conversation}/turns", json={"content": "Hi"})
    await client.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": "Hi"}]})
    counted = (await client.get("/metrics")).text
    assert 'mindcone_answers_total{level="chat",stop_reason="stop"} 3.0' in counted
    assert 'mindcone_answers_total{level="chat",stop_reason="length"} 1.0' in counted
    assert 'mindcone_answer_seconds_count{level="chat",step="first_token"} 4.0' in counted
    assert 'mindcone_answer_tokens_total{direction="output"}' in counted


async def test_others_are_answered_while_a_model_thinks(
    server: Server, remote: httpx.AsyncClient, fake: FakeProvider
) -> None:
    """E17."""
    slow = [
        asyncio.create_task(remote.post(f"{API}/ask", json={"query": "Hi", "model": "fault:slow"})) for _ in range(8)
    ]
    await fake.wait_for_request(8)
    for _ in range(5):
        started = time.perf_counter()
        assert (await remote.get("/health/live")).status_code == 200
        assert time.perf_counter() - started < 0.2
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)


async def test_a_stopping_server_ends_the_stream(server: Server, remote: httpx.AsyncClient, fake: FakeProvider) -> None:
    body = {"query": "Hi", "model": "fault:stall", "stream": True}
    async with remote.stream("POST", f"{API}/ask", json=body) as response:
        await fake.wait_for_request()
        server.should_exit = True
        events = [event async for event in told(response)]
    assert events[-1].event == "failed"
    assert events[-1].data["code"] == "shutting_down"
    assert await ended(fake, 1) == ["client_gone"]
