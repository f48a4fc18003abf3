"""Endpoints for tests: a provider of one's own that speaks a dialect at some address."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from pydantic import SecretStr

from app.providers.specs import SPECS, Dialect, Endpoint, ProviderSpec, Traits

_OF_DIALECT = {"openai": "custom", "anthropic": "anthropic", "gemini": "gemini"}
_TRAITS = {field.name for field in fields(Traits)}


def endpoint(base_url: str = "http://127.0.0.1:1", key: str | None = "sk-x", **more: Any) -> Endpoint:
    """`more` are fields of the spec and of the traits that hold for all its models; `dialect` picks the spec."""
    dialect: Dialect = more.pop("dialect", "openai")
    traits = Traits(**{"context_window": 8192, "json_mode": "schema"} | {k: more.pop(k) for k in _TRAITS & more.keys()})
    model = more.pop("default_model", "m")
    spec: ProviderSpec = replace(SPECS[_OF_DIALECT[dialect]], needs_key=True, models=(traits,))
    return Endpoint(
        spec=replace(spec, **{"name": "fake"} | more),
        base_url=base_url,
        api_key=SecretStr(key) if key is not None else None,
        default_model=model,
    )
