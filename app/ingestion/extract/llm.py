"""The extractor that asks a language model: passages → answers → gleaning → one extraction.

What is paid for is kept: every answer is stored before anything else is asked, so that a card whose extraction
failed resumes with what is missing. Knows neither tables nor which provider is at work.
"""

from __future__ import annotations

import asyncio
import functools
import json
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from app.budget.count import ScriptEstimate
from app.core.log import get
from app.ingestion.extract import prompts
from app.ingestion.extract.llm_assemble import ResolveTimes, assemble, with_mentions
from app.ingestion.extract.llm_cache import CacheKey, ExtractionCache, InFlight, Stored, dump, load
from app.ingestion.extract.llm_passages import Passage, passages
from app.ingestion.extract.llm_places import Places
from app.ingestion.extract.llm_shapes import SCHEMA, Answer, read_answer
from app.ingestion.extract.merge import join, merge, shifted, size
from app.ingestion.extract.settings import ExtractSettings
from app.ingestion.extract.types import Extraction, Extractor, Source, Span
from app.providers.ladder import NotJson
from app.providers.ports import (
    ChatProvider,
    ChatRequest,
    Finished,
    Message,
    ProviderBusy,
    ProviderError,
    ProviderGarbled,
    ProviderRefused,
    ProviderTimeout,
    StopReason,
)
from app.providers.spoken import estimate_prompt_tokens, estimate_tokens

log = get(__name__)

Missed = Callable[[str, Extraction], Sequence[str]]
"""(a passage, what was found in it) → what the passage has and the extraction does not, in the passage's words."""

_SHARE_OF_ROOM: Final = 5
"""One part passage, two parts answer, and as much again for gleaning."""
_MIN_PASSAGE_TOKENS: Final = 64
_MIN_ANSWER_TOKENS: Final = 256
_MAX_SPLITS: Final = 4
"""How often a passage is halved at most: a model that never stops would otherwise be asked for every sentence."""
_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 2.0
_TOO_LONG: Final = ("context_length", "too_long", "too_large", "max_tokens")


class ExtractionGarbled(ProviderGarbled):
    """The model gave no usable answer for a part of this card, however often it was asked.

    `partial` is what the other parts gave; their answers are kept, so that trying again asks only for the rest.
    """

    code: ClassVar[str] = "extraction_garbled"

    def __init__(self, detail: str | None = None, *, partial: Extraction, **extra: Any) -> None:
        super().__init__(detail or "The model gave no usable answer for a part of this card.", **extra)
        self.partial = partial


