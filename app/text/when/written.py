"""Dates as people and files write them. Pure; knows no clock."""

from __future__ import annotations

from datetime import UTC, datetime

from dateutil import parser

# Parsed twice with different defaults, so that a part which the text does not give can be told.
_DEFAULTS = (datetime(2000, 1, 1, tzinfo=UTC), datetime(2001, 2, 2, tzinfo=UTC))


def find_date(text: str) -> datetime | None:
    """A free-form date such as `1:14 pm on 25 May, 2023`, aware, UTC where it names no zone.

    None when no full date (year, month, day) can be read from it.
    """
    try:
        first, second = (parser.parse(text, default=default) for default in _DEFAULTS)
    except (ValueError, OverflowError, TypeError):
        return None
    if first.date() != second.date():
        return None
    return first if first.tzinfo else first.replace(tzinfo=UTC)
