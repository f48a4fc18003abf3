"""Versions as entity tags: `ETag: "3"` out, `If-Match` and `If-None-Match` in."""

from __future__ import annotations

import re
from typing import Annotated, Final

from fastapi import Header

# Weak tags count too: proxies that compress weaken what we sent.
_TAG = re.compile(r'(?:W/)?"([^"]*)"|([^\s,"]+)')
NO_VERSION: Final = -1

IfMatch = Annotated[str | None, Header(max_length=1000, description='`"<version>"` as in the ETag, or `*`')]
IfNoneMatch = Annotated[str | None, Header(max_length=1000)]


def etag(version: int) -> str:
    return f'"{version}"'


def expected_version(if_match: str | None, current: int | None = None) -> int | None:
    """The version that the caller wants to change: None means any, NO_VERSION one that never was.

    Of several tags `current` is chosen when it is among them.
    """
    if if_match is None or if_match.strip() == "*":
        return None
    versions = _versions(if_match)
    if current is not None and current in versions:
        return current
    return versions[0] if versions else NO_VERSION


def is_unchanged(if_none_match: str | None, version: int) -> bool:
    """Whether the caller already has this version (304)."""
    if if_none_match is None:
        return False
    return if_none_match.strip() == "*" or version in _versions(if_none_match)


def _versions(header: str) -> list[int]:
    tags = (match.group(1) or match.group(2) or "" for match in _TAG.finditer(header))
    return [int(tag) for tag in tags if tag.isascii() and tag.isdigit() and len(tag) < 10]
