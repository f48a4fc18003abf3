"""Speech that prose and logs report: whose word each claim is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from app.ingestion.cone.reported import clauses
from app.ingestion.extract.offline import OfflineExtractor
from app.retrieval.explore_similar import distance
from app.text.dialogue import quoted_turns, stand_alone_turn
from app.text.segment import Segmenter
from tests.test_cone_build import named, texts


@pytest.fixture(scope="module")
def segmenter() -> Segmenter:
    return Segmenter()


DAY = datetime(2023, 7, 20, tzinfo=UTC)


def told(content: str, *names: str, title: str = "") -> list[str]:
    return texts(content, title, named(content, *names))


def claims(segmenter: Segmenter, text: str, title: str = "Notes") -> list[str]:
    return OfflineExtractor(segmenter).claims(text, title, DAY)


def test_clauses_of_what_is_reported_carry_the_name() -> None:
    content = "Maria stated that the mill closed in May; the workers were not told until June; nobody came to help."
    assert told(content, "Maria") == [
        "Maria stated that the mill closed in May",
        "Maria: the workers were not told until June",
        "Maria: nobody came to help.",
    ]


def test_a_clause_of_somebody_else_keeps_its_own_name() -> None:
    content = "Maria said that the mill closed in May; Tim replied that it opens again in June; the owner is ill."
    assert told(content, "Maria", "Tim") == [
        "Maria said that the mill closed in May.",
        "Tim replied that it opens again in June",
        "Tim: the owner is ill.",
    ]


def test_a_quote_goes_on_until_it_is_closed() -> None:
    content = 'Maria replied, "These are for running. Been running longer since our last chat." The shoes are purple.'
    assert told(content, "Maria") == [
        'Maria replied, "These are for running.',
        'Maria: Been running longer since our last chat."',
        "The shoes are purple.",
    ]


def test_who_begins_to_speak_at_the_end_of_a_sentence_goes_on_in_the_next_one() -> None:
    unveiled = "The painting was unveiled in the town hall on the first Sunday of July"
    content = f'{unveiled} and Maria asked, "Who made it? I like it."'
    assert told(content, "Maria")[1:] == ['Maria: I like it."']


def test_a_quote_that_nobody_closes_ends_where_somebody_else_speaks_or_another_paragraph_begins() -> None:
    content = (
        'Maria said that the pipe is 5" wide. It leaks a little at both ends. Tim replied that he will mend it.'
        "\n\nThe pipe is made of copper and lead."
    )
    assert told(content, "Maria", "Tim")[-2:] == [
        "Tim replied that he will mend it.",
        "The pipe is made of copper and lead.",
    ]
    assert told('A 5" pipe leaks. Maria says that it is old; nobody mends it now.', "Maria")[1:] == [
        "Maria says that it is old",
        "Maria: nobody mends it now.",
    ]


def test_chinese_reports() -> None:
    content = "陈静表示第一版周五可以交付给客户；后续的性能优化需要再排两周。"
    assert told(content, "陈静") == ["陈静表示第一版周五可以交付给客户；", "陈静：后续的性能优化需要再排两周。"]
    assert told(f"昨天{content}", "陈静")[1] == "陈静：后续的性能优化需要再排两周。"


@pytest.mark.parametrize(
    "content",
    [
        "The mill closed in May; the workers were told in June and went home.",
        "Maria closed the mill in May; the workers were told in June and went home.",
        "In the long report about the mill and all of its workers, Maria says; the rest of it is lost for good.",
    ],
)
def test_what_nobody_is_reported_to_say_stays_one_claim(content: str) -> None:
    assert told(content, "Maria") == [content]


def test_a_clause_of_a_word_or_two_stays_where_it_is() -> None:
    assert clauses("keep going; the harvest will be good; thanks") == ["keep going; the harvest will be good; thanks"]
    assert clauses("we keep going; the harvest is good; thanks") == ["we keep going", "the harvest is good; thanks"]


def test_several_speak_in_one_line(segmenter: Segmenter) -> None:
    text = (
        'Maria: "Way to go, John! I am so proud of my team." John: "Thanks! I need your support." '
        "John replied that the vote is in March."
    )
    assert claims(segmenter, text) == [
        "Maria: Way to go, John!",
        "Maria is so proud of Maria's team.",
        "Thanks! John needs your support.",
        "John replied that the vote is in March.",
    ]


@pytest.mark.parametrize(
    ("said", "told_by_name"),
    [
        ("I guess it rains.", "Ben guesses it rains."),
        ("I try to cook.", "Ben tries to cook."),
        ("I play.", "Ben plays."),
    ],
)
def test_verbs_of_the_third_person(said: str, told_by_name: str) -> None:
    assert stand_alone_turn(said, "Ben") == told_by_name


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ('Maria: "Hi there." John (08:56 PM): "Hello."', [("Maria", "Hi there."), ("John", "Hello.")]),
        ("She laughed. 李明：“今天下雨。”", [(None, "She laughed. "), ("李明", "今天下雨。")]),
        ('The motto: "Never give up."', [(None, 'The motto: "Never give up."')]),
        ("Maria: no quotes here", [(None, "Maria: no quotes here")]),
        ("", []),
    ],
)
def test_quoted_turns(line: str, parts: Sequence[tuple[str | None, str]]) -> None:
    assert quoted_turns(line) == list(parts)


def test_a_title_that_belongs_to_somebody_is_not_that_person(segmenter: Segmenter) -> None:
    found = claims(segmenter, "Jon opened a studio in May. He teaches salsa on Mondays.", "Jon's Dance Studio Dream")
    assert found == ["Jon opened a studio in May.", "Jon teaches salsa on Mondays."]


def test_distance_is_the_plain_one_wherever_it_is_within_reach() -> None:
    words = ["".join(letters) for size in range(5) for letters in itertools.product("ab", repeat=size)]
    for left, right in itertools.product(words, words):
        expected = _plain(left, right)
        for most in range(4):
            assert distance(left, right, most) == min(expected, most + 1)


def _plain(left: str, right: str) -> int:
    """Optimal string alignment, the whole table."""
    table = [[i + j if not i or not j else 0 for j in range(len(right) + 1)] for i in range(len(left) + 1)]
    for i, j in itertools.product(range(1, len(left) + 1), range(1, len(right) + 1)):
        table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (left[i - 1] != right[j - 1]))
        if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
            table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]
