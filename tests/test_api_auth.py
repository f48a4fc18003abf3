"""Who may come in: keys, scopes, workspaces, and nobody from another web site."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from app.main import create_app
from app.people.keys import issue, matches, parse
from app.settings import Settings
from app.wiring import Services
from tests.api_client import API, assert_problem, create, execute, fetch, make_key, make_workspace

pytest_plugins = ("tests.api_client",)

Locked = Callable[..., httpx.AsyncClient]


async def test_on_loopback_nobody_needs_a_key(client: httpx.AsyncClient) -> None:
    assert (await client.get(f"{API}/cards")).status_code == 200
    assert (await client.get(f"{API}/keys")).status_code == 200


async def test_a_wrong_key_is_401_all_the_same(client: httpx.AsyncClient) -> None:
    """L1: an empty one too."""
    for wrong in ("nonsense", "", "mc_x_y", "mc_" + "0" * 32 + "_" + "a" * 43):
        for headers in ({"Authorization": f"Bearer {wrong}"}, {"X-API-Key": wrong}):
            answer = await client.get(f"{API}/cards", headers=headers)
            assert_problem(answer, 401, "invalid_api_key")
            assert answer.headers["www-authenticate"] == "Bearer"


async def test_other_schemes_are_no_keys(client: httpx.AsyncClient) -> None:
    """L2."""
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    basic = base64.b64encode(b"admin:admin").decode()
    for header in (f"Basic {basic}", f"Bearer {none}.{none}.", "Bearer", "Digest x", "mc_"):
        assert_problem(await client.get(f"{API}/cards", headers={"Authorization": header}), 401, "invalid_api_key")


BINDS = [
    ("127.0.0.1", "auto", False),
    ("127.5.5.5", "auto", False),
    ("::1", "auto", False),
    ("localhost", "auto", False),
    ("127.0.0.1", "on", True),
    ("0.0.0.0", "auto", True),
    ("::", "auto", True),
    ("192.168.1.5", "auto", True),
    ("192.168.1.5", "off", True),
    ("example.org", "off", True),
]


async def test_where_a_key_is_needed(services: Services) -> None:
    for host, auth, required in BINDS:
        services.settings = services.settings.model_copy(update={"host": host, "auth": auth})  # type: ignore[misc]
        transport = httpx.ASGITransport(create_app(services))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            assert (await client.get(f"{API}/cards")).status_code == (401 if required else 200), (host, auth)
            assert (await client.get("/health/live")).status_code == 200
            assert (await client.get("/health/ready")).status_code == 200


async def test_every_route_but_health_needs_a_key(services: Services, locked: Locked) -> None:
    async with locked() as stranger:
        document = (await stranger.get("/openapi.json")).json()
        checked = 0
        for path, operations in document["paths"].items():
            if path.startswith("/health/"):
                continue
            for method in operations:
                url = path.replace("{n}", "1")
                for name in ("card_id", "job_id", "key_id", "workspace_id"):
                    url = url.replace(f"{{{name}}}", "01920000-0000-7000-8000-000000000000")
                answer = await stranger.request(method, url)
                assert answer.status_code == 401, (method, path, answer.text)
                checked += 1
        assert checked > 25


HEADERS = [
    {"Authorization": "Bearer {}"},
    {"authorization": "bearer {}"},
    {"AUTHORIZATION": "BEARER {}"},
    {"Authorization": "  Bearer   {}  "},
    {"Authorization": "Bearer\t{}"},
    {"Authorization": "{}"},
    {"X-API-Key": "{}"},
    {"x-api-key": " {} "},
    {"Authorization": "Bearer {}", "X-API-Key": "{}"},
    {"Authorization": "Bearer {}", "X-API-Key": "another-service"},
    {"Authorization": "Basic YTpi", "X-API-Key": "{}"},
    {"Authorization": "Bearer eyJhbGciOi.x.y", "X-API-Key": "{}"},
]


async def test_headers_are_read_tolerantly(services: Services, locked: Locked) -> None:
    """L14."""
    token, _ = await make_key(services, "read")
    async with locked() as client:
        for header in HEADERS:
            sent = {name: value.format(token) for name, value in header.items()}
            assert (await client.get(f"{API}/cards", headers=sent)).status_code == 200, header


SCOPED = [
    ("GET", "/cards", None, "read"),
    ("POST", "/search", {"query": "x"}, "read"),
    ("GET", "/ingestion", None, "read"),
    ("GET", "/jobs", None, "read"),
    ("POST", "/ask", {"query": "x"}, "chat"),
    ("POST", "/cards", {"content": "x"}, "write"),
    ("POST", "/cards/bulk", {"items": []}, "write"),
    ("PATCH", "/cards/01920000-0000-7000-8000-000000000000", {"tags": []}, "write"),
    ("DELETE", "/cards/01920000-0000-7000-8000-000000000000", None, "write"),
    ("POST", "/jobs/01920000-0000-7000-8000-000000000000/cancel", None, "write"),
    ("GET", "/keys", None, "admin"),
    ("POST", "/keys", {"name": "x"}, "admin"),
    ("GET", "/workspaces", None, "admin"),
    ("POST", "/workspaces", {"slug": "x", "name": "x"}, "admin"),
    ("GET", "/doctor", None, "admin"),
]


async def test_scopes(services: Services, locked: Locked) -> None:
    """L11: what is everybody's is admin's alone."""
    services.doctor = _healthy  # type: ignore[attr-defined]
    tokens = {scope: (await make_key(services, scope))[0] for scope in ("read", "write", "chat", "admin")}
    for method, path, body, needed in SCOPED:
        for scope, token in tokens.items():
            async with locked(X_API_Key=token) as client:
                answer = await client.request(method, f"{API}{path}", json=body)
            if scope in (needed, "admin"):
                assert answer.status_code in {200, 201, 404, 409}, (method, path, scope, answer.text)
            else:
                assert assert_problem(answer, 403, "missing_scope")["scope"] == needed


async def _healthy(deep: bool) -> dict[str, Any]:
    return {"ok": True, "checks": {}, "invariants": {}}


async def test_the_key_decides_the_workspace(services: Services, locked: Locked) -> None:
    """D7, D13, L10: whatever one may do, it is in the own workspace."""
    other = await make_workspace(services, "other")
    ours, _ = await make_key(services, "read", "write", "admin")
    theirs, _ = await make_key(services, "read", "write", "admin", workspace_id=other)
    async with locked(X_API_Key=ours) as us, locked(X_API_Key=theirs) as them:
        mine = await create(us, content="our zebra", external_id="e")
        foreign = await create(them, content="their zebra", external_id="e")
        key = (await us.post(f"{API}/keys", json={"name": "k"})).json()
        job = (await us.get(f"{API}/jobs")).json()["items"][0]
        for method, path in (
            ("GET", f"/cards/{mine['id']}"),
            ("GET", f"/cards/{mine['id']}/links"),
            ("GET", f"/cards/{mine['id']}/revisions"),
            ("POST", f"/cards/{mine['id']}/revisions/1/restore"),
            ("POST", f"/cards/{mine['id']}/reingest"),
            ("POST", f"/cards/{mine['id']}/undelete"),
            ("DELETE", f"/cards/{mine['id']}"),
            ("DELETE", f"/cards/{mine['id']}?permanent=true"),
            ("GET", f"/jobs/{job['id']}"),
            ("POST", f"/jobs/{job['id']}/cancel"),
            ("GET", f"/keys/{key['id']}"),
            ("DELETE", f"/keys/{key['id']}"),
        ):
            assert (await them.request(method, f"{API}{path}")).status_code == 404, (method, path)
        assert (await them.patch(f"{API}/cards/{mine['id']}", json={"content": "x"})).status_code == 404
        listed = (await them.get(f"{API}/cards")).json()["items"]
        assert [item["id"] for item in listed] == [foreign["id"]]
        assert (await us.get(f"{API}/cards/{mine['id']}")).json()["content"] == "our zebra"
        assert len((await them.get(f"{API}/keys")).json()["items"]) == 1


async def test_only_the_operator_sees_all_workspaces(services: Services, locked: Locked) -> None:
    token, _ = await make_key(services, "admin")
    async with locked(X_API_Key=token) as operator:
        made = await operator.post(f"{API}/workspaces", json={"slug": "family", "name": "Family 家"})
        assert made.status_code == 201
        assert_problem(
            await operator.post(f"{API}/workspaces", json={"slug": "family", "name": "x"}), 409, "workspace_taken"
        )
        slugs = [item["slug"] for item in (await operator.get(f"{API}/workspaces")).json()["items"]]
        assert slugs == ["family", "default"]
    async with locked(X_API_Key=made.json()["key"]["token"]) as tenant:
        assert (await tenant.get(f"{API}/cards")).json()["items"] == []
        items = (await tenant.get(f"{API}/workspaces")).json()["items"]
        assert [item["slug"] for item in items] == ["family"]
        assert (await tenant.get(f"{API}/workspaces/{made.json()['id']}")).status_code == 200
        assert (await tenant.get(f"{API}/workspaces/{services.default_workspace}")).status_code == 404
        assert_problem(await tenant.post(f"{API}/workspaces", json={"slug": "more", "name": "x"}), 403, "operator_only")


# ------------------------------------------------------------------------------------ life of a key


async def test_a_token_is_shown_once_and_kept_as_a_hash(services: Services, client: httpx.AsyncClient) -> None:
    made = await client.post(f"{API}/keys", json={"name": "phone", "scopes": ["chat", "read"]})
    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    body = made.json()
    token = body.pop("token")
    assert token == f"mc_{body['id'].replace('-', '')}_{token.rsplit('_', 1)[1]}" or parse(token) is not None
    assert (body["scopes"], body["last4"]) == (["read", "chat"], token[-4:])
    read = await client.get(f"{API}/keys/{body['id']}")
    assert read.json() == body
    _, secret = parse(token) or (None, "")
    rows = await fetch(services.database, "SELECT k::text FROM api_keys k")
    assert secret
    assert not any(secret in row[0] for row in rows)


async def test_a_key_that_would_never_open_anything_is_not_made(client: httpx.AsyncClient) -> None:
    at = datetime.now(UTC)
    for moment in (at - timedelta(seconds=1), at - timedelta(days=1000)):
        answer = await client.post(f"{API}/keys", json={"name": "x", "expires_at": moment.isoformat()})
        problem = assert_problem(answer, 422, "validation_error")
        assert [error["loc"] for error in problem["errors"]] == [["body", "expires_at"]]
    none = await client.post(f"{API}/keys", json={"name": "x", "scopes": []})
    assert assert_problem(none, 422, "validation_error")["detail"] == "There must be at least 1 of these"
    assert (await client.get(f"{API}/keys")).json()["items"] == []
    ahead = (at + timedelta(hours=1)).isoformat()
    assert (await client.post(f"{API}/keys", json={"name": "x", "expires_at": ahead})).status_code == 201


async def test_revocation_and_expiry(services: Services, locked: Locked) -> None:
    admin, _ = await make_key(services, "admin")
    token, key_id = await make_key(services, "read")
    past, _ = await make_key(services, "read", expires_at=datetime.now(UTC) - timedelta(seconds=1))
    future, _ = await make_key(services, "read", expires_at=datetime.now(UTC) + timedelta(hours=1))

    async def status(token: str) -> int:
        async with locked(Authorization=f"Bearer {token}") as client:
            return (await client.get(f"{API}/cards")).status_code

    assert [await status(one) for one in (token, past, future)] == [200, 401, 200]
    async with locked(Authorization=f"Bearer {admin}") as client:
        for _ in range(2):
            assert (await client.delete(f"{API}/keys/{key_id}")).status_code == 204
        assert (await client.get(f"{API}/keys/{key_id}")).json()["revoked_at"] is not None
    assert await status(token) == 401


async def test_a_secret_of_another_key_opens_nothing(services: Services, locked: Locked) -> None:
    (first, first_id), (second, second_id) = await make_key(services, "read"), await make_key(services, "read")
    secrets = [token.split("_", 2)[2] for token in (first, second)]
    for forged in (
        f"mc_{first_id.hex}_{secrets[1]}",
        f"mc_{second_id.hex}_{secrets[0]}",
        first[:-1],
        first + "x",
        f"mc_{first_id.hex}_",
        f"MC_{first_id.hex}_{secrets[0]}",
        first.replace("_", "-"),
        f"{first} {second}",
    ):
        async with locked(Authorization=f"Bearer {forged}") as client:
            assert_problem(await client.get(f"{API}/cards"), 401, "invalid_api_key")


def test_secrets_are_compared_with_their_hash() -> None:
    issued = issue()
    parsed = parse(issued.token)
    assert parsed is not None
    assert parsed[0] == issued.id
    assert matches(parsed[1], issued.secret_hash)
    assert not matches(parsed[1] + "x", issued.secret_hash)
    assert not matches(parsed[1], None)
    assert not matches("", None)


async def test_use_is_noted_once_a_minute(services: Services, locked: Locked) -> None:
    token, _ = await make_key(services, "read")
    statement = "SELECT last_used_at FROM api_keys"
    async with locked(X_API_Key=token) as client:
        await asyncio.gather(*(client.get(f"{API}/cards") for _ in range(5)))
        ((first,),) = await fetch(services.database, statement)
        assert abs(datetime.now(UTC) - first) < timedelta(seconds=30)
        await client.get(f"{API}/cards")
        assert await fetch(services.database, statement) == [(first,)]
        await execute(services.database, "UPDATE api_keys SET last_used_at = now() - interval '61 seconds'")
        await client.get(f"{API}/cards")
        ((third,),) = await fetch(services.database, statement)
        assert third >= first


# ---------------------------------------------------------------------------- strangers in a browser


FROM_ELSEWHERE = [
    ({"Origin": "https://evil.example"}, "POST", False),
    ({"Origin": "null"}, "POST", False),
    ({"Origin": "http://127.0.0.1:9999"}, "POST", False),
    ({"Origin": "http://127.0.0.1:8000"}, "POST", True),
    ({"Host": "evil.example:8000"}, "GET", False),
    ({"Host": "evil.example:8000", "Origin": "http://evil.example:8000"}, "POST", False),
    ({"Host": "127.0.0.1.evil.example"}, "GET", False),
    ({"Host": "localhost:8000", "Origin": "http://localhost:8000"}, "POST", True),
    ({"Host": "app.localhost:8000"}, "GET", True),
    ({"Host": "[::1]:8000"}, "GET", True),
    ({"Host": "mindcone"}, "POST", True),
    ({"Host": "[::1"}, "GET", False),
]


async def test_a_web_site_cannot_use_an_open_instance(services: Services, client: httpx.AsyncClient) -> None:
    """L7 and DNS rebinding: without a key only programs of this machine come in."""
    token, _ = await make_key(services, "read", "write")
    for headers, method, allowed in FROM_ELSEWHERE:
        body = {"json": {"content": "x"}} if method == "POST" else {}
        before = await fetch(services.database, "SELECT count(*) FROM cards")
        answer = await client.request(method, f"{API}/cards", headers=headers, **body)  # type: ignore[arg-type]
        if allowed:
            assert answer.status_code in {200, 201}, headers
        else:
            assert_problem(answer, 403, "foreign_origin")
            assert await fetch(services.database, "SELECT count(*) FROM cards") == before
        keyed = {**headers, "X-API-Key": token}
        answer = await client.request(method, f"{API}/cards", headers=keyed, **body)  # type: ignore[arg-type]
        assert answer.status_code in {200, 201}, headers


async def test_cors_is_off_unless_configured(services: Services, client: httpx.AsyncClient) -> None:
    """L7."""
    origin = {"Origin": "https://app.example"}
    preflight = {**origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    answer = await client.get("/health/live", headers=origin)
    assert "access-control-allow-origin" not in answer.headers
    assert (await client.options(f"{API}/cards", headers=preflight)).status_code == 405

    settings: Settings = services.settings.model_copy(update={"cors_origins": ["https://app.example"]})
    services.settings = settings  # type: ignore[misc]
    transport = httpx.ASGITransport(create_app(services))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as configured:
        allowed = await configured.options(f"{API}/cards", headers=preflight)
        assert allowed.headers["access-control-allow-origin"] == "https://app.example"
        assert "access-control-allow-credentials" not in allowed.headers
        refused = await configured.options(f"{API}/cards", headers=preflight | {"Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in refused.headers
        posted = await configured.post(f"{API}/cards", json={"content": "x"}, headers=origin)
        assert posted.status_code == 201
        assert "etag" in posted.headers["access-control-expose-headers"].lower()
