"""Knobs of the job queue and of the worker."""

from __future__ import annotations

from pydantic import BaseModel, Field, NonNegativeInt


class JobSettings(BaseModel):
    worker_concurrency: int = Field(default=8, ge=1, le=256, description="Jobs that one worker process has in flight")
    worker_kind_limits: dict[str, NonNegativeInt] = Field(
        default_factory=lambda: {"communities": 1, "reembed": 2, "calibrate": 1},
        description="Jobs of one kind in flight over all workers; kinds not named here have no limit",
    )
    worker_grace_seconds: float = Field(
        default=20.0, ge=0, description="How long a stopping worker lets jobs finish before it hands them back"
    )
    worker_heartbeat_seconds: float = Field(
        default=30.0, gt=0, description="Silence after which a job counts as abandoned and another worker takes it"
    )
    worker_poll_seconds: float = Field(
        default=5.0, gt=0, description="Longest wait between two looks when nothing is notified"
    )
    job_backoff_seconds: float = Field(
        default=2.0, gt=0, description="Wait before the second attempt; doubles with each"
    )
    job_backoff_max_seconds: float = Field(default=300.0, gt=0)
    job_patience_seconds: float = Field(
        default=3600.0, ge=0, description="How long busy or absent providers are waited for before attempts are counted"
    )
    job_unknown_grace_seconds: float = Field(
        default=15.0, ge=0, description="How long a job of an unknown kind may wait for a newer worker before it fails"
    )
    job_sweep_seconds: float = Field(default=15.0, gt=0, description="Between two sweeps of the job tables")
    job_keep_days: float = Field(default=30.0, ge=0, description="How long finished jobs stay visible")
    job_ingest_keep_hours: float = Field(default=1.0, ge=0, description="How long finished ingestion jobs stay visible")
    job_log_keep_seconds: float = Field(
        default=600.0, ge=0, description="How long the queue's own log of transitions is kept"
    )
