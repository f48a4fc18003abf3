"""Knobs of the database connection."""

from __future__ import annotations

from pydantic import BaseModel, Field


class DatabaseSettings(BaseModel):
    database_url: str | None = Field(None, description="PostgreSQL 16-18 with pgvector; unset: the embedded server")
    migration_url: str | None = Field(
        None, description="Owner's URL for migrations and vector indexes, when it is not the app's own"
    )
    database_pool_size: int = Field(10, ge=1, le=200)
    database_pool_overflow: int = Field(5, ge=0, le=200)
    database_pool_timeout_seconds: float = Field(5.0, gt=0)
    database_statement_timeout_seconds: float = Field(30.0, gt=0)
    database_lock_timeout_seconds: float = Field(10.0, gt=0)
    database_idle_in_transaction_seconds: float = Field(60.0, gt=0)
    database_start_timeout_seconds: float = Field(30.0, gt=0, description="How long start-up waits for the database")
