"""A workspace where cards name entities: cards and chunks without a pipeline, linked by the real linker."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import text

from app.cards.drafts import NewCard
from app.core.ids import new_id
from app.db.session import Database, raw
from app.index import queries as index
from app.index import space_queries
from app.index.collections import Collection
from app.index.lexical import lexical_stats
from app.index.rows import StoredVector
from app.ingestion.extract.types import EntityDraft
from app.ingestion.link.linker import Linker, PlanOutdated
from app.ingestion.link.plan import Drafts, Place, Plan
from app.ingestion.queries import lock_cards
from app.ingestion.submit import Intake
from app.people import queries as people
from app.providers.ports import Embedder
from app.text.normalise import clean
from app.text.segment import Segmenter
from tests.search_library import Scattered

SEGMENTER = Segmenter()


def named(name: str, type: str = "other", description: str = "", *aliases: str) -> EntityDraft:
    return EntityDraft(name, type, description, aliases)  # type: ignore[arg-type]


class Desk:
    def __init__(self, database: Database, embedder: Embedder) -> None:
        self.database = database
        self.embedder = embedder
        self.linker = Linker(SEGMENTER)
        self.intake = Intake(queued=False)
        self.id = uuid.UUID(int=0)
        self.space_id = 0

    async def open(self, slug: str = "desk") -> Desk:
        async with self.database.unit() as session:
            self.id = (await people.insert_workspace(session, slug, slug)).id
            self.space_id = await index.ensure_space(session, self.embedder.space)
            await space_queries.set_current(session, self.space_id)
        return self

    async def card(self, title: str = "Card") -> uuid.UUID:
        async with self.database.unit() as session:
            return (await self.intake.submit_card(session, self.id, NewCard(title, title))).id

    async def tell(self, *drafts: EntityDraft | str, card: uuid.UUID | None = None) -> uuid.UUID:
        """A card that names these; an old card tells them instead of what it told before."""
        card = card or await self.card()
        await self.link({card: [named(draft) if isinstance(draft, str) else draft for draft in drafts]})
        return card

    async def link(self, drafts: Mapping[uuid.UUID, Sequence[EntityDraft]]) -> dict[Place, uuid.UUID]:
        while True:
            async with self.database.read() as session:
                known = await self.linker.look_up(session, self.id, self.space_id, drafts)
            plan = self.linker.plan(known, drafts)
            with suppress(PlanOutdated):
                return await self.write(plan, await self.embed(plan), drafts)

    async def embed(self, plan: Plan) -> dict[uuid.UUID, StoredVector]:
        if not plan.texts:
            return {}
        dense = (await self.embedder.passages(list(plan.texts.values()))).dense
        return {key: StoredVector(vector) for key, vector in zip(plan.texts, dense, strict=True)}

    async def write(
        self, plan: Plan, vectors: Mapping[uuid.UUID, StoredVector], drafts: Drafts
    ) -> dict[Place, uuid.UUID]:
        """As the pipeline does: the cards' locks, their old rows gone, entities, mentions."""
        async with self.database.unit() as session:
            await lock_cards(session, self.id, list(drafts))
            await index.delete_chunks(session, self.id, list(drafts))
            given = await self.linker.write(session, self.id, (self.space_id, self.embedder.space), plan, vectors)
            connection = await raw(session)
            for card, entities in drafts.items():
                chunk = new_id()
                await connection.execute(
                    'INSERT INTO chunks (workspace_id, id, card_id, ordinal, start, "end", text, tokens, words, grams, '
                    "terms) VALUES ($1, $2, $3, 0, 0, 0, $4, 1, 0, 0, '')",
                    self.id,
                    chunk,
                    card,
                    clean("; ".join(f"{draft.name}: {draft.description}" for draft in entities)),
                )
                await connection.copy_records_to_table(
                    "mentions",
                    columns=["workspace_id", "chunk_id", "ordinal", "entity_id", "card_id", "name"],
                    records=[
                        (self.id, chunk, ordinal, given[card, draft.name], card, clean(draft.name))
                        for ordinal, draft in enumerate(entities)
                        if (card, draft.name) in given
                    ],
                )
        return given

    async def remove(self, card: uuid.UUID) -> None:
        async with self.database.unit() as session:
            await lock_cards(session, self.id, [card])
            await session.execute(
                text("DELETE FROM cards WHERE workspace_id = :w AND id = :id"), {"w": self.id, "id": card}
            )

    # ----------------------------------------------------------------------------------- what is there

    async def rows(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        async with self.database.read() as session:
            return [tuple(row) for row in await session.execute(text(statement), {"w": self.id, **values})]

    async def groups(self) -> set[frozenset[str]]:
        """Names of mentions, those of one entity together."""
        rows = await self.rows(
            "SELECT array_agg(DISTINCT m.name) FROM mentions m JOIN entities e ON e.workspace_id = m.workspace_id "
            "AND e.id = m.entity_id WHERE m.workspace_id = :w GROUP BY coalesce(e.merged_into, e.id)"
        )
        return {frozenset(row[0]) for row in rows}

    async def entity(self, name: str) -> Any:
        """(id, type, description, root) of the one entity of this name."""
        ((row),) = await self.rows(
            "SELECT id, type, description, coalesce(merged_into, id) FROM entities "
            "WHERE workspace_id = :w AND name = :name",
            name=name,
        )
        return row

    async def id_of(self, name: str) -> uuid.UUID:
        found: uuid.UUID = (await self.entity(name))[0]
        return found

    async def pairs(self, state: str = "waiting") -> set[frozenset[str]]:
        rows = await self.rows(
            "SELECT l.name, r.name FROM entity_pairs p "
            "JOIN entities l ON l.workspace_id = p.workspace_id AND l.id = p.left_id "
            "JOIN entities r ON r.workspace_id = p.workspace_id AND r.id = p.right_id "
            "WHERE p.workspace_id = :w AND p.state = :state",
            state=state,
        )
        return {frozenset(row) for row in rows}

    async def log(self) -> list[tuple[Any, ...]]:
        """Decisions in their order: (left, right, layer, outcome, by whom)."""
        return await self.rows(
            "SELECT left_name, right_name, layer, outcome, decided_by FROM entity_decisions "
            "WHERE workspace_id = :w ORDER BY created_at, id"
        )

    async def in_order(self) -> None:
        """What must hold at any time."""
        async with self.database.read() as session:
            stats = await lexical_stats(session, self.id, Collection.entity)
        assert stats.in_order, stats
        checks = {
            "an entity that nobody mentions": "SELECT count(*) FROM entities e WHERE workspace_id = :w AND NOT EXISTS "
            "(SELECT FROM mentions m WHERE m.workspace_id = :w AND m.entity_id = e.id) AND NOT EXISTS "
            "(SELECT FROM entities o WHERE o.workspace_id = :w AND o.merged_into = e.id)",
            "a chain": "SELECT count(*) FROM entities a JOIN entities b ON b.workspace_id = a.workspace_id "
            "AND b.id = a.merged_into WHERE a.workspace_id = :w AND b.merged_into IS NOT NULL",
            "no name of its own": "SELECT count(*) FROM entities e WHERE workspace_id = :w AND NOT EXISTS "
            "(SELECT FROM entity_names n WHERE n.workspace_id = :w AND n.entity_id = e.id AND n.key = e.key)",
            "a pair of one": "SELECT count(*) FROM entity_pairs p "
            "JOIN entities l ON l.workspace_id = :w AND l.id = p.left_id "
            "JOIN entities r ON r.workspace_id = :w AND r.id = p.right_id WHERE p.workspace_id = :w "
            "AND p.state = 'waiting' AND coalesce(l.merged_into, l.id) = coalesce(r.merged_into, r.id)",
            "another name than its own": "SELECT count(*) FROM entities e JOIN entity_names n "
            "ON n.workspace_id = :w AND n.entity_id = e.id AND n.key = e.key WHERE e.workspace_id = :w "
            "AND n.name <> e.name",
            "not one vector": "SELECT count(*) FROM entities e WHERE workspace_id = :w AND (SELECT count(*) "
            "FROM entity_vectors v WHERE v.workspace_id = :w AND v.owner_id = e.id) <> 1",
        }
        for what, statement in checks.items():
            assert (await self.rows(statement))[0][0] == 0, what


@pytest.fixture
async def desk(database: Database) -> Desk:
    """No text is near another: what is merged, names have merged."""
    return await Desk(database, Scattered()).open()
