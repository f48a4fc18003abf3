"""What is particular to Logseq: page names hidden in file names, journals, `key:: value` lines. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from urllib.parse import unquote

_JOURNAL = re.compile(r"(\d{4})_(\d{2})_(\d{2})")
_PROPERTY = re.compile(r"[ \t]*(?:-[ \t]+)?([^\s:#\[\](){}`][^\s:]*)::(?:[ \t]+(.*))?")
_ITEM = re.compile(r"\[\[([^\[\]]+)\]\]|#([^\s,#\[\]]+)|([^,#\[\]]+)")


@dataclass(frozen=True, slots=True)
class Page:
    """How Logseq names the page in a file: `name` is what links say, `day` is set for journals."""

    name: str
    day: datetime | None
    other_names: tuple[str, ...] = ()


def page_of(path: str) -> Page:
    """The page that the file at `path` holds."""
    place = PurePosixPath(path)
    if place.parent.name == "journals" and (match := _JOURNAL.fullmatch(place.stem)):
        try:
            day = datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC)
        except ValueError:
            return Page(place.stem, None)
        return Page(day.date().isoformat(), day, (_as_logseq_writes(day),))
    return Page(unquote(place.stem.replace("___", "/")), None)


def properties(text: str) -> dict[str, str]:
    """The page properties: the `key:: value` lines before anything else, keys in lower case."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip() and not found:
            continue
        match = _PROPERTY.fullmatch(line)
        if match is None:
            break
        found.setdefault(match[1].lower(), (match[2] or "").strip())
    return found


def items(value: str) -> list[str]:
    """The names in a property's value: `[[a, b]], #c, d` are three."""
    found = (next(group for group in match.groups() if group) for match in _ITEM.finditer(value))
    return [name.strip() for name in found if name.strip()]


def _as_logseq_writes(day: datetime) -> str:
    """Logseq's default title of a journal page, "Mar 8th, 2021"; `strftime` would depend on the locale."""
    month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[day.month - 1]
    tail = "th" if day.day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return f"{month} {day.day}{tail}, {day.year}"
