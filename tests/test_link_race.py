"""Many writers at once."""

from __future__ import annotations

import asyncio
import random
import uuid
from typing import Any

from app.db.session import Database
from app.db.settings import DatabaseSettings
from app.ingestion.link import revise
from app.ingestion.link.plan import Plan
from app.ingestion.link.revise import EntityNotFound, NotMergeable
from tests.link_desk import Desk, named
from tests.search_library import Scattered

pytest_plugins = ("tests.link_desk",)

NAMES = [f"{first} {last}" for first in ("Anna", "Bruno", "Clara", "Dmitri") for last in ("Berg", "Castro", "Dahl")]


async def test_eight_writers_of_shared_names_in_opposite_orders(desk: Desk, database_dsn: str) -> None:
    """E1, E7: no deadlock, nothing lost, nothing twice, and variants of one name meet across writers."""
    cards = [[await desk.card(f"{writer}-{n}") for n in range(4)] for writer in range(8)]

    async def write(number: int) -> None:
        database = Database(database_dsn, DatabaseSettings(), application_name=f"writer-{number}")
        mine = Desk(database, Scattered())
        mine.id, mine.space_id = desk.id, desk.space_id
        names = NAMES if number % 2 else NAMES[::-1]
        for card in cards[number]:
            drafts = [named(name, "person") for name in names]
            drafts.append(named("Donald J. Trump" if number % 2 else "Donald Trump", "person"))
            await mine.link({card: drafts})
        await database.close()

    await asyncio.wait_for(asyncio.gather(*(write(number) for number in range(8))), 120)
    assert await desk.rows("SELECT count(*) FROM mentions WHERE workspace_id = :w") == [(8 * 4 * 13,)]
    assert await desk.groups() == {frozenset({name}) for name in NAMES} | {
        frozenset({"Donald Trump", "Donald J. Trump"})
    }
    twice = "SELECT key, kind FROM entities WHERE workspace_id = :w GROUP BY key, kind HAVING count(*) > 1"
    assert await desk.rows(twice) == []
    await desk.in_order()


async def test_plans_of_the_same_moment(desk: Desk) -> None:
    """All of them have seen nothing; each finds what the others have written in the meantime."""
    plans: list[tuple[Plan, Any, Any]] = []
    for name in ("K8s", "Kubernetes", "Kubernetes"):
        drafts = {await desk.card(name): [named(name, "product", "", *(("K8s",) if name != "K8s" else ()))]}
        async with desk.database.read() as session:
            known = await desk.linker.look_up(session, desk.id, desk.space_id, drafts)
        plan = desk.linker.plan(known, drafts)
        plans.append((plan, await desk.embed(plan), drafts))
    await asyncio.gather(*(desk.write(*planned) for planned in plans))
    assert await desk.groups() == {frozenset({"K8s", "Kubernetes"})}
    await desk.in_order()


async def test_writers_while_people_remove_and_merge(desk: Desk) -> None:
    """E2, E8: cards are rewritten, removed, and their entities merged and unmerged, all at once."""
    cards = [await desk.tell(*NAMES[n % 6 : n % 6 + 5]) for n in range(12)]
    chance = random.Random(3)

    async def rewrite(mine: list[uuid.UUID]) -> None:
        for _ in range(3):
            for card in mine:
                await desk.tell(*chance.sample(NAMES, 5), card=card)

    async def remove(mine: list[uuid.UUID]) -> None:
        for card in mine:
            await desk.remove(card)
            await asyncio.sleep(0)

    async def revise_some() -> None:
        for _ in range(15):
            rows = await desk.rows("SELECT id, merged_into FROM entities WHERE workspace_id = :w ORDER BY id")
            (one, merged), (other, _) = chance.choice(rows), chance.choice(rows)
            try:
                async with desk.database.unit() as session:
                    if merged is not None:
                        await revise.unmerge(session, desk.id, one)
                    else:
                        await revise.merge(session, desk.id, one, other)
            except (EntityNotFound, NotMergeable, revise.NotMerged):
                continue

    await asyncio.wait_for(
        asyncio.gather(rewrite(cards[:4]), rewrite(cards[4:8]), remove(cards[8:]), revise_some()), 120
    )
    assert await desk.rows("SELECT count(DISTINCT card_id), count(*) FROM mentions WHERE workspace_id = :w") == [
        (8, 40)
    ]
    await desk.in_order()
