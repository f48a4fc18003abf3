"""What a peer's process shares with the one that runs it: JSON lines, and vectors over HTTP. numpy and the standard
library alone, because this is imported in every peer's own environment.

A line in is `{"do": "index", "documents": […]}` or `{"do": "ask", "mode": …, "question": {…}}`; a line out says what
came of it and how long it took, with and without the time in which it waited for vectors. One process knows one
corpus. What a peer prints goes to stderr.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

DIMENSION = 384
DEPTH = 20

Kind = Literal["query", "passage"]
Vectors = npt.NDArray[np.float32]
Document = Mapping[str, Any]
"""`id`, `title`, `text`, `at_ms` or None, and `given`: what was extracted from it, as `bench.peers.given` writes it."""
Question = Mapping[str, Any]
"""`text`, `names` and `words` of it."""


class Peer(Protocol):
    async def index(self, documents: Sequence[Document]) -> None: ...

    async def ask(self, mode: str, question: Question) -> Sequence[str]:
        """Ids of documents, best first, none twice."""
        ...


class Embedder:
    """Vectors of the embedder that all share. `waited` counts the seconds in which at least one call was under way."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._under_way = 0
        self._since = 0.0
        self.waited = 0.0
        self.texts = 0

    async def __call__(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """float32, shape (len(texts), 384), rows of unit norm."""
        if not self._under_way:
            self._since = time.perf_counter()
        self._under_way += 1
        self.texts += len(texts)
        try:
            body = json.dumps({"texts": list(texts), "kind": kind}).encode()
            told = await asyncio.to_thread(self._post, body)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self.waited += time.perf_counter() - self._since
        return np.frombuffer(told, np.float32).reshape(len(texts), DIMENSION).copy()

    def _post(self, body: bytes) -> bytes:
        asked = urllib.request.Request(self._address, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=600) as answer:
            return bytes(answer.read())


def folder() -> Path:
    """Where this process may keep what it likes; empty at first."""
    return Path(os.environ["PEER_FOLDER"])


def serve(make: type[Any]) -> None:
    """Answer the lines on stdin with a peer that is made of an Embedder, until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asyncio.run(_serve(make, answers))
    answers.flush()
    os._exit(0)  # some peers keep threads that never end


def _peak_megabytes() -> float:
    """Of this program alone: getrusage also counts the process that started it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


async def _serve(make: type[Any], answers: Any) -> None:
    embedder = Embedder(os.environ["PEER_EMBEDDER"])
    peer: Peer = make(embedder)
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        waited, texts = embedder.waited, embedder.texts
        began = time.perf_counter()
        told: dict[str, Any] = {}
        if order["do"] == "index":
            await peer.index(order["documents"])
        else:
            told["ranking"] = list(dict.fromkeys(await peer.ask(order["mode"], order["question"])))[:DEPTH]
        told["seconds"] = time.perf_counter() - began
        told["waited"] = embedder.waited - waited
        told["texts"] = embedder.texts - texts
        told["megabytes"] = _peak_megabytes()
        answers.write(json.dumps(told) + "\n")
        answers.flush()
