"""Vectors of memories, in every embedding space that is written: made where they lack, counted, dropped.

A memory is stored without waiting for an embedder, and found by its words until its vector is there. Nothing is
remembered of what was done: what lacks is asked of the database.
"""

from __future__ import annotations

import uuid
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.index.spaces import Spaces
from app.memory import queries
from app.memory.change import embedded_text

_AT_ONCE: Final = 32


class MemoryVectors:
    table: Final = "memory_vectors"

    def __init__(self, database: Database, spaces: Spaces) -> None:
        self._database = database
        self._spaces = spaces

    async def fill(self, workspace_id: uuid.UUID | None = None) -> int:
        """Vectors of memories (of one workspace, or all) that have none of their present text, in every space that is
        written and whose embedder is here. Gives how many were made. Raises ProviderError.
        """
        keys = [embedder.space.key for embedder in self._spaces.embedders]
        made = 0
        while True:
            async with self._database.read() as session:
                lacking = await queries.list_lacking(session, keys, _AT_ONCE, workspace_id)
            if not lacking:
                return made
            rows: list[queries.VectorRow] = []
            for space_key in dict.fromkeys(one.space_key for one in lacking):
                wanted = [one for one in lacking if one.space_key == space_key]
                embedder = self._spaces.embedder(space_key)
                embeddings = await embedder.passages([embedded_text(one.title, one.body) for one in wanted])
                rows += [
                    (one.workspace_id, one.memory_id, one.space_id, one.text_hash, vector)
                    for one, vector in zip(wanted, embeddings.dense, strict=True)
                ]
            async with self._database.unit() as session:
                await queries.save_vectors(session, rows)
            made += len(rows)

    async def drop_left(self) -> None:
        """Those of spaces that are neither read nor filled any more: going back to one makes them again."""
        async with self._database.unit() as session:
            await queries.delete_left_vectors(session)

    async def count_vectors(self, session: AsyncSession, space_id: int) -> int:
        return await queries.count_vectors(session, space_id)

    async def count_texts(self, session: AsyncSession) -> int:
        """What there is to be embedded, over all workspaces."""
        return await queries.count_embedded(session)

    async def count_lacking(self, session: AsyncSession, workspace_id: uuid.UUID, space_id: int) -> int:
        return await queries.count_lacking(session, workspace_id, space_id)
