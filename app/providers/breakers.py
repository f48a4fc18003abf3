"""Who is asked at all: circuits that open when a provider fails again and again, and places for calls at a time.

Knows nothing of chat: it is told how calls ended.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.core import clock as wall
from app.providers.chat_settings import ChatSettings
from app.providers.ports import ProviderBusy, ProviderDown, ProviderError, ProviderGarbled

_MAX_CIRCUITS: Final = 512


class ProviderResting(ProviderDown):
    """The provider failed several times in a row and is left alone for a while."""

    code = "provider_resting"


class ProviderCrowded(ProviderBusy):
    """As many calls as are allowed at a time are under way to this provider; try again in a moment."""

    code = "provider_crowded"


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    opened_at: float | None = None
    probing: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """How the last call to a provider ended that says anything of its health; `code` None: well."""

    code: str | None
    at: datetime


class Breakers:
    """One circuit per (provider, model). Open after `breaker_failures` in a row; after the cool-down one probe goes
    through and decides. Only circuits with failures are remembered.
    """

    def __init__(self, settings: ChatSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._max_failures = settings.breaker_failures
        self._cooldown_seconds = settings.breaker_cooldown_seconds
        self._circuits: dict[tuple[str, str], _Circuit] = {}
        self._heard: dict[str, Heard] = {}

    def enter(self, key: tuple[str, str]) -> None:
        """Ask before each call, and report its outcome after. Raises ProviderResting while the circuit is open."""
        circuit = self._circuits.get(key)
        if circuit is None or circuit.opened_at is None:
            return
        left_seconds = circuit.opened_at + self._cooldown_seconds - self._clock()
        if left_seconds > 0 or circuit.probing:
            raise ProviderResting(provider=key[0], retry_after_seconds=max(left_seconds, 1.0))
        circuit.probing = True

    def succeeded(self, key: tuple[str, str]) -> None:
        self._circuits.pop(key, None)

    def failed(self, key: tuple[str, str]) -> None:
        if key not in self._circuits and len(self._circuits) >= _MAX_CIRCUITS:  # model names come from requests
            del self._circuits[next(iter(self._circuits))]
        circuit = self._circuits.setdefault(key, _Circuit())
        circuit.failures += 1
        circuit.probing = False
        if circuit.failures >= self._max_failures:
            circuit.opened_at = self._clock()

    def undecided(self, key: tuple[str, str]) -> None:
        """The call says nothing of the provider's health: the client went away, or the request was bad."""
        if key in self._circuits:
            self._circuits[key].probing = False

    def hear(self, provider: str, code: str | None) -> None:
        """How a call ended, for whoever asks after the provider's health."""
        self._heard[provider] = Heard(code, wall.now())

    def last_heard(self, provider: str) -> Heard | None:
        return self._heard.get(provider)

    def resting_models(self, provider: str) -> list[str]:
        """Models of the provider whose circuit is open."""
        return sorted(
            model for (name, model), one in self._circuits.items() if name == provider and one.opened_at is not None
        )

    def forget(self, provider: str) -> None:
        """What was known of it was of another address or another key."""
        self._heard.pop(provider, None)
        for key in [key for key in self._circuits if key[0] == provider]:
            del self._circuits[key]


def is_sick(error: BaseException | None) -> bool:
    """Whether the error counts against the provider; a rate limit says that it works, a crowd is our own."""
    if isinstance(error, ProviderCrowded | ProviderResting):
        return False
    if isinstance(error, ProviderBusy):
        return error.extra.get("upstream_status") not in (409, 429)
    return isinstance(error, ProviderDown | ProviderGarbled)


def is_telling(error: ProviderError) -> bool:
    """Whether the error says something of the provider's health: an illness, or that it does not take our key."""
    return is_sick(error) or error.extra.get("upstream_status") in (401, 403)


class Places:
    """How many calls go to each provider at a time. Who waits for a place to be free holds nothing else."""

    def __init__(self, limits: Mapping[str, int], patience_seconds: float) -> None:
        self._places = {name: asyncio.Semaphore(limit) for name, limit in limits.items()}
        self._patience_seconds = patience_seconds

    @asynccontextmanager
    async def taken(self, provider: str) -> AsyncIterator[None]:
        """Raises ProviderCrowded when no place becomes free in time."""
        places = self._places.get(provider)
        if places is None:
            yield
            return
        try:
            async with asyncio.timeout(self._patience_seconds):
                await places.acquire()
        except TimeoutError:
            raise ProviderCrowded(provider=provider, retry_after_seconds=1.0) from None
        try:
            yield
        finally:
            places.release()
