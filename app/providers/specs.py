"""What is true of each chat provider for everyone: addresses, dialect, keys, models and what they can do.

Pure data. Addresses and keys of one installation come from the settings or from what its people stored; `dialects`
turns the two together into a `ChatProvider`. Names and limits of models are those of November 2026: a model that is
not listed gets its provider's last, careful row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal

from pydantic import SecretStr

from app.providers.outgoing import ANYWHERE, Reach
from app.providers.ports import Capabilities

Dialect = Literal["openai", "anthropic", "gemini"]
KeyHeader = Literal["authorization", "x-api-key", "x-goog-api-key"]
JsonMode = Literal["schema", "object", "none"]

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What is true of the models whose names begin with `prefix`; the first row that fits holds.

    `json_mode`: `schema` is enforced by the provider; `object` is any JSON, and `none` nothing: then the prompt carries
    the schema. `extra` is sent with every request (Gemini: inside `generationConfig`), mostly to keep a model from
    thinking longer than a note needs. `thought_tokens`: room for thoughts that count against the limit of the answer.
    """

    prefix: str = ""
    context_window: int
    temperature: bool = True
    json_mode: JsonMode = "object"
    tools: bool = True
    extra: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    thought_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSpec:
    """One provider. `path` is the endpoint's full path, in which `{model}` stands for the model's name; a base URL may
    already end with its beginning. `openai_path` is where the same provider also speaks the OpenAI dialect.
    `returns_thoughts`: it wants the `reasoning_content` of its own calls back.
    """

    name: str
    dialect: Dialect
    base_url: str | None
    path: str
    default_model: str
    models: tuple[Traits, ...]
    key_header: KeyHeader = "authorization"
    headers: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    needs_key: bool = True
    max_tokens_field: str = "max_tokens"
    openai_path: str | None = None
    returns_thoughts: bool = False
    setting: str = ""

    @property
    def base_url_setting(self) -> str:
        """The field of ChatSettings, and in capitals after `MINDCONE_` the environment variable."""
        return f"{self.setting or self.name}_base_url"

    @property
    def key_setting(self) -> str:
        return f"{self.setting or self.name}_api_key"

    def traits(self, model: str) -> Traits:
        """What holds for `model`, whose name may have a directory before it (`models/gemini-…`)."""
        bare = model.rpartition("/")[2]
        return next(row for row in self.models if bare.startswith(row.prefix))

    def spoken_to_as_openai(self) -> ProviderSpec:
        """The same provider through its OpenAI-compatible endpoint. Raises ValueError where it has none."""
        if self.dialect == "openai":
            return self
        if self.openai_path is None:
            raise ValueError(f"{self.name} has no OpenAI-compatible endpoint")
        return replace(self, dialect="openai", path=self.openai_path, key_header="authorization")

    def key_headers(self, key: str) -> dict[str, str]:
        """The headers that go with every request to this provider; `key` may be empty."""
        headers = dict(self.headers)
        if key:
            headers[self.key_header] = f"Bearer {key}" if self.key_header == "authorization" else key
        return headers


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A provider as one installation uses it: its own address, key, model and window, where it has them, and how far
    its address may lead.
    """

    spec: ProviderSpec
    base_url: str
    api_key: SecretStr | None = None
    default_model: str
    context_window: int | None = None
    reach: Reach = ANYWHERE

    @property
    def name(self) -> str:
        return self.spec.name

    def traits(self, model: str | None = None) -> Traits:
        traits = self.spec.traits(model or self.default_model)
        return traits if self.context_window is None else replace(traits, context_window=self.context_window)

    def capabilities(self, model: str | None = None) -> Capabilities:
        traits = self.traits(model)
        return Capabilities(
            context_window=traits.context_window,
            tools=traits.tools,
            json_schema=traits.json_mode == "schema",
            temperature=traits.temperature,
        )


_QUIET: Final = MappingProxyType({"reasoning_effort": "none"})  # with tools this dialect takes no other
_OPENAI: Final = (
    Traits(prefix="gpt-6", context_window=1_050_000, temperature=False, json_mode="schema", extra=_QUIET),
    Traits(prefix="gpt-5.", context_window=400_000, temperature=False, json_mode="schema", extra=_QUIET),
    Traits(
        prefix="gpt-5",
        context_window=400_000,
        temperature=False,
        json_mode="schema",
        extra={"reasoning_effort": "minimal"},
        thought_tokens=2048,
    ),
    Traits(prefix="gpt-4.1", context_window=1_047_576, json_mode="schema"),
    Traits(prefix="gpt-4o", context_window=128_000, json_mode="schema"),
    Traits(prefix="gpt-4-turbo", context_window=128_000),
    Traits(prefix="gpt-4", context_window=8192, json_mode="none"),
    Traits(prefix="gpt-3.5", context_window=16_385),
    Traits(prefix="ft:gpt-4", context_window=128_000, json_mode="schema"),
    Traits(context_window=128_000, temperature=False, json_mode="schema", thought_tokens=4096),
)
_ANTHROPIC: Final = (
    Traits(prefix="claude-3", context_window=200_000, json_mode="none"),
    Traits(prefix="claude-haiku-4", context_window=200_000, json_mode="schema"),
    Traits(prefix="claude-sonnet-4-6", context_window=1_000_000, json_mode="schema"),
    Traits(prefix="claude-sonnet-4-5", context_window=200_000, json_mode="schema"),
    Traits(prefix="claude-sonnet-4", context_window=200_000, json_mode="none"),
    Traits(prefix="claude-opus-4-5", context_window=200_000, json_mode="schema"),
    Traits(prefix="claude-opus-4-6", context_window=1_000_000, json_mode="schema"),
    # The later ones think unasked and refuse a temperature.
    Traits(
        prefix="claude-sonnet-5",
        context_window=1_000_000,
        temperature=False,
        json_mode="schema",
        extra={"output_config": {"effort": "low"}},
        thought_tokens=4096,
    ),
    Traits(
        prefix="claude-opus-5",
        context_window=1_000_000,
        temperature=False,
        json_mode="schema",
        extra={"output_config": {"effort": "low"}},
        thought_tokens=4096,
    ),
    Traits(context_window=200_000, temperature=False, json_mode="schema", thought_tokens=4096),
)
_GEMINI: Final = (
    Traits(
        prefix="gemini-2.5-flash",
        context_window=1_048_576,
        json_mode="schema",
        extra={"thinkingConfig": {"thinkingBudget": 0}},
    ),
    Traits(prefix="gemini-2.5", context_window=1_048_576, json_mode="schema", thought_tokens=4096),
    Traits(prefix="gemini-2", context_window=1_048_576, json_mode="schema"),
    Traits(
        prefix="gemini-3",
        context_window=1_048_576,
        json_mode="schema",
        extra={"thinkingConfig": {"thinkingLevel": "low"}},
        thought_tokens=4096,
    ),
    Traits(prefix="gemma", context_window=32_768, json_mode="none", tools=False),
    Traits(context_window=128_000, json_mode="schema", thought_tokens=4096),
)
_NO_THOUGHTS: Final = MappingProxyType({"thinking": {"type": "disabled"}})
_DEEPSEEK: Final = (
    Traits(prefix="deepseek-reasoner", context_window=128_000, temperature=False, thought_tokens=8192),
    Traits(prefix="deepseek-chat", context_window=128_000),
    Traits(context_window=128_000, extra=_NO_THOUGHTS),
)
_MOONSHOT: Final = (
    Traits(prefix="moonshot-v1-8k", context_window=8192),
    Traits(prefix="moonshot-v1-32k", context_window=32_768),
    Traits(prefix="moonshot-v1", context_window=131_072),
    Traits(prefix="kimi-k2.5", context_window=262_144, temperature=False, extra=_NO_THOUGHTS),
    Traits(prefix="kimi-k2.6", context_window=262_144, temperature=False, extra=_NO_THOUGHTS),
    Traits(
        prefix="kimi-k3",
        context_window=1_048_576,
        temperature=False,
        extra={"reasoning_effort": "low"},
        thought_tokens=8192,
    ),
    Traits(context_window=131_072, temperature=False, thought_tokens=8192),
)
_QWEN: Final = (
    # Asked for JSON while it thinks, it refuses.
    Traits(context_window=128_000, extra={"enable_thinking": False}),
)

SPECS: Final[Mapping[str, ProviderSpec]] = MappingProxyType(
    {
        spec.name: spec
        for spec in (
            ProviderSpec(
                name="openai",
                dialect="openai",
                base_url="https://api.openai.com",
                path="/v1/chat/completions",
                default_model="gpt-6-luna",
                models=_OPENAI,
                max_tokens_field="max_completion_tokens",
            ),
            ProviderSpec(
                name="anthropic",
                dialect="anthropic",
                base_url="https://api.anthropic.com",
                path="/v1/messages",
                default_model="claude-sonnet-5",
                models=_ANTHROPIC,
                key_header="x-api-key",
                headers={"anthropic-version": "2023-06-01"},
                openai_path="/v1/chat/completions",
            ),
            ProviderSpec(
                name="gemini",
                dialect="gemini",
                base_url="https://generativelanguage.googleapis.com",
                path="/v1beta/models/{model}:streamGenerateContent?alt=sse",
                default_model="gemini-3.8-flash",
                models=_GEMINI,
                key_header="x-goog-api-key",
                openai_path="/v1beta/openai/chat/completions",
            ),
            ProviderSpec(
                name="deepseek",
                dialect="openai",
                base_url="https://api.deepseek.com",
                path="/chat/completions",
                default_model="deepseek-flash",
                returns_thoughts=True,
                models=_DEEPSEEK,
            ),
            ProviderSpec(
                name="moonshot",
                dialect="openai",
                base_url="https://api.moonshot.cn",
                path="/v1/chat/completions",
                default_model="kimi-k3",
                returns_thoughts=True,
                models=_MOONSHOT,
                max_tokens_field="max_completion_tokens",
            ),
            ProviderSpec(
                name="qwen",
                dialect="openai",
                base_url="https://dashscope.aliyuncs.com",
                path="/compatible-mode/v1/chat/completions",
                default_model="qwen-plus",
                models=_QWEN,
            ),
            ProviderSpec(
                name="ollama",
                dialect="openai",
                base_url="http://127.0.0.1:11434",
                path="/v1/chat/completions",
                default_model="qwen3:4b",
                # A server that was not told otherwise gives a prompt this much and cuts the rest without a word.
                models=(Traits(context_window=4096, json_mode="schema"),),
                needs_key=False,
            ),
            ProviderSpec(
                name="custom",
                dialect="openai",
                base_url=None,
                path="/chat/completions",
                default_model="default",
                returns_thoughts=True,
                models=(Traits(context_window=8192),),
                needs_key=False,
                setting="chat",
            ),
        )
    }
)
"""By name. `offline` is none of them: it has no address."""
