"""Who the notes are about, where all of them are asked for: people, what reports say of them, and beside whom. Pure."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.retrieval.insight_points import MAX_POINT_CHARS, Point
from app.retrieval.insight_reports import Finding, Place, Report
from app.text.normalise import fold

MOST: Final = 12
"""Are told."""
LOOKED_AT: Final = 40
"""So that enough are left once those of several spellings are one."""
_BESIDE: Final = 4
_SENTENCES: Final = 2
_CLOSED = re.compile(r"[.!?。！？…][\"'”’」』)）]*$")
_PARTS = re.compile(r"[ ·•]+")


@dataclass(frozen=True, slots=True)
class Person:
    """`place`: somewhere where it is named. `beside`: people whom statements join it with, most of them first."""

    id: uuid.UUID
    name: str
    cards: int
    report_id: uuid.UUID
    place: Place
    beside: tuple[str, ...] = ()


def people_told(people: Sequence[Person], reports: Sequence[Report], *, han: bool) -> list[Point]:
    """One point per person, those of most cards first: the findings that name it, then whom it is joined with. One
    name within another ("Scrooge", "Ebenezer Scrooge") is told once.
    """
    known = {report.id: report for report in reports}
    told: list[Point] = []
    names: list[str] = []
    used: set[str] = set()
    for person in people:
        report = known.get(person.report_id)
        if len(told) == MOST or report is None or any(_same(person.name, name) for name in names):
            continue
        names.append(person.name)
        findings = [one for one in _naming(person.name, report, reports) if one.text not in used][:_SENTENCES]
        used.update(one.text for one in findings)
        parts = [_closed(one.text, han) for one in findings]
        if beside := _others(person, han):
            parts.append(beside)
        text = " ".join(parts) if parts else person.name
        places = tuple(dict.fromkeys([*(one.places[0] for one in findings), person.place]))
        told.append(Point(text[:MAX_POINT_CHARS], max(100.0 - len(told), 1.0), (report.id,), places, title=person.name))
    return told


def _naming(name: str, own: Report, reports: Sequence[Report]) -> Iterator[Finding]:
    """Of its own community first; those that begin with it before others."""
    folded = fold(name)
    for report in (own, *(one for one in reports if one.id != own.id)):
        there = [one for one in report.findings if folded in fold(one.text) and one.places]
        yield from sorted(there, key=lambda one: (not fold(one.text).startswith(folded), one.number))


def _others(person: Person, han: bool) -> str:
    kept: list[str] = []
    for name in person.beside:
        if len(kept) < _BESIDE and not any(_same(name, other) for other in (person.name, *kept)):
            kept.append(name)
    if not kept:
        return ""
    return f"与{'、'.join(kept)}同时被提到。" if han else f"Named together with {', '.join(kept)}."


def _same(one: str, other: str) -> bool:
    """Whether every part of one name is a part of the other."""
    left, right = (frozenset(_PARTS.split(fold(name))) for name in (one, other))
    return left <= right or right <= left


def _closed(sentence: str, han: bool) -> str:
    return sentence if _CLOSED.search(sentence) else f"{sentence}{'。' if han else '.'}"


def person_of(row: Mapping[str, Any]) -> Person:
    return Person(
        row["id"],
        row["name"],
        row["cards"],
        row["report_id"],
        Place(row["card_id"], row["chunk_id"], row["start"], row["end"]),
        tuple(row["beside"] or ()),
    )
