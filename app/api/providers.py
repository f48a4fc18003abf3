"""Chat providers: what there is, how it is, and their addresses and keys, which whoever runs the instance may change.

A key goes in and never comes out again: answers say that it is there, and its last four characters.
"""

from __future__ import annotations

import time
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from app.api.deps import Operator, Reader, Wired
from app.api.etag import IfMatch, etag, expected_version
from app.api.gone import unless_gone
from app.api.pages import Page
from app.api.text_types import Line, Shape
from app.core.errors import MindConeError
from app.people import audit_queries as audit
from app.people.keys import Principal
from app.providers.configured import Configured
from app.providers.ports import Capabilities, ChatProvider, ChatRequest, Finished, Message, ProviderDown, Text
from app.providers.registry import NAMES, OFFLINE, ProviderNotFound
from app.providers.specs import SPECS
from app.wiring import Services

router = APIRouter(prefix="/providers", tags=["providers"])

_TEST: Final = "Answer with the word OK."
_TEST_TOKENS: Final = 64


class ProviderChange(Shape):
    """What is left out stays as it is; null takes it back to what the settings say. A key belongs to the origin of the
    base URL: whoever changes that gives the key again, or null.
    """

    model_config = ConfigDict(json_schema_extra={"example": {"api_key": "sk-…", "default_model": "gpt-6-luna"}})

    api_key: Annotated[SecretStr, Field(max_length=4096)] | None = None
    base_url: Annotated[Line, Field(max_length=2048)] | None = None
    default_model: Annotated[Line, Field(max_length=200)] | None = None
    allow_private: bool | None = Field(
        None, description="The base URL may lead into a private network, as whoever sends this knows"
    )


class KeyState(BaseModel):
    """`origin`: whom the key was given for. `problem`: why a key that is stored cannot be used."""

    is_set: bool = Field(serialization_alias="set")
    last4: str | None = None
    source: Literal["settings", "stored"] | None = None
    origin: str | None = None
    problem: Literal["unreadable", "other_origin"] | None = None


class CapabilitiesShape(BaseModel):
    """Of the default model."""

    context_window: int
    tools: bool
    json_schema: bool
    streaming: bool
    temperature: bool


class ProviderShape(BaseModel):
    """`configured`: it can be asked. `healthy`: how this process's last call ended; null: there was none yet. `api_key`
    and `base_url` are told to admins of the default workspace only.
    """

    name: str
    dialect: Literal["openai", "anthropic", "gemini", "offline"]
    configured: bool
    healthy: bool | None
    is_default: bool
    needs_key: bool
    default_model: str
    capabilities: CapabilitiesShape
    base_url: str | None
    api_key: KeyState | None
    allow_private: bool
    last_error: str | None
    last_heard_at: datetime | None
    resting_models: list[str]
    version: int


class ProviderPage(Page[ProviderShape]):
    pass


class ProviderTest(BaseModel):
    """One short call, without retries by others. `code` and `detail` say what went wrong."""

    ok: bool
    model: str
    duration_ms: float
    answer: str | None = None
    code: str | None = None
    detail: str | None = None


class TestBody(Shape):
    model: Annotated[Line, Field(max_length=200)] | None = None


@router.get("")
async def list_providers(principal: Reader, services: Wired) -> ProviderPage:
    """All of them, whether they can be asked or not."""
    return ProviderPage(items=[_shape(services, principal, name) for name in NAMES], next_cursor=None)


@router.get("/{name}")
async def get_provider(principal: Reader, services: Wired, name: str, response: Response) -> ProviderShape:
    shape = _shape(services, principal, _known(name))
    response.headers["ETag"] = etag(shape.version)
    return shape


@router.put("/{name}")
async def put_provider(
    principal: Operator,
    services: Wired,
    name: str,
    body: ProviderChange,
    response: Response,
    if_match: IfMatch = None,
) -> ProviderShape:
    """Holds at once in this process, and in all others after `MINDCONE_VAULT_POLL_SECONDS` (1 s)."""
    change = {field: getattr(body, field) for field in body.model_fields_set}
    if (key := change.get("api_key")) is not None:
        change["api_key"] = key.get_secret_value()

    async def then(session: AsyncSession) -> None:
        told: dict[str, Any] = {field: value for field, value in change.items() if field != "api_key"}
        if "api_key" in change:
            told["api_key"] = "set" if change["api_key"] else "removed"
        await audit.record(session, principal, "provider.configured", name, **told)

    await services.stored_providers.put(name, change, expected_version(if_match), then)
    shape = _shape(services, principal, name)
    response.headers["ETag"] = etag(shape.version)
    return shape


