"""Keyset pages: an opaque cursor that says where the last page ended."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

from app.core.errors import Invalid
from app.text.normalise import has_forbidden

Item = TypeVar("Item")

Limit = Annotated[int, Query(ge=1, le=200, description="Items per page")]
Cursor = Annotated[str | None, Query(max_length=8000, description="`next_cursor` of the page before")]

Position = tuple[datetime, uuid.UUID]
Counted = tuple[int, uuid.UUID]


class InvalidCursor(Invalid):
    """This is not a cursor of this list; begin again without one."""

    code = "invalid_cursor"


class Page(BaseModel, Generic[Item]):
    """`next_cursor` null: this is the last page."""

    items: Sequence[Item]
    next_cursor: str | None = Field(None, examples=["WyIyMDI2LTAzLTAxVDEyOjAwOjAwKzAwOjAwIl0"])


def encode(*parts: str | int) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts, ensure_ascii=False).encode()).decode().rstrip("=")


def encode_position(position: Position | None) -> str | None:
    return encode(position[0].isoformat(), position[1].hex) if position is not None else None


def decode_position(cursor: str | None) -> Position | None:
    """Raises InvalidCursor."""
    if cursor is None:
        return None
    try:
        moment, identifier = parts(cursor)
        at = datetime.fromisoformat(moment)
        return (at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)), uuid.UUID(hex=identifier)
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise InvalidCursor from error


def decode_number(cursor: str | None) -> int | None:
    """Raises InvalidCursor."""
    if cursor is None:
        return None
    try:
        (number,) = parts(cursor)
    except (ValueError, TypeError) as error:
        raise InvalidCursor from error
    if not isinstance(number, int) or not 0 <= number < 2**31:
        raise InvalidCursor
    return number


def encode_counted(position: Counted | None) -> str | None:
    return encode(position[0], position[1].hex) if position is not None else None


def decode_counted(cursor: str | None) -> Counted | None:
    """Raises InvalidCursor."""
    if cursor is None:
        return None
    try:
        number, identifier = parts(cursor)
        at = uuid.UUID(hex=identifier)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidCursor from error
    if not isinstance(number, int) or not 0 <= number < 2**31:
        raise InvalidCursor
    return number, at


def decode_id(cursor: str | None) -> uuid.UUID | None:
    """Raises InvalidCursor."""
    if cursor is None:
        return None
    try:
        (identifier,) = parts(cursor)
        return uuid.UUID(hex=identifier)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidCursor from error


def decode_text(cursor: str | None) -> str | None:
    """Raises InvalidCursor."""
    if cursor is None:
        return None
    match parts(cursor):
        case [str(text)] if not has_forbidden(text):
            return text
    raise InvalidCursor


def cut(rows: Sequence[Item], limit: int) -> tuple[Sequence[Item], Item | None]:
    """Of up to `limit` + 1 rows: the page, and its last row when there is more behind it."""
    page = rows[:limit]
    return page, page[-1] if len(rows) > limit else None


def parts(cursor: str) -> list[Any]:
    """What `encode` was given. Raises InvalidCursor."""
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        parts = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, RecursionError) as error:
        raise InvalidCursor from error
    if not isinstance(parts, list):
        raise InvalidCursor
    return parts
