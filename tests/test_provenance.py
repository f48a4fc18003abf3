"""Where everything comes from stays exact: nothing outlives its card, nothing is there twice, whatever happens."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import text

from app.cards.drafts import NewCard
from app.db.session import Database
from app.db.settings import DatabaseSettings
from app.text.segment import Segmenter
from tests.provenance_desk import DERIVED, GRAPH, PEOPLE, VECTORS, Life, content, counted, examined, fresh_copy
from tests.search_library import Library, Scattered

pytest_plugins = ("tests.search_library",)


async def opened(database: Database, segmenter: Segmenter, slug: str = "library") -> Library:
    # So many dimensions that no two texts are near each other.
    return await Library(database, Scattered(64), segmenter, slug=slug, extractor="offline").open()


@pytest.mark.parametrize(
    ("seed", "steps"),
    [(1, 1000), pytest.param(2, 1000, marks=pytest.mark.slow), pytest.param(3, 3000, marks=pytest.mark.slow)],
)
async def test_nothing_is_left_behind(database: Database, segmenter: Segmenter, seed: int, steps: int) -> None:
    """D1, D2, D4, D5, D10, D16, D17, C4, C13: after random operations the rows are those of the cards that are left."""
    neighbour = await opened(database, segmenter, "neighbour")
    chance = random.Random(0)
    await neighbour.add_many([NewCard(f"Note {n}", content(chance), external_id=f"c{n}") for n in range(5)])
    await neighbour.learn()
    untouched = await counted(neighbour, DERIVED + GRAPH + VECTORS)

    life = Life(await opened(database, segmenter), seed)
    for number in range(1, steps + 1):
        await life.step()
        if number % (5 if seed > 1 else 20) == 0:
            await life.settle()
        if number % 100 == 0:
            assert await examined(life.library) == {}, (number, life.did)
            if life.chance.random() < 0.5:
                await life.library.fold()
    await life.settle()
    assert await examined(life.library) == {}
    assert (
        min(life.did[move] for move in ("create", "edit", "trash", "remove", "merge", "unmerge", "split", "post")) > 3
    )
    copy = await fresh_copy(life.library, "copy")
    for table, rows in (await said(life.library)).items():
        others = (await said(copy))[table]
        assert (Counter(rows) - Counter(others), Counter(others) - Counter(rows)) == (Counter(), Counter()), table
    # What was posted of a card waits in the trash with it.
    told = tuple(table for table in DERIVED if table != "posted_episodes")
    assert await counted(life.library, told) == await counted(copy, told)

    # All of it goes, and only of this workspace.
    for card in [*life.alive, *life.trash]:
        async with database.unit() as session:
            await life.library.intake.remove_card(session, life.library.id, card)
    assert set((await counted(life.library, DERIVED + GRAPH + VECTORS)).values()) == {0}
    assert await counted(neighbour, DERIVED + GRAPH + VECTORS) == untouched
    assert await examined(life.library) == {}


async def said(library: Library) -> dict[str, list[Any]]:
    """Everything that cards say, without ids."""
    of_cards = {
        "facets": "r.title, r.description",
        "points": 'r.text, r.start, r."end", r.happened::text, r.claim_value, r.valid_during::text',
        "relations": "r.text, r.predicate",
        "mentions": 'r.name, r.start, r."end"',
        "roles": "r.text",
        "chunks": "r.text",
    }
    found = {}
    for table, columns in of_cards.items():
        rows = await library.rows(
            f"SELECT md5(c.title || c.content), {columns} FROM {table} r "
            "JOIN cards c ON c.workspace_id = r.workspace_id AND c.id = r.card_id WHERE r.workspace_id = :w"
        )
        found[table] = sorted(rows, key=repr)
    return found


# ----------------------------------------------------------------------------------- many at once


async def test_eight_writers_of_shared_names(database: Database, database_dsn: str, segmenter: Segmenter) -> None:
    """E1, E2, E7: cards that name the same in other orders are learned, changed and removed at once."""
    library = await opened(database, segmenter)

    async def work(number: int) -> None:
        own = Database(database_dsn, DatabaseSettings(), application_name=f"writer-{number}")
        mine = Library(own, Scattered(64), segmenter, extractor="offline").at(library.id)
        names = PEOPLE if number % 2 else PEOPLE[::-1]
        told = [f"{one} met {other} in Lisbon." for one, other in pairwise(names)]
        cards = []
        for n in range(3):
            cards.append(await mine.add(f"{number} {n}", " ".join(told[n:])))
            await mine.learn()
        await mine.change(cards[0], content=" ".join(reversed(told)))
        async with own.unit() as session:
            await mine.intake.remove_card(session, mine.id, cards[1])
        await mine.learn()
        await own.close()

    await asyncio.wait_for(asyncio.gather(*(work(number) for number in range(8))), 200)
    await library.learn()
    assert await library.rows("SELECT state, count(*) FROM cards WHERE workspace_id = :w GROUP BY 1") == [("ready", 16)]
    twice = "SELECT key, kind FROM entities WHERE workspace_id = :w GROUP BY key, kind HAVING count(*) > 1"
    assert await library.rows(twice) == []
    names = await library.rows("SELECT name FROM entities WHERE workspace_id = :w")
    assert set(PEOPLE) <= {name for (name,) in names}
    assert await examined(library) == {}


# ---------------------------------------------------------------------------- killed at every step

STEPS = (
    "app.ingestion.pipeline.queries.start_work",
    "app.ingestion.pipeline.posted_queries.list_posted",
    "app.ingestion.embed.index.list_known_vectors",
    "app.ingestion.embed.index.stage_vectors",
    "app.ingestion.pipeline.queries.lock_current",
    "app.ingestion.pipeline.join_episodes",
    "app.ingestion.writing.index.delete_chunks",
    "app.ingestion.writing.cone.delete_cone",
    "app.ingestion.writing.index.insert_chunks",
    "app.ingestion.writing.index.insert_windows",
    "app.ingestion.writing.lexical.insert_recent",
    "app.ingestion.writing.cone.take_docs",
    "app.ingestion.writing.cone.insert_cone",
    "app.ingestion.writing.insert_vectors",
    "app.ingestion.writing.index.drop_staged",
    "app.ingestion.pipeline.posted_queries.delete_stale",
    "app.ingestion.pipeline.queries.set_ready",
    "app.ingestion.link.linker.entity_queries.list_stored",
    "app.ingestion.link.linker.entity_queries.insert_entities",
    "app.ingestion.link.linker.insert_vectors",
)


class Killer:
    """Ends the work at the n-th call of any step: before it by an exception, or after it by cancellation."""

    def __init__(self) -> None:
        self.at: int | None = None
        self.cancels = False
        self.calls: list[str] = []

    def around(self, name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        async def watched(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(name)
            is_due = len(self.calls) - 1 == self.at
            if is_due and not self.cancels:
                raise OSError(name)
            result = await step(*args, **kwargs)
            if is_due:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                await asyncio.sleep(0)
            return result

        return watched


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
async def test_killed_at_every_step_the_work_goes_on(
    database: Database, segmenter: Segmenter, monkeypatch: pytest.MonkeyPatch, every: bool
) -> None:
    """The same rows as of an undisturbed run, and none twice: by an exception at one step, a cancellation at the next.

    At the last call of each step; with `every` at each call, in both ways.
    """
    killer = Killer()
    for name in STEPS:
        path, _, attribute = name.rpartition(".")
        monkeypatch.setattr(name, killer.around(name, _resolved(path, attribute)))
    first = await _told(database, segmenter, "undisturbed")
    killer.calls = []
    await first.learn()
    steps = list(killer.calls)
    assert set(steps) == set(STEPS)
    expected, amounts = await said(first), await counted(first, DERIVED + GRAPH + VECTORS)
    assert all(expected.values())
    last = {name: number for number, name in enumerate(steps)}
    ways = [(number, n % 2 == 0) for n, number in enumerate(last.values())]
    if every:
        ways = [(number, cancels) for number in range(len(steps)) for cancels in (False, True)]
    for number, cancels in ways:
        library = await _told(database, segmenter, f"killed-{number}-{cancels}")
        killer.calls, killer.at, killer.cancels = [], number, cancels
        with pytest.raises(asyncio.CancelledError if killer.cancels else OSError):
            await asyncio.create_task(library.learn())
        killer.at = None
        # A worker that is killed outright gives nothing back; its job comes again.
        async with database.unit() as session:
            await session.execute(
                text("UPDATE cards SET state = 'queued' WHERE workspace_id = :w AND state = 'working'"),
                {"w": library.id},
            )
        await library.learn()
        assert await said(library) == expected, steps[number]
        assert await counted(library, DERIVED + GRAPH + VECTORS) == amounts, steps[number]
    assert await examined(first) == {}


async def _told(database: Database, segmenter: Segmenter, slug: str) -> Library:
    """Two cards that are learned and then changed, and a third; each small batch of vectors is staged."""
    library = Library(
        database,
        Scattered(64),
        segmenter,
        slug=slug,
        extractor="offline",
        embed_batch=8,
        embed_calls=1,
        embed_save_seconds=0,
    )
    await library.open()
    chance = random.Random(7)
    day = datetime(2024, 1, 1, tzinfo=UTC)
    cards = [await library.add(f"Note {n}", content(chance), created_at=day + timedelta(n)) for n in range(2)]
    await library.learn()
    for card in cards:
        await library.change(card, content=content(chance))
    await library.add("Third", content(chance), created_at=day + timedelta(7))
    return library


def _resolved(path: str, attribute: str) -> Callable[..., Any]:
    found: Any = None
    for part in path.split("."):
        found = __import__(part) if found is None else getattr(found, part)
    step: Callable[..., Any] = getattr(found, attribute)
    return step
