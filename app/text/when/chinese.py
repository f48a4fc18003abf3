"""Chinese expressions of time: 去年五月, 二〇二三年, 上周二, 近两年, 三天前, 八十年代末, 第三季度, 中秋节."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

from app.text.when.calendar import (
    FINER,
    century_of,
    day_of,
    months_of,
    moved,
    narrowed,
    season_of,
    unit_at,
    weekday_in,
    window,
    year_of,
)
from app.text.when.festivals import festival
from app.text.when.found import Days, Kind, Narrowing, Part, Precision

_FIGURES = {ch: value for value, ch in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2}
_WEEKDAYS = {ch: day for day, ch in enumerate("一二三四五六日")} | {"天": 6}
_NUMBER = r"(?:\d{1,4}|[一二两三四五六七八九十百]{1,5})"
_MONTH = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"
_DAY = r"(?:3[01]|[12]\d|0?[1-9]|三十一?|二?十[一二三四五六七八九]|二十|十|[一二三四五六七八九])"
_NARROW: dict[str, Narrowing] = {
    "初": "early",
    "上旬": "early",
    "初期": "early",
    "前期": "early",
    "早期": "early",
    "中": "mid",
    "中旬": "mid",
    "中期": "mid",
    "中叶": "mid",
    "下旬": "late",
    "后期": "late",
    "晚期": "late",
    "底": "end",
    "末": "end",
    "末期": "end",
    "末年": "end",
    "上半叶": "first_half",
    "下半叶": "second_half",
    "前半叶": "first_half",
    "后半叶": "second_half",
}
_YEAR_WORDS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2, "大后年": 3}
_FESTIVALS = (
    "元旦|情人节|妇女节|植树节|愚人节|五一|劳动节|青年节|儿童节|六一|教师节|国庆|万圣节|双十一|平安夜|圣诞|春节|大年初一"
    "|除夕|大年三十|年三十|元宵|端午|中秋|清明"
)
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
      (?P<m>{_MONTH})\s?月(?:份)?(?:的)?\s?(?:
        (?P<d>{_DAY})\s?[日号](?!楼|院|线|店|馆|机|门|厅|文)(?:\s?(?:到|至|[-–—~～]{{1,2}})\s?(?P<d2>{_DAY})\s?[日号])?
        |(?P<md>[1-3]?\d)(?:\s?[-–—~～至到]\s?(?P<md2>[1-3]?\d)\s?[日号])
        |(?P<mp>上旬|中旬|下旬|[初底末](?![一二三四五六七八九十]))
        |第?(?P<mw>[一二三四])[周个](?:星期|礼拜)?
        |(?P<mwl>最后一周)
      )?
      |(?P<m1>{_MONTH})月?\s?(?:[-–—~～]|至|到)\s?(?P<m2>{_MONTH})月(?:份)?
      |第?(?P<q>[一二三四])季度|第(?P<qd>[1-4])季度|[qQ](?P<ql>[1-4])(?![\w%])
      |(?P<h>[上下])半年(?:度)?|[hH](?P<hl>[12])(?![\w%])
      |(?P<f>{_FESTIVALS})
      |(?P<s>[春夏秋冬])(?:[天季日](?!吧))?(?:里)?
      |年?(?P<yp>[初底末](?!期)|中(?=[旬时,，。 开完就要和前后到我他她上下]|$))
    ))?""",
    re.VERBOSE | re.A,
)
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
# What stands behind a month in Han figures without being a time.
_NO_MONTH = re.compile(r"天(?!气)|花|文艺|怀胎|革命|围城|流火|一[次趟回]|初[一二三四五六七八九十]|[一二三四五六七八九十廿]")
_LUNAR_BEFORE = re.compile(r"(?:农历|阴历|旧历|[每逐历第]年?|闰|(?:同|当|次|翌|某)年?|[年]\s?)$")
_EACH = re.compile(r"(?:每|每[年逢到个周]|逢|历年|隔)的?$")
_YEAR_COUNT_BEFORE = re.compile(r"(?:公元前|前|近|约|长达|有|了|达|过|历时|历经|距今|超过|整整|活|第|连续)\s?$")
_YEAR_COUNT_BEHIND = re.compile(r"(?:的|多|之久|间)?(?:历史|时间|时光|寿命|沧桑|前(?!后)|之前|以前|来|后|之后|以后|之久)")
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
_DAYS = re.compile(r"(大前|大后|前|昨|今|明|后)(天|日|晚|夜|早|晨|儿)(?:个)?")
_DAY_STEPS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_NO_DAY = re.compile(
    r"(?<=后天)(?:的?(?:努力|习得|环境|培养|形成|教育|因素|失明|养成|训练|学习|之本|获得)|性|论)"
    r"|(?<=今日)(?:头条|说法|资本|美国|俄罗斯)|(?<=明日)(?:方舟|之星|香|之后)|(?<=明天)系|(?<=昨日)重现|(?<=前[日夜晚早晨])"
)
_WEEK = re.compile(
    r"(?P<w>上上|下下|上|下|这|本|今)(?:一(?=周|个))?个?(?P<u>周|星期|礼拜)"
    r"(?:(?P<e>末)|的?(?:周|星期|礼拜)?(?P<d>[一二三四五六日天]))?"
)
_WEEK_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "今": 0, "下": 1, "下下": 2}
_NO_WEEK = re.compile(r"[期年长围边身遭密折全岁刊游旋]|一周|到(?:的|地)")
_NO_FIRST = re.compile(r"[次共直样般些定点个边度岁生同家鸣二三四五六七八九十]|起(?!开始|执行|生效|实施|至|到)")
_NO_LAST = re.compile(r"[报程历记]")
_WEEKDAY = re.compile(r"(?:周|星期|礼拜)(?P<d>[一二三四五六日天])")
_WEEKDAY_RANGE = re.compile(r"(?:周|星期|礼拜)[一二三四五六日天]?(?:到|至|[-–—~～]{1,2})(?:周|星期|礼拜)?[一二三四五六日天](?:[每都]|全天)?")
_HABIT_BEFORE = re.compile(r"(?:每|每个|逢|双|单|隔|每逢|(?<![周期拜])[一二两三四五六七八九十几各半多数\d]|四)$")
_MONTH_REL = re.compile(
    rf"(?P<w>上上|下下|上|下|这|本)个?月(?:份)?(?:的)?(?:(?P<d>{_DAY})[日号](?!楼|院|线)|(?:月)?(?P<p>[初底末]|上旬|中旬|下旬))?", re.A
)
_NO_MONTH_REL = re.compile(r"[球亮色光台牙饼刊饷薪经]")
_MONTH_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_UNIT_REL = re.compile(r"(?P<w>上|下|这|本)(?:一)?个?(?P<u>季度|财季|世纪)")
_MONTH_PART = re.compile(r"(?P<u>[月年])(?P<p>[初底末])(?!一|[两二三]|期)")
_PART_BEFORE = re.compile(r"[\d一二三四五六七八九十个每年月历岁全半水明残新近]$")
_UNITS = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "季度": "quarter",
    "年": "year",
    "小时": "hour",
    "钟头": "hour",
    "分钟": "hour",
}
_UNIT = r"(?:个)?(?P<u>天|日|周|星期|礼拜|(?<=个)月|季度|年|小时|钟头|分钟)"
_BACK = re.compile(
    rf"(?P<w>近|最近|过去|这|未来|接下来|今后|往后)(?:的)?(?:(?P<half>半年|半个月)|(?P<n>{_NUMBER}|几)(?:来)?{_UNIT})"
    r"(?:以?来|[里内中间])?",
    re.A,
)
_AHEAD = frozenset(("未来", "接下来", "今后", "往后"))
_AGO = re.compile(
    rf"(?:(?P<half>半年|半个月|半个?小时)|(?:(?P<n1>\d{{1,2}})[-–—~～到至、](?P<n2>\d{{1,2}})"
    rf"|(?P<h1>[一两二三四五六七八])[到至、]?(?P<h2>[二两三四五六七八九])){_UNIT}"
    rf"|(?P<n>{_NUMBER}|好?几){_UNIT.replace('?P<u>', '?P<v>')})(?P<far>多)?(?:之|以)?(?P<w>[前后])"
    r"(?![面来往台端夕果悔续人者者半排门辈])(?!后)",
    re.A,
)
_FEW_BEFORE = re.compile(rf"前几{_UNIT}(?![位名次])", re.A)
_NO_AGO_BEFORE = re.compile(r"[第提\d.一二三四五六七八九十百千万亿每]$")
_DONE = re.compile(r"[^。！？!?；;\n]{0,24}[了过]")


