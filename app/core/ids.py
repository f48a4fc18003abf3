"""Identifiers: UUIDv7, so that ids sort by creation and keyset pages stay cheap."""

from __future__ import annotations

import uuid

from uuid_utils.compat import uuid7


def new_id() -> uuid.UUID:
    """A fresh UUIDv7 (RFC 9562); ids of one process are strictly increasing."""
    return uuid7()
