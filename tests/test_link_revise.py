"""What people say of entities is final."""

from __future__ import annotations

import random
import uuid
from typing import Any

import pytest

from app.core.ids import new_id
from app.db.session import raw
from app.graph import entity_pages
from app.graph.entity_pages import EntityNotFound
from app.index.spaces import Spaces
from app.ingestion.link import revise
from app.ingestion.link.resolve import Resolver
from app.ingestion.link.revise import (
    BadEntity,
    EntityPatch,
    NameTaken,
    NotMergeable,
    NotMerged,
    NotSplittable,
    PairDecided,
    PairNotFound,
)
from tests.link_desk import Desk, named

pytest_plugins = ("tests.link_desk",)


async def merge(desk: Desk, source: str, into: str) -> None:
    one, other = await desk.id_of(source), await desk.id_of(into)
    async with desk.database.unit() as session:
        await revise.merge(session, desk.id, one, other)


async def unmerge(desk: Desk, name: str) -> None:
    entity_id = await desk.id_of(name)
    async with desk.database.unit() as session:
        await revise.unmerge(session, desk.id, entity_id)


async def split(desk: Desk, entity_id: uuid.UUID, *cards: uuid.UUID, name: str | None = None) -> uuid.UUID:
    async with desk.database.unit() as session:
        return (await revise.split(session, desk.id, desk.linker, entity_id, cards, name)).id


async def patch(desk: Desk, entity_id: uuid.UUID, **changes: Any) -> None:
    async with desk.database.unit() as session:
        await revise.patch(session, desk.id, desk.linker, entity_id, EntityPatch(**changes))


async def embed(desk: Desk) -> int:
    return (await Resolver(desk.database, Spaces(desk.embedder)).run(desk.id)).embedded


async def shape(desk: Desk) -> list[tuple[Any, ...]]:
    return await desk.rows("SELECT id, name, merged_into FROM entities WHERE workspace_id = :w ORDER BY id")


# ---------------------------------------------------------------------------------- merge and unmerge


async def test_unmerge_restores_exactly(desk: Desk) -> None:
    await desk.tell("Kafka", "Franz K.", "K.", "Joseph K.", "Der Prozess")
    before = await shape(desk)
    await merge(desk, "Joseph K.", "K.")
    with_first = await shape(desk)
    await merge(desk, "K.", "Franz K.")
    await merge(desk, "Franz K.", "Kafka")
    assert await desk.groups() == {frozenset({"Kafka", "Franz K.", "K.", "Joseph K."}), frozenset({"Der Prozess"})}
    await desk.in_order()
    await unmerge(desk, "Franz K.")
    assert await desk.groups() == {
        frozenset({"Kafka"}),
        frozenset({"Franz K.", "K.", "Joseph K."}),
        frozenset({"Der Prozess"}),
    }
    await unmerge(desk, "K.")
    assert await shape(desk) == with_first
    await unmerge(desk, "Joseph K.")
    assert await shape(desk) == before
    assert [outcome for *_, outcome, by in await desk.log() if by == "user"] == ["merged"] * 3 + ["unmerged"] * 3


async def test_what_cannot_be_merged(desk: Desk) -> None:
    await desk.tell("Kafka", "Franz K.")
    kafka = await desk.id_of("Kafka")
    other = await Desk(desk.database, desk.embedder).open("other")
    async with desk.database.unit() as session:
        with pytest.raises(NotMergeable):
            await revise.merge(session, desk.id, kafka, kafka)
        with pytest.raises(EntityNotFound):
            await revise.merge(session, desk.id, kafka, new_id())
        with pytest.raises(EntityNotFound):
            await revise.merge(session, other.id, kafka, kafka)
        with pytest.raises(NotMerged):
            await revise.unmerge(session, desk.id, kafka)


async def test_a_merge_holds_when_both_have_gone_and_come_back(desk: Desk) -> None:
    first, second = await desk.tell("帝都"), await desk.tell(named("北京", "place"))
    await merge(desk, "帝都", "北京")
    await desk.remove(first)
    await desk.remove(second)
    assert await shape(desk) == []
    # Whichever comes first, the one that a person has chosen stands for both.
    await desk.tell("帝都")
    await desk.tell(named("北京", "place"))
    assert await desk.groups() == {frozenset({"帝都", "北京"})}
    assert (await desk.entity("帝都"))[3] == await desk.id_of("北京")
    await desk.in_order()


