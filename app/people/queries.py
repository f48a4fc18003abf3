"""Statements about workspaces, API keys and idempotency records."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import Conflict, NotFound
from app.core.ids import new_id
from app.people.keys import USED_EVERY, IssuedKey, Principal, in_force, matches, ordered, parse
from app.people.tables import ApiKey, IdempotencyRecord, Workspace

DEFAULT_SLUG = "default"
Position = tuple[datetime, uuid.UUID]


class WorkspaceNotFound(NotFound):
    """There is no such workspace."""

    code = "workspace_not_found"


class WorkspaceTaken(Conflict):
    """Another workspace has this slug."""

    code = "workspace_taken"


class KeyNotFound(NotFound):
    """There is no such API key here."""

    code = "key_not_found"


# -------------------------------------------------------------------------------------- workspaces


async def find_workspace(session: AsyncSession, slug: str) -> Workspace | None:
    return (await session.execute(select(Workspace).where(Workspace.slug == slug))).scalar_one_or_none()


async def get_workspace(session: AsyncSession, workspace_id: uuid.UUID) -> Workspace:
    """Raises WorkspaceNotFound."""
    found = await session.get(Workspace, workspace_id)
    if found is None:
        raise WorkspaceNotFound
    return found


async def ensure_default_workspace(session: AsyncSession) -> uuid.UUID:
    """The id of the default workspace, made when it is missing; safe to call from several processes."""
    made = insert(Workspace).values(id=new_id(), slug=DEFAULT_SLUG, name="Default")
    await session.execute(made.on_conflict_do_nothing(index_elements=["slug"]))
    return (await session.execute(select(Workspace.id).where(Workspace.slug == DEFAULT_SLUG))).scalar_one()


async def insert_workspace(session: AsyncSession, slug: str, name: str) -> Workspace:
    """Raises WorkspaceTaken."""
    made = insert(Workspace).values(id=new_id(), slug=slug, name=name)
    row = await session.execute(made.on_conflict_do_nothing(index_elements=["slug"]).returning(Workspace))
    workspace = row.scalar_one_or_none()
    if workspace is None:
        raise WorkspaceTaken
    return workspace


async def list_workspace_ids(session: AsyncSession, among: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """Those that exist; they stay while the transaction runs."""
    found = select(Workspace.id).where(Workspace.id.in_(among)).with_for_update(key_share=True, read=True)
    return set((await session.scalars(found)).all()) if among else set()


async def list_workspaces(
    session: AsyncSession, limit: int, after: Position | None = None, only: uuid.UUID | None = None
) -> Sequence[Workspace]:
    """Newest first; `only` one, for whoever may see no other."""
    statement = select(Workspace).order_by(Workspace.created_at.desc(), Workspace.id.desc()).limit(limit)
    if only is not None:
        statement = statement.where(Workspace.id == only)
    if after is not None:
        statement = statement.where(tuple_(Workspace.created_at, Workspace.id) < tuple_(*after))
    return (await session.execute(statement)).scalars().all()


# ---------------------------------------------------------------------------------------- API keys


async def insert_key(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    issued: IssuedKey,
    *,
    name: str,
    scopes: Sequence[str],
    expires_at: datetime | None = None,
    rate_per_minute: int | None = None,
) -> ApiKey:
    made = insert(ApiKey).values(
        workspace_id=workspace_id,
        id=issued.id,
        name=name,
        secret_hash=issued.secret_hash,
        last4=issued.last4,
        scopes=ordered(scopes),
        expires_at=expires_at,
        rate_per_minute=rate_per_minute,
    )
    return (await session.execute(made.returning(ApiKey))).scalar_one()


async def get_key(session: AsyncSession, workspace_id: uuid.UUID, key_id: uuid.UUID) -> ApiKey:
    """Raises KeyNotFound."""
    key = await session.get(ApiKey, (workspace_id, key_id))
    if key is None:
        raise KeyNotFound
    return key


async def list_keys(
    session: AsyncSession, workspace_id: uuid.UUID, limit: int, after: Position | None = None
) -> Sequence[ApiKey]:
    """Newest first, revoked and expired ones too."""
    statement = select(ApiKey).where(ApiKey.workspace_id == workspace_id)
    if after is not None:
        statement = statement.where(tuple_(ApiKey.created_at, ApiKey.id) < tuple_(*after))
    statement = statement.order_by(ApiKey.created_at.desc(), ApiKey.id.desc()).limit(limit)
    return (await session.execute(statement)).scalars().all()


async def revoke_key(session: AsyncSession, workspace_id: uuid.UUID, key_id: uuid.UUID) -> None:
    """From now on the key opens nothing; its row stays. Raises KeyNotFound."""
    done = await session.execute(
        update(ApiKey)
        .where(ApiKey.workspace_id == workspace_id, ApiKey.id == key_id)
        .values(revoked_at=func.coalesce(ApiKey.revoked_at, func.now()))
        .returning(ApiKey.id)
    )
    if done.first() is None:
        raise KeyNotFound


async def find_principal(session: AsyncSession, token: str) -> tuple[Principal, bool] | None:
    """Whom a token speaks for, and whether its use is worth noting. The one lookup without a workspace:
    the key is what decides it.
    """
    parsed = parse(token)
    if parsed is None:
        return None
    key_id, secret = parsed
    row = (
        await session.execute(
            select(
                ApiKey.workspace_id,
                ApiKey.secret_hash,
                ApiKey.scopes,
                ApiKey.expires_at,
                ApiKey.revoked_at,
                ApiKey.last_used_at,
                ApiKey.rate_per_minute,
                func.now(),
            ).where(ApiKey.id == key_id)
        )
    ).one_or_none()
    if not matches(secret, row.secret_hash if row else None) or row is None:
        return None
    workspace_id, _, scopes, expires_at, revoked_at, last_used_at, rate, at = row
    if not in_force(expires_at, revoked_at, at):
        return None
    principal = Principal(workspace_id, frozenset(scopes), key_id, rate)
    return principal, last_used_at is None or last_used_at < at - USED_EVERY


async def note_use(session: AsyncSession, workspace_id: uuid.UUID, key_id: uuid.UUID) -> None:
    """Remember when the key was last used, unless another request is just doing so."""
    free = (
        select(ApiKey.id)
        .where(
            ApiKey.workspace_id == workspace_id,
            ApiKey.id == key_id,
            or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at < func.now() - USED_EVERY),
        )
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    await session.execute(
        update(ApiKey)
        .where(ApiKey.workspace_id == workspace_id, ApiKey.id == free)
        .values(last_used_at=func.now())
        .execution_options(synchronize_session=False)
    )


# ------------------------------------------------------------------------------ idempotency records


async def claim_record(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    key: str,
    fingerprint: str,
    *,
    stale: timedelta,
    kept: timedelta,
) -> datetime | None:
    """Take the key for a request. Gives the moment of the claim, which fences `finish_record`; None when
    another request has it. A record in flight for longer than `stale` or older than `kept` is taken over.
    """
    fresh = insert(IdempotencyRecord).values(
        workspace_id=workspace_id, key=key, fingerprint=fingerprint, created_at=func.clock_timestamp()
    )
    age = func.clock_timestamp() - IdempotencyRecord.created_at
    claim = fresh.on_conflict_do_update(
        index_elements=["workspace_id", "key"],
        set_={
            "fingerprint": fresh.excluded.fingerprint,
            "created_at": fresh.excluded.created_at,
            "status": None,
            "body": None,
            "headers": None,
        },
        where=or_(age > kept, (IdempotencyRecord.status.is_(None)) & (age > stale)),
    ).returning(IdempotencyRecord.created_at)
    claimed: datetime | None = (await session.execute(claim)).scalar_one_or_none()
    return claimed


async def find_record(session: AsyncSession, workspace_id: uuid.UUID, key: str) -> IdempotencyRecord | None:
    return await session.get(IdempotencyRecord, (workspace_id, key))


async def finish_record(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    key: str,
    claimed_at: datetime,
    *,
    status: int,
    body: bytes,
    headers: dict[str, Any],
) -> bool:
    """Store the answer. Whether the claim was still held."""
    done = await session.execute(
        update(IdempotencyRecord)
        .where(
            IdempotencyRecord.workspace_id == workspace_id,
            IdempotencyRecord.key == key,
            IdempotencyRecord.created_at == claimed_at,
            IdempotencyRecord.status.is_(None),
        )
        .values(status=status, body=body, headers=headers)
        .returning(IdempotencyRecord.key)
    )
    return done.first() is not None


async def release_record(session: AsyncSession, workspace_id: uuid.UUID, key: str, claimed_at: datetime) -> None:
    """Give the key back after a failure, so that the request can be repeated."""
    await session.execute(
        delete(IdempotencyRecord).where(
            IdempotencyRecord.workspace_id == workspace_id,
            IdempotencyRecord.key == key,
            IdempotencyRecord.created_at == claimed_at,
            IdempotencyRecord.status.is_(None),
        )
    )


async def delete_records_before(session: AsyncSession, moment: datetime) -> None:
    await session.execute(delete(IdempotencyRecord).where(IdempotencyRecord.created_at < moment))
