"""Cleaning, folding and keys: the one place that decides when two strings are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.normalise import clean, fold, han_share, has_forbidden, is_han, name_key

any_text = st.text(st.characters(), max_size=60)


@pytest.mark.parametrize(
    ("dirty", "cleaned"),
    [
        ("a\x00b", "ab"),
        ("\x00", ""),
        ("a\ud800b", "ab"),
        ("\udc00\ud800", ""),
        ("\ud83d\ude00!", "😀!"),
        ("\ud83d\ud83d\ude00", "😀"),
        ("plain 文字 😀", "plain 文字 😀"),
    ],
)
def test_clean_removes_what_postgres_refuses(dirty: str, cleaned: str):
    """A1, A7, A8."""
    assert clean(dirty) == cleaned
    assert has_forbidden(dirty) is (dirty != cleaned)


@given(any_text)
def test_clean_text_is_storable_and_stays(text: str):
    cleaned = clean(text)
    cleaned.encode()
    assert not has_forbidden(cleaned)
    assert clean(cleaned) == cleaned
    if not has_forbidden(text):
        assert cleaned == text


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("İstanbul", "istanbul"),
        ("ISTANBUL", "istanbul"),
        ("Iğdır", "igdir"),
        ("Straße", "strasse"),
        ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
        ("Σίσυφος", "σισυφοσ"),
        ("Ｆｕｌｌ　Ｗｉｄｔｈ１２", "full width12"),
        ("Crème Brûlée", "creme brulee"),
        ("Cre\u0300me", "creme"),
        ("Łódź Øre Æther", "lodz ore aether"),
        ("ﬁne ①", "fine 1"),
    ],
)
def test_fold(written: str, folded: str):
    """A11."""
    assert fold(written) == folded


@pytest.mark.parametrize(("one", "other"), [("й", "и"), ("が", "か"), ("ё", "е"), ("कि", "क")])
def test_marks_that_make_another_letter_stay(one: str, other: str):
    assert fold(one) != fold(other)


@given(any_text)
def test_fold_is_idempotent(text: str):
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    "same",
    [
        ("System Admin", "system admin", "SystemAdmin", "system-admin", "Ｓｙｓｔｅｍ　Ａｄｍｉｎ", " system  admin "),
        ("İstanbul", "ISTANBUL", "i̇stanbul"),
        ("数据库", "数据 库", "《数据库》", "「数据库」"),
        ("Python 教程", "python教程"),
        ("GPT-3.5", "gpt 3.5", "GPT3.5"),
        ("Node.js", "NodeJS"),
    ],
)
def test_names_that_are_one(same: tuple[str, ...]):
    """A11."""
    assert len({name_key(name) for name in same}) == 1


@pytest.mark.parametrize(
    "different",
    [
        ("C", "C++", "C#"),
        (".NET", "net"),
        ("1.2", "12"),
        ("GPT-3", "GPT-4"),
        ("R&D", "RD"),
        ("🐍", "🔥"),
        ("Python 🐍", "Python"),
        ("…", "!!!"),
    ],
)
def test_names_that_are_not(different: tuple[str, ...]):
    assert len({name_key(name) for name in different}) == len(different)


@given(any_text)
def test_a_key_is_empty_for_blank_names_only_and_is_its_own_key(name: str):
    key = name_key(name)
    assert (key == "") is (fold(name).split() == [])
    assert name_key(key) == key


def test_han():
    assert all(map(is_han, "中〇々㐀𠀀"))
    assert not any(map(is_han, "aか한。１"))
    assert han_share("中文 ab") == 0.5
    assert han_share("。…") == 0.0
