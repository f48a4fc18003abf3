"""What a card says before it is a row: the shapes that callers hand in, and the rules that complete them.

Pure: no HTTP, no database.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import Any, Final, TypeGuard

from app.core.errors import Invalid
from app.text.markdown import outline, plain

MAX_DERIVED_TITLE: Final = 120

# A heading further down names a part, not the note.
_HEAD: Final = 20_000
_FRONTMATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


class EmptyCard(Invalid):
    """A card needs a title or some content."""

    code = "empty_card"


class Unset(Enum):
    """The type of `UNSET`: a field that the caller did not mention, as opposed to null."""

    token = "unset"  # noqa: S105  (no password)


UNSET: Final = Unset.token


@dataclass(frozen=True, slots=True)
class NewCard:
    """A card to be written. `stated` names the fields that the caller mentioned (None: all of them);
    an upsert leaves the others of an existing card as they are.
    """

    title: str | None = None
    content: str = ""
    tags: Sequence[str] = ()
    created_at: datetime | None = None
    source: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    external_id: str | None = None
    stated: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class CardPatch:
    """A partial change: UNSET leaves a field alone, None clears it."""

    title: str | Unset | None = UNSET
    content: str | Unset | None = UNSET
    tags: Sequence[str] | Unset | None = UNSET
    created_at: datetime | Unset | None = UNSET
    source: Mapping[str, Any] | Unset | None = UNSET
    metadata: Mapping[str, Any] | Unset | None = UNSET
    external_id: str | Unset | None = UNSET


@dataclass(frozen=True, slots=True)
class CardFields:
    """Everything a caller decides about a card, complete and ready to be stored."""

    title: str
    content: str
    tags: tuple[str, ...]
    created_at: datetime
    source: Mapping[str, Any] | None
    metadata: Mapping[str, Any]
    external_id: str | None

    @property
    def content_hash(self) -> str:
        """SHA-256 of title and content; NUL cannot occur in either."""
        return hashlib.sha256(f"{self.title}\x00{self.content}".encode()).hexdigest()

    def same_text(self, other: CardFields) -> bool:
        """Whether what was written is the same."""
        return self.title == other.title and self.content == other.content

    def same_reading(self, other: CardFields) -> bool:
        """Whether nothing changed that ingestion looks at: tags are names, and times are told from the card's date."""
        return self.same_text(other) and self.tags == other.tags and self.created_at == other.created_at


def complete(new: NewCard, at: datetime) -> CardFields:
    """The new card with what its caller left open. `at` dates it when it has no date of its own.

    Raises EmptyCard.
    """
    return CardFields(
        title=_title(new.title, new.content),
        content=new.content,
        tags=_distinct(new.tags),
        created_at=new.created_at or at,
        source=new.source,
        metadata=new.metadata,
        external_id=new.external_id,
    )


def patched(card: CardFields, patch: CardPatch, added_at: datetime) -> CardFields:
    """The card after a partial change. A cleared date falls back to the day the card came in.

    Raises EmptyCard.
    """
    content = card.content if patch.content is UNSET else patch.content or ""
    return replace(
        card,
        title=_title(card.title if patch.title is UNSET else patch.title, content),
        content=content,
        tags=card.tags if patch.tags is UNSET else _distinct(patch.tags or ()),
        created_at=card.created_at if patch.created_at is UNSET else patch.created_at or added_at,
        source=card.source if patch.source is UNSET else patch.source,
        metadata=card.metadata if patch.metadata is UNSET else patch.metadata or {},
        external_id=card.external_id if patch.external_id is UNSET else patch.external_id,
    )


def as_patch(new: NewCard, card: CardFields) -> CardPatch:
    """A repeated card as a change to the one that is there.

    A title that nobody wrote follows the content; one that somebody wrote stays.
    """
    stated = new.stated

    def given(name: str) -> bool:
        return stated is None or name in stated

    title: str | Unset | None = UNSET
    if _says(new.title):
        title = new.title
    elif given("content") and card.title == derive_title(card.content):
        title = None
    return CardPatch(
        title=title,
        content=new.content if given("content") else UNSET,
        tags=new.tags if given("tags") else UNSET,
        created_at=new.created_at if new.created_at is not None else UNSET,
        source=new.source if given("source") else UNSET,
        metadata=new.metadata if given("metadata") else UNSET,
    )


def derive_title(content: str) -> str:
    """The first level-one heading near the top, or else the first line that says something. May be blank."""
    head = _FRONTMATTER.sub("", content[:_HEAD], count=1)
    lines = (heading.text for heading in outline(head) if heading.level == 1 and heading.text)
    title = next(lines, "") or next(iter(plain(head).splitlines()), "") or content[:_HEAD].strip().partition("\n")[0]
    return _shortened(title.strip())


def _shortened(title: str) -> str:
    return title if len(title) <= MAX_DERIVED_TITLE else title[: MAX_DERIVED_TITLE - 1].rstrip() + "…"


def _title(given: str | None, content: str) -> str:
    title = given if _says(given) else derive_title(content)
    if not _says(title):
        raise EmptyCard
    return title


def _says(text: str | None) -> TypeGuard[str]:
    return text is not None and bool(text.strip())


def _distinct(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tags))
