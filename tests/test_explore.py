"""How level explore counts, by hand: scales, seeds, bridges, hops, the walk, names, and `scorer = hops`."""

from __future__ import annotations

import math
import uuid
from dataclasses import replace

import numpy as np
import pytest

from app.index.contributions import DocsWithAll, contributions
from app.index.postings import POSTING, RECENT_HEAD, TERM, TOMBSTONE, Found, Totals, pack_docs, score, weigh
from app.retrieval import explore, explore_hops, walk
from app.retrieval.explore import UNSAID, Bridge, Entity, Fact, Link, Scale
from app.retrieval.explore_hops import Edge
from app.retrieval.explore_names import Known, has_its_card, is_particular, is_topic, named
from app.retrieval.explore_similar import distance, parts_of, spelt_like, unanswered
from app.retrieval.namesakes import Namesakes, keys_of, packed
from app.retrieval.settings import RetrievalSettings
from app.text.gazetteer import Run, candidate_runs, likely_keys
from app.text.names import Spot
from app.text.segment import Segmenter

SETTINGS = RetrievalSettings(explore_named_mention=0.3)
A, B, C, D = (uuid.UUID(int=n) for n in range(1, 5))


def entity(n: int, cards: int = 3, titled: int = 0, inside: int = 0, name: str = "") -> Entity:
    return Entity(uuid.UUID(int=100 + n), name or f"e{n}", cards, titled, inside)


def link(one: Entity, card: uuid.UUID, own: bool = False, in_title: bool = False) -> Link:
    return Link(one, card, uuid.UUID(int=card.int + 1000), own, in_title)


# ------------------------------------------------------------------------------------------ scales


@pytest.mark.parametrize(
    ("similarity", "expected"), [(0.8, 0.0), (0.7, 0.0), (0.9, 1.0), (0.95, 1.0), (0.85, 0.5), (None, 0.0)]
)
def test_lift_is_where_a_similarity_lies_between_mean_and_best(similarity: float | None, expected: float) -> None:
    assert Scale(0.8, 0.9).lift(similarity) == pytest.approx(expected)


def test_without_anything_above_the_mean_nothing_is_near() -> None:
    assert Scale(0.8, 0.8).lift(0.8) == 0.0


@pytest.mark.parametrize(("cards", "expected"), [(0, 1.0), (1, 1.0), (3, 0.5), (1023, 0.1)])
def test_rarity_is_one_over_the_log_of_how_many_cards_name_it(cards: int, expected: float) -> None:
    assert explore.rarity(cards) == pytest.approx(expected)


# ------------------------------------------------------------------------------------------- seeds


def test_seeds_add_titles_and_mentions_to_the_base() -> None:
    title, mention, both = entity(1, cards=7, titled=4), entity(2, cards=3), entity(3, cards=1)
    links = [
        link(title, A, own=True),
        link(title, A),  # the same name in its text
        link(mention, A),
        link(mention, A),  # in another chunk
        link(both, B),
    ]
    scores, titled = explore.seeds({A: 0.5, B: 0.2, C: 0.1}, links, {}, SETTINGS)
    assert scores[A] == pytest.approx(0.5 + 0.6 / 2 + 0.3 * 0.5 * (0.3 + 0.7 * 0.5))
    assert scores[B] == pytest.approx(0.2 + 0.3 * 1.0 * (0.3 + 0.7 * 0.2))
    assert scores[C] == 0.1
    assert titled == {A}


def test_of_several_names_of_one_title_the_best_counts() -> None:
    """A title is named by itself and by what it is without its parenthesis."""
    shared = entity(1, titled=9)
    scores, titled = explore.seeds(
        {A: 0.0, B: 0.0}, [link(shared, A, own=True), link(shared, B, own=True)], {A: 1}, SETTINGS
    )
    assert scores == {A: pytest.approx(0.6), B: pytest.approx(0.6 / 3)}
    assert titled == {A, B}


# ----------------------------------------------------------------------------------- bridges and hops


