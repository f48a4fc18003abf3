"""Counters that learn from what providers report: two factors per model, one for Han text and one for the rest.

One factor would not do: a vocabulary made for Chinese needs a fifth less for Chinese and as much as any for English,
so what a Chinese prompt taught would overflow the window with an English one. Knows no provider's client.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from app.budget.count import HAN, TokenCounter, counter_for, prefix_within

_HAN = re.compile(f"[{HAN}]")
# About what a Han character costs.
_HAN_TOKENS: Final = 0.8
# Counting high wastes a little of a window, counting low overflows it.
_FASTER: Final = 0.6
_SLOWER: Final = 0.2
_LOWEST: Final = 0.75
_HIGHEST: Final = 2.0
# In short prompts the chat format's own tokens are too large a part; and who reports so much less or more counts
# something else (cached tokens left out, hidden ones added).
_MIN_TOKENS: Final = 200
_CREDIBLE: Final = (0.5, 3.0)


@dataclass(frozen=True, slots=True)
class Corrected:
    """A counter times its factors, weighed by how much of the text is Han."""

    counter: TokenCounter
    han: float = 1.0
    other: float = 1.0

    @property
    def is_exact(self) -> bool:
        return self.counter.is_exact and self.han == self.other == 1.0

    def count(self, text: str) -> int:
        tokens = self.counter.count(text)
        return math.ceil(self.factor(_han_part(text, tokens)) * tokens)

    def truncate(self, text: str, max_tokens: int) -> str:
        return prefix_within(text, max_tokens, self.count)

    def factor(self, han_part: float) -> float:
        return han_part * self.han + (1 - han_part) * self.other

    def learned(self, han_part: float, counted: float, reported: float) -> Corrected:
        """Towards what was reported, each factor as far as it took part: normalised least mean squares."""
        missing = reported / counted - self.factor(han_part)
        rate = _FASTER if missing > 0 else _SLOWER
        step = rate * missing / (han_part**2 + (1 - han_part) ** 2)
        return Corrected(self.counter, _within(self.han + step * han_part), _within(self.other + step * (1 - han_part)))


class Corrections:
    """The counters of a process, by provider and model. Safe to share between threads: counters never change, they are
    replaced.
    """

    def __init__(self, counters: Callable[[str, str | None], TokenCounter] = counter_for) -> None:
        self._counters = counters
        self._known: dict[tuple[str, str | None], Corrected] = {}

    def counter(self, provider: str, model: str | None) -> TokenCounter:
        known = self._known.get((provider, model))
        return known if known is not None else self._counters(provider, model)

    def learn(self, provider: str, model: str | None, text: str, counted: int, reported: int) -> None:
        """What a prompt of this text was counted as, and what the provider counted. An exact counter that is right
        stays as it is.
        """
        before = self.counter(provider, model)
        known = before if isinstance(before, Corrected) else Corrected(before)
        if counted < _MIN_TOKENS:
            return
        han_part = _han_part(text, counted)
        plain = counted / known.factor(han_part)
        if not _CREDIBLE[0] <= reported / plain <= _CREDIBLE[1]:
            return
        # Chat formats differ by a few tokens per message; that is no other vocabulary.
        if known.is_exact and abs(reported - counted) <= 0.03 * counted:
            return
        self._known[provider, model] = known.learned(han_part, plain, reported)


def _han_part(text: str, tokens: int) -> float:
    return min(1.0, _HAN_TOKENS * len(_HAN.findall(text)) / tokens) if tokens > 0 else 0.0


def _within(factor: float) -> float:
    return min(max(factor, _LOWEST), _HIGHEST)
