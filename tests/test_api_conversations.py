"""Conversations over HTTP: their life, their turns, and listening to a turn again."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api.sse import Event
from app.api.turn_stream import Place, placed
from app.chat.conversations import Conversations
from app.main import Server, create_app
from app.providers.fake import FakeProvider
from app.settings import Settings
from app.wiring import Services
from tests.api_client import API, assert_problem, create, execute, fetch, ingest_all, make_key, make_workspace
from tests.chat_client import Told, all_told, names, text_of, told, until, with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

GHOST = "01920000-0000-7000-8000-000000000000"
STALL = "fault:stall,after=3"


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    return with_model(tmp_path, fake)


async def begin(client: httpx.AsyncClient, title: str | None = None) -> dict[str, Any]:
    answer = await client.post(f"{API}/conversations", json={"title": title} if title else None)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def messages(client: httpx.AsyncClient, conversation_id: str, **params: str) -> list[dict[str, Any]]:
    answer = await client.get(f"{API}/conversations/{conversation_id}/messages", params=params)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


# ------------------------------------------------------------------------------- conversations


async def test_the_life_of_a_conversation(client: httpx.AsyncClient, services: Services) -> None:
    """D14."""
    made = await client.post(f"{API}/conversations", json={"title": "Tea 茶"})
    assert made.status_code == 201
    body = made.json()
    url = f"{API}/conversations/{body['id']}"
    assert made.headers["location"] == url
    assert made.headers["etag"] == '"1"'
    read = await client.get(url)
    assert (read.json(), read.headers["etag"]) == (body, '"1"')
    assert (body["title"], body["version"]) == ("Tea 茶", 1)

    tree = (await client.get(f"{url}/tree")).json()
    (branch,) = tree["branches"]
    assert (tree["conversation_id"], branch["depth"], branch["messages"]) == (body["id"], 0, 0)
    assert (branch["parent_message_id"], branch["profile"], branch["label"]) == (None, None, None)
    await client.post(f"{url}/turns", json={"content": "Hi"})
    assert (await client.get(f"{url}/tree")).json()["branches"][0]["messages"] == 2

    assert_problem(await client.delete(url, headers={"If-Match": '"7"'}), 412, "version_mismatch")
    gone = await client.delete(url, headers={"If-Match": '"1"'})
    assert (gone.status_code, gone.content) == (204, b"")
    for table in ("conversations", "branches", "messages"):
        assert await fetch(services.database, f"SELECT id FROM {table}") == []
    for path in ("", "/tree", "/messages"):
        assert_problem(await client.get(url + path), 404, "conversation_not_found")
    assert_problem(await client.delete(url), 404, "conversation_not_found")
    assert_problem(await client.post(f"{url}/turns", json={"content": "Hi"}), 404, "conversation_not_found")


async def test_titles(client: httpx.AsyncClient) -> None:
    """N4, N5, N11."""
    made = await begin(client)
    url = f"{API}/conversations/{made['id']}"
    assert made["title"] is None
    renamed = await client.patch(url, json={"title": "Mine"}, headers={"If-Match": '"1"'})
    assert (renamed.json()["title"], renamed.headers["etag"]) == ("Mine", '"2"')
    assert renamed.json()["updated_at"] > made["updated_at"]
    assert (await client.get(url)).json() == renamed.json()
    assert_problem(await client.patch(url, json={"title": "x"}, headers={"If-Match": '"1"'}), 412, "version_mismatch")
    assert (await client.patch(url, json={}, headers={"If-Match": '"2"'})).json()["title"] == "Mine"
    assert_problem(await client.patch(url, json={}, headers={"If-Match": '"1"'}), 412, "version_mismatch")
    await client.post(f"{url}/turns", json={"content": "What is this about?"})
    assert (await client.get(url)).json()["title"] == "Mine"
    cleared = await client.patch(url, json={"title": None})
    assert (cleared.json()["title"], cleared.json()["version"]) == (None, 3)
    for bad in ({"title": " "}, {"title": "a\x00"}, {"title": "x" * 501}, {"title": 5}, {"name": "x"}):
        assert_problem(await client.patch(url, json=bad), 422, "validation_error")
        assert_problem(await client.post(f"{API}/conversations", json=bad), 422, "validation_error")


async def test_pages_are_newest_first_and_whole(client: httpx.AsyncClient) -> None:
    """N19."""
    made = [(await begin(client, f"c{n}"))["id"] for n in range(5)]
    await client.post(f"{API}/conversations/{made[1]}/turns", json={"content": "Hi"})
    seen: list[str] = []
    cursor: str | None = None
    while True:
        params = {"limit": "2"} | ({"cursor": cursor} if cursor else {})
        page = (await client.get(f"{API}/conversations", params=params)).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [made[1], made[4], made[3], made[2], made[0]]
    for bad in ({"limit": "0"}, {"limit": "201"}, {"cursor": "x"}):
        assert (await client.get(f"{API}/conversations", params=bad)).status_code == 422


async def test_ids_that_are_none(client: httpx.AsyncClient) -> None:
    """N1, N2."""
    made = await begin(client)
    for method, path in (
        ("GET", "/conversations/{}"),
        ("PATCH", "/conversations/{}"),
        ("DELETE", "/conversations/{}"),
        ("GET", "/conversations/{}/tree"),
        ("GET", "/conversations/{}/messages"),
        ("POST", "/conversations/{}/turns"),
        ("POST", "/turns/{}/stop"),
        ("GET", "/turns/{}/events"),
    ):
        body = {"json": {"content": "x"} if "turns" in path else {"title": "x"}} if method in ("PATCH", "POST") else {}
        assert (await client.request(method, f"{API}{path.format(GHOST)}", **body)).status_code == 404  # type: ignore[arg-type]
        assert (await client.request(method, f"{API}{path.format('x')}", **body)).status_code == 422  # type: ignore[arg-type]
    url = f"{API}/conversations/{made['id']}"
    assert_problem(await client.get(f"{url}/messages?branch_id={GHOST}"), 404, "branch_not_found")
    turn = await client.post(f"{url}/turns", json={"content": "x", "branch_id": GHOST})
    assert_problem(turn, 404, "branch_not_found")


async def test_a_conversation_belongs_to_its_workspace(
    locked: Callable[..., httpx.AsyncClient], services: Services
) -> None:
    """D7, D13."""
    mine, _ = await make_key(services, "read", "chat")
    theirs, _ = await make_key(services, "read", "chat", workspace_id=await make_workspace(services, "theirs"))
    reader, _ = await make_key(services, "read")
    async with (
        locked(X_API_Key=mine) as me,
        locked(X_API_Key=theirs) as them,
        locked(X_API_Key=reader) as only_reads,
    ):
        made = await begin(me)
        url = f"{API}/conversations/{made['id']}"
        turn = (await me.post(f"{url}/turns", json={"content": "Hi"})).json()
        for method, path in (
            ("GET", url),
            ("DELETE", url),
            ("GET", f"{url}/messages"),
            ("GET", f"{url}/tree"),
            ("POST", f"{API}/turns/{turn['message_id']}/stop"),
            ("GET", f"{API}/turns/{turn['message_id']}/events"),
        ):
            assert (await them.request(method, path)).status_code == 404
        assert (await them.get(f"{API}/conversations")).json()["items"] == []
        assert (await only_reads.get(url)).status_code == 200
        for answer in (
            await only_reads.post(f"{API}/conversations"),
            await only_reads.post(f"{url}/turns", json={"content": "Hi"}),
            await only_reads.delete(url),
        ):
            assert_problem(answer, 403, "missing_scope")
        assert (await me.get(url)).status_code == 200


# ---------------------------------------------------------------------------------------- turns


async def test_a_turn_and_its_messages(client: httpx.AsyncClient, services: Services, fake: FakeProvider) -> None:
    content = "# Ferry\n\nThe ferry to Hiddensee leaves at nine in the morning.\n"
    card = await create(client, title="Ferry", content=content)
    await ingest_all(services)
    made = await begin(client)
    url = f"{API}/conversations/{made['id']}"
    fake.answer = lambda body: "The ferry to Hiddensee leaves at nine in the morning. [1] Never [9]."
    turn = (await client.post(f"{url}/turns", json={"content": "When does the ferry leave?"})).json()
    assert turn["answer"] == "The ferry to Hiddensee leaves at nine in the morning. [1] Never."
    asked, answered = await messages(client, made["id"])
    assert turn["conversation_id"] == made["id"]
    assert (turn["user_message_id"], turn["message_id"]) == (asked["id"], answered["id"])
    assert turn["branch_id"] == asked["branch_id"] == answered["branch_id"]
    assert (asked["role"], asked["content"], asked["status"]) == ("user", "When does the ferry leave?", "complete")
    assert [asked[name] for name in ("error_code", "route", "citations", "usage", "parent_id")] == [None] * 5
    assert (answered["role"], answered["status"], answered["content"]) == ("assistant", "complete", turn["answer"])
    assert answered["parent_id"] == asked["id"]
    for name in ("route", "citations", "usage", "provider", "model", "timings_ms"):
        assert answered[name] == turn[name], name
    assert answered["ledger"] == turn["ledger"] | {"removed_citations": 1, "is_tainted": True}
    (citation,) = turn["citations"]
    assert citation["id"] == card["id"]
    assert content[citation["start"] : citation["end"]] == citation["quote"]
    assert (await client.get(url)).json()["title"] == "When does the ferry leave"


async def test_the_second_turn_sees_the_first(client: httpx.AsyncClient, fake: FakeProvider) -> None:
    fake.answer = lambda body: " | ".join(message["content"] for message in body["messages"][1:])
    made = await begin(client)
    url = f"{API}/conversations/{made['id']}/turns"
    await client.post(url, json={"content": "first {x}"})
    second = (await client.post(url, json={"content": "second"})).json()
    assert second["answer"] == "first {x} | first {x} | second"
    assert [message["ordinal"] for message in await messages(client, made["id"])] == [1, 2, 3, 4]


async def test_messages_in_pages(client: httpx.AsyncClient) -> None:
    made = await begin(client)
    url = f"{API}/conversations/{made['id']}"
    for n in range(3):
        await client.post(f"{url}/turns", json={"content": f"q{n}"})
    branch = (await messages(client, made["id"]))[0]["branch_id"]
    seen: list[int] = []
    cursor: str | None = None
    while True:
        params = {"limit": "4", "branch_id": branch} | ({"cursor": cursor} if cursor else {})
        page = (await client.get(f"{url}/messages", params=params)).json()
        seen += [item["ordinal"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [1, 2, 3, 4, 5, 6]


async def test_the_stream_of_a_turn(client: httpx.AsyncClient) -> None:
    made = await begin(client)
    path = f"/conversations/{made['id']}/turns"
    events = await all_told(client, "POST", path, json={"content": "Hi", "level": "search", "stream": True})
    assert names(events) == ["started", "route", "hits", "token", "finished"]
    finished = events[-1].data
    assert text_of(events) == finished["answer"]
    assert {name: finished[name] for name in events[0].data} == events[0].data
    whole = (await client.post(f"{API}{path}", json={"content": "Hi"})).json()
    assert finished.keys() == whole.keys()
    places = [Place.parse(event.id) for event in events]
    assert places == sorted(set(places))
    assert (await messages(client, made["id"]))[1]["content"] == finished["answer"]


@pytest.mark.parametrize(
    ("body", "status", "code", "stored"),
    [
        ({"provider": "nobody"}, 404, "provider_not_found", None),
        ({"surprise": 1}, 422, "validation_error", None),
        ({"content": " "}, 422, "blank_query", None),
        ({"content": "字" * 11_000}, 422, "query_too_large", None),
        ({"provider": "deepseek"}, 409, "provider_missing_key", "failed"),
        ({"model": "fault:429"}, 503, "provider_busy", "failed"),
        ({"model": "fault:401"}, 502, "provider_refused", "failed"),
    ],
)
async def test_a_turn_that_fails(
    client: httpx.AsyncClient, body: dict[str, Any], status: int, code: str, stored: str | None
) -> None:
    made = await begin(client)
    path = f"/conversations/{made['id']}/turns"
    problem = assert_problem(await client.post(f"{API}{path}", json={"content": "Hi"} | body), status, code)
    kept = await messages(client, made["id"])
    if stored is None:
        assert kept == []
        return
    asked, answered = kept
    assert (asked["content"], answered["status"], answered["error_code"]) == ("Hi", stored, code)
    assert (problem["message_id"], problem["user_message_id"]) == (answered["id"], asked["id"])
    assert problem["message_status"] == stored
    events = await all_told(client, "POST", path, json={"content": "Hi", "stream": True} | body)
    assert (events[0].event, events[-1].event) == ("started", "failed")
    assert (events[-1].data["code"], events[-1].data["message_status"]) == (code, stored)


async def test_truncated_is_kept_and_not_complete(client: httpx.AsyncClient) -> None:
    made = await begin(client)
    turn = (
        await client.post(
            f"{API}/conversations/{made['id']}/turns", json={"content": "Hi", "model": "fault:cut,after=3"}
        )
    ).json()
    assert (turn["status"], turn["stop_reason"]) == ("interrupted", "truncated")
    answered = (await messages(client, made["id"]))[1]
    assert (answered["status"], answered["error_code"]) == ("interrupted", "truncated")
    assert answered["content"] == turn["answer"] == "You said:"


async def test_a_repeated_turn_is_one_turn(client: httpx.AsyncClient, fake: FakeProvider) -> None:
    """N14."""
    made = await begin(client)
    url = f"{API}/conversations/{made['id']}/turns"
    key = {"Idempotency-Key": "t-1"}
    first = await client.post(url, json={"content": "Hi"}, headers=key)
    again = await client.post(url, json={"content": "Hi"}, headers=key)
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert fake.asked() == 1
    assert len(await messages(client, made["id"])) == 2
    for _ in range(2):
        events = await all_told(
            client,
            "POST",
            f"/conversations/{made['id']}/turns",
            json={"content": "Hi", "stream": True},
            headers={"Idempotency-Key": "t-2"},
        )
        assert events[-1].event == "finished"


async def test_a_client_that_times_out_and_repeats_gets_the_first_answer(
    server: Server, remote: httpx.AsyncClient, fake: FakeProvider
) -> None:
    """N14: the first request goes on although nobody waits for it."""
    made = await begin(remote)
    url = f"{API}/conversations/{made['id']}/turns"
    body = {"content": "Hi", "model": "fault:slow,seconds=0.6"}
    key = {"Idempotency-Key": "t-1"}
    with pytest.raises(httpx.ReadTimeout):
        await remote.post(url, json=body, headers=key, timeout=0.3)
    assert_problem(await remote.post(url, json=body, headers=key), 409, "idempotency_in_flight")
    answer: httpx.Response | None = None

    async def is_answered() -> bool:
        nonlocal answer
        answer = await remote.post(url, json=body, headers=key)
        return answer.status_code != 409

    await until(is_answered)
    assert answer is not None
    assert answer.json()["answer"] == "You said: Hi"
    assert len(await messages(remote, made["id"])) == 2
    assert fake.asked() == 1


class TestTinyWindow:
    @pytest.fixture
    def settings(self, tmp_path: Path, fake: FakeProvider) -> Settings:
        return with_model(tmp_path, fake, chat_context_tokens=512)

    async def test_a_question_that_does_not_fit(self, client: httpx.AsyncClient) -> None:
        made = await begin(client)
        turn = await client.post(f"{API}/conversations/{made['id']}/turns", json={"content": "word " * 600})
        assert_problem(turn, 422, "question_too_long")
        assert [message["status"] for message in await messages(client, made["id"])] == ["complete", "failed"]


class TestOnePool:
    @pytest.fixture
    def settings(self, tmp_path: Path, fake: FakeProvider) -> Settings:
        return with_model(tmp_path, fake, database_pool_size=2, database_pool_overflow=0)

    async def test_as_many_turns_as_connections_and_more(
        self, locked: Callable[..., httpx.AsyncClient], services: Services
    ) -> None:
        """E10: none holds a connection while it waits for another."""
        token, _ = await make_key(services, "read", "chat")
        async with locked(X_API_Key=token) as client:
            made = [await begin(client) for _ in range(8)]
            turns = await asyncio.gather(
                *(client.post(f"{API}/conversations/{one['id']}/turns", json={"content": "Hi"}) for one in made)
            )
        assert [turn.status_code for turn in turns] == [200] * 8


# ------------------------------------------------------------------------------- listening again


class Listener:
    """A streaming turn whose client goes away when it has heard enough."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.conversation_id = ""
        self.heard: list[Told] = []

    async def begin(self, enough: str, **body: Any) -> None:
        self.conversation_id = (await begin(self.client))["id"]
        url = f"{API}/conversations/{self.conversation_id}/turns"
        async with self.client.stream("POST", url, json={"stream": True, "content": "Hi"} | body) as response:
            async for event in told(response):
                self.heard.append(event)
                if text_of(self.heard).startswith(enough) and event.event == "token":
                    break

    @property
    def message_id(self) -> str:
        return str(self.heard[0].data["message_id"])

    async def again(self, client: httpx.AsyncClient | None = None, *, whole: bool = False) -> list[Told]:
        """What is heard from where it broke off, or from the beginning."""
        headers = {} if whole or self.heard[-1].id is None else {"Last-Event-ID": self.heard[-1].id}
        return await all_told(client or self.client, "GET", f"/turns/{self.message_id}/events", headers=headers)

    async def stop(self) -> None:
        answer = await self.client.post(f"{API}/turns/{self.message_id}/stop")
        assert (answer.status_code, answer.content) == (202, b"")

    async def stored(self) -> dict[str, Any]:
        return (await messages(self.client, self.conversation_id))[1]


