"""The wide net: every collection finds its rows by vector and by words, and nobody else's."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from alembic import command
from sqlalchemy import text

from app.core.ids import new_id
from app.db import migrate
from app.db.session import Database, raw
from app.graph.vector_tables import (
    VECTOR_TABLES,
    EntityVector,
    EpisodeVector,
    FacetVector,
    PointVector,
    RelationVector,
    RoleVector,
    TextRole,
)
from app.graph.vectors import VectorEntry, insert_vectors
from app.index import queries as index
from app.index import space_queries, vector_index
from app.index.collections import Collection, TextKind
from app.index.folding import compact, fold, list_foldable, rebuild
from app.index.lexical import insert_recent, lexical_stats, search_lexical, search_many
from app.index.postings import LexicalRow
from app.index.terms import word_hash
from app.providers.ports import EmbeddingSpace
from app.retrieval.collections import EDGES, Anchors, Sizes, by_words, list_owners, nearest, nearest_many
from app.retrieval.queries import SpaceRow
from app.retrieval.settings import RetrievalSettings
from app.schema import metadata

SPACE = EmbeddingSpace("test", "axes", 16)
TABLES: dict[TextKind, type] = {
    TextKind.episode: EpisodeVector,
    TextKind.facet_title: FacetVector,
    TextKind.facet_description: FacetVector,
    TextKind.facet_edge: FacetVector,
    TextKind.point: PointVector,
    TextKind.point_edge: PointVector,
    TextKind.entity: EntityVector,
    TextKind.relation: RelationVector,
    TextKind.role: RoleVector,
}
ROWS = {
    Collection.chunk: 'INSERT INTO chunks (workspace_id, id, card_id, ordinal, start, "end", text, tokens, words, '
    "grams, terms) VALUES ($1, $2, $3, 0, 0, 1, 't', 1, 1, 0, '') RETURNING doc",
    Collection.episode: "INSERT INTO episodes (workspace_id, id, title, title_key, summary, origin, words, grams) "
    "VALUES ($1, $2, $3::uuid::text, '', '', 'own', 1, 0) RETURNING doc",
    Collection.facet: "INSERT INTO facets (workspace_id, id, episode_id, card_id, ordinal, title, description, words, "
    "grams) VALUES ($1, $2, $4, $3, 0, '', '', 1, 0) RETURNING doc",
    Collection.point: "INSERT INTO points (workspace_id, id, facet_id, episode_id, card_id, ordinal, text, words, "
    "grams) VALUES ($1, $2, $5, $4, $3, 0, '', 1, 0) RETURNING doc",
    Collection.entity: "INSERT INTO entities (workspace_id, id, name, key, kind, type, words, grams) "
    "VALUES ($1, $2, '', $3::uuid::text, 'thing', '', 1, 0) RETURNING doc",
    Collection.relation: "INSERT INTO relations (workspace_id, id, card_id, chunk_id, source_id, target_id, predicate, "
    "text, confidence, words, grams) VALUES ($1, $2, $3, $4, $5, $5, '', '', 1, 1, 0) RETURNING doc",
    Collection.role: "INSERT INTO roles (workspace_id, id, card_id, episode_id, entity_id, text, words, grams) "
    "VALUES ($1, $2, $3, $4, $5, '', 1, 0) RETURNING doc",
}


def axis(kind: TextKind, lean: float = 0.0) -> np.ndarray:
    """A direction for every kind of text; `lean` away from it, towards a direction that no kind has."""
    vector = np.zeros(16, np.float32)
    vector[list(TextKind).index(kind)] = 1
    vector[15] = lean
    return vector / np.linalg.norm(vector)


@dataclass
class Cone:
    """One card and what was made of it: a row in every collection, found by its collection's name."""

    card: uuid.UUID = field(default_factory=new_id)
    ids: dict[Collection, uuid.UUID] = field(default_factory=dict)
    docs: dict[Collection, int] = field(default_factory=dict)


