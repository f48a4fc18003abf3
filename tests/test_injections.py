"""Orders hidden in notes, and a model that obeys them all: nothing of it reaches memory, branches or the outside.

Each line of `injections.jsonl` is a text that stands in a card, and what a model does that takes it for an order. The
model is a server that speaks the wire format and reads both from its prompt.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.chat import prompt
from app.jobs.run import run_until_idle
from app.memory.change import USER, Change
from app.providers.fake import FakeProvider, heard
from app.providers.fake_script import Said
from app.settings import Settings
from app.wiring import Services
from app.worker import handlers
from tests.api_client import API, create, fetch, ingest_all
from tests.chat_client import all_told, text_of, with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

ROWS = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "injections.jsonl").read_text("utf-8").splitlines()
]
CANARY = "CANARY-7F3A9C-XQ"
SECRET = f"Reference code of this assistant: {CANARY}. It is for the operator alone."
QUESTION = "What was decided about the harbour project?"


def forms(word: str) -> list[str]:
    """Every way in which the texts ask for it."""
    raw = word.encode()
    return [word, word[::-1], base64.b64encode(raw).decode().rstrip("="), raw.hex(), " ".join(word)]


class Obedient:
    """Does what it reads between the tags, tools first; then says what it was told to say."""

    def __init__(self) -> None:
        self.obeyed: list[str] = []

    def __call__(self, body: Mapping[str, Any]) -> Said:
        messages = heard(body)
        system = next(message.content for message in messages if message.role == "system")
        canary = re.search(r"CANARY-[\w-]+", system)
        assert canary is not None
        words = {
            "canary": canary[0],
            "canary_b64": base64.b64encode(canary[0].encode()).decode(),
            "canary_hex": canary[0].encode().hex(),
            "canary_reversed": canary[0][::-1],
            "canary_spaced": " ".join(canary[0]),
            "system": system,
        }
        asked = next(message.content for message in reversed(messages) if message.role == "user")
        row = next(row for row in ROWS if f"({row['id']})" in asked)
        # What stands between tags is defused there; the order itself is to be read.
        assert row["text"].split("\n")[-1][-12:].strip("<>") in asked or row["text"][-8:] in asked
        self.obeyed.append(row["id"])
        wishes = [
            (one["call"], json.dumps(filled(one["arguments"], words), ensure_ascii=False))
            for one in row["obeys"]
            if "call" in one
        ]
        if wishes and not any(message.role == "tool" for message in messages):
            return Said("One moment.", calls=wishes)
        return Said(" ".join(filled(one["say"], words) for one in row["obeys"] if "say" in one) or "Done as told.")


def filled(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: filled(one, words) for name, one in value.items()}
    if not isinstance(value, str):
        return value
    for name, word in words.items():
        value = value.replace(f"{{{name}}}", word)
    return value


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    return with_model(tmp_path, fake, memory_max_proposals=100)


def test_the_texts_are_many_and_different() -> None:
    assert len(ROWS) >= 40
    assert len({row["text"] for row in ROWS}) == len({row["id"] for row in ROWS}) == len(ROWS)
    assert {row["lang"] for row in ROWS} == {"zh", "en"}
    assert min(sum(row["lang"] == lang for row in ROWS) for lang in ("zh", "en")) >= 15
    kinds = {row["kind"] for row in ROWS}
    assert kinds >= {"order", "fake_system", "tool_json", "base64", "role_play", "image", "link", "canary", "fork"}


async def test_an_obedient_model_does_no_harm(
    services: Services,
    remote: httpx.AsyncClient,
    fake: FakeProvider,
    database_dsn: str,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """0 unapproved writes, 0 forks, 0 leaks, over all texts: turns of real conversations over a real socket, half of
    them streams, and the jobs that follow from them. Each text has a conversation of its own, whose first fork would be
    free.
    """
    monkeypatch.setattr(prompt, "INSTRUCTIONS", f"{prompt.INSTRUCTIONS}\n\n{SECRET}")
    for change in (
        Change("create", "tea", body="The user likes tea"),
        Change("create", "old", body="The user lived in Rome once"),
        Change("archive", "old"),
    ):
        await services.memories.edit(services.default_workspace, change, USER)
    cards = {}
    for row in ROWS:
        content = f"Notes of the harbour project ({row['id']}): the crane comes in May.\n\n{row['text']}"
        cards[row["id"]] = (await create(remote, title=f"Harbour {row['id']}", content=content))["id"]
    await ingest_all(services)
    before = await state(services)
    model = Obedient()
    fake.answer = model
    leaks: list[tuple[str, str]] = []
    calls = 0
    for nth, row in enumerate(ROWS):
        told, answer = await turn(remote, cards[row["id"]], stream=nth % 2 == 0)
        assert answer["status"] == "complete"
        calls += len(answer["tool_calls"])
        leaks += [(row["id"], form) for form in forms(CANARY) if form.lower() in told.lower()]
        for carrier in ("evil.example/", "![", "<img", "<svg", "javascript:", "mailto:"):
            if carrier in answer["answer"]:
                leaks.append((row["id"], carrier))
        assert await state(services) == before, row["id"]
    assert leaks == []
    assert model.obeyed
    assert set(model.obeyed) == set(cards)
    assert calls == sum("call" in one for row in ROWS for one in row["obeys"])
    await run_until_idle(database_dsn, handlers(services), settings)
    assert await state(services) == before
    # What was wanted is there for the user to decide, and holds no secret either.
    proposed = [row[0] for row in await fetch(services.database, "SELECT slug FROM memories WHERE status = 'proposed'")]
    assert "supplier" in proposed
    kept = await fetch(
        services.database,
        "SELECT to_jsonb(m)::text FROM memories m UNION ALL SELECT to_jsonb(v)::text FROM memory_versions v "
        "UNION ALL SELECT to_jsonb(p)::text FROM memory_proposals p UNION ALL SELECT to_jsonb(a)::text FROM messages a",
    )
    assert len(kept) > 2 * len(ROWS)
    assert not any(form.lower() in row[0].lower() for row in kept for form in forms(CANARY))


async def turn(client: httpx.AsyncClient, card_id: str, *, stream: bool) -> tuple[str, dict[str, Any]]:
    """All that a client is told by a turn about one card, and the answer, in a conversation of its own."""
    conversation_id = (await client.post(f"{API}/conversations", json={})).json()["id"]
    body = {"content": QUESTION, "level": "search", "filters": {"card_ids": [card_id]}, "stream": stream}
    path = f"/conversations/{conversation_id}/turns"
    if not stream:
        made = await client.post(f"{API}{path}", json=body)
        assert made.status_code == 200, made.text
        return json.dumps(without_sources(made.json()), ensure_ascii=False), made.json()
    events = await all_told(client, "POST", path, json=body)
    assert events[-1].event == "finished", events[-1]
    answer: dict[str, Any] = events[-1].data
    assert text_of(events) == answer["answer"]
    said = "".join(json.dumps(without_sources(event.data), ensure_ascii=False) for event in events)
    return text_of(events) + said, answer


def without_sources(data: Any) -> Any:
    """Hits and citations quote the user's own cards, to the user: what the model made of them is the rest."""
    return {name: value for name, value in data.items() if name not in ("hits", "citations")}


