"""Points as evidence: the cards behind them with their spans and paths, and the reports that they are of. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from app.retrieval.insight_points import Point
from app.retrieval.insight_reports import Place, Report
from app.retrieval.types import CardRef, Hit, ReportPoint, Span

_PATHS: Final = 5


def chosen_places(points: Sequence[Point], most_cards: int) -> list[tuple[Point, Place]]:
    """What is shown of the cards: the first place of every point, then the second ones, until enough cards are there;
    after that only more of the same cards.
    """
    deepest = max((len(point.places) for point in points), default=0)
    cards: set[uuid.UUID] = set()
    chosen = []
    for nth in range(deepest):
        for point in points:
            if nth < len(point.places):
                place = point.places[nth]
                if place.card_id in cards or len(cards) < most_cards:
                    cards.add(place.card_id)
                    chosen.append((point, place))
    return chosen


def told_hits(
    chosen: Sequence[tuple[Point, Place]],
    reports: Mapping[uuid.UUID, Report],
    texts: Mapping[uuid.UUID, Any],
    limit: int,
    spans: int,
    snippet_chars: int,
) -> list[Hit]:
    """Cards by the best point that rests on them; one whose text has gone in the meantime is none any more."""
    by_card: dict[uuid.UUID, list[tuple[Point, Place]]] = {}
    for point, place in chosen:
        if place.chunk_id in texts:
            by_card.setdefault(place.card_id, []).append((point, place))
    ranked = sorted(by_card.values(), key=lambda behind: -max(point.score for point, _ in behind))[:limit]
    hits = []
    for rank, behind in enumerate(ranked, 1):
        behind = sorted(behind, key=lambda pair: -pair[0].score)
        best = behind[0][0]
        row = texts[behind[0][1].chunk_id]
        hits.append(
            Hit(
                rank=rank,
                score=round(best.score / 100, 6),
                card=CardRef(row["card_id"], row["title"], row["external_id"], row["created_at"], row["tags"]),
                snippet=_snippet(row, behind[0][1], snippet_chars),
                evidence=_spans(behind, texts, spans),
                ranks={"insight": rank},
                paths=[_path(point, place, reports, texts) for point, place in behind[:_PATHS]],
            )
        )
    return hits


def told_reports(points: Sequence[Point], read: Sequence[Report]) -> list[dict[str, Any]]:
    """The reports of the points, best first, each with its points."""
    best: dict[uuid.UUID, float] = {}
    said: dict[uuid.UUID, list[Point]] = {}
    for point in points:
        for report_id in point.report_ids:
            best[report_id] = max(best.get(report_id, 0.0), point.score)
            said.setdefault(report_id, []).append(point)
    known = {report.id: report for report in read}
    order = sorted((one for one in best if one in known), key=lambda one: (-best[one], one))
    return [
        {
            "id": str(report_id),
            "title": known[report_id].title,
            "rating": known[report_id].rating,
            "score": round(best[report_id] / 100, 6),
            "summary": known[report_id].summary,
            "level": known[report_id].level,
            "size": known[report_id].size,
            "is_stale": known[report_id].is_stale,
            "points": [
                {
                    "text": point.description,
                    "score": round(point.score / 100, 6),
                    "card_ids": list(dict.fromkeys(str(place.card_id) for place in point.places)),
                }
                for point in sorted(said[report_id], key=lambda one: -one.score)
            ],
        }
        for report_id in order
    ]


def told_points(points: Sequence[Point], reports: Mapping[uuid.UUID, Report]) -> list[ReportPoint]:
    return [
        ReportPoint(
            point.description,
            round(point.score / 100, 6),
            point.report_ids[0],
            point.title or reports[point.report_ids[0]].title,
            tuple(dict.fromkeys(place.chunk_id for place in point.places)),
        )
        for point in points
    ]


def _spans(behind: Sequence[tuple[Point, Place]], texts: Mapping[uuid.UUID, Any], most: int) -> list[Span]:
    """The stretches that the points rest on, best first, then the chunks around them."""
    claims: list[Span] = []
    chunks: dict[uuid.UUID, Span] = {}
    for point, place in behind:
        row = texts.get(place.chunk_id)
        if row is None:
            continue
        score = round(point.score / 100, 6)
        focus = _inside(row, place)
        if focus is not None and len(claims) < most:
            start, end = focus
            text = row["text"][start - row["start"] : end - row["start"]]
            claims.append(Span(place.chunk_id, text, start, end, score, kind="claim"))
        if len(chunks) < most:
            chunks.setdefault(place.chunk_id, Span(place.chunk_id, row["text"], row["start"], row["end"], score, focus))
    return [*dict.fromkeys(claims), *chunks.values()]


def _inside(row: Mapping[str, Any], place: Place) -> tuple[int, int] | None:
    """The place, as far as it lies in the chunk."""
    if place.start is None or place.end is None:
        return None
    start, end = max(place.start, row["start"]), min(place.end, row["end"])
    return (start, end) if start < end else None


def _snippet(row: Mapping[str, Any], place: Place, limit: int) -> str:
    focus = _inside(row, place)
    text = row["text"] if focus is None else row["text"][focus[0] - row["start"] : focus[1] - row["start"]]
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _path(
    point: Point, place: Place, reports: Mapping[uuid.UUID, Report], texts: Mapping[uuid.UUID, Any]
) -> dict[str, Any]:
    """Report → card, by what the report says."""
    report = reports[point.report_ids[0]]
    cost = round(1.0 - point.score / 100, 6)
    return {
        "cost": cost,
        "score": round(point.score / 100, 6),
        "steps": [
            {
                "node": {"kind": "report", "id": str(report.id), "label": report.title},
                "edge": {"kind": "finding", "id": str(report.id), "text": point.description, "cost": cost},
            },
            {
                "node": {"kind": "card", "id": str(place.card_id), "label": texts[place.chunk_id]["title"]},
                "edge": None,
            },
        ],
    }
