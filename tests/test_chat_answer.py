"""The answer step on real cards: offline in both languages, and with a model that does as it is told or not."""

from __future__ import annotations

import uuid
from contextlib import aclosing
from pathlib import Path

import pytest

from app.chat.answer import Answer, AnswerEvent, Ask, Draft, Routed, Token
from app.chat.prompt import QuestionTooLong, Turn
from app.ingestion.queries import Task
from app.ingestion.submit import NewCard
from app.providers import ports
from app.providers.fake import FakeProvider
from app.retrieval.types import Level
from app.settings import Settings
from app.wiring import Services
from tests.chat_client import with_model

pytest_plugins = ("tests.api_client", "tests.chat_client")

FERRY = "# Ferry\n\nThe ferry to Hiddensee leaves at nine in the morning. It needs forty minutes.\n"
TEA = "# 龙井茶\n\n龙井茶产于杭州西湖。泡龙井茶的水温是八十度。\n"
PLANTS = "# Plants\n\nThe fern on the balcony needs water twice a week.\n"


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    return with_model(tmp_path, fake)


@pytest.fixture
async def cards(services: Services) -> dict[uuid.UUID, str]:
    """Content by card id, after the real pipeline."""
    made: dict[uuid.UUID, str] = {}
    async with services.database.unit() as session:
        for title, content in (("Ferry", FERRY), ("龙井茶", TEA), ("Plants", PLANTS)):
            card = await services.intake.submit_card(
                session, services.default_workspace, NewCard(title=title, content=content)
            )
            made[card.id] = content
    await services.pipeline.ingest(services.default_workspace, [Task(card_id, 1) for card_id in made])
    return made


async def asked(services: Services, query: str, **more: object) -> tuple[list[AnswerEvent], Answer]:
    ask = Ask(query, **({"provider": "offline"} | more))  # type: ignore[arg-type]
    async with aclosing(services.answering.stream(services.default_workspace, ask)) as events:
        heard = [event async for event in events]
    assert isinstance(heard[-1], Answer)
    return heard, heard[-1]


@pytest.mark.parametrize(
    ("query", "sentence", "language"),
    [
        (
            "When does the ferry to Hiddensee leave?",
            "The ferry to Hiddensee leaves at nine in the morning.",
            "From your",
        ),
        ("泡龙井茶的水温是多少？", "泡龙井茶的水温是八十度。", "根据你的笔记"),
    ],
)
async def test_the_offline_answer_quotes_and_cites(
    services: Services, cards: dict[uuid.UUID, str], query: str, sentence: str, language: str
) -> None:
    heard, answer = await asked(services, query)
    assert [type(event) for event in heard] == [Routed, *[Token] * (len(heard) - 2), Answer]
    assert "".join(event.text for event in heard if isinstance(event, Token)) == answer.text
    assert answer.text.startswith(language)
    assert sentence in answer.text
    assert answer.is_complete
    assert answer.removed_citations == 0
    assert answer.evidence.level is Level.explore
    assert answer.citations
    for citation in answer.citations:
        assert f"{citation.quote} [{citation.marker}]" in answer.text
        assert cards[citation.id][citation.start : citation.end] == citation.quote
    assert answer.usage.output_tokens > 0
    assert answer.timings_ms["total"] >= answer.timings_ms["first_token"] > 0
    assert answer.ledger.buckets["retrieved_cards"]["packed"]


async def test_nothing_found_is_said_honestly(services: Services) -> None:
    _, answer = await asked(services, "Where is the lighthouse?", level=Level.search)
    assert answer.evidence.nothing_relevant
    assert answer.text.startswith("The notes at hand do not say.")
    assert answer.citations == []
    _, answer = await asked(services, "灯塔在哪里？", level=Level.search)
    assert answer.text.startswith("手头的笔记没有提到这一点。")


async def test_chat_looks_nothing_up(services: Services, cards: dict[uuid.UUID, str], fake: FakeProvider) -> None:
    _, answer = await asked(services, "你好")
    assert answer.evidence.level is Level.chat
    assert answer.evidence.route.reason == "small_talk"
    assert answer.citations == []
    _, answer = await asked(services, "Which ferry?", level=Level.chat, provider=None)
    assert answer.text == "You said: Which ferry?"
    assert "No notes were looked up" in fake.exchanges[-1].body["messages"][0]["content"]


