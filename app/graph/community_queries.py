"""Statements of communities: the graph that they are made of, what is in place, and putting the next in its place."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.ids import new_id
from app.db.session import raw


@dataclass(frozen=True, slots=True)
class Joined:
    """Two entities (roots of what was merged) and all statements that join them: `weight` is their confidence together,
    `version` changes when any of them does.
    """

    one: uuid.UUID
    other: uuid.UUID
    weight: float
    evidence: int
    version: int


@dataclass(frozen=True, slots=True)
class Stored:
    """A community in place. `made_from`: fingerprint of its report, None where it has none."""

    id: uuid.UUID
    parent_id: uuid.UUID | None
    level: int
    fingerprint: uuid.UUID
    made_from: uuid.UUID | None
    is_stale: bool
    members: tuple[uuid.UUID, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """The clustering that is in place."""

    id: uuid.UUID
    full_modularity: float
    changed: int


@dataclass(frozen=True, slots=True)
class Changes:
    """`noted`: the numbers of what was read here, which are not those up to some number: who wrote an earlier one may
    commit later. `entities`: what is merged by that for which it stands.
    """

    noted: Sequence[int]
    entities: frozenset[uuid.UUID]
    communities: frozenset[uuid.UUID]


@dataclass(frozen=True, slots=True)
class CommunityWrite:
    id: uuid.UUID
    parent_id: uuid.UUID | None
    level: int
    size: int
    weight: float
    fingerprint: uuid.UUID
    members: Sequence[uuid.UUID]


@dataclass(frozen=True, slots=True)
class ReportWrite:
    """`report`: fields as `Report` has them, findings as JSON; `words`, `grams`: lengths for the postings."""

    id: uuid.UUID
    fingerprint: uuid.UUID
    report: Mapping[str, Any]
    is_stale: bool
    words: int
    grams: int


async def list_due(session: AsyncSession, quiet_seconds: float, most_seconds: float) -> list[uuid.UUID]:
    """Workspaces where something has changed and then been quiet, or been changing for long."""
    rows = await (await raw(session)).fetch(
        """
        SELECT workspace_id FROM community_changes
        GROUP BY workspace_id
        HAVING max(at) <= clock_timestamp() - make_interval(secs => $1)
            OR min(at) <= clock_timestamp() - make_interval(secs => $2)
        """,
        quiet_seconds,
        most_seconds,
    )
    return [row["workspace_id"] for row in rows]


async def get_changes(session: AsyncSession, workspace_id: uuid.UUID) -> Changes:
    row = await (await raw(session)).fetchrow(
        """
        SELECT coalesce(array_agg(n), '{}') AS noted,
            coalesce(array_agg(DISTINCT coalesce(e.merged_into, x.entity_id))
                     FILTER (WHERE x.entity_id IS NOT NULL), '{}') AS entities,
            coalesce(array_agg(DISTINCT x.community_id) FILTER (WHERE x.community_id IS NOT NULL), '{}') AS communities
        FROM community_changes x
        LEFT JOIN entities e ON e.workspace_id = x.workspace_id AND e.id = x.entity_id
        WHERE x.workspace_id = $1
        """,
        workspace_id,
    )
    return Changes(row["noted"], frozenset(row["entities"]), frozenset(row["communities"]))


async def list_joined(session: AsyncSession, workspace_id: uuid.UUID) -> list[Joined]:
    """Statements of cards in the trash join nobody."""
    rows = await (await raw(session)).fetch(
        """
        SELECT least(r.one, r.other) AS one, greatest(r.one, r.other) AS other, sum(r.confidence) AS weight,
            count(*) AS evidence, bit_xor(r.version) AS version
        FROM (
            SELECT coalesce(s.merged_into, s.id) AS one, coalesce(t.merged_into, t.id) AS other, r.confidence,
                hashtextextended(r.id::text, 0) AS version
            FROM relations r
            JOIN entities s ON s.workspace_id = r.workspace_id AND s.id = r.source_id
            JOIN entities t ON t.workspace_id = r.workspace_id AND t.id = r.target_id
            JOIN cards c ON c.workspace_id = r.workspace_id AND c.id = r.card_id
            WHERE r.workspace_id = $1 AND c.trashed_at IS NULL
        ) AS r
        WHERE r.one <> r.other
        GROUP BY 1, 2 ORDER BY 1, 2
        """,
        workspace_id,
    )
    return [Joined(*row) for row in rows]


async def list_versions(session: AsyncSession, workspace_id: uuid.UUID) -> dict[uuid.UUID, int]:
    """Of what is said of each entity itself."""
    rows = await (await raw(session)).fetch(
        """
        SELECT id, hashtextextended(name || E'\\x1f' || type || E'\\x1f' || description, 0) AS version
        FROM entities WHERE workspace_id = $1 AND merged_into IS NULL
        """,
        workspace_id,
    )
    return {row["id"]: row["version"] for row in rows}


async def list_stored(session: AsyncSession, workspace_id: uuid.UUID) -> list[Stored]:
    """Parents before their children."""
    rows = await (await raw(session)).fetch(
        """
        SELECT c.id, c.parent_id, c.level, c.fingerprint, r.fingerprint AS made_from,
            coalesce(r.is_stale, false) AS is_stale, array_agg(m.entity_id ORDER BY m.entity_id) AS members
        FROM communities c
        JOIN community_members m ON m.workspace_id = c.workspace_id AND m.community_id = c.id
        LEFT JOIN reports r ON r.workspace_id = c.workspace_id AND r.id = c.id
        WHERE c.workspace_id = $1
        GROUP BY c.workspace_id, c.id, r.workspace_id, r.id
        ORDER BY c.level, c.id
        """,
        workspace_id,
    )
    return [Stored(*row.values()) for row in rows]


async def find_current(session: AsyncSession, workspace_id: uuid.UUID) -> Run | None:
    row = await (await raw(session)).fetchrow(
        "SELECT id, full_modularity, changed FROM community_runs WHERE workspace_id = $1 AND is_current", workspace_id
    )
    return Run(*row) if row else None


async def start_run(session: AsyncSession, workspace_id: uuid.UUID) -> uuid.UUID:
    """A run that was killed is given up for this one."""
    connection = await raw(session)
    await connection.execute(
        "UPDATE community_runs SET state = 'failed', finished_at = now() WHERE workspace_id = $1 AND state = 'running'",
        workspace_id,
    )
    run_id = new_id()
    await connection.execute(
        "INSERT INTO community_runs (workspace_id, id, is_full) VALUES ($1, $2, false)", workspace_id, run_id
    )
    return run_id


async def set_progress(
    session: AsyncSession, workspace_id: uuid.UUID, run_id: uuid.UUID, done: int, total: int
) -> None:
    await (await raw(session)).execute(
        "UPDATE community_runs SET done = $3, total = $4 WHERE workspace_id = $1 AND id = $2",
        workspace_id,
        run_id,
        done,
        total,
    )


async def list_drafts(
    session: AsyncSession, workspace_id: uuid.UUID, fingerprints: Sequence[uuid.UUID]
) -> dict[uuid.UUID, dict[str, Any]]:
    rows = await (await raw(session)).fetch(
        "SELECT fingerprint, report FROM report_drafts WHERE workspace_id = $1 AND fingerprint = ANY ($2)",
        workspace_id,
        list(fingerprints),
    )
    return {row["fingerprint"]: row["report"] for row in rows}


async def insert_draft(
    session: AsyncSession, workspace_id: uuid.UUID, fingerprint: uuid.UUID, report: Mapping[str, Any]
) -> None:
    await (await raw(session)).execute(
        """
        INSERT INTO report_drafts (workspace_id, fingerprint, report)
        SELECT id, $2, $3::jsonb FROM workspaces WHERE id = $1
        ON CONFLICT (workspace_id, fingerprint) DO UPDATE SET report = excluded.report
        """,
        workspace_id,
        fingerprint,
        json.dumps(report, ensure_ascii=False),
    )


async def list_told(
    session: AsyncSession, workspace_id: uuid.UUID, members: Sequence[uuid.UUID]
) -> tuple[list[Any], list[Any]]:
    """(entity rows with how many cards name them, statements between them) of a community. A member that has become one
    with a stranger meanwhile brings no statements.
    """
    connection = await raw(session)
    entities = await connection.fetch(
        """
        SELECT e.id, e.name, e.type, e.description, coalesce(m.cards, 0) AS cards, coalesce(m.titled, 0) AS titled
        FROM entities e
        LEFT JOIN LATERAL (
            SELECT count(DISTINCT m.card_id) AS cards, count(DISTINCT m.card_id) FILTER (WHERE m.in_title) AS titled
            FROM entities k JOIN mentions m ON m.workspace_id = k.workspace_id AND m.entity_id = k.id
            WHERE k.workspace_id = $1 AND (k.id = e.id OR k.merged_into = e.id)
        ) AS m ON true
        WHERE e.workspace_id = $1 AND e.id = ANY ($2)
        ORDER BY e.id
        """,
        workspace_id,
        list(members),
    )
    statements = await connection.fetch(
        """
        WITH inside AS (
            SELECT e.id, coalesce(e.merged_into, e.id) AS root FROM entities e
            WHERE e.workspace_id = $1
                AND (e.id = ANY ($2) AND e.merged_into IS NULL OR e.merged_into = ANY ($2))
        )
        SELECT r.id, s.root AS source_id, t.root AS target_id, r.predicate, r.text, r.card_id, r.chunk_id, r.start,
            r."end", r.confidence
        FROM inside s
        JOIN relations r ON r.workspace_id = $1 AND r.source_id = s.id
        JOIN inside t ON t.id = r.target_id
        JOIN cards c ON c.workspace_id = $1 AND c.id = r.card_id
        WHERE s.root <> t.root AND c.trashed_at IS NULL
        ORDER BY r.id
        """,
        workspace_id,
        list(members),
    )
    return list(entities), list(statements)


async def find_report(session: AsyncSession, workspace_id: uuid.UUID, community_id: uuid.UUID) -> Any | None:
    return await (await raw(session)).fetchrow(
        """
        SELECT title, summary, rating, rating_reason, findings, language, generated_by, flags, created_at
        FROM reports WHERE workspace_id = $1 AND id = $2
        """,
        workspace_id,
        community_id,
    )


async def replace_communities(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    run_id: uuid.UUID,
    kept: Sequence[uuid.UUID],
    written: Sequence[CommunityWrite],
) -> None:
    """`written`, parents before children, are changed or new; whatever is not `kept` or written goes. Entities that
    are gone meanwhile are left out.
    """
    connection = await raw(session)
    await connection.execute(
        """
        INSERT INTO communities (workspace_id, id, run_id, parent_id, level, size, weight, fingerprint)
        SELECT $1, new.id, $2, new.parent_id, new.level, new.size, new.weight, new.fingerprint
        FROM unnest($3::uuid[], $4::uuid[], $5::int[], $6::int[], $7::float8[], $8::uuid[])
            AS new (id, parent_id, level, size, weight, fingerprint)
        ORDER BY new.level
        ON CONFLICT (workspace_id, id) DO UPDATE SET run_id = excluded.run_id, parent_id = excluded.parent_id,
            level = excluded.level, size = excluded.size, weight = excluded.weight, fingerprint = excluded.fingerprint
        """,
        workspace_id,
        run_id,
        *(
            [getattr(one, name) for one in written]
            for name in ("id", "parent_id", "level", "size", "weight", "fingerprint")
        ),
    )
    owners = [one.id for one in written for _ in one.members]
    members = [member for one in written for member in one.members]
    await connection.execute(
        """
        DELETE FROM community_members m WHERE m.workspace_id = $1 AND m.community_id = ANY ($2)
            AND NOT EXISTS (SELECT FROM unnest($3::uuid[], $4::uuid[]) AS new (community, entity)
                            WHERE new.community = m.community_id AND new.entity = m.entity_id)
        """,
        workspace_id,
        [one.id for one in written],
        owners,
        members,
    )
    await connection.execute(
        """
        INSERT INTO community_members (workspace_id, community_id, entity_id)
        SELECT $1, new.community, e.id FROM unnest($2::uuid[], $3::uuid[]) AS new (community, entity)
        JOIN entities e ON e.workspace_id = $1 AND e.id = new.entity AND e.merged_into IS NULL
        ON CONFLICT DO NOTHING
        """,
        workspace_id,
        owners,
        members,
    )
    await connection.execute(
        "DELETE FROM communities WHERE workspace_id = $1 AND NOT id = ANY ($2)",
        workspace_id,
        [*kept, *(one.id for one in written)],
    )


async def replace_reports(
    session: AsyncSession, workspace_id: uuid.UUID, written: Sequence[ReportWrite]
) -> dict[uuid.UUID, int]:
    """Gives the number of each report in the postings; one whose community has gone meanwhile gets none."""
    connection = await raw(session)
    await connection.execute(
        "DELETE FROM reports WHERE workspace_id = $1 AND id = ANY ($2)", workspace_id, [one.id for one in written]
    )
    rows = await connection.fetch(
        """
        INSERT INTO reports (workspace_id, id, title, summary, rating, rating_reason, findings, language, generated_by,
            flags, fingerprint, is_stale, words, grams)
        SELECT $1, new.id, r.title, r.summary, r.rating, r.rating_reason, r.findings, r.language, r.generated_by,
            r.flags, new.fingerprint, new.is_stale, new.words, new.grams
        FROM unnest($2::uuid[], $3::uuid[], $4::jsonb[], $5::bool[], $6::int[], $7::int[])
            AS new (id, fingerprint, report, is_stale, words, grams)
        JOIN communities c ON c.workspace_id = $1 AND c.id = new.id
        CROSS JOIN LATERAL jsonb_to_record(new.report) AS r (title text, summary text, rating float8,
            rating_reason text, findings jsonb, language text, generated_by text, flags jsonb)
        RETURNING id, doc
        """,
        workspace_id,
        [one.id for one in written],
        [one.fingerprint for one in written],
        [json.dumps(one.report, ensure_ascii=False) for one in written],
        [one.is_stale for one in written],
        [one.words for one in written],
        [one.grams for one in written],
    )
    return {row["id"]: row["doc"] for row in rows}


async def finish_run(
    session: AsyncSession, workspace_id: uuid.UUID, run_id: uuid.UUID, noted: Sequence[int], figures: Mapping[str, Any]
) -> None:
    """The run becomes the current one; what it has taken note of is done. Figures are columns of the run."""
    connection = await raw(session)
    await connection.execute(
        "UPDATE community_runs SET is_current = false WHERE workspace_id = $1 AND is_current", workspace_id
    )
    await connection.execute(
        """
        UPDATE community_runs AS run SET state = 'done', is_current = true, finished_at = now(), is_full = f.is_full,
            nodes = f.nodes, edges = f.edges, communities = f.communities, levels = f.levels,
            modularity = f.modularity, full_modularity = f.full_modularity, changed = f.changed
        FROM jsonb_to_record($3::jsonb) AS f (is_full bool, nodes int, edges int, communities int, levels int,
            modularity float8, full_modularity float8, changed int)
        WHERE run.workspace_id = $1 AND run.id = $2
        """,
        workspace_id,
        run_id,
        json.dumps(figures),
    )
    await connection.execute(
        "DELETE FROM community_changes WHERE workspace_id = $1 AND n = ANY ($2::bigint[])", workspace_id, list(noted)
    )
    await connection.execute("DELETE FROM report_drafts WHERE workspace_id = $1", workspace_id)
    await connection.execute(
        "DELETE FROM community_runs WHERE workspace_id = $1 AND NOT is_current AND state <> 'running'", workspace_id
    )
