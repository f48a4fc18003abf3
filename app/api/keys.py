"""API keys of the caller's workspace. A token is shown once, when it is made."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from app.api.deps import Admin, Claimed, ReadSession, WriteSession
from app.api.idempotency import RecordedRoute
from app.api.pages import Cursor, Limit, Page, cut, decode_position, encode_position
from app.api.text_types import Integer, Moment, Name, Shape
from app.core.clock import now
from app.people import audit_queries as audit
from app.people import queries
from app.people.keys import Scope, issue
from app.people.tables import ApiKey

router = APIRouter(prefix="/keys", tags=["keys"], route_class=RecordedRoute)


def _ahead(value: datetime) -> datetime:
    if value <= now():
        raise PydanticCustomError("moment_passed", "This moment has passed already")
    return value


class KeyCreate(Shape):
    model_config = ConfigDict(json_schema_extra={"example": {"name": "phone", "scopes": ["read", "chat"]}})

    name: Name
    scopes: Annotated[frozenset[Scope], Field(min_length=1)] = frozenset({"read", "write", "chat"})
    expires_at: Annotated[Moment, AfterValidator(_ahead)] | None = None
    rate_per_minute: Annotated[Integer, Field(ge=1, le=1_000_000)] | None = Field(
        None, description="Requests per minute; left out: as the settings of the instance say"
    )


class KeyShape(BaseModel):
    """`last4` are the last characters of the secret, to tell keys apart."""

    id: uuid.UUID
    name: str
    last4: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    rate_per_minute: int | None


class IssuedKeyShape(KeyShape):
    token: str = Field(description="`mc_<id>_<secret>`; it cannot be read again")


class KeyPage(Page[KeyShape]):
    pass


@router.post("", status_code=201)
async def create_key(
    principal: Admin, session: WriteSession, claim: Claimed, body: KeyCreate, request: Request, response: Response
) -> IssuedKeyShape:
    if claim is not None:
        claim.is_secret = True
    issued = issue()
    key = await queries.insert_key(
        session,
        principal.workspace_id,
        issued,
        name=body.name,
        scopes=sorted(body.scopes),
        expires_at=body.expires_at,
        rate_per_minute=body.rate_per_minute,
    )
    await audit.record(session, principal, "key.created", str(key.id), name=key.name, scopes=key.scopes)
    response.headers["Location"] = f"{request.url.path}/{key.id}"
    response.headers["Cache-Control"] = "no-store"
    return IssuedKeyShape(**key_shape(key).model_dump(), token=issued.token)


@router.get("")
async def list_keys(principal: Admin, session: ReadSession, limit: Limit = 50, cursor: Cursor = None) -> KeyPage:
    """Newest first, revoked ones too."""
    rows = await queries.list_keys(session, principal.workspace_id, limit + 1, decode_position(cursor))
    page, last = cut(rows, limit)
    following = (last.created_at, last.id) if last is not None else None
    return KeyPage(items=[key_shape(key) for key in page], next_cursor=encode_position(following))


@router.get("/{key_id}")
async def get_key(principal: Admin, session: ReadSession, key_id: uuid.UUID) -> KeyShape:
    return key_shape(await queries.get_key(session, principal.workspace_id, key_id))


@router.delete("/{key_id}", status_code=204)
async def revoke_key(principal: Admin, session: WriteSession, key_id: uuid.UUID) -> None:
    """From the next request on the key opens nothing."""
    await queries.revoke_key(session, principal.workspace_id, key_id)
    await audit.record(session, principal, "key.revoked", str(key_id))


def key_shape(key: ApiKey) -> KeyShape:
    return KeyShape.model_validate(key, from_attributes=True)
