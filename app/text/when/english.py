"""English expressions of time: which rules a word or a figure calls for."""

from __future__ import annotations

import re
from datetime import date

from app.text.when.english_dates import (
    read_date_figures,
    read_day_month,
    read_holiday,
    read_month,
    read_month_day,
    read_quarter,
    read_season,
    read_year_quarter,
)
from app.text.when.english_relative import (
    read_ago,
    read_before_last,
    read_day_word,
    read_in_time,
    read_last,
    read_of_unit,
    read_weekday,
    read_weekend,
)
from app.text.when.english_text import DECADE_WORDS, MONTHS, WEEKDAYS, English, Rule
from app.text.when.english_years import read_century, read_decade, read_decade_word, read_short_year, read_years
from app.text.when.found import Part

_TOKEN = re.compile(r"[a-z]+\d*|\d+", re.A)

_WORDS = re.compile(r"[a-z]+", re.A)

_FIGURE = re.compile(r"\d", re.A)

_FIGURE_RULES: tuple[Rule, ...] = (
    read_date_figures,
    read_year_quarter,
    read_day_month,
    read_decade,
    read_years,
    read_short_year,
)

_RULES: dict[str, tuple[Rule, ...]] = {
    **dict.fromkeys(MONTHS, (read_month_day, read_month)),
    **dict.fromkeys(WEEKDAYS, (read_before_last, read_weekday)),
    **dict.fromkeys(["last", "this", "next", "past", "coming", "upcoming", "previous"], (read_last,)),
    **dict.fromkeys(["yesterday", "tonight", "tomorrow", "tmrw"], (read_day_word,)),
    "today": (read_ago, read_day_word),
    "ago": (read_ago,),
    "now": (read_ago,),
    "in": (read_in_time,),
    **dict.fromkeys(["q1", "q2", "q3", "q4", "h1", "h2"], (read_quarter,)),
    **dict.fromkeys(["summer", "autumn", "fall", "winter"], (read_before_last, read_season)),
    "spring": (read_before_last, read_season, read_holiday),
    **dict.fromkeys(
        [
            "christmas",
            "halloween",
            "thanksgiving",
            "new",
            "valentine",
            "easter",
            "independence",
            "fourth",
            "boxing",
            "chinese",
            "lunar",
            "dragon",
            "mid",
        ],
        (read_holiday,),
    ),
    "century": (read_century, read_of_unit),
    "centuries": (read_century,),
    **dict.fromkeys(["week", "month", "quarter", "year", "decade", "day"], (read_before_last, read_of_unit)),
    "weekend": (read_before_last, read_weekend),
    **dict.fromkeys(DECADE_WORDS, (read_decade_word,)),
}

# Some open too many sentences to tell anything: what follows them does.
_TELLING = (
    frozenset(_RULES)
    | frozenset(["hours", "days", "weeks", "months", "years", "decades", "night", "morning", "evening", "afternoon"])
) - frozenset(["in", "this", "new", "mid", "past", "now", "fall"])


def in_english(text: str, low: str, day: date) -> list[Part]:
    """Parts in the order of the text; none overlap."""
    # Most texts name no time; those are told by their words alone.
    if not _FIGURE.search(low) and _TELLING.isdisjoint(_WORDS.findall(low)):
        return []
    scan = English(text, low, day)
    parts: list[Part] = []
    at = 0
    for token in _TOKEN.finditer(low):
        start = token.start()
        word = token[0]
        rules = _FIGURE_RULES if word[0] <= "9" else _RULES.get(word)
        if rules is None or start < at or (rules is _FIGURE_RULES and low[start - 1 : start] == "."):
            continue
        for rule in rules:
            try:
                part = rule(scan, start)
            except (ValueError, OverflowError):
                # A count that leads out of the calendar.
                part = None
            if isinstance(part, Part):
                while parts and parts[-1].end > part.start:
                    parts.pop()
                parts.append(part)
                at = part.end
                if part.precision == "year" and part.dated:
                    scan.last_year_end = part.end
                break
            if part is not None:
                at = max(at, part)
                break
    return parts
