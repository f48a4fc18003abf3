"""What one branch found reaches the others: condensed, compared, told once, never as an echo."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from app.chat import insights
from app.chat import insights_queries as queries
from app.chat.blocks import Note
from app.chat.insights_relate import Finding, relate, same
from app.chat.queries import lock_conversation
from app.jobs.run import run_until_idle
from app.providers.fake import FakeProvider
from app.settings import Settings
from app.text.segment import Segmenter
from app.wiring import Services
from app.worker import handlers
from tests.api_client import API, assert_problem, execute, fetch
from tests.chat_client import until, with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

FOUND = "The roof of the barn needs forty new tiles because the storm broke them."
FERRY = "The ferry to Kiel sails at nine in the morning."
FOUND_ZH = "粮仓的屋顶需要四十块新瓦，因为暴风雨打碎了旧瓦。"


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    return with_model(tmp_path, fake)


class Talk:
    """One conversation over HTTP: a first branch and two that hang under its first answer."""

    def __init__(self, client: httpx.AsyncClient, fake: FakeProvider) -> None:
        self.client = client
        self.fake = fake
        self.id = ""
        self.a = ""
        self.b = ""

    async def open(self) -> None:
        self.id = (await self.client.post(f"{API}/conversations", json={})).json()["id"]
        first = await self.say("We look at the old barn.", "Good.")
        self.a = await self.fork(first["message_id"], "The roof of the barn")
        self.b = await self.fork(first["message_id"], "Costs of the barn's roof")

    async def fork(self, message_id: str, label: str) -> str:
        body = {"from_message_id": message_id, "profile": "explore", "label": label, "force": True}
        made = await self.client.post(f"{API}/conversations/{self.id}/branches", json=body)
        assert made.status_code == 201, made.text
        branch_id: str = made.json()["id"]
        return branch_id

    async def say(self, content: str, answer: str | None = None, branch: str = "", **more: Any) -> dict[str, Any]:
        if answer is not None:
            self.fake.answer = lambda body: answer
        body = {"content": content, "level": "chat", "branch_id": branch or None} | more
        told = await self.client.post(f"{API}/conversations/{self.id}/turns", json=body)
        assert told.status_code == 200, told.text
        turn: dict[str, Any] = told.json()
        return turn

    async def condense(self, branch: str) -> list[dict[str, Any]]:
        made = await self.client.post(f"{API}/branches/{branch}/insights")
        assert made.status_code == 200, made.text
        items: list[dict[str, Any]] = made.json()["items"]
        return items

    async def insights(self, branch: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = (await self.client.get(f"{API}/branches/{branch}/insights")).json()["items"]
        return items

    def told(self) -> str:
        """The last prompt's last message."""
        content: str = self.fake.exchanges[-1].body["messages"][-1]["content"]
        return content


@pytest.fixture
async def talk(client: httpx.AsyncClient, fake: FakeProvider) -> Talk:
    opened = Talk(client, fake)
    await opened.open()
    return opened


@pytest.mark.parametrize(
    ("asked", "found", "question"),
    [
        ("What about the roof?", FOUND, "What does the roof of the barn need?"),
        ("屋顶怎么样？", FOUND_ZH, "粮仓的屋顶需要多少块新瓦？"),
    ],
)
async def test_a_finding_of_one_branch_is_told_in_the_other_once(
    talk: Talk, asked: str, found: str, question: str
) -> None:
    await talk.say("粮仓的屋顶要花多少钱？ What does the roof of the barn cost?", "I do not know yet.", talk.b)
    await talk.say(asked, found, talk.a)
    (made,) = [one for one in await talk.condense(talk.a) if one["text"] == found]
    assert not made["is_echo"]
    links = {link["target_branch_id"]: link for link in made["links"]}
    assert links[talk.b]["relation"] in ("related", "extends", "contradicts")
    assert links[talk.b]["reason"]
    assert links[talk.b]["delivered_at"] is None

    turn = await talk.say(question, "I see.", talk.b)
    bucket = turn["ledger"]["buckets"]["branch_insights"]
    assert [row["item"].partition(" · ")[0] for row in bucket["packed"]] == ["The roof of the barn"]
    assert f">\n{found}\n</branch>" in talk.told()
    assert '<branch label="The roof of the barn · ' in talk.told()
    (again,) = [one for one in await talk.insights(talk.a) if one["text"] == found]
    (link,) = [link for link in again["links"] if link["target_branch_id"] == talk.b]
    assert link["delivered_at"] is not None

    turn = await talk.say(question, "I see.", talk.b)
    assert turn["ledger"]["buckets"]["branch_insights"]["packed"] == []
    assert found not in talk.told()


