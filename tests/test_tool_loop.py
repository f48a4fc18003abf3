"""Tools in a turn: what a model may call, how often, with what, and what is kept of it whatever happens."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.chat.answer import Answer, AnswerEvent, Ask, CallEnded, Token
from app.chat.tool_arguments import BadArguments, read_arguments
from app.chat.tools import ToolContext, ToolOutcome
from app.core.errors import Conflict
from app.ingestion.queries import Task
from app.ingestion.submit import NewCard
from app.providers.fake import FakeProvider
from app.providers.fake_script import Said
from app.providers.ports import ToolSpec
from app.retrieval.types import Level
from app.settings import Settings
from app.wiring import Services
from tests.chat_client import with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 1, "maxLength": 20},
        "times": {"type": "integer", "minimum": 1, "maximum": 3},
        "mode": {"type": "string", "enum": ["loud", "quiet"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    },
    "required": ["text"],
    "additionalProperties": False,
}


@dataclass
class Echo:
    """Says what it is given, and remembers who asked."""

    result: str = ""
    error: BaseException | None = None
    held: asyncio.Event | None = None
    seen: list[tuple[ToolContext, Mapping[str, Any]]] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec("echo", "Says it again.", SCHEMA)

    async def call(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolOutcome:
        self.seen.append((context, arguments))
        self.begun.set()
        if self.held is not None:
            await self.held.wait()
        if self.error is not None:
            raise self.error
        return ToolOutcome(self.result or f"echo: {arguments['text']}", {"said": arguments["text"]})


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    return with_model(tmp_path, fake)


def place(services: Services) -> ToolContext:
    return ToolContext(
        services.default_workspace, uuid.uuid4(), uuid.uuid4(), uuid.uuid4(), may_write=True, is_tainted=False
    )


async def asked(services: Services, tool: Echo, query: str = "Hi", **more: Any) -> tuple[list[AnswerEvent], Answer]:
    given: dict[str, Any] = {"level": Level.chat, "tools": [tool], "context": place(services)} | more
    async with (
        asyncio.timeout(10),
        aclosing(services.answering.stream(services.default_workspace, Ask(query, **given))) as events,
    ):
        heard = [event async for event in events]
    assert isinstance(heard[-1], Answer)
    return heard, heard[-1]


def script(*answers: Said) -> Any:
    """One answer for each request; the last one for all that follow."""
    left = list(answers)
    return lambda body: left.pop(0) if len(left) > 1 else left[0]


def call(**arguments: Any) -> tuple[str, str]:
    return "echo", json.dumps(arguments, ensure_ascii=False)


def sent(fake: FakeProvider, nth: int = -1) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = fake.exchanges[nth].body["messages"]
    return messages


def states(answer: Answer) -> list[str]:
    return [called.state for called in answer.tool_calls]


async def test_calls_are_answered_and_all_rounds_are_one_answer(services: Services, fake: FakeProvider) -> None:
    tool = Echo()
    fake.answer = script(
        Said("Let me see.", calls=[call(text="一"), call(text="two")]),
        Said(None, calls=[call(text="3")]),
        Said("Done."),
    )
    heard, answer = await asked(services, tool)
    assert answer.text == "Let me see.\n\nDone."
    assert "".join(event.text for event in heard if isinstance(event, Token)) == answer.text
    assert answer.is_complete
    assert [(one.name, one.state, one.text, one.at) for one in answer.tool_calls] == [
        ("echo", "done", "echo: 一", 11),
        ("echo", "done", "echo: two", 11),
        ("echo", "done", "echo: 3", 11),
    ]
    assert [event.called.data for event in heard if isinstance(event, CallEnded)] == [
        {"said": "一"},
        {"said": "two"},
        {"said": "3"},
    ]
    last = sent(fake)
    assert [message["role"] for message in last[-5:]] == ["assistant", "tool", "tool", "assistant", "tool"]
    assert last[-5]["tool_calls"][0]["function"] == {"name": "echo", "arguments": '{"text": "一"}'}
    ids = [one["id"] for one in last[-5]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [(one["tool_call_id"], one["content"]) for one in last[-4:-2]] == [
        (ids[0], "echo: 一"),
        (ids[1], "echo: two"),
    ]
    assert len(answer.ledger.rounds) == 3
    assert answer.ledger.rounds == sorted(answer.ledger.rounds)
    assert max(answer.ledger.rounds) + answer.ledger.margin_tokens <= answer.ledger.window_tokens


async def test_the_usage_of_all_rounds_is_summed(services: Services, fake: FakeProvider) -> None:
    fake.answer = script(Said("One.", calls=[call(text="a")]), Said("Two."))
    _, answer = await asked(services, Echo())
    rounds = [sum(len(str(m.get("content") or "")) for m in sent(fake, nth)) // 4 for nth in (0, 1)]
    assert answer.usage.input_tokens == sum(rounds)
    assert not answer.usage.estimated


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('{"text": "天气" "broken', "not valid JSON"),
        ("[1]", "must be one JSON object"),
        ('{"text": NaN}', "NaN is no JSON number"),
        ('{"text": 7}', "text must be string"),
        ("{}", "text is missing"),
        ('{"text": "a", "force": true}', "there is no force"),
        ('{"text": "a", "mode": "LOUD"}', 'mode must be one of ["loud", "quiet"]'),
        ('{"text": "a", "times": 4}', "times must be at most 3"),
        ('{"text": "a", "times": true}', "times must be integer"),
        ('{"text": "a", "tags": ["x", 1]}', "tags[1] must be string"),
        ('{"text": "' + "a" * 21 + '"}', "text must be at most 20 characters long"),
        ("[" * 100_000, "longer than"),
        ("[" * 60_000, "not valid JSON"),
    ],
)
async def test_arguments_that_do_not_fit_are_told_to_the_model(
    services: Services, fake: FakeProvider, arguments: str, why: str
) -> None:
    """G2."""
    tool = Echo()
    with pytest.raises(BadArguments, match=re.escape(why)):
        read_arguments(arguments, SCHEMA)
    fake.answer = script(Said("", calls=[("echo", arguments)]), Said("I see."))
    _, answer = await asked(services, tool)
    assert (answer.text, states(answer), tool.seen) == ("I see.", ["invalid"], [])
    assert why in sent(fake)[-1]["content"]


async def test_a_tool_that_does_not_exist_is_said_so(services: Services, fake: FakeProvider) -> None:
    fake.answer = script(Said("", calls=[("rm_rf", "{}")]), Said("I see."))
    _, answer = await asked(services, Echo())
    assert states(answer) == ["invalid"]
    assert sent(fake)[-1]["content"] == "There is no such tool. There are: echo."


async def test_the_same_call_is_not_done_twice_and_ends_it(services: Services, fake: FakeProvider) -> None:
    tool = Echo()
    fake.answer = lambda body: Said("Again.", calls=[("echo", '{"times": 1, "text": "a"}')])
    _, answer = await asked(services, tool)
    assert len(tool.seen) == 1
    assert states(answer) == ["done", "repeated"]
    assert answer.stop_reason == "tool_calls"
    assert not answer.is_complete
    assert fake.asked() == 3
    assert fake.exchanges[-1].body["tool_choice"] == "none"


async def test_the_same_arguments_in_another_order_are_the_same(services: Services, fake: FakeProvider) -> None:
    tool = Echo()
    fake.answer = script(
        Said("", calls=[("echo", '{"text": "a", "times": 1}'), ("echo", '{"times":1,"text":"a"}')]), Said("Done.")
    )
    _, answer = await asked(services, tool)
    assert (len(tool.seen), states(answer), answer.is_complete) == (1, ["done", "repeated"], True)


async def test_rounds_calls_and_tokens_have_an_end(services: Services, fake: FakeProvider, tmp_path: Path) -> None:
    """J5."""
    number = iter(range(10_000))

    def forever(body: Mapping[str, Any]) -> Said:
        return Said("", calls=[call(text=str(next(number))) for _ in range(3)])

    fake.answer = forever
    tool = Echo()
    services.answering._settings = with_model(tmp_path, fake, tool_max_rounds=3)
    _, answer = await asked(services, tool)
    assert (fake.asked(), len(tool.seen), answer.stop_reason) == (3, 6, "tool_calls")

    services.answering._settings = with_model(tmp_path, fake, tool_max_calls=4)
    tool = Echo()
    _, answer = await asked(services, tool)
    assert states(answer) == ["done"] * 4 + ["refused"] * 2
    assert (len(tool.seen), answer.stop_reason) == (4, "tool_calls")
    assert "No more tools in this turn" in sent(fake)[-1]["content"]

    services.answering._settings = with_model(tmp_path, fake, tool_turn_tokens=2000)
    tool = Echo()
    before = fake.asked()
    _, answer = await asked(services, tool)
    assert (fake.asked() - before, answer.stop_reason) == (1, "length")


async def test_a_long_result_is_cut_to_its_room(services: Services, fake: FakeProvider, tmp_path: Path) -> None:
    """J2."""
    services.answering._settings = with_model(tmp_path, fake, tool_result_tokens=100, answer_total_tokens=2000)
    tool = Echo(result="ein langes Wort und noch eins " * 4000)
    calls = [call(text=str(n)) for n in range(9)]
    fake.answer = script(Said("", calls=calls), Said("Done."))
    _, answer = await asked(services, tool)
    results = [message["content"] for message in sent(fake) if message["role"] == "tool"]
    assert len(results) == 9
    assert all(text.endswith("… (cut: the result is longer)") or "no room" in text for text in results)
    assert max(answer.ledger.rounds) + answer.ledger.margin_tokens <= 2000
    assert answer.is_complete


@pytest.mark.parametrize(
    ("error", "code"), [(Conflict("Not now."), "conflict"), (RuntimeError("sk-secret"), "internal")]
)
async def test_a_tool_that_fails_is_an_answer_to_the_model(
    services: Services, fake: FakeProvider, error: Exception, code: str
) -> None:
    fake.answer = script(Said("", calls=[call(text="a")]), Said("A pity."))
    _, answer = await asked(services, Echo(error=error))
    assert (states(answer), answer.tool_calls[0].data, answer.text) == (["failed"], {"code": code}, "A pity.")
    assert "sk-secret" not in json.dumps(sent(fake))


async def test_who_has_no_tools_is_offered_none(services: Services, fake: FakeProvider) -> None:
    _, answer = await asked(services, Echo(), provider="offline")
    assert answer.ledger.tools_tokens == answer.ledger.calls_tokens == 0
    # Nobody's conversation: nothing to call tools in.
    await asked(services, Echo(), context=None)
    assert "tools" not in fake.exchanges[-1].body


async def test_retrieved_text_taints(services: Services, fake: FakeProvider) -> None:
    async with services.database.unit() as session:
        card = await services.intake.submit_card(
            session, services.default_workspace, NewCard(title="Tea", content="The tea from Hangzhou is green.")
        )
    await services.pipeline.ingest(services.default_workspace, [Task(card.id, 1)])
    tool = Echo()
    for level, query in ((Level.chat, "Hello"), (Level.search, "Which tea is green?")):
        fake.answer = script(Said("", calls=[call(text=level.name)]), Said("Done."))
        await asked(services, tool, query, level=level)
    assert [context.is_tainted for context, _ in tool.seen] == [False, True]


def test_empty_arguments_are_an_object() -> None:
    schema: Mapping[str, Any] = {"type": "object", "properties": {}}
    samples: Sequence[str] = ("", "  ", "{}")
    assert [read_arguments(raw, schema) for raw in samples] == [{}, {}, {}]
