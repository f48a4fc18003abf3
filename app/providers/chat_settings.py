"""What an operator can say about chat providers. Knows nothing of where the values come from."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode


def _names(value: Any) -> Any:
    """A comma-separated string is a list too, so that an environment variable can say it."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


class ChatSettings(BaseModel):
    chat_provider: str = "offline"
    chat_model: str | None = None
    chat_context_tokens: int | None = Field(default=None, ge=512)
    chat_fallback: Annotated[list[str], NoDecode, BeforeValidator(_names)] = []

    chat_base_url: str | None = None
    chat_api_key: SecretStr | None = None
    openai_base_url: str = "https://api.openai.com/v1"
    openai_api_key: SecretStr | None = None
    deepseek_base_url: str = "https://api.deepseek.com"
    deepseek_api_key: SecretStr | None = None
    moonshot_base_url: str = "https://api.moonshot.cn/v1"
    moonshot_api_key: SecretStr | None = None
    qwen_base_url: str = "https://dashscope.aliyuncs.com/compatible-mode/v1"
    qwen_api_key: SecretStr | None = None
    ollama_base_url: str = "http://127.0.0.1:11434"

    provider_connect_seconds: float = Field(default=5.0, gt=0)
    provider_first_byte_seconds: float = Field(default=30.0, gt=0)
    provider_idle_seconds: float = Field(default=30.0, gt=0)
    provider_total_seconds: float = Field(default=300.0, gt=0)
    provider_max_connections: int = Field(default=200, ge=1)

    provider_retries: int = Field(default=3, ge=0, le=10)
    provider_backoff_seconds: float = Field(default=0.5, ge=0)
    provider_max_wait_seconds: float = Field(default=20.0, ge=0)
    breaker_failures: int = Field(default=5, ge=1)
    breaker_cooldown_seconds: float = Field(default=30.0, gt=0)
