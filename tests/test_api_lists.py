"""Lists of cards: pages, filters, words in Chinese and English."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from app.wiring import Services
from tests.api_client import API, assert_problem, create, execute, ingest_all

pytest_plugins = ("tests.api_client",)


async def walk(client: httpx.AsyncClient, limit: int, **params: Any) -> tuple[list[dict[str, Any]], list[int], int]:
    """(items of all pages, their sizes, the total that the list says)."""
    items: list[dict[str, Any]] = []
    sizes: list[int] = []
    cursor = None
    while True:
        query = {"limit": limit, "count": "true", **params} | ({"cursor": cursor} if cursor else {})
        page = (await client.get(f"{API}/cards", params=query)).json()
        items += page["items"]
        sizes.append(len(page["items"]))
        cursor = page["next_cursor"]
        if cursor is None:
            return items, sizes, page["total"]


async def fill(client: httpx.AsyncClient, count: int) -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    items = [
        {
            "content": f"card {n}",
            # Groups of four share a date: ties are broken by id.
            "created_at": (start + timedelta(days=n // 4)).isoformat(),
            "tags": ["even" if n % 2 == 0 else "odd", *(["third"] if n % 3 == 0 else [])],
        }
        for n in range(count)
    ]
    answer = await client.post(f"{API}/cards/bulk", json={"items": items})
    assert all(item["status"] == "created" for item in answer.json()["items"])


async def test_the_total_is_the_sum_of_the_pages(client: httpx.AsyncClient) -> None:
    """N19."""
    await fill(client, 43)
    items, sizes, total = await walk(client, 10)
    assert sizes == [10, 10, 10, 10, 3]
    assert total == 43
    assert len({item["id"] for item in items}) == 43
    keys = [(item["created_at"], item["id"]) for item in items]
    assert keys == sorted(keys, reverse=True)
    for params, expected in (
        ({"tag": "even"}, 22),
        ({"tag": ["even", "third"]}, 8),
        ({"tag": "missing"}, 0),
        ({"created_after": "2024-01-03"}, 35),
        ({"created_before": "2024-01-03"}, 8),
        ({"created_after": "2024-01-03T00:00:00+00:00", "created_before": "2024-01-04"}, 4),
        ({"created_after": "2024-01-03T08:00:00+08:00", "created_before": "2024-01-04"}, 4),
        ({"state": "queued"}, 43),
        ({"state": "ready"}, 0),
        ({"q": "card"}, 43),
    ):
        items, sizes, total = await walk(client, 7, **params)
        assert (len(items), sum(sizes), total) == (expected, expected, expected), params


async def test_exactly_full_pages_end_without_an_empty_one(client: httpx.AsyncClient) -> None:
    await fill(client, 20)
    _, sizes, total = await walk(client, 10)
    assert (sizes, total) == ([10, 10], 20)


async def test_cards_written_while_a_list_is_walked_move_nothing(client: httpx.AsyncClient) -> None:
    await fill(client, 12)
    first = (await client.get(f"{API}/cards", params={"limit": 6})).json()
    await create(client, content="newer than all")
    await client.delete(f"{API}/cards/{first['items'][0]['id']}")
    second = (await client.get(f"{API}/cards", params={"limit": 6, "cursor": first["next_cursor"]})).json()
    seen = {item["id"] for item in first["items"] + second["items"]}
    assert len(seen) == 12
    assert second["next_cursor"] is None


async def test_a_page_of_very_large_cards_ends_early_and_loses_none(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cards.queries.PAGE_BYTES", 250_000)
    for _ in range(5):
        await create(client, content="x" * 100_000)
    _, sizes, total = await walk(client, 200)
    assert (sizes, total) == ([2, 2, 1], 5)


async def test_limits_out_of_range_are_refused(client: httpx.AsyncClient) -> None:
    for limit in ("0", "-1", "201", "1000000000", "x", "", "1e3", "9" * 400):
        for path in ("/cards", "/jobs", "/keys", "/workspaces"):
            assert_problem(await client.get(f"{API}{path}", params={"limit": limit}), 422, "validation_error")


def forged(*parts: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode()


FORGED = [
    "x",
    "%%%",
    "' OR 1=1 --",
    forged(),
    forged("2024-01-01", "' OR 1=1"),
    forged("not a date", "0" * 32),
    forged("0001-01-01T00:00:00+14:00", "0" * 32),
    forged(1, 2),
    forged(None, None),
    forged({"a": 1}, []),
    base64.urlsafe_b64encode(b"[" * 5000).decode(),
    base64.urlsafe_b64encode(b"\xff\xfe\x00").decode(),
]


async def test_forged_cursors_are_refused(client: httpx.AsyncClient) -> None:
    """L4."""
    for cursor in FORGED:
        for path in ("/cards", "/jobs", "/keys", "/workspaces"):
            assert_problem(await client.get(f"{API}{path}", params={"cursor": cursor}), 422, "invalid_cursor")


BAD_FILTERS = [
    {"state": "gone"},
    {"state": "'; DROP TABLE cards; --"},
    {"created_after": "yesterday"},
    {"created_after": "1700000000"},
    {"created_before": "9999-12-31T23:59:59-14:00"},
    {"created_after": "0001-01-01T00:00:00+14:00"},
    {"tag": ""},
    {"tag": "\x00"},
    {"q": ""},
    {"q": "  "},
    {"q": "a\x00b"},
    {"q": "x" * 1001},
    {"count": "maybe"},
]


async def test_bad_filters_are_refused(client: httpx.AsyncClient) -> None:
    """A1, L4, N2."""
    for params in BAD_FILTERS:
        assert_problem(await client.get(f"{API}/cards", params=params), 422, "validation_error")


async def test_unknown_parameters_are_refused(client: httpx.AsyncClient) -> None:
    """Whoever misspells a filter must not get everything."""
    card = await create(client, content="x")
    for method, path, body in (
        ("GET", "/cards", None),
        ("GET", f"/cards/{card['id']}", None),
        ("DELETE", f"/cards/{card['id']}", None),
        ("POST", "/cards", {"content": "x"}),
        ("POST", "/search", {"query": "x"}),
        ("GET", "/ingestion", None),
        ("GET", "/jobs", None),
        ("GET", "/keys", None),
        ("GET", "/workspaces", None),
        ("GET", "/conversations", None),
        ("POST", "/imports", None),
        ("GET", "/doctor", None),
    ):
        answer = await client.request(method, f"{API}{path}?tags=x&Limit=1&tags=y", json=body)
        errors = assert_problem(answer, 422, "validation_error")["errors"]
        assert [error["loc"] for error in errors] == [["query", "tags"], ["query", "Limit"]], path
    known = {"limit": "1", "tag": "x", "q": "x", "state": "ready", "count": "true", "created_after": "2020-01-01"}
    assert (await client.get(f"{API}/cards", params=known)).status_code == 200
    assert (await client.get(f"{API}/cards/{card['id']}")).status_code == 200
    for path in ("/health/live?x=1", "/v1/models?x=1"):
        assert (await client.get(path)).status_code == 200


CODE = ["' OR '1'='1", "\\", "%", "_", "a'b\"c", "{}", "$1", ":w", "/*", "--", "'); DELETE FROM cards; --", "\\'"]


async def test_filters_are_values_and_never_code(client: httpx.AsyncClient, services: Services) -> None:
    """L4: as a tag, and in words before and after ingestion."""
    made = {value: await create(client, content=f"w{n:02} {value} end", tags=[value]) for n, value in enumerate(CODE)}
    for _ in range(2):
        for n, (value, card) in enumerate(made.items()):
            for params in ({"tag": value}, {"q": f"w{n:02} {value}"}):
                items = (await client.get(f"{API}/cards", params=params)).json()["items"]
                assert [item["id"] for item in items] == [card["id"]], params
        await ingest_all(services)


WORDS = {
    "测试": True,
    "地图": True,
    "野": True,
    "后天": True,
    "语言": True,
    "quick 测试": True,
    "QUICK": True,
    "runs": True,
    "3.11": True,
    "地铁": False,
    "quick 地铁": False,
    "slow": False,
}


async def test_words_in_chinese_and_english(client: httpx.AsyncClient, services: Services) -> None:
    """B1, B2, B4, B5, B7: over title and content, once the card is indexed."""
    await create(
        client,
        title="编程语言笔记",
        content="这是一个测试。中国地图出版社,明后天的事,野比大雄。The Quick fox is running Python 3.11.",
    )
    await create(client, content="另一个话题 nothing in common")
    await ingest_all(services)
    for q, found in WORDS.items():
        items = (await client.get(f"{API}/cards", params={"q": q})).json()["items"]
        assert [item["title"] for item in items] == (["编程语言笔记"] if found else []), q


async def test_words_are_found_before_a_card_is_indexed_and_in_the_trash(
    client: httpx.AsyncClient, services: Services
) -> None:
    card = await create(client, title="100%_sure", content="中国地图 Straße")
    other = await create(client, title="100 sure", content="none")
    await ingest_all(services)
    await client.patch(f"{API}/cards/{card['id']}", json={"content": "中国地铁 Straße"})

    async def ids(**params: str) -> list[str]:
        return [item["id"] for item in (await client.get(f"{API}/cards", params=params)).json()["items"]]

    assert await ids(q="地铁") == [card["id"]]
    assert await ids(q="地图") == []
    assert await ids(q="%_SURE", state="queued") == [card["id"]]
    assert await ids(q="100_", state="queued") == []
    assert await ids(q="100") == [other["id"], card["id"]]
    await client.delete(f"{API}/cards/{card['id']}")
    assert await ids(q="地铁") == []
    assert await ids(q="地铁", state="trashed") == [card["id"]]


async def test_words_may_stand_in_different_parts_of_a_long_card(client: httpx.AsyncClient, services: Services) -> None:
    filler = "\n\n".join(f"Paragraph {n} about nothing in particular, only to be long enough. " * 5 for n in range(30))
    card = await create(client, title="Long", content=f"alpha first\n\n{filler}\n\nomega last")
    await ingest_all(services)
    items = (await client.get(f"{API}/cards", params={"q": "alpha omega"})).json()["items"]
    assert [item["id"] for item in items] == [card["id"]]


async def test_stop_words_and_signs_alone_are_compared_as_written(
    client: httpx.AsyncClient, services: Services
) -> None:
    card = await create(client, content="the cat and 的 😀 !!!")
    await create(client, content="nil")
    await ingest_all(services)
    for q in ("the", "the and", "😀", "!!!", "的"):
        items = (await client.get(f"{API}/cards", params={"q": q})).json()["items"]
        assert [item["id"] for item in items] == [card["id"]], q


async def test_too_many_words_are_refused(client: httpx.AsyncClient) -> None:
    q = " ".join(f"w{n}" for n in range(33))
    assert_problem(await client.get(f"{API}/cards", params={"q": q}), 422, "too_many_words")


async def test_states(client: httpx.AsyncClient, services: Services) -> None:
    cards = [await create(client, content=f"card {n}") for n in range(5)]
    await ingest_all(services)
    await execute(services.database, "UPDATE cards SET state = 'failed' WHERE content = 'card 1'")
    await execute(services.database, "UPDATE cards SET state = 'working' WHERE content = 'card 2'")
    await client.post(f"{API}/cards/{cards[3]['id']}/reingest")
    await client.delete(f"{API}/cards/{cards[4]['id']}")
    for state, index in (("failed", 1), ("working", 2), ("queued", 3), ("ready", 0), ("trashed", 4)):
        items = (await client.get(f"{API}/cards", params={"state": state})).json()["items"]
        assert [item["id"] for item in items] == [cards[index]["id"]], state
    counts = (await client.get(f"{API}/ingestion")).json()
    assert counts == {"queued": 1, "working": 1, "ready": 1, "failed": 1}
