"""Chinese times as seen from the day: 昨天, 上周二, 近两年, 三天前, 上个月底."""

from __future__ import annotations

import re
from datetime import date

from app.text.when.calendar import counted, day_of, unit_at, weekday_in, window
from app.text.when.chinese_text import DAY, narrow_by, number
from app.text.when.found import Part, Precision

_WEEKDAYS = {ch: day for day, ch in enumerate("一二三四五六日")} | {"天": 6}

_NUMBER = r"(?:\d{1,4}|[一二两三四五六七八九十百]{1,5})"

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

_WEEKDAY_RANGE = re.compile(
    r"(?:周|星期|礼拜)[一二三四五六日天]?(?:到|至|[-–—~～]{1,2})(?:周|星期|礼拜)?[一二三四五六日天](?:[每都]|全天)?"
)

_HABIT_BEFORE = re.compile(r"(?:每|每个|逢|双|单|隔|每逢|(?<![周期拜])[一二两三四五六七八九十几各半多数\d]|四)$")

_MONTH_REL = re.compile(
    rf"(?P<w>上上|下下|上|下|这|本)个?月(?:份)?(?:的)?(?:(?P<d>{DAY})[日号](?!楼|院|线)|(?:月)?(?P<p>[初底末]|上旬|中旬|下旬))?",
    re.A,
)

_NO_MONTH_REL = re.compile(r"[球亮色光台牙饼刊饷薪经]")

_MONTH_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}

_UNIT_REL = re.compile(r"(?P<w>上|下|这|本)(?:一)?个?(?P<u>季度|财季|世纪)")

_DECADE_BEHIND = re.compile(r"\s?[1-9一二三四五六七八九][0十]年代")

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

_UNIT = r"(?:个)?(?P<u>天|日|周|星期|礼拜|(?<=个)月|季度|年(?![度级])|小时|钟头|分钟)"

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
    if found and not (found["u"] == "世纪" and _DECADE_BEHIND.match(low, found.end())):
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
    return narrow_by(Part(at, found.end(), "month", "month", days=days), found["p"])


def _narrow_after(part: Part, low: str) -> Part:
    for word in ("初", "末", "中叶"):
        if low.startswith(word, part.end):
            part.end += len(word)
            return narrow_by(part, word)
    return part


def part_word(low: str, at: int, day: date) -> Part | int | None:
    found = _MONTH_PART.match(low, at)
    if not found or _PART_BEFORE.search(low, max(0, at - 1), at):
        return None
    unit: Precision = "year" if found["u"] == "年" else "month"
    return narrow_by(Part(at, found.end(), unit, unit, days=unit_at(unit, day)), found["p"])