@pytest.fixture
def listener(server: Server, remote: httpx.AsyncClient) -> Listener:
    return Listener(remote)


async def other_process(services: Services) -> httpx.AsyncClient:
    """A client of another app on the same database, which runs no turn."""
    settings = services.settings
    there = Conversations(services.database, services.answering, services.standing, services.providers, settings)
    parts = dict(vars(services)) | {"conversations": there}
    app = create_app(type(services)(**parts))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8000")


async def test_a_client_comes_back_while_it_runs(listener: Listener) -> None:
    """K2: no event is lost, none is heard twice."""
    await listener.begin("You said: one", content="one two three four", model="fault:stall,after=4,seconds=0.5")
    rest = await listener.again()
    heard = listener.heard + rest
    assert names(heard) == ["started", "route", "hits", "token", "finished"]
    assert text_of(heard) == heard[-1].data["answer"] == "You said: one two three four"
    places = [Place.parse(event.id) for event in heard]
    assert places == sorted(set(places))
    # After the end it is told again, whole or from there.
    assert await listener.again(whole=True) == heard
    assert await listener.again() == rest
    listener.heard = heard
    assert await listener.again() == []


async def test_a_stop_while_a_client_listens(listener: Listener) -> None:
    await listener.begin("You said:", model=STALL)
    listening = asyncio.create_task(listener.again())
    await listener.stop()
    await listener.stop()
    events = await listening
    assert [event.event for event in events] == ["failed"]
    assert events[0].data == {
        "code": "stopped",
        "detail": "The answer was stopped; what was said so far is kept.",
        "message_status": "interrupted",
    }
    stored = await listener.stored()
    assert (stored["content"], stored["status"], stored["error_code"]) == ("You said:", "interrupted", "stopped")


