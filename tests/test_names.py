"""Names in a text, on sentences as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.text.names import find_names, guess_type
from app.text.names_en import find_compounds
from app.text.names_marks import FILLER, read_marks
from app.text.names_match import NameMatcher
from app.text.names_words import is_ordinary
from app.text.segment import Segmenter

SEGMENTER = Segmenter()


def names(text: str) -> list[str]:
    return [text[spot.start : spot.end] for spot in find_names(text, SEGMENTER)]


def typed(text: str) -> dict[str, str]:
    return {text[spot.start : spot.end]: spot.type for spot in find_names(text, SEGMENTER)}


# ------------------------------------------------------------------------------------ English


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where did Ada Lovelace's mother study?", ["Ada Lovelace"]),
        ("Did the University of Copenhagen hire Niels Bohr in May 1916?", ["University of Copenhagen", "Niels Bohr"]),
        ("Haymo of Faversham met King Hugh of Italy.", ["Haymo of Faversham", "King Hugh of Italy"]),
        ("The Republic of the Congo borders Gabon.", ["Republic of the Congo", "Gabon"]),
        ("J. K. Rowling of the University of Exeter spoke.", ["J. K. Rowling", "University of Exeter"]),
        ("Ludwig van Beethoven lived in Vienna.", ["Ludwig van Beethoven", "Vienna"]),
        ("We saw Dr. Smith and President Barack Obama there.", ["Smith", "Barack Obama"]),
        ("St. Maurice's Abbey is old.", ["St. Maurice's Abbey"]),
        ("Apollo 11 landed; in Paris 20 people watched.", ["Apollo 11", "Paris"]),
        (
            "We moved from Python 3.11 to GPT-4 with FastAPI on an iPhone 15 Pro.",
            ["Python 3.11", "GPT-4", "FastAPI", "iPhone 15 Pro"],
        ),
        ("It reads max_gleanings from pgVector.", ["max_gleanings", "pgVector"]),
        ("Theresa May left on Black Friday, not on Monday.", ["Theresa May", "Black Friday"]),
        ("the film I'll Be Going Now", ["I'll Be Going Now"]),
        ('He quoted "The Name of the Wind" twice.', ["The Name of the Wind"]),
        ("An MIT-licensed copy came from the U.S. Army.", ["MIT", "U.S. Army"]),
        ("I moved to Will County, Illinois.", ["Will County", "Illinois"]),
        ("She speaks fluent French, an American singer.", ["French"]),
    ],
)
def test_names_in_a_sentence(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Meeting notes are due on Tuesday, 3 March 2024.",
        "However, I think We should not. See Chapter 3, Table A and Step 2.",
        "Merchants complained. Authentication failed. Maintain a list. TODO: fix it ASAP!",
        "Wow! Thanks! Nooo... How're you? I'm fine. Woohoo!",
        "https://Example.com/Some/Path and www.Foo.org, mail Bob.Jones@Example.com <B>bold</B> `SomeCode()`",
        "README.md and photo.PNG, 3PM, Q3, No.1",
        "12345 67.8% 2024-05-01",
        "",
    ],
)
def test_what_is_no_name(text: str) -> None:
    assert names(text) == []


def test_a_capital_at_the_beginning_counts_when_the_word_is_a_name_elsewhere() -> None:
    assert names("Rose came home.") == []
    assert names("Rose came home. We had waited for Rose.") == ["Rose", "Rose"]
    assert names("Teutberga was a queen.") == ["Teutberga"]
    assert names("Obsidian opened. Then obsidian shone.") == []


def test_possessives_part_owner_and_thing_but_not_the_words_of_a_title() -> None:
    assert names("We tried Google's Gemini after Schindler's List.") == ["Google", "Gemini", "Schindler's List"]


def test_words_of_headings_prove_nothing_by_their_capitals() -> None:
    assert names("## Setting Up Postgres On Windows\n\nIt took an hour.") == ["Postgres"]


def test_types_that_the_words_tell() -> None:
    assert typed("Ada Lovelace of Acme Corp flew from New York to Lake Como after World War II.") == {
        "Ada Lovelace": "person",
        "Acme Corp": "organization",
        "New York": "place",
        "Lake Como": "place",
        "World War II": "event",
    }
    assert guess_type("斯坦福大学") == "organization"
    assert guess_type("飞轮效应") == "concept"
    assert guess_type("whatever") == "other"


def test_compounds_must_be_repeated_noun_phrases() -> None:
    text = (
        "We keep vectors in a vector database. The vector database is fast, and our token budget is small. "
        "The token budget grows. It makes sure it makes sure."
    )
    assert sorted(find_compounds(text)) == ["token budget", "vector database"]
    assert find_compounds("a token budget once") == {}
    assert list(find_compounds("a token budget once", frozenset({"token budget"}))) == ["token budget"]


def test_common_words_and_their_forms() -> None:
    assert all(map(is_ordinary, ["running", "stories", "merchant", "largest", "well-known", "the"]))
    assert not any(map(is_ordinary, ["melanie", "logseq", "pgvector", "teutberga"]))


# ------------------------------------------------------------------------------------ Chinese


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("斯坦福大学的李飞飞教授去了北京。", {"斯坦福大学": "organization", "李飞飞": "person", "北京": "place"}),
        ("史蒂芬·平克和亚当·萨维奇都来过。", {"史蒂芬·平克": "person", "亚当·萨维奇": "person"}),
        ("弗朗西斯·S·蒙哥马利与妻子住在上海。", {"弗朗西斯·S·蒙哥马利": "person", "上海": "place"}),
        (
            "张小明老师说，飞轮效应来自《从优秀到卓越》。",
            {"张小明": "person", "飞轮效应": "concept", "从优秀到卓越": "work"},
        ),
        (
            "中国联合网络通信集团有限公司在河北省开会。",
            {"中国联合网络通信集团有限公司": "organization", "河北省": "place"},
        ),
        ("我用Obsidian和GPT-4写笔记。", {"Obsidian": "other", "GPT-4": "product"}),
        ("今天腾讯发布了微信的新版本。", {"腾讯": "organization", "微信": "product"}),
    ],
)
def test_chinese_names(text: str, expected: dict[str, str]) -> None:
    assert typed(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "这个问题的方法很简单，大家都可以使用一下。",
        "首先打开文件，然后点击按钮保存设置。",
        "2023年5月8日，星期一，第三章第一节。",
        "高质量的任何事情都需要时间，周末马上到了。",
        "他们觉得王朝的城市很大，思考·快与慢。",
    ],
)
def test_what_is_no_chinese_name(text: str) -> None:
    assert names(text) == []


def test_terms_that_a_chinese_text_repeats() -> None:
    text = "双链笔记很好。我喜欢双链笔记，也喜欢flomo。flomo很轻。"
    assert set(names(text)) == {"双链笔记", "flomo"}


def test_both_halves_of_a_mixed_note_are_read() -> None:
    """B7: no language is hard-coded."""
    text = "我在北京用 Kafka。\n\nLater Ada Lovelace moved it to Berlin."
    assert names(text) == ["北京", "Kafka", "Ada Lovelace", "Berlin"]


# ------------------------------------------------------------------------------ marks and matching


def test_marks_are_blanked_and_links_kept_in_their_places() -> None:
    text = (
        "see [[Foo Bar|bar]] `asyncpg` https://Foo.com <b>Hi</b> #a/Leaf [[C#]] ![[Pic.png]]\n```\nCode Here\n```\nend"
    )
    marks = read_marks(text)
    assert len(marks.text) == len(text)
    assert [(link.name, text[link.start : link.end]) for link in marks.links] == [("Foo Bar", "bar"), ("C#", "C#")]
    assert [text[tag.start : tag.end] for tag in marks.tags] == ["Leaf"]
    assert [text[code.start : code.end] for code in marks.code] == ["asyncpg"]
    assert marks.text.replace(FILLER, " ").split() == ["see", "bar", "Hi", "Leaf", "C#", "end"]


def test_matching_is_longest_first_and_knows_where_case_matters() -> None:
    matcher = NameMatcher(
        [(n, n) for n in ("New York", "New York Times", "Apple", "GPT-4", "Python", "知识图谱", "图谱")]
    )
    text = "The new york times, an apple, Apple; GPT-4 not GPT-4.5; Python 3; 知识图谱和图谱"
    found = [text[start:end] for _, start, end in matcher.find(text)]
    assert found == ["new york times", "Apple", "GPT-4", "Python", "知识图谱", "图谱"]


def test_a_name_is_not_found_inside_another_number_or_version() -> None:
    matcher = NameMatcher([("Python 3", "Python 3"), ("GPT", "GPT")])
    assert matcher.find("Python 3.11 and GPT-4") == []
    assert [name for name, _, _ in matcher.find("Python 3, GPT and python-3")] == ["Python 3", "GPT", "Python 3"]


# -------------------------------------------------------------------------------------- words


def test_tagged_words_tile_each_run_and_know_their_part_of_speech() -> None:
    text = "北京大学的王小明，用Obsidian写卡片。\U0001f600微信"
    runs = SEGMENTER.tagged(text)
    assert ["".join(word for word, *_ in run) for run in runs] == ["北京大学的王小明", "用", "写卡片", "微信"]
    assert all(text[start:end] == word for run in runs for word, _, start, end in run)
    assert [(word, tag) for word, tag, *_ in runs[0]] == [("北京大学", "nt"), ("的", "uj"), ("王小明", "nr")]
    assert runs[3] == [("微信", "", len(text) - 2, len(text))]
    assert SEGMENTER.tagged("no Han here") == []
    long = SEGMENTER.tagged("水" * 600)
    assert "".join(word for word, *_ in long[0]) == "水" * 600


LATIN = "Ada Lovelace of the The I I'm May 's U.S. GPT-4 3 3.11 ( ) , . # | $ [[ ]] ` http:// - İ ﬁ 😀"
HAN = "《 》 · 李 飞飞 北京 大学 公司 的"
PIECES = st.sampled_from([*LATIN.split(), *HAN.split(), " ", "\n", "```\n", "\\", "\0"])


@given(st.lists(PIECES, max_size=60).map("".join))
@settings(max_examples=300, deadline=None)
def test_spots_are_ordered_apart_and_inside_the_text(text: str) -> None:
    """A7, A11: NUL, emoji, letters that change their length when folded."""
    spots = find_names(text, SEGMENTER)
    assert spots == find_names(text, SEGMENTER)
    ends = 0
    for spot in spots:
        assert ends <= spot.start < spot.end <= len(text)
        ends = spot.end
    assert len(read_marks(text).text) == len(text)
