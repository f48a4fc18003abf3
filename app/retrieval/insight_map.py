"""The map of level insight: reports in, points out, some calls of a model at a time and never more than allowed.

Holds no session. What a call does not give is counted and left out; what a question may cost is taken from one purse.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.core.log import get
from app.providers.json_answer import Spent, ask_json
from app.providers.ladder import NotJson, Wanted
from app.providers.ports import ChatProvider, ChatRequest, Message, ProviderError
from app.providers.spoken import estimate_prompt_tokens
from app.retrieval.insight_points import Point, is_points, read_points
from app.retrieval.insight_prompt import (
    MAP_SCHEMA,
    RATE_SCHEMA,
    CountTokens,
    batches,
    is_ratings,
    map_messages,
    rate_messages,
    read_ratings,
)
from app.retrieval.insight_reports import Report
from app.retrieval.settings import RetrievalSettings

log = get(__name__)

_RATED_AT_ONCE: Final = 20
_RATE_ANSWER_TOKENS: Final = 800


@dataclass(slots=True)
class Purse:
    """What one question may still cost. What a call may take is set aside before it; the rest of that comes back."""

    max_calls: int
    max_tokens: int
    spent: Spent = field(default_factory=Spent)
    _set_aside: int = 0
    _calls: int = 0

    def take(self, tokens: int) -> bool:
        if self._calls >= self.max_calls or self.spent.tokens + self._set_aside + tokens > self.max_tokens:
            return False
        self._calls += 1
        self._set_aside += tokens
        return True

    def settle(self, taken: int, spent: Spent) -> None:
        self._set_aside -= taken
        self.spent.calls += spent.calls
        self.spent.input_tokens += spent.input_tokens
        self.spent.output_tokens += spent.output_tokens


@dataclass(slots=True)
class Mapped:
    """Points in the order of the reports; `dropped` by reason; `failed` calls of `asked`."""

    points: list[Point] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    failed: int = 0

    @property
    def nobody_answered(self) -> bool:
        return self.failed == self.asked


class Mapper:
    """One question's calls of one model."""

    def __init__(
        self,
        provider: ChatProvider,
        model: str | None,
        settings: RetrievalSettings,
        count: CountTokens,
        purse: Purse,
    ) -> None:
        self._provider = provider
        self._model = model
        self._settings = settings
        self._count = count
        self._purse = purse
        self._permits = asyncio.Semaphore(settings.insight_concurrency)

    async def points(self, question: str, reports: Sequence[Report]) -> Mapped:
        """What the reports say to the question. Never raises what a provider raises: failed calls are counted."""
        # Packing reads a vocabulary.
        packed = await asyncio.to_thread(batches, reports, self._call_tokens(question), self._count)
        mapped = Mapped(asked=len(packed))
        asked = [map_messages(question, batch) for batch in packed]
        said = await asyncio.gather(
            *(self._ask(messages, MAP_SCHEMA, is_points, self._settings.insight_answer_tokens) for messages, _ in asked)
        )
        for (_, numbered), one in zip(asked, said, strict=True):
            if not isinstance(one, dict):
                mapped.failed += 1
                mapped.dropped[one] += 1
                continue
            read = read_points(one, numbered)
            mapped.points += read.points
            mapped.dropped += read.dropped
        return mapped

    async def relevant(self, question: str, reports: Sequence[Report]) -> list[Report]:
        """Those that the model rates at the threshold or above; all of which it says nothing."""
        groups = [reports[start : start + _RATED_AT_ONCE] for start in range(0, len(reports), _RATED_AT_ONCE)]
        asked = [rate_messages(question, group) for group in groups]
        said = await asyncio.gather(
            *(self._ask(messages, RATE_SCHEMA, is_ratings, _RATE_ANSWER_TOKENS) for messages, _ in asked)
        )
        kept: list[Report] = []
        for (_, numbered), one in zip(asked, said, strict=True):
            ratings = read_ratings(one, numbered) if isinstance(one, dict) else {}
            least = self._settings.insight_least_rating
            kept += [report for name, report in numbered.items() if ratings.get(name, least) >= least]
        return kept

    def _call_tokens(self, question: str) -> int:
        """Of reports in one call: instructions, schema and question go from what a call may be."""
        messages, _ = map_messages(question, [])
        room = self._provider.capabilities(self._model).context_window - self._settings.insight_answer_tokens
        frame = estimate_prompt_tokens(messages) + 300
        return max(min(self._settings.insight_map_tokens, int(room * 0.9)) - frame, 256)

    async def _ask(
        self, messages: Sequence[Message], schema: Mapping[str, Any], wanted: Wanted, answer_tokens: int
    ) -> dict[str, object] | str:
        """The value, or why there is none."""
        request = ChatRequest(
            messages,
            model=self._model,
            max_tokens=answer_tokens,
            json_schema=schema,
            purpose="extract",
        )
        taken = 0

        def may_ask(further: ChatRequest) -> bool:
            nonlocal taken
            tokens = estimate_prompt_tokens(further.messages) + answer_tokens
            if not self._purse.take(tokens):
                return False
            taken += tokens
            return True

        spent = Spent()
        async with self._permits:
            if not may_ask(request):
                return "over_the_cap"
            try:
                value = await ask_json(self._provider, request, wanted, spent, may_ask=may_ask)
            except NotJson:
                return "unparsable"
            except ProviderError as error:
                log.warning("insight_call_failed", code=error.code)
                return "call_failed"
            finally:
                self._purse.settle(taken, spent)
        return value if isinstance(value, dict) else "unparsable"
