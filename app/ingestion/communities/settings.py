"""Knobs of communities and their reports."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ReportSettings(BaseModel):
    report_input_tokens: int = Field(
        8_000, ge=500, le=100_000, description="Of a community's rows, or of the reports below it, that a model reads"
    )
    report_answer_tokens: int = Field(2_000, ge=256, le=16_000)
    report_concurrency: int = Field(4, ge=1, le=64, description="Calls for reports at a time, of one process")
