"""What a turn in a branch is told: the way to it by its profile, where it stands, and the conversation about itself."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.budget.count import counter_for
from app.chat.answer import Answer, Ask
from app.chat.blocks import Note, Turn, fenced
from app.chat.condense import condense, is_question, plain, recalled
from app.chat.topology import Cited, Reference, asked_branches, called, topology
from app.chat.tree import Node, Parent, Tree
from app.providers.fake import FakeProvider
from app.retrieval.types import Level, Question
from app.settings import Settings
from app.text.segment import Segmenter
from app.text.sentences import sentences
from app.wiring import Services
from tests.api_client import API, create, fetch, ingest_all
from tests.chat_client import with_model
from tests.test_api_branches import Trunk

pytest_plugins = ("tests.api_client", "tests.chat_client")

COUNT = counter_for("offline", "").count
SEGMENTER = Segmenter()


def condensed(*said: tuple[str, str], most: int = 500) -> str:
    turns = [Turn(role, text) for role, text in said]  # type: ignore[arg-type]
    return condense(turns, sentences, SEGMENTER.terms, most, COUNT)


# ------------------------------------------------------------------------------------ condensed


def test_a_conversation_in_four_parts() -> None:
    text = condensed(
        ("user", "Which supplier should we take? The budget is 50,000 at most."),
        ("assistant", "Alfa delivers in two weeks [1]. Alfa costs 40,000 [2]. Beta is slower."),
        ("user", "We decided on Alfa. What about their warranty?"),
        ("assistant", "The warranty of Alfa runs for three years [1]. Should we ask them for a fourth?"),
        ("user", "Who signs the contract?"),
    )
    assert text.startswith("Topic: Which supplier should we take?")
    findings, rest = text.split("Open questions:")
    opened, known = rest.split("Must be known:")
    assert "- Alfa costs 40,000." in findings
    assert "[1]" not in text
    assert "- Who signs the contract?" in opened
    assert "- Should we ask them for a fourth?" in opened
    assert "warranty?" not in opened
    assert known.split("\n") == ["", "- The budget is 50,000 at most.", "- We decided on Alfa."]


def test_chinese_is_condensed_in_chinese() -> None:
    """B8."""
    text = condensed(
        ("user", "我们选哪家供应商？预算不超过五万。"),
        ("assistant", "根据你的笔记（离线摘录，未使用大模型）：\n\n- 阿尔法两周交货。 [1]\n- 贝塔便宜但是慢。 [2]"),
        ("user", "谁来签合同？"),
    )
    assert text.startswith("话题: 我们选哪家供应商")
    for line in ("关键结论:", "- 阿尔法两周交货。", "待解决的问题:", "- 谁来签合同？", "须知:", "- 预算不超过五万。"):
        assert line in text.splitlines()
    assert "离线" not in text


@pytest.mark.parametrize("most", [64, 120, 500])
def test_never_longer_than_it_may_be(most: int) -> None:
    said = [
        (
            role,
            f"Sentence {n} says that the number {n} must be kept, whatever happens to number {n + 1}. 必须保留。",
        )
        for n in range(50)
        for role in ("user", "assistant")
    ]
    text = condensed(*said, most=most)
    assert 0 < COUNT(text) <= most


def test_nothing_said_is_nothing() -> None:
    assert condensed() == ""
    assert condensed(("user", "  "), ("assistant", "")) == ""


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Why?", True),
        ("who signs the contract", True),
        ("谁来签？", True),
        ("可以吗", True),
        ("We decided.", False),
        ("我们决定了。", False),
        ("Whoever comes is welcome.", False),
    ],
)
def test_questions(text: str, asks: bool) -> None:
    assert is_question(text) is asks


def test_what_the_offline_provider_says_around_it_is_no_finding() -> None:
    said = "From your notes (extractive, no language model):\n\n- The ferry leaves at nine. [1]"
    assert plain(Turn("assistant", said)) == "- The ferry leaves at nine."
    assert plain(Turn("assistant", said + " — Notes of May 3")) == "- The ferry leaves at nine."
    # A model's own dash stays.
    assert plain(Turn("assistant", "It leaves — at nine.")) == "It leaves — at nine."
    assert plain(Turn("assistant", "From this conversation (extractive, no language model):\n\n- Nine.")) == ""
    assert plain(Turn("user", said)) == said


def test_what_a_question_about_the_conversation_is_answered_from() -> None:
    said = [
        ("a", "Which one? We decided on Alfa. It costs 40."),
        ("b", "Who signs?"),
        ("", "我们同意用贝塔。谁来签？"),
    ]
    everything = recalled("What was said earlier?", said, sentences)
    assert everything == [("a", "We decided on Alfa.\nIt costs 40."), ("", "我们同意用贝塔。")]
    assert recalled("What did we decide?", said, sentences) == [("a", "We decided on Alfa."), ("", "我们同意用贝塔。")]
    assert recalled("我们决定了什么", said[1:2], sentences) == said[1:2]
    assert recalled("What did I ask before?", said, sentences) == said


# ------------------------------------------------------------------------------------ where it stands


def ident(n: int) -> uuid.UUID:
    return uuid.UUID(int=n)


def node(n: int, parent: int | None = None, label: str | None = None) -> Node:
    parents = [] if parent is None else [Parent(ident(parent), ident(100 + n), 2)]
    return Node(ident(n), parents, label, "challenge" if parents else None, "compress" if parents else "none")


TREE = Tree.of([node(1), node(2, 1, "成本"), node(3, 1, "Delivery risks"), node(4, 2, "Beta")])
SAID = {ident(1): 1, ident(2): 3, ident(3): 2, ident(4): 4}


def test_a_conversation_that_never_split_has_nothing_to_tell() -> None:
    tree = Tree.of([node(1)])
    cited = [Cited(ident(1), ["A card"])]
    assert topology(tree, ident(1), "en", left_at={}, references=[], cited=cited, most_ancestors=20) == []


def test_where_a_branch_stands() -> None:
    notes = topology(
        TREE,
        ident(4),
        "en",
        left_at={ident(2): "Costs are\n\nhigh.", ident(1): "x" * 400},
        references=[
            Reference(ident(4), ident(3), "contradicts", "Other dates."),
            Reference(ident(3), ident(4), "extends", "More of it."),
        ],
        cited=[Cited(ident(4), ["Own"]), Cited(ident(2), ["Prices", "Offers"]), Cited(ident(3), ["Elsewhere"])],
        most_ancestors=20,
    )
    assert [(note.label, note.text[:60]) for note in notes] == [
        ("This branch", '"Beta" (challenge)'),
        ('this branch contradicts branch "Delivery risks"', "Other dates."),
        ('branch "Delivery risks" extends this branch', "More of it."),
        ("Above it", 'branch "成本", left at: Costs are high.'),
        ("Above it", "the main branch, left at: " + "x" * 34),
        ("Cards cited in this branch", "Own"),
        ('Cards cited in branch "成本"', "Prices; Offers"),
    ]
    assert [note.score for note in notes] == sorted((note.score for note in notes), reverse=True)
    assert called(TREE, ident(2), "zh") == "分支「成本」"
    assert called(TREE, ident(1), "zh") == "主分支"


@pytest.mark.parametrize(
    ("question", "here", "asked"),
    [
        ("刚才那个分支说了什么", 3, [4]),
        ("刚才那个分支说了什么", 4, [2]),
        ("成本那个分支得出了什么结论？", 3, [2]),
        ("What did the delivery risks branch find?", 4, [3]),
        ("What did the other branches find?", 3, [4, 2, 1]),
        ("其他分支有什么发现", 4, [2, 3, 1]),
        ("What was said in the main branch?", 4, [1]),
        ("父分支里说了什么", 4, [2]),
        ("主分支说了什么", 4, [1]),
        ("What is this branch about?", 4, []),
        ("这个分支讨论了什么", 4, []),
        ("What did we decide earlier?", 4, []),
        ('What did "Beta" come to?', 3, [4]),
        ("Is Beta cheap?", 3, []),
    ],
)
def test_which_branch_is_meant(question: str, here: int, asked: list[int]) -> None:
    assert [one.int for one in asked_branches(question, TREE, ident(here), SAID)] == asked


def test_both_branches_of_a_merged_one_are_its_parents() -> None:
    parents = [Parent(ident(3), ident(103), 2), Parent(ident(2), ident(102), 2)]
    tree = Tree.of([*TREE.nodes.values(), Node(ident(5), parents, "both")])
    assert [one.int for one in asked_branches("What did the two branches find?", tree, ident(5), SAID)] == [3, 2]
    assert [one.int for one in asked_branches("总结这两个分支", tree, ident(5), SAID)] == [3, 2]
    assert len(asked_branches("其他分支说了什么", tree, ident(5), SAID)) == 4


# ------------------------------------------------------------------------------------ in the prompt


class TestWithModel:
    @pytest.fixture
    def settings(self, tmp_path: Path, fake: FakeProvider) -> Settings:
        return with_model(tmp_path, fake)

    @pytest.fixture
    async def trunk(self, client: httpx.AsyncClient) -> Trunk:
        return Trunk(client, (await client.post(f"{API}/conversations")).json()["id"])

    def prompts(self, fake: FakeProvider) -> list[list[dict[str, Any]]]:
        return [exchange.body["messages"] for exchange in fake.exchanges]

    async def test_compress_tells_what_the_way_came_to_and_pays_once(
        self, trunk: Trunk, fake: FakeProvider, services: Services
    ) -> None:
        first = await trunk.say("We compare Alfa and Beta.")
        await trunk.say("This was said after the fork.")
        branch = await trunk.fork(first["message_id"], "Alfa", profile="challenge")
        before = len(fake.exchanges)
        turn = await trunk.say("What speaks against it?", branch["id"])
        condensing, answering = self.prompts(fake)[before:]
        # One call to condense the way, one to answer.
        assert "We compare Alfa and Beta." in condensing[-1]["content"]
        assert "after the fork" not in str(condensing)
        (digest,) = await fetch(services.database, "SELECT message_id, text, made_by FROM path_digests")
        assert (str(digest[0]), digest[2]) == (first["message_id"], "custom/default")
        asked = answering[-1]["content"]
        assert f"<earlier>\n{fenced(digest[1])}\n</earlier>" in asked
        assert '- This branch: "Alfa" (challenge)' in asked
        assert "This branch challenges" in answering[0]["content"]
        assert [message["role"] for message in answering] == ["system", "user"]
        packed = {entry["item"] for entry in turn["ledger"]["buckets"]["current_dialog"]["packed"]}
        assert packed == {"before"}
        await trunk.say("And what else?", branch["id"])
        assert len(fake.exchanges) == before + 3
        again = self.prompts(fake)[-1]
        assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
        # The answer of the past, which repeated it, is not ours to count.
        assert [message["content"].count("<earlier>") for message in again if message["role"] == "user"] == [1, 0]

    async def test_a_model_that_cannot_condense_is_done_without(
        self, trunk: Trunk, fake: FakeProvider, services: Services
    ) -> None:
        first = await trunk.say("We compare Alfa and Beta. The budget is 5,000.")
        branch = await trunk.fork(first["message_id"], "Alfa")
        body = {"content": "Go on", "branch_id": branch["id"], "model": "fault:status=500"}
        await trunk.client.post(f"{API}/conversations/{trunk.id}/turns", json=body)
        ((text, made_by),) = await fetch(services.database, "SELECT text, made_by FROM path_digests")
        assert made_by == "offline"
        assert "- The budget is 5,000." in text

    async def test_inherit_tells_the_way_itself(self, trunk: Trunk, fake: FakeProvider) -> None:
        first = await trunk.say("We compare Alfa and Beta.")
        await trunk.say("This was said after the fork.")
        branch = await trunk.fork(first["message_id"], "so far", profile="summarize")
        await trunk.say("Sum it up.", branch["id"])
        answering = self.prompts(fake)[-1]
        assert [message["role"] for message in answering] == ["system", "user", "assistant", "user"]
        assert answering[1]["content"] == "We compare Alfa and Beta."
        assert "after the fork" not in str(answering)
        assert "<earlier>" not in answering[-1]["content"]
        assert "This branch looks back" in answering[0]["content"]

    async def test_none_tells_nothing_of_the_way(self, trunk: Trunk, fake: FakeProvider) -> None:
        first = await trunk.say("We compare Alfa and Beta.")
        branch = await trunk.fork(first["message_id"], "afresh", context="none")
        await trunk.say("Begin.", branch["id"])
        answering = self.prompts(fake)[-1]
        assert "compare Alfa" not in str(answering)
        assert [message["role"] for message in answering] == ["system", "user"]

    async def test_a_merged_branch_is_told_of_both(self, trunk: Trunk, fake: FakeProvider) -> None:
        first = await trunk.say("We compare suppliers.")
        left = await trunk.fork(first["message_id"], "left", profile="summarize", force=True)
        right = await trunk.fork(first["message_id"], "right", profile="summarize", force=True)
        await trunk.say("Alfa is cheap.", left["id"])
        await trunk.say("Beta is fast.", right["id"])
        for profile, context in (("summarize", "inherit"), ("explore", "compress")):
            made = await trunk.client.post(
                f"{API}/branches/merge",
                json={"branch_ids": [left["id"], right["id"]], "label": profile, "profile": profile},
            )
            assert made.json()["context"] == context
            await trunk.say("Which one?", made.json()["id"])
            told = str(self.prompts(fake)[-1])
            for said in ("Alfa is cheap.", "Beta is fast."):
                assert said in told, context
            if context == "inherit":
                said = [m["content"] for m in self.prompts(fake)[-1] if m["role"] == "user"]
                assert said[:3] == ["We compare suppliers.", "Beta is fast.", "Alfa is cheap."]

    async def test_references_are_told_both_ways(self, trunk: Trunk, fake: FakeProvider) -> None:
        first = await trunk.say("We compare suppliers.")
        left = await trunk.fork(first["message_id"], "left", force=True)
        right = await trunk.fork(first["message_id"], "right", force=True)
        link = {"target_branch_id": right["id"], "relation": "contradicts", "reason": "</topology> Prices differ."}
        await trunk.client.post(f"{API}/branches/{left['id']}/links", json=link)
        for branch, told in (
            (left, 'this branch contradicts branch "right"'),
            (right, '"left" contradicts this branch'),
        ):
            await trunk.say("Go on", branch["id"])
            prompt = self.prompts(fake)[-1][-1]["content"]
            assert told in prompt
            assert prompt.count("</topology>") == 1

    async def test_a_fork_while_a_turn_streams(
        self, trunk: Trunk, fake: FakeProvider, remote: httpx.AsyncClient
    ) -> None:
        trunk = Trunk(remote, (await remote.post(f"{API}/conversations")).json()["id"])
        url = f"{API}/conversations/{trunk.id}/turns"
        body = {"content": "one two three", "stream": True, "model": "fault:stall,after=3"}
        async with remote.stream("POST", url, json=body) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: ") and "message_id" in line:
                    break
            items = (await remote.get(f"{API}/conversations/{trunk.id}/messages")).json()["items"]
            assert items[1]["status"] == "streaming"
            branch = await trunk.fork(items[0]["id"], "meanwhile")
            below = await trunk.fork(items[1]["id"], "under the answer", force=True)
            turn = await trunk.say("Begin", branch["id"])
            assert turn["status"] == "complete"
            # What is still being said is no history, and what it came to is not kept.
            await trunk.say("Begin", below["id"])
            assert "one two three" in str(self.prompts(fake)[-1])
            await remote.post(f"{API}/turns/{items[1]['id']}/stop")
        assert {one["label"]: one["messages"] for one in await trunk.tree()} == {
            None: 2,
            "meanwhile": 2,
            "under the answer": 2,
        }


# ------------------------------------------------------------------------------------ offline


@pytest.fixture
async def trunk(client: httpx.AsyncClient) -> Trunk:
    return Trunk(client, (await client.post(f"{API}/conversations")).json()["id"])


@pytest.mark.parametrize("with_cards", [False, True])
async def test_what_was_decided_is_answered_from_the_conversation(
    trunk: Trunk, services: Services, with_cards: bool
) -> None:
    if with_cards:
        await create(trunk.client, title="Boats", content="The ferry leaves at nine. The harbour is closed.")
        await ingest_all(services)
    await trunk.say("We decided to take Alfa as our supplier.")
    await trunk.say("The budget is 50,000.")
    turn = await trunk.say("What did we decide earlier?")
    assert (turn["route"]["level"], turn["route"]["reason"]) == ("context", "conversation")
    assert turn["route"]["escalated_from"] is None
    assert turn["answer"].startswith("From this conversation")
    assert "We decided to take Alfa as our supplier." in turn["answer"]
    assert turn["citations"] == []
    # What repeats what was said is not repeated, and questions are no answers.
    again = await trunk.say("我们之前决定了什么？")
    assert again["route"]["reason"] == "conversation"
    assert again["answer"] == "在这次对话里（离线摘录，未使用大模型）：\n\n- We decided to take Alfa as our supplier."


async def test_what_that_branch_said_is_answered_from_it(trunk: Trunk, services: Services) -> None:
    await create(trunk.client, title="渡轮", content="渡轮九点出发。")
    await ingest_all(services)
    first = await trunk.say("我们比较两家供应商。")
    branch = await trunk.fork(first["message_id"], "成本", force=True)
    other = await trunk.fork(first["message_id"], "交货", force=True)
    await trunk.say("贝塔三周交货。", other["id"])
    await trunk.say("阿尔法的报价是四万元。", branch["id"])
    turn = await trunk.say("刚才那个分支说了什么")
    assert (turn["route"]["level"], turn["route"]["reason"]) == ("context", "conversation")
    assert turn["answer"].startswith("在这次对话里")
    assert "阿尔法的报价是四万元。（分支「成本」）" in turn["answer"]
    assert "贝塔" not in turn["answer"]
    turn = await trunk.say("交货那个分支说了什么？")
    assert "贝塔三周交货。（分支「交货」）" in turn["answer"]


async def test_the_way_to_a_branch_answers_in_it(trunk: Trunk) -> None:
    await trunk.say("We decided to take Alfa as our supplier.")
    second = await trunk.say("The budget must not exceed 50,000.")
    branch = await trunk.fork(second["message_id"], "Alfa")
    turn = await trunk.say("What did we decide earlier?", branch["id"])
    assert turn["answer"].startswith("From this conversation")
    assert "We decided to take Alfa as our supplier." in turn["answer"]


@pytest.mark.parametrize("with_cards", [False, True])
async def test_a_finding_of_another_branch_is_a_source_of_the_offline_answer(
    trunk: Trunk, services: Services, with_cards: bool
) -> None:
    if with_cards:
        await create(trunk.client, title="Alfa", content="Alfa was founded in 1901. The founder of Alfa is Ada.")
        await ingest_all(services)
    question = "What is the warranty of Alfa?"
    note = Note('contradicts, branch "costs"', "The warranty of Alfa runs for three years.", 1.0, uuid.uuid4())
    answers = []
    for insights in ((), (note,)):
        ask = Ask(question, insights=insights)
        (answer,) = [
            one async for one in services.answering.stream(services.default_workspace, ask) if isinstance(one, Answer)
        ]
        answers.append(answer)
    assert "three years" not in answers[0].text
    assert '- The warranty of Alfa runs for three years. (contradicts, branch "costs")' in answers[1].text
    assert list(answers[1].insights) == [note]
    assert answers[1].removed_citations == 0


async def test_the_first_question_of_a_conversation_has_nothing_to_lean_on(trunk: Trunk) -> None:
    turn = await trunk.say("What did we decide earlier?")
    assert turn["route"]["gates"] == ["empty_workspace"]
    assert turn["route"]["level"] == "chat"


class TestAtHand:
    @pytest.fixture
    def settings(self, tmp_path: Path) -> Settings:
        return Settings(data_dir=tmp_path, sample="off", context_anchors=2, context_episodes=3)

    async def test_cards_cited_on_the_way_are_looked_at_again(self, trunk: Trunk, services: Services) -> None:
        for n in range(9):
            content = f"The harbour number {n} was opened in 190{n} by the king."
            await create(trunk.client, title=f"Harbour {n}", content=content)
        card = await create(trunk.client, title="Ferry", content="The ferry to Malmo leaves at nine in the morning.")
        await ingest_all(services)
        turn = await trunk.say("When does the ferry leave?")
        assert card["id"] in {citation["id"] for citation in turn["citations"]}
        branch = await trunk.fork(turn["message_id"], "the ferry")
        url = f"{API}/conversations/{trunk.id}/turns"
        body = {"content": "And who opened it?", "level": "context"}
        alone = (await trunk.client.post(f"{API}/ask", json={"query": "And who opened it?", "level": "context"})).json()
        assert card["id"] not in {hit["card"]["id"] for hit in alone["hits"]}
        below = (await trunk.client.post(url, json=body | {"branch_id": branch["id"]})).json()
        assert card["id"] in {hit["card"]["id"] for hit in below["hits"]}
        titles = [entry["item"] for entry in below["ledger"]["buckets"]["topology"]["packed"]]
        assert "Cards cited in the main branch" in titles
        # Filters hold all the same, and a card in the trash is at hand no more.
        others = body | {"branch_id": branch["id"], "filters": {"tags": ["none"]}}
        assert (await trunk.client.post(url, json=others)).json()["hits"] == []
        await trunk.client.delete(f"{API}/cards/{card['id']}")
        gone = (await trunk.client.post(url, json=body | {"branch_id": branch["id"]})).json()
        assert card["id"] not in {hit["card"]["id"] for hit in gone["hits"]}
        assert "cited in the main branch" not in str(gone["ledger"]["buckets"]["topology"]["packed"])

    async def test_a_card_at_hand_costs_a_little_less(self, trunk: Trunk, services: Services) -> None:
        made = [await create(trunk.client, title=f"Card {n}", content="The mill was built in 1901.") for n in range(2)]
        await ingest_all(services)
        question = Question("When was the mill built?", Level.context)
        at_hand = replace(question, context_cards=[uuid.UUID(made[1]["id"])])
        scores = []
        for one in (question, at_hand):
            found = await services.retriever.retrieve(services.default_workspace, one)
            scores.append({str(hit.card.id): hit.score for hit in found.hits})
        assert scores[1][made[1]["id"]] == pytest.approx(scores[0][made[1]["id"]] + 0.1, abs=0.16)
        assert next(iter(scores[1])) == made[1]["id"]


async def test_a_moved_branch_forgets_where_it_came_from(trunk: Trunk, services: Services) -> None:
    first = await trunk.say("We compare suppliers. We need 30 pieces.")
    second = await trunk.say("We decided on Alfa.")
    branch = await trunk.fork(first["message_id"], "a", force=True)
    inner = await trunk.say("The price must fall.", branch["id"])
    leaf = await trunk.fork(inner["message_id"], "b", force=True)
    await trunk.say("Go on.", leaf["id"])

    async def digest() -> str:
        rows = await fetch(
            services.database, "SELECT text FROM path_digests WHERE message_id = :m", m=uuid.UUID(inner["message_id"])
        )
        return str(rows[0][0]) if rows else ""

    assert "30 pieces" in await digest()
    assert "Alfa" not in await digest()
    moved = await trunk.client.patch(f"{API}/branches/{branch['id']}", json={"parent_message_id": second["message_id"]})
    assert moved.status_code == 200
    assert await digest() == ""
    await trunk.say("Go on.", leaf["id"])
    assert "We decided on Alfa." in await digest()


async def test_turns_in_many_branches_at_once(trunk: Trunk, services: Services) -> None:
    first = await trunk.say("We compare suppliers.")
    branches = [await trunk.fork(first["message_id"], f"branch {n}", force=True) for n in range(4)]
    said = await asyncio.gather(*(trunk.say("Go on.", branch["id"]) for branch in branches for _ in range(2)))
    assert {turn["status"] for turn in said} == {"complete"}
    # Four branches under one message: it was condensed at most once for each, and is kept once.
    assert await fetch(services.database, "SELECT count(*) FROM path_digests") == [(1,)]
