"""Statements that count what must not be in the cone and the graph; one number each, over all workspaces."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import raw

VECTORS: Final[Mapping[str, str]] = {
    "episode_vectors": "episodes",
    "facet_vectors": "facets",
    "point_vectors": "points",
    "entity_vectors": "entities",
    "relation_vectors": "relations",
    "role_vectors": "roles",
    "report_vectors": "reports",
}
"""Tables of vectors, and whose they are."""


def _without_vector(owners: str, vectors: str, roles: Mapping[int, str], unless: str = "false") -> str:
    """Texts of owners that have no vector in the current space; `roles`: on which condition an owner has that text."""
    texts = ", ".join(f"({role}, {condition})" for role, condition in roles.items())
    return f"""
        SELECT count(*) FROM {owners} o JOIN embedding_spaces s ON s.is_current
        CROSS JOIN LATERAL (VALUES {texts}) AS t (role, is_there)
        WHERE t.is_there AND NOT ({unless}) AND NOT EXISTS (
            SELECT FROM {vectors} v WHERE v.workspace_id = o.workspace_id AND v.owner_id = o.id
            AND v.space_id = s.id AND v.role = t.role)"""  # noqa: S608


def _summed(statements: Sequence[str]) -> str:
    return f"SELECT ({') + ('.join(statements)})"


def _outside(table: str) -> str:
    return f"""
        SELECT count(*) FROM {table} r JOIN cards c ON c.workspace_id = r.workspace_id AND c.id = r.card_id
        WHERE (r.start IS NULL) <> (r."end" IS NULL) OR r.start < 0 OR r.start >= r."end"
           OR r."end" > char_length(c.content)"""  # noqa: S608


def _of_another_card(table: str) -> str:
    return f"""
        SELECT count(*) FROM {table} r JOIN chunks ch ON ch.workspace_id = r.workspace_id AND ch.id = r.chunk_id
        WHERE ch.card_id <> r.card_id"""  # noqa: S608


# An empty description has no text, and a changed entity has its vector as soon as the job that follows it is done.
_DESCRIBED: Final = r"o.description ~ '\S'"
_FOLLOWED: Final = """EXISTS (
    SELECT FROM jobs j
    WHERE j.workspace_id = o.workspace_id AND j.kind = 'link' AND j.state IN ('queued', 'working'))"""

INVARIANTS: Final[Mapping[str, str]] = {
    # ------------------------------------------------------------------------------------ entities
    "entity_without_mention": """
        SELECT count(*) FROM entities e
        WHERE NOT EXISTS (SELECT FROM mentions m WHERE m.workspace_id = e.workspace_id AND m.entity_id = e.id)
          AND NOT EXISTS (SELECT FROM entities o WHERE o.workspace_id = e.workspace_id AND o.merged_into = e.id)""",
    "entity_merged_twice": """
        SELECT count(*) FROM entities e
        JOIN entities o ON o.workspace_id = e.workspace_id AND o.id = e.merged_into
        WHERE o.merged_into IS NOT NULL""",
    "entity_without_its_name": """
        SELECT count(*) FROM entities e WHERE NOT EXISTS (
            SELECT FROM entity_names n
            WHERE n.workspace_id = e.workspace_id AND n.entity_id = e.id AND n.key = e.key)""",
    "pair_of_one_entity": """
        SELECT count(*) FROM entity_pairs p
        JOIN entities l ON l.workspace_id = p.workspace_id AND l.id = p.left_id
        JOIN entities r ON r.workspace_id = p.workspace_id AND r.id = p.right_id
        WHERE p.state = 'waiting' AND coalesce(l.merged_into, l.id) = coalesce(r.merged_into, r.id)""",
    "mention_of_other_text": """
        SELECT count(*) FROM mentions m JOIN cards c ON c.workspace_id = m.workspace_id AND c.id = m.card_id
        WHERE (m.start IS NULL) <> (m."end" IS NULL)
           OR substr(c.content, m.start + 1, m."end" - m.start) <> m.name""",
    "telling_without_mention": """
        SELECT count(*) FROM entity_tellings t WHERE NOT EXISTS (
            SELECT FROM mentions m
            WHERE m.workspace_id = t.workspace_id AND m.entity_id = t.entity_id AND m.card_id = t.card_id)""",
    "graph_row_of_another_card": _summed([_of_another_card(table) for table in ("mentions", "relations", "points")]),
    # ------------------------------------------------------------------------------------ the cone
    "episode_without_card": """
        SELECT count(*) FROM episodes e WHERE NOT EXISTS (
            SELECT FROM episode_cards ec WHERE ec.workspace_id = e.workspace_id AND ec.episode_id = e.id)""",
    "episode_of_trashed_card": """
        SELECT count(*) FROM episode_cards ec
        JOIN cards c ON c.workspace_id = ec.workspace_id AND c.id = ec.card_id
        WHERE c.trashed_at IS NOT NULL""",
    # What was learned before cards said who has read them is passed over, as is what has nothing to read.
    "ready_card_without_episode": """
        SELECT count(*) FROM cards c
        WHERE c.state = 'ready' AND c.trashed_at IS NULL AND c.extraction ->> 'by' <> 'off'
          AND c.content ~ '[0-9A-Za-z\u4e00-\u9fff]'
          AND NOT EXISTS (
            SELECT FROM episode_cards ec WHERE ec.workspace_id = c.workspace_id AND ec.card_id = c.id)""",
    "posted_episode_of_other_text": """
        SELECT count(*) FROM posted_episodes p JOIN cards c ON c.workspace_id = p.workspace_id AND c.id = p.card_id
        WHERE c.state = 'ready' AND c.trashed_at IS NULL AND p.text_version <> c.text_version""",
    "posted_episode_not_told": """
        SELECT count(*) FROM posted_episodes p JOIN cards c ON c.workspace_id = p.workspace_id AND c.id = p.card_id
        WHERE c.state = 'ready' AND c.trashed_at IS NULL AND NOT EXISTS (
            SELECT FROM episodes e WHERE e.workspace_id = p.workspace_id AND e.id = p.id AND e.origin = 'posted')""",
    "point_of_missing_chunk": """
        SELECT count(*) FROM points p WHERE p.chunk_id IS NOT NULL AND NOT EXISTS (
            SELECT FROM chunks ch WHERE ch.workspace_id = p.workspace_id AND ch.id = p.chunk_id)""",
    "graph_offsets_outside_of_card": _summed([_outside(table) for table in ("points", "facets", "relations")]),
    # As `claims_settle` has it (migrations/sql/0002_graph.sql).
    "point_with_other_validity": """
        WITH said AS MATERIALIZED (
            SELECT p.workspace_id, p.id, p.claim_key, p.claim_value, c.created_at, p.valid_during, p.superseded_by,
                   min(p.claim_value) OVER told = max(p.claim_value) OVER told AS is_clear
            FROM points p JOIN cards c ON c.workspace_id = p.workspace_id AND c.id = p.card_id
            WHERE p.claim_key IS NOT NULL
            WINDOW told AS (PARTITION BY p.workspace_id, p.claim_key, p.card_id)
        )
        SELECT (
            SELECT count(*) FROM said LEFT JOIN LATERAL (
                SELECT o.id, o.created_at FROM said o
                WHERE said.is_clear AND o.is_clear AND o.workspace_id = said.workspace_id
                  AND o.claim_key = said.claim_key AND o.created_at > said.created_at
                  AND o.claim_value <> said.claim_value
                ORDER BY o.created_at, o.id LIMIT 1
            ) AS next ON true
            WHERE said.superseded_by IS DISTINCT FROM next.id OR said.valid_during IS DISTINCT FROM
                  CASE WHEN next.id IS NOT NULL THEN tstzrange(said.created_at, next.created_at) END
        ) + (
            SELECT count(*) FROM points
            WHERE claim_key IS NULL AND (superseded_by IS NOT NULL OR valid_during IS NOT NULL)
        )""",
    # ------------------------------------------------------------------------------------- vectors
    "episode_without_vector": _without_vector("episodes", "episode_vectors", {0: "true"}),
    "facet_without_vector": _without_vector("facets", "facet_vectors", {0: "true", 1: _DESCRIBED, 2: _DESCRIBED}),
    "point_without_vector": _without_vector("points", "point_vectors", {0: "true", 2: "true"}),
    "entity_without_vector": _without_vector("entities", "entity_vectors", {0: "true"}, unless=_FOLLOWED),
    "entity_vector_described_wrongly": """
        SELECT count(*) FROM entity_vectors v JOIN entities e ON e.workspace_id = v.workspace_id AND e.id = v.owner_id
        WHERE v.described <> (e.description <> '')""",
    "relation_without_vector": _without_vector("relations", "relation_vectors", {0: "true"}),
    "role_without_vector": _without_vector("roles", "role_vectors", {0: "true"}),
    "graph_vector_without_owner": _summed(
        [
            f"""SELECT count(*) FROM {vectors} v WHERE NOT EXISTS (
                SELECT FROM {owners} o WHERE o.workspace_id = v.workspace_id AND o.id = v.owner_id)"""  # noqa: S608
            for vectors, owners in VECTORS.items()
        ]
    ),
    "graph_vector_of_wrong_dimension": _summed(
        [
            f"""SELECT count(*) FROM {vectors} v LEFT JOIN embedding_spaces s ON s.id = v.space_id
                WHERE s.id IS NULL OR vector_dims(v.dense::vector) <> s.dimension"""  # noqa: S608
            for vectors in VECTORS
        ]
    ),
}


async def list_vectors(
    session: AsyncSession, workspace_id: uuid.UUID, vectors: str, after: uuid.UUID, most: int
) -> list[tuple[uuid.UUID, int, uuid.UUID]]:
    """(owner, role, hash of the text) of the next owners' vectors in the current space, of about `most` owners."""
    assert vectors in VECTORS
    rows = await (await raw(session)).fetch(
        f"""
        SELECT v.owner_id, v.role, v.text_hash FROM {vectors} v
        WHERE v.workspace_id = $1 AND v.space_id = (SELECT id FROM embedding_spaces WHERE is_current)
          AND v.owner_id IN (
            SELECT o.id FROM {VECTORS[vectors]} o WHERE o.workspace_id = $1 AND o.id > $2 ORDER BY o.id LIMIT $3)
        ORDER BY v.owner_id, v.role
        """,  # noqa: S608
        workspace_id,
        after,
        most,
    )
    return [(row["owner_id"], row["role"], row["text_hash"]) for row in rows]
