"""What may be done to memories, by whom, and what came of it. Plain data, and the errors. Pure."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, cast

import numpy as np

from app.core.errors import Conflict, Invalid, NotFound
from app.index import rows
from app.memory.slugs import checked, derived
from app.memory.tables import MAX_BODY_BYTES, Memory
from app.providers.ports import Vector
from app.text.normalise import clean
from app.text.secrets import redact

Type = Literal["fact", "preference", "insight", "summary", "claim"]
Action = Literal["create", "upsert", "append", "str_replace", "archive", "restore", "list", "view"]
Actor = Literal["user", "llm", "consolidation"]
Status = Literal["active", "archived", "proposed"]
Outcome = Literal[
    "created",
    "updated",
    "archived",
    "restored",
    "unchanged",
    "near_duplicate",
    "proposed",
    "listed",
    "viewed",
]

TYPES: Final[tuple[Type, ...]] = ("fact", "preference", "insight", "summary", "claim")
ACTIONS: Final[tuple[Action, ...]] = (
    "create",
    "upsert",
    "append",
    "str_replace",
    "archive",
    "restore",
    "list",
    "view",
)
MAX_TITLE_CHARS: Final = 200
DEFAULT_IMPORTANCE: Final = 0.5
_TITLE_FROM_BODY_CHARS: Final = 80


class MemoryNotFound(NotFound):
    """There is no such memory here."""

    code = "memory_not_found"


class ProposalNotFound(NotFound):
    """There is no such proposal here; it may have been decided."""

    code = "proposal_not_found"


class SlugTaken(Conflict):
    """There is a memory with this slug already."""

    code = "slug_taken"


class MemoryPinned(Conflict):
    """The user pinned this memory; only the user may change it."""

    code = "memory_pinned"


class MemoryArchived(Conflict):
    """This memory is archived; restore it first."""

    code = "memory_archived"


class MemoryProposed(Conflict):
    """This memory is a proposal that waits for the user's decision."""

    code = "memory_proposed"


class MemoriesFull(Conflict):
    """There are as many memories as there may be; archive some first."""

    code = "memories_full"


class ProposalsFull(Conflict):
    """Too many proposals wait for the user's decision."""

    code = "proposals_full"


class ProposalStale(Conflict):
    """The memory was changed after this was proposed; reject it, or change the memory yourself."""

    code = "proposal_stale"


class NothingToUndo(Conflict):
    """There is no earlier version to go back to."""

    code = "nothing_to_undo"


class BodyTooLong(Invalid):
    """A memory's body holds at most 4 KB (4,096 bytes of UTF-8)."""

    code = "memory_too_long"


class BodyMissing(Invalid):
    """A memory needs a body that says something."""

    code = "memory_without_body"


class SlugMissing(Invalid):
    """Which memory is meant? Give its slug."""

    code = "slug_missing"


class NotInBody(Invalid):
    """The text to be replaced does not stand in the body."""

    code = "old_str_not_found"


class TwiceInBody(Invalid):
    """The text to be replaced stands in the body more than once; give more of it."""

    code = "old_str_ambiguous"


