"""Facts that change: what a later claim ends, and what comes back when it goes. Real PostgreSQL, no pipeline."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text

from app.cards.drafts import CardPatch, NewCard
from app.core.ids import new_id
from app.db.session import Database
from app.graph.claim_queries import DatedClaim, PointNotFound, history, list_superseded
from app.graph.cone_queries import delete_cone, insert_cone, lock_graph, take_docs
from app.graph.rows import ConeRows, EpisodeRow, FacetRow, PointRow, Words
from app.ingestion.cone.validity import claim_key
from app.ingestion.submit import Intake
from app.people import queries as people
from app.text.segment import Segmenter
from tests.search_library import Library, Scattered

pytest_plugins = ("tests.search_library",)

FIVE = "The Alpha warranty lasts 5 years."
SIX = "The Alpha warranty lasts 6 years."
SEVEN = "The Alpha warranty lasts 7 years."


def day(number: int) -> datetime:
    return datetime(2024, 1, number, 9, tzinfo=UTC)


class Book:
    """Cards and the points that they make, written in one unit each."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.intake = Intake(queued=False)
        self.id = uuid.UUID(int=0)

    async def open(self, slug: str = "book") -> Book:
        async with self.database.unit() as session:
            self.id = (await people.insert_workspace(session, slug, slug)).id
        return self

    async def write(self, at: datetime, *claims: str, about: uuid.UUID | None = None) -> uuid.UUID:
        async with self.database.unit() as session:
            new = NewCard("Note", " ".join(claims), created_at=at)
            card_id = (await self.intake.submit_card(session, self.id, new)).id
            await self._tell(session, card_id, claims, about)
        return card_id

    async def rewrite(self, card_id: uuid.UUID, *claims: str) -> None:
        """The card's rows are replaced, as ingestion does it."""
        async with self.database.unit() as session:
            await lock_graph(session, self.id)
            await delete_cone(session, self.id, [card_id])
            await self._tell(session, card_id, claims, None)

    async def _tell(self, session: Any, card_id: uuid.UUID, claims: Sequence[str], about: uuid.UUID | None) -> None:
        cone = ConeRows(card_id)
        docs = iter(await take_docs(session, len(claims) + 2))
        episode = EpisodeRow(new_id(), card_id, 0, None, "Note", "note", "", None, "own", Words(1, 0, next(docs)))
        facet = FacetRow(new_id(), episode, 0, "Note", "", None, None, None, Words(1, 0, next(docs)))
        for number, claim in enumerate(claims):
            made = claim_key(claim, ["Alpha", "Acme"], False)
            assert made is not None, claim
            cone.points.append(
                PointRow(
                    id=new_id(),
                    facet=facet,
                    chunk_id=None,
                    ordinal=number,
                    text=claim,
                    start=None,
                    end=None,
                    speaker=None,
                    happened=None,
                    entities=("Alpha",) if about else (),
                    lexical=Words(1, 0, next(docs)),
                    claim_key=made.key,
                    claim_value=made.value,
                )
            )
        cone.episodes.append(episode)
        cone.facets.append(facet)
        await insert_cone(session, self.id, [cone], {(card_id, "Alpha"): about} if about else {})

    async def valid(self) -> dict[str, tuple[datetime, datetime] | None]:
        """By claim, when it held; None where it still does."""
        async with self.database.read() as session:
            rows = await session.execute(
                text("SELECT text, lower(valid_during), upper(valid_during) FROM points WHERE workspace_id = :w"),
                {"w": self.id},
            )
            return {claim: (start, end) if end else None for claim, start, end in rows}

    async def ended(self, **by: uuid.UUID) -> list[tuple[str, str]]:
        async with self.database.read() as session:
            found = await list_superseded(session, self.id, **by)
        return [(pair.older.text, pair.newer.text) for pair in found]

    async def history(self, claim: str) -> list[DatedClaim]:
        async with self.database.read() as session:
            found = await session.execute(
                text("SELECT id FROM points WHERE workspace_id = :w AND text = :t ORDER BY id LIMIT 1"),
                {"w": self.id, "t": claim},
            )
            return await history(session, self.id, found.scalar_one())


