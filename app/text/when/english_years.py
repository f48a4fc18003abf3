"""English years, decades and centuries: figures that are a year only in company, the early 1990s, the 19th century."""

from __future__ import annotations

import re
from datetime import timedelta

from app.text.when.calendar import century_of, full_year, year_of
from app.text.when.english_text import COUNTED, DECADE_WORDS, YEAR, English
from app.text.when.found import Part

_ORDINALS = {
    word: number
    for number, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
        ],
        1,
    )
} | {"twenty-first": 21}

_YEAR_BEFORE = re.compile(
    r"(?:(?P<sure>\b(?:in|since|until|till|during|circa|ca\.|early|mid|late|year|spring|summer|autumn|fall|winter|"
    r"christmas|easter|season|anno)\s|\bmid-)"
    r"|(?P<likely>\b(?:by|before|after|from|around|through|about)\s)"
    r"|(?P<of>\b(?:beginning|start|end|middle|half|quarter|class|election|crisis|crash|war|treaty|act|law|days?|night|"
    r"rest|most|part|revolution|week|month|season|spring|summer|autumn|fall|winter|late|early|outbreak)\sof\s)"
    r"|(?P<open>[(（])|(?P<the>\b(?:the|an?)\s))$",
    re.A,
)

_OPEN_BEFORE = re.compile(r"[\s》”\"’'」\u4e00-\u9fff）)\]][(（]$|^[(（]$")

_CHANGED = re.compile(
    r"(?:increas|decreas|reduc|rose|rise|fell|fall|grew|grow|divid|multipl|up|down|cut|drop|went|elo)\w*\s.{0,12}$"
)

_YEAR_BEHIND_OPEN = re.compile(r"\s?[)）,，;；]")

_AFTER_THE = re.compile(r"\s[a-z]")

_TWO_FIGURES = re.compile(r"\d\d(?![\w'%])", re.A)

_SHORT_YEAR_BEFORE = re.compile(r"\b(?:in|since|until|by|from|class of|spring|summer|fall|autumn|winter)\s'$", re.A)

_FOUR_FIGURES = re.compile(YEAR, re.A)

_NEXT_YEAR = re.compile(r"[-–/](\d\d)(?![\w/-])(?![.,]\d)", re.A)

_LIFE = re.compile(r"\s?[–—-]\s?\d{0,2}\s?[a-z]")

_MORE_YEARS = re.compile(r"(?:,|, and|,? or| and| &|、|和|or|and)\s?$")

_YEAR_RANGE = re.compile(
    rf"(?P<a>{YEAR})(?:\s?[-–—]\s?|\s(?:to|until|till|through|and)\s)"
    rf"(?:(?P<b>{YEAR})|(?P<now>(?:the )?present|now|today)\b)",
    re.A,
)

_RANGE_BEFORE = re.compile(r"\b(?:from|between)\s(?:about |around |circa )?$", re.A)

_DECADE = re.compile(r"(?P<c>1[5-9]|20)(?P<d>\d0)(?:['’])?s\b", re.A)

_SHORT_DECADE = re.compile(r"(?P<d>[3-9]0)(?:['’])?s\b", re.A)

_SHORT_BEFORE = re.compile(r"(?:\bthe\s(?:early|mid|late)?[\s-]?['’]?|(?:^|\s)['’])$", re.A)

_DEGREES = re.compile(
    r"temperature|degree|°|\bhigh|\blow|\bscor|\baged?\b|\bmid-?$|percent|weather|celsius|fahrenheit", re.A
)

_THE_PART_BEFORE = re.compile(r"\bthe (?:early |mid |late |mid-)?$", re.A)

_CENTURY_BEFORE = re.compile(r"(?:(?P<n>\d\d?)(?:st|nd|rd|th)|(?P<w>[a-z]+(?:-first)?))[\s-]$", re.A)

_BC = re.compile(r"\s?(?:bc|b\.c|bce)", re.A)


def read_century(scan: English, at: int) -> Part | int | None:
    lead = scan.before(_CENTURY_BEFORE, at, 20)
    end = at + (9 if scan.low.startswith("centuries", at) else 7)
    if not lead or _BC.match(scan.low, end):
        return None
    count = int(lead["n"]) if lead["n"] else _ORDINALS.get(lead["w"], 0)
    if not 1 <= count <= 30:
        return None
    return Part(at - len(lead[0]), end, "century", "century", days=century_of(count))


