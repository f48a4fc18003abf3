"""Titles of conversations: at once by rules, a better one by a model in the worker, a user's own above all (N11)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.jobs.run import run_until_idle
from app.providers.fake import FakeProvider, heard
from app.providers.fake_script import Said
from app.settings import Settings
from app.wiring import Services
from app.worker import handlers
from tests.api_client import API, fetch
from tests.chat_client import with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

QUESTION = "What does it cost to ship forty sacks of green coffee from Bremen to Kiel?"
BETTER = "Shipping coffee from Bremen to Kiel"


class Model:
    """Answers questions, and says a title where one is asked for; `down`: not then."""

    def __init__(self) -> None:
        self.titles = 0
        self.down = False
        self.title = f"“{BETTER}”\n"

    def __call__(self, body: Mapping[str, Any]) -> Said:
        if "title of at most eight words" not in heard(body)[0].content:
            return Said("It costs 900 euros.")
        assert heard(body)[-1].content == QUESTION
        self.titles += 1
        return Said("", "500") if self.down else Said(self.title)


@pytest.fixture
def knobs() -> dict[str, Any]:
    return {"title_provider": "custom"}


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider, knobs: dict[str, Any]) -> Settings:
    return with_model(tmp_path, fake, job_backoff_seconds=0.01, job_patience_seconds=0.0, breaker_failures=100, **knobs)


@pytest.fixture
def model(fake: FakeProvider) -> Model:
    fake.answer = made = Model()
    return made


async def begin(client: httpx.AsyncClient, **body: Any) -> str:
    made: dict[str, Any] = (await client.post(f"{API}/conversations", json=body)).json()
    return str(made["id"])


async def say(client: httpx.AsyncClient, conversation_id: str, content: str = QUESTION) -> None:
    body = {"content": content, "level": "chat"}
    answer = await client.post(f"{API}/conversations/{conversation_id}/turns", json=body)
    assert answer.json()["status"] == "complete", answer.text


async def title_of(client: httpx.AsyncClient, conversation_id: str) -> str | None:
    found: dict[str, Any] = (await client.get(f"{API}/conversations/{conversation_id}")).json()
    title: str | None = found["title"]
    return title


async def jobs(services: Services) -> list[Any]:
    return await fetch(services.database, "SELECT state FROM jobs WHERE kind = 'title' ORDER BY created_at")


async def work(services: Services) -> None:
    await run_until_idle(services.database.dsn, handlers(services), services.settings, wait_for_delayed=True)


async def test_the_worker_gives_a_better_title_after_the_first_turn(
    services: Services, client: httpx.AsyncClient, model: Model
) -> None:
    conversation_id = await begin(client)
    await say(client, conversation_id)
    first = await title_of(client, conversation_id)
    assert first
    assert first != BETTER
    assert QUESTION.startswith(first.rstrip("…"))
    version = (await client.get(f"{API}/conversations/{conversation_id}")).json()["version"]
    await work(services)
    assert await title_of(client, conversation_id) == BETTER
    assert (await client.get(f"{API}/conversations/{conversation_id}")).json()["version"] == version
    await say(client, conversation_id, "And to Lübeck?")
    await work(services)
    assert (await title_of(client, conversation_id), model.titles) == (BETTER, 1)
    assert await jobs(services) == [("done",)]


@pytest.mark.parametrize("moment", ["at the beginning", "before the job", "after the job"])
async def test_a_title_of_the_user_stays(
    services: Services, client: httpx.AsyncClient, model: Model, moment: str
) -> None:
    """N11"""
    mine = {"title": "My own words"}
    conversation_id = await begin(client, **(mine if moment == "at the beginning" else {}))
    await say(client, conversation_id)
    if moment == "after the job":
        await work(services)
    if moment != "at the beginning":
        assert (await client.patch(f"{API}/conversations/{conversation_id}", json=mine)).status_code == 200
    await work(services)
    await say(client, conversation_id, "And to Lübeck?")
    await work(services)
    assert await title_of(client, conversation_id) == "My own words"
    assert len(await jobs(services)) == (moment != "at the beginning")


async def test_while_the_model_is_away_the_first_title_stands_and_the_answer_too(
    services: Services, client: httpx.AsyncClient, model: Model
) -> None:
    """F1: the job is tried again, then given up; a later conversation gets its title."""
    model.down = True
    conversation_id = await begin(client)
    await say(client, conversation_id)
    first = await title_of(client, conversation_id)
    await work(services)
    assert await title_of(client, conversation_id) == first
    assert model.titles > 1
    assert await jobs(services) == [("failed",)]
    model.down = False
    (row,) = await fetch(services.database, "SELECT id::text FROM jobs WHERE kind = 'title'")
    assert (await client.post(f"{API}/jobs/{row[0]}/retry")).status_code in (200, 202)
    await work(services)
    assert await title_of(client, conversation_id) == BETTER


@pytest.mark.parametrize("knobs", [{"title_provider": "custom", "chat_fallback_title": ["offline"]}], ids=[""])
async def test_where_another_stands_in_the_title_is_its(
    services: Services, client: httpx.AsyncClient, model: Model
) -> None:
    model.down = True
    conversation_id = await begin(client)
    await say(client, conversation_id)
    first = await title_of(client, conversation_id)
    await work(services)
    assert model.titles == 1
    assert await jobs(services) == [("done",)]
    assert await title_of(client, conversation_id) == first


@pytest.mark.parametrize("knobs", [{}, {"title_provider": "offline"}], ids=["nobody chosen", "offline"])
async def test_offline_the_first_title_is_all_there_is(
    services: Services, client: httpx.AsyncClient, model: Model
) -> None:
    conversation_id = await begin(client)
    await say(client, conversation_id)
    assert await title_of(client, conversation_id)
    assert await jobs(services) == []
    assert model.titles == 0


async def test_what_models_say_around_a_title_is_left_out(
    services: Services, client: httpx.AsyncClient, model: Model
) -> None:
    model.title = "  《Kaffee\n nach Kiel》" + "!" * 200
    conversation_id = await begin(client)
    await say(client, conversation_id)
    await work(services)
    title = await title_of(client, conversation_id)
    assert title is not None
    assert title.startswith("Kaffee nach Kiel")
    assert len(title) <= 80
    model.title = json.dumps("")
    other = await begin(client)
    await say(client, other)
    first = await title_of(client, other)
    await work(services)
    assert await title_of(client, other) == first


async def test_a_conversation_that_goes_meanwhile_is_no_error(
    services: Services, client: httpx.AsyncClient, model: Model
) -> None:
    conversation_id = await begin(client)
    await say(client, conversation_id)
    assert (await client.delete(f"{API}/conversations/{conversation_id}")).status_code == 204
    await work(services)
    assert await jobs(services) == [("done",)]
