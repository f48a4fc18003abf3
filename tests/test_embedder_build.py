"""Which embedder the settings name, and the memory of recent questions around it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from app.core.errors import ConfigurationError
from app.providers.embedding import MAX_DIMENSION, build
from app.providers.embedding.bge_m3 import MAX_WEIGHTS, lexical_weights
from app.providers.embedding.e5 import E5Embedder
from app.providers.embedding.query_cache import QueryCache
from app.providers.ports import Embeddings, EmbeddingSpace, ProviderDown
from app.providers.settings import EmbedderSettings


def test_default_is_the_embedded_model(tmp_path: Path):
    embedder = build(EmbedderSettings(), tmp_path)
    assert embedder.space.key == "embedded/multilingual-e5-small/384"
    assert list(tmp_path.iterdir()) == []
    assert isinstance(build(EmbedderSettings(embedder_query_cache=0), tmp_path), E5Embedder)
    assert build(EmbedderSettings(embedder_model="multilingual-e5-small", embedder_dimension=384), tmp_path)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"embedder_model": "gpt"}, "EMBEDDER_MODEL"),
        ({"embedder_dimension": 1536}, "EMBEDDER_DIMENSION"),
        ({"embedder_dimension": MAX_DIMENSION + 1}, "EMBEDDER_DIMENSION"),
        ({"embedder_base_url": "http://127.0.0.1:1"}, "EMBEDDER_BASE_URL"),
        ({"embedder_api_key": "secret"}, "EMBEDDER_API_KEY"),
        ({"embedder_send_dimension": True}, "EMBEDDER_SEND_DIMENSION"),
        ({"embedder_query_prefix": "q: "}, "EMBEDDER_QUERY_PREFIX"),
        ({"embedder_passage_prefix": "p: "}, "EMBEDDER_PASSAGE_PREFIX"),
        ({"embedder_device": "cuda:0"}, "EMBEDDER_DEVICE"),
        ({"embedder": "openai"}, "EMBEDDER_BASE_URL"),
        ({"embedder": "openai", "embedder_device": "mps"}, "EMBEDDER_DEVICE"),
        ({"embedder": "bge-m3", "embedder_base_url": "http://127.0.0.1:1"}, "EMBEDDER_BASE_URL"),
    ],
)
def test_what_does_not_fit_is_named(values: dict[str, Any], named: str, tmp_path: Path):
    """H1, H5, F10: a setting is obeyed or refused, never ignored."""
    with pytest.raises(ConfigurationError) as caught:
        build(EmbedderSettings(**values), tmp_path)
    assert f"MINDCONE_{named}" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "values", [{"embedder": "bert"}, {"embedder_threads": 0}, {"embedder_dimension": 0}, {"embedder_batch_count": 0}]
)
def test_what_makes_no_sense_is_refused(values: dict[str, Any]):
    with pytest.raises(ValidationError):
        EmbedderSettings(**values)


def test_a_missing_extra_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "FlagEmbedding" else find_spec(name, *rest)
    )
    with pytest.raises(ConfigurationError, match=r"pip install 'mindcone\[bge\]'"):
        build(EmbedderSettings(embedder="bge-m3"), tmp_path)


def test_lexical_weights_keep_the_largest_of_each_token_and_of_all():
    ids = np.array([5, 7, 5, 9, 11])
    weights = np.array([0.1, 0.5, 0.3, 0.0, -1.0], np.float32)
    assert lexical_weights(ids, weights) == {7: pytest.approx(0.5), 5: pytest.approx(0.3)}
    many = lexical_weights(np.arange(3000), np.linspace(0.001, 1, 3000, dtype=np.float32))
    assert set(many) == set(range(3000 - MAX_WEIGHTS, 3000))


class Counting:
    """An embedder that counts, and says what it was asked."""

    def __init__(self, sparse: bool = False) -> None:
        self.asked: list[str] = []
        self.space = EmbeddingSpace("test", "counting", 2, sparse=sparse)
        self.max_tokens = 10
        self.open_count = self.close_count = 0

    def count_tokens(self, text: str) -> int:
        return len(text)

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        if "fail" in texts:
            raise ProviderDown
        self.asked += texts
        return Embeddings(
            np.array([[len(text), len(self.asked)] for text in texts], np.float32),
            [{len(text): 1.0} for text in texts] if self.space.sparse else None,
            frozenset(at for at, text in enumerate(texts) if len(text) > self.max_tokens),
        )

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        return await self.queries([f"passage {text}" for text in texts])

    async def open(self) -> None:
        self.open_count += 1

    async def close(self) -> None:
        self.close_count += 1


async def test_recent_questions_are_remembered():
    inner = Counting()
    cache = QueryCache(inner, 3)
    await cache.open()
    first = await cache.queries(["a", "bb", "a", "longer than ten"])
    assert inner.asked == ["a", "bb", "longer than ten"]
    assert first.truncated == {3}
    again = await cache.queries(["longer than ten", "a"])
    assert np.array_equal(again.dense, first.dense[[3, 0]])
    assert again.truncated == {0}
    assert len(inner.asked) == 3
    await cache.queries(["d"])  # "bb" was used longest ago
    await cache.queries(["a", "longer than ten", "d"])
    assert len(inner.asked) == 4
    await cache.queries(["bb"])
    assert inner.asked[4:] == ["bb"]
    first.dense[:] = 0
    assert (await cache.queries(["bb"])).dense[0, 0] == 2
    assert (await cache.queries([])).dense.shape == (0, 2)
    await cache.close()
    await cache.queries(["a"])
    assert len(inner.asked) == 6
    assert (inner.open_count, inner.close_count, cache.count_tokens("abc"), cache.max_tokens) == (1, 1, 3, 10)


async def test_failures_and_passages_are_not_remembered():
    inner = Counting()
    cache = QueryCache(inner, 3)
    for _ in range(2):
        with pytest.raises(ProviderDown):
            await cache.queries(["fail"])
        await cache.passages(["a"])
    assert inner.asked == ["passage a", "passage a"]


async def test_memory_knows_the_space():
    """H7: another space never gets the vectors of this one."""
    inner = Counting(sparse=True)
    cache = QueryCache(inner, 3)
    first = await cache.queries(["abc"])
    assert first.sparse == [{3: 1.0}]
    assert (await cache.queries(["abc"])).sparse == [{3: 1.0}]
    assert len(inner.asked) == 1
    inner.space = EmbeddingSpace("test", "other", 2, sparse=True)
    await cache.queries(["abc"])
    assert len(inner.asked) == 2
