"""What is remembered, as a prompt takes it; and that it stood in an answer. Joins chat, retrieval and memory.

Nobody waits for memory in vain: what cannot be recalled is left out.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from app.chat.citations import Citable
from app.core.errors import MindConeError
from app.core.log import get
from app.index.collections import TextKind
from app.memory.queries import MemorySpace
from app.memory.recall import BackgroundOf, Recall, Recalled, Script
from app.memory.relevance import Background
from app.retrieval.calibrating import Calibrations
from app.retrieval.queries import SpaceRow

log = get(__name__)


class Remembering:
    def __init__(self, recall: Recall) -> None:
        self._recall = recall

    async def memories(self, workspace_id: uuid.UUID, question: str) -> list[Citable]:
        """The best first, still without markers of their own."""
        try:
            recalled = await self._recall.recall(workspace_id, question)
        except MindConeError as error:
            log.warning("nothing_recalled", code=error.code)
            return []
        return [_citable(one) for one in recalled]

    async def note_used(self, session: AsyncSession, workspace_id: uuid.UUID, ids: Sequence[uuid.UUID]) -> None:
        """In the unit of work that stores a complete answer: these memories stood in its prompt."""
        await self._recall.note_used(session, workspace_id, ids)


class MeasuredBackgrounds:
    """How far apart unrelated questions and claims are in a workspace, as search measured it: a memory is a claim."""

    def __init__(self) -> None:
        self._calibrations = Calibrations()

    async def of(self, session: AsyncSession, workspace_id: uuid.UUID, space: MemorySpace) -> BackgroundOf:
        row = SpaceRow(space.id, space.key, dimension=0, sparse=False, indexed=False)
        calibration = await self._calibrations.of(session, workspace_id, row)

        def background(asked: Script, script: Script) -> Background:
            found = calibration.background(TextKind.point, asked, script)
            return Background(found.mu, found.sigma)

        return background


def _citable(memory: Recalled) -> Citable:
    return Citable(
        marker=memory.slug, kind="memory", id=memory.id, title=memory.title, text=memory.body, score=memory.score
    )
