"""Statements about cards, their revisions and links. Each takes the workspace first and decides nothing.

Rows are written by `app.ingestion`, which also owns the order of things inside a transaction.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    cast,
    column,
    delete,
    func,
    insert,
    intersect,
    or_,
    select,
    table,
    tuple_,
    union,
    update,
)
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from app.cards.drafts import CardFields
from app.cards.links import Candidate, Link, candidates_of, link_key, other_keys, winners
from app.cards.tables import STATES, Card, CardLink, CardRevision
from app.core.errors import NotFound
from app.db.session import raw

# A page of the largest cards would be hundreds of megabytes; it ends early instead.
PAGE_BYTES = 16 * 1024 * 1024
MAX_INCOMING = 1_000

# The index room is a neighbour: its table is named here, not imported.
_chunks = table("chunks", column("workspace_id"), column("card_id"), column("terms"))

Position = tuple[datetime, uuid.UUID]


class CardNotFound(NotFound):
    """There is no such card here."""

    code = "card_not_found"


class RevisionNotFound(NotFound):
    """This card has no such revision."""

    code = "revision_not_found"


@dataclass(frozen=True, slots=True)
class Words:
    """Words that a card must all hold: as `tsquery` literals for cards that are indexed, as they are written
    for those that are not yet. Without literals (emoji, punctuation) all cards are compared as written.
    """

    written: Sequence[str]
    literals: Sequence[str]


@dataclass(frozen=True, slots=True)
class CardFilters:
    """`state` None: all but the trash; `trashed`: the trash alone."""

    tags: Sequence[str] = ()
    words: Words | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class CardPage:
    items: Sequence[Card]
    following: Position | None


@dataclass(frozen=True, slots=True)
class Outgoing:
    link: CardLink
    card: Candidate | None


@dataclass(frozen=True, slots=True)
class Incoming:
    link: CardLink
    card_id: uuid.UUID
    title: str


@dataclass(frozen=True, slots=True)
class Links:
    outgoing: Sequence[Outgoing] = field(default_factory=tuple)
    incoming: Sequence[Incoming] = field(default_factory=tuple)


# --------------------------------------------------------------------------------------- one card


async def find_card(
    session: AsyncSession, workspace_id: uuid.UUID, card_id: uuid.UUID, *, trashed: bool = False, lock: bool = False
) -> Card | None:
    """The card, unless it is in the trash and `trashed` is not set. `lock` holds it until the transaction ends."""
    statement = select(Card).where(Card.workspace_id == workspace_id, Card.id == card_id)
    if not trashed:
        statement = statement.where(Card.trashed_at.is_(None))
    if lock:
        statement = statement.with_for_update()
    return (await session.execute(statement)).scalar_one_or_none()


async def get_card(
    session: AsyncSession, workspace_id: uuid.UUID, card_id: uuid.UUID, *, trashed: bool = False, lock: bool = False
) -> Card:
    """As `find_card`. Raises CardNotFound."""
    card = await find_card(session, workspace_id, card_id, trashed=trashed, lock=lock)
    if card is None:
        raise CardNotFound
    return card


async def find_by_external_id(
    session: AsyncSession, workspace_id: uuid.UUID, external_id: str, *, lock: bool = False
) -> Card | None:
    found = await list_by_external_id(session, workspace_id, [external_id], lock=lock)
    return found[0] if found else None


async def list_by_external_id(
    session: AsyncSession, workspace_id: uuid.UUID, external_ids: Sequence[str], *, lock: bool = False
) -> Sequence[Card]:
    """Cards outside of the trash, locked in the order of their ids, as everybody who locks several does."""
    statement = (
        select(Card)
        .where(Card.workspace_id == workspace_id, Card.external_id.in_(external_ids), Card.trashed_at.is_(None))
        .order_by(Card.id)
    )
    if lock:
        statement = statement.with_for_update()
    return (await session.execute(statement)).scalars().all()


# ------------------------------------------------------------------------------------------ pages


async def list_cards(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    filters: CardFilters,
    limit: int,
    after: Position | None = None,
) -> CardPage:
    """Newest text first, ties by id. At most `limit` cards, fewer when they are very large."""
    page = _matching(workspace_id, filters, Card.created_at, Card.id, func.octet_length(Card.content))
    if after is not None:
        page = page.where(tuple_(Card.created_at, Card.id) < tuple_(*after))
    page = page.order_by(Card.created_at.desc(), Card.id.desc()).limit(limit + 1)
    keys: list[Position] = []
    room = PAGE_BYTES
    more = False
    for created_at, card_id, size in await session.execute(page):
        if len(keys) == limit or (keys and size > room):
            more = True
            break
        keys.append((created_at, card_id))
        room -= size
    if not keys:
        return CardPage((), None)
    rows = await session.execute(
        select(Card)
        .where(Card.workspace_id == workspace_id, Card.id.in_([card_id for _, card_id in keys]))
        .order_by(Card.created_at.desc(), Card.id.desc())
    )
    return CardPage(rows.scalars().all(), keys[-1] if more else None)


async def count_cards(session: AsyncSession, workspace_id: uuid.UUID, filters: CardFilters) -> int:
    """How many cards all pages of `list_cards` hold together."""
    counted = await session.scalar(_matching(workspace_id, filters, func.count()))
    return int(counted or 0)


async def ingestion_counts(session: AsyncSession, workspace_id: uuid.UUID) -> dict[str, int]:
    """Cards outside of the trash by state; every state has its number."""
    rows = await session.execute(
        select(Card.state, func.count())
        .where(Card.workspace_id == workspace_id, Card.trashed_at.is_(None))
        .group_by(Card.state)
    )
    return dict.fromkeys(STATES, 0) | dict(rows.all())


def _matching(workspace_id: uuid.UUID, filters: CardFilters, *columns: Any) -> Select[Any]:
    statement = select(*columns).where(Card.workspace_id == workspace_id)
    if filters.state == "trashed":
        statement = statement.where(Card.trashed_at.is_not(None))
    else:
        statement = statement.where(Card.trashed_at.is_(None))
        if filters.state is not None:
            statement = statement.where(Card.state == filters.state)
    if filters.tags:
        statement = statement.where(Card.tags.contains(list(filters.tags)))
    if filters.created_after is not None:
        statement = statement.where(Card.created_at >= filters.created_after)
    if filters.created_before is not None:
        statement = statement.where(Card.created_at < filters.created_before)
    if filters.words is not None:
        statement = statement.where(_holds(workspace_id, filters.words))
    return statement


def _holds(workspace_id: uuid.UUID, words: Words) -> ColumnElement[bool]:
    written = and_(
        *(
            or_(Card.title.icontains(word, autoescape=True), Card.content.icontains(word, autoescape=True))
            for word in words.written
        )
    )
    if not words.literals:
        return written
    # One part per index: an OR across them would be answered by reading every card.
    indexed = intersect(
        *(
            select(_chunks.c.card_id).where(
                _chunks.c.workspace_id == workspace_id, _chunks.c.terms.op("@@")(cast(literal, TSQUERY))
            )
            for literal in words.literals
        )
    )
    indexed_now = select(Card.id).where(
        Card.workspace_id == workspace_id, Card.state == "ready", Card.id.in_(indexed.scalar_subquery())
    )
    waiting = [
        select(Card.id).where(Card.workspace_id == workspace_id, condition, written)
        for condition in (Card.state.in_(("queued", "working", "failed")), Card.trashed_at.is_not(None))
    ]
    return Card.id.in_(union(indexed_now, *waiting).scalar_subquery())


# --------------------------------------------------------------------------------------- revisions


async def list_revisions(
    session: AsyncSession, workspace_id: uuid.UUID, card_id: uuid.UUID, limit: int, before: int | None = None
) -> Sequence[CardRevision]:
    """The newest first; `before` is the number that the last page ended with."""
    statement = select(CardRevision).where(CardRevision.workspace_id == workspace_id, CardRevision.card_id == card_id)
    if before is not None:
        statement = statement.where(CardRevision.n < before)
    return (await session.execute(statement.order_by(CardRevision.n.desc()).limit(limit))).scalars().all()


async def get_revision(session: AsyncSession, workspace_id: uuid.UUID, card_id: uuid.UUID, n: int) -> CardRevision:
    """Raises RevisionNotFound."""
    found = await session.execute(
        select(CardRevision).where(
            CardRevision.workspace_id == workspace_id, CardRevision.card_id == card_id, CardRevision.n == n
        )
    )
    revision = found.scalar_one_or_none()
    if revision is None:
        raise RevisionNotFound
    return revision


# -------------------------------------------------------------------------------------------- links


async def resolve(session: AsyncSession, workspace_id: uuid.UUID, keys: Iterable[str]) -> dict[str, Candidate]:
    """The card that each key leads to, where there is one."""
    wanted = list(dict.fromkeys(keys))
    if not wanted:
        return {}
    answering = union(
        *(
            select(Card.id).where(Card.workspace_id == workspace_id, Card.trashed_at.is_(None), condition)
            for condition in (Card.title_key.in_(wanted), Card.link_keys.overlap(wanted))
        )
    )
    rows = await session.execute(
        select(Card.id, Card.title, Card.title_key, Card.link_keys).where(
            Card.workspace_id == workspace_id, Card.id.in_(answering.scalar_subquery())
        )
    )
    return winners(c for row in rows for c in candidates_of(wanted, *row))


async def list_links(session: AsyncSession, card: Card) -> Links:
    """Both directions. A link counts as incoming where this card is the one that it leads to."""
    own = (
        await session.execute(
            select(CardLink)
            .where(CardLink.workspace_id == card.workspace_id, CardLink.card_id == card.id)
            .order_by(CardLink.ordinal)
        )
    ).scalars()
    outgoing = own.all()
    answered = [card.title_key, *card.link_keys]
    found = await resolve(session, card.workspace_id, [*(link.target_key for link in outgoing), *answered])
    won = [key for key in answered if key in found and found[key].id == card.id]
    incoming = await session.execute(
        select(CardLink, Card.title)
        .join(Card, and_(Card.workspace_id == CardLink.workspace_id, Card.id == CardLink.card_id))
        .where(CardLink.workspace_id == card.workspace_id, CardLink.target_key.in_(won), Card.trashed_at.is_(None))
        .order_by(CardLink.card_id, CardLink.ordinal)
        .limit(MAX_INCOMING)
    )
    return Links(
        [Outgoing(link, found.get(link.target_key)) for link in outgoing],
        [Incoming(link, link.card_id, title) for link, title in incoming],
    )


async def replace_links(
    session: AsyncSession, workspace_id: uuid.UUID, links: Mapping[uuid.UUID, Sequence[Link]], *, fresh: bool = False
) -> None:
    """The links of these cards, as their text has them now. `fresh`: the cards had none before."""
    if not fresh:
        await session.execute(
            delete(CardLink).where(CardLink.workspace_id == workspace_id, CardLink.card_id.in_(list(links)))
        )
    rows = [
        (workspace_id, card_id, ordinal, link.target, link.target_key, link.alias, link.start, link.end)
        for card_id, found in links.items()
        for ordinal, link in enumerate(found)
    ]
    if rows:
        columns = ["workspace_id", "card_id", "ordinal", "target", "target_key", "alias", "start", "end"]
        await (await raw(session)).copy_records_to_table("card_links", columns=columns, records=rows)


# ------------------------------------------------------------------------------------------- writing


def columns_of(fields: CardFields) -> dict[str, Any]:
    """The columns of `cards` that follow from what the caller decides."""
    return {
        "title": fields.title,
        "title_key": link_key(fields.title),
        "link_keys": other_keys(fields.source, fields.metadata),
        "content": fields.content,
        "content_hash": fields.content_hash,
        "tags": list(fields.tags),
        "source": fields.source,
        "meta": dict(fields.metadata),
        "external_id": fields.external_id,
        "created_at": fields.created_at,
    }


def fields_of(card: Card) -> CardFields:
    """What the caller decided about this card."""
    return CardFields(
        title=card.title,
        content=card.content,
        tags=tuple(card.tags),
        created_at=card.created_at,
        source=card.source,
        metadata=card.meta,
        external_id=card.external_id,
    )


def fields_at(revision: CardRevision, card: Card) -> CardFields:
    """What the caller had decided at a revision; the external id is the present one."""
    return CardFields(
        title=revision.title,
        content=revision.content,
        tags=tuple(revision.tags),
        created_at=revision.card_created_at,
        source=revision.source,
        metadata=revision.meta,
        external_id=card.external_id,
    )


async def insert_cards(
    session: AsyncSession, workspace_id: uuid.UUID, cards: Mapping[uuid.UUID, CardFields], at: datetime
) -> list[Card]:
    """New cards in state queued. One whose external id is taken, also by a concurrent writer, is left out."""
    rows = [
        {"workspace_id": workspace_id, "id": card_id, "added_at": at, "updated_at": at, **columns_of(fields)}
        for card_id, fields in cards.items()
    ]
    statement = upsert(Card).on_conflict_do_nothing(index_elements=["workspace_id", "external_id"]).returning(Card)
    return list((await session.execute(statement, rows)).scalars().all())


async def insert_revisions(
    session: AsyncSession, cards: Sequence[Card], ids: Sequence[uuid.UUID], at: datetime
) -> None:
    """Each card as it is now, under its present version. `ids` are the revisions' own."""
    rows = [
        {
            "workspace_id": card.workspace_id,
            "id": revision_id,
            "created_at": at,
            "card_id": card.id,
            "n": card.version,
            "title": card.title,
            "content": card.content,
            "tags": card.tags,
            "source": card.source,
            "meta": card.meta,
            "card_created_at": card.created_at,
        }
        for card, revision_id in zip(cards, ids, strict=True)
    ]
    await session.execute(insert(CardRevision), rows)


async def release_external_ids(session: AsyncSession, workspace_id: uuid.UUID, external_ids: Sequence[str]) -> int:
    """Cards in the trash give up these ids, so that new cards may have them. Gives how many did."""
    done = await session.execute(
        update(Card)
        .where(Card.workspace_id == workspace_id, Card.external_id.in_(external_ids), Card.trashed_at.is_not(None))
        .values(external_id=None)
        .execution_options(synchronize_session=False)
        .returning(Card.id)
    )
    return len(done.all())


async def delete_card(session: AsyncSession, workspace_id: uuid.UUID, card_id: uuid.UUID) -> bool:
    """Remove the card and everything that hangs on it, for good. Whether it was there."""
    done = await session.execute(
        delete(Card).where(Card.workspace_id == workspace_id, Card.id == card_id).returning(Card.id)
    )
    return done.first() is not None
