"""API keys: how a token looks, what is kept of it, and who a valid one speaks for.

Tokens are opaque: `mc_<id>_<secret>`. Only the SHA-256 of the secret is stored; 256 random bits need
no slow hash. Knows nothing of HTTP headers.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from app.core.ids import new_id

Scope = Literal["read", "write", "chat", "admin"]
SCOPES: Final[tuple[Scope, ...]] = ("read", "write", "chat", "admin")

# "Used a moment ago" is as good as "used now", and costs no write per request.
USED_EVERY: Final = timedelta(minutes=1)

_TOKEN = re.compile(r"mc_([0-9a-f]{32})_([A-Za-z0-9_-]{16,128})")
_NOBODY = hashlib.sha256(b"").digest()


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A fresh key. `token` is shown once and kept by nobody here."""

    id: uuid.UUID
    token: str
    secret_hash: bytes
    last4: str


@dataclass(frozen=True, slots=True)
class Principal:
    """Who a request speaks for. `key_id` None: nobody had to say (loopback without auth). `rate_per_minute` None: as
    the settings say.
    """

    workspace_id: uuid.UUID
    scopes: frozenset[str]
    key_id: uuid.UUID | None = None
    rate_per_minute: int | None = None

    def may(self, scope: Scope) -> bool:
        return "admin" in self.scopes or scope in self.scopes


def issue() -> IssuedKey:
    key_id, secret = new_id(), secrets.token_urlsafe(32)
    return IssuedKey(key_id, f"mc_{key_id.hex}_{secret}", digest(secret), secret[-4:])


def parse(token: str) -> tuple[uuid.UUID, str] | None:
    """(id, secret) of a well-formed token."""
    match = _TOKEN.fullmatch(token)
    return (uuid.UUID(hex=match.group(1)), match.group(2)) if match else None


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def matches(secret: str, stored: bytes | None) -> bool:
    """Whether this is the secret, in a time that tells nothing; also where there is no such key."""
    return hmac.compare_digest(digest(secret), stored or _NOBODY) and stored is not None


def in_force(expires_at: datetime | None, revoked_at: datetime | None, at: datetime) -> bool:
    return revoked_at is None and (expires_at is None or expires_at > at)


def ordered(scopes: Collection[str]) -> list[str]:
    """Each scope once, in the usual order."""
    return [scope for scope in SCOPES if scope in scopes]
