"""Knobs of retrieval. The constants are those of the published recipe; see `bench/RESULTS.md`."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.retrieval.types import Fusion


class RetrievalSettings(BaseModel):
    search_fusion: Fusion = "absolute"
    search_each: int = Field(100, ge=1, le=1000, description="Rows per leg that enter the pool")
    rrf_k: int = Field(60, ge=1)
    lexical_weight: float = Field(0.26, ge=0, description="c in cos + c * BM25/B, for the embedded model's space")
    exact_scan_windows: int = Field(
        30_000, ge=0, description="Workspaces with no more vectors than this are scanned exactly"
    )
    hnsw_ef_search: int = Field(200, ge=10, le=1000)
    snippet_chars: int = Field(240, ge=40, le=2000)
    evidence_spans: int = Field(3, ge=1, le=20, description="Spans of evidence per hit")
