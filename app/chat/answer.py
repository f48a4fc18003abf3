"""The answer step that serves every level: evidence in, events out.

One question, from routing to the last token, with no session open while a model speaks.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from app.budget.count import counter_for
from app.chat.citations import Citable, Citation, cite
from app.chat.prompt import Ledger, Prompt, Turn, lay_out
from app.chat.settings import AnswerSettings
from app.providers.ports import ChatRequest, Finished, StopReason, Text, Usage
from app.providers.registry import ChatProviders
from app.retrieval.retrieve import Retriever
from app.retrieval.types import Evidence, Filters, Level, Question


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked, of whom. `history` is oldest first and does not hold the question."""

    query: str
    level: Level | None = None
    limit: int | None = None
    filters: Filters = field(default_factory=Filters)
    provider: str | None = None
    model: str | None = None
    history: Sequence[Turn] = ()
    instructions: str = ""
    max_tokens: int | None = None
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Routed:
    """The level is settled and its evidence is here."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer as the model says it; markers that point nowhere are still in it."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole answer. `stop_reason` is `stop` only when the model came to its own end."""

    text: str
    citations: Sequence[Citation]
    evidence: Evidence
    ledger: Ledger
    usage: Usage
    provider: str
    model: str
    stop_reason: StopReason
    removed_citations: int
    timings_ms: dict[str, float]

    @property
    def complete(self) -> bool:
        return self.stop_reason in ("stop", "tool_calls")


AnswerEvent = Routed | Token | Answer


class Answering:
    def __init__(self, retriever: Retriever, providers: ChatProviders, settings: AnswerSettings) -> None:
        self._retriever = retriever
        self._providers = providers
        self._settings = settings

    async def stream(self, workspace_id: uuid.UUID, ask: Ask) -> AsyncIterator[AnswerEvent]:
        """`Routed`, then `Token`s, then one `Answer`. Closing the iterator ends the model's call.

        Raises NotFound for an unknown provider, QuestionTooLong, ProviderError.
        """
        started = time.perf_counter()
        provider = self._providers.get_provider(ask.provider)
        model = ask.model or provider.default_model
        question = Question(ask.query, ask.level, ask.limit or self._settings.answer_limit, ask.filters)
        evidence = await self._retriever.retrieve(workspace_id, question)
        yield Routed(evidence)

        prompt = self._lay_out(ask, evidence, provider.name, model, provider.capabilities(model).context_window)
        retrieved = time.perf_counter()
        first: float | None = None
        said: list[str] = []
        end = Finished("truncated")
        request = ChatRequest(
            messages=prompt.messages,
            model=model,
            max_tokens=min(
                ask.max_tokens or self._settings.answer_reserve_tokens, self._settings.answer_reserve_tokens
            ),
            temperature=ask.temperature,
            question=ask.query,
            sources=prompt.sources,
        )
        async with aclosing(provider.stream(request)) as events:  # type: ignore[type-var]
            async for event in events:
                if isinstance(event, Text):
                    first = first or time.perf_counter()
                    said.append(event.text)
                    yield Token(event.text)
                else:
                    end = event
        cited = cite("".join(said), prompt.citable)
        done = time.perf_counter()
        yield Answer(
            text=cited.text,
            citations=cited.citations,
            evidence=evidence,
            ledger=prompt.ledger,
            usage=end.usage,
            provider=provider.name,
            model=model,
            stop_reason=end.reason,
            removed_citations=cited.removed,
            timings_ms={
                **evidence.timings_ms,
                "first_token": _ms(started, first or done),
                "answer": _ms(retrieved, done),
                "total": _ms(started, done),
            },
        )

    def _lay_out(self, ask: Ask, evidence: Evidence, provider: str, model: str, window: int) -> Prompt:
        settings = self._settings
        # A small window leaves at least half of itself to the prompt.
        reserve = min(settings.answer_reserve_tokens, window // 2)
        return lay_out(
            ask.query,
            citable(evidence),
            ask.history,
            budget_tokens=min(settings.answer_total_tokens, window - reserve),
            count=counter_for(provider, model).count,
            grounded=evidence.level is not Level.chat,
            extra_instructions=ask.instructions,
        )


def citable(evidence: Evidence) -> list[Citable]:
    """The evidence as numbered sources, best first; a card gives its passages, not itself."""
    spans = [(hit, span) for hit in evidence.hits for span in hit.evidence]
    # A card's second passage comes after every card's first.
    order = sorted(range(len(spans)), key=lambda at: (_nth_of_card(spans, at), spans[at][0].rank))
    return [
        Citable(
            marker=str(number),
            kind="card",
            id=spans[at][0].card.id,
            title=spans[at][0].card.title,
            text=spans[at][1].text or spans[at][0].card.title,
            chunk_id=spans[at][1].chunk_id,
            start=spans[at][1].start,
            end=spans[at][1].end,
            score=spans[at][1].score,
        )
        for number, at in enumerate(order, 1)
    ]


def _nth_of_card(spans: Sequence[tuple[Any, Any]], at: int) -> int:
    return sum(1 for before in range(at) if spans[before][0] is spans[at][0])


def _ms(start: float, end: float) -> float:
    return round((end - start) * 1000, 3)
