"""Names of cards become entities: known ones, new ones, and those that are one."""

from __future__ import annotations

import uuid

import numpy as np
import pytest

from app.db.session import Database
from app.index import queries as index
from app.index import vector_index
from app.index.collections import TextKind
from app.ingestion.link.describe import LONGEST
from app.ingestion.link.linker import Linker, PlanOutdated
from app.ingestion.link.thresholds import BGE_M3, NEVER, Thresholds
from tests.link_desk import SEGMENTER, Desk, named
from tests.search_library import Scattered

pytest_plugins = ("tests.link_desk",)


async def test_equal_keys_are_one_entity_and_a_repeated_post_adds_nothing(desk: Desk) -> None:
    """C4."""
    card = await desk.tell(named("System Admin", "person", "Keeps the servers running"))
    await desk.tell("SystemAdmin")
    await desk.tell("system admin", "ＳＹＳＴＥＭ　ＡＤＭＩＮ")
    assert len(await desk.groups()) == 1
    before = await desk.rows("SELECT id, doc, updated_at FROM entities WHERE workspace_id = :w")
    vectors = await desk.rows("SELECT owner_id, xmin FROM entity_vectors WHERE workspace_id = :w")
    await desk.tell(named("System Admin", "person", "Keeps the servers running"), card=card)
    assert await desk.rows("SELECT id, doc, updated_at FROM entities WHERE workspace_id = :w") == before
    assert await desk.rows("SELECT owner_id, xmin FROM entity_vectors WHERE workspace_id = :w") == vectors
    await desk.in_order()


async def test_an_entity_keeps_the_spelling_of_its_own_name(desk: Desk) -> None:
    """What is embedded goes by it, whatever its only card calls it when it is read again."""
    card = await desk.tell("inbox")
    await desk.tell("INBOX", card=card)
    assert await desk.rows("SELECT e.name, n.name FROM entities e JOIN entity_names n ON n.entity_id = e.id") == [
        ("inbox", "inbox")
    ]
    await desk.in_order()


async def test_a_candidate_that_is_merged_on_better_grounds_waits_for_nobody(desk: Desk) -> None:
    long = "Mutually Exclusive Collectively Exhaustive"
    await desk.tell("MECE")
    await desk.link({await desk.card("a"): [named("MECE", "other", "", long)], await desk.card("b"): [named(long)]})
    assert len(await desk.groups()) == 1
    assert await desk.rows("SELECT state, decided_by FROM entity_pairs WHERE workspace_id = :w") == [("merged", "rule")]
    await desk.in_order()


async def test_a_middle_initial_is_merged_with_audit_whichever_comes_first(desk: Desk) -> None:
    """C1."""
    await desk.tell(named("Donald J. Trump", "person", "45th President of the United States"))
    await desk.tell(named("Donald Trump", "person", "American businessman"))
    await desk.tell(named("John Kennedy", "person"))
    await desk.tell(named("John F. Kennedy", "person"))
    assert await desk.groups() == {
        frozenset({"Donald J. Trump", "Donald Trump"}),
        frozenset({"John Kennedy", "John F. Kennedy"}),
    }
    assert ("Donald Trump", "Donald J. Trump", "name", "merged", "rule") in await desk.log()
    await desk.in_order()


async def test_variants_in_one_group_of_cards_are_merged(desk: Desk) -> None:
    """C10: in one card, and in several of one batch."""
    first, second = await desk.card("a"), await desk.card("b")
    await desk.link(
        {
            first: [named("Donald J. Trump", "person"), named("Donald Trump", "person"), named("國家圖書館")],
            second: [named("国家图书馆", "organization"), named("Large Language Models", "concept")],
            await desk.card("c"): [named("Large Language Model", "concept"), named("K8s")],
            await desk.card("d"): [named("Kubernetes", "product", "", "K8s")],
        }
    )
    assert await desk.groups() == {
        frozenset({"Donald J. Trump", "Donald Trump"}),
        frozenset({"國家圖書館", "国家图书馆"}),
        frozenset({"Large Language Models", "Large Language Model"}),
        frozenset({"K8s", "Kubernetes"}),
    }
    await desk.in_order()


