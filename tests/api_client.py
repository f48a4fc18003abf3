"""The real app on a real database, spoken to in process. The embedder is small and needs no model."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import numpy as np
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from app import wiring
from app.core import log
from app.db.session import Database
from app.ingestion.queries import Task
from app.main import Server, create_app, server_config
from app.people import queries as people
from app.people.keys import issue
from app.providers.ports import Embeddings, EmbeddingSpace
from app.settings import Settings
from app.text.segment import Segmenter
from app.wiring import Services

API = "/api/v1"

# Plain lines: the library's own way draws pictures of every traceback.
log.configure("WARNING")


class WordEmbedder:
    """Bags of hashed words: texts that share words are near each other."""

    def __init__(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter
        self.space = EmbeddingSpace("test", "words", 64)
        self.max_tokens = 512

    def count_tokens(self, text: str) -> int:
        return len(text) // 3 + 1

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        return Embeddings(np.stack([self._vector(text) for text in texts]))

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        return await self.passages(texts)

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def _vector(self, text: str) -> np.ndarray:
        vector = np.full(64, 1e-3, dtype=np.float32)
        for word in self._segmenter.terms(text).words:
            vector[hashlib.sha256(word.encode()).digest()[0] % 64] += 1
        return vector / np.linalg.norm(vector)


@pytest.fixture(scope="session")
def segmenter() -> Segmenter:
    return Segmenter()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, sample="off")


@pytest.fixture
async def services(
    database_dsn: str, settings: Settings, segmenter: Segmenter, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Services]:
    """What the real wiring makes, on the small embedder and one dictionary for all tests. Its parts can be replaced."""
    monkeypatch.setattr(wiring, "build_embedder", lambda settings, data_dir: WordEmbedder(segmenter))
    monkeypatch.setattr(wiring, "Segmenter", lambda: segmenter)
    async with wiring.open_services(settings, database_dsn) as opened:
        parts = {field.name: getattr(opened, field.name) for field in fields(opened)}
        yield cast(Services, SimpleNamespace(**parts))


@pytest.fixture
def app(services: Services) -> FastAPI:
    return create_app(services)


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    # A failure that escapes the app is a failure of the test, not a 500.
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8000") as opened:
        yield opened


@pytest.fixture
async def server(app: FastAPI, settings: Settings) -> AsyncIterator[Server]:
    """The app behind a real socket; `app.state.url` says where."""
    config = server_config(app, settings)
    config.port = 0
    running = Server(config)
    task = asyncio.create_task(running.serve())
    while not running.started:
        assert not task.done()
        await asyncio.sleep(0.01)
    app.state.url = f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
    yield running
    running.should_exit = True
    await task


@pytest.fixture
async def remote(app: FastAPI, server: Server) -> AsyncIterator[httpx.AsyncClient]:
    """A client over the socket, for streams and limits."""
    async with httpx.AsyncClient(base_url=app.state.url, timeout=20) as opened:
        yield opened


@pytest.fixture
def locked(services: Services, settings: Settings) -> Callable[[], httpx.AsyncClient]:
    """Clients of an app that needs keys."""
    services.settings = settings.model_copy(update={"auth": "on"})  # type: ignore[misc]
    app = create_app(services)

    def opened(**headers: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://127.0.0.1:8000",
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )

    return opened


async def make_key(
    services: Services, *scopes: str, workspace_id: uuid.UUID | None = None, **extra: Any
) -> tuple[str, uuid.UUID]:
    """(token, id) of a fresh key."""
    issued = issue()
    async with services.database.unit() as session:
        await people.insert_key(
            session, workspace_id or services.default_workspace, issued, name="test", scopes=scopes, **extra
        )
    return issued.token, issued.id


async def make_workspace(services: Services, slug: str) -> uuid.UUID:
    async with services.database.unit() as session:
        return (await people.insert_workspace(session, slug, slug)).id


async def ingest_all(services: Services, workspace_id: uuid.UUID | None = None) -> None:
    """Work on everything that is queued, without a worker."""
    workspace_id = workspace_id or services.default_workspace
    rows = await fetch(
        services.database,
        "SELECT id, text_version FROM cards WHERE workspace_id = :w AND state = 'queued' AND trashed_at IS NULL",
        w=workspace_id,
    )
    await services.pipeline.ingest(workspace_id, [Task(*row) for row in rows])


async def fetch(database: Database, statement: str, **values: Any) -> list[Any]:
    async with database.read() as session:
        return [tuple(row) for row in await session.execute(text(statement), values)]


async def execute(database: Database, statement: str, **values: Any) -> None:
    async with database.unit() as session:
        await session.execute(text(statement), values)


async def create(client: httpx.AsyncClient, **card: Any) -> dict[str, Any]:
    answer = await client.post(f"{API}/cards", json=card)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def assert_problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert body["code"] == code
    assert body["status"] == status
    assert body["type"] == f"urn:mindcone:problem:{code}"
    assert body["request_id"] == answer.headers["x-request-id"]
    assert {"title", "detail"} <= body.keys()
    return body
