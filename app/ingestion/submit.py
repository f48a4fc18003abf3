"""The way in for cards: every change is one unit of work that ends with its job in the queue.

Takes the caller's session and never commits. A card, its revision, its links and the job that makes
it searchable stand or fall together. Knows nothing of HTTP.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final, Literal

import asyncpg
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.cards import queries
from app.cards.drafts import UNSET, CardFields, CardPatch, EmptyCard, NewCard, as_patch, complete, patched
from app.cards.tables import Card
from app.core.clock import now
from app.core.errors import MindConeError, VersionMismatch
from app.core.ids import new_id
from app.graph.cone_queries import delete_cone
from app.index.queries import delete_chunks
from app.ingestion.batch import Batch, Submitted, Unstorable, drafted, rejected
from app.ingestion.written import INGEST, ExternalIdTaken, assign, follow_up, jobs, mark_queued, within_limit
from app.jobs.queue import enqueue_many

__all__ = ["INGEST", "UNSET", "CardPatch", "EmptyCard", "Intake", "NewCard", "Submitted"]

UNIQUE_EXTERNAL_ID: Final = "uq_cards_external_id"
DEADLOCK_ATTEMPTS: Final = 5


class Intake:
    """`card_limit_bytes` counts title and content in UTF-8. One that is not `queued` leaves the work on its
    cards to its caller.
    """

    def __init__(self, card_limit_bytes: int = 1024 * 1024, *, queued: bool = True) -> None:
        self._limit = card_limit_bytes
        self._queued = queued

    # -------------------------------------------------------------------------------- one card

    async def submit_card(self, session: AsyncSession, workspace_id: uuid.UUID, new: NewCard) -> Card:
        """A new card. Raises ExternalIdTaken, EmptyCard, CardTooLarge."""
        fields = self._completed(new)
        card = await self._insert(session, workspace_id, fields)
        if card is None:
            raise ExternalIdTaken
        return card

    async def upsert_card(
        self, session: AsyncSession, workspace_id: uuid.UUID, new: NewCard
    ) -> tuple[Card, Literal["created", "updated", "unchanged"]]:
        """A new card, or a change to the one that has its external id. Raises EmptyCard, CardTooLarge."""
        if new.external_id is None:
            return await self.submit_card(session, workspace_id, new), "created"
        # Twice is enough: a card that got in between is there, locked, the second time.
        for _ in range(2):
            card = await queries.find_by_external_id(session, workspace_id, new.external_id, lock=True)
            if card is not None:
                patch = as_patch(new, queries.fields_of(card))
                changed = await self._apply(session, card, self._patched(card, patch))
                return card, "updated" if changed else "unchanged"
            card = await self._insert(session, workspace_id, self._completed(new))
            if card is not None:
                return card, "created"
        raise ExternalIdTaken

    async def change_card(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        card_id: uuid.UUID,
        patch: CardPatch,
        expected_version: int | None = None,
    ) -> Card:
        """A partial change; one that changes nothing makes no new version.

        Raises CardNotFound, VersionMismatch, ExternalIdTaken, EmptyCard, CardTooLarge.
        """
        card = await self._locked(session, workspace_id, card_id, expected_version)
        await self._apply(session, card, self._patched(card, patch))
        return card

    async def restore_revision(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        card_id: uuid.UUID,
        n: int,
        expected_version: int | None = None,
    ) -> Card:
        """The card as it was at revision `n`, as a new version. The external id stays the present one.

        Raises CardNotFound, RevisionNotFound, VersionMismatch.
        """
        card = await self._locked(session, workspace_id, card_id, expected_version)
        revision = await queries.get_revision(session, workspace_id, card_id, n)
        await self._apply(session, card, queries.fields_at(revision, card))
        return card

    async def reingest_card(self, session: AsyncSession, workspace_id: uuid.UUID, card_id: uuid.UUID) -> Card:
        """Work on the card again, whatever became of it last time. Raises CardNotFound."""
        card = await queries.get_card(session, workspace_id, card_id, lock=True)
        await self._queue(session, card)
        return card

    # ------------------------------------------------------------------------------- the trash

    async def trash_card(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        card_id: uuid.UUID,
        expected_version: int | None = None,
    ) -> Card:
        """Into the trash: what was derived from it goes at once, the card itself can come back.

        Raises CardNotFound, VersionMismatch.
        """
        card = await self._locked(session, workspace_id, card_id, expected_version)
        card.trashed_at = now()
        await session.flush()
        await delete_chunks(session, workspace_id, [card_id])
        await delete_cone(session, workspace_id, [card_id])
        return card

    async def undelete_card(self, session: AsyncSession, workspace_id: uuid.UUID, card_id: uuid.UUID) -> Card:
        """Out of the trash, and queued again. One that is not in the trash is left as it is. Raises CardNotFound."""
        card = await queries.get_card(session, workspace_id, card_id, trashed=True, lock=True)
        if card.trashed_at is not None:
            card.trashed_at = None
            await self._queue(session, card)
        return card

    async def remove_card(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        card_id: uuid.UUID,
        expected_version: int | None = None,
    ) -> None:
        """Gone for good, from the trash too. Raises CardNotFound, VersionMismatch."""
        await self._locked(session, workspace_id, card_id, expected_version, trashed=True)
        await queries.delete_card(session, workspace_id, card_id)

    # -------------------------------------------------------------------------------- many cards

    async def submit_many(
        self, session: AsyncSession, workspace_id: uuid.UUID, items: Sequence[NewCard | MindConeError]
    ) -> list[Submitted]:
        """One outcome per item, in order. Known external ids are changed, unknown ones created; the first of a
        repeated one wins. An item that is already an error is passed through as rejected; no item spoils another.
        """
        outcomes = {index: rejected(item) for index, item in enumerate(items) if isinstance(item, MindConeError)}
        cards = {index: item for index, item in enumerate(items) if isinstance(item, NewCard)}
        drafts = await asyncio.to_thread(drafted, cards, self._limit)
        won: set[str] = set()

        async def write(some: Mapping[int, NewCard]) -> None:
            batch = Batch(session, workspace_id, some, drafts, self._limit, self._queued, won=set(won))
            async with session.begin_nested():
                outcomes.update(await batch.write())
            won.update(batch.won)

        try:
            await _patiently(partial(write, cards))
        except _REFUSALS as error:
            if not _is_bad_value(error):
                raise
            for index, item in cards.items():
                try:
                    await _patiently(partial(write, {index: item}))
                except _REFUSALS as error:
                    if not _is_bad_value(error):
                        raise
                    outcomes[index] = rejected(Unstorable())
        return [outcomes[index] for index in range(len(items))]

    # ----------------------------------------------------------------------------------- details

    def _completed(self, new: NewCard) -> CardFields:
        return within_limit(complete(new, now()), self._limit)

    def _patched(self, card: Card, patch: CardPatch) -> CardFields:
        return within_limit(patched(queries.fields_of(card), patch, card.added_at), self._limit)

    async def _locked(
        self,
        session: AsyncSession,
        workspace_id: uuid.UUID,
        card_id: uuid.UUID,
        expected_version: int | None,
        *,
        trashed: bool = False,
    ) -> Card:
        card = await queries.get_card(session, workspace_id, card_id, trashed=trashed, lock=True)
        if expected_version is not None and card.version != expected_version:
            raise VersionMismatch(version=card.version)
        return card

    async def _insert(self, session: AsyncSession, workspace_id: uuid.UUID, fields: CardFields) -> Card | None:
        """None when the external id is taken by a card outside of the trash."""
        card_id, at = new_id(), now()
        made = await queries.insert_cards(session, workspace_id, {card_id: fields}, at)
        if not made and await queries.release_external_ids(session, workspace_id, [fields.external_id or ""]):
            made = await queries.insert_cards(session, workspace_id, {card_id: fields}, at)
        if not made:
            return None
        await follow_up(session, workspace_id, made, (), queued=self._queued)
        return made[0]

    async def _apply(self, session: AsyncSession, card: Card, fields: CardFields) -> bool:
        """Make the card so, if it is not yet. Raises ExternalIdTaken."""
        if fields.external_id is not None and fields.external_id != card.external_id:
            await queries.release_external_ids(session, card.workspace_id, [fields.external_id])
        if not assign(card, fields):
            return False
        try:
            await follow_up(session, card.workspace_id, (), [card], queued=self._queued)
        except IntegrityError as error:
            if UNIQUE_EXTERNAL_ID in str(error.orig):
                raise ExternalIdTaken from error
            raise
        return True

    async def _queue(self, session: AsyncSession, card: Card) -> None:
        mark_queued(card)
        await session.flush()
        await enqueue_many(session, jobs(card.workspace_id, [card]))


# What comes through SQLAlchemy, and what comes from the driver itself (COPY, the queue).
_REFUSALS = (DBAPIError, asyncpg.PostgresError)


async def _patiently(write: Callable[[], Awaitable[None]]) -> None:
    """Whoever loses a deadlock has let go of its savepoint's locks, and tries again."""
    for _ in range(DEADLOCK_ATTEMPTS - 1):
        try:
            return await write()
        except _REFUSALS as error:
            if _state(error) != asyncpg.DeadlockDetectedError.sqlstate:
                raise
    return await write()


def _is_bad_value(error: DBAPIError | asyncpg.PostgresError) -> bool:
    """Whether the database refused a value (data exception, size limit), not the statement or the moment."""
    return _state(error).startswith("22") or _state(error) == asyncpg.ProgramLimitExceededError.sqlstate


def _state(error: DBAPIError | asyncpg.PostgresError) -> str:
    origin = error.orig if isinstance(error, DBAPIError) else error
    return str(getattr(origin, "sqlstate", None) or "")