async def test_the_offline_answer_quotes_what_another_branch_found(talk: Talk) -> None:
    await talk.say("What does the roof of the barn cost?", "I do not know yet.", talk.b)
    await talk.say("What about the roof?", FOUND, talk.a)
    await talk.condense(talk.a)
    turn = await talk.say("How many new tiles does the roof need?", branch=talk.b, provider="offline", level="search")
    assert FOUND in turn["answer"]
    assert "(The roof of the barn" in turn["answer"]
    assert turn["citations"] == []


async def test_a_branch_that_has_said_nothing_yet_is_told_what_it_asks_about(talk: Talk) -> None:
    await talk.say("What about the dog?", "The dog of the miller guards the sacks at night.", talk.a)
    (made,) = await talk.condense(talk.a)
    assert talk.b not in [link["target_branch_id"] for link in made["links"]]
    turn = await talk.say("Who guards the sacks?", "I see.", talk.b)
    assert len(turn["ledger"]["buckets"]["branch_insights"]["packed"]) == 1
    assert made["text"] in talk.told()
    (again,) = await talk.insights(talk.a)
    (link,) = [link for link in again["links"] if link["target_branch_id"] == talk.b]
    assert (link["relation"], link["delivered_at"] is None) == ("related", False)
    await talk.say("Who guards the sacks?", "I see.", talk.b)
    assert made["text"] not in talk.told()


async def test_what_is_on_the_way_to_a_branch_is_not_told_to_it_and_what_came_later_is(talk: Talk) -> None:
    await talk.say("What about the mill?", "The mill of the village has four sails of oak.")
    turn = await talk.say("And the stones?", "The stones of the mill weigh two tons.")
    below = await talk.fork(turn["message_id"], "The mill and its stones")
    await talk.say("And the rope?", "The rope of the mill is made of hemp.")
    first = (await talk.client.get(f"{API}/conversations/{talk.id}/tree")).json()["branches"][0]["id"]
    found = await talk.condense(first)
    linked = {one["text"] for one in found if below in [link["target_branch_id"] for link in one["links"]]}
    assert linked <= {"The rope of the mill is made of hemp."}
    await talk.say("What has the mill got: sails, stones, a rope?", "I see.", below)
    told = talk.told()
    assert "hemp" in told
    assert "weigh two tons.\n</branch>" not in told


async def test_what_did_not_complete_was_not_delivered(talk: Talk, fake: FakeProvider) -> None:
    await talk.say("What does the roof of the barn cost?", "I do not know yet.", talk.b)
    await talk.say("What about the roof?", FOUND, talk.a)
    await talk.condense(talk.a)
    broken = await talk.client.post(
        f"{API}/conversations/{talk.id}/turns",
        json={"content": "And the tiles?", "branch_id": talk.b, "level": "chat", "model": "fault:cut,after=3"},
    )
    assert FOUND in talk.told()
    assert broken.json().get("status") != "complete"
    turn = await talk.say("And the tiles?", "Well.", talk.b)
    assert len(turn["ledger"]["buckets"]["branch_insights"]["packed"]) == 1


async def test_an_insight_that_came_from_an_insight_is_not_passed_on(talk: Talk) -> None:
    """No echo: what A found comes back from B neither to A nor to C."""
    await talk.say("What does the roof of the barn cost?", "I do not know yet.", talk.b)
    await talk.say("What about the roof?", FOUND, talk.a)
    await talk.condense(talk.a)
    await talk.say("And the tiles?", "As was found: the roof of the barn needs new tiles, forty of them.", talk.b)
    echoes = [one for one in await talk.condense(talk.b) if "forty of them" in one["text"]]
    for echo in echoes:
        assert echo["is_echo"]
        assert echo["from_insight_id"] == (await talk.insights(talk.a))[0]["id"]
        assert echo["links"] == []
    turn = await talk.say("Anything new about the roof and its tiles?", "No.", talk.a)
    assert "forty of them" not in talk.told()
    assert turn["ledger"]["buckets"]["branch_insights"]["packed"] == []


