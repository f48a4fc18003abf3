"""The names under which memories are kept: `prefers-tea`, `偏好-绿茶`. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from typing import Final

from app.core.errors import Invalid
from app.text.normalise import fold, is_han

MAX_SLUG_CHARS: Final = 80
RESERVED: Final = frozenset({"decay", "proposals"})
"""Paths of their own in the API."""

_DERIVED_CHARS: Final = 48
_DERIVED_HAN: Final = 20
_SLUG = re.compile(r"[^\W_]+(?:[-_.][^\W_]+)*")


class InvalidSlug(Invalid):
    """A slug has 1 to 80 letters and digits, with single hyphens, dots or underscores between them."""

    code = "invalid_slug"


class ReservedSlug(Invalid):
    """This slug is reserved."""

    code = "reserved_slug"


def checked(slug: str) -> str:
    """The slug as it is kept: `Tea` is `tea`. Raises InvalidSlug, ReservedSlug."""
    slug = fold(slug)
    if len(slug) > MAX_SLUG_CHARS or not _SLUG.fullmatch(slug):
        raise InvalidSlug
    if slug in RESERVED:
        raise ReservedSlug(f"The slug `{slug}` is reserved.")
    return slug


def derived(text: str) -> str:
    """A slug from a title or from what a model calls one; may be reserved. `memory` where there are no letters."""
    letters: list[str] = []
    room = float(_DERIVED_CHARS)
    for ch in fold(text):
        if room < 1:
            break
        if ch.isalnum():
            letters.append(ch)
            room -= _DERIVED_CHARS / _DERIVED_HAN if is_han(ch) else 1
        elif unicodedata.category(ch)[0] != "M" and letters and letters[-1] != "-" and ch not in "'’":
            letters.append("-")
            room -= 1
    slug = "".join(letters).strip("-")
    return slug if _SLUG.fullmatch(slug) else "memory"


def free(slug: str, taken: Container[str]) -> str:
    """The slug, or it with a number behind it: the first that is neither taken nor reserved."""
    n = 1
    name = slug
    while name in taken or name in RESERVED:
        n += 1
        name = f"{slug[: MAX_SLUG_CHARS - 6]}-{n}"
    return name