async def test_types_versions_and_prefixes_stay_apart(desk: Desk) -> None:
    """C2."""
    president, state = named("Washington", "person", "First President"), named("Washington", "place", "State")
    await desk.tell(president, named("GPT-3", "product"), "Java", "C", "Mercury (planet)")
    await desk.tell(state, named("GPT-4", "product"), "JavaScript", "C++", "Mercury (element)")
    entities = await desk.rows("SELECT name, kind FROM entities WHERE workspace_id = :w AND merged_into IS NULL")
    assert sorted(entities) == [
        ("C", "other"),
        ("C++", "other"),
        ("GPT-3", "thing"),
        ("GPT-4", "thing"),
        ("Java", "other"),
        ("JavaScript", "other"),
        ("Mercury (element)", "other"),
        ("Mercury (planet)", "other"),
        ("Washington", "person"),
        ("Washington", "place"),
    ]
    assert await desk.pairs() == set()


async def test_homonyms_are_two_and_the_pair_is_listed(desk: Desk) -> None:
    """C2: two 李伟. Later cards find the one that their text fits."""
    await desk.tell(named("李伟", "person", "清华大学物理学教授"))
    await desk.tell(named("李伟", "person", "成都一家川菜馆的厨师"))
    rows = await desk.rows("SELECT sense, description FROM entities WHERE workspace_id = :w ORDER BY sense")
    assert rows == [(0, "清华大学物理学教授"), (1, "成都一家川菜馆的厨师")]
    assert await desk.pairs() == {frozenset({"李伟"})}
    cook = await desk.tell(named("李伟", "person", "川菜厨师"))
    plain = await desk.tell(named("李伟", "person"))
    found = await desk.rows(
        "SELECT m.card_id, e.sense FROM mentions m JOIN entities e ON e.workspace_id = m.workspace_id "
        "AND e.id = m.entity_id WHERE m.workspace_id = :w"
    )
    assert {(cook, 1), (plain, 0)} <= set(found)


async def test_an_unknown_type_is_learned_and_never_lost(desk: Desk) -> None:
    await desk.tell("孟连")
    await desk.tell(named("孟连", "place", "云南普洱的一个县"))
    await desk.tell("孟连")
    assert await desk.rows("SELECT kind, type, description FROM entities WHERE workspace_id = :w") == [
        ("place", "place", "云南普洱的一个县")
    ]
    await desk.in_order()


async def test_aliases_that_texts_give_are_known_from_then_on(desk: Desk) -> None:
    await desk.tell(named("Kubernetes", "product", "Orchestrates containers"))
    await desk.tell(named("Kubernetes", "product", "", "K8s"))
    await desk.tell("k8s")
    assert await desk.groups() == {frozenset({"Kubernetes", "k8s"})}
    assert await desk.rows("SELECT count(*) FROM entities WHERE workspace_id = :w") == [(1,)]
    assert ("K8s", "Kubernetes", "alias", "merged", "rule") in await desk.log()
    await desk.in_order()


async def test_two_that_are_there_become_one_when_a_text_says_so(desk: Desk) -> None:
    await desk.tell("字节跳动", "ByteDance")
    assert len(await desk.groups()) == 2
    await desk.tell(named("ByteDance", "organization", "", "字节跳动"))
    assert await desk.groups() == {frozenset({"字节跳动", "ByteDance"})}
    await desk.in_order()


async def test_an_alias_of_two_is_nobodys(desk: Desk) -> None:
    await desk.tell(named("李伟", "person", "", "李总"))
    await desk.tell(named("李强", "person", "", "李总"))
    await desk.tell(named("李总", "person"))
    assert frozenset({"李总"}) in await desk.groups()
    assert await desk.pairs() == {frozenset({"李总", "李伟"}), frozenset({"李总", "李强"})}
    # In a card that speaks of one of them, it is that one.
    await desk.tell(named("李强", "person"), named("李总", "person"))
    rows = await desk.rows("SELECT count(*) FROM entities WHERE workspace_id = :w")
    assert rows == [(3,)]


