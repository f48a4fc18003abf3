"""What level explore shows: cards with the passages that fit, and the paths on which they were found. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.retrieval import explore, explore_paths
from app.retrieval.explore import Entity, Hop, Link
from app.retrieval.explore_paths import Told
from app.retrieval.explore_reached import Reached
from app.retrieval.fusion import absolute_score
from app.retrieval.levels.level1_search import snippet
from app.retrieval.settings import RetrievalSettings
from app.retrieval.types import CardRef, Hit, Span

Scores = Mapping[uuid.UUID, float]


@dataclass(frozen=True, slots=True)
class Found:
    """A question's way through the graph. `parts`: scores by name, for `explain`."""

    asked: Sequence[Entity]
    links: Sequence[Link]
    hops: Mapping[uuid.UUID, Sequence[Hop]]
    reached: Reached
    parts: Mapping[str, Scores]
    trails: Mapping[uuid.UUID, Sequence[explore_paths.Trail]] = field(default_factory=dict)


def best_hops(hops: Iterable[Hop], cards: set[uuid.UUID], limit: int) -> dict[uuid.UUID, list[Hop]]:
    """Of each of these cards the best ways to it, one per bridge."""
    best: dict[tuple[uuid.UUID, uuid.UUID], Hop] = {}
    for hop in hops:
        if hop.link.card_id in cards:
            key = (hop.link.card_id, hop.bridge.entity.id)
            if key not in best or hop.score > best[key].score:
                best[key] = hop
    ways: dict[uuid.UUID, list[Hop]] = {}
    for hop in sorted(best.values(), key=lambda hop: (-hop.score, hop.bridge.entity.id)):
        ways.setdefault(hop.link.card_id, []).append(hop)
    return {card: found[:limit] for card, found in ways.items()}


def told_hits(
    ranked: Sequence[tuple[uuid.UUID, float]],
    found: Found,
    texts: Mapping[uuid.UUID, Any],
    told: Mapping[uuid.UUID | None, Told],
    settings: RetrievalSettings,
    explain: bool,
) -> list[Hit]:
    """Hits in this order; a card whose texts have gone in the meantime is none any more."""
    hits: list[Hit] = []
    for card, value in ranked:
        chunks = [
            (chunk, row)
            for chunk in found.reached.by_card.get(card, ())[: settings.evidence_spans]
            if (row := texts.get(chunk.id)) is not None
        ]
        if not chunks:
            continue
        best, first = chunks[0]
        hits.append(
            Hit(
                rank=len(hits) + 1,
                score=round(value, 6),
                card=CardRef(
                    first["card_id"], first["title"], first["external_id"], first["created_at"], first["tags"]
                ),
                snippet=snippet(
                    first["text"], best.start - first["start"], best.end - first["start"], settings.snippet_chars
                ),
                evidence=[
                    Span(
                        chunk.id,
                        row["text"],
                        row["start"],
                        row["end"],
                        round(absolute_score(chunk.cosine or 0.0, chunk.lexical, settings.lexical_weight), 6),
                        focus=(chunk.start, chunk.end),
                    )
                    for chunk, row in chunks
                ],
                ranks=found.reached.ranks.get(card, {"dense": None, "lexical": None, "sparse": None}),
                explain=_explained(found, card) if explain else None,
                paths=_paths(found, card, first["title"], told, settings),
            )
        )
    return hits


def _explained(found: Found, card: uuid.UUID) -> dict[str, float]:
    best = found.reached.by_card[card][0]
    return {
        "cosine": round(best.cosine or 0.0, 6),
        "lexical": round(best.lexical, 6),
        "base": round(best.base, 6),
        "hop": round(max((hop.score for hop in found.hops.get(card, ())), default=0.0), 6),
        **{name: round(scores.get(card, 0.0), 9) for name, scores in found.parts.items()},
    }


def _paths(
    found: Found, card: uuid.UUID, title: str, told: Mapping[uuid.UUID | None, Told], settings: RetrievalSettings
) -> list[dict[str, Any]]:
    """What the question names in the card, and the ways over others to it, best first."""
    base = found.reached.by_card[card][0].base
    named: dict[uuid.UUID, tuple[float, Link]] = {}
    for link in found.links:
        if link.card_id == card:
            weight = explore.named_share(link, base, settings)
            if link.entity.id not in named or weight > named[link.entity.id][0]:
                named[link.entity.id] = (weight, link)
    paths = [explore_paths.direct(link, title, weight) for weight, link in named.values()]
    for hop in found.hops.get(card, ()):
        source = found.reached.titles.get(hop.bridge.source, "")
        paths.append(explore_paths.across(hop, title, told.get(hop.bridge.fact.id), found.asked, source))
    paths += [explore_paths.along(trail, title, told) for trail in found.trails.get(card, ())]
    paths.sort(key=lambda path: -path["score"])
    return paths[: settings.explore_paths]