async def test_a_card_that_is_only_a_title_is_cited_without_a_place(services: Services) -> None:
    async with services.database.unit() as session:
        card = await services.intake.submit_card(
            session, services.default_workspace, NewCard(title="The lighthouse stands on the Dornbusch", content="")
        )
    await services.pipeline.ingest(services.default_workspace, [Task(card.id, 1)])
    _, answer = await asked(services, "Where does the lighthouse stand?", level=Level.search)
    assert [(citation.quote, citation.start, citation.end) for citation in answer.citations] in (
        [],
        [("The lighthouse stands on the Dornbusch", None, None)],
    )


async def test_the_model_sees_sources_and_history(
    services: Services, cards: dict[uuid.UUID, str], fake: FakeProvider
) -> None:
    history = (Turn("user", "Hi {x}"), Turn("assistant", "Hello %s"))
    fake.answer = lambda body: "It leaves at nine [1], says nobody [77]."
    heard, answer = await asked(
        services, "When does the ferry leave?", provider=None, history=history, instructions="Rhyme.", temperature=0.5
    )
    assert answer.text == "It leaves at nine [1], says nobody."
    assert "".join(event.text for event in heard if isinstance(event, Token)) == answer.text
    assert (len(answer.citations), answer.removed_citations) == (1, 1)
    assert (answer.provider, answer.model) == ("custom", "default")
    body = fake.exchanges[-1].body
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
    assert body["messages"][0]["content"].endswith("Rhyme.")
    assert body["messages"][1]["content"] == "Hi {x}"
    assert "The ferry to Hiddensee leaves at nine" in body["messages"][3]["content"]
    assert body["messages"][3]["content"].endswith("Question: When does the ferry leave?")
    assert body["temperature"] == 0.5
    assert body["max_tokens"] == 2048


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("fault:cut", "truncated"),
        ("fault:no-end", "truncated"),
        ("fault:length", "length"),
        ("fault:content-filter", "content_filter"),
        ("fault:tool", "tool_calls"),
    ],
)
async def test_only_the_models_own_end_is_complete(services: Services, model: str, reason: str) -> None:
    _, answer = await asked(services, "One two three four", provider=None, model=model, level=Level.chat)
    assert (answer.stop_reason, answer.is_complete) == (reason, False)


async def test_what_no_database_can_store_is_cleaned(services: Services) -> None:
    """A8, K7."""
    _, answer = await asked(services, "Hi", provider=None, model="fault:nul")
    assert answer.text == "ab😀 c"
    _, answer = await asked(services, "One two", provider=None, model="fault:nulls", level=Level.chat)
    assert answer.text == "You said: One two"


async def test_an_error_leaves_what_was_said_in_the_draft(services: Services) -> None:
    """K8."""
    draft = Draft()
    ask = Ask("One two three four", provider="custom", model="fault:error,after=3", level=Level.chat)
    with pytest.raises(ports.ProviderError):
        async for _ in services.answering.stream(services.default_workspace, ask, draft):
            pass
    assert draft.citer.text + draft.citer.close() == "You said:"
    assert draft.evidence is not None
    assert draft.ledger is not None


class TestTinyWindow:
    @pytest.fixture
    def settings(self, tmp_path: Path, fake: FakeProvider) -> Settings:
        return with_model(tmp_path, fake, chat_context_tokens=512)

    async def test_the_prompt_and_the_answer_fit(
        self, services: Services, cards: dict[uuid.UUID, str], fake: FakeProvider
    ) -> None:
        _, answer = await asked(services, "When does the ferry leave?", provider=None)
        assert answer.ledger.total_tokens <= answer.ledger.window_tokens == 256
        assert fake.exchanges[-1].body["max_tokens"] == 256
        await asked(services, "When does the ferry leave?", provider=None, max_tokens=10)
        assert fake.exchanges[-1].body["max_tokens"] == 10

    async def test_a_question_that_does_not_fit_costs_nothing(self, services: Services, fake: FakeProvider) -> None:
        with pytest.raises(QuestionTooLong):
            await asked(services, "word " * 600, provider=None)
        assert fake.asked() == 0
