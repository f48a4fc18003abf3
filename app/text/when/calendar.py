"""Arithmetic of the calendar in half-open ranges of days: units, windows, parts of units. Weeks begin on Monday."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from app.text.when.found import Days, Kind, Narrowing, Part, Precision

MONTHS_OF = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}
_DAYS_OF = {"hour": 1, "day": 1, "week": 7, "weekend": 7}
UNITS: dict[str, Precision] = {
    "hour": "day",
    "day": "day",
    "week": "week",
    "weekend": "day",
    "month": "month",
    "quarter": "quarter",
    "half": "half",
    "year": "year",
    "decade": "decade",
    "century": "century",
}
# First months of the meteorological seasons of the northern half, where both languages count them.
_SEASON_STARTS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


def kind_of(unit: str) -> Kind:
    """The kind of one unit; weekdays are days."""
    return "weekend" if unit == "weekend" else UNITS.get(unit, "day")


def full_year(short: int, day: date) -> int:
    """The year that two figures stand for: up to ten years ahead of `day`, one of the last century otherwise."""
    century = day.year // 100 * 100
    return century + short if century + short <= day.year + 10 else century - 100 + short


def day_of(year: int, month: int, day: int) -> Days | None:
    """One day; None where the calendar has no such day."""
    try:
        start = date(year, month, day)
        return start, start + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def days_of(year: int, month: int, first: int, last: int) -> Days | None:
    """Several days of one month, the last one included; None where the calendar has no such days."""
    one, other = day_of(year, month, first), day_of(year, month, last)
    return (one[0], other[1]) if one and other and one[0] < other[1] else None


def months_of(year: int, month: int, count: int = 1) -> Days:
    """`count` months from `month` on, which may lie outside 1…12. Raises ValueError outside of the calendar."""
    return _first(year, month), _first(year, month + count)


def year_of(year: int, count: int = 1) -> Days:
    return date(year, 1, 1), date(year + count, 1, 1)


def century_of(number: int) -> Days:
    return year_of((number - 1) * 100 + 1, 100)


def season_of(year: int, season: str) -> Days:
    """The winter of a year begins in its December."""
    return months_of(year, _SEASON_STARTS[season], 3)


def unit_at(unit: str, day: date, steps: int = 0) -> Days:
    """The calendar unit that holds `day`, moved by `steps` units."""
    if unit in _DAYS_OF:
        if unit in ("day", "hour"):
            start = day + timedelta(days=steps)
            return start, start + timedelta(days=1)
        start = day - timedelta(days=day.weekday()) + timedelta(weeks=steps)
        return (start, start + timedelta(days=7)) if unit == "week" else (start + timedelta(5), start + timedelta(7))
    if unit == "century":
        return century_of((day.year - 1) // 100 + 1 + steps)
    if unit == "decade":
        return year_of(day.year // 10 * 10 + 10 * steps, 10)
    size = MONTHS_OF[unit]
    return months_of(day.year, (day.month - 1) // size * size + 1 + steps * size, size)


def moved(unit: str, day: date, steps: int) -> date:
    """`day` moved by that many units; a day that the month lacks becomes its last."""
    if unit in _DAYS_OF:
        return day + timedelta(days=_DAYS_OF[unit] * steps)
    first = _first(day.year, day.month + MONTHS_OF[unit] * steps)
    return first.replace(day=min(day.day, monthrange(first.year, first.month)[1]))


def window(unit: str, day: date, steps: int) -> Days:
    """From `steps` units back up to the end of `day`; forward for positive steps, from `day` on, both ends counted."""
    if unit == "hour":
        unit, steps = "day", -(-steps // 24) if steps > 0 else -(steps // -24) or -1
    other = moved(unit, day, steps)
    return (day, other + timedelta(days=1)) if steps > 0 else (other, day + timedelta(days=1))


def counted(start: int, end: int, unit: str, least: int, most: int, day: date, *, ahead: bool) -> Part:
    """The calendar units that lie `least` to `most` units from `day` (two to three weeks ago); hours are their day."""
    if unit == "hour":
        unit, least, most = "day", least // 24, most // 24
    sign = 1 if ahead else -1
    near, far = (unit_at(unit, moved(unit, day, sign * steps)) for steps in (least, most))
    days = (min(near[0], far[0]), max(near[1], far[1]))
    precision, kind = UNITS[unit], kind_of(unit)
    if least != most:
        kind = "forward" if ahead else "back"
    return Part(start, end, kind, precision, days=days)


def weekday_in(week: Days, weekday: int) -> Days:
    start = week[0] + timedelta(days=weekday)
    return start, start + timedelta(days=1)


FINER: dict[Precision, Precision] = {
    "day": "day",
    "week": "day",
    "month": "week",
    "quarter": "month",
    "half": "month",
    "season": "month",
    "year": "quarter",
    "decade": "year",
    "century": "decade",
}
"""The precision of a part of a unit."""

_PARTS_OF_YEAR = {"early": (1, 3), "mid": (5, 4), "late": (10, 3), "end": (11, 2)}
_PARTS_OF_MONTH = {"early": (1, 11), "mid": (11, 21), "late": (21, 0), "end": (25, 0)}
_PARTS = {"decade": (0, 4, 7, 10), "century": (0, 33, 66, 100), "week": (0, 2, 4, 7)}


def narrowed(days: Days, unit: Precision, which: Narrowing) -> Days:
    """A part of a unit.

    Early, mid and late are January–March, May–August, October–December of a year (its end: November, December), the
    tenths of a month (its end: from the 25th), years 0–3, 4–6, 7–9 of a decade, thirds of a century.
    """
    start, end = days
    if which in ("first_half", "second_half"):
        middle = _middle(days, unit)
        return (start, middle) if which == "first_half" else (middle, end)
    if unit == "year":
        return months_of(start.year, *_PARTS_OF_YEAR[which])
    if unit == "month":
        first, last = _PARTS_OF_MONTH[which]
        return start.replace(day=first), start.replace(day=last) if last else end
    turn = {"early": 0, "mid": 1}.get(which, 2)
    if unit in _PARTS:
        first, last = _PARTS[unit][turn], _PARTS[unit][turn + 1]
        if unit == "week":
            return start + timedelta(days=first), start + timedelta(days=last)
        return _first(start.year + first, 1), _first(start.year + last, 1)
    if unit in ("quarter", "half", "season"):
        size = 2 if unit == "half" else 1
        return months_of(start.year, start.month + turn * size, size)
    return days


def _middle(days: Days, precision: Precision) -> date:
    start, end = days
    if precision == "year":
        return start.replace(month=7)
    if precision == "month":
        return start.replace(day=16)
    if precision in ("decade", "century"):
        return _first((start.year + end.year) // 2, 1)
    return start + timedelta(days=(end - start).days // 2)


def _first(year: int, month: int) -> date:
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
