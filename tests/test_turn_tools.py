"""Tools in turns of a conversation: what a listener hears, what is stored, whatever dies between two rounds."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.chat.answer import Ask
from app.chat.conversations import Conversations
from app.chat.standing import _turn
from app.chat.tables import Message
from app.chat.tools import ToolContext, ToolOutcome
from app.ingestion.queries import Task
from app.ingestion.submit import NewCard
from app.providers.fake import FakeProvider
from app.providers.fake_script import Said
from app.providers.ports import ToolSpec
from app.retrieval.types import Level
from app.settings import Settings
from app.wiring import Services
from tests.api_client import API, fetch, make_key
from tests.chat_client import Told, all_told, names, text_of, until, with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

CREATE = {"action": "create", "slug": "likes-tea", "title": "Tea", "body": "The user likes green tea.", "type": "fact"}
FORK = {"label": "What speaks against it", "profile": "challenge"}


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    return with_model(tmp_path, fake)


def script(*answers: Said | str) -> Any:
    left = list(answers)
    return lambda body: left.pop(0) if len(left) > 1 else left[0]


def calling(name: str, arguments: Mapping[str, Any], text: str = "") -> Said:
    return Said(text, calls=[(name, json.dumps(arguments))])


async def opened(client: httpx.AsyncClient) -> str:
    conversation_id: str = (await client.post(f"{API}/conversations", json={"title": "Tea"})).json()["id"]
    return conversation_id


async def say(client: httpx.AsyncClient, conversation: str, content: str, **more: Any) -> dict[str, Any]:
    told = await client.post(f"{API}/conversations/{conversation}/turns", json={"content": content} | more)
    assert told.status_code == 200, told.text
    turn: dict[str, Any] = told.json()
    return turn


async def stored(client: httpx.AsyncClient, conversation: str) -> dict[str, Any]:
    """The last message of the first branch."""
    page = await client.get(f"{API}/conversations/{conversation}/messages")
    message: dict[str, Any] = page.json()["items"][-1]
    return message


async def card(services: Services, content: str) -> None:
    async with services.database.unit() as session:
        made = await services.intake.submit_card(
            session, services.default_workspace, NewCard(title="Tea", content=content)
        )
    await services.pipeline.ingest(services.default_workspace, [Task(made.id, 1)])


async def test_a_memory_is_kept_and_told_as_an_event(client: httpx.AsyncClient, fake: FakeProvider) -> None:
    conversation = await opened(client)
    fake.answer = script(calling("memory_edit", CREATE, "I note it."), "Noted.")
    events = await all_told(
        client,
        "POST",
        f"/conversations/{conversation}/turns",
        json={"content": "Remember that I like green tea.", "level": "chat", "stream": True},
    )
    assert names(events) == ["started", "route", "hits", "token", "tool", "token", "finished"]
    (tool,) = [event.data for event in events if event.event == "tool"]
    assert (tool["name"], tool["state"], tool["data"]["outcome"]) == ("memory_edit", "done", "created")
    assert tool["arguments"] == CREATE
    assert text_of(events) == events[-1].data["answer"] == "I note it.\n\nNoted."
    assert events[-1].data["tool_calls"] == [tool]
    assert (await client.get(f"{API}/memories/likes-tea")).json()["body"] == CREATE["body"]
    message = await stored(client, conversation)
    assert (message["status"], message["tool_calls"]) == ("complete", [tool])


async def test_what_a_model_deletes_is_archived(client: httpx.AsyncClient, fake: FakeProvider) -> None:
    conversation = await opened(client)
    fake.answer = script(calling("memory_edit", CREATE), "Noted.")
    await say(client, conversation, "Remember that I like green tea.", level="chat")
    fake.answer = script(calling("memory_edit", {"action": "delete", "slug": "likes-tea"}), "Forgotten.")
    turn = await say(client, conversation, "I do not like tea any more.", level="chat")
    assert [call["data"]["outcome"] for call in turn["tool_calls"]] == ["archived"]
    memory = (await client.get(f"{API}/memories/likes-tea")).json()
    assert (memory["status"], memory["body"]) == ("archived", CREATE["body"])
    restored = await client.post(f"{API}/memories/likes-tea/restore")
    assert (restored.json()["status"], restored.json()["type"]) == ("active", memory["type"])


async def test_while_found_text_is_in_the_prompt_a_write_and_a_fork_are_proposals(
    client: httpx.AsyncClient, services: Services, fake: FakeProvider
) -> None:
    await card(services, "Green tea is made in Hangzhou.")
    conversation = await opened(client)
    fake.answer = script(
        Said("", calls=[("memory_edit", json.dumps(CREATE)), ("create_fork", json.dumps(FORK))]), "Well."
    )
    turn = await say(client, conversation, "Where is green tea made?", level="search")
    assert [one["data"]["outcome"] for one in turn["tool_calls"]] == ["proposed", "proposed"]
    assert (await client.get(f"{API}/memories/likes-tea")).json()["status"] == "proposed"
    assert len((await client.get(f"{API}/memories/proposals")).json()["items"]) == 1
    tree = (await client.get(f"{API}/conversations/{conversation}/tree")).json()
    assert len(tree["branches"]) == 1
    # The user makes of it what was proposed.
    wish = {name: turn["tool_calls"][1]["data"][name] for name in ("label", "profile", "from_message_id")}
    assert (await client.post(f"{API}/conversations/{conversation}/branches", json=wish)).status_code == 201
    # What an answer of the past repeats is still nobody's word.
    fake.answer = script(calling("memory_edit", CREATE | {"slug": "other", "body": "Another thing entirely."}), "Well.")
    turn = await say(client, conversation, "Thanks!", level="chat")
    assert [one["data"]["outcome"] for one in turn["tool_calls"]] == ["proposed"]


async def test_a_model_forks_and_is_refused_for_the_right_reason(client: httpx.AsyncClient, fake: FakeProvider) -> None:
    conversation = await opened(client)
    fake.answer = script(calling("create_fork", FORK), "Done.")
    turn = await say(client, conversation, "Think about it from all sides.", level="chat")
    made = turn["tool_calls"][0]["data"]
    assert (made["outcome"], made["from_message_id"]) == ("created", turn["message_id"])
    tree = (await client.get(f"{API}/conversations/{conversation}/tree")).json()
    (branch,) = [one for one in tree["branches"] if one["id"] == made["branch_id"]]
    assert (branch["made_by"], branch["label"], branch["profile"]) == ("model", FORK["label"], "challenge")
    fake.answer = script(calling("create_fork", FORK | {"label": "Something else", "profile": "explore"}), "A pity.")
    turn = await say(client, conversation, "And again.", level="chat")
    (call,) = turn["tool_calls"]
    assert (call["state"], call["data"]["condition"], call["data"]["missing"]) == ("failed", "branch_messages", 3)
    assert "3 more are needed" in call["text"]
    # Nothing forces: the argument does not exist.
    fake.answer = script(calling("create_fork", FORK | {"force": True}), "A pity.")
    turn = await say(client, conversation, "Force it.", level="chat")
    assert [one["state"] for one in turn["tool_calls"]] == ["invalid"]


async def test_a_turn_with_tools_is_told_again_from_any_place(
    client: httpx.AsyncClient, services: Services, fake: FakeProvider
) -> None:
    """K2: from the process that runs it, and from the database; the places are the same."""
    conversation = await opened(client)
    fake.answer = script(
        calling("memory_edit", CREATE, "I note it."), calling("memory_edit", {"action": "list"}, "I look."), "Noted."
    )
    body = {"content": "Remember that I like green tea.", "level": "chat", "stream": True}
    live = await all_told(client, "POST", f"/conversations/{conversation}/turns", json=body)
    path = f"/turns/{live[0].data['message_id']}/events"
    services.conversations._runs._runs.clear()
    from_database = await all_told(client, "GET", path)
    assert names(from_database) == [name for name in names(live) if name != "hits"]
    assert text_of(from_database) == text_of(live)
    tools = [event for event in live if event.event == "tool"]
    assert [event for event in from_database if event.event == "tool"] == tools
    assert [event.id for event in tools] == ["4.10.1", "4.19.2"]
    for place in [event.id for event in live]:
        rest: list[Told] = await all_told(client, "GET", path, headers={"last-event-id": place or ""})
        told = text_of(live[: [e.id for e in live].index(place) + 1])
        assert told + text_of(rest) == text_of(live)
        left = [event for event in live[[e.id for e in live].index(place) + 1 :] if event.event == "tool"]
        assert [event for event in rest if event.event == "tool"] == left


async def test_a_key_that_may_not_write_gets_a_proposal(
    locked: Callable[..., httpx.AsyncClient], services: Services, fake: FakeProvider
) -> None:
    """Neither by the tool nor by what is thought of a turn afterwards."""
    wish = "Please remember that I like green tea."
    for scopes, status in ((("chat", "read"), "proposed"), (("chat", "write"), "active")):
        token, _ = await make_key(services, *scopes)
        fake.answer = script(
            calling("memory_edit", CREATE | {"slug": status, "body": f"Likes {status} tea."}), "Noted."
        )
        async with locked(Authorization=f"Bearer {token}") as client:
            await say(client, await opened(client), wish, level="chat")
        memories = await fetch(services.database, "SELECT slug, status FROM memories ORDER BY id DESC LIMIT 1")
        assert memories == [(status, status)]
        assert await fetch(services.database, "SELECT count(*) FROM reflections") == [(int(status == "active"),)]


class Slow:
    """A tool that waits until it is let go."""

    def __init__(self) -> None:
        self.begun, self.go = asyncio.Event(), asyncio.Event()
        self.done = 0

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec("slow", "Takes its time.", {"type": "object", "properties": {}})

    async def call(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolOutcome:
        self.begun.set()
        await self.go.wait()
        self.done += 1
        return ToolOutcome("Written.", {"context": str(context.message_id)})


@pytest.fixture
def slow(services: Services) -> Slow:
    tool = Slow()
    services.conversations._tools = [tool]
    return tool


async def begun(services: Services, conversation: str, query: str = "Go") -> uuid.UUID:
    run = await services.conversations.take_turn(
        services.default_workspace, uuid.UUID(conversation), None, Ask(query, Level.chat)
    )
    return run.events[0].message_id if run.events else (await anext(run.follow())).message_id  # type: ignore[union-attr]


async def test_a_call_is_stored_before_it_is_done(
    client: httpx.AsyncClient, services: Services, fake: FakeProvider, slow: Slow
) -> None:
    """K1: a process that dies now leaves a true account."""
    conversation = await opened(client)
    fake.answer = script(Said("I begin.", calls=[("slow", "{}")]), "Done.")
    await begun(services, conversation)
    await asyncio.wait_for(slow.begun.wait(), 10)
    message = await stored(client, conversation)
    assert (message["status"], message["content"]) == ("streaming", "I begin.")
    assert [(one["name"], one["state"]) for one in message["tool_calls"]] == [("slow", "running")]
    slow.go.set()
    await until(lambda: has_status(client, conversation, "complete"))
    message = await stored(client, conversation)
    assert [(one["state"], one["text"]) for one in message["tool_calls"]] == [("done", "Written.")]


async def has_status(client: httpx.AsyncClient, conversation: str, status: str) -> bool:
    return bool((await stored(client, conversation))["status"] == status)


@pytest.mark.parametrize("how", ["stop", "shutdown"])
async def test_what_ends_a_turn_in_a_tool_waits_for_what_has_begun(
    client: httpx.AsyncClient, services: Services, fake: FakeProvider, slow: Slow, how: str
) -> None:
    """K2, M8: the tool's work is done and in the account; the model is not asked again."""
    conversation = await opened(client)
    fake.answer = script(Said("I begin.", calls=[("slow", "{}")]), "Done.")
    message_id = await begun(services, conversation)
    await asyncio.wait_for(slow.begun.wait(), 10)
    conversations: Conversations = services.conversations
    if how == "stop":
        await conversations.stop(services.default_workspace, message_id)
        ending = asyncio.create_task(asyncio.sleep(0))
    else:
        ending = asyncio.create_task(conversations.close())
    slow.go.set()
    await ending
    await until(lambda: has_status(client, conversation, "interrupted"))
    message = await stored(client, conversation)
    assert message["error_code"] == ("stopped" if how == "stop" else "shutting_down")
    assert (message["content"], slow.done, fake.asked()) == ("I begin.", 1, 1)
    assert [(one["state"], one["text"]) for one in message["tool_calls"]] == [("done", "Written.")]
    told = await all_told(client, "GET", f"/turns/{message_id}/events")
    assert [event.event for event in told if event.event in ("tool", "failed", "finished")] == ["tool", "failed"]


