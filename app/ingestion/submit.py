"""The way in for cards: every change is one unit of work that ends with its job in the queue.

Takes the caller's session and never commits. A card, its revision, its links and the job that makes
it searchable stand or fall together. Knows nothing of HTTP.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import asyncpg
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.cards import queries
from app.cards.drafts import UNSET, CardFields, CardPatch, EmptyCard, NewCard, as_patch, complete, patched
from app.cards.links import links_in
from app.cards.tables import Card
from app.core.clock import now
from app.core.errors import Conflict, Invalid, MindConeError, VersionMismatch
from app.core.ids import new_id
from app.index.queries import delete_chunks
from app.jobs.job import NewJob
from app.jobs.queue import enqueue_many

__all__ = ["UNSET", "CardPatch", "EmptyCard", "Intake", "NewCard", "Submitted"]

INGEST: Final = "ingest"
GROUP_CARDS: Final = 32
GROUP_CHARACTERS: Final = 100_000
UNIQUE_EXTERNAL_ID: Final = "uq_cards_external_id"

Outcome = Literal["created", "updated", "unchanged", "rejected"]


class ExternalIdTaken(Conflict):
    """Another card has this external_id; post with upsert=true to change that card."""

    code = "external_id_taken"


class DuplicateInBody(Conflict):
    """An earlier item of this body has the same external_id."""

    code = "duplicate_in_body"


class CardTooLarge(Invalid):
    """The card is larger than the limit."""

    code = "card_too_large"


class Unstorable(Invalid):
    """The database cannot store a value of this card."""

    code = "unstorable_value"


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of one card of many."""

    outcome: Outcome
    id: uuid.UUID | None = None
    error: MindConeError | None = None


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
        outcomes: dict[int, Submitted] = {}
        accepted: dict[int, NewCard] = {}
        taken: set[str] = set()
        for index, item in enumerate(items):
            if isinstance(item, MindConeError):
                outcomes[index] = Submitted("rejected", error=item)
            elif item.external_id is not None and item.external_id in taken:
                outcomes[index] = Submitted("rejected", error=DuplicateInBody())
            else:
                accepted[index] = item
                if item.external_id is not None:
                    taken.add(item.external_id)
        try:
            async with session.begin_nested():
                outcomes |= await self._write_many(session, workspace_id, accepted)
        except DBAPIError as error:
            if not _is_bad_value(error):
                raise
            for index, item in accepted.items():
                outcomes |= await self._write_alone(session, workspace_id, index, item)
        return [outcomes[index] for index in range(len(items))]

    async def _write_alone(
        self, session: AsyncSession, workspace_id: uuid.UUID, index: int, item: NewCard
    ) -> dict[int, Submitted]:
        try:
            async with session.begin_nested():
                return await self._write_many(session, workspace_id, {index: item})
        except DBAPIError as error:
            if not _is_bad_value(error):
                raise
            return {index: Submitted("rejected", error=Unstorable())}

    async def _write_many(
        self, session: AsyncSession, workspace_id: uuid.UUID, items: Mapping[int, NewCard]
    ) -> dict[int, Submitted]:
        """Few statements for all. Rows are touched in the order of their external ids: no deadlocks."""
        outcomes: dict[int, Submitted] = {}
        drafts: dict[int, CardFields] = {}
        for index, item in items.items():
            try:
                drafts[index] = self._completed(item)
            except MindConeError as error:
                outcomes[index] = Submitted("rejected", error=error)
        waiting = sorted(drafts, key=lambda index: (drafts[index].external_id or "", index))
        changed: list[Card] = []
        created: list[Card] = []
        # Twice is enough, as in `upsert_card`.
        for _ in range(2):
            names = [name for index in waiting if (name := drafts[index].external_id) is not None]
            known = {
                card.external_id: card
                for card in (
                    await queries.list_by_external_id(session, workspace_id, names, lock=True) if names else ()
                )
            }
            fresh: dict[uuid.UUID, CardFields] = {}
            positions: dict[uuid.UUID, int] = {}
            for index in waiting:
                card = known.get(drafts[index].external_id)
                if card is None:
                    card_id = new_id()
                    fresh[card_id] = drafts[index]
                    positions[card_id] = index
                    continue
                try:
                    fields = self._patched(card, as_patch(items[index], queries.fields_of(card)))
                except MindConeError as error:
                    outcomes[index] = Submitted("rejected", error=error)
                    continue
                if self._assign(card, fields):
                    changed.append(card)
                outcomes[index] = Submitted("updated" if card in changed else "unchanged", card.id)
            if not fresh:
                break
            at = now()
            if names:
                await queries.release_external_ids(session, workspace_id, names)
            for card in await queries.insert_cards(session, workspace_id, fresh, at):
                created.append(card)
                outcomes[positions[card.id]] = Submitted("created", card.id)
            waiting = [index for index in waiting if index not in outcomes]
            if not waiting:
                break
        for index in waiting:
            outcomes.setdefault(index, Submitted("rejected", error=ExternalIdTaken()))
        await self._follow_up(session, workspace_id, created, changed)
        return outcomes

    # ----------------------------------------------------------------------------------- details

    def _completed(self, new: NewCard) -> CardFields:
        return self._within_limit(complete(new, now()))

    def _patched(self, card: Card, patch: CardPatch) -> CardFields:
        return self._within_limit(patched(queries.fields_of(card), patch, card.added_at))

    def _within_limit(self, fields: CardFields) -> CardFields:
        if len(fields.content) + len(fields.title) > self._limit or (
            len(fields.content.encode()) + len(fields.title.encode()) > self._limit
        ):
            raise CardTooLarge(f"A card may hold {self._limit} bytes of title and content.")
        return fields

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
        await self._follow_up(session, workspace_id, made, ())
        return made[0]

    async def _apply(self, session: AsyncSession, card: Card, fields: CardFields) -> bool:
        """Make the card so, if it is not yet. Raises ExternalIdTaken."""
        if fields.external_id is not None and fields.external_id != card.external_id:
            await queries.release_external_ids(session, card.workspace_id, [fields.external_id])
        if not self._assign(card, fields):
            return False
        try:
            await self._follow_up(session, card.workspace_id, (), [card])
        except IntegrityError as error:
            if UNIQUE_EXTERNAL_ID in str(error.orig):
                raise ExternalIdTaken from error
            raise
        return True

    def _assign(self, card: Card, fields: CardFields) -> bool:
        """Set the card's attributes and count the version. Whether anything changed."""
        before = queries.fields_of(card)
        if fields == before:
            return False
        for name, value in queries.columns_of(fields).items():
            if getattr(card, name) != value:
                setattr(card, name, value)
        card.version += 1
        card.updated_at = now()
        if not fields.same_text(before):
            card.text_version = card.version
            _mark_queued(card)
        return True

    async def _follow_up(
        self, session: AsyncSession, workspace_id: uuid.UUID, created: Sequence[Card], changed: Sequence[Card]
    ) -> None:
        """Revisions, links and jobs of cards that were just written."""
        cards = [*created, *changed]
        if not cards:
            return
        await session.flush()
        await queries.insert_revisions(session, cards, [new_id() for _ in cards], cards[0].updated_at)
        rewritten = [card for card in changed if card.text_version == card.version]
        for batch, fresh in ((created, True), (rewritten, False)):
            if batch:
                links = {card.id: links_in(card.content) for card in batch}
                await queries.replace_links(session, workspace_id, links, fresh=fresh)
        if self._queued:
            await enqueue_many(session, jobs(workspace_id, [*created, *rewritten]))

    async def _queue(self, session: AsyncSession, card: Card) -> None:
        _mark_queued(card)
        await session.flush()
        await enqueue_many(session, jobs(card.workspace_id, [card]))


def _mark_queued(card: Card) -> None:
    card.state = "queued"
    card.step = card.progress = card.error_code = card.error_detail = None
    card.attempts = 0


def jobs(workspace_id: uuid.UUID, cards: Sequence[Card]) -> list[NewJob]:
    """The work that these cards make, some cards a job: they share statements and batches, and each is still
    fenced by its own version, so a job for a text that has changed again does nothing.
    """
    groups: list[list[Card]] = []
    room = 0
    for card in cards:
        if not groups or len(groups[-1]) == GROUP_CARDS or room < len(card.content):
            groups.append([])
            room = GROUP_CHARACTERS
        groups[-1].append(card)
        room -= len(card.content)
    return [
        NewJob(
            kind=INGEST,
            workspace_id=workspace_id,
            payload={"cards": [[str(card.id), card.text_version] for card in group]},
        )
        for group in groups
    ]


def _is_bad_value(error: DBAPIError) -> bool:
    """Whether the database refused a value (data exception, size limit), not the statement or the moment."""
    state = str(getattr(error.orig, "sqlstate", None) or "")
    return state.startswith("22") or state == asyncpg.ProgramLimitExceededError.sqlstate
