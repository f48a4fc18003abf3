"""Episodes of several cards: what goes on where another card stopped."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime

import numpy as np
import pytest

from app.db.session import Database
from app.graph.episode_queries import get_episode
from app.text.segment import Segmenter
from tests.search_library import Library, Scattered

pytest_plugins = ("tests.search_library",)

DAY = datetime(2024, 3, 1, tzinfo=UTC)
FIRST = "The Alder bridge was closed by Marta Lind. Marta Lind found a crack in the Alder bridge."
SECOND = "The Alder bridge was opened again by Marta Lind. Marta Lind had the crack of the Alder bridge welded."
ELSEWHERE = "The Birch tunnel was drained by Otto Falk. Otto Falk found water in the Birch tunnel."


class BySubject(Scattered):
    """Texts about the Alder bridge lie close together."""

    def _vector(self, text: str) -> np.ndarray:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        vector = np.random.default_rng(seed).normal(size=self.space.dimension).astype(np.float32)
        if "Alder" in text:
            vector = vector * 0.1 + np.ones(self.space.dimension, np.float32)
        return vector / np.linalg.norm(vector)


@pytest.fixture
async def library(database: Database, segmenter: Segmenter) -> Library:
    library = await Library(database, BySubject(), segmenter, extractor="offline").open()
    for number in range(32):
        await library.add(f"Other {number}", f"Person{number} Smith{number} bought the boat Vessel{number}.")
    await library.learn()
    return library


async def joined(library: Library, card: uuid.UUID) -> uuid.UUID | None:
    ((found,),) = await library.rows(
        "SELECT e.joined_to FROM episodes e JOIN episode_cards ec ON ec.workspace_id = e.workspace_id "
        "AND ec.episode_id = e.id WHERE e.workspace_id = :w AND ec.card_id = :card",
        card=card,
    )
    return found


async def episode_of(library: Library, card: uuid.UUID) -> uuid.UUID:
    ((found,),) = await library.rows(
        "SELECT episode_id FROM episode_cards WHERE workspace_id = :w AND card_id = :card", card=card
    )
    return found


async def learned(library: Library, title: str, text: str, path: str | None = "site/log.md") -> uuid.UUID:
    card = await library.add(title, text, source={"kind": "file", "path": path} if path else None)
    await library.learn()
    return card


async def test_the_second_part_of_a_series_joins_the_first(library: Library) -> None:
    first = await learned(library, "Alder bridge, part 1", FIRST)
    second = await learned(library, "Alder bridge, part 2", SECOND, "site/log2.md")
    assert await joined(library, second) == await episode_of(library, first)
    async with library.database.read() as session:
        whole = await get_episode(session, library.id, await episode_of(library, first))
    assert {row["id"] for row in whole.cards} == {first, second}
    assert {row["card_id"] for row in whole.points} == {first, second}


@pytest.mark.parametrize(
    ("title", "text", "path"),
    [
        ("Alder bridge, part 2", SECOND, None),
        ("Alder bridge, part 2", SECOND, "elsewhere/log.md"),
        ("Alder bridge costs", SECOND, "site/log2.md"),
        ("Birch tunnel, part 2", ELSEWHERE, "site/log2.md"),
    ],
    ids=["no place", "another folder", "another title", "another focus"],
)
async def test_without_focus_or_continuity_it_is_an_episode_of_its_own(
    library: Library, title: str, text: str, path: str | None
) -> None:
    await learned(library, "Alder bridge, part 1", FIRST)
    assert await joined(library, await learned(library, title, text, path)) is None


async def test_either_card_can_go(library: Library) -> None:
    """D5: what only one of them told goes with it, the other stays whole."""
    first = await learned(library, "Alder bridge, part 1", FIRST)
    second = await learned(library, "Alder bridge, part 2", SECOND, "site/log2.md")
    async with library.database.unit() as session:
        await library.intake.trash_card(session, library.id, first)
    assert await joined(library, second) is None
    assert await library.rows("SELECT count(*) FROM points WHERE workspace_id = :w AND card_id = :c", c=first) == [(0,)]
    async with library.database.read() as session:
        left = await get_episode(session, library.id, await episode_of(library, second))
    assert [row["id"] for row in left.cards] == [second]
