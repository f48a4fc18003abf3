"""`Idempotency-Key`: a repeated request gets the first answer and has no second effect."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.wiring import Services
from tests.api_client import API, assert_problem, execute, fetch, make_workspace

pytest_plugins = ("tests.api_client",)

KEY = {"Idempotency-Key": "k-1"}
BODY = {"content": "中文 é", "metadata": {"b": 1, "a": 2.50}}


async def count(services: Services) -> int:
    ((number,),) = await fetch(services.database, "SELECT count(*) FROM cards")
    return int(number)


async def test_a_replay_is_the_first_answer_byte_for_byte(client: httpx.AsyncClient, services: Services) -> None:
    """N14."""
    first = await client.post(f"{API}/cards", json=BODY, headers=KEY)
    assert first.status_code == 201
    assert "idempotent-replayed" not in first.headers
    await client.patch(f"{API}/cards/{first.json()['id']}", json={"content": "changed"})
    again = await client.post(f"{API}/cards", json=BODY, headers=KEY)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    for header in ("etag", "location", "content-type"):
        assert again.headers[header] == first.headers[header]
    assert await count(services) == 1
    other = await client.post(f"{API}/cards", json=BODY, headers={"Idempotency-Key": "k-2"})
    assert other.json()["id"] != first.json()["id"]


@pytest.mark.parametrize(
    ("path", "body"),
    [("/cards", {"content": "other"}), ("/cards/bulk", BODY), ("/cards?upsert=true", BODY), ("/keys", {"name": "x"})],
)
async def test_a_key_belongs_to_one_request(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> None:
    await client.post(f"{API}/cards", json=BODY, headers=KEY)
    assert_problem(await client.post(f"{API}{path}", json=body, headers=KEY), 422, "idempotency_key_reused")


async def test_ten_at_once_have_one_effect(client: httpx.AsyncClient, services: Services) -> None:
    """E7."""
    answers = await asyncio.gather(*(client.post(f"{API}/cards", json=BODY, headers=KEY) for _ in range(10)))
    assert await count(services) == 1
    made = [answer for answer in answers if answer.status_code == 201]
    assert len({answer.content for answer in made}) == 1
    for answer in answers:
        if answer.status_code != 201:
            assert_problem(answer, 409, "idempotency_in_flight")
    assert (await client.post(f"{API}/cards", json=BODY, headers=KEY)).content == made[0].content


async def test_a_request_in_flight_is_409_and_one_left_behind_is_taken_over(
    client: httpx.AsyncClient, services: Services
) -> None:
    """A process that died in the middle does not block its key for longer than a minute."""
    await client.post(f"{API}/cards", json=BODY, headers=KEY)
    left = "UPDATE idempotency_records SET status = NULL, body = NULL, created_at = now() - interval '{} seconds'"
    await execute(services.database, left.format(50))
    assert_problem(await client.post(f"{API}/cards", json=BODY, headers=KEY), 409, "idempotency_in_flight")
    await execute(services.database, left.format(61))
    assert (await client.post(f"{API}/cards", json=BODY, headers=KEY)).status_code == 201
    assert await count(services) == 2


async def test_whoever_lost_the_key_commits_nothing(services: Services, app: FastAPI) -> None:
    """Also when the one that was taken over wakes up and goes on."""
    from starlette.requests import Request
    from starlette.responses import Response

    from app.api.idempotency import KeyInFlight, claim
    from app.ingestion.submit import NewCard
    from app.people.keys import Principal

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    def request() -> Request:
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/x",
            "query_string": b"",
            "headers": [(b"idempotency-key", b"k"), (b"host", b"x")],
            "state": {},
        }
        return Request(scope, receive)

    principal = Principal(services.default_workspace, frozenset())
    sleeper = claim(request(), services.database, principal)
    held = await sleeper.__aenter__()
    assert held is not None
    await execute(services.database, "UPDATE idempotency_records SET created_at = now() - interval '2 minutes'")
    async with claim(request(), services.database, principal) as second:
        assert second is not None
        await second.record(Response(b"second"), None)

    async def go_on() -> None:
        async with services.database.unit() as session:
            await services.intake.submit_card(session, services.default_workspace, NewCard(content="late"))
            await held.record(Response(b"late"), session)

    with pytest.raises(KeyInFlight):
        await go_on()
    assert not await sleeper.__aexit__(None, None, None)
    assert await count(services) == 0
    assert await fetch(services.database, "SELECT body FROM idempotency_records") == [(b"second",)]


async def test_a_failed_request_gives_its_key_back(client: httpx.AsyncClient, services: Services) -> None:
    for body, status in (({"content": ""}, 422), ({"content": "\x00"}, 422), ({"nope": 1}, 422)):
        assert (await client.post(f"{API}/cards", json=body, headers=KEY)).status_code == status
    assert await fetch(services.database, "SELECT count(*) FROM idempotency_records") == [(0,)]
    assert (await client.post(f"{API}/cards", json=BODY, headers=KEY)).status_code == 201


async def test_effect_and_answer_are_one_transaction(client: httpx.AsyncClient, services: Services) -> None:
    """A commit that fails is no 201, keeps neither card nor answer, and may be repeated."""
    await execute(
        services.database,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'secret sql'; END $$",
    )
    await execute(
        services.database,
        "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON cards DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION refuse()",
    )
    failed = await client.post(f"{API}/cards", json=BODY, headers=KEY)
    assert_problem(failed, 500, "internal")
    assert "secret sql" not in failed.text
    assert await count(services) == 0
    await execute(services.database, "DROP TRIGGER late ON cards")
    assert (await client.post(f"{API}/cards", json=BODY, headers=KEY)).status_code == 201
    assert await count(services) == 1


async def test_answers_are_kept_for_a_day(client: httpx.AsyncClient, services: Services) -> None:
    first = await client.post(f"{API}/cards", json=BODY, headers=KEY)
    age = "UPDATE idempotency_records SET created_at = now() - interval '{} minutes'"
    await execute(services.database, age.format(23 * 60 + 59))
    assert (await client.post(f"{API}/cards", json=BODY, headers=KEY)).content == first.content
    await execute(services.database, age.format(24 * 60 + 1))
    assert (await client.post(f"{API}/cards", json=BODY, headers=KEY)).json()["id"] != first.json()["id"]


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "é", "a\tb", "\x7f"])
async def test_malformed_keys(client: httpx.AsyncClient, services: Services, key: str) -> None:
    headers = {b"Idempotency-Key": key.encode("latin-1")}
    answer = await client.post(f"{API}/cards", json=BODY, headers=headers)  # type: ignore[arg-type]
    assert_problem(answer, 422, "invalid_idempotency_key")
    assert await count(services) == 0


async def test_keys_of_workspaces_are_apart(client: httpx.AsyncClient, services: Services) -> None:
    from tests.api_client import make_key

    other = await make_workspace(services, "other")
    token, _ = await make_key(services, "write", workspace_id=other)
    first = await client.post(f"{API}/cards", json=BODY, headers=KEY)
    second = await client.post(f"{API}/cards", json={"content": "theirs"}, headers={**KEY, "X-API-Key": token})
    assert (first.status_code, second.status_code) == (201, 201)


async def test_bulk_and_actions_replay_too(client: httpx.AsyncClient, services: Services) -> None:
    body = {"items": [{"content": "a"}, {"content": "b"}]}
    first = await client.post(f"{API}/cards/bulk", json=body, headers=KEY)
    again = await client.post(f"{API}/cards/bulk", json=body, headers=KEY)
    assert (again.content, await count(services)) == (first.content, 2)
    card = first.json()["items"][0]["id"]
    for path in ("reingest", "revisions/1/restore", "undelete"):
        headers = {"Idempotency-Key": path}
        one = await client.post(f"{API}/cards/{card}/{path}", headers=headers)
        two = await client.post(f"{API}/cards/{card}/{path}", headers=headers)
        assert (two.status_code, two.content) == (one.status_code, one.content)
        assert two.headers["idempotent-replayed"] == "true"


async def test_a_secret_is_not_kept_for_a_replay(client: httpx.AsyncClient, services: Services) -> None:
    made = await client.post(f"{API}/keys", json={"name": "x"}, headers=KEY)
    assert made.status_code == 201
    assert_problem(await client.post(f"{API}/keys", json={"name": "x"}, headers=KEY), 409, "secret_not_repeated")
    assert await fetch(services.database, "SELECT count(*) FROM api_keys") == [(1,)]
    assert await fetch(services.database, "SELECT body FROM idempotency_records") == [(b"",)]


async def test_other_methods_ignore_the_header(client: httpx.AsyncClient, services: Services) -> None:
    card = (await client.post(f"{API}/cards", json=BODY)).json()
    for content in ("one", "two"):
        answer = await client.patch(f"{API}/cards/{card['id']}", json={"content": content}, headers=KEY)
        assert answer.json()["content"] == content
    assert (await client.get(f"{API}/cards", headers=KEY)).status_code == 200
    assert await fetch(services.database, "SELECT count(*) FROM idempotency_records") == [(0,)]
