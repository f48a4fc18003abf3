"""The notes that come with the product: for a first look, and for the demonstration."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from app.evaluation import queries as evaluation
from app.ingestion.queries import count_states
from app.retrieval.types import Level
from app.transfer.importing import Summary
from app.wiring import Services

MARK = "sample-imported"


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    query: str
    level: str


async def is_wanted(services: Services) -> bool:
    """On the first start only: not into notes that somebody has, not again after somebody removed it."""
    mark = services.settings.data_dir / MARK
    if mark.exists():
        return False
    async with services.database.read() as session:
        return not await count_states(session, services.default_workspace)


async def import_sample(services: Services, workspace_id: uuid.UUID | None = None) -> Summary:
    """Import the sample vault, into the default workspace unless another is given."""
    with resources.as_file(resources.files("app") / "sample_vault") as vault:
        summary = await services.importer.import_path(
            workspace_id or services.default_workspace, Path(vault), "obsidian"
        )
    if workspace_id is None:
        mark = services.settings.data_dir / MARK
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    return summary


async def learned(services: Services, timeout_seconds: float = 60.0) -> None:
    """Return when every card of the default workspace is learned, or after a while."""
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_seconds):
            while True:
                async with services.database.read() as session:
                    states = await count_states(session, services.default_workspace)
                if not states.get("queued", 0) + states.get("working", 0):
                    return
                await asyncio.sleep(0.2)


@asynccontextmanager
async def throw_away(services: Services) -> AsyncIterator[uuid.UUID]:
    """A workspace that is gone when the block ends."""
    async with services.database.unit() as session:
        workspace_id = await evaluation.make_workspace(session)
    try:
        yield workspace_id
    finally:
        async with services.database.unit() as session:
            await evaluation.remove_workspace(session, workspace_id)


def demo_questions() -> Sequence[SampleQuestion]:
    """One question per level, in order."""
    written = json.loads((resources.files("app") / "sample_vault_questions.json").read_text(encoding="utf-8"))
    first: dict[str, SampleQuestion] = {}
    for row in written:
        first.setdefault(row["level"], SampleQuestion(row["question"], row["level"]))
    return [first[level.name] for level in Level if level.name in first]
