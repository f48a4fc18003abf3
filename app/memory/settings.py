"""Knobs of memory."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class MemorySettings(BaseModel):
    decay_mode: Literal["efold", "half_life"] = Field(
        "efold", description="What 30 days without use do: efold leaves 1/e of the importance, half_life a half"
    )
    memory_max: int = Field(500, ge=1, le=5000, description="Active memories of a workspace")
    memory_max_proposals: int = Field(50, ge=1, le=1000, description="Proposals of a workspace that may wait at once")
    memory_recalled: int = Field(12, ge=0, le=100, description="Memories that a prompt is offered at most")
    memory_reflect: Literal["on", "off"] = Field(
        "on", description="Whether turns are reflected on afterwards, and what is worth it is remembered"
    )
    memory_reflect_provider: str | None = Field(
        None, description="The chat provider that reflects; none: rules do, which keep what a user asks to be kept"
    )
    memory_reflect_model: str | None = None
