"""Knobs of communities and their reports."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ReportSettings(BaseModel):
    report_input_tokens: int = Field(
        8_000, ge=500, le=100_000, description="Of a community's rows, or of the reports below it, that a model reads"
    )
    report_answer_tokens: int = Field(2_000, ge=256, le=16_000)
    report_concurrency: int = Field(4, ge=1, le=64, description="Calls for reports at a time, of one process")


class CommunitySettings(ReportSettings):
    community_max_size: int = Field(
        50, ge=2, le=10_000, description="A community of more entities is divided, on the next level"
    )
    community_resolution: float = Field(1.0, gt=0, le=100, description="Higher: more and smaller communities")
    communities_quiet_seconds: float = Field(
        20.0, ge=0, description="Communities are made when nothing has changed for that long"
    )
    communities_longest_seconds: float = Field(
        900.0, ge=0, description="… or something has been changing for that long"
    )
