"""Chat providers that were configured while running: stored, sealed, and taken up by every process.

Each process looks at the versions every `vault_poll_seconds`; the one that stores a change takes it up before it says
so. Knows nothing of HTTP nor of who may change what.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import ConfigurationError, Conflict, Invalid, MindConeError, VersionMismatch
from app.core.log import get
from app.db.session import Database
from app.providers.chat_settings import ChatSettings
from app.providers.configured import Stored, configured, reach_of
from app.providers.outgoing import ANYWHERE, AddressRefused
from app.providers.registry import ChatProviders
from app.providers.specs import SPECS
from app.providers.transport import check_reach, origin_of
from app.vault import queries
from app.vault.master import add_key, drop_old_keys
from app.vault.seal import Keyring, Unopenable
from app.vault.settings import VaultSettings
from app.vault.tables import ProviderRow

log = get(__name__)

_RESOLVE_SECONDS: Final = 3.0
# An answer like "…cret" of a short secret would give too much of it away.
_LEAST_SHOWN: Final = 12

Then = Callable[[AsyncSession], Awaitable[None]]
ThenCounted = Callable[[AsyncSession, int], Awaitable[None]]


class VaultKeyMissing(Conflict):
    """There is no key to seal secrets with: set MINDCONE_VAULT_KEY to 32 random bytes in base64."""

    code = "vault_key_missing"


class KeyBound(Conflict):
    """The stored API key belongs to the origin that it was given for; give the key again, or null to remove it."""

    code = "provider_key_bound"


class BadAddress(Invalid):
    """This is no address that may be asked."""

    code = "provider_address_refused"


class BadKey(Invalid):
    """This API key holds characters that no key has."""

    code = "provider_key_invalid"


class StoredProviders:
    """`find_keyring` reads the master keys that there are now, for they may be rotated meanwhile; it blocks. None: keys
    can be neither sealed nor opened here.
    """

    def __init__(
        self,
        database: Database,
        providers: ChatProviders,
        find_keyring: Callable[[], Keyring | None],
        settings: ChatSettings,
        vault: VaultSettings,
        *,
        on_loopback: bool,
    ) -> None:
        self._database = database
        self._providers = providers
        self._find_keyring = find_keyring
        self._settings = settings
        self._poll_seconds = vault.vault_poll_seconds
        self._on_loopback = on_loopback
        self._seen: Mapping[str, int] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._refreshing = asyncio.Lock()

    async def open(self) -> None:
        """Take up what is stored, and go on watching."""
        await self.refresh()
        self._watching = asyncio.create_task(self._watch(), name="stored-providers")

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
            self._watching = None

    async def put(self, name: str, change: Mapping[str, Any], expected: int | None, then: Then) -> None:
        """Store what `change` holds of `api_key`, `base_url`, `default_model` and `allow_private`: what is absent
        stays, None goes; that a private address is allowed holds for one origin. `expected` is the version that is
        to be changed (None: any); `then` works in the same transaction.

        Raises ProviderNotFound, VersionMismatch, BadAddress, BadKey, KeyBound, VaultKeyMissing.
        """
        self._providers.get_configured(name)
        if change.get("base_url"):
            await self._check_address(name, change)
        async with self._database.unit() as session:
            row = await self._held(session, name, expected)
            # Not before: a key that seals here is not dropped until this is committed.
            keyring = await asyncio.to_thread(self._find_keyring)
            await queries.save_row(session, name, self._values(name, row, change, keyring))
            await then(session)
        await self.refresh()

    async def delete(self, name: str, expected: int | None, then: Then) -> None:
        """Back to the settings alone. Raises ProviderNotFound, VersionMismatch."""
        self._providers.get_configured(name)
        async with self._database.unit() as session:
            await self._held(session, name, expected)
            if await queries.delete_row(session, name):
                await then(session)
        await self.refresh()

    async def refresh(self) -> None:
        """Take up what is stored now."""
        async with self._refreshing:
            async with self._database.read() as session:
                versions = await queries.list_versions(session)
                if versions == self._seen:
                    return
                rows = await queries.list_rows(session)
            keyring = await asyncio.to_thread(self._find_keyring)
            await self._providers.configure({row.name: _opened(row, keyring) for row in rows if row.name in SPECS})
            self._seen = {row.name: row.version for row in rows}

    async def rotate(self, data_dir: Path | None = None, then: ThenCounted | None = None) -> int:
        """Everything that is sealed, under a fresh master key in that directory, or (None) under the one that seals by
        now. Gives how many envelopes were changed; `then` is told, and writes in the transaction that holds the vault.
        Raises VaultKeyMissing, Unopenable.
        """
        async with self._database.unit() as holding:
            await queries.lock_vault(holding)
            if data_dir is not None:
                await asyncio.to_thread(add_key, data_dir)
            changed = await self._rewrap()
            if then is not None:
                await then(holding, changed)
            if data_dir is not None:
                await asyncio.to_thread(drop_old_keys, data_dir)
        return changed

    # -------------------------------------------------------------------------------------- inside

    async def _held(self, session: AsyncSession, name: str, expected: int | None) -> ProviderRow | None:
        """The row, if there is one; nobody else changes what is sealed until commit. Raises VersionMismatch."""
        await queries.lock_vault(session)
        row = await queries.find_row(session, name)
        if expected is not None and expected != (row.version if row else 0):
            raise VersionMismatch
        return row

    async def _rewrap(self) -> int:
        """In a unit of work of its own, so that it is committed before the keys that were go."""
        keyring = _there(await asyncio.to_thread(self._find_keyring))
        changed = 0
        async with self._database.unit() as session:
            for row in await queries.list_rows(session):
                if row.sealed_key is not None and not keyring.is_current(row.sealed_key):
                    fresh = keyring.rewrap(row.sealed_key, _place(row.name, row.key_origin))
                    await queries.save_sealed(session, row.name, fresh)
                    changed += 1
        return changed

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._poll_seconds)
            try:
                await self.refresh()
            except MindConeError as error:
                log.warning("stored_providers_not_read", code=error.code)
            except Exception:
                log.exception("stored_providers_not_read")

    def _values(
        self, name: str, row: ProviderRow | None, change: Mapping[str, Any], keyring: Keyring | None
    ) -> dict[str, Any]:
        values: dict[str, Any] = {
            "base_url": row.base_url if row else None,
            "default_model": row.default_model if row else None,
            "allow_private": row.allow_private if row else False,
            "sealed_key": row.sealed_key if row else None,
            "key_last4": row.key_last4 if row else None,
            "key_origin": row.key_origin if row else None,
        }
        values |= {field: change[field] for field in ("base_url", "default_model") if field in change}
        if "allow_private" in change:
            values["allow_private"] = bool(change["allow_private"])
        origin = self._origin(name, values["base_url"])
        if values["base_url"] is None or ("allow_private" not in change and not self._is_allowed(name, row, origin)):
            values["allow_private"] = False
        if "api_key" in change:
            values |= _sealed(name, origin, change["api_key"], keyring)
        elif values["sealed_key"] is not None and values["key_origin"] != origin:
            raise KeyBound
        return values

    def _origin(self, name: str, base_url: str | None) -> str | None:
        now = configured(SPECS[name], self._settings, Stored(base_url=base_url))
        return origin_of(now.endpoint.base_url) if now.endpoint else None

    def _is_allowed(self, name: str, row: ProviderRow | None, origin: str | None) -> bool:
        """Whether an admin has allowed this very origin, wherever it leads."""
        return row is not None and row.allow_private and origin == self._origin(name, row.base_url)

    async def _check_address(self, name: str, change: Mapping[str, Any]) -> None:
        base_url = change["base_url"]
        async with self._database.read() as session:
            rows = {row.name: row for row in await queries.list_rows(session)}
        try:
            origin = origin_of(base_url)
            if origin == self._origin(name, None):
                return
            allowed = change.get("allow_private", self._is_allowed(name, rows.get(name), origin))
            reach = reach_of(base_url, self._settings.outgoing_allow, bool(allowed), self._on_loopback)
            if reach != ANYWHERE:
                await check_reach(base_url, reach, _RESOLVE_SECONDS)
        except (ConfigurationError, AddressRefused) as error:
            is_private = error.extra.get("reason") in ("loopback", "private")
            hint = " An admin allows it by `allow_private`." if is_private else ""
            raise BadAddress(error.detail + hint) from error


def _sealed(name: str, origin: str | None, key: str | None, keyring: Keyring | None) -> dict[str, Any]:
    key = (key or "").strip()
    if not key:
        return {"sealed_key": None, "key_last4": None, "key_origin": None}
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BadKey
    if origin is None:
        raise BadAddress("Give the base URL, too: a key belongs to one origin.")
    return {
        "sealed_key": _there(keyring).seal(key, _place(name, origin)),
        "key_last4": key[-4:] if len(key) >= _LEAST_SHOWN else "",
        "key_origin": origin,
    }


def _opened(row: ProviderRow, keyring: Keyring | None) -> Stored:
    key: SecretStr | None = None
    if row.sealed_key is not None and keyring is not None:
        with suppress(Unopenable):
            key = SecretStr(keyring.open(row.sealed_key, _place(row.name, row.key_origin)))
    is_unreadable = row.sealed_key is not None and key is None
    if is_unreadable:
        log.warning("stored_key_unopenable", provider=row.name)
    return Stored(
        base_url=row.base_url,
        api_key=key,
        key_last4=row.key_last4,
        key_origin=row.key_origin,
        default_model=row.default_model,
        allow_private=row.allow_private,
        is_unreadable=is_unreadable,
        version=row.version,
    )


def _there(keyring: Keyring | None) -> Keyring:
    if keyring is None:
        raise VaultKeyMissing
    return keyring


def _place(name: str, origin: str | None) -> str:
    """Whose a sealed key is: moved to another row or another origin it does not open."""
    return f"provider_settings/{name}/{origin}"
