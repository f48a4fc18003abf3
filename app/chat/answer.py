"""The answer step that serves every level: evidence in, events out.

One question, from routing to the last token, with no session open while a model speaks.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from app.budget.count import counter_for
from app.chat.citations import Citable, Citation, Citer
from app.chat.prompt import Ledger, Prompt, Turn, lay_out
from app.chat.settings import AnswerSettings
from app.providers.ports import ChatProvider, ChatRequest, Finished, StopReason, Usage
from app.providers.registry import ChatProviders
from app.retrieval.retrieve import Retriever
from app.retrieval.types import Evidence, Filters, Hit, Level, Question, Span


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
    """A piece of the answer; all pieces together are its text."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole answer. Its every marker points to something."""

    text: str
    citations: Sequence[Citation]
    removed_citations: int
    evidence: Evidence
    ledger: Ledger
    usage: Usage
    provider: str
    model: str
    stop_reason: StopReason
    timings_ms: dict[str, float]

    @property
    def is_complete(self) -> bool:
        """Whether the model came to its own end."""
        return self.stop_reason == "stop"


AnswerEvent = Routed | Token | Answer


@dataclass(slots=True)
class Draft:
    """An answer in the making, for whoever keeps it when it is broken off."""

    evidence: Evidence | None = None
    ledger: Ledger | None = None
    citer: Citer = field(default_factory=lambda: Citer({}))


class Answering:
    def __init__(self, retriever: Retriever, providers: ChatProviders, settings: AnswerSettings) -> None:
        self._retriever = retriever
        self._providers = providers
        self._settings = settings

    async def open(self) -> None:
        """Read the vocabulary of the model that is usually asked, which would hold up others later."""
        provider = self._providers.get_provider()
        await asyncio.to_thread(_read_vocabulary, provider.name, provider.default_model)

    async def stream(
        self, workspace_id: uuid.UUID, ask: Ask, draft: Draft | None = None
    ) -> AsyncGenerator[AnswerEvent]:
        """`Routed`, then `Token`s, then one `Answer`. Closing the iterator ends the model's call.

        Raises NotFound for an unknown provider, QuestionTooLong, ProviderError.
        """
        started = time.perf_counter()
        draft = draft or Draft()
        provider = self._providers.get_provider(ask.provider)
        model = ask.model or provider.default_model
        question = Question(ask.query, ask.level, ask.limit or self._settings.answer_limit, ask.filters)
        draft.evidence = evidence = await self._retriever.retrieve(workspace_id, question)
        yield Routed(evidence)

        window = provider.capabilities(model).context_window
        # A small window leaves at least half of itself to the prompt.
        reserve = min(self._settings.answer_reserve_tokens, window // 2)
        budget = min(self._settings.answer_total_tokens, window - reserve)
        # A vocabulary may have to be read, and a long history to be counted.
        prompt = await asyncio.to_thread(_lay_out, ask, evidence, provider, model, budget)
        draft.ledger = prompt.ledger
        draft.citer = citer = Citer(prompt.citable)
        retrieved = time.perf_counter()
        first: float | None = None
        end = Finished("truncated")
        request = ChatRequest(
            messages=prompt.messages,
            model=model,
            max_tokens=min(ask.max_tokens or reserve, reserve),
            temperature=ask.temperature,
            question=ask.query,
            sources=prompt.sources,
        )
        async with aclosing(provider.stream(request)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    end = event
                    continue
                first = first or time.perf_counter()
                if text := citer.feed(event.text):
                    yield Token(text)
        if text := citer.close():
            yield Token(text)
        done = time.perf_counter()
        yield Answer(
            text=citer.text,
            citations=citer.citations,
            removed_citations=citer.removed,
            evidence=evidence,
            ledger=prompt.ledger,
            usage=end.usage,
            provider=provider.name,
            model=model,
            stop_reason=end.reason,
            timings_ms={
                **evidence.timings_ms,
                "first_token": _ms(started, first or done),
                "answer": _ms(retrieved, done),
                "total": _ms(started, done),
            },
        )


def _read_vocabulary(provider: str, model: str) -> None:
    counter_for(provider, model).count("a")


def _lay_out(ask: Ask, evidence: Evidence, provider: ChatProvider, model: str, budget: int) -> Prompt:
    return lay_out(
        ask.query,
        citable(evidence),
        ask.history,
        budget_tokens=budget,
        counter=counter_for(provider.name, model),
        grounded=evidence.level is not Level.chat,
        extra_instructions=ask.instructions,
    )


def citable(evidence: Evidence) -> list[Citable]:
    """The passages of the evidence as numbered sources: the best one of every card, then the second ones, and so on."""
    told = [(hit, _passages(hit)) for hit in evidence.hits]
    deepest = max((len(spans) for _, spans in told), default=0)
    passages = [(hit, spans[nth]) for nth in range(deepest) for hit, spans in told if nth < len(spans)]
    return [
        Citable(
            marker=str(number),
            kind="card",
            id=hit.card.id,
            title=hit.card.title,
            # A card that is nothing but its title has no passage to point to.
            text=span.text or hit.card.title,
            chunk_id=span.chunk_id,
            start=span.start if span.text else None,
            end=span.end if span.text else None,
            score=span.score,
            focus=(span.focus[0] - span.start, span.focus[1] - span.start) if span.focus and span.text else None,
        )
        for number, (hit, span) in enumerate(passages, 1)
    ]


def _passages(hit: Hit) -> Sequence[Span]:
    """Chunks, with the claim in each that matched best: a claim is cited by its place, and read in its passage."""
    return [span for span in hit.evidence if span.kind == "chunk"] or hit.evidence


def _ms(start: float, end: float) -> float:
    return round((end - start) * 1000, 3)