@dataclass(frozen=True, slots=True)
class Change:
    """What is asked for. None: not said. `importance` is clamped to 0…1."""

    action: Action
    slug: str | None = None
    title: str | None = None
    body: str | None = None
    type: Type | None = None
    importance: float | None = None
    old_str: str | None = None
    new_str: str | None = None
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes it. What a model wants while it `is_tainted` (the wish may be of somebody who may not write) waits
    for the user. `message_id`: the answer in whose turn this is.
    """

    actor: Actor
    is_tainted: bool = False
    message_id: uuid.UUID | None = None

    @property
    def is_user(self) -> bool:
        return self.actor == "user"

    @property
    def revises(self) -> bool:
        """Whether what is said again with another value takes the place of what was: nobody is there to be asked."""
        return self.actor == "consolidation"


USER: Final = Author("user")


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vector of a text in a space, with the hash of the text."""

    space_id: int
    model: str
    text_hash: uuid.UUID
    vector: Vector = field(default_factory=lambda: np.empty(0, np.float32))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A change that may be stored: without secrets, of which the `redacted` kinds were there, and embedded where
    that could be had.
    """

    change: Change
    redacted: Sequence[str] = ()
    embedded: Embedded | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """What came of it. `near_duplicate`: the memory that says it already is given. `similar`: one that says nearly the
    same with another value. `memories`: those listed.
    """

    outcome: Outcome
    memory: Memory | None = None
    memories: Sequence[Memory] = ()
    similar: str | None = None
    redacted: Sequence[str] = ()


def embedded_text(title: str, body: str) -> str:
    """What of a memory has a vector."""
    return f"{title}\n{body}"


def text_hash(title: str, body: str) -> uuid.UUID:
    """Of what has a vector."""
    return rows.text_hash(embedded_text(title, body))


@dataclass(frozen=True, slots=True)
class Look:
    """What of a memory has versions."""

    title: str
    body: str
    type: str
    importance: float
    status: str
    pinned: bool


def look_of(row: Any) -> Look:
    """Of a memory or of one of its versions."""
    return Look(row.title, row.body, row.type, row.importance, row.status, row.pinned)


def sanitised(change: Change, *, by_user: bool) -> tuple[Change, tuple[str, ...]]:
    """The change without secrets and with importance within bounds, and the kinds of secrets that were there.

    A model's slug is made one; a user's must be one. Raises Invalid.
    """
    kinds: dict[str, None] = {}

    def bare(text: str | None) -> str | None:
        if text is None:
            return None
        found = redact(clean(text))
        kinds.update(dict.fromkeys(found.kinds))
        return found.text

    slug = change.slug
    if slug is not None and redact(slug).kinds:
        slug = None
    if slug is not None:
        slug = checked(slug if by_user else derived(slug))
    title = bare(change.title)
    if title is not None:
        title = " ".join(title.split())[:MAX_TITLE_CHARS]
    importance = change.importance
    if importance is not None:
        importance = DEFAULT_IMPORTANCE if math.isnan(importance) else min(max(importance, 0.0), 1.0)
    cleaned = replace(
        change,
        slug=slug,
        title=title,
        body=bare(change.body),
        importance=importance,
        # What is to be found stands in the body as it was stored.
        old_str=bare(change.old_str),
        new_str=bare(change.new_str),
    )
    return cleaned, tuple(kinds)


def fitting(body: str) -> str:
    """The body without blank ends. Raises BodyMissing, BodyTooLong."""
    body = body.strip()
    if not body:
        raise BodyMissing
    if len(body.encode()) > MAX_BODY_BYTES:
        raise BodyTooLong
    return body


def title_of(body: str) -> str:
    """What a memory is called that was given no title: its first line, or the beginning of it."""
    line = next((line.strip(" \t#>*-") for line in body.splitlines() if line.strip(" \t#>*-")), body.strip())
    return line if len(line) <= _TITLE_FROM_BODY_CHARS else line[: _TITLE_FROM_BODY_CHARS - 1].rstrip() + "…"


def new_look(change: Change, status: Status) -> Look:
    """How a memory begins. Raises BodyMissing, BodyTooLong."""
    body = fitting(change.body or "")
    return Look(
        title=change.title or title_of(body),
        body=body,
        type=change.type or "fact",
        importance=DEFAULT_IMPORTANCE if change.importance is None else change.importance,
        status=status,
        pinned=False,
    )


def changed(look: Look, change: Change) -> Look:
    """How a memory looks after a change of its text. Raises Invalid."""
    body = look.body
    if change.action == "append":
        body = fitting(f"{body}\n{fitting(change.body or '')}")
    elif change.action == "str_replace":
        body = fitting(_replaced(body, change))
    elif change.body is not None:
        body = fitting(change.body)
    title = look.title
    if change.title is not None:
        title = change.title or title_of(body)
    elif title == title_of(look.body):
        title = title_of(body)
    return replace(
        look,
        title=title,
        body=body,
        type=change.type or look.type,
        importance=look.importance if change.importance is None else change.importance,
    )


def _replaced(body: str, change: Change) -> str:
    old, new = change.old_str, change.new_str if change.new_str is not None else change.body
    if not old or new is None:
        raise NotInBody("Give `old_str`, which stands in the body once, and `new_str`.")
    match body.count(old):
        case 0:
            raise NotInBody
        case 1:
            return body.replace(old, new)
        case _:
            raise TwiceInBody


def given(change: Change) -> dict[str, Any]:
    """What a change says, for keeping it."""
    fields = ("title", "body", "type", "importance", "old_str", "new_str")
    return {name: value for name in fields if (value := getattr(change, name)) is not None}


def change_of(action: str, slug: str, kept: Mapping[str, Any]) -> Change:
    """The change that was kept."""
    return Change(cast(Action, action), slug, **kept)
