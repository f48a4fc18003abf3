"""Providers over HTTP: what is stored takes effect at once, keys go in and never come out."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from app.core import clock, log
from app.people.metering import TokensSpent
from app.providers.fake import FakeProvider
from app.providers.ports import ChatRequest, Message, Usage
from app.providers.specs import SPECS
from app.settings import Settings
from app.vault.providers import StoredProviders
from app.vault.seal import Keyring, new_key, parse_key
from app.wiring import Services, open_services, rotate_vault
from tests.api_client import API, assert_problem, execute, fetch, make_key, make_workspace
from tests.chat_client import until

pytest_plugins = ("tests.api_client",)

KEY = "sk-test-0123456789abcdefWXYZ"
Locked = Callable[..., httpx.AsyncClient]


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    async with FakeProvider() as server:
        yield server


async def put(client: httpx.AsyncClient, name: str = "custom", status: int = 200, **body: Any) -> dict[str, Any]:
    answer = await client.put(f"{API}/providers/{name}", json=body)
    assert answer.status_code == status, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def ask(client: httpx.AsyncClient, provider: str = "custom", **body: Any) -> httpx.Response:
    asked = {"query": "hi", "level": "chat", "provider": provider} | body
    return await client.post(f"{API}/ask", json=asked, timeout=20)


def sent_key(server: FakeProvider) -> str | None:
    return server.exchanges[-1].headers.get("authorization")


# ------------------------------------------------------------------------------------------ listing


async def test_all_providers_are_listed(client: httpx.AsyncClient) -> None:
    items = {item["name"]: item for item in (await client.get(f"{API}/providers")).json()["items"]}
    assert items.keys() == {"offline", *SPECS}
    assert items["offline"]["configured"] is True
    assert items["offline"]["healthy"] is True
    assert items["offline"]["is_default"] is True
    assert items["openai"]["configured"] is False
    assert items["ollama"]["configured"] is True
    assert items["custom"]["configured"] is False
    assert items["custom"]["base_url"] is None
    for item in items.values():
        assert item["capabilities"]["context_window"] >= 4096
    assert items["anthropic"]["dialect"] == "anthropic"
    assert items["openai"]["api_key"]["set"] is False


async def test_names_that_are_none(client: httpx.AsyncClient) -> None:
    for answer in (
        await client.get(f"{API}/providers/nobody"),
        await client.put(f"{API}/providers/nobody", json={}),
        await client.delete(f"{API}/providers/nobody"),
        await client.post(f"{API}/providers/nobody/test"),
        await client.put(f"{API}/providers/offline", json={"default_model": "x"}),
        await ask(client, "nobody"),
    ):
        assert_problem(answer, 404, "provider_not_found")


# ---------------------------------------------------------------------------------- taking effect


async def test_what_is_stored_is_used_by_the_next_question(client: httpx.AsyncClient, fake: FakeProvider) -> None:
    assert_problem(await ask(client), 409, "provider_not_configured")
    told = await put(client, base_url=fake.base_url, api_key=KEY, default_model="mine")
    assert told["configured"] is True
    assert told["api_key"]["set"] is True
    assert told["api_key"]["last4"] == "WXYZ"
    answer = await ask(client)
    assert answer.status_code == 200, answer.text
    assert sent_key(fake) == f"Bearer {KEY}"
    assert fake.exchanges[-1].model == "mine"
    assert (await client.get(f"{API}/providers/custom")).json()["healthy"] is True
    assert (await client.delete(f"{API}/providers/custom")).status_code == 204
    assert_problem(await ask(client), 409, "provider_not_configured")
    assert (await client.delete(f"{API}/providers/custom")).status_code == 204


async def test_a_missing_key_is_an_error_before_anything_is_sent(client: httpx.AsyncClient, fake: FakeProvider) -> None:
    await put(client, "openai", base_url=fake.base_url)
    assert_problem(await ask(client, "openai"), 409, "provider_missing_key")
    tried = (await client.post(f"{API}/providers/openai/test")).json()
    assert (tried["ok"], tried["code"]) == (False, "provider_missing_key")
    assert fake.connections == 0


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini", "deepseek", "moonshot", "qwen", "ollama", "custom"])
async def test_every_provider_can_be_configured_and_tested(
    client: httpx.AsyncClient, fake: FakeProvider, name: str
) -> None:
    origin = fake.base_url.removesuffix("/v1")
    await put(client, name, base_url=fake.base_url if name == "custom" else origin, api_key=KEY)
    tried = (await client.post(f"{API}/providers/{name}/test")).json()
    assert tried["ok"] is True, tried
    assert "OK" in tried["answer"]
    header = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(name, "authorization")
    assert KEY in fake.exchanges[-1].headers[header]


async def test_other_processes_notice(
    database_dsn: str, services: Services, settings: Settings, client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    """No restart: a second set of services on the same database, as a worker has."""
    hurried = settings.model_copy(update={"vault_poll_seconds": 0.05})
    async with open_services(hurried, database_dsn, role="worker") as other:
        handle = None
        await put(client, base_url=fake.base_url, api_key=KEY)
        async with asyncio.timeout(5):
            while "custom" not in other.providers.list_names():  # noqa: ASYNC110 - another process tells nobody
                await asyncio.sleep(0.02)
        handle = other.providers.get_provider("custom")
        request = ChatRequest([Message("user", "hi")], question="hi")
        assert [event async for event in handle.stream(request)]
        assert sent_key(fake) == f"Bearer {KEY}"
        await put(client, api_key=KEY.replace("0", "9"))
        async with asyncio.timeout(5):
            while sent_key(fake) != f"Bearer {KEY.replace('0', '9')}":  # who holds it already asks with the new key
                assert [event async for event in handle.stream(request)]
        # A row that goes and comes again is news, too.
        await client.delete(f"{API}/providers/custom")
        await put(client, base_url=fake.base_url)
        async with asyncio.timeout(5):
            while sent_key(fake) is not None:
                await asyncio.sleep(0.02)
                if "custom" in other.providers.list_names():
                    assert [event async for event in handle.stream(request)]


async def test_a_call_that_is_under_way_ends_where_it_began(
    services: Services, client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    await put(client, base_url=fake.base_url)
    stream = services.providers.get_provider("custom").stream(ChatRequest([Message("user", "a b c d")]))
    first = await anext(stream)
    await client.delete(f"{API}/providers/custom")
    rest = [event async for event in stream]
    assert first
    assert rest[-1].reason == "stop"  # type: ignore[union-attr]


async def test_an_answer_names_who_stepped_in(
    services: Services, client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    """The stand-in for the configured provider: its own model, its own name on the answer and in the counts."""
    providers = services.providers
    providers._default, providers._settings.chat_fallback = "custom", ["deepseek"]
    providers._settings.provider_backoff_seconds = 0
    await put(client, base_url=fake.base_url, default_model="fault:500")
    await put(client, "deepseek", base_url=fake.base_url, api_key=KEY)
    made = (await client.post(f"{API}/conversations", json={})).json()
    body = {"content": "hi", "level": "chat", "stream": False}
    turn = await client.post(f"{API}/conversations/{made['id']}/turns", json=body, timeout=20)
    assert turn.status_code == 200, turn.text
    rows = await fetch(services.database, "SELECT provider, model FROM messages WHERE role = 'assistant'")
    assert rows == [("deepseek", SPECS["deepseek"].default_model)]
    used = {row["provider"] for row in (await client.get(f"{API}/usage")).json()["items"] if row["input_tokens"]}
    assert "deepseek" in used
    tried = (await client.post(f"{API}/providers/custom/test")).json()
    assert (tried["ok"], tried["code"]) == (False, "provider_down")


# ------------------------------------------------------------------------------- absent, null, ETag


async def test_absent_is_not_null(client: httpx.AsyncClient, fake: FakeProvider) -> None:
    """N4, N5"""
    await put(client, base_url=fake.base_url, api_key=KEY, default_model="mine")
    told = await put(client, default_model="other")
    assert (told["api_key"]["set"], told["base_url"], told["default_model"]) == (True, fake.base_url, "other")
    told = await put(client, default_model=None)
    assert told["default_model"] == SPECS["custom"].default_model
    told = await put(client, api_key=None)
    assert (told["api_key"]["set"], told["base_url"]) == (False, fake.base_url)
    await ask(client)
    assert sent_key(fake) is None


async def test_a_change_of_an_old_version_is_refused(client: httpx.AsyncClient) -> None:
    first = await client.put(f"{API}/providers/qwen", json={"default_model": "a"})
    second = await client.put(
        f"{API}/providers/qwen", json={"default_model": "b"}, headers={"If-Match": first.headers["etag"]}
    )
    assert second.status_code == 200
    assert first.headers["etag"] != second.headers["etag"]
    for call in (
        client.put(f"{API}/providers/qwen", json={"default_model": "c"}, headers={"If-Match": first.headers["etag"]}),
        client.delete(f"{API}/providers/qwen", headers={"If-Match": first.headers["etag"]}),
    ):
        assert_problem(await call, 412, "version_mismatch")
    assert (await client.get(f"{API}/providers/qwen")).json()["default_model"] == "b"


@pytest.mark.parametrize(
    "body",
    [{"key": "x"}, {"base_url": ""}, {"base_url": 5}, {"default_model": " "}, {"api_key": 5}, {"api_key": "x" * 5000}],
)
async def test_bodies_that_are_none(client: httpx.AsyncClient, body: dict[str, Any]) -> None:
    answer = await client.put(f"{API}/providers/custom", json=body)
    assert_problem(answer, 422, "validation_error")
    assert "xxxx" not in answer.text


async def test_a_key_that_could_not_be_sent(client: httpx.AsyncClient, fake: FakeProvider) -> None:
    for key in ("sk\nx-evil: 1", "钥匙", "a b"):
        answer = await client.put(f"{API}/providers/custom", json={"base_url": fake.base_url, "api_key": key})
        assert_problem(answer, 422, "provider_key_invalid")


# ----------------------------------------------------------------------------------- keys at rest


async def test_a_key_never_goes_to_another_origin(client: httpx.AsyncClient, fake: FakeProvider) -> None:
    async with FakeProvider() as other:
        await put(client, base_url=fake.base_url, api_key=KEY)
        answer = await client.put(f"{API}/providers/custom", json={"base_url": other.base_url})
        assert_problem(answer, 409, "provider_key_bound")
        await ask(client)
        assert other.connections == 0
        assert sent_key(fake) == f"Bearer {KEY}"
        await put(client, base_url=other.base_url, api_key=None)
        await ask(client)
        assert sent_key(other) is None
        await put(client, base_url=fake.base_url, api_key=KEY)
        await put(client, base_url=fake.base_url + "/")  # the same origin


async def test_a_key_of_the_settings_stays_at_its_origin(
    services: Services, client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    services.providers._settings.openai_api_key = SecretStr(KEY)
    await put(client, "openai", base_url=fake.base_url)
    assert_problem(await ask(client, "openai"), 409, "provider_missing_key")
    assert fake.connections == 0
    told = await put(client, "openai", base_url=None)
    assert told["api_key"] == {"set": True, "last4": "WXYZ", "source": "settings", "origin": None, "problem": None}


async def test_a_row_that_was_tampered_with_gives_no_key_away(
    services: Services, client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    """Whoever can write to the database alone cannot send a key elsewhere."""
    async with FakeProvider() as evil:
        await put(client, base_url=fake.base_url, api_key=KEY)
        origin = evil.base_url.removesuffix("/v1")
        statement = "UPDATE provider_settings SET base_url = :u, version = nextval('provider_versions')"
        await execute(services.database, statement, u=evil.base_url)
        await services.stored_providers.refresh()
        await ask(client)
        assert sent_key(evil) is None
        await execute(services.database, statement + ", key_origin = :o", u=evil.base_url, o=origin)
        await services.stored_providers.refresh()
        await ask(client)
        assert sent_key(evil) is None
        assert (await client.get(f"{API}/providers/custom")).json()["api_key"]["problem"] == "unreadable"


async def test_a_wrong_master_key_is_told_and_its_row_can_go(
    services: Services, settings: Settings, client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    """L13"""
    await put(client, "openai", base_url=fake.base_url, api_key=KEY)
    other = Keyring([parse_key(new_key())])
    stored = StoredProviders(services.database, services.providers, lambda: other, settings, settings, on_loopback=True)
    await stored.refresh()
    items = (await client.get(f"{API}/providers")).json()["items"]
    (openai,) = (item for item in items if item["name"] == "openai")
    assert (openai["configured"], openai["api_key"]["problem"]) == (False, "unreadable")
    assert_problem(await ask(client, "openai"), 409, "provider_missing_key")
    assert fake.connections == 0
    assert (await client.delete(f"{API}/providers/openai")).status_code == 204


async def test_without_a_master_key_keys_are_refused_and_the_rest_works(
    services: Services, settings: Settings, client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    services.stored_providers._find_keyring = lambda: None  # type: ignore[method-assign]
    answer = await client.put(f"{API}/providers/custom", json={"base_url": fake.base_url, "api_key": KEY})
    assert_problem(answer, 409, "vault_key_missing")
    await put(client, base_url=fake.base_url)
    assert (await ask(client)).status_code == 200


async def test_master_keys_are_rotated(services: Services, client: httpx.AsyncClient, fake: FakeProvider) -> None:
    stored = services.stored_providers
    old, now = parse_key(new_key()), parse_key(new_key())
    stored._find_keyring = lambda: Keyring([old])  # type: ignore[method-assign]
    await put(client, base_url=fake.base_url, api_key=KEY)
    stored._find_keyring = lambda: Keyring([now, old])  # type: ignore[method-assign]
    assert await stored.rotate() == 1
    assert await stored.rotate() == 0
    stored._find_keyring = lambda: Keyring([now])  # type: ignore[method-assign]
    await stored.refresh()
    await ask(client)
    assert sent_key(fake) == f"Bearer {KEY}"


async def test_a_file_of_master_keys_is_rotated_under_a_running_instance(
    services: Services, settings: Settings, client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    """What is sealed afterwards opens after a restart, too: nothing is sealed with the key that was dropped."""
    await put(client, base_url=fake.base_url, api_key=KEY)
    before = (settings.data_dir / "vault.key").read_text()
    assert await rotate_vault(settings, services.database) == 1
    (event,) = (await client.get(f"{API}/audit", params={"action": "vault"})).json()["items"]
    assert (event["action"], event["detail"], event["key_id"]) == ("vault.rotated", {"envelopes": 1}, None)
    await services.stored_providers.refresh()
    await ask(client)
    assert sent_key(fake) == f"Bearer {KEY}"
    now = (settings.data_dir / "vault.key").read_text()
    assert len(now.split()) == 1
    assert now != before
    await put(client, "openai", base_url=fake.base_url, api_key=KEY)
    ring = Keyring([parse_key(now)])
    origin = fake.base_url.removesuffix("/v1")
    for name, sealed in await fetch(services.database, "SELECT name, sealed_key FROM provider_settings"):
        assert ring.open(sealed, f"provider_settings/{name}/{origin}") == KEY


async def test_what_is_sealed_while_master_keys_are_rotated_opens_with_the_new_one(
    services: Services, settings: Settings, client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    """Whoever stores a key has read the master keys, and is held up there, when the rotation begins."""
    stored = services.stored_providers
    await put(client, base_url=fake.base_url, api_key=KEY)
    find, has_read, may_go = stored._find_keyring, threading.Event(), threading.Event()

    def held() -> Keyring | None:
        found = find()
        has_read.set()
        assert may_go.wait(30)
        return found

    stored._find_keyring = held  # type: ignore[method-assign]
    try:
        putting = asyncio.create_task(put(client, "openai", base_url=fake.base_url, api_key=KEY))
        await asyncio.to_thread(has_read.wait, 30)
        stored._find_keyring = find  # type: ignore[method-assign]
        rotating = asyncio.create_task(rotate_vault(settings, services.database))

        async def waits() -> bool:
            waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
            return rotating.done() or bool(await fetch(services.database, waiting))

        await until(waits)
    finally:
        may_go.set()
    await putting
    assert await rotating == 2
    ring = Keyring([parse_key((settings.data_dir / "vault.key").read_text())])
    origin = fake.base_url.removesuffix("/v1")
    for name, sealed in await fetch(services.database, "SELECT name, sealed_key FROM provider_settings"):
        assert ring.open(sealed, f"provider_settings/{name}/{origin}") == KEY


async def test_a_key_is_nowhere_to_be_read(
    services: Services,
    client: httpx.AsyncClient,
    fake: FakeProvider,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Not in answers, tables, acts, logs: over success, refusals, failures and nonsense, at the noisiest log level."""
    log.configure("DEBUG", "json")
    logging.getLogger("httpx").setLevel("DEBUG")
    logging.getLogger("httpcore").setLevel("DEBUG")
    try:
        said = [(await client.put(f"{API}/providers/custom", json={"base_url": fake.base_url, "api_key": KEY})).text]
        for model in ("plain", "fault:401", "fault:500", "fault:cut", "fault:html"):
            said.append((await ask(client, model=model)).text)
        said.append((await client.post(f"{API}/providers/custom/test", json={"model": "fault:403"})).text)
        said.append((await client.put(f"{API}/providers/custom", json={"api_key": [KEY]})).text)
        said.append((await client.put(f"{API}/providers/custom", json={"base_url": f"http://{KEY}@x"})).text)
        said.append((await client.get(f"{API}/providers")).text)
        said.append((await client.get(f"{API}/audit")).text)
        said.append((await client.get("/metrics")).text)
    finally:
        log.configure("WARNING")
    printed = capfd.readouterr()
    assert "provider_configured" in printed.err
    for text in (*said, printed.out, printed.err):
        assert KEY not in text
        assert KEY[:-4] not in text
    rows = await fetch(services.database, "SELECT p::text FROM provider_settings p")
    rows += await fetch(services.database, "SELECT a::text FROM audit_events a")
    assert len(rows) >= 2
    assert not any(KEY in row[0] or KEY.encode().hex() in row[0] for row in rows)


