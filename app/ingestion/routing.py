"""Whether new episodes go on where others stopped: this finds the candidates, `cone.route` decides."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from app.graph import episode_queries
from app.graph.episode_queries import AskedEpisode, NearEpisode
from app.graph.rows import EpisodeRow
from app.graph.vector_tables import EpisodeVector
from app.index.rows import StoredVector
from app.ingestion.cone.route import Candidate, Material, RouteLimits, route
from app.ingestion.extract.types import TimeRange
from app.ingestion.learn import Learned
from app.providers.ports import Vector
from app.text.normalise import name_key
from app.text.when import OPEN_END, OPEN_START


async def join_episodes(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    space_id: int,
    cards: Sequence[Learned],
    vectors: Mapping[uuid.UUID, StoredVector],
) -> None:
    """Sets `joined_to` of the episodes of ours that continue one which is there. Belongs under the graph's lock.

    Only cards can continue another that say when they were written or where they lie: without one of the two there is
    no continuity.
    """
    asked: list[tuple[EpisodeRow, Material]] = []
    questions: list[AskedEpisode] = []
    for card in cards:
        path = (card.card.source or {}).get("path")
        if path is None and not card.card.is_dated:
            continue
        # What a card is called is no common ground.
        own = name_key(card.card.title)
        keys = frozenset(name_key(entity.name) for entity in card.derived.extraction.entities) - {own}
        hashes = {text.owner_id: text.text_hash for text in card.derived.cone.texts if text.table is EpisodeVector}
        facets: Counter[uuid.UUID] = Counter()
        for facet in card.derived.cone.facets:
            facets[facet.episode.id] += 1
        for row in card.derived.cone.episodes:
            if row.origin == "own":
                happened = TimeRange(row.happened.start, row.happened.end) if row.happened else None
                asked.append((row, Material(row.title, row.summary, keys, happened, path, facets[row.id])))
                questions.append(_asked(vectors[hashes[row.id]].dense, path, happened))
    if not asked:
        return
    found: dict[int, list[NearEpisode]] = defaultdict(list)
    for near in await episode_queries.list_near(
        session, workspace_id, space_id, questions, [card.card_id for card in cards]
    ):
        found[near.number].append(near)
    for number, (row, material) in enumerate(asked):
        row.joined_to = route(material, [_candidate(near) for near in found[number]]).episode


def _asked(dense: Vector, path: str | None, happened: TimeRange | None) -> AskedEpisode:
    period = None
    if happened is not None and happened.start != OPEN_START and happened.end != OPEN_END:
        gap = timedelta(days=RouteLimits().max_gap_days)
        period = (happened.start - gap, happened.end + gap)
    folder = f"{path.rpartition('/')[0]}/".lstrip("/") if path is not None else None
    return AskedEpisode(dense, folder, period)


def _candidate(near: NearEpisode) -> Candidate:
    happened = None
    if near.happened is not None and near.happened.lower is not None and near.happened.upper is not None:
        happened = TimeRange(near.happened.lower, near.happened.upper)
    return Candidate(
        near.id, Material(near.title, near.summary, near.entities, happened, near.path, near.facets), near.z
    )
