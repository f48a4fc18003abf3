"""Statements of level explore read what they are about and no more: by index, with custom and with generic plans, and a
hub that every card names does not cost more than its caps (I1, I2).
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator

import asyncpg
import numpy as np
import pytest

from app.db.together import fetch_together
from app.retrieval import explore_queries as explore
from app.retrieval import queries
from app.retrieval.queries import SpaceRow
from app.retrieval.types import Filters
from tests.conftest import TEMPLATE, with_database
from tests.test_plans import BIG, EXPLAIN, Explained, Plans

LARGE, SMALL = uuid.UUID(int=1), uuid.UUID(int=2)
CARDS = 12_000
SPACE = SpaceRow(7, "test/eight/8", 8, False, True)
VECTOR = np.ones(8, np.float32)
HUB = uuid.UUID(int=1)

# Card n is titled "Title n"; it names the hub (entity 1), entity n + 2, which is its title, and entity (n + 7) % N + 2;
# one relation and one claim say so. Every 40th card belongs to the small workspace.
FILL = f"""
SET session_replication_role = replica;
INSERT INTO workspaces (id, slug, name) VALUES ('{LARGE}', 'large', ''), ('{SMALL}', 'small', '');
INSERT INTO embedding_spaces (id, key, dimension, sparse, is_current) VALUES (7, 'test/eight/8', 8, false, true);
CREATE TEMP TABLE owner AS
    SELECT n, CASE WHEN n % 40 <> 0 THEN '{LARGE}' ELSE '{SMALL}' END::uuid AS workspace_id,
           lpad(to_hex(n + 2), 32, '0')::uuid AS id,
           lpad(to_hex((n + 7 * 40) % {CARDS} + 2), 32, '0')::uuid AS other,
           ARRAY[random(), random(), random(), random(), random(), random(), random(), random()]::real[]::halfvec
               AS dense
    FROM generate_series(0, {CARDS - 1}) AS n;
INSERT INTO cards (workspace_id, id, title, title_key, content, content_hash, state)
    SELECT workspace_id, id, 'Title ' || n, 'title' || n, 'Text', '', 'ready' FROM owner;
INSERT INTO chunks (workspace_id, id, card_id, ordinal, doc, start, "end", text, tokens, words, grams, terms)
    SELECT workspace_id, id, id, 0, n, 0, 9, 'Text', 9, 9, 0, 'w'::tsvector FROM owner;
INSERT INTO windows (workspace_id, chunk_id, space_id, ordinal, card_id, start, "end", text_hash, dense)
    SELECT workspace_id, id, 7, 0, id, 0, 9, id, dense FROM owner;
INSERT INTO entities (workspace_id, id, doc, name, key, kind, type, words, grams)
    SELECT workspace_id, id, n, 'Title ' || n, 'title' || n, 'thing', 'work', 1, 0 FROM owner
    UNION ALL SELECT '{LARGE}', '{HUB}', 90000, 'Hub', 'hub', 'thing', 'work', 1, 0
    UNION ALL SELECT '{SMALL}', '{HUB}', 90000, 'Hub', 'hub', 'thing', 'work', 1, 0;
INSERT INTO entity_names (workspace_id, entity_id, key, name) SELECT workspace_id, id, key, name FROM entities;
INSERT INTO mentions (workspace_id, chunk_id, ordinal, entity_id, card_id, start, "end", in_title, name)
    SELECT workspace_id, id, 0, '{HUB}', id, 0, 1, false, 'Hub' FROM owner
    UNION ALL SELECT workspace_id, id, 1, id, id, NULL, NULL, true, 'Title ' || n FROM owner
    UNION ALL SELECT workspace_id, id, 2, other, id, 0, 1, false, 'Other' FROM owner;
INSERT INTO relations
    (workspace_id, id, card_id, chunk_id, source_id, target_id, predicate, text, confidence, doc, words, grams)
    SELECT workspace_id, id, id, id, '{HUB}', other, 'is', 'Hub is other', 1, n, 3, 0 FROM owner;
