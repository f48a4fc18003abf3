"""A chat provider over any endpoint that speaks one of our dialects, streamed.

Knows nothing of retries, fallbacks and breakers (guard) nor of which providers exist (specs, registry).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from app.core.errors import ConfigurationError
from app.providers import anthropic_wire, gemini_wire, openai_wire
from app.providers.chat_settings import ChatSettings
from app.providers.ports import (
    Capabilities,
    ChatEvent,
    ChatRequest,
    MissingKey,
    ProviderDown,
    ProviderGarbled,
    ProviderTimeout,
    Text,
)
from app.providers.specs import Dialect, Endpoint
from app.providers.sse import ServerEvent, SseParser
from app.providers.transport import HttpTransport, Reply, endpoint_url
from app.providers.wire_answer import WireAnswer

_MAX_WHOLE_BYTES: Final = 16 << 20
_DRAIN_SECONDS: Final = 0.25


@dataclass(frozen=True, slots=True)
class _Wire:
    body: Callable[[Endpoint, ChatRequest], dict[str, Any]]
    answer: Callable[[], WireAnswer]


_WIRES: Final[Mapping[Dialect, _Wire]] = {
    "openai": _Wire(openai_wire.request_body, openai_wire.OpenAIAnswer),
    "anthropic": _Wire(anthropic_wire.request_body, anthropic_wire.AnthropicAnswer),
    "gemini": _Wire(gemini_wire.request_body, gemini_wire.GeminiAnswer),
}


class WireChat:
    """A `ChatProvider` over one endpoint."""

    def __init__(self, endpoint: Endpoint, settings: ChatSettings) -> None:
        self._endpoint = endpoint
        self._wire = _WIRES[endpoint.spec.dialect]
        self._key = endpoint.api_key.get_secret_value().strip() if endpoint.api_key else ""
        if not (self._key.isascii() and self._key.isprintable()):
            raise ConfigurationError(f"The API key of {endpoint.name} holds characters that no key has.")
        self._url = endpoint_url(endpoint.base_url, endpoint.spec.path)
        self._transport = HttpTransport(
            self._address(None),
            headers=endpoint.spec.key_headers(self._key),
            connect_seconds=settings.provider_connect_seconds,
            first_byte_seconds=settings.provider_first_byte_seconds,
            idle_seconds=settings.provider_idle_seconds,
            max_connections=settings.provider_max_connections,
            reach=endpoint.reach,
        )

    @property
    def _may_send(self) -> bool:
        return bool(self._key) or not self._endpoint.spec.needs_key

    @property
    def name(self) -> str:
        return self._endpoint.name

    @property
    def default_model(self) -> str:
        return self._endpoint.default_model

    def capabilities(self, model: str | None = None) -> Capabilities:
        return self._endpoint.capabilities(model)

    async def open(self) -> None:
        if self._may_send:
            await self._transport.open()

    async def close(self) -> None:
        await self._transport.close()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        if not self._may_send:
            raise MissingKey(f"No API key is configured for {self.name}.", provider=self.name)
        answer = self._wire.answer()
        body = self._wire.body(self._endpoint, request)
        address = self._address(request.model)
        async with self._transport.post(body, accept="text/event-stream", url=address) as reply:
            if reply.media_type == "application/json":  # a server that cannot stream
                text = answer.take_whole(await reply.read(_MAX_WHOLE_BYTES))
                if text:
                    yield Text(text)
            elif reply.media_type == "text/html":
                raise ProviderGarbled("A web page answered instead of an AI provider; check the base URL.")
            else:
                async with aclosing(_server_events(reply, answer)) as events:
                    async for event in events:
                        text = answer.take(event)
                        if text:
                            yield Text(text)
                        if answer.ended:
                            await reply.drain(_DRAIN_SECONDS)
                            break
        yield answer.finished()

    def _address(self, model: str | None) -> str:
        bare = (model or self._endpoint.default_model).removeprefix("models/")
        return self._url.replace("{model}", quote(bare, safe=""))


async def _server_events(reply: Reply, answer: WireAnswer) -> AsyncGenerator[ServerEvent]:
    """Events until the body ends. A cut ends it too once the answer has begun; what is missing then shows in the
    answer, which has no end.
    """
    parser = SseParser()
    try:
        async with aclosing(reply.chunks()) as chunks:
            async for chunk in chunks:
                for event in parser.feed(chunk):
                    yield event
    except ProviderTimeout:
        raise
    except ProviderDown:
        if not answer.spoke:
            raise
        return
    for event in parser.close():
        if not answer.is_last(event.data):  # cut in the middle of a chunk
            return
        yield event
    answer.close()
