"""The knobs of the embedders; each field is the environment variable `MINDCONE_<FIELD>`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, SecretStr


class EmbedderSettings(BaseModel):
    """Which model turns texts into vectors. What does not fit together is refused by `embedding.build`."""

    embedder: Literal["embedded", "bge-m3", "openai"] = "embedded"
    embedder_model: str | None = None
    """A name or a path for `bge-m3` (default `BAAI/bge-m3`), the server's model name for `openai`."""
    embedder_base_url: str | None = None
    """`openai` only: the server's address up to and without `/embeddings`."""
    embedder_api_key: SecretStr | None = None
    embedder_dimension: int | None = Field(default=None, ge=1)
    """Required for `openai`. Elsewhere the model knows; a value given here must agree with it."""
    embedder_send_dimension: bool = False
    """`openai` only: also ask the server for vectors of this dimension (models that can shorten theirs)."""
    embedder_max_tokens: int = Field(default=8192, ge=16)
    """`openai` only: the longest text that the server's model takes."""
    embedder_threads: int = Field(default=2, ge=1, le=64)
    """Threads (or requests to a server) that embed at the same time in one process."""
    embedder_batch_tokens: int = Field(default=100_000, ge=1)
    """`openai` and `bge-m3`: tokens in one batch."""
    embedder_batch_count: int = Field(default=64, ge=1)
    """`openai` and `bge-m3`: texts in one batch."""
    embedder_device: str = "cpu"
    """`bge-m3` only: `cpu`, `cuda:0`, `mps`."""
    embedder_query_prefix: str | None = None
    """Put before each question; `embedded` has its own."""
    embedder_passage_prefix: str | None = None
    embedder_deadline_seconds: float = Field(default=120.0, gt=0)
    """`openai` only: how long one batch may be retried in all."""
    embedder_query_cache: int = Field(default=1024, ge=0)
    """Vectors of recent questions kept in memory; 0 keeps none."""
