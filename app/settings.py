"""Every knob, composed from the rooms' own small settings: field `x` is the variable `MINDCONE_X`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.chat.settings import AnswerSettings
from app.core.log import LogFormat
from app.db.settings import DatabaseSettings
from app.ingestion.communities.settings import CommunitySettings
from app.ingestion.settings import IngestionSettings
from app.jobs.settings import JobSettings
from app.memory.settings import MemorySettings
from app.people.settings import PeopleSettings
from app.providers.chat_settings import ChatSettings
from app.providers.settings import EmbedderSettings
from app.retrieval.settings import RetrievalSettings
from app.transfer.settings import TransferSettings
from app.vault.settings import VaultSettings

PREFIX = "MINDCONE_"
MIB = 1024 * 1024


class HttpSettings(BaseModel):
    """The doors: where the server listens, who may come in, how much it takes."""

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    auth: Literal["auto", "on", "off"] = Field("auto", description="auto: off on loopback, on everywhere else")
    cors_origins: list[str] = []
    card_max_bytes: int = Field(MIB, ge=1)
    query_max_bytes: int = Field(32 * 1024, ge=1)
    body_max_bytes: int = Field(8 * MIB, ge=1024)
    upload_max_bytes: int = Field(200 * MIB, ge=1024)
    shutdown_grace_seconds: float = Field(10.0, ge=0)

    @property
    def on_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def auth_required(self) -> bool:
        return self.auth == "on" or not self.on_loopback


class ProcessSettings(BaseModel):
    """What concerns the process as a whole."""

    data_dir: Path = Path("data")
    sample: Literal["on", "off"] = Field("on", description="import the sample vault on the first start")
    migrate: Literal["auto", "on", "off"] = Field("auto", description="auto: only the embedded database")
    log_level: str = "INFO"
    log_format: LogFormat = "auto"

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()


class Settings(
    ProcessSettings,
    HttpSettings,
    DatabaseSettings,
    EmbedderSettings,
    ChatSettings,
    PeopleSettings,
    VaultSettings,
    JobSettings,
    IngestionSettings,
    CommunitySettings,
    RetrievalSettings,
    MemorySettings,
    TransferSettings,
    AnswerSettings,
    BaseSettings,
):
    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", validate_default=True)


def unknown_variables(environment: Mapping[str, str] | None = None) -> list[str]:
    """`MINDCONE_*` variables that no setting reads: most likely misspelt."""
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    given = os.environ if environment is None else environment
    return sorted(name for name in given if name.upper().startswith(PREFIX) and name.upper() not in known)
