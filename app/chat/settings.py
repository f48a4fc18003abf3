"""Knobs of answering."""

from __future__ import annotations

from pydantic import Field

from app.budget.settings import BudgetSettings


class AnswerSettings(BudgetSettings):
    answer_limit: int = Field(8, ge=1, le=50, description="Cards retrieved for an answer, unless the caller says")
    turn_detached_seconds: float = Field(
        60.0, ge=0, description="How long a turn that nobody listens to goes on before it is interrupted"
    )
    turn_beat_seconds: float = Field(1.0, gt=0, le=5, description="How often a running answer is saved")
    turn_stale_seconds: float = Field(30.0, ge=10, description="Silence after which a running answer counts as dead")
