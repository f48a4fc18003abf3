"""Episodes over HTTP: callers' own extractions in, episodes with their facets and claims out."""

from __future__ import annotations

import uuid
from typing import Any

from fastapi import APIRouter

from app.api.card_shapes import bulk_error
from app.api.deps import Reader, ReadSession, Wired, Writer, WriteSession
from app.api.episode_shapes import (
    EpisodeCardName,
    EpisodeShape,
    EpisodesPost,
    EpisodesResult,
    FacetShape,
    PointShape,
    PostedItem,
    PostedResult,
    Range,
    RoleShape,
    episode_post,
)
from app.api.idempotency import RecordedRoute
from app.graph import episode_queries as queries
from app.ingestion.posting import post_episodes

router = APIRouter(prefix="/episodes", tags=["cone"], route_class=RecordedRoute)


@router.post("")
async def create_episodes(
    principal: Writer, services: Wired, session: WriteSession, body: EpisodesPost
) -> EpisodesResult:
    """Write cards with extractions of your own, up to 500: no language model is asked. Idempotent by `external_id`.

    Facets, points, entities and relations that an item has are taken as they are; those that it leaves out, and times,
    are filled by rules unless it says `complete: true`. A card with an episode of yours gets none of ours, until its
    text changes.
    """
    done = await post_episodes(
        session, principal.workspace_id, services.unqueued, [episode_post(item) for item in body.items]
    )
    return EpisodesResult(
        items=[
            PostedResult(
                index=index,
                status=one.status,
                id=one.episode_id,
                card_id=one.card_id,
                external_id=item.external_id if isinstance(item, PostedItem) else None,
                error=bulk_error(one.error),
            )
            for index, (item, one) in enumerate(zip(body.items, done, strict=True))
        ]
    )


@router.get("/{episode_id}")
async def get_episode(principal: Reader, session: ReadSession, episode_id: uuid.UUID) -> EpisodeShape:
    found = await queries.get_episode(session, principal.workspace_id, episode_id)
    points: dict[uuid.UUID, list[PointShape]] = {}
    for row in found.points:
        points.setdefault(row["facet_id"], []).append(
            PointShape(
                id=row["id"],
                card_id=row["card_id"],
                chunk_id=row["chunk_id"],
                text=row["text"],
                start=row["start"],
                end=row["end"],
                speaker=row["speaker"],
                happened=_range(row["happened"]),
                valid=_range(row["valid_during"]),
                superseded_by=row["superseded_by"],
                entities=row["entities"],
            )
        )
    return EpisodeShape(
        id=found.episode["id"],
        external_id=found.episode["external_id"],
        title=found.episode["title"],
        summary=found.episode["summary"],
        happened=_range(found.episode["happened"]),
        origin=found.episode["origin"],
        joined_to=found.episode["joined_to"],
        created_at=found.episode["created_at"],
        cards=[
            EpisodeCardName(id=row["id"], title=row["title"], external_id=row["external_id"]) for row in found.cards
        ],
        facets=[
            FacetShape(
                id=row["id"],
                card_id=row["card_id"],
                title=row["title"],
                description=row["description"],
                start=row["start"],
                end=row["end"],
                happened=_range(row["happened"]),
                points=points.get(row["id"], []),
            )
            for row in found.facets
        ],
        roles=[
            RoleShape(
                id=row["id"], entity_id=row["entity_id"], name=row["name"], facet_id=row["facet_id"], text=row["text"]
            )
            for row in found.roles
        ],
    )


def _range(stored: Any) -> Range | None:
    return None if stored is None else Range(start=stored.lower, end=stored.upper)
