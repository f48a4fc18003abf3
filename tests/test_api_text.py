"""What may come in: every Unicode text but NUL and lone surrogates; nothing of the wrong shape."""

from __future__ import annotations

import itertools
import json
from typing import Any

import httpx
import pytest

from app.wiring import Services
from tests.api_client import API, assert_problem, create, fetch, ingest_all

pytest_plugins = ("tests.api_client",)

HARMLESS = [
    "İstanbul ß Σς ﬁ ＡＢＣ",
    "e\u0301 é \u202eevil\u202c \u200b\ufeff",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U00020000 \uffff \ufffe \U0010ffff",
    "\x01\x02\x1f\x7f\x80\x9f",
    "line\r\nend\rend\n\u2028\u2029\x85",
    "<|endoftext|> {{7*7}} %s {x} ${y} <script>alert(1)</script>",
    "\\u0000 \\x00 \\ud800 &#0; %00",
    "\\' OR 1=1; -- '' \"\" ` $$ $1 :name",
    "中文 日本語 한국어 ไทย العربية עברית हिन्दी",
]


@pytest.mark.parametrize("text", HARMLESS)
async def test_every_other_text_comes_back_byte_for_byte(
    client: httpx.AsyncClient, services: Services, text: str
) -> None:
    """A10, A11, G7, N10: in every field, through ingestion and search."""
    card = await create(
        client,
        title=f"T {text}",
        content=f"C {text}",
        tags=[f"t {text}"],
        source={"kind": "k", "url": text, "path": text},
        metadata={text: [text, {"k": text}]},
        external_id=f"e {text}",
    )
    await ingest_all(services)
    read = (await client.get(f"{API}/cards/{card['id']}")).json()
    assert read["ingestion"]["state"] == "ready"
    assert (read["title"], read["content"], read["tags"]) == (f"T {text}", f"C {text}", [f"t {text}"])
    assert read["source"] == {"kind": "k", "url": text, "path": text}
    assert read["metadata"] == {text: [text, {"k": text}]}
    assert read["external_id"] == f"e {text}"
    answer = await client.post(f"{API}/search", json={"query": f"C {text}", "filters": {"tags": [f"t {text}"]}})
    assert answer.status_code == 200, answer.text
    assert answer.json()["query"] == f"C {text}"
    assert [hit["card"]["title"] for hit in answer.json()["hits"]] == [f"T {text}"]
    span = answer.json()["hits"][0]["evidence"][0]
    assert read["content"][span["start"] : span["end"]] == span["text"]


BAD = ["\x00", "a\x00b", "\ud800", "\udfff x", "x \udc00\ud800"]


REFUSED = [
    {"content": "?"},
    {"title": "?", "content": "x"},
    {"content": "x", "tags": ["ok", "?"]},
    {"content": "x", "external_id": "?"},
    {"content": "x", "source": {"url": "?"}},
    {"content": "x", "source": {"path": "?"}},
    {"content": "x", "metadata": {"k": "?"}},
    {"content": "x", "metadata": {"?": 1}},
    {"content": "x", "metadata": {"a": [1, {"b": ["?"]}]}},
    {"content": "x", "created_at": "?"},
    {"content": "x", "?": 1},
]


async def test_nul_and_lone_surrogates_are_refused_in_every_field(
    client: httpx.AsyncClient, services: Services
) -> None:
    """A1, A7."""
    card = await create(client, content="untouched")
    headers = {"content-type": "application/json"}
    for body, bad in itertools.product(REFUSED, BAD):
        raw = json.dumps(body).replace("?", json.dumps(bad)[1:-1]).encode()
        posted = await client.post(f"{API}/cards", content=raw, headers=headers)
        assert len(assert_problem(posted, 422, "validation_error")["errors"]) == 1
        patched = await client.patch(f"{API}/cards/{card['id']}", content=raw, headers=headers)
        assert_problem(patched, 422, "validation_error")
    assert await fetch(services.database, "SELECT content, version FROM cards") == [("untouched", 1)]


ELSEWHERE: list[tuple[str, dict[str, Any]]] = [
    ("/search", {"query": "?"}),
    ("/search", {"query": "x", "filters": {"tags": ["?"]}}),
    ("/search", {"query": "x", "filters": {"metadata": {"?": "?"}}}),
    ("/search", {"query": "x", "level": "?"}),
    ("/keys", {"name": "?"}),
    ("/workspaces", {"slug": "ok", "name": "?"}),
    ("/workspaces", {"slug": "?", "name": "x"}),
]


async def test_the_other_doors_refuse_them_too(client: httpx.AsyncClient) -> None:
    """A1."""
    for (path, body), bad in itertools.product(ELSEWHERE, BAD):
        raw = json.dumps(body).replace("?", json.dumps(bad)[1:-1]).encode()
        answer = await client.post(f"{API}{path}", content=raw, headers={"content-type": "application/json"})
        assert_problem(answer, 422, "validation_error")


async def test_paths_refuse_them_too(client: httpx.AsyncClient) -> None:
    for path in ("/cards/%00", "/cards/%ED%A0%80", "/jobs/%00", "/keys/%ff", "/cards/%2e%2e%2fx"):
        answer = await client.get(f"{API}{path}")
        assert answer.status_code in {404, 422}
        assert answer.headers["content-type"] == "application/problem+json"


