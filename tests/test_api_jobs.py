"""Jobs, imports and streams over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI
from starlette.requests import Request

from app.api.sse import Event, EventStream
from app.core.errors import NotFound
from app.main import Server
from app.wiring import Services
from tests.api_client import API, assert_problem, create, execute, fetch, ingest_all, make_workspace

pytest_plugins = ("tests.api_client",)

GHOST = "01920000-0000-7000-8000-000000000000"


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, Any]]:
    name = ""
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


async def test_jobs_are_listed_in_pages(client: httpx.AsyncClient) -> None:
    for n in range(5):
        await create(client, content=f"card {n}")
    seen: list[str] = []
    cursor: str | None = None
    while True:
        params = {"limit": "2"} | ({"cursor": cursor} if cursor else {})
        page = (await client.get(f"{API}/jobs", params=params)).json()
        seen += [job["id"] for job in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == 5
    assert seen == sorted(seen, reverse=True)
    for filters, count in (
        ({"kind": "ingest"}, 5),
        ({"kind": "other"}, 0),
        ({"state": "queued"}, 5),
        ({"state": "done"}, 0),
    ):
        assert len((await client.get(f"{API}/jobs", params=filters)).json()["items"]) == count
    for bad in ({"state": "x"}, {"kind": ""}, {"kind": "\x00"}):
        assert_problem(await client.get(f"{API}/jobs", params=bad), 422, "validation_error")


async def test_a_job_can_be_cancelled_and_retried(client: httpx.AsyncClient) -> None:
    """N7."""
    await create(client, content="x")
    job = (await client.get(f"{API}/jobs")).json()["items"][0]
    url = f"{API}/jobs/{job['id']}"
    read = (await client.get(url)).json()
    assert read == job | {"results": None}
    assert (job["kind"], job["state"], job["error"], job["attempts"]) == ("ingest", "queued", None, 0)

    assert_problem(await client.post(f"{url}/retry"), 409, "job_not_failed")
    cancelled = await client.post(f"{url}/cancel")
    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
    assert (await client.post(f"{url}/cancel")).status_code == 200
    retried = await client.post(f"{url}/retry")
    assert (retried.status_code, retried.json()["state"]) == (200, "queued")
    for method, path in (("GET", ""), ("POST", "/cancel"), ("POST", "/retry"), ("GET", "/events"), ("GET", "/files")):
        assert (await client.request(method, f"{API}/jobs/{GHOST}{path}")).status_code == 404
        assert (await client.request(method, f"{API}/jobs/x{path}")).status_code == 422


# ----------------------------------------------------------------------------------------- uploads


async def test_an_upload_becomes_a_job(client: httpx.AsyncClient, services: Services, tmp_path: Path) -> None:
    """N17: two files of one name are two files; what they are called is never a path."""
    files = [
        ("files", ("note.md", b"# One")),
        ("files", ("note.md", b"# Two")),
        ("files", ("../../etc/passwd", b"x")),
        ("files", ("中文 笔记.md", "# 三".encode())),
    ]
    answer = await client.post(f"{API}/imports", files=files, data={"format": "obsidian"})
    assert answer.status_code == 202
    job = answer.json()
    assert answer.headers["location"] == f"{API}/jobs/{job['id']}"
    assert (job["kind"], job["state"], job["payload"]["format"]) == ("import", "queued", "obsidian")
    kept = job["payload"]["files"]
    assert [file["name"] for file in kept] == ["note.md", "note.md", "../../etc/passwd", "中文 笔记.md"]
    assert [file["size"] for file in kept] == [5, 5, 1, 5]
    (folder,) = (tmp_path / "uploads").iterdir()
    stored = [path.read_bytes() for path in sorted(folder.iterdir())]
    assert stored == [b"# One", b"# Two", b"x", "# 三".encode()]
    assert not (tmp_path / "etc").exists()

    # Where they are stored is told nowhere.
    assert job["payload"].keys() == {"format", "files"}
    assert all(file.keys() == {"name", "size"} for file in kept)
    assert (await client.get(f"{API}/jobs")).json()["items"] == [job]
    assert (await client.get(f"{API}/jobs/{job['id']}")).json()["payload"] == job["payload"]


async def test_the_field_of_an_upload_may_be_called_file(client: httpx.AsyncClient) -> None:
    url = f"{API}/imports"
    one = await client.post(url, files={"file": ("a.md", b"# One")})
    assert (one.status_code, one.json()["payload"]["files"]) == (202, [{"name": "a.md", "size": 5}])
    both = await client.post(url, files=[("file", ("a.md", b"x")), ("files", ("b.md", b"y")), ("file", ("c.md", b"z"))])
    assert {file["name"] for file in both.json()["payload"]["files"]} == {"a.md", "b.md", "c.md"}


async def test_uploads_that_are_none(client: httpx.AsyncClient, tmp_path: Path) -> None:
    url = f"{API}/imports"
    assert_problem(await client.post(url), 422, "no_files")
    assert_problem(await client.post(url, json={"files": []}), 422, "no_files")
    for name in ("file", "files"):
        problem = assert_problem(await client.post(url, data={name: "text"}), 422, "validation_error")
        assert problem["errors"] == [{"loc": ["body", name], "msg": "Input should be a file", "type": "value_error"}]
    ok = {"files": ("a.md", b"x")}
    assert_problem(await client.post(url, files=ok, data={"format": "word"}), 422, "validation_error")
    multipart = {"content-type": "multipart/form-data; boundary=b"}
    for body in (b"", b"nonsense", b"--b\r\nbroken", b"--b--\r\n"):
        answer = await client.post(url, content=body, headers=multipart)
        assert answer.status_code in {400, 422}, (body, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
    answer = await client.post(url, content=b"x", headers={"content-type": "multipart/form-data"})
    assert answer.status_code == 400
    assert not (tmp_path / "uploads").exists()


async def test_an_upload_that_is_not_queued_leaves_nothing(
    client: httpx.AsyncClient, services: Services, tmp_path: Path
) -> None:
    await execute(services.database, "ALTER TABLE jobs RENAME COLUMN kind TO kinds")
    answer = await client.post(f"{API}/imports", files={"files": ("a.md", b"x")})
    assert_problem(answer, 500, "internal")
    assert list((tmp_path / "uploads").iterdir()) == []


async def test_a_repeated_upload_is_one_import(client: httpx.AsyncClient, services: Services, tmp_path: Path) -> None:
    """N14: the boundary is another each time, the files are the same."""
    key = {"Idempotency-Key": "upload"}
    first = await client.post(f"{API}/imports", files={"files": ("a.md", b"x" * 3_000_000)}, headers=key)
    again = await client.post(f"{API}/imports", files={"files": ("a.md", b"x" * 3_000_000)}, headers=key)
    assert (again.status_code, again.content) == (202, first.content)
    other = await client.post(f"{API}/imports", files={"files": ("a.md", b"y" * 3_000_000)}, headers=key)
    assert_problem(other, 422, "idempotency_key_reused")
    assert await fetch(services.database, "SELECT count(*) FROM jobs") == [(1,)]
    (folder,) = (tmp_path / "uploads").iterdir()
    assert [path.read_bytes() for path in folder.iterdir()] == [b"x" * 3_000_000]


async def test_results_of_an_import_come_per_file(client: httpx.AsyncClient, services: Services) -> None:
    job = (await client.post(f"{API}/imports", files={"files": ("a.zip", b"x")})).json()
    await execute(
        services.database,
        "INSERT INTO imported_files (workspace_id, job_id, path, outcome, code, detail) "
        "SELECT :w, :j, 'folder/文件 ' || lpad(n::text, 3, '0') || '.md', "
        "CASE WHEN n = 1 THEN 'rejected' ELSE 'created' END, "
        "CASE WHEN n = 1 THEN 'broken_pdf' END, NULL FROM generate_series(1, 7) n",
        w=services.default_workspace,
        j=job["id"],
    )
    results = (await client.get(f"{API}/jobs/{job['id']}")).json()["results"]
    assert len(results) == 7
    assert results[0] == {
        "path": "folder/文件 001.md",
        "outcome": "rejected",
        "card_id": None,
        "code": "broken_pdf",
        "detail": None,
    }
    seen: list[str] = []
    cursor: str | None = None
    while True:
        params = {"limit": "3"} | ({"cursor": cursor} if cursor else {})
        page = (await client.get(f"{API}/jobs/{job['id']}/files", params=params)).json()
        seen += [file["path"] for file in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [result["path"] for result in results]


# ----------------------------------------------------------------------------------------- streams


async def test_ingestion_is_streamed(remote: httpx.AsyncClient, services: Services) -> None:
    async with remote.stream("GET", f"{API}/ingestion/events") as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        stream = events(response)
        assert await anext(stream) == ("counts", {"queued": 0, "working": 0, "ready": 0, "failed": 0})
        await create(remote, content="x")
        assert await anext(stream) == ("counts", {"queued": 1, "working": 0, "ready": 0, "failed": 0})
        await ingest_all(services)
        while (event := await anext(stream))[1]["ready"] != 1:
            pass
        assert event == ("counts", {"queued": 0, "working": 0, "ready": 1, "failed": 0})


async def test_a_job_is_streamed_to_its_end(remote: httpx.AsyncClient) -> None:
    await create(remote, content="x")
    job = (await remote.get(f"{API}/jobs")).json()["items"][0]
    async with remote.stream("GET", f"{API}/jobs/{job['id']}/events") as response:
        stream = events(response)
        name, first = await anext(stream)
        assert (name, first) == ("job", job)
        await remote.post(f"{API}/jobs/{job['id']}/cancel")
        rest = [event async for event in stream]
    assert [(name, data["state"]) for name, data in rest] == [("job", "cancelled")]


async def test_streams_see_their_own_workspace(remote: httpx.AsyncClient, services: Services) -> None:
    from app.ingestion.submit import NewCard

    other = await make_workspace(services, "other")
    async with services.database.unit() as session:
        await services.intake.submit_card(session, other, NewCard(content="x"))
    async with remote.stream("GET", f"{API}/ingestion/events") as response:
        assert (await anext(events(response)))[1]["queued"] == 0


async def test_streams_hold_no_connection_and_end_with_their_readers(
    app: FastAPI, remote: httpx.AsyncClient, services: Services
) -> None:
    """K4, E11: 60 readers on a pool of 15 all get their event; when they vanish nothing is left."""
    responses: list[httpx.Response] = []
    limits = httpx.Limits(max_connections=100)
    reader = httpx.AsyncClient(base_url=app.state.url, limits=limits, timeout=30)
    for _ in range(60):
        request = reader.build_request("GET", f"{API}/ingestion/events")
        responses.append(await reader.send(request, stream=True))
    streams = [events(response) for response in responses]
    for first in await asyncio.gather(*(anext(stream) for stream in streams)):
        assert first[0] == "counts"
    assert (await remote.get(f"{API}/cards")).status_code == 200
    before = len(asyncio.all_tasks())
    assert before > 60
    await reader.aclose()
    for response in responses:
        await response.aclose()
    async with asyncio.timeout(5):
        while len(asyncio.all_tasks()) > before - 60 or services.database.pool_status()["in_use"]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    idle = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
    assert await fetch(services.database, idle) == [(0,)]


async def test_a_stopping_server_ends_its_streams(app: FastAPI, server: Server, remote: httpx.AsyncClient) -> None:
    """M8: the last event says why, and the server does not wait for readers that never leave."""
    async with remote.stream("GET", f"{API}/ingestion/events") as response:
        stream = events(response)
        await anext(stream)
        server.should_exit = True
        async with asyncio.timeout(5):
            last = [event async for event in stream]
    assert [(name, data["code"]) for name, data in last] == [("failed", "shutting_down")]


async def test_a_broken_stream_says_so(app: FastAPI, server: Server, remote: httpx.AsyncClient) -> None:
    """K8: after the 200 is sent, a failure is an event and then the end; nothing leaks."""
    closed: list[str] = []

    async def source(kind: str) -> AsyncIterator[Event]:
        try:
            yield Event("token", {"text": "半\n\u2028"}, id="1")
            if kind == "ours":
                raise NotFound("It is gone.")
            raise ValueError("secret detail")
        finally:
            closed.append(kind)

    @app.get("/test-stream/{kind}", include_in_schema=False)
    async def stream(request: Request, kind: str) -> EventStream:
        return EventStream(request, source(kind))

    for kind, code in (("ours", "not_found"), ("foreign", "internal")):
        async with remote.stream("GET", f"/test-stream/{kind}") as response:
            got = [event async for event in events(response)]
        assert got[0] == ("token", {"text": "半\n\u2028"})
        assert [name for name, _ in got] == ["token", "failed"]
        assert got[1][1]["code"] == code
        assert "secret detail" not in json.dumps(got)
    assert closed == ["ours", "foreign"]


async def test_an_idle_stream_is_kept_alive(app: FastAPI, server: Server, remote: httpx.AsyncClient) -> None:
    async def source() -> AsyncIterator[Event]:
        await asyncio.sleep(0.2)
        yield Event("done", 1)

    @app.get("/test-idle", include_in_schema=False)
    async def stream(request: Request) -> EventStream:
        return EventStream(request, source(), ping_seconds=0.05)

    text = (await remote.get("/test-idle")).text
    assert text.startswith(": ping\n\n: ping\n\n")
    assert text.endswith("event: done\ndata: 1\n\n")
