"""Every hot statement uses its index, with custom and with generic plans: no scan grows with the database.

Tables of 50,000 rows and more, made in SQL; plans are those of the very statements that the product sends
(`auto_explain` reports them to the client, with the rows that each node really read).
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import numpy as np
import pytest
from sqlalchemy import text

from app.cards import queries as cards
from app.cards.queries import CardFilters, Words
from app.db.session import Database
from app.db.settings import DatabaseSettings
from app.graph.entity_queries import list_nearest
from app.index import queries as index
from app.index.collections import Collection, TextKind
from app.index.lexical import search_alike, search_lexical, search_many
from app.jobs import queries as job_queries
from app.jobs.job import JobContext, NewJob
from app.jobs.queue import enqueue
from app.jobs.run import run_until_idle
from app.jobs.settings import JobSettings
from app.retrieval import queries as retrieval
from app.retrieval.collections import list_owners, nearest_many
from app.retrieval.context_queries import list_passages
from app.retrieval.types import Filters
from tests.conftest import TEMPLATE, with_database

LARGE = uuid.UUID(int=1)
SMALL = uuid.UUID(int=2)
CHUNKS = 50_000
CARDS = 25_000
SOME = 4_000
BIG = {
    "point_vectors",
    "entity_vectors",
    "entities",
    "cards",
    "chunks",
    "windows",
    "lex_block",
    "card_links",
    "card_revisions",
    "jobs",
    "mindcone_pgqueuer",
}

# Chunk n belongs to card n / 2 and has the id, the doc and the term hash n. Every hundredth card is tagged
# `rare`, every second one `common`; the last 500 cards are those of the small workspace.
FILL = f"""
SET session_replication_role = replica;
INSERT INTO workspaces (id, slug, name) VALUES ('{LARGE}', 'large', ''), ('{SMALL}', 'small', '');
INSERT INTO embedding_spaces (id, key, dimension, sparse, is_current) VALUES (7, 'test/eight/8', 8, false, true);
CREATE TEMP TABLE owner AS
    SELECT n, CASE WHEN n < {CARDS - 500} THEN '{LARGE}' ELSE '{SMALL}' END::uuid AS workspace_id,
           lpad(to_hex(n), 32, '0')::uuid AS id
    FROM generate_series(0, {CARDS - 1}) AS n;
INSERT INTO cards (workspace_id, id, title, title_key, content, content_hash, tags, metadata, external_id, created_at,
                   state)
    SELECT workspace_id, id, 'Title ' || n, 'title ' || n, 'Text ' || n, '',
           CASE WHEN n % 100 = 7 THEN ARRAY['rare'] WHEN n % 2 = 0 THEN ARRAY['common'] ELSE '{{}}'::text[] END,
           jsonb_build_object('set', n % 500), 'ext ' || n, timestamptz '2024-01-01 00:00Z' + n * interval '1 minute',
           'ready'
    FROM owner;
INSERT INTO card_revisions (workspace_id, id, card_id, n, title, content, tags, metadata, card_created_at)
    SELECT workspace_id, id, id, 1, '', '', '{{}}', '{{}}', now() FROM owner;
INSERT INTO card_links (workspace_id, card_id, ordinal, target, target_key, start, "end")
    SELECT workspace_id, id, k, '', 'title ' || (n * 7 + k) % {CARDS}, 0, 1 FROM owner, generate_series(0, 1) AS k;
INSERT INTO chunks (workspace_id, id, card_id, ordinal, doc, start, "end", text, tokens, words, grams, terms)
    SELECT workspace_id, lpad(to_hex(2 * n + k), 32, '0')::uuid, id, k, 2 * n + k, 0, 9, 'Text', 9, 9, 0,
           ('w' || (2 * n + k) % 1000)::tsvector
    FROM owner, generate_series(0, 1) AS k;
INSERT INTO windows (workspace_id, chunk_id, space_id, ordinal, card_id, start, "end", text_hash, dense)
    SELECT workspace_id, id, 7, k, card_id, 0, 9, lpad(to_hex(2 * doc + k), 32, '0')::uuid,
           ARRAY[random(), random(), random(), random(), random(), random(), random(), random()]::real[]::halfvec
    FROM chunks, generate_series(0, 1) AS k;
INSERT INTO entities (workspace_id, id, doc, name, key, kind, type, words, grams)
    SELECT workspace_id, id, doc, '', id::text, 'thing', '', 9, 0
    FROM chunks WHERE doc % 5 = 0 OR workspace_id = '{SMALL}';
