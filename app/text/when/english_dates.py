"""English dates: 7 May, May 3-5, 2023, March 2021, Q3 2022, summer of 2019, Christmas."""

from __future__ import annotations

import re
from functools import partial

from app.text.when.calendar import days_of, full_year, months_of, season_of
from app.text.when.english_text import (
    COUNTED,
    HABIT,
    HOLIDAY,
    MONTH,
    MONTHS,
    SEASON,
    VERBS,
    YEAR,
    English,
    of_year,
    year_from,
)
from app.text.when.festivals import festival
from app.text.when.figures import in_figures
from app.text.when.found import Kind, Part, Precision

# Words or names of their own, so that they are months only in company.
_DOUBTFUL = frozenset(
    [
        "march",
        "mar",
        "april",
        "may",
        "june",
        "august",
        "jan",
        "feb",
        "apr",
        "jun",
        "jul",
        "aug",
        "sept",
        "sep",
        "oct",
        "nov",
        "dec",
    ]
)

_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?![\d%])"

_YEAR_REF = rf"(?P<y>{YEAR})|(?P<rel>last|this|next) year\b|'(?P<yy>\d\d)(?![\ds])"

_MONTH_DAY = re.compile(
    rf"(?P<m>{MONTH})\s?(?P<d>{_DAY})(?!:\d|[.]\d)(?:\s?(?:-|–|—|to|and|&|through)\s?(?P<d2>{_DAY})(?!\s?{MONTH}\b)(?![:.]\d))?"
    rf"(?:(?:,\s?|\s)(?:of )?(?:{_YEAR_REF}))?",
    re.A,
)

_DAY_MONTH = re.compile(
    rf"(?P<d>{_DAY})(?:\s?(?:-|–|—|to|and|&)\s?(?P<d2>{_DAY}))?\s?(?:of\s)?(?P<m>{MONTH})(?![a-z])"
    rf"(?:(?:,\s?|\s)(?:of )?(?:{_YEAR_REF}))?",
    re.A,
)

_MONTH_ALONE = re.compile(rf"(?P<m>{MONTH})(?![a-z])(?:(?:,\s?|\s|-)(?:of )?(?:{_YEAR_REF}))?", re.A)

_OTHER_YEAR = re.compile(r",?\s\d{4}\b", re.A)

_MONTH_BEFORE = re.compile(
    r"(?:(?P<sure>\b(?:in|since|until|till|during|early|mid|late|through)\s(?:early |mid |late )?|\bmid-)"
    r"|(?P<weak>\b(?:to|from|between|and|by|of|before|after)\s|[-–—]\s?))$",
    re.A,
)

_OPENS_RANGE = re.compile(r"\b(?:from|between)\s$", re.A)

_ON = re.compile(r"\b(?:on|by|since|until|till|before|after|from|between|and|to|the|of)\s$", re.A)

_QUARTER = re.compile(
    rf"(?P<k>[qh])(?P<n>[1-4])(?![\w%])(?:(?:,\s?|\s|\sof\s)(?:{_YEAR_REF})|['’](?P<y2>\d\d)(?!\d))?", re.A
)

_QUARTER_BEFORE = re.compile(r"\b(?:in|this|last|for|end of|by|early|mid|late|since|during|our|until)\s$", re.A)

_QUARTER_BEHIND = re.compile(
    r"\s?(?:的?(?:营收|财报|目标|业绩|收入|计划|预算|okr|销售|利润|复盘|总结|规划)|"
    r"(?:earnings|revenue|results|reports?|goals?|planning|roadmap|budget|okrs?|sales|numbers|review|targets?)\b)",
    re.A,
)

_NEXT_QUARTER = re.compile(r"\s?(?:[-–—~]|to|and|到|至)\s?[qh][1-4](?!\w)")

_YEAR_QUARTER = re.compile(r"(?P<y>20\d\d|19\d\d)[\s-]?(?P<k>[qh])(?P<n>[1-4])(?![\w%])", re.A)

_SEASON_YEAR = re.compile(rf"(?P<s>{SEASON})(?:,?\s(?:of )?(?:{_YEAR_REF}))", re.A)


def read_date_figures(scan: English, at: int) -> Part | int | None:
    return in_figures(scan.low, at)


def _month_of(word: str) -> int:
    return MONTHS[word.rstrip(".")]


def _figure(word: str) -> int:
    return int(re.sub(r"\D", "", word))


def _of_month(scan: English, at: int, found: re.Match[str]) -> Part | int | None:
    """A day of a month, or several."""
    year = year_from(found, scan.day)
    first = _figure(found["d"])
    last = _figure(found["d2"]) if found["d2"] else first
    days = partial(days_of, month=_month_of(found["m"]), first=first, last=last)
    if days(2000) is None:
        return found.end()
    kind: Kind = "interval" if last != first else "day"
    start = at
    lead = scan.before(_OPENS_RANGE, at, 10) if last != first else None
    if lead:
        start -= len(lead[0])
    return of_year(start, found.end(), kind, "day", days, year, found["y"] is not None)


