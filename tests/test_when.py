"""Times in Chinese and English text become ranges of days."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.text.when import OPEN_END, OPEN_START, TimeFound, find_date, find_times, month_words, strip_times

LABELLED = [json.loads(line) for line in (Path(__file__).parent / "data/time.jsonl").read_text().splitlines()]
WEDNESDAY = datetime(2023, 6, 14, 15, tzinfo=UTC)


def days(found: list[TimeFound]) -> list[list[str | None]]:
    return [
        [
            None if one.start == OPEN_START else one.start.date().isoformat(),
            None if one.end == OPEN_END else one.end.date().isoformat(),
        ]
        for one in found
    ]


def one(text: str, **asked: bool) -> TimeFound:
    found = find_times(text, WEDNESDAY, **asked)
    assert len(found) == 1, found
    return found[0]


def share_right(cases: list[dict]) -> float:
    return sum(days(find_times(case["text"], at(case))) == case["expect"] for case in cases) / len(cases)


def at(case: dict) -> datetime:
    return datetime.fromisoformat(case["said_at"])


def test_the_labelled_set_is_what_it_claims_to_be():
    splits = Counter(case["split"] for case in LABELLED)
    assert abs(splits["held"] - splits["tune"]) <= 4
    assert sum(not case["expect"] for case in LABELLED) >= 30
    assert sum(len(case["expect"]) for case in LABELLED) >= 160
    assert len({case["text"] for case in LABELLED}) == len(LABELLED)


@pytest.mark.parametrize(
    "part",
    [
        lambda case: True,
        lambda case: case["split"] == "held",
        lambda case: case["lang"] == "zh",
        lambda case: case["lang"] == "en",
        lambda case: not case["expect"],
    ],
    ids=["all", "held", "zh", "en", "traps"],
)
def test_labelled_times_are_right(part):
    cases = [case for case in LABELLED if part(case)]
    assert share_right(cases) >= 0.95


@pytest.mark.parametrize(
    ("text", "kind", "precision"),
    [
        ("yesterday", "day", "day"),
        ("last week", "week", "week"),
        ("上周末", "weekend", "day"),
        ("May 2023", "month", "month"),
        ("early May", "month", "week"),
        ("2022年Q3", "quarter", "quarter"),
        ("去年下半年", "half", "half"),
        ("the summer of 2019", "season", "season"),
        ("in 1998", "year", "year"),
        ("2020年初", "year", "quarter"),
        ("90年代", "decade", "decade"),
        ("the late 1960s", "decade", "year"),
        ("19世纪", "century", "century"),
        ("from May to July 2022", "interval", "month"),
        ("近两年", "back", "year"),
        ("the next two weeks", "forward", "week"),
        ("since 2019", "since", "year"),
        ("by Friday", "until", "day"),
        ("before 2010", "before", "year"),
        ("2008年之后", "after", "year"),
        ("2008年后", "after", "year"),
        ("2020年前出生", "before", "year"),
        ("从下周一开始", "since", "day"),
        ("2019年至今", "since", "year"),
        ("two years ago", "year", "year"),
        ("三周前", "week", "week"),
    ],
)
def test_kind_and_precision(text: str, kind: str, precision: str):
    found = one(text)
    assert (found.kind, found.precision) == (kind, precision)


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("Recorded at 1:14 pm on 25 May, 2023.", "at 1:14 pm on 25 May, 2023"),
        ("开会（5月25日（周四）上午10:00）", "5月25日（周四）上午10:00"),
        ("Done since last summer, really", "since last summer"),
        ("在２０２３年３月，他走了", "２０２３年３月"),
        ("İstanbul'da yesterday", "yesterday"),
        ("Nielsen (2003, September 8). Extreme", "2003, September 8"),
        ("整理6月的全部日志", "6月"),
        ("从2016年开到2020年的店", "从2016年开到2020年"),
    ],
)
def test_the_span_is_the_whole_expression(text: str, expression: str):
    found = one(text)
    assert found.text == expression == text[slice(*found.span)]


def test_ranges_lie_in_the_zone_of_the_reference():
    shanghai = timezone(timedelta(hours=8))
    late = datetime(2023, 6, 14, 20, tzinfo=UTC)
    assert find_times("昨天", late)[0].start == datetime(2023, 6, 13, tzinfo=UTC)
    assert find_times("昨天", late.astimezone(shanghai))[0].start == datetime(2023, 6, 14, tzinfo=shanghai)
    found = find_times("today", late, zone=ZoneInfo("Asia/Shanghai"))[0]
    assert (found.start, found.end) == (
        datetime(2023, 6, 14, 16, tzinfo=UTC),
        datetime(2023, 6, 15, 16, tzinfo=UTC),
    )
    naive = find_times("today", datetime(2023, 6, 14, 20))[0]  # noqa: DTZ001
    assert naive.start == datetime(2023, 6, 14, tzinfo=UTC)


def test_without_a_year_the_latest_that_has_begun_or_the_first_to_come():
    assert days([one("We met in August.")]) == [["2022-08-01", "2022-09-01"]]
    assert days([one("It rained in June.")]) == [["2023-06-01", "2023-07-01"]]
    assert days([one("We will meet in August.")]) == [["2023-08-01", "2023-09-01"]]
    assert days([one("我打算8月去")]) == [["2023-08-01", "2023-09-01"]]
    assert days([one("When will we meet in August?", asking=True)]) == [["2022-08-01", "2022-09-01"]]
    assert days(find_times("on 29 February", WEDNESDAY)) == [["2020-02-29", "2020-03-01"]]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2024年春节", "2024-02-10", "2024-02-17"),
        ("2033年中秋节", "2033-09-08", "2033-09-09"),
        ("2023年端午节", "2023-06-22", "2023-06-23"),
        ("2024年除夕", "2024-02-09", "2024-02-10"),
        ("2024年清明节", "2024-04-04", "2024-04-05"),
        ("Thanksgiving 2022", "2022-11-24", "2022-11-25"),
        ("Easter 2024", "2024-03-31", "2024-04-01"),
    ],
)
def test_moving_festivals(text: str, start: str, end: str):
    assert days([one(text)]) == [[start, end]]


@pytest.mark.parametrize(
    "text",
    [
        "31 February 2020",
        "2023-02-30",
        "三千年后",
        "999 years ago",
        "9999年以前的事",
        "01/02/2023",
        "v2023.5.7",
        "127.0.0.1 和 2019.08.1234",
        "",
        " ",
        "一个世纪",
        "december 0001",
    ],
)
def test_what_no_calendar_has_or_nobody_can_tell_gives_nothing(text: str):
    assert find_times(text, WEDNESDAY) == []


def test_the_ends_of_the_calendar_raise_nothing():
    for year in (1, 9999):
        said_at = datetime(year, 1, 1, tzinfo=UTC) if year == 1 else datetime(year, 12, 31, tzinfo=UTC)
        for text in (
            "last year",
            "next year",
            "近两百年",
            "上周",
            "下周五",
            "tomorrow",
            "yesterday",
            "in May",
            "since 2019",
        ):
            assert all(found.start < found.end for found in find_times(text, said_at))


_PIECES = st.sampled_from(
    [
        *"年月日周末天前后上下个半初底号至到近—-/.,，。 0123456789一二三十",
        *(case["text"][cut : cut + 12] for case in LABELLED for cut in (0, 9, 18)),
        *("年前", "年后", "之前", "以来", "起", "开始", "至今", "Q3", "last ", " ago", "early ", "week of "),
        "from ",
        " to ",
        "between ",
        "since ",
        "before ",
        "the last ",
        "May",
        "《",
        "》",
        "@",
        "İ",
        "\ud800",
    ]
)


@settings(max_examples=400, deadline=None)
@given(
    text=st.lists(_PIECES, max_size=24).map("".join) | st.text(max_size=40),
    said_at=st.datetimes(timezones=st.just(UTC)),
    asking=st.booleans(),
)
def test_any_text_gives_ordered_spans_and_ranges_that_are_not_empty(text: str, said_at: datetime, asking: bool):
    found = find_times(text, said_at, asking=asking)
    ends = 0
    for part in found:
        assert ends <= part.span[0] < part.span[1] <= len(text)
        assert part.text == text[slice(*part.span)]
        assert part.start < part.end
        assert None not in (part.start.tzinfo, part.end.tzinfo)
        ends = part.span[1]
        assert month_words(part.start, part.end)
    assert len(strip_times(text, found)) <= len(text)


@pytest.mark.parametrize(
    "piece",
    [
        "2023",
        "in 2006, ",
        "一",
        "十年前",
        "a.b-c+",
        "x@",
        "《",
        "5月",
        "last ",
        "from May to ",
        "1-",
        "周一",
        "http://a ",
        "1998–",
    ],
)
def test_the_cost_is_linear_in_the_text(piece: str):
    """I4: no input makes the rules walk back and forth."""
    small, large = (piece * (size // len(piece)) + "@://" for size in (4_000, 80_000))
    began = time.process_time()
    find_times(small, WEDNESDAY)
    middle = time.process_time()
    find_times(large, WEDNESDAY)
    # Twenty times the text; quadratic work would take four hundred times as long.
    assert time.process_time() - middle < 100 * max(middle - began, 0.01)


def test_words_of_a_day_a_month_and_longer():
    def words(start: str, end: str) -> str:
        return month_words(
            datetime.combine(date.fromisoformat(start), datetime.min.time(), UTC),
            datetime.combine(date.fromisoformat(end), datetime.min.time(), UTC),
        )

    assert words("2023-05-25", "2023-05-26") == "2023-05-25 25 May 2023 2023年5月25日 5月"
    assert words("2023-05-01", "2023-06-01") == "2023-05 May 2023 2023年5月 5月"
    assert words("2023-05-11", "2023-05-21") == "2023-05 May 2023 2023年5月 5月"
    assert (
        words("2022-12-30", "2023-01-02") == "2022-12 December 2022 2022年12月 12月 2023-01 January 2023 2023年1月 1月"
    )
    assert words("2023-01-01", "2024-01-01") == "2023 2023年"
    assert words("1998-01-01", "2001-01-01") == "1998 1998年 1999 1999年 2000 2000年"
    assert words("1901-01-01", "2001-01-01") == "1901 1901年 2000 2000年"
    moment = datetime(2023, 5, 25, 13, 14, tzinfo=UTC)
    assert month_words(moment, moment) == "2023-05-25 25 May 2023 2023年5月25日 5月"
    assert month_words(OPEN_START, datetime(2010, 1, 1, tzinfo=UTC)) == "2010 2010年"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("What did I do in May 2023?", "What did I do?"),
        ("What happened between May and July?", "What happened?"),
        ("In May 2023, what did I read?", "what did I read?"),
        ("Where was she on 7 May, and why?", "Where was she, and why?"),
        ("Which of yesterday's notes mention Rust?", "Which notes mention Rust?"),
        ("我在2023年写了什么？", "我写了什么？"),
        ("去年五月我写了什么", "我写了什么"),
        ("2023年的总结在哪里", "总结在哪里"),
        ("上周二（6月6日）谁来了？", "谁来了？"),
        ("Who is Melanie?", "Who is Melanie?"),
        ("yesterday", ""),
    ],
)
def test_a_question_without_its_times(text: str, rest: str):
    assert strip_times(text, find_times(text, WEDNESDAY, asking=True)) == rest


def test_a_written_date_is_still_read_alone():
    assert find_date("1:14 pm on 25 May, 2023") == datetime(2023, 5, 25, 13, 14, tzinfo=UTC)
    assert find_date("May 2023") is None
