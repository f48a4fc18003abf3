"""Dates written in figures, which every language shares: 2023-05-25, 2023/5/7, 15.01.2023, 9/23/2021, 2023-05."""

from __future__ import annotations

import re

from app.text.when.calendar import day_of, months_of, year_of
from app.text.when.found import Part

_MONTH = r"(?:1[0-2]|0?[1-9])"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_CLOCK = r"(?:[t ]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?(?!\d))?"
_YEAR_FIRST = re.compile(
    rf"(?P<y>1\d{{3}}|20\d\d)(?P<s>[-/._])(?P<m>{_MONTH})(?P=s)(?P<d>{_DAY})(?![\d_%])(?![-/.]\d){_CLOCK}", re.A
)
_YEAR_LAST = re.compile(
    r"(?P<a>\d\d?)(?P<s>[/.])(?P<b>\d\d?)(?P=s)(?P<y>(?:1[89]|20)\d\d)(?![\d_%-])(?![/.]\d)" + _CLOCK, re.A
)
_YEAR_MONTH = re.compile(r"(?P<y>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2])(?![\w/号-])(?!\.\d)", re.A)
_YEARS = re.compile(
    r"(?P<a>1[5-9]\d\d|20\d\d)\s?(?P<s>[–—~～-]{1,2}|到|至)\s?(?P<b>1[5-9]\d\d|20\d\d)(?![\w.-])(?!号)", re.A
)
_VERSION = re.compile(r"(?:\bv(?:er(?:sion)?)?|版本号?|版|\bbuild|\brelease|编号|号码?|\bno|#|\bid)[.:：]?\s?$")
_PAGES = re.compile(r"(?:\bpp?|\bpages?|\blines?|\bports?|\brooms?|\bnos?|\btel|电话|编号|页|第)[.:：]?\s?$")
_OPENS = re.compile(r"(?:[(（]|\b(?:from|in|during|the|of|years?)\s|[于在自从])$")
# A figure that is glued to these from the left is part of a larger one, of a path or of an identifier.
_GLUED = frozenset("0123456789_-/.#$€£¥%=+:@&")


def in_figures(low: str, at: int) -> Part | int | None:
    """The date whose first figure stands at `at`; an int says where to read on after figures that are none."""
    before = low[at - 1] if at else ""
    if before in _GLUED or (before.isascii() and before.isalpha() and before != ""):
        return None
    found = _YEAR_FIRST.match(low, at)
    if found:
        days = day_of(int(found["y"]), int(found["m"]), int(found["d"]))
        if days is None or (found["s"] == "." and _VERSION.search(low, max(0, at - 10), at)):
            return found.end()
        return Part(at, found.end(), "day", "day", days=days, dated=True)
    found = _YEAR_LAST.match(low, at)
    if found:
        a, b, year = int(found["a"]), int(found["b"]), int(found["y"])
        # Points put the day first; slashes do so or not, and are read only where it makes no difference.
        if found["s"] == "." or a > 12:
            a, b = b, a
        elif b <= 12 and a != b:
            return found.end()
        days = day_of(year, a, b)
        return Part(at, found.end(), "day", "day", days=days, dated=True) if days else found.end()
    found = _YEAR_MONTH.match(low, at)
    if found and not _VERSION.search(low, max(0, at - 10), at):
        days = months_of(int(found["y"]), int(found["m"]))
        return Part(at, found.end(), "month", "month", days=days, dated=True)
    found = _YEARS.match(low, at)
    if found:
        return _years(low, at, found)
    return None


def _years(low: str, at: int, found: re.Match[str]) -> Part | int | None:
    first, last = int(found["a"]), int(found["b"])
    end = found.end()
    chinese = low.startswith("年", end)
    if found["s"] in ("到", "至") and not chinese:
        return None
    sure = chinese or found["s"] not in ("-", "~") or _OPENS.search(low, max(0, at - 8), at)
    if not (sure and first < last) or _PAGES.search(low, max(0, at - 8), at):
        return end
    days = year_of(first)[0], year_of(last)[1]
    return Part(at, end + chinese, "interval", "year", days=days, dated=True)