def test_bridges_are_the_entities_whose_facts_fit_best_titles_first() -> None:
    about = [
        (entity(1, cards=5), Fact(1.0)),  # (.4 + .6)(.5 + .5 / log2 6) = .69
        (entity(2, cards=5, titled=1), Fact(0.5)),  # .7
        (entity(3, cards=5, inside=1), Fact(0.9)),  # .94 · .8 = .752
        (entity(4, cards=1), Fact(1.0)),  # leads nowhere
        (entity(5, cards=2), UNSAID),
        (entity(6, cards=900), UNSAID),
    ]
    found = explore.bridges(A, 0.5, about, SETTINGS)
    assert [bridge.entity.name for bridge in found] == ["e3", "e2", "e1", "e5"]
    assert [bridge.weight for bridge in found] == pytest.approx([0.47, 0.35, 0.5, 0.29])


def test_an_entity_is_crossed_from_the_card_where_it_is_strongest() -> None:
    one = entity(1)
    weak, strong = Bridge(A, one, UNSAID, 0.2), Bridge(B, one, UNSAID, 0.4)
    assert explore.strongest([weak, strong, Bridge(A, entity(2), UNSAID, 0.3)]) == [
        strong,
        Bridge(A, entity(2), UNSAID, 0.3),
    ]


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (link(entity(1, titled=16), B, own=True), (0.5 + 0.5 * 0.6) / 2),
        (link(entity(1), B, in_title=True), 0.8 * (0.5 + 0.5 * 0.6)),
        (link(entity(1, cards=3), B), 0.9 * 1.0 * 0.6),  # rare: 2 · idf = 1
        (link(entity(1, cards=1023), B), 0.9 * (0.5 + 0.5 * 0.2) * 0.6),
    ],
)
def test_a_title_is_a_stronger_link_than_a_mention_and_a_hub_a_weak_one(one: Link, expected: float) -> None:
    hop = explore.hop(Bridge(A, one.entity, UNSAID, 0.5), one, 0.6, SETTINGS)
    assert hop.strength == pytest.approx(expected)
    assert hop.score == pytest.approx(0.5 * expected)


def test_beam_takes_the_better_of_seed_and_hop_and_leaves_named_cards_alone() -> None:
    bridge = Bridge(A, entity(1), UNSAID, 1.0)
    hops = [
        explore.Hop(bridge, link(bridge.entity, card), value, value)
        for card, value in ((B, 0.9), (B, 0.5), (C, 0.9), (D, 0.1))
    ]
    assert explore.beam({A: 2.0, C: 0.3, D: 0.5}, frozenset({C}), hops, SETTINGS) == {
        A: 2.0,
        B: pytest.approx(0.9 * 2.0 * 0.9),
        C: 0.3,
        D: 0.5,
    }


def test_final_order_is_beam_and_root_of_the_walk_with_two_places_from_the_beam() -> None:
    ranked = explore.merged({A: 1.0, B: 0.8, C: 0.4, D: 0.3}, {C: 0.04, D: 0.16}, SETTINGS, 10)
    assert [card for card, _ in ranked] == [A, B, D, C]
    assert dict(ranked)[D] == pytest.approx(0.3 + 1.0)
    assert dict(ranked)[C] == pytest.approx(0.4 + 0.5)
    # Pinned places are never below what comes after them.
    assert [score for _, score in ranked] == sorted((score for _, score in ranked), reverse=True)


def test_walk_starts_at_facts_names_and_cards() -> None:
    often, rare = entity(1, cards=4), entity(2, cards=1)
    entities, cards = explore.reset([(0.8, [often]), (0.4, [often, rare])], [often], {A: 0.5})
    assert entities == {often.id: pytest.approx(0.6 / 4 + 1 / 2), rare.id: pytest.approx(0.4)}
    assert cards == {A: pytest.approx(0.025)}


# -------------------------------------------------------------------------------------------- walk


def node(name: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_OID, name)


def graph(
    named: list[tuple[uuid.UUID, str, int]],
    said: list[tuple[str, str]],
    titled: list[tuple[uuid.UUID, str]] = [],  # noqa: B006  (never written)
    same: dict[str, str] = {},  # noqa: B006
) -> walk.Graph:
    def ids(*wanted: uuid.UUID) -> tuple[np.ndarray, ...]:
        return tuple(packed([one])[0] for one in wanted)

    return walk.build(
        np.array([(*ids(card, node(name)), own) for card, name, own in named], walk.NAMED),
        np.array([ids(node(left), node(right)) for left, right in said], walk.SAID),
        np.array([ids(card, node(name)) for card, name in titled], walk.TITLED),
        Namesakes({key(one): key(other) for one, other in same.items()}),
    )