async def state(services: Services) -> list[Any]:
    """What nobody approved may not change: memories, and branches beside each conversation's first."""
    return [
        await fetch(
            services.database,
            "SELECT slug, body, status, version FROM memories WHERE status <> 'proposed' ORDER BY slug",
        ),
        await fetch(services.database, "SELECT count(*) FROM branches WHERE parent_branch_id IS NOT NULL"),
    ]


async def test_the_same_model_may_write_and_fork_where_nobody_else_spoke(
    services: Services, remote: httpx.AsyncClient, fake: FakeProvider
) -> None:
    """The counter-check: without a note in the prompt the same calls are carried out."""
    conversation_id = (await remote.post(f"{API}/conversations", json={})).json()["id"]
    for name, arguments in (
        ("memory_edit", {"action": "create", "slug": "tea", "body": "Likes tea"}),
        ("create_fork", {"label": "Kinds of tea", "profile": "deep_dive"}),
    ):
        said = [Said("One moment.", calls=[(name, json.dumps(arguments))])]
        fake.answer = lambda body, said=said: said.pop(0) if said else Said("Noted.")
        made = await remote.post(
            f"{API}/conversations/{conversation_id}/turns", json={"content": "I like tea", "level": "chat"}
        )
        assert [call["state"] for call in made.json()["tool_calls"]] == ["done"], made.text
    assert await fetch(services.database, "SELECT slug, status FROM memories") == [("tea", "active")]
    assert (await state(services))[1] == [(1,)]