INSERT INTO relation_vectors (workspace_id, owner_id, space_id, role, text_hash, dense)
    SELECT workspace_id, id, 7, 0, id, dense FROM owner;
INSERT INTO points (workspace_id, id, facet_id, episode_id, card_id, chunk_id, ordinal, text, doc, words, grams)
    SELECT workspace_id, id, id, id, id, id, 0, 'Hub is Title 9', n, 3, 0 FROM owner;
INSERT INTO point_entities (workspace_id, point_id, entity_id) SELECT workspace_id, id, other FROM owner;
INSERT INTO point_vectors (workspace_id, owner_id, space_id, role, text_hash, dense)
    SELECT workspace_id, id, 7, role, id, dense FROM owner, (VALUES (0), (2)) AS roles (role);
"""
GRAPH = BIG | {"mentions", "entity_names", "relations", "relation_vectors", "points", "point_entities"}


@pytest.fixture(scope="module")
def filled_dsn(server_dsn: str) -> Iterator[str]:
    name = f"plans_explore_{uuid.uuid4().hex}"

    async def make() -> None:
        connection = await asyncpg.connect(server_dsn)
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        await connection.close()
        connection = await asyncpg.connect(with_database(server_dsn, name))
        await connection.execute(FILL)
        await connection.execute("VACUUM ANALYZE")
        for setting, value in EXPLAIN.items():
            await connection.execute(f"ALTER DATABASE {name} SET {setting} = '{value}'")
        await connection.close()

    async def drop() -> None:
        connection = await asyncpg.connect(server_dsn)
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await connection.close()

    asyncio.run(make())
    yield with_database(server_dsn, name)
    asyncio.run(drop())


@pytest.fixture(params=["force_custom_plan", "force_generic_plan"])
async def database(request: pytest.FixtureRequest, filled_dsn: str) -> AsyncIterator[Explained]:
    connection = await asyncpg.connect(filled_dsn)
    name = await connection.fetchval("SELECT current_database()")
    await connection.execute(f"ALTER DATABASE {name} SET plan_cache_mode = '{request.param}'")
    await connection.close()
    opened = Explained(filled_dsn, Plans())
    yield opened
    await opened.close()


def check(plans: Plans, *indexes: str, reads: dict[str, int]) -> None:
    """These indexes are used, none of the graph's tables is scanned, and no more than this is read of each."""
    nodes = [node for node in plans.nodes if node.table in GRAPH]
    shown = "\n".join(f"{n.kind} {n.table} {n.index} {n.rows}" for n in nodes)
    assert set(indexes) <= plans.indexes, shown
    assert not [n for n in nodes if n.kind == "Seq Scan" and n.table in GRAPH], shown
    rows: dict[str, float] = {}
    for node in nodes:
        if node.table:
            rows[node.table] = rows.get(node.table, 0) + node.rows
    for table in GRAPH:
        assert rows.get(table, 0) <= reads.get(table, 0), f"{table} {rows.get(table)}\n{shown}"


async def test_names_of_a_question_are_looked_up_and_a_hub_is_counted_to_its_cap(database: Explained) -> None:
    keys = [f"title{n}" for n in range(1, 61)] + ["hub", "nothing"]
    async with database.read() as session:
        await queries.settle(session, 40)
        database.plans.clear()
        (rows,) = await fetch_together(session, explore.names_part(LARGE, keys, 500))
    known = explore.known_of(rows)
    assert (known["hub"].entities[0].cards, known["title3"].entities[0].titled) == (500, 1)
    assert "title40" not in known
    check(
        database.plans,
        "ix_entity_names_key",
        "uq_entities_key",
        "ix_mentions_entity_id",
        "ix_mentions_in_title",
        "ix_cards_title_key",
        reads={"entity_names": 62, "entities": 600, "mentions": 1_200, "cards": 250},
    )