INSERT INTO entity_vectors (workspace_id, owner_id, space_id, role, text_hash, dense, described)
    SELECT e.workspace_id, e.id, 7, 0, lpad(to_hex(3000000 + e.doc), 32, '0')::uuid, w.dense, e.doc % 20 = 0
    FROM entities e JOIN windows w ON w.chunk_id = e.id AND w.ordinal = 0;
INSERT INTO point_vectors (workspace_id, owner_id, space_id, role, text_hash, dense)
    SELECT v.workspace_id, v.owner_id, 7, roles.role, gen_random_uuid(), v.dense
    FROM entity_vectors v, (VALUES (0), (2)) AS roles (role);
INSERT INTO lex_block (workspace_id, collection, term_hash, seg, postings)
    SELECT CASE WHEN n % 50 = 0 THEN '{SMALL}' ELSE '{LARGE}' END::uuid, 0, n / 4, n % 4, '\\x0100000009000100'
    FROM generate_series(0, {CHUNKS - 1}) AS n;
INSERT INTO lex_segment (workspace_id, collection, seg, docs, words, gram_docs, grams, members)
    SELECT '{LARGE}', 0, seg, 500, 4500, 0, 0, '' FROM generate_series(0, 3) AS seg;
INSERT INTO jobs (workspace_id, id, kind, state, rank, available_at, finished_at)
    SELECT CASE WHEN n % 50 = 0 THEN '{SMALL}' ELSE '{LARGE}' END::uuid, lpad(to_hex(n), 32, '0')::uuid, 'ingest',
           CASE WHEN n % 5 = 0 THEN 'queued' ELSE 'done' END, n, now() + interval '1 hour',
           CASE WHEN n % 5 <> 0 THEN now() END
    FROM generate_series(0, {CHUNKS - 1}) AS n;
INSERT INTO mindcone_pgqueuer (priority, status, entrypoint, dedupe_key, payload, execute_after)
    SELECT -rank, 'queued', kind, id::text, ''::bytea, available_at FROM jobs WHERE state = 'queued';
"""

EXPLAIN = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_format": "json",
    "auto_explain.log_level": "notice",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_nested_statements": "on",
    "client_min_messages": "notice",
}


class Node:
    """One place where a plan reads a table."""

    def __init__(self, statement: str, node: dict[str, Any]) -> None:
        self.statement = statement
        self.kind: str = node["Node Type"]
        self.table: str | None = node.get("Relation Name")
        self.index: str | None = node.get("Index Name")
        removed = sum(value for key, value in node.items() if key.startswith("Rows Removed by"))
        self.rows = (node.get("Actual Rows", 0) + removed) * node.get("Actual Loops", 0)


class Plans:
    """The plans of everything that was sent since `clear`. A statement's plan comes when its transaction ends."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def hear(self, _connection: object, message: Any) -> None:
        _, found, plan = str(message).partition("plan:\n")
        if found:
            explained = json.loads(plan)
            self._walk(explained["Query Text"], explained["Plan"])

    def _walk(self, statement: str, node: dict[str, Any]) -> None:
        self.nodes.append(Node(statement, node))
        for below in node.get("Plans", ()):
            self._walk(statement, below)

    def clear(self) -> None:
        self.nodes.clear()

    @property
    def indexes(self) -> set[str]:
        return {node.index for node in self.nodes if node.index}

    def check(self, *indexes: str, reads: dict[str, int] | None = None, within: str = "") -> None:
        """These indexes are used, no big table is scanned (but for a limit that ends it early), and no more
        than `reads` rows of a table are read,
        by the statements that have `within` in their text.
        """
        nodes = [node for node in self.nodes if within in node.statement]
        assert nodes, "nothing was explained"
        shown = "\n".join(
            f"{n.kind} {n.table} {n.index} {n.rows}"
            for n in nodes
            if n.table in BIG or (n.index and not n.index.startswith("pg_"))
        )
        assert set(indexes) <= {node.index for node in nodes}, shown
        assert not [n for n in nodes if n.kind == "Seq Scan" and n.table in BIG and n.rows > SOME], shown
        rows: dict[str, float] = defaultdict(float)
        for node in nodes:
            if node.table:
                rows[node.table] += node.rows
        for table, most in (reads or {}).items():
            assert rows[table] <= most, shown


