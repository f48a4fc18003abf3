"""`mindcone memory …` on a database with memories."""

from __future__ import annotations

import asyncio
import json

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.memory.change import USER, Change
from app.wiring import Services
from tests.api_client import execute

pytest_plugins = ("tests.api_client",)


@pytest.fixture
async def filled(services: Services) -> Services:
    for slug, importance in (("tea", 0.2), ("rome", 1.0)):
        change = Change("create", slug, body=f"About {slug} alone", importance=importance)
        await services.memories.edit(services.default_workspace, change, USER)
    await execute(services.database, "UPDATE memories SET created_at = now() - interval '40 days'")
    return services


def run(services: Services, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    monkeypatch.setenv("MINDCONE_DATABASE_URL", services.database.dsn)
    result = CliRunner().invoke(app, ["memory", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


async def in_thread(services: Services, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    return await asyncio.to_thread(run, services, monkeypatch, *arguments)


async def test_list_show_and_decay(filled: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = json.loads(await in_thread(filled, monkeypatch, "list", "--json"))
    assert [one["slug"] for one in listed["items"]] == ["rome", "tea"]
    assert "About tea alone" in await in_thread(filled, monkeypatch, "show", "tea")
    due = json.loads(await in_thread(filled, monkeypatch, "decay", "--days", "50.1", "--json"))
    assert sorted(one["slug"] for one in due["items"]) == ["rome", "tea"]
    assert "tea" in await in_thread(filled, monkeypatch, "list")
    assert json.loads(await in_thread(filled, monkeypatch, "list", "--status", "archived", "--json")) == {"items": []}
