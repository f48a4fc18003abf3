"""What every route asks for: the services, who is calling, and a session.

The caller is settled in a short session of its own, which is closed before the route opens another:
no request ever holds one connection while it waits for a second.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

import structlog
from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.datastructures import Headers

from app.api.idempotency import Claim, claim
from app.core import tenancy
from app.core.errors import Forbidden, Unauthorized
from app.people import queries as people
from app.people import rate_queries
from app.people.keys import SCOPES, Principal, Scope
from app.settings import Settings
from app.wiring import Services

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class InvalidKey(Unauthorized):
    """This API key is not valid (any more)."""

    code = "invalid_api_key"


class MissingScope(Forbidden):
    """This API key does not have the scope that is needed."""

    code = "missing_scope"


class NotOperator(Forbidden):
    """Only an admin of the default workspace may do this."""

    code = "operator_only"


class ForeignOrigin(Forbidden):
    """Without an API key only programs on this machine may do this, not other web sites."""

    code = "foreign_origin"


def get_services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Wired = Annotated[Services, Depends(get_services)]


# ------------------------------------------------------------------------------------- who is calling


async def authenticate(request: Request, services: Wired) -> Principal:
    """The caller. Raises Unauthorized for a wrong key, also where none is needed."""
    tokens = tokens_in(request.headers)
    principal = await _keyed(services, tokens) if tokens else _keyless(request, services)
    structlog.contextvars.bind_contextvars(workspace_id=str(principal.workspace_id))
    tenancy.work_for(principal.workspace_id)
    return principal


async def _keyed(services: Services, tokens: list[str]) -> Principal:
    found = None
    async with services.database.unit() as session:
        for token in tokens:
            found = found or await people.find_principal(session, token)
        if found is None:
            raise InvalidKey
        principal, is_news = found
        await _count(session, services.settings, principal)
    if is_news and principal.key_id is not None:
        async with services.database.unit() as session:
            await people.note_use(session, principal.workspace_id, principal.key_id)
    return principal


async def _count(session: AsyncSession, settings: Settings, principal: Principal) -> None:
    """Raises TooOften."""
    own = principal.rate_per_minute
    per_minute = settings.rate_limit_per_minute if own is None else own
    if principal.key_id is not None and per_minute:
        # A key of its own pace may at once do what it may do in a minute.
        burst = settings.rate_limit_burst if own is None else own
        await rate_queries.take(session, principal.workspace_id, principal.key_id, per_minute=per_minute, burst=burst)


def _keyless(request: Request, services: Services) -> Principal:
    if services.settings.auth_required:
        raise Unauthorized
    if not is_local(request, services.settings):
        raise ForeignOrigin
    return Principal(services.default_workspace, frozenset(SCOPES))


def tokens_in(headers: Headers) -> list[str]:
    """Every credential that was sent, in whatever case and spacing; an empty one is a wrong one."""
    tokens = [value.strip() for value in headers.getlist("x-api-key")]
    for value in headers.getlist("authorization"):
        scheme, *rest = value.split(maxsplit=1) or [""]
        tokens.insert(0, "".join(rest).strip() if scheme.lower() == "bearer" else value.strip())
    return tokens


def is_local(request: Request, settings: Settings) -> bool:
    """Whether no web site can be behind a request without a key: neither by a name that points at this
    machine (DNS rebinding) nor by a form that a browser sends without asking.
    """
    host = _host_of(f"//{request.headers.get('host', '')}")
    if host is None:
        return False
    if "." in host and not host.endswith(".localhost") and not _is_address(host):
        return False
    origin = request.headers.get("origin")
    if origin is None or request.method in _SAFE or origin in settings.cors_origins:
        return True
    return origin.partition("://")[2] == request.headers.get("host")


def _host_of(url: str) -> str | None:
    """None for what is no host at all."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return None


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


Authenticated = Annotated[Principal, Depends(authenticate)]


def require(scope: Scope) -> Callable[[Principal], Awaitable[Principal]]:
    """A dependency that gives the caller when its key has the scope. Raises MissingScope."""

    async def scoped(principal: Authenticated) -> Principal:
        if not principal.may(scope):
            raise MissingScope(f"This API key does not have the scope `{scope}`.", scope=scope)
        return principal

    return scoped


Reader = Annotated[Principal, Depends(require("read"))]
Writer = Annotated[Principal, Depends(require("write"))]
Chatter = Annotated[Principal, Depends(require("chat"))]
Admin = Annotated[Principal, Depends(require("admin"))]


async def operator(principal: Admin, services: Wired) -> Principal:
    """The caller when it runs the instance: an admin of the default workspace. Raises NotOperator."""
    if principal.workspace_id != services.default_workspace:
        raise NotOperator
    return principal


Operator = Annotated[Principal, Depends(operator)]


# ------------------------------------------------------------------------------------------ sessions


async def claimed(request: Request, principal: Authenticated, services: Wired) -> AsyncIterator[Claim | None]:
    """The request's Idempotency-Key, held until the answer is recorded with it."""
    async with claim(request, services.database, principal) as held:
        yield held


Claimed = Annotated[Claim | None, Depends(claimed, scope="function")]


async def write_session(request: Request, services: Wired, claim: Claimed) -> AsyncIterator[AsyncSession]:
    """One unit of work, committed before the answer leaves."""
    async with services.database.unit() as session:
        request.state.session = session
        yield session


async def read_session(services: Wired) -> AsyncIterator[AsyncSession]:
    async with services.database.read() as session:
        yield session


WriteSession = Annotated[AsyncSession, Depends(write_session, scope="function")]
ReadSession = Annotated[AsyncSession, Depends(read_session, scope="function")]
