"""Words in front of an English part that make it smaller, or another one beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from app.text.when.calendar import FINER, UNITS, kind_of, months_of, narrowed, unit_at
from app.text.when.found import Days, Narrowing, Part, Precision

_LEAD = 28
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = "|".join(_WEEKDAYS)
_NARROWING = re.compile(
    r"(?:\b(?P<w>early|mid|late|(?:the )?(?:end|beginning|start|middle|close|first half|second half|latter half))"
    r"(?:\s(?:of|in)\s|[\s-])(?:the\s)?"
    rf"|\b(?:the )?(?P<n>first|second|third|fourth|last|1st|2nd|3rd|4th)\s"
    rf"(?P<u>quarter|week|weekend|{_WEEKDAY})\s(?:of|in)\s(?:the\s)?"
    r"|\b(?:the )?(?P<wo>week) of\s(?:the\s)?"
    rf"|\b(?:the )?(?P<a>day|week|weekend|month|year|{_WEEKDAY}) (?P<ad>before|after)\s)$",
    re.A,
)
_NARROWINGS: dict[str, Narrowing] = {
    "early": "early",
    "beginning": "early",
    "start": "early",
    "mid": "mid",
    "middle": "mid",
    "late": "late",
    "end": "end",
    "close": "end",
    "first half": "first_half",
    "second half": "second_half",
    "latter half": "second_half",
}
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 0}


def narrow(part: Part, low: str) -> bool:
    """Makes `part` what the words before it say: "early 2020", "the last Friday of May", "the week before 9 June".

    False where that leads out of the calendar.
    """
    try:
        _narrow(part, low)
    except (ValueError, OverflowError):
        return False
    return True


def _narrow(part: Part, low: str) -> None:
    for _ in range(2):
        lead = _NARROWING.search(low[max(0, part.start - _LEAD) : part.start])
        if not lead or part.weekday is not None:
            return
        if lead["w"]:
            which = _NARROWINGS[lead["w"].removeprefix("the ")]
            if part.precision == "day" or part.kind in ("back", "forward", "interval"):
                return
            part.closing = which == "end"
            _apply(part, partial(narrowed, unit=part.precision, which=which), FINER[part.precision])
            if which in ("first_half", "second_half") and part.kind == "year":
                part.kind = part.precision = "half"
        elif lead["n"]:
            if part.precision not in ("month", "year") or (lead["u"] == "quarter") != (part.precision == "year"):
                return
            unit = lead["u"]
            change = partial(_numbered, unit=unit, number=_ORDINALS[lead["n"]])
            _apply(part, change, UNITS.get(unit, "day"))
            part.kind = kind_of(unit)
        else:
            unit = "week" if lead["wo"] else lead["a"]
            if part.precision != "day":
                return
            steps = 0 if lead["wo"] else -1 if lead["ad"] == "before" else 1
            _apply(part, partial(_around, unit=unit, steps=steps), UNITS.get(unit, "day"))
            part.kind = kind_of(unit)
        part.weak = False
        part.start -= len(lead[0])


def _apply(part: Part, change: partial[Days], precision: Precision) -> None:
    part.precision = precision
    if part.days:
        part.days = change(part.days)
    elif part.yearly:
        part.yearly = partial(_changed, part.yearly, change)


def _changed(whole: Callable[[int], Days | None], change: partial[Days], year: int) -> Days | None:
    days = whole(year)
    return change(days) if days else None


def _numbered(days: Days, unit: str, number: int) -> Days:
    start, end = days
    if unit == "quarter":
        return months_of(start.year, (number or 4) * 3 - 2, 3)
    if unit == "week":
        first = end - timedelta(days=7) if number == 0 else start + timedelta(days=7 * (number - 1))
        return first, first + timedelta(days=7)
    weekday = 5 if unit == "weekend" else _WEEKDAYS.index(unit)
    first = start + timedelta(days=(weekday - start.weekday()) % 7 + 7 * (number - 1))
    if number == 0:
        final = end - timedelta(days=1)
        first = final - timedelta(days=(final.weekday() - weekday) % 7)
    return first, first + timedelta(days=2 if unit == "weekend" else 1)


def _around(days: Days, unit: str, steps: int) -> Days:
    """The unit that holds the day, or the one before or after; of a weekday the nearest."""
    if unit in _WEEKDAYS:
        away = (days[0].weekday() - _WEEKDAYS.index(unit)) % 7 or 7
        return unit_at("day", days[0], -away if steps < 0 else 7 - away or 7)
    return unit_at(unit, days[0], steps)