def key(name: str) -> int:
    return int(keys_of(packed([node(name)]))[0])


def starting(**entities: float) -> dict[uuid.UUID, float]:
    return {node(name): value for name, value in entities.items()}


def dense_walk(edges: dict[tuple[str, str], float], start: dict[str, float]) -> dict[str, float]:
    """PageRank as it is written, with a dense matrix."""
    nodes = sorted({node for edge in edges for node in edge})
    matrix = np.zeros((len(nodes), len(nodes)))
    for (left, right), weight in edges.items():
        i, j = nodes.index(left), nodes.index(right)
        matrix[i, j] += weight
        matrix[j, i] += weight
    matrix /= matrix.sum(axis=0)
    reset = np.array([start.get(node, 0.0) for node in nodes])
    reset /= reset.sum()
    at = reset
    for _ in range(20):
        at = 0.3 * reset + 0.7 * matrix @ at
    return dict(zip(nodes, at.tolist(), strict=True))


def test_walk_over_mentions_titles_and_relations() -> None:
    """Card and mention 1, own title 3, relation 1 each time it is said."""
    made = graph([(A, "x", 1), (A, "y", 0), (B, "y", 0), (C, "z", 0)], [("y", "z"), ("z", "y"), ("x", "x")])
    expected = dense_walk(
        {("A", "x"): 3, ("A", "y"): 1, ("B", "y"): 1, ("C", "z"): 1, ("y", "z"): 2}, {"x": 0.5, "B": 0.25}
    )
    scores = made.of_cards(made.walk(starting(x=0.5, gone=9.0), {B: 0.25, D: 9.0}), [A, B, C, D])
    assert scores == {card: pytest.approx(expected[name]) for card, name in ((A, "A"), (B, "B"), (C, "C"))}


def test_a_card_that_names_an_entity_often_is_no_stronger_way_to_it() -> None:
    once = graph([(A, "x", 1), (A, "y", 0), (B, "y", 0)], [("x", "y")])
    often = graph([(A, "y", 0), (A, "x", 0), (A, "x", 1), (B, "y", 0), (A, "y", 0), (A, "x", 1)], [("x", "y")])
    assert often.of_cards(often.walk(starting(x=1.0), {}), [A, B]) == once.of_cards(
        once.walk(starting(x=1.0), {}), [A, B]
    )


def test_what_a_title_names_is_its_own_where_the_card_mentions_it_at_all() -> None:
    said = graph([(A, "x", 1), (A, "y", 0), (B, "y", 0)], [])
    told = graph([(A, "x", 0), (A, "y", 0), (B, "y", 0)], [], [(A, "x"), (B, "x"), (D, "y"), (A, "z")])
    assert told.of_cards(told.walk(starting(x=1.0), {}), [A, B]) == said.of_cards(
        said.walk(starting(x=1.0), {}), [A, B]
    )


def test_namesakes_are_one_node_wherever_they_stand() -> None:
    plain = graph([(A, "x", 1), (A, "y", 0), (B, "y", 0), (C, "z", 0)], [("y", "z"), ("x", "z"), ("z", "z")])
    under_other_names = graph(
        [(A, "x2", 0), (A, "y", 0), (B, "y2", 0), (C, "z", 0)],
        [("y2", "z"), ("x", "z2"), ("z", "z2")],
        [(A, "x3")],
        {"x2": "x", "x3": "x", "y2": "y", "z2": "z"},
    )
    expected = plain.of_cards(plain.walk(starting(y=1.0), {C: 0.5}), [A, B, C])
    found = under_other_names.of_cards(under_other_names.walk(starting(y2=1.0), {C: 0.5}), [A, B, C])
    assert found == {card: pytest.approx(score) for card, score in expected.items()}
    assert len(under_other_names.entities) == 3


def test_a_walk_from_nowhere_is_nowhere() -> None:
    made = graph([(A, "x", 0)], [])
    assert made.of_cards(made.walk({}, {}), [A]) == {A: 0.0}
    empty = graph([], [])
    assert empty.of_cards(empty.walk(starting(x=1.0), {A: 1.0}), [A]) == {}


