"""Callers' own extractions over HTTP: what is taken, what is filled, and what a repeated post changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from app.core.ids import new_id
from app.wiring import Services
from tests.api_client import API, assert_problem, create, fetch, ingest_all, make_key, make_workspace

pytest_plugins = ("tests.api_client",)

Client = httpx.AsyncClient
Item = dict[str, Any]

TALK = (
    "[1:14 pm] Caroline: I moved to Lisbon on 3 May 2023 and pay 900 euros of rent.\n"
    "[1:15 pm] Melanie: Wonderful! I started to paint in March 2023."
)


def item(**changes: Any) -> Item:
    return {
        "external_id": "e1",
        "card": {"external_id": "c1", "title": "A talk", "content": TALK, "created_at": "1:14 pm on 25 May, 2023"},
        "title": "Caroline moves to Lisbon",
        "summary": "Caroline moved to Lisbon and pays rent there.",
        "occurred_at": "3 May 2023",
        "facets": [
            {
                "title": "The move",
                "description": "Caroline moved to Lisbon.",
                "points": [{"text": "Caroline moved to Lisbon on 3 May 2023."}],
            }
        ],
        "entities": [
            {"name": "Caroline", "type": "Person"},
            {"name": "Lisbon", "type": "city", "description": "The capital of Portugal."},
        ],
        "relations": [{"source": "Caroline", "target": "Lisbon", "predicate": "moved to", "text": "Caroline moved."}],
        "complete": True,
    } | changes


async def post(client: Client, *items: Any, **headers: str) -> list[dict[str, Any]]:
    # Escaped, so that it can say what UTF-8 cannot.
    body = json.dumps({"items": list(items)})
    answer = await client.post(f"{API}/episodes", content=body, headers={"Content-Type": "application/json", **headers})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    assert [one["index"] for one in found] == list(range(len(items)))
    return found


async def learned(services: Services, client: Client, *items: Item) -> list[dict[str, Any]]:
    """What became of each item, its episode read back as `episode`."""
    done = await post(client, *items)
    await ingest_all(services)
    return [one | {"episode": await read(client, one["id"])} for one in done]


async def read(client: Client, episode_id: str) -> dict[str, Any]:
    answer = await client.get(f"{API}/episodes/{episode_id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def statuses(done: list[dict[str, Any]]) -> list[str]:
    return [one["status"] for one in done]


def claims(episode: dict[str, Any]) -> list[str]:
    return [point["text"] for facet in episode["facets"] for point in facet["points"]]


ROWS = ("episodes", "episode_cards", "facets", "points", "point_entities", "roles", "relations", "mentions", "entities")


async def rows(services: Services) -> dict[str, int]:
    """How many rows there are of each kind."""
    return {
        table: (await fetch(services.database, f"SELECT count(*) FROM {table}"))[0][0]
        for table in (*ROWS, "chunks", "cards", "posted_episodes")
    }


# --------------------------------------------------------------------------------- what is taken


async def test_a_complete_item_is_taken_as_it_is(services: Services, client: Client) -> None:
    (done,) = await learned(services, client, item())
    assert (done["status"], done["external_id"], done["error"]) == ("created", "e1", None)
    episode = done["episode"]
    assert (episode["id"], episode["external_id"], episode["origin"]) == (done["id"], "e1", "posted")
    assert (episode["title"], episode["summary"]) == (
        "Caroline moves to Lisbon",
        "Caroline moved to Lisbon and pays rent there.",
    )
    assert episode["happened"] == {"start": "2023-05-03T00:00:00Z", "end": "2023-05-04T00:00:00Z"}
    assert [card["external_id"] for card in episode["cards"]] == ["c1"]
    assert [(facet["title"], facet["description"]) for facet in episode["facets"]] == [
        ("The move", "Caroline moved to Lisbon.")
    ]
    assert claims(episode) == ["Caroline moved to Lisbon on 3 May 2023."]
    card = (await client.get(f"{API}/cards/{done['card_id']}")).json()
    assert (card["created_at"], card["content"], card["ingestion"]["state"]) == ("2023-05-25T13:14:00Z", TALK, "ready")
    entities = (await client.get(f"{API}/graph/entities")).json()["items"]
    assert {(one["name"], one["type"], one["description"]) for one in entities} == {
        ("Caroline", "person", ""),
        ("Lisbon", "place", "The capital of Portugal."),
    }
    assert await rows(services) == {
        "episodes": 1,
        "episode_cards": 1,
        "facets": 1,
        "points": 1,
        "point_entities": 2,
        "roles": 0,
        "relations": 1,
        # Each once; nobody is found inside of another word.
        "mentions": 2,
        "entities": 2,
        "chunks": 1,
        "cards": 1,
        "posted_episodes": 1,
    }


async def test_what_is_left_out_is_filled(services: Services, client: Client) -> None:
    """Points, entities and times are ours where the caller has none; what the caller has stays his."""
    bare = item(complete=False, entities=[], relations=[], facets=[], external_id="bare")
    (done,) = await learned(services, client, bare)
    told = claims(done["episode"])
    assert any("900" in claim for claim in told)
    assert any("paint" in claim for claim in told)
    moved = next(
        point for facet in done["episode"]["facets"] for point in facet["points"] if "3 May 2023" in point["text"]
    )
    assert moved["happened"] == {"start": "2023-05-03T00:00:00Z", "end": "2023-05-04T00:00:00Z"}
    names = {one["name"] for one in (await client.get(f"{API}/graph/entities")).json()["items"]}
    assert {"Caroline", "Melanie", "Lisbon"} <= names
    assert done["episode"]["origin"] == "posted"
    assert (await rows(services))["episodes"] == 1


async def test_a_facet_without_points_gets_them_from_its_description(services: Services, client: Client) -> None:
    facets = [{"title": "Rent", "description": "Caroline pays 900 euros. She found the flat in April 2023."}]
    (done,) = await learned(services, client, item(complete=False, facets=facets))
    first = done["episode"]["facets"][0]
    assert first["title"] == "Rent"
    assert any("900 euros" in point["text"] for point in first["points"])
    assert any("April 2023" in point["text"] and point["happened"] for point in first["points"])
    # The same with `complete` stays as it was said.
    (whole,) = await learned(services, client, item(facets=facets))
    assert whole["episode"]["facets"][0]["points"] == []


async def test_the_card_gets_no_second_episode_of_ours(services: Services, client: Client) -> None:
    (done,) = await learned(services, client, item(complete=False))
    assert await fetch(services.database, "SELECT id::text, origin FROM episodes") == [(done["id"], "posted")]
    assert (await client.post(f"{API}/cards/{done['card_id']}/reingest")).status_code == 202
    await ingest_all(services)
    assert await fetch(services.database, "SELECT id::text, origin FROM episodes") == [(done["id"], "posted")]


async def test_an_item_may_tell_a_card_that_is_there(services: Services, client: Client) -> None:
    """By either id; what our extractor had made of it goes."""
    card = await create(client, title="A talk", content=TALK, external_id="c1")
    await ingest_all(services)
    assert (await fetch(services.database, "SELECT DISTINCT origin FROM episodes")) == [("own",)]
    by_name = item(card={"external_id": "c1"})
    by_id = item(card={"id": card["id"]}, external_id="e2")
    done = await learned(services, client, by_name, by_id)
    assert [one["card_id"] for one in done] == [card["id"]] * 2
    assert await fetch(services.database, "SELECT external_id, origin FROM episodes ORDER BY 1") == [
        ("e1", "posted"),
        ("e2", "posted"),
    ]
    assert (await client.get(f"{API}/cards/{card['id']}")).json()["version"] == card["version"]


async def test_two_items_tell_one_new_card(services: Services, client: Client) -> None:
    plain = {"title": "A talk", "content": TALK}
    done = await learned(services, client, item(card=plain), item(card=plain, external_id="e2", title="Another"))
    assert len({one["card_id"] for one in done}) == 1
    assert [one["episode"]["title"] for one in done] == ["Caroline moves to Lisbon", "Another"]
    assert (await rows(services))["cards"] == 1


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1:14 pm on 25 May, 2023", "2023-05-25T13:14:00Z"),
        ("2023-05-25", "2023-05-25T00:00:00Z"),
        ("May 25, 2023 at 09:30", "2023-05-25T09:30:00Z"),
        ("2023-05-25T13:14:00+02:00", "2023-05-25T11:14:00Z"),
        ("25.05.2023", "2023-05-25T00:00:00Z"),
    ],
)
async def test_dates_as_people_write_them(client: Client, written: str, meant: str) -> None:
    (done,) = await post(client, item(card={"title": "A", "content": TALK, "created_at": written}))
    assert (await client.get(f"{API}/cards/{done['card_id']}")).json()["created_at"] == meant


async def test_offsets_are_the_callers_or_where_the_words_stand(services: Services, client: Client) -> None:
    said = "I started to paint in March 2023."
    points = [
        {"text": "Melanie paints.", "start": 0, "end": 9},
        {"text": said},
        {"text": "Nowhere in the text."},
        {"text": "Beyond its end.", "start": 5, "end": 100_000},
        {"text": "Backwards.", "start": 9, "end": 5},
    ]
    (done,) = await learned(services, client, item(facets=[{"title": "T", "points": points}]))
    found = done["episode"]["facets"][0]["points"]
    at = TALK.index(said)
    assert [(point["start"], point["end"]) for point in found] == [
        (0, 9),
        (at, at + len(said)),
        (None, None),
        (None, None),
        (None, None),
    ]


# ------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "a\0b"},
        {"title": " "},
        {"title": None},
        {"summary": "\ud800"},
        {"occurred_at": "the day before yesterday"},
        {"occurred_at": "25 May"},
        {"occurred_at": 20230525},
        {"card": {"title": "no content"}},
        {"card": {"id": "not-an-id"}},
        {"card": {"content": "x\0", "title": "x"}},
        {"card": {"content": "x", "created_at": "some day"}},
        {"card": {"content": "x", "id": str(new_id())}},
        {"card": "c1"},
        {"facets": [{"title": "x", "points": [{"text": "NUL \0"}]}]},
        {"facets": [{"title": "x", "points": [{"text": "x", "start": -1, "end": 4}]}]},
        {"facets": [{"title": "x", "points": [{"text": "x", "start": "0"}]}]},
        {"entities": [{"name": "\0"}]},
        {"entities": [{"name": "x", "colour": "red"}]},
        {"relations": [{"source": "x", "target": "y", "text": "\0"}]},
        {"relations": [{"source": "x"}]},
        {"complete": "yes"},
        {"colour": "red"},
        {"external_id": ""},
    ],
)
async def test_a_bad_item_is_rejected_alone(services: Services, client: Client, changes: Item) -> None:
    """A1, A4, A7"""
    good = item(external_id="good", card={"external_id": "good", "title": "Good", "content": "Good."})
    done = await post(client, item(**changes), good)
    assert statuses(done) == ["rejected", "created"]
    assert done[0]["error"]["code"] == "validation_error"
    assert done[0]["error"]["errors"]
    assert (await rows(services))["cards"] == 1


async def test_other_refusals(services: Services, client: Client) -> None:
    unknown_id, unknown_name = item(card={"id": str(new_id())}), item(card={"external_id": "nobody"}, external_id="e2")
    empty = item(card={"content": "", "external_id": "c3"}, external_id="e3")
    twice = item(external_id="e4", card={"external_id": "c4", "title": "T", "content": "Text."})
    stolen = item(external_id="e4", card={"external_id": "c5", "title": "T", "content": "Other text."})
    done = await post(client, unknown_id, unknown_name, empty, twice, twice)
    assert [(one["status"], (one["error"] or {}).get("code")) for one in done] == [
        ("rejected", "card_not_found"),
        ("rejected", "card_not_found"),
        ("rejected", "empty_card"),
        ("created", None),
        ("rejected", "duplicate_in_body"),
    ]
    (other,) = await post(client, stolen)
    assert (other["status"], other["error"]["code"]) == ("rejected", "external_id_taken")
    # What a rejected item would have written is not there either.
    assert await fetch(services.database, "SELECT external_id FROM cards ORDER BY 1") == [("c4",)]


async def test_a_body_that_is_no_list_of_items(client: Client) -> None:
    for body in ({}, {"items": 7}, {"items": [], "colour": 1}, [], {"items": [item()] * 501}):
        assert_problem(await client.post(f"{API}/episodes", json=body), 422, "validation_error")
    assert (await client.post(f"{API}/episodes", json={"items": []})).json() == {"items": []}
    assert_problem(await client.get(f"{API}/episodes/{new_id()}"), 404, "episode_not_found")
    assert_problem(await client.get(f"{API}/episodes/x"), 422, "validation_error")
    unknown = await client.post(f"{API}/episodes?upsert=true", json={"items": []})
    assert_problem(unknown, 422, "validation_error")


# ------------------------------------------------------------------------------------- once more


async def test_the_same_again_changes_nothing(services: Services, client: Client) -> None:
    """C4, C13"""
    (first,) = await learned(services, client, item())
    before = await rows(services)
    (again,) = await post(client, item())
    assert (again["status"], again["id"], again["card_id"]) == ("unchanged", first["id"], first["card_id"])
    assert await fetch(services.database, "SELECT state FROM cards") == [("ready",)]
    assert await rows(services) == before


async def test_a_changed_item_replaces_what_it_said(services: Services, client: Client) -> None:
    """C5: a changed number is kept."""
    (first,) = await learned(services, client, item())
    points = [{"text": "Caroline moved to Lisbon on 4 May 2023."}]
    changed = item(facets=[{"title": "The move", "points": points}], entities=[{"name": "Lisbon"}], relations=[])
    (again,) = await learned(services, client, changed)
    assert (again["status"], again["id"]) == ("updated", first["id"])
    assert claims(again["episode"]) == ["Caroline moved to Lisbon on 4 May 2023."]
    counted = await rows(services)
    assert {name: counted[name] for name in ("episodes", "points", "relations", "entities", "mentions")} == {
        "episodes": 1,
        "points": 1,
        "relations": 0,
        "entities": 1,
        "mentions": 1,
    }


async def test_a_repeated_request_gets_the_first_answer(client: Client) -> None:
    first = await client.post(f"{API}/episodes", json={"items": [item()]}, headers={"Idempotency-Key": "k"})
    again = await client.post(f"{API}/episodes", json={"items": [item()]}, headers={"Idempotency-Key": "k"})
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")


async def test_a_repost_after_the_text_has_changed(services: Services, client: Client) -> None:
    (first,) = await learned(services, client, item())
    longer = item(card=item()["card"] | {"content": TALK + "\n[1:16 pm] Caroline: Bye!"})
    (again,) = await learned(services, client, longer)
    assert (again["status"], again["id"], again["card_id"]) == ("updated", first["id"], first["card_id"])
    assert (await client.get(f"{API}/cards/{first['card_id']}")).json()["content"].endswith("Bye!")
    assert (await rows(services))["episodes"] == 1


async def test_an_edit_of_the_card_drops_what_was_posted_of_its_old_text(services: Services, client: Client) -> None:
    (first,) = await learned(services, client, item())
    changed = await client.patch(f"{API}/cards/{first['card_id']}", json={"content": "Melanie sold a boat in Oslo."})
    assert changed.status_code == 200
    await ingest_all(services)
    assert await fetch(services.database, "SELECT DISTINCT origin, external_id FROM episodes") == [("own", None)]
    assert (await rows(services))["posted_episodes"] == 0
    names = {row[0] for row in await fetch(services.database, "SELECT name FROM entities")}
    assert "Caroline" not in names
    assert any("boat" in row[0] for row in await fetch(services.database, "SELECT text FROM points"))
    # Said anew of the new text, it counts again.
    (again,) = await learned(services, client, item(card={"external_id": "c1"}))
    assert again["status"] == "created"
    assert await fetch(services.database, "SELECT origin, external_id FROM episodes") == [("posted", "e1")]


async def test_other_fields_of_the_card_leave_it(services: Services, client: Client) -> None:
    (first,) = await learned(services, client, item())
    assert (await client.patch(f"{API}/cards/{first['card_id']}", json={"tags": ["x"]})).status_code == 200
    await ingest_all(services)
    assert (await read(client, first["id"]))["external_id"] == "e1"


@pytest.mark.parametrize("permanent", ["false", "true"])
async def test_what_is_deleted_can_be_posted_again(services: Services, client: Client, permanent: str) -> None:
    """D1, D5: nothing of the first life comes back, and nothing of it is in the way."""
    (first,) = await learned(services, client, item())
    assert (await client.delete(f"{API}/cards/{first['card_id']}", params={"permanent": permanent})).status_code == 204
    gone = await rows(services)
    assert {gone[table] for table in ROWS} == {0}
    assert_problem(await client.get(f"{API}/episodes/{first['id']}"), 404, "episode_not_found")
    (again,) = await learned(services, client, item())
    assert again["status"] == "created"
    assert again["card_id"] != first["card_id"]
    assert (await rows(services))["episodes"] == 1
    mentioned = await fetch(services.database, "SELECT DISTINCT card_id::text FROM mentions")
    assert mentioned == [(again["card_id"],)]


async def test_a_deleted_card_comes_back_with_its_episode(services: Services, client: Client) -> None:
    (first,) = await learned(services, client, item())
    before = await rows(services)
    await client.delete(f"{API}/cards/{first['card_id']}")
    await client.post(f"{API}/cards/{first['card_id']}/undelete")
    await ingest_all(services)
    assert (await read(client, first["id"]))["external_id"] == "e1"
    assert await rows(services) == before


async def test_two_tenants_with_the_same_ids(services: Services, locked: Callable[..., Client]) -> None:
    """D7, L10"""
    other = await make_workspace(services, "other")
    (my_token, _), (their_token, _) = (
        await make_key(services, "read", "write"),
        await make_key(services, "read", "write", workspace_id=other),
    )
    async with (
        locked(authorization=f"Bearer {my_token}") as owner,
        locked(authorization=f"Bearer {their_token}") as stranger,
    ):
        (mine,) = await learned(services, owner, item())
        (theirs,) = await post(stranger, item(title="Theirs"))
        assert theirs["status"] == "created"
        await ingest_all(services, other)
        assert (await read(stranger, theirs["id"]))["title"] == "Theirs"
        assert_problem(await stranger.get(f"{API}/episodes/{mine['id']}"), 404, "episode_not_found")
        (foreign,) = await post(stranger, item(card={"id": mine["card_id"]}, external_id="e9"))
        assert foreign["error"]["code"] == "card_not_found"
        assert (await stranger.delete(f"{API}/cards/{theirs['card_id']}")).status_code == 204
        assert await read(owner, mine["id"]) == mine["episode"]


async def test_scopes(services: Services, locked: Callable[..., Client]) -> None:
    token, _ = await make_key(services, "read")
    async with locked(authorization=f"Bearer {token}") as reader:
        refused = await reader.post(f"{API}/episodes", json={"items": [item()]})
        assert_problem(refused, 403, "missing_scope")
    async with locked() as nobody:
        assert_problem(await nobody.post(f"{API}/episodes", json={"items": []}), 401, "unauthorized")
