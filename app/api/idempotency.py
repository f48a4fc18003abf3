"""`Idempotency-Key` on POST: a repeated request gets the first answer, byte for byte.

The key is claimed in a short unit of work of its own, so that others see it in flight; the answer is
recorded in the transaction of its effect. Both stand, or neither. A claim that lost its key to another
request (after a minute of silence) cannot commit any more. Failed requests had no effect and give the
key back.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final

from fastapi import FastAPI
from fastapi.routing import APIRoute
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response

from app.core.errors import Conflict, Invalid
from app.db.session import Database
from app.people import queries as people
from app.people.keys import Principal
from app.people.tables import IdempotencyRecord

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"
STALE: Final = timedelta(seconds=60)
LONG_STALE: Final = timedelta(minutes=10)
KEPT: Final = timedelta(hours=24)

_KEY = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?")
_KEPT_HEADERS: Final = ("content-type", "etag", "location")


class InvalidIdempotencyKey(Invalid):
    """An Idempotency-Key has 1 to 255 printable ASCII characters."""

    code = "invalid_idempotency_key"


class KeyReused(Invalid):
    """This Idempotency-Key was used for another request."""

    code = "idempotency_key_reused"


class KeyInFlight(Conflict):
    """The first request with this Idempotency-Key is still being worked on."""

    code = "idempotency_in_flight"


class SecretNotRepeated(Conflict):
    """This was done, but its answer held a secret, which is shown only once."""

    code = "secret_not_repeated"


class Replayed(Exception):
    """There is an answer already."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


@dataclass(slots=True)
class Claim:
    """An Idempotency-Key in the hands of this request. `is_secret` keeps the answer's body out of the record."""

    database: Database
    principal: Principal
    key: str
    claimed_at: datetime
    is_secret: bool = False
    is_recorded: bool = False

    async def record(self, response: Response, session: AsyncSession | None) -> None:
        """Keep the answer, in the session of its effect where there is one. Raises KeyInFlight when another
        request has taken the key over: then the effect must not be committed either.
        """
        if session is None:
            async with self.database.unit() as own:
                await self._finish(own, response)
        else:
            await self._finish(session, response)
        self.is_recorded = True

    async def _finish(self, session: AsyncSession, response: Response) -> None:
        kept = await people.finish_record(
            session,
            self.principal.workspace_id,
            self.key,
            self.claimed_at,
            status=response.status_code,
            body=b"" if self.is_secret else bytes(response.body),
            headers={name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
            | ({"secret": "yes"} if self.is_secret else {}),
        )
        if not kept:
            raise KeyInFlight

    async def release(self) -> None:
        async with self.database.unit() as session:
            await people.release_record(session, self.principal.workspace_id, self.key, self.claimed_at)


@asynccontextmanager
async def claim(request: Request, database: Database, principal: Principal) -> AsyncIterator[Claim | None]:
    """Hold the request's key, if it has one. Raises Replayed, KeyReused, KeyInFlight, InvalidIdempotencyKey."""
    key = request.headers.get(HEADER)
    if key is None or request.method != "POST":
        yield None
        return
    if not _KEY.fullmatch(key):
        raise InvalidIdempotencyKey
    route = request.scope.get("route")
    stale = route.stale if isinstance(route, RecordedRoute) else STALE
    held = await _claimed(database, principal, key, await _fingerprint(request), stale)
    request.state.claim = held
    try:
        yield held
    except BaseException:
        await held.release()
        raise
    if not held.is_recorded:
        await held.release()


async def _claimed(database: Database, principal: Principal, key: str, fingerprint: str, stale: timedelta) -> Claim:
    # Twice: what was in the way may be given back just between the two statements.
    for _ in range(2):
        async with database.unit() as session:
            at = await people.claim_record(session, principal.workspace_id, key, fingerprint, stale=stale, kept=KEPT)
            if at is not None:
                return Claim(database, principal, key, at)
            record = await people.find_record(session, principal.workspace_id, key)
            if record is not None:
                raise _answer(record, fingerprint)
    raise KeyInFlight


def _answer(record: IdempotencyRecord, fingerprint: str) -> Exception:
    if record.fingerprint != fingerprint:
        return KeyReused()
    if record.status is None:
        return KeyInFlight()
    headers = dict(record.headers or {})
    if headers.pop("secret", None):
        return SecretNotRepeated()
    return Replayed(Response(record.body or b"", record.status, {**headers, REPLAYED: "true"}))


async def _fingerprint(request: Request) -> str:
    """SHA-256 of method, target and body; of an upload its fields and files, for the boundary is another each time."""
    digest = hashlib.sha256(f"{request.method} {request.url.path}?{request.url.query}\n".encode(errors="replace"))
    if request.headers.get("content-type", "").startswith("multipart/"):
        for name, value in (await request.form()).multi_items():
            digest.update(f"{name}\n".encode(errors="replace"))
            if isinstance(value, UploadFile):
                digest.update(f"{value.filename}\n{value.size}\n".encode(errors="replace"))
                await asyncio.to_thread(_digest_file, value, digest.update)
            else:
                digest.update(value.encode(errors="replace"))
    else:
        digest.update(await request.body())
    return digest.hexdigest()


def _digest_file(upload: UploadFile, update: Callable[[bytes], None]) -> None:
    while piece := upload.file.read(1024 * 1024):
        update(piece)
    upload.file.seek(0)


class RecordedRoute(APIRoute):
    """A route whose answer is recorded while its unit of work is still open."""

    stale: ClassVar[timedelta] = STALE

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def recorded(request: Request) -> Response:
            response = await handler(request)
            held: Claim | None = getattr(request.state, "claim", None)
            # A stream has no body to keep.
            if held is not None and response.status_code < 400 and hasattr(response, "body"):
                await held.record(response, getattr(request.state, "session", None))
            return response

        return recorded


class LongRoute(RecordedRoute):
    """A route that may wait for a model: its requests are not given up after a minute."""

    stale = LONG_STALE


def install(app: FastAPI) -> None:
    async def replayed(request: Request, error: Exception) -> Response:
        assert isinstance(error, Replayed)
        return error.response

    app.add_exception_handler(Replayed, replayed)
