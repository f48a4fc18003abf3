"""Level explore on real cards: names, bridges, paths, filters, and what changes under it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from app.cards.drafts import NewCard
from app.db.session import Database, raw
from app.db.settings import DatabaseSettings
from app.db.together import running
from app.index.spaces import Spaces
from app.providers.embedding.e5 import E5Embedder
from app.providers.ports import Embeddings, ProviderError
from app.retrieval import explore_queries
from app.retrieval.retrieve import Retriever
from app.retrieval.settings import RetrievalSettings
from app.retrieval.types import Evidence, Filters, Hit, Level, Question
from app.retrieval.walk import Graphs
from app.text.segment import Segmenter
from tests.search_library import Library, Scattered

pytest_plugins = ("tests.search_library",)

CARDS = [
    NewCard(
        "The Glass Harbour",
        "The Glass Harbour is a 1994 drama film directed by Ottoline Marsh. It was shot in Brest in six weeks.",
        external_id="film",
        tags=["films"],
    ),
    NewCard(
        "Ottoline Marsh",
        "Ottoline Marsh (born 4 May 1951) is a Scottish film director. She was born in Kirkwall and studied law.",
        external_id="director",
        tags=["people"],
    ),
    NewCard(
        "Kirkwall",
        "Kirkwall is the largest town of Orkney. The town was founded around the year 1035 by Rognvald Brusason.",
        external_id="town",
        tags=["places"],
    ),
    NewCard(
        "Silent Quarry",
        "Silent Quarry is a 2003 thriller film directed by Piet Hollander, about a strike in a slate mine.",
        external_id="other film",
        tags=["films"],
    ),
    NewCard(
        "Piet Hollander",
        "Piet Hollander is a Dutch film director who was born in Leeuwarden and lives in Ghent.",
        external_id="other director",
        tags=["people"],
    ),
    NewCard("Bread", "Sourdough needs a warm kitchen, flour, water, salt, and a day of patience.", external_id="bread"),
    NewCard("青云科技", "青云科技是林晓东于2012年在成都创办的软件公司，主要产品是云数据库。", external_id="公司"),
    NewCard("林晓东", "林晓东毕业于电子科技大学，曾在深圳工作五年。", external_id="创始人"),
]
FILM_TO_DIRECTOR = "Where was the director of The Glass Harbour born?"


@pytest.fixture
async def town(database: Database, e5: E5Embedder, segmenter: Segmenter) -> Library:
    library = await Library(database, e5, segmenter, extractor="offline").open()
    await library.add_many(CARDS)
    assert (await library.learn()).ready == len(CARDS)
    return library


async def explore(library: Library, query: str, **how: Any) -> Evidence:
    return await library.retriever.retrieve(library.id, Question(query, Level.explore, **how))


def ids(evidence: Evidence) -> list[str | None]:
    return [hit.card.external_id for hit in evidence.hits]


def hit(evidence: Evidence, external_id: str) -> Hit:
    return next(one for one in evidence.hits if one.card.external_id == external_id)


def told(path: Any) -> list[str]:
    """Labels of the nodes with the kinds of the edges between them."""
    return [
        part for step in path["steps"] for part in (step["node"]["label"], (step["edge"] or {}).get("kind")) if part
    ]


async def test_the_second_hop_is_found_over_the_bridge_and_says_how(town: Library) -> None:
    evidence = await explore(town, FILM_TO_DIRECTOR)
    assert ids(evidence)[:2] == ["film", "director"]
    assert (evidence.level, evidence.degraded, evidence.route.gates) == (Level.explore, [], ())
    (named,) = [path for path in hit(evidence, "film").paths if told(path)[1] == "title"]
    assert told(named) == ["The Glass Harbour", "title", "The Glass Harbour"]
    across = hit(evidence, "director").paths[0]
    assert told(across) == ["The Glass Harbour", "relation", "Ottoline Marsh", "title", "Ottoline Marsh"]
    relation, mention = (step["edge"] for step in across["steps"][:2])
    assert relation["text"] == "The Glass Harbour is a 1994 drama film directed by Ottoline Marsh."
    assert await town.rows("SELECT text FROM relations WHERE workspace_id = :w AND id = :id", id=relation["id"])
    assert await town.rows("SELECT id FROM chunks WHERE workspace_id = :w AND id = :id", id=mention["id"])
    entity, card = across["steps"][1]["node"], across["steps"][2]["node"]
    assert (entity["kind"], card["kind"]) == ("entity", "card")
    assert card["id"] == str(hit(evidence, "director").card.id)
    assert 0 < across["score"] == pytest.approx(relation["weight"] * mention["weight"], abs=1e-5)
    assert across["cost"] == pytest.approx(1 - across["score"], abs=1e-6)


async def test_evidence_is_cut_from_the_cards(town: Library) -> None:
    content = {card.external_id: card.content for card in CARDS}
    evidence = await explore(town, FILM_TO_DIRECTOR, explain=True)
    assert len(evidence.hits) > 2
    for one in evidence.hits:
        assert one.evidence
        assert len(one.paths) <= 5
        assert {"seed", "beam", "walk", "hop", "cosine"} <= set(one.explain or ())
        for span in one.evidence:
            assert content[one.card.external_id or ""][span.start : span.end] == span.text
            assert span.focus is not None
            assert span.start <= span.focus[0] < span.focus[1] <= span.end
    assert [one.rank for one in evidence.hits] == list(range(1, len(evidence.hits) + 1))
    scores = [one.score for one in evidence.hits]
    assert scores == sorted(scores, reverse=True)
    assert ids(await explore(town, FILM_TO_DIRECTOR, limit=2)) == ids(evidence)[:2]


async def test_chinese_names_are_found_by_dictionary(town: Library) -> None:
    """A company's founder, two cards, no capitals to go by."""
    evidence = await explore(town, "青云科技的创始人毕业于哪所大学？")
    assert ids(evidence)[:2] == ["公司", "创始人"]
    assert any("林晓东" in told(path) for path in hit(evidence, "创始人").paths)


