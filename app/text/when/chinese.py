"""Chinese expressions of time: which rules a character calls for."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from app.text.when.chinese_dates import dated, decade
from app.text.when.chinese_relative import ago, back, day_word, few_before, part_word, relative, week
from app.text.when.chinese_text import FESTIVALS
from app.text.when.found import Part

_NUMERAL = "[一二两三四五六七八九十]"

_TRIGGER = re.compile(
    rf"""(?<!\d)['’]?\d{{1,4}}(?=\s?[年月个天日周季世小星礼分]|\s?[-–—~～至到、]\s?\d)
    |[一二两三四五六七八九十百零〇○]{{1,5}}(?=[年月个天日周世小星礼分]|季度|[-–—~～至到、])
    |(?:近|最近|过去|未来|接下来|今后|往后|这)(?=的?(?:[\d几半]|{_NUMERAL}))
    |(?:好?几|半)(?=[个天日周星礼年小分])
    |大[前后][天年]|前几(?=[天个周年])|[前昨今明后][天日晚夜早晨儿]|[前去今本明后]年|公元
    |[上下这本今]{{1,2}}一?个?(?=[周星礼月季财世]|半年)|(?:周|星期|礼拜)(?=[一二三四五六日天])|[月年](?=[初底末])
    |第(?=[一二三四1-4]季度)|{FESTIVALS}""",
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
