"""Turns: what is stored when, whatever happens to the model, the listener, the process."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from app.chat import queries, turn
from app.chat.answer import Answer, Ask, Routed, Token
from app.chat.conversations import Conversations
from app.chat.running import Run
from app.chat.tables import Message
from app.chat.turn import Failed, Started, TurnEvent
from app.core.errors import NotFound, ShuttingDown
from app.db.session import DatabaseUnavailable, PoolExhausted
from app.providers.fake import FakeProvider
from app.retrieval.types import Level
from app.settings import Settings
from app.wiring import Services
from app.worker import interrupt_stale
from tests.api_client import execute, fetch
from tests.chat_client import until, with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

STALL = "fault:stall,after=3"
"""Says `You said:` and nothing more."""


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    return with_model(tmp_path, fake)


class Talk:
    """One conversation of the default workspace, in one process."""

    def __init__(self, services: Services, conversations: Conversations, conversation_id: uuid.UUID) -> None:
        self.services = services
        self.conversations = conversations
        self.id = conversation_id
        self.workspace = services.default_workspace

    async def take(self, query: str, model: str | None = None, provider: str | None = None) -> Run[TurnEvent]:
        return await self.conversations.take_turn(
            self.workspace, self.id, None, Ask(query, provider=provider, model=model)
        )

    async def turn(self, query: str, model: str | None = None, provider: str | None = None) -> list[TurnEvent]:
        return await heard(await self.take(query, model, provider))

    async def messages(self) -> list[Message]:
        async with self.services.database.read() as session:
            return list(await queries.list_messages(session, self.workspace, self.id))

    async def answer(self) -> Message:
        """The last message."""
        message = (await self.messages())[-1]
        assert message.role == "assistant"
        return message

    async def rename(self, title: str | None) -> None:
        async with self.services.database.unit() as session:
            found = await queries.get_conversation(session, self.workspace, self.id, lock=True)
            await queries.rename_conversation(session, found, title)

    async def delete(self) -> None:
        async with self.services.database.unit() as session:
            found = await queries.get_conversation(session, self.workspace, self.id, lock=True)
            await queries.delete_conversation(session, found)

    def process(self, **more: Any) -> Conversations:
        """Another process on the same database."""
        settings = self.services.settings.model_copy(update=more)
        return Conversations(
            self.services.database, self.services.answering, self.services.standing, self.services.providers, settings
        )


@pytest.fixture
async def talk(services: Services) -> Talk:
    async with services.database.unit() as session:
        made = await queries.insert_conversation(session, services.default_workspace, None)
    return Talk(services, services.conversations, made.id)


async def heard(run: Run[TurnEvent]) -> list[TurnEvent]:
    async with asyncio.timeout(10), aclosing(run.follow()) as events:
        return [event async for event in events]


async def spoken(run: Run[TurnEvent], text: str) -> Started:
    """As soon as so much was said."""
    said = ""
    started: Started | None = None
    async with asyncio.timeout(10), aclosing(run.follow()) as events:
        async for event in events:
            started = event if isinstance(event, Started) else started
            said += event.text if isinstance(event, Token) else ""
            if said.startswith(text):
                break
    assert started is not None
    assert said.startswith(text)
    return started


def failure(events: list[TurnEvent]) -> tuple[str, str]:
    last = events[-1]
    assert isinstance(last, Failed)
    return last.error.code, last.status


async def test_a_turn_is_stored_as_it_was_said(talk: Talk) -> None:
    events = await talk.turn("Hello there")
    assert [type(event) for event in events] == [Started, Routed, *[Token] * (len(events) - 3), Answer]
    started, last = events[0], events[-1]
    assert isinstance(started, Started)
    assert isinstance(last, Answer)
    asked, answered = await talk.messages()
    assert (asked.id, asked.role, asked.content, asked.status) == (
        started.user_message_id,
        "user",
        "Hello there",
        "complete",
    )
    assert (answered.id, answered.parent_id, answered.branch_id) == (started.message_id, asked.id, started.branch_id)
    assert (answered.content, answered.status, answered.error_code) == ("You said: Hello there", "complete", None)
    assert (answered.provider, answered.model) == ("custom", "default")
    assert answered.route == {
        "level": "chat",
        "reason": "small_talk",
        "confidence": 1.0,
        "gates": [],
        "escalated_from": None,
    }
    assert answered.citations == []
    assert answered.usage == {
        "input_tokens": last.usage.input_tokens,
        "output_tokens": last.usage.output_tokens,
        "estimated": False,
    }
    assert answered.ledger is not None
    assert answered.ledger["total_tokens"] == last.ledger.total_tokens
    assert answered.timings_ms == last.timings_ms
    assert (asked.ordinal, answered.ordinal) == (1, 2)
    assert answered.finished_at is not None


async def test_the_question_is_stored_before_the_model_is_called(talk: Talk, fake: FakeProvider) -> None:
    """K1."""
    seen: list[tuple[str, str, str]] = []
    asking = fake.wait_for_request()
    run = await talk.take("Hi", model="fault:slow")
    seen = [(message.role, message.content, message.status) for message in await talk.messages()]
    await asking
    assert seen == [("user", "Hi", "complete"), ("assistant", "", "streaming")]
    assert not run.is_done


async def test_a_provider_that_cannot_be_reached(talk: Talk, fake: FakeProvider) -> None:
    """K1."""
    await fake.__aexit__(None, None, None)
    assert failure(await talk.turn("Hi")) == ("provider_down", "failed")
    asked, answered = await talk.messages()
    assert asked.content == "Hi"
    assert (answered.content, answered.status, answered.error_code) == ("", "failed", "provider_down")


async def test_a_missing_key_is_said_and_the_question_kept(talk: Talk) -> None:
    assert failure(await talk.turn("Hi", provider="deepseek")) == ("provider_missing_key", "failed")
    asked, answered = await talk.messages()
    assert (asked.content, answered.status, answered.error_code) == ("Hi", "failed", "provider_missing_key")


async def test_an_unknown_provider_stores_nothing(talk: Talk) -> None:
    with pytest.raises(NotFound):
        await talk.take("Hi", provider="nobody")
    assert await talk.messages() == []


async def test_an_error_of_ours_is_no_secret_and_no_silence(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("SELECT secret")

    monkeypatch.setattr(talk.services.retriever, "retrieve", broken)
    events = await talk.turn("Hi")
    assert failure(events) == ("internal", "failed")
    assert (await talk.answer()).error_code == "internal"


@pytest.mark.parametrize(
    ("model", "code"),
    [
        ("fault:cut,after=3", "truncated"),
        ("fault:reset,after=3", "truncated"),
        ("fault:no-end", "truncated"),
        ("fault:no-reason", "truncated"),
        ("fault:length", "length"),
        ("fault:content-filter", "content_filter"),
    ],
)
async def test_what_the_model_did_not_end_is_kept_and_not_complete(talk: Talk, model: str, code: str) -> None:
    events = await talk.turn("Hi one two", model=model)
    assert isinstance(events[-1], Answer)
    answered = await talk.answer()
    assert (answered.status, answered.error_code) == ("interrupted", code)
    assert answered.content.startswith("You said:")


async def test_an_error_after_the_first_words(talk: Talk) -> None:
    """K8."""
    events = await talk.turn("Hi one two", model="fault:error,after=3")
    code, status = failure(events)
    answered = await talk.answer()
    assert status == "failed"
    assert (answered.content, answered.status, answered.error_code) == ("You said:", "failed", code)
    assert answered.route is not None
    assert answered.ledger is not None


async def test_a_stop_ends_it_at_once(talk: Talk, fake: FakeProvider) -> None:
    """K2, K4."""
    run = await talk.take("Hi", model=STALL)
    started = await spoken(run, "You said:")
    await talk.conversations.stop(talk.workspace, started.message_id)
    await talk.conversations.stop(talk.workspace, started.message_id)
    assert failure(await heard(run)) == ("stopped", "interrupted")
    answered = await talk.answer()
    assert (answered.content, answered.status, answered.error_code) == ("You said:", "interrupted", "stopped")
    async with asyncio.timeout(5):
        await fake.exchanges[0].ended.wait()
    assert fake.exchanges[0].outcome == "client_gone"


async def test_what_was_held_back_is_told_and_kept(talk: Talk) -> None:
    run = await talk.take("Hi[1 more", model="fault:stall,after=4")
    started = await spoken(run, "You said: Hi")
    await talk.conversations.stop(talk.workspace, started.message_id)
    events = await heard(run)
    assert "".join(event.text for event in events if isinstance(event, Token)) == "You said: Hi[1"
    assert (await talk.answer()).content == "You said: Hi[1"


async def test_a_stop_after_the_end_changes_nothing(talk: Talk) -> None:
    started = (await talk.turn("Hi"))[0]
    assert isinstance(started, Started)
    await talk.conversations.stop(talk.workspace, started.message_id)
    assert (await talk.answer()).status == "complete"
    for wrong in (started.user_message_id, uuid.uuid4()):
        with pytest.raises(queries.MessageNotFound):
            await talk.conversations.stop(talk.workspace, wrong)


async def test_a_stop_from_another_process(talk: Talk) -> None:
    run = await talk.take("Hi", model=STALL)
    started = await spoken(run, "You said:")
    await talk.process().stop(talk.workspace, started.message_id)
    assert failure(await heard(run)) == ("stopped", "interrupted")
    assert (await talk.answer()).content == "You said:"


async def test_a_stopping_server_keeps_what_was_said(talk: Talk) -> None:
    """M8."""
    here = talk.process()
    talk.conversations = here
    run = await talk.take("Hi", model=STALL)
    await spoken(run, "You said:")
    await here.close()
    answered = await talk.answer()
    assert (answered.content, answered.status, answered.error_code) == ("You said:", "interrupted", "shutting_down")
    assert failure(await heard(run)) == ("shutting_down", "interrupted")
    with pytest.raises(ShuttingDown):
        await talk.take("More")
    assert len(await talk.messages()) == 2


async def test_a_dead_process_leaves_what_it_had_saved(talk: Talk) -> None:
    async with talk.services.database.unit() as session:
        branch = await queries.get_branch(session, talk.workspace, talk.id, None)
        for content in ("young", "old"):
            _, answer = await queries.append_turn(session, branch, "Hi", "custom", "default")
            await queries.save_beat(session, talk.workspace, answer.id, content)
    await execute(
        talk.services.database,
        "UPDATE messages SET beat_at = now() - make_interval(secs => CASE content WHEN 'old' THEN 31 ELSE 29 END)",
    )
    await interrupt_stale(talk.services)
    young, old = [message for message in await talk.messages() if message.role == "assistant"]
    assert (young.status, young.error_code, young.finished_at) == ("streaming", None, None)
    assert (old.content, old.status, old.error_code) == ("old", "interrupted", "process_lost")
    assert old.finished_at is not None


async def test_an_end_is_final(talk: Talk) -> None:
    run = await talk.take("Hi", model=STALL)
    await spoken(run, "You said:")
    await execute(
        talk.services.database,
        "UPDATE messages SET status = 'interrupted', error_code = 'process_lost' WHERE status = 'streaming'",
    )
    assert failure(await heard(run)) == ("ended_elsewhere", "interrupted")
    assert (await talk.answer()).error_code == "process_lost"


async def test_a_deleted_conversation_ends_its_turn_quietly(
    talk: Talk, fake: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    """D14."""
    run = await talk.take("Hi", model=STALL)
    await spoken(run, "You said:")
    await talk.delete()
    assert failure(await heard(run)) == ("ended_elsewhere", "interrupted")
    async with asyncio.timeout(5):
        await fake.exchanges[0].ended.wait()
    for table in ("conversations", "branches", "messages"):
        assert await fetch(talk.services.database, f"SELECT id FROM {table}") == []
    assert "rror" not in "".join(capsys.readouterr())


async def test_a_database_that_is_away_for_a_moment_loses_nothing(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    real, away, lost = queries.finish_message, [DatabaseUnavailable(), PoolExhausted()], [DatabaseUnavailable()]

    async def once_away(*args: Any) -> bool:
        if away:
            raise away.pop()
        is_stored = await real(*args)
        if lost:
            await args[0].commit()
            raise lost.pop()
        return is_stored

    monkeypatch.setattr(queries, "finish_message", once_away)
    monkeypatch.setattr(turn, "_OFFER_AGAIN_SECONDS", (0.01, 0.01, 0.01))
    assert isinstance((await talk.turn("Hi"))[-1], Answer)
    assert (await talk.answer()).status == "complete"
    away += [DatabaseUnavailable()] * 4
    assert failure(await talk.turn("Again")) == ("not_stored", "interrupted")
    assert (await talk.answer()).status == "streaming"


async def test_an_end_that_lost_a_deadlock_is_stored_all_the_same(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    real, lost = queries.finish_message, ["40P01", "55P03"]

    async def once_lost(*args: Any) -> bool:
        if lost:
            await args[0].execute(text(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{lost.pop()}'; END $$"))
        return await real(*args)

    monkeypatch.setattr(queries, "finish_message", once_lost)
    monkeypatch.setattr(turn, "_OFFER_AGAIN_SECONDS", (0.01, 0.01, 0.01))
    assert isinstance((await talk.turn("Hi"))[-1], Answer)
    assert (await talk.answer()).status == "complete"
    assert lost == []


# ------------------------------------------------------------------------------------ who listens


async def test_nobody_listening_ends_it(talk: Talk) -> None:
    """K2."""
    talk.conversations = talk.process(turn_detached_seconds=0.3)
    run = await talk.take("Hi", model=STALL)
    await spoken(run, "You said:")
    left = asyncio.get_running_loop().time()

    async def is_over() -> bool:
        return run.is_done

    await until(is_over)
    assert asyncio.get_running_loop().time() - left >= 0.3
    answered = await talk.answer()
    assert (answered.content, answered.status, answered.error_code) == ("You said:", "interrupted", "nobody_listening")


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_listener_keeps_it_alive(talk: Talk, elsewhere: bool) -> None:
    """K2: also one who listens to another process."""
    here, there = talk.process(turn_detached_seconds=0.4), talk.process(turn_detached_seconds=0.4)
    talk.conversations = here
    run = await talk.take("Hi", model=STALL)
    started = await spoken(run, "You said:")
    told: AsyncIterator[Any] = there.watch(talk.workspace, started.message_id) if elsewhere else run.follow()

    async def listen() -> None:
        async for _ in told:
            pass

    listening = asyncio.create_task(listen())
    await asyncio.sleep(1.0)
    assert not run.is_done
    assert not listening.done()
    await here.stop(talk.workspace, started.message_id)
    await listening
    assert failure(await heard(run)) == ("stopped", "interrupted")


async def test_listeners_miss_nothing_and_hear_nothing_twice(talk: Talk) -> None:
    run = await talk.take("one two three four five six", model="fault:split")
    early = asyncio.create_task(heard(run))
    await spoken(run, "You said: one")
    middle = asyncio.create_task(heard(run))
    first, second = await early, await middle
    assert first == second == await heard(run)
    assert "".join(event.text for event in first if isinstance(event, Token)).endswith("five six")
    started = first[0]
    assert isinstance(started, Started)
    assert await talk.conversations.find_run(talk.workspace, started.message_id) is run
    assert await talk.process().find_run(talk.workspace, started.message_id) is None


async def test_another_process_tells_it_from_the_database(talk: Talk) -> None:
    run = await talk.take("Hi", model=STALL)
    started = await spoken(run, "You said:")
    seen: list[tuple[str, str]] = []
    async with aclosing(talk.process().watch(talk.workspace, started.message_id)) as messages:
        async for message in messages:
            seen.append((message.content, message.status))
            if message.content and message.status == "streaming":
                await talk.conversations.stop(talk.workspace, started.message_id)
    assert seen[-2:] == [("You said:", "streaming"), ("You said:", "interrupted")]


# --------------------------------------------------------------------------- several turns


async def test_parallel_appends_each_have_their_place(talk: Talk) -> None:
    async with asyncio.timeout(20):
        runs = await asyncio.gather(*(talk.take(f"question {n}") for n in range(20)))
        ends = await asyncio.gather(*map(heard, runs))
    assert all(isinstance(events[-1], Answer) for events in ends)
    messages = await talk.messages()
    assert [message.ordinal for message in messages] == list(range(1, 41))
    assert [message.role for message in messages] == ["user", "assistant"] * 20
    asked, answered = messages[::2], messages[1::2]
    assert sorted(message.content for message in asked) == sorted(f"question {n}" for n in range(20))
    for question, answer, before in zip(asked, answered, [None, *answered[:-1]], strict=True):
        assert (answer.parent_id, answer.status) == (question.id, "complete")
        assert question.parent_id == (before.id if before else None)
        assert question.content in answer.content


async def test_appends_and_deletion_do_not_lock_each_other_out(talk: Talk) -> None:
    """E2."""

    ends = await asyncio.gather(
        *(talk.turn(f"q{n}") for n in range(6)),
        talk.delete(),
        *(talk.turn(f"r{n}") for n in range(6)),
        return_exceptions=True,
    )
    for end in ends:
        assert end is None or isinstance(end, list | queries.ConversationNotFound), end
    assert await fetch(talk.services.database, "SELECT id FROM messages") == []


async def test_the_second_turn_sees_the_first(talk: Talk, fake: FakeProvider) -> None:
    fake.answer = lambda body: " | ".join(message["content"] for message in body["messages"][1:])
    await talk.turn("first")
    await talk.turn("second", model="fault:length")
    await talk.turn("third", model="fault:error,after=2")
    await talk.turn("fourth", provider="deepseek")
    await talk.turn("fifth")
    # The unfinished answer counts, the failed ones do not; their questions do.
    assert (await talk.answer()).content == ("first | first | second | first | first | second | third | fourth | fifth")


async def test_level_and_filters_reach_retrieval(talk: Talk) -> None:
    run = await talk.conversations.take_turn(talk.workspace, talk.id, None, Ask("Where?", level=Level.search))
    events = await heard(run)
    assert isinstance(events[1], Routed)
    assert events[1].evidence.route.reason == "explicit"
    assert events[1].evidence.nothing_relevant


async def test_a_branch_of_another_conversation_is_none(talk: Talk) -> None:
    async with talk.services.database.unit() as session:
        other = await queries.insert_conversation(session, talk.workspace, None)
        branch = await queries.get_branch(session, talk.workspace, other.id, None)
    with pytest.raises(queries.BranchNotFound):
        await talk.conversations.take_turn(talk.workspace, talk.id, branch.id, Ask("Hi"))
    with pytest.raises(queries.ConversationNotFound):
        await talk.conversations.take_turn(uuid.uuid4(), talk.id, None, Ask("Hi"))
    assert await fetch(talk.services.database, "SELECT id FROM messages") == []


# ---------------------------------------------------------------------------------- titles


async def title_of(talk: Talk) -> tuple[str | None, str | None, int]:
    async with talk.services.database.read() as session:
        found = await queries.get_conversation(session, talk.workspace, talk.id)
    return found.title, found.title_by, found.version


async def test_the_first_question_gives_the_title(talk: Talk) -> None:
    await talk.turn("Please tell me: when does the ferry leave? And why?")
    assert await title_of(talk) == ("When does the ferry leave", "assistant", 1)
    await talk.turn("What about the tea?")
    assert (await title_of(talk))[0] == "When does the ferry leave"


async def test_also_when_the_answer_fails(talk: Talk) -> None:
    await talk.turn("渡轮几点出发？", provider="deepseek")
    assert (await title_of(talk))[0] == "渡轮几点出发"


async def test_a_users_title_wins_the_race(talk: Talk) -> None:
    """N11."""
    run = await talk.take("When does the ferry leave?", model=STALL)
    started = await spoken(run, "You said:")
    await talk.rename("Mine")
    await talk.conversations.stop(talk.workspace, started.message_id)
    await heard(run)
    assert await title_of(talk) == ("Mine", "user", 2)


async def test_a_title_that_was_taken_away_is_the_assistants_again(talk: Talk) -> None:
    await talk.turn("First thing")
    await talk.rename(None)
    assert await title_of(talk) == (None, None, 2)
    await talk.turn("Second thing")
    assert await title_of(talk) == ("Second thing", "assistant", 2)


# ---------------------------------------------------------------------------- the event loop


async def test_a_long_history_does_not_hold_up_others(talk: Talk) -> None:
    """E17."""
    long = "Some words of a long question, 中文也有。 " * 800
    for _ in range(3):
        await talk.turn(long)
    delays: list[float] = []

    async def others() -> None:
        clock = asyncio.get_running_loop().time
        while True:
            before = clock()
            await asyncio.sleep(0.01)
            delays.append(clock() - before - 0.01)

    ticking = asyncio.create_task(others())
    assert isinstance((await talk.turn("And now?"))[-1], Answer)
    ticking.cancel()
    assert max(delays) < 0.2
