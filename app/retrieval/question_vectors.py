"""The vector of a question, in the space that search reads.

Which space that is, the database knows; while it is being asked, the question is already embedded in the space that
was read last. Only after a switch is that the wrong one, once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import numpy as np

from app.core.log import get
from app.index.spaces import Spaces
from app.providers.ports import Embedder, Embeddings, EmbeddingSpace, ProviderError

log = get(__name__)

UNAVAILABLE = "embedder_unavailable"


@dataclass(frozen=True, slots=True)
class QuestionVectors:
    """Vectors of questions in their order, and their space."""

    space: EmbeddingSpace
    embeddings: Embeddings


class Asked:
    """Questions that are being embedded."""

    def __init__(self, owner: QuestionEmbedder, texts: Sequence[str], guess: Embedder) -> None:
        self._owner = owner
        self._texts = texts
        self._guess = guess
        self._task = asyncio.create_task(_embed(guess, texts))

    async def vectors(self, key: str | None, degraded: list[str]) -> QuestionVectors | None:
        """In the space `key`; None and a word in `degraded` when they cannot be had. Of nothing, or nowhere: None."""
        if key is None or not self._texts:
            return None
        if key != self._guess.space.key:
            right = self._owner.turn_to(key)
            self.cancel()
            if right is None:
                log.error("space_without_embedder", space=key)
                degraded.append(UNAVAILABLE)
                return None
            self._guess = right
            self._task = asyncio.create_task(_embed(right, self._texts))
        try:
            return QuestionVectors(self._guess.space, await self._task)
        except ProviderError as error:
            log.warning("embedder_unavailable", code=error.code)
            degraded.append(UNAVAILABLE)
            return None

    def cancel(self) -> None:
        self._task.cancel()
        if self._task.done() and not self._task.cancelled():
            # Nobody asks any more; without this the loop would complain of a failure that was never looked at.
            self._task.exception()


class QuestionEmbedder:
    def __init__(self, spaces: Spaces) -> None:
        self._spaces = spaces
        self._expected = spaces.embedders[0]

    @asynccontextmanager
    async def asking(self, texts: Sequence[str]) -> AsyncIterator[Asked]:
        """Embedding goes on inside of the block, and ends with it."""
        asked = Asked(self, texts, self._expected)
        try:
            yield asked
        finally:
            asked.cancel()

    def turn_to(self, key: str) -> Embedder | None:
        """The embedder of this space, from now on the one that is expected; None where this process has none."""
        found = self._spaces.find(key)
        if found is not None:
            self._expected = found
        return found


async def _embed(embedder: Embedder, texts: Sequence[str]) -> Embeddings:
    if not texts:
        return Embeddings(np.empty((0, embedder.space.dimension), np.float32))
    return await embedder.queries(texts)
