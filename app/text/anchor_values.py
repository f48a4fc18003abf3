"""Dates, money, percentages and numbers in a text, and their keys. Chinese and English, regular expressions only.

Says how a number is written, not what it means: which day "yesterday" was is for others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Final, Literal

from app.text.normalise import HAN, fold

ValueKind = Literal["date", "money", "percent", "quantity", "number"]
Value = tuple[ValueKind, str, int, int]
"""Kind, key, start, end."""

# ------------------------------------------------------------------------------------ numbers

_HAN_DIGITS: Final = dict(zip("〇零一二三四五六七八九两", (0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2), strict=True))
_HAN_POWERS: Final = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_NUMBER_LIST = """
    one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 ten 10 eleven 11 twelve 12 dozen 12 fifteen 15
    twenty 20 thirty 30 forty 40 fifty 50 sixty 60 seventy 70 eighty 80 ninety 90 hundred 100"""
_ENGLISH_NUMBERS: Final = dict(zip(_NUMBER_LIST.split()[::2], map(int, _NUMBER_LIST.split()[1::2]), strict=True))
_SCALES: Final = {
    **dict.fromkeys(("k", "thousand", "千"), 10**3),
    **dict.fromkeys(("m", "mn", "million", "millions", "百万"), 10**6),
    **dict.fromkeys(("b", "bn", "billion", "billions", "十亿"), 10**9),
    **dict.fromkeys(("trillion", "trillions", "万亿"), 10**12),
    "百": 100,
    "万": 10**4,
    "十万": 10**5,
    "千万": 10**7,
    "亿": 10**8,
}

_N = r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+|/\d{1,3}(?![\d/]))?"
_H = "[〇零一二三四五六七八九十百千万亿两]"
_LEFT = r"(?<![A-Za-z0-9_.])(?<!\d,)(?<![A-Za-z]-)(?<!\d-)"
_SCALE = r"(?:万亿|百万|千万|十亿|十万|[百千万亿]|(?:thousand|[mbtr]{1,2}illions?|bn|mn)\b|[kKmMbB](?![A-Za-z0-9]))"

# ---------------------------------------------------------------------------------------- dates

_MONTH_LIST = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTHS: Final = _MONTH_LIST.split()
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_CLEAR_MONTH = (
    r"(?:January|February|April|June|July|August|September|October|November|December"
    r"|(?:(?<=[Ii]n )|(?<=[Oo]f )|(?<=[Bb]y )|(?<=last )|(?<=this )|(?<=next )|(?<=since )|(?<=until )|(?<=early )"
    r"|(?<=late ))(?:May|March))"
)
_WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_TH = r"(?:st|nd|rd|th)?"
_COUNT = r"(?i:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|a few|a couple of|several|many)"
_PERIOD = r"(?:second|minute|hour|day|night|week|weekend|fortnight|month|quarter|year|decade|centur)(?:s|y|ies)?"
_DIGIT_DATES = (
    r"(?<![\w.])(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])[-/.](?:[12]\d|3[01]|0?[1-9])(?!\d)(?:[T ]\d{1,2}:\d\d(?::\d\d)?)?",
    r"(?<![\w.])(?:19|20)\d\d[-/](?:0[1-9]|1[0-2])(?![-/.]?\w)",
    r"(?<![\w./])\d{1,2}[/.-]\d{1,2}[/.-](?:19|20)\d\d(?!\w)",
    rf"(?<!\w)\d{{1,2}}{_TH}(?: of)? {_MONTH}\b\.?(?:,? \d{{4}}\b)?",
    r"\b(?:19|20)\d\d[ -]?(?:Q[1-4]|H[12])\b",
    r"(?<!\w)\d{1,2}:[0-5]\d(?::[0-5]\d)?(?!\d)(?:\s?(?:[AaPp][Mm]\b|[ap]\.m\.))?|(?<![\w.])\d{1,2}\s?(?:[AaPp][Mm]\b|[ap]\.m\.)",
    rf"\b\d+ {_PERIOD} (?:ago|earlier|later)\b",
    r"(?<![\w.,-])(?:1[0-9]|20)\d0s\b|(?<!\w)[1-9]0s\b|\b\d{1,2}(?:st|nd|rd|th)[ -][Cc]entur(?:y|ies)\b",
    r"(?<![\d.])\d{1,2}点(?:半|钟|\d{1,2}分)|(?<![\d.])\d{1,2}时\d{1,2}分",
    r"(?<![A-Za-z0-9.])\d{1,2}日(?![均常用益本])",
)
_WORD_DATES = (
    rf"{_MONTH}\b\.? \d{{1,2}}{_TH}\b(?!,\d)(?:\s?[-–—]\s?\d{{1,2}}{_TH}\b)?(?:,? \d{{4}}\b)?",
    rf"{_MONTH}\b\.?,? (?:of )?\d{{4}}\b",
    rf"{_CLEAR_MONTH}\b",
    r"(?:Q[1-4]|H[12])[ /-]?(?:19|20)\d\d\b|FY ?\d{2,4}\b|Q[1-4]\b",
    rf"(?:[Ll]ast|[Nn]ext|[Tt]his|[Pp]ast|[Cc]oming) (?:{_COUNT} )?(?:{_PERIOD}|{_WEEKDAY}|{_MONTH}|spring|summer"
    r"|autumn|fall|winter|Christmas|Easter|Mon|Tues?|Wed|Thur?s?|Fri|Sat|Sun)\b",
    rf"{_COUNT} {_PERIOD} (?:ago|earlier|later)\b",
    rf"(?:(?:the )?day (?:before|after) )?(?:[Yy]esterday|[Tt]oday|[Tt]omorrow|[Tt]onight)\b|{_WEEKDAY}\b",
)
_HAN_DATES = (
    r"(?<![A-Za-z0-9.])(?:\d{4}|\d{2}(?=年\d)|[12一二][〇零一二三四五六七八九]{3}) ?年"
    r"(?: ?(?:\d{1,2}|[一二三四五六七八九十]{1,2}) ?月份?(?: ?(?:\d{1,2}|[一二三四五六七八九十]{1,3}) ?[日号])?)?"
    r"(?:[春夏秋冬][季天]?|[初末底中]|上半年|下半年|第[一二三四]季度)?(?!代|级|龄)",
    r"(?<![A-Za-z0-9.个])(?:1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月份?"
    r"(?:(?:[12]\d|3[01]|[1-9]|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]|[初底]|[上中下]旬)?(?!球|饼|亮|光|经|薪)",
    r"(?:上个?|本|这个?|下个?)?世纪?(?:\d{2}|[一二三四五六七八九]十) ?年代[初中末]?"
    r"|(?:\d{1,2}|[一二]?十[一二三四五六七八九]?) ?世纪(?:\d{2} ?年代)?[初中末]?",
    r"大?前天|昨[天晚日]|今[天晚早日]|明[天晚早日](?!白)|大?后天|前年|去年|今年|明年|后年|本月|本周|当[年天日](?!的?然)"
    r"|[上下这本](?:个|一)?(?:星期|礼拜|周)(?:[一二三四五六日天末])?|[上下这]个?月[初底末]?|[上下这本]个?季度|[上下]半年",
    r"(?:星期|礼拜)[一二三四五六日天]|(?<![每一两三四五六七八九十\d])周[一二三四五六日末](?!期|年|围)",
    rf"(?:近|最近|过去|未来|前|后)?(?:\d+|{_H}{{1,4}}|[几数半]) ?(?:多|来)?个?(?:小时|分钟|天|周|星期|礼拜|月|年)"
    r"(?:之|以)?[前后内](?![面来往])",
    rf"(?:近|最近|过去|未来)(?:这|的)?(?:\d+|{_H}{{1,3}}|几|数)?(?:天|个?星期|周|个月|年)",
    r"(?:凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|半夜)(?:\d{1,2}|[一二三四五六七八九十两]{1,2})[点时](?:半|[一三]刻|\d{1,2}分?)?",
)
_DATE = re.compile(
    # Most characters begin no date: one look ahead spares them all alternatives.
    rf"(?=\d)(?:{'|'.join(_DIGIT_DATES)})"
    rf"|\b(?=[A-Za-z])(?:{'|'.join(_WORD_DATES)})"
    rf"|(?=[\d〇零一二三四五六七八九十百千万亿两上本这下世大前昨今明后去当星礼周近最过未几数半凌清早中傍晚夜])(?:{'|'.join(_HAN_DATES)})"
)
# A bare year: other numbers of four digits have a comma, a unit or stand where no year would.
_YEAR = re.compile(
    r"(?<![\w.,$€£¥￥#/-])(?<!\d )(?:1[5-9]|20)\d\d(?![\w%％°/]|[.,:]\d| ?(?:%|年))"
    r"(?:\s?[-–—~]\s?(?:19|20)?\d\d(?!\w))?"
)

# ------------------------------------------------------------------------------- money, share

_CURRENCY = r"(?:US|HK|NT|AU|CA|A|C|S)?[$€£¥￥₹₩]"
_CURRENCY_WORD = (
    r"(?:人民币|美元|美金|欧元|英镑|日元|港元|港币|台币|韩元|块钱|元|块(?=[，。、；！？,.;!?\s]|$)"
    r"|(?:(?:US )?dollars?|euros?|pounds? sterling|pounds?|yuan|yen|rupees?|cents|bucks|RMB|USD|EUR|GBP|CNY|JPY|HKD)\b)"
)
_MONEY = re.compile(
    rf"{_CURRENCY} ?(?:{_N})(?: ?{_SCALE})?(?: ?[-–—~] ?{_CURRENCY}?(?:{_N})(?: ?{_SCALE})?)?"
    rf"|{_LEFT}(?:{_N}) ?(?:多|余)?(?:{_SCALE})? ?(?:多|余)?{_CURRENCY_WORD}(?!素|旦|宵)"
    rf"|{_H}{{1,12}}[多余]?{_CURRENCY_WORD}(?!素|旦|宵)"
)
_CURRENCIES: Final = {
    **dict.fromkeys(("¥", "￥", "元", "人民币", "块", "块钱", "yuan", "rmb", "cny"), "cny"),
    **dict.fromkeys(
        ("$", "us$", "美元", "美金", "dollar", "dollars", "usd", "us dollars", "us dollar", "bucks"), "usd"
    ),
    **dict.fromkeys(("€", "欧元", "euro", "euros", "eur"), "eur"),
    **dict.fromkeys(("£", "英镑", "pound", "pounds", "gbp", "pound sterling", "pounds sterling"), "gbp"),
    **dict.fromkeys(("日元", "yen", "jpy"), "jpy"),
}
_PERCENT = re.compile(
    rf"{_LEFT}[-+±]?(?:{_N})(?: ?[-–—~] ?(?:{_N}))?"
    r"(?: ?[%％‰]|[ -](?:percent|per cent|percentage points?)\b| ?个百分点)"
    rf"|百分之(?:{_H}+(?:点{_H}+)?|\d+(?:\.\d+)?)|{_H}{{1,3}}个百分点"
    r"|(?:\d|[一二三四五六七八九两])成(?=[，。；、,.\s的以左]|$)"
    r"|\b(?:ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred) (?:percent|per cent)\b"
)

# --------------------------------------------------------------------------------- quantities

_UNIT = (
    r"(?:[kcm]?m²|[kcm]?m³|km/h|mph|m/s|kWh|[kMGT]?[Ww]h?|[kMG]?Hz|[kKMGTP]i?[Bb](?:ps|/s)?|[kcmµμn]?m|[kmµμ]?g|[mµμn]?s"
    r"|ms|mAh|m?[lL]|kcal|cal|lbs?|oz|ft|mi|mins?|hrs?|h|d|px|dpi|fps|rpm|ppm|dB|[kM]?V|A|°[CF]?|℃|℉|x|×|倍)(?![A-Za-z0-9])"
)
_HAN_UNIT_LIST = """
    个半月 个多月 个月 个小时 小时 分钟 秒钟 毫秒 秒 刻钟 天 周岁 周年 周 星期 年级 年代 年 月 公里 千米 厘米 毫米
    微米 纳米 平方米 平方公里 立方米 平米 米 英里 英尺 英寸 寸 公斤 千克 毫克 克拉 克 吨 斤 两 毫升 升 千瓦 瓦 度
    摄氏度 大卡 卡路里 卡 千卡 焦 倍 人次 人 位 名 个 只 头 条 件 本 篇 页 章 节 张 台 部 次 遍 回 种 款 类 项 家 所
    座 栋 间 层 楼 步 岁 字 集 期 届 轮 场 局 分 题 套 份 组 对 双 批 辆 架 艘 颗 粒 根 支 枚 杯 碗 瓶 盒 包 袋 箱 行
    列 句 段 首 幅 道 门 门课 像素 站 票 户 村 县 省 市 国 亩 公顷 点 号 版 代 级 星 季 卷 册 维 核 位数 万 亿 成 毛 角
    折"""
_HAN_UNITS = "|".join(sorted(set(_HAN_UNIT_LIST.split()), key=lambda u: (-len(u), u)))
# Behind Chinese numerals many of these make words of their own: 三国, 十分, 一点, 四季, 五星.
_SAFE_HAN_UNITS = (
    "个半月|个多月|个月|个小时|小时|分钟|秒钟|毫秒|刻钟|天(?!都|然|下|真|生|堂|线)|周岁|周年|周(?!围|期|到)|星期|年级"
    "|年|公里|千米|厘米|毫米|平方米|平米|米|英里|公斤|千克|毫克|吨|斤|毫升|升|度|倍|人次|人|位|名|个|只|头|条|件|本|篇"
    "|页|章|节|张|台|部|次|遍|种|款|类|项|家|所|座|栋|间|层|步|岁|字|集|届|轮|场|套|份|组|批|辆|架|艘|颗|枚|杯|碗|瓶"
    "|盒|箱|句|段|首|幅|折|回"
)
# "一个人" counts nothing; "一年" does.
_ONE = r"一(?!年|天|周|个月|个小时|小时|分钟|个星期|星期|公里|倍|百|千|万|亿|[〇零一二三四五六七八九十])"
_TIME_NOUN = (
    r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|quarters?|years?|decades?|centuries|times|miles"
    r"|kilometers?|kilometres?|meters?|metres?|feet|inches|pounds|people|kids|children|sons|daughters|brothers|sisters"
    r"|dogs|cats|books|pages|points|percent|items|steps|levels|parts|members|students|users|companies|countries|cities)"
)
_QUANTITY = re.compile(
    rf"(?P<number>{_LEFT}[-+±]?(?:{_N}))(?: ?[-–—~] ?(?P<upper>{_N}))?(?:"
    rf" ?(?P<scale>{_SCALE})?[多余]? ?(?P<han>{_HAN_UNITS})(?:半(?![{HAN}]))?"
    rf"| ?(?P<unit>{_UNIT})"
    rf"|(?: ?(?P<scale2>{_SCALE}))?(?:[ -](?P<noun>[a-z][a-z]+(?:[-'][a-z]+)?))?)"
    rf"|(?<![第〇零一二三四五六七八九十百千万亿两])(?P<hn>(?!{_ONE}){_H}{{1,12}})[多余]?(?P<hu>{_SAFE_HAN_UNITS})"
    rf"(?:半(?![{HAN}]))?"
    rf"|第(?P<on>\d+|{_H}{{1,4}})(?P<ou>{_HAN_UNITS})"
    rf"|\b(?P<en>[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]even|[Ee]ight|[Nn]ine|[Tt]en|[Ee]leven|[Tt]welve|[Ff]ifteen"
    rf"|[Tt]wenty|[Tt]hirty|[Ff]orty|[Ff]ifty|[Ss]ixty|(?:[Aa] )?(?:hundred|dozen))[ -](?P<eu>{_TIME_NOUN})\b"
)
_NO_UNIT_LIST = """
    a an the and or but nor to in on of at for from with by as than is are was were be been has have had will would
    can could may might must shall should do does did not it its he she his her they their we our you your this that
    these those which who whom when where while if then so because since until after before during into onto over
    under about between through against via per each all both more most less least also only even just now there
    here one out up down off again very vs"""
_NO_UNIT = frozenset(_NO_UNIT_LIST.split())
_UNITS: Final = {
    **dict.fromkeys(("公里", "千米", "km", "kilometer", "kilometre"), "km"),
    **dict.fromkeys(("米", "m", "meter", "metre"), "m"),
    **dict.fromkeys(("公斤", "千克", "kg", "kilogram", "kilo"), "kg"),
    **dict.fromkeys(("年", "year", "yr"), "year"),
    **dict.fromkeys(("个月", "month", "月"), "month"),
    **dict.fromkeys(("周", "星期", "week"), "week"),
    **dict.fromkeys(("天", "day", "d"), "day"),
    **dict.fromkeys(("小时", "个小时", "hour", "hr", "h"), "hour"),
    **dict.fromkeys(("分钟", "minute", "min", "mins"), "minute"),
    **dict.fromkeys(("秒", "秒钟", "second", "s", "sec"), "second"),
    **dict.fromkeys(("毫秒", "ms", "millisecond"), "ms"),
}

_HAS_NUMBER = re.compile(
    rf"\d|{_H}|[Dd]ay\b|[Dd]ays\b|{_CLEAR_MONTH}|(?i:\b(?:last|next|this|past|coming|ago|earlier|later|tonight|tomorrow"
    r"|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|hundred|dozen)\b)"
    r"|[年月周天晚日]|星期|礼拜|世纪|季度"
)


def find_values(text: str) -> Iterator[Value]:
    """The more telling kinds first; those of different kinds may overlap."""
    if not _HAS_NUMBER.search(text):
        return
    for match in _MONEY.finditer(text):
        yield "money", _money_key(match.group()), *match.span()
    for match in _PERCENT.finditer(text):
        yield "percent", _percent_key(match.group()), *match.span()
    for match in _DATE.finditer(text):
        yield "date", date_key(match.group()), *match.span()
    for match in _YEAR.finditer(text):
        yield "date", date_key(match.group()), *match.span()
    for match in _QUANTITY.finditer(text):
        yield from _quantity(match)


def _quantity(match: re.Match[str]) -> Iterator[Value]:
    group = match.groupdict()
    start, end = match.span()
    if group["number"] is None:
        number, unit = next((group[n], group[u]) for n, u in (("hn", "hu"), ("on", "ou"), ("en", "eu")) if group[n])
        ordinal = "第" if group["on"] else ""
        yield "quantity", f"{ordinal}{number_key(number)} {_unit_key(unit)}", start, end
        return
    noun = group["noun"]
    unit = group["han"] or group["unit"] or noun
    scale = group["scale"] or group["scale2"]
    if noun is not None and noun in _NO_UNIT:
        end = match.start("noun") - 1
        unit = None
    while end > start and match.string[end - 1] == " ":
        end -= 1
    number = number_key(group["number"], scale)
    if group["upper"]:
        number = f"{number}-{number_key(group['upper'], scale)}"
    if match.string[end : end + 1].isascii() and match.string[end : end + 1].isalnum() and unit is None:
        # "4o", "1st": the digits belong to a word.
        return
    if match.string[end : end + 1] == "." and match.string[end + 1 : end + 2].isdigit():
        return
    yield ("quantity", f"{number} {_unit_key(unit)}", start, end) if unit else ("number", number, start, end)


def number_key(text: str, scale: str | None = None) -> str:
    """`3,000`, `3000`, `3k` and 三千 are one: plain decimal digits."""
    raw = fold(text).replace(",", "").replace("±", "").lstrip("+")
    words = raw.removeprefix("a ").split()
    value: Decimal | None = None
    try:
        value = Decimal(raw)
    except InvalidOperation:
        if words and words[-1] in _ENGLISH_NUMBERS:
            value = Decimal(_ENGLISH_NUMBERS[words[-1]])
        elif raw and all(ch in _HAN_DIGITS or ch in _HAN_POWERS for ch in raw):
            value = Decimal(_han_number(raw))
    if value is None:
        return raw
    if scale:
        value *= _SCALES.get(scale.strip().lower(), 1)
    plain = f"{value:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _han_number(text: str) -> int:
    if len(text) > 1 and not any(ch in _HAN_POWERS for ch in text):
        return int("".join(str(_HAN_DIGITS[ch]) for ch in text))
    total, section, digit = 0, 0, 0
    for ch in text:
        if ch in _HAN_DIGITS:
            digit = _HAN_DIGITS[ch]
        elif _HAN_POWERS[ch] < 10_000:
            section += (digit or 1) * _HAN_POWERS[ch]
            digit = 0
        else:
            total = (total + section + digit or 1) * _HAN_POWERS[ch]
            section = digit = 0
    return total + section + digit


def _unit_key(unit: str) -> str:
    folded = fold(unit)
    if len(folded) > 3 and folded.isascii() and folded.endswith("s") and not folded.endswith("ss"):
        folded = folded[:-1]
    return _UNITS.get(folded, folded)


_ANY_NUMBER = re.compile(rf"({_N}|{_H}+)\s*({_SCALE})?")


def _money_key(text: str) -> str:
    numbers = [number_key(m.group(1), m.group(2)) for m in _ANY_NUMBER.finditer(text)]
    bare = fold(_ANY_NUMBER.sub(" ", text)).strip(" -–—~多余")
    currency = _CURRENCIES.get(bare.strip(), bare)
    return f"{'-'.join(numbers)} {currency}"


def _percent_key(text: str) -> str:
    if text.startswith("百分之"):
        return f"{number_key(text[3:])}%"
    if text.endswith("成"):
        return f"{number_key(text[:-1])}0%"
    numbers = [number_key(m.group(1)) for m in _ANY_NUMBER.finditer(text)] or [fold(text).split()[0]]
    return "-".join(numbers) + ("‰" if "‰" in text else "%")


_DAY_MONTH = re.compile(rf"^(\d{{1,2}}){_TH}(?: of)? ({_MONTH})\.?(?:,? (\d{{4}}))?$")
_MONTH_DAY = re.compile(rf"^({_MONTH})\.? (\d{{1,2}}){_TH}(?:,? (\d{{4}}))?$")
_MONTH_YEAR = re.compile(rf"^({_MONTH})\.?,? (?:of )?(\d{{4}})$")
_ISO = re.compile(r"^(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?$")
_HAN_DATE = re.compile(
    rf"^(?:(\d{{2,4}}|{_H}{{4}}) ?年)?(?: ?(\d{{1,2}}|{_H}{{1,2}}) ?月份?)?(?: ?(\d{{1,2}}|{_H}{{1,3}}) ?[日号])?$"
)


def date_key(text: str) -> str:
    """ISO where year, month or day are all it says (`2023-05-08`, `2023-05`, `--05-08`); else the folded words."""
    if match := _DAY_MONTH.match(text):
        return _iso(match.group(3), _month(match.group(2)), match.group(1))
    if match := _MONTH_DAY.match(text):
        return _iso(match.group(3), _month(match.group(1)), match.group(2))
    if match := _MONTH_YEAR.match(text):
        return _iso(match.group(2), _month(match.group(1)), None)
    if match := _ISO.match(text):
        return _iso(*match.groups())
    if (match := _HAN_DATE.match(text)) and any(match.groups()):
        year, month, day = (number_key(part) if part else None for part in match.groups())
        return _iso(f"20{year}" if year and len(year) == 2 else year, month, day)
    return "".join(fold(text).replace(".", "").split())


def _month(name: str) -> str:
    return str(_MONTHS.index(name[:3].lower()) + 1)


def _iso(year: str | None, month: str | None, day: str | None) -> str:
    if month is None and day is None:
        return year or ""
    return "-".join(filter(None, (year or "-", (month or "").zfill(2) if month else "", day.zfill(2) if day else "")))
