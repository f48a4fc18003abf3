"""Failures as RFC 9457 problem documents; owns the table from error class to status. Under `/v1`, where OpenAI's
clients come, they have OpenAI's shape.

Nothing of a foreign exception's text ever leaves: drivers put SQL, hosts and people's notes into it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import asyncpg
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from app.core import errors
from app.core.log import get
from app.db.session import DatabaseUnavailable, PoolExhausted
from app.providers import ports
from app.providers.registry import ProviderNotConfigured
from app.text.normalise import clean

log = get(__name__)

MEDIA_TYPE: Final = "application/problem+json"
OPENAI_PREFIX: Final = "/v1/"
MAX_ERRORS: Final = 50
MAX_LOC: Final = 100
MAX_MESSAGE: Final = 300
_PARAMETERS: Final = frozenset({"query", "path", "header", "cookie"})
_SHOULD: Final = "Input should be "

# The nearest class of an error's ancestry decides.
STATUS: Final[Mapping[type[Exception], int]] = {
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.VersionMismatch: 412,
    errors.Invalid: 422,
    errors.TooLarge: 413,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.RateLimited: 429,
    errors.Unavailable: 503,
    errors.ConfigurationError: 500,
    ports.MissingKey: 409,
    ProviderNotConfigured: 409,
    ports.ProviderBusy: 503,
    ports.ProviderTimeout: 504,
    ports.ProviderError: 502,
    errors.MindConeError: 500,
}

_HTTP_CODES: Final[Mapping[int, str]] = {
    400: "malformed_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
}


class Busy(errors.Unavailable):
    """The database is too busy for this at the moment; try again."""

    code = "database_busy"


class Contradicted(errors.Conflict):
    """Something that this refers to was changed or removed in the meantime."""


class Unstorable(errors.Invalid):
    """The database cannot store or compare one of these values."""

    code = "unstorable_value"


def status_of(error: errors.MindConeError) -> int:
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def request_id(scope: Scope) -> str:
    return str(scope.get("state", {}).get("request_id", ""))


def document(scope: Scope, status: int, code: str, detail: str, /, **extra: Any) -> dict[str, Any]:
    """The members of a problem document. `extra` members of an error come along."""
    return {
        **extra,
        "type": f"urn:mindcone:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": clean(detail),
        "request_id": request_id(scope),
    }


def openai_document(status: int, code: str, detail: str, /, **extra: Any) -> dict[str, Any]:
    """The same as OpenAI writes it. `param` is the first field that validation complains of."""
    found = extra.get("errors")
    kind = "rate_limit_error" if status == 429 else "invalid_request_error" if status < 500 else "server_error"
    param = ".".join(map(str, found[0]["loc"][1:])) if found else None
    return {"error": {"message": clean(detail), "type": kind, "code": code, "param": param}}


def problem(
    scope: Scope, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None, /, **extra: Any
) -> Response:
    if scope["path"].startswith(OPENAI_PREFIX):
        members, media_type = openai_document(status, code, detail, **extra), "application/json"
    else:
        members, media_type = document(scope, status, code, detail, **extra), MEDIA_TYPE
    body = json.dumps(members, ensure_ascii=False, default=str)
    return Response(body.encode(errors="replace"), status, dict(headers or {}), media_type)


def told(error: errors.MindConeError, scope: Scope) -> Response:
    """An error of our own, as it names itself."""
    status = status_of(error)
    headers: dict[str, str] = {}
    if isinstance(error, errors.Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    wait = getattr(error, "retry_after_seconds", None)
    if status == 503 or wait is not None:
        headers["Retry-After"] = str(max(1, round(wait or 1)))
    if status >= 500 and not isinstance(error, errors.Unavailable):
        log.error("failed", code=error.code, exc_info=error)
    return problem(scope, status, error.code, error.detail, headers, **error.extra)


def translated(error: BaseException) -> errors.MindConeError | None:
    """What a database error that got this far means to the caller; None where it is our own mistake."""
    if isinstance(error, PoolTimeout):
        return PoolExhausted()
    origin = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(origin, "sqlstate", None)
    if not isinstance(origin, asyncpg.PostgresError) and not isinstance(error, DBAPIError):
        return None
    match str(state or "")[:2]:
        # Out of time, lock not available, deadlock or serialisation: the same request may work next time.
        case "57" | "55" | "40" | "53":
            return Busy()
        # No such database or user: as good as no server.
        case "3D" | "28" | "08":
            return DatabaseUnavailable()
        case "22" | "54":
            return Unstorable()
        case "23":
            return Contradicted()
    return None


def unexpected(error: BaseException, scope: Scope) -> Response:
    """Anything else: a translated database error, or 500 with the request id and nothing more."""
    meant = translated(error)
    if meant is not None:
        log.warning("database_refused", code=meant.code, kind=type(error).__name__)
        return told(meant, scope)
    log.error("unexpected", kind=type(error).__name__, exc_info=error)
    return problem(scope, 500, "internal", "Something went wrong inside MindCone.")


def described(found: Sequence[Mapping[str, Any]], value: Any) -> list[dict[str, Any]]:
    """Validation errors of `value` without the input that caused them: one for each place, in the order of `found`.

    A place is made of names and indices that the caller knows.
    """
    places: dict[tuple[str | int, ...], list[Mapping[str, Any]]] = {}
    for error in found:
        places.setdefault(_place(error, value), []).append(error)
    # Of the ways to read a value the one that got furthest into it is what the caller meant.
    inner = {place[:length] for place in places for length in range(len(place))}
    told = [
        (place, near)
        for place, near in places.items()
        if place not in inner or not all(_of_another_kind(one) for one in near)
    ]
    return [
        {
            "loc": [part if isinstance(part, int) else clean(part)[:MAX_LOC] for part in place],
            "msg": clean(_message(near))[:MAX_MESSAGE],
            "type": str(_meant(near)[0]["type"]),
        }
        for place, near in told[:MAX_ERRORS]
    ]


def _place(error: Mapping[str, Any], value: Any) -> tuple[str | int, ...]:
    """Where the error is. pydantic puts the names of its validators between the fields: they are no keys there."""
    loc: tuple[str | int, ...] = tuple(error["loc"])
    if error["type"] == "json_invalid":
        return loc
    if loc and loc[0] in _PARAMETERS:
        return (*loc[:2], *(part for part in loc[2:] if isinstance(part, int)))
    place = []
    for part in loc:
        is_field = isinstance(value, Mapping) and part in value
        is_item = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if is_field or is_item:
            value = value[part]
            place.append(part)
    # What is missing is no key either.
    return (*place, loc[-1]) if error["type"] == "missing" and place[-1:] != [*loc[-1:]] else tuple(place)


def _of_another_kind(error: Mapping[str, Any]) -> bool:
    return str(error["type"]).endswith("_type") or error["type"] == "literal_error"


def _meant(near: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Errors of one place: a value of the right kind that is wrong says more than the other kinds it might have had."""
    return [error for error in near if not _of_another_kind(error)] or near


