"""What level search gives for a hit: spans with offsets, snippets, ranks, scores; and that it always gives the same."""

from __future__ import annotations

import uuid

import pytest

from app.cards.drafts import NewCard
from app.db.session import Database
from app.providers.embedding.e5 import E5Embedder
from app.retrieval.types import Evidence, Fusion, Level, Question
from app.text.segment import Segmenter
from tests.search_library import Library, fill

pytest_plugins = ("tests.search_library",)

LONG = "\n\n".join(
    [
        "# 咖啡烘焙 handbook",
        *(f"## Chapter {n}\n\n" + f"Paragraph {n} talks about the weather in town {n}. " * 12 for n in range(6)),
        "## Roasting\n\nThe Yunnan beans are roasted at 205 degrees 🔥 for nine minutes. Then they cool.",
        "## 冲泡\n\n水温九十三度，先闷蒸三十秒。然后缓慢注水，总时间不超过三分钟。",
        *(f"## Appendix {n}\n\n" + f"附录{n}说明仓库里的第{n}号箱子放着什么东西。" * 15 for n in range(4)),
    ]
)


@pytest.fixture(scope="module")
def filled(shelf_dsn: str, e5: E5Embedder, segmenter: Segmenter) -> uuid.UUID:
    cards = [
        NewCard("咖啡烘焙 handbook", LONG, external_id="long", tags=["coffee"]),
        NewCard("Tea", "Green tea wants water of eighty degrees."),
        NewCard("Bread", "Sourdough rises overnight. Bake it at 240 degrees."),
        *(NewCard(f"Twin {n}", "The same words stand in this note.") for n in range(4)),
    ]
    return fill(shelf_dsn, e5, segmenter, cards)


@pytest.fixture
def notes(shelf: Database, e5: E5Embedder, segmenter: Segmenter, filled: uuid.UUID) -> Library:
    return Library(shelf, e5, segmenter).at(filled)


@pytest.mark.parametrize(
    "query", ["At how many degrees are the Yunnan beans roasted?", "冲泡的水温是多少", "第2号箱子 附录"]
)
@pytest.mark.parametrize("fusion", ["absolute", "rrf", "bm25", "dense"])
async def test_spans_are_stretches_of_the_card(notes: Library, query: str, fusion: Fusion) -> None:
    ((content,),) = await notes.rows("SELECT content FROM cards WHERE workspace_id = :w AND external_id = 'long'")
    evidence = await notes.search(query, fusion=fusion)
    hit = evidence.hits[0]
    assert hit.card.external_id == "long"
    assert 1 <= len(hit.evidence) <= 3
    for span in hit.evidence:
        assert content[span.start : span.end] == span.text
        assert span.text
    if fusion != "rrf":
        scores = [span.score for span in hit.evidence]
        assert scores == sorted(scores, reverse=True)
        assert hit.score == scores[0]


async def test_the_best_span_and_the_snippet_hold_the_answer(notes: Library) -> None:
    for query, answer in (("At how many degrees are the Yunnan beans roasted?", "205 degrees"), ("闷蒸多久", "三十秒")):
        hit = (await notes.search(query)).hits[0]
        assert answer in hit.evidence[0].text
        assert answer in hit.snippet
        assert "\n" not in hit.snippet
        assert len(hit.snippet) <= 240


async def test_snippets_are_as_long_as_was_set(
    shelf: Database, e5: E5Embedder, segmenter: Segmenter, filled: uuid.UUID
) -> None:
    short = Library(shelf, e5, segmenter, snippet_chars=40, evidence_spans=1).at(filled)
    hit = (await short.search("冲泡 水温")).hits[0]
    assert len(hit.snippet) <= 40
    assert len(hit.evidence) == 1


async def test_ranks_say_which_leg_found_a_card(notes: Library) -> None:
    evidence = await notes.search("sourdough", limit=100)
    assert len(evidence.hits) == 7
    best = evidence.hits[0]
    assert (best.card.title, best.ranks) == ("Bread", {"dense": 1, "lexical": 1, "sparse": None})
    assert sorted(hit.ranks["dense"] or 0 for hit in evidence.hits) == list(range(1, 8))
    assert {hit.ranks["lexical"] for hit in evidence.hits[1:]} == {None}
    assert [hit.rank for hit in evidence.hits] == list(range(1, 8))


async def test_explain_shows_the_parts_of_the_score(notes: Library) -> None:
    weight = notes.settings.lexical_weight
    for hit in (await notes.search("sourdough degrees", explain=True)).hits:
        assert hit.explain is not None
        assert hit.explain.keys() == {"cosine", "lexical", "rrf"}
        assert hit.score == pytest.approx(hit.explain["cosine"] + weight * hit.explain["lexical"], abs=2e-6)
        assert hit.explain["rrf"] == pytest.approx(
            sum(1 / (60 + rank) for rank in hit.ranks.values() if rank is not None), abs=1e-9
        )
    assert all(hit.explain is None for hit in (await notes.search("sourdough degrees")).hits)


