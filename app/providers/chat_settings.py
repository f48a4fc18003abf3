"""What an operator can say about chat providers. Knows nothing of where the values come from."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode


def _limits(value: Any) -> Any:
    """`name=number` pairs in a string are a mapping too."""
    if not isinstance(value, str):
        return value
    pairs = [pair.partition("=") for pair in value.split(",") if pair.strip()]
    return {name.strip(): number.strip() for name, _, number in pairs}


def _names(value: Any) -> Any:
    """A comma-separated string is a list too, so that an environment variable can say it."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


Names = Annotated[list[str], NoDecode, BeforeValidator(_names)]
Limits = Annotated[dict[str, Annotated[int, Field(ge=1)]], NoDecode, BeforeValidator(_limits)]


class ChatSettings(BaseModel):
    chat_provider: str = "offline"
    chat_model: str | None = None
    chat_context_tokens: int | None = Field(default=None, ge=512)
    chat_fallback: Names = Field([], description="who answers when the configured provider cannot, in this order")
    chat_fallback_extract: Names | None = Field(None, description="the same for whoever reads cards")
    chat_fallback_summarise: Names | None = Field(None, description="the same for whoever condenses")
    chat_fallback_title: Names | None = Field(None, description="the same for whoever gives titles")

    chat_base_url: str | None = None
    chat_api_key: SecretStr | None = None
    # An address of its own is in each provider's spec; these are for proxies and other regions.
    openai_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    anthropic_base_url: str | None = None
    anthropic_api_key: SecretStr | None = None
    gemini_base_url: str | None = None
    gemini_api_key: SecretStr | None = None
    deepseek_base_url: str | None = None
    deepseek_api_key: SecretStr | None = None
    moonshot_base_url: str | None = None
    moonshot_api_key: SecretStr | None = None
    qwen_base_url: str | None = None
    qwen_api_key: SecretStr | None = None
    ollama_base_url: str | None = None

    provider_connect_seconds: float = Field(default=5.0, gt=0)
    provider_first_byte_seconds: float = Field(default=30.0, gt=0)
    provider_idle_seconds: float = Field(default=30.0, gt=0)
    provider_total_seconds: float = Field(default=300.0, gt=0)
    provider_max_connections: int = Field(default=200, ge=1)

    provider_concurrency: Limits = Field({}, description="calls at a time, e.g. ollama=2,moonshot=3; others: no limit")
    outgoing_allow: Names = Field(
        [],
        description="origins in private networks that a base URL given over the API may name, e.g. http://10.0.0.5:8000",
    )

    provider_retries: int = Field(default=3, ge=0, le=10)
    provider_backoff_seconds: float = Field(default=0.5, ge=0)
    provider_max_wait_seconds: float = Field(default=20.0, ge=0)
    breaker_failures: int = Field(default=5, ge=1)
    breaker_cooldown_seconds: float = Field(default=30.0, gt=0)
