"""A workspace that lives: cards come and go, people merge and split, callers post. Seeded, through the real flows."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import text

from app.cards.drafts import NewCard
from app.core.errors import Conflict, MindConeError
from app.index.spaces import Spaces
from app.ingestion.link import revise
from app.ingestion.link.describing import Describing
from app.ingestion.link.resolve import Resolver
from app.ingestion.posting import CardRef, EpisodePost, post_episodes
from app.ingestion.relink.relinking import Relinking
from app.wiring import examiner
from tests.search_library import Library

PEOPLE = [f"{first} {last}" for first in ("Anna", "Bruno", "Clara", "Dmitri") for last in ("Berg", "Castro", "Dahl")]
CHINESE = ["王小明", "李建国", "陈美玲"]
PLACES = ["Lisbon", "Oslo", "Kyoto", "北京", "上海"]

# Everything that stands on cards, and nothing else.
DERIVED = (
    "chunks",
    "episode_cards",
    "facets",
    "points",
    "relations",
    "mentions",
    "roles",
    "posted_episodes",
    "entity_tellings",
)
GRAPH = ("episodes", "entities", "entity_names", "entity_pairs", "entity_places", "point_entities")
VECTORS = tuple(f"{owner}_vectors" for owner in ("episode", "facet", "point", "entity", "relation", "role"))


def sentence(chance: random.Random) -> str:
    one, other = chance.sample(PEOPLE, 2)
    place, number = chance.choice(PLACES), chance.randint(2, 90)
    return chance.choice(
        [
            f"{one} met {other} in {place} on {chance.randint(1, 28)} May 2023.",
            f"{one} works with {other} and pays {number} euros.",
            f"The Alpha warranty lasts {chance.randint(2, 9)} years.",
            f"{chance.choice(CHINESE)}在{place}买了{number}本书。",
            f"{one} moved to {place}.",
        ]
    )


def content(chance: random.Random) -> str:
    paragraphs = [" ".join(sentence(chance) for _ in range(chance.randint(1, 3))) for _ in range(chance.randint(1, 3))]
    return "\n\n".join(paragraphs)


class Life:
    """`step` does one thing at random; `settle` lets the workers finish."""

    def __init__(self, library: Library, seed: int) -> None:
        self.library = library
        self.chance = random.Random(seed)
        self.alive: list[uuid.UUID] = []
        self.trash: list[uuid.UUID] = []
        self.did: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self._posts = 0

    async def step(self) -> None:
        few = len(self.alive) < 12
        moves: list[tuple[str, int, Callable[[], Awaitable[None]]]] = [
            ("create", 30 if few else 8, self._create),
            ("edit", 16, self._edit),
            ("date", 5, self._date),
            ("describe", 3, self._describe),
            ("trash", 0 if few else 8, self._trash),
            ("remove", 0 if few else 6, self._remove),
            ("undelete", 6, self._undelete),
            ("reingest", 6, self._reingest),
            ("post", 10, self._post),
            ("merge", 10, self._merge),
            ("unmerge", 7, self._unmerge),
            ("split", 7, self._split),
            ("patch", 3, self._patch),
            ("decide", 3, self._decide),
        ]
        (move,) = self.chance.choices(moves, [weight for _, weight, _ in moves])
        try:
            await move[2]()
        except Conflict as error:
            # Two that are one already, a name that is taken: people are told so.
            self.refused[error.code] += 1
        self.did[move[0]] += 1

    async def settle(self) -> None:
        """All that is queued is worked on."""
        outcome = await self.library.learn()
        assert outcome.failed == {}
        database, linker = self.library.database, self.library.pipeline.linker
        spaces = Spaces(self.library.embedder)
        await Relinking(database, spaces, self.library.segmenter, linker).run(self.library.id)
        await Resolver(database, spaces, describing=Describing(database, linker)).run(self.library.id)
        await self._execute("UPDATE jobs SET state = 'done' WHERE workspace_id = :w")

    # ---------------------------------------------------------------------------------------- cards

    async def _create(self) -> None:
        day = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=self.chance.randint(0, 400))
        dated = {"created_at": day} if self.chance.random() < 0.6 else {}
        self.alive.append(await self.library.add(f"Note {self.chance.randint(1, 99)}", content(self.chance), **dated))

    async def _edit(self) -> None:
        if self.alive:
            await self.library.change(self.chance.choice(self.alive), content=content(self.chance))

    async def _date(self) -> None:
        if self.alive:
            day = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=self.chance.randint(0, 400))
            await self.library.change(self.chance.choice(self.alive), created_at=day)

    async def _describe(self) -> None:
        """What is no text of the card: nothing is learned anew."""
        if self.alive:
            await self.library.change(self.chance.choice(self.alive), metadata={"n": self.chance.randint(1, 9)})

    async def _trash(self) -> None:
        card = self.alive.pop(self.chance.randrange(len(self.alive)))
        async with self.library.database.unit() as session:
            await self.library.intake.trash_card(session, self.library.id, card)
        self.trash.append(card)

    async def _remove(self) -> None:
        pile = self.trash if self.trash and self.chance.random() < 0.5 else self.alive
        card = pile.pop(self.chance.randrange(len(pile)))
        async with self.library.database.unit() as session:
            await self.library.intake.remove_card(session, self.library.id, card)

    async def _undelete(self) -> None:
        if self.trash:
            card = self.trash.pop(self.chance.randrange(len(self.trash)))
            async with self.library.database.unit() as session:
                await self.library.intake.undelete_card(session, self.library.id, card)
            self.alive.append(card)

    async def _reingest(self) -> None:
        if self.alive:
            async with self.library.database.unit() as session:
                card = self.chance.choice(self.alive)
                await self.library.intake.reingest_card(session, self.library.id, card)

    async def _post(self) -> None:
        """A new card with an extraction, one for a card that is there, or one said again."""
        self._posts += self.chance.random() < 0.7
        claim = sentence(self.chance)
        body: dict[str, Any] = {"title": f"Post {self._posts}", "summary": claim}
        if self.chance.random() < 0.7:
            body["facets"] = [{"title": "Told", "description": claim, "points": [{"text": claim}]}]
        if self.chance.random() < 0.7:
            one, other = self.chance.sample(PEOPLE, 2)
            body["entities"] = [{"name": one, "type": "person"}, {"name": other, "type": "person"}]
            body["relations"] = [{"source": one, "target": other, "predicate": "knows", "text": claim}]
        card: NewCard | CardRef
        if self.alive and self.chance.random() < 0.5:
            card = CardRef(id=self.chance.choice(self.alive))
        else:
            card = NewCard(f"Posted {self._posts}", f"{claim} {sentence(self.chance)}", external_id=f"c{self._posts}")
        item = EpisodePost(card, f"e{self._posts}", self.chance.random() < 0.5, body)
        async with self.library.database.unit() as session:
            (done,) = await post_episodes(session, self.library.id, self.library.intake, [item], queued=False)
        if done.error is not None:
            self.refused[done.error.code] += 1
        elif done.card_id is not None and done.card_id not in self.alive:
            self.alive.append(done.card_id)

    # ------------------------------------------------------------------------------------- entities

    async def _entities(self, where: str = "merged_into IS NULL") -> list[uuid.UUID]:
        rows = await self.library.rows(f"SELECT id FROM entities WHERE workspace_id = :w AND {where} ORDER BY name, id")
        return [row[0] for row in rows]

    async def _merge(self) -> None:
        roots = await self._entities()
        if len(roots) > 1:
            one, other = self.chance.sample(roots, 2)
            async with self.library.database.unit() as session:
                await revise.merge(session, self.library.id, one, other)

    async def _unmerge(self) -> None:
        if members := await self._entities("merged_into IS NOT NULL"):
            async with self.library.database.unit() as session:
                await revise.unmerge(session, self.library.id, self.chance.choice(members))

    async def _split(self) -> None:
        rows = await self.library.rows(
            "SELECT coalesce(e.merged_into, e.id), (array_agg(DISTINCT m.card_id))[1] FROM mentions m "
            "JOIN entities e ON e.workspace_id = m.workspace_id AND e.id = m.entity_id WHERE m.workspace_id = :w "
            "GROUP BY 1 HAVING count(DISTINCT m.card_id) > 1 ORDER BY min(e.name), 1"
        )
        if rows:
            entity_id, card_id = self.chance.choice(rows)
            name = self.chance.choice([None, "Somebody Else"])
            async with self.library.database.unit() as session:
                linker = self.library.pipeline.linker
                await revise.split(session, self.library.id, linker, entity_id, [card_id], name)

    async def _patch(self) -> None:
        if roots := await self._entities():
            async with self.library.database.unit() as session:
                changes = revise.EntityPatch(description=f"Told by a person {self.chance.randint(1, 99)}.")
                linker = self.library.pipeline.linker
                await revise.patch(session, self.library.id, linker, self.chance.choice(roots), changes)

    async def _decide(self) -> None:
        pairs = await self.library.rows(
            "SELECT id FROM entity_pairs WHERE workspace_id = :w AND state = 'waiting' ORDER BY id"
        )
        if pairs:
            async with self.library.database.unit() as session:
                answer: revise.PairDecision = self.chance.choice(["merge", "apart"])
                await revise.decide_pair(session, self.library.id, self.chance.choice(pairs)[0], answer)

    async def _execute(self, statement: str) -> None:
        async with self.library.database.unit() as session:
            await session.execute(text(statement), {"w": self.library.id})


async def examined(library: Library) -> dict[str, int]:
    """What the doctor finds wrong."""
    report = await examiner(library.database)(True)
    return {name: count for name, count in report.invariants.items() if count}


async def counted(library: Library, tables: tuple[str, ...] = DERIVED) -> dict[str, int]:
    return {
        table: (await library.rows(f"SELECT count(*) FROM {table} WHERE workspace_id = :w"))[0][0] for table in tables
    }


async def fresh_copy(library: Library, slug: str) -> Library:
    """Another workspace with the same cards and posts, learned once."""
    copy = Library(library.database, library.embedder, library.segmenter, slug=slug, extractor="offline")
    await copy.open()
    cards = await library.rows(
        "SELECT id, title, content, tags, external_id, created_at, added_at FROM cards "
        "WHERE workspace_id = :w AND trashed_at IS NULL ORDER BY id"
    )
    made: dict[uuid.UUID, uuid.UUID] = {}
    for card_id, title, body, tags, external_id, *moments in cards:
        made[card_id] = await copy.add(title, body, tags=tags, external_id=external_id)
        async with copy.database.unit() as session:
            await session.execute(
                text("UPDATE cards SET created_at = :created, added_at = :added WHERE id = :id"),
                {"id": made[card_id], "created": moments[0], "added": moments[1]},
            )
    posted = await library.rows(
        "SELECT p.card_id, p.external_id, p.is_complete, p.body FROM posted_episodes p "
        "JOIN cards c ON c.workspace_id = p.workspace_id AND c.id = p.card_id "
        "WHERE p.workspace_id = :w AND c.trashed_at IS NULL ORDER BY p.card_id, p.ordinal"
    )
    items: list[EpisodePost | MindConeError] = [
        EpisodePost(CardRef(id=made[card_id]), external_id, is_complete, body)
        for card_id, external_id, is_complete, body in posted
    ]
    async with copy.database.unit() as session:
        done = await post_episodes(session, copy.id, copy.intake, items, queued=False)
    assert {one.status for one in done} <= {"created"}
    outcome = await copy.learn()
    assert (outcome.ready, outcome.failed) == (len(cards), {})
    return copy
