"""English times as seen from the day: yesterday, last Tuesday, the past three weeks, two years ago, on Friday."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import partial

from app.text.when.calendar import UNITS, counted, months_of, season_of, unit_at, weekday_in, window
from app.text.when.english_text import (
    HABIT,
    HOLIDAY,
    MONTH,
    MONTHS,
    SEASON,
    VERBS,
    WEEKDAYS,
    English,
    count_of,
    nearest,
    nearest_season,
)
from app.text.when.festivals import festival
from app.text.when.found import Kind, Part

_WEEKDAY = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"

_SHORT_WEEKDAY = r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"

_NUMBER = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|fifty)"

_UNIT = r"(?:hour|day|week|weekend|month|quarter|year|decade)"

_DAY_WORD = re.compile(r"(?P<w>yesterday|today|tonight|tomorrow|tmrw)\b", re.A)

_DAY_STEPS = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1, "tmrw": 1}

_AMID = re.compile(r"[A-Za-z0-9,] ")

_AROUND_DAY = {"yesterday": re.compile(r"(?:the )?day before $"), "tomorrow": re.compile(r"(?:the )?day after $")}

_LAST = re.compile(
    rf"(?P<w>last|this past|this coming|this|next|past|coming|upcoming|previous)\s(?:"
    rf"(?P<u>night|evening|morning|afternoon|week|weekend|month|quarter|year|decade|century)\b"
    rf"|(?P<wd>{_WEEKDAY}|{_SHORT_WEEKDAY})\b(?!\s?-)"
    rf"|(?P<s>{SEASON})\b"
    rf"|(?P<f>{HOLIDAY})\b"
    rf"|(?P<m>{MONTH})(?![a-z])(?!\s\d)"
    rf"|(?P<n>few|couple of|several|{_NUMBER})[\s-](?P<nu>{_UNIT})s?\b)",
    re.A,
)

_THE_BEFORE = re.compile(r"\b(?:the|these|those|my|our|his|her|their)\s$", re.A)

_SIDE = re.compile(r"\b(earlier|later)\s$", re.A)

_BEFORE_LAST = re.compile(
    rf"(?P<u>week|weekend|month|year|quarter|decade|{_WEEKDAY}|{SEASON})\s(?P<w>before last|after next)\b", re.A
)

_AGO_BEFORE = re.compile(
    rf"(?P<n>(?:a )?few|(?:a )?couple(?: of)?|several|half an?|{_NUMBER})"
    rf"(?:\s?(?:-|–|to|or)\s?(?P<n2>{_NUMBER}))?\s?(?:and a half )?"
    rf"(?P<u>{_UNIT}|minute|min|hr|wk|mon|yr)s?\s$",
    re.A,
)

_AGO = re.compile(r"(?:ago|(?<=from )(?:now|today))\b", re.A)

_IN_TIME = re.compile(
    rf"in (?:about |around )?(?P<n>a few|a couple of|{_NUMBER})\s(?P<u>day|week|month|year)s?\b(?P<t>['’]s? time)?",
    re.A,
)

_STOP = re.compile(r"[.!?;\n]")

_COMING = re.compile(
    r"(?:\b(?:will|is|are|going to|starts?|begins?|due|leaves?|expires?|ends?|arrives?|see you|deadline)\b"
    r"|['’](?:s|re|ll)\b)",
    re.A,
)

_WENT = re.compile(r"\b(?:was|were|did|had|took|built|wrote|learn\w+|finished|\w{3,}ed)\b", re.A)

_OF_UNIT = re.compile(r"(?P<u>day|week|month|quarter|year|decade|century)\b(?!\s(?:of|old))", re.A)

_OF_UNIT_BEFORE = re.compile(r"\b(?:end|beginning|start|middle|close|rest)\s(?:of )?(?:the|this)\s$", re.A)

_WEEKDAY_RANGE = re.compile(
    rf"(?:{_WEEKDAY}|{_SHORT_WEEKDAY})s?\s?(?:-|–|to|through|thru|till)\s?(?:{_WEEKDAY}|{_SHORT_WEEKDAY})s?\b", re.A
)

_WEEKDAY_ALONE = re.compile(rf"(?P<d>{_WEEKDAY}|{_SHORT_WEEKDAY})\b(?!s\b)", re.A)

_NO_WEEKDAY = re.compile(r"\s(?:night (?:lights|football|live)|school|times|telegraph|mail)\b|, bloody", re.A)

_FEAST_BEFORE = re.compile(r"\b(?:black|good|cyber|ash|palm|bloody|super)\s$", re.A)

_DATE_BEHIND = re.compile(r",? \d")

_SHORT_DAY_BEFORE = re.compile(r"\b(?:on|until|till|by|since)\s$", re.A)

_WEEKEND_BEFORE = re.compile(r"\b(?:over|during|on|at) the\s$", re.A)


def read_day_word(scan: English, at: int) -> Part | int | None:
    found = _DAY_WORD.match(scan.low, at)
    if not found:
        return None
    word = found["w"]
    # Amid a sentence a capital makes it a title.
    if scan.capital(at) and _AMID.match(scan.text, max(0, at - 2)) and not scan.text[at:].isupper():
        return found.end()
    steps = _DAY_STEPS[word]
    start = at
    around = _AROUND_DAY.get(word)
    lead = scan.before(around, at, 16) if around else None
    if lead:
        steps *= 2
        start -= len(lead[0])
    return Part(start, found.end(), "day", "day", days=unit_at("day", scan.day, steps))


def read_last(scan: English, at: int) -> Part | int | None:
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
        return _weekday_near(scan, at, end, WEEKDAYS[found["wd"]], word)
    if found["s"]:
        return nearest_season(scan, at, end, found["s"], steps)
    if found["f"]:
        return nearest(scan, at, end, "day", partial(festival, found["f"]), steps)
    if found["m"]:
        name = found["m"].rstrip(".")
        if name in VERBS and not scan.capital(found.start("m")) and word in ("this", "past", "coming"):
            return None
        return nearest(scan, at, end, "month", partial(months_of, month=MONTHS[name], count=1), steps)
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
        return Part(at - len(side[0]), end, precision, precision, days=days)
    if (the and word in ("last", "past", "next")) or word in ("past", "this past"):
        kind: Kind = "forward" if steps > 0 else "back"
        return Part(at, end, kind, precision, days=window(unit, day, steps))
    return Part(at, end, precision, precision, days=unit_at(unit, day, steps))


def _window(scan: English, at: int, found: re.Match[str]) -> Part | int | None:
    if found["w"] == "this" or scan.low[found.end() : found.end() + 3] == " of":
        return found.end()
    count = {"few": 5, "several": 5, "couple of": 2}.get(found["n"]) or count_of(found["n"])
    unit = found["nu"]
    ahead = found["w"] in ("next", "coming", "upcoming", "this coming")
    if not 0 < count <= 300:
        return found.end()
    days = window(unit, scan.day, count if ahead else -count)
    return Part(at, found.end(), "forward" if ahead else "back", UNITS[unit], days=days)


def _weekday_near(scan: English, at: int, end: int, weekday: int, word: str) -> Part:
    """ "last": the latest that lies two days back or more; "next": that of the following week; "this": of this week."""
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


def read_before_last(scan: English, at: int) -> Part | int | None:
    found = _BEFORE_LAST.match(scan.low, at)
    if not found:
        return None
    steps = -2 if found["w"] == "before last" else 2
    unit = found["u"]
    start = at - 4 if scan.low[max(0, at - 4) : at] == "the " else at
    if unit in WEEKDAYS:
        days = weekday_in(unit_at("week", scan.day, steps), WEEKDAYS[unit])
        return Part(start, found.end(), "day", "day", days=days)
    if unit in UNITS:
        kind: Kind = "weekend" if unit == "weekend" else UNITS[unit]
        return Part(start, found.end(), kind, UNITS[unit], days=unit_at(unit, scan.day, steps))
    part = nearest_season(scan, start, found.end(), unit, -1 if steps < 0 else 1)
    if isinstance(part, Part) and part.days:
        year = part.days[0].year + (-1 if steps < 0 else 1)
        part.days = season_of(year, unit)
    return part


def read_ago(scan: English, at: int) -> Part | int | None:
    found = _AGO.match(scan.low, at)
    if not found:
        return None
    ahead = found[0] != "ago"
    at -= 5 * ahead
    lead = scan.before(_AGO_BEFORE, at, 44)
    if not lead:
        return None
    unit = {"minute": "hour", "min": "hour", "hr": "hour", "wk": "week", "mon": "month", "yr": "year"}.get(
        lead["u"], lead["u"]
    )
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
        least = count_of(words)
        most = count_of(lead["n2"]) if lead["n2"] else least
    if lead["u"] in ("minute", "min"):
        least = most = 0
    if not 0 <= least <= most <= 300:
        return found.end()
    return counted(start, found.end(), unit, least, most, scan.day, ahead=ahead)


def read_in_time(scan: English, at: int) -> Part | int | None:
    found = _IN_TIME.match(scan.low, at)
    if not found:
        return None
    lead = _STOP.split(scan.low[max(0, at - 40) : at])[-1]
    # "in two weeks" is as often how long something took.
    if not found["t"] and lead.strip() and (not _COMING.search(lead) or _WENT.search(lead)):
        return found.end()
    least, most = {"a few": (2, 5), "a couple of": (2, 3)}.get(found["n"]) or (count_of(found["n"]),) * 2
    return counted(at, found.end(), found["u"], least, most, scan.day, ahead=True)


def read_of_unit(scan: English, at: int) -> Part | int | None:
    """ "the end of the month": the unit alone, for what stands before it."""
    found = _OF_UNIT.match(scan.low, at)
    lead = scan.before(_OF_UNIT_BEFORE, at, 24)
    if not found or not lead:
        return None
    unit = found["u"]
    part = Part(at, found.end(), UNITS[unit], UNITS[unit], days=unit_at(unit, scan.day))
    part.weak = lead[0].startswith("rest")
    part.start -= 4 if lead[0].endswith("the ") else 5
    return None if part.weak else part


def read_weekday(scan: English, at: int) -> Part | int | None:
    low = scan.low
    found = _WEEKDAY_RANGE.match(low, at)
    if found:
        # Opening hours, not days.
        return found.end()
    found = _WEEKDAY_ALONE.match(low, at)
    if not found:
        return None
    end = found.end()
    if scan.before(HABIT, at, 12) or _NO_WEEKDAY.match(low, end):
        return end
    if scan.before(_FEAST_BEFORE, at, 8):
        return end
    short = not found["d"].endswith("day")
    if short and (not scan.capital(at) or not (scan.before(_SHORT_DAY_BEFORE, at, 8) or _DATE_BEHIND.match(low, end))):
        return None
    return Part(
        at, end, "day", "day", weekday=WEEKDAYS[found["d"]], weak=short and not scan.before(_SHORT_DAY_BEFORE, at, 8)
    )


def read_weekend(scan: English, at: int) -> Part | int | None:
    lead = scan.before(_WEEKEND_BEFORE, at, 12)
    if not lead or scan.low.startswith("s", at + 7) or not lead[0].startswith("over"):
        return None
    steps = 0 if scan.day.weekday() > 4 else -1
    return Part(at - 4, at + 7, "weekend", "day", days=unit_at("weekend", scan.day, steps))
