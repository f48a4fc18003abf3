"""A workspace that is filled through the real pipeline, with the real embedder or one that needs no model."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import asyncpg
import numpy as np
import pytest
from sqlalchemy import text

from app.cards.drafts import CardPatch, NewCard
from app.db.session import Database
from app.db.settings import DatabaseSettings
from app.index import folding, space_queries
from app.index import queries as index
from app.index.collections import Collection
from app.index.spaces import Spaces
from app.ingestion.pipeline import Outcome, Pipeline
from app.ingestion.queries import Task
from app.ingestion.submit import Intake
from app.people import queries as people
from app.providers.embedding.e5 import E5Embedder
from app.providers.ports import Embedder, Embeddings, EmbeddingSpace
from app.retrieval.retrieve import Retriever
from app.retrieval.types import Evidence, Level, Question
from app.settings import Settings
from app.text.segment import Segmenter
from tests.conftest import TEMPLATE, with_database


class Scattered:
    """A vector of its own for every text, anywhere on the sphere: fast, and no text is near another."""

    def __init__(self, dimension: int = 16) -> None:
        self.space = EmbeddingSpace("test", "scattered", dimension)
        self.max_tokens = 512
        self.calls: list[list[str]] = []

    def count_tokens(self, text: str) -> int:
        return len(text) // 3 + 1

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        self.calls.append(list(texts))
        return Embeddings(np.stack([self._vector(text) for text in texts]))

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        return Embeddings(np.stack([self._vector(text) for text in texts]))

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    @property
    def embedded(self) -> list[str]:
        """Every text that was embedded, in order."""
        return [text for call in self.calls for text in call]

    def _vector(self, text: str) -> np.ndarray:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        vector = np.random.default_rng(seed).normal(size=self.space.dimension).astype(np.float32)
        return vector / np.linalg.norm(vector)


class Library:
    """`add`, `learn`, `search`; `knobs` are settings. Chunks alone, unless `extractor` says otherwise."""

    def __init__(
        self, database: Database, embedder: Embedder, segmenter: Segmenter, slug: str = "library", **knobs: Any
    ) -> None:
        self.database = database
        self.embedder = embedder
        self.segmenter = segmenter
        self.settings = Settings(**{"extractor": "off", **knobs})
        self.intake = Intake(queued=False)
        self.pipeline = Pipeline(database, Spaces(embedder), segmenter, self.settings)
        self.retriever = Retriever(database, Spaces(embedder), segmenter, self.settings)
        self.slug = slug
        self.id = uuid.UUID(int=0)

    def at(self, workspace_id: uuid.UUID) -> Library:
        """The library of a workspace that is there already."""
        self.id = workspace_id
        return self

    async def open(self) -> Library:
        async with self.database.unit() as session:
            self.id = (await people.insert_workspace(session, self.slug, self.slug)).id
            await space_queries.set_current(session, await index.ensure_space(session, self.embedder.space))
        return self

    async def add(self, title: str | None, content: str = "", **more: Any) -> uuid.UUID:
        async with self.database.unit() as session:
            return (await self.intake.submit_card(session, self.id, NewCard(title, content, **more))).id

    async def add_many(self, cards: Sequence[NewCard]) -> list[uuid.UUID]:
        async with self.database.unit() as session:
            written = await self.intake.submit_many(session, self.id, cards)
        return [one.id for one in written if one.id is not None]

    async def change(self, card_id: uuid.UUID, **changes: Any) -> None:
        async with self.database.unit() as session:
            await self.intake.change_card(session, self.id, card_id, CardPatch(**changes))

    async def tasks(self) -> list[Task]:
        """Cards that wait to be learned."""
        rows = await self.rows(
            "SELECT id, text_version FROM cards WHERE workspace_id = :w AND state = 'queued' AND trashed_at IS NULL "
            "ORDER BY id"
        )
        return [Task(*row) for row in rows]

    async def learn(self, **how: Any) -> Outcome:
        return await self.pipeline.ingest(self.id, await self.tasks(), **how)

    async def fold(self) -> None:
        for collection in Collection:
            for step in (folding.fold, folding.compact):
                async with self.database.unit() as session:
                    await step(session, self.id, 1, collection=collection)

    async def search(self, query: str, **how: Any) -> Evidence:
        return await self.retriever.retrieve(self.id, Question(query, Level.search, **how))

    async def titles(self, query: str, **how: Any) -> list[str]:
        """Titles of the hits, best first."""
        return [hit.card.title for hit in (await self.search(query, **how)).hits]

    async def by_words(self, query: str, **how: Any) -> set[str]:
        """Titles of the cards that hold words of the question: vectors do not help."""
        return set(await self.titles(query, fusion="bm25", limit=100, **how))

    async def rows(self, statement: str, **values: Any) -> list[Any]:
        async with self.database.read() as session:
            return [tuple(row) for row in await session.execute(text(statement), {"w": self.id, **values})]

    async def count(self, table: str) -> int:
        return int((await self.rows(f"SELECT count(*) FROM {table} WHERE workspace_id = :w"))[0][0])

    async def state(self, card_id: uuid.UUID) -> tuple[str, str | None]:
        """State and error code of a card."""
        (row,) = await self.rows("SELECT state, error_code FROM cards WHERE workspace_id = :w AND id = :id", id=card_id)
        return row[0], row[1]

    async def execute(self, statement: str, **values: Any) -> None:
        async with self.database.unit() as session:
            await session.execute(text(statement), {"w": self.id, **values})


@pytest.fixture(scope="module")
def shelf_dsn(server_dsn: str) -> Iterator[str]:
    """One migrated database for all tests of a module."""
    name = f"shelf_{uuid.uuid4().hex}"
    asyncio.run(_run(server_dsn, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY"))
    yield with_database(server_dsn, name)
    asyncio.run(_run(server_dsn, f"DROP DATABASE {name} WITH (FORCE)"))


async def _run(dsn: str, statement: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(statement)
    await connection.close()


def fill(dsn: str, embedder: Embedder, segmenter: Segmenter, cards: Sequence[NewCard]) -> uuid.UUID:
    """A workspace of these cards, learned; for tests that only read."""

    async def learned() -> uuid.UUID:
        database = Database(dsn, DatabaseSettings())
        library = await Library(database, embedder, segmenter, slug=uuid.uuid4().hex).open()
        await library.add_many(cards)
        outcome = await library.learn()
        assert (outcome.ready, outcome.failed) == (len(cards), {})
        await database.close()
        return library.id

    return asyncio.run(learned())


@pytest.fixture
async def shelf(shelf_dsn: str) -> AsyncIterator[Database]:
    opened = Database(shelf_dsn, DatabaseSettings(), application_name="mindcone-test")
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def segmenter() -> Segmenter:
    return Segmenter()


@pytest.fixture(scope="session")
def e5(run_dir: Path) -> Iterator[E5Embedder]:
    """The embedder that ships."""
    embedder = E5Embedder(run_dir / "embedder", 2)
    asyncio.run(embedder.open())
    yield embedder
    asyncio.run(embedder.close())


@pytest.fixture
def scattered() -> Scattered:
    return Scattered()


@pytest.fixture
async def library(database: Database, e5: E5Embedder, segmenter: Segmenter) -> Library:
    return await Library(database, e5, segmenter).open()


@pytest.fixture
async def plain(database: Database, scattered: Scattered, segmenter: Segmenter) -> Library:
    """A library whose vectors say nothing."""
    return await Library(database, scattered, segmenter).open()