def number(text: str) -> int:
    """`十二`, `两`, `12`, `一百二十` as a number."""
    if text.isdigit() and text.isascii():
        return int(text)
    total, figure = 0, 0
    for ch in text:
        if ch == "十":
            total, figure = total + (figure or 1) * 10, 0
        elif ch == "百":
            total, figure = total + (figure or 1) * 100, 0
        else:
            figure = _FIGURES[ch]
    return total + figure


def _year(text: str) -> int:
    return int(text) if text.isascii() else int("".join(str(_FIGURES[ch]) for ch in text))


def full_year(short: int, day: date) -> int:
    """The year that two figures stand for: up to ten years ahead, the last century otherwise."""
    century = day.year // 100 * 100
    return century + short if century + short <= day.year + 10 else century - 100 + short


def back(low: str, at: int, day: date) -> Part | int | None:
    found = _BACK.match(low, at)
    if not found or (low[at] == "近" and at and low[at - 1] in "附靠接临远最将"):
        return None
    word = found["w"]
    if found["half"]:
        unit, count = ("month", 6) if found["half"] == "半年" else ("day", 15)
    else:
        unit = _UNITS[found["u"]]
        count = 5 if found["n"] == "几" else number(found["n"])
        if word == "这" and (count == 1 or found["n"] == "几"):
            return found.end()
    if not 0 < count <= 300:
        return found.end()
    ahead = word in _AHEAD
    precision: Precision = "day" if unit == "hour" else unit  # type: ignore[assignment]
    return Part(
        at, found.end(), "forward" if ahead else "back", precision, days=window(unit, day, count if ahead else -count)
    )


