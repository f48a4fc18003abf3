"""Counters that learn from what providers report: three factors per model, for Han text, digits, and the rest.

One factor would not do: a vocabulary made for Chinese needs a fifth less for Chinese and as much as any for English,
so what a Chinese prompt taught would overflow the window with an English one; and some have one token per digit where
others have one per three. Knows no provider's client.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Final

from app.budget.count import HAN, TokenCounter, counter_for, prefix_within

_HAN = re.compile(f"[{HAN}]")
_DIGIT = re.compile("[0-9]")
# About what a Han character and a digit cost at least.
_HAN_TOKENS: Final = 0.7
_DIGIT_TOKENS: Final = 0.33
_LOWEST: Final = 0.6
_HIGHEST: Final = 3.5
# In short prompts the chat format's own tokens are too large a part; and who reports so much less or more counts
# something else (cached tokens left out, hidden ones added).
_MIN_TOKENS: Final = 200
_CREDIBLE: Final = (0.5, 3.0)
# Counting high wastes a little of a window, counting low overflows it.
_RATHER_HIGH: Final = 1.02
# Of the deviations of what is not known yet: a digit may be a token of its own.
_CAUTION: Final = (1.0, 2.5, 1.0)

Parts = tuple[float, float, float]

# How far vocabularies differ, as variances: most in whether they know Han characters and whole numbers.
_DOUBT: Final[tuple[Parts, Parts, Parts]] = ((0.16, 0.0, 0.0), (0.0, 0.64, 0.0), (0.0, 0.0, 0.01))
# How far a counter is off within one vocabulary, and how much of what was learned is forgotten with each prompt.
_NOISE: Final = 0.04
_DRIFT: Final = 1e-5


@dataclass(frozen=True, slots=True)
class Corrected:
    """A counter times its factors, weighed by how much of the text is Han, digits, other."""

    counter: TokenCounter
    factors: Parts = (1.0, 1.0, 1.0)
    doubt: tuple[Parts, Parts, Parts] = _DOUBT

    @property
    def is_exact(self) -> bool:
        return self.counter.is_exact and self.factors == (1.0, 1.0, 1.0)

    def count(self, text: str) -> int:
        """Higher than expected, by as much as is not known yet: what a first prompt leaves free is little, what it
        overflows is refused.
        """
        tokens = self.counter.count(text)
        parts = parts_of(text, tokens)
        # Part by part, and not the deviation of their sum: counts of pieces add up to that of the whole.
        unsure = sum(_CAUTION[k] * sqrt(self.doubt[k][k]) * parts[k] for k in range(3))
        return max(round((_RATHER_HIGH * self.factor(parts) + unsure) * tokens), 1 if text else 0)

    def truncate(self, text: str, max_tokens: int) -> str:
        return prefix_within(text, max_tokens, self.count)

    def factor(self, parts: Parts) -> float:
        return sum(factor * part for factor, part in zip(self.factors, parts, strict=True))

    def learned(self, parts: Parts, ratio: float) -> Corrected:
        """After a text of these parts took `ratio` times as many tokens as counted: one step of a Kalman filter."""
        shared = _three(sum(row[k] * parts[k] for k in range(3)) for row in self.doubt)
        variance = sum(part * one for part, one in zip(parts, shared, strict=True)) + _NOISE**2
        missing = ratio - self.factor(parts)
        factors = (
            min(max(factor + one * missing / variance, _LOWEST), _HIGHEST)
            for factor, one in zip(self.factors, shared, strict=True)
        )
        doubt = [
            _three(self.doubt[i][k] - shared[i] * shared[k] / variance + (_DRIFT if i == k else 0) for k in range(3))
            for i in range(3)
        ]
        return Corrected(self.counter, _three(factors), (doubt[0], doubt[1], doubt[2]))


class Corrections:
    """The counters of a process, by provider and model. Safe to share between threads: counters never change, they are
    replaced.
    """

    def __init__(self, counters: Callable[[str, str | None], TokenCounter] = counter_for) -> None:
        self._counters = counters
        self._known: dict[tuple[str, str | None], Corrected] = {}

    def counter(self, provider: str, model: str | None) -> TokenCounter:
        known = self._known.get((provider, model))
        if known is not None:
            return known
        counter = self._counters(provider, model)
        return counter if counter.is_exact else Corrected(counter)

    def learn(self, provider: str, model: str | None, text: str, counted: int, reported: int) -> None:
        """What a prompt of this text was counted as, and what the provider counted. An exact counter that is right
        stays as it is.
        """
        before = self.counter(provider, model)
        known = before if isinstance(before, Corrected) else Corrected(before)
        if counted < _MIN_TOKENS:
            return
        plain = known.counter.count(text)
        parts = parts_of(text, plain)
        # What stands around the text (formats of messages, tools) is not the vocabulary's.
        reported -= counted - before.count(text)
        if plain == 0 or not _CREDIBLE[0] <= reported / plain <= _CREDIBLE[1]:
            return
        # Chat formats differ by a few tokens per message; that is no other vocabulary.
        if known.is_exact and abs(reported - plain) <= 0.03 * plain:
            return
        self._known[provider, model] = known.learned(parts, reported / plain)


def parts_of(text: str, tokens: int) -> Parts:
    """How much of the text's tokens are Han, digits and other; they add up to 1."""
    if tokens <= 0:
        return 0.0, 0.0, 1.0
    han = min(_HAN_TOKENS * len(_HAN.findall(text)) / tokens, 1.0)
    digits = min(_DIGIT_TOKENS * len(_DIGIT.findall(text)) / tokens, 1.0 - han)
    return han, digits, 1.0 - han - digits


def _three(values: Iterable[float]) -> Parts:
    first, second, third = values
    return first, second, third