@router.delete("/{name}", status_code=204)
async def delete_provider(principal: Operator, services: Wired, name: str, if_match: IfMatch = None) -> None:
    """What was stored goes, key and all; what the settings of the instance say holds again."""

    async def then(session: AsyncSession) -> None:
        await audit.record(session, principal, "provider.removed", name)

    await services.stored_providers.delete(name, expected_version(if_match), then)


@router.post("/{name}/test")
async def try_provider(
    principal: Operator, services: Wired, name: str, request: Request, body: TestBody | None = None
) -> ProviderTest:
    """Ask for one word. What goes wrong is said in the answer, whose status is 200 all the same."""
    model = body.model if body else None
    started = time.perf_counter()
    said, code, detail, used = None, None, None, model or ""
    try:
        provider = services.providers.get_provider(_known(name))
        used = model or provider.default_model
        said = await unless_gone(request, _ask(provider, model))
    except ProviderNotFound:
        raise
    except MindConeError as error:
        code, detail = error.code, error.detail
    return ProviderTest(
        ok=code is None,
        model=used,
        duration_ms=round((time.perf_counter() - started) * 1000, 1),
        answer=said,
        code=code,
        detail=detail,
    )


async def _ask(provider: ChatProvider, model: str | None) -> str:
    said: list[str] = []
    request = ChatRequest([Message("user", _TEST)], model=model, max_tokens=_TEST_TOKENS, question=_TEST)
    async with aclosing(provider.stream(request)) as events:
        async for event in events:
            if isinstance(event, Text):
                said.append(event.text)
            elif isinstance(event, Finished) and event.provider not in ("", provider.name):
                raise ProviderDown(f"It does not answer; {event.provider} stood in for it.")
    return "".join(said)[:200]


def _known(name: str) -> str:
    if name not in NAMES:
        raise ProviderNotFound(f"There is no chat provider {name!r}.", known=list(NAMES))
    return name


def _shape(services: Services, principal: Principal, name: str) -> ProviderShape:
    health = services.providers.health(name)
    is_operator = principal.may("admin") and principal.workspace_id == services.default_workspace
    now = services.providers.get_configured(name) if name != OFFLINE else None
    stored = now.stored if now else None
    able, model = _abilities(services, name, now)
    return ProviderShape(
        name=name,
        dialect=SPECS[name].dialect if name in SPECS else "offline",
        configured=now is None or now.is_usable,
        healthy=health.is_healthy,
        is_default=name == services.settings.chat_provider,
        needs_key=services.providers.needs_key(name),
        default_model=model,
        capabilities=CapabilitiesShape.model_validate(able, from_attributes=True),
        base_url=now.endpoint.base_url if now and now.endpoint and is_operator else None,
        api_key=_key_state(now) if now and is_operator else None,
        allow_private=stored is not None and stored.allow_private,
        last_error=health.heard.code if health.heard else None,
        last_heard_at=health.heard.at if health.heard else None,
        resting_models=list(health.resting_models),
        version=stored.version if stored else 0,
    )


def _abilities(services: Services, name: str, now: Configured | None) -> tuple[Capabilities, str]:
    if now is None or now.endpoint is not None:
        provider = services.providers.get_provider(name)
        return provider.capabilities(), provider.default_model
    traits = SPECS[name].traits(SPECS[name].default_model)
    able = Capabilities(traits.context_window, traits.tools, traits.json_mode == "schema")
    return able, SPECS[name].default_model


def _key_state(now: Configured) -> KeyState:
    stored, endpoint = now.stored, now.endpoint
    if now.key_from == "settings" and endpoint is not None and endpoint.api_key is not None:
        key = endpoint.api_key.get_secret_value().strip()
        return KeyState(is_set=True, last4=key[-4:] if len(key) >= 12 else "", source="settings")
    if stored is None or stored.key_origin is None:
        return KeyState(is_set=False)
    usable = now.key_from == "stored"
    return KeyState(
        is_set=usable,
        last4=stored.key_last4,
        source="stored",
        origin=stored.key_origin,
        problem=None if usable else "unreadable" if stored.is_unreadable else "other_origin",
    )