def ago(low: str, at: int, day: date) -> Part | int | None:
    found = _AGO.match(low, at)
    if not found or _NO_AGO_BEFORE.search(low, max(0, at - 1), at) or len(found["n"] or "") > 3:
        return None
    ahead = found["w"] == "后"
    if ahead and (_DONE.match(low, found.end()) or found["n"] in ("几", "好几")):
        # 三天后他回来了: counted from a day of the story.
        return found.end()
    if found["half"]:
        unit, least, most = {"半年": ("month", 6, 6), "半个月": ("day", 15, 15)}.get(found["half"], ("hour", 1, 1))
    elif found["u"]:
        unit = _UNITS[found["u"]]
        least, most = number(found["n1"] or found["h1"]), number(found["n2"] or found["h2"])
        if least >= most:
            return None
    else:
        unit = _UNITS[found["v"]]
        least, most = (2, 5) if found["n"] in ("几", "好几") else (number(found["n"]),) * 2
    if not 0 < least <= most <= 300:
        return found.end()
    return counted(at, found.end(), unit, least, most, day, ahead=ahead)


def few_before(low: str, at: int, day: date) -> Part | int | None:
    found = _FEW_BEFORE.match(low, at)
    if not found or (at and low[at - 1] in "之以从目的在"):
        return None
    return counted(at, found.end(), _UNITS[found["u"]], 2, 5, day, ahead=False)


def counted(start: int, end: int, unit: str, least: int, most: int, day: date, *, ahead: bool) -> Part:
    """"two to three weeks ago": the calendar units that lie so many units from `day`; hours are the day they fall on."""
    if unit == "hour":
        unit, least, most = "day", least // 24, most // 24
    sign = 1 if ahead else -1
    near, far = (unit_at(unit, moved(unit, day, sign * steps)) for steps in (least, most))
    days = (min(near[0], far[0]), max(near[1], far[1]))
    precision: Precision = "day" if unit == "weekend" else unit  # type: ignore[assignment]
    kind: Kind = "weekend" if unit == "weekend" else precision
    if least != most:
        kind = "forward" if ahead else "back"
    return Part(start, end, kind, precision, days=days)


def day_word(low: str, at: int, day: date) -> Part | int | None:
    found = _DAYS.match(low, at)
    if not found or _NO_DAY.match(low, found.end()) or (at and low[at - 1] in "从以目之先空提" and low[at] in "前后"):
        return None
    if low[at] in "前后" and found[2] not in "天":
        return None
    return Part(at, found.end(), "day", "day", days=unit_at("day", day, _DAY_STEPS[found[1]]))


