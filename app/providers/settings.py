"""The knobs of the embedders; each field is the environment variable `MINDCONE_<FIELD>`.

`embedder_next…` describe the embedder that the vectors are being moved to; what it has no field for, it shares.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, Field, SecretStr

from app.core.errors import ConfigurationError

EmbedderName = Literal["embedded", "bge-m3", "openai"]

_OF_NEXT: Final = (
    "embedder_model",
    "embedder_base_url",
    "embedder_api_key",
    "embedder_dimension",
    "embedder_send_dimension",
    "embedder_max_tokens",
    "embedder_device",
    "embedder_query_prefix",
    "embedder_passage_prefix",
)
"""What the next embedder has of its own."""


class EmbedderSettings(BaseModel):
    """Which model turns texts into vectors. What does not fit together is refused by `embedding.build`."""

    embedder: EmbedderName = "embedded"
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
    embedder_next: EmbedderName | None = Field(
        None, description="the embedder to move to: give it here, then run `mindcone reembed`"
    )
    embedder_next_model: str | None = None
    embedder_next_base_url: str | None = None
    embedder_next_api_key: SecretStr | None = None
    embedder_next_dimension: int | None = Field(None, ge=1)
    embedder_next_send_dimension: bool = False
    embedder_next_max_tokens: int = Field(8192, ge=16)
    embedder_next_device: str = "cpu"
    embedder_next_query_prefix: str | None = None
    embedder_next_passage_prefix: str | None = None

    def of_next(self) -> EmbedderSettings | None:
        """The settings of the next embedder, as if it were the only one. Raises ConfigurationError."""
        own = {name: getattr(self, name.replace("embedder", "embedder_next", 1)) for name in _OF_NEXT}
        if self.embedder_next is None:
            for name, value in own.items():
                if value != EmbedderSettings.model_fields[name].default:
                    variable = name.replace("embedder", "embedder_next", 1).upper()
                    raise ConfigurationError(f"MINDCONE_{variable} has no effect without MINDCONE_EMBEDDER_NEXT.")
            return None
        shared = {name: getattr(self, name) for name in EmbedderSettings.model_fields if "_next" not in name}
        return EmbedderSettings(**{**shared, **own, "embedder": self.embedder_next})
