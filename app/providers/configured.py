"""One provider as this installation uses it: by its spec, the settings, and what was stored while running.

Pure. A key goes with the origin that it was given for, wherever both come from. Knows nothing of tables or ciphers.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from app.core.errors import ConfigurationError
from app.providers.chat_settings import ChatSettings
from app.providers.outgoing import ANYWHERE, Reach, is_this_machine
from app.providers.specs import Endpoint, ProviderSpec
from app.providers.transport import origin_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What was stored of a provider; where it says None the settings hold. `key_origin`: whom the key was given for.
    `is_unreadable`: there is a key, and nothing here opens it.
    """

    base_url: str | None = None
    api_key: SecretStr | None = None
    key_last4: str | None = None
    key_origin: str | None = None
    default_model: str | None = None
    allow_private: bool = False
    is_unreadable: bool = False
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """`endpoint` None: there is no address. `key_from` and `address_from` say who gave them."""

    endpoint: Endpoint | None
    key_from: Literal["settings", "stored"] | None = None
    address_from: Literal["spec", "settings", "stored"] | None = None
    stored: Stored | None = None

    @property
    def is_usable(self) -> bool:
        """Whether it can be asked: there is an address, and a key where one is needed."""
        return self.endpoint is not None and (self.key_from is not None or not self.endpoint.spec.needs_key)


def configured(
    spec: ProviderSpec, settings: ChatSettings, stored: Stored | None, *, on_loopback: bool = False
) -> Configured:
    """Raises ConfigurationError for an address that is none."""
    ours: str | None = getattr(settings, spec.base_url_setting, None) or None
    given = ours or spec.base_url
    base_url = (stored and stored.base_url) or given
    if not base_url:
        return Configured(endpoint=None, stored=stored)
    origin = origin_of(base_url)
    is_ours = given is not None and origin == origin_of(given)
    key, key_from = _key(settings, spec, stored, origin, is_ours)
    chosen = spec.name == settings.chat_provider
    endpoint = Endpoint(
        spec=spec,
        base_url=base_url,
        api_key=key,
        default_model=(stored and stored.default_model) or (chosen and settings.chat_model) or spec.default_model,
        context_window=settings.chat_context_tokens if chosen else None,
        reach=ANYWHERE
        if is_ours
        else reach_of(base_url, settings.outgoing_allow, stored is not None and stored.allow_private, on_loopback),
    )
    by_people = stored is not None and stored.base_url
    return Configured(
        endpoint=endpoint,
        key_from=key_from,
        address_from="stored" if by_people else "settings" if ours else "spec",
        stored=stored,
    )


def reach_of(base_url: str, allowed: Collection[str], allow_private: bool, on_loopback: bool) -> Reach:
    """How far an address may lead that came over the API. A server that only this machine can ask may itself ask this
    machine, when the address says so openly.
    """
    if origin_of(base_url) in {origin_of(one) for one in allowed}:
        return ANYWHERE
    host = urlsplit(base_url.strip()).hostname or ""
    return Reach(private=allow_private, loopback=allow_private or (on_loopback and is_this_machine(host)))


def _key(
    settings: ChatSettings, spec: ProviderSpec, stored: Stored | None, origin: str, is_ours: bool
) -> tuple[SecretStr | None, Literal["settings", "stored"] | None]:
    """The key for this origin: the stored one, else that of the settings, whose place nobody's key takes unasked."""
    if stored is not None and stored.is_unreadable:
        return None, None
    if stored is not None and stored.api_key is not None:
        return (stored.api_key, "stored") if stored.key_origin == origin else (None, None)
    key: SecretStr | None = getattr(settings, spec.key_setting, None)
    if is_ours and key is not None and key.get_secret_value().strip():
        return key, "settings"
    return None, None


def checked_origins(origins: Collection[str]) -> None:
    """Raises ConfigurationError when one of them is no address."""
    for one in origins:
        try:
            origin_of(one)
        except ConfigurationError:
            raise ConfigurationError("MINDCONE_OUTGOING_ALLOW holds something that is no http(s) address.") from None
