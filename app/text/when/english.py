"""English expressions of time: 7 May, last Tuesday, two weeks ago, the early 1990s, Q3 2022, Thanksgiving."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

from app.text.when.calendar import (
    UNITS,
    century_of,
    day_of,
    months_of,
    season_of,
    unit_at,
    weekday_in,
    window,
    year_of,
)
from app.text.when.chinese import counted, full_year
from app.text.when.festivals import festival
from app.text.when.figures import in_figures
from app.text.when.found import Days, Kind, Part, Precision

_MONTHS = {
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
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
)
# Words or names of their own, so that they are months only in company.
_DOUBTFUL = frozenset("march mar april may june august jan feb apr jun jul aug sept sep oct nov dec".split())
# Those that are verbs, too: small letters in front of a number prove nothing.
_VERBS = frozenset(("may", "march", "mar", "dec", "jan"))
_WEEKDAYS = {
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
_WEEKDAY = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_SHORT_WEEKDAY = r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?![\d%])"
_YEAR = r"(?:1\d{3}|20\d\d)(?![\d%]|[.,:]\d)"
_YEAR_REF = rf"(?P<y>{_YEAR})|(?P<rel>last|this|next) year\b|'(?P<yy>\d\d)(?![\ds])"
_WORD_NUMBERS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
    )
} | {"a": 1, "an": 1, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "couple": 2}
_NUMBER = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|fifty)"
_UNIT = r"(?:hour|day|week|weekend|month|quarter|year|decade)"
_ORDINALS = {
    word: number
    for number, word in enumerate(
        (
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
        ).split(),
        1,
    )
} | {"twenty-first": 21}
_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_HOLIDAY = (
    r"(?:christmas eve|christmas day|christmas|halloween|thanksgiving|new year's (?:eve|day)|valentine's day|easter"
    r"|independence day|fourth of july|boxing day|chinese new year|lunar new year|spring festival"
    r"|mid-autumn festival|dragon boat festival)"
)

# What makes a count of four figures: people, prices, sizes.
_COUNTED = re.compile(
    r"\s?(?:[-–]?\s?(?:people|men|women|students|employees|users|copies|votes|points?|pages?|words?|lines?|tokens?|"
    r"characters?|chars?|items?|files?|records?|rows?|cards?|notes?|steps?|times|units?|miles?|met(?:er|re)s?|feet|ft|"
    r"km|kg|g|m|cm|mm|ms|px|mb|gb|kb|mah|hz|mhz|rpm|kcal|calories|degrees|dollars?|euros?|pounds?|yuan|rmb|usd|eur|"
    r"percent|hours?|minutes?|seconds?|days?|weeks?|months?|years?|others|more|bytes?|pieces?|seats|members|or less|"
    r"ti|pro|series|requests?|samples?|documents?|questions?|dpi|sq|square|acres|tons?|watts?|w|k|bc|b\.c|bce)\b"
    r"|[%€£¥$]|人|元|块|美元|次|个|名|万|字|页|米|号|k\b)",
    re.A,
)
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
_CHANGED = re.compile(r"(?:increas|decreas|reduc|rose|rise|fell|fall|grew|grow|divid|multipl|up|down|cut|drop|went|elo)\w*\s.{0,12}$")
_YEAR_BEHIND_OPEN = re.compile(r"\s?[)）,，;；]")
_AFTER_THE = re.compile(r"\s[a-z]")
_TWO_FIGURES = re.compile(r"\d\d(?![\w'%])", re.A)
_SHORT_YEAR_BEFORE = re.compile(r"\b(?:in|since|until|by|from|class of|spring|summer|fall|autumn|winter)\s'$")
_MORE_YEARS = re.compile(r"(?:,|, and|,? or| and| &|、|和|or)\s?$")
_YEAR_RANGE = re.compile(
    rf"(?P<a>{_YEAR})(?:\s?[-–—]\s?|\s(?:to|until|till|through|and)\s)(?:(?P<b>{_YEAR})|(?P<now>(?:the )?present|now|today)\b)",
    re.A,
)
_RANGE_BEFORE = re.compile(r"\b(?:from|between)\s(?:about |around |circa )?$")
_DECADE = re.compile(r"(?P<c>1[5-9]|20)(?P<d>\d0)(?:['’])?s\b", re.A)
_SHORT_DECADE = re.compile(r"(?P<d>[3-9]0)(?:['’])?s\b", re.A)
_SHORT_BEFORE = re.compile(r"(?:\bthe\s(?:early|mid|late)?[\s-]?['’]?|(?:^|\s)['’])$")
_DEGREES = re.compile(r"temperature|degree|°|\bhigh|\blow|\bscor|\baged?\b|\bmid-?$|percent|weather|celsius|fahrenheit")
_DECADE_WORDS = dict(zip("thirties forties fifties sixties seventies eighties nineties".split(), range(1930, 2000, 10), strict=True))
_MONTH_DAY = re.compile(
    rf"(?P<m>{_MONTH})\s?(?P<d>{_DAY})(?!:\d|[.]\d)(?:\s?(?:-|–|—|to|and|&|through)\s?(?P<d2>{_DAY})(?!\s?{_MONTH}\b)(?![:.]\d))?"
    rf"(?:(?:,\s?|\s)(?:of )?(?:{_YEAR_REF}))?",
    re.A,
)
_DAY_MONTH = re.compile(
    rf"(?P<d>{_DAY})(?:\s?(?:-|–|—|to|and|&)\s?(?P<d2>{_DAY}))?\s?(?:of\s)?(?P<m>{_MONTH})(?![a-z])"
    rf"(?:(?:,\s?|\s)(?:of )?(?:{_YEAR_REF}))?",
    re.A,
)
_MONTH_ALONE = re.compile(rf"(?P<m>{_MONTH})(?![a-z])(?:(?:,\s?|\s|-)(?:of )?(?:{_YEAR_REF}))?", re.A)
_OTHER_YEAR = re.compile(r",?\s\d{4}\b", re.A)
_MONTH_BEFORE = re.compile(
    r"(?:(?P<sure>\b(?:in|since|until|till|during|early|mid|late|through)\s(?:early |mid |late )?|\bmid-)"
    r"|(?P<weak>\b(?:to|from|between|and|by|of|before|after)\s|[-–—]\s?))$",
    re.A,
)
_ON = re.compile(r"\b(?:on|by|since|until|till|before|after|from|between|and|to|the|of)\s$")
_DAY_WORD = re.compile(r"(?P<w>yesterday|today|tonight|tomorrow|tmrw)\b", re.A)
_DAY_STEPS = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1, "tmrw": 1}
_AROUND_DAY = {"yesterday": re.compile(r"(?:the )?day before $"), "tomorrow": re.compile(r"(?:the )?day after $")}
_LAST = re.compile(
    rf"(?P<w>last|this past|this coming|this|next|past|coming|upcoming|previous)\s(?:"
    rf"(?P<u>night|evening|morning|afternoon|week|weekend|month|quarter|year|decade|century)\b"
    rf"|(?P<wd>{_WEEKDAY}|{_SHORT_WEEKDAY})\b"
    rf"|(?P<s>{_SEASON})\b"
    rf"|(?P<f>{_HOLIDAY})\b"
    rf"|(?P<m>{_MONTH})(?![a-z])(?!\s\d)"
    rf"|(?P<n>few|couple of|several|{_NUMBER})[\s-](?P<nu>{_UNIT})s?\b)",
    re.A,
)
_THE_BEFORE = re.compile(r"\b(?:the|these|those|my|our|his|her|their)\s$")
_SIDE = re.compile(r"\b(earlier|later)\s$")
_BEFORE_LAST = re.compile(rf"(?P<u>week|weekend|month|year|quarter|decade|{_WEEKDAY}|{_SEASON})\s(?P<w>before last|after next)\b", re.A)
_AGO_BEFORE = re.compile(
    rf"(?P<n>(?:a )?few|(?:a )?couple(?: of)?|several|half an?|{_NUMBER})(?:\s?(?:-|–|to|or)\s?(?P<n2>{_NUMBER}))?\s?(?:and a half )?"
    rf"(?P<u>{_UNIT}|minute|min|hr|wk|mon|yr)s?\s$",
    re.A,
)
_AGO = re.compile(r"(?:ago|from now|from today)\b", re.A)
_IN_TIME = re.compile(rf"in (?:about |around )?(?P<n>a few|a couple of|{_NUMBER})\s(?P<u>day|week|month|year)s?\b(?P<t>['’]s? time)?", re.A)
_COMING = re.compile(r"(?:^|\b(?:will|is|are|going to|starts?|begins?|due|leaves?|expires?|ends?|arrives?|see you|deadline)\b|['’](?:s|re|ll)\b)")
_WENT = re.compile(r"\b(?:was|were|did|had|took|built|wrote|learn\w+|finished|\w{3,}ed)\b")
_QUARTER = re.compile(rf"(?P<k>[qh])(?P<n>[1-4])(?![\w%])(?:(?:,\s?|\s|\sof\s)(?:{_YEAR_REF})|['’](?P<y2>\d\d)(?!\d))?", re.A)
_QUARTER_BEFORE = re.compile(r"\b(?:in|this|last|for|end of|by|early|mid|late|since|during|our|until)\s$")
_QUARTER_BEHIND = re.compile(
    r"\s?(?:的?(?:营收|财报|目标|业绩|收入|计划|预算|okr|销售|利润|复盘|总结|规划)|"
    r"(?:earnings|revenue|results|reports?|goals?|planning|roadmap|budget|okrs?|sales|numbers|review|targets?)\b)"
)
_NEXT_QUARTER = re.compile(r"\s?(?:[-–—~]|to|and|到|至)\s?[qh][1-4](?!\w)")
_YEAR_QUARTER = re.compile(r"(?P<y>20\d\d|19\d\d)[\s-]?(?P<k>[qh])(?P<n>[1-4])(?![\w%])", re.A)
_SEASON_YEAR = re.compile(rf"(?P<s>{_SEASON})(?:,?\s(?:of )?(?:{_YEAR_REF}))", re.A)
_CENTURY_BEFORE = re.compile(r"(?:(?P<n>\d\d?)(?:st|nd|rd|th)|(?P<w>[a-z]+(?:-first)?))[\s-]$", re.A)
_BC = re.compile(r"\s?(?:bc|b\.c|bce)", re.A)
_OF_UNIT = re.compile(r"(?P<u>day|week|month|quarter|year|decade|century)\b(?!\s(?:of|old))", re.A)
_OF_UNIT_BEFORE = re.compile(r"\b(?:end|beginning|start|middle|close|rest)\s(?:of )?(?:the|this)\s$")
_HABIT = re.compile(r"\b(?:every|each|most|any|a|all|alternate)\s(?:other\s)?$")
_WEEKDAY_RANGE = re.compile(rf"(?:{_WEEKDAY}|{_SHORT_WEEKDAY})s?\s?(?:-|–|to|through|thru|till)\s?(?:{_WEEKDAY}|{_SHORT_WEEKDAY})s?\b", re.A)
_WEEKDAY_ALONE = re.compile(rf"(?P<d>{_WEEKDAY}|{_SHORT_WEEKDAY})\b(?!s\b)", re.A)
_NO_WEEKDAY = re.compile(r"\s(?:night (?:lights|football|live)|school|times|telegraph|mail)\b|, bloody")
_SHORT_DAY_BEFORE = re.compile(r"\b(?:on|until|till|by|since)\s$")
_WEEKEND_BEFORE = re.compile(r"\b(?:over|during|on|at) the\s$")

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


def in_english(text: str, low: str, day: date) -> list[Part]:
    """Parts in the order of the text; none overlap."""
    scan = English(text, low, day)
    parts: list[Part] = []
    at = 0
    while found := _TRIGGER.search(low, at):
        start = found.start()
        at = start + 1 if low[start].isdigit() else found.end()
        for rule in _RULES.get(found.lastgroup or "", ()):
            try:
                part = rule(scan, start)
            except (ValueError, OverflowError):
                # A count that leads out of the calendar.
                part = None
            if isinstance(part, Part):
                while parts and parts[-1].end > part.start:
                    parts.pop()
                parts.append(part)
                at = max(part.end, start + 1)
                if part.precision == "year" and part.dated:
                    scan.last_year_end = part.end
                break
            if part is not None:
                at = max(at, part)
                break
    return parts


def _date_figures(scan: English, at: int) -> Part | int | None:
    return in_figures(scan.low, at)


def _year_from(found: re.Match[str], day: date) -> int | None:
    if found["y"]:
        return int(found["y"])
    if found["rel"]:
        return day.year + {"last": -1, "this": 0, "next": 1}[found["rel"]]
    return full_year(int(found["yy"]), day) if found["yy"] else None


def _month_of(word: str) -> int:
    return _MONTHS[word.rstrip(".")]


def _yearly(
    start: int, end: int, kind: Kind, precision: Precision, days: Callable[[int], Days | None], year: int | None, dated: bool
) -> Part | int:
    if year is None:
        return Part(start, end, kind, precision, yearly=days)
    own = days(year)
    return Part(start, end, kind, precision, days=own, dated=dated) if own else end


def _days_in(year: int, month: int, first: int, last: int) -> Days | None:
    one, other = day_of(year, month, first), day_of(year, month, last)
    return (one[0], other[1]) if one and other and one[0] < other[1] else None


def _figure(word: str) -> int:
    return int(re.sub(r"\D", "", word))


def _of_month(scan: English, at: int, found: re.Match[str]) -> Part | int | None:
    """A day of a month, or several."""
    year = _year_from(found, scan.day)
    first = _figure(found["d"])
    last = _figure(found["d2"]) if found["d2"] else first
    days = partial(_days_in, month=_month_of(found["m"]), first=first, last=last)
    if days(2000) is None:
        return found.end()
    kind: Kind = "interval" if last != first else "day"
    start = at
    lead = re.search(r"\b(?:from|between)\s$", scan.low[max(0, at - 10) : at]) if last != first else None
    if lead:
        start -= lead.end() - lead.start()
    return _yearly(start, found.end(), kind, "day", days, year, found["y"] is not None)


def _month_day(scan: English, at: int) -> Part | int | None:
    found = _MONTH_DAY.match(scan.low, at)
    if not found:
        return None
    word = found["m"].rstrip(".")
    plain = found["d"].isdigit() and not (found["y"] or found["rel"] or found["yy"])
    if plain and word in _VERBS and not scan.capital(at) and not scan.before(_ON, at, 9):
        return found.end()
    if plain and _COUNTED.match(scan.low, found.end()):
        return None
    return _of_month(scan, at, found)


def _day_month(scan: English, at: int) -> Part | int | None:
    before = scan.low[at - 1 : at]
    if before and (before in "0123456789.,:/-$#€£¥_'+" or (before.isascii() and before.isalpha())):
        return None
    found = _DAY_MONTH.match(scan.low, at)
    if not found:
        return None
    word = found["m"].rstrip(".")
    plain = found["d"].isdigit() and not (found["y"] or found["rel"] or found["yy"])
    if plain and word in _VERBS and not scan.capital(found.start("m")):
        return None
    return _of_month(scan, at, found)


def _month(scan: English, at: int) -> Part | int | None:
    found = _MONTH_ALONE.match(scan.low, at)
    if not found:
        return None
    word = found["m"].rstrip(".")
    year = _year_from(found, scan.day)
    days = partial(_months_in, month=_MONTHS[word], count=1)
    weak = False
    end = found.end()
    if year is None:
        end = at + len(word)
        if _OTHER_YEAR.match(scan.low, end):
            return end
        if word in _DOUBTFUL:
            company = scan.before(_MONTH_BEFORE, at, 16)
            if not company or (not scan.capital(at) and (company["weak"] or word not in ("may", "march", "april", "june", "august"))):
                # "from May to July" and "March–May" begin with a month that only its neighbour proves.
                weak = scan.capital(at)
                if not weak:
                    return None
            else:
                weak = company["weak"] is not None
        if scan.before(_HABIT, at, 12):
            return end
    part = _yearly(at, end, "month", "month", days, year, found["y"] is not None)
    if isinstance(part, Part):
        part.weak = weak
    return part


def _months_in(year: int, month: int, count: int) -> Days:
    return months_of(year, month, count)


def _day_word(scan: English, at: int) -> Part | int | None:
    found = _DAY_WORD.match(scan.low, at)
    if not found:
        return None
    word = found["w"]
    # Amid a sentence a capital makes it a title.
    if scan.capital(at) and re.search(r"[a-z0-9,] $", scan.text[max(0, at - 2) : at]) and not scan.text[at:].isupper():
        return found.end()
    steps = _DAY_STEPS[word]
    start = at
    around = _AROUND_DAY.get(word)
    lead = scan.before(around, at, 16) if around else None
    if lead:
        steps *= 2
        start -= len(lead[0])
    return Part(start, found.end(), "day", "day", days=unit_at("day", scan.day, steps))


def _last(scan: English, at: int) -> Part | int | None:
    found = _LAST.match(scan.low, at)
    if not found:
        return None
    word = found["w"]
    end = found.end()
    the = scan.before(_THE_BEFORE, at, 8)
    if found["n"]:
        return _window(scan, at, found)
    if word == "previous":
        # Counted from a day of the story.
        return end
    steps = {"last": -1, "this past": -1, "past": -1, "this": 0}.get(word, 1)
    if found["u"]:
        return _last_unit(scan, at, found, steps, the=the is not None)
    if found["wd"]:
        if found["wd"] in ("sun", "sat", "mon", "wed", "fri") and not scan.capital(found.start("wd")):
            return None
        if re.match(r"s\b", scan.low[end:]):
            return end
        return _weekday_near(scan, at, end, _WEEKDAYS[found["wd"]], word)
    if found["s"]:
        return _season_near(scan, at, end, found["s"], steps)
    if found["f"]:
        return _near(scan, at, end, "day", partial(_festival_in, name=found["f"]), steps)
    if found["m"]:
        name = found["m"].rstrip(".")
        if name in _VERBS and not scan.capital(found.start("m")) and word in ("this", "past", "coming"):
            return None
        return _near(scan, at, at + found.end() - at, "month", partial(_months_in, month=_MONTHS[name], count=1), steps)
    return None


def _last_unit(scan: English, at: int, found: re.Match[str], steps: int, *, the: bool) -> Part | int | None:
    unit, end, day = found["u"], found.end(), scan.day
    word = found["w"]
    if unit in ("night", "evening", "morning", "afternoon"):
        if word not in ("last", "this") or (word == "this" and unit == "night") or the:
            return None
        return Part(at, end, "day", "day", days=unit_at("day", day, steps))
    behind = scan.low[end : end + 4]
    if the and word != "coming" and behind.startswith(" of"):
        return end
    if unit == "weekend":
        # On a weekend the last one is the one before.
        if word in ("past", "this past") and day.weekday() > 4:
            steps = 0
        return Part(at, end, "weekend", "day", days=unit_at("weekend", day, steps))
    if unit in ("quarter", "decade", "century") and behind.startswith(" of"):
        return end
    precision = UNITS[unit]
    side = scan.before(_SIDE, at, 10) if word == "this" else None
    if side:
        first, last = unit_at(unit, day)
        days = (first, day + timedelta(days=1)) if side[1] == "earlier" else (day, last)
        return Part(at - len(side[0]), end, precision, precision, days=days)  # type: ignore[arg-type]
    if (the and word in ("last", "past", "next")) or word in ("past", "this past"):
        kind: Kind = "forward" if steps > 0 else "back"
        return Part(at, end, kind, precision, days=window(unit, day, steps))
    return Part(at, end, precision, precision, days=unit_at(unit, day, steps))  # type: ignore[arg-type]


def _window(scan: English, at: int, found: re.Match[str]) -> Part | int | None:
    if found["w"] == "this" or scan.low[found.end() : found.end() + 3] == " of":
        return found.end()
    count = {"few": 5, "several": 5, "couple of": 2}.get(found["n"]) or _count(found["n"])
    unit = found["nu"]
    ahead = found["w"] in ("next", "coming", "upcoming", "this coming")
    if not 0 < count <= 300:
        return found.end()
    days = window(unit, scan.day, count if ahead else -count)
    return Part(at, found.end(), "forward" if ahead else "back", UNITS[unit], days=days)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _WORD_NUMBERS[word]


def _weekday_near(scan: English, at: int, end: int, weekday: int, word: str) -> Part:
    """"last": the latest that lies two days back or more; "next": that of the following week; "this": of this week."""
    day = scan.day
    if word in ("last", "past", "this past"):
        back = (day.weekday() - weekday) % 7
        least = 2 if word == "last" else 1
        start = day - timedelta(days=back if back >= least else back + 7)
        days = (start, start + timedelta(days=1))
    elif word in ("coming", "upcoming", "this coming"):
        start = day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)
        days = (start, start + timedelta(days=1))
    else:
        days = weekday_in(unit_at("week", day, 1 if word == "next" else 0), weekday)
    return Part(at, end, "day", "day", days=days)


def _near(
    scan: English, at: int, end: int, precision: Precision, in_year: Callable[[int], Days | None], steps: int
) -> Part | int:
    """"last May": the latest that is over; "next May": the first that is to come; "this May": that of the year."""
    day = scan.day
    years = (day.year,) if steps == 0 else (day.year, day.year - 1) if steps < 0 else (day.year, day.year + 1)
    for year in years:
        days = in_year(year)
        if days and (steps == 0 or (steps < 0 and days[1] <= day) or (steps > 0 and days[0] > day)):
            return Part(at, end, precision, precision, days=days)  # type: ignore[arg-type]
    return end


def _season_near(scan: English, at: int, end: int, season: str, steps: int) -> Part | int:
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
    return _near(scan, at, end, "season", partial(_season_in, season=season), steps)


def _season_in(year: int, season: str) -> Days:
    return season_of(year, season)


def _festival_in(year: int, name: str) -> Days | None:
    return festival(name, year)


def _before_last(scan: English, at: int) -> Part | int | None:
    found = _BEFORE_LAST.match(scan.low, at)
    if not found:
        return None
    steps = -2 if found["w"] == "before last" else 2
    unit = found["u"]
    start = at - 4 if scan.low[max(0, at - 4) : at] == "the " else at
    if unit in _WEEKDAYS:
        days = weekday_in(unit_at("week", scan.day, steps), _WEEKDAYS[unit])
        return Part(start, found.end(), "day", "day", days=days)
    if unit in UNITS:
        kind: Kind = "weekend" if unit == "weekend" else UNITS[unit]
        return Part(start, found.end(), kind, UNITS[unit], days=unit_at(unit, scan.day, steps))
    part = _season_near(scan, start, found.end(), unit, -1 if steps < 0 else 1)
    if isinstance(part, Part) and part.days:
        year = part.days[0].year + (-1 if steps < 0 else 1)
        part.days = season_of(year, unit)
    return part


def _ago(scan: English, at: int) -> Part | int | None:
    found = _AGO.match(scan.low, at)
    lead = scan.before(_AGO_BEFORE, at, 44)
    if not found:
        return None
    if not lead:
        return at + 5 if found[0] == "from today" else None
    unit = {"minute": "hour", "min": "hour", "hr": "hour", "wk": "week", "mon": "month", "yr": "year"}.get(lead["u"], lead["u"])
    words = lead["n"]
    start = at - len(lead[0])
    before = scan.low[start - 1 : start]
    if before and (before in ".,-/" or (before.isascii() and before.isalnum())):
        return None
    if "few" in words or words == "several":
        least, most = 2, 5
    elif "couple" in words:
        least, most = 1, 3
    elif words.startswith("half"):
        unit, least = {"year": ("month", 6), "hour": ("hour", 0), "day": ("hour", 12)}.get(unit, (unit, 1))
        most = least
    else:
        least = _count(words)
        most = _count(lead["n2"]) if lead["n2"] else least
    if lead["u"] in ("minute", "min"):
        least = most = 0
    if not 0 <= least <= most <= 300:
        return found.end()
    return counted(start, found.end(), unit, least, most, scan.day, ahead=found[0] != "ago")


def _in_time(scan: English, at: int) -> Part | int | None:
    found = _IN_TIME.match(scan.low, at)
    if not found:
        return None
    lead = re.split(r"[.!?;\n]", scan.low[max(0, at - 40) : at])[-1]
    if not found["t"] and (lead.strip() and (not _COMING.search(lead) or lead.strip() == "") or _WENT.search(lead)):
        return found.end()
    if not found["t"] and lead.strip() and not re.search(_COMING.pattern[4:] if False else _COMING.pattern, lead.lstrip() or "x"):
        return found.end()
    least, most = {"a few": (2, 5), "a couple of": (2, 3)}.get(found["n"]) or (_count(found["n"]),) * 2
    return counted(at, found.end(), found["u"], least, most, scan.day, ahead=True)


def _quarter(scan: English, at: int) -> Part | int | None:
    found = _QUARTER.match(scan.low, at)
    if not found:
        return None
    size = 3 if found["k"] == "q" else 6
    which = int(found["n"])
    if size == 6 and which > 2:
        return None
    year = _year_from(found, scan.day) if not found["y2"] else full_year(int(found["y2"]), scan.day)
    if year is None and _NEXT_QUARTER.match(scan.low, found.end()):
        days = partial(_months_in, month=(which - 1) * size + 1, count=size)
        return Part(at, found.end(), "quarter", "quarter", yearly=days, weak=True)
    if year is None and not (
        size == 3 and (scan.before(_QUARTER_BEFORE, at, 9) or _QUARTER_BEHIND.match(scan.low, found.end()))
    ):
        return None
    days = partial(_months_in, month=(which - 1) * size + 1, count=size)
    kind: Precision = "quarter" if size == 3 else "half"
    return _yearly(at, found.end(), kind, kind, days, year, found["y"] is not None)


def _year_quarter(scan: English, at: int) -> Part | int | None:
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


def _season(scan: English, at: int) -> Part | int | None:
    found = _SEASON_YEAR.match(scan.low, at)
    if not found:
        return None
    year = _year_from(found, scan.day)
    days = partial(_season_in, season=found["s"])
    return _yearly(at, found.end(), "season", "season", days, year, found["y"] is not None)


def _holiday(scan: English, at: int) -> Part | int | None:
    found = _HOLIDAY_YEAR.match(scan.low, at)
    if not found or scan.before(_HABIT, at, 12) or scan.before(_WISH, at, 8):
        return None
    year = _year_from(found, scan.day)
    days = partial(_festival_in, name=found["f"])
    return _yearly(at, found.end(), "day", "day", days, year, found["y"] is not None)


_WISH = re.compile(r"\b(?:happy|merry)\s$")
_HOLIDAY_YEAR = re.compile(rf"(?P<f>{_HOLIDAY})(?![a-z])(?:(?:,\s?|\s)(?:of )?(?:{_YEAR_REF}))?(?!\s(?:tree|card|song|carol|island|present|gift|egg|bunny|sweater|lights|market)s?\b)", re.A)


def _century(scan: English, at: int) -> Part | int | None:
    lead = scan.before(_CENTURY_BEFORE, at, 20)
    end = at + (9 if scan.low.startswith("centuries", at) else 7)
    if not lead or _BC.match(scan.low, end):
        return None
    count = int(lead["n"]) if lead["n"] else _ORDINALS.get(lead["w"], 0)
    if not 1 <= count <= 30:
        return None
    return Part(at - len(lead[0]), end, "century", "century", days=century_of(count))


def _of_unit(scan: English, at: int) -> Part | int | None:
    """"the end of the month": the unit alone, for what stands before it."""
    found = _OF_UNIT.match(scan.low, at)
    lead = scan.before(_OF_UNIT_BEFORE, at, 24)
    if not found or not lead:
        return None
    unit = found["u"]
    part = Part(at, found.end(), UNITS[unit], UNITS[unit], days=unit_at(unit, scan.day))  # type: ignore[arg-type]
    part.weak = lead[0].startswith("rest")
    part.start -= 4 if lead[0].endswith("the ") else 5
    return None if part.weak else part


def _decade(scan: English, at: int) -> Part | int | None:
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


def _decade_word(scan: English, at: int) -> Part | int | None:
    word = next((word for word in _DECADE_WORDS if scan.low.startswith(word, at)), None)
    if not word or not scan.before(re.compile(r"\bthe (?:early |mid |late |mid-)?$"), at, 14):
        return None
    if _DEGREES.search(scan.low[max(0, at - 40) : at]):
        return None
    return Part(at, at + len(word), "decade", "decade", days=year_of(_DECADE_WORDS[word], 10))


def _years(scan: English, at: int) -> Part | int | None:
    """"from 1998 to 2003", "(1907–1954)", "since 2019": four figures are a year only in company."""
    low = scan.low
    if low[at - 1 : at] in tuple("0123456789.,:/-–$€£¥#_+'’@&=") and low[at - 4 : at] != "mid-":
        return None
    found = _YEAR_RANGE.match(low, at)
    lead = scan.before(_RANGE_BEFORE, at, 20)
    if found and lead and not _COUNTED.match(low, found.end()):
        return _range(scan, at, found, at - len(lead[0]))
    if found and found["now"] and not low[found.end("a")].isspace():
        return _range(scan, at, found, at)
    found = re.compile(_YEAR, re.A).match(low, at)
    if not found or low[found.end() : found.end() + 1] in tuple("-/_") or _COUNTED.match(low, found.end()):
        return None
    if low[found.end() : found.end() + 1].isalpha() and low[found.end()].isascii():
        return None
    year = int(found[0])
    if not _year_in_company(scan, at, found.end(), year):
        return None
    return Part(at, found.end(), "year", "year", days=year_of(year), dated=True)


def _short_year(scan: English, at: int) -> Part | int | None:
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
    if 0 < scan.last_year_end < at and _MORE_YEARS.fullmatch(scan.low[scan.last_year_end : at].strip() + " "):
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


def _weekday(scan: English, at: int) -> Part | int | None:
    low = scan.low
    found = _WEEKDAY_RANGE.match(low, at)
    if found:
        # Opening hours, not days.
        return found.end()
    found = _WEEKDAY_ALONE.match(low, at)
    if not found:
        return None
    end = found.end()
    if re.match(r"s\b", low[end : end + 2]) or scan.before(_HABIT, at, 12) or _NO_WEEKDAY.match(low, end):
        return end
    if scan.before(re.compile(r"\b(?:black|good|cyber|ash|palm|bloody|super)\s$"), at, 8):
        return end
    short = not found["d"].endswith("day")
    if short and (not scan.capital(at) or not (scan.before(_SHORT_DAY_BEFORE, at, 8) or re.match(r",? \d", low[end : end + 3]))):
        return None
    return Part(at, end, "day", "day", weekday=_WEEKDAYS[found["d"]], weak=short and not scan.before(_SHORT_DAY_BEFORE, at, 8))


def _weekend(scan: English, at: int) -> Part | int | None:
    lead = scan.before(_WEEKEND_BEFORE, at, 12)
    if not lead or scan.low.startswith("s", at + 7) or not lead[0].startswith("over"):
        return None
    steps = 0 if scan.day.weekday() > 4 else -1
    return Part(at - 4, at + 7, "weekend", "day", days=unit_at("weekend", scan.day, steps))


_TRIGGER = re.compile(
    rf"(?P<figure>(?<![\w.])\d|(?<![a-z\d.])\d)"
    rf"|\b(?:(?P<month>{_MONTH}(?![a-z]))"
    rf"|(?P<weekday>(?:{_WEEKDAY}|{_SHORT_WEEKDAY})\b)"
    r"|(?P<last>(?:last|this|next|past|coming|upcoming|previous)\b)"
    r"|(?P<dayword>(?:yesterday|today|tonight|tomorrow|tmrw)\b)"
    r"|(?P<ago>(?:ago|from now|from today)\b)"
    rf"|(?P<intime>in (?=(?:about |around )?(?:a few|a couple of|{_NUMBER})\s(?:day|week|month|year)s?\b))"
    r"|(?P<quarter>[qh][1-4](?!\w))"
    rf"|(?P<season>{_SEASON}\b)"
    rf"|(?P<holiday>{_HOLIDAY}(?![a-z]))"
    r"|(?P<century>century\b|centuries\b)"
    r"|(?P<unit>(?:week|month|quarter|year|decade|day)\b)"
    r"|(?P<weekend>weekend\b)"
    r"|(?P<decade>(?:thirt|fort|fift|sixt|sevent|eight|ninet)ies\b))",
    re.A,
)
_RULES: dict[str, tuple[Rule, ...]] = {
    "figure": (_date_figures, _year_quarter, _day_month, _decade, _years, _short_year),
    "month": (_month_day, _month),
    "weekday": (_before_last, _weekday),
    "last": (_last,),
    "dayword": (_day_word,),
    "ago": (_ago,),
    "intime": (_in_time,),
    "quarter": (_quarter,),
    "season": (_before_last, _season),
    "holiday": (_holiday,),
    "century": (_century, _of_unit),
    "unit": (_before_last, _of_unit),
    "weekend": (_before_last, _weekend),
    "decade": (_decade_word,),
}