def _message(near: Sequence[Mapping[str, Any]]) -> str:
    said = list(dict.fromkeys(_plain(error) for error in _meant(near)))
    if all(text.startswith(_SHOULD) for text in said):
        return _SHOULD + ", or ".join(text.removeprefix(_SHOULD) for text in said)
    return "; ".join(said)


def _plain(error: Mapping[str, Any]) -> str:
    """What is wrong in words that need no Python."""
    bounds = error.get("ctx") or {}
    match error["type"]:
        case "too_short":
            return f"There must be at least {bounds['min_length']} of these"
        case "too_long":
            return f"There must be at most {bounds['max_length']} of these"
        case "model_type" | "model_attributes_type" | "dict_type" | "dataclass_type":
            return f"{_SHOULD}a JSON object"
        case "frozenset_type" | "set_type" | "tuple_type" | "list_type":
            return f"{_SHOULD}a list"
        case "extra_forbidden":
            return "There is no such field here"
        case "value_error":
            # None of our validators raises it; the web framework's own does for uploads.
            return f"{_SHOULD}a file" if "UploadFile" in str(error["msg"]) else "This value is not acceptable"
    return str(error["msg"])


def install(app: FastAPI) -> None:
    """Answer every failure of the app's routes with a problem document."""

    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, errors.MindConeError)
        return told(error, request.scope)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = described(error.errors(), {"body": error.body})
        # A validator may name the failure more precisely than "some value is wrong".
        codes = {entry["type"] for entry in found if entry["type"] in CODES}
        code = codes.pop() if len(codes) == 1 and len(found) == 1 else "validation_error"
        detail = found[0]["msg"] if len(found) == 1 else "The request has values that are not acceptable."
        return problem(request.scope, 422, code, detail, errors=found)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code = _HTTP_CODES.get(error.status_code, "http_error")
        return problem(request.scope, error.status_code, code, str(error.detail), error.headers)

    app.add_exception_handler(errors.MindConeError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)


# Types of validation errors that are codes of their own.
CODES: Final = frozenset({"blank_query"})