def week(low: str, at: int, day: date) -> Part | int | None:
    found = _WEEKDAY_RANGE.match(low, at)
    if found:
        # Opening hours, not days.
        return found.end()
    found = _WEEK.match(low, at)
    if found:
        end = found.end()
        own = unit_at("week", day, _WEEK_STEPS[found["w"]])
        if found["e"]:
            return Part(at, end, "weekend", "day", days=unit_at("weekend", day, _WEEK_STEPS[found["w"]]))
        if found["d"]:
            wrong = _NO_FIRST if found["d"] == "一" else _NO_LAST if found["d"] in "日天" else None
            if not (wrong and wrong.match(low, end)):
                return Part(at, end, "day", "day", days=weekday_in(own, _WEEKDAYS[found["d"]]))
            end = found.start("d")
        if found["w"] == "今" or _NO_WEEK.match(low, end):
            return None
        return Part(at, end, "week", "week", days=own)
    found = _WEEKDAY.match(low, at)
    if not found or _HABIT_BEFORE.search(low, max(0, at - 2), at):
        return found.end() if found else None
    wrong = _NO_FIRST if found["d"] == "一" else _NO_LAST if found["d"] in "日天" else None
    if wrong and wrong.match(low, found.end()):
        return None
    return Part(at, found.end(), "day", "day", weekday=_WEEKDAYS[found["d"]])


def relative(low: str, at: int, day: date) -> Part | int | None:
    found = _UNIT_REL.match(low, at)
    if found and not (found["u"] == "世纪" and re.match(r"\s?[1-9一二三四五六七八九][0十]年代", low[found.end() :])):
        unit = "century" if found["u"] == "世纪" else "quarter"
        precision: Precision = "century" if unit == "century" else "quarter"
        part = Part(at, found.end(), precision, precision, days=unit_at(unit, day, _MONTH_STEPS[found["w"]]))
        return _narrow_after(part, low)
    found = _MONTH_REL.match(low, at)
    if not found or _NO_MONTH_REL.match(low, found.end()) or (at and low[at - 1] in "天海楼"):
        return None
    days = unit_at("month", day, _MONTH_STEPS[found["w"]])
    if found["d"]:
        one = day_of(days[0].year, days[0].month, number(found["d"]))
        return Part(at, found.end(), "day", "day", days=one) if one else found.end()
    return _narrowed(Part(at, found.end(), "month", "month", days=days), found["p"])


def _narrow_after(part: Part, low: str) -> Part:
    for word in ("初", "末", "中叶"):
        if low.startswith(word, part.end):
            part.end += len(word)
            return _narrowed(part, word)
    return part


def _narrowed(part: Part, word: str | None) -> Part:
    if not word:
        return part
    which = _NARROW[word]
    unit = part.precision
    part.closing = which == "end"
    part.precision = FINER[unit]
    if part.days:
        part.days = narrowed(part.days, unit, which)
    elif part.yearly:
        part.yearly = partial(_narrowed_in, part.yearly, unit, which)
    return part


def _narrowed_in(whole: Callable[[int], Days | None], unit: Precision, which: Narrowing, year: int) -> Days | None:
    days = whole(year)
    return narrowed(days, unit, which) if days else None


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
        return _narrowed(Part(at, found.end(), "century", "century", days=days), found["p"])
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
    return _narrowed(Part(at, found.end(), "decade", "decade", days=year_of(first, 10)), found["p"])


def _century(text: str, day: date) -> int:
    own = (day.year - 1) // 100 + 1
    return {"上": own - 1, "本": own}.get(text) or number(text)


def part_word(low: str, at: int, day: date) -> Part | int | None:
    found = _MONTH_PART.match(low, at)
    if not found or _PART_BEFORE.search(low, max(0, at - 1), at):
        return None
    unit: Precision = "year" if found["u"] == "年" else "month"
    return _narrowed(Part(at, found.end(), unit, unit, days=unit_at(unit, day)), found["p"])


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
            yearly = partial(_days_in, month=month, first=first, last=number(last) if last else first)
        elif found["mw"] or found["mwl"]:
            kind, precision = "week", "week"
            yearly = partial(_week_in, month=month, number=number(found["mw"]) if found["mw"] else 0)
        else:
            kind, precision, narrow = "month", "month", found["mp"]
            yearly = partial(_months_in, month=month, count=1)
    elif found["m1"]:
        first, last = number(found["m1"]), number(found["m2"])
        if first >= last:
            return end
        kind, precision, yearly = "interval", "month", partial(_months_in, month=first, count=last - first + 1)
    elif found["q"] or found["qd"] or found["ql"]:
        if year is None and found["ql"]:
            return None
        if year is None and at and low[at - 1] in "每个":
            return end
        quarter = number(found["q"] or found["qd"] or found["ql"])
        kind, precision, yearly = "quarter", "quarter", partial(_months_in, month=quarter * 3 - 2, count=3)
    elif found["h"] or found["hl"]:
        if year is None and found["hl"]:
            return None
        first = 1 if (found["h"] or found["hl"]) in "上1" else 7
        kind, precision, yearly, this_year = "half", "half", partial(_months_in, month=first, count=6), True
    elif found["s"]:
        if year is None:
            return None
        kind, precision, yearly = "season", "season", partial(_season_in, season=_SEASONS[found["s"]])
    elif found["f"]:
        tail = _FESTIVAL_TAIL.match(low, end)
        if year is None and found["f"] in _DOUBTFUL_FESTIVALS:
            if low[at - 1 : at] in _SURNAMES or not _SURE_FESTIVAL.match(low, end):
                return end
        end = tail.end() if tail else end
        if year is None and _NO_FESTIVAL.match(low, end):
            return end
        kind, precision, yearly = "day", "day", partial(_festival_in, name=found["f"])
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
        return _narrowed(part, narrow)
    days = yearly(year) if yearly else year_of(year)
    if days is None:
        return end
    return _narrowed(Part(start, end, kind, precision, days=days, dated=figures), narrow)


