"""The values that may come in: strings that PostgreSQL and UTF-8 can hold, moments, JSON, limits.

Everything else is refused at the door with 422. Every other Unicode text passes unchanged.
"""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from app.text.normalise import has_forbidden

MAX_JSON_DEPTH: Final = 32
MAX_JSON_BYTES: Final = 256 * 1024

_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]|$)")


class Shape(BaseModel):
    """A body or a part of one: a field that we do not know is a mistake of the caller."""

    model_config = ConfigDict(extra="forbid")


def _storable(value: str) -> str:
    if has_forbidden(value):
        raise PydanticCustomError("forbidden_characters", "Text must not contain NUL or lone surrogates")
    return value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("blank", "This must not be blank")
    return value


def _moment(value: Any) -> Any:
    """ISO 8601 only: a bare number might be seconds or milliseconds."""
    if isinstance(value, str) and not _ISO_DATE.match(value):
        raise PydanticCustomError("datetime_format", "A moment is written as in ISO 8601, e.g. 2026-03-01T12:00:00Z")
    if not isinstance(value, str | datetime):
        raise PydanticCustomError("datetime_type", "A moment is a string as in ISO 8601")
    return value


def _in_utc(value: datetime) -> datetime:
    """Without a zone UTC is meant."""
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise PydanticCustomError("datetime_range", "The moment is outside of the years 1 to 9999") from None


def _json(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse what `jsonb` cannot hold, without recursion: the depth is the caller's."""
    level: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH + 1):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                for key in item:
                    _storable(key)
                below += item.values()
            elif isinstance(item, list):
                below += item
            elif isinstance(item, str):
                _storable(item)
            elif isinstance(item, float) and not math.isfinite(item):
                raise PydanticCustomError("finite_number", "Numbers must be finite")
        if not below:
            break
        level = below
    else:
        raise PydanticCustomError("json_depth", "This is nested too deeply")
    if len(json.dumps(value, ensure_ascii=False).encode()) > MAX_JSON_BYTES:
        raise PydanticCustomError("json_size", "This is larger than 256 KiB")
    return value


# In JSON "5" and true are no numbers; in a query string everything is text.
Integer = Annotated[int, Field(strict=True)]
Text = Annotated[str, AfterValidator(_storable)]
Line = Annotated[Text, AfterValidator(_not_blank)]
Title = Annotated[Text, Field(max_length=500)]
Name = Annotated[Line, Field(max_length=200)]
Tag = Annotated[Line, Field(max_length=200)]
Tags = Annotated[list[Tag], Field(max_length=100)]
# A btree entry holds 2,700 bytes, a character up to four.
ExternalId = Annotated[Text, Field(min_length=1, max_length=512)]
Moment = Annotated[datetime, BeforeValidator(_moment), AfterValidator(_in_utc)]
JsonObject = Annotated[dict[str, Any], AfterValidator(_json)]
