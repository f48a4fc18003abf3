"""What stands around a part: "early", "from … to", "since", 以来, a clock time, the year that a neighbour names.

Takes parts in the order of the text, and gives them resolved. Knows no single expression of either language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta

from app.text.when.calendar import unit_at
from app.text.when.found import Days, Kind, Part, Precision
from app.text.when.narrow import narrow

_LEAD = 28
_BETWEEN = re.compile(r"\s?(?:to|until|till|through|thru|[-–—~～]{1,2}|到|至|一直到)\s?(?:the\s)?")
_BETWEEN_LONG = re.compile(r"[\u4e00-\u9fff]{0,3}(?:到|至)")
_AND = re.compile(r"\s?(?:and|和|与|跟)\s?(?:the\s)?")
_FROM = re.compile(r"(?:\bfrom (?:about |around |the )?|从|自|由)$", re.A)
_BETWEEN_BEFORE = re.compile(r"(?:\bbetween (?:the )?|在|介于)$", re.A)
_BETWEEN_BEHIND = re.compile(r"之?间")
_BESIDE = re.compile(r"[,，]?\s?[(（]?")
_APART = re.compile(r"[,，]\s")
_NOW = re.compile(
    r"(?:\s?(?:to|until|till|through|-|–|—)\s?(?:the )?(?:present|now|today|date)\b"
    r"|\s?(?:至今|到现在|到今天|至现在|直到现在|到目前))",
    re.A,
)

_BEFORE_PART = re.compile(
    r"(?:\b(?:(?P<since>(?:ever )?since|starting(?: from| in| on)?|beginning (?:in|on))"
    r"|(?P<until>until|till|up to|through|by|no later than)|(?P<before>before|prior to)|(?P<after>after))\s(?:the\s)?"
    r"|(?P<since_>自从|自打|自|从)|(?P<until_>(?:直到|截至|截止到?|(?:^|[，。,;；：:\s])到)\s?))$",
    re.A,
)
_BEHIND_PART = re.compile(
    r"\s?(?P<word>(?P<since>以来|起(?![来床步伏点源名诉草飞码初火])|开始)|(?P<before>之前|以前"
    r"|前(?![后面夕来往端台提景言列几所两往辈])(?=[^\u4e00-\u9fff]|交|完|提|必|要|上|给|把|做|搞|还|就|都|没|的))"
    r"|(?P<after>之后|以后))"
)
_BEHIND_YEAR = re.compile(r"(?P<word>(?P<before>前(?![后夕面]))|(?P<after>后(?![期续来])))")
_AROUND_BEHIND = re.compile(r"\s?(?:前后|左右|上下|为止|同期)")
_CLOCK_BEHIND = re.compile(
    r"(?:的?(?:凌晨|清晨|一早|早上|早晨|大早|上午|中午|午后|下午|傍晚|晚上|夜里|深夜|半夜|晚间?|夜间?|早(?!就|已|在))"
    r"(?:\s?(?:\d{1,2}|[一二三四五六七八九十两]{1,2})[点时](?:半|整|[一三]刻|\d{1,2}分?|[一二三四五]?十[一二三四五六七八九]?分?)?(?:左右|多)?"
    r"|\s?\d{1,2}[:：]\d\d)?"
    r"|\s?\d{1,2}[:：]\d\d(?::\d\d)?(?!\d)|\s?\d{1,2}[点时](?:半|整|\d{1,2}分?)?(?!间)"
    r"|,?\s(?:at\s)?\d{1,2}(?:[:.]\d\d)?\s?(?:am|pm|a\.m\.|p\.m\.|o'clock)(?![a-z])|,?\sat\s(?:\d{1,2}:\d\d|noon|midnight)\b"
    r"|\s(?:early\s)?(?:morning|afternoon|evening|night)\b(?!\s(?:lights|live)))+",
    re.A,
)
_CLOCK_BEFORE = re.compile(
    r"(?:\bat\s|\b(?:from|between)\s\d{1,2}(?:[:.]\d\d)?\s?(?:am|pm)?\s?(?:to|and|-|–)\s?)?\b\d{1,2}(?:[:.]\d\d)?\s?(?:am|pm|a\.m\.|p\.m\.)?\s(?:on|,)\s?$",
    re.A,
)
_STOP = re.compile(r"[.!?。！？;；\n](?=\s|[\u4e00-\u9fff]|$)|[。！？；\n]")
_COMING = re.compile(
    r"\b(?:will|going to|gonna|plan(?:s|ning)? to|upcoming|due|deadline|scheduled|by|until|till|"
    r"we're \w+ing|i'm \w+ing|"
    r"(?:is|are) (?:coming|flying|leaving|starting|moving|happening|planned)|hope to|see you|let's|can we|shall we|"
    r"don't forget|"
    r"remind me|rsvp|expires?|can't wait|looking forward)\b|['’]ll\b"
    r"|打算|计划|准备|预计|截止(?:日期|时间|报名)|将(?!军|近|领|士)|会在|要在|定于|定在|等到|拟于|记得|别忘|预定|即将|之前[交完给]|deadline|到时",
    re.A,
)
_LIVED = re.compile(
    r"\b(?:was|were|did|had|went|ran|lived|worked|served|remained|stayed|married|met|closed|started|began|said|\w{3,}ed)\b",
    re.A,
)


@dataclass(slots=True)
class Resolved:
    """Days that are known, `None` where an end is open."""

    start: int
    end: int
    kind: Kind
    precision: Precision
    first: date | None
    last: date | None


def joined(parts: list[Part], low: str, day: date, *, asking: bool) -> list[Resolved]:
    """Each part, or each pair that makes an interval, with all that belongs to it."""
    parts = _beside(parts, low)
    parts = [part for part in parts if narrow(part, low)]
    # What now opens a longer expression is no time of its own.
    parts = [
        part for part, after in zip(parts, [*parts[1:], None], strict=True) if not after or part.end <= after.start
    ]
    found: list[Resolved] = []
    at = 0
    while at < len(parts):
        floor = parts[at - 1].end if at else 0
        part = parts[at]
        following = parts[at + 1] if at + 1 < len(parts) else None
        try:
            pair = _interval(part, following, low, day, floor, asking=asking) if following else None
            one = pair or (None if part.weak else _alone(part, low, day, floor, asking=asking))
        except (ValueError, OverflowError):
            # It leads out of the calendar.
            pair = one = None
        at += 2 if pair else 1
        if one:
            _clock(one, low, floor, parts[at].start if at < len(parts) else len(low))
            found.append(one)
    return found


def _beside(parts: list[Part], low: str) -> list[Part]:
    """A weekday beside its date says nothing more; a year behind a part that leaves it open belongs to it."""
    kept: list[Part] = []
    for part in parts:
        last = kept[-1] if kept else None
        if last and _BESIDE.fullmatch(low[last.end : part.start]) and "day" in (last.kind, part.kind):
            if part.weekday is not None and last.weekday is None and last.kind == "day":
                last.end = part.end + (low[part.end : part.end + 1] in tuple(")）"))
                continue
            if last.weekday is not None and part.weekday is None and part.kind in ("day", "interval"):
                part.start = last.start
                kept.pop()
        if last and part.yearly and last.kind == "year" and last.dated and _APART.fullmatch(low[last.end : part.start]):
            # The year of a reference, in front of its day: (2003, September 8).
            part.days, part.yearly, part.start = part.yearly(_year(last)), None, last.start
            kept.pop()
        kept.append(part)
    return kept


def _year(part: Part) -> int:
    assert part.days
    return part.days[0].year


def _interval(a: Part, b: Part, low: str, day: date, floor: int, *, asking: bool) -> Resolved | None:
    gap = low[a.end : b.start]
    if len(gap) > 16 or a.kind in ("back", "forward", "since"):
        return None
    lead = low[max(floor, a.start - 20) : a.start]
    start = a.start
    opened = _FROM.search(lead)
    if opened and (_BETWEEN.fullmatch(gap) or _BETWEEN_LONG.fullmatch(gap)):
        start -= len(opened[0])
    elif _AND.fullmatch(gap):
        opened = _BETWEEN_BEFORE.search(lead)
        if not opened or (opened[0] == "在" and not _BETWEEN_BEHIND.match(low, b.end)):
            return None
        start -= len(opened[0])
    elif not _BETWEEN.fullmatch(gap) or (
        a.precision != b.precision and "day" in (a.precision, b.precision) and not (a.dated and b.dated)
    ):
        return None
    first, last = _ends(a, b, low, day, asking=asking)
    if not first or not last or first[0] >= last[1] or a.weekday is not None or b.weekday is not None:
        return None
    end = b.end
    behind = _BETWEEN_BEHIND.match(low, end)
    if behind:
        end = behind.end()
    return Resolved(start, end, "interval", b.precision, first[0], last[1])


def _ends(a: Part, b: Part, low: str, day: date, *, asking: bool) -> tuple[Days | None, Days | None]:
    """Both ends; one that names no year takes that of the other."""
    if a.yearly and not b.yearly and b.days:
        first = a.yearly(b.days[0].year)
        return (a.yearly(b.days[0].year - 1) if first and first[0] > b.days[0] else first), b.days
    if b.yearly and a.days:
        last = b.yearly(a.days[0].year)
        return a.days, (b.yearly(a.days[0].year + 1) if last and last[0] < a.days[0] else last)
    if a.yearly and b.yearly:
        last = _resolve(b, low, day, asking=asking)
        first = a.yearly(last[0].year) if last else None
        return (a.yearly(last[0].year - 1) if first and last and first[0] > last[0] else first), last
    return a.days, b.days


def _coming(part: Part, low: str) -> bool:
    """Whether the sentence looks ahead: a plan, a promise, a deadline."""
    lead = _STOP.split(low[max(0, part.start - 48) : part.start])[-1]
    tail = _STOP.split(low[part.end : part.end + 40], maxsplit=1)[0]
    return bool(_COMING.search(lead + "\x00" + tail)) and not _LIVED.search(lead)


def _resolve(part: Part, low: str, day: date, *, asking: bool) -> Days | None:
    if part.days:
        return part.days
    ahead = not asking and _coming(part, low)
    if part.weekday is not None:
        steps = (part.weekday - day.weekday() - 1) % 7 + 1 if ahead else -((day.weekday() - part.weekday) % 7)
        return unit_at("day", day, steps)
    if part.yearly is None:
        return None
    step = 1 if ahead else -1
    # Eight years reach over a century that is no leap year.
    for year in range(day.year - step, day.year + 9 * step, step):
        days = part.yearly(year)
        if days and (days[1] > day if ahead else days[0] <= day):
            return days
    return None


def _alone(part: Part, low: str, day: date, floor: int, *, asking: bool) -> Resolved | None:
    days = _resolve(part, low, day, asking=asking)
    if not days:
        return None
    found = Resolved(part.start, part.end, part.kind, part.precision, *days)
    if part.kind in ("interval", "back", "forward", "since"):
        return found
    tomorrow = day + timedelta(days=1)
    now = _NOW.match(low, part.end)
    if now and days[0] <= day:
        return replace(found, end=now.end(), kind="since", last=tomorrow)
    lead = _BEFORE_PART.search(low[max(floor, part.start - _LEAD) : part.start])
    tail = (_BEHIND_YEAR.match(low, part.end) if part.kind == "year" else None) or _BEHIND_PART.match(low, part.end)
    if tail and tail["word"] == "开始" and not (lead and _bound(lead) == "since"):
        # 五月开始内测: a beginning, not all that followed.
        tail = None
    words = {_bound(match) for match in (lead, tail) if match}
    if not words:
        return found
    if lead:
        found.start -= len(lead[0].lstrip("，。,;；：: \n"))
    if tail:
        found.end = tail.end()
    return _bounded(found, days, words, part, day, asking=asking)


def _bound(found: re.Match[str]) -> str:
    return next(name.rstrip("_") for name, text in found.groupdict().items() if text and name != "word")


def _bounded(found: Resolved, days: Days, words: set[str], part: Part, day: date, *, asking: bool) -> Resolved:
    """The range that the bounds make of the days of the part itself."""
    first, last, tomorrow = days[0], days[1], day + timedelta(days=1)
    if "since" in words:
        # Of what is still to begin no end is said.
        return replace(found, kind="since", last=tomorrow if first <= day else last)
    if "before" in words:
        edge = last if part.closing else first
        deadline = edge > day and part.precision in ("day", "week", "month") and not asking
        return replace(found, kind="before", first=day if deadline else None, last=edge)
    if "after" in words:
        return replace(found, kind="after", first=last, last=tomorrow if last <= day else None)
    # Of what has ended no beginning is said: the end is what is known.
    coming = last > tomorrow and (first > day or part.closing)
    return replace(found, kind="until", first=min(day, first) if coming else first)


def _clock(found: Resolved, low: str, floor: int, ceiling: int) -> None:
    """Takes in a clock time and words that change nothing."""
    about = _AROUND_BEHIND.match(low, found.end)
    if about:
        found.end = about.end()
    behind = _CLOCK_BEHIND.match(low, found.end)
    if behind and behind.end() <= ceiling:
        found.end = behind.end()
    lead = _CLOCK_BEFORE.search(low[max(floor, found.start - 32) : found.start])
    if lead:
        found.start -= len(lead[0])