async def test_a_broken_off_answer_keeps_its_citations(
    listener: Listener, services: Services, fake: FakeProvider
) -> None:
    card = await create(listener.client, title="Ferry", content="The ferry leaves at nine in the morning.")
    await ingest_all(services)
    fake.answer = lambda body: "The ferry leaves at nine in the morning. [1] Or at ten [9]. And so on and on."
    await listener.begin(
        "The ferry leaves at nine in the morning. [1] Or at ten. And",
        content="When does the ferry leave?",
        model="fault:stall,after=16",
    )
    await listener.stop()
    assert [event.event for event in await listener.again()] == ["failed"]
    stored = await listener.stored()
    assert stored["status"] == "interrupted"
    assert stored["content"] == "The ferry leaves at nine in the morning. [1] Or at ten. And"
    (citation,) = stored["citations"]
    assert (citation["id"], citation["quote"]) == (card["id"], "The ferry leaves at nine in the morning.")
    assert stored["ledger"]["removed_citations"] == 1
    assert stored["route"]["level"] == "context"


class TestDetached:
    @pytest.fixture
    def settings(self, tmp_path: Path, fake: FakeProvider) -> Settings:
        return with_model(tmp_path, fake, turn_detached_seconds=0.3)

    async def test_a_client_that_does_not_come_back(self, listener: Listener, fake: FakeProvider) -> None:
        """K2, K4: whether it listened to a stream or waited for the whole answer."""

        async def is_over() -> bool:
            return bool((await listener.stored())["error_code"] == "nobody_listening")

        await listener.begin("You said:", model=STALL)
        await until(is_over)
        listener.conversation_id = (await begin(listener.client))["id"]
        with pytest.raises(httpx.ReadTimeout):
            await listener.client.post(
                f"{API}/conversations/{listener.conversation_id}/turns",
                json={"content": "Hi", "model": STALL},
                timeout=0.6,
            )
        await until(is_over)
        stored = await listener.stored()
        assert (stored["content"], stored["status"]) == ("You said:", "interrupted")
        for exchange in fake.exchanges:
            await exchange.ended.wait()
        assert [exchange.outcome for exchange in fake.exchanges] == ["client_gone"] * 2


