"""When festivals are: those of the solar calendar by rule, those of the Chinese lunar one from a table (1950–2050)."""

from __future__ import annotations

from datetime import date, timedelta

from dateutil.easter import easter

from app.text.when.found import Days

_FIRST = 1950
# Month and day of the first day of the first, the fifth of the fifth and the 15th of the eighth lunar month.
_SPRING = """
217 206 127 214 203 124 212 131 218 208 128 215 205 125 213 202 121 209 130 217 206 127 215 203 123 211 131
218 207 128 216 205 125 213 202 220 209 129 217 206 127 215 204 123 210 131 219 207 128 216 205 124 212 201
122 209 129 218 207 126 214 203 123 210 131 219 208 128 216 205 125 212 201 122 210 129 217 206 126 213 203
123 211 131 219 208 128 215 204 124 212 201 122 210 130 217 206 126 214 202 123"""
_DRAGON = """
619 609 528 615 605 624 613 602 621 610 529 617 606 625 614 604 623 612 531 619 608 528 615 605 624 614 602
621 610 530 617 606 625 615 604 622 611 531 618 608 528 616 605 624 613 602 620 609 530 618 606 625 615 604
622 611 531 619 608 528 616 606 623 612 602 620 609 530 618 607 625 614 603 622 610 531 619 609 528 616 605
624 612 601 620 610 530 618 607 527 614 603 622 611 531 619 608 529 615 604 623"""
_MOON = """
926 915 1003 922 911 930 919 908 927 917 1005 924 913 1002 920 910 929 918 1006 926 915 1003 922 911 930 920
908 927 917 1005 923 912 1001 921 910 929 918 1007 925 914 1003 922 911 930 920 909 927 916 1005 924 912
1001 921 911 928 918 1006 925 914 1003 922 912 930 919 908 927 915 1004 924 913 1001 921 910 929 917 1006
925 915 1003 922 912 1001 919 908 927 916 1004 924 913 1002 920 910 928 917 1005 925 915 1004 922 911 930"""
_LUNAR = {
    name: [int(day) for day in table.split()]
    for name, table in (("spring", _SPRING), ("dragon", _DRAGON), ("moon", _MOON))
}

# Name → (month, day, number of days).
_FIXED = {
    "元旦": (1, 1, 1),
    "情人节": (2, 14, 1),
    "妇女节": (3, 8, 1),
    "植树节": (3, 12, 1),
    "愚人节": (4, 1, 1),
    "五一": (5, 1, 5),
    "劳动节": (5, 1, 5),
    "青年节": (5, 4, 1),
    "儿童节": (6, 1, 1),
    "六一": (6, 1, 1),
    "教师节": (9, 10, 1),
    "国庆": (10, 1, 7),
    "十一": (10, 1, 7),
    "万圣节": (10, 31, 1),
    "双十一": (11, 11, 1),
    "平安夜": (12, 24, 1),
    "圣诞": (12, 25, 1),
    "new year's eve": (12, 31, 1),
    "new year's day": (1, 1, 1),
    "new year's": (1, 1, 1),
    "valentine's day": (2, 14, 1),
    "april fools' day": (4, 1, 1),
    "independence day": (7, 4, 1),
    "fourth of july": (7, 4, 1),
    "halloween": (10, 31, 1),
    "christmas eve": (12, 24, 1),
    "christmas day": (12, 25, 1),
    "christmas": (12, 25, 1),
    "boxing day": (12, 26, 1),
}
# Name → (table, days after, number of days). The holiday of the spring festival lasts a week.
_FROM_LUNAR = {
    "春节": ("spring", 0, 7),
    "大年初一": ("spring", 0, 1),
    "除夕": ("spring", -1, 1),
    "大年三十": ("spring", -1, 1),
    "年三十": ("spring", -1, 1),
    "元宵": ("spring", 14, 1),
    "端午": ("dragon", 0, 1),
    "中秋": ("moon", 0, 1),
    "chinese new year": ("spring", 0, 7),
    "lunar new year": ("spring", 0, 7),
    "spring festival": ("spring", 0, 7),
    "mid-autumn festival": ("moon", 0, 1),
    "dragon boat festival": ("dragon", 0, 1),
}


def festival(name: str, year: int) -> Days | None:
    """Its days in that year; None for a name or a year that is not known."""
    if name in _FIXED:
        month, day, count = _FIXED[name]
        return _days(date(year, month, day), count)
    if name in _FROM_LUNAR:
        table, after, count = _FROM_LUNAR[name]
        if not 0 <= year - _FIRST < len(_LUNAR[table]):
            return None
        month, day = divmod(_LUNAR[table][year - _FIRST], 100)
        return _days(date(year, month, day) + timedelta(days=after), count)
    if name == "清明":
        # The day of the solar term, valid for 1901…2099.
        short = year % 100
        return _days(date(year, 4, int(short * 0.2422 + (4.81 if year >= 2000 else 5.59)) - short // 4), 1)
    if name == "thanksgiving":
        first = date(year, 11, 1)
        return _days(first + timedelta(days=(3 - first.weekday()) % 7 + 21), 1)
    if name == "easter":
        return _days(easter(year), 1)
    return None


def _days(start: date, count: int) -> Days:
    return start, start + timedelta(days=count)
