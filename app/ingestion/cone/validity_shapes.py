"""What a claim with one value consists of, and how its value is written down. Pure.

Units of one dimension become one unit, so that 12 months are a year; a value's unit is part of what is claimed, so
that 5 kg and 11 lb never contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final, Literal

from app.text.anchor_values import find_values, number_key
from app.text.normalise import fold, name_key


@dataclass(frozen=True, slots=True)
class Statement:
    """Keys: whose, which quality, and what is said of it. Not `is_named`: it depends on the context whose it is."""

    subject: str
    attribute: str
    value: str
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class Slot:
    """text[start:end] says `value`; `unit` is the dimension. A `fixed` one does not depend on the day of writing."""

    start: int
    end: int
    kind: Literal["version", "date", "clock", "money", "percent", "quantity", "number"]
    value: str
    unit: str
    fixed: bool = True


def one_of(phrases: str) -> str:
    """A group of a regular expression: any of the `phrases`, which bars set apart and lines break."""
    return f"(?:{'|'.join(phrase.strip() for phrase in phrases.split('|'))})"


_VERSION = re.compile(
    r"(?<![A-Za-z0-9_.])(?:v(?:ersion )?\d+(?:\.\d+)*|\d+(?:\.\d+){2,}|(?<=[a-zA-Z] )\d+\.\d+)(?![A-Za-z0-9_%]|\.\d)"
)
_HAN_CLOCK = re.compile(
    r"(?P<part>凌晨|早上|早晨|上午|中午|下午|傍晚|晚上)?(?P<h>\d{1,2}|[一二三四五六七八九十两]{1,3})点"
    r"(?P<more>钟|整|半|\d{1,2}分?)?(?!\d|[%％])"
)
_WORDED = re.compile(
    r"\b(?P<n>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty)"
    r"[ -](?P<u>[a-z]{3,})\b"
)
_CLOCK = re.compile(
    r"(?<![\d:.])(?P<h>\d{1,2})(?::(?P<m>[0-5]\d))?\s?(?P<half>[ap])\.?m\b\.?|(?<![\d:.])(?P<h2>\d{1,2}):(?P<m2>[0-5]\d)(?![:\d])",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?:\d{4}|-)(?:-\d\d){0,2}$")
_BASES: Final[Mapping[str, tuple[str, int | Decimal]]] = {
    "year": ("month", 12),
    "月": ("month", 1),
    "week": ("day", 7),
    "hour": ("second", 3600),
    "minute": ("second", 60),
    "km": ("m", 1000),
    "cm": ("m", Decimal("0.01")),
    "厘米": ("m", Decimal("0.01")),
    "mm": ("m", Decimal("0.001")),
    "毫米": ("m", Decimal("0.001")),
    "kg": ("g", 1000),
    "斤": ("g", 500),
    "吨": ("g", 1_000_000),
    "克": ("g", 1),
    "周岁": ("岁", 1),
}


def slots(text: str) -> list[Slot]:
    """What in `text` could be another value, in order, none in another."""
    found: list[Slot] = []

    def add(slot: Slot) -> None:
        if all(slot.end <= other.start or slot.start >= other.end for other in found):
            found.append(slot)

    for match in _VERSION.finditer(text):
        add(Slot(*match.span(), "version", match.group().removeprefix("version ").lstrip("vV"), "version"))
    for match in _CLOCK.finditer(text):
        hour, minute = int(match["h"] or match["h2"]), match["m"] or match["m2"] or "00"
        if match["half"]:
            hour = hour % 12 + (12 if match["half"] in "pP" else 0)
        add(Slot(*match.span(), "clock", f"{hour}:{minute}", "clock"))
    for match in _HAN_CLOCK.finditer(text):
        hour = int(number_key(match["h"])) + (12 if match["part"] in ("下午", "傍晚", "晚上") else 0)
        more = match["more"] or ""
        minute = "30" if more == "半" else more.rstrip("分钟整").zfill(2)
        if match["part"] or more:
            add(Slot(*match.span(), "clock", f"{hour}:{minute}", "clock"))
    for kind, key, start, end in find_values(text):
        if kind == "date":
            add(Slot(start, end, "date", key, "date", _ISO.match(key) is not None))
            continue
        number, unit = _based(key, text[start:end].endswith("半"))
        if "多" in text[start:end] or "余" in text[start:end]:
            unit += "+"
        add(Slot(start, end, kind, number, unit))
    for match in _WORDED.finditer(text):
        number, unit = _based(f"{number_key(match['n'])} {match['u'].removesuffix('s')}", False)
        add(Slot(*match.span(), "quantity", number, unit))
    return sorted(found, key=lambda slot: slot.start)


def _based(key: str, and_half: bool) -> tuple[str, str]:
    """The number in the base unit of its dimension, and that unit."""
    if key.endswith(("%", "‰")):
        return key[:-1], key[-1]
    number, _, unit = key.partition(" ")
    base, factor = _BASES.get(unit, (unit, 1))
    try:
        value = (Decimal(number) + (Decimal("0.5") if and_half else 0)) * factor
    except InvalidOperation:
        return number + ("½" if and_half else ""), unit
    plain = f"{value:f}"
    return (plain.rstrip("0").rstrip(".") if "." in plain else plain), base


# ------------------------------------------------------------------------------------- places

_COUNTRY_LIST = """
    afghanistan argentina australia austria bangladesh belgium brazil bulgaria canada chile china colombia
    croatia cuba czechia denmark ecuador egypt england estonia ethiopia finland france germany greece hungary
    iceland india indonesia iran iraq ireland israel italy japan kenya korea southkorea latvia lebanon lithuania
    malaysia mexico mongolia morocco nepal netherlands newzealand nigeria norway pakistan peru philippines poland
    portugal romania russia scotland serbia slovakia slovenia southafrica spain sweden switzerland syria taiwan
    tanzania thailand tunisia turkey ukraine unitedkingdom uk greatbritain unitedstates unitedstatesofamerica usa
    us uruguay venezuela vietnam wales 中国 美国 英国 法国 德国 日本 韩国 俄罗斯 加拿大
    澳大利亚 新西兰 意大利 西班牙 葡萄牙 荷兰 比利时 瑞士 瑞典 挪威 芬兰 丹麦 奥地利 波兰 泰国 越南 马来西亚 印尼
    印度尼西亚 菲律宾 印度 巴西 墨西哥 埃及 南非 土耳其 以色列 """
_COUNTRIES: Final = frozenset(_COUNTRY_LIST.split())
_CONTINENT_LIST = "europe asia africa america northamerica southamerica 欧洲 亚洲 非洲 北美 南美"
_CONTINENTS: Final = frozenset(_CONTINENT_LIST.split())
_REGION_LIST = """
    california texas florida oregon washingtonstate colorado massachusetts illinois ohio michigan georgia
    virginia pennsylvania arizona nevada utah bavaria saxony hesse tuscany catalonia andalusia provence brittany
    normandy ontario quebec britishcolumbia queensland newsouthwales victoria siliconvalley thebayarea bayarea
    华北 华东 华南 河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川 贵州
    云南 陕西 甘肃 青海 台湾 内蒙古 广西 西藏 宁夏 新疆"""
_REGIONS: Final = frozenset(_REGION_LIST.split())
_HAN_CITY_PART = re.compile(r"^(?:.{2,3}省)?(?P<city>.{2,4}?)市(?P<part>.+)?$")
_STREET = re.compile(
    r"\d|\b(?:street|road|avenue|lane|square|district|county|building|floor|st|ave|rd)\b\.?$|[区县镇乡村街路号楼]$|小区|大厦|街道"
)


def place(name: str) -> tuple[str, str]:
    """How wide a place is, and its key. Places of two sizes may hold each other, so that they never contradict."""
    if match := _HAN_CITY_PART.match(name):
        name = match["city"]
    key = name_key(name).replace("newyorkcity", "newyork")
    bare = key.removeprefix("the")
    if bare in _COUNTRIES:
        return "country", bare
    if bare in _CONTINENTS:
        return "continent", bare
    if bare in _REGIONS or key.endswith("省"):
        return "region", bare.removesuffix("省")
    return ("part" if _STREET.search(fold(name)) else "city"), key


def names_one(text: str, names: Sequence[str]) -> bool:
    """Whether one of the folded `names` stands in `text`."""
    folded = fold(text)
    return any(name in folded for name in names)
