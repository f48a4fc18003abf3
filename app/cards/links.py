"""Wikilinks: which keys a card answers to, which keys its text points at, and who wins a shared key.

Pure. A link is resolved when it is read, so one that was written before its target exists starts
to work by itself.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from posixpath import splitext
from typing import Any, Final

from app.text.markdown import wikilinks
from app.text.normalise import name_key

# A btree entry holds 2,700 bytes; folding may lengthen a text.
MAX_KEY_BYTES: Final = 1_000
MAX_LINK_KEYS: Final = 100
MAX_LINKS: Final = 5_000
MAX_FOLDERS: Final = 20


@dataclass(frozen=True, slots=True)
class Link:
    """One link as it stands in a card's content, `content[start:end]`."""

    target: str
    target_key: str
    alias: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A card that answers to a key: by its title, or else by an alias or file name."""

    key: str
    id: uuid.UUID
    title: str
    by_title: bool


def link_key(name: str) -> str:
    """The key under which a link and its target meet; bounded, so that it can be indexed."""
    key = name_key(name)
    encoded = key.encode()
    if len(encoded) <= MAX_KEY_BYTES:
        return key
    return encoded[:800].decode(errors="ignore") + hashlib.sha256(encoded).hexdigest()


def other_keys(source: Mapping[str, Any] | None, metadata: Mapping[str, Any]) -> list[str]:
    """Keys besides the title: frontmatter's aliases, and the file's path with and without its folders."""
    names: list[str] = []
    for field in ("aliases", "alias"):
        value = metadata.get(field)
        stated = value if isinstance(value, list) else [value]
        names += [name for name in stated if isinstance(name, str)]
    path = (source or {}).get("path")
    if isinstance(path, str):
        parts = splitext(path.replace("\\", "/"))[0].split("/")[-MAX_FOLDERS:]
        names += ["/".join(parts[i:]) for i in range(len(parts) - 1, -1, -1)]
    keys = dict.fromkeys(link_key(name) for name in names)
    keys.pop("", None)
    return list(keys)[:MAX_LINK_KEYS]


def links_in(content: str) -> list[Link]:
    """The links of a text to other cards, in order; `[[#heading]]` points into its own text and is none."""
    found = []
    keys: dict[str, str] = {}
    for link in wikilinks(content):
        key = keys.get(link.target)
        if key is None:
            key = keys[link.target] = link_key(link.target.removesuffix(".md"))
        if key:
            found.append(Link(link.target, key, link.alias or None, link.start, link.end))
    return found[:MAX_LINKS]


def winners(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    """Who a key belongs to: a title before an alias, then the card that was there first."""
    best: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=lambda c: (not c.by_title, c.id)):
        best.setdefault(candidate.key, candidate)
    return best


def candidates_of(
    keys: Sequence[str], card_id: uuid.UUID, title: str, title_key: str, link_keys: Sequence[str]
) -> list[Candidate]:
    """Which of `keys` this card answers to."""
    return [
        Candidate(key, card_id, title, key == title_key) for key in keys if key == title_key or key in set(link_keys)
    ]
