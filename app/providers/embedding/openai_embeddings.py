"""Any server that speaks OpenAI's `/embeddings`: batches, retries, and doubts about the reply.

Opening makes no call: the dimension is configured, and the first reply is held against it. Knows nothing of
how bytes travel (`transport`) nor of the shape of replies (`openai_vectors`).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import toktok

from app.core.errors import ConfigurationError
from app.providers.embedding import openai_vectors
from app.providers.embedding.storable import storable
from app.providers.ports import (
    Embeddings,
    EmbeddingSpace,
    ProviderBusy,
    ProviderError,
    ProviderGarbled,
    ProviderTimeout,
    Vector,
)
from app.providers.settings import EmbedderSettings
from app.providers.transport import HttpTransport, endpoint_url

T = TypeVar("T")

_ENCODING: Final = "cl100k_base"  # exact for OpenAI's models, an estimate for others
_QUERY_SLOTS: Final = 16
_FIRST_BACKOFF_SECONDS: Final = 0.5
_MAX_BACKOFF_SECONDS: Final = 8.0
_MIN_WAIT_SECONDS: Final = 0.1
# A vector of 8,192 numbers of 32 characters: several times what any model gives, far below what hurts.
_MAX_VECTOR_BYTES: Final = 8192 * 32
_MAX_ENVELOPE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class _Input:
    text: str
    tokens: int
    cut: bool


class OpenAIEmbeddings:
    """An `Embedder`. Passages and questions wait in lines of their own."""

    def __init__(self, settings: EmbedderSettings) -> None:
        """Raises ConfigurationError."""
        self._base_url = _required(settings.embedder_base_url, "EMBEDDER_BASE_URL")
        self._model = _required(settings.embedder_model, "EMBEDDER_MODEL")
        self._dimension = _required(settings.embedder_dimension, "EMBEDDER_DIMENSION")
        self._settings = settings
        self._query_prefix = settings.embedder_query_prefix or ""
        self._passage_prefix = settings.embedder_passage_prefix or ""
        key = settings.embedder_api_key.get_secret_value().strip() if settings.embedder_api_key else ""
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError("MINDCONE_EMBEDDER_API_KEY holds characters that no key has.")
        self._transport = HttpTransport(
            endpoint_url(self._base_url, "/embeddings"),
            headers={"authorization": f"Bearer {key}"} if key else {},
            connect_seconds=settings.embedder_connect_seconds,
            first_byte_seconds=settings.embedder_read_seconds,
            idle_seconds=settings.embedder_read_seconds,
            max_connections=settings.embedder_threads + _QUERY_SLOTS,
        )
        self._passage_slots = asyncio.Semaphore(settings.embedder_threads)
        self._query_slots = asyncio.Semaphore(_QUERY_SLOTS)

    @property
    def space(self) -> EmbeddingSpace:
        return EmbeddingSpace(provider="openai", model=self._model, dimension=self._dimension)

    @property
    def max_tokens(self) -> int:
        prefix = max(self.count_tokens(self._passage_prefix), self.count_tokens(self._query_prefix))
        return self._settings.embedder_max_tokens - prefix

    def count_tokens(self, text: str) -> int:
        count: int = toktok.batch_count([storable(text)], _ENCODING, threads=1)[0]
        return count

    async def open(self) -> None:
        await self._transport.open()

    async def close(self) -> None:
        await self._transport.close()

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        return await self._embed(
            texts, self._passage_prefix, self._passage_slots, self._settings.embedder_passage_deadline_seconds
        )

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        return await self._embed(
            texts, self._query_prefix, self._query_slots, self._settings.embedder_query_deadline_seconds
        )

    async def _embed(
        self, texts: Sequence[str], prefix: str, slots: asyncio.Semaphore, deadline_seconds: float
    ) -> Embeddings:
        if not texts:
            return Embeddings(dense=np.empty((0, self._dimension), np.float32))
        inputs = await asyncio.to_thread(self._prepare, [prefix + text for text in texts])
        batches = split(
            [item.tokens for item in inputs], self._settings.embedder_batch_tokens, self._settings.embedder_batch_count
        )
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._persist([inputs[at].text for at in batch], slots, deadline_seconds))
                    for batch in batches
                ]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return Embeddings(
            dense=np.concatenate([task.result() for task in tasks]),
            truncated=frozenset(at for at, item in enumerate(inputs) if item.cut),
        )

    def _prepare(self, texts: Sequence[str]) -> list[_Input]:
        limit = self._settings.embedder_max_tokens
        inputs = []
        for text in map(storable, texts):
            kept, tokens = toktok.truncate(text, limit, _ENCODING)
            inputs.append(_Input(kept, min(tokens, limit), tokens > limit))
        return inputs

    async def _persist(self, batch: Sequence[str], slots: asyncio.Semaphore, deadline_seconds: float) -> Vector:
        """Until the batch is answered, refused, failed too often or out of time. Being told to wait is no
        failure; while it waits, the batch holds no slot.
        """
        now = asyncio.get_running_loop().time
        deadline: float | None = None
        attempts = failures = 0
        while True:
            async with slots:
                deadline = now() + deadline_seconds if deadline is None else deadline
                try:
                    async with asyncio.timeout_at(deadline):
                        return await self._once(batch)
                except TimeoutError:
                    raise ProviderTimeout("The embedding server did not answer in time.") from None
                except ProviderError as error:
                    if not error.retryable:
                        raise
                    problem = error
            attempts += 1
            failures += not isinstance(problem, ProviderBusy)
            wait_seconds = _wait_seconds(problem, attempts)
            if failures > self._settings.embedder_retries or now() + wait_seconds >= deadline:
                raise problem
            await asyncio.sleep(wait_seconds)

    async def _once(self, batch: Sequence[str]) -> Vector:
        body: dict[str, Any] = {"model": self._model, "input": list(batch), "encoding_format": "float"}
        if self._settings.embedder_send_dimension:
            body["dimensions"] = self._dimension
        async with self._transport.post(body, accept="application/json") as reply:
            if reply.media_type == "text/html":
                raise ProviderGarbled("A web page answered instead of an embedding server; check the base URL.")
            content = await reply.read(_MAX_ENVELOPE_BYTES + len(batch) * _MAX_VECTOR_BYTES)
        # A batch of 64 takes some 20 ms to parse: too long for the event loop.
        return await asyncio.to_thread(openai_vectors.parse, content, len(batch), self._dimension)


def split(tokens: Sequence[int], max_tokens: int, max_count: int) -> list[range]:
    """Consecutive positions whose tokens add up to at most `max_tokens`; a single text may exceed it."""
    batches = []
    start = total = 0
    for at, size in enumerate(tokens):
        if at > start and (total + size > max_tokens or at - start == max_count):
            batches.append(range(start, at))
            start, total = at, 0
        total += size
    if len(tokens) > start:
        batches.append(range(start, len(tokens)))
    return batches


def _wait_seconds(problem: ProviderError, attempts: int) -> float:
    asked_seconds = problem.retry_after_seconds if isinstance(problem, ProviderBusy) else None
    spread = random.uniform(1.0, 1.25)  # noqa: S311 - keeps clients apart, hides nothing
    if asked_seconds is not None:
        return max(asked_seconds, _MIN_WAIT_SECONDS) * spread
    return min(_FIRST_BACKOFF_SECONDS * 2.0 ** (attempts - 1), _MAX_BACKOFF_SECONDS) * spread


def _required(value: T | None, name: str) -> T:
    if not value:
        raise ConfigurationError(f"MINDCONE_EMBEDDER=openai also needs MINDCONE_{name}.")
    return value