@pytest.mark.parametrize("query", ["how long does it take until dough is ready", "烤面包要多久", "?!"])
async def test_a_question_that_names_nothing_known_is_searched(town: Library, query: str) -> None:
    evidence, searched = await explore(town, query), await town.search(query)
    assert (evidence.route.level, evidence.route.gates) == (Level.search, ["no_known_entity"])
    assert (ids(evidence), evidence.degraded) == (ids(searched), searched.degraded)


async def test_a_card_without_a_graph_is_searched(plain: Library) -> None:
    await plain.add("Lone", "Only words here.")
    await plain.learn()
    assert (await explore(plain, "words")).route.gates == ["no_known_entity"]


@pytest.mark.parametrize(
    "query",
    [
        "Where was the director of The Glas Harbour born?",
        "Where was the director of Glass Harbour born?",
        "where was the director of the glass harbour born",
        "Where was the director of THE GLASS HARBOUR born?",
    ],
)
async def test_names_are_found_however_they_are_written(town: Library, query: str) -> None:
    assert ids(await explore(town, query))[:2] == ["film", "director"]


async def test_a_name_that_is_cut_short_is_found(town: Library) -> None:
    await town.add(
        "Greenfield-Central High School", "It is a school of Indiana, with a swimming pool.", external_id="s"
    )
    await town.learn()
    evidence = await explore(town, "In which state is Greenfield-Central High?")
    assert ids(evidence)[0] == "s"
    assert evidence.route.gates == ()


async def test_what_was_merged_is_one(town: Library) -> None:
    """A merge moves nothing: readers follow the pointer."""
    await town.add("Interview", "O. Marsh said in 1999 that she never learned to swim.", external_id="interview")
    await town.learn()
    rows = await town.rows(
        "SELECT id, name FROM entities WHERE workspace_id = :w AND name IN ('O. Marsh', 'Ottoline Marsh')"
    )
    by_name = {name: one for one, name in rows}
    assert set(by_name) == {"O. Marsh", "Ottoline Marsh"}
    await town.execute(
        "UPDATE entities SET merged_into = :into WHERE workspace_id = :w AND id = :id",
        into=by_name["Ottoline Marsh"],
        id=by_name["O. Marsh"],
    )
    evidence = await explore(town, "What did Ottoline Marsh never learn?")
    paths = hit(evidence, "interview").paths
    assert ["Ottoline Marsh", "mention", "Interview"] in [told(path) for path in paths]


async def test_twins_of_another_kind_are_one(town: Library) -> None:
    """Whether an extractor took a name for a person or a film must not cut the graph in two."""
    await town.execute("UPDATE entities SET kind = 'thing' WHERE workspace_id = :w AND name = 'Ottoline Marsh'")
    await town.add(
        "Prize", "The Northern Lens of 2001 went to Ottoline Marsh, a person of few words.", external_id="prize"
    )
    await town.learn()
    kinds = await town.rows("SELECT kind FROM entities WHERE workspace_id = :w AND name = 'Ottoline Marsh'")
    await town.execute(
        "INSERT INTO entities (workspace_id, id, name, key, kind, type, words, grams) SELECT workspace_id, "
        "gen_random_uuid(), name, key, 'event', 'event', 1, 0 FROM entities WHERE workspace_id = :w "
        "AND name = 'Ottoline Marsh' LIMIT 1"
    )
    await town.execute(
        "UPDATE mentions SET entity_id = (SELECT id FROM entities WHERE workspace_id = :w AND kind = 'event' "
        "AND name = 'Ottoline Marsh') WHERE workspace_id = :w AND name = 'Ottoline Marsh' "
        "AND card_id = (SELECT id FROM cards WHERE workspace_id = :w AND external_id = 'prize')"
    )
    assert kinds
    evidence = await explore(town, "What did Ottoline Marsh win?")
    assert ["Ottoline Marsh", "mention", "Prize"] in [told(path) for path in hit(evidence, "prize").paths]


