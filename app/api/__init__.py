"""The doors over HTTP: one file per resource. They check what comes in, call one flow, and shape what goes out."""

from __future__ import annotations

from fastapi import APIRouter

PREFIX = "/api/v1"


def routers() -> list[APIRouter]:
    """Resources under the prefix, in the order of the documentation."""
    from app.api import (
        ask,
        audit,
        branches,
        cards,
        claims,
        communities,
        conversations,
        doctor,
        episodes,
        graph,
        imports,
        ingestion,
        insights,
        jobs,
        keys,
        memories,
        providers,
        search,
        usage,
        workspaces,
    )

    return [
        cards.router,
        episodes.router,
        claims.router,
        communities.router,
        graph.router,
        search.router,
        ask.router,
        conversations.router,
        branches.router,
        insights.router,
        memories.router,
        ingestion.router,
        imports.router,
        jobs.router,
        keys.router,
        providers.router,
        usage.router,
        audit.router,
        workspaces.router,
        doctor.router,
    ]


def root_routers() -> list[APIRouter]:
    """What has its place outside of the prefix."""
    from app.api import health, openai

    return [health.router, openai.router]
