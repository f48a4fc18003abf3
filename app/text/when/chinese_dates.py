"""Chinese dates: 2023年5月7日, 去年五月, 二〇二三年春, 八十年代末, 第三季度, 中秋节."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

from app.text.when.calendar import century_of, days_of, full_year, months_of, season_of, year_of
from app.text.when.chinese_text import DAY, FESTIVALS, FIGURES, narrow_by, number
from app.text.when.festivals import festival
from app.text.when.found import Days, Kind, Part, Precision

_MONTH = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"

_YEAR_WORDS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2, "大后年": 3}

# Names and numbers of their own, too: alone they need this behind them.
_DOUBTFUL_FESTIVALS = frozenset(("五一", "六一", "国庆", "清明"))

_SURE_FESTIVAL = re.compile(r"劳动节|儿童节|节|小?长假|假期|黄金周|期间|放假|那|去|回|当天|[前后我来在扫]|[,，、。 ]|$")

_FESTIVAL_TAIL = re.compile(r"(?:劳动节|儿童节|节)?(?:小?长假|假期|黄金周|期间|当天|那天)?")

_NO_FESTIVAL = re.compile(r"快乐|安康|汤圆|晚会|联欢")

_DATE = re.compile(
    rf"""(?:
      (?:公元)?(?P<y>1\d{{3}}|20\d\d|[一二][零〇○一二三四五六七八九]{{3}})\s?年(?:度(?!假))?
      |(?P<short>['’]?\d\d)年(?=生|出生|毕业|底|末|年底|年初|春|夏|秋|冬|\s?{_MONTH}月(?!\d)|的?第?[一二三四]季度)
      |(?P<zero>0\d)年
      |(?P<rel>大前年|大后年|前年|去年|今年|本年|明年|后年)(?:度)?
    )?
    (?:(?:的)?\s?(?:
      (?P<m>{_MONTH})\s?月(?:份)?(?:(?:的)?\s?(?:
        (?P<d>{DAY})\s?[日号](?!楼|院|线|店|馆|机|门|厅|文)(?:\s?(?:到|至|[-–—~～]{{1,2}})\s?(?P<d2>{DAY})\s?[日号])?
        |(?P<md>[1-3]?\d)(?:\s?[-–—~～至到]\s?(?P<md2>[1-3]?\d)\s?[日号])
        |(?P<mp>上旬|中旬|下旬|[初底末](?![一二三四五六七八九十]))
        |第?(?P<mw>[一二三四])[周个](?:星期|礼拜)?
        |(?P<mwl>最后一周)
      ))?
      |(?P<m1>{_MONTH})月?\s?(?:[-–—~～]|至|到)\s?(?P<m2>{_MONTH})月(?:份)?
      |第?(?P<q>[一二三四])季度|第(?P<qd>[1-4])季度|[qQ](?P<ql>[1-4])(?![\w%])
      |(?P<h>[上下])半年(?:度)?|[hH](?P<hl>[12])(?![\w%])
      |(?P<f>{FESTIVALS})
      |(?P<s>[春夏秋冬])(?:[天季日](?!吧))?(?:里)?
      |年?(?P<yp>[初底末](?!期)|中(?=[旬时,，。 开完就要和前后到我他她上下]|$))
    ))?""",
    re.VERBOSE | re.A,
)

_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}

# What stands behind a month in Han figures without being a time.
_NO_MONTH = re.compile(
    r"天(?!气)|花|河|文艺|怀胎|革命|围城|流火|一[次趟回]|初[一二三四五六七八九十]|[一二三四五六七八九十廿]"
)

_LUNAR_BEFORE = re.compile(r"(?:农历|阴历|旧历|[每逐历第]年?|闰|(?:同|当|次|翌|某)年?|[年]\s?)$")

_EACH = re.compile(r"(?:每|每[年逢到个周]|逢|历年|隔)的?$")

_YEAR_COUNT_BEFORE = re.compile(r"(?:公元前|前|近|约|长达|有|了|达|过|历时|历经|距今|超过|整整|活|第|连续)\s?$")

_YEAR_COUNT_BEHIND = re.compile(
    r"(?:的|多|之久|间)?(?:历史|时间|时光|寿命|沧桑|前(?!后)|之前|以前|来|后|之后|以后|之久)"
)

_ERA_BEFORE = re.compile(r"(?:民国|昭和|平成|令和|大正|明治|康熙|乾隆|嘉靖|万历|光绪|洪武|贞观|公元前|前|第|[\d.])$")

_DECADE = re.compile(
    r"(?:(?:(?P<c>\d{1,2}|二十一?|十[一二三四五六七八九]?|上|本)\s?(?:个)?世纪)\s?(?P<cd>[1-9]0|[一二三四五六七八九]十)"
    r"|(?P<full>1\d\d0|20\d0)|(?P<d>[3-9]0|[三四五六七八九]十))\s?年代(?P<p>初期?|早期|中期|末期?|后期|前期|中(?![的后]))?",
    re.A,
)

_CENTURY = re.compile(
    r"(?:公元)?(?P<c>\d{1,2}|二十一?|十[一二三四五六七八九]?|[二三四五六七八九]|上|本)\s?(?:个)?世纪"
    r"(?P<p>初期?|早期|中叶|中期|[末](?!日)|末期|后期|晚期|前期|[上前下后]半叶)?",
    re.A,
)


def _year(text: str) -> int:
    return int(text) if text.isascii() else int("".join(str(FIGURES[ch]) for ch in text))


def decade(low: str, at: int, day: date) -> Part | int | None:
    found = _DECADE.match(low, at)
    if not found:
        found = _CENTURY.match(low, at)
        if not found or _ERA_BEFORE.search(low, max(0, at - 3), at):
            return found.end() if found else None
        count = _century(found["c"], day)
        if not 1 <= count <= 30:
            return found.end()
        days = century_of(count)
        return narrow_by(Part(at, found.end(), "century", "century", days=days), found["p"])
    if at and low[at - 1] in "0123456789第":
        return None
    if found["full"]:
        first = int(found["full"])
    elif found["c"]:
        tens = found["cd"]
        first = (_century(found["c"], day) - 1) * 100 + (int(tens) if tens.isascii() else number(tens))
    else:
        first = 1900 + (int(found["d"]) if found["d"].isascii() else number(found["d"]))
    if not 1000 <= first <= 2190:
        return found.end()
    return narrow_by(Part(at, found.end(), "decade", "decade", days=year_of(first, 10)), found["p"])


def _century(text: str, day: date) -> int:
    own = (day.year - 1) // 100 + 1
    return {"上": own - 1, "本": own}.get(text) or number(text)


def dated(low: str, at: int, day: date) -> Part | int | None:
    """A year, a part of it, or a part that leaves its year open."""
    found = _DATE.match(low, at)
    if not found or found.end() == at:
        return None
    year: int | None = None
    figures = False
    if found["y"]:
        year, figures = _year(found["y"]), True
        if _ERA_BEFORE.search(low, max(0, at - 3), at):
            return low.index("年", at) + 1
        whole = found.end() == low.index("年", at) + 1
        if whole and year % 100 == 0 and _YEAR_COUNT_BEFORE.search(low, max(0, at - 4), at):
            return found.end()
        behind = _YEAR_COUNT_BEHIND.match(low, found.end())
        if whole and behind and (year % 100 == 0 or "历史" in behind[0] or low.startswith("多", found.end())):
            return found.end()
    elif found["short"] or found["zero"]:
        if at and (low[at - 1].isdigit() or low[at - 1] in ".-/"):
            return None
        year, figures = full_year(int((found["short"] or found["zero"]).lstrip("'’")), day), True
    elif found["rel"]:
        if low[at] in "前后" and at and low[at - 1] in "以之从":
            return None
        year = day.year + _YEAR_WORDS[found["rel"]]
    return _inner(low, at, found, day, year, figures)


def _inner(low: str, at: int, found: re.Match[str], day: date, year: int | None, figures: bool) -> Part | int | None:
    start = at
    kind: Kind = "year"
    precision: Precision = "year"
    end = found.end()
    yearly: Callable[[int], Days | None] | None = None
    narrow: str | None = None
    this_year = False
    if year is None and at:
        if low[at - 1].isdigit() or low[at - 1] in ".:-/":
            return None
        if _EACH.search(low, max(0, at - 3), at):
            return end
    if found["m"]:
        month = number(found["m"])
        plain = found["d"] is None and found["md"] is None and found["mp"] is None
        if year is None:
            if _LUNAR_BEFORE.search(low, max(0, at - 2), at) or low[at - 1 : at] in tuple("一二三四五六七八九十两几个"):
                return end
            if plain and not found["m"].isdigit() and _NO_MONTH.match(low, end):
                return end
        if found["d"] or found["md"]:
            kind, precision = "day", "day"
            first = number(found["d"] or found["md"])
            last = found["d2"] or found["md2"]
            if last:
                kind = "interval"
            yearly = partial(days_of, month=month, first=first, last=number(last) if last else first)
        elif found["mw"] or found["mwl"]:
            kind, precision = "week", "week"
            yearly = partial(_week_in, month=month, number=number(found["mw"]) if found["mw"] else 0)
        else:
            kind, precision, narrow = "month", "month", found["mp"]
            yearly = partial(months_of, month=month, count=1)
    elif found["m1"]:
        first, last = number(found["m1"]), number(found["m2"])
        if first >= last:
            return end
        kind, precision, yearly = "interval", "month", partial(months_of, month=first, count=last - first + 1)
    elif found["q"] or found["qd"] or found["ql"]:
        if year is None and found["ql"]:
            return None
        if year is None and at and low[at - 1] in "每个":
            return end
        quarter = number(found["q"] or found["qd"] or found["ql"])
        kind, precision, yearly = "quarter", "quarter", partial(months_of, month=quarter * 3 - 2, count=3)
    elif found["h"] or found["hl"]:
        if year is None and found["hl"]:
            return None
        first = 1 if (found["h"] or found["hl"]) in "上1" else 7
        kind, precision, yearly, this_year = "half", "half", partial(months_of, month=first, count=6), True
    elif found["s"]:
        if year is None:
            return None
        kind, precision, yearly = "season", "season", partial(season_of, season=_SEASONS[found["s"]])
    elif found["f"]:
        tail = _FESTIVAL_TAIL.match(low, end)
        doubtful = year is None and found["f"] in _DOUBTFUL_FESTIVALS
        if doubtful and (low[at - 1 : at] in _SURNAMES or not _SURE_FESTIVAL.match(low, end)):
            return end
        end = tail.end() if tail else end
        if year is None and _NO_FESTIVAL.match(low, end):
            return end
        kind, precision, yearly = "day", "day", partial(festival, found["f"])
    elif found["yp"]:
        if year is None:
            return None
        narrow = found["yp"]
    if year is None:
        if yearly is None:
            return None
        part = Part(start, end, kind, precision, yearly=yearly)
        if this_year:
            part.days, part.yearly = yearly(day.year), None
        return narrow_by(part, narrow)
    days = yearly(year) if yearly else year_of(year)
    if days is None:
        return end
    return narrow_by(Part(start, end, kind, precision, days=days, dated=figures), narrow)


_SURNAMES = frozenset(
    "李王张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜"
)


def _week_in(year: int, month: int, number: int) -> Days:
    """The first, second… seven days of a month; 0 for its last seven."""
    start, end = months_of(year, month)
    if number:
        start += timedelta(days=7 * (number - 1))
        return start, min(start + timedelta(days=7), end)
    return end - timedelta(days=7), end
