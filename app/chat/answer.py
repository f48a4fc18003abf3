"""The answer step that serves every level: evidence in, events out.

One question, from routing to the last token, with no session open while a model speaks.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from app.budget.correct import Corrections
from app.budget.count import Remembering, TokenCounter, counter_for
from app.budget.ledger import Ledger
from app.chat.blocks import Note, Turn
from app.chat.citations import Citable, Citation, Citer
from app.chat.connections import connections
from app.chat.insight import behind_note, nothing_said, with_reports
from app.chat.prompt import Prompt, lay_out
from app.chat.rounds import Rounds
from app.chat.settings import AnswerSettings
from app.chat.shown import saying
from app.chat.toolbox import Called, Toolbox
from app.chat.tools import Tool, ToolContext
from app.core.log import get
from app.providers.ports import (
    ChatRequest,
    Message,
    ProviderError,
    Source,
    StopReason,
    ToolSpec,
    Usage,
)
from app.providers.registry import ChatProviders
from app.providers.whole import whole_text
from app.retrieval.retrieve import Retriever
from app.retrieval.types import Evidence, Filters, Hit, Level, Question, Span

log = get(__name__)

# Who condenses turns that do not fit: costs nothing and is always there.
OFFLINE: Final = "offline"
_CONDENSED_TURNS: Final = 50
_CONDENSED_CHARS: Final = 4000
_SUMMARY_FRAME_TOKENS: Final = 12


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked, of whom. `history` is oldest first and does not hold the question. `memories` get their markers
    here; `insights` of other branches and `topology`, where this one stands, are told as data, and so is `before`, what
    the conversation came to before the history. `context_cards` were cited on the way here. `told` is what a question
    about the conversation itself is answered from. `tools` are offered to models that can call them, in the name of
    `context`.
    """

    query: str
    level: Level | None = None
    limit: int | None = None
    filters: Filters = field(default_factory=Filters)
    provider: str | None = None
    model: str | None = None
    history: Sequence[Turn] = ()
    memories: Sequence[Citable] = ()
    insights: Sequence[Note] = ()
    topology: Sequence[Note] = ()
    before: str = ""
    context_cards: Sequence[uuid.UUID] = ()
    told: Sequence[Note] = ()
    tools: Sequence[Tool] = ()
    context: ToolContext | None = None
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
class Calling:
    """A tool is about to be called; whoever keeps the answer keeps that first."""

    called: Called


@dataclass(frozen=True, slots=True)
class CallEnded:
    """What came of a call."""

    called: Called


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole answer. Its every marker points to something. `insights` and `memories` were in its prompt."""

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
    tool_calls: Sequence[Called] = ()
    insights: Sequence[Note] = ()
    memories: Sequence[uuid.UUID] = ()
    is_tainted: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether the model came to its own end."""
        return self.stop_reason == "stop"


@dataclass(frozen=True, slots=True)
class Room:
    """A model's window: what it holds, what is kept for the answer, what tools take, what is left to the prompt
    (`window_tokens`, where the budget allows it) and how much of that stays free, because tokens are estimated.
    `calls_tokens` of it are left to calls of tools and their results.
    """

    context_tokens: int
    reserve_tokens: int
    tools_tokens: int
    window_tokens: int
    margin_tokens: int
    calls_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        return self.window_tokens - self.margin_tokens


AnswerEvent = Routed | Token | Calling | CallEnded | Answer


@dataclass(slots=True)
class Draft:
    """An answer in the making, for whoever keeps it when it is broken off."""

    evidence: Evidence | None = None
    ledger: Ledger | None = None
    citer: Citer = field(default_factory=lambda: Citer({}))
    calls: Sequence[Called] = ()
    is_tainted: bool = False