def test_best_cards_are_those_where_the_walk_is_most_often() -> None:
    ends_with_zero = uuid.UUID(int=0xAB00)
    made = graph([(ends_with_zero, "x", 0), (A, "x", 0), (A, "y", 0), (B, "z", 0)], [])
    best = made.best_cards(made.walk(starting(x=1.0), {}), 2)
    assert set(best) == {A, ends_with_zero}
    assert best[A] > best[ends_with_zero]


# ------------------------------------------------------------------------------------------- names


@pytest.fixture(scope="module")
def words() -> Segmenter:
    return Segmenter()


def asked(question: str, known: dict[str, Known], words: Segmenter) -> list[str]:
    return [one.name for one in named(question, candidate_runs(question, words), known).entities]


@pytest.mark.parametrize(
    ("question", "said", "topic"),
    [
        ("When did Nate win his video game tournament?", "video game tournament", True),
        ("When did Nate win the Tournament?", "Tournament", False),
        ("When did Nate buy an iPhone?", "iPhone", False),
        ("When did Nate sell the 2cv?", "2cv", False),
        ("when did nate win his video game tournament?", "video game tournament", False),
        ("When did he win his video game tournament?", "video game tournament", False),
        ("Redis 和 mysql 有什么区别？", "mysql", False),
        ("Nate 的电子游戏比赛是什么时候？", "电子游戏", False),
    ],
)
def test_small_words_beside_capitals_are_a_topic_and_no_name(question: str, said: str, topic: bool) -> None:
    start = question.index(said)
    assert is_topic(question, Run(said.lower(), start, start + len(said), len(said.split()))) == topic


def test_longest_names_first_and_parts_that_stand_alone(words: Segmenter) -> None:
    film = Known([entity(1, cards=1, name="The Return of Dr. Fu Manchu")])
    person = Known([entity(2, cards=2, name="Fu Manchu")])
    rare, often = Known([entity(3, cards=1, name="Return")]), Known([entity(4, cards=3, name="Fu")])
    known = {"thereturnofdrfumanchu": film, "fumanchu": person, "return": rare, "fu": often}
    assert asked("Who wrote The Return of Dr. Fu Manchu?", known, words) == [
        "The Return of Dr. Fu Manchu",
        "Fu Manchu",
        "Fu",
    ]


def test_a_longer_name_wins_over_one_that_begins_before_it(words: Segmenter) -> None:
    known = {
        "thejudiciary": Known([entity(1, cards=9, name="the judiciary")]),
        "judiciaryactof1869": Known([entity(2, name="Judiciary Act of 1869")]),
    }
    assert asked("Which country passed the Judiciary Act of 1869?", known, words) == ["Judiciary Act of 1869"]


@pytest.mark.parametrize(
    ("question", "key", "found"),
    [
        ("Who is Mugain's mother-in-law?", "mugain", True),
        ("Where is McDonald's?", "mcdonalds", True),
        ("what is spaced repetition good for", "spacedrepetition", True),
        ("Director of what?", "director", False),
        ("in which country is it", "country", False),
        ("马云是哪一年创办阿里巴巴的？", "阿里巴巴", True),
        ("who was in the band", "theband", False),
        ("who was in The Band", "theband", True),
    ],
)
def test_what_counts_as_a_name(question: str, key: str, found: bool, words: Segmenter) -> None:
    assert bool(named(question, candidate_runs(question, words), {key: Known([entity(1)])})) is found


def test_titles_of_cards_are_names(words: Segmenter) -> None:
    runs = candidate_runs("Who directed Dark River (2017 Film)?", words)
    found = named("Who directed Dark River (2017 Film)?", runs, {"darkriver2017film": Known(cards=[A])})
    assert (found.entities, dict(found.titles)) == ([], {A: 1})


def test_likely_keys_are_of_quotes_and_capitals(words: Segmenter) -> None:
    keys = likely_keys(
        'the series "Charmed", the wife of Conchobar mac Nessa and 林晓东于成都创办的阿里巴巴集团', words
    )
    assert {"charmed", "conchobarmacnessa", "nessa", "阿里巴巴集团", "阿里巴巴", "林晓东"} <= keys
    assert not keys & {"wife", "series", "mac", "macnessa"}


