"""Communities over HTTP: listed by level, shown with their report and parts, made anew on demand."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from app.jobs.run import run_until_idle
from app.wiring import Services
from app.worker import handlers
from tests.api_client import API, assert_problem, ingest_all, make_key, make_workspace
from tests.test_communities import GROUPS, note

pytest_plugins = ("tests.api_client",)

Client = httpx.AsyncClient
ROUTE = f"{API}/graph/communities"


async def rebuild(services: Services, client: Client) -> dict[str, Any]:
    answer = await client.post(f"{ROUTE}/rebuild")
    assert answer.status_code == 202
    job: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"{API}/jobs/{job['id']}"
    assert (job["kind"], job["state"]) == ("communities", "queued")
    await run_until_idle(services.database.dsn, handlers(services))
    done = (await client.get(f"{API}/jobs/{job['id']}")).json()
    assert (done["state"], done["progress"]) == ("done", 1.0)
    return dict(done)


async def listed(client: Client, **query: Any) -> list[dict[str, Any]]:
    """All pages."""
    items: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = (await client.get(ROUTE, params=query | ({"cursor": cursor} if cursor else {}))).json()
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return items


@pytest.fixture
async def cards(services: Services, client: Client) -> list[str]:
    items = [{"title": f"Letters {n}", "content": note(names)} for n, names in enumerate(GROUPS)]
    made = (await client.post(f"{API}/cards/bulk", json={"items": items})).json()["items"]
    await ingest_all(services)
    return [item["id"] for item in made]


async def test_an_empty_graph_has_no_communities(services: Services, client: Client) -> None:
    """G8"""
    await rebuild(services, client)
    assert (await client.get(ROUTE)).json() == {"items": [], "next_cursor": None}


async def test_they_are_listed_by_level_and_page(services: Services, client: Client, cards: list[str]) -> None:
    await rebuild(services, client)
    found = await listed(client)
    assert len(found) >= len(GROUPS)
    assert [(one["level"], -one["size"], one["id"]) for one in found] == sorted(
        (one["level"], -one["size"], one["id"]) for one in found
    )
    assert await listed(client, limit=1) == found
    assert await listed(client, level=0) == [one for one in found if one["level"] == 0]
    assert await listed(client, level=99) == []
    assert not any(one["stale"] for one in found)
    assert all(one["title"] and one["summary"] and 0 <= one["rating"] <= 10 for one in found)


async def test_one_is_shown_with_report_members_and_parts(services: Services, client: Client, cards: list[str]) -> None:
    await rebuild(services, client)
    found = await listed(client)
    children: dict[str | None, set[str]] = {}
    for one in found:
        children.setdefault(one["parent_id"], set()).add(one["id"])
    for one in found:
        shown = (await client.get(f"{ROUTE}/{one['id']}")).json()
        assert {name: shown[name] for name in one} == one
        assert len(shown["members"]) == one["size"]
        assert {child["id"] for child in shown["children"]} == children.get(one["id"], set())
        members = {member["id"] for member in shown["members"]}
        assert shown["report"]["findings"]
        for finding in shown["report"]["findings"]:
            assert set(finding["card_ids"]) <= set(cards)
            assert finding["card_ids"]
            assert set(finding["entity_ids"]) <= members


async def degrees(client: Client) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in await listed(client, level=0):
        members = (await client.get(f"{ROUTE}/{one['id']}")).json()["members"]
        found |= {member["name"]: member["degree"] for member in members}
    return found


async def test_statements_of_what_was_merged_count_for_the_survivor(
    services: Services, client: Client, cards: list[str]
) -> None:
    await rebuild(services, client)
    before = await degrees(client)
    ids = {}
    for name in ("Ada Lovelace", "Marie Curie"):
        found = (await client.get(f"{API}/graph/entities", params={"q": name})).json()["items"]
        (ids[name],) = [entity["id"] for entity in found if entity["name"] == name]
    route = f"{API}/graph/entities/{ids['Marie Curie']}/merge"
    assert (await client.post(route, json={"into": ids["Ada Lovelace"]})).status_code == 200
    await rebuild(services, client)
    joined = before.pop("Ada Lovelace") + before.pop("Marie Curie")
    assert await degrees(client) == before | {"Ada Lovelace": joined}


async def test_the_drawn_graph_says_which_community_an_entity_is_in(
    services: Services, client: Client, cards: list[str]
) -> None:
    await rebuild(services, client)
    top = {one["id"] for one in await listed(client, level=0)}
    nodes = (await client.get(f"{API}/graph", params={"center": cards[0]})).json()["nodes"]
    assert {node["community"] for node in nodes if node["kind"] != "entity"} == {None}
    ours = {node["community"] for node in nodes if node["kind"] == "entity" and node["label"] in GROUPS[0]}
    assert ours
    assert ours <= top


async def test_what_has_changed_is_stale_until_the_next_run(
    services: Services, client: Client, cards: list[str]
) -> None:
    await rebuild(services, client)
    before = {one["id"] for one in await listed(client)}
    changed = await client.patch(
        f"{API}/cards/{cards[1]}",
        json={"content": note(GROUPS[1], " It rained.")},
        headers={"If-Match": (await client.get(f"{API}/cards/{cards[1]}")).headers["etag"]},
    )
    assert changed.status_code == 200
    await ingest_all(services)
    stale = [one for one in await listed(client) if one["stale"]]
    assert 0 < len(stale) < len(before)
    for one in stale:
        shown = (await client.get(f"{ROUTE}/{one['id']}")).json()
        assert shown["stale"]
        assert {member["name"] for member in shown["members"]} & set(GROUPS[1])
    await rebuild(services, client)
    assert {(one["id"], one["stale"]) for one in await listed(client)} == {(one, False) for one in before}


async def test_asked_for_twice_it_is_one_job(client: Client) -> None:
    """F7"""
    first, second = [(await client.post(f"{ROUTE}/rebuild")).json() for _ in range(2)]
    assert first["id"] == second["id"]


async def test_what_is_not_there_is_not_found(services: Services, client: Client, cards: list[str]) -> None:
    """N1, N2; and what another workspace has is not there."""
    assert_problem(await client.get(f"{ROUTE}/{uuid.uuid4()}"), 404, "community_not_found")
    assert (await client.get(f"{ROUTE}/nonsense")).status_code == 422
    assert (await client.get(ROUTE, params={"level": -1})).status_code == 422
    assert (await client.get(ROUTE, params={"cursor": "nonsense"})).status_code == 422
    await rebuild(services, client)
    ours = (await listed(client))[0]["id"]
    token, _ = await make_key(services, "read", workspace_id=await make_workspace(services, "other"))
    headers = {"Authorization": f"Bearer {token}"}
    assert_problem(await client.get(f"{ROUTE}/{ours}", headers=headers), 404, "community_not_found")
    assert (await client.get(ROUTE, headers=headers)).json()["items"] == []
    assert (await client.post(f"{ROUTE}/rebuild", headers=headers)).status_code == 403