async def test_what_a_person_has_set_apart_no_machine_merges(desk: Desk) -> None:
    first = await desk.tell(named("Donald J. Trump", "person"))
    second = await desk.tell(named("Donald Trump", "person"))
    assert len(await desk.groups()) == 1
    await unmerge(desk, "Donald Trump")
    assert len(await desk.groups()) == 2
    await desk.tell(named("Donald Trump", "person"), card=second)
    assert len(await desk.groups()) == 2
    # Also when they have gone, come back in one batch, and a text says that they are one.
    await desk.remove(first)
    await desk.remove(second)
    await desk.tell(named("Donald Trump", "person"), named("Donald J. Trump", "person", "", "Donald Trump"))
    assert len(await desk.groups()) == 2
    await desk.in_order()


async def test_homonyms_that_a_person_has_merged_stay_one(desk: Desk) -> None:
    await desk.tell(named("李伟", "person", "清华大学物理学教授"))
    cook = await desk.tell(named("李伟", "person", "川菜馆的厨师"))
    (pair,) = await desk.rows("SELECT id FROM entity_pairs WHERE workspace_id = :w")
    async with desk.database.unit() as session:
        await revise.decide_pair(session, desk.id, pair[0], "merge")
    roots = "SELECT count(DISTINCT coalesce(merged_into, id)) FROM entities WHERE workspace_id = :w"
    assert await desk.rows(roots) == [(1,)]
    await desk.remove(cook)
    await desk.tell(named("李伟", "person", "川菜馆的厨师"))
    assert await desk.rows(roots) == [(1,)]
    await desk.in_order()


# ---------------------------------------------------------------------------------------------- split


async def test_a_split_is_kept_when_its_cards_are_read_again(desk: Desk) -> None:
    painter = await desk.tell(named("Maria", "person"), "Prado")
    await desk.tell(named("Maria", "person"))
    other = await split(desk, await desk.id_of("Maria"), painter)
    assert await embed(desk) == 1
    await desk.in_order()
    await desk.tell(named("Maria", "person", "Paints"), "Prado", card=painter)
    later = await desk.tell(named("Maria", "person"))
    meant = dict(await desk.rows("SELECT card_id, entity_id FROM mentions WHERE workspace_id = :w AND name = 'Maria'"))
    assert meant[painter] == other
    assert meant[later] != other
    assert ("Maria", "Maria", "user", "split", "user") in await desk.log()
    await desk.in_order()


async def test_a_split_under_another_name(desk: Desk) -> None:
    card = await desk.tell(named("Jordan", "person"))
    await desk.tell(named("Jordan", "person"))
    await split(desk, await desk.id_of("Jordan"), card, name="Michael Jordan")
    await desk.tell(named("Jordan", "person", "", "Michael Jordan"), card=card)
    await desk.tell(named("Jordan", "person", "", "Michael Jordan"))
    assert (await desk.entity("Michael Jordan"))[3] != (await desk.entity("Jordan"))[3]


async def test_what_cannot_be_split(desk: Desk) -> None:
    card, stranger = await desk.tell("Maria"), await desk.card("stranger")
    maria = await desk.id_of("Maria")
    for cards in ([card], [stranger], []):
        with pytest.raises(NotSplittable):
            await split(desk, maria, *cards)
    await desk.tell("Maria")
    with pytest.raises(BadEntity):
        await split(desk, maria, card, name=" \x00 ")
    assert len(await shape(desk)) == 1


# ---------------------------------------------------------------------------------------------- edits


async def test_a_rename_is_exact_and_the_old_name_leads_there(desk: Desk) -> None:
    """C11: a similar and better connected entity is not in the way."""
    for _ in range(3):
        await desk.tell("Marco Bellini")
    card = await desk.tell("Marco")
    marco = await desk.id_of("Marco")
    await patch(desk, marco, name="Marco Belini", type="person", description="My uncle")
    await desk.tell("Marco", card=card)
    await desk.tell("marco", named("MARCO BELINI", "person", "Somebody else's words", "Big Marco"))
    rows = await desk.rows(
        "SELECT name, type, description, is_edited FROM entities WHERE workspace_id = :w AND id = :id", id=marco
    )
    assert rows == [("Marco Belini", "person", "My uncle", True)]
    assert await desk.rows("SELECT count(*) FROM mentions WHERE workspace_id = :w AND entity_id = :id", id=marco) == [
        (3,)
    ]
    assert await desk.rows("SELECT name FROM entity_names WHERE entity_id = :id ORDER BY name", id=marco) == [
        ("Marco",),
        ("Marco Belini",),
    ]
    await embed(desk)
    await desk.in_order()


