"""What Bundle Search shows: hits with their episode, the paths that found them step by step, and what can be cited.

Pure: costs and texts in, hits out. Offsets count characters of the card's content.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from app.retrieval.context_costs import Choice, Priced, Ranked
from app.retrieval.types import CardRef, Hit, Span


def told_hits(priced: Priced, choice: Choice, rows: Sequence[Any], snippet_chars: int, explain: bool) -> list[Hit]:
    """Hits in the order of the choice; one whose texts have gone in the meantime is none any more."""
    reached, at = priced.reached, priced.shape.telling_of_point
    texts = {(row["point_id"], row["card_id"]): row for row in rows}

    def text_of(point: int) -> Any:
        card = reached.id_of(reached.tellings, int(at[point]), "card")
        return texts.get((reached.id_of(reached.points, point), card))

    hits: list[Hit] = []
    for ranked, walked, shown in zip(choice.cards, choice.paths, choice.evidence, strict=True):
        paths = [_path(priced, point, row, explain) for point in walked if (row := text_of(point)) is not None]
        best = text_of(walked[0])
        if best is None:
            continue
        hits.append(
            Hit(
                rank=len(hits) + 1,
                score=round(-ranked.cost, 6),
                card=CardRef(best["card_id"], best["title"], best["external_id"], best["created_at"], best["tags"]),
                snippet=_line(best["claim"], snippet_chars),
                evidence=_spans(
                    [(row, -float(priced.costs.path[p])) for p in shown if (row := text_of(p)) is not None]
                ),
                ranks={"context": len(hits) + 1},
                explain=_explained(priced, ranked, walked[0]) if explain else None,
                episode={
                    "id": str(best["episode_id"]),
                    "title": best["episode_title"],
                    "summary": best["episode_summary"],
                },
                paths=paths,
            )
        )
    return hits


def _path(priced: Priced, point: int, row: Any, explain: bool) -> dict[str, Any]:
    """Claim → facet → episode → card; the costs of the edges add up to that of the path."""
    facet = int(priced.shape.facet_of_point[point])
    telling = int(priced.shape.telling_of_facet[facet])
    costs, signals = priced.costs, priced.signals
    cost = float(costs.path[point])
    edges: list[dict[str, Any]] = [
        {
            "kind": "facet_point",
            "id": str(row["point_id"]),
            "text": _edge_text(row["facet_title"], " → ", row["claim"]),
            "cost": round(float(costs.claim[point]), 6),
        },
        {
            "kind": "episode_facet",
            "id": str(row["facet_id"]),
            "text": _edge_text(row["facet_title"], ": ", row["facet_description"]),
            "cost": round(float(costs.facet[facet]), 6),
        },
        {
            "kind": "card_episode",
            "id": str(row["episode_id"]),
            "text": row["episode_title"],
            "cost": round(float(costs.base[telling]), 6),
        },
    ]
    if explain:
        edges[0] |= {"z": _number(signals.z_edge[point]), "words": _number(signals.words_point[point])}
        edges[1] |= {"z": _number(signals.z_facet[facet]), "words": _number(signals.words_facet[facet])}
        edges[2] |= {"words": _number(signals.words_episode[telling]), "time": _number(signals.time[telling])}
    nodes = [
        {"kind": "point", "id": str(row["point_id"]), "label": row["claim"]},
        {"kind": "facet", "id": str(row["facet_id"]), "label": row["facet_title"]},
        {"kind": "episode", "id": str(row["episode_id"]), "label": row["episode_title"]},
        {"kind": "card", "id": str(row["card_id"]), "label": row["title"]},
    ]
    steps = [{"node": node, "edge": edge} for node, edge in zip(nodes, [*edges, None], strict=True)]
    return {"cost": round(cost, 6), "score": round(-cost, 6), "steps": steps}


def _explained(priced: Priced, ranked: Ranked, point: int) -> dict[str, float]:
    telling, cost = ranked.telling, ranked.cost
    facet = int(priced.shape.facet_of_point[point])
    signals, costs = priced.signals, priced.costs
    record, facet_record = priced.reached.points[point], priced.reached.facets[facet]
    return {
        "cost": _number(cost),
        "total": _number(costs.total[telling]),
        "penalty": _number(cost - ranked.alike - float(costs.total[telling])),
        "alike": _number(ranked.alike),
        "path": _number(costs.path[point]),
        "claim": _number(costs.claim[point]),
        "facet": _number(costs.facet[facet]),
        "base": _number(costs.base[telling]),
        "claim_distance": _number(record["claim"]),
        "edge_distance": _number(record["edge"]),
        "facet_distance": _number(facet_record["description"]),
        "z_edge": _number(signals.z_edge[point]),
        "z_facet": _number(signals.z_facet[facet]),
        "words_point": _number(signals.words_point[point]),
        "words_facet": _number(signals.words_facet[facet]),
        "words_episode": _number(signals.words_episode[telling]),
        "time": _number(signals.time[telling]),
        "unlike": _number(signals.unlike[point]),
        "superseded": _number(signals.points_extra[point]),
    }


def _spans(claims: Sequence[tuple[Any, float]]) -> list[Span]:
    """The claims that stand somewhere, best first, then the chunks around them, each with the score of its best."""
    spans: list[Span] = []
    chunks: dict[uuid.UUID, Span] = {}
    for row, score in claims:
        start, end = _place(row)
        if start is not None and end is not None:
            spans.append(
                Span(
                    row["chunk_id"],
                    row["text"][start - row["start"] : end - row["start"]],
                    start,
                    end,
                    round(score, 6),
                    kind="claim",
                )
            )
        focus = None if start is None or end is None else (start, end)
        chunks.setdefault(
            row["chunk_id"], Span(row["chunk_id"], row["text"], row["start"], row["end"], round(score, 6), focus)
        )
    return [*spans, *chunks.values()]


def _place(row: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """The claim's place, as far as it lies in the chunk."""
    if row["point_start"] is None or row["point_end"] is None:
        return None, None
    start, end = max(row["point_start"], row["start"]), min(row["point_end"], row["end"])
    return (start, end) if start < end else (None, None)


def _edge_text(left: str, between: str, right: str) -> str:
    left, right = left.strip(), right.strip()
    return f"{left}{between}{right}" if left and right else left or right


def _line(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _number(value: Any) -> float:
    """NaN is not JSON: what is not known is 0."""
    number = float(value)
    return round(number, 6) if number == number else 0.0
