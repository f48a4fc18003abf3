"""Packed postings and BM25 over them, against values computed by hand and against a plain reference."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.index.postings import (
    POSTING,
    RECENT_HEAD,
    TERM,
    TOMBSTONE,
    Found,
    LexicalHits,
    LexicalRow,
    TermWeights,
    Totals,
    pack_docs,
    pack_terms,
    score,
    unpack_docs,
)
from app.index.segments import Segment, group_recent, merge_blocks, plan_merge


def row(doc: int, words: str = "", grams: str = "", singles: str = "") -> LexicalRow:
    """A chunk of one-letter terms; the letter's code point is its hash."""
    return LexicalRow(
        doc, len(words), len(grams), Counter(map(ord, words)), Counter(map(ord, grams)) + Counter(map(ord, singles))
    )


def u4(*docs: int) -> np.ndarray:
    return np.array(docs, np.uint32)


def i8(terms: str) -> np.ndarray:
    return np.array(sorted({ord(t) for t in terms}), np.int64)


def found(
    words: str,
    grams: str = "",
    folded: Sequence[Sequence[LexicalRow]] = (),
    recent: Sequence[LexicalRow] = (),
    dead: Sequence[int] = (),
    tombstones: Sequence[int] = (),
) -> Found:
    """What the search statement would bring for these segments."""
    word_terms, gram_terms = i8(words), i8(grams)
    blocks: dict[int, bytes] = {}
    for segment in folded:
        docs = u4(*[r.doc for r in segment])
        for offset, terms, lengths, packed in (
            (0, word_terms, [r.words for r in segment], [pack_terms(r.word_terms) for r in segment]),
            (len(word_terms), gram_terms, [r.grams for r in segment], [pack_terms(r.gram_terms) for r in segment]),
        ):
            for term, postings in group_recent(docs, np.array(lengths, np.int64), packed).packed():
                if term in terms:
                    ord_ = offset + terms.tolist().index(term)
                    blocks[ord_] = blocks.get(ord_, b"") + postings
    rows = {r.doc: r for segment in folded for r in segment}
    living = [r for r in rows.values() if r.doc not in dead]
    return Found(
        words=word_terms,
        grams=gram_terms,
        ords=sorted(blocks),
        blocks=[blocks[o] for o in sorted(blocks)],
        totals=Totals(
            len(living), sum(r.words for r in living), sum(r.grams > 0 for r in living), sum(r.grams for r in living)
        ),
        dead=pack_docs(u4(*dead)),
        tombstones=np.array([(d, rows[d].words, rows[d].grams) for d in tombstones], TOMBSTONE).tobytes(),
        recent_heads=[
            np.array([(r.doc, r.words, r.grams, len(r.word_terms), len(r.gram_terms))], RECENT_HEAD).tobytes()
            for r in recent
        ],
        recent_words=[pack_terms(r.word_terms) for r in recent],
        recent_grams=[pack_terms(r.gram_terms) for r in recent],
    )


def reference(rows: Sequence[LexicalRow], words: str, grams: str) -> dict[int, float]:
    """The formula of the specification in its plainest form."""

    def stream(terms: str, docs: list[tuple[int, int, dict[int, int]]]) -> dict[int, float]:
        average = sum(length for _, length, _ in docs) / len(docs) if docs else 1.0
        raw: dict[int, float] = {}
        bound = 0.0
        for term in sorted({ord(t) for t in terms}):
            having = [(doc, length, tf[term]) for doc, length, tf in docs if term in tf]
            if having:
                idf = math.log(1 + (len(docs) - len(having) + 0.5) / (len(having) + 0.5))
                bound += 2.2 * idf
                for doc, length, tf in having:
                    weight = tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / average))
                    raw[doc] = raw.get(doc, 0.0) + idf * weight
        return {doc: value / bound for doc, value in raw.items()}

    by_word = stream(words, [(r.doc, r.words, dict(r.word_terms)) for r in rows])
    if not grams:
        return by_word
    by_gram = stream(grams, [(r.doc, r.grams, dict(r.gram_terms)) for r in rows if r.grams])
    return {doc: (by_word.get(doc, 0.0) + by_gram.get(doc, 0.0)) / 2 for doc in {*by_word, *by_gram}}