async def test_a_name_that_is_taken_is_refused(desk: Desk) -> None:
    await desk.tell("Git", "GitHub")
    git, hub = await desk.id_of("Git"), await desk.id_of("GitHub")
    with pytest.raises(NameTaken) as refused:
        await patch(desk, git, name="git-hub")
    assert refused.value.extra == {"entity_id": str(hub)}
    for bad in ({"name": "\x00"}, {"description": "x" * 2001}, {"aliases": ["a"] * 51}):
        with pytest.raises(BadEntity):
            await patch(desk, git, **bad)
    with pytest.raises(EntityNotFound):
        await patch(desk, new_id(), name="Anything")


async def test_aliases_are_replaced_and_found(desk: Desk) -> None:
    await desk.tell(named("Kubernetes", "product", "", "K8s"))
    entity = await desk.id_of("Kubernetes")
    await desk.tell("Docker")
    with pytest.raises(NameTaken):
        await patch(desk, entity, aliases=["docker"])
    await patch(desk, entity, aliases=["kube", "Kube "])
    await desk.tell("kube", named("Kubernetes", "product", "", "K8s"))
    await desk.tell("K8s")
    assert frozenset({"Kubernetes", "kube"}) in await desk.groups()
    assert await desk.rows("SELECT name FROM entity_names WHERE entity_id = :id ORDER BY name", id=entity) == [
        ("Kube",),
        ("Kubernetes",),
    ]


# ---------------------------------------------------------------------------------------------- pairs


async def test_pairs_are_decided_once(desk: Desk) -> None:
    await desk.tell("World Health Organization")
    await desk.tell("WHO")
    (pair,) = await desk.rows("SELECT id FROM entity_pairs WHERE workspace_id = :w")
    async with desk.database.unit() as session:
        await revise.decide_pair(session, desk.id, pair[0], "apart")
        await revise.decide_pair(session, desk.id, pair[0], "apart")
        with pytest.raises(PairDecided):
            await revise.decide_pair(session, desk.id, pair[0], "merge")
        with pytest.raises(PairNotFound):
            await revise.decide_pair(session, desk.id, new_id(), "merge")
    assert await desk.pairs("apart") == {frozenset({"WHO", "World Health Organization"})}
    await desk.tell(named("World Health Organization", "organization", "", "WHO"))
    assert len(await desk.groups()) == 2


async def test_a_pair_that_is_merged_keeps_the_one_that_is_known_better(desk: Desk) -> None:
    await desk.tell("WHO")
    for _ in range(2):
        await desk.tell("World Health Organization")
    (pair,) = await desk.rows("SELECT id FROM entity_pairs WHERE workspace_id = :w")
    async with desk.database.unit() as session:
        await revise.decide_pair(session, desk.id, pair[0], "merge")
    assert (await desk.entity("WHO"))[3] == await desk.id_of("World Health Organization")
    await unmerge(desk, "WHO")
    assert await desk.pairs("apart") == {frozenset({"WHO", "World Health Organization"})}


# ---------------------------------------------------------------------------------------------- reading