@pytest.fixture
async def book(database: Database) -> Book:
    return await Book(database).open()


async def test_c5_a_changed_number_is_kept_and_ends_the_older_claim(book: Book) -> None:
    """C5: "5 years" → "6 years" is no duplicate; both stay, and the change is reported."""
    old = await book.write(day(1), FIVE)
    assert await book.valid() == {FIVE: None}
    assert await book.ended() == []
    new = await book.write(day(5), SIX)
    assert await book.valid() == {FIVE: (day(1), day(5)), SIX: None}
    assert await book.ended(card_id=old) == [(FIVE, SIX)]
    assert await book.ended(card_id=new) == [(FIVE, SIX)]
    async with book.database.read() as session:
        (pair,) = await list_superseded(session, book.id)
    assert (pair.older.card_id, pair.older.value, pair.older.said_at) == (old, "60", day(1))
    assert (pair.older.valid_until, pair.older.superseded_by) == (day(5), pair.newer.id)
    assert (pair.newer.card_id, pair.newer.value, pair.newer.card_title) == (new, "72", "Note")
    assert (pair.newer.valid_until, pair.newer.superseded_by) == (None, None)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
async def test_the_order_of_arrival_does_not_matter(book: Book, order: tuple[int, ...]) -> None:
    told = [(day(1), FIVE), (day(5), SIX), (day(9), SEVEN)]
    for number in order:
        await book.write(*told[number])
    assert await book.valid() == {FIVE: (day(1), day(5)), SIX: (day(5), day(9)), SEVEN: None}
    assert await book.ended() == [(SIX, SEVEN), (FIVE, SIX)]
    assert [claim.text for claim in await book.history(SIX)] == [FIVE, SIX, SEVEN]
    assert [claim.valid_until for claim in await book.history(SIX)] == [day(5), day(9), None]


async def test_what_is_said_again_ends_with_the_first_that_says_otherwise(book: Book) -> None:
    await book.write(day(1), FIVE)
    await book.write(day(3), "The Alpha warranty lasts five years.")
    assert set((await book.valid()).values()) == {None}
    await book.write(day(5), SIX)
    assert await book.valid() == {
        FIVE: (day(1), day(5)),
        "The Alpha warranty lasts five years.": (day(3), day(5)),
        SIX: None,
    }


async def test_a_value_that_returns_is_valid_again(book: Book) -> None:
    await book.write(day(1), FIVE)
    await book.write(day(5), SIX)
    await book.write(day(9), FIVE)
    claims = await book.history(FIVE)
    assert [(claim.text, claim.said_at, claim.valid_until) for claim in claims] == [
        (FIVE, day(1), day(5)),
        (SIX, day(5), day(9)),
        (FIVE, day(9), None),
    ]


@pytest.mark.parametrize("way", ["remove", "trash", "rewrite"])
async def test_without_the_newer_claim_the_older_holds_again(book: Book, way: str) -> None:
    await book.write(day(1), FIVE)
    new = await book.write(day(5), SIX)
    assert (await book.valid())[FIVE] == (day(1), day(5))
    if way == "rewrite":
        await book.rewrite(new, "Acme has 120 employees.")
    else:
        async with book.database.unit() as session:
            await (book.intake.remove_card if way == "remove" else book.intake.trash_card)(session, book.id, new)
    valid = await book.valid()
    assert valid[FIVE] is None
    assert SIX not in valid
    assert await book.ended() == []


async def test_without_the_middle_claim_the_first_ends_with_the_last(book: Book) -> None:
    await book.write(day(1), FIVE)
    middle = await book.write(day(5), SIX)
    await book.write(day(9), SEVEN)
    async with book.database.unit() as session:
        await book.intake.remove_card(session, book.id, middle)
    assert await book.valid() == {FIVE: (day(1), day(9)), SEVEN: None}


async def test_another_date_of_the_card_settles_it_again(book: Book) -> None:
    await book.write(day(3), FIVE)
    moved = await book.write(day(5), SIX)
    async with book.database.unit() as session:
        await book.intake.change_card(session, book.id, moved, CardPatch(created_at=day(1)))
    assert await book.valid() == {SIX: (day(1), day(3)), FIVE: None}
    assert await book.ended() == [(SIX, FIVE)]


