"""`POST /search`: the shape of the answer, the levels, the filters, and questions of every kind."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.providers.ports import ProviderDown
from app.wiring import Services
from tests.api_client import API, assert_problem, create, ingest_all

pytest_plugins = ("tests.api_client",)


async def ask(client: httpx.AsyncClient, query: str, **more: Any) -> dict[str, Any]:
    answer = await client.post(f"{API}/search", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture
async def library(client: httpx.AsyncClient, services: Services) -> dict[str, str]:
    """Ids of a few cards by external id."""
    cards = [
        {"external_id": "zebra", "title": "Zebra", "content": "A zebra crosses the road.\n\nStripes are black."},
        {"external_id": "map", "title": "地图", "content": "这是一张中国地图,由出版社印制。", "tags": ["地理", "maps"]},
        {
            "external_id": "old",
            "title": "Old zebra",
            "content": "The zebra of 1999.",
            "created_at": "1999-05-01T00:00:00Z",
            "metadata": {"lang": "en", "n": 1},
        },
    ]
    made = {str(card["external_id"]): (await create(client, **card))["id"] for card in cards}
    await ingest_all(services)
    return made


def found(answer: dict[str, Any]) -> set[str]:
    return {hit["card"]["external_id"] for hit in answer["hits"]}


async def test_the_answer_has_the_shape_of_the_contract(client: httpx.AsyncClient, library: dict[str, str]) -> None:
    answer = await ask(client, "zebra stripes", level="search", limit=2)
    assert answer.keys() >= {
        "query",
        "level",
        "route",
        "hits",
        "reports",
        "nothing_relevant",
        "degraded",
        "timings_ms",
        "index",
    }
    assert (answer["query"], answer["level"], answer["reports"], answer["degraded"]) == (
        "zebra stripes",
        "search",
        [],
        [],
    )
    assert answer["route"].keys() == {"level", "reason", "confidence", "gates", "escalated_from"}
    assert answer["route"]["level"] == "search"
    assert answer["index"].keys() >= {"space", "stale_cards"}
    assert all(isinstance(value, float) for value in answer["timings_ms"].values())
    assert [hit["rank"] for hit in answer["hits"]] == list(range(1, len(answer["hits"]) + 1))
    scores = [hit["score"] for hit in answer["hits"]]
    assert scores == sorted(scores, reverse=True)
    first = answer["hits"][0]
    assert first["card"].keys() == {"id", "title", "external_id", "created_at", "tags"}
    assert first["card"]["id"] == library["zebra"]
    assert {"dense", "lexical", "sparse"} <= first["ranks"].keys()
    assert (first["episode"], first["paths"]) == (None, [])
    assert first["snippet"]
    content = (await client.get(f"{API}/cards/{library['zebra']}")).json()["content"]
    for span in first["evidence"]:
        assert span.keys() == {"chunk_id", "text", "start", "end", "score"}
        assert content[span["start"] : span["end"]] == span["text"]


@pytest.mark.parametrize(
    ("level", "used", "gates"),
    [
        ("search", "search", []),
        (1, "search", []),
        ("explore", "search", ["no_known_entity"]),
        (3, "context", []),
        ("insight", "search", ["no_reports"]),
    ],
)
async def test_levels(
    client: httpx.AsyncClient, library: dict[str, str], level: object, used: str, gates: list[str]
) -> None:
    answer = await ask(client, "zebra", level=level)
    assert (answer["route"]["level"], answer["route"]["gates"], answer["degraded"]) == (used, gates, [])
    assert found(answer) >= {"zebra", "old"}


async def test_plain_conversation_retrieves_nothing(client: httpx.AsyncClient, library: dict[str, str]) -> None:
    for level in ("chat", 0):
        answer = await ask(client, "zebra", level=level)
        assert (answer["level"], answer["hits"]) == ("chat", [])


async def test_filters(client: httpx.AsyncClient, library: dict[str, str]) -> None:
    for filters, expected in (
        ({"tags": ["地理"]}, {"map"}),
        ({"tags": ["地理", "maps"]}, {"map"}),
        ({"tags": ["nothing"]}, set()),
        ({"card_ids": [library["old"], library["map"]]}, {"old", "map"}),
        ({"created_before": "2000-01-01"}, {"old"}),
        ({"created_after": "2000-01-01T00:00:00"}, {"zebra", "map"}),
        ({"metadata": {"lang": "en"}}, {"old"}),
        ({"metadata": {"lang": "zh"}}, set()),
        ({}, {"zebra", "map", "old"}),
    ):
        answer = await ask(client, "zebra 地图", level="search", filters=filters)
        assert found(answer) == expected, filters


async def test_chinese(client: httpx.AsyncClient, library: dict[str, str]) -> None:
    """B4."""
    answer = await ask(client, "地图", level="search")
    assert answer["hits"][0]["card"]["title"] == "地图"
    assert answer["hits"][0]["ranks"]["lexical"] == 1


ORDINARY = [
    "AND OR NOT NEAR",
    "\"quoted 'and' not closed",
    "a & b | !c:* <-> (d",
    "' OR 1=1; DROP TABLE cards; --",
    "the of and",
    "的 了 是",
    "😀",
    "_",
    "\\",
    "<|endoftext|> {{7*7}} %s {x}",
    "?" * 100,
    "\n\t zebra \n",
    "zebra " * 2000,
    "为什么斑马有条纹?" * 200,
    "x" * 30_000,
]


async def test_every_question_is_answered(client: httpx.AsyncClient, library: dict[str, str]) -> None:
    """A10, G7, I4, L4: operators, quotes, stop words alone, very long questions are ordinary questions."""
    for query in ORDINARY:
        answer = await ask(client, query, level="search")
        assert answer["query"] == query


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"query": ""}, "blank_query"),
    ({"query": " \n\u3000"}, "blank_query"),
    ({}, "validation_error"),
    ({"query": None}, "validation_error"),
    ({"query": 5}, "validation_error"),
    ({"query": "x", "limit": 0}, "validation_error"),
    ({"query": "x", "limit": -1}, "validation_error"),
    ({"query": "x", "limit": 101}, "validation_error"),
    ({"query": "x", "limit": 10**9}, "validation_error"),
    ({"query": "x", "limit": "ten"}, "validation_error"),
    ({"query": "x", "limit": "5"}, "validation_error"),
    ({"query": "x", "limit": True}, "validation_error"),
    ({"query": "x", "limit": 5.0}, "validation_error"),
    ({"query": "x", "level": "deep"}, "validation_error"),
    ({"query": "x", "level": 5}, "validation_error"),
    ({"query": "x", "level": -1}, "validation_error"),
    ({"query": "x", "level": True}, "validation_error"),
    ({"query": "x", "level": None}, "validation_error"),
    ({"query": "x", "explain": "perhaps"}, "validation_error"),
    ({"query": "x", "filters": []}, "validation_error"),
    ({"query": "x", "filters": {"tag": ["x"]}}, "validation_error"),
    ({"query": "x", "filters": {"card_ids": ["x"]}}, "validation_error"),
    ({"query": "x", "filters": {"created_after": "soon"}}, "validation_error"),
    ({"query": "x", "filters": {"metadata": []}}, "validation_error"),
    ({"query": "x", "more": 1}, "validation_error"),
]


async def test_bad_questions_are_refused(client: httpx.AsyncClient) -> None:
    for body, code in REFUSED:
        assert_problem(await client.post(f"{API}/search", json=body), 422, code)


WHERE: list[tuple[Any, list[dict[str, Any]]]] = [
    (
        {"query": "x", "level": "deep"},
        [
            {
                "loc": ["body", "level"],
                "msg": "Input should be 'auto', or 'chat', 'search', 'explore', 'context' or 'insight', "
                "or a valid integer",
                "type": "literal_error",
            }
        ],
    ),
    (
        {"query": "x", "level": 9},
        [
            {
                "loc": ["body", "level"],
                "msg": "Input should be less than or equal to 4",
                "type": "less_than_equal",
            }
        ],
    ),
    (
        {"query": "x", "filters": {"tags": ["a", "b\x00"], "tag": 1}},
        [
            {
                "loc": ["body", "filters", "tags", 1],
                "msg": "Text must not contain NUL or lone surrogates",
                "type": "forbidden_characters",
            },
            {"loc": ["body", "filters", "tag"], "msg": "There is no such field here", "type": "extra_forbidden"},
        ],
    ),
    (
        {"query": "x", "filters": {"tags": ["t"] * 101}},
        [
            {
                "loc": ["body", "filters", "tags"],
                "msg": "There must be at most 100 of these",
                "type": "too_long",
            }
        ],
    ),
    ({}, [{"loc": ["body", "query"], "msg": "Field required", "type": "missing"}]),
    ([], [{"loc": ["body"], "msg": "Input should be a JSON object", "type": "model_attributes_type"}]),
]


async def test_errors_name_fields_and_nothing_of_ours(client: httpx.AsyncClient) -> None:
    for body, errors in WHERE:
        problem = assert_problem(await client.post(f"{API}/search", json=body), 422, "validation_error")
        assert problem["errors"] == errors


async def test_an_embedder_that_is_away_is_a_flag_and_no_failure(
    client: httpx.AsyncClient, services: Services, library: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(texts: object) -> None:
        raise ProviderDown

    monkeypatch.setattr(services.embedder, "queries", away)
    answer = await ask(client, "zebra", level="search")
    assert answer["degraded"] == ["embedder_unavailable"]
    assert found(answer) == {"zebra", "old"}


async def test_explain(client: httpx.AsyncClient, library: dict[str, str]) -> None:
    explained = await ask(client, "zebra", level="search", explain=True)
    assert explained["hits"][0]["explain"]
    plain = await ask(client, "zebra", level="search")
    assert plain["hits"][0]["explain"] is None
