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
from app.text.normalise import clean

log = get(__name__)

MEDIA_TYPE: Final = "application/problem+json"
OPENAI_PREFIX: Final = "/v1/"
MAX_ERRORS: Final = 50
MAX_LOC: Final = 100
MAX_MESSAGE: Final = 300

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


def described(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Validation errors without the input that caused them."""
    return [
        {
            "loc": [part if isinstance(part, int) else clean(str(part))[:MAX_LOC] for part in error["loc"]],
            "msg": clean(str(error["msg"]))[:MAX_MESSAGE],
            "type": str(error["type"]),
        }
        for error in found[:MAX_ERRORS]
    ]


def install(app: FastAPI) -> None:
    """Answer every failure of the app's routes with a problem document."""

    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, errors.MindConeError)
        return told(error, request.scope)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = described(error.errors())
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
