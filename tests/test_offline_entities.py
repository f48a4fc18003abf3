"""Entities and relations of cards by rules, on notes as people keep them."""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.ingestion.extract.offline_aliases import is_acronym_of
from app.ingestion.extract.offline_entities import find_entities
from app.ingestion.extract.offline_names import bare_name
from app.ingestion.extract.offline_relations import (
    LINKED,
    MAX_PER_CARD,
    TOGETHER,
    VERB,
    SentenceView,
    find_relations,
    view_sentences,
)
from app.ingestion.extract.types import EntityDraft, EntityType, RelationDraft, Source
from app.text.segment import Segmenter
from app.text.sentences import sentences

SEGMENTER = Segmenter()


def card(title: str, content: str, tags: Sequence[str] = (), known: Sequence[tuple[str, EntityType]] = ()) -> Source:
    return Source(uuid.UUID(int=1), title, content, datetime(2024, 5, 1, tzinfo=UTC), tags=tags, known=known)


def entities(source: Source) -> dict[str, EntityDraft]:
    return {entity.name: entity for entity in find_entities(source, SEGMENTER)}


def surfaces(source: Source, entity: EntityDraft) -> list[str]:
    return [source.content[span.start : span.end] for span in entity.mentions]


def relations(source: Source) -> list[RelationDraft]:
    found = find_entities(source, SEGMENTER)
    spans = [(start, end, source.content[start:end]) for start, end in sentences(source.content)]
    return find_relations(source, view_sentences(source, spans, found), found, SEGMENTER)


def joined(source: Source) -> set[tuple[str, str, str]]:
    return {(r.source, r.predicate, r.target) for r in relations(source)}


# ----------------------------------------------------------------------------------- whole notes


def test_an_english_note() -> None:
    source = card(
        "pgvector",
        "pgvector is an extension for PostgreSQL, written by Andrew Kane. "
        "We moved our vector database to it in May 2024.\n\n"
        "## Why\n\nThe old vector database needed a cluster in Frankfurt. Kane answered within a day.\n"
        "The World Health Organization (WHO) uses it too; WHO told us so on Monday.",
        tags=("databases", "todo"),
    )
    found = entities(source)
    assert list(found) == [
        "pgvector",
        "PostgreSQL",
        "Andrew Kane",
        "vector database",
        "Frankfurt",
        "World Health Organization",
        "databases",
    ]
    assert surfaces(source, found["Andrew Kane"]) == ["Andrew Kane", "Kane"]
    assert found["World Health Organization"].aliases == ("WHO",)
    assert surfaces(source, found["World Health Organization"]) == ["World Health Organization", "WHO", "WHO"]
    assert {name: found[name].type for name in ("pgvector", "Andrew Kane", "vector database", "Frankfurt")} == {
        "pgvector": "product",
        "Andrew Kane": "person",
        "vector database": "concept",
        "Frankfurt": "place",
    }
    assert found["pgvector"].description == "an extension for PostgreSQL, written by Andrew Kane"
    assert found["databases"].mentions == ()


def test_a_chinese_note() -> None:
    source = card(
        "📚知识图谱",
        "知识图谱（Knowledge Graph，简称 KG）是一种用图来描述知识的技术方法。谷歌在2012年提出了KG。\n\n"
        "张小明老师在北京的清华大学讲过它。双链笔记也能做成图谱，双链笔记很轻。推荐《从优秀到卓越》。",
    )
    found = entities(source)
    assert list(found) == ["知识图谱", "谷歌", "张小明", "北京", "清华大学", "双链笔记", "从优秀到卓越"]
    assert found["知识图谱"].aliases == ("📚知识图谱", "Knowledge Graph", "KG")
    assert found["知识图谱"].type == "concept"
    assert found["知识图谱"].description == "一种用图来描述知识的技术方法"
    assert surfaces(source, found["知识图谱"]) == ["知识图谱", "Knowledge Graph", "KG", "KG"]
    assert [found[name].type for name in ("谷歌", "张小明", "北京", "清华大学", "从优秀到卓越")] == [
        "organization",
        "person",
        "place",
        "organization",
        "work",
    ]


