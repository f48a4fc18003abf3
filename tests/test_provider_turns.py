"""What is stored of a turn, in every dialect: nothing that was cut is complete, and nothing that came is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.providers.fake import FakeProvider
from app.settings import Settings
from tests.api_client import API
from tests.chat_client import with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

SAID = "You said: Hi"
DIALECTS = ("custom", "anthropic", "gemini")

# fault → status of the stored answer, and of the reply
WHOLE = ("crlf", "split", "comments", "nulls", "thoughts", "no-usage")
CUT = ("cut,after=3", "reset,after=3", "no-end", "no-reason", "stall,after=3", "error,after=3", "not-json,after=3")
NEVER_BEGAN = ("500", "529", "429,retry-after=60", "empty", "slow", "stall,after=1", "html", "cut,after=1", "401")


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    return with_model(
        tmp_path,
        fake,
        extractor="offline",
        anthropic_base_url=fake.root_url,
        anthropic_api_key="sk-a",
        gemini_base_url=fake.root_url,
        gemini_api_key="sk-g",
        provider_first_byte_seconds=1.0,
        provider_idle_seconds=1.0,
        breaker_failures=1000,
    )


async def turn(client: httpx.AsyncClient, provider: str, fault: str) -> tuple[int, list[dict[str, Any]]]:
    """The status of the reply, and the messages that are stored."""
    made = (await client.post(f"{API}/conversations")).raise_for_status().json()
    body = {"content": "Hi", "level": "chat", "provider": provider, "model": f"fault:{fault}" if fault else "m"}
    async with asyncio.timeout(10):
        reply = await client.post(f"{API}/conversations/{made['id']}/turns", json=body)
    kept = await client.get(f"{API}/conversations/{made['id']}/messages")
    return reply.status_code, kept.raise_for_status().json()["items"]


@pytest.mark.parametrize("provider", DIALECTS)
async def test_what_is_stored(client: httpx.AsyncClient, provider: str) -> None:
    """K1, K7, K8."""
    for fault in ("", *WHOLE):
        status, (asked, answered) = await turn(client, provider, fault)
        assert status == 200, fault
        assert (asked["content"], asked["status"]) == ("Hi", "complete")
        assert (answered["content"], answered["status"]) == (SAID, "complete"), fault
    for fault in CUT:
        _, (asked, answered) = await turn(client, provider, fault)
        assert (asked["content"], asked["status"]) == ("Hi", "complete")
        assert answered["status"] in ("interrupted", "failed"), fault
        assert answered["content"], fault
        assert SAID.startswith(answered["content"]), fault
    for fault in NEVER_BEGAN:
        status, (asked, answered) = await turn(client, provider, fault)
        assert status >= 500, fault
        assert (asked["content"], asked["status"]) == ("Hi", "complete")
        assert (answered["content"], answered["status"]) == ("", "failed"), fault
        assert "sk-" not in str(answered)


async def test_a_missing_key_is_an_error_and_no_message_of_the_assistant(
    client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    status, (_, answered) = await turn(client, "deepseek", "")
    assert status == 409
    assert (answered["content"], answered["status"], answered["error_code"]) == ("", "failed", "provider_missing_key")
    assert fake.asked() == 0