async def test_who_could_be_two_is_asked_about(desk: Desk) -> None:
    await desk.tell(named("George W. Bush", "person"), named("George H. W. Bush", "person"))
    await desk.tell(named("George Bush", "person"))
    assert len(await desk.groups()) == 3
    assert frozenset({"George Bush", "George W. Bush"}) in await desk.pairs()
    assert frozenset({"George Bush", "George H. W. Bush"}) in await desk.pairs()


@pytest.mark.parametrize(("one", "other"), [("World Health Organization", "WHO"), ("WHO", "World Health Organization")])
async def test_an_acronym_is_a_candidate(desk: Desk, one: str, other: str) -> None:
    await desk.tell(one)
    await desk.tell(other)
    assert await desk.pairs() == {frozenset({one, other})}
    assert (other, one, "name", "candidate", "rule") in await desk.log()
    await desk.tell(one, other)
    assert len(await desk.log()) == 1


async def test_what_is_no_longer_said_is_forgotten(desk: Desk) -> None:
    """D1: nothing of a deleted entity comes back with its name; an edited card's description goes with its text."""
    card = await desk.tell(named("Marco Bellini", "person", "Roaster in Bologna", "Bellini the roaster"))
    await desk.tell(named("Marco Bellini", "person", "Teaches cooking", "Chef Bellini"), card=card)
    assert (await desk.entity("Marco Bellini"))[2] == "Teaches cooking"
    names = await desk.rows("SELECT name FROM entity_names WHERE workspace_id = :w ORDER BY name")
    assert names == [("Chef Bellini",), ("Marco Bellini",)]
    old = await desk.id_of("Marco Bellini")
    await desk.remove(card)
    assert await desk.rows("SELECT count(*) FROM entities WHERE workspace_id = :w") == [(0,)]
    await desk.tell("Marco Bellini")
    fresh = await desk.entity("Marco Bellini")
    assert fresh[0] != old
    assert fresh[2] == ""
    await desk.in_order()


async def test_what_others_say_too_stays(desk: Desk) -> None:
    card = await desk.tell(named("孟连", "place", "云南的一个县"))
    await desk.tell("孟连")
    await desk.tell(named("孟连", "place", "我们去过的县城"), card=card)
    assert (await desk.entity("孟连"))[2] == "云南的一个县"


async def test_descriptions_are_bounded(desk: Desk) -> None:
    """C14."""
    long = " ".join(f"Sentence number {n} says that Marco roasted {n} kilos in Bologna." for n in range(60))
    await desk.tell(named("Marco Bellini", "person", long))
    description = (await desk.entity("Marco Bellini"))[2]
    assert 400 < len(description) <= LONGEST
    assert description.startswith("Sentence number 0")


async def test_what_is_said_alike_stands_once(desk: Desk) -> None:
    """C16: by several cards, by a card again, and within one long description."""
    said = "Marco Bellini roasts coffee in Bologna."
    card = await desk.tell(named("Marco Bellini", "person", said))
    await desk.tell(named("Marco Bellini", "person", said))
    await desk.tell(named("Marco Bellini", "person", said), card=card)
    assert (await desk.entity("Marco Bellini"))[2] == said
    long = " ".join(f"{said} In year {n} he sold {n} kilos." for n in range(30))
    await desk.tell(named("Lina Bellini", "person", long))
    description = (await desk.entity("Lina Bellini"))[2]
    assert description.count("roasts coffee") == 1
    assert description.count("kilos") > 5


