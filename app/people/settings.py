"""Knobs of who may how much; each field is the environment variable `MINDCONE_<FIELD>`."""

from __future__ import annotations

from pydantic import BaseModel, Field


class PeopleSettings(BaseModel):
    rate_limit_per_minute: int = Field(
        3000,
        ge=0,
        description="requests of an API key in the long run, unless it says otherwise; 0: any number",
    )
    rate_limit_burst: int = Field(600, ge=1, description="requests that a key which was quiet may make at once")
    workspace_daily_tokens: int | None = Field(
        None,
        ge=1,
        description="tokens of language models per workspace and day (UTC); the offline one is free",
    )
    usage_flush_seconds: float = Field(2.0, gt=0, le=60, description="how often counted tokens are written down")