def read_decade(scan: English, at: int) -> Part | int | None:
    low = scan.low
    found = _DECADE.match(low, at)
    if found:
        if low[at - 1 : at] in tuple("0123456789.,$-/"):
            return None
        first = int(found["c"] + found["d"])
        if first % 100 == 0 and first < 2000:
            return Part(at, found.end(), "century", "century", days=year_of(first, 100), dated=True)
        return Part(at, found.end(), "decade", "decade", days=year_of(first, 10), dated=True)
    found = _SHORT_DECADE.match(low, at)
    lead = scan.before(_SHORT_BEFORE, at, 12)
    if not found or not lead:
        return None
    around = low[max(0, at - 40) : at] + " " + low[found.end() : found.end() + 16]
    if _DEGREES.search(around):
        return found.end()
    start = at - 1 if low[at - 1] in "'’" else at
    return Part(start, found.end(), "decade", "decade", days=year_of(1900 + int(found["d"]), 10))


def read_decade_word(scan: English, at: int) -> Part | int | None:
    word = next((word for word in DECADE_WORDS if scan.low.startswith(word, at)), None)
    if not word or not scan.before(_THE_PART_BEFORE, at, 14):
        return None
    if _DEGREES.search(scan.low[max(0, at - 40) : at]):
        return None
    return Part(at, at + len(word), "decade", "decade", days=year_of(DECADE_WORDS[word], 10))


def read_years(scan: English, at: int) -> Part | int | None:
    """ "from 1998 to 2003", "(1907–1954)", "since 2019": four figures are a year only in company."""
    low = scan.low
    if low[at - 1 : at] in tuple("0123456789.,:/-–$€£¥#_+'’@&=") and low[at - 4 : at] != "mid-":
        return None
    found = _YEAR_RANGE.match(low, at)
    lead = scan.before(_RANGE_BEFORE, at, 20)
    if found and lead and not COUNTED.match(low, found.end()):
        return _range(scan, at, found, at - len(lead[0]))
    if found and found["now"] and not low[found.end("a")].isspace():
        return _range(scan, at, found, at)
    found = _FOUR_FIGURES.match(low, at)
    if (
        not found
        or (low[found.end() : found.end() + 1] in tuple("-/_") and not _NEXT_YEAR.match(low, found.end()))
        or COUNTED.match(low, found.end())
    ):
        return None
    if low[found.end() : found.end() + 1].isalpha() and low[found.end()].isascii():
        return None
    year = int(found[0])
    season = _NEXT_YEAR.match(low, found.end())
    end = season.end() if season and year % 100 < int(season[1]) else found.end()
    if not _year_in_company(scan, at, end, year):
        if low[at - 1 : at] in ("(", "（") and _LIFE.match(low, end):
            return Part(at, end, "year", "year", days=year_of(year), dated=True, weak=True)
        return None
    if end > found.end() and season:
        days = year_of(year)[0], year_of(year - year % 100 + int(season[1]))[1]
        return Part(at, end, "interval", "year", days=days, dated=True)
    return Part(at, found.end(), "year", "year", days=year_of(year), dated=True)


def read_short_year(scan: English, at: int) -> Part | int | None:
    found = _TWO_FIGURES.match(scan.low, at)
    if not found or not scan.before(_SHORT_YEAR_BEFORE, at, 14):
        return None
    days = year_of(full_year(int(found[0]), scan.day))
    return Part(at - 1, found.end(), "year", "year", days=days, dated=True)


def _range(scan: English, at: int, found: re.Match[str], start: int) -> Part | int | None:
    first = int(found["a"])
    if found["now"]:
        days = year_of(first)[0], scan.day + timedelta(days=1)
        return Part(start, found.end(), "since", "year", days=days, dated=True) if days[0] < days[1] else found.end()
    last = int(found["b"])
    if not 1500 <= first < last <= 2199 or _CHANGED.search(scan.low[max(0, start - 24) : start]):
        return found.end()
    return Part(start, found.end(), "interval", "year", days=(year_of(first)[0], year_of(last)[1]), dated=True)


def _year_in_company(scan: English, at: int, end: int, year: int) -> bool:
    now = scan.day.year
    if at - 8 < scan.last_year_end < at and _MORE_YEARS.fullmatch(scan.low[scan.last_year_end : at].strip() + " "):
        return True
    lead = scan.before(_YEAR_BEFORE, at, 24)
    if not lead:
        return False
    if lead["sure"]:
        return year not in (1024, 2048) or scan.low[max(0, at - 6) : at].endswith(("year ", "since "))
    if lead["likely"]:
        return 1700 <= year <= now + 80 and year != 2048 and not _CHANGED.search(scan.low[max(0, at - 28) : at])
    if lead["of"]:
        return year <= now + 80
    if lead["open"]:
        return (
            1500 <= year <= now + 1
            and _YEAR_BEHIND_OPEN.match(scan.low, end) is not None
            and _OPEN_BEFORE.search(scan.low[max(0, at - 2) : at]) is not None
        )
    return 1900 <= year <= now + 6 and _AFTER_THE.match(scan.low, end) is not None
