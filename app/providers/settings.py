"""The knobs of the embedders; each field is the environment variable `MINDCONE_<FIELD>`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, SecretStr


class EmbedderSettings(BaseModel):
    """Which model turns texts into vectors. What does not fit together is refused by `embedding.build`."""

    embedder: Literal["embedded", "bge-m3", "openai"] = "embedded"
    embedder_model: str | None = Field(
        None, description="bge-m3: a downloaded model's name or directory (default BAAI/bge-m3); openai: required"
    )
    embedder_base_url: str | None = Field(None, description="openai: the server's address, without /embeddings")
    embedder_api_key: SecretStr | None = None
    embedder_dimension: int | None = Field(None, ge=1, description="openai: required; elsewhere it must agree")
    embedder_send_dimension: bool = Field(False, description="openai: ask the server for this dimension")
    embedder_max_tokens: int = Field(8192, ge=16, description="openai: the longest text that the model takes")
    embedder_threads: int = Field(2, ge=1, le=64, description="texts (openai: requests) computed at once")
    embedder_batch_tokens: int = Field(100_000, ge=1, description="openai, bge-m3: tokens in one batch")
    embedder_batch_count: int = Field(128, ge=1, description="openai, bge-m3 on a GPU: texts in one batch")
    embedder_device: str = Field("cpu", description="bge-m3: cpu, cuda:0, mps")
    embedder_query_prefix: str | None = Field(None, description="bge-m3, openai: put before each question")
    embedder_passage_prefix: str | None = Field(None, description="bge-m3, openai: put before each passage")
    embedder_connect_seconds: float = Field(5.0, gt=0, description="openai")
    embedder_read_seconds: float = Field(30.0, gt=0, description="openai: to the first byte, and between two")
    embedder_retries: int = Field(4, ge=0, le=20, description="openai: after failures; being told to wait is none")
    embedder_passage_deadline_seconds: float = Field(120.0, gt=0, description="openai: one batch, retries included")
    embedder_query_deadline_seconds: float = Field(10.0, gt=0, description="openai: one question, retries included")
    embedder_query_cache: int = Field(1024, ge=0, description="recent questions whose vectors are remembered")
