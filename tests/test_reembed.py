"""Moving to another embedder: both spaces are written, the rest is filled in, one row switches (H2, H4, H8).

The embedders are OpenAI-compatible servers on real sockets. Two of them differ in dimension, one only in its model:
vectors of that one could be compared with the first one's, and would mean nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import sys
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pgvector import HalfVector
from sqlalchemy import text

from app.core.errors import ConfigurationError
from app.core.ids import new_id
from app.db.session import Database
from app.doctor.examine import Doctor
from app.graph.vector_tables import (
    EntityVector,
    EpisodeVector,
    FacetVector,
    PointVector,
    RelationVector,
    RoleVector,
    TextRole,
)
from app.graph.vectors import VectorEntry, insert_vectors
from app.index.collections import TextKind
from app.index.rows import text_hash
from app.index.spaces import Spaces, SpaceUnavailable
from app.ingestion import reembed, texts
from app.ingestion.link.resolve import Resolver
from app.ingestion.pipeline import Pipeline
from app.ingestion.reembed import REEMBED, Reembedding
from app.jobs.job import JobContext
from app.jobs.run import run_until_idle
from app.jobs.settings import JobSettings
from app.memory.change import USER, Change, embedded_text
from app.providers.embedding import build, build_next
from app.providers.embedding.openai_embeddings import OpenAIEmbeddings
from app.providers.ports import DimensionMismatch
from app.providers.settings import EmbedderSettings
from app.retrieval.retrieve import Retriever
from app.retrieval.types import Level, Question
from app.schema import index_names
from app.settings import Settings
from app.text.segment import Segmenter
from app.wiring import SpaceMismatch, open_services, spaces_of
from tests.search_library import Library
from tests.test_run import ROOT

pytest_plugins = ("tests.search_library",)

WINDOWS = "windows"
GRAPH = (
    "episode_vectors",
    "facet_vectors",
    "point_vectors",
    "entity_vectors",
    "relation_vectors",
    "role_vectors",
)
ALL = 6 + 10
"""Windows of the three notes, and texts of the graph."""
QUICK = JobSettings(job_backoff_seconds=0.01, job_backoff_max_seconds=0.02, worker_poll_seconds=60)
NOTES = (
    (
        "Lighthouse",
        "The keeper of the lighthouse feeds seven cats. Storms come in from the west every autumn. "
        "The old lamp still burns oil at night.",
    ),
    ("水泵", "地下室的水泵每年十月都要检修一次。上个月我们换过它的密封圈。阀门在地下室最里面的墙上。"),
    (
        "Bread",
        "Good rye bread needs a lot of time. Rye wants warm water and a long rest. The oven is old and loses its heat.",
    ),
)


@dataclass
class EmbeddingServer:
    """Bags of hashed words: texts that share words are near each other, in this model's own way."""

    model: str
    dimension: int
    gives: int = 0
    down: bool = False
    texts: list[str] = field(default_factory=list)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    _serving: int = -1

    async def __aenter__(self) -> EmbeddingServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    @property
    def key(self) -> str:
        return f"openai/{self.model}/{self.dimension}"

    def vector(self, of: str) -> np.ndarray:
        made = np.full(self.gives or self.dimension, 0.05)
        for word in re.findall(r"[a-z0-9]+|[一-鿿]", of.lower()):
            made[int.from_bytes(hashlib.sha256(f"{self.model} {word}".encode()).digest()[:4], "big") % len(made)] += 1
        unit: np.ndarray = made / np.linalg.norm(made)
        return unit

    def hold(self, serving: int = 0) -> None:
        """After serving so many requests, the next one, and it alone, says `asked` and waits until it is released."""
        self.held, self.asked = asyncio.Event(), asyncio.Event()
        self._serving = serving

    async def reached(self, working: asyncio.Task[Any]) -> bool:
        """Return when it waits; False when the work is over before that."""
        asked = asyncio.create_task(self.asked.wait())
        await asyncio.wait({working, asked}, return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        return not working.done()

    def release(self) -> None:
        self._serving = -1
        self.held.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = re.search(r"content-length: (\d+)", head)
                assert length is not None
                body = json.loads(await reader.readexactly(int(length[1])))
                self._serving -= 1
                if self._serving == -1:
                    self.asked.set()
                    await self.held.wait()
                writer.write(self._reply(body["input"]))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _reply(self, wanted: Sequence[str]) -> bytes:
        if self.down:
            return b"HTTP/1.1 400 X\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
        self.texts.extend(wanted)
        data = [{"index": at, "embedding": self.vector(one).tolist()} for at, one in enumerate(wanted)]
        body = json.dumps({"data": data}).encode()
        return b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body


@dataclass
class World:
    """A library in one space, and two more embedders to move to."""

    library: Library
    old: EmbeddingServer
    new: EmbeddingServer
    twin: EmbeddingServer
    """As many dimensions as `old`."""
    embedders: Mapping[str, OpenAIEmbeddings]

    @property
    def database(self) -> Database:
        return self.library.database

    def spaces(self, *servers: EmbeddingServer) -> Spaces:
        return Spaces(*(self.embedders[server.key] for server in servers))

    def moving(self, to: EmbeddingServer | None = None, **knobs: Any) -> Reembedding:
        return Reembedding(self.database, self.spaces(self.old, to or self.new), Settings(**knobs))

    def retriever(self, *servers: EmbeddingServer) -> Retriever:
        return Retriever(self.database, self.spaces(*servers), self.library.segmenter, self.library.settings)

    def pipeline(self, *servers: EmbeddingServer, **knobs: Any) -> Pipeline:
        settings = Settings(**{"extractor": "off", **knobs})
        return Pipeline(self.database, self.spaces(*servers), self.library.segmenter, settings)

    async def work(self, moving: Reembedding) -> None:
        """All jobs there are, as a worker does them."""
        await run_until_idle(self.database.dsn, {REEMBED: moving.fill}, QUICK)

    async def move(self, moving: Reembedding) -> None:
        await moving.begin()
        await self.work(moving)
        assert await moving.advance()

    async def space_id(self, server: EmbeddingServer) -> int:
        ((found,),) = await self.library.rows("SELECT id FROM embedding_spaces WHERE key = :key", key=server.key)
        return int(found)

    async def vectors(self, table: str, server: EmbeddingServer) -> dict[Any, tuple[uuid.UUID, np.ndarray]]:
        """By owner and place: hash of the text, and the vector."""
        place = "chunk_id, ordinal" if table == WINDOWS else "owner_id, role"
        rows = await self.library.rows(
            f"SELECT {place}, text_hash, dense::text FROM {table} WHERE space_id = :space",
            space=await self.space_id(server),
        )
        return {(owner, at): (key, np.array(json.loads(dense))) for owner, at, key, dense in rows}

    async def assert_same(self, server: EmbeddingServer) -> int:
        """Every vector of the old space is there in this one, of the same text and by its own model."""
        said = {text_hash(one): one for one in self.old.texts}
        count = 0
        for table in (WINDOWS, *GRAPH):
            before, after = await self.vectors(table, self.old), await self.vectors(table, server)
            assert {place: key for place, (key, _) in before.items()} == {p: key for p, (key, _) in after.items()}, (
                table
            )
            for key, dense in after.values():
                assert np.abs(dense - server.vector(said[key])).max() < 1e-3
            count += len(after)
        return count


@pytest.fixture
async def world(database: Database, segmenter: Segmenter) -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        servers = [EmbeddingServer("old", 96), EmbeddingServer("new", 128), EmbeddingServer("twin", 96)]
        embedders = {}
        for server in servers:
            await stack.enter_async_context(server)
            embedder = OpenAIEmbeddings(EmbedderSettings(**variables(server)))
            await embedder.open()
            stack.push_async_callback(embedder.close)
            embedders[server.key] = embedder
        library = await Library(database, embedders[servers[0].key], segmenter).open()
        yield World(library, *servers, embedders)


def variables(server: EmbeddingServer, prefix: str = "embedder") -> dict[str, Any]:
    return {
        prefix: "openai",
        f"{prefix}_model": server.model,
        f"{prefix}_dimension": server.dimension,
        f"{prefix}_base_url": server.url,
    }


@pytest.fixture
async def filled(world: World) -> World:
    """Three notes without an extraction, and by hand one of everything that the graph has."""
    for title, content in NOTES:
        await world.library.add(title, content)
    await world.library.learn()
    await draw(world)
    return world


async def draw(world: World) -> dict[str, uuid.UUID]:
    """An episode with all that hangs on it, and its vectors in the old space."""
    ((card, chunk),) = await world.library.rows("SELECT card_id, id FROM chunks WHERE workspace_id = :w LIMIT 1")
    ids = {name: new_id() for name in ("episode", "facet", "point", "entity", "other", "relation", "role")}
    values = {**ids, "card": card, "chunk": chunk}
    for statement in (
        "INSERT INTO episodes (workspace_id, id, title, title_key, summary, origin, words, grams) "
        "VALUES (:w, :episode, 'Night watch', 'night watch', 'What happened at night.', 'own', 1, 0)",
        "INSERT INTO episode_cards (workspace_id, episode_id, card_id, ordinal) VALUES (:w, :episode, :card, 0)",
        "INSERT INTO facets (workspace_id, id, episode_id, card_id, ordinal, title, description, words, grams) "
        "VALUES (:w, :facet, :episode, :card, 0, 'Cats', 'They are fed at nine.', 1, 0)",
        "INSERT INTO points (workspace_id, id, facet_id, episode_id, card_id, ordinal, text, words, grams) "
        "VALUES (:w, :point, :facet, :episode, :card, 0, 'Seven cats are fed.', 1, 0)",
        "INSERT INTO entities (workspace_id, id, name, key, kind, type, description, words, grams) VALUES "
        "(:w, :entity, 'Ada', 'ada', 'person', 'person', 'The keeper.', 1, 0), "
        "(:w, :other, 'Cat', 'cat', 'thing', 'other', '', 1, 0)",
        "INSERT INTO entity_names (workspace_id, entity_id, key, name) VALUES "
        "(:w, :entity, 'ada', 'Ada'), (:w, :entity, 'ada l.', 'Ada L.'), (:w, :other, 'cat', 'Cat')",
        "INSERT INTO mentions (workspace_id, chunk_id, ordinal, entity_id, card_id, name) VALUES "
        "(:w, :chunk, 0, :entity, :card, 'Ada'), (:w, :chunk, 1, :other, :card, 'cat')",
        "INSERT INTO relations (workspace_id, id, card_id, chunk_id, source_id, target_id, predicate, text, "
        "confidence, words, grams) "
        "VALUES (:w, :relation, :card, :chunk, :entity, :other, 'feeds', 'Ada feeds the cat.', 1, 1, 0)",
        "INSERT INTO roles (workspace_id, id, entity_id, episode_id, card_id, text, words, grams) "
        "VALUES (:w, :role, :entity, :episode, :card, 'Ada | keeps watch', 1, 0)",
    ):
        await world.library.execute(statement, **values)
    own, said, edge = TextRole.own, TextRole.description, TextRole.edge
    written: list[tuple[Any, str, TextRole, str]] = [
        (EpisodeVector, "episode", own, texts.episode_text("Night watch", "What happened at night.")),
        (FacetVector, "facet", own, texts.facet_title_text("Cats")),
        (FacetVector, "facet", said, texts.facet_description_text("They are fed at nine.")),
        (FacetVector, "facet", edge, texts.facet_edge_text("Cats", "They are fed at nine.")),
        (PointVector, "point", own, texts.point_text("Seven cats are fed.")),
        (PointVector, "point", edge, texts.point_edge_text("Cats", "Seven cats are fed.")),
        (EntityVector, "entity", own, texts.entity_text("Ada", ["Ada L.", "Ada"], "The keeper.")),
        (EntityVector, "other", own, texts.entity_text("Cat")),
        (RelationVector, "relation", own, texts.relation_text("Ada feeds the cat.")),
        (RoleVector, "role", own, texts.role_text("Ada", "keeps watch")),
    ]
    space_id = await world.space_id(world.old)
    for table, owner, role, one in written:
        world.old.texts.append(one)
        dense = world.old.vector(one).astype(np.float32)
        entry = VectorEntry(ids[owner], role, text_hash(one), dense, described=owner == "entity")
        async with world.database.unit() as session:
            await insert_vectors(session, world.library.id, space_id, table, [entry])
    return ids


async def say(world: World, entity: str, description: str, *, vector: bool = True) -> None:
    """Change what is said of an entity, with its vector in the old space or without."""
    async with world.database.unit() as session:
        await session.execute(
            text("UPDATE entities SET description = :said WHERE name = :name"), {"said": description, "name": entity}
        )
        if vector:
            one = texts.entity_text(entity, ["Ada L."] if entity == "Ada" else [], description)
            world.old.texts.append(one)
            await session.execute(
                text(
                    "UPDATE entity_vectors v SET text_hash = :hash, dense = :dense, described = :said <> '' "
                    "FROM entities e "
                    "WHERE e.id = v.owner_id AND e.name = :name AND v.space_id = "
                    "(SELECT id FROM embedding_spaces WHERE is_current)"
                ),
                {
                    "hash": text_hash(one),
                    "dense": HalfVector(world.old.vector(one)),
                    "said": description,
                    "name": entity,
                },
            )


def nearest(server: EmbeddingServer, query: str, windows: Sequence[str]) -> float:
    """The best cosine that this model gives a question."""
    return max(float(server.vector(query) @ server.vector(one)) for one in windows)


async def assert_found(world: World, retriever: Retriever, space: EmbeddingServer) -> None:
    """Every note is found, by the vectors of this space alone, and nothing is amiss."""
    for query, title in (
        ("who feeds seven cats", "Lighthouse"),
        ("水泵检修", "水泵"),
        ("rye wants warm water", "Bread"),
    ):
        found = await retriever.retrieve(world.library.id, Question(query, Level.search, fusion="dense", explain=True))
        assert (found.degraded, found.index["space"]) == ([], space.key)
        assert found.hits[0].card.title == title
        explained = found.hits[0].explain
        assert explained is not None
        windows = [one for one in world.old.texts if one.startswith(f"{title}\n")]
        assert explained["cosine"] == pytest.approx(nearest(space, query, windows), abs=2e-3)


# --------------------------------------------------------------------------------------- the way


@pytest.mark.parametrize("to", ["new", "twin"])
async def test_search_goes_on_and_never_mixes_spaces(filled: World, to: str) -> None:
    """H2, H4: before, while it is filled, on the brink, and after; every vector column moves, with the same texts."""
    target: EmbeddingServer = getattr(filled, to)
    moving = filled.moving(target)
    retriever = filled.retriever(filled.old, target)
    await assert_found(filled, retriever, filled.old)
    await moving.begin()
    target.hold()
    working = asyncio.create_task(filled.work(moving))
    assert await target.reached(working)
    await assert_found(filled, retriever, filled.old)
    target.release()
    await working
    assert await filled.assert_same(target) == ALL
    await assert_found(filled, retriever, filled.old)
    assert await moving.advance()
    await assert_found(filled, retriever, target)
    # Another process, which read the old space last, notices by itself.
    await assert_found(filled, filled.retriever(filled.old, target), target)
    status = await moving.status()
    assert [(space.key, space.part) for space in status.spaces] == [(target.key, "current"), (filled.old.key, "left")]


async def test_nothing_to_fill_is_filled_at_once(world: World) -> None:
    """H8: no cards at all, and a workspace that has none."""
    moving = world.moving()
    await world.move(moving)
    current = (await moving.status(counted=True)).of("current")
    assert current is not None
    assert (current.key, sum((current.vectors or {}).values())) == (world.new.key, 0)
    async with world.database.unit() as session:
        await session.execute(text("DELETE FROM workspaces"))
    back = Reembedding(world.database, world.spaces(world.new, world.old), Settings())
    await back.begin()
    assert await back.advance()


async def test_a_killed_worker_goes_on_where_it_was(filled: World) -> None:
    """Killed again and again, each time in its second step: what was stored is never embedded again."""
    moving = filled.moving(reembed_batch=2)
    await moving.begin()
    filled.new.texts.clear()
    killed = 0
    while True:
        filled.new.hold(serving=1)
        working = asyncio.create_task(moving.fill(await begun(filled)))
        if not await filled.new.reached(working):
            await working
            break
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        killed += 1
    filled.new.release()
    assert killed > 4
    assert len(filled.new.texts) == len(set(filled.new.texts))
    await ended(filled)
    assert await moving.advance()
    assert await filled.assert_same(filled.new) == ALL


async def begun(world: World) -> JobContext:
    """The job, as the worker that has just taken it sees it."""
    of_ours = "WHERE kind = 'reembed' AND workspace_id = :w"
    await world.library.execute(f"UPDATE jobs SET state = 'working', turn = turn + 1 {of_ours}")
    ((job_id, payload, turn),) = await world.library.rows(f"SELECT id, payload, turn FROM jobs {of_ours}")
    return JobContext(world.library.id, job_id, REEMBED, payload, 1, 5, turn)


async def ended(world: World) -> None:
    """The job's end, as the worker writes it."""
    await world.library.execute("UPDATE jobs SET state = 'done', finished_at = now() WHERE kind = 'reembed'")


# ------------------------------------------------------------------------ what happens meanwhile


async def test_notes_that_change_meanwhile_are_right_in_both_spaces(filled: World) -> None:
    """While a step waits for its vectors, one of its notes is rewritten and another one removed."""
    moving = filled.moving()
    await moving.begin()
    filled.new.hold()
    working = asyncio.create_task(moving.fill(await begun(filled)))
    assert await filled.new.reached(working)
    (removed,), (changed,) = await filled.library.rows(
        "SELECT id FROM cards WHERE title IN ('Bread', '水泵') ORDER BY title DESC"
    )
    await filled.library.change(
        changed, content="Good rye bread needs a pinch of salt. The oven is new and keeps its heat."
    )
    filled.new.release()
    filled.library.pipeline = filled.pipeline(filled.old, filled.new)
    assert (await filled.library.learn()).ready == 1
    await filled.library.execute("DELETE FROM cards WHERE id = :id", id=removed)
    filled.new.release()
    await working
    kept = len(await filled.vectors(WINDOWS, filled.old))
    assert await filled.assert_same(filled.new) == kept + 10
    said = {text_hash(one): one for one in filled.new.texts}
    stored = [said[key] for key, _ in (await filled.vectors(WINDOWS, filled.new)).values()]
    assert [one for one in stored if "oven is new" in one]
    assert not [one for one in stored if "oven is old" in one or "水泵" in one]
    await ended(filled)
    assert await moving.advance()
    await assert_consistent(filled)


async def test_texts_of_the_graph_that_change_meanwhile_are_right_in_both_spaces(filled: World) -> None:
    """An entity gets another description while the vector of the one before is being made, and is removed."""
    moving = filled.moving()
    await moving.begin()
    await moving.fill(await begun(filled))
    await say(filled, "Cat", "It has nine lives.")
    filled.new.hold()
    working = asyncio.create_task(moving.fill(await begun(filled)))
    assert await filled.new.reached(working)
    await say(filled, "Cat", "It has lost one of them.")
    await filled.library.execute("DELETE FROM roles")
    filled.new.release()
    await working
    assert await filled.assert_same(filled.new) == ALL - 1
    await ended(filled)
    assert await moving.advance()


async def test_a_vector_of_another_text_is_put_right_in_both_spaces(filled: World) -> None:
    """An entity that says something new, and has the vector of what it said before."""
    await say(filled, "Ada", "She left in spring.", vector=False)
    await filled.move(filled.moving())
    assert texts.entity_text("Ada", ["Ada L."], "She left in spring.") in filled.old.texts
    assert await filled.assert_same(filled.new) == ALL


async def test_an_edited_entity_gets_its_vector_in_both_spaces(filled: World) -> None:
    """Edits take the vectors away; the job that makes them anew writes wherever vectors are written."""
    moving = filled.moving()
    await moving.begin()
    await moving.fill(await begun(filled))
    await say(filled, "Ada", "She left in spring.", vector=False)
    await filled.library.execute(
        "DELETE FROM entity_vectors v USING entities e WHERE e.id = v.owner_id AND e.name = 'Ada'"
    )
    resolver = Resolver(filled.database, filled.spaces(filled.old, filled.new))
    assert (await resolver.run(filled.library.id)).embedded == 1
    assert await filled.assert_same(filled.new) == ALL
    await ended(filled)
    assert await moving.advance()


async def test_the_way_back_embeds_nothing_that_is_still_there(filled: World) -> None:
    """Within the time that the old vectors are kept."""
    await filled.move(filled.moving())
    filled.old.texts.clear()
    back = filled.moving()
    await back.begin(filled.old.key)
    await filled.work(back)
    assert await back.advance()
    assert filled.old.texts == ["MindCone"]
    found = await filled.retriever(filled.old).retrieve(filled.library.id, Question("rye", Level.search))
    assert (found.degraded, found.hits[0].card.title) == ([], "Bread")


async def test_what_the_pipeline_writes_is_recomputed_exactly(world: World) -> None:
    """Real notes with all that is extracted from them: the same texts, half filled in, half written twice; nothing in
    the old space had to be put right.
    """
    world.library.pipeline = world.pipeline(world.old, world.new, extractor="offline")
    story = (
        "# Night watch\n\nAda Lovelace keeps the lighthouse at Cape Wrath since 1843. She wrote to Charles Babbage on "
        "3 May 1843 about the Analytical Engine.\n\n## Supplies\n\nThe keeper ordered 40 litres of oil from Thurso. "
        "林晓雯在昆明开了一家咖啡馆，每公斤豆子卖 120 元。"
    )
    await world.library.add("Night watch", story)
    await world.library.add("Supplies", story.replace("1843", "1852"))
    await world.library.learn()
    moving = world.moving()
    await moving.begin()
    await world.library.add("Letters", story.replace("Ada", "Mary").replace("oil", "paraffin"))
    assert (await world.library.learn()).ready == 1
    world.old.texts.clear()
    before = {table: len(await world.vectors(table, world.new)) for table in (WINDOWS, *GRAPH)}
    assert all(before.values())
    await world.work(moving)
    assert world.old.texts == []
    for table in (WINDOWS, *GRAPH):
        there, here = await world.vectors(table, world.old), await world.vectors(table, world.new)
        assert {place: one[0] for place, one in there.items()} == {place: one[0] for place, one in here.items()}
        assert len(here) > before[table]
    said = {text_hash(one): one for one in world.new.texts}
    for table in GRAPH:
        for key, dense in (await world.vectors(table, world.new)).values():
            assert np.abs(dense - world.new.vector(said[key])).max() < 1e-3
    assert await moving.advance()
    await assert_consistent(world)


async def assert_consistent(world: World) -> None:
    """What `mindcone doctor --deep` counts of vectors."""
    report = await Doctor(world.database, index_names).examine(True)
    assert {name: count for name, count in report.invariants.items() if count and "vector" in name} == {}


async def test_whoever_writes_writes_both_spaces_until_the_switch(filled: World) -> None:
    """The switch waits for who is writing, and who writes after it is told to write the new space alone."""
    spaces = filled.spaces(filled.old, filled.new)
    moving = filled.moving()
    async with filled.database.unit() as session:
        assert [one.embedder.space.key for one in await spaces.to_write(session)] == [filled.old.key]
    await moving.begin()
    await filled.work(moving)
    async with filled.database.unit() as session:
        written = await spaces.to_write(session)
        assert [one.embedder.space.key for one in written] == [filled.old.key, filled.new.key]
        assert [one.id for one in written] == [await filled.space_id(filled.old), await filled.space_id(filled.new)]
        switching = asyncio.create_task(moving.advance())
        await somebody_waits(filled)
        assert not switching.done()
    assert await switching
    async with filled.database.unit() as session:
        assert [one.embedder.space.key for one in await spaces.to_write(session)] == [filled.new.key]


async def test_the_beginning_waits_for_who_writes_one_space_only(filled: World) -> None:
    """Whoever was told to write one space has committed before anybody looks for what is missing in the other."""
    spaces = filled.spaces(filled.old, filled.new)
    moving = filled.moving()
    async with filled.database.unit() as session:
        assert len(await spaces.to_write(session)) == 1
        beginning = asyncio.create_task(moving.begin())
        await somebody_waits(filled)
        assert await filled.library.rows("SELECT key FROM embedding_spaces WHERE filling_since IS NOT NULL") == []
    await beginning
    async with filled.database.unit() as session:
        assert len(await spaces.to_write(session)) == 2


async def somebody_waits(world: World) -> None:
    """Return when somebody waits for the lock of the spaces."""
    async with asyncio.timeout(10):
        while not await world.library.rows(  # noqa: ASYNC110  (the server tells nobody)
            "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'advisory' AND database = "
            "(SELECT oid FROM pg_database WHERE datname = current_database())"
        ):
            await asyncio.sleep(0.005)


async def test_a_process_without_the_other_embedder_writes_nothing_and_still_searches(filled: World) -> None:
    """It was started before the move, with one embedder. It never writes half, nor reads with the wrong one."""
    alone = filled.spaces(filled.old)
    moving = filled.moving()
    retriever = filled.retriever(filled.old)
    await moving.begin()
    with pytest.raises(SpaceUnavailable, match=f"{filled.new.key}.*MINDCONE_EMBEDDER_NEXT"):
        async with filled.database.unit() as session:
            await alone.to_write(session)
    await assert_found(filled, retriever, filled.old)
    await filled.work(moving)
    assert not await Reembedding(filled.database, alone, Settings()).advance()
    assert await moving.advance()
    found = await retriever.retrieve(filled.library.id, Question("rye", Level.search))
    assert (found.degraded, [hit.card.title for hit in found.hits]) == (["embedder_unavailable"], ["Bread"])


async def test_a_large_space_has_its_indexes_before_search_reads_it(filled: World) -> None:
    moving = filled.moving(vector_index_windows=0)
    await moving.begin()
    await filled.work(moving)
    names = "SELECT indexname FROM pg_indexes WHERE indexname LIKE '%hnsw%' ORDER BY 1"
    assert await filled.library.rows(names) == []
    assert await moving.advance()
    built = [name for (name,) in await filled.library.rows(names)]
    space_id = await filled.space_id(filled.new)
    assert sorted(built) == sorted(kind.index_name(space_id) for kind in TextKind if kind.is_indexed)
    await assert_found(filled, filled.retriever(filled.old, filled.new), filled.new)


# -------------------------------------------------------------------------- giving up, and the end


async def test_a_job_that_gave_up_is_told_of_and_goes_on_when_asked_again(filled: World) -> None:
    moving = filled.moving()
    await moving.begin()
    filled.new.down = True
    await run_until_idle(filled.database.dsn, {REEMBED: moving.fill}, QUICK, wait_for_delayed=True)
    assert not await moving.advance()
    await filled.work(moving)
    status = await moving.status(counted=True)
    assert status.progress is not None
    assert [(stuck.workspace_id, stuck.code) for stuck in status.progress.stuck] == [
        (filled.library.id, "provider_refused")
    ]
    # Not asked again by itself: the same refusal every ten seconds helps nobody.
    jobs = "SELECT state FROM jobs WHERE kind = 'reembed' AND workspace_id = :w"
    assert await filled.library.rows(jobs) == [("failed",)]
    await assert_found(filled, filled.retriever(filled.old, filled.new), filled.old)
    filled.new.down = False
    await filled.move(moving)
    assert await filled.assert_same(filled.new) == ALL


async def test_progress_is_visible(filled: World) -> None:
    """From nothing to all; in the job as in the status."""
    moving = filled.moving(reembed_batch=3)
    await moving.begin()
    told: list[tuple[str, float | None]] = []
    done: list[int] = []

    class Watched(JobContext):
        async def progress(self, step: str, fraction: float | None = None) -> None:
            told.append((step, fraction))
            progress = (await moving.status(counted=True)).progress
            assert progress is not None
            assert progress.total == 3 + 10
            done.append(progress.done)

    job = await begun(filled)
    await moving.fill(Watched(job.workspace_id, job.job_id, REEMBED, job.payload, 1, 5, job.turn))
    assert done == sorted(done)
    assert (done[0], done[-1]) == (1, 13)
    assert [fraction for _, fraction in told] == [pytest.approx(one / 13) for one in done]
    assert list(dict.fromkeys(step for step, _ in told)) == [
        "windows",
        "episode",
        "facet",
        "point",
        "entity",
        "relation",
        "role",
    ]


async def test_abandoned_in_the_middle_it_writes_no_more_and_is_dropped(filled: World) -> None:
    moving = filled.moving(reembed_batch=2, reembed_keep_hours=0)
    await moving.begin()
    filled.new.hold(serving=2)
    working = asyncio.create_task(filled.work(moving))
    assert await filled.new.reached(working)
    await moving.abandon()
    before = {table: len(await filled.vectors(table, filled.new)) for table in (WINDOWS, *GRAPH)}
    assert sum(before.values()) > 0
    filled.new.release()
    await working
    assert {table: len(await filled.vectors(table, filled.new)) for table in (WINDOWS, *GRAPH)} == before
    assert not await moving.advance()
    with pytest.raises(reembed.NothingIsFilled):
        await moving.abandon()
    assert await moving.drop_left() == 1
    assert await filled.library.rows("SELECT key FROM embedding_spaces") == [(filled.old.key,)]
    await assert_consistent(filled)
    await assert_found(filled, filled.retriever(filled.old, filled.new), filled.old)


async def test_vectors_that_were_left_are_dropped_later(filled: World) -> None:
    old_id, kept = await filled.space_id(filled.old), filled.moving(vector_index_windows=0)
    await filled.move(kept)
    assert await kept.drop_left() == 0
    assert len(await filled.vectors(WINDOWS, filled.old)) == 6
    dropping = filled.moving(reembed_keep_hours=0)
    # Somebody is just removing what has vectors there: that is passed over, and found the next time.
    async with filled.database.unit() as session:
        held = "SELECT 1 FROM entity_vectors WHERE space_id = :space FOR UPDATE"
        await session.execute(text(held), {"space": old_id})
        assert await dropping.drop_left() == 0
        assert len(await filled.vectors("entity_vectors", filled.old)) == 2
        assert await filled.vectors(WINDOWS, filled.old) == {}
    assert await dropping.drop_left() == 1
    new_id_ = await filled.space_id(filled.new)
    for table in (WINDOWS, *GRAPH):
        assert await filled.library.rows(f"SELECT DISTINCT space_id FROM {table}") == [(new_id_,)]
    await assert_consistent(filled)
    await assert_found(filled, filled.retriever(filled.old, filled.new), filled.new)


async def test_what_cannot_begin_says_why_and_writes_nothing(filled: World) -> None:
    """H1, H10: the size is tried before anything is written."""
    filled.new.gives = 127
    with pytest.raises(DimensionMismatch):
        await filled.moving().begin()
    assert await filled.library.rows("SELECT key FROM embedding_spaces ORDER BY 1") == [(filled.old.key,)]
    filled.new.gives = 0
    with pytest.raises(reembed.NothingToFill):
        await Reembedding(filled.database, filled.spaces(filled.old), Settings()).begin()
    with pytest.raises(reembed.AlreadyCurrent):
        await filled.moving().begin(filled.old.key)
    with pytest.raises(SpaceUnavailable):
        await filled.moving().begin("openai/other/1")
    await filled.moving().begin()
    with pytest.raises(reembed.AnotherIsFilled, match=filled.new.key):
        await filled.moving(filled.twin).begin()
    await filled.work(filled.moving())
    assert await filled.moving().advance()
    with pytest.raises(reembed.AlreadyCurrent):
        await filled.moving().begin()


# ----------------------------------------------------------------------- settings, wiring, command


async def test_a_changed_embedder_is_refused_and_the_way_is_named(
    filled: World, database_dsn: str, tmp_path: Path
) -> None:
    """H1, H2"""
    changed = Settings(**variables(filled.new), data_dir=tmp_path, sample="off")
    with pytest.raises(SpaceMismatch, match=r"MINDCONE_EMBEDDER_NEXT.*`mindcone reembed`"):
        async with open_services(changed, database_dsn):
            pass
    beside = Settings(
        **variables(filled.old), **variables(filled.new, "embedder_next"), data_dir=tmp_path, sample="off"
    )
    async with open_services(beside, database_dsn) as opened:
        await opened.reembedding.begin()
        await run_until_idle(database_dsn, {REEMBED: opened.reembedding.fill}, QUICK)
        assert await opened.reembedding.advance()
        await assert_found(filled, opened.retriever, filled.new)
    async with open_services(changed, database_dsn) as opened:
        await assert_found(filled, opened.retriever, filled.new)


async def test_memories_are_counted_and_move_with_everything_else(
    filled: World, database_dsn: str, tmp_path: Path
) -> None:
    """H4"""
    beside = Settings(
        **variables(filled.old),
        **variables(filled.new, "embedder_next"),
        data_dir=tmp_path,
        sample="off",
        reembed_keep_hours=0,
    )
    async with open_services(beside, database_dsn) as opened:
        moving = opened.reembedding
        for slug, body in (("tea", "Drinks green tea"), ("cats", "Has seven cats"), ("old", "Lived in Rome once")):
            await opened.memories.edit(opened.default_workspace, Change("create", slug, body=body), USER)
        await opened.memories.edit(opened.default_workspace, Change("archive", "old"), USER)

        async def counted() -> tuple[int, int, dict[str, int]]:
            """Texts that are there and all, and vectors of memories by part."""
            status = await moving.status(counted=True)
            vectors = {space.part: (space.vectors or {})["memory_vectors"] for space in status.spaces}
            return (*((p.done, p.total) if (p := status.progress) else (0, 0)), vectors)

        await moving.begin()
        assert await counted() == (0, 13 + 2, {"current": 3, "filling": 0})
        await run_until_idle(database_dsn, {REEMBED: moving.fill}, QUICK)
        assert await counted() == (15, 15, {"current": 3, "filling": 2})

        await filled.library.execute(
            "DELETE FROM memory_vectors WHERE ctid = (SELECT ctid FROM memory_vectors WHERE space_id = :s LIMIT 1)",
            s=await filled.space_id(filled.new),
        )
        assert (await counted())[:2] == (14, 15)
        assert not await moving.advance()
        await run_until_idle(database_dsn, {REEMBED: moving.fill}, QUICK)
        assert await moving.advance()

        rows = await filled.library.rows(
            "SELECT v.dense::text, m.title, m.body FROM memory_vectors v JOIN memories m ON m.id = v.memory_id "
            "AND m.text_hash = v.text_hash WHERE v.space_id = :s",
            s=await filled.space_id(filled.new),
        )
        assert len(rows) == 2
        for dense, title, body in rows:
            made = np.array(json.loads(dense))
            assert np.abs(made - filled.new.vector(embedded_text(title, body))).max() < 1e-3
        assert await moving.drop_left() == 1
        assert await filled.library.rows("SELECT count(*) FROM memory_vectors") == [(2,)]


def test_settings_of_the_next_embedder(tmp_path: Path) -> None:
    """F10: each has an effect, or is refused by its own name."""
    assert build_next(EmbedderSettings(), tmp_path) is None
    with pytest.raises(ConfigurationError, match="MINDCONE_EMBEDDER_NEXT_MODEL has no effect without"):
        build_next(EmbedderSettings(embedder_next_model="x"), tmp_path)
    with pytest.raises(ConfigurationError, match=r"EMBEDDER_NEXT=openai also needs MINDCONE_EMBEDDER_NEXT_BASE_URL"):
        build_next(EmbedderSettings(embedder_next="openai", embedder_next_model="x"), tmp_path)
    with pytest.raises(ConfigurationError, match="MINDCONE_EMBEDDER_NEXT_DIMENSION is 5000"):
        build_next(EmbedderSettings(embedder_next="openai", embedder_next_dimension=5000), tmp_path)
    given = {
        "model": "m",
        "base_url": "http://127.0.0.1:1/v1",
        "api_key": "k",
        "dimension": 7,
        "send_dimension": True,
        "max_tokens": 99,
        "query_prefix": "q: ",
        "passage_prefix": "p: ",
    }
    settings = EmbedderSettings(embedder_threads=3, embedder_dimension=5, **given_as("embedder_next", given))
    following = settings.of_next()
    assert following is not None
    told = following.model_dump()
    assert (told.pop("embedder_api_key").get_secret_value(), told["embedder"]) == ("k", "openai")
    for name, value in given.items():
        assert name == "api_key" or told[f"embedder_{name}"] == value
    assert (following.embedder_threads, following.embedder_next) == (3, None)
    made = build_next(settings, tmp_path)
    assert made is not None
    assert made.space.key == "openai/m/7"
    same = EmbedderSettings(**given_as("embedder", given), **given_as("embedder_next", given))
    with pytest.raises(ConfigurationError, match="MINDCONE_EMBEDDER_NEXT is the same as MINDCONE_EMBEDDER"):
        spaces_of(build(same, tmp_path), build_next(same, tmp_path))


def given_as(prefix: str, given: Mapping[str, Any]) -> dict[str, Any]:
    return {prefix: "openai", **{f"{prefix}_{name}": value for name, value in given.items()}}


async def test_the_command_moves_everything(filled: World, database_dsn: str, tmp_path: Path) -> None:
    """A process of its own, that works on it itself because no worker runs."""
    settings = {**variables(filled.old), **variables(filled.new, "embedder_next")}
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MINDCONE_")},
        "PYTHONPATH": str(ROOT),
        "MINDCONE_DATA_DIR": str(tmp_path),
        "MINDCONE_DATABASE_URL": database_dsn,
        **{f"MINDCONE_{name.upper()}": str(value) for name, value in settings.items()},
    }

    async def command(*words: str) -> tuple[int | None, Any, str]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app.cli", "reembed", "--json", *words),
            cwd=ROOT,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), 90)
        return process.returncode, json.loads(out) if out else None, err.decode()

    code, told, err = await command("--no-wait")
    assert code == 0, err
    assert told["progress"] == {"done": 0, "total": 13, "stuck": []}
    code, told, err = await command()
    assert code == 0, err
    assert [(space["key"], space["part"]) for space in told["spaces"]] == [
        (filled.new.key, "current"),
        (filled.old.key, "left"),
    ]
    assert await filled.assert_same(filled.new) == ALL
    code, told, err = await command()
    assert (code, told) == (1, None)
    assert "space_is_current" in err