async def test_cards_of_a_hub_are_read_to_their_cap(database: Explained) -> None:
    entities = [HUB, *(uuid.UUID(int=n + 2) for n in range(1, 20))]
    known = [uuid.UUID(int=n + 2) for n in range(101, 201)]
    async with database.read() as session:
        await queries.settle(session, 40)
        database.plans.clear()
        part = explore.cards_part(
            LARGE,
            SPACE,
            VECTOR,
            Filters(),
            entities=entities,
            each=80,
            known=known,
            more=[known[0]],
            docs=[(5, entities[4])],
        )
        (rows,) = await fetch_together(session, part)
    of_hub = {row["card_id"] for row in rows if row["entity_id"] == HUB}
    assert 80 <= len(of_hub) <= 180
    assert [row["own"] for row in rows if row["entity_id"] == row["card_id"] == entities[1]] == [True]
    assert all(row["distance"] is not None for row in rows)
    check(
        database.plans,
        "ix_mentions_entity_id",
        "ix_mentions_in_title",
        "ix_cards_title_key",
        "pk_windows",
        reads={"entities": 300, "mentions": 600, "cards": 500, "chunks": 500, "windows": 300},
    )


async def test_filters_are_asked_of_the_cards_that_were_reached(database: Explained) -> None:
    async with database.read() as session:
        await queries.settle(session, 40)
        database.plans.clear()
        part = explore.cards_part(
            LARGE, SPACE, VECTOR, Filters(card_ids=[uuid.UUID(int=CARDS + 1)]), entities=[HUB], each=80
        )
        (rows,) = await fetch_together(session, part)
    assert {row["card_id"] for row in rows} <= {uuid.UUID(int=CARDS + 1)}
    check(
        database.plans, "pk_cards", reads={"entities": 40, "mentions": 200, "cards": 300, "chunks": 150, "windows": 150}
    )


async def test_bridges_read_the_facts_of_their_cards(database: Explained) -> None:
    cards = [uuid.UUID(int=n + 2) for n in range(1, 7)]
    async with database.read() as session:
        await queries.settle(session, 40)
        database.plans.clear()
        rows, claims, about = await fetch_together(
            session,
            explore.bridges_part(LARGE, SPACE, VECTOR, cards, 200, 16, 500),
            explore.claims_part(LARGE, SPACE, VECTOR, cards, 200, 12),
            explore.facts_part(LARGE, cards[:3], cards[3:], 500),
        )
    assert (len(claims), len(about)) == (6, 9)
    assert {(row["card_id"], row["entity_id"]) for row in rows} == {
        (card, one) for card in cards for one in (HUB, uuid.UUID(int=card.int + 280))
    }
    assert all(row["relation_distance"] is not None for row in rows)
    check(
        database.plans,
        "ix_relations_card_id",
        "ix_points_card_id",
        "ix_mentions_card_id",
        reads={
            "relations": 10,
            "relation_vectors": 6,
            "points": 12,
            "point_vectors": 24,
            "point_entities": 10,
            "mentions": 2_200,
            "entities": 400,
            "cards": 80,
        },
    )


async def test_claims_titles_facts_and_texts_are_looked_up(database: Explained) -> None:
    some = [uuid.UUID(int=n + 2) for n in range(1, 7)]
    async with database.read() as session:
        await queries.settle(session, 40)
        database.plans.clear()
        titles, told, spelt, texts = await fetch_together(
            session,
            explore.titles_part(LARGE, ["title9", "hub", "none"], 500),
            explore.told_part(LARGE, some[:3], some[3:]),
            explore.spellings_part(LARGE, ["title77"], 10),
            queries.chunks_part(LARGE, some),
        )
        assert list(explore.titles_of(titles)) == ["title9"]
        assert (len(told), len(texts)) == (6, 6)
        assert len(explore.spellings_of(spelt, ["title77"])["title77"]) == 20
        assert len(await explore.list_entities(session, LARGE, some[:3], 500)) == 3
        assert len(await explore.list_called(session, LARGE, some[:3], [4, 5])) == 5
    check(
        database.plans,
        "ix_entity_names_key",
        reads={
            "relations": 12,
            "points": 12,
            "point_vectors": 12,
            "point_entities": 6,
            "entity_names": 30,
            "chunks": 6,
            "mentions": 1_200,
            "entities": 400,
            "cards": 120,
        },
    )