class _TooLong(Exception):
    """The passage, or its answer, is more than the model takes or gives in one call."""


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    reason: StopReason


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a passage, from `start` of it, and what was said of it; `garbled` why nothing was."""

    start: int
    end: int
    answer: Answer | None
    garbled: str = ""


class LlmExtractor:
    """An `Extractor` over one chat provider.

    `missed` decides whether gleaning is worth a call; without it the model is always asked once more. `times` resolves
    expressions of time. `fill` reads the passages for which the model gave no usable answer; without it they raise.
    `permits`: where several extractors share them.
    """

    def __init__(
        self,
        provider: ChatProvider,
        model: str | None,
        settings: ExtractSettings,
        cache: ExtractionCache,
        *,
        missed: Missed | None = None,
        times: ResolveTimes | None = None,
        fill: Extractor | None = None,
        permits: asyncio.Semaphore | None = None,
    ) -> None:
        self._provider = provider
        self._model = model
        self._settings = settings
        self._cache = cache
        self._missed = missed
        self._times = times
        self._fill = fill
        self._counter = ScriptEstimate()
        self._permits = permits or asyncio.Semaphore(settings.extract_concurrency)
        self._in_flight: InFlight[tuple[_Part, ...] | None] = InFlight()

    @property
    def version(self) -> str:
        return f"llm/{prompts.prompt_version()}/{self._model_name}"

    @property
    def _model_name(self) -> str:
        return f"{self._provider.name}/{self._model or self._provider.default_model}"

    async def extract(self, source: Source, *, final: bool = False) -> Extraction:
        """As the port says. Raises the error of the provider for all parts that it kept from being read, and
        ExtractionGarbled for answers that cannot be used; what was read until then is stored.
        """
        groups = await asyncio.to_thread(self._passages, source)
        halted: list[ProviderError] = []
        reads = (self._read_group(group, halted, final) for group in groups)
        done = await asyncio.gather(*reads, return_exceptions=True)
        errors = [outcome for outcome in done if isinstance(outcome, BaseException)]
        if errors and not (final and self._fill is not None and _can_be_filled(errors, len(groups))):
            raise most_telling(errors)
        parts: list[_Part] = []
        for group, found in zip(groups, done, strict=True):
            if isinstance(found, BaseException):
                parts.append(_Part(group.span.start, group.span.end, None, "unavailable"))
            else:
                parts += (replace(p, start=p.start + group.start, end=p.end + group.start) for p in found)
        whole = await self._complete(source, parts)
        return replace(whole, dropped=whole.dropped + Counter(model_unavailable=len(errors)))

    def _passages(self, source: Source) -> list[Passage]:
        return list(passages(source, self._limit_tokens(), self._counter.count))

    def _limit_tokens(self) -> int:
        empty = prompts.first_messages(Passage("", ""))
        room = (self._window - estimate_prompt_tokens(empty) - _schema_tokens()) // _SHARE_OF_ROOM
        return min(self._settings.extract_group_tokens, max(room, _MIN_PASSAGE_TOKENS))

    @property
    def _window(self) -> int:
        return self._provider.capabilities(self._model).context_window

    async def _complete(self, source: Source, parts: Sequence[_Part]) -> Extraction:
        """The parts as one extraction, those without an answer filled in."""
        places = Places(source.content)
        found = await asyncio.to_thread(self._assembled, source, places, parts)
        garbled = [part for part in parts if part.answer is None]
        if garbled:
            log.warning("extraction_garbled", card_id=str(source.card_id), parts=len(garbled), of=len(parts))
            if self._fill is None:
                partial = with_mentions(join([one for one in found if one is not None]), places)
                raise ExtractionGarbled(partial=partial, reason=garbled[0].garbled, parts=len(garbled))
            filled = iter([await self._filled(source, part) for part in garbled])
            found = [one if one is not None else next(filled) for one in found]
        whole = join([one for one in found if one is not None])
        return await asyncio.to_thread(with_mentions, whole, places)

    def _assembled(self, source: Source, places: Places, parts: Sequence[_Part]) -> list[Extraction | None]:
        return [
            assemble(source, places, Span(part.start, part.end), part.answer, self._times) if part.answer else None
            for part in parts
        ]

    async def _filled(self, source: Source, part: _Part) -> Extraction:
        assert self._fill is not None
        chunks = [Span(max(c.start, part.start), min(c.end, part.end)) for c in source.chunks]
        piece = replace(
            source,
            content=source.content[part.start : part.end],
            chunks=[Span(c.start - part.start, c.end - part.start) for c in chunks if c.start < c.end],
        )
        found = shifted(await self._fill.extract(piece), part.start)
        return replace(found, dropped=found.dropped + Counter({"passage_filled": 1}))

    # ------------------------------------------------------------------------------ one group

    async def _read_group(self, group: Passage, halted: list[ProviderError], final: bool) -> tuple[_Part, ...]:
        """`halted` is shared by the groups of a card: what failed once is not asked of the provider again and again.
        At the end, though, what it has against one group is no reason to leave out the others.
        """
        pause = _FIRST_PAUSE_SECONDS
        while True:
            async with self._permits:
                if halted:
                    raise halted[0]
                try:
                    found = await self._in_flight.run(self._key(group), lambda: self._read_claimed(group))
                except ProviderError as error:
                    if error.retryable or not final:
                        halted.append(error)
                    raise
            if found is not None:
                return found
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def _read_claimed(self, group: Passage) -> tuple[_Part, ...] | None:
        """None while another process has this text read: what it was told is in the store then."""
        async with self._cache.claim(self._key(group)) as is_ours:
            return await self._read(group) if is_ours else None

    def _key(self, passage: Passage) -> CacheKey:
        return CacheKey(passage.content_hash, prompts.prompt_version(), self._model_name)

    async def _read(self, passage: Passage, splits: int = 0) -> tuple[_Part, ...]:
        """The answer for a passage, from the store as far as it is there; several where it had to be cut."""
        key = self._key(passage)
        stored = load(await self._cache.get(key))
        if stored is None:
            middle = passage.find_middle() if splits < _MAX_SPLITS else None
            try:
                stored = Stored(await self._ask(passage, divisible=middle is not None))
            except _TooLong:
                if middle is None:
                    return (_Part(0, len(passage.text), None, "too_long"),)
                stored = Stored(split_at=middle)
            except NotJson as error:
                return (_Part(0, len(passage.text), None, error.detail),)
            await self._cache.put(key, dump(stored))
        if stored.split_at is not None:
            return await self._read_halves(passage, stored.split_at, splits + 1)
        stored = await self._glean(passage, key, stored)
        return (_Part(0, len(passage.text), stored.answer),)

    async def _read_halves(self, passage: Passage, at: int, splits: int) -> tuple[_Part, ...]:
        first, second = passage.halves(at)
        read = [*await self._read(first, splits)] if first.text.strip() else []
        if second.text.strip():
            read += [replace(p, start=p.start + at, end=p.end + at) for p in await self._read(second, splits)]
        return tuple(read)

    # -------------------------------------------------------------------------------- asking

    async def _ask(self, passage: Passage, *, divisible: bool) -> Answer:
        """The first answer; asked for once more where it cannot be read or is not whole.

        Raises NotJson when neither can be used, _TooLong when halves will do better.
        """
        messages = prompts.first_messages(passage)
        said = await self._say(messages)
        if said.reason == "length" and divisible and said.text.strip():  # else it was no matter of length
            raise _TooLong
        first, complaint = await _understood(said)
        if first is not None and not first.cut:
            return first
        if said.reason in ("length", "content_filter"):  # would be so again
            return _beginning(first, complaint)
        said = await self._say(prompts.again_messages(messages, said.text, complaint))
        second, complaint = await _understood(said)
        if first is None or second is None:
            answer = _beginning(first or second, complaint)
        else:
            answer = merge(first, second)
            answer = _beginning(answer, complaint) if answer.cut else answer
        return answer

    async def _glean(self, passage: Passage, key: CacheKey, stored: Stored) -> Stored:
        """Ask for what the answer lacks, pass by pass. What goes wrong here costs nothing that is there already."""
        while stored.passes < self._settings.max_gleanings and not stored.dry:
            missed = await asyncio.to_thread(self._find_missed, passage, stored.answer)
            if missed is not None and not missed:
                break
            asked = prompts.gleaning_messages(prompts.first_messages(passage), stored.answer, missed or ())
            try:
                more, complaint = await _understood(await self._say(asked))
            except _TooLong:
                break
            except ProviderError as error:
                log.warning("gleaning_failed", code=error.code)
                stored.answer.dropped["gleaning_failed"] += 1
                break
            if more is None:
                log.warning("gleaning_failed", code=NotJson.code, reason=complaint)
                stored.answer.dropped["gleaning_failed"] += 1
                more = Answer()
            answer = merge(stored.answer, replace(more, cut=False))
            stored = Stored(answer, stored.passes + 1, dry=size(answer) == size(stored.answer))
            await self._cache.put(key, dump(stored))
        return stored

    def _find_missed(self, passage: Passage, answer: Answer) -> Sequence[str] | None:
        """None: nobody can tell."""
        if self._missed is None:
            return None
        alone = Source(uuid.UUID(int=0), passage.title, passage.text, _NO_DATE)
        found = assemble(alone, Places(passage.text), Span(0, len(passage.text)), answer, None)
        return self._missed(passage.text, found)

    async def _say(self, messages: Sequence[Message]) -> _Said:
        """One call. An answer that was still coming when time was up counts as too long.

        Raises ProviderError, and _TooLong when the conversation does not fit the model.
        """
        room_tokens = self._window - estimate_prompt_tokens(messages) - _schema_tokens()
        if room_tokens < _MIN_ANSWER_TOKENS:
            raise _TooLong
        request = ChatRequest(
            messages,
            model=self._model,
            max_tokens=min(self._settings.extract_answer_tokens, room_tokens),
            json_schema=SCHEMA,
            purpose="extract",
        )
        said: list[str] = []
        try:
            async with aclosing(self._provider.stream(request)) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        return _Said("".join(said), event.reason)
                    said.append(event.text)
        except ProviderTimeout:
            if not said:
                raise
            return _Said("".join(said), "length")
        except ProviderGarbled:
            if not said:
                raise
            return _Said("".join(said), "truncated")
        except ProviderRefused as error:
            if _is_too_long(error):
                raise _TooLong from error
            raise
        return _Said("".join(said), "truncated")


_NO_DATE: Final = datetime(1970, 1, 1, tzinfo=UTC)


async def _understood(said: _Said) -> tuple[Answer | None, str]:
    """What was said, marked if it is only a beginning; and what to complain of otherwise."""
    if said.reason == "content_filter":
        return None, "The provider's filter stopped the answer."
    try:
        answer = await asyncio.to_thread(read_answer, said.text)
    except NotJson as error:
        return None, error.detail
    cut = answer.cut or said.reason in ("length", "truncated")
    return replace(answer, cut=cut), "It ended in the middle." if cut else ""


def _beginning(answer: Answer | None, complaint: str) -> Answer:
    """The best that is to be had; said to be cut where it is. Raises NotJson when there is none."""
    if answer is None:
        raise NotJson(complaint)
    if answer.cut:
        answer.dropped["answer_cut"] += 1
    return replace(answer, cut=False)


@functools.cache
def _schema_tokens() -> int:
    return estimate_tokens(json.dumps(SCHEMA))


def _is_too_long(error: ProviderRefused) -> bool:
    code = str(error.extra.get("upstream_code") or "").lower()
    return error.extra.get("upstream_status") == 413 or any(sign in code for sign in _TOO_LONG)


def _can_be_filled(errors: Sequence[BaseException], groups: int) -> bool:
    """Of a card that the model has read in part, the rest."""
    return len(errors) < groups and all(isinstance(error, ProviderError) for error in errors)


def most_telling(errors: Sequence[BaseException]) -> BaseException:
    """What is no provider's fault, then what waiting will not cure, then who asks for the longest wait."""

    def weight(error: BaseException) -> tuple[int, float]:
        if not isinstance(error, ProviderError):
            return 3, 0.0
        if not error.retryable:
            return 2, 0.0
        wait_seconds = error.retry_after_seconds if isinstance(error, ProviderBusy) else None
        return 1, wait_seconds or 0.0

    return max(errors, key=weight)
