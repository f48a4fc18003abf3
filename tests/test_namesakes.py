"""Which entities the walk takes for one: read once, and then followed through merges, senses and new names."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from app.core.ids import new_id
from app.db.session import Database, raw
from app.retrieval import explore_queries
from app.retrieval.namesakes import Known, Namesakes, keys_of, packed

A, B, C, D, E = (uuid.UUID(int=(1 << 100) + n) for n in range(1, 6))


class Names:
    """A workspace of which only the entities matter."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.id = new_id()
        self.moment = 0.0
        self.known = Known(lambda: self.moment)
        self.read_whole = 0

    async def write(self, statement: str, *values: Any) -> None:
        async with self.database.unit() as session:
            connection = await raw(session)
            await connection.execute("SET LOCAL session_replication_role = replica")
            await connection.execute(statement, self.id, *values)

    async def add(self, one: uuid.UUID, key: str, kind: str = "thing", sense: int = 0) -> None:
        await self.write(
            "INSERT INTO entities (workspace_id, id, name, key, kind, sense, type, words, grams) "
            "VALUES ($1, $2, $3, $3, $4, $5, 'x', 1, 0)",
            one,
            key,
            kind,
            sense,
        )

    async def rename(self, one: uuid.UUID, key: str) -> None:
        await self.write(
            "UPDATE entities SET key = $3, doc = nextval('chunk_doc_seq') WHERE workspace_id = $1 AND id = $2", one, key
        )

    async def merge(self, one: uuid.UUID, into: uuid.UUID | None, other: uuid.UUID) -> None:
        await self.write("UPDATE entities SET merged_into = $3 WHERE workspace_id = $1 AND id = $2", one, into)
        await self.write(
            "INSERT INTO entity_decisions (workspace_id, id, left_id, left_key, left_kind, left_name, right_id, "
            "right_key, right_kind, right_name, layer, outcome, decided_by) "
            "VALUES ($1, $2, $3, '', '', '', $4, '', '', '', 'user', 'merged', 'user')",
            new_id(),
            one,
            other,
        )

    async def roots(self) -> dict[uuid.UUID, uuid.UUID]:
        """As they are followed; the same that a fresh look finds."""
        async with self.database.read() as session:
            version = await explore_queries.get_version(session, self.id)
            state = explore_queries.state_of_entities(version)
            followed = await self.known.of(session, self.id, state)
            fresh = await Known().of(session, self.id, state)
        assert followed.roots == fresh.roots
        return {one: root for one in (A, B, C, D, E) if (root := root_of(followed, one)) != one}


def root_of(namesakes: Namesakes, one: uuid.UUID) -> uuid.UUID:
    keys = {int(keys_of(packed([other]))[0]): other for other in (A, B, C, D, E)}
    return keys[int(namesakes.of(keys_of(packed([one])))[0])]


@pytest.fixture
async def names(database: Database) -> Names:
    made = Names(database)
    await made.write("INSERT INTO workspaces (id, slug, name) VALUES ($1, $2, '')", f"names-{made.id}")
    return made


async def test_twins_are_known_by_the_elder_and_senses_stay_apart(names: Names) -> None:
    assert await names.roots() == {}
    await names.add(B, "paris", "place")
    await names.add(C, "paris", "person")
    await names.add(D, "paris", "person", sense=1)
    assert await names.roots() == {C: B}
    # One that is elder than those that are known takes their place.
    await names.add(A, "paris", "thing")
    assert await names.roots() == {B: A, C: A}


async def test_merges_are_followed_and_undone(names: Names) -> None:
    for one, key in ((A, "ann"), (B, "anne"), (C, "annie"), (D, "anne")):
        await names.add(one, key, "person" if one != D else "place")
    assert await names.roots() == {D: B}
    await names.merge(C, B, B)
    assert await names.roots() == {C: B, D: B}
    # Who had been merged into the one that is merged now goes with it, without a decision of its own.
    await names.write("UPDATE entities SET merged_into = $2 WHERE workspace_id = $1 AND id = $3", A, C)
    await names.merge(B, A, A)
    assert await names.roots() == {B: A, C: A}
    await names.merge(B, None, A)
    assert await names.roots() == {C: A, D: B}


async def test_a_new_name_leaves_old_namesakes_behind(names: Names) -> None:
    for one, kind in ((A, "person"), (B, "place"), (C, "thing")):
        await names.add(one, "paris", kind)
    assert await names.roots() == {B: A, C: A}
    await names.rename(A, "london")
    assert await names.roots() == {C: B}
    await names.rename(C, "london")
    assert await names.roots() == {C: A}


async def test_what_no_decision_told_of_is_found_out_after_a_while(names: Names) -> None:
    await names.add(A, "ann")
    await names.add(B, "anne")
    assert await names.roots() == {}
    await names.write("UPDATE entities SET merged_into = $2 WHERE workspace_id = $1 AND id = $3", A, B)
    names.moment += 700.0
    await names.add(C, "charlotte")
    assert await names.roots() == {B: A}


async def test_a_decision_that_began_earlier_and_came_later_is_seen_with_the_next(names: Names) -> None:
    for one, key in ((A, "ann"), (B, "anne"), (C, "annie"), (D, "bob")):
        await names.add(one, key)
    await names.merge(D, A, A)
    assert await names.roots() == {D: A}
    await names.merge(B, A, A)
    await names.write(
        "UPDATE entity_decisions SET created_at = created_at - interval '30 seconds' "
        "WHERE workspace_id = $1 AND left_id = $2",
        B,
    )
    await names.add(E, "eve")
    assert await names.roots() == {B: A, D: A}


async def test_nothing_is_asked_while_nothing_changes(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    await names.add(A, "ann")
    async with names.database.read() as session:
        state = explore_queries.state_of_entities(await explore_queries.get_version(session, names.id))
        first = await names.known.of(session, names.id, state)
        monkeypatch.delattr(explore_queries, "list_namesakes")
        monkeypatch.delattr(explore_queries, "list_namesakes_since")
        assert await names.known.of(session, names.id, state) is first
