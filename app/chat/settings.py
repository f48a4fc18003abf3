"""Knobs of answering."""

from __future__ import annotations

from pydantic import BaseModel, Field


class AnswerSettings(BaseModel):
    answer_limit: int = Field(8, ge=1, le=50, description="Cards retrieved for an answer, unless the caller says")
    answer_total_tokens: int = Field(100_000, ge=1000, description="Budget of a prompt, where the window allows it")
    answer_reserve_tokens: int = Field(2048, ge=64, description="Kept free for the answer")
    turn_detached_seconds: float = Field(
        60.0, ge=0, description="How long a turn that nobody listens to goes on before it is interrupted"
    )
    turn_beat_seconds: float = Field(1.0, gt=0, le=5, description="How often a running answer is saved")
    turn_stale_seconds: float = Field(30.0, ge=10, description="Silence after which a running answer counts as dead")
