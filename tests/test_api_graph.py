"""The graph over HTTP: entities as they are read and changed, candidates, and what is drawn."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import asyncpg
import httpx
import pytest

from app.core.ids import new_id
from app.db.session import Database, raw
from app.db.settings import DatabaseSettings
from app.db.sql import load
from app.graph import neighbourhood_queries as neighbourhood
from app.wiring import Services
from tests.api_client import API, assert_problem, fetch, ingest_all, make_key, make_workspace
from tests.conftest import with_database

pytest_plugins = ("tests.api_client",)

Client = httpx.AsyncClient


async def post(client: Client, *items: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await client.post(f"{API}/episodes", json={"items": list(items)})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    assert [item["error"] for item in found] == [None] * len(found)
    return found


def told(
    content: str, *entities: dict[str, Any], relations: list[tuple[str, str, str]] | None = None
) -> dict[str, Any]:
    """A complete item: its card says `content`, which is its title and its only claim."""
    return {
        "card": {"title": content[:40], "content": content},
        "title": content[:40],
        "summary": content,
        "facets": [{"title": "Told", "description": content, "points": [{"text": content}]}],
        "entities": list(entities),
        "relations": [
            {"source": source, "predicate": predicate, "target": target, "text": content}
            for source, predicate, target in relations or ()
        ],
        "complete": True,
    }


@pytest.fixture
async def cards(services: Services, client: Client) -> list[str]:
    """Ids of three cards: Ada knows Charles, Charles builds the Engine, Ada writes of the Engine."""
    ada = {"name": "Ada Lovelace", "type": "person", "description": "An English mathematician."}
    charles = {"name": "Charles Babbage", "type": "person", "aliases": ["Babbage"]}
    engine = {"name": "Analytical Engine", "type": "product"}
    found = await post(
        client,
        told("Ada Lovelace met Charles Babbage.", ada, charles, relations=[("Ada Lovelace", "met", "Charles Babbage")]),
        told(
            "Charles Babbage designed the Analytical Engine.",
            charles,
            engine,
            relations=[("Charles Babbage", "designed", "Analytical Engine")],
        ),
        told("Ada Lovelace wrote notes. Ada Lovelace was first.", ada),
    )
    await ingest_all(services)
    return [item["card_id"] for item in found]


async def entity(client: Client, name: str) -> dict[str, Any]:
    """The one of exactly this name."""
    items = (await client.get(f"{API}/graph/entities", params={"q": name})).json()["items"]
    (found,) = [item for item in items if item["name"] == name]
    made: dict[str, Any] = (await client.get(f"{API}/graph/entities/{found['id']}")).json()
    return made


# ----------------------------------------------------------------------------------------- reading


async def test_entities_are_listed_by_mentions(client: Client, cards: list[str]) -> None:
    items = (await client.get(f"{API}/graph/entities")).json()["items"]
    assert [(item["name"], item["mentions"], item["cards"]) for item in items] == [
        ("Ada Lovelace", 3, 2),
        # An alias inside of the name is no second mention.
        ("Charles Babbage", 2, 2),
        ("Analytical Engine", 1, 1),
    ]


async def test_pages_of_entities_hold_each_once(client: Client, cards: list[str]) -> None:
    everything = (await client.get(f"{API}/graph/entities")).json()
    assert everything["next_cursor"] is None
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(len(everything["items"])):
        params = {"limit": "1"} | ({"cursor": cursor} if cursor else {})
        page = (await client.get(f"{API}/graph/entities", params=params)).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert cursor is None
    assert seen == [item["id"] for item in everything["items"]]


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({"q": "babb"}, {"Charles Babbage"}),
        ({"q": "ＡＤＡ"}, {"Ada Lovelace"}),
        ({"q": "engine", "type": "product"}, {"Analytical Engine"}),
        ({"q": "engine", "type": "person"}, set()),
        ({"type": "人物"}, {"Ada Lovelace", "Charles Babbage"}),
        ({"q": "%"}, set()),
        ({"q": "nobody of this name"}, set()),
    ],
)
async def test_entities_are_found(client: Client, cards: list[str], asked: dict[str, str], names: set[str]) -> None:
    answer = await client.get(f"{API}/graph/entities", params=asked)
    assert answer.status_code == 200, answer.text
    assert {item["name"] for item in answer.json()["items"]} == names


async def test_an_entity_with_all_that_is_said_of_it(client: Client, cards: list[str]) -> None:
    found = await entity(client, "Ada Lovelace")
    assert (found["type"], found["description"]) == ("person", "An English mathematician.")
    assert (found["mention_count"], found["card_count"], found["degree"], found["merged"]) == (3, 2, 1, [])
    assert {(one["card_id"], one["start"], one["end"], one["name"]) for one in found["mentions"]} == {
        (cards[0], 0, 12, "Ada Lovelace"),
        (cards[2], 0, 12, "Ada Lovelace"),
        (cards[2], 26, 38, "Ada Lovelace"),
    }
    (relation,) = found["relations"]
    assert (relation["other_name"], relation["outgoing"], relation["predicate"], relation["card_id"]) == (
        "Charles Babbage",
        True,
        "met",
        cards[0],
    )
    assert relation["text"] == "Ada Lovelace met Charles Babbage."
    assert [(card["id"], card["mentions"]) for card in found["cards"]] == [(cards[2], 2), (cards[0], 1)]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "entities/{id}", None),
        ("PATCH", "entities/{id}", {"name": "x"}),
        ("POST", "entities/{id}/merge", {"into": str(uuid.UUID(int=7))}),
        ("POST", "entities/{id}/unmerge", None),
        ("POST", "entities/{id}/split", {"card_ids": [str(uuid.UUID(int=7))]}),
        ("POST", "candidates/{id}", {"decision": "merge"}),
    ],
)
async def test_missing_and_malformed_ids(client: Client, method: str, path: str, body: Any) -> None:
    """N1, N2"""
    code = "entity_pair_not_found" if path.startswith("candidates") else "entity_not_found"
    missing = await client.request(method, f"{API}/graph/{path.format(id=new_id())}", json=body)
    assert_problem(missing, 404, code)
    malformed = await client.request(method, f"{API}/graph/{path.format(id='not-an-id')}", json=body)
    assert_problem(malformed, 422, "validation_error")


@pytest.mark.parametrize(
    "query",
    [
        "entities?colour=red",
        "entities?limit=0",
        "entities?limit=201",
        "entities?type=furniture",
        "entities?q=%00",
        "entities?q=%20",
        "entities?cursor=WyJ4Il0",
        "candidates?state=unknown",
        "candidates?cursor=nonsense",
        "decisions?entity_id=7",
        "decisions?cursor=WzFd",
    ],
)
async def test_wrong_questions_are_422(client: Client, query: str) -> None:
    answer = await client.get(f"{API}/graph/{query}")
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


async def test_scopes(services: Services, locked: Callable[..., Client]) -> None:
    token, _ = await make_key(services, "read")
    async with locked(authorization=f"Bearer {token}") as reader:
        assert (await reader.get(f"{API}/graph")).status_code == 200
        assert (await reader.get(f"{API}/graph/entities")).status_code == 200
        for path, body in (
            (f"entities/{new_id()}/merge", {"into": str(new_id())}),
            (f"entities/{new_id()}/split", {"card_ids": [str(new_id())]}),
            (f"candidates/{new_id()}", {"decision": "merge"}),
        ):
            assert_problem(await reader.post(f"{API}/graph/{path}", json=body), 403, "missing_scope")
    async with locked() as nobody:
        assert_problem(await nobody.get(f"{API}/graph"), 401, "unauthorized")


# ---------------------------------------------------------------------------------------- changing


async def test_a_person_changes_an_entity(client: Client, cards: list[str]) -> None:
    """C11, N4, N5: exactly this one, absent fields stay, null clears."""
    before = await entity(client, "Ada Lovelace")
    path = f"{API}/graph/entities/{before['id']}"
    renamed = (await client.patch(path, json={"name": "Ada King", "aliases": ["Countess of Lovelace"]})).json()
    assert (renamed["id"], renamed["name"], renamed["description"]) == (before["id"], "Ada King", before["description"])
    assert (renamed["is_edited"], renamed["aliases"]) == (True, ["Countess of Lovelace"])
    cleared = (await client.patch(path, json={"description": None, "type": None, "aliases": None})).json()
    assert (cleared["name"], cleared["description"], cleared["type"], cleared["aliases"]) == (
        "Ada King",
        "",
        "other",
        [],
    )
    assert_problem(await client.patch(path, json={"name": None}), 422, "validation_error")
    assert_problem(await client.patch(path, json={"name": "a\0b"}), 422, "validation_error")
    assert_problem(await client.patch(path, json={"colour": "red"}), 422, "validation_error")
    taken = await client.patch(path, json={"name": "charles  BABBAGE", "type": "person"})
    problem = assert_problem(taken, 409, "entity_name_taken")
    assert problem["entity_id"] == (await entity(client, "Charles Babbage"))["id"]


async def test_what_a_person_has_changed_outlives_its_cards(
    services: Services, client: Client, cards: list[str]
) -> None:
    path = f"{API}/graph/entities/{(await entity(client, 'Ada Lovelace'))['id']}"
    await client.patch(path, json={"description": "My own words."})
    assert (await client.post(f"{API}/cards/{cards[0]}/reingest")).status_code == 202
    await ingest_all(services)
    assert (await client.get(path)).json()["description"] == "My own words."


async def test_merge_and_unmerge(client: Client, cards: list[str]) -> None:
    ada, charles = await entity(client, "Ada Lovelace"), await entity(client, "Charles Babbage")
    path = f"{API}/graph/entities/{ada['id']}"
    key = {"Idempotency-Key": "merge-1"}
    merged = await client.post(f"{path}/merge", json={"into": charles["id"]}, headers=key)
    assert merged.status_code == 200, merged.text
    body = merged.json()
    assert (body["id"], body["mention_count"], body["card_count"]) == (charles["id"], 5, 3)
    assert body["merged"] == [{"id": ada["id"], "name": "Ada Lovelace", "type": "person"}]
    assert "Ada Lovelace" in body["aliases"]
    # What joined the two is inside now.
    assert {relation["other_name"] for relation in body["relations"]} == {"Analytical Engine"}
    assert (await client.get(path)).json()["id"] == charles["id"]
    assert (await client.get(f"{API}/graph/entities", params={"q": "ada"})).json()["items"][0]["id"] == charles["id"]
    again = await client.post(f"{path}/merge", json={"into": charles["id"]}, headers=key)
    assert (again.content, again.headers["idempotent-replayed"]) == (merged.content, "true")
    assert_problem(await client.post(f"{path}/merge", json={"into": charles["id"]}), 409, "entity_not_mergeable")
    undone = await client.post(f"{path}/unmerge")
    assert (undone.status_code, undone.json()["mention_count"]) == (200, 3)
    assert_problem(await client.post(f"{path}/unmerge"), 409, "entity_not_merged")
    log = (await client.get(f"{API}/graph/decisions", params={"entity_id": ada["id"]})).json()["items"]
    assert [(one["outcome"], one["decided_by"], one["left"]["name"], one["right"]["name"]) for one in log] == [
        ("unmerged", "user", "Ada Lovelace", "Charles Babbage"),
        ("merged", "user", "Ada Lovelace", "Charles Babbage"),
    ]


async def test_a_split_holds_when_its_card_is_read_again(services: Services, client: Client, cards: list[str]) -> None:
    ada = await entity(client, "Ada Lovelace")
    path = f"{API}/graph/entities/{ada['id']}"
    mention = next(one for one in ada["mentions"] if one["card_id"] == cards[2])
    answer = await client.post(f"{path}/split", json={"mentions": [mention], "name": "Ada the Second"})
    assert answer.status_code == 200, answer.text
    fresh = answer.json()
    assert (fresh["name"], fresh["mention_count"], [card["id"] for card in fresh["cards"]]) == (
        "Ada the Second",
        2,
        [cards[2]],
    )
    await client.post(f"{API}/cards/{cards[2]}/reingest")
    await ingest_all(services)
    assert (await client.get(f"{API}/graph/entities/{fresh['id']}")).json()["mention_count"] == 2
    assert (await client.get(path)).json()["mention_count"] == 1
    assert_problem(await client.post(f"{path}/split", json={"card_ids": [cards[1]]}), 409, "entity_not_splittable")
    both = {"card_ids": [cards[0]], "mentions": [mention]}
    for body in ({}, both, {"card_ids": []}, {"card_ids": ["x"]}):
        assert_problem(await client.post(f"{path}/split", json=body), 422, "validation_error")


async def test_candidates_wait_for_a_decision(services: Services, client: Client) -> None:
    def of(name: str, about: str) -> dict[str, Any]:
        return told(f"{name} {about}.", {"name": name, "type": "person", "description": about})

    await post(client, of("李伟", "是清华大学物理学教授"), of("李伟", "是川菜馆的厨师"))
    await ingest_all(services)
    (pair,) = (await client.get(f"{API}/graph/candidates")).json()["items"]
    assert (pair["state"], pair["left"]["name"], pair["right"]["name"]) == ("waiting", "李伟", "李伟")
    assert {pair["left"]["description"], pair["right"]["description"]} == {"是清华大学物理学教授", "是川菜馆的厨师"}
    assert {context for side in ("left", "right") for context in pair[side]["contexts"]} == {
        "李伟 是清华大学物理学教授.",
        "李伟 是川菜馆的厨师.",
    }
    assert isinstance(pair["score"], float)
    path = f"{API}/graph/candidates/{pair['id']}"
    assert_problem(await client.post(path, json={"decision": "perhaps"}), 422, "validation_error")
    decided = await client.post(path, json={"decision": "apart"})
    assert (decided.status_code, decided.json()["state"], decided.json()["decided_by"]) == (200, "apart", "user")
    assert (await client.get(f"{API}/graph/candidates")).json() == {"items": [], "next_cursor": None}
    apart = (await client.get(f"{API}/graph/candidates", params={"state": "apart"})).json()["items"]
    assert [one["id"] for one in apart] == [pair["id"]]
    assert (await client.post(path, json={"decision": "apart"})).status_code == 200
    assert_problem(await client.post(path, json={"decision": "merge"}), 409, "entity_pair_decided")


async def test_other_workspaces_see_and_change_nothing(
    services: Services, cards: list[str], locked: Callable[..., Client]
) -> None:
    """D7, D13"""
    other = await make_workspace(services, "other")
    token, _ = await make_key(services, "read", "write", workspace_id=other)
    before = await fetch(services.database, "SELECT id, name, merged_into FROM entities ORDER BY id")
    ada, charles = ({"id": str(row[0])} for row in before if row[1] in ("Ada Lovelace", "Charles Babbage"))
    async with locked(authorization=f"Bearer {token}") as stranger:
        assert (await stranger.get(f"{API}/graph/entities")).json()["items"] == []
        assert (await stranger.get(f"{API}/graph")).json() == {"nodes": [], "edges": []}
        for method, path, body in (
            ("GET", f"entities/{ada['id']}", None),
            ("PATCH", f"entities/{ada['id']}", {"name": "Stolen"}),
            ("POST", f"entities/{ada['id']}/merge", {"into": charles["id"]}),
            ("POST", f"entities/{ada['id']}/split", {"card_ids": cards}),
        ):
            assert_problem(await stranger.request(method, f"{API}/graph/{path}", json=body), 404, "entity_not_found")
        found = await stranger.get(f"{API}/graph", params={"center": ada["id"]})
        assert_problem(found, 404, "graph_node_not_found")
    assert await fetch(services.database, "SELECT id, name, merged_into FROM entities ORDER BY id") == before


# ------------------------------------------------------------------------------------------ drawing


async def draw(client: Client, **params: Any) -> tuple[set[tuple[str, str]], set[tuple[str, str, str]]]:
    """Nodes as (kind, label), edges as (kind, source's label, target's label)."""
    answer = await client.get(f"{API}/graph", params=params)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    labels = {node["id"]: node["label"] for node in body["nodes"]}
    assert len(labels) == len(body["nodes"])
    assert len({edge["id"] for edge in body["edges"]}) == len(body["edges"])
    assert (await client.get(f"{API}/graph", params=params)).content == answer.content
    return (
        {(node["kind"], node["label"]) for node in body["nodes"]},
        {(edge["kind"], labels[edge["source"]], labels[edge["target"]]) for edge in body["edges"]},
    )


MET, DESIGNED, WROTE = (
    "Ada Lovelace met Charles Babbage.",
    "Charles Babbage designed the Analytical ",
    "Ada Lovelace wrote notes. Ada Lovelace w",
)


async def test_one_hop_and_two(client: Client, cards: list[str]) -> None:
    ada = (await entity(client, "Ada Lovelace"))["id"]
    nodes, edges = await draw(client, center=ada)
    near = {("entity", "Ada Lovelace"), ("entity", "Charles Babbage")} | {
        (kind, title) for kind in ("card", "episode") for title in (MET, WROTE)
    }
    assert nodes == near
    assert ("relation", "Ada Lovelace", "Charles Babbage") in edges
    assert {("mention", MET, "Ada Lovelace"), ("mention", MET, "Charles Babbage"), ("told_by", MET, MET)} <= edges
    assert ("role", WROTE, "Ada Lovelace") in edges
    nodes, edges = await draw(client, center=ada, hops=2)
    assert nodes == near | {("entity", "Analytical Engine"), ("card", DESIGNED), ("episode", DESIGNED)}
    assert ("relation", "Charles Babbage", "Analytical Engine") in edges
    assert await draw(client, center=cards[1]) == (
        {
            ("card", DESIGNED),
            ("episode", DESIGNED),
            ("entity", "Charles Babbage"),
            ("entity", "Analytical Engine"),
        },
        {
            ("told_by", DESIGNED, DESIGNED),
            ("mention", DESIGNED, "Charles Babbage"),
            ("mention", DESIGNED, "Analytical Engine"),
            ("role", DESIGNED, "Charles Babbage"),
            ("role", DESIGNED, "Analytical Engine"),
            ("relation", "Charles Babbage", "Analytical Engine"),
        },
    )


async def test_without_a_center_the_best_connected_come(client: Client, cards: list[str]) -> None:
    nodes, _ = await draw(client, limit=2)
    assert ("entity", "Charles Babbage") in nodes
    assert len(nodes) == 2
    body = (await client.get(f"{API}/graph")).json()
    assert (body["nodes"][0]["label"], body["nodes"][0]["degree"]) == ("Charles Babbage", 2)
    assert {node["community"] for node in body["nodes"]} == {None}
    assert {(edge["label"], edge["weight"]) for edge in body["edges"]} == {("met", 1.0), ("designed", 1.0)}


async def test_a_merged_entity_is_drawn_as_the_one_it_stands_for(client: Client, cards: list[str]) -> None:
    ada_id, charles_id = (
        (await entity(client, "Ada Lovelace"))["id"],
        (await entity(client, "Charles Babbage"))["id"],
    )
    await client.post(f"{API}/graph/entities/{ada_id}/merge", json={"into": charles_id})
    body = (await client.get(f"{API}/graph", params={"center": ada_id})).json()
    labels = {node["label"] for node in body["nodes"] if node["kind"] == "entity"}
    assert labels == {"Charles Babbage", "Analytical Engine"}
    assert {node["degree"] for node in body["nodes"] if node["label"] == "Charles Babbage"} == {1}
    relations = [edge for edge in body["edges"] if edge["kind"] == "relation"]
    assert [edge["label"] for edge in relations] == ["designed"]
    # The card that names both names one.
    weights = [edge["weight"] for edge in body["edges"] if edge["kind"] == "mention" and edge["target"] == charles_id]
    assert sorted(weights) == [1, 2, 2]


async def test_the_drawing_is_capped(client: Client, cards: list[str]) -> None:
    ada = (await entity(client, "Ada Lovelace"))["id"]
    for limit in (1, 2, 4):
        nodes, _ = await draw(client, center=ada, hops=2, limit=limit)
        assert len(nodes) == limit
        assert ("entity", "Ada Lovelace") in nodes
    for params in ({"limit": 0}, {"limit": 501}, {"hops": 3}, {"center": "x"}, {"centre": ada}):
        answer = await client.get(f"{API}/graph", params=params)
        assert_problem(answer, 422, "validation_error")
    assert_problem(await client.get(f"{API}/graph", params={"center": str(new_id())}), 404, "graph_node_not_found")


async def test_a_trashed_card_is_not_drawn(client: Client, cards: list[str]) -> None:
    """D10"""
    assert (await client.delete(f"{API}/cards/{cards[0]}")).status_code == 204
    missing = await client.get(f"{API}/graph", params={"center": cards[0]})
    assert_problem(missing, 404, "graph_node_not_found")
    nodes, edges = await draw(client)
    assert nodes == {("entity", name) for name in ("Ada Lovelace", "Charles Babbage", "Analytical Engine")}
    assert edges == {("relation", "Charles Babbage", "Analytical Engine")}


# -------------------------------------------------------------------------------------------- scale

LARGE = uuid.UUID(int=1)
NODES, EDGES, HUB = 10_000, 50_000, 400

# Entity n is related to five others; the first to many. A tenth of the entities stand for another one. Every
# statement is of a card of its own that mentions both.
GENERATED = f"""
SET session_replication_role = replica;
INSERT INTO workspaces (id, slug, name) VALUES ('{LARGE}', 'large', '');
CREATE TEMP TABLE edge AS
    SELECT k, lpad(to_hex(k), 32, '0')::uuid AS id,
           CASE WHEN k < {HUB} THEN 0 ELSE k % {NODES} END AS source,
           (k * 7919 + k / {NODES} * 104729 + 1) % {NODES} AS target
    FROM generate_series(0, {EDGES - 1}) AS k;
