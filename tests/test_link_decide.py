"""Which names mean one entity: the labelled pairs, and the rules one by one."""

from __future__ import annotations

from collections import Counter

import pytest

from app.graph.kinds import compatible, kind_of, type_of
from app.ingestion.link import guards
from app.ingestion.link.blocks import blocks
from app.ingestion.link.context import contradict, stated_names
from app.ingestion.link.decide import Named, Outcome, Verdict, decide
from app.ingestion.link.describe import LONGEST, best, bounded
from app.ingestion.link.evidence import distance
from app.ingestion.link.shapes import shape, shown, singular
from app.ingestion.link.simplified import simplified
from app.ingestion.link.thresholds import BGE_M3, E5_SMALL, UNKNOWN, thresholds_for
from app.providers.embedding.e5 import E5Embedder
from bench.linking import cosines, judge, read, score

pytest_plugins = ("tests.search_library",)

NEVER_TO_MERGE = {"digits", "prefix", "type", "opposite"}


def verdict(a: Named, b: Named, cosine: float | None = None, scale: object = E5_SMALL) -> Verdict:
    one, other = decide(a, b, cosine, scale), decide(b, a, cosine, scale)  # type: ignore[arg-type]
    assert one == other, "who comes first must not matter"
    return one


# ---------------------------------------------------------------------------------- the labelled pairs


def test_the_set_is_what_it_should_be() -> None:
    pairs = read()
    assert len(pairs) >= 200
    halves = Counter(pair.half for pair in pairs)
    assert abs(halves["tune"] - halves["held"]) <= 10
    # Pairs that only knowledge of the world can join are reported apart; they must not be most of what is the same.
    same = [pair for pair in pairs if pair.same]
    assert sum(pair.knowledge for pair in same) < len(same) / 3


@pytest.fixture(scope="module")
def near(e5: E5Embedder) -> list[float]:
    import asyncio

    return asyncio.run(cosines(e5, read()))


@pytest.mark.parametrize("half", ["tune", "held"])
def test_labelled_pairs(near: list[float], half: str) -> None:
    """C1, C2."""
    judged = judge(read(), near, E5_SMALL)
    assert score(judged, half).f1 >= 0.95
    wrong = [p for p, _, v in judged if v.outcome is Outcome.merge and not p.same and p.trap in NEVER_TO_MERGE]
    assert wrong == []


@pytest.mark.parametrize("scale", [BGE_M3, E5_SMALL, UNKNOWN])
def test_no_cosine_merges_across_digits_versions_types_and_prefixes(scale: object) -> None:
    """Whatever the vectors say: every pair of these traps at a cosine of 0.999."""
    traps = [pair for pair in read() if pair.trap in NEVER_TO_MERGE and not pair.same]
    assert len(traps) > 70
    merged = [
        (pair.one.name, pair.other.name)
        for pair in traps
        if verdict(pair.one, pair.other, 0.999, scale).outcome is Outcome.merge
    ]
    assert merged == []


def test_whatever_is_merged_by_name_is_met() -> None:
    """Names that are one by rule share a block or an alias: the linker compares no others."""
    lost = [
        (pair.one.name, pair.other.name)
        for pair in read()
        if verdict(pair.one, pair.other).layer in ("name", "alias", "exact")
        and verdict(pair.one, pair.other).outcome is not Outcome.apart
        and not pair.share_a_block
    ]
    assert lost == []


# ------------------------------------------------------------------------------------------- the scale


def test_vectors_count_as_much_as_their_space_allows() -> None:
    one = Named("Big Apple", "other", "The city of skyscrapers")
    other = Named("Metropolis", "other", "The largest city of the USA")
    assert verdict(one, other, 0.86, BGE_M3).outcome is Outcome.merge
    assert verdict(one, other, 0.75, BGE_M3).outcome is Outcome.ask
    assert verdict(one, other, 0.69, BGE_M3).outcome is Outcome.apart
    assert verdict(one, other, 0.94, E5_SMALL).outcome is Outcome.apart
    assert verdict(one, other, 0.99, E5_SMALL).outcome is Outcome.ask
    assert verdict(one, other, None, BGE_M3).outcome is Outcome.apart


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        ("embedded/multilingual-e5-small/384", E5_SMALL),
        ("local/BAAI/bge-m3/1024", BGE_M3),
        ("openai/text-embedding-3-small/1536", UNKNOWN),
    ],
)
def test_every_space_has_its_scale(space: str, expected: object) -> None:
    assert thresholds_for(space) == expected