class Explained(Database):
    """A database whose connections tell their plans."""

    def __init__(self, url: str, plans: Plans) -> None:
        super().__init__(url, DatabaseSettings())
        self.plans = plans

    async def connect(self) -> Any:
        connection = await super().connect()
        connection.add_log_listener(self.plans.hear)
        return connection


@pytest.fixture(scope="module")
def filled_dsn(server_dsn: str) -> Iterator[str]:
    name = f"plans_{uuid.uuid4().hex}"

    async def make() -> None:
        connection = await asyncpg.connect(server_dsn)
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        await connection.close()
        connection = await asyncpg.connect(with_database(server_dsn, name))
        await connection.execute(FILL)
        await connection.execute("VACUUM ANALYZE")
        for kind in (TextKind.chunk, TextKind.point_edge, TextKind.entity):
            for statement in index.vector_index_ddl(7, 8, kind):
                await connection.execute(statement)
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


@pytest.fixture
def plans(database: Explained) -> Plans:
    return database.plans


SPACE = retrieval.SpaceRow(7, "test/eight/8", 8, False, True)


def request(**changes: Any) -> retrieval.PoolRequest:
    given: dict[str, Any] = {
        "space": SPACE,
        "dense": np.ones(8, np.float32),
        "sparse": None,
        "sparse_dimension": 0,
        "lexical_docs": list(range(0, 2000, 10)),
        "filters": Filters(),
        "allowed": None,
        "each": 100,
        "rrf_k": 60,
        "windows": 400,
        "approximate": False,
        "ef_search": 200,
    }
    return retrieval.PoolRequest(**{**given, **changes})


async def test_dense_leg_of_a_large_workspace_reads_the_vector_index(database: Explained, plans: Plans) -> None:
    async with database.read() as session:
        pool = await retrieval.list_pool(session, LARGE, request(approximate=True))
    assert len([row for row in pool if row["dense_rank"]]) >= 100
    plans.check(
        "ix_windows_hnsw_7", "uq_chunks_workspace_id_doc", "pk_windows", reads={"windows": 5_000, "chunks": 2_500}
    )


async def test_dense_leg_of_a_small_workspace_reads_its_own_rows_alone(database: Explained, plans: Plans) -> None:
    docs = list(range(2 * (CARDS - 500), 2 * (CARDS - 500) + 200))
    async with database.read() as session:
        await retrieval.list_pool(session, SMALL, request(lexical_docs=docs))
    plans.check("pk_windows", "uq_chunks_workspace_id_doc", reads={"windows": 2_000 + 3_000, "chunks": 2_500})
    assert "ix_windows_hnsw_7" not in plans.indexes


@pytest.mark.parametrize("other_han", [True, False])
async def test_leg_of_the_other_script_reads_the_rows_of_a_small_workspace_once_more(
    database: Explained, plans: Plans, other_han: bool
) -> None:
    docs = list(range(2 * (CARDS - 500), 2 * (CARDS - 500) + 200))
    async with database.read() as session:
        pool = await retrieval.list_pool(session, SMALL, request(lexical_docs=docs, other_han=other_han))
    assert {row["in_other"] for row in pool} == {not other_han}, "all passages are in English"
    plans.check("pk_windows", reads={"windows": 2 * 2_000 + 3_000, "chunks": 2_500 + 1_000, "cards": 1_000})
    assert "ix_windows_hnsw_7" not in plans.indexes


@pytest.mark.parametrize("approximate", [True, False])
async def test_a_wide_filter_is_asked_of_the_nearest_first(
    database: Explained, plans: Plans, approximate: bool
) -> None:
    """I5: half of the cards pass, and there are as many as asked for."""
    filters = Filters(tags=["common"])
    async with database.read() as session:
        assert await retrieval.find_subset(session, LARGE, filters, 1000) is None
    plans.check(reads={"cards": 4_000, "chunks": 0})
    plans.clear()
    workspace_id = LARGE if approximate else SMALL
    docs = [2 * (CARDS - 500 if workspace_id == SMALL else 0) + n for n in range(1000)]
    async with database.read() as session:
        pool = await retrieval.list_pool(
            session, workspace_id, request(approximate=approximate, filters=filters, lexical_docs=docs)
        )
    for leg in ("dense_rank", "lexical_rank"):
        assert len({row["card_id"] for row in pool if row[leg]}) == 100
    assert all(row["card_id"].int % 2 == 0 for row in pool)
    plans.check(
        "ix_windows_hnsw_7" if approximate else "pk_windows", "pk_cards", reads={"cards": 2_500, "chunks": 2_000}
    )