def test_a_mixed_daily_note() -> None:
    """B7, B14: both languages; short lines count."""
    source = card(
        "2024-05-01",
        "- 和 [[李飞飞]] 聊了 [[RAG|检索增强]]\n- met Ada Lovelace about #projects/Hydra\n- 用Obsidian",
    )
    found = entities(source)
    assert list(found) == ["李飞飞", "RAG", "Ada Lovelace", "Hydra", "Obsidian"]
    assert found["RAG"].aliases == ("检索增强",)
    assert surfaces(source, found["RAG"]) == ["检索增强"]
    assert surfaces(source, found["Hydra"]) == ["Hydra"]


def test_a_dialogue() -> None:
    source = card(
        "session 1 (1:56 pm on 8 May, 2023)",
        "Caroline: Hey Mel! I went to a support group in Boston.\nMelanie: Wow, Caroline! That support group helps.\n",
    )
    found = entities(source)
    assert list(found) == ["Caroline", "Mel", "support group", "Boston", "Melanie"]
    assert [found[name].type for name in ("Caroline", "Mel", "Melanie")] == ["person"] * 3


def test_a_book_note_knows_book_and_author() -> None:
    source = card("文城-余华", "> - 书名：文城\n> - 作者：余华\n\n## 高亮划线\n\n余华在北京写了《文城》。")
    found = entities(source)
    assert list(found) == ["文城-余华", "余华", "北京"]
    assert found["文城-余华"].aliases == ("文城",)
    assert found["文城-余华"].type == "work"
    assert surfaces(source, found["文城-余华"]) == ["文城", "文城"]
    assert found["余华"].type == "person"


# --------------------------------------------------------------------------------------- details


def test_the_title_comes_first_even_when_the_text_never_names_it() -> None:
    found = find_entities(card("Sourdough Starter", "Feed it in Berlin, twice a day."), SEGMENTER)
    assert [(e.name, len(e.mentions)) for e in found] == [("Sourdough Starter", 0), ("Berlin", 1)]


@pytest.mark.parametrize(
    "title", ["2022-05-03", "Mar 8th, 2021", "Untitled", "第三章", "README.md", "我今天去了北京。很累！", " "]
)
def test_titles_that_name_nothing(title: str) -> None:
    assert find_entities(card(title, "nothing here"), SEGMENTER) == []


def test_a_title_with_a_qualifier_answers_to_its_name_without_it() -> None:
    found = find_entities(card("William Duncan (actor)", "William Duncan was an actor in Hollywood."), SEGMENTER)
    assert [(e.name, e.aliases, len(e.mentions), e.type) for e in found] == [
        ("William Duncan (actor)", ("William Duncan",), 1, "person"),
        ("Hollywood", (), 1, "place"),
    ]


def test_the_opening_tells_another_name_of_the_subject() -> None:
    found = find_entities(card("Billy Ferguson", "William Ferguson (1938 – 1998) was an Irish footballer."), SEGMENTER)
    assert [(e.name, e.aliases, e.description) for e in found] == [
        ("Billy Ferguson", ("William Ferguson",), "an Irish footballer")
    ]


def test_names_that_the_workspace_knows_need_no_proof() -> None:
    source = card(
        "Note", "we deploy asyncpg on friday, and rose laughed", known=[("asyncpg", "product"), ("Rose", "person")]
    )
    found = entities(source)
    assert [(e.name, e.type, surfaces(source, e)) for e in found.values()] == [("asyncpg", "product", ["asyncpg"])]


def test_what_is_furniture_is_no_entity() -> None:
    source = card(
        "Note",
        "---\nauthor: nobody\n---\n## Introduction\n\nSee https://Example.com/Big/Path, `Foo.bar()`, "
        "![[Image.png]] and {{Macro Call}}.\n"
        "```python\nclass HelloWorld: pass\n```\n<div>Monday</div> $\\\\Delta X$ [[2024-05-01]] type:: x\n\n"
        "## 元数据\n\n- [ ] TODO\n",
    )
    assert find_entities(source, SEGMENTER) == []


