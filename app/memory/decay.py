"""How a memory fades that nobody uses. Pure.

The formula of record is `importance × exp(−days/30)`; it is often called a half-life of 30 days, which it is not: it
halves after 20.8. A true half-life, `importance × 0.5^(days/30)`, is the other mode. Days count from the last use,
else from creation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

Mode = Literal["efold", "half_life"]

DAYS: Final = 30.0
ARCHIVE_BELOW: Final = 0.1
ARCHIVE_AFTER_DAYS: Final = 90.0
_DAY: Final = timedelta(days=1)
_RATES: Final[dict[Mode, float]] = {"efold": 1 / DAYS, "half_life": math.log(2) / DAYS}


@dataclass(frozen=True, slots=True)
class Age:
    """What fading depends on."""

    importance: float
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Fading:
    """A memory at some moment, and after which moment it would be archived if nobody used it."""

    decayed: float
    decayed_half_life: float
    due_at: datetime


def rate_per_day(mode: Mode) -> float:
    """λ in `importance × exp(−λ × days)`."""
    return _RATES[mode]


def decayed(importance: float, days_unused: float, mode: Mode = "efold") -> float:
    """Never more than the importance: a use in the future counts as now."""
    return importance * math.exp(-_RATES[mode] * max(days_unused, 0.0))


def days_unused(age: Age, at: datetime) -> float:
    return max((at - (age.last_used_at or age.created_at)) / _DAY, 0.0)


def is_due(age: Age, at: datetime, mode: Mode = "efold") -> bool:
    """Whether it is to be archived: faded below a tenth and older than 90 days, both strictly."""
    old = (at - age.created_at) / _DAY > ARCHIVE_AFTER_DAYS
    return old and decayed(age.importance, days_unused(age, at), mode) < ARCHIVE_BELOW


def due_at(age: Age, mode: Mode = "efold") -> datetime:
    """The moment after which it is due if nobody uses it."""
    grown = age.created_at + ARCHIVE_AFTER_DAYS * _DAY
    if age.importance < ARCHIVE_BELOW:
        return grown
    days = math.log(age.importance / ARCHIVE_BELOW) / _RATES[mode]
    return max(grown, (age.last_used_at or age.created_at) + days * _DAY)


def fading(age: Age, at: datetime, mode: Mode = "efold") -> Fading:
    days = days_unused(age, at)
    return Fading(decayed(age.importance, days, "efold"), decayed(age.importance, days, "half_life"), due_at(age, mode))


def due_within(ages: Sequence[Age], at: datetime, days: float, mode: Mode = "efold") -> list[int]:
    """Places of those that would be archived in so many days if nobody used any, in the order of their days."""
    then = at + timedelta(days=days)
    due = [place for place, age in enumerate(ages) if is_due(age, then, mode)]
    return sorted(due, key=lambda place: (due_at(ages[place], mode), place))
