"""What a written card brings with it: a version, a revision, its links, and the job that makes it searchable."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.cards import queries
from app.cards.drafts import CardFields
from app.cards.links import Link, links_in
from app.cards.tables import Card
from app.core.clock import now
from app.core.errors import Conflict, Invalid
from app.core.ids import new_id
from app.ingestion.queries import Task
from app.jobs.job import NewJob
from app.jobs.queue import enqueue_many

INGEST: Final = "ingest"
GROUP_CARDS: Final = 64
# Of a handful that comes alone, and of the first of many: they are found while the others are still being learned, and
# the embedder has something to do at once.
GROUP_OF_FEW: Final = 16
GROUP_CHARACTERS: Final = 100_000
# What is read in passing; more goes to a thread, so that nobody else waits.
PASSING_CHARACTERS: Final = 20_000


class ExternalIdTaken(Conflict):
    """Another card has this external_id; post with upsert=true to change that card."""

    code = "external_id_taken"


class CardTooLarge(Invalid):
    """The card is larger than the limit."""

    code = "card_too_large"


def within_limit(fields: CardFields, limit_bytes: int) -> CardFields:
    """Title and content counted in UTF-8. Raises CardTooLarge."""
    size = len(fields.content) + len(fields.title)
    if size > limit_bytes or len(fields.content.encode()) + len(fields.title.encode()) > limit_bytes:
        raise CardTooLarge(f"A card may hold {limit_bytes} bytes of title and content.")
    return fields


def assign(card: Card, fields: CardFields) -> bool:
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
    if not fields.same_reading(before):
        mark_queued(card)
    return True


def mark_queued(card: Card) -> None:
    """To be learned (again); what is being learned of it now will not be written."""
    card.ingestion_version += 1
    card.state = "queued"
    card.step = card.progress = card.error_code = card.error_detail = None
    card.attempts = 0


async def follow_up(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    created: Sequence[Card],
    changed: Sequence[Card],
    *,
    queued: bool,
) -> None:
    """Revisions, links and, if `queued`, jobs of cards that were just written."""
    cards = [*created, *changed]
    if not cards:
        return
    await session.flush()
    await queries.insert_revisions(session, cards, [new_id() for _ in cards], cards[0].updated_at)
    rewritten = [card for card in changed if card.text_version == card.version]
    for batch, fresh in ((created, True), (rewritten, False)):
        if batch:
            links = await _links_of({card.id: card.content for card in batch})
            await queries.replace_links(session, workspace_id, links, fresh=fresh)
    if queued:
        waiting = [card for card in changed if card.state == "queued"]
        await enqueue_many(session, jobs(workspace_id, [*created, *waiting]))


def jobs(workspace_id: uuid.UUID, cards: Sequence[Card]) -> list[NewJob]:
    """The work that these cards make, some cards a job: they share statements and batches, and each is still
    fenced by its own version, so a job for a text that has changed again does nothing.
    """
    groups: list[list[Card]] = []
    room = 0
    for card in cards:
        most = GROUP_CARDS if len(groups) > 1 and len(cards) >= GROUP_CARDS else GROUP_OF_FEW
        if not groups or len(groups[-1]) == most or room < len(card.content):
            groups.append([])
            room = GROUP_CHARACTERS
        groups[-1].append(card)
        room -= len(card.content)
    return [ingest_job(workspace_id, [Task(card.id, card.text_version) for card in group]) for group in groups]


def ingest_job(workspace_id: uuid.UUID, tasks: Sequence[Task]) -> NewJob:
    return NewJob(
        kind=INGEST,
        workspace_id=workspace_id,
        payload={"cards": [[str(task.card_id), task.text_version] for task in tasks]},
    )


async def _links_of(contents: Mapping[uuid.UUID, str]) -> dict[uuid.UUID, list[Link]]:
    def read() -> dict[uuid.UUID, list[Link]]:
        return {card_id: links_in(content) for card_id, content in contents.items()}

    in_passing = sum(map(len, contents.values())) < PASSING_CHARACTERS
    return read() if in_passing else await asyncio.to_thread(read)