def test_a_link_called_by_a_pronoun_teaches_no_alias() -> None:
    source = card("Note", "Later [[Barack Obama|he]] spoke, and [[Barack Obama|President Obama]] left.")
    assert entities(source)["Barack Obama"].aliases == ("President Obama",)
    assert surfaces(source, entities(source)["Barack Obama"]) == ["he", "President Obama"]


@pytest.mark.parametrize(
    ("title", "content"),
    [
        ("商业模式", "做出一个 IPO（输入问题、解决问题和输出产品）闭环，IPO 要跑得动。"),
        ("债务", "只要名义 GDP（内含物价）保持上涨，GDP 就不是问题。"),
        ("写作", "然后 Markdown（轻量级标记语言）诞生了，Markdown 很好用。"),
        ("幻灯片", "用 [[Advanced Slides|slides学习笔记教程]] 来做。"),
        ("减脂", "不会损伤 [[基础代谢估算|基础代谢率]]。"),
        ("配图", "见 [[图片保存：图床or本地|图床]]。"),
        ("心理学", "[[克鲁格效应]]（Kruger and Dunning）说的是自知。"),
        ("Links", "A link leads out of [[Logseq]] (or render image)."),
        ("创伤", "[[压力反应]]很常见。它称为**创伤后压力反应**（post-traumatic stress reaction）。"),
        ("卡片", "[[赫伯特]]很忙。诺奖得主西蒙 · 赫伯特（Herbert A. Simon）这样认为。"),
        ("词汇", "[[词条]]（英文单词）很多。"),
    ],
)
def test_what_only_explains_a_name_is_no_other_name(title: str, content: str) -> None:
    """C: a wrong alias merges two things of the whole workspace."""
    assert {name: entity.aliases for name, entity in entities(card(title, content)).items() if entity.aliases} == {}


@pytest.mark.parametrize(
    ("content", "name", "alias"),
    [
        ("[[皮质醇]]（Cortisol）会升高。", "皮质醇", "Cortisol"),
        ("BCAA（支链氨基酸）是补剂，BCAA 有三种。", "BCAA", "支链氨基酸"),
        ("见 [[收藏者谬误|收藏家谬误]]。", "收藏者谬误", "收藏家谬误"),
        ("见 [[个人输出发布系统|输出系统]]。", "个人输出发布系统", "输出系统"),
        ("我的 [[数字花园|Digital Garden]]。", "数字花园", "Digital Garden"),
        ("[[Zettelkasten]]（卡片盒笔记法）很好。", "Zettelkasten", "卡片盒笔记法"),
    ],
)
def test_what_says_a_name_again_is_another_name(content: str, name: str, alias: str) -> None:
    assert entities(card("笔记", content))[name].aliases == (alias,)


def test_a_title_says_which_one_is_meant() -> None:
    for content in ("管道是通信的方式。", "管道(golang) 是通信的方式，管道(golang) 很快。"):
        assert entities(card("管道(golang)", content))["管道(golang)"].aliases == ("管道",)
    assert entities(card("皮质醇(Cortisol)", "一种激素。"))["皮质醇(Cortisol)"].aliases == ("皮质醇", "Cortisol")


@pytest.mark.parametrize(
    "title",
    [
        "M. Ward",
        "J. R. R. Tolkien",
        "Dr. No",
        "St. Louis Blues",
        "Warner Bros. Pictures",
        "Mamma Mia!",
        "Panic! at the Disco",
        "Oh, What a Lovely War!",
        "Who Framed Roger Rabbit?",
        "Wham!",
        "What's Love Got to Do with It?",
        "Once Upon a Time... in Hollywood",
        "Tick, Tick…Boom!",
        "Steins;Gate",
        "fun. (band)",
        "奇葩说！",
        "我不是药神！",
    ],
)
def test_a_name_may_hold_the_mark_of_a_sentence(title: str) -> None:
    assert title in entities(card(title, "It is known."))


