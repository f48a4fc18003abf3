"""The OpenAPI document is true: schemathesis throws what it can think of at every operation and finds no 5xx."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from contextlib import suppress

import httpx
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

from app.main import build
from app.settings import Settings
from app.wiring import Services
from tests.api_client import API, create, ingest_all

pytest_plugins = ("tests.api_client",)

EXAMPLES = 12


async def test_operation_ids_are_good_names(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names)
    assert {
        "create_card",
        "create_cards",
        "list_cards",
        "get_card",
        "change_card",
        "delete_card",
        "undelete_card",
        "search",
        "create_import",
        "list_jobs",
        "create_key",
        "get_liveness",
    } <= set(names)
    for operation in operations:
        assert operation["tags"]
        problem = operation["responses"]["default"]["content"]["application/problem+json"]["schema"]
        assert problem == {"$ref": "#/components/schemas/Problem"}
    assert "HTTPValidationError" not in document["components"]["schemas"]
    assert document["components"]["schemas"]["CardChange"]["additionalProperties"] is False


def test_the_document_needs_no_services() -> None:
    assert build(Settings()).openapi()["paths"].keys() >= {f"{API}/cards", f"{API}/search", "/health/live"}


def test_the_document_is_complete() -> None:
    """Every field of the card and of a hit that the contract names is in the document."""
    schemas = build(Settings()).openapi()["components"]["schemas"]
    assert schemas["CardShape"]["properties"].keys() >= {
        "id",
        "title",
        "content",
        "tags",
        "created_at",
        "updated_at",
        "version",
        "external_id",
        "source",
        "metadata",
        "ingestion",
    }
    assert schemas["HitShape"]["properties"].keys() >= {
        "rank",
        "score",
        "card",
        "snippet",
        "evidence",
        "ranks",
        "episode",
        "paths",
    }


async def test_schemathesis_finds_no_server_error(app: FastAPI, services: Services, client: httpx.AsyncClient) -> None:
    """Bounded: a few generated requests per operation, good ones and bad ones."""
    await create(client, content="[[x]] something", tags=["t"], external_id="e")
    await ingest_all(services)
    loop = asyncio.get_running_loop()
    failures: list[str] = []
    statuses: Counter[int] = Counter()

    async def call(case: schemathesis.Case) -> httpx.Response | None:
        sent = case.as_transport_kwargs(base_url="http://127.0.0.1:8000")
        body = sent.get("data")
        try:
            request = client.build_request(
                sent["method"],
                sent["url"],
                params=sent.get("params"),
                headers=[(_latin(name), _latin(value)) for name, value in dict(sent.get("headers") or {}).items()],
                json=sent.get("json"),
                files=sent.get("files"),
                **({"content": body} if isinstance(body, bytes | str) else {"data": body}),
            )
        except (httpx.InvalidURL, UnicodeError, TypeError, ValueError):
            # What no client can send needs no answer.
            return None
        return await client.send(request)

    def probe(case: schemathesis.Case) -> None:
        answer = asyncio.run_coroutine_threadsafe(call(case), loop).result(30)
        if answer is None:
            return
        statuses[answer.status_code] += 1
        if answer.status_code >= 500:
            failures.append(f"{case.method} {case.path} {answer.status_code} {answer.text}")

    def attack() -> None:
        for found in schemathesis.openapi.from_dict(app.openapi()).get_all_operations():
            operation = found.ok()
            # An endless stream is no answer.
            if operation.path.endswith("/events"):
                continue
            for mode in schemathesis.GenerationMode:
                # Some operations take nothing that could be wrong.
                with suppress(Unsatisfiable):
                    bounded(given(case=operation.as_strategy(generation_mode=mode))(probe))()

    await asyncio.to_thread(attack)
    assert failures == []
    assert statuses.total() > 500
    assert {200, 201, 404, 422} <= statuses.keys()


bounded = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def _latin(value: object) -> bytes:
    return str(value).encode("latin-1", "replace")
