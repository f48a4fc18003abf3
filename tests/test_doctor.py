"""The examination finds what it is made for: every invariant is broken once, by hand, and counted (I8)."""

from __future__ import annotations

import uuid

import pytest
from sqlalchemy import text

from app.core.ids import new_id
from app.db.session import Database
from app.doctor import queries
from app.people import queries as people
from app.wiring import examiner

# What breaks each invariant, on a database without foreign keys in the way. `:w` is a workspace with one ready card.
HARM = {
    "chunk_without_card": "DELETE FROM cards",
    "chunk_of_trashed_card": "UPDATE cards SET trashed_at = now()",
    "vector_without_owner": "UPDATE windows SET card_id = gen_random_uuid()",
    "vector_of_wrong_dimension": "UPDATE windows SET dense = '[1,0]'",
    "chunk_without_vector": "DELETE FROM windows",
    "ready_card_without_chunk": "DELETE FROM chunks",
    "ready_card_with_stale_text": "UPDATE cards SET content = 'something else entirely'",
    "ready_card_with_staged_vectors": (
        "INSERT INTO staged_vectors SELECT workspace_id, card_id, space_id, text_hash, dense FROM windows"
    ),
    "waiting_card_without_job": "UPDATE cards SET state = 'queued', updated_at = now() - interval '1 hour'",
    "card_without_its_revision": "DELETE FROM card_revisions",
    "answer_silent_for_too_long": (
        "INSERT INTO messages (workspace_id, id, conversation_id, branch_id, ordinal, role, status, beat_at) "
        "VALUES (:w, :id, :id, :id, 1, 'assistant', 'streaming', now() - interval '1 hour')"
    ),
    "message_without_parent": (
        "INSERT INTO messages (workspace_id, id, conversation_id, branch_id, parent_id, ordinal, role) "
        "VALUES (:w, :id, :id, :id, gen_random_uuid(), 1, 'user')"
    ),
    "chunk_without_postings": "DELETE FROM lex_recent",
    "postings_without_chunk": (
        "INSERT INTO lex_recent (workspace_id, collection, doc, words, grams, word_terms, gram_terms) "
        "SELECT workspace_id, 0, doc + 1000, words, grams, word_terms, gram_terms FROM lex_recent"
    ),
    "postings_twice": (
        "INSERT INTO lex_segment (workspace_id, collection, seg, docs, words, gram_docs, grams, members) "
        "SELECT workspace_id, 0, 1, 0, 0, 0, 0, decode(lpad(reverse_bytes, 8, '0'), 'hex') FROM "
        "(SELECT workspace_id, to_hex(doc % 256) || '000000' AS reverse_bytes FROM lex_recent) AS r"
    ),
    "postings_sums": "UPDATE lex_recent SET words = words + 1",
}
# Made impossible by a unique index, which would have to go first.
UNBREAKABLE = {"duplicate_external_id", "duplicate_doc"}


@pytest.fixture
async def workspace_id(database: Database) -> uuid.UUID:
    """A workspace with one learned card, healthy."""
    async with database.unit() as session:
        workspace_id = await people.ensure_default_workspace(session)
        values = {"w": workspace_id, "card": new_id(), "chunk": new_id()}
        await session.execute(
            text("INSERT INTO embedding_spaces (key, dimension, sparse, is_current) VALUES ('t', 3, false, true)")
        )
        for statement in (
            "INSERT INTO cards (workspace_id, id, title, title_key, content, content_hash, state) "
            "VALUES (:w, :card, 'Title', 'title', 'some words', 'hash', 'ready')",
            "INSERT INTO card_revisions "
            "(workspace_id, id, card_id, n, title, content, tags, metadata, card_created_at) "
            "VALUES (:w, :card, :card, 1, 'Title', 'some words', '{}', '{}', now())",
            "INSERT INTO chunks "
            '(workspace_id, id, card_id, ordinal, doc, start, "end", text, tokens, words, grams, terms) '
            "VALUES (:w, :chunk, :card, 0, 7, 0, 10, 'some words', 2, 2, 0, 'word')",
            'INSERT INTO windows (workspace_id, chunk_id, space_id, ordinal, card_id, start, "end", text_hash, dense) '
            "SELECT :w, :chunk, id, 0, :card, 0, 10, :chunk, '[1,0,0]' FROM embedding_spaces",
            "INSERT INTO lex_recent (workspace_id, collection, doc, words, grams, word_terms, gram_terms) "
            "VALUES (:w, 0, 7, 2, 0, '', '')",
        ):
            used = {name: value for name, value in values.items() if f":{name}" in statement}
            await session.execute(text(statement), used)
    return workspace_id


async def test_a_healthy_database_is_called_healthy(database: Database, workspace_id: uuid.UUID) -> None:
    report = await examiner(database)(True)
    assert report.ok, report
    assert set(report.invariants.values()) == {0}
    assert set(report.invariants) == set(HARM) | UNBREAKABLE


@pytest.mark.parametrize("invariant", sorted(HARM))
async def test_what_must_not_be_is_found(database: Database, workspace_id: uuid.UUID, invariant: str) -> None:
    async with database.unit() as session:
        # Neither foreign keys nor triggers repair what is broken here.
        await session.execute(text("SET LOCAL session_replication_role = replica"))
        values = {"w": workspace_id, "id": new_id()}
        harm = HARM[invariant]
        await session.execute(text(harm), {name: value for name, value in values.items() if f":{name}" in harm})
    report = await examiner(database)(True)
    assert not report.ok
    assert report.invariants[invariant] > 0


def test_every_invariant_is_broken_once() -> None:
    assert set(queries.INVARIANTS) <= set(HARM) | UNBREAKABLE


async def test_a_missing_index_and_an_invalid_one_are_reported(database: Database) -> None:
    """I8"""
    async with database.unit() as session:
        await session.execute(text("DROP INDEX ix_cards_tags"))
        await session.execute(
            text("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ix_cards_metadata'::regclass")
        )
    report = await examiner(database)(False)
    assert not report.ok
    assert report.checks["missing_indexes"] == ["ix_cards_tags"]
    assert report.checks["invalid_indexes"] == ["ix_cards_metadata"]


async def test_an_old_schema_is_a_problem(database: Database) -> None:
    async with database.unit() as session:
        await session.execute(text("UPDATE alembic_version SET version_num = 'unheard_of'"))
    report = await examiner(database)(False)
    assert report.checks["problems"] == {"schema": "unknown"}