async def test_a_client_comes_back_to_another_process(listener: Listener, services: Services) -> None:
    await listener.begin("You said:", model=STALL)
    async with await other_process(services) as elsewhere:
        whole = asyncio.create_task(listener.again(elsewhere, whole=True))
        rest = asyncio.create_task(listener.again(elsewhere))

        async def is_saved() -> bool:
            return bool((await listener.stored())["content"] == "You said:")

        await until(is_saved)
        answer = await elsewhere.post(f"{API}/turns/{listener.message_id}/stop")
        assert answer.status_code == 202
        assert [event.event for event in await rest] == ["failed"]
        assert names(await whole) == ["started", "token", "failed"]
        assert text_of(await whole) == "You said:"
    assert (await whole)[-1].data == (await rest)[-1].data
    assert (await rest)[-1].data["code"] == "stopped"
    assert (await listener.stored())["status"] == "interrupted"


async def test_what_is_over_is_told_by_the_database(listener: Listener, services: Services) -> None:
    await listener.begin("You said: one", content="one two three", level="search")
    here = await listener.again(whole=True)
    async with await other_process(services) as elsewhere:
        events = await listener.again(elsewhere, whole=True)
        rest = await listener.again(elsewhere)
    assert names(events) == ["started", "route", "token", "finished"]
    assert text_of(events) == events[-1].data["answer"]
    assert text_of(events).startswith("You said:")
    assert text_of(events).endswith("one two three")
    for name in ("answer", "status", "stop_reason", "citations", "removed_citations", "route", "message_id", "usage"):
        assert events[-1].data[name] == here[-1].data[name], name
    assert text_of(listener.heard) + text_of(rest) == events[-1].data["answer"]


