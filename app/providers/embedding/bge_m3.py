"""BGE-M3 through FlagEmbedding, the only file that imports it: dense vectors and lexical weights.

Nothing is downloaded: the model must be in the cache or in a directory. Knows nothing of how vectors are stored,
except that pgvector's HNSW takes sparse vectors of at most 1,000 weights.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from app.core.errors import ConfigurationError
from app.providers.embedding.lanes import Lanes
from app.providers.embedding.storable import spelt_out, storable
from app.providers.ports import (
    DimensionMismatch,
    Embeddings,
    EmbeddingSpace,
    ProviderDown,
    ProviderError,
    ProviderGarbled,
    Vector,
)
from app.providers.settings import EmbedderSettings

DEFAULT_MODEL: Final = "BAAI/bge-m3"
MAX_WEIGHTS: Final = 1000
"""Of a text's lexical weights the largest are kept: pgvector's HNSW index takes no more of them."""
_CPU_BATCH: Final = 4
_INSTALL: Final = "pip install 'mindcone[bge]'"
# FlagEmbedding loads the two heads together, and invents random ones where a file is missing.
_NEEDED_FILES: Final = ("config.json", "sparse_linear.pt", "colbert_linear.pt")

Weights = Mapping[int, float]
_Ids = Sequence[int]


@dataclass(frozen=True, slots=True)
class _Result:
    dense: Vector
    sparse: Weights


class BgeM3:
    """An `Embedder`. `space`, `max_tokens` and `count_tokens` are known once it is open."""

    def __init__(self, settings: EmbedderSettings) -> None:
        """Raises ConfigurationError when the extra is not installed."""
        if importlib.util.find_spec("FlagEmbedding") is None:
            raise ConfigurationError(f"MINDCONE_EMBEDDER=bge-m3 needs an extra: {_INSTALL}")
        self._settings = settings
        self._name = settings.embedder_model or DEFAULT_MODEL
        self._query_prefix = settings.embedder_query_prefix or ""
        self._passage_prefix = settings.embedder_passage_prefix or ""
        on_cpu = settings.embedder_device == "cpu"
        self._batch_count = min(settings.embedder_batch_count, _CPU_BATCH) if on_cpu else settings.embedder_batch_count
        self._loaded: _Loaded | None = None
        self._lanes: Lanes[Sequence[_Ids], list[_Result]] | None = None

    @property
    def space(self) -> EmbeddingSpace:
        loaded = self._opened()
        return EmbeddingSpace(
            provider="bge-m3",
            model=Path(self._name).name,
            dimension=loaded.dimension,
            sparse=True,
            sparse_dimension=loaded.vocabulary,
        )

    @property
    def max_tokens(self) -> int:
        loaded = self._opened()
        return loaded.room - max(len(loaded.ids(prefix)) for prefix in (self._query_prefix, self._passage_prefix))

    def count_tokens(self, text: str) -> int:
        return len(self._opened().ids(text))

    async def passages(self, texts: Sequence[str]) -> Embeddings:
        return await self._embed([self._passage_prefix + text for text in texts], urgent=False)

    async def queries(self, texts: Sequence[str]) -> Embeddings:
        return await self._embed([self._query_prefix + text for text in texts], urgent=True)

    async def open(self) -> None:
        """Raises ConfigurationError, and DimensionMismatch when another dimension is configured."""
        loaded = await asyncio.to_thread(_Loaded, self._name, self._settings.embedder_device)
        expected = self._settings.embedder_dimension
        if expected is not None and expected != loaded.dimension:
            raise DimensionMismatch(
                f"{self._name} gives vectors of {loaded.dimension} dimensions; configured are {expected}.",
                expected=expected,
                got=loaded.dimension,
            )
        threads = self._settings.embedder_threads
        # One lane: torch itself spreads a batch over threads.
        self._lanes = Lanes(loaded.encode, 1, "bge-m3", prepare=lambda: loaded.torch.set_num_threads(threads))
        self._lanes.open()
        self._loaded = loaded

    async def close(self) -> None:
        if self._lanes is not None:
            await asyncio.to_thread(self._lanes.close)
        self._lanes = self._loaded = None

    async def _embed(self, texts: Sequence[str], *, urgent: bool) -> Embeddings:
        loaded = self._opened()
        assert self._lanes is not None
        ids = await asyncio.to_thread(lambda: [loaded.ids(text) for text in texts])
        batches = self._batches([min(len(own), loaded.room) for own in ids])
        try:
            computed = await self._lanes.run(
                [[ids[at][: loaded.room] for at in batch] for batch in batches], urgent=urgent
            )
        except ProviderError:
            raise
        except Exception as error:
            raise ProviderDown("The embedding model failed.") from error
        dense = np.empty((len(texts), loaded.dimension), np.float32)
        sparse: list[Weights] = [{} for _ in texts]
        for batch, results in zip(batches, computed, strict=True):
            for at, result in zip(batch, results, strict=True):
                dense[at], sparse[at] = result.dense, result.sparse
        return Embeddings(
            dense=dense,
            sparse=sparse,
            truncated=frozenset(at for at, own in enumerate(ids) if len(own) > loaded.room),
        )

    def _batches(self, lengths: Sequence[int]) -> list[list[int]]:
        """Positions by length, longest first, so that a batch has little padding."""
        batches: list[list[int]] = []
        for at in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
            padded = lengths[batches[-1][0]] * (len(batches[-1]) + 1) if batches else 0
            if batches and len(batches[-1]) < self._batch_count and padded <= self._settings.embedder_batch_tokens:
                batches[-1].append(at)
            else:
                batches.append([at])
        return batches

    def _opened(self) -> _Loaded:
        if self._loaded is None:
            raise ProviderDown("The embedder is not open.")
        return self._loaded


class _Loaded:
    """The model in memory. Blocking; `encode` is for one thread, `ids` for any."""

    def __init__(self, name: str, device: str) -> None:
        try:
            flag_embedding = importlib.import_module("FlagEmbedding")
            self.torch: Any = importlib.import_module("torch")
        except ImportError as error:
            raise ConfigurationError(f"FlagEmbedding cannot be imported; its versions matter: {_INSTALL}") from error
        directory = _find(name)
        try:
            flag = flag_embedding.BGEM3FlagModel(str(directory), use_fp16=device != "cpu", devices=device)
        except Exception as error:  # torch, transformers and safetensors each have their own
            raise ConfigurationError(f"The model {name} cannot be loaded.") from error
        self._device = device
        self._model = flag.model.to(device).eval()
        config = flag.model.config
        self.dimension: int = config.hidden_size
        self.vocabulary: int = config.vocab_size
        tokenizer = flag.tokenizer
        self._start: int = tokenizer.cls_token_id
        self._end: int = tokenizer.sep_token_id
        self._pad: int = tokenizer.pad_token_id
        self._markers = np.array([self._start, self._end, self._pad, tokenizer.eos_token_id, tokenizer.unk_token_id])
        # XLM-RoBERTa numbers positions from behind the padding's id.
        self.room: int = config.max_position_embeddings - self._pad - 1 - 2
        self._tokenizer = tokenizer.backend_tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def ids(self, text: str) -> _Ids:
        """Tokens without markers."""
        ids: list[int] = self._tokenizer.encode(spelt_out(storable(text)), add_special_tokens=False).ids
        return ids

    def encode(self, batch: Sequence[_Ids]) -> list[_Result]:
        """One pass. FlagEmbedding's own `encode` would compute the first batch twice, to try its size."""
        width = max(map(len, batch)) + 2
        ids = np.full((len(batch), width), self._pad, np.int64)
        mask = np.zeros((len(batch), width), np.int64)
        for row, own in enumerate(batch):
            ids[row, : len(own) + 2] = [self._start, *own, self._end]
            mask[row, : len(own) + 2] = 1
        tensors = {"input_ids": self.torch.from_numpy(ids), "attention_mask": self.torch.from_numpy(mask)}
        with self.torch.inference_mode():
            output = self._model(
                {name: tensor.to(self._device) for name, tensor in tensors.items()},
                return_dense=True,
                return_sparse=True,
            )
        dense: Vector = output["dense_vecs"].float().cpu().numpy()
        weights: Vector = output["sparse_vecs"].squeeze(-1).float().cpu().numpy()
        if not (np.isfinite(dense).all() and np.isfinite(weights).all()):
            raise ProviderGarbled("The embedding model gave numbers that are none.")
        weights = np.where(np.isin(ids, self._markers), 0.0, weights)
        return [_Result(dense[row], lexical_weights(ids[row], weights[row])) for row in range(len(batch))]


def lexical_weights(ids: npt.NDArray[np.int64], weights: Vector) -> Weights:
    """The largest weight of each token where it is positive, at most `MAX_WEIGHTS`, by descending weight."""
    found: dict[int, float] = {}
    for at in np.argsort(-weights, kind="stable"):
        if weights[at] <= 0 or len(found) == MAX_WEIGHTS:
            break
        found.setdefault(int(ids[at]), float(weights[at]))
    return found


def _find(name: str) -> Path:
    """The directory of a model that is given by directory, or by name and was downloaded before."""
    directory = Path(name)
    if not directory.is_dir():
        hub = importlib.import_module("huggingface_hub")
        try:
            directory = Path(hub.snapshot_download(name, local_files_only=True))
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"The model {name} is not on this machine. Download it once with `hf download {name}`, or set "
                "MINDCONE_EMBEDDER_MODEL to its directory."
            ) from error
    missing = [file for file in _NEEDED_FILES if not (directory / file).is_file()]
    if missing:
        raise ConfigurationError(f"The model {name} lacks {', '.join(missing)}.")
    return directory
