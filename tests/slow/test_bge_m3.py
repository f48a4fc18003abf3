"""BGE-M3's real code path on a checkpoint of its shape that is built here: one layer, 400 pieces, random weights.

Needs the extra (`pip install 'mindcone[bge]'`), which has a virtual environment of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers

from app.core.errors import ConfigurationError
from app.providers.embedding import build
from app.providers.embedding.bge_m3 import MAX_WEIGHTS, BgeM3
from app.providers.ports import DimensionMismatch, ProviderDown
from app.providers.settings import EmbedderSettings

FlagEmbedding = pytest.importorskip(
    "FlagEmbedding", reason="BGE-M3 IS NOT TESTED HERE: pip install 'mindcone[bge]' (torch, 1.7 GB) first"
)
import torch  # noqa: E402 - comes with the extra
import transformers  # noqa: E402

pytestmark = pytest.mark.slow

HIDDEN = 32
WINDOW = 64
TEXTS = [
    "the pool of connections is empty",
    "连接池耗尽，返回 503",
    "a",
    "mixed 中文 and English " * 3,
    "twice twice twice",
    "",
]


def pieces() -> list[tuple[str, float]]:
    """Markers in XLM-RoBERTa's order, then single characters, then pairs of letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    characters = [*"▁连接池耗尽返回中文，0123456789.<>/", *letters, *letters.upper()]
    words = ["▁the", "▁pool", "▁of", "▁connections", "▁twice", "▁mixed"]
    pairs = [a + b for a in letters for b in letters]
    found = [(text, -4.0 - at / 100) for at, text in enumerate([*characters, *words, *pairs])]
    return [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *found[:395], ("<mask>", 0.0)]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("bge") / "tiny-bge-m3"
    vocabulary = pieces()
    unigram = tokenizers.Tokenizer(tokenizers.models.Unigram(vocabulary, unk_id=3, byte_fallback=False))
    unigram.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    unigram.decoder = tokenizers.decoders.Metaspace()
    unigram.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=unigram,
        bos_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        cls_token="<s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token="<mask>",
        model_max_length=WINDOW,
    )
    fast.save_pretrained(directory)
    torch.manual_seed(7)
    config = transformers.XLMRobertaConfig(
        vocab_size=len(vocabulary),
        hidden_size=HIDDEN,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=WINDOW + 2,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    transformers.XLMRobertaModel(config).save_pretrained(directory)
    for name, outputs in (("sparse_linear", 1), ("colbert_linear", HIDDEN)):
        torch.save(torch.nn.Linear(HIDDEN, outputs).state_dict(), directory / f"{name}.pt")
    return directory


def settings(checkpoint: Path, **changes: Any) -> EmbedderSettings:
    return EmbedderSettings(**{"embedder": "bge-m3", "embedder_model": str(checkpoint)} | changes)


@pytest.fixture
async def embedder(checkpoint: Path) -> AsyncIterator[BgeM3]:
    embedder = BgeM3(settings(checkpoint))
    await embedder.open()
    yield embedder
    await embedder.close()


async def test_same_as_flag_embedding_itself(embedder: BgeM3, checkpoint: Path):
    model = FlagEmbedding.BGEM3FlagModel(str(checkpoint), use_fp16=False, devices="cpu")
    expected = model.encode(TEXTS, batch_size=2, max_length=WINDOW, return_dense=True, return_sparse=True)
    result = await embedder.passages(TEXTS)
    assert result.dense.dtype == np.float32
    assert np.allclose(result.dense, expected["dense_vecs"], atol=1e-5)
    assert np.allclose(np.linalg.norm(result.dense, axis=1), 1, atol=1e-5)
    assert result.sparse is not None
    for own, theirs in zip(result.sparse, expected["lexical_weights"], strict=True):
        assert own == pytest.approx({int(token): float(weight) for token, weight in theirs.items()}, abs=1e-5)
    assert sum(map(len, result.sparse)) > 10  # the random head is not silent
    assert not result.truncated


async def test_what_it_is_comes_from_the_model(embedder: BgeM3):
    """H1: no dimension is assumed."""
    assert embedder.space.key == f"bge-m3/tiny-bge-m3/{HIDDEN}"
    assert embedder.space.sparse
    assert embedder.space.sparse_dimension == 400
    assert embedder.max_tokens == WINDOW - 2


async def test_neighbours_do_not_matter(embedder: BgeM3):
    together = await embedder.passages(TEXTS)
    for at, text in enumerate(TEXTS):
        alone = await embedder.queries([text])
        assert np.allclose(alone.dense[0], together.dense[at], atol=1e-5)
        assert alone.sparse is not None
        assert together.sparse is not None
        assert alone.sparse[0] == pytest.approx(together.sparse[at], abs=1e-5)


async def test_too_long_texts_are_cut_and_reported(embedder: BgeM3, checkpoint: Path):
    """J8."""
    longest, longer = " ".join(["the"] * embedder.max_tokens), " ".join(["the"] * (embedder.max_tokens + 1))
    assert embedder.count_tokens(longest) == embedder.max_tokens
    result = await embedder.passages([longer, longest, "the"])
    assert result.truncated == {0}
    assert np.allclose(result.dense[0], result.dense[1], atol=1e-5)
    model = FlagEmbedding.BGEM3FlagModel(str(checkpoint), use_fp16=False, devices="cpu")
    assert np.allclose(model.encode([longer], max_length=WINDOW)["dense_vecs"], result.dense[:1], atol=1e-5)


async def test_markers_and_unstorable_characters_are_text(embedder: BgeM3):
    for marker in ("<s>", "</s>", "<mask>", "＜s＞"):
        assert embedder.count_tokens(marker) >= 3
    assert embedder.count_tokens("a\x00\ud83db") == embedder.count_tokens("ab")
    result = await embedder.passages(["<s> </s> <mask>"])
    assert result.sparse is not None
    assert not {0, 1, 2, 3} & set(result.sparse[0])
    assert 0 < len(result.sparse[0]) <= MAX_WEIGHTS
    assert (await embedder.passages([])).dense.shape == (0, HIDDEN)


async def test_prefixes(checkpoint: Path, embedder: BgeM3):
    prefixed = BgeM3(settings(checkpoint, embedder_query_prefix="the ", embedder_passage_prefix="of the "))
    await prefixed.open()
    try:
        assert prefixed.max_tokens < embedder.max_tokens
        plain = await embedder.passages(["the pool", "of the pool"])
        assert np.allclose((await prefixed.queries(["pool"])).dense[0], plain.dense[0], atol=1e-5)
        assert np.allclose((await prefixed.passages(["pool"])).dense[0], plain.dense[1], atol=1e-5)
    finally:
        await prefixed.close()


async def test_batches_are_small_on_a_processor(embedder: BgeM3):
    assert embedder._batches([3, 9, 5, 7, 1]) == [[1, 3, 2, 0], [4]]
    few = BgeM3(EmbedderSettings(embedder="bge-m3", embedder_batch_tokens=12))
    assert few._batches([6, 5, 20, 4, 4, 4]) == [[2], [0, 1], [3, 4, 5]]


async def test_the_loop_goes_on_and_close_joins(checkpoint: Path):
    """E17."""
    embedder = build(settings(checkpoint), checkpoint)
    await embedder.open()
    task = asyncio.create_task(embedder.passages(TEXTS * 50))
    turns = 0
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 100
    await embedder.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("bge-m3-")]
    with pytest.raises(ProviderDown):
        await embedder.passages(["a"])


async def test_wrong_dimension_is_said_at_the_start(checkpoint: Path):
    """H1."""
    with pytest.raises(DimensionMismatch, match=r"32.*1024"):
        await BgeM3(settings(checkpoint, embedder_dimension=1024)).open()
    agreeing = BgeM3(settings(checkpoint, embedder_dimension=HIDDEN))
    await agreeing.open()
    await agreeing.close()


async def test_a_model_without_its_heads_is_refused(checkpoint: Path, tmp_path: Path):
    """FlagEmbedding would go on with random heads."""
    for file in checkpoint.iterdir():  # noqa: ASYNC240 - small files of a test
        if file.name != "sparse_linear.pt":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(ConfigurationError, match=r"sparse_linear\.pt"):
        await BgeM3(settings(tmp_path)).open()
    (tmp_path / "sparse_linear.pt").write_bytes((checkpoint / "sparse_linear.pt").read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        await BgeM3(settings(tmp_path)).open()


async def test_nothing_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """M10: a model that is not here is a clear error, not a call to the network."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ConfigurationError, match="hf download BAAI/bge-m3"):
        await BgeM3(EmbedderSettings(embedder="bge-m3")).open()
