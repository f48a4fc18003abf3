"""Query parameters that a route does not know: whoever sends one believes that it was heeded."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from app.api.deps import Authenticated


async def only_known(request: Request, principal: Authenticated) -> None:
    """Raises RequestValidationError, after the caller is known: strangers learn nothing of a route."""
    route = request.scope["route"]
    if not request.query_params or not isinstance(route, APIRoute):
        return
    known = set(_names(route.dependant))
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in known]
    if unknown:
        raise RequestValidationError(
            [
                {"type": "unknown_parameter", "loc": ("query", name), "msg": "There is no such parameter here"}
                for name in unknown
            ]
        )


def _names(dependant: Dependant) -> Iterator[str]:
    """Parameters of the route's function and of everything it depends on."""
    yield from (field.alias for field in dependant.query_params)
    for needed in dependant.dependencies:
        yield from _names(needed)