@pytest.mark.parametrize(
    ("status", "code", "event"),
    [
        ("complete", None, "finished"),
        ("interrupted", "length", "finished"),
        ("interrupted", "truncated", "finished"),
        ("interrupted", "process_lost", "failed"),
        ("interrupted", "nobody_listening", "failed"),
        ("failed", "provider_down", "failed"),
    ],
)
async def test_every_end_is_told(
    client: httpx.AsyncClient, services: Services, status: str, code: str | None, event: str
) -> None:
    """N16."""
    made = await begin(client)
    turn = (await client.post(f"{API}/conversations/{made['id']}/turns", json={"content": "Hi"})).json()
    await execute(
        services.database,
        "UPDATE messages SET status = :status, error_code = :code, route = NULL, citations = NULL, ledger = NULL "
        "WHERE role = 'assistant'",
        status=status,
        code=code,
    )
    async with await other_process(services) as elsewhere:
        events = await all_told(elsewhere, "GET", f"/turns/{turn['message_id']}/events")
    assert names(events) == ["started", "token", event]
    last = events[-1].data
    if event == "failed":
        assert (last["code"], last["message_status"]) == (code, status)
        assert len(last["detail"]) > 20
    else:
        assert (last["status"], last["stop_reason"]) == (status, code or "stop")
        assert (last["route"], last["citations"], last["removed_citations"]) == (None, [], 0)


