"""The examination finds what it is made for: every invariant is broken once, by hand, and counted (I8)."""

from __future__ import annotations

import uuid

import pytest
from sqlalchemy import text

from app.cards.drafts import NewCard
from app.core.ids import new_id
from app.db.session import Database
from app.doctor import queries
from app.index import queries as index
from app.index import space_queries
from app.index.rows import text_hash
from app.ingestion.link import revise
from app.ingestion.posting import EpisodePost, post_episodes
from app.people import queries as people
from app.text.segment import Segmenter
from app.wiring import examiner
from tests.search_library import Library, Scattered

SEGMENTER = Segmenter()

MESSAGE = "INSERT INTO messages (workspace_id, id, conversation_id, branch_id, ordinal, role)"
BRANCH = "INSERT INTO branches (workspace_id, id, conversation_id)"
MEMORY = (
    "INSERT INTO memories (workspace_id, id, slug, title, body, type, importance, status, text_hash) "
    "VALUES (:w, :id, 's', 't', 'b', 'fact', 0.5, '{}', :id)"
)
COMMUNITY = "INSERT INTO communities (workspace_id, id, level, parent_id, size, weight, fingerprint)"
REPORT = (
    "INSERT INTO reports (workspace_id, id, title, summary, rating, rating_reason, findings, language, generated_by, "
    "fingerprint, words, grams) VALUES (:w, :id, '', '', 1, '', '{}', 'en', 'offline', :w, 0, 0)"
)
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
    "memory_without_its_version": MEMORY.format("active"),
    "proposed_memory_without_proposal": MEMORY.format("proposed"),
    "memory_vector_of_wrong_dimension": (
        "INSERT INTO memory_vectors (workspace_id, memory_id, space_id, text_hash, dense) "
        "SELECT :w, :id, id, :id, '[1,2]' FROM embedding_spaces"
    ),
    "branch_of_wrong_depth": (
        "INSERT INTO branches (workspace_id, id, conversation_id, parent_branch_id, parent_message_id, depth) "
        "VALUES (:w, :id, :id, :id, :id, 3)"
    ),
    "branch_under_message_of_another": (
        f"WITH m AS ({MESSAGE} VALUES (:w, :id, :id, :id, 1, 'user')) "
        "INSERT INTO branches (workspace_id, id, conversation_id, parent_branch_id, parent_message_id, depth) "
        "VALUES (:w, :w, :id, :w, :id, 1)"
    ),
    "conversation_without_first_branch": "INSERT INTO conversations (workspace_id, id) VALUES (:w, :id)",
    "branch_with_gaps": f"{MESSAGE} VALUES (:w, :id, :id, :id, 2, 'user')",
    "message_under_another_place": (
        f"WITH b AS ({BRANCH} VALUES (:w, :id, :id)) "
        "INSERT INTO messages (workspace_id, id, conversation_id, branch_id, parent_id, ordinal, role) "
        "VALUES (:w, :id, :id, :id, :id, 1, 'user')"
    ),
    "message_of_another_conversation": (
        f"WITH b AS ({BRANCH} VALUES (:w, :id, :id)) {MESSAGE} VALUES (:w, :id, :w, :id, 1, 'user')"
    ),
    "conversation_with_more_messages_than_appended": (
        "WITH c AS (INSERT INTO conversations (workspace_id, id) VALUES (:w, :id)) "
        f"{MESSAGE} VALUES (:w, :id, :id, :id, 1, 'user')"
    ),
    "link_between_conversations": (
        f"WITH b AS ({BRANCH} VALUES (:w, :id, :id), (:w, :w, :w)) INSERT INTO branch_links "
        "(workspace_id, id, conversation_id, source_branch_id, target_branch_id, relation) "
        "VALUES (:w, :id, :id, :id, :w, 'related')"
    ),
    "insight_delivered_to_its_own_branch": (
        "WITH i AS (INSERT INTO branch_insights (workspace_id, id, conversation_id, branch_id, text, text_hash) "
        "VALUES (:w, :id, :id, :id, 'x', :id)) "
        "INSERT INTO insight_deliveries (workspace_id, insight_id, branch_id, message_id) VALUES (:w, :id, :id, :id)"
    ),
    "insight_delivered_by_unfinished_answer": (
        f"WITH m AS ({MESSAGE} VALUES (:w, :id, :id, :id, 1, 'user')) "
        "INSERT INTO insight_deliveries (workspace_id, insight_id, branch_id, message_id) VALUES (:w, :id, :id, :id)"
    ),
    "community_without_member": f"{COMMUNITY} VALUES (:w, :id, 0, NULL, 1, 1, :id)",
    "community_without_report": f"{COMMUNITY} VALUES (:w, :id, 0, NULL, 1, 1, :id)",
    "community_without_current_run": f"{COMMUNITY} VALUES (:w, :id, 0, NULL, 1, 1, :id)",
    "community_of_wrong_level": f"{COMMUNITY} VALUES (:w, :id, 0, NULL, 1, 1, :id), (:w, :w, 2, :id, 1, 1, :id)",
    "member_outside_of_parent": (
        f"WITH c AS ({COMMUNITY} VALUES (:w, :id, 0, NULL, 1, 1, :id), (:w, :w, 1, :id, 1, 1, :id)) "
        "INSERT INTO community_members VALUES (:w, :w, :id)"
    ),
    "member_twice_on_a_level": (
        f"WITH c AS ({COMMUNITY} VALUES (:w, :id, 0, NULL, 1, 1, :id), (:w, :w, 0, NULL, 1, 1, :id)) "
        "INSERT INTO community_members VALUES (:w, :w, :id), (:w, :id, :id)"
    ),
    "member_merged_into_another": (
        "WITH x AS (DELETE FROM community_changes) "
        "INSERT INTO community_members SELECT workspace_id, :id, id FROM entities WHERE merged_into IS NOT NULL"
    ),
    "community_of_another_size": (
        f"WITH x AS (DELETE FROM community_changes) {COMMUNITY} VALUES (:w, :id, 0, NULL, 1, 1, :id)"
    ),
    "report_of_other_rows": (f"WITH c AS ({COMMUNITY} VALUES (:w, :id, 0, NULL, 1, 1, :id)) {REPORT.format('[]')}"),
    "report_without_vector": REPORT.format("[]"),
    "report_that_cites_no_card": REPORT.format('[{"card_ids":[]}]'),
    "owner_without_postings": "DELETE FROM lex_recent WHERE collection = 3",
    "postings_without_owner": (
        "INSERT INTO lex_recent (workspace_id, collection, doc, words, grams, word_terms, gram_terms) "
        "SELECT workspace_id, collection, doc + 1000, words, grams, word_terms, gram_terms FROM lex_recent "
        "WHERE collection = 6"
    ),
    "postings_twice": (
        "INSERT INTO lex_segment (workspace_id, collection, seg, docs, words, gram_docs, grams, members) "
        "SELECT workspace_id, 0, 1, 0, 0, 0, 0, decode(lpad(reverse_bytes, 8, '0'), 'hex') FROM "
        "(SELECT workspace_id, to_hex(doc % 256) || '000000' AS reverse_bytes FROM lex_recent WHERE collection = 0) "
        "AS r"
    ),
    "postings_sums": "UPDATE lex_recent SET words = words + 1 WHERE collection = 4",
    "entity_without_mention": "DELETE FROM mentions WHERE name = 'Ada'",
    "entity_merged_twice": "UPDATE entities SET merged_into = (SELECT id FROM entities WHERE merged_into IS NOT NULL) "
    "WHERE name = 'Ada'",
    "entity_vector_described_wrongly": "UPDATE entity_vectors SET described = NOT described",
    "entity_without_its_name": "DELETE FROM entity_names WHERE key = 'ada'",
    "pair_of_one_entity": (
        "INSERT INTO entity_pairs (workspace_id, id, left_id, right_id, layer, score) "
        "SELECT workspace_id, :id, least(id, merged_into), greatest(id, merged_into), 'vector', 0.8 "
        "FROM entities WHERE merged_into IS NOT NULL"
    ),
    "mention_of_other_text": "UPDATE mentions SET name = 'Eve' WHERE start IS NOT NULL",
    "telling_without_mention": "INSERT INTO entity_tellings (workspace_id, entity_id, card_id, description) "
    "SELECT workspace_id, id, :id, 'A person.' FROM entities WHERE name = 'Ada'",
    "graph_row_of_another_card": "UPDATE relations SET card_id = gen_random_uuid()",
    "episode_without_card": "DELETE FROM episode_cards",
    "episode_of_trashed_card": "UPDATE cards SET trashed_at = now()",
    "ready_card_without_episode": "DELETE FROM episode_cards",
    "posted_episode_of_other_text": "UPDATE posted_episodes SET text_version = 2",
    "posted_episode_not_told": "UPDATE episodes SET origin = 'own'",
    "point_of_missing_chunk": "UPDATE points SET chunk_id = gen_random_uuid()",
    "graph_offsets_outside_of_card": 'UPDATE facets SET start = 4, "end" = 900',
    "point_with_other_validity": "UPDATE points SET valid_during = tstzrange(now(), NULL)",
    "graph_vector_without_owner": "DELETE FROM roles",
    "graph_vector_of_wrong_dimension": "UPDATE role_vectors SET dense = '[1,0]'",
    "graph_vector_of_other_text": "UPDATE episodes SET summary = 'Something else.'",
} | {
    f"{owner}_without_vector": f"DELETE FROM {owner}_vectors WHERE role = {role}"
    for owner, role in {"episode": 0, "facet": 1, "point": 2, "entity": 0, "relation": 0, "role": 0}.items()
}
POSTED = {
    "title": "A meeting",
    "summary": "Ada met Bob.",
    "facets": [{"title": "Who", "description": "Two met.", "points": [{"text": "Ada met Bob."}]}],
    "entities": [{"name": "Ada"}, {"name": "Bob"}, {"name": "Robert"}],
    "relations": [{"source": "Ada", "target": "Bob", "predicate": "met", "text": "Ada met Bob."}],
}
ROLE = (
    "INSERT INTO roles (workspace_id, id, entity_id, episode_id, card_id, text, words, grams) "
    "SELECT ec.workspace_id, gen_random_uuid(), e.id, ec.episode_id, ec.card_id, 'Ada | guest', 2, 0 "
    "FROM episode_cards ec, entities e WHERE e.name = 'Ada'",
    "INSERT INTO role_vectors (workspace_id, owner_id, space_id, role, text_hash, dense) "
    "SELECT r.workspace_id, r.id, s.id, 0, :hash, '[1,0,0]' FROM roles r, embedding_spaces s",
    "INSERT INTO lex_recent (workspace_id, collection, doc, words, grams, word_terms, gram_terms) "
    "SELECT workspace_id, 6, doc, words, grams, '', '' FROM roles",
)
# Made impossible by a unique index, which would have to go first.
UNBREAKABLE = {"duplicate_external_id", "duplicate_doc"}


@pytest.fixture
async def workspace_id(database: Database) -> uuid.UUID:
    """A workspace with one learned card of a caller's own extraction, where a member stands for another; healthy."""
    library = Library(database, Scattered(3), SEGMENTER, extractor="offline")
    async with database.unit() as session:
        library.id = await people.ensure_default_workspace(session)
        await space_queries.set_current(session, await index.ensure_space(session, library.embedder.space))
        post = EpisodePost(NewCard("Title", "Ada met Bob."), "e", True, POSTED)
        await post_episodes(session, library.id, library.intake, [post], queued=False)
    outcome = await library.learn()
    assert (outcome.ready, outcome.failed) == (1, {})
    async with database.unit() as session:
        # A member that nobody mentions stands for another as well, once its root is mentioned.
        ids = [row[0] for row in await session.execute(text("SELECT id FROM entities ORDER BY name"))]
        await revise.merge(session, library.id, ids[2], ids[1])
        # Callers' episodes have no roles; ours have.
        for statement in ROLE:
            await session.execute(text(statement), {"hash": text_hash("Ada | guest")} if ":hash" in statement else {})
    return library.id


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
    assert set(queries.DEEP) <= set(HARM) | UNBREAKABLE


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