async def test_a_model_that_dies_in_the_second_round_loses_nothing_of_the_first(
    client: httpx.AsyncClient, fake: FakeProvider
) -> None:
    """K8."""
    conversation = await opened(client)
    fake.answer = script(calling("memory_edit", CREATE, "I note it."), Said("half", fault="500"))
    told = await client.post(
        f"{API}/conversations/{conversation}/turns", json={"content": "Remember it.", "level": "chat"}
    )
    assert told.status_code in (502, 503)
    message = await stored(client, conversation)
    assert (message["status"], message["content"]) == ("failed", "I note it.")
    assert [one["data"]["outcome"] for one in message["tool_calls"]] == ["created"]
    # The next turn goes on from there.
    fake.answer = script("Yes.")
    assert (await say(client, conversation, "Did you?", level="chat"))["answer"] == "Yes."


async def test_a_conversation_deleted_meanwhile_ends_its_turn_before_the_tool(
    client: httpx.AsyncClient, services: Services, fake: FakeProvider, slow: Slow
) -> None:
    conversation = await opened(client)
    gone = asyncio.Event()

    async def delete() -> None:
        await fake.wait_for_request(1)
        assert (await client.delete(f"{API}/conversations/{conversation}")).status_code == 204
        gone.set()

    deleting = asyncio.create_task(delete())
    fake.answer = script(Said("Slowly I begin.", fault="slow-body,seconds=0.5", calls=[("slow", "{}")]), "Done.")
    await begun(services, conversation)
    await asyncio.wait_for(deleting, 10)
    await until(lambda: asyncio.sleep(0, result=not services.conversations._runs._speaking))
    assert (slow.begun.is_set(), await fetch(services.database, "SELECT count(*) FROM messages")) == (False, [(0,)])


def test_an_answer_that_was_tainted_taints_what_comes_after_it() -> None:
    """Also one that was given without the notes, where another branch had been heard."""

    def tainted(role: str, level: str | None, ledger: dict[str, Any] | None) -> bool:
        route = {"level": level} if level else None
        return _turn(Message(role=role, content="Hi", route=route, ledger=ledger)).is_tainted

    assert not tainted("assistant", "chat", {"is_tainted": False})
    assert tainted("assistant", "chat", {"is_tainted": True})
    assert tainted("assistant", "search", {"is_tainted": False})
    # Broken off with its process: nobody knows.
    assert tainted("assistant", None, None)
    assert not tainted("user", None, None)