INSERT INTO entities (workspace_id, id, name, key, kind, type, words, grams, merged_into)
    SELECT '{LARGE}'::uuid, lpad(to_hex(n), 32, '0')::uuid, 'Entity ' || n, n::text, 'thing', 'other', 2, 0,
           CASE WHEN n % 10 = 9 THEN lpad(to_hex(n - 9), 32, '0')::uuid END
    FROM generate_series(0, {NODES - 1}) AS n;
INSERT INTO cards (workspace_id, id, title, title_key, content, content_hash, state)
    SELECT '{LARGE}'::uuid, id, 'Card ' || k, 'card ' || k, 'Text', '', 'ready' FROM edge;
INSERT INTO relations
    (workspace_id, id, card_id, chunk_id, source_id, target_id, predicate, text, confidence, words, grams)
    SELECT '{LARGE}'::uuid, id, id, id, lpad(to_hex(source), 32, '0')::uuid, lpad(to_hex(target), 32, '0')::uuid,
           'joins', 'One joins the other.', 0.5, 4, 0
    FROM edge;
INSERT INTO mentions (workspace_id, chunk_id, ordinal, entity_id, card_id, name)
    SELECT '{LARGE}'::uuid, id, 0, lpad(to_hex(source), 32, '0')::uuid, id, 'x' FROM edge
    UNION ALL
    SELECT '{LARGE}'::uuid, id, 1, lpad(to_hex(target), 32, '0')::uuid, id, 'x' FROM edge;
