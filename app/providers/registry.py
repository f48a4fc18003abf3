"""Which chat providers exist, and the guarded provider behind a name.

`specs` holds what is true of a provider for everyone; addresses and keys come from the settings and from what was
stored while running. What is stored may change at any moment: whoever holds a provider asks the present one with the
next call, and calls that are under way end where they began.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from app.core.errors import ConfigurationError, NotFound
from app.core.log import get
from app.providers.breakers import Breakers, Heard, Places
from app.providers.chat_settings import ChatSettings
from app.providers.configured import Configured, Stored, checked_origins, configured
from app.providers.guard import GuardedChat, Meter, Unmetered
from app.providers.offline import OfflineChat
from app.providers.offline_pick import Terms
from app.providers.offline_text import Splitter
from app.providers.ports import Capabilities, ChatEvent, ChatProvider, ChatRequest, ProviderError
from app.providers.specs import SPECS, Endpoint
from app.providers.wire_chat import WireChat

log = get(__name__)

OFFLINE: Final = "offline"
NAMES: Final = (OFFLINE, *SPECS)


class ProviderNotFound(NotFound):
    """There is no chat provider of this name."""

    code = "provider_not_found"


class ProviderNotConfigured(ProviderError):
    """This provider has no address yet."""

    code = "provider_not_configured"


@dataclass(slots=True, eq=False)
class _Live:
    """A provider that is asked now, or was until just now."""

    provider: ChatProvider
    endpoint: Endpoint | None
    calls: int = 0
    is_retired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """`is_healthy` None: nobody has asked it since this process started."""

    is_healthy: bool | None
    heard: Heard | None
    resting_models: Sequence[str]


class ChatProviders:
    """All chat providers of a process, by name. `async with` opens and closes their connections.

    Raises ConfigurationError when the settings name a provider that does not exist. A missing key is no such error:
    its provider raises MissingKey when it is asked. `on_loopback`: nobody but this machine can ask us.
    """

    def __init__(
        self,
        settings: ChatSettings,
        *,
        sentences: Splitter,
        terms: Terms,
        on_loopback: bool = False,
        meter: Meter | None = None,
    ) -> None:
        self._settings = settings
        self._default = settings.chat_provider
        self._on_loopback = on_loopback
        self._breakers = Breakers(settings)
        self._places = Places(settings.provider_concurrency, settings.provider_first_byte_seconds)
        self._meter = meter or Unmetered()
        self._configured: dict[str, Configured] = {}
        self._live: dict[str, _Live] = {OFFLINE: _Live(OfflineChat(sentences, terms), None)}
        self._closing: set[asyncio.Task[None]] = set()
        self._opened: AsyncExitStack | None = None
        self._check_names()
        checked_origins(settings.outgoing_allow)
        for name, spec in SPECS.items():
            self._configured[name] = now = configured(spec, settings, None, on_loopback=on_loopback)
            if (live := self._made(now)) is not None:
                self._live[name] = live
        self._handles = {name: _Handle(self, name) for name in NAMES}

    # ------------------------------------------------------------------------------------ asking

    def get_provider(self, name: str | None = None) -> ChatProvider:
        """The provider of that name, or the configured one. Raises ProviderNotFound, ProviderNotConfigured."""
        name = name or self._default
        if name not in self._handles:
            raise ProviderNotFound(f"There is no chat provider {name!r}.", known=list(NAMES))
        self.live(name)
        return self._handles[name]

    def has_key(self, name: str) -> bool:
        """Whether the provider of that name is there and was given a key."""
        return name in self._live and name in SPECS and self._configured[name].key_from is not None

    def needs_key(self, name: str) -> bool:
        """Whether the provider of that name answers nobody without a key."""
        return name in SPECS and SPECS[name].needs_key

    def list_names(self) -> Sequence[str]:
        """Those that have an address, the configured one first."""
        there = [name for name in NAMES if name in self._live and name != self._default]
        return [self._default, *there] if self._default in self._live else there

    def get_configured(self, name: str) -> Configured:
        """What is known of a provider that has settings. Raises ProviderNotFound."""
        if name not in SPECS:
            raise ProviderNotFound(f"There is no chat provider {name!r} with settings.", known=list(SPECS))
        return self._configured[name]

    def health(self, name: str) -> Health:
        """As this process knows it from its own calls."""
        heard, resting = self._breakers.last_heard(name), self._breakers.resting_models(name)
        if name == OFFLINE:
            return Health(is_healthy=True, heard=None, resting_models=())
        is_healthy = None if heard is None else heard.code is None
        default_model = self._live[name].provider.default_model if name in self._live else ""
        return Health(is_healthy=False if default_model in resting else is_healthy, heard=heard, resting_models=resting)

    # -------------------------------------------------------------------------------- life, change

    async def configure(self, stored: Mapping[str, Stored]) -> None:
        """What is stored at present; providers for which nothing changed keep their connections."""
        for name, spec in SPECS.items():
            mine = stored.get(name)
            try:
                now = configured(spec, self._settings, mine, on_loopback=self._on_loopback)
                is_same = now.endpoint == self._endpoint(name)
                live = None if is_same else self._made(now)
            except ConfigurationError as error:  # stored by a version that took it
                log.error("provider_not_usable", provider=name, detail=error.detail)
                continue
            if is_same:
                self._configured[name] = now
                continue
            if self._opened is not None and live is not None:
                await live.provider.open()
            old = self._live.pop(name, None)
            self._configured[name] = now
            if live is not None:
                self._live[name] = live
            self._breakers.forget(name)
            if old is not None:
                self._retire(old)
            log.info("provider_configured", provider=name, version=mine.version if mine else 0)

    def check_named(self) -> None:
        """Raises ConfigurationError when a provider that the settings name has no address, stored ones included."""
        for name in self._named():
            if name not in self._live:
                raise ConfigurationError(f"There is no chat provider {name!r}, or it has no base URL.")

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Raises ConfigurationError as `check_named`."""
        self.check_named()
        async with AsyncExitStack() as opening:
            for live in self._live.values():
                opening.push_async_callback(live.provider.close)
                await live.provider.open()
            self._opened = opening.pop_all()

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.aclose()
        for live in self._live.values():
            await live.provider.close()
        await asyncio.gather(*self._closing, return_exceptions=True)

    # ------------------------------------------------------------------------------------ inside

    def live(self, name: str) -> _Live:
        """Raises ProviderNotConfigured."""
        found = self._live.get(name)
        if found is None:
            raise ProviderNotConfigured(f"The provider {name} has no base URL.", provider=name)
        return found

    async def ask(self, name: str, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        """The stream of whoever is there now, with those who stand in for it."""
        asked = [self.live(name), *self._stand_ins(name, request.purpose)]
        for live in asked:
            live.calls += 1
        guarded = GuardedChat(
            [live.provider for live in asked], self._settings, self._breakers, self._places, self._meter
        )
        try:
            async with aclosing(guarded.stream(request)) as events:
                async for event in events:
                    yield event
        finally:
            for live in asked:
                live.calls -= 1
                self._close_idle(live)

    def _stand_ins(self, name: str, purpose: str) -> list[_Live]:
        """For an answer they belong to the configured provider: who asks another one by name wants that one."""
        own: list[str] | None = getattr(self._settings, f"chat_fallback_{purpose}", None)
        names = own if own is not None else self._settings.chat_fallback if name == self._default else []
        return [self._live[other] for other in dict.fromkeys(names) if other != name and other in self._live]

    def _endpoint(self, name: str) -> Endpoint | None:
        return self._live[name].endpoint if name in self._live else None

    def _made(self, now: Configured) -> _Live | None:
        """Raises ConfigurationError."""
        return _Live(WireChat(now.endpoint, self._settings), now.endpoint) if now.endpoint is not None else None

    def _retire(self, live: _Live) -> None:
        live.is_retired = True
        self._close_idle(live)

    def _close_idle(self, live: _Live) -> None:
        if live.is_retired and live.calls == 0:
            task = asyncio.get_running_loop().create_task(live.provider.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _named(self) -> list[str]:
        by_purpose = [
            self._settings.chat_fallback_extract,
            self._settings.chat_fallback_summarise,
            self._settings.chat_fallback_title,
        ]
        return [self._default, *self._settings.chat_fallback, *(name for some in by_purpose for name in some or ())]

    def _check_names(self) -> None:
        for name in (*self._named(), *self._settings.provider_concurrency):
            if name not in NAMES:
                raise ConfigurationError(f"There is no chat provider {name!r}. Known: {', '.join(NAMES)}.")


class _Handle:
    """The provider of a name, whoever that is at the moment."""

    def __init__(self, owner: ChatProviders, name: str) -> None:
        self._owner = owner
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def default_model(self) -> str:
        return self._owner.live(self._name).provider.default_model

    def capabilities(self, model: str | None = None) -> Capabilities:
        return self._owner.live(self._name).provider.capabilities(model)

    def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        return self._owner.ask(self._name, request)

    async def open(self) -> None:
        """The registry opens and closes."""

    async def close(self) -> None: ...
