"""Cards over HTTP: write, list, change, trash, revisions, links."""

from __future__ import annotations

import uuid
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from sqlalchemy.ext.asyncio import AsyncSession

from app.api.card_shapes import (
    BulkItem,
    BulkResult,
    CardChange,
    CardCreate,
    CardPage,
    CardsBulk,
    CardShape,
    LinksShape,
    RevisionPage,
    RevisionShape,
    State,
    bulk_error,
    card_patch,
    card_shape,
    links_shape,
    new_card,
    revision_shape,
)
from app.api.deps import Reader, ReadSession, Wired, Writer, WriteSession
from app.api.etag import IfMatch, IfNoneMatch, etag, expected_version, is_unchanged
from app.api.idempotency import RecordedRoute
from app.api.pages import Cursor, Limit, cut, decode_number, decode_position, encode, encode_position
from app.api.text_types import Line, Moment, Tag
from app.cards import queries
from app.cards.queries import CardFilters
from app.cards.words import words_in
from app.core.errors import MindConeError
from app.graph.related_queries import list_related_cards

router = APIRouter(prefix="/cards", tags=["cards"], route_class=RecordedRoute)

RevisionNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.post("", status_code=201, responses={200: {"model": CardShape, "description": "Upsert changed a card"}})
async def create_card(
    principal: Writer,
    services: Wired,
    session: WriteSession,
    body: CardCreate,
    request: Request,
    response: Response,
    upsert: bool = False,
) -> CardShape:
    """Write a card. It can be read at once and found as soon as its ingestion is ready.

    Without `external_id` the same content makes a second card. With one that is taken: 409, or with
    `upsert=true` a change to that card (200), of which fields that are absent stay as they are.
    """
    intake = services.intake
    if upsert:
        card, outcome = await intake.upsert_card(session, principal.workspace_id, new_card(body))
        response.status_code = 201 if outcome == "created" else 200
    else:
        card = await intake.submit_card(session, principal.workspace_id, new_card(body))
    response.headers["ETag"] = etag(card.version)
    response.headers["Location"] = f"{request.url.path}/{card.id}"
    return card_shape(card)


@router.post("/bulk")
async def create_cards(principal: Writer, services: Wired, session: WriteSession, body: CardsBulk) -> BulkResult:
    """Write up to 500 cards. Known external ids are upserted; one repeated in the body: the first wins."""
    items = [item if isinstance(item, MindConeError) else new_card(item) for item in body.items]
    done = await services.intake.submit_many(session, principal.workspace_id, items)
    return BulkResult(
        items=[
            BulkItem(index=index, status=one.outcome, id=one.id, error=bulk_error(one.error))
            for index, one in enumerate(done)
        ]
    )


@router.get("")
async def list_cards(
    principal: Reader,
    services: Wired,
    session: ReadSession,
    limit: Limit = 50,
    cursor: Cursor = None,
    tag: Annotated[list[Tag], Query(max_length=20, description="Cards must have all of them")] = [],  # noqa: B006
    q: Annotated[Line | None, Query(max_length=1000, description="Words in title or content, all of them")] = None,
    created_after: Annotated[Moment | None, Query(description="Inclusive")] = None,
    created_before: Annotated[Moment | None, Query(description="Exclusive")] = None,
    state: Annotated[State | Literal["trashed"] | None, Query()] = None,
    count: Annotated[bool, Query(description="Say how many cards all pages hold")] = False,
) -> CardPage:
    """Newest `created_at` first. The trash is only listed with `state=trashed`."""
    filters = CardFilters(
        tags=tag,
        words=words_in(q, services.segmenter) if q is not None else None,
        created_after=created_after,
        created_before=created_before,
        state=state,
    )
    page = await queries.list_cards(session, principal.workspace_id, filters, limit, decode_position(cursor))
    return CardPage.model_construct(
        items=[card_shape(card) for card in page.items],
        next_cursor=encode_position(page.following),
        total=await queries.count_cards(session, principal.workspace_id, filters) if count else None,
    )


@router.get("/{card_id}", responses={304: {"description": "Still the version in If-None-Match"}})
async def get_card(
    principal: Reader,
    session: ReadSession,
    card_id: uuid.UUID,
    response: Response,
    if_none_match: IfNoneMatch = None,
) -> CardShape:
    card = await queries.get_card(session, principal.workspace_id, card_id)
    tag = etag(card.version)
    # Ingestion goes on within a version, so only a card that has arrived can be "unchanged".
    if card.state == "ready" and is_unchanged(if_none_match, card.version):
        return Response(status_code=304, headers={"ETag": tag})  # type: ignore[return-value]
    response.headers["ETag"] = tag
    return card_shape(card)


