"""The token budget where it matters: in what is sent to a model, in what is reported, and when a window is full."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.chat.answer import Answer, Ask, Routed
from app.chat.blocks import Note, Turn
from app.chat.citations import Citable
from app.chat.tools import ToolContext, ToolOutcome
from app.providers.fake import FakeProvider
from app.providers.ports import ProviderRefused, ToolSpec
from app.retrieval.types import Level
from app.settings import Settings
from app.wiring import Services
from tests.chat_client import with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

HISTORY = [
    turn
    for n in range(30)
    for turn in (
        Turn("user", f"What about the ferry number {n}? " + "Tell me everything about it, please. " * 8),
        Turn("assistant", f"The ferry number {n} leaves at {n % 12} o'clock [1]. " + "It is a fine ship. " * 12),
    )
]


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    return with_model(tmp_path, fake, chat_context_tokens=4096)


@dataclass
class Archive:
    """A tool that nobody calls."""

    spec: ToolSpec

    async def call(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolOutcome:
        raise AssertionError(context, arguments)


async def answered(services: Services, ask: Ask) -> Answer:
    async with aclosing(services.answering.stream(services.default_workspace, ask)) as events:
        heard = [event async for event in events]
    assert isinstance(heard[0], Routed)
    assert isinstance(heard[-1], Answer)
    return heard[-1]


async def test_turns_that_do_not_fit_are_summarised(services: Services, fake: FakeProvider) -> None:
    answer = await answered(services, Ask("And the last one?", Level.search, history=HISTORY))
    sent = fake.exchanges[-1].body["messages"]
    first = sent[1]["content"]
    assert first.startswith("<earlier>\nMain points (extractive, no language model):")
    assert "- Topic: " in first
    assert "The ferry number" in first.partition("</earlier>")[0]
    assert first.partition("</earlier>\n\n")[2].startswith("What about the ferry number ")
    assert sent[-2]["content"].startswith("The ferry number 29 ")
    dialog = answer.ledger.buckets["current_dialog"]
    assert [row["item"] for row in dialog["packed"]] == [f"{len(sent) - 2} messages", "summary"]
    assert [row["item"] for row in dialog["cut"]] == [f"{30 - (len(sent) - 2) // 2} older turns"]
    assert dialog["used"] <= dialog["limit"] == int(0.3 * (answer.ledger.window_tokens - answer.ledger.margin_tokens))
    # One that is called for a summary is not called for money.
    assert fake.asked() == 1


async def test_the_ledger_says_how_the_window_is_divided(services: Services) -> None:
    tool = Archive(ToolSpec("look_up", "Look something up in the archive.", {"type": "object", "properties": {}}))
    nobody = uuid.UUID(int=0)
    place = ToolContext(services.default_workspace, nobody, nobody, nobody, may_write=True, is_tainted=False)
    bare = (await answered(services, Ask("Where?", Level.search))).ledger
    ledger = (await answered(services, Ask("Where?", Level.search, tools=[tool], context=place))).ledger
    assert (ledger.context_tokens, ledger.reserve_tokens) == (4096, 2048)
    assert ledger.calls_tokens == (ledger.window_tokens - ledger.margin_tokens) // 4
    assert ledger.rounds == [ledger.total_tokens]
    assert 15 <= ledger.tools_tokens == bare.window_tokens - ledger.window_tokens <= 60
    assert ledger.margin_tokens == int(0.05 * ledger.window_tokens)
    assert ledger.total_tokens + ledger.margin_tokens <= ledger.window_tokens
    assert sum(bucket["used"] for bucket in ledger.buckets.values()) == ledger.total_tokens
    assert {name: bucket["share"] for name, bucket in ledger.buckets.items()} == {
        "query_instructions": 0.1,
        "current_dialog": 0.3,
        "retrieved_cards": 0.25,
        "graph_paths": 0.15,
        "memory": 0.1,
        "branch_insights": 0.05,
        "topology": 0.05,
    }


async def test_memories_insights_and_topology_are_told_and_memories_cited(
    services: Services, fake: FakeProvider
) -> None:
    fake.answer = lambda body: "You like tea [1]."
    memory = Citable("", "memory", uuid.UUID(int=5), "tea", "The user drinks Longjing in the morning.")
    ask = Ask(
        "What do I drink?",
        Level.search,
        memories=[memory],
        insights=[Note("Travel", "The tea house closes at six.")],
        topology=[Note("above", "Plans for the summer.")],
    )
    answer = await answered(services, ask)
    assert [(one.kind, one.id, one.start) for one in answer.citations] == [("memory", memory.id, None)]
    told = fake.exchanges[-1].body["messages"][-1]["content"]
    places = [
        told.index('<memory id="1" title="tea">\nThe user drinks Longjing'),
        told.index('<branch label="Travel">\nThe tea house'),
        told.index("<topology>\n- above: Plans for the summer.\n</topology>"),
        told.index("Question: What do I drink?"),
    ]
    assert places == sorted(places)
    used = {name: bucket["used"] for name, bucket in answer.ledger.buckets.items()}
    assert min(used["memory"], used["branch_insights"], used["topology"]) > 0


async def test_a_full_window_takes_no_more_and_does_not_mind(services: Services) -> None:
    """J4."""
    memories = [Citable("", "memory", uuid.UUID(int=n), f"m{n}", "Something to remember. " * 30) for n in range(40)]
    answer = await answered(services, Ask("Where?", Level.search, history=HISTORY, memories=memories))
    memory = answer.ledger.buckets["memory"]
    assert len(memory["packed"]) + len(memory["cut"]) == 40
    assert {row["reason"] for row in memory["cut"]} == {"does_not_fit"}
    assert memory["used"] <= memory["limit"]
    assert answer.ledger.total_tokens <= answer.ledger.window_tokens


async def test_a_window_that_was_too_small_is_not_tried_again(services: Services, fake: FakeProvider) -> None:
    """J1."""
    with pytest.raises(ProviderRefused):
        await answered(services, Ask("Where?", Level.search, model="fault:400"))
    assert fake.asked() == 1


async def test_counts_learn_from_what_the_provider_reports(services: Services) -> None:
    """The fake model counts a token for four characters, whatever they are."""

    async def off(query: str) -> float:
        answer = await answered(services, Ask(query, Level.search))
        assert not answer.usage.estimated
        return answer.ledger.total_tokens / answer.usage.input_tokens

    short_words = "to be or no " * 200
    assert await off(short_words) > 1.2
    for _ in range(3):
        learned = await off(short_words)
    assert 0.97 < learned < 1.1