def read_month_day(scan: English, at: int) -> Part | int | None:
    found = _MONTH_DAY.match(scan.low, at)
    if not found:
        return None
    word = found["m"].rstrip(".")
    plain = found["d"].isdigit() and not (found["y"] or found["rel"] or found["yy"])
    if plain and word in VERBS and not scan.capital(at) and not scan.before(_ON, at, 9):
        return found.end()
    if plain and COUNTED.match(scan.low, found.end()):
        return None
    return _of_month(scan, at, found)


def read_day_month(scan: English, at: int) -> Part | int | None:
    before = scan.low[at - 1 : at]
    if before and (before in "0123456789.,:/-$#€£¥_'+" or (before.isascii() and before.isalpha())):
        return None
    found = _DAY_MONTH.match(scan.low, at)
    if not found:
        return None
    word = found["m"].rstrip(".")
    plain = found["d"].isdigit() and not (found["y"] or found["rel"] or found["yy"])
    if plain and word in VERBS and not scan.capital(found.start("m")):
        return None
    return _of_month(scan, at, found)


def read_month(scan: English, at: int) -> Part | int | None:
    found = _MONTH_ALONE.match(scan.low, at)
    if not found:
        return None
    word = found["m"].rstrip(".")
    year = year_from(found, scan.day)
    days = partial(months_of, month=MONTHS[word], count=1)
    weak = False
    end = found.end()
    if year is None:
        end = at + len(word)
        if _OTHER_YEAR.match(scan.low, end):
            return end
        if word in _DOUBTFUL:
            company = scan.before(_MONTH_BEFORE, at, 16)
            if not company or (
                not scan.capital(at) and (company["weak"] or word not in ("may", "march", "april", "june", "august"))
            ):
                # "from May to July" and "March–May" begin with a month that only its neighbour proves.
                weak = scan.capital(at)
                if not weak:
                    return None
            else:
                weak = company["weak"] is not None
        if scan.before(HABIT, at, 12):
            return end
    part = of_year(at, end, "month", "month", days, year, found["y"] is not None)
    if isinstance(part, Part):
        part.weak = weak
    return part


def read_quarter(scan: English, at: int) -> Part | int | None:
    found = _QUARTER.match(scan.low, at)
    if not found:
        return None
    size = 3 if found["k"] == "q" else 6
    which = int(found["n"])
    if size == 6 and which > 2:
        return None
    year = year_from(found, scan.day) if not found["y2"] else full_year(int(found["y2"]), scan.day)
    if year is None and _NEXT_QUARTER.match(scan.low, found.end()):
        days = partial(months_of, month=(which - 1) * size + 1, count=size)
        return Part(at, found.end(), "quarter", "quarter", yearly=days, weak=True)
    if year is None and not (
        size == 3 and (scan.before(_QUARTER_BEFORE, at, 9) or _QUARTER_BEHIND.match(scan.low, found.end()))
    ):
        return None
    days = partial(months_of, month=(which - 1) * size + 1, count=size)
    kind: Precision = "quarter" if size == 3 else "half"
    return of_year(at, found.end(), kind, kind, days, year, found["y"] is not None)


def read_year_quarter(scan: English, at: int) -> Part | int | None:
    found = _YEAR_QUARTER.match(scan.low, at)
    if not found:
        return None
    size = 3 if found["k"] == "q" else 6
    which = int(found["n"])
    if size == 6 and which > 2:
        return None
    kind: Precision = "quarter" if size == 3 else "half"
    days = months_of(int(found["y"]), (which - 1) * size + 1, size)
    return Part(at, found.end(), kind, kind, days=days, dated=True)


def read_season(scan: English, at: int) -> Part | int | None:
    found = _SEASON_YEAR.match(scan.low, at)
    if not found:
        return None
    year = year_from(found, scan.day)
    days = partial(season_of, season=found["s"])
    return of_year(at, found.end(), "season", "season", days, year, found["y"] is not None)


def read_holiday(scan: English, at: int) -> Part | int | None:
    found = _HOLIDAY_YEAR.match(scan.low, at)
    if not found or scan.before(HABIT, at, 12) or scan.before(_WISH, at, 8):
        return None
    year = year_from(found, scan.day)
    days = partial(festival, found["f"])
    return of_year(at, found.end(), "day", "day", days, year, found["y"] is not None)


_WISH = re.compile(r"\b(?:happy|merry)\s$", re.A)

_HOLIDAY_YEAR = re.compile(
    rf"(?P<f>{HOLIDAY})(?![a-z])(?:(?:,\s?|\s)(?:of )?(?:{_YEAR_REF}))?"
    r"(?!\s(?:tree|card|song|carol|island|present|gift|egg|bunny|sweater|lights|market)s?\b)",
    re.A,
)
