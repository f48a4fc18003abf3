"""Statements about what language models took: counts per workspace, day, provider, model and purpose."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import func, select, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.people.tables import UsageDay


@dataclass(frozen=True, slots=True, order=True)
class UsageKey:
    workspace_id: uuid.UUID
    day: date
    provider: str
    model: str
    purpose: str


@dataclass(slots=True)
class Counts:
    calls: int = 0
    failures: int = 0
    estimated: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, other: Counts) -> None:
        self.calls += other.calls
        self.failures += other.failures
        self.estimated += other.estimated
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens


_COUNTS = ("calls", "failures", "estimated", "input_tokens", "output_tokens")
Position = tuple[date, str, str, str]


async def add(session: AsyncSession, counted: Mapping[UsageKey, Counts]) -> None:
    """On top of what is stored. Workspaces that are gone meanwhile must not be among them."""
    for key in sorted(counted):  # one order of locks in every process
        counts = counted[key]
        fresh = insert(UsageDay).values(
            workspace_id=key.workspace_id,
            day=key.day,
            provider=key.provider,
            model=key.model,
            purpose=key.purpose,
            **{name: getattr(counts, name) for name in _COUNTS},
        )
        await session.execute(
            fresh.on_conflict_do_update(
                index_elements=["workspace_id", "day", "provider", "model", "purpose"],
                set_={name: getattr(UsageDay, name) + getattr(fresh.excluded, name) for name in _COUNTS},
            )
        )


async def spent_on(session: AsyncSession, day: date, free: str) -> dict[uuid.UUID, int]:
    """Tokens of that day by workspace, those of the provider that is `free` left out."""
    rows = await session.execute(
        select(UsageDay.workspace_id, func.sum(UsageDay.input_tokens + UsageDay.output_tokens))
        .where(UsageDay.day == day, UsageDay.provider != free)
        .group_by(UsageDay.workspace_id)
    )
    return {workspace_id: int(tokens) for workspace_id, tokens in rows}


async def list_days(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    limit: int,
    after: Position | None = None,
    since: date | None = None,
    until: date | None = None,
) -> Sequence[UsageDay]:
    """The latest day first."""
    order = (UsageDay.day, UsageDay.provider, UsageDay.model, UsageDay.purpose)
    statement = select(UsageDay).where(UsageDay.workspace_id == workspace_id, *_between(since, until))
    if after is not None:
        statement = statement.where(tuple_(*order) < tuple_(*after))
    statement = statement.order_by(*(column.desc() for column in order)).limit(limit)
    return (await session.execute(statement)).scalars().all()


async def get_total(
    session: AsyncSession, workspace_id: uuid.UUID, since: date | None = None, until: date | None = None
) -> Counts:
    row = (
        await session.execute(
            select(*(func.coalesce(func.sum(getattr(UsageDay, name)), 0) for name in _COUNTS)).where(
                UsageDay.workspace_id == workspace_id, *_between(since, until)
            )
        )
    ).one()
    return Counts(*map(int, row))


def _between(since: date | None, until: date | None) -> list[Any]:
    return [
        *([UsageDay.day >= since] if since is not None else []),
        *([UsageDay.day <= until] if until is not None else []),
    ]
