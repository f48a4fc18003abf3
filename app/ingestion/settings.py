"""Knobs of ingestion."""

from __future__ import annotations

from pydantic import Field

from app.ingestion.extract.settings import ExtractSettings


class IngestionSettings(ExtractSettings):
    chunk_target_tokens: int = Field(300, ge=50, le=2000)
    embed_batch: int = Field(128, ge=1, le=2048, description="Texts per call of the embedder")
    embed_calls: int = Field(8, ge=1, le=256, description="Calls of the embedder that are under way at a time")
    embed_save_seconds: float = Field(
        5.0, ge=0, description="Vectors of a group are stored this often before all are there: a kill costs no more"
    )
    fold_rows: int = Field(500, ge=1, description="Recent documents after which a workspace's postings are folded")
    trash_days: int = Field(30, ge=0, description="How long a trashed card can be brought back")
    vector_index_windows: int = Field(
        30_000, ge=0, description="Vectors in a space above which an HNSW index is built; below it scans are exact"
    )
    reembed_batch: int = Field(256, ge=1, le=4096, description="Texts per step of filling another embedding space")
    reembed_keep_hours: float = Field(
        24.0, ge=0, description="How long the vectors of an embedding space that was left are kept"
    )