@pytest.mark.parametrize(
    ("name", "few", "its_card"),
    [
        (Known([entity(1, cards=1)]), True, False),
        (Known([entity(1, cards=10, titled=3)]), True, True),
        (Known([entity(1, cards=2, inside=1)]), True, False),
        (Known([entity(1, cards=11, titled=1)]), False, False),
        (Known([entity(1, cards=11)], [A]), False, False),
        (Known([entity(1, cards=400, titled=1), entity(2, cards=2)]), True, False),
        (Known(cards=[A]), True, True),
        (Known(cards=[uuid.UUID(int=n) for n in range(11)]), False, False),
        (Known([entity(1, cards=0)]), False, False),
        (Known(), False, False),
    ],
)
def test_a_name_is_particular_when_few_cards_speak_of_it(name: Known, few: bool, its_card: bool) -> None:
    assert is_particular(name) is few
    assert has_its_card(name) is its_card


# ------------------------------------------------------------------------------- names that are not known


@pytest.mark.parametrize(
    ("left", "right", "most", "expected"),
    [
        ("gandi", "gandhi", 1, 1),
        ("belgaum", "belgium", 2, 1),
        ("ab", "ba", 1, 1),
        ("kitten", "sitting", 3, 3),
        ("kitten", "sitting", 2, 3),
        ("", "abc", 2, 3),
        ("same", "same", 0, 0),
    ],
)
def test_distance_counts_letters_and_gives_up(left: str, right: str, most: int, expected: int) -> None:
    assert distance(left, right, most) == expected


def test_spelt_like_takes_the_nearest_and_never_another_number() -> None:
    known = [("gandhi", "a"), ("gander", "b"), ("gand", "c")]
    assert spelt_like("gandi", known) == ["c", "a"]
    assert spelt_like("apollo11", [("apollo13", "x"), ("apolo11", "y")]) == ["y"]
    assert spelt_like("ann", [("anne", "x")]) == []


def test_parts_of_a_name_stand_together_in_it() -> None:
    known = [("Greenfield-Central High School", 1), ("Central High Greenfield", 2), ("Greenfield-Central High", 3)]
    assert parts_of("Greenfield-Central High", known) == [1]
    assert parts_of("Smith", [(f"{first} Smith", n) for n, first in enumerate("ABCD")]) == []


def test_a_name_is_unanswered_unless_a_known_one_covers_most_of_it(words: Segmenter) -> None:
    question = "Where is Greenfield-Central High?"
    spot = Spot(9, 32, "other")
    runs = {run.key: run for run in candidate_runs(question, words)}
    assert unanswered(question, [spot], []) == ["Greenfield-Central High"]
    assert unanswered(question, [spot], [runs["high"]]) == ["Greenfield-Central High"]
    assert unanswered(question, [spot], [runs["greenfieldcentral"]]) == []


# ------------------------------------------------------------------------------------------- words


def posting(*rows: tuple[int, int, int]) -> bytes:
    return np.array(list(rows), POSTING).tobytes()


def found() -> Found:
    """Docs 1 and 2 in a segment, doc 5 recent; words 10 and 20."""
    return Found(
        words=np.array([10, 20]),
        grams=np.array([], np.int64),
        ords=[0, 1],
        blocks=[posting((1, 10, 2), (2, 10, 1)), posting((2, 10, 3))],
        totals=Totals(2, 20, 0, 0),
        recent_heads=[np.array([(5, 10, 0, 1, 0)], RECENT_HEAD).tobytes()],
        recent_words=[np.array([(20, 1)], TERM).tobytes()],
    )


def test_contributions_are_bm25_term_by_term() -> None:
    hits = score(found())
    docs = np.array([5, 1, 2, 7], np.uint32)
    parts = contributions(found(), hits, docs)
    whole = parts.scores([10, 20], [])
    by_doc = dict(zip(hits.docs.tolist(), hits.words.tolist(), strict=True))
    assert whole.tolist() == pytest.approx([by_doc[5], by_doc[1], by_doc[2], 0.0], rel=1e-5)
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    assert parts.scores([10], [])[1] == pytest.approx(idf * 2.2 * 2 / (2 + 1.2), rel=1e-5)
    assert parts.scores([99], []).tolist() == [0, 0, 0, 0]
    both = parts.beside(contributions(found(), hits, docs))
    assert both.scores([20], []).tolist() == pytest.approx((2 * parts.scores([20], [])).tolist())