async def test_a_title_that_came_later_is_a_bridge_all_the_same(town: Library) -> None:
    """The older card was learned when nothing could tell the name from other words."""
    await town.add(
        "Ada Brume", 'Ada Brume played the ferryman in the series "the low tide" for two years.', external_id="ada"
    )
    await town.learn()
    await town.add("The Low Tide", "The Low Tide was first broadcast by Channel Nine in 1987.", external_id="series")
    await town.learn()
    evidence = await explore(town, "Which station first broadcast the series in which Ada Brume played?")
    assert ids(evidence)[:2] == ["ada", "series"]
    assert any("claim" in told(path) for path in hit(evidence, "series").paths)


async def test_filters_hold_for_hits_and_for_paths(town: Library) -> None:
    evidence = await explore(town, FILM_TO_DIRECTOR, filters=Filters(tags=["people"]))
    assert set(ids(evidence)) == {"director", "other director"}
    nodes = {
        step["node"]["id"]
        for one in evidence.hits
        for path in one.paths
        for step in path["steps"]
        if step["node"]["kind"] == "card"
    }
    assert nodes <= {str(one.card.id) for one in evidence.hits}
    assert "Glass Harbour" not in str([one.paths for one in evidence.hits])


async def test_a_card_in_the_trash_is_never_found(town: Library) -> None:
    before = await explore(town, FILM_TO_DIRECTOR)
    async with town.database.unit() as session:
        await town.intake.trash_card(session, town.id, hit(before, "director").card.id)
    after = await explore(town, FILM_TO_DIRECTOR)
    assert "director" not in ids(after)
    assert ids(after)[0] == "film"


async def test_tenants_do_not_share_names(town: Library, segmenter: Segmenter, e5: E5Embedder) -> None:
    other = await Library(town.database, e5, segmenter, slug="other", extractor="offline").open()
    await other.add("Harbours", "Some harbours freeze in winter.")
    await other.learn()
    evidence = await explore(other, FILM_TO_DIRECTOR)
    assert evidence.route.gates == ["no_known_entity"]


class Broken(Scattered):
    async def queries(self, texts: Sequence[str]) -> Embeddings:
        raise ProviderError("down")


async def test_without_an_embedder_words_and_the_graph_answer(database: Database, segmenter: Segmenter) -> None:
    library = await Library(database, Broken(), segmenter, extractor="offline").open()
    await library.add_many(CARDS)
    await library.learn()
    evidence = await explore(library, FILM_TO_DIRECTOR)
    assert evidence.degraded == ["embedder_unavailable"]
    assert ids(evidence)[:2] == ["film", "director"]


async def test_scorer_hops_spreads_over_relations(town: Library) -> None:
    evidence = await explore(town, "What surrounds The Glass Harbour?", scorer="hops", explain=True)
    assert ids(evidence)[0] == "film"
    assert {"director", "town"} <= set(ids(evidence))
    across = hit(evidence, "director").paths[0]
    assert told(across)[:3] == ["The Glass Harbour", "relation", "Ottoline Marsh"]
    assert (hit(evidence, "film").explain or {})["hops"] > (hit(evidence, "director").explain or {})["hops"] > 0


async def test_parts_can_be_switched_off(town: Library) -> None:
    def with_settings(**knobs: Any) -> Library:
        return Library(town.database, town.embedder, town.segmenter, **knobs).at(town.id)

    bare = await explore(with_settings(explore_hop=0, explore_walk=0), FILM_TO_DIRECTOR, explain=True)
    assert {(one.explain or {})["hop"] for one in bare.hits} == {0.0}
    assert {(one.explain or {})["walk"] for one in bare.hits} == {0.0}
    assert ids(bare)[0] == "film"


async def test_the_graph_is_read_again_when_something_was_written(town: Library) -> None:
    moment = 0.0
    graphs = Graphs(RetrievalSettings(), lambda: moment)

    async def whole() -> Any:
        async with town.database.read() as session:
            return await graphs.whole(session, town.id)

    first = await whole()
    assert len(first.cards) == len(CARDS)
    assert await whole() is first
    added = await town.add("Fresh", "Ottoline Marsh opened a bakery in Kirkwall.")
    await town.learn()
    second = await whole()
    assert len(second.cards) == len(CARDS) + 1
    async with town.database.unit() as session:
        await town.intake.trash_card(session, town.id, added)
    third = await whole()
    assert len(third.cards) == len(CARDS)
    assert await whole() is third


