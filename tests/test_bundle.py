"""Bundle Search's formulas, every number computed by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
import pytest

from app.index.collections import TextKind
from app.index.postings import RECENT_HEAD, Found, Subset, Totals, pack_terms, score
from app.retrieval.bundle import ChainWeights, Shape, Signals, chain, minimum, soft_minimum
from app.retrieval.bundle_alike import discounts
from app.retrieval.bundle_confidence import confidence, f_dist, f_gap, node_weight
from app.retrieval.bundle_diversity import pick
from app.retrieval.bundle_echo import unlike
from app.retrieval.bundle_published import Edges, Links, Starts, normalised, published, starts_of
from app.retrieval.bundle_scales import Scale, Scales
from app.retrieval.bundle_scripts import Line, imputed, nearest_other, worth
from app.retrieval.bundle_time import AskedTime, asked_time, time_match
from app.retrieval.calibration import Background, Calibration, Pair, Reading
from app.retrieval.pseudo_questions import Script
from app.retrieval.scripts import han_from
from app.text.when import find_times

INF, NAN = math.inf, math.nan
NOWHERE = np.array([], np.intp)


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float64)


def places(*values: int) -> np.ndarray:
    return np.array(values, np.intp)


def one_path(**given: float) -> float:
    """S(E) of one episode with one facet and one point; what is not given is in no list, or has no vector."""
    entity = {"entity", "entity_edge", "entity_facet_edge"} & given.keys()
    links = Links(places(0), places(-1)) if entity else Links(NOWHERE, NOWHERE)
    found = published(
        Shape(places(0), places(0), 1),
        links,
        Starts(
            episode=floats(given.get("episode", INF)),
            facet=floats(given.get("facet", INF)),
            point=floats(given.get("point", INF)),
            entity=floats(given.get("entity", INF)) if entity else floats(),
        ),
        Edges(
            facet=floats(given.get("facet_edge", NAN)),
            point=floats(given.get("point_edge", NAN)),
            entity=floats(given.get("entity_edge", NAN)) if entity else floats(),
        ),
    )
    return float(found.total[0])


class TestLikeness:
    def test_what_is_unusual_counts_by_how_much_it_is(self) -> None:
        likeness = floats(0.1, 0.1, 0.1, 0.5)
        limit = 0.2 + 0.5 * float(np.std(likeness))
        assert discounts(likeness, 0.5, 4.0).tolist() == pytest.approx([0.0, 0.0, 0.0, 4 * (0.5 - limit)])

    def test_where_all_are_equally_alike_nothing_counts(self) -> None:
        assert discounts(floats(0.4, 0.4, 0.4), 0.75, 8.0).tolist() == pytest.approx([0.0] * 3)

    def test_nobody_is_compared_with_nobody(self) -> None:
        assert discounts(floats(), 0.75, 8.0).tolist() == []


class TestPublished:
    """Golden values of the published formula."""

    @pytest.mark.parametrize(
        ("given", "cost"),
        [
            ({"episode": 0.0}, 0.30),
            ({"point": 0.0}, 1.90),
            ({"point": 0.0, "facet_edge": 0.2}, 1.20),
            ({"point": 0.0, "point_edge": 0.2}, 1.20),
            ({"point": 0.0, "facet_edge": 0.2, "facet": 0.05}, 0.20),
            ({"entity": 0.0, "entity_edge": 0.0}, 0.05),
            ({"entity": 0.0}, 0.95),
            ({}, INF),
            # start(F) = .15: edge' = .3 * .5, hop' = .015
            ({"facet": 0.15, "facet_edge": 0.5}, 0.15 + 0.15 + 0.015),
            ({"facet": 0.4, "facet_edge": 0.5}, 0.95),
        ],
    )
    def test_golden_values(self, given: dict[str, float], cost: float) -> None:
        assert one_path(**given) == pytest.approx(cost)

    def test_an_entity_of_a_facet_goes_through_it(self) -> None:
        found = published(
            Shape(NOWHERE, places(0, 1), 2),
            Links(places(1), places(1)),
            Starts(floats(INF, INF), floats(INF, INF), floats(), floats(0.1)),
            Edges(floats(0.0, 0.3), floats(), floats(0.2)),
        )
        # .1 + .2 + .05 to the facet, .3 + .05 on to the episode
        assert found.total.tolist() == [INF, pytest.approx(0.70)]

    def test_lists_are_normalised_within_themselves(self) -> None:
        distances = floats(0.2, NAN, 0.6, 0.4)
        np.testing.assert_allclose(normalised(distances), [0.0, NAN, 1.0, 0.5])
        np.testing.assert_allclose(starts_of(distances, 2), [0.0, INF, INF, 1.0])
        assert normalised(floats(0.3)).tolist() == [0.0]


class TestEcho:
    def test_claims_are_compared_with_the_best_ones_less_what_all_have_in_common(self) -> None:
        """Five claims of four cards; (10, 10) is common to all and says nothing."""
        vectors = np.array([[11, 10], [10, 11], [11, 10], [9, 10], [9, 9]], np.float32)
        told = unlike(vectors, floats(-2.0, -1.5, -0.5, -0.4, -0.3), places(0, 0, 1, 2, 3), 1)
        # The best claim is (1, 0): the third says the same, the fourth the opposite, the fifth (-1, -1)/√2.
        np.testing.assert_allclose(told, [0.0, 0.0, 0.0, 2.0, 1 + math.sqrt(0.5)], atol=1e-6)

    def test_of_several_best_claims_their_mean_counts(self) -> None:
        vectors = np.array([[1, 0], [0, 1], [1, 1], [-1, -1], [-1, -1]], np.float32)
        told = unlike(vectors, floats(-2.0, -1.5, -0.5, -0.4, -0.3), places(0, 1, 2, 3, 4), 2)
        # (1, 1)/√2 was said, by the third best whole, by the second best in part.
        np.testing.assert_allclose(told, [0.0, 1 - math.sqrt(0.5), 0.0, 2.0, 2.0], atol=1e-6)

    def test_one_card_alone_is_like_itself_and_a_claim_without_a_vector_like_nothing(self) -> None:
        vectors = np.array([[1, 0], [0, 1]], np.float32)
        assert unlike(vectors, floats(-2.0, -1.0), places(0, 0), 3).tolist() == [0.0, 0.0]
        assert unlike(vectors[:0], floats(), places(), 3).tolist() == []
        without = np.array([[1, 0], [0, 1], [0, 0]], np.float32)
        told = unlike(without, floats(-2.0, -1.0, -0.5), places(0, 1, 2), 1)
        # (1, −1) against (−1, 1) is −1, against nothing 0.
        np.testing.assert_allclose(told, [0.0, 1.0, 0.0], atol=1e-6)
        assert unlike(np.zeros((2, 2), np.float32), floats(-2.0, -1.0), places(0, 1), 3).tolist() == [0.0, 0.0]


class TestChain:
    def test_costs_add_up_from_the_tip_to_the_base(self) -> None:
        """Two claims of one facet, a third of another facet of another episode."""
        costs = chain(
            Shape(places(0, 0, 1), places(0, 1), 2),
            Signals(
                z_edge=floats(-2.0, -1.0, -3.0),
                words_point=floats(0.4, 0.0, 1.0),
                z_facet=floats(-1.0, 2.0),
                words_facet=floats(0.2, 0.0),
                words_episode=floats(0.8, 0.1),
                time=floats(0.0, 0.5),
                points_extra=floats(0.0, 0.0, 0.25),
                tellings_extra=floats(0.0, 0.0),
                unlike=floats(0.0, 0.5, 0.5),
                worth_edge=floats(1.0, 1.0, 0.5),
                worth_facet=floats(1.0, 0.5),
            ),
            ChainWeights(tau=0.0, echo=0.2),
        )
        # .25·z − .25·L + .2·U, a third claim whose vector is worth half, and which costs .25 more
        np.testing.assert_allclose(costs.claim, [-0.6, -0.15, -0.325])
        # .10·z − .25·L, the second with half of the distance
        np.testing.assert_allclose(costs.facet, [-0.15, 0.1])
        # −.75·L − .8·T
        np.testing.assert_allclose(costs.base, [-0.6, -0.475])
        np.testing.assert_allclose(costs.path, [-1.35, -0.9, -0.7])
        np.testing.assert_allclose(costs.total, [-1.35, -0.7])

    def test_the_soft_minimum_is_a_little_less_than_the_least(self) -> None:
        costs, groups = floats(1.0, 1.0, 5.0, 2.0), places(0, 0, 0, 2)
        soft = soft_minimum(costs, groups, 3, 0.05)
        assert soft[0] == pytest.approx(1.0 - 0.05 * math.log(2.0))
        assert soft[1:].tolist() == [INF, 2.0]
        assert soft_minimum(costs, groups, 3, 0.0).tolist() == minimum(costs, groups, 3).tolist() == [1.0, INF, 2.0]

    def test_one_strong_chain_beats_many_weak_ones(self) -> None:
        weak = np.full(100, -0.5)
        costs = np.concatenate((floats(-1.0), weak))
        soft = soft_minimum(costs, places(0, *[1] * 100), 2, 0.05)
        # A hundred equal ones gain .05·ln 100 = .23
        assert soft[1] == pytest.approx(-0.5 - 0.05 * math.log(100))
        assert soft[0] < soft[1]

    def test_nothing_reached_is_no_error(self) -> None:
        empty = floats()
        costs = chain(
            Shape(NOWHERE, NOWHERE, 0),
            Signals(empty, empty, empty, empty, empty, empty, empty, empty, empty, empty, empty),
            ChainWeights(),
        )
        assert (len(costs.total), len(costs.path)) == (0, 0)


class TestScales:
    def test_z_by_the_scripts_of_question_and_text(self) -> None:
        scales = Scales({("point", False, False): Scale(0.2, 0.02), ("point", False, True): Scale(0.3, 0.05)})
        z = scales.z("point", np.array([0.16, 0.2, NAN], np.float32), False, np.array([False, True, False]))
        np.testing.assert_allclose(z, [-2.0, -2.0, NAN], rtol=1e-5)

    def test_words_of_another_script_are_read_off_the_vector(self) -> None:
        line = Line(-0.07, 0.1)
        told = imputed(
            floats(0.0, 0.9, 0.0, 0.0), floats(-3.0, -3.0, 2.0, -3.0), np.array([1, 1, 1, 0], bool), line, 1.2
        )
        # 1.2·(−.07 + .1·3) = .276; what words say stays where it is more; far away says nothing; own script untouched
        np.testing.assert_allclose(told, [0.276, 0.9, 0.0, 0.0])

    def test_distances_are_worth_less_where_question_and_text_are_in_han(self) -> None:
        in_han = np.array([True, False])
        assert worth(True, in_han, 0.5).tolist() == [0.5, 1.0]
        assert worth(False, in_han, 0.5).tolist() == [1.0, 1.0]

    def test_the_nearest_text_of_another_script_stands_for_its_group(self) -> None:
        least, has = nearest_other(floats(-1.0, -3.0, -5.0, 2.0), np.array([1, 1, 0, 1], bool), places(0, 0, 0, 1), 3)
        assert least.tolist() == [-3.0, 0.0, 0.0]
        assert has.tolist() == [True, True, False]


class TestTime:
    NOW = datetime(2024, 3, 1, tzinfo=UTC)

    def asked(self, question: str) -> list[AskedTime]:
        return [asked_time(found) for found in find_times(question, self.NOW, asking=True)]

    def match(self, question: str, *dates: str) -> list[float]:
        return [round(float(one), 6) for one in time_match(self.asked(question), np.array(dates, "datetime64[D]"))]

    def test_the_month_counts_one_and_the_next_a_little(self) -> None:
        assert self.match("What did she do in May?", "2023-05-02", "2022-05-30", "2023-06-15", "2023-06-16") == [
            1.0,
            1.0,
            0.4,
            0.1,
        ]

    def test_a_day_that_is_more_than_ten_days_off(self) -> None:
        assert self.match("What happened on 20 May 2023?", "2023-05-10", "2023-05-09", "2023-05-31") == [1.0, 0.5, 0.5]

    def test_another_year_takes_half_away(self) -> None:
        assert self.match("What did she do in May 2023?", "2023-05-02", "2022-05-02", "2022-01-02") == [1.0, 0.5, -0.5]
        assert self.match("Where was he in 2022?", "2022-07-01", "2023-07-01") == [0.0, -0.5]

    def test_december_comes_before_january(self) -> None:
        assert self.match("What did he get in December?", "2023-01-10", "2023-12-10") == [0.4, 1.0]

    def test_a_time_that_fits_nothing_says_nothing(self) -> None:
        """Seen from now, "last week" lies in a year in which no card speaks."""
        assert self.match("What did she find last week?", "2021-02-20", "2022-07-01") == [0.0, 0.0]

    def test_no_time_asked_or_no_date_known(self) -> None:
        assert self.match("What did she find?", "2023-02-20") == [0.0]
        assert self.match("What did she do in May 2023?", "NaT", "2023-05-02") == [0.0, 1.0]

    def test_chinese(self) -> None:
        assert self.match("她2023年5月做了什么？", "2023-05-02", "2023-06-02", "2022-05-02") == [1.0, 0.4, 0.5]
        assert self.match("她5月做了什么？", "2021-05-02", "2022-05-02") == [1.0, 1.0]


class TestConfidence:
    def test_golden_values(self) -> None:
        assert [f_dist(ratio) for ratio in (0.4, 0.75, 1.0, 1.5, 2.0, 9.0)] == pytest.approx(
            [1.0, 0.75, 0.5, 0.3, 0.2, 0.1]
        )
        assert [f_gap(gap) for gap in (0.005, 0.01, 0.03, 0.05, 0.10, 0.2)] == pytest.approx(
            [0.2, 0.2, 0.4, 0.6, 0.8, 1.0]
        )

    def test_of_a_list_and_between_nodes_and_edges(self) -> None:
        assert confidence(0.375, 0.475, 0.5) == pytest.approx(0.75 * 0.8)
        assert node_weight(0.5, 0.5) == pytest.approx(0.5 / 1.01)
        assert (node_weight(1.0, 0.0), node_weight(0.0, 1.0)) == (0.8, 0.2)


class TestDiversity:
    def test_each_pick_makes_its_relatives_dearer(self) -> None:
        costs = [0.0, 0.1, 0.2, 0.5]
        keys = [("a",), ("a",), ("b",), ("a", "c")]
        assert pick(costs, keys, 0.15, 4) == [
            (0, 0.0),
            (2, 0.2),
            (1, pytest.approx(0.25)),
            (3, pytest.approx(0.8)),
        ]
        assert pick(costs, keys, 0.0, 2) == [(0, 0.0), (1, 0.1)]


class TestShare:
    """L(x): BM25 over the idf of all of the question."""

    def found(self) -> Found:
        # Two docs of three words each: doc 7 has term 1 twice, doc 8 has term 2 once; term 3 is nowhere.
        head = np.array([(7, 3, 0, 1, 0), (8, 3, 0, 1, 0)], RECENT_HEAD)
        return Found(
            words=np.array([1, 2, 3], np.int64),
            grams=np.array([], np.int64),
            ords=[],
            blocks=[],
            totals=Totals(),
            recent_heads=[head.tobytes()],
            recent_words=[pack_terms({1: 2}) + pack_terms({2: 1})],
        )

    def test_words_that_nothing_has_count_in_the_denominator(self) -> None:
        hits = score(self.found(), b=0.5)
        idf, unknown = math.log(1 + 1.5 / 1.5), math.log(1 + 2.5 / 0.5)
        # All docs are of average length: tf·2.2/(tf + 1.2)
        assert hits.share_of(np.array([7, 8, 9], np.uint32)).tolist() == pytest.approx(
            [idf * 4.4 / 3.2 / (2 * idf + unknown), idf / (2 * idf + unknown), 0.0]
        )
        # The score that level search uses knows only what is there.
        assert hits.score_of(np.array([8], np.uint32))[0] == pytest.approx(idf / (2.2 * 2 * idf))

    def test_b_says_what_a_long_doc_loses(self) -> None:
        found = self.found()
        subset = Subset(np.array([7, 8], np.uint32), Totals(docs=2, words=2))
        # Average length 1, own length 3: k1·(1 − b + b·3)
        for b in (0.0, 0.5, 0.75):
            hits = score(found, subset, b)
            assert hits.words[1] == pytest.approx(math.log(2) * 2.2 / (1 + 1.2 * (1 + 2 * b)), rel=1e-6)


def test_a_workspace_speaks_both_scripts_when_half_as_many_texts_are_in_the_other() -> None:
    def told(latin: int, han: int) -> Calibration:
        pairs: dict[Script, int] = {"latin": latin, "han": han}
        readings: dict[tuple[str, Pair], Reading] = {
            ("point", ("latin", script)): Reading(Background(0.2, 0.02, 900, texts))
            for script, texts in pairs.items()
            if texts
        }
        return Calibration({}, readings)

    assert told(300, 150).speaks_both(TextKind.point, "latin")
    assert not told(300, 149).speaks_both(TextKind.point, "latin")
    assert not told(300, 0).speaks_both(TextKind.point, "latin")
    assert told(0, 20).speaks_both(TextKind.point, "latin")


def test_a_question_in_han_takes_a_text_with_some_han_for_its_own() -> None:
    assert (han_from(True), han_from(False)) == (4, 30)
