"""The question's time against an episode's: T of Bundle Search. Pure.

The month that is asked for counts 1 (.5 when a day is named that lies more than ten days off), the month after it .4
up to its 15th (people tell afterwards) and then .1; a year that is another one takes .5 away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from app.retrieval.bundle import F8
from app.text.when import OPEN_END, OPEN_START, TimeFound

FAR_DAYS = 10
SOON_DAY = 15
_MOST_MONTHS = 12
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)|[零〇一二三四五六七八九]{4}年|['’]\d\d\b")
_MONTH = re.compile(
    r"\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:uary|ruary|ch|il|ust|tember|ober|ember)?\b"
    r"|[\d一二三四五六七八九十]\s?月|\b\d{1,2}/\d{1,2}\b",
    re.IGNORECASE,
)
_SEEN_FROM = re.compile(
    r"\b(?:last|this|next|past|previous|coming|current|ago|since|before|after|until)\b|[去今明前本上下这]",
    re.IGNORECASE,
)

Moments = NDArray[np.datetime64]


@dataclass(frozen=True, slots=True)
class AskedTime:
    """One time of a question. `months` 1…12, none where only years are meant; `years` none where the question leaves
    the year open; `days` is (first, last) where it names days.
    """

    months: frozenset[int]
    years: frozenset[int]
    days: tuple[np.datetime64, np.datetime64] | None = None


def asked_time(found: TimeFound) -> AskedTime:
    """What an expression of a question says of months, years and days."""
    known = [moment for moment in (found.start, found.end) if OPEN_START < moment < OPEN_END]
    if len(known) < 2:
        return AskedTime(frozenset(), frozenset())
    first, last = found.start, max(found.start, found.end - timedelta(microseconds=1))
    span = (last.year - first.year) * 12 + last.month - first.month + 1
    years = frozenset(range(first.year, min(last.year, first.year + 100) + 1))
    if _leaves_year_open(found.text):
        years = frozenset()
    if span > _MOST_MONTHS or found.precision in ("year", "decade", "century"):
        return AskedTime(frozenset(), years)
    months = frozenset((first.month - 1 + step) % 12 + 1 for step in range(span))
    days = (_day(first), _day(last)) if found.precision in ("day", "week") else None
    return AskedTime(months, years, days)


def _leaves_year_open(text: str) -> bool:
    return bool(_MONTH.search(text)) and not _YEAR.search(text) and not _SEEN_FROM.search(text)


def _day(moment: datetime) -> np.datetime64:
    return np.datetime64(moment.date(), "D")


def time_match(asked: Sequence[AskedTime], dates: Moments) -> F8:
    """T per date (days; NaT: unknown, which matches nothing and contradicts nothing)."""
    match = np.zeros(len(dates))
    months_asked = frozenset(month for one in asked for month in one.months)
    years_asked = frozenset(year for one in asked for year in one.years)
    if not months_asked and not years_asked:
        return match
    known = ~np.isnat(dates)
    days = dates.astype("datetime64[D]")
    month = days.astype("datetime64[M]").astype(np.int64) % 12 + 1
    year = days.astype("datetime64[Y]").astype(np.int64) + 1970
    day = (days - days.astype("datetime64[M]").astype("datetime64[D]")).astype(np.int64) + 1
    right_year = np.isin(year, list(years_asked))
    if years_asked and not np.any(right_year & known):
        # Nothing is of that year: a time that was meant from another moment, "last week" in an old text.
        return match
    if months_asked:
        told_in = np.isin(month, list(months_asked))
        after = np.isin((month - 2) % 12 + 1, list(months_asked))
        far = _far_off([one.days for one in asked if one.days is not None], day)
        match = np.where(told_in, np.where(far, 0.5, 1.0), np.where(after, np.where(day <= SOON_DAY, 0.4, 0.1), 0.0))
    if years_asked:
        match = match - 0.5 * ~right_year
    return np.where(known, match, 0.0)


def _far_off(spans: Sequence[tuple[np.datetime64, np.datetime64]], day: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a day of the month lies more than ten days off every day that is named."""
    if not spans:
        return np.zeros(len(day), np.bool_)
    off = np.full(len(day), np.inf)
    for first, last in spans:
        low, high = _day_of_month(first), _day_of_month(last)
        if first.astype("datetime64[M]") != last.astype("datetime64[M]"):
            low, high = 1, 31
        off = np.minimum(off, np.maximum(np.maximum(low - day, day - high), 0))
    return off > FAR_DAYS


def _day_of_month(date: np.datetime64) -> int:
    return int((date - date.astype("datetime64[M]").astype("datetime64[D]")).astype(np.int64)) + 1
