"""Times as words: those of a date for word search, and a question without its times."""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from app.text.when.found import OPEN_END, OPEN_START, TimeFound

_MOST_MONTHS = 12
_MOST_YEARS = 10


def month_words(start: datetime, end: datetime) -> str:
    """The half-open range in the words of both languages: `2023-05-25 25 May 2023 2023年5月25日 5月`.

    A day in full, up to twelve months by name, up to ten years by number; of more, and of an open range, the years of
    the ends that are known.
    """
    if start <= OPEN_START or end >= OPEN_END:
        known = [moment.year for moment in (start, end) if OPEN_START < moment < OPEN_END]
        return " ".join(_year_words(year) for year in known)
    first, last = start.date(), _last_day(start, end)
    if first == last:
        return (
            f"{first.isoformat()} {first.day} {month_name[first.month]} {first.year} "
            f"{first.year}年{first.month}月{first.day}日 {first.month}月"
        )
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    whole_years = (first.month, first.day) == (1, 1) and (last.month, last.day) == (12, 31)
    if months <= _MOST_MONTHS and not whole_years:
        return " ".join(_month_words(first.year, first.month + step) for step in range(months))
    years = range(first.year, last.year + 1)
    return " ".join(_year_words(year) for year in (years if len(years) <= _MOST_YEARS else (first.year, last.year)))


def _last_day(start: datetime, end: datetime) -> date:
    return max(start, end - timedelta(microseconds=1)).date()


def _month_words(year: int, month: int) -> str:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return f"{year}-{month:02d} {month_name[month]} {year} {year}年{month}月 {month}月"


def _year_words(year: int) -> str:
    return f"{year} {year}年"


_LEAD = re.compile(
    r"(?:(?<![a-z])(?:on|in|at|during|over|from|for|of|around|about|within|as of|back in|sometime in|the)\s+"
    r"(?:the (?:night|day|morning|evening|afternoon|week) of\s+)?(?:(?:the|about|around|early|sometime)\s+)?"
    r"|[在于从自](?:大约)?|大约|大概)$",
    re.IGNORECASE,
)
_TAIL = re.compile(r"\s?(?:的时候|期间|那天|那年|那个月|左右|里面|里|间|的(?!话|确|士)|[,，、](?=\s|[\u4e00-\u9fff]))")
_SPACES = re.compile(r"[^\S\n]{2,}")
_BEFORE_MARK = re.compile(r"[^\S\n]+(?=[?!.,;:？！。，；：])")
_EMPTY = re.compile(r"[(（\[【]\s*[)）\]】]")
_EDGES = " \t\n,，、;；:：-–—"


def strip_times(text: str, found: Sequence[TimeFound]) -> str:
    """`text` without the expressions that `find_times` found in it, and without what hung on them.

    "What did I do in May 2023?" becomes "What did I do?", 我在2023年写了什么 becomes 我写了什么. Unchanged when nothing
    was found; empty when nothing else was there.
    """
    if not found:
        return text
    kept: list[str] = []
    opens = True
    at = 0
    for one in found:
        lead = text[at : one.span[0]]
        hang = _LEAD.search(lead, max(0, len(lead) - 48))
        kept.append(lead[: hang.start()] if hang else lead)
        opens = opens and not kept[-1].strip()
        at = one.span[1]
        if text[at : at + 2] in ("'s", "’s"):
            at += 2
        tail = _TAIL.match(text, at)
        if tail and (opens or tail[0].strip() not in (",", "，", "、")):
            at = tail.end()
    kept.append(text[at:])
    rest = _EMPTY.sub("", "".join(kept))
    return _BEFORE_MARK.sub("", _SPACES.sub(" ", rest)).strip(_EDGES)