INSERT INTO episodes (workspace_id, id, title, title_key, summary, origin, words, grams)
    SELECT '{LARGE}'::uuid, id, 'Episode ' || k, '', '', 'own', 1, 0 FROM edge;
INSERT INTO episode_cards (workspace_id, episode_id, card_id, ordinal)
    SELECT '{LARGE}'::uuid, id, id, 0 FROM edge;
INSERT INTO points (workspace_id, id, facet_id, episode_id, card_id, ordinal, text, words, grams)
    SELECT '{LARGE}'::uuid, id, id, id, id, 0, 'A claim.', 2, 0 FROM edge;
INSERT INTO point_entities (workspace_id, point_id, entity_id)
    SELECT '{LARGE}'::uuid, id, lpad(to_hex(source), 32, '0')::uuid FROM edge;
INSERT INTO roles (workspace_id, id, entity_id, episode_id, card_id, text, words, grams)
    SELECT '{LARGE}'::uuid, id, lpad(to_hex(target), 32, '0')::uuid, id, id, 'x | y', 2, 0 FROM edge;
"""
BIG = {"relations", "mentions", "cards", "episodes", "points", "point_entities", "roles", "episode_cards", "entities"}


@pytest.fixture
async def generated(database_dsn: str) -> AsyncIterator[Database]:
    connection = await asyncpg.connect(database_dsn)
    await connection.execute(GENERATED)
    await connection.execute("VACUUM ANALYZE")
    name = await connection.fetchval("SELECT current_database()")
    assert with_database(database_dsn, name) == database_dsn
    await connection.close()
    opened = Database(database_dsn, DatabaseSettings())
    yield opened
    await opened.close()


async def test_two_hops_among_fifty_thousand_edges(generated: Database) -> None:
    """I1, I2: under 100 ms around a hub and around anybody, and no statement scans a table of the graph."""
    for center, limit in ((0, 100), (5000, 100), (9999, 100), (5000, 500)):
        took = []
        for _ in range(5):
            async with generated.read() as session:
                began = time.perf_counter()
                found = await neighbourhood.get_neighbourhood(session, LARGE, uuid.UUID(int=center), 2, limit)
                took.append(time.perf_counter() - began)
        assert len(found.nodes) == limit
        assert found.edges
        assert min(took) < 0.1, took
    hub = await _explained(generated, LARGE)
    scanned = [plan for plan in hub if plan[0] == "Seq Scan" and plan[1] in BIG]
    assert scanned == []
    assert {"relations", "mentions", "roles", "entities"} <= {table for _, table in hub}


async def _explained(database: Database, workspace_id: uuid.UUID) -> list[tuple[str, str]]:
    """(kind, table) of every node of the plans of a drawing around the hub."""
    async with database.read() as session:
        drawn = await neighbourhood.get_neighbourhood(session, workspace_id, uuid.UUID(int=0), 2, 100)
        ids = [[node.id for node in drawn.nodes if node.kind == kind] for kind in neighbourhood.KINDS]
        connection = await raw(session)
        found: list[tuple[str, str]] = []
        for name, rest in (("neighbours", ([], 100, 200)), ("nodes", ()), ("edges", (800,))):
            lines = await connection.fetch(f"EXPLAIN (COSTS OFF) {load('app.graph', name)}", workspace_id, *ids, *rest)
            for (line,) in lines:
                words = line.replace("->", "").split()
                if "Scan" in words and "on" in words:
                    kind = " ".join(words[: words.index("Scan") + 1]).replace("Parallel ", "")
                    found.append((kind, words[words.index("on") + 1]))
    return found


async def test_the_overview_of_a_large_graph(generated: Database) -> None:
    async with generated.read() as session:
        began = time.perf_counter()
        found = await neighbourhood.get_overview(session, LARGE, 100)
        took = time.perf_counter() - began
    assert found.nodes[0].label == "Entity 0"
    assert [node.degree for node in found.nodes] == sorted((node.degree for node in found.nodes), reverse=True)
    assert took < 2