async def test_what_people_read(desk: Desk) -> None:
    card = await desk.tell("WHO", named("Geneva", "place"))
    await desk.tell("World Health Organization")
    await desk.tell("World Health Organization", named("Geneva", "place"), named("Bern", "place"))
    async with desk.database.read() as session:
        waiting = await entity_pages.list_pairs(session, desk.id)
    assert [{pair.left.name, pair.right.name} for pair in waiting.items] == [{"WHO", "World Health Organization"}]
    await merge(desk, "WHO", "World Health Organization")
    who, root = await desk.id_of("WHO"), await desk.id_of("World Health Organization")
    geneva = await desk.id_of("Geneva")
    async with desk.database.unit() as session:
        (chunk,) = await (await raw(session)).fetchrow("SELECT chunk_id FROM mentions WHERE card_id = $1 LIMIT 1", card)
        await (await raw(session)).execute(
            "INSERT INTO relations (workspace_id, id, card_id, chunk_id, source_id, target_id, predicate, text, "
            "confidence, words, grams) VALUES ($1, $2, $3, $4, $5, $6, 'sits in', 'WHO sits in Geneva.', 1, 0, 0)",
            *(desk.id, new_id(), card, chunk, who, geneva),
        )
    async with desk.database.read() as session:
        page = await entity_pages.list_entities(session, desk.id, limit=2)
        rest = await entity_pages.list_entities(session, desk.id, limit=2, after=page.following)
        assert [(i.name, i.mentions, i.cards) for i in (*page.items, *rest.items)] == [
            ("World Health Organization", 3, 3),
            ("Geneva", 2, 2),
            ("Bern", 1, 1),
        ]
        assert rest.following is None
        assert page.items[0].aliases == ("WHO",)
        places = await entity_pages.list_entities(session, desk.id, type_="place", key="gen")
        assert [item.name for item in places.items] == ["Geneva"]
        by_member = await entity_pages.list_entities(session, desk.id, key="who")
        assert [item.id for item in by_member.items] == [root]
        detail = await entity_pages.get_entity(session, desk.id, who)
        assert (detail.item.id, [one.id for one in detail.merged]) == (root, [who])
        assert [(r.other_name, r.outgoing, r.text) for r in detail.relations] == [
            ("Geneva", True, "WHO sits in Geneva.")
        ]
        assert len(detail.mentions) == len(detail.cards) == 3
        back = await entity_pages.get_entity(session, desk.id, geneva)
        assert [(r.other_id, r.outgoing) for r in back.relations] == [(root, False)]
        with pytest.raises(EntityNotFound):
            await entity_pages.get_entity(session, desk.id, new_id())
        assert (await entity_pages.list_pairs(session, desk.id)).items == []
        log = await entity_pages.list_decisions(session, desk.id, limit=1)
        assert [(d.left_name, d.outcome, d.decided_by) for d in log.items] == [("WHO", "merged", "user")]
        older = await entity_pages.list_decisions(session, desk.id, before=log.following)
        assert [d.outcome for d in older.items] == ["candidate"]


# --------------------------------------------------------------------------------------------- at random


async def test_random_edits_leave_no_orphans(desk: Desk) -> None:
    """D2: 200 steps of telling, rewriting, removing, merging, unmerging, splitting and editing."""
    chance = random.Random(7)
    names = [
        *(
            "Donald Trump",
            "Donald J. Trump",
            "WHO",
            "World Health Organization",
            "北京大学",
            "北大",
            "Kubernetes",
            "K8s",
        ),
        *("K8s", "Anna", "Hanna", "GPT-3", "GPT-4", "Large Language Model", "Large Language Models", "微信", "WeChat"),
    ]
    cards: list[uuid.UUID] = []

    def draft() -> Any:
        name = chance.choice(names)
        return named(name, chance.choice(["other", "person", "concept"]), chance.choice(["", f"About {name}"]))

    for _ in range(200):
        step = chance.random()
        entities = await desk.rows("SELECT id, merged_into FROM entities WHERE workspace_id = :w ORDER BY id")
        if step < 0.35 or not cards or not entities:
            cards.append(await desk.tell(*(draft() for _ in range(3))))
        elif step < 0.5:
            await desk.tell(*(draft() for _ in range(2)), card=chance.choice(cards))
        elif step < 0.65:
            await desk.remove(cards.pop(chance.randrange(len(cards))))
        else:
            one, merged = chance.choice(entities)
            other = chance.choice(entities)[0]
            try:
                async with desk.database.unit() as session:
                    if merged is not None and step < 0.8:
                        await revise.unmerge(session, desk.id, one)
                    elif step < 0.85:
                        await revise.merge(session, desk.id, one, other)
                    elif step < 0.93:
                        await revise.split(session, desk.id, desk.linker, one, [chance.choice(cards)])
                    else:
                        await revise.patch(session, desk.id, desk.linker, one, EntityPatch(description="Edited"))
            except (NotMergeable, NotSplittable):
                continue
    await embed(desk)
    await desk.in_order()
    for card in cards:
        await desk.remove(card)
    for table in ("entities", "entity_names", "entity_vectors", "entity_pairs", "entity_places", "mentions"):
        assert await desk.rows(f"SELECT count(*) FROM {table} WHERE workspace_id = :w") == [(0,)], table
    await desk.in_order()
