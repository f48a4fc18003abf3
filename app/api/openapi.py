"""The OpenAPI document: stable operation ids, problem documents for every failure, both ways to send a key."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from app.api.problems import MEDIA_TYPE

_PROBLEM: dict[str, Any] = {
    "type": "object",
    "title": "Problem",
    "description": "RFC 9457. `code` is stable and made for programs, `detail` for people.",
    "required": ["type", "title", "status", "code", "detail", "request_id"],
    "properties": {
        "type": {"type": "string", "examples": ["urn:mindcone:problem:card_not_found"]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "examples": ["card_not_found"]},
        "detail": {"type": "string"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["loc", "msg", "type"],
                "properties": {
                    "loc": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
                    "msg": {"type": "string"},
                    "type": {"type": "string"},
                },
            },
        },
    },
}
_FAILURE: dict[str, Any] = {
    "description": "Problem",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_SCHEMES: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key `mc_<id>_<secret>`"},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}
_IDEMPOTENCY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Repeat a request with the same key and body, and get the first answer again (24 hours).",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}


def operation_id(route: APIRoute) -> str:
    """The name of the function, which is therefore part of the contract."""
    return route.name


def install(app: FastAPI) -> None:
    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    made = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, openapi_version="3.1.0"
    )
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    for replaced in ("HTTPValidationError", "ValidationError"):
        schemas.pop(replaced, None)
    schemas["Problem"] = _PROBLEM
    made["components"]["securitySchemes"] = _SCHEMES
    made["security"] = [{"bearer": []}, {"apiKey": []}, {}]
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            responses = operation["responses"]
            if "422" in responses:
                responses["422"] = {**_FAILURE, "description": "A value is not acceptable"}
            responses["default"] = _FAILURE
            if path.startswith("/health/"):
                operation["security"] = []
            if method == "post":
                operation.setdefault("parameters", []).append(_IDEMPOTENCY)
    return made