async def test_a_card_that_gives_two_values_decides_nothing(book: Book) -> None:
    await book.write(day(1), FIVE)
    await book.write(day(5), SIX, SEVEN)
    assert await book.valid() == {FIVE: None, SIX: None, SEVEN: None}
    await book.write(day(9), "The Alpha warranty lasts 8 years.")
    valid = await book.valid()
    assert valid[FIVE] == (day(1), day(9))
    assert (valid[SIX], valid[SEVEN]) == (None, None)


async def test_equal_dates_decide_nothing(book: Book) -> None:
    await book.write(day(1), FIVE)
    await book.write(day(1), SIX)
    assert await book.valid() == {FIVE: None, SIX: None}


async def test_two_workspaces_know_nothing_of_each_other(database: Database) -> None:
    one, two = await Book(database).open("one"), await Book(database).open("two")
    old = await one.write(day(1), FIVE)
    await two.write(day(5), SIX)
    assert await one.valid() == {FIVE: None}
    await one.write(day(7), SEVEN)
    assert await two.valid() == {SIX: None}
    assert await two.ended() == []
    assert await two.ended(card_id=old) == []
    async with database.read() as session:
        (pair,) = await list_superseded(session, one.id)
        with pytest.raises(PointNotFound):
            await history(session, two.id, pair.older.id)


async def test_other_attributes_and_subjects_are_left_alone(book: Book) -> None:
    await book.write(day(1), FIVE, "Acme has 120 employees.")
    await book.write(day(5), "Acme has 150 employees.")
    assert await book.valid() == {
        FIVE: None,
        "Acme has 120 employees.": (day(1), day(5)),
        "Acme has 150 employees.": None,
    }
    assert [claim.text for claim in await book.history(FIVE)] == [FIVE]


async def test_what_ended_about_an_entity_and_those_merged_into_it(book: Book) -> None:
    alpha, other, stranger = new_id(), new_id(), new_id()
    async with book.database.unit() as session:
        # The linker's rows in short; a mention would need a chunk.
        for number, (entity, into) in enumerate([(alpha, None), (other, alpha), (stranger, None)]):
            await session.execute(
                text(
                    "INSERT INTO entities (workspace_id, id, name, key, kind, type, merged_into, words, grams) "
                    "VALUES (:w, :id, :key, :key, 'thing', 'product', :into, 1, 0)"
                ),
                {"w": book.id, "id": entity, "key": f"alpha{number}", "into": into},
            )
    await book.write(day(1), FIVE, about=other)
    await book.write(day(5), SIX, about=alpha)
    await book.write(day(9), SEVEN, about=alpha)
    assert await book.ended(entity_id=alpha) == [(SIX, SEVEN), (FIVE, SIX)]
    assert await book.ended(entity_id=other) == [(FIVE, SIX)]
    assert await book.ended(entity_id=stranger) == []


async def test_as_many_as_asked_for_the_latest_first(book: Book) -> None:
    for number in range(1, 6):
        await book.write(day(number), f"The Alpha warranty lasts {number} years.")
    async with book.database.read() as session:
        found = await list_superseded(session, book.id, limit=2)
    assert [pair.older.value for pair in found] == ["48", "36"]


async def test_c5_through_the_pipeline(database: Database, scattered: Scattered, segmenter: Segmenter) -> None:
    """C5: a card with a changed number is learned beside the older one, and what it changes is reported."""
    plain = await Library(database, scattered, segmenter, extractor="offline").open()
    old = await plain.add("Alpha", "The Alpha warranty lasts 5 years.", created_at=day(1))
    new = await plain.add("Alpha, again", "The Alpha warranty lasts 6 years.", created_at=day(5))
    await plain.learn()
    async with plain.database.read() as session:
        (pair,) = await list_superseded(session, plain.id, card_id=new)
    assert (pair.older.card_id, pair.older.value, pair.older.valid_until) == (old, "60", day(5))
    assert (pair.newer.card_id, pair.newer.value, pair.newer.valid_until) == (new, "72", None)
    assert sorted(await plain.titles("How long does the Alpha warranty last?")) == ["Alpha", "Alpha, again"]