async def test_exact_leg_under_a_narrow_filter_reads_the_windows_of_these_chunks(
    database: Explained, plans: Plans
) -> None:
    """I5: 1 % of the cards."""
    filters = Filters(tags=["rare"])
    async with database.read() as session:
        subset = await retrieval.find_subset(session, LARGE, filters, 1000)
    assert subset is not None
    assert len(subset.docs) == subset.totals.docs == 2 * 245
    plans.clear()
    async with database.read() as session:
        pool = await retrieval.list_pool(
            session,
            LARGE,
            request(filters=filters, allowed=subset.docs, lexical_docs=subset.docs[:100].tolist()),
        )
    assert sum(row["dense_rank"] is not None for row in pool) >= 100
    plans.check("pk_windows", "uq_chunks_workspace_id_doc", reads={"windows": 2_500, "chunks": 2_500})


async def test_leg_of_a_silent_embedder_reads_no_vectors_to_rank(database: Explained, plans: Plans) -> None:
    async with database.read() as session:
        pool = await retrieval.list_pool(session, LARGE, request(dense=None))
    assert {row["dense_rank"] for row in pool} == {None}
    plans.check("uq_chunks_workspace_id_doc", reads={"windows": 1_000, "chunks": 1_000})


LARGE_KINDS = (TextKind.chunk, TextKind.point_edge)
COMPARED = (*LARGE_KINDS, TextKind.point, TextKind.entity)


async def test_collections_of_a_large_workspace_are_searched_through_their_indexes(
    database: Explained, plans: Plans
) -> None:
    """Each kind of text has an index of its own: none walks past texts of another kind."""
    async with database.read() as session:
        found = await nearest_many(session, LARGE, SPACE, LARGE_KINDS, np.ones(8, np.float32), 50, LARGE_KINDS)
    assert [len(found[kind]) for kind in LARGE_KINDS] == [50] * 2
    plans.check("ix_windows_hnsw_7", "ix_point_vectors_hnsw_7_2", reads={"point_vectors": 75, "windows": 300})


async def test_collections_of_a_small_workspace_are_compared_row_by_row(database: Explained, plans: Plans) -> None:
    async with database.read() as session:
        found = await nearest_many(session, SMALL, SPACE, TextKind, np.ones(8, np.float32), 50)
    assert [len(found[kind]) for kind in COMPARED] == [50] * 4
    plans.check(
        "pk_windows",
        "pk_entities",
        reads={"point_vectors": 2_000, "entity_vectors": 1_000, "entities": 50, "windows": 2_000},
    )
    assert not [name for name in plans.indexes if "hnsw" in name]


@pytest.mark.parametrize("indexed", [False, True])
async def test_newcomers_are_compared_with_those_alone_that_something_is_said_of(
    database: Database, plans: Plans, indexed: bool
) -> None:
    """A twentieth of the entities: the others are neither in the vector index nor read."""
    which = LARGE if indexed else SMALL
    vectors = [np.full(8, 8**-0.5, np.float32)] * 3
    async with database.read() as session:
        found = await list_nearest(session, which, 7, vectors, 8, -1.0, bare_names=False, indexed=indexed)
        near = sorted({owner for some in found for owner, _ in some})
        described = "SELECT count(*) FROM entity_vectors WHERE described AND owner_id = ANY (:near)"
        assert await session.scalar(text(described), {"near": near}) == len(near) == 8
    index_name = "ix_entity_vectors_hnsw_7_0" if indexed else "ix_entity_vectors_described"
    plans.check(index_name, reads={"entity_vectors": 200})


async def test_rows_of_postings_are_looked_up(database: Explained, plans: Plans) -> None:
    docs = list(range(0, 1000, 10))
    async with database.read() as session:
        owners = await list_owners(session, LARGE, {Collection.chunk: docs, Collection.entity: docs})
    assert [len(found) for found in owners.values()] == [100, 100]
    plans.check("uq_chunks_workspace_id_doc", "uq_entities_doc", reads={"chunks": 100, "entities": 100})


