"""Which chat providers exist, and the guarded provider behind a name.

The table holds what is true of an endpoint for everyone; addresses and keys come from the settings.
Another dialect is another class beside `OpenAIChat` and another branch in `_build`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Literal, Self

from pydantic import SecretStr

from app.core.errors import ConfigurationError, NotFound
from app.providers.chat_settings import ChatSettings
from app.providers.guard import Breakers, GuardedChat
from app.providers.offline import OfflineChat
from app.providers.offline_pick import Terms
from app.providers.offline_text import Splitter
from app.providers.openai_chat import OpenAIChat
from app.providers.openai_wire import Endpoint
from app.providers.ports import ChatProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What `<name>_base_url` and `<name>_api_key` of the settings do not say. Windows are the smallest that the
    provider's present models have.
    """

    path: str = "/chat/completions"
    model: str
    context_window: int
    needs_key: bool = True
    json_mode: Literal["schema", "object", "none"] = "object"
    max_tokens_field: str = "max_tokens"


OPENAI_COMPATIBLE: Final[Mapping[str, Known]] = {
    "openai": Known(
        model="gpt-6-luna", context_window=128_000, json_mode="schema", max_tokens_field="max_completion_tokens"
    ),
    "deepseek": Known(model="deepseek-flash", context_window=128_000),
    "moonshot": Known(model="kimi-k2.6", context_window=256_000),
    "qwen": Known(model="qwen-plus", context_window=128_000),
    # A server that was not told otherwise gives a prompt this much and cuts the rest without a word.
    "ollama": Known(
        path="/v1/chat/completions", model="qwen3:4b", context_window=4096, needs_key=False, json_mode="schema"
    ),
    "custom": Known(model="default", context_window=8192, needs_key=False),
}


class ChatProviders:
    """All chat providers of a process, by name. `async with` opens and closes their connections.

    Raises ConfigurationError when the settings name a provider that does not exist or has no address. A missing
    key is no such error: its provider raises MissingKey when it is asked.
    """

    def __init__(self, settings: ChatSettings, *, sentences: Splitter, terms: Terms) -> None:
        self._settings = settings
        self._default = settings.chat_provider
        self._plain = _build(settings, OfflineChat(sentences, terms))
        breakers = Breakers(settings)
        for name in (self._default, *settings.chat_fallback):
            if name not in self._plain:
                raise ConfigurationError(f"There is no chat provider {name!r}, or it has no base URL.")
        self._guarded = {name: GuardedChat(self._candidates(name), settings, breakers) for name in self._plain}
        self._opened = AsyncExitStack()

    def get_provider(self, name: str | None = None) -> ChatProvider:
        """The provider of that name, or the configured one, to which alone the fallbacks belong. Raises NotFound."""
        try:
            return self._guarded[name or self._default]
        except KeyError:
            raise NotFound(f"There is no chat provider {name!r}.") from None

    def has_key(self, name: str) -> bool:
        """Whether the provider of that name is there and was given a key."""
        own = "chat" if name == "custom" else name
        key: SecretStr | None = getattr(self._settings, f"{own}_api_key", None)
        return name in self._plain and key is not None and bool(key.get_secret_value())

    def needs_key(self, name: str) -> bool:
        """Whether the provider of that name answers nobody without a key."""
        return name in OPENAI_COMPATIBLE and OPENAI_COMPATIBLE[name].needs_key

    def list_names(self) -> Sequence[str]:
        """The configured provider first."""
        return [self._default, *(name for name in self._plain if name != self._default)]

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        async with AsyncExitStack() as opening:
            for provider in self._plain.values():
                opening.push_async_callback(provider.close)
                await provider.open()
            self._opened = opening.pop_all()

    async def close(self) -> None:
        await self._opened.aclose()

    def _candidates(self, name: str) -> list[ChatProvider]:
        stand_ins = self._settings.chat_fallback if name == self._default else []
        return [self._plain[other] for other in dict.fromkeys((name, *stand_ins))]


def _build(settings: ChatSettings, offline: OfflineChat) -> dict[str, ChatProvider]:
    built: dict[str, ChatProvider] = {"offline": offline}
    for name, known in OPENAI_COMPATIBLE.items():
        own = "chat" if name == "custom" else name
        base_url: str | None = getattr(settings, f"{own}_base_url")
        key: SecretStr | None = getattr(settings, f"{own}_api_key", None)
        if not base_url:
            continue
        chosen = name == settings.chat_provider
        endpoint = Endpoint(
            name=name,
            base_url=base_url,
            path=known.path,
            default_model=(chosen and settings.chat_model) or known.model,
            context_window=(chosen and settings.chat_context_tokens) or known.context_window,
            api_key=key,
            needs_key=known.needs_key,
            json_mode=known.json_mode,
            max_tokens_field=known.max_tokens_field,
        )
        built[name] = OpenAIChat(endpoint, settings)
    return built
