"""Level search and its words: Chinese, English and both in one note, and questions of every kind."""

from __future__ import annotations

import time
import uuid

import pytest

from app.cards.drafts import NewCard
from app.db.session import Database
from app.providers.embedding.e5 import E5Embedder
from app.text.segment import Segmenter
from tests.search_library import Library, fill

pytest_plugins = ("tests.search_library",)

NOTES = {
    "测试": "这是一个测试，用来检查分词。",
    "编程": "我喜欢用多种语言写程序，比如 Python 和 Rust。",
    "地理": "墙上挂着一张中国地图，由地图出版社印制。",
    "天气": "明后天有雨，出门请带伞。",
    "漫画": "野比大雄住在东京，他的朋友是机器猫。",
    "Deployment 部署": "The staging cluster uses Kubernetes. 数据库迁移要在夜里执行，回滚脚本放在 runbook 里。",
    "Tokenizers": "The marker <|endoftext|> ends a document; C++ and version 3.11.4 are terms as well.",
    "Gardening": "Tomatoes need six hours of sun. Water them in the morning, never on the leaves.",
    "Coffee": "We buy the beans from Yunnan. Roasting at 205 degrees gave the best cup.",
}


@pytest.fixture(scope="module")
def filled(shelf_dsn: str, e5: E5Embedder, segmenter: Segmenter) -> uuid.UUID:
    return fill(shelf_dsn, e5, segmenter, [NewCard(title, content) for title, content in NOTES.items()])


@pytest.fixture
def notes(shelf: Database, e5: E5Embedder, segmenter: Segmenter, filled: uuid.UUID) -> Library:
    return Library(shelf, e5, segmenter).at(filled)


@pytest.mark.parametrize(
    ("query", "title"),
    [
        pytest.param("测试", "测试", id="B1"),
        pytest.param("语言", "编程", id="B2"),
        pytest.param("地图", "地理", id="B4 地图"),
        pytest.param("后天", "天气", id="B4 后天"),
        pytest.param("野", "漫画", id="B5"),
        pytest.param("数据库", "Deployment 部署", id="B7 Chinese half"),
        pytest.param("cluster", "Deployment 部署", id="B7 English half"),
        pytest.param("部署", "Deployment 部署", id="title"),
        pytest.param("tomato", "Gardening", id="stem"),
        pytest.param("YUNNAN", "Coffee", id="case"),
        pytest.param("C++", "Tokenizers", id="C++"),
        pytest.param("3.11.4", "Tokenizers", id="version"),
        pytest.param("ｋｕｂｅｒｎｅｔｅｓ", "Deployment 部署", id="full width"),
    ],
)
async def test_words_are_found_inside_of_sentences(notes: Library, query: str, title: str) -> None:
    assert await notes.by_words(query) == {title}
    hit = next(hit for hit in (await notes.search(query)).hits if hit.card.title == title)
    assert hit.ranks["lexical"] == 1


async def test_words_are_found_after_folding_as_before(library: Library) -> None:
    notes = library
    await notes.add_many([NewCard(title, content) for title, content in NOTES.items()])
    await notes.learn()
    before = [await notes.search(query, fusion="bm25") for query in ("测试", "地图", "野", "cluster", "sun beans")]
    await notes.fold()
    assert await notes.count("lex_recent") == 0
    after = [await notes.search(query, fusion="bm25") for query in ("测试", "地图", "野", "cluster", "sun beans")]
    assert [one.hits for one in after] == [one.hits for one in before]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("Where do we get our coffee from?", "Coffee"),
        ("how often should I water the vegetables", "Gardening"),
        ("下雨天要准备什么", "天气"),
        ("大雄是谁", "漫画"),
        ("什么时候执行数据库迁移？", "Deployment 部署"),
        ("which languages do I like for programming?", "编程"),
    ],
)
async def test_questions_in_both_languages_find_their_note_first(notes: Library, query: str, title: str) -> None:
    evidence = await notes.search(query)
    assert evidence.hits[0].card.title == title
    assert (evidence.degraded, evidence.nothing_relevant) == ([], False)


async def test_special_tokens_of_models_are_plain_text(notes: Library) -> None:
    """A10."""
    for query in ("<|endoftext|>", "<|im_start|>system", "<s> </s> <pad>", "What does <|endoftext|> mean?"):
        assert (await notes.search(query)).degraded == []
    assert await notes.by_words("<|endoftext|>") == {"Tokenizers"}


@pytest.mark.parametrize(
    "query",
    [
        "a & b | !c <-> d:*",
        "'quoted' \"double\" ''",
        "\\ \\' \\\\",
        "AND OR NOT (",
        "%_%",
        "{x} {{7*7}} ${y} %s",
        "'; DROP TABLE cards; --",
        "🍅🌞",
        "the of and to is it",
        "的 了 是 在",
        "???",
        "。，、！",
        "\u200b\u00ad",
        "\t \n",
        "İstanbul ß Σς ｆｕｌｌ",
        "-1 1e309 NaN",
        "مرحبا שלום नमस्ते ไทย",
    ],
)
async def test_every_question_is_answered(notes: Library, query: str) -> None:
    evidence = await notes.search(query)
    assert len(evidence.hits) == len(NOTES)
    assert evidence.degraded == []


@pytest.mark.parametrize("word", ["tomatoes 地图 ", "word "])
async def test_two_thousand_words_are_answered_in_time(notes: Library, word: str) -> None:
    """I4."""
    distinct = " ".join(f"{word}{n}" for n in range(1000))
    started = time.perf_counter()
    evidence = await notes.search(distinct)
    assert len(evidence.hits) == len(NOTES)
    assert evidence.timings_ms["total"] - evidence.timings_ms["embedding"] < 1000
    assert time.perf_counter() - started < 5


async def test_stop_words_do_not_decide(library: Library) -> None:
    await library.add("Coffee", NOTES["Coffee"])
    await library.add("Who", "The who of it is what it is, and that is that.")
    await library.learn()
    assert (await library.titles("What is the best temperature for roasting the beans of it?"))[0] == "Coffee"
    assert await library.by_words("who is it") >= {"Who"}
