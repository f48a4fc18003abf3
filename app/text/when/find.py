"""From a text and the moment from which it speaks to the ranges of time that it names.

The only place that knows both languages, titles, addresses and zones.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from datetime import UTC, date, datetime, time, tzinfo

from app.text.when.chinese import in_chinese
from app.text.when.english import in_english
from app.text.when.found import OPEN_END, OPEN_START, Part, TimeFound
from app.text.when.join import Resolved, joined

_FULL_WIDTH = {0xFF10 + figure: 0x30 + figure for figure in range(10)} | {0x2019: 0x27, 0xFF0F: 0x2F, 0xFF0D: 0x2D}
_WIDE = re.compile("[\uff10-\uff19\u2019\uff0f\uff0d]")
_ADDRESS = re.compile(
    r"(?:[a-z]{2,8}://|www\.)[!-~]+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}", re.A
)
_TITLE = re.compile(r"《[^《》\n]{1,80}》")
_QUOTES = frozenset("\"'“”‘’「」『』")
_CHINESE = re.compile("[年月日天周号季昨今明前节礼后末世五十春中端清除元圣国双平情愚]|星期|小时|分钟|[一-龥]\\s?[0-9]")


def find_times(text: str, said_at: datetime, *, zone: tzinfo | None = None, asking: bool = False) -> list[TimeFound]:
    """The times that `text` names, in its order, none overlapping; relative ones as seen from `said_at`.

    Ranges lie in `zone`, else in the zone of `said_at`, else in UTC. Precision before recall: a number is a year only
    where its company says so, "may" a month, "on Sundays" never a day. What is decided where usage is not:

    * A day, month or weekday without a year is the latest that has begun by `said_at`. Where its sentence looks ahead
      (will, plan to, due, by; 打算, 计划, 记得) it is the first that is not over; never so when `asking`: questions ask
      for what is on record.
    * "last Friday" is the latest that lies two days back or more, "next Friday" and 下周五 that of the next calendar
      week, 上周五 that of the last one; "this May" is that of the year, "last May" the latest that is over.
    * "last month" is the calendar month; "the last month", "the past three weeks", 近两年 reach from that many units
      back to the end of the day; "the next two weeks" and 未来两周 from the day on.
    * "three weeks ago", 两年前, 三个月后 are the calendar week, year, month that lies there; "a few" is two to five,
      "a couple" one to three units.
    * "since" ends with the day. "until" of the future begins with the day; until of what is over is that time itself.
      "before 2010" has no start, "after" what is to come no end: OPEN_START, OPEN_END.
    * Seasons are those of the northern half, winter begins in the December of its year; weeks begin on Monday.
    """
    zone = zone or said_at.tzinfo or UTC
    day = (said_at.astimezone(zone) if said_at.tzinfo else said_at).date()
    low = _small(text)
    parts = in_english(text, low, day)
    if not text.isascii() and _CHINESE.search(low):
        parts = _merged(in_chinese(low, day), parts)
    if not parts:
        return []
    parts = _spoken(parts, low)
    found = [_found(one, text, zone) for one in joined(parts, low, day, asking=asking)] if parts else []
    return [one for one in found if one.start < one.end]


def _small(text: str) -> str:
    """Small letters and plain figures, as many characters as before."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(ch.lower() if len(ch.lower()) == 1 else ch for ch in text)
    return low.translate(_FULL_WIDTH) if not low.isascii() and _WIDE.search(low) else low


def _merged(first: list[Part], second: list[Part]) -> list[Part]:
    """Both in the order of the text; of two that overlap the longer."""
    kept: list[Part] = []
    for part in sorted(first + second, key=lambda part: (part.start, -part.end)):
        if kept and part.start < kept[-1].end:
            if part.end - part.start > kept[-1].end - kept[-1].start:
                kept[-1] = part
        else:
            kept.append(part)
    return kept


def _spoken(parts: list[Part], low: str) -> list[Part]:
    """Without those that are names: a title that is nothing but a time, a part of an address."""
    named = [found.span() for found in _TITLE.finditer(low)] if "《" in low else []
    addressed = "@" in low or "://" in low or "www." in low
    closed = [found.span() for found in _ADDRESS.finditer(low)] if addressed else []
    kept = []
    for part in parts:
        quoted = low[part.start - 1 : part.start] in _QUOTES and low[part.end : part.end + 1] in _QUOTES
        if quoted and not (part.dated and part.precision == "day"):
            continue
        if not part.dated and (_inside(part, named) or low[part.start - 1 : part.start] in ("/", "#")):
            continue
        if not _inside(part, closed):
            kept.append(part)
    return kept


def _inside(part: Part, spans: list[tuple[int, int]]) -> bool:
    """Whether one of the spans, which are in order, reaches into the part."""
    at = bisect_left(spans, (part.end, 0)) - 1
    return at >= 0 and spans[at][1] > part.start


def _found(one: Resolved, text: str, zone: tzinfo) -> TimeFound:
    return TimeFound(
        start=_midnight(one.first, zone) if one.first else OPEN_START,
        end=_midnight(one.last, zone) if one.last else OPEN_END,
        text=text[one.start : one.end],
        span=(one.start, one.end),
        kind=one.kind,
        precision=one.precision,
    )


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone)