# ------------------------------------------------------------------------------------- addresses


REFUSED = [
    "http://169.254.169.254/latest",
    "http://[fe80::1]/",
    "http://[::ffff:169.254.169.254]/",
    "https://10.0.0.5/v1",
    "http://192.168.1.10:8000",
    "http://8.8.8.8/v1",
    "ftp://x.example",
    "http://user:secret@127.0.0.1/v1",
    "http://0.0.0.0:8000",
    "not an address",
]


@pytest.mark.parametrize("address", REFUSED)
async def test_addresses_that_nobody_allowed(client: httpx.AsyncClient, address: str) -> None:
    """L5"""
    answer = await client.put(f"{API}/providers/custom", json={"base_url": address})
    problem = assert_problem(answer, 422, "provider_address_refused")
    assert address not in problem["detail"]
    assert (await client.get(f"{API}/providers/custom")).json()["configured"] is False


async def test_an_admin_allows_one_origin_in_a_private_network(client: httpx.AsyncClient) -> None:
    told = await put(client, base_url="http://10.0.0.5:8000/v1", allow_private=True)
    assert told["allow_private"] is True
    await put(client, base_url="http://10.0.0.5:8000/v2")  # the same origin
    answer = await client.put(f"{API}/providers/custom", json={"base_url": "http://10.0.0.6:8000/v1"})
    assert_problem(answer, 422, "provider_address_refused")
    never = {"base_url": "http://169.254.169.254/", "allow_private": True}
    assert_problem(await client.put(f"{API}/providers/custom", json=never), 422, "provider_address_refused")


