"""Statements that count what must not be. Each invariant is one statement that gives one number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.doctor import branch_queries, community_queries, graph_queries

INVARIANTS: Final[Mapping[str, str]] = {
    "chunk_without_card": """
        SELECT count(*) FROM chunks ch WHERE NOT EXISTS (
            SELECT 1 FROM cards c WHERE c.workspace_id = ch.workspace_id AND c.id = ch.card_id)""",
    "chunk_of_trashed_card": """
        SELECT count(*) FROM chunks ch JOIN cards c ON c.workspace_id = ch.workspace_id AND c.id = ch.card_id
        WHERE c.trashed_at IS NOT NULL""",
    "vector_without_owner": """
        SELECT count(*) FROM windows w WHERE NOT EXISTS (
            SELECT 1 FROM chunks ch WHERE ch.workspace_id = w.workspace_id AND ch.id = w.chunk_id
            AND ch.card_id = w.card_id)""",
    "vector_of_wrong_dimension": """
        SELECT count(*) FROM windows w LEFT JOIN embedding_spaces s ON s.id = w.space_id
        WHERE s.id IS NULL OR vector_dims(w.dense::vector) <> s.dimension""",
    "chunk_without_vector": """
        SELECT count(*) FROM chunks ch JOIN embedding_spaces s ON s.is_current WHERE NOT EXISTS (
            SELECT 1 FROM windows w
            WHERE w.workspace_id = ch.workspace_id AND w.chunk_id = ch.id AND w.space_id = s.id)""",
    "ready_card_without_chunk": """
        SELECT count(*) FROM cards c WHERE c.state = 'ready' AND c.trashed_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM chunks ch WHERE ch.workspace_id = c.workspace_id AND ch.card_id = c.id)""",
    "ready_card_with_stale_text": """
        SELECT count(*) FROM chunks ch JOIN cards c ON c.workspace_id = ch.workspace_id AND c.id = ch.card_id
        WHERE c.state = 'ready' AND substr(c.content, ch.start + 1, ch."end" - ch.start) <> ch.text""",
    "ready_card_with_staged_vectors": """
        SELECT count(*) FROM staged_vectors s JOIN cards c ON c.workspace_id = s.workspace_id AND c.id = s.card_id
        WHERE c.state = 'ready'""",
    "waiting_card_without_job": """
        SELECT count(*) FROM cards c
        WHERE c.state IN ('queued', 'working') AND c.trashed_at IS NULL
          AND c.updated_at < now() - interval '1 minute'
          AND NOT EXISTS (
            SELECT 1 FROM jobs j WHERE j.workspace_id = c.workspace_id AND j.kind = 'ingest'
            AND j.state IN ('queued', 'working') AND j.payload -> 'cards' @> jsonb_build_array(jsonb_build_array(
                c.id::text, c.text_version)))""",
    "card_without_its_revision": """
        SELECT count(*) FROM cards c WHERE NOT EXISTS (
            SELECT 1 FROM card_revisions r
            WHERE r.workspace_id = c.workspace_id AND r.card_id = c.id AND r.n = c.version)""",
    "duplicate_external_id": """
        SELECT count(*) FROM (
            SELECT 1 FROM cards WHERE external_id IS NOT NULL GROUP BY workspace_id, external_id HAVING count(*) > 1
        ) AS d""",
    "duplicate_doc": """
        SELECT count(*) FROM (SELECT 1 FROM chunks GROUP BY workspace_id, doc HAVING count(*) > 1) AS d""",
    "answer_silent_for_too_long": """
        SELECT count(*) FROM messages WHERE status = 'streaming' AND beat_at < now() - interval '5 minutes'""",
    "memory_without_its_version": """
        SELECT count(*) FROM memories m WHERE NOT EXISTS (
            SELECT 1 FROM memory_versions v
            WHERE v.workspace_id = m.workspace_id AND v.memory_id = m.id AND v.n = m.version
              AND v.body = m.body AND v.status = m.status)""",
    "proposed_memory_without_proposal": """
        SELECT count(*) FROM memories m WHERE m.status = 'proposed' AND NOT EXISTS (
            SELECT 1 FROM memory_proposals p WHERE p.workspace_id = m.workspace_id AND p.memory_id = m.id)""",
    "memory_vector_of_wrong_dimension": """
        SELECT count(*) FROM memory_vectors v JOIN embedding_spaces s ON s.id = v.space_id
        WHERE vector_dims(v.dense::vector) <> s.dimension""",
    "message_without_parent": """
        SELECT count(*) FROM messages m WHERE m.parent_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM messages p WHERE p.workspace_id = m.workspace_id AND p.id = m.parent_id)""",
}

DEEP: Final[Mapping[str, str]] = {
    **INVARIANTS,
    **graph_queries.INVARIANTS,
    **community_queries.INVARIANTS,
    **branch_queries.INVARIANTS,
}

QUICK: Final[Mapping[str, str]] = {
    name: INVARIANTS[name]
    for name in (
        "duplicate_external_id",
        "waiting_card_without_job",
        "answer_silent_for_too_long",
        "ready_card_with_staged_vectors",
    )
}


async def count(session: AsyncSession, statement: str) -> int:
    """The one number that it gives."""
    return int(await session.scalar(text(statement)) or 0)


async def list_workspaces(session: AsyncSession) -> list[Any]:
    return list((await session.scalars(text("SELECT id FROM workspaces ORDER BY id"))).all())


async def get_server(session: AsyncSession) -> dict[str, Any]:
    """Versions, connections and queue age."""
    row = (
        await session.execute(
            text(
                """
                SELECT current_setting('server_version') AS postgres,
                       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector,
                       current_setting('max_connections')::int AS max_connections,
                       (SELECT count(*) FROM pg_stat_activity
                        WHERE backend_type = 'client backend')::int AS connections,
                       (SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'
                        AND state_change < now() - interval '10 seconds')::int AS idle_in_transaction,
                       (SELECT count(*) FROM jobs WHERE state = 'queued')::int AS jobs_queued,
                       (SELECT count(*) FROM jobs WHERE state = 'failed')::int AS jobs_failed,
                       (SELECT extract(epoch FROM now() - min(created_at))::float8 FROM jobs
                        WHERE state = 'queued' AND available_at <= now()) AS oldest_due_job_seconds
                """
            )
        )
    ).one()
    return dict(row._mapping)


async def list_broken_indexes(session: AsyncSession) -> list[str]:
    """Indexes that exist and cannot be used."""
    found = await session.scalars(
        text(
            "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = current_schema() AND NOT (i.indisvalid AND i.indisready) ORDER BY 1"
        )
    )
    return list(found)


async def list_indexes(session: AsyncSession) -> set[str]:
    found = await session.scalars(text("SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()"))
    return set(found)
