"""Statements about memories, their versions, proposals and vectors. Each takes the workspace first and decides
nothing; the order of things inside a transaction is that of `edit`.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final

from pgvector import HalfVector
from sqlalchemy import delete, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.ids import new_id
from app.db.locks import lock
from app.db.session import raw
from app.memory.change import Author, Change, Look, MemoryNotFound, ProposalNotFound, given, look_of, text_hash
from app.memory.tables import Memory, MemoryProposal, MemoryVersion
from app.providers.ports import Vector

ACTIVE: Final = "active"


async def lock_memories(session: AsyncSession, workspace_id: uuid.UUID) -> None:
    """Whoever writes memories of a workspace waits here: slugs, their number and what is said already are the same
    for one at a time.
    """
    await lock(session, "memories", workspace_id)


# -------------------------------------------------------------------------------------- reading


async def find_memory(session: AsyncSession, workspace_id: uuid.UUID, slug: str) -> Memory | None:
    return (
        await session.scalars(select(Memory).where(Memory.workspace_id == workspace_id, Memory.slug == slug))
    ).one_or_none()


async def get_memory(session: AsyncSession, workspace_id: uuid.UUID, slug: str) -> Memory:
    """Raises MemoryNotFound."""
    found = await find_memory(session, workspace_id, slug)
    if found is None:
        raise MemoryNotFound
    return found


async def list_memories(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    status: str | None = None,
    *,
    before: uuid.UUID | None = None,
    limit: int | None = None,
) -> Sequence[Memory]:
    """The newest first; `before` is the id of the last one of the page before."""
    wanted = select(Memory).where(Memory.workspace_id == workspace_id)
    if status is not None:
        wanted = wanted.where(Memory.status == status)
    if before is not None:
        wanted = wanted.where(Memory.id < before)
    return (await session.scalars(wanted.order_by(Memory.id.desc()).limit(limit))).all()


async def count_memories(session: AsyncSession, workspace_id: uuid.UUID) -> int:
    """Those that are active."""
    counted = await session.scalar(
        select(func.count()).where(Memory.workspace_id == workspace_id, Memory.status == ACTIVE)
    )
    return int(counted or 0)


async def has_any(session: AsyncSession, workspace_id: uuid.UUID) -> bool:
    """Whether there is anything to be recalled."""
    found = select(Memory.id).where(Memory.workspace_id == workspace_id, Memory.status == ACTIVE).limit(1)
    return await session.scalar(found) is not None


# -------------------------------------------------------------------------------------- writing


async def insert_memory(
    session: AsyncSession, workspace_id: uuid.UUID, slug: str, look: Look, author: Author, action: str, at: datetime
) -> Memory:
    """With its first version."""
    memory = Memory(
        workspace_id=workspace_id,
        id=new_id(),
        slug=slug,
        version=1,
        text_hash=text_hash(look.title, look.body),
        created_at=at,
        updated_at=at,
        last_used_at=None,
        **asdict(look),
    )
    session.add(memory)
    await session.flush()
    await _insert_version(session, memory, author, action, 1, at)
    return memory


async def save_look(
    session: AsyncSession,
    memory: Memory,
    look: Look,
    author: Author,
    action: str,
    at: datetime,
    *,
    same_as: int | None = None,
) -> None:
    """The next version."""
    for name, value in asdict(look).items():
        setattr(memory, name, value)
    memory.text_hash = text_hash(look.title, look.body)
    memory.version += 1
    memory.updated_at = at
    await session.flush()
    await _insert_version(session, memory, author, action, same_as or memory.version, at)


async def _insert_version(
    session: AsyncSession, memory: Memory, author: Author, action: str, same_as: int, at: datetime
) -> None:
    session.add(
        MemoryVersion(
            workspace_id=memory.workspace_id,
            memory_id=memory.id,
            n=memory.version,
            same_as=same_as,
            action=action,
            actor=author.actor,
            message_id=author.message_id,
            created_at=at,
            **asdict(look_of(memory)),
        )
    )
    await session.flush()


async def delete_memory(session: AsyncSession, memory: Memory) -> None:
    """With all its versions."""
    await session.delete(memory)
    await session.flush()


async def touch(session: AsyncSession, workspace_id: uuid.UUID, ids: Sequence[uuid.UUID], at: datetime) -> int:
    """Note a use, of each at most once a day. Those that are being changed just now are passed over."""
    due = (
        select(Memory.id)
        .where(
            Memory.workspace_id == workspace_id,
            Memory.id.in_(list(ids)),
            Memory.last_used_at.is_(None) | (Memory.last_used_at <= at - timedelta(days=1)),
        )
        .order_by(Memory.id)
        .with_for_update(skip_locked=True)
    )
    touched = await session.execute(
        update(Memory)
        .where(Memory.workspace_id == workspace_id, Memory.id.in_(due.scalar_subquery()))
        .values(last_used_at=at)
        .returning(Memory.id)
        .execution_options(synchronize_session=False)
    )
    return len(touched.all())


# An underflow of exp() is an error in PostgreSQL; after 500 half-lives nothing is left anyway.
_ARCHIVE = text("""
    WITH due AS (
        SELECT workspace_id, id FROM memories
        WHERE status = 'active' AND NOT pinned
          AND created_at < CAST(:at AS timestamptz) - make_interval(days => :after_days)
          AND importance * exp(-least(CAST(:rate AS float8) * greatest(extract(
                epoch FROM CAST(:at AS timestamptz) - coalesce(last_used_at, created_at))::float8 / 86400, 0), 500)
              ) < CAST(:below AS float8)
        ORDER BY workspace_id, id
        FOR UPDATE SKIP LOCKED
    ), archived AS (
        UPDATE memories m SET status = 'archived', version = m.version + 1, updated_at = :at
        FROM due WHERE m.workspace_id = due.workspace_id AND m.id = due.id
        RETURNING m.*
    )
    INSERT INTO memory_versions (workspace_id, memory_id, n, same_as, action, actor, created_at,
                                 title, body, type, importance, status, pinned)
    SELECT workspace_id, id, version, version, 'archive', 'consolidation', :at,
           title, body, type, importance, status, pinned
    FROM archived
    RETURNING memory_id""")


async def archive_faded(session: AsyncSession, at: datetime, rate: float, below: float, after_days: int) -> int:
    """Of all workspaces, what has faded (`importance × exp(−rate × days unused) < below`) and is older than
    `after_days`, unless the user pinned it; in one pass. Gives their number.
    """
    values = {"at": at, "rate": rate, "below": below, "after_days": after_days}
    return len((await session.execute(_ARCHIVE, values)).all())


# ------------------------------------------------------------------------------------- versions


async def list_versions(
    session: AsyncSession, memory: Memory, limit: int, before: int | None = None
) -> Sequence[MemoryVersion]:
    """The newest first; `before` is the number that the last page ended with."""
    wanted = select(MemoryVersion).where(
        MemoryVersion.workspace_id == memory.workspace_id, MemoryVersion.memory_id == memory.id
    )
    if before is not None:
        wanted = wanted.where(MemoryVersion.n < before)
    return (await session.scalars(wanted.order_by(MemoryVersion.n.desc()).limit(limit))).all()


async def find_version(session: AsyncSession, memory: Memory, n: int) -> MemoryVersion | None:
    return await session.get(MemoryVersion, (memory.workspace_id, memory.id, n))


# ------------------------------------------------------------------------------------ proposals


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal with the memory that it is about; one that is yet to be is `proposed` itself."""

    proposal: MemoryProposal
    memory: Memory