@pytest.mark.parametrize(
    "title",
    [
        "Why does it rain so often?",
        "Buy milk. Call mother",
        "为什么天空是蓝的？",
        "I went home! then slept",
        "a; b and c",
        "Thinking of Summer…",
        "Tired... and sleepless",
        "今天去哪里了！",
        "大家快来看！",
        "今天下雨。明天晴！",
    ],
)
def test_a_sentence_is_no_name(title: str) -> None:
    assert title not in entities(card(title, "It is known."))


def test_acronyms_belong_to_their_words() -> None:
    assert is_acronym_of("WHO", "World Health Organization")
    assert is_acronym_of("MIT", "Massachusetts Institute of Technology")
    assert not is_acronym_of("WHO", "World Trade Organization")
    assert not is_acronym_of("who", "World Health Organization")
    assert bare_name("🧑 Andy Matuschak") == "Andy Matuschak"
    assert bare_name("C#") == "C#"


def test_a_description_is_bounded() -> None:
    source = card("Foo Engine", "Foo Engine is a tool that " + "does very much, " * 60 + "really.")
    description = entities(source)["Foo Engine"].description
    assert 100 < len(description) <= 200
    assert description.startswith("a tool that does very much")


# ------------------------------------------------------------------------------------- relations


def test_the_verb_between_two_names_is_the_predicate() -> None:
    source = card("Note", "Lester Smith created Dragon Dice with Tim Brown. Ada Lovelace was born in London.")
    assert joined(source) == {
        ("Lester Smith", "created", "Dragon Dice"),
        ("Dragon Dice", "with", "Tim Brown"),
        ("Lester Smith", "created … with", "Tim Brown"),
        ("Ada Lovelace", "was born in", "London"),
    }
    first = relations(source)[0]
    assert (first.text, first.confidence) == ("Lester Smith created Dragon Dice with Tim Brown.", VERB)
    assert source.content[first.start : first.end] == first.text


def test_what_is_said_of_the_first_of_a_list_is_said_of_all() -> None:
    source = card("Heat", "Heat stars Robert De Niro, Al Pacino and Val Kilmer.")
    assert joined(source) == {
        ("Heat", "stars", "Robert De Niro"),
        ("Heat", "stars", "Al Pacino"),
        ("Heat", "stars", "Val Kilmer"),
    }


def test_chinese_predicates() -> None:
    source = card("笔记", "李飞飞毕业于普林斯顿大学。腾讯公司由马化腾创立。谷歌提出了《知识图谱》。")
    assert joined(source) == {
        ("李飞飞", "毕业于", "普林斯顿大学"),
        ("腾讯公司", "由…创立", "马化腾"),
        ("谷歌", "提出", "知识图谱"),
    }


def test_the_subject_takes_part_in_definitions_lists_and_links() -> None:
    english = card(
        "Graph Tools", "A collection from Berlin.\n\n- [[Neo4j]]\n- Author: Ada Lovelace\n\nLater I found [[Kuzu]] too."
    )
    assert joined(english) == {
        ("Graph Tools", "is", "Berlin"),
        ("Graph Tools", "links to", "Neo4j"),
        ("Graph Tools", "Author", "Ada Lovelace"),
        ("Graph Tools", "links to", "Kuzu"),
    }
    assert {r.confidence for r in relations(english) if r.predicate == "links to"} == {LINKED}
    chinese = card("图谱工具", "- [[图数据库]]很好\n- 我去过上海")
    assert joined(chinese) == {("图谱工具", "链接到", "图数据库"), ("图谱工具", "提到", "上海")}


def test_two_names_without_a_verb_are_related_weakly() -> None:
    found = relations(card("Note", "Berlin, Vienna!"))
    assert [(r.source, r.predicate, r.target, r.confidence) for r in found] == [
        ("Berlin", "related to", "Vienna", TOGETHER)
    ]


