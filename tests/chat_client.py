"""The app with a model behind a socket: the fake provider, which can be told to misbehave."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from app.providers.fake import FakeProvider
from app.settings import Settings
from tests.api_client import API


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    async with FakeProvider() as running:
        yield running


def with_model(tmp_path: Path, fake: FakeProvider, **more: Any) -> Settings:
    """Settings under which the fake provider answers, without patience."""
    chosen: dict[str, Any] = {
        "data_dir": tmp_path,
        "sample": "off",
        "chat_provider": "custom",
        "chat_base_url": fake.base_url,
        "provider_retries": 0,
        "turn_beat_seconds": 0.05,
    }
    return Settings(**(chosen | more))


class Told(NamedTuple):
    """One event of a stream."""

    event: str
    data: Any
    id: str | None


async def told(response: httpx.Response) -> AsyncIterator[Told]:
    """The events of a stream as they come."""
    assert response.headers["content-type"].startswith("text/event-stream")
    name, place = "", None
    async for line in response.aiter_lines():
        key, _, value = line.partition(": ")
        if key == "event":
            name, place = value, None
        elif key == "id":
            place = value
        elif key == "data":
            yield Told(name, json.loads(value), place)


async def all_told(client: httpx.AsyncClient, method: str, path: str, **more: Any) -> list[Told]:
    async with client.stream(method, f"{API}{path}", **more) as response:
        assert response.status_code == 200, await response.aread()
        return [event async for event in told(response)]


def names(events: list[Told]) -> list[str]:
    """The names of the events, one for each run of tokens or citations."""
    return [name for name, _ in itertools.groupby(event.event for event in events)]


def text_of(events: list[Told]) -> str:
    return "".join(event.data["text"] for event in events if event.event == "token")


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Return when it holds; it must within a few seconds."""
    async with asyncio.timeout(10):
        while not await condition():  # noqa: ASYNC110  (nothing tells of it)
            await asyncio.sleep(0.02)