async def test_a_question_is_no_turn(client: httpx.AsyncClient) -> None:
    made = await begin(client)
    turn = (await client.post(f"{API}/conversations/{made['id']}/turns", json={"content": "Hi"})).json()
    for path in ("stop", "events"):
        method = "POST" if path == "stop" else "GET"
        answer = await client.request(method, f"{API}/turns/{turn['user_message_id']}/{path}")
        assert_problem(answer, 404, "message_not_found")


async def test_a_deleted_conversation_ends_its_stream(listener: Listener, services: Services) -> None:
    """D14."""
    await listener.begin("You said:", model=STALL)
    run = await services.conversations.find_run(services.default_workspace, uuid.UUID(listener.message_id))

    async def are_listening() -> bool:
        ((watched_at,),) = await fetch(
            services.database, "SELECT watched_at FROM messages WHERE id = :id", id=uuid.UUID(listener.message_id)
        )
        return watched_at is not None and run is not None and run.alone_seconds == 0

    async with await other_process(services) as elsewhere:
        there = asyncio.create_task(listener.again(elsewhere))
        here = asyncio.create_task(listener.again())
        await until(are_listening)
        assert (await listener.client.delete(f"{API}/conversations/{listener.conversation_id}")).status_code == 204
        assert [event.event for event in await here] == ["failed"]
        assert (await here)[0].data["code"] == "ended_elsewhere"
        assert [event.event for event in await there] == ["failed"]
        assert (await there)[0].data["code"] == "message_not_found"


