"""Reports of communities as level insight reads them, how well they fit a question, and which of them are read. Pure.

Dynamic selection (GraphRAG): from the top of the hierarchy down, a community is kept where it is relevant; where one
below it covers what it says of the question, that one takes its place. Relevance comes from vectors and words.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

OWN: Final = 0
"""Role of the vector of title and summary; that of the n-th finding is n."""


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a card that a finding rests on; None: its chunk as a whole."""

    card_id: uuid.UUID
    chunk_id: uuid.UUID
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """`fit` is from 0 to 1: how well it answers the question."""

    number: int
    text: str
    places: tuple[Place, ...]
    fit: float = 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """`is_whole`: every card that it rests on is there and may be shown, so that its summary may be."""

    id: uuid.UUID
    parent_id: uuid.UUID | None
    level: int
    size: int
    title: str
    summary: str
    rating: float
    language: str
    is_stale: bool
    findings: tuple[Finding, ...]
    doc: int = 0
    fit: float = 0.0
    is_whole: bool = True

    @property
    def card_ids(self) -> set[uuid.UUID]:
        return {place.card_id for finding in self.findings for place in finding.places}


def report_of(row: Mapping[str, Any]) -> Report:
    """From a row; what a finding holds that is no place of a card is left out."""
    return Report(
        id=row["id"],
        parent_id=row["parent_id"],
        level=row["level"],
        size=row["size"],
        title=row["title"],
        summary=row["summary"],
        rating=float(row["rating"]),
        language=row["language"],
        is_stale=row["is_stale"],
        doc=row["doc"],
        findings=tuple(
            Finding(number, str(one.get("text", "")), tuple(_places(one)))
            for number, one in enumerate(row["findings"], 1)
        ),
    )


def _places(finding: Mapping[str, Any]) -> list[Place]:
    found = []
    for one in finding.get("places") or ():
        start, end = one.get("start"), one.get("end")
        known = isinstance(start, int) and isinstance(end, int) and start < end
        found.append(
            Place(
                uuid.UUID(one["card_id"]),
                uuid.UUID(one["chunk_id"]),
                start if known else None,
                end if known else None,
            )
        )
    return found


def shown(report: Report, there: Collection[uuid.UUID]) -> Report | None:
    """What of a report may be told where only these cards are there: findings with what they rest on. None: nothing."""
    kept = []
    for finding in report.findings:
        places = tuple(place for place in finding.places if place.card_id in there)
        if places:
            kept.append(replace(finding, places=places))
    if not kept:
        return None
    whole = report.is_whole and len(kept) == len(report.findings) and report.card_ids <= set(there)
    return replace(report, findings=tuple(kept), is_whole=whole, summary=report.summary if whole else "")


def fitted(report: Report, own: float, findings: Mapping[int, float], own_share: float) -> Report:
    """With how well it fits: `own` (title and summary) and `findings` from 0 to 1. A report fits as well as its best
    part; a summary is vaguer than a finding.
    """
    told = tuple(replace(one, fit=findings.get(one.number, 0.0)) for one in report.findings)
    return replace(report, findings=told, fit=max(max((one.fit for one in told), default=0.0), own_share * own))


def descended(reports: Sequence[Report], most: int) -> list[Report]:
    """The relevant reports, best first, without those that a part covers: the only one of theirs that is relevant, and
    as much as they are.
    """
    below: dict[uuid.UUID | None, list[Report]] = defaultdict(list)
    known = {report.id for report in reports}
    for report in reports:
        # Where the parent is not relevant the child stands for itself.
        below[report.parent_id if report.parent_id in known else None].append(report)

    def kept(report: Report) -> list[Report]:
        children = below.get(report.id, ())
        lower = [one for child in children for one in kept(child)]
        # What is spread over several parts none of them covers.
        covered = len(children) == 1 and any(one.fit >= report.fit for one in lower)
        return lower if covered else [report, *lower]

    found = [one for root in below[None] for one in kept(root)]
    return sorted(found, key=lambda one: (-one.fit, one.level, one.id))[:most]


def themes(reports: Sequence[Report], most: int) -> list[Report]:
    """What the notes are about where nothing in particular is asked for: the largest communities of the top level, by
    size and rating; where those are few, the largest of them give way to their parts. Disjoint, so that each is another
    theme.
    """
    below: dict[uuid.UUID, list[Report]] = defaultdict(list)
    for report in reports:
        if report.parent_id is not None:
            below[report.parent_id].append(report)
    known = {report.id for report in reports}
    open_ = sorted((one for one in reports if one.parent_id not in known), key=_weight)
    while open_ and len(open_) < most:
        widest = next((one for one in open_ if len(below[one.id]) > 1 and 2 * len(open_) < most), None)
        if widest is None:
            break
        open_ = sorted([*(one for one in open_ if one is not widest), *below[widest.id]], key=_weight)
    return open_[:most]


def _weight(report: Report) -> tuple[float, uuid.UUID]:
    return (-report.size * (1.0 + report.rating / 10.0), report.id)