async def insert_proposal(
    session: AsyncSession, memory: Memory, change: Change, author: Author, at: datetime
) -> MemoryProposal:
    proposal = MemoryProposal(
        workspace_id=memory.workspace_id,
        id=new_id(),
        memory_id=memory.id,
        action=change.action,
        change=given(change),
        base_version=memory.version,
        message_id=author.message_id,
        created_at=at,
    )
    session.add(proposal)
    await session.flush()
    return proposal


async def count_proposals(session: AsyncSession, workspace_id: uuid.UUID) -> int:
    counted = await session.scalar(select(func.count()).where(MemoryProposal.workspace_id == workspace_id))
    return int(counted or 0)


async def list_proposals(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    *,
    memory_id: uuid.UUID | None = None,
    after: uuid.UUID | None = None,
    limit: int | None = None,
) -> Sequence[Proposed]:
    """The oldest first; `after` is the id of the last one of the page before."""
    wanted = (
        select(MemoryProposal, Memory)
        .join(Memory, (Memory.workspace_id == MemoryProposal.workspace_id) & (Memory.id == MemoryProposal.memory_id))
        .where(MemoryProposal.workspace_id == workspace_id)
    )
    if memory_id is not None:
        wanted = wanted.where(MemoryProposal.memory_id == memory_id)
    if after is not None:
        wanted = wanted.where(MemoryProposal.id > after)
    rows = await session.execute(wanted.order_by(MemoryProposal.id).limit(limit))
    return [Proposed(*row) for row in rows]


