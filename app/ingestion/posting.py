"""Callers' own episodes come in: each with its card, in one unit of work that ends with the card's job.

Takes the caller's session and never commits. An item is kept as it was posted (`tables.PostedEpisode`);
the pipeline makes rows of it, so that the card is learned the same way each time. Knows nothing of HTTP.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import asyncpg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from app.cards import queries as cards
from app.cards.drafts import NewCard
from app.cards.queries import CardNotFound
from app.cards.tables import Card
from app.core.errors import Conflict, MindConeError
from app.core.ids import new_id
from app.ingestion import posted_queries as queries
from app.ingestion.batch import Unstorable
from app.ingestion.submit import Intake
from app.ingestion.tables import PostedEpisode
from app.ingestion.written import jobs, mark_queued
from app.jobs.queue import enqueue_many

Status = Literal["created", "updated", "unchanged", "rejected"]


class DuplicateEpisode(Conflict):
    """An earlier item of this body has the same external_id."""

    code = "duplicate_in_body"


class EpisodeTaken(Conflict):
    """This external_id belongs to an episode of another card."""

    code = "external_id_taken"


@dataclass(frozen=True, slots=True)
class CardRef:
    """A card that is there already, by one of its two ids."""

    id: uuid.UUID | None = None
    external_id: str | None = None


@dataclass(frozen=True, slots=True)
class EpisodePost:
    """`body` is JSON with title, summary, occurred_at (ISO), facets, entities, relations, as `posted` reads it."""

    card: NewCard | CardRef
    external_id: str | None
    is_complete: bool
    body: Mapping[str, Any]

    @property
    def body_hash(self) -> uuid.UUID:
        told = json.dumps([self.is_complete, self.body], ensure_ascii=False, sort_keys=True)
        return uuid.UUID(bytes=hashlib.sha256(told.encode()).digest()[:16])


@dataclass(frozen=True, slots=True)
class PostOutcome:
    status: Status
    episode_id: uuid.UUID | None = None
    card_id: uuid.UUID | None = None
    error: MindConeError | None = None


async def post_episodes(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    intake: Intake,
    items: Sequence[EpisodePost | MindConeError],
    *,
    queued: bool = True,
) -> list[PostOutcome]:
    """One outcome per item, in order; an item that is already an error is passed through. `intake` must leave the
    work to its caller: each card is queued once, whatever its items are, or not at all unless `queued`.
    """
    posting = _Posting(session, workspace_id, intake)
    outcomes = [await posting.take(item) for item in items]
    await session.flush()
    if posting.touched and queued:
        await enqueue_many(session, jobs(workspace_id, list(posting.touched.values())))
    return outcomes


@dataclass(slots=True)
class _Posting:
    session: AsyncSession
    workspace_id: uuid.UUID
    intake: Intake
    touched: dict[uuid.UUID, Card] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    # Cards that this very body made, by their content: two items may tell the same new card.
    made: dict[str, uuid.UUID] = field(default_factory=dict)

    async def take(self, item: EpisodePost | MindConeError) -> PostOutcome:
        if isinstance(item, MindConeError):
            return PostOutcome("rejected", error=item)
        if item.external_id is not None and item.external_id in self.seen:
            return PostOutcome("rejected", error=DuplicateEpisode())
        touched = dict(self.touched)
        try:
            async with self.session.begin_nested():
                outcome = await self._post(item)
        except MindConeError as error:
            self.touched = touched
            return PostOutcome("rejected", error=error)
        except (DBAPIError, asyncpg.PostgresError) as error:
            state = str(getattr(getattr(error, "orig", error), "sqlstate", None) or "")
            if not state.startswith("22"):
                raise
            self.touched = touched
            return PostOutcome("rejected", error=Unstorable())
        if item.external_id is not None:
            self.seen.add(item.external_id)
        return outcome

    async def _post(self, item: EpisodePost) -> PostOutcome:
        before = (
            await queries.find_posted(self.session, self.workspace_id, item.external_id)
            if item.external_id is not None
            else None
        )
        if before is not None and await self._is_trashed(before):
            # As with the external ids of cards: what is in the trash is in nobody's way.
            await self.session.delete(before)
            await self.session.flush()
            before = None
        card, card_changed = await self._card(item, before)
        if before is not None and before.card_id != card.id:
            raise EpisodeTaken
        if before is None:
            return await self._insert(item, card)
        same = before.body_hash == item.body_hash and before.text_version == card.text_version
        if same and not card_changed:
            return PostOutcome("unchanged", before.id, card.id)
        before.body, before.body_hash = dict(item.body), item.body_hash
        before.is_complete, before.text_version = item.is_complete, card.text_version
        await self.session.flush()
        self._queue(card)
        return PostOutcome("updated", before.id, card.id)

    async def _is_trashed(self, before: PostedEpisode) -> bool:
        card = await cards.find_card(self.session, self.workspace_id, before.card_id)
        return card is None

    async def _insert(self, item: EpisodePost, card: Card) -> PostOutcome:
        await queries.delete_stale(self.session, self.workspace_id, [(card.id, card.text_version)])
        row = PostedEpisode(
            workspace_id=self.workspace_id,
            id=new_id(),
            card_id=card.id,
            text_version=card.text_version,
            ordinal=await queries.next_ordinal(self.session, self.workspace_id, card.id),
            external_id=item.external_id,
            is_complete=item.is_complete,
            body=dict(item.body),
            body_hash=item.body_hash,
        )
        if not await queries.insert_posted(self.session, row):
            raise EpisodeTaken("Somebody else has just posted this external_id.")
        self._queue(card)
        return PostOutcome("created", row.id, card.id)

    async def _card(self, item: EpisodePost, before: PostedEpisode | None) -> tuple[Card, bool]:
        """The item's card, locked, and whether its text was written just now."""
        if isinstance(item.card, CardRef):
            return await self._known(item.card), False
        new = item.card
        if new.external_id is not None:
            card, outcome = await self.intake.upsert_card(self.session, self.workspace_id, new)
            return card, outcome == "updated"
        if before is not None:
            # Without an id of its own the card is known by its episode.
            card = await cards.get_card(self.session, self.workspace_id, before.card_id, lock=True)
            if (new.content, new.title or card.title) == (card.content, card.title):
                return card, False
        made = self.made.get(new.content)
        if made is not None:
            return await cards.get_card(self.session, self.workspace_id, made, lock=True), False
        card = await self.intake.submit_card(self.session, self.workspace_id, new)
        self.made[new.content] = card.id
        return card, True

    async def _known(self, ref: CardRef) -> Card:
        if ref.id is not None:
            return await cards.get_card(self.session, self.workspace_id, ref.id, lock=True)
        card = await cards.find_by_external_id(self.session, self.workspace_id, ref.external_id or "", lock=True)
        if card is None:
            raise CardNotFound
        return card

    def _queue(self, card: Card) -> None:
        mark_queued(card)
        self.touched[card.id] = card
