"""Headings that are days: what tells a journal from other notes. Pure."""

from __future__ import annotations

import re

from app.ingestion.cone.phrases import width
from app.text.anchors import anchors

_MAX_CHARS = 60
# Most headings are none, which this tells sooner.
_MAY_BE = re.compile(r"\d[-/.年月]\d|月|[A-Z][a-z]{2,8}\.? \d|\d(?:st|nd|rd|th)?(?: of)? [A-Z]")


def is_day(heading: str) -> bool:
    """Whether it is a day (with or without a year), and hardly anything else."""
    if len(heading) > _MAX_CHARS or not _MAY_BE.search(heading):
        return False
    found = next((a for a in anchors(heading) if a.kind == "date" and a.key[:1] in "0123456789-"), None)
    return found is not None and found.key.count("-") >= 2 and width(heading) - width(found.text) <= 2
