"""Terms, and the PostgreSQL literals made of them, tried on the real casts."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import AsyncIterator

import asyncpg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.text import segment
from app.text.segment import MAX_TERM_CHARS, Segmenter, term_hash


@pytest.fixture(scope="module")
def segmenter() -> Segmenter:
    return Segmenter()


@pytest.fixture
async def postgres(server_dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(server_dsn)
    yield connection
    await connection.close()


# ---------------------------------------------------------------------------------- Latin words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Running runs RAN", ["run", "run", "ran"]),
        ("Café naïve İstanbul Straße", ["cafe", "naiv", "istanbul", "strass"]),
        ("Ｐｙｔｈｏｎ", ["python"]),
        ("the cats of Rome", ["cat", "rome"]),
        ("don't it's we're", ["do", "it", "we"]),
        ("Wesson's team", ["wesson", "team"]),
        ("C++ and C# on .NET", ["c++", "c#", ".net"]),
        ("notepad++", ["notepad++", "notepad"]),
        ("Python 3.11", ["python", "3.11"]),
        ("v1.2.3", ["v1.2.3", "1.2.3", "1.2"]),
        ("1,420 or 1420", ["1420", "1420"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("camelCase", ["camelcas", "camel", "case"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("foo-bar", ["foo-bar", "foo", "bar"]),
        ("U.S.A.", ["usa"]),
        ("AT&T", ["at&t"]),
        ("__init__", ["init"]),
        ("bob.smith+x@mail.org", ["bob.smith+x@mail.org", "bob", "smith", "mail", "org"]),
        ("2024-01-05", ["2024-01-05", "2024", "01", "05"]),
        ("#tag", ["tag"]),
        ("Привет мир", ["привет", "мир"]),
    ],
)
def test_latin_words(segmenter: Segmenter, text: str, words: list[str]):
    found = segmenter.terms(text)
    assert found.words == words
    assert found.grams == []
    assert found.singles == []


@pytest.mark.parametrize(
    ("text", "words"),
    [("what is the", ["what", "is", "the"]), ("to be or not to be", ["to", "be", "or", "not", "to", "be"])],
)
def test_stop_words_alone_are_kept(segmenter: Segmenter, text: str, words: list[str]):
    assert segmenter.terms(text).words == words


def test_chinese_stop_words_alone_are_kept(segmenter: Segmenter):
    assert segmenter.terms("什么").words == ["什么"]
    assert segmenter.terms("什么是数据库").words == ["数据", "据库", "数据库"]


@pytest.mark.parametrize("nothing", ["", "  ", "!!! …", "\x00", "\ud800", "😀"])
def test_texts_without_words(segmenter: Segmenter, nothing: str):
    assert segmenter.terms(nothing).words == []
    assert segmenter.tsquery(nothing) is None
    assert segmenter.tsquery_all(nothing) is None
    assert segmenter.tsvector(nothing) == ""


# -------------------------------------------------------------------------------------- Chinese


def test_han_runs(segmenter: Segmenter):
    """B1: a word inside a sentence is a term; Latin words beside it are too."""
    found = segmenter.terms("这是一个测试，Python很好。")
    assert "测试" in found.words
    assert "python" in found.words
    assert found.grams == ["这是", "是一", "一个", "个测", "测试", "python", "很好"]
    assert found.singles == list("这是一个测试很好")


def test_a_lone_character_is_its_own_gram(segmenter: Segmenter):
    """B5."""
    found = segmenter.terms("野")
    assert (found.words, found.grams, found.singles) == (["野"], ["野"], ["野"])


def test_rare_and_compatibility_characters(segmenter: Segmenter):
    assert segmenter.terms("𠀀㐀").grams == ["𠀀㐀"]
    assert segmenter.terms("\uf900").singles == ["豈"]


def test_scripts_without_spaces(segmenter: Segmenter):
    assert segmenter.terms("ひらがな").words == ["ひら", "らが", "がな"]


def test_a_long_run_of_unknown_characters_is_linear(segmenter: Segmenter):
    assert len(segmenter.terms("㐀龘𠀀" * 30_000).grams) == 89_999


# ------------------------------------------------------------------------------ casts and matches


async def matches(postgres: asyncpg.Connection, vector: str, query: str | None) -> bool:
    return bool(await postgres.fetchval("SELECT $1::text::tsvector @@ $2::text::tsquery", vector, query))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("这是一个测试", "测试"),
        ("中国地图出版社", "地图"),
        ("明后天有雨", "后天"),
        ("野比大雄和哆啦A梦", "野"),
        ("编程语言的历史", "语言"),
        ("用 Python 写中文分词", "python"),
        ("用 Python 写中文分词", "分词"),
        ("用 Python 写中文分词", "Python 分词"),
        ("Learning C++ and C# quickly", "c++"),
        ("upgrade to v1.2.3 now", "1.2.3"),
        ("mail bob@example.org today", "bob@example.org"),
        ("O'Brien said: it's \\ fine", "o’brien"),
        ("HTTPServer in fooBar", "foobar"),
        ("İstanbul'da", "istanbul"),
    ],
)
async def test_what_is_written_is_found(postgres: asyncpg.Connection, segmenter: Segmenter, text: str, question: str):
    """B1, B2, B4, B5, B7, A11: infix words, single characters, both halves of a mixed note."""
    vector = segmenter.tsvector(text)
    assert await matches(postgres, vector, segmenter.tsquery(question))
    assert await matches(postgres, vector, segmenter.tsquery_all(question))
    assert not await matches(postgres, segmenter.tsvector("unrelated 另外"), segmenter.tsquery(question))


async def test_all_of_them_in_sequence(postgres: asyncpg.Connection, segmenter: Segmenter):
    vector = segmenter.tsvector("地方的图书馆 has foo-bar and more")
    assert not await matches(postgres, vector, segmenter.tsquery_all("地图"))
    assert await matches(postgres, vector, segmenter.tsquery_all("图书"))
    assert await matches(postgres, vector, segmenter.tsquery_all("foo bar"))
    assert await matches(postgres, vector, segmenter.tsquery_all("foo-bar"))
    assert not await matches(postgres, vector, segmenter.tsquery_all("foo qux"))
    assert await matches(postgres, segmenter.tsvector("foo bar"), segmenter.tsquery_all("foo-bar"))
    assert await matches(postgres, vector, segmenter.tsquery("foo qux"))


async def test_title_weighs_a(postgres: asyncpg.Connection, segmenter: Segmenter):
    vector = segmenter.tsvector("body words 正文", "Title 标题")
    only_a = "SELECT ts_filter($1::text::tsvector, '{a}')::text"
    assert await postgres.fetchval(only_a, vector) == "'titl':1A '标':2A '标题':2A '题':3A"


async def test_operators_and_quotes_stay_text(postgres: asyncpg.Connection, segmenter: Segmenter):
    text = "'; DROP TABLE x; -- & | ! ( ) : * <-> \\ \"quoted\" 'it''s'"
    assert await matches(postgres, segmenter.tsvector(text), segmenter.tsquery(text))


async def test_limits_of_a_tsvector(postgres: asyncpg.Connection, segmenter: Segmenter):
    many = " ".join(f"word{i:x}" for i in range(200_000))
    often = "echo " * 20_000
    long = "x" * 5_000 + " " + "龘" * 3
    for text in (many, often, long, "中文" * 100_000, "a-" * 10_000 + "b"):
        literal = segmenter.tsvector(text, text[:1_000])
        assert len(literal.encode()) < 1_000_000
        assert await postgres.fetchval("SELECT length($1::text::tsvector)", literal) > 0
    positions = await postgres.fetchval("SELECT positions FROM unnest($1::text::tsvector)", segmenter.tsvector(often))
    assert len(positions) == 256
    assert max(len(word) for word in segmenter.terms(long).words) == MAX_TERM_CHARS


nasty = st.text(
    st.one_of(
        st.sampled_from(list("'\\\"&|!():*<>-._@+#,’` \n\t\x00aB1é中文野のก한ß")),
        st.characters(),
    ),
    max_size=40,
)


async def test_any_text_makes_literals_that_postgres_takes(postgres: asyncpg.Connection, segmenter: Segmenter):
    texts: list[str] = []

    @settings(max_examples=300, database=None)
    @given(nasty)
    def collect(text: str) -> None:
        texts.append(text)

    collect()
    for text in texts:
        vector, query = segmenter.tsvector(text, text[:5]), segmenter.tsquery(text)
        await postgres.fetchval("SELECT $1::text::tsvector", vector)
        assert (query is None) is (segmenter.tsquery_all(text) is None)
        if query is not None:
            assert await matches(postgres, vector, query)
            assert await matches(postgres, vector, segmenter.tsquery_all(text))


async def test_a_question_of_two_thousand_words(postgres: asyncpg.Connection, segmenter: Segmenter):
    question = " ".join(f"alpha{i} 测试{i}" for i in range(2_000))
    assert await matches(postgres, segmenter.tsvector("alpha1999"), segmenter.tsquery(question))


# ---------------------------------------------------------------------------------- the machine


def test_term_hash_is_stable_and_signed():
    assert term_hash("测试") == -702826949419548414
    assert term_hash("a") == 4681665781835383343
    assert {term_hash(str(i)) < 0 for i in range(64)} == {True, False}


def test_threads_share_one_segmenter():
    shared, alone = Segmenter(), Segmenter()
    texts = [f"线程安全的测试 running{i} jumps over fooBar{i}" for i in range(50)]
    found: list[list[list[str]]] = []
    threads = [threading.Thread(target=lambda: found.append([shared.terms(t).words for t in texts])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[alone.terms(t).words for t in texts]] * 4


def test_loading_is_lazy_silent_and_writes_no_cache(tmp_path):
    code = (
        "import sys; from app.text.segment import Segmenter; s = Segmenter(); assert 'jieba' not in sys.modules;"
        "s.load(); assert 'jieba' in sys.modules; s.terms('测试')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(filter(None, sys.path)), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")
    assert list(tmp_path.iterdir()) == []


@given(st.text(st.characters(max_codepoint=127), max_size=60) | st.text("aZ09_.,-'@&+# ", max_size=30))
@settings(max_examples=2_000)
def test_the_quick_pattern_for_ascii_finds_the_same_tokens(text: str):
    assert segment._ASCII_TOKEN.findall(text) == segment._TOKEN.findall(text)