async def test_a_graph_that_takes_long_to_read_is_not_read_all_the_time(town: Library) -> None:
    moments = iter([0.0, 0.0, 2.0, 2.0, *([10.0] * 3), *([50.0] * 9)])
    graphs = Graphs(RetrievalSettings(), lambda: next(moments))

    async def whole() -> Any:
        async with town.database.read() as session:
            return await graphs.whole(session, town.id)

    first = await whole()
    await town.add("Fresh", "Ottoline Marsh opened a bakery in Kirkwall.")
    await town.learn()
    assert await whole() is first
    assert await whole() is not first


async def test_of_a_large_graph_only_a_part_is_walked(town: Library) -> None:
    large = Library(town.database, town.embedder, town.segmenter, explore_walk_mentions=3).at(town.id)
    evidence = await explore(large, FILM_TO_DIRECTOR, explain=True)
    assert ids(evidence)[:2] == ["film", "director"]
    assert (evidence.hits[0].explain or {})["walk"] > 0
    async with town.database.read() as session:
        assert await Graphs(large.settings).whole(session, town.id) is None


async def test_a_graph_read_in_parts_is_the_same_graph(town: Library) -> None:
    graphs = Graphs(RetrievalSettings())
    async with town.database.read() as session, town.database.read() as beside:
        cards = [row["id"] for row in await (await raw(session)).fetch("SELECT id FROM cards ORDER BY id")]
        whole = await graphs.around(session, town.id, cards)
        halves = await graphs.around(session, town.id, cards, None, beside)
        async with running(explore_queries.get_graph(beside, town.id, cards[:3])) as early:
            ahead = await graphs.around(session, town.id, cards[3:], None, beside, early)
        few = await graphs.around(session, town.id, cards[:1], None, beside)
    for parts in (halves, ahead):
        assert parts.cards.tobytes() == whole.cards.tobytes()
        assert parts.entities.tobytes() == whole.entities.tobytes()
        assert sorted(zip(parts.heads, parts.tails, parts.weights, strict=True)) == sorted(
            zip(whole.heads, whole.tails, whole.weights, strict=True)
        )
    assert len(few.cards) == 1


async def test_a_long_question_is_an_ordinary_question(town: Library) -> None:
    evidence = await explore(town, f"{FILM_TO_DIRECTOR} " + "and then again " * 300)
    assert ids(evidence)[0] == "film"


async def test_a_question_takes_six_round_trips_beside_its_two_beginnings(
    town: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second time, when what is remembered for a while is known. Others go on meanwhile."""
    await explore(town, FILM_TO_DIRECTOR)
    sent: list[tuple[int, str]] = []
    fetch = asyncpg.Connection.fetch

    async def counted(self: Any, query: str, *values: Any, **how: Any) -> Any:
        sent.append((self.get_server_pid(), query))
        return await fetch(self, query, *values, **how)

    monkeypatch.setattr(asyncpg.Connection, "fetch", counted)
    evidence = await explore(town, FILM_TO_DIRECTOR)
    assert ids(evidence)[:2] == ["film", "director"]
    at, beside = next(
        (n, pid) for n, (pid, query) in enumerate(sent) if "UNION ALL" in query and "near.owner_id" in query
    )
    meanwhile = [query for pid, query in sent[at:] if pid == beside]
    assert len(sent) - len(meanwhile) == 6
    assert len(meanwhile) <= 6


async def test_where_connections_are_few_all_goes_over_one(town: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same is found, and questions that have a connection each do not wait for those of each other."""
    expected = await explore(town, FILM_TO_DIRECTOR)
    narrow = Database(town.database.dsn, DatabaseSettings(database_pool_size=1, database_pool_overflow=0))
    try:
        retriever = Retriever(narrow, Spaces(town.embedder), town.segmenter, town.settings)
        asked = (retriever.retrieve(town.id, Question(FILM_TO_DIRECTOR, Level.explore)) for _ in range(4))
        for evidence in await asyncio.gather(*asked):
            assert [(hit.card.id, hit.score, hit.paths) for hit in evidence.hits] == [
                (hit.card.id, hit.score, hit.paths) for hit in expected.hits
            ]
    finally:
        await narrow.close()


async def test_more_questions_at_once_than_connections_are_all_answered(town: Library) -> None:
    narrow = Database(town.database.dsn, DatabaseSettings(database_pool_size=3, database_pool_overflow=0))
    try:
        retriever = Retriever(narrow, Spaces(town.embedder), town.segmenter, town.settings)
        asked = (retriever.retrieve(town.id, Question(FILM_TO_DIRECTOR, Level.explore)) for _ in range(24))
        assert all(ids(evidence)[:2] == ["film", "director"] for evidence in await asyncio.gather(*asked))
    finally:
        await narrow.close()