async def test_relations_of_a_hub_are_compared_to_their_cap(database: Explained) -> None:
    async with database.read() as session:
        await queries.settle(session, 40)
        database.plans.clear()
        rows = await explore.list_neighbours(session, LARGE, SPACE, VECTOR, [HUB], 200, 30)
    assert (len(rows), {row["degree"] for row in rows}) == (30, {200})
    assert [row["distance"] for row in rows] == sorted(row["distance"] for row in rows)
    check(
        database.plans,
        "ix_relations_source_id",
        "pk_relation_vectors",
        reads={"relations": 210, "relation_vectors": 210, "entities": 150},
    )


async def test_state_of_the_graph_is_cheap_to_ask(database: Explained) -> None:
    async with database.read() as session:
        await queries.settle(session, 40)
        database.plans.clear()
        assert (await explore.get_version(session, LARGE))[:2] == (CARDS - 1, CARDS - 1)
        assert await explore.count_mentions(session, LARGE, 1_000) == 1_000
    check(database.plans, reads={"chunks": 2, "relations": 2, "entities": 2, "cards": 2, "mentions": 1_000})


async def test_means_are_of_evenly_picked_texts(database: Explained) -> None:
    async with database.read() as session:
        await queries.settle(session, 40)
        database.plans.clear()
        means = await explore.list_means(session, LARGE, SPACE, 100)
    assert [None if mean is None else mean.shape for mean in means] == [(8,)] * 3
    check(
        database.plans,
        reads={
            "chunks": 110,
            "windows": 110,
            "relations": 110,
            "relation_vectors": 110,
            "points": 110,
            "point_vectors": 220,
        },
    )


async def test_the_graph_of_a_small_workspace_reads_its_own_rows_alone(database: Explained) -> None:
    async with database.read() as session:
        await queries.settle(session, 40)
        database.plans.clear()
        named, said, titled = await explore.get_graph(session, SMALL, None)
    assert (len(named), len(said), len(titled)) == (3 * 33 * CARDS // 40, 32 * CARDS // 40, 32 * CARDS // 40)
    check(
        database.plans,
        reads={"mentions": 1_000, "relations": 400, "entities": 400, "cards": 400},
    )


async def test_the_graph_around_some_cards_looks_up_no_entity_that_they_name(database: Explained) -> None:
    """A workspace has many more entities than a hundred cards name."""
    cards = [uuid.UUID(int=n + 2) for n in range(1, 31)]
    async with database.read() as session:
        await queries.settle(session, 40)
        database.plans.clear()
        named, said, titled = await explore.get_graph(session, LARGE, cards)
    assert (len(named), len(said), len(titled)) == (3 * 33 * 30, 32 * 30, 32 * 30)
    check(
        database.plans,
        "ix_mentions_card_id",
        "ix_relations_card_id",
        "uq_entities_key",
        "pk_cards",
        reads={"mentions": 100, "relations": 40, "entities": 40, "cards": 40},
    )


async def test_namesakes_are_read_in_one_go(database: Explained) -> None:
    """All names of the workspace are looked through, once."""
    async with database.read() as session:
        await queries.settle(session, 40)
        database.plans.clear()
        assert await explore.list_namesakes(session, SMALL) == []
    check(database.plans, "uq_entities_key", reads={"entities": 400})


async def test_what_is_new_among_namesakes_is_looked_up(database: Explained) -> None:
    async with database.read() as session:
        await queries.settle(session, 40)
        database.plans.clear()
        rows = await explore.list_namesakes_since(session, LARGE, CARDS - 10, None)
    assert {row["is_new"] for row in rows} == {True}
    assert [row["root"] for row in rows] == [row["id"] for row in rows]
    check(database.plans, "uq_entities_doc", reads={"entities": 100})
