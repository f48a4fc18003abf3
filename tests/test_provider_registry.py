"""Names to providers, from settings."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.core.errors import ConfigurationError, NotFound
from app.providers.chat_settings import ChatSettings
from app.providers.configured import Stored
from app.providers.fake import FakeProvider
from app.providers.ports import ChatRequest, Finished, Message, MissingKey, ProviderDown, Source, Text, ToolSpec
from app.providers.registry import ChatProviders
from app.providers.specs import SPECS
from app.text.segment import Segmenter
from app.text.sentences import sentences

TERMS = Segmenter().terms


def providers(**fields: object) -> ChatProviders:
    return ChatProviders(ChatSettings(**fields), sentences=sentences, terms=TERMS)


async def said(provider: object, request: ChatRequest | None = None) -> str:
    request = request or ChatRequest(messages=[Message("user", "hi")], question="hi")
    events = [event async for event in provider.stream(request)]
    assert isinstance(events[-1], Finished)
    return "".join(event.text for event in events if isinstance(event, Text))


async def test_offline_is_the_default_and_needs_nothing():
    async with providers() as known:
        assert known.get_provider().name == "offline"
        assert "offline assistant" in await said(known.get_provider())
        assert known.list_names() == [
            "offline",
            "openai",
            "anthropic",
            "gemini",
            "deepseek",
            "moonshot",
            "qwen",
            "ollama",
        ]


@pytest.mark.parametrize("name", ["openai", "deepseek", "moonshot", "qwen"])
async def test_a_key_is_missed_only_when_its_provider_is_asked(name: str):
    async with providers(chat_provider=name) as known:
        provider = known.get_provider()
        assert provider.name == name
        assert provider.default_model == SPECS[name].default_model
        with pytest.raises(MissingKey, match=name):
            await said(provider)


@pytest.mark.parametrize("name", ["openai", "deepseek", "moonshot", "qwen", "custom"])
async def test_each_provider_has_its_own_address_and_key(name: str):
    own = "chat" if name == "custom" else name
    async with FakeProvider() as server:
        fields = {f"{own}_base_url": server.base_url, f"{own}_api_key": f"sk-{name}", "chat_model": "mine"}
        async with providers(chat_provider=name, chat_context_tokens=12_345, **fields) as known:
            provider = known.get_provider()
            assert await said(provider) == "You said: hi"
            assert provider.capabilities().context_window == 12_345
        assert server.exchanges[0].headers["authorization"] == f"Bearer sk-{name}"
        assert server.exchanges[0].body["model"] == "mine"


async def test_ollama_needs_no_key_and_its_address_no_path():
    async with FakeProvider() as server:
        async with providers(chat_provider="ollama", ollama_base_url=server.base_url.removesuffix("/v1")) as known:
            assert await said(known.get_provider()) == "You said: hi"
        assert "authorization" not in server.exchanges[0].headers
        assert server.exchanges[0].path == "/v1/chat/completions"


async def test_the_chosen_model_is_not_given_to_other_providers():
    async with providers(chat_provider="openai", chat_model="mine", chat_context_tokens=999) as known:
        assert known.get_provider().default_model == "mine"
        assert known.get_provider("qwen").default_model == SPECS["qwen"].default_model
        assert known.get_provider("qwen").capabilities().context_window == 128_000


async def test_the_fallbacks_belong_to_the_configured_provider():
    async with FakeProvider() as server:
        fields = {"chat_base_url": server.base_url, "chat_model": "fault:500", "provider_backoff_seconds": 0}
        async with providers(chat_provider="custom", chat_fallback="offline", **fields) as known:
            request = ChatRequest(
                messages=[Message("user", "Where is the key?")],
                question="Where is the key?",
                sources=[Source("1", "House", "The key is under the mat.")],
            )
            assert "The key is under the mat. [1]" in await said(known.get_provider(), request)
            assert server.asked() == 4


@pytest.mark.parametrize(
    "fields",
    [
        {"chat_provider": "nobody"},
        {"chat_fallback": "offline, nobody"},
        {"chat_fallback_extract": "nobody"},
        {"provider_concurrency": "nobody=2"},
        {"outgoing_allow": "10.0.0.1"},
        {"chat_base_url": "not an address"},
        {"openai_api_key": "sk\nx"},
    ],
)
def test_settings_that_cannot_work_are_refused(fields: dict[str, object]):
    with pytest.raises(ConfigurationError):
        providers(**fields)


@pytest.mark.parametrize("fields", [{"chat_provider": "custom"}, {"chat_fallback": ["custom"]}])
async def test_who_is_named_must_have_an_address_when_the_doors_open(fields: dict[str, object]):
    """In the settings or stored."""
    with pytest.raises(ConfigurationError, match="no base URL"):
        await providers(**fields).open()
    known = providers(**fields)
    await known.configure({"custom": Stored(base_url="http://127.0.0.1:9/v1")})
    async with known:
        assert known.get_provider("custom").name == "custom"


async def test_unknown_names():
    async with providers() as known:
        with pytest.raises(NotFound):
            known.get_provider("nobody")


def test_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    """F10"""

    class Settings(ChatSettings, BaseSettings):
        model_config = SettingsConfigDict(env_prefix="MINDCONE_")

    monkeypatch.setenv("MINDCONE_CHAT_FALLBACK", "qwen, offline,")
    monkeypatch.setenv("MINDCONE_QWEN_API_KEY", "sk-secret")
    monkeypatch.setenv("MINDCONE_PROVIDER_IDLE_SECONDS", "2.5")
    settings = Settings()
    assert settings.chat_fallback == ["qwen", "offline"]
    assert settings.provider_idle_seconds == 2.5
    assert "sk-secret" not in repr(settings)


@pytest.mark.parametrize("field", ["provider_connect_seconds", "provider_total_seconds", "breaker_failures"])
def test_numbers_that_make_no_sense(field: str):
    with pytest.raises(ValidationError):
        ChatSettings(**{field: 0})


def test_the_timeouts_of_the_specification():
    settings = ChatSettings()
    assert settings.provider_connect_seconds == 5
    assert settings.provider_first_byte_seconds == 30
    assert settings.provider_idle_seconds == 30
    assert settings.provider_total_seconds == 300


# ------------------------------------------------------------------------- changed while running


async def test_stand_ins_by_purpose():
    """The list for answers belongs to the configured provider; that of a purpose to whoever is asked for it."""
    async with FakeProvider() as server:
        fields = {"provider_backoff_seconds": 0, "provider_retries": 0, "qwen_base_url": server.base_url}
        async with providers(
            chat_provider="openai",
            chat_fallback="offline",
            chat_fallback_title="qwen",
            qwen_api_key="sk-q",
            chat_base_url=server.base_url,
            **fields,
        ) as known:
            names = [
                [live.provider.name for live in known._stand_ins(name, purpose)]
                for name, purpose in (
                    ("openai", "answer"),
                    ("custom", "answer"),
                    ("custom", "title"),
                    ("qwen", "title"),
                )
            ]
            assert names == [["offline"], [], ["qwen"], []]
            request = ChatRequest([Message("user", "hi")], model="fault:500", purpose="title")
            assert await said(known.get_provider("custom"), request) == "You said: hi"
            assert [exchange.model for exchange in server.exchanges] == ["fault:500", SPECS["qwen"].default_model]


async def test_the_last_resort_answers_without_the_tools_that_were_offered():
    async with FakeProvider() as server:
        fields = {"chat_base_url": server.base_url, "chat_model": "fault:500", "provider_retries": 0}
        async with providers(chat_provider="custom", chat_fallback="offline", **fields) as known:
            request = ChatRequest([Message("user", "hi")], question="hi", tools=[ToolSpec("t", "", {})])
            events = [event async for event in known.get_provider().stream(request)]
            assert (events[-1].provider, events[-1].tool_calls) == ("offline", ())


async def test_who_did_not_change_keeps_its_connections():
    async with FakeProvider() as server, providers(chat_base_url=server.base_url) as known:
        for model in ("a", "b"):
            await said(known.get_provider("custom"))
            await known.configure({"qwen": Stored(default_model=model)})
        await said(known.get_provider("custom"))
        assert server.connections == 1


async def test_what_was_known_of_another_address_is_forgotten():
    async with (
        FakeProvider() as server,
        providers(
            chat_base_url=server.base_url,
            chat_model="fault:500",
            provider_retries=0,
            breaker_failures=1,
            chat_provider="custom",
        ) as known,
    ):
        with pytest.raises(ProviderDown):
            await said(known.get_provider())
        assert known.health("custom").is_healthy is False
        assert known.health("custom").resting_models == ["fault:500"]
        await known.configure({"custom": Stored(default_model="fine")})
        assert known.health("custom").is_healthy is None
        assert await said(known.get_provider()) == "You said: hi"
        assert known.health("custom").is_healthy is True


async def test_places_are_a_setting():
    """F10"""
    settings = ChatSettings(provider_concurrency="ollama=2, custom=1")
    assert settings.provider_concurrency == {"ollama": 2, "custom": 1}
    with pytest.raises(ValidationError):
        ChatSettings(provider_concurrency="ollama=0")