@pytest.mark.parametrize("dead", [[], [2]])
@pytest.mark.parametrize("gone", [[], [1]])
def test_terms_weigh_as_much_without_scores(dead: list[int], gone: list[int]) -> None:
    """Docs that are no more do not count, whichever way they went."""
    some = replace(
        found(),
        dead=pack_docs(np.array(dead, np.uint32)),
        tombstones=np.array([(doc, 10, 0) for doc in gone], TOMBSTONE).tobytes(),
    )
    scored, weighed = score(some), weigh(some)
    assert weighed.word_terms.df.tolist() == scored.word_terms.df.tolist()
    assert weighed.word_terms.idf.tolist() == scored.word_terms.idf.tolist()
    assert (weighed.totals, weighed.word_mass, weighed.gram_mass) == (
        scored.totals,
        scored.word_mass,
        scored.gram_mass,
    )
    docs = np.array([5, 1, 2], np.uint32)
    assert contributions(some, weighed, docs).words.tolist() == contributions(some, scored, docs).words.tolist()


def test_postings_may_lie_in_any_order() -> None:
    """Those of several segments do, one after the other."""
    ordered = [(doc, 10, 1 + doc % 3) for doc in range(1, 60, 2)]
    rare = [(7, 10, 1), (9, 10, 2), (10, 10, 1), (21, 10, 1)]

    def of(common: list[tuple[int, int, int]]) -> Found:
        return Found(
            words=np.array([10, 20]),
            grams=np.array([], np.int64),
            ords=[0, 1],
            blocks=[posting(*common), posting(*rare)],
            totals=Totals(60, 600, 0, 0),
        )

    docs = np.array([9, 3, 8, 58, 59, 1], np.uint32)
    up, down = of(ordered), of(ordered[::-1])
    assert DocsWithAll(down).of([10, 20], 9, 100) == DocsWithAll(up).of([10, 20], 9, 100) == [7, 9, 21]
    assert DocsWithAll(up).of([10], 3, 100) == [5, 11, 17]
    parts = contributions(down, score(down), docs).words
    assert parts.tolist() == contributions(up, score(up), docs).words.tolist()
    assert [doc for doc, row in zip(docs.tolist(), parts, strict=True) if row.any()] == [9, 3, 59, 1]


def test_docs_with_all_words() -> None:
    docs = DocsWithAll(found())
    assert docs.of([20], 9, 100) == [2, 5]
    assert docs.of([10, 20], 9, 100) == [2]
    assert docs.of([20], 1, 100) == [2]
    assert docs.of([20], 9, 1) == []
    assert docs.of([30], 9, 100) == []
    assert docs.of([], 9, 100) == []


# ------------------------------------------------------------------------------------ scorer = hops


def test_one_and_two_hops() -> None:
    x, y, z = (uuid.UUID(int=n) for n in (11, 12, 13))
    damped = 1 / math.log(4)
    near = [Edge(x, y, A, 1.0, 2), Edge(x, y, B, 0.0, 2)]
    first = explore_hops.spread({x: 1.0}, near, explore_hops.FIRST)
    assert first.scores == {y: pytest.approx(damped * 0.3)}
    assert first.came[y].relation_id == A
    second = explore_hops.spread(first.scores, [Edge(y, z, C, 0.5, 2)], explore_hops.SECOND, explore_hops.FLOOR)
    assert second.scores == {z: pytest.approx(first.scores[y] * 0.7 * damped * 0.5)}
    assert explore_hops.totals([{x: 1.0}, first.scores, second.scores])[z] == second.scores[z]


def test_a_hub_spreads_little_and_what_is_too_little_stays() -> None:
    x, y = uuid.UUID(int=11), uuid.UUID(int=12)
    assert Edge(x, y, A, 1.0, 10_000).weight == pytest.approx(1 / math.log(10_002))
    assert explore_hops.spread({x: 0.1}, [Edge(x, y, A, 0.0, 10_000)], 0.5, 0.02).scores == {}


def test_cards_count_as_all_that_they_name() -> None:
    x, y = uuid.UUID(int=11), uuid.UUID(int=12)
    named_in = [(A, x), (A, x), (A, y), (B, y), (C, uuid.UUID(int=13))]
    assert explore_hops.card_scores({x: 1.0, y: 0.25}, named_in) == {A: 1.25, B: 0.25, C: 0.0}
