"""Which runs of a card's words are looked up among the names that are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.gazetteer import LONGEST_WORDS, candidate_keys
from app.text.normalise import name_key
from app.text.segment import Segmenter
from app.text.stopwords import ENGLISH

SEGMENTER = Segmenter()
WORDS = ["Ada", "of", "the", "3", "1.2", "C++", "x2", "2x", "Zoë", "O'Neill", "Kafka's", "R&D", "apple", "ß"]


@pytest.mark.parametrize(
    ("text", "held", "not_held"),
    [
        ("Lord of the Rings", {"lordoftherings", "lord"}, {"lordofthe", "ofthe", "the"}),
        ("Python 3 and Area 51 2", {"python3", "area51", "area51.2"}, {"area512"}),
        ("Ada Lovelace's notes", {"adalovelace", "adalovelacesnotes"}, set()),
        ("Ada. Lovelace\n\nwrote", {"ada", "lovelace", "adalovelace"}, {"lovelacewrote"}),
        ("一份关于林晓东于 2012 年的笔记", {"林晓东"}, set()),
    ],
)
def test_runs_of_words_are_candidates(text: str, held: set[str], not_held: set[str]):
    keys = candidate_keys(text, SEGMENTER)
    assert held <= keys
    assert not not_held & keys


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8))
def test_every_run_between_words_that_tell_something_is_one(words: list[str]):
    """Put together word by word, and yet the keys that `name_key` gives."""
    keys = candidate_keys(" ".join(words), SEGMENTER)
    for last in range(len(words)):
        for first in range(max(last + 1 - LONGEST_WORDS, 0), last):
            ends = {words[first].lower(), words[last].lower()}
            assert (name_key(" ".join(words[first : last + 1])) in keys) or ends & ENGLISH
