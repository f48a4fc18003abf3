"""Secrets sealed with AES-256-GCM, in envelopes: every secret has a key of its own, which a master key wraps.

Pure. Both ciphers are bound to whose secret it is, so that an envelope opens in its own place only. Knows nothing of
where master keys come from, nor of tables.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from collections.abc import Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.core.errors import ConfigurationError, MindConeError

KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_ID_BYTES: Final = 8
_VERSION: Final = b"\x01"
_WRAPPED_BYTES: Final = _NONCE_BYTES + KEY_BYTES + _TAG_BYTES
_HEAD_BYTES: Final = len(_VERSION) + _ID_BYTES + _WRAPPED_BYTES


class Unopenable(MindConeError):
    """This secret cannot be opened: it was sealed with another key, or for another place."""

    code = "secret_unopenable"


class Keyring:
    """The master key that seals, and earlier ones that still open."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        assert keys
        assert all(len(key) == KEY_BYTES for key in keys)
        self._keys = {key_id(key): key for key in keys}
        self._active = key_id(keys[0])

    def seal(self, secret: str, place: str) -> bytes:
        """version · id of the master key · the secret's own key, wrapped · the secret. `place` is whose it is."""
        own = secrets.token_bytes(KEY_BYTES)
        sealed = _encrypt(own, secret.encode(), b"secret", place)
        return _VERSION + self._active + self._wrap(own, place) + sealed

    def open(self, envelope: bytes, place: str) -> str:
        """Raises Unopenable."""
        return _decrypt(self._own_key(envelope, place), envelope[_HEAD_BYTES:], b"secret", place).decode()

    def is_current(self, envelope: bytes) -> bool:
        """Whether the active master key wraps it."""
        return envelope[1 : 1 + _ID_BYTES] == self._active

    def rewrap(self, envelope: bytes, place: str) -> bytes:
        """The same secret under the active master key; the secret itself is not opened. Raises Unopenable."""
        own = self._own_key(envelope, place)
        return _VERSION + self._active + self._wrap(own, place) + envelope[_HEAD_BYTES:]

    def _wrap(self, own: bytes, place: str) -> bytes:
        return _encrypt(self._keys[self._active], own, b"key", place)

    def _own_key(self, envelope: bytes, place: str) -> bytes:
        master = self._keys.get(envelope[1 : 1 + _ID_BYTES])
        if envelope[:1] != _VERSION or master is None:
            raise Unopenable
        return _decrypt(master, envelope[1 + _ID_BYTES : _HEAD_BYTES], b"key", place)


def key_id(key: bytes) -> bytes:
    """Names a master key without telling anything of it."""
    return hashlib.sha256(b"mindcone vault key\x00" + key).digest()[:_ID_BYTES]


def new_key() -> str:
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def parse_key(text: str) -> bytes:
    """Raises ConfigurationError, without the key in it."""
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigurationError(
            "A vault key is 32 random bytes in base64, e.g. of `openssl rand -base64 32`; this one is not."
        )
    return key


def _encrypt(key: bytes, plain: bytes, kind: bytes, place: str) -> bytes:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, _bound(kind, place))


def _decrypt(key: bytes, sealed: bytes, kind: bytes, place: str) -> bytes:
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], _bound(kind, place))
    except (InvalidTag, ValueError) as error:
        raise Unopenable from error


def _bound(kind: bytes, place: str) -> bytes:
    return b"mindcone\x00" + kind + b"\x00" + place.encode()
