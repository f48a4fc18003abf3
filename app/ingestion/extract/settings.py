"""Knobs of extraction."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class ExtractSettings(BaseModel):
    extractor: Literal["auto", "offline", "llm", "off"] = Field(
        "auto",
        description="auto: a language model where one is configured and has its key, else offline; off: chunks alone",
    )
    extract_provider: str | None = Field(
        None, description="The chat provider that extracts; default: the one that chats"
    )
    extract_model: str | None = Field(None, description="Default: the provider's")
    max_gleanings: int = Field(1, ge=0, le=5, description="How often the model may be asked for what it missed")
    extract_group_tokens: int = Field(
        1200, ge=100, le=32_000, description="Text of one call: consecutive chunks up to this many tokens"
    )
    extract_answer_tokens: int = Field(
        6000, ge=256, description="Longest answer; a longer one makes two calls of halves"
    )
    extract_concurrency: int = Field(4, ge=1, le=64, description="Calls at a time, over all cards of a process")
