"""Remembers the vectors of recent questions: people ask again, page on, and change only a filter."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.providers.ports import Embedder, Embeddings, EmbeddingSpace, Vector


@dataclass(frozen=True, slots=True)
class _Known:
    dense: Vector
    sparse: Mapping[int, float] | None
    truncated: bool


class QueryCache:
    """An `Embedder` around an `Embedder`. Holds the `size` questions used last, keyed by space and text."""

    def __init__(self, inner: Embedder, size: int) -> None:
        self._inner = inner
        self._size = size
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    @property
    def space(self) -> EmbeddingSpace:
        return self._inner.space

    @property
    def max_tokens(self) -> int:
        return self._inner.max_tokens

    def count_tokens(self, text: str) -> int:
        return self._inner.count_tokens(text)

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        return await self._inner.passages(texts)

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        space = self.space.key
        found = {text: known for text in texts if (known := self._known.get((space, text))) is not None}
        missing = list(dict.fromkeys(text for text in texts if text not in found))
        if missing:
            fresh = await self._inner.queries(missing)
            for at, text in enumerate(missing):
                vector = fresh.dense[at].copy()
                vector.setflags(write=False)
                sparse = fresh.sparse[at] if fresh.sparse is not None else None
                found[text] = _Known(vector, sparse, at in fresh.truncated)
        for text in texts:
            self._remember((space, text), found[text])
        answers = [found[text] for text in texts]
        dense = (
            np.stack([answer.dense for answer in answers])
            if answers
            else np.empty((0, self.space.dimension), np.float32)
        )
        return Embeddings(
            dense=dense,
            sparse=[answer.sparse or {} for answer in answers] if self.space.sparse else None,
            truncated=frozenset(at for at, answer in enumerate(answers) if answer.truncated),
        )

    async def open(self) -> None:
        await self._inner.open()

    async def close(self) -> None:
        self._known.clear()
        await self._inner.close()

    def _remember(self, key: tuple[str, str], known: _Known) -> None:
        self._known[key] = known
        self._known.move_to_end(key)
        if len(self._known) > self._size:
            self._known.popitem(last=False)