async def test_where_strangers_come_in_this_machine_is_private_too(
    services: Services, client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    services.stored_providers._on_loopback = services.providers._on_loopback = False
    answer = await client.put(f"{API}/providers/custom", json={"base_url": fake.base_url})
    assert_problem(answer, 422, "provider_address_refused")
    await put(client, base_url=fake.base_url, allow_private=True)
    assert (await ask(client)).status_code == 200
    assert (await client.get(f"{API}/providers/ollama")).json()["configured"] is True  # by its own settings


# ------------------------------------------------------------------------------------- who may


async def test_only_the_operator_changes_providers(services: Services, locked: Locked) -> None:
    """L11"""
    other = await make_workspace(services, "other")
    reader, _ = await make_key(services, "read", "write", "chat")
    tenant, _ = await make_key(services, "admin", workspace_id=other)
    operator, _ = await make_key(services, "admin")
    for token, code in ((reader, "missing_scope"), (tenant, "operator_only")):
        async with locked(X_API_Key=token) as client:
            for call in (
                client.put(f"{API}/providers/qwen", json={"default_model": "x"}),
                client.delete(f"{API}/providers/qwen"),
                client.post(f"{API}/providers/qwen/test"),
            ):
                assert_problem(await call, 403, code)
            shown = (await client.get(f"{API}/providers/ollama")).json()
            assert (shown["base_url"], shown["api_key"]) == (None, None)
    async with locked(X_API_Key=operator) as client:
        await put(client, "qwen", default_model="x")


# ------------------------------------------------------------------- acts, usage, budgets, rates


async def test_acts_of_admins_are_kept(client: httpx.AsyncClient) -> None:
    await put(client, "qwen", default_model="x", api_key=KEY)
    key = (await client.post(f"{API}/keys", json={"name": "phone"})).json()
    await client.delete(f"{API}/keys/{key['id']}")
    await client.delete(f"{API}/providers/qwen")
    await client.post(f"{API}/workspaces", json={"slug": "w", "name": "W"})
    page = (await client.get(f"{API}/audit", params={"limit": 3})).json()
    rest = (await client.get(f"{API}/audit", params={"cursor": page["next_cursor"]})).json()
    events = page["items"] + rest["items"]
    assert [event["action"] for event in events] == [
        "workspace.created",
        "provider.removed",
        "key.revoked",
        "key.created",
        "provider.configured",
    ]
    assert events[-1]["target"] == "qwen"
    assert events[-1]["detail"] == {"default_model": "x", "api_key": "set"}
    only = (await client.get(f"{API}/audit", params={"action": "key"})).json()["items"]
    assert [event["action"] for event in only] == ["key.revoked", "key.created"]


async def test_acts_are_for_admins_who_are_named(services: Services, locked: Locked) -> None:
    stranger, _ = await make_key(services, "read", "write", "chat")
    admin, key_id = await make_key(services, "admin")
    async with locked(X_API_Key=stranger) as client:
        assert_problem(await client.get(f"{API}/audit"), 403, "missing_scope")
        assert_problem(await client.get(f"{API}/usage"), 403, "missing_scope")
    async with locked(X_API_Key=admin) as client:
        await put(client, "qwen", default_model="x")
        (event,) = (await client.get(f"{API}/audit")).json()["items"]
        assert event["key_id"] == str(key_id)


async def test_an_act_that_fails_leaves_no_trace(client: httpx.AsyncClient) -> None:
    await client.put(f"{API}/providers/custom", json={"base_url": "http://10.0.0.1"})
    await client.delete(f"{API}/keys/01920000-0000-7000-8000-000000000000")
    assert (await client.get(f"{API}/audit")).json()["items"] == []


async def test_usage_is_counted(services: Services, client: httpx.AsyncClient, fake: FakeProvider) -> None:
    await put(client, base_url=fake.base_url)
    for _ in range(2):
        assert (await ask(client)).status_code == 200
    assert (await ask(client, model="fault:400")).status_code == 502
    page = (await client.get(f"{API}/usage")).json()
    rows = {(row["provider"], row["model"], row["purpose"]): row for row in page["items"]}
    good, bad = rows["custom", "default", "answer"], rows["custom", "", "answer"]
    assert (good["calls"], good["failures"], bad["calls"], bad["failures"]) == (2, 0, 1, 1)
    assert good["input_tokens"] > 0
    assert page["today_tokens"] == good["input_tokens"] + good["output_tokens"]
    assert page["total"]["calls"] == sum(row["calls"] for row in page["items"])
    first = (await client.get(f"{API}/usage", params={"limit": 1})).json()
    second = (await client.get(f"{API}/usage", params={"limit": 1, "cursor": first["next_cursor"]})).json()
    assert first["items"] + second["items"] == page["items"][:2]
    yesterday = (clock.now() - timedelta(days=1)).date().isoformat()
    assert (await client.get(f"{API}/usage", params={"until": yesterday})).json()["items"] == []
    for wrong in ("x", "WzFd"):
        assert_problem(await client.get(f"{API}/usage", params={"cursor": wrong}), 422, "invalid_cursor")


async def test_usage_belongs_to_the_workspace_that_asked(
    services: Services, locked: Locked, fake: FakeProvider
) -> None:
    other = await make_workspace(services, "other")
    token, _ = await make_key(services, "admin", workspace_id=other)
    operator, _ = await make_key(services, "admin")
    client = locked(X_API_Key=operator)
    await put(client, base_url=fake.base_url)
    async with locked(X_API_Key=token) as them:
        assert (await ask(them)).status_code == 200
        theirs = (await them.get(f"{API}/usage")).json()
    assert theirs["total"]["calls"] == 1
    assert (await client.get(f"{API}/usage")).json()["total"]["calls"] == 0


async def test_a_budget_ends_paid_calls_until_tomorrow(
    services: Services, settings: Settings, client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    """J5"""
    services.meter._settings = settings.model_copy(update={"workspace_daily_tokens": 10})
    await put(client, base_url=fake.base_url)
    assert (await ask(client)).status_code == 200
    refused = await ask(client)
    assert_problem(refused, 429, "token_budget_spent")
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    assert fake.asked() == 1
    assert (await ask(client, "offline")).status_code == 200
    await services.meter.flush()
    with pytest.raises(TokensSpent):  # what is written down counts as well
        services.meter.check()


async def test_counts_survive_a_database_that_does_not_take_them(services: Services) -> None:
    meter = services.meter
    await execute(services.database, "ALTER TABLE usage_days RENAME TO elsewhere")
    meter.count("custom", "m", "answer", Usage(3, 4), is_failure=False)
    await meter._try_flush()
    await execute(services.database, "ALTER TABLE elsewhere RENAME TO usage_days")
    await meter.flush()
    assert await fetch(services.database, "SELECT calls, input_tokens, output_tokens FROM usage_days") == [(1, 3, 4)]
    assert meter.spent_today(services.default_workspace) == 7


async def test_a_key_that_is_used_too_often_is_told_when_to_come_back(services: Services, locked: Locked) -> None:
    slow, _ = await make_key(services, "read", rate_per_minute=5)
    other, _ = await make_key(services, "read", rate_per_minute=5)
    async with locked(X_API_Key=slow) as client:
        answers = await asyncio.gather(*(client.get(f"{API}/cards") for _ in range(12)))
        assert sorted(answer.status_code for answer in answers) == [200] * 5 + [429] * 7
        refused = assert_problem(await client.get(f"{API}/cards"), 429, "rate_limited")
        assert refused["detail"]
        wait = int((await client.get(f"{API}/cards")).headers["retry-after"])
        assert 1 <= wait <= 12
        await execute(services.database, "UPDATE key_rates SET dry_at = dry_at - make_interval(secs => 12)")
        assert [(await client.get(f"{API}/cards")).status_code for _ in range(2)] == [200, 429]
    async with locked(X_API_Key=other) as client:
        assert (await client.get(f"{API}/cards")).status_code == 200


async def test_the_pace_of_keys_is_a_setting(services: Services, settings: Settings, locked: Locked) -> None:
    """F10; on loopback nobody who has no key is counted."""
    token, _ = await make_key(services, "read")
    for per_minute, expected in ((60, [200, 200, 429]), (0, [200, 200, 200])):
        changed = settings.model_copy(update={"auth": "on", "rate_limit_per_minute": per_minute, "rate_limit_burst": 2})
        async with locked(X_API_Key=token) as client:
            services.settings = changed  # type: ignore[misc]
            assert [(await client.get(f"{API}/cards")).status_code for _ in range(3)] == expected


async def test_a_pace_of_ones_own(client: httpx.AsyncClient) -> None:
    made = await client.post(f"{API}/keys", json={"name": "x", "rate_per_minute": 7})
    assert json.loads(made.text)["rate_per_minute"] == 7
    assert_problem(await client.post(f"{API}/keys", json={"name": "x", "rate_per_minute": 0}), 422, "validation_error")
