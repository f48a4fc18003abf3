"""Too much at once: large bodies, busy pools, a database that is away, and what answers look like then."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from app.db.session import Database
from app.db.settings import DatabaseSettings
from app.main import create_app
from app.wiring import Services
from tests.api_client import API, assert_problem, create, execute, fetch, ingest_all, make_key

pytest_plugins = ("tests.api_client",)

MIB = 1024 * 1024


async def chunked(total: int) -> AsyncIterator[bytes]:
    yield b'{"content": "'
    for _ in range(total // 65536):
        yield b"x" * 65536
    yield b'"}'


async def test_a_body_that_announces_too_much_is_refused_unread(remote: httpx.AsyncClient) -> None:
    """L8."""
    answer = await remote.post(
        f"{API}/cards", content=b"x" * (8 * MIB + 1), headers={"content-type": "application/json"}
    )
    assert_problem(answer, 413, "too_large")


@pytest.mark.parametrize("path", ["/cards", "/cards/bulk", "/search", "/keys"])
async def test_a_chunked_body_has_the_same_limit(remote: httpx.AsyncClient, path: str) -> None:
    """L8."""
    headers = {"content-type": "application/json"}
    answer = await remote.post(f"{API}{path}", content=chunked(9 * MIB), headers=headers)
    assert_problem(answer, 413, "too_large")
    assert (await remote.get("/health/live")).status_code == 200


async def test_an_endless_body_ends_with_an_answer(app: FastAPI, remote: httpx.AsyncClient) -> None:
    """L8: whoever never stops sending is told, and hung up on."""
    host, port = app.state.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        f"POST {API}/cards HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n".encode()
    )
    answer = asyncio.create_task(reader.read(200))
    sent = 0
    with contextlib.suppress(ConnectionError):
        while sent < 256 * MIB:
            writer.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
            await asyncio.wait_for(writer.drain(), 15)
            sent += 65536
    assert (await answer).startswith(b"HTTP/1.1 413")
    assert sent < 128 * MIB
    writer.close()


async def test_a_body_at_the_limit_passes(remote: httpx.AsyncClient) -> None:
    item = {"content": "x" * 1_000_000}
    body = json.dumps({"items": [item] * 8}).encode()
    assert 7 * MIB < len(body) < 8 * MIB
    answer = await remote.post(f"{API}/cards/bulk", content=body, headers={"content-type": "application/json"})
    assert [one["status"] for one in answer.json()["items"]] == ["created"] * 8


async def test_uploads_have_a_limit_of_their_own(services: Services, tmp_path: Path) -> None:
    """L8: and what was refused leaves nothing behind."""
    services.settings = services.settings.model_copy(update={"upload_max_bytes": 10 * MIB})  # type: ignore[misc]
    app = create_app(services)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        ok = await client.post(f"{API}/imports", files={"files": ("a.md", b"x" * (9 * MIB))})
        assert ok.status_code == 202
        refused = await client.post(f"{API}/imports", files={"files": ("a.md", b"x" * (10 * MIB))})
        assert_problem(refused, 413, "too_large")
    assert len(list((tmp_path / "uploads").iterdir())) == 1


async def test_queries_have_a_limit(client: httpx.AsyncClient) -> None:
    assert (await client.post(f"{API}/search", json={"query": "长" * 10_922})).status_code == 200
    answer = await client.post(f"{API}/search", json={"query": "长" * 10_923})
    assert_problem(answer, 422, "query_too_large")


# ----------------------------------------------------------------------------- a busy or absent database


@pytest.fixture
async def narrow(services: Services, database_dsn: str) -> AsyncIterator[Database]:
    """Services on a pool of three connections that waits half a second."""
    settings = DatabaseSettings(database_pool_size=3, database_pool_overflow=0, database_pool_timeout_seconds=0.5)
    database = Database(database_dsn, settings, application_name="narrow")
    services.database = database  # type: ignore[misc]
    yield database
    await database.close()


async def test_an_exhausted_pool_is_503_with_retry_after(services: Services, narrow: Database) -> None:
    """E13."""
    transport = httpx.ASGITransport(create_app(services))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        card = await create(client, content="x")
        token, _ = await make_key(services, "read", "write")
        async with narrow.unit() as a, narrow.unit() as b, narrow.unit() as c:
            for session in (a, b, c):
                await session.connection()
            answers = await asyncio.gather(
                client.get(f"{API}/cards"),
                client.post(f"{API}/cards", json={"content": "y"}),
                client.post(f"{API}/cards", json={"content": "y"}, headers={"Idempotency-Key": "k"}),
                client.patch(f"{API}/cards/{card['id']}", json={"content": "y"}),
                client.get(f"{API}/cards", headers={"X-API-Key": token}),
                client.get(f"{API}/ingestion"),
            )
            for answer in answers:
                assert_problem(answer, 503, "pool_exhausted")
                assert int(answer.headers["retry-after"]) >= 1
            assert_problem(await client.get("/health/ready"), 503, "not_ready")
            assert (await client.get("/health/live")).status_code == 200
        assert (await client.get("/health/ready")).status_code == 200
        assert (await client.get(f"{API}/cards")).json()["items"][0]["content"] == "x"


async def test_as_many_requests_as_connections_all_finish(services: Services, narrow: Database) -> None:
    """E10: a request never waits for a second connection while it holds one."""
    services.settings = services.settings.model_copy(update={"auth": "on"})  # type: ignore[misc]
    token, _ = await make_key(services, "read", "write")
    transport = httpx.ASGITransport(create_app(services))
    async with httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1", headers={"X-API-Key": token}
    ) as client:
        for round_ in range(5):
            answers = await asyncio.gather(
                *(
                    client.post(
                        f"{API}/cards", json={"content": f"{round_} {n}"}, headers={"Idempotency-Key": f"{round_}-{n}"}
                    )
                    for n in range(3)
                )
            )
            assert [answer.status_code for answer in answers] == [201] * 3
    assert await fetch(narrow, "SELECT count(*) FROM cards") == [(15,)]


async def test_a_lock_that_is_held_too_long_is_503(services: Services, database_dsn: str) -> None:
    settings = DatabaseSettings(database_lock_timeout_seconds=0.2, database_statement_timeout_seconds=5)
    database = Database(database_dsn, settings)
    services.database = database  # type: ignore[misc]
    transport = httpx.ASGITransport(create_app(services))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        card = await create(client, content="x")
        async with database.unit() as session:
            await services.intake.change_card(session, services.default_workspace, card["id"], _patch(tags=["held"]))
            answer = await client.patch(f"{API}/cards/{card['id']}", json={"content": "y"})
            assert_problem(answer, 503, "database_busy")
            assert "retry-after" in answer.headers
            assert not any(word in answer.text.lower() for word in ("select", "lock timeout", "asyncpg"))
    await database.close()


def _patch(**fields: object) -> object:
    from app.ingestion.submit import CardPatch

    return CardPatch(**fields)  # type: ignore[arg-type]


async def test_an_unexpected_failure_tells_nothing(client: httpx.AsyncClient, services: Services) -> None:
    await execute(services.database, "ALTER TABLE cards RENAME COLUMN title_key TO secret_column")
    answer = await client.post(f"{API}/cards", json={"content": "private words"})
    problem = assert_problem(answer, 500, "internal")
    assert problem.keys() == {"type", "title", "status", "code", "detail", "request_id"}
    assert not any(word in answer.text for word in ("secret_column", "title_key", "INSERT", "private words", "127.0"))
    await execute(services.database, "ALTER TABLE cards RENAME COLUMN secret_column TO title_key")
    assert (await client.post(f"{API}/cards", json={"content": "y"})).status_code == 201


async def test_a_vanished_database_is_503(services: Services, database_dsn: str) -> None:
    gone = Database(database_dsn.replace("/test_", "/gone_"), DatabaseSettings(database_pool_timeout_seconds=1))
    services.database = gone  # type: ignore[misc]
    transport = httpx.ASGITransport(create_app(services))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        assert_problem(await client.get("/health/ready"), 503, "not_ready")
        assert (await client.get("/health/live")).status_code == 200
        answer = await client.get(f"{API}/cards")
        assert_problem(answer, 503, "database_unavailable")
        assert "gone_" not in answer.text
    await gone.close()


async def test_200_parallel_requests_are_answered(services: Services, narrow: Database) -> None:
    """E13: more callers than connections wait or are told to come back; none sees a 500."""
    transport = httpx.ASGITransport(create_app(services))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
        await create(client, content="zebra")
        answers = await asyncio.gather(
            *(client.post(f"{API}/search", json={"query": "zebra"}) for _ in range(100)),
            *(client.get(f"{API}/cards") for _ in range(100)),
        )
        assert {answer.status_code for answer in answers} <= {200, 503}
        assert all("retry-after" in answer.headers for answer in answers if answer.status_code == 503)
        assert sum(answer.status_code == 200 for answer in answers) > 0


async def test_liveness_answers_while_large_bodies_are_read(remote: httpx.AsyncClient) -> None:
    """E17."""
    text = "A note about [[Topic 7]] and 中国地图, with some words in it. " * 200
    body = json.dumps({"items": [{"content": f"{n} {text}"} for n in range(500)]}, ensure_ascii=False).encode()

    async def slowest() -> float:
        worst = 0.0
        for _ in range(20):
            started = time.perf_counter()
            assert (await remote.get("/health/live")).status_code == 200
            worst = max(worst, time.perf_counter() - started)
            await asyncio.sleep(0.02)
        return worst

    done, worst = await asyncio.gather(
        remote.post(f"{API}/cards/bulk", content=body, headers={"content-type": "application/json"}), slowest()
    )
    assert done.status_code == 200
    assert worst < 0.7


# ------------------------------------------------------------------------------------- what always holds


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", f"{API}/nowhere", 404, "not_found"),
        ("GET", f"{API}/cards/", 404, "not_found"),
        ("PUT", f"{API}/cards", 405, "method_not_allowed"),
        ("TRACE", f"{API}/search", 405, "method_not_allowed"),
        ("DELETE", "/health/live", 405, "method_not_allowed"),
        ("GET", f"{API}/search", 405, "method_not_allowed"),
    ],
)
async def test_unknown_routes_and_methods(
    client: httpx.AsyncClient, method: str, path: str, status: int, code: str
) -> None:
    answer = await client.request(method, path)
    assert_problem(answer, status, code)
    assert ("allow" in answer.headers) == (status == 405)


@pytest.mark.parametrize(
    ("given", "kept"),
    [("abc-123", True), ("x" * 64, True), ("x" * 65, False), ("a b", False), ("a\tb", False), ("<script>", False)],
)
async def test_request_ids(client: httpx.AsyncClient, given: str, kept: bool) -> None:
    answer = await client.get(f"{API}/nowhere", headers={"X-Request-ID": given})
    assert (answer.headers["x-request-id"] == given) is kept
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
    assert (await client.get("/health/live")).headers["x-request-id"]


async def test_metrics_have_few_labels(client: httpx.AsyncClient, services: Services) -> None:
    """I11."""
    card = await create(client, content="x")
    await ingest_all(services)
    await client.get(f"{API}/cards/{card['id']}")
    await client.get(f"{API}/cards/01920000-0000-7000-8000-000000000000")
    await client.get("/secret-path")
    await client.request("BREW", f"{API}/cards")
    await client.post(f"{API}/search", json={"query": "x", "level": "search"})
    text = (await client.get("/metrics")).text
    assert 'mindcone_http_requests_total{method="POST",route="create_card",status="201"} 1.0' in text
    assert 'mindcone_http_requests_total{method="GET",route="get_card",status="404"} 1.0' in text
    assert 'mindcone_http_requests_total{method="GET",route="unmatched",status="404"} 1.0' in text
    assert 'method="other"' in text
    assert 'mindcone_retrieval_seconds_count{level="search",step="total"} 1.0' in text
    assert 'mindcone_database_connections{state="size"}' in text
    assert 'mindcone_jobs{state="queued"} 1.0' in text
    assert card["id"] not in text
    assert "secret-path" not in text
