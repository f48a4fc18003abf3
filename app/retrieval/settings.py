"""Knobs of retrieval. The constants are those of the published recipe; see `bench/RESULTS.md`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from app.retrieval.types import Fusion, Preset, Scorer


class RetrievalSettings(BaseModel):
    search_fusion: Fusion = "absolute"
    search_each: int = Field(100, ge=1, le=1000, description="Rows per leg that enter the pool")
    rrf_k: int = Field(60, ge=1)
    lexical_weight: float = Field(0.26, ge=0, description="c in cos + c * BM25/B, for the embedded model's space")
    search_impute: float = Field(
        0.4, ge=0, description="How far a vector stands in for the words of a passage in another script"
    )
    exact_scan_windows: int = Field(
        30_000, ge=0, description="Workspaces with no more vectors than this are scanned exactly"
    )
    hnsw_ef_search: int = Field(400, ge=10, le=1000)
    snippet_chars: int = Field(240, ge=40, le=2000)
    evidence_spans: int = Field(3, ge=1, le=20, description="Spans of evidence per hit")

    context_preset: Preset = "chain"
    context_anchors: int = Field(50, ge=1, le=1000, description="Anchors per leg")
    context_nodes: int = Field(1000, ge=10, le=20_000, description="Claims that are compared exactly")
    context_episodes: int = Field(100, ge=1, le=1000, description="Episodes that are reached")
    context_paths: int = Field(5, ge=1, le=20, description="Paths per hit")
    context_claims: int = Field(4, ge=1, le=50, description="Claims that are shown as evidence, on average per hit")
    context_edge: float = Field(0.2, ge=0)
    context_point_words: float = Field(0.5, ge=0)
    context_facet: float = Field(0.12, ge=0)
    context_facet_words: float = Field(0.25, ge=0)
    context_episode_words: float = Field(0.75, ge=0)
    context_time: float = Field(0.8, ge=0)
    context_tau: float = Field(0.05, ge=0, description="Of the soft minimum; 0 is the minimum")
    context_echo: float = Field(
        0.3, ge=0, description="What it costs a claim to be unlike the best ones; 0: each stands for itself"
    )
    context_echo_claims: int = Field(3, ge=1, le=50, description="Best claims that the others are compared with")
    context_alike: float = Field(
        8.0, ge=0, description="What a card costs less for words that it shares with the first one; 0: nothing"
    )
    context_alike_above: float = Field(
        0.75, ge=0, description="Standard deviations of the likeness above its mean from which it counts"
    )
    context_alike_kept: int = Field(5, ge=1, le=1000, description="First places that likeness leaves as they are")
    context_alike_cards: int = Field(60, ge=1, le=1000, description="Cards that are compared with the first one")
    context_alike_bytes: int = Field(
        1 << 18, ge=0, description="Postings that are read for it; the commonest words of the first card are left out"
    )
    context_impute: float = Field(1.0, ge=0, description="How far a vector stands in for words of another script")
    context_han_distance: float = Field(
        0.5,
        ge=0,
        description="What distances are worth beside words where question and text are in Chinese, for the embedded "
        "model's space",
    )
    context_diversity: float = Field(0.15, ge=0)
    context_bm25_b: float = Field(0.5, ge=0, le=1)
    context_bare_claim: bool = Field(True, description="The claim's own vector counts beside that of its edge")
    context_superseded: float = Field(0.25, ge=0, description="Cost of a claim that is no longer valid")
    context_at_hand: float = Field(0.1, ge=0, description="What a card costs less that was cited just before")
    context_strip_times: bool = True
    context_adaptive: bool = Field(False, description="Weigh claims against their edges by adaptive confidence")
    context_strangers: Literal["0.05", "0.25", "0.5"] = Field(
        "0.25", description="Share of the questions about nothing here that may pass for questions about something"
    )
    context_words_enough: float = Field(
        0.6, ge=0, description="A claim with this share of the question's words is relevant, however far its vector"
    )

    explore_scorer: Scorer = "default"
    explore_each: int = Field(50, ge=1, le=1000, description="Rows per leg of the search that it begins with")
    explore_counted: int = Field(100, ge=10, le=100_000, description="Cards of an entity are counted up to here")
    explore_mentions: int = Field(20, ge=1, le=10_000, description="Of an entity that more mention, only titles")
    explore_beam: int = Field(4, ge=1, le=50, description="Cards that bridges start from")
    explore_bridges: int = Field(4, ge=0, le=50, description="Bridges per card")
    explore_facts: int = Field(200, ge=1, le=5000, description="Facts of a kind that are read of a card")
    explore_spellings: int = Field(
        100, ge=0, le=5000, description="Names that are compared with one that nothing answers to"
    )
    explore_overlooked: int = Field(
        6, ge=0, le=200, description="Claims of a card that are searched for titles the graph overlooked"
    )
    explore_fanout: int = Field(30, ge=1, le=1000, description="scorer hops: relations that lead on from an entity")
    explore_hop_entities: int = Field(100, ge=1, le=5000, description="scorer hops: entities whose cards count")
    explore_pinned: int = Field(2, ge=0, le=100, description="First places that the beam gives")
    explore_named_title: float = Field(0.6, ge=0)
    explore_named_mention: float = Field(
        0.0,
        ge=0,
        description="What a name gives to cards with it in their text (0.3 in the recipe): brings nothing",
    )
    explore_inside_link: float = Field(0.8, ge=0)
    explore_mention_link: float = Field(0.9, ge=0)
    explore_hop: float = Field(0.9, ge=0, description="0: no hops")
    explore_walk: float = Field(1.0, ge=0, description="Weight of PageRank in the final score; 0: none")
    explore_walk_cards: int = Field(50, ge=0, le=1000, description="Cards that PageRank alone brings in")
    explore_walk_around: int = Field(100, ge=1, le=10_000, description="Of larger graphs so many cards are walked")
    explore_walk_ahead: int = Field(60, ge=0, le=10_000, description="And so many are read before hops are weighed")
    explore_walk_mentions: int = Field(
        200_000, ge=0, description="Of larger graphs only the part around the question's cards is walked"
    )
    explore_paths: int = Field(5, ge=1, le=20, description="Paths per hit")
    explore_sample: int = Field(500, ge=10, le=10_000, description="Texts of a kind whose mean says what is usual")

    insight_texts: int = Field(1000, ge=50, le=20_000, description="Texts of reports that are compared with a question")
    insight_reports: int = Field(40, ge=1, le=500, description="Reports that are read for a question")
    insight_themes: int = Field(20, ge=1, le=200, description="Themes of an overview")
    insight_themes_told: int = Field(
        12, ge=0, le=200, description="Of them, those that more than their name is told of"
    )
    insight_summary: float = Field(0.8, ge=0, le=1, description="What a report's summary counts beside its findings")
    insight_words: float = Field(0.35, ge=0, le=1, description="What words count beside vectors")
    insight_per_report: int = Field(4, ge=1, le=20, description="Findings of one report that are told without a model")
    insight_points_tokens: int = Field(6_000, ge=200, le=100_000, description="Points that go into the answer's prompt")
    insight_map: Literal["auto", "offline"] = Field(
        "auto", description="offline: findings are scored without a model even where one answers"
    )
    insight_map_tokens: int = Field(12_000, ge=500, le=100_000, description="Of one map call")
    insight_answer_tokens: int = Field(1_500, ge=128, le=16_000, description="Longest answer of a map call")
    insight_concurrency: int = Field(4, ge=1, le=32, description="Map calls at a time, of one question")
    insight_max_calls: int = Field(12, ge=0, le=200, description="Calls of a model per question before the answer")
    insight_max_tokens: int = Field(
        90_000, ge=1_000, le=2_000_000, description="Tokens that one question may cost in all, the answer included"
    )
    insight_reduce_tokens: int = Field(
        16_000, ge=500, le=200_000, description="Of them kept for the answer: its prompt, and what it says"
    )
    insight_rating: bool = Field(False, description="A model rates the chosen reports before they are read")
    insight_least_rating: float = Field(1.0, ge=0, le=5)