async def test_postings_of_many_collections_are_read_once_per_term(database: Explained, plans: Plans) -> None:
    async with database.read() as session:
        await search_many(session, LARGE, Collection, list(range(100, 160)), list(range(400, 420)))
    plans.check("pk_lex_block", reads={"lex_block": 4 * 80})


async def test_how_common_terms_are_is_told_by_the_length_of_their_postings(database: Database, plans: Plans) -> None:
    async with database.read() as session:
        hits = await search_alike(session, LARGE, list(range(100, 160)), list(range(400, 420)), 4 * 8 * 50)
    # Eight bytes in each of four blocks, and seven terms have one in the other workspace: 7 * 24 + 44 * 32.
    assert len(hits.word_terms.terms) + len(hits.gram_terms.terms) == 51
    plans.check("pk_lex_block", reads={"lex_block": 4 * 80 + 4 * 51})


async def test_passages_of_the_cards_that_are_compared_are_looked_up(database: Database, plans: Plans) -> None:
    cards = [uuid.UUID(int=n) for n in range(60)]
    async with database.read() as session:
        texts, docs = await list_passages(session, LARGE, cards, cards[:5])
    assert (texts, [some.tolist() for some in docs[:2]]) == (["Text"], [[0, 1], [2, 3]])
    plans.check("uq_chunks_workspace_id_card_id_ordinal", reads={"chunks": 122})


async def test_postings_are_read_once_per_term(database: Explained, plans: Plans) -> None:
    async with database.read() as session:
        await search_lexical(session, LARGE, list(range(100, 160)), list(range(400, 420)))
    plans.check("pk_lex_block", reads={"lex_block": 4 * 80})


@pytest.mark.parametrize(
    ("filters", "expected", "most"),
    [
        (Filters(tags=["rare"]), "ix_cards_tags", 300),
        (Filters(metadata={"set": 3}), "ix_cards_metadata", 300),
        (
            Filters(
                created_after=datetime(2024, 1, 2, tzinfo=UTC),
                created_before=datetime(2024, 1, 2, tzinfo=UTC) + timedelta(hours=1),
            ),
            "ix_cards_created_at",
            300,
        ),
        (Filters(card_ids=[uuid.UUID(int=n) for n in range(5, 50)]), "pk_cards", 300),
    ],
)
async def test_filters_use_their_indexes(
    database: Explained, plans: Plans, filters: Filters, expected: str, most: int
) -> None:
    async with database.read() as session:
        subset = await retrieval.find_subset(session, LARGE, filters, 1000)
    assert subset is not None
    assert len(subset.docs) > 0
    plans.check(expected, "uq_chunks_workspace_id_card_id_ordinal", reads={"cards": most, "chunks": 2 * most})


async def test_texts_of_evidence_are_looked_up(database: Explained, plans: Plans) -> None:
    async with database.read() as session:
        rows = await retrieval.list_chunks(session, LARGE, [uuid.UUID(int=n) for n in range(0, 300, 10)])
    assert len(rows) == 30
    plans.check("pk_chunks", "pk_cards", reads={"chunks": 30, "cards": 30})


async def test_words_without_postings_use_the_full_text_of_record(database: Explained, plans: Plans) -> None:
    async with database.read() as session:
        rows = await retrieval.list_by_words(session, LARGE, "'w7' | 'w8'", 200, None)
    assert len(rows) == 98
    plans.check("ix_chunks_terms", reads={"chunks": 300})


async def test_state_of_a_search_is_cheap_to_ask(database: Explained, plans: Plans) -> None:
    async with database.read() as session:
        assert await retrieval.get_scope(session, LARGE) == retrieval.Scope(SPACE, 0)
        assert await retrieval.count_windows(session, SMALL, 7, 1500) == 1500
    plans.check("ix_cards_state", reads={"cards": 100, "windows": 1500})


async def test_known_vectors_are_found_by_the_hash_of_their_text(database: Explained, plans: Plans) -> None:
    hashes = [uuid.UUID(int=n) for n in range(200, 500)]
    async with database.read() as session:
        assert len(await index.list_known_vectors(session, LARGE, 7, hashes)) == 300
    plans.check("ix_windows_text_hash", reads={"windows": 300})


async def test_texts_that_only_the_graph_knows_are_found_by_their_hash(database: Explained, plans: Plans) -> None:
    hashes = [uuid.UUID(int=3_000_000 + doc) for doc in range(0, 1500, 5)]
    async with database.read() as session:
        assert len(await index.list_known_vectors(session, LARGE, 7, hashes)) == 300
    plans.check(
        "ix_windows_text_hash",
        "ix_point_vectors_text_hash",
        "ix_entity_vectors_text_hash",
        reads={"windows": 0, "point_vectors": 0, "entity_vectors": 300},
    )