async def get_proposal(session: AsyncSession, workspace_id: uuid.UUID, proposal_id: uuid.UUID) -> Proposed:
    """Raises ProposalNotFound."""
    rows = await session.execute(
        select(MemoryProposal, Memory)
        .join(Memory, (Memory.workspace_id == MemoryProposal.workspace_id) & (Memory.id == MemoryProposal.memory_id))
        .where(MemoryProposal.workspace_id == workspace_id, MemoryProposal.id == proposal_id)
    )
    found = rows.one_or_none()
    if found is None:
        raise ProposalNotFound
    return Proposed(*found)


async def delete_proposal(session: AsyncSession, proposal: MemoryProposal) -> None:
    await session.delete(proposal)
    await session.flush()


async def delete_proposals(session: AsyncSession, memory: Memory) -> None:
    """All that wait for a decision about this memory."""
    await session.execute(
        delete(MemoryProposal).where(
            MemoryProposal.workspace_id == memory.workspace_id, MemoryProposal.memory_id == memory.id
        )
    )


# -------------------------------------------------------------------------------------- vectors


@dataclass(frozen=True, slots=True)
class MemorySpace:
    """The embedding space that search reads."""

    id: int
    key: str


async def find_space(session: AsyncSession) -> MemorySpace | None:
    """The current one."""
    row = (await session.execute(text("SELECT id, key FROM embedding_spaces WHERE is_current"))).one_or_none()
    return MemorySpace(*row) if row else None


async def list_near(
    session: AsyncSession, workspace_id: uuid.UUID, space_id: int, vector: Vector
) -> dict[uuid.UUID, float]:
    """By memory: cosine distance of the vector of its present text in this space."""
    connection = await raw(session)
    rows = await connection.fetch(
        """
        SELECT v.memory_id, v.dense <=> $3 AS distance
        FROM memory_vectors v JOIN memories m ON m.workspace_id = v.workspace_id AND m.id = v.memory_id
        WHERE v.workspace_id = $1 AND v.space_id = $2 AND v.text_hash = m.text_hash
        """,
        workspace_id,
        space_id,
        HalfVector(vector),
    )
    return {row["memory_id"]: float(row["distance"]) for row in rows}


@dataclass(frozen=True, slots=True)
class Remembered:
    """An active memory as ranking needs it. `distance` None: no vector of its present text."""

    id: uuid.UUID
    type: str
    pinned: bool
    importance: float
    created_at: datetime
    last_used_at: datetime | None
    text_hash: uuid.UUID
    distance: float | None


async def list_remembered(
    session: AsyncSession, workspace_id: uuid.UUID, space_id: int | None, vector: Vector | None
) -> list[Remembered]:
    """All that are active, with the cosine distance of `vector` to theirs in this space. By the driver itself: the ORM
    takes longer than the database.
    """
    connection = await raw(session)
    if space_id is None or vector is None:
        rows = await connection.fetch(
            """
            SELECT id, type, pinned, importance, created_at, last_used_at, text_hash, NULL AS distance
            FROM memories WHERE workspace_id = $1 AND status = 'active'
            """,
            workspace_id,
        )
    else:
        rows = await connection.fetch(
            """
            SELECT m.id, m.type, m.pinned, m.importance, m.created_at, m.last_used_at, m.text_hash,
                   v.dense <=> $3 AS distance
            FROM memories m LEFT JOIN memory_vectors v ON v.workspace_id = m.workspace_id AND v.memory_id = m.id
                AND v.space_id = $2 AND v.text_hash = m.text_hash
            WHERE m.workspace_id = $1 AND m.status = 'active'
            """,
            workspace_id,
            space_id,
            HalfVector(vector),
        )
    return [Remembered(*row) for row in rows]