def as_dict(hits: LexicalHits) -> dict[int, float]:
    return dict(zip(hits.docs.tolist(), hits.lex.tolist(), strict=True))


# -- bytes ------------------------------------------------------------------------------------------


def test_records_have_the_size_that_the_statements_divide_by() -> None:
    assert (POSTING.itemsize, TERM.itemsize, TOMBSTONE.itemsize, RECENT_HEAD.itemsize) == (8, 10, 16, 24)


def test_terms_are_packed_by_hash_with_saturating_counts() -> None:
    packed = np.frombuffer(pack_terms({5: 1, -(2**63): 70_000, 2**63 - 1: 65_535}), TERM)
    assert packed.tolist() == [(-(2**63), 65_535), (5, 1), (2**63 - 1, 65_535)]
    assert pack_terms({}) == b""


def test_docs_survive_packing_up_to_the_last_one() -> None:
    assert unpack_docs(pack_docs(u4(2**32 - 1, 0, 7))).tolist() == [0, 7, 2**32 - 1]


def test_folding_groups_by_term_and_keeps_length_and_count() -> None:
    blocks = group_recent(u4(3, 9), np.array([3, 70_000]), [pack_terms({1: 2, 4: 1}), pack_terms({4: 5})])
    assert [(term, np.frombuffer(p, POSTING).tolist()) for term, p in blocks.packed()] == [
        (1, [(3, 3, 2)]),
        (4, [(3, 3, 1), (9, 65_535, 5)]),
    ]


def test_nothing_folds_into_nothing() -> None:
    assert list(group_recent(u4(3), np.array([0]), [b""]).packed()) == []
    assert list(merge_blocks([], [], u4()).packed()) == []


def test_merging_drops_dead_docs_and_terms_that_only_they_had() -> None:
    first = dict(group_recent(u4(1, 2), np.array([1, 1]), [pack_terms({7: 1}), pack_terms({8: 1})]).packed())
    second = dict(group_recent(u4(3), np.array([2]), [pack_terms({7: 1, 9: 1})]).packed())
    merged = merge_blocks([7, 7, 8, 9], [first[7], second[7], first[8], second[9]], u4(2))
    assert [(term, np.frombuffer(p, POSTING)["doc"].tolist()) for term, p in merged.packed()] == [(7, [1, 3]), (9, [3])]


# -- scores -----------------------------------------------------------------------------------------


def test_bm25_by_hand() -> None:
    """Two docs, lengths 2 and 4 (mean 3): 'a' in both, 'b' in the second, twice."""
    hits = score(found("ab", folded=[[row(1, "ax")]], recent=[row(2, "abby")]))
    idf_a, idf_b = math.log(1.2), math.log(2)
    first = idf_a * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3))
    second = idf_a * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 4 / 3)) + idf_b * 4.4 / (2 + 1.2 * (0.25 + 0.75 * 4 / 3))
    assert hits.docs.tolist() == [1, 2]
    assert hits.words.tolist() == pytest.approx([first, second], rel=1e-6)
    assert hits.words.tolist() == pytest.approx([0.211109, 1.031828], rel=1e-5)
    assert hits.lex.tolist() == pytest.approx([first / (2.2 * (idf_a + idf_b)), second / (2.2 * (idf_a + idf_b))])
    assert hits.grams.tolist() == [0, 0]
    assert hits.word_terms.df.tolist() == [2, 1]
    assert hits.word_terms.idf.tolist() == pytest.approx([idf_a, idf_b])
    assert hits.totals == Totals(docs=2, words=6)