# ------------------------------------------------------------------------------------------- the rules


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("GPT-4o", ("4o",)),
        ("Python 3.11", ("3.11",)),
        ("World War II", ("2",)),
        ("Second World War", ("2",)),
        ("第二次世界大战", ("2",)),
        ("神舟十五号", ("15",)),
        ("二〇二四年年会", ("2024",)),
        ("十三五规划", ("十三五",)),
        ("三百零五号", ("305",)),
        ("1st Avenue", ("1",)),
        ("Henry VIII", ("8",)),
        ("K8s", ()),
        ("I Robot", ()),
        ("Malcolm X", ("10",)),
        ("1,000 nights", ("1.000",)),
        ("One", ()),
    ],
)
def test_numbers_of_a_name(name: str, numbers: tuple[str, ...]) -> None:
    assert shape(name).numbers == numbers


@pytest.mark.parametrize(
    ("name", "key", "inside", "qualifier"),
    [
        ("大语言模型（LLM）", "大语言模型", "LLM", ""),
        ("Reciprocal Rank Fusion (RRF)", "reciprocalrankfusion", "RRF", ""),
        ("Mercury (planet)", "mercuryplanet", "", "planet"),
        ("微信 (WeChat)", "微信", "WeChat", ""),
        ("管道(golang)", "管道golang", "", "golang"),
        ("知识图谱(knowledge graph)", "知识图谱", "knowledge graph", ""),
        ("(untitled)", "untitled", "", ""),
        ("f(x)", "fx", "", "x"),
    ],
)
def test_brackets(name: str, key: str, inside: str, qualifier: str) -> None:
    found = shape(name)
    assert (found.key, found.inside, found.qualifier) == (key, inside, qualifier)


def test_a_qualified_name_is_not_the_plain_one() -> None:
    assert verdict(Named("Mercury (planet)"), Named("Mercury")).outcome is Outcome.ask
    assert verdict(Named("Mercury (planet)"), Named("Mercury (element)")).outcome is Outcome.apart
    assert verdict(Named("Mercury (planet)"), Named("Mercury (Planet)")).outcome is Outcome.merge


@pytest.mark.parametrize(
    ("written", "kept"),
    [("《红楼梦》", "红楼梦"), (" “Ab\x00c”\n ", "Abc"), ("a\ud83d", "a"), ("x" * 300, "x" * 200), ("《》", "《》")],
)
def test_names_are_kept_clean(written: str, kept: str) -> None:
    """A7."""
    assert shown(written) == kept


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *(("models", "model"), ("communities", "community"), ("boxes", "box"), ("glasses", "glass"), ("news", "news")),
        *(("physics", "physics"), ("bus", "bus"), ("class", "class"), ("gas", "gas"), ("analysis", "analysis")),
    ],
)
def test_singular(word: str, expected: str) -> None:
    assert singular(word) == expected


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("abc", "abc", 0), ("abc", "abd", 1), ("abc", "acb", 1), ("kitten", "sitting", 3), ("", "ab", 2), ("abc", "", 3)],
)
def test_distance(one: str, other: str, edits: int) -> None:
    assert distance(one, other, 3) == edits
    assert distance(one, other, 0) == min(edits, 1)


