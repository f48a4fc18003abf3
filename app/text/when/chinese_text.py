"""Chinese numbers and parts of units, which the rules share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from app.text.when.calendar import FINER, narrowed
from app.text.when.found import Days, Narrowing, Part, Precision

FIGURES = {ch: value for value, ch in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2}

DAY = r"(?:3[01]|[12]\d|0?[1-9]|三十一?|二?十[一二三四五六七八九]|二十|十|[一二三四五六七八九])"

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

FESTIVALS = (
    "元旦|情人节|妇女节|植树节|愚人节|五一|劳动节|青年节|儿童节|六一|教师节|国庆|万圣节|双十一|平安夜|圣诞|春节|大年初一"
    "|除夕|大年三十|年三十|元宵|端午|中秋|清明"
)


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
            figure = FIGURES[ch]
    return total + figure


def narrow_by(part: Part, word: str | None) -> Part:
    if not word:
        return part
    which = _NARROW[word]
    unit = part.precision
    part.closing = which == "end"
    part.precision = FINER[unit]
    if part.days:
        part.days = narrowed(part.days, unit, which)
    elif part.yearly:
        part.yearly = partial(_narrowed_year, part.yearly, unit, which)
    return part


def _narrowed_year(whole: Callable[[int], Days | None], unit: Precision, which: Narrowing, year: int) -> Days | None:
    days = whole(year)
    return narrowed(days, unit, which) if days else None
