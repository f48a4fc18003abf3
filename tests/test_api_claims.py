"""Facts that change, over HTTP."""

from __future__ import annotations

import uuid

import httpx

from app.wiring import Services
from tests.api_client import API, assert_problem, create, ingest_all

pytest_plugins = ("tests.api_client",)


async def test_a_near_duplicate_with_another_number_is_kept_and_told(
    client: httpx.AsyncClient, services: Services
) -> None:
    """C5."""
    old = await create(
        client, title="Alpha", content="The Alpha warranty lasts 5 years.", created_at="2021-01-01T00:00:00Z"
    )
    new = await create(
        client, title="Alpha again", content="The Alpha warranty lasts 6 years.", created_at="2023-01-01T00:00:00Z"
    )
    await ingest_all(services)
    (pair,) = (await client.get(f"{API}/claims/superseded", params={"card_id": old["id"]})).json()["items"]
    assert (pair["older"]["card_id"], pair["newer"]["card_id"]) == (old["id"], new["id"])
    assert pair["older"]["valid_until"] == "2023-01-01T00:00:00Z"
    assert pair["newer"]["valid_until"] is None
    history = (await client.get(f"{API}/claims/{pair['newer']['id']}/history")).json()["items"]
    assert [claim["card_id"] for claim in history] == [old["id"], new["id"]]
    await client.delete(f"{API}/cards/{new['id']}")
    assert (await client.get(f"{API}/claims/superseded")).json() == {"items": []}


async def test_an_unknown_claim_is_not_found(client: httpx.AsyncClient) -> None:
    assert_problem(await client.get(f"{API}/claims/{uuid.uuid4()}/history"), 404, "point_not_found")
    assert_problem(await client.get(f"{API}/claims/x/history"), 422, "validation_error")