async def list_texts(
    session: AsyncSession, workspace_id: uuid.UUID, ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, tuple[str, str, str, uuid.UUID]]:
    """Slug, title, body and hash of these memories as they are now."""
    if not ids:
        return {}
    connection = await raw(session)
    rows = await connection.fetch(
        "SELECT id, slug, title, body, text_hash FROM memories WHERE workspace_id = $1 AND id = ANY($2)",
        workspace_id,
        list(ids),
    )
    return {row[0]: (row[1], row[2], row[3], row[4]) for row in rows}


VectorRow = tuple[uuid.UUID, uuid.UUID, int, uuid.UUID, Vector]
"""Workspace, memory, space, hash of the text, vector."""


async def save_vectors(session: AsyncSession, rows: Sequence[VectorRow]) -> None:
    """Of memories that are gone meanwhile none is kept."""
    if not rows:
        return
    connection = await raw(session)
    await connection.executemany(
        """
        INSERT INTO memory_vectors (workspace_id, memory_id, space_id, text_hash, dense)
        SELECT $1, $2, $3, $4, $5 FROM memories WHERE workspace_id = $1 AND id = $2 FOR SHARE
        ON CONFLICT (workspace_id, memory_id, space_id)
        DO UPDATE SET text_hash = excluded.text_hash, dense = excluded.dense
        """,
        [(*row[:4], HalfVector(row[4])) for row in rows],
    )


@dataclass(frozen=True, slots=True)
class Lacking:
    """A memory without the vector of its present text in a space."""

    workspace_id: uuid.UUID
    memory_id: uuid.UUID
    space_id: int
    space_key: str
    title: str
    body: str
    text_hash: uuid.UUID


_LACKS = """
    m.status <> 'archived' AND NOT EXISTS (
        SELECT 1 FROM memory_vectors v
        WHERE v.workspace_id = m.workspace_id AND v.memory_id = m.id AND v.space_id = s.id
          AND v.text_hash = m.text_hash)"""


async def list_lacking(
    session: AsyncSession, space_keys: Sequence[str], limit: int, workspace_id: uuid.UUID | None = None
) -> list[Lacking]:
    """Of one workspace or all, in those of these spaces that are read or being filled."""
    connection = await raw(session)
    rows = await connection.fetch(
        f"""
        SELECT m.workspace_id, m.id, s.id, s.key, m.title, m.body, m.text_hash
        FROM memories m CROSS JOIN embedding_spaces s
        WHERE (s.is_current OR s.filling_since IS NOT NULL) AND s.key = ANY($1)
          AND ($3::uuid IS NULL OR m.workspace_id = $3) AND {_LACKS}
        LIMIT $2""",  # noqa: S608
        list(space_keys),
        limit,
        workspace_id,
    )
    return [Lacking(*row) for row in rows]


async def count_lacking(session: AsyncSession, workspace_id: uuid.UUID, space_id: int) -> int:
    connection = await raw(session)
    statement = f"""
        SELECT count(*) FROM memories m JOIN embedding_spaces s ON s.id = $2
        WHERE m.workspace_id = $1 AND {_LACKS}"""  # noqa: S608
    return int(await connection.fetchval(statement, workspace_id, space_id))


async def count_embedded(session: AsyncSession) -> int:
    """Memories that are to have a vector, over all workspaces."""
    found = await session.scalar(text("SELECT count(*) FROM memories WHERE status <> 'archived'"))
    return int(found or 0)


async def count_vectors(session: AsyncSession, space_id: int) -> int:
    """Over all workspaces."""
    found = await session.scalar(text("SELECT count(*) FROM memory_vectors WHERE space_id = :s"), {"s": space_id})
    return int(found or 0)


async def delete_left_vectors(session: AsyncSession) -> int:
    """Those of spaces that are neither read nor filled any more."""
    gone = await session.execute(
        text("""
            DELETE FROM memory_vectors v WHERE NOT EXISTS (
                SELECT 1 FROM embedding_spaces s
                WHERE s.id = v.space_id AND (s.is_current OR s.filling_since IS NOT NULL))
            RETURNING 1""")
    )
    return len(gone.all())
