"""Cleaning what a model said (A8, A13), and counting it roughly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.providers.ports import Message
from app.providers.spoken import TextCleaner, clean, clean_json, estimate_prompt_tokens, estimate_tokens

ANY_TEXT = st.text(alphabet=st.characters(codec=None, categories=None))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("plain 你好 😀", "plain 你好 😀"),
        ("a\x00b", "ab"),
        ("a\ud83db", "ab"),
        ("b\ude00a", "ba"),
        ("\ude00\ud83d", ""),
        ("a\ud83d\ude00b", "a😀b"),
        ("\ud83d\x00\ude00", ""),
        ("tab\tnew\nline\x01", "tab\tnew\nline\x01"),
    ],
)
def test_clean(said: str, kept: str):
    assert clean(said) == kept


@given(ANY_TEXT)
def test_clean_text_can_be_stored(text: str):
    cleaned = clean(text)
    assert "\x00" not in cleaned
    cleaned.encode()
    assert clean(cleaned) == cleaned


@given(st.lists(st.sampled_from(["a", "\x00", "\ud83d", "\ude00", "你", ""]), max_size=8))
def test_pieces_are_cleaned_as_the_whole_would_be(pieces: list[str]):
    cleaner = TextCleaner()
    assert "".join(cleaner.feed(piece) for piece in pieces) == clean("".join(pieces))


def test_a_pair_split_over_two_pieces_arrives_with_the_second():
    cleaner = TextCleaner()
    assert [cleaner.feed(piece) for piece in ("a\ud83d", "\ude00b")] == ["a", "😀b"]


@pytest.mark.parametrize(
    ("arguments", "means"),
    [
        (r'{"a": "x\u0000y"}', "xy"),
        (r'{"a": "x\ud83dy"}', "xy"),
        (r'{"a": "x\uDE00y"}', "xy"),
        (r'{"a": "\ud83d\ude00"}', "😀"),
        (r'{"a": "\\u0000"}', r"\u0000"),
        (r'{"a": "\\\u0000z"}', "\\z"),
        ('{"a": "raw\x00nul"}', "rawnul"),
    ],
)
def test_escapes_in_tool_arguments_hide_nothing(arguments: str, means: str):
    assert json.loads(clean_json(arguments))["a"] == means


def test_estimates():
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcd") == 1
    assert estimate_tokens("abcde") == 2
    assert estimate_tokens("你好ab") == 3
    assert estimate_prompt_tokens([Message("user", "abcd"), Message("assistant", "你好")]) == 4 + 1 + 4 + 2