BROKEN = [
    b"",
    b"{",
    b"nonsense",
    b'{"content": "raw \x00 nul"}',
    b'{"content": "\xff\xfe"}',
    b'{"content": "\xed\xa0\x80"}',
    b'{"content": NaN}',
    b'{"content": "x", "metadata": {"n": NaN}}',
    b'{"content": "x", "metadata": {"n": Infinity}}',
    b'{"content": "x", "metadata": {"n": 1e999}}',
    b'{"content": "x", "metadata": {"n": ' + b"9" * 5000 + b"}}",
    b'{"content": "x", "metadata": ' + b'{"a":' * 40 + b"1" + b"}" * 40 + b"}",
    b'{"content": "x", "metadata": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    b'{"content": "x", "metadata": {"a": "' + b"x" * 300_000 + b'"}}',
    b'{"content": "x"} trailing',
    b'\xef\xbb\xbf{"content": "x"',
    b"[]",
    b"null",
    b'"text"',
    b"5",
]


async def test_broken_bodies_are_the_callers_mistake(client: httpx.AsyncClient, services: Services) -> None:
    """A1: and nothing of them is echoed or stored."""
    for raw in BROKEN:
        answer = await client.post(f"{API}/cards", content=raw, headers={"content-type": "application/json"})
        assert answer.status_code in {400, 422}, answer.text
        assert_problem(answer, answer.status_code, answer.json()["code"])
        assert len(answer.content) < 2000
        assert await fetch(services.database, "SELECT count(*) FROM cards") == [(0,)]


WRONG = [
    {"content": 5},
    {"content": ["x"]},
    {"content": "x", "title": {}},
    {"content": "x", "tags": "not a list"},
    {"content": "x", "tags": {}},
    {"content": "x", "tags": [None]},
    {"content": "x", "tags": ["  "]},
    {"content": "x", "tags": ["t" * 201]},
    {"content": "x", "tags": ["t"] * 101},
    {"content": "x", "title": "t" * 501},
    {"content": "x", "external_id": ""},
    {"content": "x", "external_id": "e" * 513},
    {"content": "x", "external_id": 5},
    {"content": "x", "metadata": []},
    {"content": "x", "metadata": "m"},
    {"content": "x", "source": "s"},
    {"content": "x", "source": {"more": 1}},
    {"content": "x", "created_at": 1700000000},
    {"content": "x", "created_at": "1700000000"},
    {"content": "x", "created_at": "2024-13-01"},
    {"content": "x", "created_at": "2024-02-30T00:00:00Z"},
    {"content": "x", "created_at": "0001-01-01T00:00:00+01:00"},
    {"content": "x", "created_at": "10000-01-01"},
    {"content": "x", "created_at": True},
    {"content": "x", "unknown": 1},
    {"content": "x", "id": "01920000-0000-7000-8000-000000000000"},
    {"content": "x", "workspace_id": "01920000-0000-7000-8000-000000000000"},
    {"content": "x", "version": 7},
]


async def test_wrong_types_and_unknown_fields(client: httpx.AsyncClient) -> None:
    for body in WRONG:
        problem = assert_problem(await client.post(f"{API}/cards", json=body), 422, "validation_error")
        assert problem["errors"][0].keys() == {"loc", "msg", "type"}


async def test_the_longest_values_are_stored_and_indexed(client: httpx.AsyncClient) -> None:
    """Index entries have a limit; folding makes some texts much longer."""
    card = await create(
        client,
        title="ﷺ" * 500,
        content="x",
        tags=[f"{n}" + "\U00020000" * 190 for n in range(100)],
        external_id="\U00020000" * 512,
        source={"path": "ﷺ" * 4000, "url": "u" * 4000},
        metadata={"aliases": ["ﷺ" * 3000] * 10, "big": "y" * 100_000},
    )
    assert (await client.get(f"{API}/cards/{card['id']}")).json() == card


@pytest.mark.parametrize(("size", "status"), [(1024 * 1024 - 1, 201), (1024 * 1024, 422)])
async def test_a_card_holds_a_mebibyte(client: httpx.AsyncClient, size: int, status: int) -> None:
    """Counted in UTF-8 with the title."""
    content = "长" * (size // 3) + "x" * (size % 3)
    answer = await client.post(f"{API}/cards", json={"title": "t", "content": content})
    assert answer.status_code == status
    if status == 422:
        assert_problem(answer, 422, "card_too_large")
        card = await create(client, content="small")
        patched = await client.patch(f"{API}/cards/{card['id']}", json={"content": content})
        assert_problem(patched, 422, "card_too_large")
    else:
        assert answer.json()["content"] == content


async def test_other_content_types_are_not_read_as_json(client: httpx.AsyncClient) -> None:
    """A web page can send text/plain anywhere without asking."""
    for content_type in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = await client.post(f"{API}/cards", content=b'{"content": "x"}', headers={"content-type": content_type})
        assert_problem(answer, 422, "validation_error")


async def test_many_errors_are_cut(client: httpx.AsyncClient) -> None:
    answer = await client.post(f"{API}/cards", json={f"f{n}" + "x" * 1000: n for n in range(2000)})
    problem = assert_problem(answer, 422, "validation_error")
    assert len(problem["errors"]) == 50
    assert len(answer.content) < 20_000