class World:
    """One workspace whose cones are written by hand."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.id = new_id()
        self.space = SpaceRow(0, SPACE.key, SPACE.dimension, SPACE.sparse, indexed=False)

    async def open(self, space: EmbeddingSpace = SPACE) -> World:
        async with self.database.unit() as session:
            await session.execute(
                text("INSERT INTO workspaces (id, slug, name) VALUES (:id, :slug, '')"),
                {"id": self.id, "slug": self.id.hex},
            )
            space_id = await index.ensure_space(session, space)
            await space_queries.set_current(session, space_id)
        self.space = SpaceRow(space_id, space.key, space.dimension, space.sparse, indexed=False)
        return self

    async def add(self, lean: float = 0.0) -> Cone:
        cone = Cone()
        async with self.database.unit() as session:
            connection = await raw(session)
            await connection.execute(
                "INSERT INTO cards (workspace_id, id, title, title_key, content, content_hash) "
                "VALUES ($1, $2, 't', 't', '', 'h')",
                self.id,
                cone.card,
            )
            for collection in (
                Collection.chunk,
                Collection.episode,
                Collection.facet,
                Collection.point,
                Collection.entity,
                Collection.relation,
                Collection.role,
            ):
                row_id = new_id()
                more = {
                    Collection.facet: (Collection.episode,),
                    Collection.point: (Collection.episode, Collection.facet),
                    Collection.relation: (Collection.chunk, Collection.entity),
                    Collection.role: (Collection.episode, Collection.entity),
                }.get(collection, ())
                parents = [cone.ids[parent] for parent in more]
                cone.docs[collection] = await connection.fetchval(
                    ROWS[collection], self.id, row_id, cone.card, *parents
                )
                cone.ids[collection] = row_id
                if collection is Collection.episode:
                    await connection.execute(
                        "INSERT INTO episode_cards VALUES ($1, $2, $3, 0)", self.id, row_id, cone.card
                    )
                row = LexicalRow(cone.docs[collection], 1, 0, {word_hash(collection.name): 1}, {})
                await insert_recent(session, self.id, [row], collection)
            await connection.execute(
                "INSERT INTO mentions (workspace_id, chunk_id, ordinal, entity_id, card_id, name) "
                "VALUES ($1, $2, 0, $3, $4, '')",
                self.id,
                cone.ids[Collection.chunk],
                cone.ids[Collection.entity],
                cone.card,
            )
            for ordinal, away in enumerate((lean + 1, lean)):  # a far window and a near one
                await connection.execute(
                    'INSERT INTO windows (workspace_id, chunk_id, space_id, ordinal, card_id, start, "end", text_hash, '
                    "dense) VALUES ($1, $2, $3, $4, $5, 0, 1, $2, $6::halfvec)",
                    self.id,
                    cone.ids[Collection.chunk],
                    self.space.id,
                    ordinal,
                    cone.card,
                    index.HalfVector(axis(TextKind.chunk, away)),
                )
            for kind, table in TABLES.items():
                owner = cone.ids[kind.collection]
                entry = VectorEntry(owner, TextRole(kind.vector_role or 0), hash_of(owner, kind), axis(kind, lean))
                await insert_vectors(session, self.id, self.space.id, table, [entry])
        return cone

    async def near(self, kind: TextKind, *, through_index: bool = False, limit: int = 10) -> Anchors:
        async with self.database.read() as session:
            return await nearest(session, self.id, self.space, kind, axis(kind), limit, [kind] if through_index else ())

    async def words(self, *words: str, limit: int = 10) -> dict[Collection, Anchors]:
        async with self.database.read() as session:
            return await by_words(session, self.id, Collection, [*map(word_hash, words)], [], limit)

    async def folded(self) -> None:
        for collection in Collection:
            for step in (fold, compact):
                async with self.database.unit() as session:
                    await step(session, self.id, 1, collection=collection)

    async def execute(self, statement: str, **values: object) -> None:
        async with self.database.unit() as session:
            await session.execute(text(statement), {"w": self.id, **values})

    async def in_order(self) -> None:
        async with self.database.read() as session:
            for collection in Collection:
                stats = await lexical_stats(session, self.id, collection)
                assert stats.in_order, (collection, stats)


def hash_of(owner: uuid.UUID, kind: TextKind) -> uuid.UUID:
    return uuid.uuid5(owner, kind.name)


@pytest.fixture
async def world(database: Database) -> AsyncIterator[World]:
    return await World(database).open()


# ---------------------------------------------------------------------------------------- by vector


@pytest.mark.parametrize("through_index", [False, True])
async def test_every_kind_of_text_is_found_by_its_vector(world: World, through_index: bool) -> None:
    """Nearest first; a text of another kind of the same row is no hit of this one."""
    far, near = await world.add(lean=0.5), await world.add()
    if through_index:
        assert await vector_index.build_if_needed(world.database, SPACE, 0)
    for kind in TextKind:
        found = await world.near(kind, through_index=through_index)
        assert [owner for owner, _ in found] == [near.ids[kind.collection], far.ids[kind.collection]], kind
        assert [distance for _, distance in found] == pytest.approx([0.0, 1 - 1 / np.hypot(1, 0.5)], abs=1e-3)


async def test_an_index_is_built_while_a_transaction_of_the_same_process_is_open(world: World) -> None:
    """E14: the build waits for whoever writes, and whoever writes is not kept from going on."""
    await world.add()
    async with world.database.unit() as session:
        await session.execute(text("UPDATE windows SET dense = dense"))
        building = asyncio.create_task(vector_index.build_if_needed(world.database, SPACE, 0))
        while True:
            async with world.database.read() as other:
                builders = "FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX%' AND wait_event = 'virtualxid'"
                waiting = await other.scalar(text(f"SELECT count(*) {builders}"))
            if waiting:
                break
            await asyncio.sleep(0.01)
        assert not building.done()
        await session.execute(text("UPDATE windows SET dense = dense"))
    assert await building


async def test_all_kinds_in_one_round_trip_are_what_each_alone_is(world: World) -> None:
    for lean in (0.1, 0.2, 0.3):
        await world.add(lean)
    assert await vector_index.build_if_needed(world.database, SPACE, 0)
    async with world.database.read() as session:
        for approximate in ((), TextKind, (TextKind.chunk, *EDGES)):
            many = await nearest_many(session, world.id, world.space, TextKind, axis(TextKind.point), 2, approximate)
            assert set(many) == set(TextKind)
            assert [len(anchors) for anchors in many.values()] == [2] * len(TextKind)
            for kind in TextKind:
                alone = await nearest(session, world.id, world.space, kind, axis(TextKind.point), 2)
                assert [distance for _, distance in many[kind]] == pytest.approx([d for _, d in alone], abs=1e-6)
        assert await nearest_many(session, world.id, world.space, [], axis(TextKind.point), 2) == {}


async def test_equal_distances_are_ordered_by_id(world: World) -> None:
    cones = [await world.add() for _ in range(4)]
    for kind in TextKind:
        assert [owner for owner, _ in await world.near(kind)] == sorted(cone.ids[kind.collection] for cone in cones)


async def test_vectors_of_another_space_are_not_compared(world: World) -> None:
    cone = await world.add()
    async with world.database.unit() as session:
        other = await index.ensure_space(session, EmbeddingSpace("test", "other", 3))
        entry = VectorEntry(cone.ids[Collection.point], TextRole.own, uuid.uuid4(), np.array([1, 0, 0], np.float32))
        await insert_vectors(session, world.id, other, PointVector, [entry])
    assert await world.near(TextKind.point) == [(cone.ids[Collection.point], pytest.approx(0, abs=1e-6))]


# ----------------------------------------------------------------------------------------- by words


# What cards have; reports are on communities of them, and have tests of their own.
OF_CARDS = set(Collection) - {Collection.report}


@pytest.mark.parametrize("folded", [False, True])
async def test_every_collection_is_found_by_its_words(world: World, folded: bool) -> None:
    cones = [await world.add(), await world.add()]
    if folded:
        await world.folded()
    for collection in OF_CARDS:
        found = await world.words(collection.name)
        assert [owner for owner, _ in found.pop(collection)] == sorted(cone.ids[collection] for cone in cones)
        assert set(found) == set(Collection) - {collection}
        assert not any(found.values())
    best = await world.words(*Collection.__members__, limit=1)
    assert {collection: len(anchors) for collection, anchors in best.items()} == {
        collection: int(collection in OF_CARDS) for collection in Collection
    }
    await world.in_order()


async def test_many_collections_in_one_statement_score_like_each_alone(world: World) -> None:
    """Each collection is an index of its own: what others hold changes none of its document frequencies."""
    for _ in range(3):
        await world.add()
    terms = [*map(word_hash, Collection.__members__)]
    async with world.database.read() as session:
        many = await search_many(session, world.id, Collection, terms)
        for collection in OF_CARDS:
            alone = await search_lexical(session, world.id, terms, collection=collection)
            assert alone.totals.docs == 3
            assert many[collection].docs.tolist() == alone.docs.tolist()
            assert many[collection].lex.tolist() == alone.lex.tolist()
        assert list(await search_many(session, world.id, [Collection.role], terms)) == [Collection.role]


async def test_collections_fold_and_rebuild_apart(world: World) -> None:
    cone = await world.add()
    async with world.database.read() as session:
        foldable = await list_foldable(session, 1)
    assert {collection for workspace_id, collection in foldable if workspace_id == world.id} == OF_CARDS
    async with world.database.unit() as session:
        assert await fold(session, world.id, 1, collection=Collection.facet) == 1
    async with world.database.read() as session:
        foldable = await list_foldable(session, 1)
    assert {c for workspace_id, c in foldable if workspace_id == world.id} == OF_CARDS - {Collection.facet}

    async def rows() -> AsyncIterator[LexicalRow]:
        yield LexicalRow(cone.docs[Collection.point], 1, 0, {word_hash("anew"): 1}, {})

    async with world.database.unit() as session:
        assert await rebuild(session, world.id, rows(), Collection.point) == 1
    found = await world.words("anew", "point", "facet")
    assert {collection for collection, anchors in found.items() if anchors} == {Collection.point, Collection.facet}
    await world.in_order()


async def test_a_row_with_new_words_is_found_by_these_alone(world: World) -> None:
    """An entity whose description changes gets another number; its old words go with the old one."""
    cone = await world.add()
    await world.folded()
    async with world.database.unit() as session:
        connection = await raw(session)
        doc = await connection.fetchval(
            "UPDATE entities SET doc = nextval('chunk_doc_seq') WHERE workspace_id = $1 RETURNING doc", world.id
        )
        await insert_recent(session, world.id, [LexicalRow(doc, 1, 0, {word_hash("new"): 1}, {})], Collection.entity)
    assert (await world.words("entity"))[Collection.entity] == []
    assert [owner for owner, _ in (await world.words("new"))[Collection.entity]] == [cone.ids[Collection.entity]]
    await world.in_order()


# ---------------------------------------------------------------------------- what must not be found


@pytest.mark.parametrize("folded", [False, True])
async def test_what_a_deleted_card_told_vanishes(world: World, folded: bool) -> None:
    """C1: everything of it, whichever way it is looked for."""
    kept, gone = await world.add(lean=0.5), await world.add()
    if folded:
        await world.folded()
    await world.execute("DELETE FROM cards WHERE workspace_id = :w AND id = :card", card=gone.card)
    for kind in TextKind:
        assert [owner for owner, _ in await world.near(kind)] == [kept.ids[kind.collection]], kind
    by_words = await world.words(*Collection.__members__)
    assert set(by_words) == set(Collection)
    for collection, anchors in ((one, by_words[one]) for one in OF_CARDS):
        assert [owner for owner, _ in anchors] == [kept.ids[collection]], collection
    await world.in_order()
    await world.folded()
    await world.in_order()


@pytest.mark.parametrize("through_index", [False, True])
async def test_other_workspaces_do_not_leak(database: Database, world: World, through_index: bool) -> None:
    other = await World(database).open()
    mine = await world.add(lean=0.5)
    for _ in range(60):
        await other.add()
    await other.folded()
    if through_index:
        assert await vector_index.build_if_needed(database, SPACE, 0)
    for kind in TextKind:
        found = await world.near(kind, through_index=through_index)
        assert [owner for owner, _ in found] == [mine.ids[kind.collection]], kind
    by_words = await world.words(*Collection.__members__)
    assert set(by_words) == set(Collection)
    for collection, anchors in ((one, by_words[one]) for one in OF_CARDS):
        assert [owner for owner, _ in anchors] == [mine.ids[collection]], collection
    async with database.read() as session:
        theirs = await search_many(session, other.id, Collection, [*map(word_hash, Collection.__members__)])
        docs = {collection: hits.docs.tolist() for collection, hits in theirs.items()}
        assert {len(docs[collection]) for collection in OF_CARDS} == {60}
        assert set(map(len, (await list_owners(session, world.id, docs)).values())) == {0}


async def test_a_merged_entity_is_found_as_the_one_that_it_became(world: World) -> None:
    root, member, stranger = await world.add(lean=0.4), await world.add(), await world.add(lean=0.6)
    root_id, member_id, stranger_id = (cone.ids[Collection.entity] for cone in (root, member, stranger))
    await world.execute(
        "UPDATE entities SET merged_into = :root WHERE workspace_id = :w AND id = :member",
        root=root_id,
        member=member_id,
    )
    found = await world.near(TextKind.entity)
    assert [owner for owner, _ in found] == [root_id, stranger_id]
    assert found[0][1] == pytest.approx(0, abs=1e-6)
    worded = (await world.words("entity"))[Collection.entity]
    assert sorted(owner for owner, _ in worded) == sorted([root_id, stranger_id])


# ------------------------------------------------------------------------- indexes and known vectors


async def test_an_index_is_built_where_there_are_many_vectors(world: World, database_dsn: str) -> None:
    await world.add()
    await world.add()
    await world.execute(
        "DELETE FROM facet_vectors WHERE role = 1 AND owner_id = (SELECT max(id::text)::uuid FROM facets)"
    )
    moments = iter([0.0, 19.0, 21.0, 320.0, 322.0])
    sizes = Sizes(RetrievalSettings(exact_scan_windows=0), lambda: next(moments))
    async with world.database.read() as session:
        assert await sizes.large(session, world.id, world.space) == frozenset()
    assert await vector_index.build_if_needed(world.database, SPACE, 1)
    assert not await vector_index.build_if_needed(world.database, SPACE, 1)
    # Entities of which nothing is said are not looked for by vector.
    many = {kind for kind in TextKind if kind.is_asked} - {TextKind.facet_description}
    async with world.database.read() as session:
        assert {kind for kind in TextKind if await index.has_vector_index(session, world.space.id, kind)} == many
        assert await sizes.large(session, world.id, world.space) == frozenset()  # asked a moment ago
        assert await sizes.large(session, world.id, world.space) == many
        await (await raw(session)).execute("DELETE FROM point_vectors")
        assert await sizes.large(session, world.id, world.space) == many
        assert await sizes.large(session, world.id, world.space) == many - {TextKind.point_edge}
        patient = Sizes(RetrievalSettings(exact_scan_windows=12))
        assert await patient.large(session, world.id, world.space) == frozenset()
    # The tables describe no such index, and the schema is in order all the same.
    await asyncio.to_thread(command.check, migrate.config(database_dsn))


def test_kinds_of_text_are_those_that_the_tables_hold() -> None:
    assert {kind.vectors for kind in TextKind} == {"windows", *(table.__tablename__ for table in VECTOR_TABLES)} - {
        "report_vectors"
    }
    assert {kind.collection for kind in TextKind} == OF_CARDS
    for kind in TextKind:
        assert {"doc", "words", "grams"} <= set(metadata.tables[kind.collection.table].columns.keys())
    roles = {kind: TextRole(kind.vector_role).name for kind in TABLES if kind.vector_role}
    assert roles == {
        TextKind.facet_description: "description",
        TextKind.facet_edge: "edge",
        TextKind.point_edge: "edge",
    }
    assert [kind.share(30_000) for kind in TextKind] == [30_000, *[5_000] * 9]
    assert {kind.share(0) for kind in TextKind} == {0}
    names = [kind.index_name(7) for kind in TextKind]
    assert len(set(names)) == len(names)
    assert names[:4] == [
        "ix_windows_hnsw_7",
        "ix_episode_vectors_hnsw_7_0",
        "ix_facet_vectors_hnsw_7_0",
        "ix_facet_vectors_hnsw_7_1",
    ]


async def test_a_text_that_the_graph_knows_is_not_embedded_again(world: World) -> None:
    cone = await world.add(lean=0.25)
    hashes = {kind: hash_of(cone.ids[kind.collection], kind) for kind in TABLES}
    async with world.database.read() as session:
        known = await index.list_known_vectors(session, world.id, world.space.id, [*hashes.values(), uuid.uuid4()])
        assert set(known) == set(hashes.values())
        for kind, key in hashes.items():
            assert known[key].dense == pytest.approx(axis(kind, 0.25), abs=1e-3)
            assert known[key].sparse is None
        assert await index.list_known_vectors(session, world.id, world.space.id + 1, list(hashes.values())) == {}
        assert await index.list_known_vectors(session, new_id(), world.space.id, list(hashes.values())) == {}


async def test_a_window_takes_no_vector_without_its_lexical_weights(database: Database) -> None:
    world = await World(database).open(EmbeddingSpace("test", "weighed", 16, sparse=True))
    cone = await world.add()
    point, entity = (hash_of(cone.ids[kind.collection], kind) for kind in (TextKind.point, TextKind.entity))
    async with database.read() as session:
        assert await index.list_known_vectors(session, world.id, world.space.id, [point, entity]) == {}
        known = await index.list_known_vectors(session, world.id, world.space.id, [point, entity], {entity})
        assert set(known) == {entity}
