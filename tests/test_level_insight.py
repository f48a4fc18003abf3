"""Level insight against a real database and a model behind a socket: reports, points, cards; caps, honesty, streams."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.console import Console

from app import show
from app.chat.answer import Answer, Ask, Token
from app.ingestion.queries import Task
from app.ingestion.submit import NewCard
from app.providers.fake import FakeProvider
from app.providers.fake_script import Said
from app.retrieval.types import Evidence, Filters, Level, Question
from app.settings import Settings
from app.wiring import Services
from tests.api_client import API
from tests.chat_client import all_told, text_of, with_model
from tests.reports_desk import Topic, put_reports

pytest_plugins = ("tests.api_client", "tests.chat_client")

NOTES = {
    "Harbour": (
        "Anna repaired the red sailing boat in the harbour of Hamburg. The boat needs a new mast before the autumn "
        "storms. Bruno paints the boat every spring."
    ),
    "Soup": "Bruno cooked fish soup for the whole crew. The soup needs dill and a bay leaf. Dill grows in the garden.",
    "Garden": "Clara planted thirty tomato seedlings behind the shed. Tomato plants need water every evening.",
    "茶": "龙井茶产于杭州西湖。泡龙井茶的水温是八十度。",
}
TOPICS = [
    Topic(
        "Boat and harbour",
        "Anna and Bruno keep a sailing boat.",
        [
            "Anna repaired the red sailing boat in the harbour of Hamburg.",
            "The boat needs a new mast before the autumn storms.",
            "Bruno paints the boat every spring.",
        ],
        size=12,
        rating=8,
    ),
    Topic(
        "Soup and dill",
        "Bruno cooks.",
        ["Bruno cooked fish soup for the whole crew.", "The soup needs dill and a bay leaf."],
        size=8,
    ),
    Topic("Tomato plants", "Clara grows tomatoes.", ["Tomato plants need water every evening."], size=4, rating=3),
    Topic("龙井茶", "讲的是泡茶。", ["泡龙井茶的水温是八十度。"], size=3, rating=3),
]
POINT = {"description": "The crew keeps a red boat and repairs it itself.", "score": 90, "reports": ["P1"]}


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    return with_model(tmp_path, fake)


@pytest.fixture
async def cards(services: Services) -> dict[str, uuid.UUID]:
    """Ids by title, after the real pipeline."""
    made: dict[str, uuid.UUID] = {}
    async with services.database.unit() as session:
        for title, content in NOTES.items():
            new = NewCard(title=title, content=content, tags=["sea"] if title in ("Harbour", "Soup") else [])
            made[title] = (await services.intake.submit_card(session, services.default_workspace, new)).id
    await services.pipeline.ingest(services.default_workspace, [Task(card_id, 1) for card_id in made.values()])
    return made


@pytest.fixture
async def reports(services: Services, cards: dict[str, uuid.UUID]) -> Mapping[str, uuid.UUID]:
    return await put(services, TOPICS)


async def put(services: Services, topics: list[Topic]) -> Mapping[str, uuid.UUID]:
    return await put_reports(
        services.database, services.embedder, services.segmenter, services.default_workspace, topics
    )


async def find(services: Services, query: str, **how: Any) -> Evidence:
    question = Question(query, **({"level": Level.insight} | how))
    return await services.retriever.retrieve(services.default_workspace, question)


async def answered(services: Services, query: str, **more: Any) -> Answer:
    ask = Ask(query, **({"provider": "offline", "level": Level.insight} | more))
    async with aclosing(services.answering.stream(services.default_workspace, ask)) as events:
        heard = [event async for event in events]
    answer = heard[-1]
    assert isinstance(answer, Answer)
    assert "".join(event.text for event in heard if isinstance(event, Token)) == answer.text
    return answer


def titles(evidence: Evidence) -> list[str]:
    return [hit.card.title for hit in evidence.hits]


def mapping(reply: Callable[[str], str | Said]) -> Callable[[Mapping[str, Any]], str | Said]:
    """A model that says this of reports, and otherwise answers with the first two markers of its sources."""

    def answer(body: Mapping[str, Any]) -> str | Said:
        prompt = body["messages"][-1]["content"]
        return reply(prompt) if "<report id=" in prompt else "They keep a boat [1, 2]."

    return answer


def maps(fake: FakeProvider) -> list[str]:
    """The prompts of the map calls."""
    asked = [one.body["messages"][1]["content"] for one in fake.exchanges if one.method == "POST"]
    return [prompt for prompt in asked if "<report id=" in prompt]


# --------------------------------------------------------------------------------- without a model


async def test_an_overview_goes_through_the_topics_by_size(services: Services, reports: Mapping[str, Any]) -> None:
    for query in ("What are the main themes of my notes?", "这些笔记主要讲什么？"):
        evidence = await find(services, query)
        assert [report["title"] for report in evidence.reports] == [topic.title for topic in TOPICS]
        assert titles(evidence) == ["Harbour", "Soup", "Garden", "茶"]
        assert not evidence.nothing_relevant
        assert evidence.insight is not None
        assert evidence.insight.trace["asks_for"] == "overview"


async def test_hits_are_the_cards_behind_the_points(services: Services, reports: Mapping[str, uuid.UUID]) -> None:
    evidence = await find(services, "What do my notes say about the boat?", limit=5)
    assert titles(evidence) == ["Harbour"]
    (hit,) = evidence.hits
    for span in hit.evidence:
        assert NOTES["Harbour"][span.start : span.end] == span.text
    claims = [span.text for span in hit.evidence if span.kind == "claim"]
    assert "Bruno paints the boat every spring." in claims
    assert hit.paths[0]["steps"][0]["node"] == {
        "kind": "report", "id": str(reports["Boat and harbour"]), "label": "Boat and harbour",
    }  # fmt: skip
    (report,) = evidence.reports
    assert report.keys() >= {"id", "title", "rating", "score"}
    assert (report["id"], report["rating"]) == (str(reports["Boat and harbour"]), 8.0)
    assert {point["text"] for point in report["points"]} <= set(TOPICS[0].findings)
    assert 0 < report["score"] <= 1


async def test_the_answer_cites_reports_and_through_them_cards(
    services: Services, reports: Mapping[str, uuid.UUID], cards: Mapping[str, uuid.UUID], fake: FakeProvider
) -> None:
    answer = await answered(services, "What do my notes say about the boat?")
    assert answer.text.startswith("What your notes say on this")
    assert "**Boat and harbour**" in answer.text
    assert {citation.kind for citation in answer.citations} == {"report", "card"}
    for citation in answer.citations:
        if citation.kind == "report":
            assert citation.id == reports["Boat and harbour"]
            assert (citation.start, citation.chunk_id) == (None, None)
            assert citation.quote in TOPICS[0].findings
        else:
            assert citation.id == cards["Harbour"]
            assert NOTES["Harbour"][citation.start : citation.end] == citation.quote
    assert answer.removed_citations == 0
    assert fake.asked() == 0


async def test_an_overview_names_every_topic_in_the_questions_language(
    services: Services, reports: Mapping[str, uuid.UUID]
) -> None:
    english = await answered(services, "main themes")
    assert english.text.startswith("What your notes are mainly about")
    chinese = await answered(services, "这些笔记主要讲什么")
    assert chinese.text.startswith("你的笔记主要讲这些")
    for answer in (english, chinese):
        assert all(f"**{topic.title}**" in answer.text for topic in TOPICS)
        assert {one.id for one in answer.citations if one.kind == "report"} == set(reports.values())


async def test_points_of_many_topics_are_no_overview(services: Services, reports: Mapping[str, Any]) -> None:
    answer = await answered(services, "What do my notes say about needs?")
    assert len(answer.evidence.reports) == 3
    assert answer.text.startswith("What your notes say on this")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("What do my notes say about volcanoes?", "The notes do not say."),
        ("我的笔记怎么看待火山？", "笔记里没有提到这一点。"),
    ],
)
async def test_nothing_relevant_is_said_without_asking_anybody(
    services: Services, reports: Mapping[str, Any], fake: FakeProvider, query: str, said: str
) -> None:
    for provider in ("offline", None):
        answer = await answered(services, query, provider=provider)
        assert answer.text == said
        assert answer.evidence.nothing_relevant
        assert (list(answer.evidence.hits), answer.citations) == ([], [])
        assert answer.usage.input_tokens == 0
    assert fake.asked() == 0


async def test_without_reports_level_search_answers_and_the_trace_says_so(
    services: Services, cards: Mapping[str, Any]
) -> None:
    evidence = await find(services, "Where is the boat?")
    assert (evidence.route.level, list(evidence.route.gates)) == (Level.search, ["no_reports"])
    assert "Harbour" in titles(evidence)
    by_router = await find(services, "总览", level=None)
    assert (by_router.route.level, list(by_router.route.gates)) == (Level.search, ["no_reports"])
    assert by_router.insight is None


async def test_the_router_sends_questions_about_everything_here(services: Services, reports: Mapping[str, Any]) -> None:
    evidence = await find(services, "总览", level=None)
    assert (evidence.route.level, list(evidence.route.gates)) == (Level.insight, [])
    assert len(evidence.reports) == len(TOPICS)


async def test_a_card_that_is_gone_is_in_no_answer(
    services: Services, reports: Mapping[str, Any], cards: Mapping[str, uuid.UUID]
) -> None:
    """D10, O2: at once, whatever its reports still say."""
    async with services.database.unit() as session:
        await services.intake.trash_card(session, services.default_workspace, cards["Harbour"])
    for query in ("main themes", "What do my notes say about the boat?"):
        told = await answered(services, query)
        assert "boat" not in told.text.replace("the boat?", "").lower()
        assert "Harbour" not in titles(told.evidence)


async def test_filters_hold_for_what_reports_say(services: Services, reports: Mapping[str, Any]) -> None:
    evidence = await find(services, "main themes", filters=Filters(tags=["sea"]))
    assert titles(evidence) == ["Harbour", "Soup"]
    assert [report["title"] for report in evidence.reports] == ["Boat and harbour", "Soup and dill"]
    assert (await find(services, "main themes", filters=Filters(tags=["no such"]))).nothing_relevant


async def test_other_workspaces_do_not_answer(services: Services, reports: Mapping[str, Any]) -> None:
    """D8."""
    question = Question("main themes", Level.insight)
    evidence = await services.retriever.retrieve(uuid.uuid4(), question)
    assert (list(evidence.reports), list(evidence.hits)) == ([], [])


async def test_reports_behind_the_graph_are_said_to_be(services: Services, reports: Mapping[str, Any]) -> None:
    assert (await answered(services, "main themes")).evidence.degraded == []
    async with services.database.unit() as session:
        await services.intake.submit_card(
            session, services.default_workspace, NewCard(title="News", content="Dario sails with Elena to Denmark.")
        )
    async with services.database.unit() as session:
        from sqlalchemy import text

        await session.execute(
            text("INSERT INTO community_changes (workspace_id) VALUES (:w)"), {"w": services.default_workspace}
        )
    answer = await answered(services, "main themes")
    assert answer.evidence.degraded == ["reports_stale"]
    assert answer.text.endswith("(Some of these overviews were written before the latest changes to the notes.)")
    assert (await answered(services, "总览")).text.endswith("可能没有包含最新的内容。）")


async def test_a_stale_report_is_said_to_be(services: Services, cards: Mapping[str, Any]) -> None:
    await put(services, [Topic("Soup", "S.", ["The soup needs dill and a bay leaf."], is_stale=True), *TOPICS[2:]])
    evidence = await find(services, "main themes")
    assert [report["is_stale"] for report in evidence.reports] == [True, False, False]
    assert "reports_stale" in evidence.degraded
    # Of what is not stale that is not said.
    assert (await find(services, "What do my notes say about tomato plants?")).degraded == []


async def test_search_goes_on_by_words_when_the_embedder_is_down(
    services: Services, reports: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.providers.ports import ProviderDown

    async def down(texts: Any) -> Any:
        raise ProviderDown

    monkeypatch.setattr(services.embedder, "queries", down)
    evidence = await find(services, "What do my notes say about the tomato plants?")
    assert titles(evidence) == ["Garden"]
    assert evidence.degraded == ["embedder_unavailable"]
    assert len((await find(services, "main themes")).reports) == len(TOPICS)


# ------------------------------------------------------------------------------------ with a model


async def test_map_then_reduce(services: Services, reports: Mapping[str, uuid.UUID], fake: FakeProvider) -> None:
    fake.answer = mapping(lambda prompt: json.dumps({"points": [POINT]}))
    answer = await answered(services, "What do my notes say about the boat?", provider=None)
    (prompt,) = maps(fake)
    assert "The boat needs a new mast before the autumn storms." in prompt
    assert fake.asked() == 2
    reduce = fake.exchanges[-1].body["messages"]
    assert POINT["description"] in reduce[-1]["content"]
    assert re.search(r'<source id="1" kind="report" title="Boat and harbour" notes="2(, 3)?">', reduce[-1]["content"])
    assert "A source of kind report condenses many notes" in reduce[0]["content"]
    assert [(one.kind, one.marker) for one in answer.citations] == [("report", "1"), ("card", "2")]
    assert answer.citations[0].id == reports["Boat and harbour"]
    trace = answer.evidence.insight.trace if answer.evidence.insight else {}
    assert (trace["map"], trace["calls"], trace["points"]) == ("model", 1, 1)
    assert answer.usage.input_tokens > trace["input_tokens"] > 0
    assert titles(answer.evidence) == ["Harbour"]


async def test_sloppy_points_are_read_and_bad_ones_counted(
    services: Services, reports: Mapping[str, Any], fake: FakeProvider
) -> None:
    """G1, G2, G10."""
    said = [
        POINT,
        {"description": "x", "score": 0, "reports": ["P1"]},
        {"description": "y", "score": 9, "reports": ["P9"]},
    ]
    fake.answer = mapping(lambda prompt: f"Sure:\n```json\n{json.dumps({'points': said})[:-1]},}}\n```\nAnything else?")
    evidence = (await answered(services, "What do my notes say about the boat?", provider=None)).evidence
    assert evidence.insight is not None
    assert evidence.insight.trace["dropped"] == {"score_0": 1, "no_report": 1}
    assert [point.text for point in evidence.insight.points] == [POINT["description"]]


async def test_no_point_means_no_further_call(
    services: Services, reports: Mapping[str, Any], fake: FakeProvider
) -> None:
    fake.answer = mapping(lambda prompt: '{"points": []}')
    answer = await answered(services, "What do my notes say about the boat?", provider=None)
    assert answer.text == "The notes do not say."
    assert fake.asked() == 1
    assert answer.usage.input_tokens > 0


@pytest.mark.parametrize("said", ["I would rather not.", Said("", fault="500"), Said("", fault="429")])
async def test_where_no_map_call_succeeds_findings_speak_for_themselves(
    services: Services, reports: Mapping[str, Any], fake: FakeProvider, said: str | Said
) -> None:
    """G4: and the answer says that they do."""
    fake.answer = mapping(lambda prompt: said)
    answer = await answered(services, "What do my notes say about the boat?", provider=None)
    assert answer.evidence.degraded == ["map_unavailable"]
    assert answer.evidence.insight is not None
    assert answer.evidence.insight.trace["map"] == "extractive"
    assert titles(answer.evidence) == ["Harbour"]
    assert answer.text == "They keep a boat [1, 2]."


async def many_topics(services: Services) -> None:
    """Twelve topics of a card each, all about boats."""
    made = []
    async with services.database.unit() as session:
        for n in range(12):
            content = f"Boat number {n} has a sail of colour {n}. {'The harbour keeps a record of it. ' * 20}"
            card = await services.intake.submit_card(
                session, services.default_workspace, NewCard(title=f"Boat {n}", content=content)
            )
            made.append(Task(card.id, 1))
    await services.pipeline.ingest(services.default_workspace, made)
    await put(
        services,
        [Topic(f"Boat topic {n}", "boat " * 150, [f"Boat number {n} has a sail of colour {n}."]) for n in range(12)],
    )


class TestCaps:
    @pytest.fixture
    def settings(self, tmp_path: Path, fake: FakeProvider) -> Settings:
        return with_model(
            tmp_path,
            fake,
            insight_map_tokens=1000,
            insight_max_calls=3,
            insight_concurrency=2,
            insight_answer_tokens=200,
        )

    async def test_calls_are_packed_and_capped(self, services: Services, fake: FakeProvider) -> None:
        """J5, O4: no prompt above the limit, no more calls than allowed, and the trace says what was left out."""
        await many_topics(services)
        fake.answer = mapping(lambda prompt: json.dumps({"points": [POINT]}))
        answer = await answered(services, "What do my notes say about the boat?", provider=None)
        told = maps(fake)
        assert len(told) == 3
        assert all(len(prompt) // 4 <= 1000 for prompt in told)
        assert all(prompt.count("<report id=") >= 2 for prompt in told)
        assert answer.evidence.insight is not None
        trace = answer.evidence.insight.trace
        assert trace["calls"] == 3 == trace["max_calls"]
        assert trace["dropped"]["over_the_cap"] >= 1
        assert answer.evidence.degraded == ["map_partial"]

    async def test_retries_count(self, services: Services, fake: FakeProvider) -> None:
        await many_topics(services)
        fake.answer = mapping(lambda prompt: "no json at all")
        answer = await answered(services, "What do my notes say about the boat?", provider=None)
        assert len(maps(fake)) <= 3
        assert answer.evidence.degraded == ["map_unavailable"]


class TestTokens:
    @pytest.fixture
    def settings(self, tmp_path: Path, fake: FakeProvider) -> Settings:
        return with_model(
            tmp_path, fake, insight_map_tokens=1000, insight_max_tokens=6000, insight_reduce_tokens=2000,
            insight_answer_tokens=200,
        )  # fmt: skip

    async def test_the_whole_question_stays_within_its_tokens(self, services: Services, fake: FakeProvider) -> None:
        """J5: map, reduce and answer together."""
        await many_topics(services)
        fake.answer = mapping(lambda prompt: json.dumps({"points": [POINT]}))
        answer = await answered(services, "What do my notes say about the boat?", provider=None)
        assert answer.evidence.insight is not None
        assert answer.evidence.insight.trace["max_tokens"] == 6000
        spent = answer.evidence.insight.input_tokens + answer.evidence.insight.output_tokens
        assert spent <= 4000
        last = fake.exchanges[-1].body
        assert answer.ledger.total_tokens + last.get("max_tokens", 0) + spent <= 6000
        assert answer.usage.input_tokens + answer.usage.output_tokens <= 6000


class TestRating:
    @pytest.fixture
    def settings(self, tmp_path: Path, fake: FakeProvider) -> Settings:
        return with_model(tmp_path, fake, insight_rating=True)

    async def test_a_model_may_rate_the_reports_first(
        self, services: Services, reports: Mapping[str, Any], fake: FakeProvider
    ) -> None:
        def reply(prompt: str) -> str:
            if "summaries" in fake.exchanges[-1].body["messages"][0]["content"]:
                return json.dumps({"ratings": [{"report": "P1", "rating": 0}]})
            return json.dumps({"points": [POINT]})

        fake.answer = mapping(reply)
        answer = await answered(services, "What do my notes say about the boat?", provider=None)
        assert answer.evidence.insight is not None
        assert answer.evidence.insight.trace["dropped"] == {"rated_irrelevant": 1}
        assert answer.text == "The notes do not say."


# -------------------------------------------------------------------------------------- on the wire


async def test_over_http(
    client: httpx.AsyncClient, services: Services, reports: Mapping[str, uuid.UUID], cards: Mapping[str, uuid.UUID]
) -> None:
    body = {"query": "What do my notes say about the boat?", "level": "insight"}
    found = (await client.post(f"{API}/search", json=body)).json()
    assert (found["level"], found["route"]["level"], found["nothing_relevant"]) == ("insight", "insight", False)
    (report,) = found["reports"]
    assert (report["id"], report["title"]) == (str(reports["Boat and harbour"]), "Boat and harbour")
    assert report["points"][0]["card_ids"] == [str(cards["Harbour"])]
    for span in found["hits"][0]["evidence"]:
        assert NOTES["Harbour"][span["start"] : span["end"]] == span["text"]
    assert found["insight"]["calls"] == 0
    asked = (await client.post(f"{API}/ask", json=body | {"provider": "offline"})).json()
    assert {one["kind"] for one in asked["citations"]} == {"report", "card"}
    assert asked["reports"][0]["title"] == "Boat and harbour"
    assert asked["insight"]["asks_for"] == "topic"
    other = (await client.post(f"{API}/search", json=body | {"level": "search"})).json()
    assert (other["reports"], other["insight"]) == ([], None)


async def test_streams_tell_reports_before_the_first_token(
    client: httpx.AsyncClient, services: Services, reports: Mapping[str, Any], fake: FakeProvider
) -> None:
    fake.answer = mapping(lambda prompt: json.dumps({"points": [POINT]}))
    body = {"query": "What do my notes say about the boat?", "level": 4, "stream": True}
    events = await all_told(client, "POST", "/ask", json=body)
    assert events[1].data["level"] == "insight"
    assert [report["title"] for report in events[2].data["reports"]] == ["Boat and harbour"]
    assert text_of(events) == "They keep a boat [1, 2]."
    assert [event.data["kind"] for event in events if event.event == "citation"] == ["report", "card"]


async def test_turns_keep_citations_of_reports(
    client: httpx.AsyncClient, services: Services, reports: Mapping[str, uuid.UUID]
) -> None:
    conversation = (await client.post(f"{API}/conversations", json={"title": "t"})).json()["id"]
    body = {"content": "main themes", "level": "insight", "provider": "offline"}
    turn = (await client.post(f"{API}/conversations/{conversation}/turns", json=body)).json()
    assert {one["id"] for one in turn["citations"] if one["kind"] == "report"} == set(map(str, reports.values()))
    kept = (await client.get(f"{API}/conversations/{conversation}/messages")).json()["items"][-1]
    assert [one["kind"] for one in kept["citations"]].count("report") == len(TOPICS)


async def test_existing_clients_ask_by_the_models_name(
    client: httpx.AsyncClient, services: Services, reports: Mapping[str, Any], fake: FakeProvider
) -> None:
    fake.answer = mapping(lambda prompt: json.dumps({"points": [POINT]}))
    messages = [{"role": "user", "content": "What do my notes say about the boat?"}]
    reply = (await client.post("/v1/chat/completions", json={"model": "mindcone-insight", "messages": messages})).json()
    assert reply["choices"][0]["message"]["content"] == "They keep a boat [1, 2]."
    assert len(maps(fake)) == 1


async def test_the_command_line_shows_reports_as_a_tree(services: Services, reports: Mapping[str, Any]) -> None:
    out = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, ASYNC230
    show.evidence(out, await find(services, "main themes"))
    printed = out.export_text()
    assert re.search(r"├── Boat and harbour .*rating 8", printed)
    assert re.search(r"│   └── Anna and Bruno keep a sailing boat\.\n.*└── card Harbour", printed)


async def test_who_is_asked_for_gets_the_people(services: Services) -> None:
    """Of the graph's own communities; nobody is told of whose cards are filtered away."""
    notes = {
        "Boat": "Anna Berg repaired the Sea Eagle with Peter Klein in Hamburg. Peter Klein paints the Sea Eagle.",
        "Trip": "Anna Berg sailed the Sea Eagle from Hamburg to Bergen. Anna Berg met Peter Klein in Bergen.",
        "Garden": "Clara Weiss planted tomatoes in Granada. Clara Weiss lives in Granada.",
    }
    tasks = []
    async with services.database.unit() as session:
        for title, content in notes.items():
            new = NewCard(title=title, content=content, tags=[title.lower()])
            tasks.append(Task((await services.intake.submit_card(session, services.default_workspace, new)).id, 1))
    await services.pipeline.ingest(services.default_workspace, tasks)
    await services.communities.rebuild(services.default_workspace, is_full=True)
    answer = await answered(services, "Who are the main people in my notes?")
    assert "**Anna Berg**: Anna Berg" in answer.text
    assert "Named together with Peter Klein" in answer.text
    assert "**Clara Weiss**" in answer.text
    assert "**Sea Eagle" not in answer.text
    evidence = await find(services, "Who are the main people in my notes?", filters=Filters(tags=("garden",)))
    assert evidence.insight is not None
    assert [point.title for point in evidence.insight.points] == ["Clara Weiss"]
