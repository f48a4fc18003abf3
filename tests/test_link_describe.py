"""Descriptions of entities are bounded and follow what cards tell: by rules, and summarised by a model (C14, C16)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.index.spaces import Spaces
from app.ingestion.link import revise, summary
from app.ingestion.link.describe import LONGEST, bounded, together
from app.ingestion.link.describing import Describing
from app.ingestion.link.resolve import Resolver
from app.ingestion.link.summary import ENTITIES_PER_CALL, STATED_CHARACTERS, Stated, usable
from app.providers.fake import FakeProvider
from app.providers.fake_script import Said
from app.providers.ports import ProviderDown
from app.settings import Settings
from app.text.segment import Segmenter
from app.wiring import Services
from app.worker import enqueue_linking
from tests.api_client import execute
from tests.chat_client import with_model
from tests.provenance_desk import examined
from tests.search_library import Library, Scattered
from tests.test_llm_pipeline import KNOBS, Desk, Model

pytest_plugins = ("tests.api_client", "tests.chat_client", "tests.search_library")

Body = Mapping[str, Any]
SUMMARY = "Acme is a maker of tools with plants in Oslo, Kiel and Bergen, founded in 1999."


def telling(n: int) -> str:
    city = ("Oslo", "Kiel", "Bergen", "Turku", "Gdansk", "Riga")[n]
    return (
        f"Acme is a maker of tools that was founded in 1999. Its plant in {city} has {n + 20} machines, "
        f"{n + 300} workers and a canteen that serves {n + 40} kinds of soup to all of them on every second Friday of "
        "the month."
    )


class Describes(Model):
    """The model of the other tests, which is also asked for descriptions: `describes` answers these."""

    def __init__(self, fake: FakeProvider) -> None:
        super().__init__(fake)
        self.asked: list[list[Any]] = []
        self.describes: Callable[[list[Any]], Any] = lambda items: {
            "descriptions": [{"entity": item["entity"], "description": SUMMARY} for item in items]
        }
        self.reads = lambda passage: {
            "entities": [{"name": "Acme", "type": "organization", "description": passage}],
            "relations": [],
            "episodes": [],
        }

    def _answer(self, body: Body) -> Any:
        system, user = (str(message["content"]) for message in body["messages"][:2])
        if not system.startswith(summary.INSTRUCTIONS[:60]):
            return super()._answer(body)
        self.asked.append(json.loads(user))
        said = self.describes(self.asked[-1])
        return json.dumps(said, ensure_ascii=False) if isinstance(said, dict) else said


@pytest.fixture
def settings(tmp_path: Path, fake: FakeProvider) -> Settings:
    return with_model(tmp_path, fake, **KNOBS)


@pytest.fixture
def model(fake: FakeProvider) -> Describes:
    return Describes(fake)


@pytest.fixture
def desk(services: Services) -> Desk:
    return Desk(services)


async def tell(desk: Desk, *numbers: int) -> list[uuid.UUID]:
    return [await desk.learn(telling(n), f"Visit {n}") for n in numbers]


async def description(desk: Desk) -> str:
    """Of Acme, found by it too: its vector is that of this text."""
    await settled(desk)
    ((said,),) = await desk.rows("SELECT description FROM entities WHERE workspace_id = :w AND name = 'Acme'")
    assert await examined(desk_library(desk)) == {}
    return str(said)


async def settled(desk: Desk) -> None:
    await enqueue_linking(desk.services)
    await desk.work(to_the_end=True)


def desk_library(desk: Desk) -> Library:
    """What the doctor wants of a library."""
    services = desk.services
    return Library(services.database, services.embedder, services.segmenter).at(desk.id)


async def test_what_fits_is_said_as_cards_say_it_and_each_sentence_once(desk: Desk, model: Describes) -> None:
    await tell(desk, 0, 1)
    said = await description(desk)
    assert said.count("founded in 1999") == 1
    assert ("Oslo" in said, "Kiel" in said, len(said) <= LONGEST, model.asked) == (True, True, True, [])


async def test_what_outgrows_the_bound_is_summarised_once_and_its_sources_stay(
    desk: Desk, model: Describes, services: Services
) -> None:
    cards = await tell(desk, 0, 1, 2, 3)
    calls = len(model.asked)
    assert await description(desk) == SUMMARY
    assert len(model.asked) <= calls + 1
    (item,) = model.asked[-1]
    assert all(city in item["statements"] for city in ("Oslo", "Kiel", "Bergen"))
    assert item["statements"].count("founded in 1999") == 1
    assert await desk.rows("SELECT count(*), count(DISTINCT description) FROM entity_tellings") == [(4, 4)]
    # Nothing is paid for twice: the same cards, read again.
    calls = len(model.asked)
    for card in cards:
        await desk.reingest(card)
    await desk.work(to_the_end=True)
    assert (await description(desk), len(model.asked)) == (SUMMARY, calls)
    # What a card said goes with it.
    async with services.database.unit() as session:
        await services.intake.remove_card(session, desk.id, cards[2])
        await services.intake.remove_card(session, desk.id, cards[3])
    said = await description(desk)
    assert ("Oslo" in said, "Kiel" in said, "Bergen" in said, len(model.asked)) == (True, True, False, calls)


async def test_summaries_are_metered(desk: Desk, model: Describes, services: Services) -> None:
    await tell(desk, 0, 1, 2, 3)
    await settled(desk)
    await services.meter.flush()
    ((calls,),) = await desk.rows("SELECT sum(calls) FROM usage_days WHERE workspace_id = :w AND purpose = 'extract'")
    assert calls == len(model.passages) + len(model.asked) > len(model.passages)


@pytest.mark.parametrize(
    "said",
    [
        "I cannot tell.",
        {"descriptions": []},
        {"descriptions": [{"entity": 1, "description": ""}]},
        {"descriptions": [{"entity": 1, "description": None}]},
        {"descriptions": [{"entity": 7, "description": SUMMARY}]},
        {"descriptions": [{"entity": 1, "description": "I am sorry, but as a language model I cannot do that."}]},
        {"descriptions": [{"entity": 1, "description": "Acme is a maker of tools that was founded in 1873."}]},
        {"descriptions": [{"entity": 1, "description": "阿克梅是一家工具制造商，成立于1999年。"}]},
        Said("", "400"),
    ],
    ids=["chatter", "none", "empty", "null", "another", "refusal", "invented", "language", "refused"],
)
async def test_an_answer_that_is_none_costs_nothing(desk: Desk, model: Describes, said: Any) -> None:
    model.describes = lambda items: said
    await tell(desk, 0, 1, 2, 3)
    found = await description(desk)
    assert found == bounded(together(telling(n) for n in range(4)))
    assert ("1999" in found, len(found) <= LONGEST) == (True, True)
    assert await desk.rows("SELECT 1 FROM descriptions_due") == []


@pytest.mark.parametrize("said", [Said("", "503"), Said(None)], ids=["down", "null"])
async def test_a_model_that_is_away_is_asked_again(desk: Desk, model: Describes, said: Said) -> None:
    model.describes = lambda items: said
    await tell(desk, 0, 1, 2, 3)
    assert await description(desk) == bounded(together(telling(n) for n in range(4)))
    assert await desk.rows("SELECT DISTINCT state FROM cards") == [("ready",)]
    assert await desk.rows("SELECT count(*) > 0 FROM descriptions_due") == [(True,)]
    model.describes = lambda items: {"descriptions": [{"entity": 1, "description": SUMMARY}]}
    await execute(desk.services.database, "UPDATE jobs SET finished_at = now() - interval '11 minutes'")
    assert await description(desk) == SUMMARY


async def test_what_a_person_has_written_stays(desk: Desk, model: Describes, services: Services) -> None:
    await tell(desk, 0)
    ((entity,),) = await desk.rows("SELECT id FROM entities WHERE workspace_id = :w AND name = 'Acme'")
    async with services.database.unit() as session:
        patch = revise.EntityPatch(description="Ours.")
        await revise.patch(session, desk.id, services.pipeline.linker, entity, patch)
    await tell(desk, 1, 2, 3, 4)
    assert (await description(desk), model.asked) == ("Ours.", [])


# ------------------------------------------------------------------------------------------- by rules


@pytest.fixture
async def plain_cards(services: Services, scattered: Scattered, segmenter: Segmenter) -> Library:
    return await Library(services.database, scattered, segmenter, extractor="offline").open()


async def described(library: Library, name: str) -> str | None:
    linker = library.pipeline.linker
    await Resolver(library.database, Spaces(library.embedder), describing=Describing(library.database, linker)).run(
        library.id
    )
    rows = await library.rows("SELECT description FROM entities WHERE workspace_id = :w AND name = :name", name=name)
    assert await examined(library) == {}
    return str(rows[0][0]) if rows else None


async def test_what_only_a_deleted_card_told_is_told_no_more(plain_cards: Library) -> None:
    """D1."""
    defines = await plain_cards.add("One", "Solfin is a bank in Bergen that lends money to fishermen.")
    await plain_cards.learn()
    also = await plain_cards.add("Two", "Solfin is a club of divers.")
    await plain_cards.learn()
    await plain_cards.add("Three", "I met people of Solfin and of Fjordfisk.")
    await plain_cards.learn()
    first = await described(plain_cards, "Solfin")
    assert "bank" in (first or "")
    for card, said in ((defines, "club"), (also, "")):
        async with plain_cards.database.unit() as session:
            await plain_cards.intake.trash_card(session, plain_cards.id, card)
        found = await described(plain_cards, "Solfin")
        assert found is not None
        assert ("bank" in found, said in found, bool(found)) == (False, True, bool(said))


class Breaks:
    """Describes so many groups of entities, and is away then."""

    version, model = "describe/test", "test/model"

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.asked: list[str] = []

    async def describe(self, stated: Sequence[Stated]) -> list[str | None]:
        if not self.groups:
            raise ProviderDown
        self.groups -= 1
        self.asked += [one.name for one in stated]
        return [f"{one.name} in short." for one in stated]


async def test_what_was_described_before_the_model_went_away_is_not_paid_for_again(plain_cards: Library) -> None:
    names = [f"Solfin{letter}" for letter in "abcdefghij"]
    for name in names:
        await plain_cards.add(name, f"{name} is a bank in Bergen.")
    await plain_cards.learn()
    await plain_cards.execute(
        "UPDATE entity_tellings SET description = description || repeat(' It lends money, and ' || entity_id, 20) "
        "WHERE workspace_id = :w"
    )
    await plain_cards.execute(
        "INSERT INTO descriptions_due (workspace_id, entity_id) SELECT workspace_id, entity_id FROM entity_tellings "
        "WHERE workspace_id = :w"
    )
    first, second = Breaks(1), Breaks(9)
    with pytest.raises(ProviderDown):
        await Describing(plain_cards.database, plain_cards.pipeline.linker, lambda: first).run(plain_cards.id)
    await Describing(plain_cards.database, plain_cards.pipeline.linker, lambda: second).run(plain_cards.id)
    assert (len(first.asked), sorted(first.asked + second.asked)) == (ENTITIES_PER_CALL, names)
    rows = await plain_cards.rows(
        "SELECT description FROM entities WHERE workspace_id = :w AND name LIKE 'Solfin%' ORDER BY name"
    )
    assert [row[0] for row in rows] == [f"{name} in short." for name in names]


# --------------------------------------------------------------------------------------------- pure


def test_sentences_stand_once_and_apart() -> None:
    assert together(["A company", "A company.", "Makes tools! A  company"]) == "A company. Makes tools!"
    assert together(["一家公司", "一家公司。做工具"]) == "一家公司。 做工具。"
    assert together(["", " "]) == ""


def test_long_statements_are_cut_to_those_that_say_most() -> None:
    text = (
        " ".join(f"It is so and so and so on {'very ' * n}indeed." for n in range(60)) + " Founded in 1999 by Ada Berg."
    )
    assert len(text) > STATED_CHARACTERS
    cut = bounded(text, STATED_CHARACTERS)
    assert (len(cut) <= STATED_CHARACTERS, "Ada Berg" in cut) == (True, True)


def test_a_long_answer_is_bounded() -> None:
    stated = Stated("Acme", "organization", telling(0))
    found = usable(" ".join([telling(0)] * 9), stated)
    assert found is not None
    assert len(found) <= LONGEST
