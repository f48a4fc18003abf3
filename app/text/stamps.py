"""Stamps of date and hour that a log or a chat export puts in front of what is said. Pure.

They say when it was written down, not what happened; whoever takes a claim out of its text knows its date already.
"""

from __future__ import annotations

import re

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DATE = (
    rf"(?:{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH},?\s+\d{{4}}"
    r"|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{4}年\d{1,2}月\d{1,2}日)"
)
_CLOCK = r"(?:\d{1,2}:\d{2}(?::\d{2})?(?:\s*[AP]\.?M\.?)?|(?:上午|下午|晚上|凌晨)?\d{1,2}[点时]\d{1,2}分?)"
_STAMPS = re.compile(
    rf"\s*[\[【(（]\s*(?:{_DATE},?\s*(?:at\s+)?(?:{_CLOCK})?|{_CLOCK}(?:\s+on\s+{_DATE})?)\s*[\]】)）](?=[:：])|"
    rf"(?:[\[【(（]\s*)?(?:(?:Session|Conversation|Meeting|Chat)\s+)?(?:Date|Time|日期|时间)\s*[:：]\s*{_DATE}(?:,?\s*{_CLOCK})?\s*"
    rf"[\]】)）]?\s*[.;,:。；，：]?\s*"
    rf"|[\[【(（]\s*(?:{_DATE},?\s*(?:at\s+)?(?:{_CLOCK})?|{_CLOCK}(?:\s+on\s+{_DATE})?)\s*[\]】)）]\s*"
    rf"|(?:\bon\s+)?{_DATE},?\s*(?:at\s+)?{_CLOCK}\s*[,:;，：；]?\s*"
    rf"|\b(?:at\s+)?{_CLOCK}(?:\s+on\s+{_DATE})?\s*[,:;，：；]\s*",
    re.IGNORECASE,
)


def without_stamps(text: str) -> str:
    """`text` without "[July 20, 2023, 08:56 PM]", "Session Date: July 20, 2023.", "At 08:56 PM," and the like.

    A date alone in a sentence stays: it is part of what is said.
    """
    return _STAMPS.sub("", text)