@pytest.mark.parametrize(
    ("description", "names"),
    [
        ("Short for Kubernetes", ("Kubernetes",)),
        ("中国现代作家，原名周树人，字豫才", ("周树人",)),
        ("又称“人工智能”，是一门学科", ("人工智能",)),
        ("US agency, abbreviated FBI, in Washington", ("FBI",)),
        ("英文 forgetting curve，艾宾浩斯提出", ("forgetting curve",)),
        ("A framework for the web", ()),
        ("容器编排系统，别名 k8s，英文名为Kubernetes", ("k8s", "Kubernetes")),
        ("一家研究机构，全称中国科学院，缩写为 CAS", ("中国科学院", "CAS")),
        ("一种图，英文“knowledge graph”，中文：知识图谱", ("knowledge graph", "知识图谱")),
        ("指别名记录，把一个域名指向另一个", ()),
        ("Network Attached Storage 三个英文单词的缩写，中文意思是网络上的存储", ()),
        ("全角，英文字母和英文标点是半角", ()),
        ("中文是使用人数最多的语言", ()),
    ],
)
def test_names_that_a_description_states(description: str, names: tuple[str, ...]) -> None:
    assert stated_names(description) == names


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("清华大学物理学教授", "成都一家川菜馆的厨师", True),
        ("Professor of economics", "a lawyer who teaches", False),
        ("项目经理", "周末一起爬山的朋友", False),
        ("李伟是心内科医生", "李伟带我去看医生", False),
        ("李伟是心内科医生。他弟弟是厨师", "李伟是一名医生", False),
        ("", "厨师", False),
    ],
)
def test_two_people_of_one_name(one: str, other: str, expected: bool) -> None:
    """C2. What is said of others does not count."""
    assert contradict("李伟", one, other) is expected


def test_what_says_which_one_is_meant_is_no_other_name() -> None:
    """C: 管道(golang) is a thing of Golang, not Golang itself."""
    channel = Named("管道(golang)", aliases=("管道", "golang"))
    assert set(channel.other_names()) == {"管道"}
    assert verdict(channel, Named("Golang")).outcome is Outcome.apart


@pytest.mark.parametrize(
    ("name", "alias", "guard"),
    [
        ("GPT-4", "GPT-4o", "digits"),
        ("PostgreSQL", "PostgreSQL 18", "digits"),
        ("Kubernetes", "K8s", None),
        ("第二次世界大战", "WWII", None),
        ("C", "C++", "signs"),
        ("大语言模型", "LLM", None),
    ],
)
def test_what_a_text_may_give_as_another_name(name: str, alias: str, guard: str | None) -> None:
    assert guards.alias(shape(name), shape(alias)) == guard


def test_traditional_and_simplified() -> None:
    assert simplified("國立故宮博物院 PostgreSQL") == "国立故宫博物院 PostgreSQL"
    assert simplified("已经是简体") == "已经是简体"


@pytest.mark.parametrize(
    ("said", "type_", "kind"),
    [
        ("person", "person", "person"),
        ("PERSON ", "person", "person"),
        ("Location", "place", "place"),
        ("组织", "organization", "thing"),
        ("concept", "concept", "thing"),
        ("animal", "other", "other"),
        ("", "other", "other"),
    ],
)
def test_types(said: str, type_: str, kind: str) -> None:
    assert (type_of(said), kind_of(said)) == (type_, kind)


def test_other_goes_with_everything() -> None:
    assert compatible("other", "person")
    assert compatible("place", "other")
    assert not compatible("person", "place")
    assert not compatible("place", "thing")


def test_blocks_are_few() -> None:
    for name in (
        "Donald J. Trump",
        "National Aeronautics and Space Administration",
        "中国科学院",
        "x" * 200,
        "a b " * 50,
    ):
        assert 1 <= len(blocks(name, "person")) <= 8
    assert blocks("", "other") == frozenset()


# -------------------------------------------------------------------------------------------- descriptions


def test_a_description_keeps_what_says_most() -> None:
    """C14."""
    filler = "It is what it is and so on and so forth, as they say. "
    text = "Marco is a roaster. " + filler * 15 + "He founded Lumen in 2019 in Bologna. " + filler * 5
    kept = bounded(text)
    assert len(kept) <= LONGEST
    assert kept.startswith("Marco is a roaster.")
    assert "He founded Lumen in 2019 in Bologna." in kept
    assert bounded("short \n text") == "short text"
    assert len(bounded("无" * 2000)) <= LONGEST
    assert best(["", "a", "the longer one", "b"]) == "the longer one"
