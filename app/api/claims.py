"""Claims of which one can be true at a time, over HTTP: what a newer one has ended, and the history of one."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from app.api.deps import Reader, ReadSession
from app.api.pages import Limit
from app.graph import claim_queries as queries
from app.graph.claim_queries import DatedClaim

router = APIRouter(prefix="/claims", tags=["cone"])


class ClaimShape(BaseModel):
    """What a card says, and since when; `valid_until` null: it still holds. `id` is the point's."""

    id: uuid.UUID
    card_id: uuid.UUID
    card_title: str
    text: str
    value: str | None
    said_at: datetime
    valid_until: datetime | None
    superseded_by: uuid.UUID | None


class SupersededShape(BaseModel):
    """A claim that has ended, and the one that ended it."""

    older: ClaimShape
    newer: ClaimShape


class SupersededList(BaseModel):
    items: list[SupersededShape]


class ClaimHistory(BaseModel):
    items: list[ClaimShape]


@router.get("/superseded")
async def list_superseded_claims(
    principal: Reader,
    session: ReadSession,
    card_id: Annotated[uuid.UUID | None, Query(description="One side stands on this card")] = None,
    entity_id: Annotated[uuid.UUID | None, Query(description="The older side is about this entity")] = None,
    limit: Limit = 50,
) -> SupersededList:
    """What ended last comes first."""
    found = await queries.list_superseded(
        session, principal.workspace_id, card_id=card_id, entity_id=entity_id, limit=limit
    )
    return SupersededList(items=[SupersededShape(older=_shape(pair.older), newer=_shape(pair.newer)) for pair in found])


@router.get("/{point_id}/history")
async def list_claim_history(principal: Reader, session: ReadSession, point_id: uuid.UUID) -> ClaimHistory:
    """All that was ever said of the same, oldest first; a claim of another kind is its own history."""
    found = await queries.history(session, principal.workspace_id, point_id)
    return ClaimHistory(items=[_shape(claim) for claim in found])


def _shape(claim: DatedClaim) -> ClaimShape:
    return ClaimShape.model_validate(claim, from_attributes=True)
