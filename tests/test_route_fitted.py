"""Where the router sends a question in a workspace that has something to say about it, on real cards."""

from __future__ import annotations

import pytest

from app.cards.drafts import NewCard
from app.db.session import Database
from app.providers.embedding.e5 import E5Embedder
from app.retrieval.types import Evidence, Level, Question
from app.text.segment import Segmenter
from tests.search_library import Library

pytest_plugins = ("tests.search_library",)

CARDS = [
    NewCard(
        "The Glass Harbour",
        "The Glass Harbour is a 1994 drama film directed by Ottoline Marsh. It was shot in Brest in six weeks.",
        external_id="film",
    ),
    NewCard(
        "Ottoline Marsh",
        "Ottoline Marsh (born 4 May 1951) is a Scottish film director. She was born in Kirkwall and studied law.",
        external_id="director",
    ),
    NewCard(
        "Sourdough bread",
        "Sourdough needs a warm kitchen, flour, water, salt, and a day of patience.",
        external_id="bread",
    ),
    NewCard("青云科技", "青云科技是林晓东于2012年在成都创办的软件公司，主要产品是云数据库。", external_id="公司"),
    NewCard("林晓东", "林晓东毕业于电子科技大学，曾在深圳工作五年。", external_id="创始人"),
]


@pytest.fixture
async def town(database: Database, e5: E5Embedder, segmenter: Segmenter) -> Library:
    library = await Library(database, e5, segmenter, extractor="offline").open()
    await library.add_many(CARDS)
    assert (await library.learn()).ready == len(CARDS)
    return library


async def ask(library: Library, query: str, level: Level | None = None) -> Evidence:
    return await library.retriever.retrieve(library.id, Question(query, level, wants_hits=True))


def first(evidence: Evidence) -> str | None:
    return evidence.hits[0].card.external_id


@pytest.mark.parametrize(
    ("query", "level", "gates", "card"),
    [
        ("When was Ottoline Marsh born?", Level.explore, ["known_name"], "director"),
        ("林晓东毕业于哪所大学？", Level.explore, ["known_name"], "创始人"),
        ("哪家公司在成都卖云数据库？", Level.explore, ["known_name"], "公司"),
        ("How long does it take until dough is ready?", Level.context, ["hits_wanted", "reads_claims"], "bread"),
        ("烤面包要多久？", Level.context, ["reads_claims"], "bread"),
        # The title of a card, but as a topic: where nothing has capitals it may be a name.
        ("For how many days should Tom let the sourdough bread stand?", Level.context, ["reads_claims"], "bread"),
        ("for how many days should one let the sourdough bread stand?", Level.explore, ["known_name"], "bread"),
        # A rule knows what the workspace need not be asked for.
        ("find my note about Ottoline Marsh", Level.search, [], "director"),
        ("hello", Level.search, ["hits_wanted"], None),
    ],
)
async def test_a_fact_is_looked_for_where_the_workspace_has_it(
    town: Library, query: str, level: Level, gates: list[str], card: str | None
) -> None:
    evidence = await ask(town, query)
    assert (evidence.level, list(evidence.route.gates)) == (level, gates)
    assert card is None or first(evidence) == card
    assert (await town.retriever.route(town.id, Question(query, wants_hits=True))) == evidence.route


async def test_facts_of_a_chinese_workspace_are_looked_for_by_passages(
    database: Database, e5: E5Embedder, segmenter: Segmenter
) -> None:
    """Claims find less there; a connection of names that nobody knows is searched for, too."""
    library = await Library(database, e5, segmenter, slug="zh", extractor="offline").open()
    await library.add_many([NewCard("面包", "酸面包需要温暖的厨房和一天的耐心。"), *CARDS[3:]])
    await library.learn()
    for query, gates in (("烤面包要多久？", []), ("左布拉和夸克利之间有什么联系？", ["no_known_entity"])):
        evidence = await ask(library, query)
        assert (evidence.level, list(evidence.route.gates)) == (Level.search, gates), query
    assert (await ask(library, "How long does it take until dough is ready?")).level is Level.context


async def test_whoever_names_a_level_gets_it(town: Library) -> None:
    for level in (Level.search, Level.context, Level.explore):
        evidence = await ask(town, "When was Ottoline Marsh born?", level)
        assert (evidence.level, evidence.route.reason, list(evidence.route.gates)) == (level, "explicit", [])


async def test_a_connection_of_strangers_is_looked_for_among_claims(town: Library) -> None:
    query = "what connects zorblax and quuxly"
    by_router, explicit = await ask(town, query), await ask(town, query, Level.explore)
    assert (by_router.level, list(by_router.route.gates)) == (Level.context, ["no_known_entity"])
    assert (explicit.level, list(explicit.route.gates)) == (Level.search, ["no_known_entity"])


async def test_without_a_cone_facts_are_searched(database: Database, e5: E5Embedder, segmenter: Segmenter) -> None:
    plain = await Library(database, e5, segmenter, slug="plain").open()
    await plain.add("Kitchen", "Sourdough needs a warm kitchen and a day of patience.")
    await plain.learn()
    evidence = await ask(plain, "How many days does sourdough need?")
    assert (evidence.level, list(evidence.route.gates)) == (Level.search, [])
    # A long text is not looked through for titles.
    assert (await ask(plain, "Kitchen " + "and so on " * 60)).level is Level.search
