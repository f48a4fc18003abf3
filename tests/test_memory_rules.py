"""Fading, slugs, nearness and relevance of memories, by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from app.core.errors import Invalid
from app.memory.change import (
    TYPES,
    BodyMissing,
    BodyTooLong,
    Change,
    NotInBody,
    TwiceInBody,
    Type,
    changed,
    new_look,
    sanitised,
    title_of,
)
from app.memory.decay import Age, days_unused, decayed, due_at, due_within, fading, is_due
from app.memory.near import NEVER, Nearness, nearness, paraphrase_cosine, said
from app.memory.relevance import ALWAYS, Background, Candidate, by_distance, by_words, rank
from app.memory.slugs import InvalidSlug, ReservedSlug, checked, derived, free
from app.text.segment import Segmenter

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)


# ---------------------------------------------------------------------------------------- fading


def test_thirty_days_leave_an_e_th_or_a_half() -> None:
    assert decayed(0.5, 30) == pytest.approx(0.1839, abs=5e-5)
    assert decayed(0.5, 30, "half_life") == pytest.approx(0.25, abs=1e-12)
    assert decayed(0.5, 20.8) == pytest.approx(0.25, abs=1e-3)
    assert decayed(0.5, 0) == 0.5
    assert decayed(0.5, -3) == 0.5


def test_days_count_from_the_last_use_else_from_creation() -> None:
    assert days_unused(Age(1, NOW - 100 * DAY, NOW - 3 * DAY), NOW) == 3
    assert days_unused(Age(1, NOW - 100 * DAY, None), NOW) == 100
    assert days_unused(Age(1, NOW, NOW + DAY), NOW) == 0


def test_archived_are_those_below_a_tenth_and_older_than_ninety_days_both_strictly() -> None:
    faint = Age(0.05, NOW - 90 * DAY, None)
    assert not is_due(faint, NOW)
    assert is_due(faint, NOW + timedelta(seconds=1))
    # exp(-0) = 1: exactly a tenth is not below it.
    used = Age(0.1, NOW - 200 * DAY, NOW)
    assert not is_due(used, NOW)
    assert is_due(used, NOW + timedelta(seconds=1))
    assert not is_due(Age(1, NOW - 91 * DAY, NOW - 60 * DAY), NOW)  # e^-2 = 0.135


def test_the_mode_decides_when() -> None:
    age = Age(0.5, NOW - 91 * DAY, NOW - 50 * DAY)
    assert is_due(age, NOW)  # 0.5 e^(-50/30) = 0.094
    assert not is_due(age, NOW, "half_life")  # 0.157


def test_due_at_is_the_moment_from_which_it_is_due() -> None:
    age = Age(0.8, NOW - 10 * DAY, NOW)
    at = due_at(age)
    assert (at - NOW) / DAY == pytest.approx(80, abs=1e-6)  # ninety days of age come after 62.4 without use
    assert due_at(Age(1, NOW - 400 * DAY, NOW)) - NOW == pytest.approx(
        30 * math.log(10) * DAY, abs=timedelta(milliseconds=1)
    )
    for mode in ("efold", "half_life"):
        moment = due_at(age, mode)
        assert not is_due(age, moment - timedelta(seconds=1), mode)
        assert is_due(age, moment + timedelta(seconds=1), mode)


def test_fading_tells_both_formulas_whatever_the_mode() -> None:
    told = fading(Age(0.5, NOW - 30 * DAY, None), NOW, "half_life")
    assert told.decayed == pytest.approx(0.1839, abs=5e-5)
    assert told.decayed_half_life == pytest.approx(0.25)


def test_the_simulation_names_what_would_go_the_first_one_first() -> None:
    ages = [
        Age(1, NOW, NOW),
        Age(0.2, NOW - 89 * DAY, NOW - 80 * DAY),
        Age(0.9, NOW - 89 * DAY, NOW - DAY),
        Age(0.05, NOW - 60 * DAY, None),
    ]
    assert due_within(ages, NOW, 0) == []
    assert due_within(ages, NOW, 2) == [1]
    assert due_within(ages, NOW, 60) == [1, 3]
    assert due_within(ages, NOW, 91) == [1, 3, 2, 0]


# ----------------------------------------------------------------------------------------- slugs


@pytest.mark.parametrize("slug", ["tea", "likes-tea", "likes_tea.2", "偏好-绿茶", "a" * 80, "été"])
def test_slugs_that_are_slugs(slug: str) -> None:
    assert checked(slug) == ("ete" if slug == "été" else slug)


@pytest.mark.parametrize("slug", ["", "a b", "-a", "a-", "a--b", "a/b", "../x", "a\x00b", "a" * 81, "?", "a%b"])
def test_slugs_that_are_none(slug: str) -> None:
    with pytest.raises(InvalidSlug):
        checked(slug)


@pytest.mark.parametrize("slug", ["decay", "Decay", "proposals"])
def test_paths_of_the_api_are_no_slugs(slug: str) -> None:
    with pytest.raises(ReservedSlug):
        checked(slug)


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Prefers green tea!", "prefers-green-tea"),
        ("用户喜欢绿茶", "用户喜欢绿茶"),
        ("Wi-Fi 密码", "wi-fi-密码"),
        ("don't", "dont"),
        ("😀 ...", "memory"),
        ("", "memory"),
        ("x" * 500, "x" * 48),
        ("字" * 100, "字" * 20),
    ],
)
def test_a_slug_is_made_of_a_title(text: str, slug: str) -> None:
    assert derived(text) == slug
    assert checked(slug) == slug


def test_a_slug_that_is_taken_gets_a_number() -> None:
    assert free("tea", {"tea", "tea-2"}) == "tea-3"
    assert free("decay", set()) == "decay-2"
    assert len(free("a" * 80, {"a" * 80})) <= 80


# ------------------------------------------------------------------------------------- the change


def test_importance_is_clamped() -> None:
    for given, kept in ((7.0, 1.0), (-1.0, 0.0), (0.3, 0.3), (math.inf, 1.0), (math.nan, 0.5)):
        assert sanitised(Change("create", body="x", importance=given), by_user=True)[0].importance == kept


def test_secrets_are_gone_before_anything_is_stored() -> None:
    """B11"""
    change = Change(
        "create",
        slug="sk_live_abcdef123456",
        title="key sk_live_abcdef123456",
        body="凭证为sk_test_ABC，密码是hunter22",
        old_str="pwd=abcdef",
    )
    bare, kinds = sanitised(change, by_user=True)
    assert bare.slug is None
    assert bare.title == "key [redacted:api_key]"
    assert bare.body == "凭证为[redacted:api_key]，密码是[redacted:password]"
    assert bare.old_str == "pwd=[redacted:password]"
    assert kinds == ("api_key", "password")


def test_a_models_slug_is_made_one_and_a_users_must_be_one() -> None:
    assert sanitised(Change("create", slug="Likes Tea!"), by_user=False)[0].slug == "likes-tea"
    with pytest.raises(InvalidSlug):
        sanitised(Change("create", slug="Likes Tea!"), by_user=True)


def test_text_of_a_model_is_cleaned() -> None:
    """A1, A13"""
    bare, _ = sanitised(Change("create", title="a\x00b \n c", body="x\x00\ud800y"), by_user=False)
    assert (bare.title, bare.body) == ("ab c", "xy")


def test_a_body_has_four_kilobytes_of_utf8() -> None:
    assert new_look(Change("create", body="字" * 1365 + "a"), "active").body.endswith("a")
    with pytest.raises(BodyTooLong):
        new_look(Change("create", body="字" * 1366), "active")
    with pytest.raises(BodyMissing):
        new_look(Change("create", body=" \n"), "active")
    look = new_look(Change("create", body="a" * 4000), "active")
    with pytest.raises(BodyTooLong):
        changed(look, Change("append", body="b" * 96))
    assert len(changed(look, Change("append", body="b" * 95)).body) == 4096


def test_a_title_is_made_of_the_body_and_follows_it() -> None:
    assert title_of("\n# Tea\nGreen") == "Tea"
    assert len(title_of("x" * 300)) == 80
    look = new_look(Change("create", body="Likes tea"), "active")
    assert look.title == "Likes tea"
    assert changed(look, Change("upsert", body="Likes coffee")).title == "Likes coffee"
    named = changed(look, Change("upsert", title="Drinks"))
    assert changed(named, Change("upsert", body="Likes coffee")).title == "Drinks"
    assert changed(named, Change("upsert", title="")).title == "Likes tea"


def test_what_is_replaced_stands_there_once() -> None:
    look = new_look(Change("create", body="tea and tea, {x} %s"), "active")
    with pytest.raises(TwiceInBody):
        changed(look, Change("str_replace", old_str="tea", new_str="coffee"))
    with pytest.raises(NotInBody):
        changed(look, Change("str_replace", old_str="milk", new_str="coffee"))
    with pytest.raises(NotInBody):
        changed(look, Change("str_replace", old_str="", new_str="coffee"))
    with pytest.raises(Invalid):
        changed(look, Change("str_replace", old_str="tea and tea, {x} %s", new_str=""))
    assert changed(look, Change("str_replace", old_str="and tea", new_str="\\1")).body == "tea \\1, {x} %s"


def test_types_are_those_of_the_specification() -> None:
    assert get_args(Type) == TYPES == ("fact", "preference", "insight", "summary", "claim")


# ------------------------------------------------------------------------------------------ near


@pytest.fixture(scope="module")
def segmenter() -> Segmenter:
    return Segmenter()


@pytest.mark.parametrize(
    ("new", "old", "verdict"),
    [
        ("User prefers dark mode.", "The user prefers dark mode", "same"),
        ("用户喜欢绿茶", "用户很喜欢绿茶", "same"),
        ("the LEASE runs 5 years!", "The lease runs 5 years", "same"),
        ("The lease runs 6 years", "The lease runs 5 years", "revised"),
        ("妈妈的生日是5月4日", "妈妈的生日是5月3日", "revised"),
        ("The user does not like tea", "The user likes tea", "revised"),
        ("The user likes black tea", "The user likes green tea", None),
        ("妈妈的生日是5月3日", "爸爸的生日是5月3日", None),
        ("Alice likes tea", "Bob likes tea", None),
        ("Project Alpha uses Postgres", "Project Beta uses Postgres", None),
        ("The user lives in Berlin and works on databases", "The user lives in Berlin", None),
        ("用户住在上海", "用户住在北京", None),
        ("Always answer in English", "Always answer in Chinese", None),
    ],
)
def test_what_says_the_same(segmenter: Segmenter, new: str, old: str, verdict: Nearness | None) -> None:
    """C5, C13: another number is never taken for a repetition."""

    def words(text: str) -> list[str]:
        return segmenter.terms(text).words

    assert nearness(said("", new, words), said("", old, words)) == verdict


def test_short_bodies_mean_what_their_titles_say(segmenter: Segmenter) -> None:
    def words(text: str) -> list[str]:
        return segmenter.terms(text).words

    best, worst = said("Favourite editor", "Vim", words), said("Least liked editor", "Vim", words)
    assert nearness(best, worst) is None
    assert nearness(best, said("Favourite editor", "vim", words)) == "same"


def test_a_vector_makes_a_paraphrase_only_where_vectors_can_tell(segmenter: Segmenter) -> None:
    def words(text: str) -> list[str]:
        return segmenter.terms(text).words

    one, other = said("", "Enjoys long green tea breaks", words), said("", "Likes long green tea breaks", words)
    assert nearness(one, other, 0.97, paraphrase_cosine("BAAI/bge-m3")) == "same"
    assert nearness(one, other, 0.89, paraphrase_cosine("BAAI/bge-m3")) is None
    assert nearness(one, other, 0.99, paraphrase_cosine("multilingual-e5-small")) is None
    assert paraphrase_cosine("some-model") == NEVER


# -------------------------------------------------------------------------------------- relevance


def test_a_vector_counts_by_its_deviations() -> None:
    background = Background(0.24, 0.02)
    assert by_distance(0.30, background) == 0
    assert by_distance(0.24, background) == 0
    assert by_distance(0.20, background) == pytest.approx(0.5)
    assert by_distance(0.10, background) == 1


def test_words_count_by_the_fewer() -> None:
    assert by_words(frozenset("abcdefgh"), frozenset("ab")) == 1
    assert by_words(frozenset("abcdefgh"), frozenset("abcdxyz")) == 1
    assert by_words(frozenset("abcdefgh"), frozenset("axyz")) == 0.25
    assert by_words(frozenset(), frozenset("a")) == 0


def _candidate(number: int, words: str, decayed: float, *, concerns_all: bool = False) -> Candidate:
    import uuid

    return Candidate(uuid.UUID(int=number), None, Background(1, 1), frozenset(words), decayed, concerns_all)


def test_ranking_is_relevance_times_what_is_left() -> None:
    ranked = rank(
        frozenset("abcd"),
        [
            _candidate(1, "abxy", 0.9),
            _candidate(2, "abcd", 0.5),
            _candidate(3, "axyz", 1.0),
            _candidate(4, "xyz", 0.8, concerns_all=True),
        ],
        10,
    )
    assert [(one.id.int, one.score) for one in ranked] == [(2, 0.5), (1, 0.45), (4, 0.8 * ALWAYS)]
    assert [
        one.id.int for one in rank(frozenset("abcd"), [_candidate(1, "abcd", 1), _candidate(2, "abcd", 0.5)], 1)
    ] == [1]