@router.patch("/{card_id}")
async def change_card(
    principal: Writer,
    services: Wired,
    session: WriteSession,
    card_id: uuid.UUID,
    body: CardChange,
    response: Response,
    if_match: IfMatch = None,
) -> CardShape:
    """Change the fields that are there; null clears. A change of tags or metadata alone is not ingested again."""
    expected = await _expected(session, principal.workspace_id, card_id, if_match)
    card = await services.intake.change_card(session, principal.workspace_id, card_id, card_patch(body), expected)
    response.headers["ETag"] = etag(card.version)
    return card_shape(card)


@router.delete("/{card_id}", status_code=204)
async def delete_card(
    principal: Writer,
    services: Wired,
    session: WriteSession,
    card_id: uuid.UUID,
    permanent: bool = False,
    if_match: IfMatch = None,
) -> None:
    """Into the trash, out of every answer at once; with `permanent=true` gone for good, also from the trash."""
    expected = await _expected(session, principal.workspace_id, card_id, if_match)
    remove = services.intake.remove_card if permanent else services.intake.trash_card
    await remove(session, principal.workspace_id, card_id, expected)


@router.post("/{card_id}/undelete")
async def undelete_card(
    principal: Writer, services: Wired, session: WriteSession, card_id: uuid.UUID, response: Response
) -> CardShape:
    """Out of the trash and into the queue again."""
    card = await services.intake.undelete_card(session, principal.workspace_id, card_id)
    response.headers["ETag"] = etag(card.version)
    return card_shape(card)


@router.get("/{card_id}/revisions")
async def list_card_revisions(
    principal: Reader, session: ReadSession, card_id: uuid.UUID, limit: Limit = 50, cursor: Cursor = None
) -> RevisionPage:
    """Every version of the card, the newest first."""
    await queries.get_card(session, principal.workspace_id, card_id)
    before = decode_number(cursor)
    rows = await queries.list_revisions(session, principal.workspace_id, card_id, limit + 1, before)
    page, last = cut(rows, limit)
    return RevisionPage(
        items=[revision_shape(row) for row in page], next_cursor=encode(last.n) if last is not None else None
    )


@router.get("/{card_id}/revisions/{n}")
async def get_card_revision(
    principal: Reader, session: ReadSession, card_id: uuid.UUID, n: RevisionNumber
) -> RevisionShape:
    await queries.get_card(session, principal.workspace_id, card_id)
    return revision_shape(await queries.get_revision(session, principal.workspace_id, card_id, n))


@router.post("/{card_id}/revisions/{n}/restore")
async def restore_card_revision(
    principal: Writer,
    services: Wired,
    session: WriteSession,
    card_id: uuid.UUID,
    n: RevisionNumber,
    response: Response,
    if_match: IfMatch = None,
) -> CardShape:
    """The card as it was at revision `n`, as a new version."""
    expected = await _expected(session, principal.workspace_id, card_id, if_match)
    card = await services.intake.restore_revision(session, principal.workspace_id, card_id, n, expected)
    response.headers["ETag"] = etag(card.version)
    return card_shape(card)


@router.get("/{card_id}/links")
async def list_card_links(principal: Reader, session: ReadSession, card_id: uuid.UUID) -> LinksShape:
    """Wikilinks in both directions, and cards that name the same things.

    Targets are found by title, alias or file name, whatever was written first.
    """
    card = await queries.get_card(session, principal.workspace_id, card_id)
    related = await list_related_cards(session, principal.workspace_id, card_id)
    return links_shape(await queries.list_links(session, card), related)


@router.post("/{card_id}/reingest", status_code=202)
async def reingest_card(principal: Writer, services: Wired, session: WriteSession, card_id: uuid.UUID) -> CardShape:
    """Work on the card again, for instance after it failed."""
    return card_shape(await services.intake.reingest_card(session, principal.workspace_id, card_id))


async def _expected(
    session: AsyncSession, workspace_id: uuid.UUID, card_id: uuid.UUID, if_match: str | None
) -> int | None:
    """The version to be changed. Of several tags it must be the one that is current."""
    current = None
    if if_match is not None and "," in if_match:
        found = await queries.find_card(session, workspace_id, card_id)
        current = found.version if found else None
    return expected_version(if_match, current)