async def test_places_that_are_none_mean_the_beginning() -> None:
    for odd in (None, "", "x", "9.1", "4", "4.-1", "4.1.1.1", "4." + "1" * 20, "٤.1"):
        assert Place.parse(odd) == (0, 0, 0), odd
    assert Place.parse("4.17") == (4, 17, 0)
    assert str(Place(4, 17)) == "4.17"
    assert Place.parse(str(Place(4, 17, 2))) == (4, 17, 2)


@pytest.mark.parametrize("heard", range(11))
async def test_every_place_goes_on_where_it_was(heard: int) -> None:
    async def source(*pieces: str) -> Any:
        yield Event("started", {})
        yield Event("route", {})
        yield Event("hits", {})
        for piece in pieces:
            yield Event("token", {"text": piece})
        for n in range(2):
            yield Event("citation", n)
        yield Event("finished", {})

    whole = [event async for event in placed(source("ab", "c", "def", "g"), Place(0, 0))]
    assert len(whole) == 10
    after = Place.parse(whole[heard - 1].id if heard else None)
    assert [event async for event in placed(source("ab", "c", "def", "g"), after)] == whole[heard:]
    # Cut in other pieces, as another process would, it is the same text.
    other = [event async for event in placed(source("abcde", "fg"), after)]
    text = "".join(event.data["text"] for event in whole[heard:] if event.event == "token")
    assert "".join(event.data["text"] for event in other if event.event == "token") == text
    assert other[-1] == whole[-1] if heard < len(whole) else other == []
