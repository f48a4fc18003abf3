"""The embedded default: multilingual-e5-small in this process, in threads of its own.

Chooses between the converted model and the C engine when it opens; knows nothing of how either works.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from app.core import log
from app.core.errors import ConfigurationError
from app.providers.embedding.e5_text import MAX_TOKENS
from app.providers.embedding.lanes import Lanes
from app.providers.ports import Embeddings, EmbeddingSpace, ProviderDown, ProviderError, Vector

DIMENSION: Final = 384
MODEL: Final = "multilingual-e5-small"
_SWITCH_SECONDS: Final = 0.0005
_PREFIX_AND_MARKERS: Final = 5  # "▁que" "ry" ":" "<s>" "</s>"; one less for passages


class Runtime(Protocol):
    """The model, blocking."""

    def count_tokens(self, text: str) -> int: ...

    def embed(self, text: str, is_query: bool) -> tuple[Vector, bool]: ...

    def prepare_thread(self) -> None: ...


class E5Embedder:
    """Implements `Embedder`. Texts of a call are computed one by one, so that equal texts give equal
    bits, and a question waits for at most one passage per thread.
    """

    def __init__(self, data_dir: Path, threads: int) -> None:
        self._data_dir = data_dir
        self._thread_count = threads
        self._runtime: Runtime | None = None
        self._lanes: Lanes[tuple[str, bool], tuple[Vector, bool]] | None = None

    @property
    def space(self) -> EmbeddingSpace:
        return EmbeddingSpace(provider="embedded", model=MODEL, dimension=DIMENSION)

    @property
    def max_tokens(self) -> int:
        return MAX_TOKENS - _PREFIX_AND_MARKERS

    def count_tokens(self, text: str) -> int:
        return self._opened().count_tokens(text)

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        return await self._embed(texts, is_query=False)

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        return await self._embed(texts, is_query=True)

    async def open(self) -> None:
        # A lane wants the interpreter's lock twice per text, and a thread that computes in Python keeps it for so long:
        # with Python's own 5 ms, lanes beside one such thread embedded a fifth less (46-50 texts/s against 53-66).
        sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH_SECONDS))
        runtime = await asyncio.to_thread(load, self._data_dir)
        self._runtime = runtime
        self._lanes = Lanes(
            lambda item: runtime.embed(*item), self._thread_count, "embedder", prepare=runtime.prepare_thread
        )
        self._lanes.open()

    async def close(self) -> None:
        if self._lanes is not None:
            await asyncio.to_thread(self._lanes.close)
        self._lanes = self._runtime = None

    async def _embed(self, texts: Sequence[str], *, is_query: bool) -> Embeddings:
        self._opened()
        assert self._lanes is not None
        try:
            results = await self._lanes.run([(text, is_query) for text in texts], urgent=is_query)
        except ProviderError:
            raise
        except Exception as error:
            raise ProviderDown("The embedded model failed.") from error
        dense = np.stack([vector for vector, _ in results]) if results else np.empty((0, DIMENSION), np.float32)
        return Embeddings(dense=dense, truncated=frozenset(i for i, (_, cut) in enumerate(results) if cut))

    def _opened(self) -> Runtime:
        if self._runtime is None:
            raise ProviderDown("The embedder is not open.")
        return self._runtime


def load(data_dir: Path) -> Runtime:
    """The converted model; where it cannot be had, the C engine and a warning. Blocks."""
    from app.providers.embedding import e5_bin

    try:
        from app.providers.embedding import e5_convert, e5_onnx

        return e5_onnx.E5Onnx(e5_convert.ensure(data_dir), e5_bin.locate())
    except ConfigurationError:
        raise
    except Exception as error:  # a full disk, a processor that onnxruntime does not know, a rejected conversion
        log.get(__name__).warning("embedder_fallback", model=MODEL, reason=type(error).__name__, slower="4 to 8 times")
    from app.providers.embedding import e5_c

    return e5_c.E5C()