async def test_any_name_can_be_written(desk: Desk) -> None:
    """A7, A11."""
    await desk.tell(
        named("Ali\x00ce", "person", "with\x00NUL"), "İstanbul", "ΣΊΣΥΦΟΣ", "\ud83d", " ", "x" * 5000, "{x} %s"
    )
    await desk.tell("Alice", "istanbul", "Σίσυφος")
    names = await desk.rows("SELECT name FROM entities WHERE workspace_id = :w")
    assert {name for (name,) in names} == {"Alice", "x" * 200, "{x} %s", "İstanbul", "ΣΊΣΥΦΟΣ"}
    await desk.in_order()


async def test_a_plan_that_counts_on_what_has_gone_is_refused(desk: Desk) -> None:
    card = await desk.tell("Café Lumen")
    other = await desk.card("other")
    drafts = {other: [named("Café Lumen")]}
    async with desk.database.read() as session:
        plan = desk.linker.plan(await desk.linker.look_up(session, desk.id, desk.space_id, drafts), drafts)
    assert plan.texts == {}
    await desk.remove(card)
    with pytest.raises(PlanOutdated):
        await desk.write(plan, {}, drafts)
    await desk.link(drafts)
    await desk.in_order()


class Arranged(Scattered):
    """Texts that speak of the city are near each other, at a cosine of about 0.9; all others anywhere."""

    def _vector(self, text: str) -> np.ndarray:
        alone = super()._vector(text)
        if "city" not in text:
            return alone
        vector = 0.32 * alone
        vector[0] += 1.0
        return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("indexed", [False, True])
async def test_vectors_merge_where_their_space_allows_it(database: Database, indexed: bool) -> None:
    """Layer 2 by cosine: the same neighbours with and without the index, and inside one group."""
    desk = await Desk(database, Arranged(64)).open()
    desk.linker = Linker(SEGMENTER, BGE_M3)
    await desk.tell(named("Big Apple", "other", "The city"), *(f"filler {n}" for n in range(40)))
    if indexed:
        connection = await database.connect()
        for statement in index.vector_index_ddl(desk.space_id, 64, TextKind.entity, bare_names=True):
            await connection.execute(statement)
        await connection.close()
        async with database.read() as session:
            assert await index.has_vector_index(session, desk.space_id, TextKind.entity)
    await desk.tell(named("Metropolis", "other", "A large city"), named("Gotham", "place", "That city"), "Lima")
    groups = await desk.groups()
    assert frozenset({"Big Apple", "Metropolis", "Gotham"}) not in groups
    assert frozenset({"Big Apple", "Metropolis"}) in groups
    # Two places of two names are two, whatever their vectors say.
    await desk.tell(named("Springfield", "place", "Some city"))
    assert frozenset({"Springfield"}) in await desk.groups()
    assert ("Metropolis", "Big Apple", "vector", "merged", "rule") in await desk.log()
    await desk.in_order()


@pytest.mark.parametrize("indexed", [False, True])
async def test_vectors_of_a_small_model_only_propose(database: Database, indexed: bool) -> None:
    """Where something is said of both: a name alone is not even looked at, with the index and without."""
    desk = await Desk(database, Arranged(64)).open()
    desk.linker = Linker(SEGMENTER, Thresholds(NEVER, 0.8, 0.8))
    await desk.tell(named("Big Apple", "other", "The city"), *(f"city {n}" for n in range(12)))
    if indexed:
        assert await vector_index.build_if_needed(database, desk.embedder.space, 0)
    await desk.tell(named("Metropolis", "other", "A large city"), named("The other city"))
    assert len(await desk.groups()) == 15
    assert await desk.pairs() == {frozenset({"Big Apple", "Metropolis"})}


async def test_workspaces_do_not_meet(desk: Desk) -> None:
    await desk.tell(named("Kubernetes", "product", "", "K8s"))
    other = await Desk(desk.database, desk.embedder).open("other")
    await other.tell("K8s")
    assert await other.groups() == {frozenset({"K8s"})}
    assert (await other.id_of("K8s")) != uuid.UUID(int=0)
    await other.in_order()
