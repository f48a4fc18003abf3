"""Knobs of the vault; each field is the environment variable `MINDCONE_<FIELD>`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode


def _keys(value: Any) -> Any:
    return [one.strip() for one in value.split(",") if one.strip()] if isinstance(value, str) else value


class VaultSettings(BaseModel):
    vault_key: Annotated[SecretStr | None, BeforeValidator(lambda value: value or None)] = Field(
        None,
        description="32 random bytes in base64 that seal stored keys; left out: a file in the data directory",
    )
    vault_keys_old: Annotated[list[SecretStr], NoDecode, BeforeValidator(_keys)] = Field(
        [], description="earlier vault keys, until `mindcone keys rotate-vault` has been run"
    )
    vault_poll_seconds: float = Field(
        1.0, gt=0, le=60, description="how soon other processes notice that a provider was configured"
    )
