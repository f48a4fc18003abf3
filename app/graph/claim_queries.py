"""Statements that read which claims a later one has ended, and the history of one.

What is valid follows from dates of cards alone (`claims_settle` in `migrations/sql/0002_graph.sql`); nothing here
decides.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import NotFound
from app.db.session import raw


class PointNotFound(NotFound):
    """There is no such point here."""

    code = "point_not_found"


@dataclass(frozen=True, slots=True)
class DatedClaim:
    """What a card says, and since when. `valid_until` is None for what still holds."""

    id: uuid.UUID
    card_id: uuid.UUID
    card_title: str
    text: str
    value: str | None
    said_at: datetime
    valid_until: datetime | None
    superseded_by: uuid.UUID | None


@dataclass(frozen=True, slots=True)
class Superseded:
    """A claim that has ended, and the one that ended it."""

    older: DatedClaim
    newer: DatedClaim


async def list_superseded(
    session: AsyncSession,
    workspace_id: uuid.UUID,
    *,
    card_id: uuid.UUID | None = None,
    entity_id: uuid.UUID | None = None,
    limit: int = 100,
) -> list[Superseded]:
    """What ended last comes first. `card_id` keeps pairs of which one side stands on the card, `entity_id` those whose
    older side is about the entity or one that was merged into it.
    """
    rows = await (await raw(session)).fetch(
        """
        SELECT o.id AS older_id, o.card_id AS older_card_id, oc.title AS older_card_title, o.text AS older_text,
               o.claim_value AS older_value, oc.created_at AS older_said_at,
               upper(o.valid_during) AS older_valid_until, o.superseded_by AS older_superseded_by,
               n.id AS newer_id, n.card_id AS newer_card_id, nc.title AS newer_card_title, n.text AS newer_text,
               n.claim_value AS newer_value, nc.created_at AS newer_said_at,
               upper(n.valid_during) AS newer_valid_until, n.superseded_by AS newer_superseded_by
        FROM points o
        JOIN points n ON n.workspace_id = o.workspace_id AND n.id = o.superseded_by
        JOIN cards oc ON oc.workspace_id = o.workspace_id AND oc.id = o.card_id
        JOIN cards nc ON nc.workspace_id = n.workspace_id AND nc.id = n.card_id
        WHERE o.workspace_id = $1
          AND o.claim_key IS NOT NULL
          AND ($2::uuid IS NULL OR o.id IN (
              SELECT p.id FROM points p WHERE p.workspace_id = $1 AND p.card_id = $2
              UNION
              SELECT p.id
              FROM points mine
              JOIN points p ON p.workspace_id = $1 AND p.claim_key = mine.claim_key AND p.superseded_by = mine.id
              WHERE mine.workspace_id = $1 AND mine.card_id = $2
          ))
          AND ($3::uuid IS NULL OR o.id IN (
              SELECT pe.point_id
              FROM entities e
              JOIN point_entities pe ON pe.workspace_id = e.workspace_id AND pe.entity_id = e.id
              WHERE e.workspace_id = $1 AND (e.id = $3 OR e.merged_into = $3)
          ))
        ORDER BY upper(o.valid_during) DESC, o.id
        LIMIT $4
        """,
        workspace_id,
        card_id,
        entity_id,
        limit,
    )
    return [Superseded(_claim(row, "older_"), _claim(row, "newer_")) for row in rows]


async def history(session: AsyncSession, workspace_id: uuid.UUID, point_id: uuid.UUID) -> list[DatedClaim]:
    """All that was ever said of the same, this point included, oldest first. A point of which several may be true at a
    time is its own history. Raises PointNotFound.
    """
    rows = await (await raw(session)).fetch(
        """
        SELECT p.id, p.card_id, c.title AS card_title, p.text, p.claim_value AS value, c.created_at AS said_at,
               upper(p.valid_during) AS valid_until, p.superseded_by
        FROM points this
        JOIN points p ON p.workspace_id = this.workspace_id AND (p.id = this.id OR p.claim_key = this.claim_key)
        JOIN cards c ON c.workspace_id = p.workspace_id AND c.id = p.card_id
        WHERE this.workspace_id = $1 AND this.id = $2
        ORDER BY c.created_at, p.id
        """,
        workspace_id,
        point_id,
    )
    if not rows:
        raise PointNotFound
    return [_claim(row) for row in rows]


def _claim(row: Any, prefix: str = "") -> DatedClaim:
    return DatedClaim(*(row[f"{prefix}{name}"] for name in DatedClaim.__slots__))