async def test_condensing_again_makes_nothing_new_and_near_duplicates_are_dropped(talk: Talk) -> None:
    await talk.say("What about the roof?", FOUND, talk.a)
    first = await talk.condense(talk.a)
    assert 1 <= len(first) <= 3
    assert await talk.condense(talk.a) == first
    await talk.say("Say it again", FOUND.replace("forty new tiles", "forty new roof tiles"), talk.a)
    assert [one["text"] for one in await talk.condense(talk.a)].count(FOUND) == 1
    assert len(await talk.insights(talk.a)) == len(first)
    # Another number is another finding, however near it is (C5).
    await talk.say("Really?", FOUND.replace("forty", "90"), talk.a)
    assert any("90 new tiles" in one["text"] for one in await talk.condense(talk.a))


async def test_what_was_compared_is_neither_compared_nor_embedded_again(
    talk: Talk, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Related or not: a run takes what is new since the last one, on either side."""
    embedder = services.spaces.embedders[0]
    embedded: list[str] = []
    compared: list[tuple[str, str]] = []
    embed = embedder.queries

    async def queries_counted(texts: Any) -> Any:
        embedded.extend(texts)
        return await embed(texts)

    def relate_counted(new: Finding, old: Finding, *more: float) -> Any:
        compared.append((new.text, old.text))
        return relate(new, old, *more)

    monkeypatch.setattr(embedder, "queries", queries_counted)
    monkeypatch.setattr(insights, "relate", relate_counted)

    async def run(branch: str) -> tuple[set[str], set[tuple[str, str]]]:
        embedded.clear()
        compared.clear()
        await services.insights.condense(services.default_workspace, uuid.UUID(branch))
        return set(embedded), set(compared)

    await talk.say("What does the dog eat?", "The dog of the miller eats rye bread.", talk.b)
    await talk.say("When does the ferry sail?", FERRY, talk.a)
    texts, pairs = await run(talk.a)
    assert FERRY in texts
    assert (FERRY, "The dog of the miller eats rye bread.") in pairs
    found = {one["text"] for one in await talk.insights(talk.a)}
    assert [link for one in await talk.insights(talk.a) for link in one["links"]] == []
    assert await run(talk.a) == (set(), set())

    new = {"Does the miller sing?", "The miller sings at dawn."}
    await talk.say("Does the miller sing?", "The miller sings at dawn.", talk.b)
    assert await run(talk.a) == (new, {(one, text) for one in found for text in new})
    assert await run(talk.a) == (set(), set())

    # Its own findings are new; what they were made of was compared with A's already.
    texts, pairs = await run(talk.b)
    assert found.isdisjoint(texts)
    assert found.isdisjoint(one for one, _ in pairs)
    assert {one for one, _ in pairs} == {one["text"] for one in await talk.insights(talk.b)}
    for branch in (talk.a, talk.b):
        assert await run(branch) == (set(), set())


async def test_what_is_still_being_said_is_compared_when_it_is_said(talk: Talk, services: Services) -> None:
    """Answers that end in another order than they began: the later one does not hide the earlier."""
    first = await talk.say("What does the ferry cost?", "The ferry to Kiel costs nine coins.", talk.b)
    await talk.say("What else?", "The dog of the miller eats rye bread.", talk.b)
    status = "UPDATE messages SET status = :status WHERE id = CAST(:id AS uuid)"
    await execute(services.database, status, status="streaming", id=first["message_id"])
    await execute(services.database, "UPDATE messages SET content = 'Well?' WHERE content LIKE 'What does the ferry%'")
    await talk.say("When does the ferry sail?", FERRY, talk.a)
    (made,) = await talk.condense(talk.a)
    assert talk.b not in [link["target_branch_id"] for link in made["links"]]
    await execute(services.database, status, status="complete", id=first["message_id"])
    (made,) = await talk.condense(talk.a)
    assert talk.b in [link["target_branch_id"] for link in made["links"]]


async def test_at_once_from_many_sides_is_once(talk: Talk, services: Services) -> None:
    await talk.say("What does the roof of the barn cost?", "I do not know yet.", talk.b)
    await talk.say("What about the roof?", FOUND, talk.a)
    await asyncio.gather(*(services.insights.condense(services.default_workspace, uuid.UUID(talk.a)) for _ in range(6)))
    assert [one["text"] for one in await talk.insights(talk.a)].count(FOUND) == 1


async def test_a_branch_that_is_deleted_while_another_is_condensed_is_forgotten(
    client: httpx.AsyncClient, talk: Talk, services: Services
) -> None:
    """What it told stays known as an echo, and nothing is linked to it."""
    workspace, insights = services.default_workspace, services.insights
    await talk.say("How is the roof?", f"{FOUND}", talk.a)
    await talk.condense(talk.a)
    await talk.say("What does the roof cost?", "The barn's roof needs forty of them for sure.", talk.b)
    read = await insights._read(workspace, uuid.UUID(talk.b))
    assert read is not None
    thought = await insights._thought(read)
    assert [one.from_insight_id is not None for one in thought.insights] == [True]
    insights._thought = lambda read: answered(thought)  # type: ignore[method-assign]
    insights._read = lambda *_: answered(read)  # type: ignore[method-assign]
    assert (await client.delete(f"{API}/branches/{talk.a}")).status_code == 204
    assert await insights.condense(workspace, uuid.UUID(talk.b)) == 1
    rows = await fetch(services.database, "SELECT is_echo, from_insight_id FROM branch_insights")
    assert rows == [(True, None)]
    targets = await fetch(services.database, "SELECT target_branch_id FROM insight_links")
    assert (uuid.UUID(talk.a),) not in targets


async def answered(value: Any) -> Any:
    return value


async def test_a_turn_that_enqueues_the_job_again_and_the_job_do_not_wait_for_each_other(
    talk: Talk, services: Services
) -> None:
    """The turn holds the conversation and then wants the job's row; so the job takes its own row last."""
    await talk.say("How is the roof?", FOUND, talk.a)
    held: list[Any] = []

    async def hold(session: Any) -> None:
        held.append(session)

    job: Any = SimpleNamespace(hold=hold)
    async with services.database.unit() as turn:
        await lock_conversation(turn, services.default_workspace, uuid.UUID(talk.id))
        condensing = asyncio.create_task(services.insights.condense(services.default_workspace, uuid.UUID(talk.a), job))

        async def waits() -> bool:
            waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            return condensing.done() or bool(await fetch(services.database, waiting))

        await until(waits)
        assert not condensing.done()
        assert held == []
    assert await condensing == 1
    assert held


async def test_five_messages_of_a_user_make_a_job(talk: Talk, services: Services) -> None:
    """F7: one job however many turns there were."""
    for n in range(4):
        await talk.say(f"Number {n}?", "Well.", talk.a)
    jobs = "SELECT count(*) FROM jobs WHERE kind = 'insights'"
    assert await fetch(services.database, jobs) == [(0,)]
    await talk.say("And now?", FOUND, talk.a)
    await talk.say("And then?", "Well.", talk.a)
    assert await fetch(services.database, jobs) == [(1,)]
    await run_until_idle(services.database.dsn, handlers(services), services.settings, timeout_seconds=30)
    assert FOUND in [one["text"] for one in await talk.insights(talk.a)]


async def test_a_model_condenses_and_compares(
    talk: Talk, services: Services, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G1, G2: what it says is read by the ladder; what it says wrongly costs nothing but the model's part."""
    await talk.say("What does the roof of the barn cost?", "I do not know yet.", talk.b)
    await talk.say("What about the roof?", FOUND, talk.a)
    monkeypatch.setattr(services.insights, "_find_provider", lambda: services.providers.get_provider("custom"))

    def answer(body: Mapping[str, Any]) -> str:
        if "compare findings" in body["messages"][0]["content"]:
            pairs = json.loads(body["messages"][-1]["content"])
            told = [{"pair": one["pair"], "relation": "contradicts", "reason": "It does."} for one in pairs]
            return "Here is the JSON:\n```json\n" + json.dumps({"relations": [*told, {"pair": 99}]}) + "\n```"
        return json.dumps({"insights": [{"text": "Forty roof tiles of the barn are broken.", "message": 77}, {}, None]})

    fake.answer = answer
    (made,) = await talk.condense(talk.a)
    assert (made["text"], made["made_by"]) == ("Forty roof tiles of the barn are broken.", "custom/default")
    assert {(link["relation"], link["reason"], link["made_by"]) for link in made["links"]} == {
        ("contradicts", "It does.", "custom/default")
    }
    await talk.say("And the beam?", "The beam of the barn is oak and carries nine tons.", talk.a)
    fake.answer = lambda body: "I would rather not."
    found = await talk.condense(talk.a)
    assert (found[0]["text"], found[0]["made_by"]) == ("The beam of the barn is oak and carries nine tons.", "offline")


async def test_who_has_no_branch_gets_404(client: httpx.AsyncClient) -> None:
    for method in ("GET", "POST"):
        answer = await client.request(method, f"{API}/branches/{uuid.uuid4()}/insights")
        assert_problem(answer, 404, "branch_not_found")


async def test_contradictions_come_first(talk: Talk, services: Services) -> None:
    workspace = services.default_workspace
    async with services.database.unit() as session:
        from app.chat.branch_queries import get_branch_of

        branch = await get_branch_of(session, workspace, uuid.UUID(talk.a))
        (row,) = await fetch(services.database, "SELECT id FROM messages LIMIT 1")
        texts = ["related", "extends", "contradicts"]
        made = await queries.insert_insights(
            session, branch, [queries.NewInsight(text, row[0]) for text in texts], "offline"
        )
        links = [queries.NewLink(one.id, uuid.UUID(talk.b), one.text, "why", 0.9, "rules") for one in made]
        await queries.insert_links(session, workspace, links)
    notes: list[Note] = await services.insights.notes(workspace, uuid.UUID(talk.id), uuid.UUID(talk.b), "Hi")
    assert [note.text for note in notes] == ["contradicts", "extends", "related"]
    assert [note.score for note in notes] == sorted((note.score for note in notes), reverse=True)


# ------------------------------------------------------------------------------------- the rules alone


@pytest.mark.parametrize(
    ("new", "old", "relation", "reason"),
    [
        ("The ferry leaves at 9:00.", "The ferry leaves at 10:30.", "contradicts", "another value"),
        ("The supplier does not deliver on Sundays.", "The supplier delivers on Sundays.", "contradicts", "denies"),
        ("项目预算是30万元。", "项目预算是50万元。", "contradicts", "数值不同"),
        ("这个供应商周日不送货。", "这个供应商周日送货。", "contradicts", "否定"),
        ("Sales of green tea are rising in spring.", "Sales of green tea are falling in spring.", "contradicts", "opp"),
        ("绿茶的销量在春天上升。", "绿茶的销量在春天下降。", "contradicts", "相反"),
        (
            "The ferry is late in winter because ice drifts in the harbour of Stralsund.",
            "The ferry is late in winter.",
            "extends",
            "reason",
        ),
        ("渡轮冬天晚点，因为施特拉尔松德港口有浮冰。", "渡轮冬天晚点。", "extends", "原因"),
        ("The ferry to Hiddensee is white.", "The ferry to Hiddensee needs a ticket.", "related", "about the same"),
    ],
)
def test_rules_tell_what_findings_mean(segmenter: Segmenter, new: str, old: str, relation: str, reason: str) -> None:
    def words(text: str) -> list[str]:
        return segmenter.terms(text).words

    found = relate(Finding.of(new, words), Finding.of(old, words), 0.0, 0.9)
    assert found is not None
    assert found.relation == relation
    assert reason in found.reason
    assert not same(Finding.of(new, words), Finding.of(old, words), 0.99, 0.92) or relation != "contradicts"


def test_rules_see_nothing_where_nothing_is(segmenter: Segmenter) -> None:
    def words(text: str) -> list[str]:
        return segmenter.terms(text).words

    tea, ferry = Finding.of("Green tea likes soft water.", words), Finding.of("The ferry is late.", words)
    assert relate(tea, ferry, 0.5, 0.86) is None
    assert relate(tea, ferry, 0.9, 0.86) is not None
