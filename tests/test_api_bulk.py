"""Many cards in one body: one bad item never spoils the others."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

import httpx
import pytest
from sqlalchemy.exc import DBAPIError

from app.api.problems import unexpected
from app.core.errors import MindConeError
from app.ingestion.submit import NewCard
from app.wiring import Services
from tests.api_client import API, assert_problem, create, execute, fetch, ingest_all

pytest_plugins = ("tests.api_client",)


async def bulk(client: httpx.AsyncClient, *items: Any) -> list[dict[str, Any]]:
    answer = await client.post(f"{API}/cards/bulk", json={"items": list(items)})
    assert answer.status_code == 200, answer.text
    done: list[dict[str, Any]] = answer.json()["items"]
    assert [one["index"] for one in done] == list(range(len(items)))
    return done


def summary(done: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(one["status"], one["error"] and one["error"]["code"]) for one in done]


async def test_bad_items_are_reported_and_the_good_ones_stored(client: httpx.AsyncClient, services: Services) -> None:
    """A1, A4: an escaped NUL in one of many."""
    done = await bulk(
        client,
        {"content": "good one"},
        {"content": "nul \x00 inside"},
        {"content": "野"},
        {"content": ""},
        {"contents": "typo"},
        {"title": "says nothing of its content"},
        {"title": "content null", "content": None},
        {"title": "Title alone", "content": ""},
        {"content": "x", "metadata": {"deep": [{"k": "\x00"}]}},
        {"content": "x", "tags": ["ok", 5]},
        "not an object",
        None,
        {"content": "长" * 400_000},
        {"content": "good last", "external_id": "e"},
    )
    assert summary(done) == [
        ("created", None),
        ("rejected", "validation_error"),
        ("created", None),
        ("rejected", "empty_card"),
        ("rejected", "validation_error"),
        ("rejected", "validation_error"),
        ("rejected", "validation_error"),
        ("created", None),
        ("rejected", "validation_error"),
        ("rejected", "validation_error"),
        ("rejected", "validation_error"),
        ("rejected", "validation_error"),
        ("rejected", "card_too_large"),
        ("created", None),
    ]
    assert done[1]["error"]["errors"][0]["loc"] == ["content"]
    assert [(error["loc"], error["type"]) for error in done[5]["error"]["errors"]] == [(["content"], "missing")]
    assert [one["id"] is None for one in done] == [one["status"] == "rejected" for one in done]
    stored = await fetch(services.database, "SELECT content FROM cards ORDER BY content")
    assert stored == [("",), ("good last",), ("good one",), ("野",)]


async def test_a_repeated_external_id_wins_once(client: httpx.AsyncClient, services: Services) -> None:
    """D20."""
    done = await bulk(
        client,
        {"content": "\x00", "external_id": "a"},
        {"content": " ", "external_id": "a"},
        {"content": "first", "external_id": "a"},
        {"content": "second", "external_id": "a"},
        {"content": "other", "external_id": "b"},
        {"content": "third", "external_id": "a"},
        {"content": "no id"},
        {"content": "no id"},
    )
    assert summary(done) == [
        ("rejected", "validation_error"),
        ("rejected", "empty_card"),
        ("created", None),
        ("rejected", "duplicate_in_body"),
        ("created", None),
        ("rejected", "duplicate_in_body"),
        ("created", None),
        ("created", None),
    ]
    rows = await fetch(services.database, "SELECT content FROM cards WHERE external_id = 'a'")
    assert rows == [("first",)]


async def test_known_cards_are_upserted(client: httpx.AsyncClient, services: Services) -> None:
    """C4, N13."""
    first = await bulk(client, *({"content": f"c{n}", "external_id": f"e{n}", "tags": ["t"]} for n in range(4)))
    await ingest_all(services)
    await client.delete(f"{API}/cards/{first[3]['id']}")
    taken = await create(client, content="mine", external_id="mine")
    done = await bulk(
        client,
        {"content": "c0", "external_id": "e0"},
        {"content": "changed", "external_id": "e1"},
        {"content": "c2", "external_id": "e2", "tags": ["new"]},
        {"content": "c3", "external_id": "e3"},
        {"content": "", "title": "", "external_id": "mine"},
    )
    assert summary(done) == [
        ("unchanged", None),
        ("updated", None),
        ("updated", None),
        ("created", None),
        ("rejected", "empty_card"),
    ]
    assert [one["id"] for one in done[:3]] == [one["id"] for one in first[:3]]
    assert done[3]["id"] != first[3]["id"]
    states = {
        card["external_id"]: (card["version"], card["tags"], card["ingestion"]["state"])
        for card in (await client.get(f"{API}/cards")).json()["items"]
    }
    assert states == {
        "e0": (1, ["t"], "ready"),
        "e1": (2, ["t"], "queued"),
        "e2": (2, ["new"], "queued"),
        "e3": (1, [], "queued"),
        "mine": (1, [], "queued"),
    }
    assert (await client.get(f"{API}/cards/{taken['id']}")).json()["content"] == "mine"
    again = await bulk(client, {"content": "changed", "external_id": "e1"})
    assert summary(again) == [("unchanged", None)]
    revisions = (await client.get(f"{API}/cards/{first[1]['id']}/revisions")).json()["items"]
    assert [(one["n"], one["content"]) for one in revisions] == [(2, "changed"), (1, "c1")]


async def test_links_and_jobs_come_with_bulk_cards(client: httpx.AsyncClient, services: Services) -> None:
    done = await bulk(client, {"title": "A", "content": "[[B]]"}, {"title": "B", "content": "[[A]] [[A]]"})
    for card, other, count in ((done[0], done[1], 2), (done[1], done[0], 1)):
        found = (await client.get(f"{API}/cards/{card['id']}/links")).json()
        assert [link["card"]["id"] for link in found["incoming"]] == [other["id"]] * count
    queued = await fetch(services.database, "SELECT payload FROM jobs")
    assert sorted(pair for (payload,) in queued for pair in payload["cards"]) == sorted([one["id"], 1] for one in done)


async def test_size_of_a_bulk(client: httpx.AsyncClient) -> None:
    assert await bulk(client) == []
    many = [{"content": "x"}] * 501
    assert_problem(await client.post(f"{API}/cards/bulk", json={"items": many}), 422, "validation_error")
    for body in ({}, {"items": None}, {"items": {}}, {"items": [], "more": 1}, [], "x", None):
        assert_problem(await client.post(f"{API}/cards/bulk", json=body), 422, "validation_error")


async def test_500_cards_take_less_than_a_second(client: httpx.AsyncClient, services: Services) -> None:
    text = "A note about [[Topic 7]] and 中国地图, with some words in it. " * 6
    items = [{"content": f"# Note {n}\n\n{text}", "external_id": f"n{n}", "tags": ["a", "b"]} for n in range(500)]
    await bulk(client, *items[:5])
    started = time.perf_counter()
    done = await bulk(client, *items)
    seconds = time.perf_counter() - started
    assert summary(done) == [("unchanged", None)] * 5 + [("created", None)] * 495
    assert seconds < 1.0
    statements = await fetch(services.database, "SELECT count(*), count(DISTINCT card_id) FROM card_revisions")
    assert statements == [(500, 500)]


async def test_bulks_with_the_same_names_in_opposite_order(client: httpx.AsyncClient, services: Services) -> None:
    """E1: no deadlock, no lost card, no duplicate."""
    names = [f"n{n}" for n in range(40)]
    for content in ("one", "two"):
        answers = await asyncio.gather(
            *(
                bulk(
                    client,
                    *(
                        {"content": f"{content} {writer} {name}", "external_id": name}
                        for name in (names if writer % 2 else reversed(names))
                    ),
                )
                for writer in range(6)
            )
        )
        outcomes = [one["status"] for done in answers for one in done]
        assert set(outcomes) <= {"created", "updated"}
        assert outcomes.count("created") == (40 if content == "one" else 0)
    rows = await fetch(services.database, "SELECT count(*), min(version), max(version) FROM cards")
    assert rows == [(40, 12, 12)]


async def test_bulks_while_the_same_cards_are_ingested(client: httpx.AsyncClient, services: Services) -> None:
    """E1, E2: whoever loses a deadlock tries again; no writer sees an error and every card ends ready."""
    names = [f"n{n}" for n in range(30)]
    writing = True

    async def ingest() -> None:
        while writing:
            with contextlib.suppress(DBAPIError):
                await ingest_all(services)
            await asyncio.sleep(0.01)

    ingesting = asyncio.create_task(ingest())
    for round_ in range(3):
        items = [
            [{"content": f"{round_} {writer} {name}", "external_id": name} for name in names] for writer in range(3)
        ]
        answers = await asyncio.gather(*(bulk(client, *some) for some in (items[0], items[1][::-1], items[2])))
        assert {one["status"] for done in answers for one in done} <= {"created", "updated"}
    writing = False
    await ingesting
    await execute(services.database, "UPDATE cards SET state = 'queued' WHERE state = 'working'")
    await ingest_all(services)
    assert (await client.get(f"{API}/ingestion")).json() == {"queued": 0, "working": 0, "ready": 30, "failed": 0}


async def test_a_value_the_database_refuses_spoils_no_other_card(services: Services) -> None:
    """A5: also below the doors, where an import hands in what a parser gave it."""
    items: list[NewCard | MindConeError] = [
        NewCard(content="good 1", external_id="a"),
        NewCard(content="bad \x00", external_id="b"),
        NewCard(content="good 2", metadata={"k": "fine"}),
        NewCard(content="bad", metadata={"k": "\x00"}),
    ]
    items += [NewCard(content="again", external_id="a"), NewCard(content="good 3", external_id="b")]
    async with services.database.unit() as session:
        done = await services.intake.submit_many(session, services.default_workspace, items)
    assert [(one.outcome, one.error and one.error.code) for one in done] == [
        ("created", None),
        ("rejected", "unstorable_value"),
        ("created", None),
        ("rejected", "unstorable_value"),
        ("rejected", "duplicate_in_body"),
        ("created", None),
    ]
    assert await fetch(services.database, "SELECT content FROM cards ORDER BY 1") == [
        ("good 1",),
        ("good 2",),
        ("good 3",),
    ]
    assert await fetch(services.database, "SELECT count(*) FROM card_revisions") == [(3,)]


async def test_one_value_the_database_refuses_is_422(services: Services) -> None:
    """A1: what gets past the door is still no 500."""
    with pytest.raises(DBAPIError) as caught:
        async with services.database.unit() as session:
            await services.intake.submit_card(session, services.default_workspace, NewCard(content="bad \x00"))
    answer = unexpected(caught.value, {"type": "http", "path": "/", "headers": [], "state": {}})
    assert answer.status_code == 422
    assert b"INSERT" not in bytes(answer.body)
