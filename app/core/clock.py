"""The only place that asks what time it is."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)