_SURNAMES = frozenset("李王张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜")


def _days_in(year: int, month: int, first: int, last: int) -> Days | None:
    one, other = day_of(year, month, first), day_of(year, month, last)
    return (one[0], other[1]) if one and other and one[0] < other[1] else None


def _months_in(year: int, month: int, count: int) -> Days:
    return months_of(year, month, count)


def _season_in(year: int, season: str) -> Days:
    return season_of(year, season)


def _festival_in(year: int, name: str) -> Days | None:
    return festival(name, year)


def _week_in(year: int, month: int, number: int) -> Days:
    """The first, second… seven days of a month; 0 for its last seven."""
    start, end = months_of(year, month)
    if number:
        start += timedelta(days=7 * (number - 1))
        return start, min(start + timedelta(days=7), end)
    return end - timedelta(days=7), end


_NUMERAL = "[一二两三四五六七八九十]"
_TRIGGER = re.compile(
    rf"""(?<!\d)['’]?\d{{1,4}}(?=\s?[年月个天日周季世小星礼分]|\s?[-–—~～至到、]\s?\d)
    |[一二两三四五六七八九十百零〇○]{{1,5}}(?=[年月个天日周世小星礼分]|季度|[-–—~～至到、])
    |(?:近|最近|过去|未来|接下来|今后|往后|这)(?=的?(?:[\d几半]|{_NUMERAL}))
    |(?:好?几|半)(?=[个天日周星礼年小分])
    |大[前后][天年]|前几(?=[天个周年])|[前昨今明后][天日晚夜早晨儿]|[前去今本明后]年|公元
    |[上下这本今]{{1,2}}一?个?(?=[周星礼月季财世]|半年)|(?:周|星期|礼拜)(?=[一二三四五六日天])|[月年](?=[初底末])
    |第(?=[一二三四1-4]季度)|{_FESTIVALS}""",
    re.VERBOSE | re.A,
)
_RULES: dict[str, tuple[Callable[[str, int, date], Part | int | None], ...]] = {
    **dict.fromkeys("0123456789一二两三四五六七八九十百零〇○'’好几半", (ago, decade, dated)),
    **dict.fromkeys("近最过未接往", (back,)),
    "今": (back, day_word, week, dated),
    "这": (back, week, relative),
    "前": (few_before, day_word, dated),
    **dict.fromkeys("大昨明后去", (day_word, dated)),
    **dict.fromkeys("上下本", (dated, week, decade, relative)),
    **dict.fromkeys("周星礼", (week,)),
    **dict.fromkeys("月年", (part_word, dated)),
    "公": (decade, dated),
}
_OTHERS = (dated,)


def in_chinese(low: str, day: date) -> list[Part]:
    """Parts in the order of the text; none overlap."""
    parts: list[Part] = []
    at = 0
    while found := _TRIGGER.search(low, at):
        start = found.start()
        at = start + 1
        for rule in _RULES.get(low[start], _OTHERS):
            try:
                part = rule(low, start, day)
            except (ValueError, OverflowError):
                # A count that leads out of the calendar.
                part = None
            if isinstance(part, Part):
                parts.append(part)
                at = part.end
                break
            if part is not None:
                at = max(at, part)
                break
    return parts
