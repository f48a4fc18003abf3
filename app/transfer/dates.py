"""Dates as people and programs write them at the top of a note or in its name. Pure.

Only unambiguous forms: year first, or the month in letters, or milliseconds since 1970.
Free text ("last spring") is not for this module.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from pathlib import PurePosixPath

_YEAR_FIRST = re.compile(
    r"(?P<y>\d{4})\s*[-/._年]\s*(?P<m>\d{1,2})\s*[-/._月]\s*(?P<d>\d{1,2})(?:\s*日)?"
    r"(?:[T\s,]+(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,]\d+)?)?)?"
)
_SPACE_BEFORE_ZONE = re.compile(r"(?<=\d) +(?=[-+]\d{2}:?\d{2}$)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_IN_LETTERS = re.compile(
    r"(?:[a-z]{3,9},?\s+)?(?P<b>[a-z]{3,9})\.?\s+(?P<d>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y>\d{4})", re.IGNORECASE
)
_EPOCH_MILLISECONDS = re.compile(r"\d{12,13}")
_DATED_NAME = re.compile(r"(?P<y>(?:19|20)\d{2})(?P<sep>[-_.]?)(?P<m>\d{2})(?P=sep)(?P<d>\d{2})(?!\d)")


def parse_timestamp(value: str) -> datetime | None:
    """The moment in UTC that `value` names; a time without zone is UTC; `None` when unreadable."""
    text = value.strip().removeprefix("[[").removesuffix("]]").strip()[:64]
    text = _SPACE_BEFORE_ZONE.sub("", text)
    try:
        return _utc(_read(text))
    except (ValueError, OverflowError, OSError):
        return None


def date_in_name(path: str) -> datetime | None:
    """Midnight UTC of the date that the file's name begins with, as in daily notes."""
    match = _DATED_NAME.match(PurePosixPath(path).stem)
    try:
        return _utc(datetime(int(match["y"]), int(match["m"]), int(match["d"]), tzinfo=UTC)) if match else None
    except ValueError:
        return None


def _read(text: str) -> datetime:
    if _EPOCH_MILLISECONDS.fullmatch(text):
        return datetime.fromtimestamp(int(text) / 1000, UTC)
    if text.isdigit() and len(text) != 8:
        raise ValueError(text)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    if match := _YEAR_FIRST.match(text):
        day = date(int(match["y"]), int(match["m"]), int(match["d"]))
        return datetime.combine(day, time(int(match["H"] or 0), int(match["M"] or 0), int(match["S"] or 0)))
    if match := _MONTH_IN_LETTERS.match(text):
        return datetime(int(match["y"]), _MONTHS.index(match["b"][:3].lower()) + 1, int(match["d"]), tzinfo=UTC)
    raise ValueError(text)


def _utc(moment: datetime) -> datetime:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
