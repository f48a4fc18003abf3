"""Cards over HTTP: write, read, change, trash, revisions."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import httpx
import pytest

from app.wiring import Services
from tests.api_client import API, assert_problem, create, fetch, ingest_all, make_workspace

pytest_plugins = ("tests.api_client",)

GHOST = "01920000-0000-7000-8000-000000000000"


async def test_a_card_comes_back_as_the_contract_says(client: httpx.AsyncClient) -> None:
    answer = await client.post(
        f"{API}/cards",
        json={
            "title": "Maps",
            "content": "# Maps\n\n中国地图 \U0001f5fa",
            "tags": ["b", "a", "b"],
            "created_at": "2024-03-01T09:00:00+08:00",
            "source": {"kind": "vault", "path": "maps.md"},
            "metadata": {"n": 1, "deep": {"x": [None, 2.5]}},
            "external_id": "m-1",
        },
    )
    assert answer.status_code == 201
    assert answer.headers["etag"] == '"1"'
    card = answer.json()
    assert answer.headers["location"] == f"{API}/cards/{card['id']}"
    assert uuid.UUID(card["id"]).version == 7
    assert card == {
        "id": card["id"],
        "title": "Maps",
        "content": "# Maps\n\n中国地图 \U0001f5fa",
        "tags": ["b", "a"],
        "created_at": "2024-03-01T01:00:00Z",
        "updated_at": card["updated_at"],
        "version": 1,
        "external_id": "m-1",
        "source": {"kind": "vault", "url": None, "path": "maps.md"},
        "metadata": {"n": 1, "deep": {"x": [None, 2.5]}},
        "ingestion": {
            "state": "queued",
            "step": None,
            "progress": None,
            "error": None,
            "attempts": 0,
            "extraction": None,
        },
        "trashed_at": None,
    }
    read = await client.get(f"{API}/cards/{card['id']}")
    assert read.status_code == 200
    assert read.json() == card
    assert read.headers["etag"] == '"1"'


async def test_a_card_is_queued_in_its_own_transaction(client: httpx.AsyncClient, services: Services) -> None:
    card = await create(client, content="x")
    jobs = await fetch(services.database, "SELECT kind, state, payload FROM jobs")
    assert jobs == [("ingest", "queued", {"cards": [[card["id"], 1]]})]


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ({"content": "intro\n\n# 第一章 **标题**\n\ntext"}, "第一章 标题"),
        ({"content": "\n\n- first line\nsecond"}, "first line"),
        ({"title": "  ", "content": "said here"}, "said here"),
        ({"title": "Title only", "content": ""}, "Title only"),
        ({"title": " kept as it is ", "content": ""}, " kept as it is "),
        ({"content": "野"}, "野"),
        ({"content": "长" * 300}, "长" * 119 + "…"),
    ],
)
async def test_a_card_without_title_takes_it_from_its_content(
    client: httpx.AsyncClient, body: dict[str, Any], title: str
) -> None:
    """B14: short Chinese text is a card like any other."""
    assert (await create(client, **body))["title"] == title


@pytest.mark.parametrize("body", [{"content": ""}, {"title": "", "content": " \n\t"}, {"title": None, "content": ""}])
async def test_a_blank_card_is_refused(client: httpx.AsyncClient, body: dict[str, Any]) -> None:
    """F11: whitespace alone never reaches the queue."""
    assert_problem(await client.post(f"{API}/cards", json=body), 422, "empty_card")
    assert (await client.get(f"{API}/jobs")).json()["items"] == []


@pytest.mark.parametrize("body", [{}, {"title": "Title only"}, {"title": "Title only", "content": None}])
async def test_a_card_says_what_its_content_is(client: httpx.AsyncClient, body: dict[str, Any]) -> None:
    for path in ("/cards", "/cards?upsert=true"):
        problem = assert_problem(await client.post(f"{API}{path}", json=body), 422, "validation_error")
        assert [error["loc"] for error in problem["errors"]] == [["body", "content"]]


async def test_a_date_without_zone_is_utc(client: httpx.AsyncClient) -> None:
    assert (await create(client, content="x", created_at="2024-03-01T09:00:00"))["created_at"] == "2024-03-01T09:00:00Z"
    assert (await create(client, content="x", created_at="2024-03-01"))["created_at"] == "2024-03-01T00:00:00Z"


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
async def test_unknown_ids_are_404_and_malformed_ones_422(client: httpx.AsyncClient, method: str) -> None:
    """N1, N2."""
    body = {"json": {}} if method == "PATCH" else {}
    assert_problem(await client.request(method, f"{API}/cards/{GHOST}", **body), 404, "card_not_found")  # type: ignore[arg-type]
    assert_problem(await client.request(method, f"{API}/cards/not-a-uuid", **body), 422, "validation_error")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "path", ["/revisions", "/links", "/revisions/1", "/revisions/1/restore", "/undelete", "/reingest"]
)
async def test_everything_below_an_unknown_card_is_404(client: httpx.AsyncClient, path: str) -> None:
    """N1."""
    method = "POST" if path.endswith(("restore", "undelete", "reingest")) else "GET"
    assert_problem(await client.request(method, f"{API}/cards/{GHOST}{path}"), 404, "card_not_found")


# ------------------------------------------------------------------------------------------- PATCH


async def test_absent_stays_and_null_clears(client: httpx.AsyncClient) -> None:
    """N4, N5, N16."""
    card = await create(
        client,
        title="T",
        content="first line",
        tags=["a"],
        source={"kind": "web", "url": "https://example.org"},
        metadata={"k": 1},
        external_id="e",
        created_at="2020-01-01T00:00:00Z",
    )
    url = f"{API}/cards/{card['id']}"
    changed = (await client.patch(url, json={"tags": ["b"]})).json()
    assert changed | {"updated_at": None} == card | {"tags": ["b"], "version": 2, "updated_at": None}

    cleared = await client.patch(
        url,
        json={
            "title": None,
            "tags": None,
            "source": None,
            "metadata": None,
            "external_id": None,
            "created_at": None,
        },
    )
    body = cleared.json()
    assert cleared.status_code == 200
    assert (body["title"], body["tags"], body["source"], body["metadata"]) == ("first line", [], None, {})
    assert body["external_id"] is None
    assert body["created_at"] > "2025"
    assert body["content"] == "first line"


async def test_clearing_title_and_content_is_refused_and_changes_nothing(client: httpx.AsyncClient) -> None:
    card = await create(client, title="T", content="c")
    assert_problem(
        await client.patch(f"{API}/cards/{card['id']}", json={"title": None, "content": None}), 422, "empty_card"
    )
    assert (await client.get(f"{API}/cards/{card['id']}")).json() == card


async def test_only_what_is_read_is_ingested_again(client: httpx.AsyncClient, services: Services) -> None:
    card = await create(client, title="T", content="c")
    await ingest_all(services)
    url = f"{API}/cards/{card['id']}"
    ready = (await client.patch(url, json={"source": {"kind": "k"}, "metadata": {"a": 1}})).json()
    assert (ready["version"], ready["ingestion"]["state"]) == (2, "ready")

    again = (await client.patch(url, json={"source": {"kind": "k"}, "metadata": {"a": 1}, "title": "T"})).json()
    assert again == ready

    queued = (await client.patch(url, json={"content": "c2"})).json()
    assert (queued["version"], queued["ingestion"]["state"]) == (3, "queued")
    payloads = [row[0] for row in await fetch(services.database, "SELECT payload FROM jobs ORDER BY id")]
    assert payloads == [{"cards": [[card["id"], 1]]}, {"cards": [[card["id"], 3]]}]


@pytest.mark.parametrize("change", [{"tags": ["Alder"]}, {"created_at": "2020-01-01T00:00:00Z"}])
async def test_tags_are_names_and_times_are_told_from_the_date(
    client: httpx.AsyncClient, services: Services, change: dict[str, Any]
) -> None:
    """Read again, at the version of the text that it has."""
    card = await create(client, title="T", content="c")
    await ingest_all(services)
    changed = (await client.patch(f"{API}/cards/{card['id']}", json=change)).json()
    assert (changed["version"], changed["ingestion"]["state"]) == (2, "queued")
    payloads = [row[0] for row in await fetch(services.database, "SELECT payload FROM jobs ORDER BY id")]
    assert payloads[-1] == {"cards": [[card["id"], 1]]}
    await ingest_all(services)
    assert (await client.get(f"{API}/cards/{card['id']}")).json()["ingestion"]["state"] == "ready"


async def test_a_title_by_hand_survives_new_content(client: httpx.AsyncClient) -> None:
    """N11."""
    card = await create(client, content="# Machine", external_id="e")
    url = f"{API}/cards/{card['id']}"
    await client.patch(url, json={"title": "By hand"})
    synced = await client.post(f"{API}/cards?upsert=true", json={"content": "# Machine 2", "external_id": "e"})
    assert (synced.json()["title"], synced.json()["content"]) == ("By hand", "# Machine 2")


# -------------------------------------------------------------------------------------------- ETag


async def test_if_match(client: httpx.AsyncClient) -> None:
    card = await create(client, content="c")
    url = f"{API}/cards/{card['id']}"

    async def patch(tag: str, content: str) -> httpx.Response:
        return await client.patch(url, json={"content": content}, headers={"If-Match": tag})

    first = await patch('"1"', "two")
    assert (first.status_code, first.headers["etag"]) == (200, '"2"')
    stale = await patch('"1"', "lost")
    assert assert_problem(stale, 412, "version_mismatch")["version"] == 2
    assert (await patch('W/"2"', "three")).headers["etag"] == '"3"'
    assert (await patch("*", "four")).headers["etag"] == '"4"'
    assert (await patch('"1", "4"', "five")).headers["etag"] == '"5"'
    for tag in ('"1", "2"', '"abc"', "garbage", '""', '"99999999999999999999"'):
        assert_problem(await patch(tag, "lost"), 412, "version_mismatch")
    assert (await client.get(url)).json()["content"] == "five"
    assert_problem(await client.delete(url, headers={"If-Match": '"4"'}), 412, "version_mismatch")
    assert (await client.delete(url, headers={"If-Match": '"5"'})).status_code == 204


async def test_if_none_match(client: httpx.AsyncClient, services: Services) -> None:
    card = await create(client, content="c")
    url = f"{API}/cards/{card['id']}"
    assert (await client.get(url, headers={"If-None-Match": '"1"'})).status_code == 200
    await ingest_all(services)
    unchanged = await client.get(url, headers={"If-None-Match": '"1"'})
    assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", '"1"')
    assert (await client.get(url, headers={"If-None-Match": '"2"'})).status_code == 200


async def test_of_two_writers_with_one_version_one_loses(client: httpx.AsyncClient) -> None:
    card = await create(client, content="c")
    url = f"{API}/cards/{card['id']}"
    answers = await asyncio.gather(
        *(client.patch(url, json={"content": f"by {n}"}, headers={"If-Match": '"1"'}) for n in range(5))
    )
    assert sorted(answer.status_code for answer in answers) == [200, 412, 412, 412, 412]
    assert (await client.get(url)).json()["version"] == 2


# ------------------------------------------------------------------------------------- external ids


async def test_an_external_id_is_taken_once(client: httpx.AsyncClient) -> None:
    card = await create(client, content="one", external_id="e")
    assert_problem(
        await client.post(f"{API}/cards", json={"content": "two", "external_id": "e"}), 409, "external_id_taken"
    )
    assert (await client.get(f"{API}/cards/{card['id']}")).json()["content"] == "one"
    other = await create(client, content="three")
    assert_problem(
        await client.patch(f"{API}/cards/{other['id']}", json={"external_id": "e"}), 409, "external_id_taken"
    )


async def test_without_external_id_the_same_content_makes_a_second_card(client: httpx.AsyncClient) -> None:
    first, second = await create(client, content="same"), await create(client, content="same")
    assert first["id"] != second["id"]


async def test_upsert(client: httpx.AsyncClient, services: Services) -> None:
    """C4, N13: the same again is no work and says so; a change is a revision."""
    url = f"{API}/cards?upsert=true"
    body = {"content": "one", "external_id": "e", "tags": ["t"], "metadata": {"a": 1}}
    made = await client.post(url, json=body)
    assert made.status_code == 201
    await ingest_all(services)

    same = await client.post(url, json=body)
    assert (same.status_code, same.headers["etag"]) == (200, '"1"')
    assert same.json()["ingestion"]["state"] == "ready"

    partial = await client.post(url, json={"content": "two", "external_id": "e"})
    assert (partial.status_code, partial.headers["etag"]) == (200, '"2"')
    card = partial.json()
    assert card["id"] == made.json()["id"]
    assert (card["title"], card["content"], card["tags"], card["metadata"]) == ("two", "two", ["t"], {"a": 1})
    assert card["ingestion"]["state"] == "queued"
    assert len(await fetch(services.database, "SELECT id FROM jobs")) == 2


async def test_concurrent_posts_of_one_external_id(client: httpx.AsyncClient, services: Services) -> None:
    """A race ends with one winner and honest answers, never with 500."""
    body = {"content": "x", "external_id": "race"}
    answers = await asyncio.gather(*(client.post(f"{API}/cards", json=body) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7

    upserts = await asyncio.gather(
        *(client.post(f"{API}/cards?upsert=true", json={"content": f"v{n}", "external_id": "race-2"}) for n in range(8))
    )
    assert sorted(answer.status_code for answer in upserts) == [200] * 7 + [201]
    assert len(await fetch(services.database, "SELECT id FROM cards")) == 2
    versions = await fetch(
        services.database,
        "SELECT n FROM card_revisions r JOIN cards c ON c.id = r.card_id AND c.external_id = 'race-2' ORDER BY n",
    )
    assert [row[0] for row in versions] == list(range(1, 9))


async def test_external_ids_of_workspaces_have_nothing_to_do_with_each_other(
    client: httpx.AsyncClient, services: Services
) -> None:
    """D7, L10."""
    from app.ingestion.submit import NewCard

    ours = await create(client, content="ours", external_id="e")
    theirs = await make_workspace(services, "theirs")
    async with services.database.unit() as session:
        foreign = await services.intake.submit_card(session, theirs, NewCard(content="ours", external_id="e"))
    assert str(foreign.id) != ours["id"]
    for answer in (
        await client.get(f"{API}/cards/{foreign.id}"),
        await client.patch(f"{API}/cards/{foreign.id}", json={"content": "stolen"}),
        await client.delete(f"{API}/cards/{foreign.id}?permanent=true"),
    ):
        assert_problem(answer, 404, "card_not_found")
    rows = await fetch(services.database, "SELECT content FROM cards WHERE workspace_id = :w", w=theirs)
    assert rows == [("ours",)]


# ------------------------------------------------------------------------------------------- trash


async def test_trash_takes_everything_derived_at_once(client: httpx.AsyncClient, services: Services) -> None:
    """D5, D10, D13."""
    card = await create(client, content="the zebra crossing", external_id="e")
    await ingest_all(services)
    url = f"{API}/cards/{card['id']}"
    assert len((await client.post(f"{API}/search", json={"query": "zebra"})).json()["hits"]) == 1

    gone = await client.delete(url)
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await client.post(f"{API}/search", json={"query": "zebra"})).json()["hits"] == []
    for answer in (await client.get(url), await client.delete(url), await client.patch(url, json={"tags": []})):
        assert_problem(answer, 404, "card_not_found")
    assert (await client.get(f"{API}/cards")).json()["items"] == []
    assert (await client.get(f"{API}/ingestion")).json()["ready"] == 0
    for table in ("chunks", "windows"):
        assert await fetch(services.database, f"SELECT count(*) FROM {table}") == [(0,)]

    trash = (await client.get(f"{API}/cards", params={"state": "trashed"})).json()["items"]
    assert [item["id"] for item in trash] == [card["id"]]
    assert trash[0]["trashed_at"] is not None

    back = await client.post(f"{url}/undelete")
    assert back.status_code == 200
    assert (back.json()["trashed_at"], back.json()["ingestion"]["state"]) == (None, "queued")
    assert back.json()["external_id"] == "e"
    await ingest_all(services)
    assert len((await client.post(f"{API}/search", json={"query": "zebra"})).json()["hits"]) == 1
    assert (await client.post(f"{url}/undelete")).status_code == 200


async def test_permanent_removal(client: httpx.AsyncClient, services: Services) -> None:
    live, trashed = await create(client, content="[[a]] zebra"), await create(client, content="b")
    await ingest_all(services)
    await client.delete(f"{API}/cards/{trashed['id']}")
    for card in (live, trashed):
        url = f"{API}/cards/{card['id']}"
        assert (await client.delete(url, params={"permanent": "true"})).status_code == 204
        assert_problem(await client.post(f"{url}/undelete"), 404, "card_not_found")
        assert_problem(await client.delete(url, params={"permanent": "true"}), 404, "card_not_found")
    for table in ("cards", "card_revisions", "card_links", "chunks", "windows"):
        assert await fetch(services.database, f"SELECT count(*) FROM {table}") == [(0,)]


async def test_an_external_id_in_the_trash_is_free_again(client: httpx.AsyncClient) -> None:
    """D1, D19: what was deleted does not come back with what is written anew."""
    old = await create(client, content="old", external_id="e")
    await client.delete(f"{API}/cards/{old['id']}")
    new = await create(client, content="new", external_id="e")
    assert new["id"] != old["id"]
    assert new["version"] == 1
    back = (await client.post(f"{API}/cards/{old['id']}/undelete")).json()
    assert (back["content"], back["external_id"]) == ("old", None)
    await client.delete(f"{API}/cards/{new['id']}")
    upserted = await client.post(f"{API}/cards?upsert=true", json={"content": "newer", "external_id": "e"})
    assert upserted.status_code == 201


async def test_reingest_queues_a_failed_card_again(client: httpx.AsyncClient, services: Services) -> None:
    """N7."""
    from tests.api_client import execute

    card = await create(client, content="x")
    await execute(
        services.database,
        "UPDATE cards SET state = 'failed', error_code = 'provider_down', error_detail = 'No answer.', attempts = 5",
    )
    url = f"{API}/cards/{card['id']}"
    failed = (await client.get(url)).json()["ingestion"]
    assert failed["error"] == {"code": "provider_down", "detail": "No answer."}
    answer = await client.post(f"{url}/reingest")
    assert answer.status_code == 202
    assert answer.json()["ingestion"] == {
        "state": "queued",
        "step": None,
        "progress": None,
        "error": None,
        "attempts": 0,
        "extraction": None,
    }
    await ingest_all(services)
    assert (await client.get(url)).json()["ingestion"]["state"] == "ready"


# --------------------------------------------------------------------------------------- revisions


async def test_revisions_and_restore(client: httpx.AsyncClient) -> None:
    card = await create(client, title="A", content="one", tags=["x"], external_id="e", metadata={"v": 1})
    url = f"{API}/cards/{card['id']}"
    await client.patch(url, json={"title": "B", "content": "two", "external_id": "f"})
    await client.patch(url, json={"tags": ["y"], "metadata": {"v": 3}})

    listed = (await client.get(f"{url}/revisions")).json()
    assert [(r["n"], r["title"], r["content"], r["tags"]) for r in listed["items"]] == [
        (3, "B", "two", ["y"]),
        (2, "B", "two", ["x"]),
        (1, "A", "one", ["x"]),
    ]
    assert listed["next_cursor"] is None
    assert (await client.get(f"{url}/revisions/1")).json() == listed["items"][2]

    restored = await client.post(f"{url}/revisions/1/restore")
    assert restored.status_code == 200
    assert restored.headers["etag"] == '"4"'
    body = restored.json()
    assert (body["title"], body["content"], body["tags"], body["metadata"]) == ("A", "one", ["x"], {"v": 1})
    assert (body["version"], body["external_id"], body["ingestion"]["state"]) == (4, "f", "queued")
    assert len((await client.get(f"{url}/revisions")).json()["items"]) == 4

    assert_problem(await client.post(f"{url}/revisions/9/restore"), 404, "revision_not_found")
    for n in ("0", "-1", "x", str(2**31), str(10**30)):
        assert_problem(await client.post(f"{url}/revisions/{n}/restore"), 422, "validation_error")
    stale = await client.post(f"{url}/revisions/2/restore", headers={"If-Match": '"3"'})
    assert_problem(stale, 412, "version_mismatch")


async def test_revisions_come_in_pages(client: httpx.AsyncClient) -> None:
    card = await create(client, content="0")
    url = f"{API}/cards/{card['id']}"
    for n in range(1, 7):
        await client.patch(url, json={"content": str(n)})
    seen: list[int] = []
    cursor = None
    while True:
        params = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        page = (await client.get(f"{url}/revisions", params=params)).json()
        seen += [item["n"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [7, 6, 5, 4, 3, 2, 1]
