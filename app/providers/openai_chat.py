"""A chat provider over any endpoint that speaks the OpenAI-compatible dialect, streamed.

Knows nothing of retries, fallbacks and breakers (guard) nor of which providers exist (registry).
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from app.core.errors import ConfigurationError
from app.providers.chat_settings import ChatSettings
from app.providers.openai_wire import Completion, Endpoint, request_body
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
from app.providers.sse import ServerEvent, SseParser
from app.providers.transport import HttpTransport, Reply, endpoint_url

_MAX_WHOLE_BYTES: Final = 16 << 20
_DRAIN_SECONDS: Final = 0.25


class OpenAIChat:
    """A `ChatProvider` over one endpoint."""

    def __init__(self, endpoint: Endpoint, settings: ChatSettings) -> None:
        self._endpoint = endpoint
        self._key = endpoint.api_key.get_secret_value().strip() if endpoint.api_key else ""
        if not (self._key.isascii() and self._key.isprintable()):
            raise ConfigurationError(f"The API key of {endpoint.name} holds characters that no key has.")
        self._transport = HttpTransport(
            endpoint_url(endpoint.base_url, endpoint.path),
            headers={"authorization": f"Bearer {self._key}"} if self._key else {},
            connect_seconds=settings.provider_connect_seconds,
            first_byte_seconds=settings.provider_first_byte_seconds,
            idle_seconds=settings.provider_idle_seconds,
            max_connections=settings.provider_max_connections,
        )

    @property
    def _may_send(self) -> bool:
        return bool(self._key) or not self._endpoint.needs_key

    @property
    def name(self) -> str:
        return self._endpoint.name

    @property
    def default_model(self) -> str:
        return self._endpoint.default_model

    def capabilities(self, model: str | None = None) -> Capabilities:
        return Capabilities(
            context_window=self._endpoint.context_window,
            tools=self._endpoint.tools,
            json_schema=self._endpoint.json_mode == "schema",
        )

    async def open(self) -> None:
        if self._may_send:
            await self._transport.open()

    async def close(self) -> None:
        await self._transport.close()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        if not self._may_send:
            raise MissingKey(f"No API key is configured for {self.name}.", provider=self.name)
        answer = Completion()
        body = request_body(self._endpoint, request)
        async with self._transport.post(body, accept="text/event-stream") as reply:
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


async def _server_events(reply: Reply, answer: Completion) -> AsyncGenerator[ServerEvent]:
    """Events until the body ends. A cut ends it too once the answer has begun; what is missing then shows in the
    answer, which has no terminal event.
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
        try:
            json.loads(event.data)
        except ValueError:
            if event.data.strip() != "[DONE]":  # cut in the middle of a chunk
                return
        yield event
