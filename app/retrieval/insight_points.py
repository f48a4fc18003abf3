"""Points: what a report says in answer to a question, from a model or without one; and those that are told. Pure."""

from __future__ import annotations

import math
import re
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.providers.json_answer import numbers_in
from app.retrieval.insight_reports import Place, Report

MAX_POINT_CHARS: Final = 1500
_PLACES: Final = 3
"""Of a point, so that many things stand behind an answer."""
_VAGUE: Final = 0.6
_BESIDE: Final = 0.5
"""Of the best finding's score; what is worth less is not told beside it."""
_SENTENCE = re.compile(r"[.!?。！？…][\"'”’」』)）]*$")
_NO_SENTENCE: Final = 0.65
_ALONE: Final = 0.7
"""What a finding of the smallest community is worth; of one of 2^_LARGE names it is worth all."""
_LARGE: Final = 6.0
_SMALL: Final = 3
_SMALL_SHARE: Final = 0.05
"""Of the largest: a theme of fewer names is not gone into beside that one."""
_AGAIN: Final = 0.75
"""What a further point of the same report is worth beside others."""


@dataclass(frozen=True, slots=True)
class Point:
    """`score` is from 0 to 100. `places`: where in the cards it comes from, the best first. `title`: what it is
    about, where that is not what its report is about.
    """

    description: str
    score: float
    report_ids: tuple[uuid.UUID, ...]
    places: tuple[Place, ...]
    title: str | None = None


@dataclass(slots=True)
class Read:
    """Points of one answer of a model, and what was left out of it, by reason."""

    points: list[Point] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def themes_told(reports: Sequence[Report], in_full: int) -> list[Point]:
    """One point per theme: the first ones, as long as they are of some size, with what their report says, the others by
    name. Scores by order.
    """
    points = []
    least = max(_SMALL, max((report.size for report in reports), default=0) * _SMALL_SHARE)
    for place, report in enumerate(reports):
        first = report.summary or " ".join(finding.text for finding in report.findings[:2])
        text = first if place < in_full and first and report.size >= least else report.title
        places = tuple(dict.fromkeys(one for finding in report.findings for one in finding.places))[:_PLACES]
        points.append(Point(text[:MAX_POINT_CHARS], round(max(100.0 - place, 1.0), 1), (report.id,), places))
    return points


def findings_told(reports: Sequence[Report], least_fit: float, per_report: int) -> list[Point]:
    """The findings that have to do with the question; whole sentences of large communities rather than titles from
    small ones. Those of the same words are one, with all that they rest on.
    """
    points: dict[str, Point] = {}
    for report in reports:
        near = sorted((one for one in report.findings if one.fit >= least_fit), key=lambda one: (-one.fit, one.number))
        for finding in near[:per_report]:
            key = "".join(filter(str.isalnum, finding.text.casefold()))
            score = round(100 * min(finding.fit, 1.0) * _weight(finding.text, report.size), 1)
            known = points.get(key)
            if known is None:
                points[key] = Point(finding.text[:MAX_POINT_CHARS], score, (report.id,), finding.places[:_PLACES])
            elif report.id not in known.report_ids:
                places = tuple(dict.fromkeys((*known.places, *finding.places)))[:_PLACES]
                points[key] = Point(known.description, max(known.score, score), (*known.report_ids, report.id), places)
    if not points:
        # Where the subject is what is asked for, and no finding says so by itself, the first ones stand for it.
        alone = [report for report in reports if report.findings and report.fit >= least_fit]
        return [
            Point(one.text[:MAX_POINT_CHARS], round(100 * _VAGUE * report.fit, 1), (report.id,), one.places[:_PLACES])
            for report in alone[:per_report]
            for one in report.findings[:1]
        ]
    least = _BESIDE * max(point.score for point in points.values())
    return [point for point in points.values() if point.score >= least]


def _weight(text: str, size: int) -> float:
    """0…1: what a finding is worth beside how well it fits."""
    whole = 1.0 if _SENTENCE.search(text) else _NO_SENTENCE
    return whole * (_ALONE + (1 - _ALONE) * min(math.log2(1 + size) / _LARGE, 1.0))


def read_points(said: Mapping[str, Any], numbered: Mapping[str, Report]) -> Read:
    """What a model wrote, point by point: one without a score, or about no report that it was shown, is dropped."""
    read = Read()
    items = said.get("points")
    for item in items if isinstance(items, list) else ():
        text = item.get("description") if isinstance(item, dict) else None
        if not isinstance(text, str) or not text.strip():
            read.dropped["unreadable"] += 1
            continue
        score = _score(item.get("score"))
        if score is None:
            read.dropped["unreadable"] += 1
        elif score <= 0:
            read.dropped["score_0"] += 1
        else:
            reports = _cited(item.get("reports", item.get("report_ids")), numbered)
            if not reports:
                read.dropped["no_report"] += 1
                continue
            description = " ".join(text.split())[:MAX_POINT_CHARS]
            ids = tuple(report.id for report in reports)
            read.points.append(Point(description, score, ids, _behind(description, reports)))
    return read


def is_points(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("points"), list)


def packed(points: Sequence[Point], budget_tokens: int, count: Callable[[str], int]) -> tuple[list[Point], int]:
    """The points that are told, best first, whole ones until the budget is full, and how many were left out. A report
    that has been heard counts a little less, so that one does not speak alone.
    """
    left = sorted(points, key=lambda one: (-one.score, one.description))
    heard: Counter[uuid.UUID] = Counter()
    told: list[Point] = []
    tokens = 0
    out = 0
    while left:
        best = max(left, key=lambda one: one.score * _AGAIN ** min(heard[report] for report in one.report_ids))
        left.remove(best)
        size = count(best.description)
        if tokens + size > budget_tokens:
            out += 1
            continue
        tokens += size
        told.append(best)
        heard.update(best.report_ids)
    return told, out


def _score(said: Any) -> float | None:
    try:
        value = float(str(said).strip().removesuffix("%"))
    except ValueError:
        return None
    return min(max(value, 0.0), 100.0) if math.isfinite(value) else None


def _cited(said: Any, numbered: Mapping[str, Report]) -> list[Report]:
    """Reports by their numbers; the only one that was shown where none is given."""
    names = numbers_in(said)
    found = [numbered[name] for name in dict.fromkeys(names) if name in numbered]
    return found or (list(numbered.values()) if len(numbered) == 1 and not names else [])


def _behind(description: str, reports: Sequence[Report]) -> tuple[Place, ...]:
    """Places of those findings that a point has most in common with."""
    letters = _shingles(description)
    ranked = sorted(
        (
            (-len(letters & _shingles(finding.text)), -finding.fit, report_place, finding.number, finding)
            for report_place, report in enumerate(reports)
            for finding in report.findings
        ),
        key=lambda one: one[:4],
    )
    return tuple(dict.fromkeys(finding.places[0] for *_, finding in ranked if finding.places))[:_PLACES]


def _shingles(text: str) -> frozenset[str]:
    letters = "".join(filter(str.isalnum, text.casefold()))
    return frozenset(letters[n : n + 3] for n in range(max(len(letters) - 2, 1)))