def test_han_is_the_mean_of_words_and_grams_and_grams_count_only_their_own_docs() -> None:
    """B5: a lone character is found; 'w' is a word of two docs, 'g' a bigram and 's' a lone character of one."""
    rows = [row(1, "w", "gh", "s"), row(2, "w"), row(3, "v")]
    both = score(found("w", "g", folded=[rows]))
    word = math.log(1 + 1.5 / 2.5)
    gram = math.log(1 + 0.5 / 1.5)
    assert both.lex.tolist() == pytest.approx([(1 / 2.2 * 2.2 / 2.2 + 1 / 2.2) / 2, 1 / 2.2 / 2], rel=1e-6)
    assert both.words.tolist() == pytest.approx([word, word])
    assert both.grams.tolist() == pytest.approx([gram, 0])
    assert both.totals == Totals(docs=3, words=3, gram_docs=1, grams=2)
    lone = score(found("", "s", folded=[rows]))
    assert lone.docs.tolist() == [1]
    assert lone.grams.tolist() == pytest.approx([gram])


def test_terms_that_nobody_has_do_not_lower_the_score() -> None:
    rows = [row(1, "ab"), row(2, "b")]
    assert as_dict(score(found("a", recent=rows))) == as_dict(score(found("az", recent=rows)))


def test_nothing_found() -> None:
    for hits in (score(found("a")), score(found("a", "a", recent=[row(1, "b")])), score(found(""))):
        assert len(hits) == 0
        assert hits.top(5)[0].tolist() == []
        assert hits.score_of(u4(1, 2)).tolist() == [0, 0]


def test_dead_docs_weigh_nothing_anywhere() -> None:
    rows = [row(1, "ab", "x"), row(2, "aaab", "xy"), row(3, "b", "y"), row(4, "a")]
    hits = score(found("ab", "xy", folded=[rows[:3], rows[3:]], dead=[2], tombstones=[3]))
    assert as_dict(hits) == pytest.approx(reference([rows[0], rows[3]], "ab", "xy"), rel=1e-6)
    assert hits.word_terms.df.tolist() == [2, 1]
    assert hits.gram_terms.df.tolist() == [1, 0]
    assert hits.totals == Totals(docs=2, words=3, gram_docs=1, grams=1)


def test_docs_that_lie_far_apart() -> None:
    """Docs of one workspace may be scattered over the whole sequence."""
    near = [row(1, "ab"), row(2, "a"), row(3, "b"), row(4, "aab")]
    far = [replace(r, doc=doc) for r, doc in zip(near, (0, 9, 2**31, 2**32 - 1), strict=True)]
    hits = score(found("ab", folded=[far[:2], far[2:]], dead=[9], tombstones=[]))
    expected = score(found("ab", folded=[near[:2], near[2:]], dead=[2], tombstones=[]))
    assert hits.docs.tolist() == [0, 2**31, 2**32 - 1]
    assert hits.lex.tolist() == expected.lex.tolist()


@given(st.randoms(use_true_random=False))
def test_scores_do_not_depend_on_where_docs_live(rnd: random.Random) -> None:
    """Blocks, recent, dead, tombstones in any mixture: the plain formula over the living."""

    def letters(of: str, most: int) -> str:
        return "".join(rnd.choices(of, k=rnd.randint(0, most)))

    docs = rnd.sample(range(1, 60 if rnd.random() < 0.7 else 2**32), rnd.randint(0, 25))
    rows = [row(d, letters("abcdef", 9), letters("uvwx", 6) if rnd.random() < 0.6 else "") for d in docs]
    cut = sorted(rnd.choices(range(len(rows) + 1), k=3))
    segments = [rows[: cut[0]], rows[cut[0] : cut[1]], rows[cut[1] : cut[2]]]
    folded = [r.doc for segment in segments for r in segment]
    gone = rnd.sample(folded, rnd.randint(0, len(folded)))
    split = rnd.randint(0, len(gone))
    words, grams = letters("abcdefz", 6), letters("uvwxz", 4)
    hits = score(found(words, grams, segments, rows[cut[2] :], gone[:split], gone[split:]))
    living = [r for r in rows if r.doc not in gone]
    assert as_dict(hits) == pytest.approx(reference(living, words, grams), rel=1e-5)
    assert hits.docs.tolist() == sorted(hits.docs.tolist())
    # Bit for bit, so that a fold never changes an order.
    assert as_dict(hits) == as_dict(score(found(words, grams, recent=sorted(living, key=lambda r: r.doc))))