async def test_reciprocal_rank_fusion_can_be_chosen(notes: Library) -> None:
    evidence = await notes.search("degrees", fusion="rrf")
    expected = [sum(1 / (60 + rank) for rank in hit.ranks.values() if rank is not None) for hit in evidence.hits]
    assert [hit.score for hit in evidence.hits] == pytest.approx(expected, abs=1e-6)
    assert expected == sorted(expected, reverse=True)


async def test_baselines_rank_by_one_score_alone(notes: Library) -> None:
    words = (await notes.search("degrees", fusion="bm25", limit=100)).hits
    assert {hit.card.title for hit in words} == {"咖啡烘焙 handbook", "Tea", "Bread"}
    assert [hit.ranks["lexical"] for hit in words] == [1, 2, 3]
    vectors = (await notes.search("degrees", fusion="dense", limit=100)).hits
    assert [hit.ranks["dense"] for hit in vectors] == list(range(1, 8))


async def test_ties_are_broken_by_id(notes: Library) -> None:
    for fusion in ("absolute", "bm25"):
        hits = (await notes.search("the same words stand in this note", fusion=fusion, limit=100)).hits
        by_score: dict[float, list[uuid.UUID]] = {}
        for hit in hits:
            by_score.setdefault(hit.score, []).append(hit.card.id)
        assert all(ids == sorted(ids) for ids in by_score.values())
    assert len(by_score[hits[0].score]) == 4, "the twins were to have one score"


async def test_the_same_question_gives_the_same_answer(notes: Library) -> None:
    def told(evidence: Evidence) -> object:
        return [(hit.card.id, hit.score, hit.evidence, hit.ranks, hit.snippet) for hit in evidence.hits]

    for fusion in ("absolute", "rrf"):
        answers = [told(await notes.search("water degrees 水温", fusion=fusion, limit=100)) for _ in range(5)]
        assert answers[1:] == answers[:-1]


@pytest.mark.parametrize("limit", [1, 3, 7, 100])
async def test_limit_counts_cards(notes: Library, limit: int) -> None:
    hits = (await notes.search("degrees", limit=limit)).hits
    assert len(hits) == min(limit, 7)
    assert len({hit.card.id for hit in hits}) == len(hits)
    assert hits == (await notes.search("degrees", limit=100)).hits[:limit]


async def test_evidence_tells_its_times_and_its_index(notes: Library) -> None:
    evidence = await notes.search("degrees")
    assert evidence.timings_ms.keys() == {"lexical", "embedding", "recall", "texts", "total"}
    assert sum(evidence.timings_ms.values()) - evidence.timings_ms["total"] <= evidence.timings_ms["total"] + 0.01
    assert evidence.index["stale_cards"] == 0
    assert evidence.index["space"] == notes.embedder.space.key


async def test_an_empty_workspace_has_nothing_relevant(library: Library) -> None:
    for fusion in ("absolute", "rrf", "bm25", "dense"):
        evidence = await library.search("anything", fusion=fusion)
        assert (evidence.hits, evidence.nothing_relevant, evidence.degraded) == ([], True, [])
    routed = await library.retriever.retrieve(library.id, Question("Which supplier delivers the green coffee?"))
    assert (routed.level, list(routed.route.gates)) == (Level.chat, ["empty_workspace"])


async def test_whoever_searches_is_not_answered_as_small_talk(notes: Library) -> None:
    for wants_hits, level in ((False, Level.chat), (True, Level.search)):
        routed = await notes.retriever.retrieve(notes.id, Question("hello", wants_hits=wants_hits))
        assert routed.level is level
        assert ("hits_wanted" in routed.route.gates) is wants_hits


async def test_workspaces_never_see_each_other(
    database: Database, e5: E5Embedder, segmenter: Segmenter, library: Library
) -> None:
    other = await Library(database, e5, segmenter, slug="other").open()
    for place, word in ((library, "zebra"), (other, "斑马")):
        await place.add(f"Animals of {word}", f"The {word} has stripes.", tags=["animals"])
        await place.learn()
    for folded in (False, True):
        if folded:
            await library.fold()
            await other.fold()
        for query in ("zebra 斑马 stripes", "animals"):
            for fusion in ("absolute", "rrf", "bm25", "dense"):
                assert await library.titles(query, fusion=fusion) == ["Animals of zebra"]
                assert await other.titles(query, fusion=fusion) == ["Animals of 斑马"]
