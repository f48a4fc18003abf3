"""Memories on the wire."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from app.api.pages import Page
from app.api.text_types import Line, Shape, Text
from app.core.clock import now
from app.memory.change import Actor, Change, Edited, Outcome, Status, Type
from app.memory.decay import Mode, fading
from app.memory.queries import Proposed
from app.memory.recall import age_of
from app.memory.tables import Memory, MemoryVersion

Title = Annotated[Line, Field(max_length=1000)]
Slug = Annotated[Line, Field(max_length=200)]
# It is clamped to 0…1.
Importance = Annotated[float, Field(allow_inf_nan=False)]


class MemoryCreate(Shape):
    """Without `slug` one is made of the title, without `title` one of the body. At most 4,096 bytes of body."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"body": "Prefers short answers in Chinese.", "type": "preference"}}
    )

    slug: Slug | None = None
    title: Title | None = None
    body: Text
    type: Type = "fact"
    importance: Importance = 0.5


class MemoryChange(Shape):
    """Fields that are absent stay as they are; `title` null: one is made of the body."""

    title: Title | None = None
    body: Text = ""
    type: Type = "fact"
    importance: Importance = 0.5
    pinned: bool = False


class PinBody(Shape):
    pinned: bool = True


class MemoryShape(BaseModel):
    """`decayed`: importance × exp(−days/30), `decayed_half_life`: importance × 0.5^(days/30), days since the last use,
    else since creation. Which of them counts is a setting.
    """

    id: uuid.UUID
    slug: str
    title: str
    body: str
    type: Type
    importance: float
    decayed: float
    decayed_half_life: float
    status: Status
    pinned: bool
    version: int
    last_used_at: datetime | None
    created_at: datetime
    updated_at: datetime


class WrittenMemory(MemoryShape):
    """`outcome` near_duplicate: this memory says it already, nothing was written. `similar`: the slug of one that says
    it with another value. `redacted`: kinds of secrets that were taken out.
    """

    outcome: Outcome
    similar: str | None
    redacted: Sequence[str]


class MemoryVersionShape(BaseModel):
    """`message_id`: the answer in whose turn it was written."""

    version: int
    action: str
    actor: Actor
    message_id: uuid.UUID | None
    title: str
    body: str
    type: Type
    importance: float
    status: Status
    pinned: bool
    created_at: datetime


class FadingMemory(MemoryShape):
    """`due_at`: when it will be archived if nobody uses it."""

    due_at: datetime


class FadingPage(Page[FadingMemory]):
    """What would be archived in `days` days, at the moment `at`, by `mode`."""

    days: float
    at: datetime
    mode: Mode


class ProposalShape(BaseModel):
    """What a model asked for. `memory`: as it is now; one that is only proposed has that status."""

    id: uuid.UUID
    slug: str
    action: str
    change: Mapping[str, Any]
    base_version: int
    message_id: uuid.UUID | None
    created_at: datetime
    memory: MemoryShape


class ProposalDecision(Shape):
    decision: Literal["accept", "reject"]


class ProposalDecisionById(ProposalDecision):
    id: uuid.UUID


class ProposalCreate(MemoryCreate):
    """A memory that waits for the user's word."""


class DecidedShape(BaseModel):
    """`memory` null: it was never more than proposed, and is gone."""

    id: uuid.UUID
    decision: Literal["accept", "reject"]
    memory: MemoryShape | None


def change_of(body: MemoryCreate, *, upsert: bool = False) -> Change:
    stated = body.model_fields_set
    keeps = upsert  # what an upsert does not say stays as it is
    return Change(
        "upsert" if upsert else "create",
        slug=body.slug,
        title=body.title,
        body=body.body,
        type=None if keeps and "type" not in stated else body.type,
        importance=None if keeps and "importance" not in stated else body.importance,
    )


def patch_of(slug: str, body: MemoryChange, expected_version: int | None) -> Change:
    stated = body.model_fields_set
    return Change(
        "upsert",
        slug=slug,
        title=(body.title or "") if "title" in stated else None,
        body=body.body if "body" in stated else None,
        type=body.type if "type" in stated else None,
        importance=body.importance if "importance" in stated else None,
        expected_version=expected_version,
    )


def memory_shape(memory: Memory, at: datetime | None = None) -> MemoryShape:
    return MemoryShape.model_construct(**_fields(memory, at or now()))


def written_shape(edited: Edited) -> WrittenMemory:
    assert edited.memory is not None
    return WrittenMemory.model_construct(
        **_fields(edited.memory, now()),
        outcome=edited.outcome,
        similar=edited.similar,
        redacted=list(edited.redacted),
    )


def fading_shape(memory: Memory, at: datetime, mode: Mode) -> FadingMemory:
    return FadingMemory.model_construct(**_fields(memory, at), due_at=fading(age_of(memory), at, mode).due_at)


def version_shape(row: MemoryVersion) -> MemoryVersionShape:
    return MemoryVersionShape.model_construct(
        version=row.n,
        action=row.action,
        actor=cast(Actor, row.actor),
        message_id=row.message_id,
        title=row.title,
        body=row.body,
        type=cast(Type, row.type),
        importance=row.importance,
        status=cast(Status, row.status),
        pinned=row.pinned,
        created_at=row.created_at,
    )


def proposal_shape(found: Proposed) -> ProposalShape:
    return ProposalShape.model_construct(
        id=found.proposal.id,
        slug=found.memory.slug,
        action=found.proposal.action,
        change=found.proposal.change,
        base_version=found.proposal.base_version,
        message_id=found.proposal.message_id,
        created_at=found.proposal.created_at,
        memory=memory_shape(found.memory),
    )


def _fields(memory: Memory, at: datetime) -> dict[str, Any]:
    faded = fading(age_of(memory), at)
    return {
        "id": memory.id,
        "slug": memory.slug,
        "title": memory.title,
        "body": memory.body,
        "type": memory.type,
        "importance": memory.importance,
        "decayed": faded.decayed,
        "decayed_half_life": faded.decayed_half_life,
        "status": memory.status,
        "pinned": memory.pinned,
        "version": memory.version,
        "last_used_at": memory.last_used_at,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }
