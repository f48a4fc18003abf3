"""The embedding spaces that this process has an embedder for, and which of them the database wants written.

Search reads the current space alone, with that space's own embedder; vectors never mix. While another space is
being filled, whoever writes vectors writes them in both. Knows nothing of how a space is filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import Unavailable
from app.index import queries, space_queries
from app.index.tables import Space
from app.providers.ports import Embedder


class SpaceUnavailable(Unavailable):
    """Vectors must be written in a space whose embedder this process was not given."""

    code = "space_unavailable"


class WriteSpace(NamedTuple):
    """A space to write in: the id of its row, and what gives its vectors."""

    id: int
    embedder: Embedder


class Spaces:
    """`embedders`: the configured one, and the next one if there is one."""

    def __init__(self, *embedders: Embedder) -> None:
        self._embedders = embedders

    @property
    def embedders(self) -> Sequence[Embedder]:
        return self._embedders

    def find(self, key: str) -> Embedder | None:
        """The embedder of a space."""
        return next((embedder for embedder in self._embedders if embedder.space.key == key), None)

    def embedder(self, key: str) -> Embedder:
        """Raises SpaceUnavailable."""
        found = self.find(key)
        if found is None:
            raise SpaceUnavailable(
                f"The database holds vectors of {key}, and this process has no embedder for it. Give all processes the "
                "same MINDCONE_EMBEDDER and MINDCONE_EMBEDDER_NEXT settings, and restart this one."
            )
        return found

    async def to_write(self, session: AsyncSession) -> list[WriteSpace]:
        """Where vectors are to be written, the space that search reads first; it stays so until the session's
        transaction ends.

        Asked before embedding, and again, first of all, in the transaction that writes: if a space has come in
        between, its vectors are missing and must be made first. Raises SpaceUnavailable.
        """
        await space_queries.hold_spaces(session)
        return [WriteSpace(space.id, self.embedder(space.key)) for space in await space_queries.list_written(session)]

    async def settle(self, session: AsyncSession) -> Space:
        """The current space; in an empty database that of the configured embedder becomes it."""
        current = await queries.find_current_space(session)
        if current is None:
            await space_queries.lock_spaces(session)
            current = await queries.find_current_space(session)
        if current is None:
            space_id = await queries.ensure_space(session, self._embedders[0].space)
            await space_queries.set_current(session, space_id)
            (current,) = await space_queries.list_written(session)
        return current
