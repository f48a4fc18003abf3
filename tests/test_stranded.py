"""No card waits for a job that will not come. Jobs are those of the real tables; nobody works them here."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from app.cards.drafts import NewCard
from app.db.session import Database
from app.doctor.examine import Doctor
from app.ingestion.stranded import mend_stranded
from app.ingestion.submit import Intake
from app.jobs.queue import cancel
from app.schema import index_names
from app.text.segment import Segmenter
from tests.search_library import Library, Scattered


@pytest.fixture
async def library(database: Database) -> Library:
    library = await Library(database, Scattered(), Segmenter()).open()
    library.intake = Intake(queued=True)
    return library


async def set_all(library: Library, statement: str, **values: Any) -> None:
    await library.execute(statement + " WHERE workspace_id = :w", **values)


async def states(library: Library) -> list[tuple[str, str | None]]:
    rows = await library.rows("SELECT state, error_code FROM cards WHERE workspace_id = :w ORDER BY id")
    return [tuple(row) for row in rows]


async def live(library: Library) -> list[list[str]]:
    rows = await library.rows(
        "SELECT payload FROM jobs WHERE workspace_id = :w AND state IN ('queued', 'working') ORDER BY id"
    )
    return [[card_id for card_id, _ in payload["cards"]] for (payload,) in rows]


async def lose(library: Library) -> None:
    """Every worker that had a job has died of it, in the middle of its cards."""
    await set_all(library, "UPDATE cards SET state = 'working', step = 'embed', progress = 0.5")
    await set_all(
        library,
        "UPDATE jobs SET state = 'failed', error_code = 'worker_lost', error_detail = 'Every worker stopped.', "
        "finished_at = now()",
    )


async def waiting_without_job(library: Library) -> int:
    await set_all(library, "UPDATE cards SET updated_at = now() - interval '1 hour'")
    return (await Doctor(library.database, index_names).examine(True)).invariants["waiting_card_without_job"]


async def test_cards_of_a_job_that_killed_its_workers_are_tried_alone_and_then_fail(library: Library) -> None:
    cards = [str(one) for one in await library.add_many([NewCard(f"Card {n}", "Text.") for n in range(3)])]
    assert await live(library) == [cards]
    await lose(library)
    assert await waiting_without_job(library) == 3
    assert await mend_stranded(library.database) == 3
    assert await live(library) == [[one] for one in cards]
    assert await mend_stranded(library.database) == 0
    await lose(library)
    assert await mend_stranded(library.database) == 3
    assert await live(library) == []
    assert await states(library) == [("failed", "worker_lost")] * 3
    assert await mend_stranded(library.database) == await waiting_without_job(library) == 0


async def test_a_card_whose_job_was_cancelled_says_so(library: Library) -> None:
    await library.add("Card", "Text.")
    ((job,),) = await library.rows("SELECT id FROM jobs WHERE workspace_id = :w")
    async with library.database.unit() as session:
        await cancel(session, library.id, job)
    assert await mend_stranded(library.database) == 1
    assert await states(library) == [("failed", "cancelled")]


async def test_a_card_whose_job_nobody_remembers_gets_a_new_one(library: Library) -> None:
    card = await library.add("Card", "Text.")
    await set_all(library, "DELETE FROM jobs")
    assert await mend_stranded(library.database) == 1
    assert await live(library) == [[str(card)]]
    assert await states(library) == [("queued", None)]


async def test_what_waits_in_line_or_is_in_the_trash_is_left_alone(library: Library) -> None:
    await library.add("Waiting", "Text.")
    trashed = await library.add("Trashed", "Text.")
    async with library.database.unit() as session:
        await library.intake.trash_card(session, library.id, uuid.UUID(str(trashed)))
    await library.execute("DELETE FROM jobs WHERE payload::text LIKE :one", one=f"%{trashed}%")
    before = await live(library)
    assert await mend_stranded(library.database) == 0
    assert await live(library) == before


@pytest.mark.parametrize(("cards", "groups"), [(1, [1]), (40, [16, 16, 8]), (100, [16, 64, 20])])
async def test_few_cards_and_the_first_of_many_come_in_small_groups(
    library: Library, cards: int, groups: list[int]
) -> None:
    """The first are found while the others are still being learned."""
    await library.add_many([NewCard(f"Card {n}", "Text.") for n in range(cards)])
    assert [len(group) for group in await live(library)] == groups
