"""An English text on its way through the rules, and the vocabulary and steps that they share."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import partial

from app.text.when.calendar import full_year, season_of
from app.text.when.found import Days, Kind, Part, Precision

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}

MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
)

# Those that are verbs, too: small letters in front of a number prove nothing.
VERBS = frozenset(("may", "march", "mar", "dec", "jan"))

WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday mon",
            "tuesday tues tue",
            "wednesday wed",
            "thursday thurs thur thu",
            "friday fri",
            "saturday sat",
            "sunday sun",
        )
    )
    for name in names.split()
}

YEAR = r"(?:1\d{3}|20\d\d)(?![\d%]|[.,:]\d)"

_WORD_NUMBERS = {
    word: number
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
        ]
    )
} | {"a": 1, "an": 1, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "couple": 2}

SEASON = r"(?:spring|summer|autumn|fall|winter)"

HOLIDAY = (
    r"(?:christmas eve|christmas day|christmas|halloween|thanksgiving|new year's (?:eve|day)|valentine's day|easter"
    r"|independence day|fourth of july|boxing day|chinese new year|lunar new year|spring festival"
    r"|mid-autumn festival|dragon boat festival)"
)

# What makes a count of four figures: people, prices, sizes.
COUNTED = re.compile(
    r"\s?(?:[-–]?\s?(?:people|men|women|students|employees|users|copies|votes|points?|pages?|words?|lines?|tokens?|"
    r"characters?|chars?|items?|files?|records?|rows?|cards?|notes?|steps?|times|units?|miles?|met(?:er|re)s?|feet|ft|"
    r"km|kg|g|m|cm|mm|ms|px|mb|gb|kb|mah|hz|mhz|rpm|kcal|calories|degrees|dollars?|euros?|pounds?|yuan|rmb|usd|eur|"
    r"percent|hours?|minutes?|seconds?|days?|weeks?|months?|years?|others|more|bytes?|pieces?|seats|members|or less|"
    r"ti|pro|series|requests?|samples?|documents?|questions?|dpi|sq|square|acres|tons?|watts?|w|k|bc|b\.c|bce)\b"
    r"|[%€£¥$]|人|元|块|美元|次|个|名|万|字|页|米|号|k\b)",
    re.A,
)

DECADE_WORDS = dict(
    zip(
        ["thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"],
        range(1930, 2000, 10),
        strict=True,
    )
)

HABIT = re.compile(r"\b(?:every|each|most|any|a|all|alternate)\s(?:other\s)?$", re.A)

Rule = Callable[["English", int], "Part | int | None"]


class English:
    """One text on its way: small letters for reading, its own for telling names and sentence starts."""

    def __init__(self, text: str, low: str, day: date) -> None:
        self.text = text
        self.low = low
        self.day = day
        self.last_year_end = -1

    def before(self, pattern: re.Pattern[str], at: int, reach: int = 24) -> re.Match[str] | None:
        return pattern.search(self.low[max(0, at - reach) : at])

    def capital(self, at: int) -> bool:
        return self.text[at].isupper()


def year_from(found: re.Match[str], day: date) -> int | None:
    if found["y"]:
        return int(found["y"])
    if found["rel"]:
        return day.year + {"last": -1, "this": 0, "next": 1}[found["rel"]]
    return full_year(int(found["yy"]), day) if found["yy"] else None


def of_year(
    start: int,
    end: int,
    kind: Kind,
    precision: Precision,
    days: Callable[[int], Days | None],
    year: int | None,
    dated: bool,
) -> Part | int:
    if year is None:
        return Part(start, end, kind, precision, yearly=days)
    own = days(year)
    return Part(start, end, kind, precision, days=own, dated=dated) if own else end


def count_of(word: str) -> int:
    return int(word) if word.isdigit() else _WORD_NUMBERS[word]


def nearest(
    scan: English, at: int, end: int, precision: Precision, in_year: Callable[[int], Days | None], steps: int
) -> Part | int:
    """ "last May": the latest that is over; "next May": the first that is to come; "this May": that of the year."""
    day = scan.day
    years = (day.year,) if steps == 0 else (day.year, day.year - 1) if steps < 0 else (day.year, day.year + 1)
    for year in years:
        days = in_year(year)
        if days and (steps == 0 or (steps < 0 and days[1] <= day) or (steps > 0 and days[0] > day)):
            return Part(at, end, precision, precision, days=days)
    return end


def nearest_season(scan: English, at: int, end: int, season: str, steps: int) -> Part | int:
    if season == "winter":
        # It reaches into the next year.
        years = [scan.day.year - 2, scan.day.year - 1, scan.day.year, scan.day.year + 1]
        own = [season_of(year, season) for year in years]
        if steps == 0:
            days = next(days for days in own if days[1] > scan.day)
        elif steps < 0:
            days = [days for days in own if days[1] <= scan.day][-1]
        else:
            days = next(days for days in own if days[0] > scan.day)
        return Part(at, end, "season", "season", days=days)
    return nearest(scan, at, end, "season", partial(season_of, season=season), steps)
