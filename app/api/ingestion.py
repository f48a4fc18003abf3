"""How far the cards are on their way into search: counts, and a stream of counts."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from typing import Final

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from app.api.deps import Reader, ReadSession, Wired
from app.api.sse import Event, EventStream
from app.cards import queries
from app.db.session import Database

router = APIRouter(prefix="/ingestion", tags=["ingestion"])

POLL_SECONDS: Final = 0.5


class IngestionCounts(BaseModel):
    queued: int
    working: int
    ready: int
    failed: int


@router.get("")
async def get_ingestion(principal: Reader, session: ReadSession) -> IngestionCounts:
    """Cards by state, the trash left out."""
    return IngestionCounts(**await queries.ingestion_counts(session, principal.workspace_id))


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "`counts` now and at every change"}},
)
async def stream_ingestion(principal: Reader, services: Wired, request: Request) -> EventStream:
    """Server-sent events `counts`, each with the counts of `GET /ingestion`."""
    return EventStream(request, _counts(services.database, principal.workspace_id))


async def _counts(database: Database, workspace_id: uuid.UUID) -> AsyncIterator[Event]:
    said: dict[str, int] | None = None
    while True:
        async with database.read() as session:
            counts = await queries.ingestion_counts(session, workspace_id)
        if counts != said:
            said = counts
            yield Event("counts", counts)
        await asyncio.sleep(POLL_SECONDS)
