"""Keeps the converted model in the data directory: built once, checked, and shared by all processes.

`models/multilingual-e5-small-<fingerprint>/` appears complete or not at all; whoever finds it need not
lock. Knows nothing of threads or of the event loop: everything here blocks.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from app.core import log
from app.providers.embedding import e5_bin
from app.providers.embedding.e5_c import E5C
from app.providers.embedding.e5_onnx import GRAPH_FILE, TOKENIZER_FILE, VERSION, E5Onnx
from app.providers.embedding.e5_text import write_tokenizer

NAME: Final = "multilingual-e5-small"
CONVERTER_VERSION: Final = 1
MIN_COSINE: Final = 0.99
_MANIFEST: Final = "manifest.json"
_SAMPLES: Final = (
    "how much protein does a person need per day?",
    "PostgreSQL runs out of connections when every request opens a second session.",
    "蛋白质每天需要多少克？",
    "数据库连接池在高并发下会耗尽，此时应返回 503 并附带 Retry-After。",
    "会议纪要：2024年3月5日，讨论了 HNSW 索引的参数。\n\n- 结论一\n- 结论二 😀",
    "A",
)


class ConversionRejected(Exception):
    """The converted model does not give the vectors that its source gives."""


def ensure(data_dir: Path) -> Path:
    """The directory with graph and tokenizer, converted now if need be (some seconds).

    Raises ConversionRejected when the result was measured and is too far from the source; that is
    remembered, not tried again.
    """
    source = e5_bin.locate()
    identity = {"converter": CONVERTER_VERSION, "source_sha256": _sha256(source), "onnxruntime": VERSION}
    fingerprint = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
    models = data_dir / "models"
    target = models / f"{NAME}-{fingerprint}"
    if not _intact(target, identity):
        models.mkdir(parents=True, exist_ok=True)
        with _locked(models / f".{NAME}.lock"):
            if not _intact(target, identity):
                _replace(target, source, identity)
    if not json.loads((target / _MANIFEST).read_text())["accepted"]:
        raise ConversionRejected
    return target


def _replace(target: Path, source: Path, identity: dict[str, Any]) -> None:
    models = target.parent
    # Whatever lies here under our name is broken, of another version, or was left by a killed process.
    for stale in (*models.glob(f"{NAME}-*"), *models.glob(f".{NAME}-*")):
        shutil.rmtree(stale)
    build = Path(tempfile.mkdtemp(prefix=f".{NAME}-", dir=models))
    try:
        _convert(source, build)
        cosine = _lowest_cosine(build, source)
        manifest = {
            **identity,
            "accepted": cosine >= MIN_COSINE,
            "lowest_cosine": round(cosine, 5),
            "files": {name: _sha256(build / name) for name in (GRAPH_FILE, TOKENIZER_FILE)},
        }
        (build / _MANIFEST).write_text(json.dumps(manifest, indent=2))
        build.rename(target)
    except BaseException:
        shutil.rmtree(build, ignore_errors=True)
        raise
    log.get(__name__).info("embedder_converted", model=NAME, lowest_cosine=manifest["lowest_cosine"])


def _convert(source: Path, build: Path) -> None:
    from app.providers.embedding import e5_graph  # onnx is needed this once only

    weights = e5_bin.read(source)
    (build / GRAPH_FILE).write_bytes(e5_graph.build(weights).SerializeToString())
    write_tokenizer(build / TOKENIZER_FILE, weights.pieces, weights.unk)


def _lowest_cosine(build: Path, source: Path) -> float:
    converted, original = E5Onnx(build, source), E5C()
    original.prepare_thread()
    return min(
        float(converted.embed(text, is_query)[0] @ original.embed(text, is_query)[0])
        for text in _SAMPLES
        for is_query in (False, True)
    )


def _intact(target: Path, identity: dict[str, Any]) -> bool:
    try:
        manifest = json.loads((target / _MANIFEST).read_text())
        return identity.items() <= manifest.items() and all(
            _sha256(target / name) == digest for name, digest in manifest["files"].items()
        )
    except (OSError, ValueError, KeyError, AttributeError):
        return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait for other processes; the kernel frees the lock of one that dies."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