# -- picking ----------------------------------------------------------------------------------------


def hits_of(scores: dict[int, float]) -> LexicalHits:
    docs = u4(*sorted(scores))
    lex = np.array([scores[d] for d in docs.tolist()], np.float32)
    none = TermWeights(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    return LexicalHits(docs, lex, lex, lex, none, none, Totals())


def test_top_is_best_first_with_ties_by_doc() -> None:
    hits = hits_of({1: 0.5, 2: 0.75, 3: 0.5, 4: 0.25, 9: 0.5})
    assert hits.top(10)[0].tolist() == [2, 1, 3, 9, 4]
    assert hits.top(3)[0].tolist() == [2, 1, 3]
    assert hits.top(1)[1].tolist() == [0.75]
    assert hits.top(0)[0].tolist() == []


def test_top_among_allowed_docs_only() -> None:
    hits = hits_of({1: 0.5, 2: 0.75, 3: 0.5, 4: 0.25})
    assert hits.top(2, u4(0, 3, 4, 77))[0].tolist() == [3, 4]
    assert hits.top(2, u4())[0].tolist() == []


def test_score_of_keeps_the_order_asked_for() -> None:
    hits = hits_of({1: 0.5, 2: 0.75})
    assert hits.score_of(u4(2, 3, 1, 0, 2)).tolist() == [0.75, 0, 0.5, 0, 0.75]


# -- merging plan -----------------------------------------------------------------------------------


def plan(*segments: tuple[int, int], largest: int = 100_000) -> list[int]:
    numbered = [Segment(seg, members, dead) for seg, (members, dead) in enumerate(segments, 1)]
    return plan_merge(numbered, unit=500, fan_in=4, dead_share=0.2, largest=largest)


def test_segments_of_one_tier_are_merged_when_they_are_enough() -> None:
    assert plan() == []
    assert plan((500, 0), (600, 0), (1999, 0)) == []
    assert plan((500, 0), (2000, 0), (600, 0), (1, 0), (1999, 0)) == [1, 3, 4, 5]


def test_the_lowest_full_tier_comes_first() -> None:
    assert plan(*[(2000, 0)] * 4, *[(500, 0)] * 4) == [5, 6, 7, 8]
    assert plan(*[(2000, 0)] * 4) == [1, 2, 3, 4]


def test_no_merge_grows_beyond_the_largest() -> None:
    assert plan(*[(40_000, 0)] * 4) == [1, 2]
    assert plan(*[(60_000, 0)] * 9) == []


def test_the_segment_with_most_dead_docs_is_rewritten_alone() -> None:
    assert plan((1000, 200)) == []
    assert plan((1000, 201), (10_000, 4000), (50_000, 9000)) == [2]
    assert plan((10, 10)) == [1]


def test_folding_forever_keeps_segments_few_and_rewrites_rare() -> None:
    segments: list[Segment] = []
    rewritten = 0
    for seg in range(1, 801):
        segments.append(Segment(seg * 10, 500, 0))
        while merged := plan_merge(segments, unit=500, fan_in=8, dead_share=0.2, largest=250_000):
            size = sum(s.members for s in segments if s.seg in merged)
            rewritten += size
            segments = [s for s in segments if s.seg not in merged] + [Segment(max(merged) + 1, size, 0)]
        assert len(segments) <= 3 * 7 + 1
    assert sum(s.members for s in segments) == 400_000
    assert rewritten / 400_000 < 3.1
