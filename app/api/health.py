"""Whether the process lives, whether it can serve, and its metrics. Outside of the prefix."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final, Literal

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from app.api.deps import Reader, Wired
from app.api.metrics import Metrics
from app.core.errors import Unavailable
from app.jobs.queue import queue_status
from app.people import queries as people

router = APIRouter(tags=["health"])

READY_SECONDS: Final = 2.0


class NotReady(Unavailable):
    """The process lives, but cannot serve at the moment."""

    code = "not_ready"


class Health(BaseModel):
    status: Literal["ok"] = "ok"


@router.get("/health/live")
async def get_liveness() -> Health:
    """Answers as long as the process does; asks nobody else."""
    return Health()


@router.get("/health/ready", responses={503: {"description": "Not now"}})
async def get_readiness(services: Wired, request: Request) -> Health:
    """Whether requests can be served: the database answers and the process is not stopping."""
    if request.app.state.stopping.is_set():
        raise NotReady("The server is stopping.")
    try:
        async with asyncio.timeout(READY_SECONDS), services.database.read() as session:
            await people.get_workspace(session, services.default_workspace)
    except Exception as error:
        raise NotReady("The database does not answer.") from error
    return Health()


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def get_metrics(principal: Reader, services: Wired, request: Request) -> Response:
    """Prometheus text format. Without a database the queue's last known state."""
    metrics: Metrics = request.app.state.metrics
    metrics.connections(services.database.pool_status())
    with suppress(Unavailable, TimeoutError):
        async with asyncio.timeout(READY_SECONDS), services.database.read() as session:
            metrics.queue(await queue_status(session))
    return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)