def test_resolved_pronouns_join_their_names() -> None:
    source = card("Note", "Ada Lovelace came. She met Charles Babbage.")
    found = find_entities(source, SEGMENTER)
    spans = [(0, 18, "Ada Lovelace came."), (19, 43, "Ada Lovelace met Charles Babbage.")]
    views = view_sentences(source, spans, found)
    assert [[name.name for name in view.names] for view in views] == [
        ["Ada Lovelace"],
        ["Ada Lovelace", "Charles Babbage"],
    ]
    (relation,) = find_relations(source, views, found, SEGMENTER)
    assert (relation.source, relation.predicate, relation.target) == ("Ada Lovelace", "met", "Charles Babbage")
    assert (relation.text, relation.start, relation.end) == ("Ada Lovelace met Charles Babbage.", 19, 43)


def test_relations_are_bounded_and_speak_of_entities_only() -> None:
    names = [f"Person{chr(65 + i)}{chr(97 + j)}son" for i in range(26) for j in range(26)]
    text = " ".join(f"{a} met {b}." for a, b in itertools.pairwise(names))
    source = card("Note", text)
    found = find_entities(source, SEGMENTER)
    made = relations(source)
    assert len(found) == 400
    assert len(made) == MAX_PER_CARD
    present = {entity.name for entity in found}
    assert all(r.source in present and r.target in present and r.source != r.target for r in made)
    crowd = [SentenceView(0, 0, "x", ())]
    assert find_relations(source, crowd, found, SEGMENTER) == []


# ---------------------------------------------------------------------------------- any text at all

LATIN = "Ada Lovelace of The I WHO GPT-4 3.11 is was a ( ) , . : - # ## * [[ ]] | ` 😀 İ ﬁ"
HAN = "李飞飞 北京 大学 的 是 （ ） ， 。 ： 《 》 ·"
TEXTS = st.lists(
    st.sampled_from([*LATIN.split(), *HAN.split(), " ", " ", "\n", "\0", "```\n", "---\n"]), max_size=80
).map("".join)


@given(title=TEXTS, content=TEXTS)
@settings(max_examples=300, deadline=None)
def test_offsets_are_right_and_the_same_text_gives_the_same(title: str, content: str) -> None:
    """A7: no NUL in a name; A11: letters that change their length; F11: text of white space."""
    source = card(title, content)
    found = find_entities(source, SEGMENTER)
    assert found == find_entities(source, SEGMENTER)
    assert len({entity.name for entity in found}) == len(found)
    taken: set[int] = set()
    for entity in found:
        assert entity.name.strip() == entity.name != ""
        assert all("\0" not in text and "\ufffc" not in text for text in (entity.name, *entity.aliases))
        for span in entity.mentions:
            assert 0 <= span.start < span.end <= len(content)
            assert not taken & set(range(span.start, span.end))
            taken |= set(range(span.start, span.end))
    for relation in relations(source):
        assert relation.source != relation.target
        assert "\0" not in relation.predicate


@pytest.mark.parametrize("content", ["", " \n\t ", "\0", "😀" * 50])
def test_a_text_that_says_nothing_has_only_its_title(content: str) -> None:
    """F11."""
    assert [entity.name for entity in find_entities(card("Berlin", content), SEGMENTER)] == ["Berlin"]


@pytest.mark.parametrize("piece", ["Ada Lovelace met Bob in the vector database. ", "中国的李飞飞在北京用向量数据库。"])
def test_a_megabyte_takes_linear_time(piece: str) -> None:
    content = piece * (1_000_000 // len(piece))
    started = time.process_time()
    find_entities(card("Big", content), SEGMENTER)
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "piece", ["[[a", "A & B ", "阿·", "`", "#a ", "Foo (Bar) ", "$a", "<a", "```\n", "Foo: bar\n", " "]
)
def test_no_text_takes_quadratic_time(piece: str) -> None:
    content = piece * (100_000 // len(piece))
    started = time.process_time()
    find_entities(card("Big", content), SEGMENTER)
    assert time.process_time() - started < 2


def test_every_card_contributes() -> None:
    """N20: nothing is carried from one card to the next."""
    names = ["Berlin", "Vienna", "Lisbon", "Prague"]
    found = [find_entities(card(f"Trip {i}", f"We saw {name}."), SEGMENTER) for i, name in enumerate(names)]
    assert [[e.name for e in each if e.mentions] for each in found] == [[name] for name in names]
