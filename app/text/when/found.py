"""The shapes of times that were found: the result, and the unresolved part of a text that leads to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, Literal, TypeAlias

Precision = Literal["day", "week", "month", "quarter", "half", "season", "year", "decade", "century"]
Kind = Literal[
    "day",
    "week",
    "weekend",
    "month",
    "quarter",
    "half",
    "season",
    "year",
    "decade",
    "century",
    "interval",
    "back",
    "forward",
    "since",
    "until",
    "before",
    "after",
]
Narrowing = Literal["early", "mid", "late", "end", "first_half", "second_half"]

Days: TypeAlias = tuple[date, date]
"""Half-open, in the calendar of whoever wrote the text."""

OPEN_START: Final = datetime.min.replace(tzinfo=UTC)
OPEN_END: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TimeFound:
    """`[start, end)`, aware. `start` is OPEN_START for "before 2010".

    `kind` is the shape of the expression, `precision` the unit in which it speaks: "May to July 2023" is an interval
    with the precision of a month. A part of a unit ("early 2020") has the unit's kind and a finer precision.
    """

    start: datetime
    end: datetime
    text: str
    span: tuple[int, int]
    kind: Kind
    precision: Precision


@dataclass(slots=True)
class Part:
    """One expression before its neighbours are looked at. One of `days`, `yearly`, `weekday` says when.

    `yearly` gives the days in a year that the text leaves open. A `weak` part is a time only beside another one
    ("from March to May"). A `dated` one names its year in figures, so that it is one even in a title.
    """

    start: int
    end: int
    kind: Kind
    precision: Precision
    days: Days | None = None
    yearly: Callable[[int], Days | None] | None = None
    weekday: int | None = None
    weak: bool = False
    dated: bool = False
    closing: bool = False