async def test_what_a_card_leaves_behind_goes_by_index(database: Explained, plans: Plans) -> None:
    async with database.read() as session:  # never committed
        await index.delete_chunks(session, LARGE, [uuid.UUID(int=11)])
    plans.check("uq_chunks_workspace_id_card_id_ordinal", "pk_windows", reads={"chunks": 2, "windows": 4})


async def test_a_page_of_cards_reads_a_page_of_rows(database: Explained, plans: Plans) -> None:
    after = (datetime(2024, 1, 10, tzinfo=UTC), uuid.UUID(int=999_999))
    async with database.read() as session:
        page = await cards.list_cards(session, LARGE, CardFilters(), 50, after)
    assert len(page.items) == 50
    plans.check("ix_cards_created_at", "pk_cards", reads={"cards": 51 + 50 + 5})


async def test_a_page_of_tagged_cards(database: Explained, plans: Plans) -> None:
    async with database.read() as session:
        page = await cards.list_cards(session, LARGE, CardFilters(tags=["rare"]), 50)
    assert len(page.items) == 50
    plans.check("pk_cards", reads={"cards": 5_200})


async def test_a_page_of_cards_that_hold_words(database: Explained, plans: Plans) -> None:
    words = Words(["w7"], ["'w7'"])
    async with database.read() as session:
        page = await cards.list_cards(session, LARGE, CardFilters(words=words), 50)
    assert len(page.items) == 49
    plans.check("ix_chunks_terms", "pk_cards", reads={"chunks": 100, "cards": 500})


async def test_links_in_both_directions(database: Explained, plans: Plans) -> None:
    """I2: one part per index, no scan."""
    async with database.read() as session:
        card = await cards.get_card(session, LARGE, uuid.UUID(int=700))
        links = await cards.list_links(session, card)
    assert len(links.outgoing) == 2
    assert links.incoming
    plans.check(
        "pk_card_links",
        "ix_card_links_target",
        "ix_cards_title_key",
        "ix_cards_link_keys",
        reads={"card_links": 20, "cards": 60},
    )


async def test_external_ids_are_looked_up(database: Explained, plans: Plans) -> None:
    names = [f"ext {n}" for n in range(100, 200)]
    async with database.read() as session:
        assert len(await cards.list_by_external_id(session, LARGE, names)) == 100
    plans.check("uq_cards_external_id", reads={"cards": 100})


async def test_revisions_of_a_card(database: Explained, plans: Plans) -> None:
    async with database.read() as session:
        assert len(await cards.list_revisions(session, LARGE, uuid.UUID(int=70), 20)) == 1
    plans.check("uq_card_revisions_n", reads={"card_revisions": 1})


async def test_jobs_are_asked_for_and_listed_by_index(database: Explained, plans: Plans) -> None:
    async with database.read() as session:  # never committed
        await enqueue(session, NewJob("ingest", LARGE, dedupe_key="one"))
        page = await job_queries.list_page(session, LARGE, state=None, kind=None, before=None, limit=20)
    assert len(page) == 20
    plans.check("ix_jobs_line", "pk_jobs", reads={"jobs": 60, "mindcone_pgqueuer": 10})


async def test_a_worker_finds_its_job_among_many_that_wait(
    database: Explained, plans: Plans, filled_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[uuid.UUID] = []

    async def handle(job: JobContext) -> None:
        done.append(job.job_id)

    connect = asyncpg.connect

    async def connected(*args: Any, **kwargs: Any) -> Any:
        connection = await connect(*args, **kwargs)
        connection.add_log_listener(plans.hear)
        return connection

    async with database.unit() as session:
        asked = await enqueue(session, NewJob("ingest", SMALL))
    monkeypatch.setattr(asyncpg, "connect", connected)
    plans.clear()
    await run_until_idle(filled_dsn, {"ingest": handle}, JobSettings())
    assert done == [asked]
    plans.check("mindcone_pgqueuer_ep_ea_idx", within="SKIP LOCKED", reads={"mindcone_pgqueuer": 20})
    plans.check("pk_jobs", within="JOIN claimed", reads={"jobs": 10})