class Answering:
    def __init__(self, retriever: Retriever, providers: ChatProviders, settings: AnswerSettings) -> None:
        self._retriever = retriever
        self._providers = providers
        self._settings = settings
        self._counters = Corrections()

    async def open(self) -> None:
        """Read the vocabulary of the model that is usually asked, which would hold up others later."""
        provider = self._providers.get_provider()
        await asyncio.to_thread(_read_vocabulary, provider.name, provider.default_model)

    async def stream(
        self, workspace_id: uuid.UUID, ask: Ask, draft: Draft | None = None
    ) -> AsyncGenerator[AnswerEvent]:
        """`Routed`, then `Token`s and calls of tools, then one `Answer`. Closing the iterator ends the model's call.

        Raises NotFound for an unknown provider, QuestionTooLong, ProviderError.
        """
        started = time.perf_counter()
        draft = draft or Draft()
        provider = self._providers.get_provider(ask.provider)
        model = ask.model or provider.default_model
        able = provider.capabilities(model)
        question = Question(
            ask.query,
            ask.level,
            ask.limit or self._settings.answer_limit,
            ask.filters,
            context_cards=ask.context_cards,
            about_conversation=bool(ask.told),
            # Without a model findings are scored by themselves.
            reader=None if provider.name == OFFLINE else provider,
            reader_model=model,
        )
        draft.evidence = evidence = await self._retriever.retrieve(workspace_id, question)
        yield Routed(evidence)

        insight = evidence.insight
        # What a question of level insight may cost is settled: nothing is called on the way.
        tools = ask.tools if able.tools and ask.context and insight is None else ()
        toolbox = Toolbox(tools, self._settings)
        draft.calls = toolbox.calls
        counter = Remembering(self._counters.counter(provider.name, model))
        # A vocabulary may have to be read, and a long history to be counted.
        most = None if insight is None else insight.prompt_tokens
        room = await asyncio.to_thread(self._room, able.context_window, toolbox.specs, counter, most)
        prompt = await self._lay_out(ask, evidence, room, counter)
        draft.ledger = prompt.ledger
        tainted = is_tainted(ask, evidence, prompt)
        draft.is_tainted = tainted
        draft.citer = citer = saying(prompt, is_tainted=tainted)
        toolbox.hide = citer.may_be_shown.hide
        retrieved = time.perf_counter()
        first: float | None = None
        rounds = Rounds(
            provider=provider,
            request=ChatRequest(
                messages=prompt.messages,
                model=model,
                max_tokens=min(ask.max_tokens or room.reserve_tokens, room.reserve_tokens),
                temperature=ask.temperature,
                tools=toolbox.specs,
                question=ask.query,
                sources=prompt.sources,
                told=_told(ask, evidence),
            ),
            settings=self._settings,
            counter=counter,
            prompt_tokens=room.prompt_tokens,
            toolbox=toolbox,
            context=replace(ask.context, is_tainted=tainted) if ask.context else None,
            said=citer.settle,
        )
        prompt.ledger.rounds = rounds.counted
        begun: set[int] = set()
        speaks = rounds.speak()
        if insight is not None and evidence.nothing_relevant:
            rounds.reason = "stop"
            speaks = _said(nothing_said(ask.query))
        async with aclosing(speaks) as events:
            async for event in events:
                if isinstance(event, Called):
                    if text := citer.take():
                        yield Token(text)
                    is_news = id(event) not in begun
                    begun.add(id(event))
                    if is_news:
                        yield Calling(event)
                    if event.state != "running":
                        yield CallEnded(event)
                    continue
                first = first or time.perf_counter()
                if text := citer.feed(event):
                    yield Token(text)
        if insight is not None and insight.is_behind and (text := citer.feed(behind_note(ask.query))):
            yield Token(text)
        if text := citer.close():
            yield Token(text)
        done = time.perf_counter()
        asked = (provider.name, model)
        # Another's count of tokens says nothing of this model's vocabulary.
        if rounds.speakers[:1] in ([], [asked]):
            await asyncio.to_thread(self._learn, *asked, prompt, rounds.first_usage)
        speaker, spoken_model = rounds.speakers[-1] if rounds.speakers else asked
        yield Answer(
            text=citer.text,
            citations=citer.citations,
            removed_citations=citer.removed,
            evidence=evidence,
            ledger=prompt.ledger,
            usage=_with_map(rounds.usage, evidence),
            provider=speaker,
            model=spoken_model,
            stop_reason=rounds.reason,
            timings_ms={
                **evidence.timings_ms,
                "first_token": _ms(started, first or done),
                "answer": _ms(retrieved, done),
                "total": _ms(started, done),
            },
            tool_calls=toolbox.calls,
            insights=prompt.insights,
            memories=[one.id for one in prompt.citable.values() if one.kind == "memory"],
            is_tainted=tainted,
        )

    def _room(
        self, window_tokens: int, tools: Sequence[ToolSpec], counter: TokenCounter, most: int | None = None
    ) -> Room:
        """How a model's window is divided, or `most` tokens of it. A small one leaves at least half of itself to the
        prompt.
        """
        window_tokens = window_tokens if most is None else min(window_tokens, most)
        reserve = min(self._settings.answer_reserve_tokens, window_tokens // 2)
        tools_tokens = sum(counter.count(json.dumps(asdict(tool), ensure_ascii=False)) for tool in tools)
        left = max(min(self._settings.answer_total_tokens, window_tokens - reserve - tools_tokens), 0)
        margin = 0 if counter.is_exact else int(left * self._settings.answer_margin_share)
        calls = min(self._settings.tool_room_tokens, (left - margin) // 4) if tools else 0
        return Room(window_tokens, reserve, tools_tokens, left, margin, calls)

    async def _lay_out(self, ask: Ask, evidence: Evidence, room: Room, counter: TokenCounter) -> Prompt:
        """The prompt; when turns do not fit, with what they came to in their place."""
        prompt = await asyncio.to_thread(self._laid_out, ask, evidence, room, counter)
        if prompt.left_out and prompt.summary_tokens:
            summary = await self._condensed(prompt.left_out, prompt.summary_tokens, counter)
            if summary:
                return await asyncio.to_thread(self._laid_out, ask, evidence, room, counter, summary)
        return prompt

    def _laid_out(self, ask: Ask, evidence: Evidence, room: Room, counter: TokenCounter, summary: str = "") -> Prompt:
        sources = citable(evidence)
        prompt = lay_out(
            ask.query,
            sources,
            ask.history,
            budget_tokens=room.prompt_tokens - room.calls_tokens,
            counter=counter,
            grounded=evidence.level is not Level.chat,
            extra_instructions=ask.instructions,
            connections=connections(evidence.hits),
            memories=[replace(one, marker=str(n)) for n, one in enumerate(ask.memories, len(sources) + 1)],
            insights=ask.insights,
            topology=ask.topology,
            shares=self._settings.budget_shares,
            summary=summary,
            summary_tokens=self._settings.budget_summary_tokens,
            before=ask.before,
        )
        ledger = prompt.ledger
        ledger.context_tokens, ledger.reserve_tokens = room.context_tokens, room.reserve_tokens
        ledger.window_tokens, ledger.margin_tokens = room.window_tokens, room.margin_tokens
        ledger.tools_tokens, ledger.calls_tokens = room.tools_tokens, room.calls_tokens
        return prompt

    async def _condensed(self, turns: Sequence[Turn], max_tokens: int, counter: TokenCounter) -> str:
        """The turns' main points, nothing where that cannot be had: the answer does not wait for it."""
        said = [Message(turn.role, turn.content[:_CONDENSED_CHARS]) for turn in turns[-_CONDENSED_TURNS:]]
        request = ChatRequest(messages=said, max_tokens=max_tokens, purpose="summarise")
        try:
            text = await whole_text(self._providers.get_provider(OFFLINE), request)
        except ProviderError as error:
            log.warning("turns_not_condensed", code=error.code)
            return ""
        # The tags around it are counted, too.
        return counter.truncate(text, max(max_tokens - _SUMMARY_FRAME_TOKENS, 0)).strip()

    def _learn(self, provider: str, model: str, prompt: Prompt, usage: Usage) -> None:
        if not usage.estimated and usage.input_tokens > 0:
            text = "\n".join(message.content for message in prompt.messages)
            counted = prompt.ledger.total_tokens + prompt.ledger.tools_tokens
            self._counters.learn(provider, model, text, counted, usage.input_tokens)


def _read_vocabulary(provider: str, model: str) -> None:
    counter_for(provider, model).count("a")


def is_tainted(ask: Ask, evidence: Evidence, prompt: Prompt) -> bool:
    """Whether text that nobody vouches for is in the prompt: found now, told by other branches, or repeated by answers
    of the past. What did not fit counts, too.
    """
    return bool(
        evidence.hits
        or prompt.insights
        or prompt.topology
        or ask.before
        or any(one.kind != "memory" for one in prompt.citable.values())
        or any(turn.is_tainted for turn in ask.history)
    )


def _told(ask: Ask, evidence: Evidence) -> list[Source]:
    """What was said in the conversation, where the question is about that."""
    if evidence.level is not Level.context:
        return []
    return [Source("", note.label, note.text, note.score) for note in ask.told]


async def _said(text: str) -> AsyncGenerator[str | Called]:
    """What needs no model."""
    yield text


def _with_map(usage: Usage, evidence: Evidence) -> Usage:
    """With what level insight asked of the model before the answer."""
    insight = evidence.insight
    if insight is None:
        return usage
    return replace(
        usage,
        input_tokens=usage.input_tokens + insight.input_tokens,
        output_tokens=usage.output_tokens + insight.output_tokens,
    )


def citable(evidence: Evidence) -> list[Citable]:
    """The evidence as numbered sources: what reports say, then passages of cards."""
    if evidence.insight is None:
        return _citable_passages(evidence.hits)
    return with_reports(evidence.insight, _citable_passages([*evidence.hits, *evidence.insight.behind]))


def _citable_passages(hits: Sequence[Hit]) -> list[Citable]:
    """The passages as numbered sources: the best one of every card, then the second ones, and so on."""
    told = [(hit, _passages(hit)) for hit in hits]
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
