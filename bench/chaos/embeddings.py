"""A server of embeddings that costs nothing: OpenAI's `/v1/embeddings`, a vector from each text's hash."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

DIMENSION = 32
MODEL = "hash"


def vector(text: str) -> list[float]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    drawn = np.random.default_rng(seed).normal(size=DIMENSION)
    return [float(value) for value in drawn / np.linalg.norm(drawn)]


@asynccontextmanager
async def serving(seconds_per_call: float = 0.0) -> AsyncIterator[dict[str, str]]:
    """The environment that makes a MindCone use it. Every call takes a while, so that something can interrupt it."""

    async def embeddings(request: Request) -> JSONResponse:
        body: dict[str, Any] = await request.json()
        await asyncio.sleep(seconds_per_call)
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        data = [{"object": "embedding", "index": n, "embedding": vector(text)} for n, text in enumerate(texts)]
        return JSONResponse(
            {"object": "list", "model": body["model"], "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        )

    app = Starlette(routes=[Route("/v1/embeddings", embeddings, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110  (uvicorn tells nobody when it is ready)
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield {
            "MINDCONE_EMBEDDER": "openai",
            "MINDCONE_EMBEDDER_MODEL": MODEL,
            "MINDCONE_EMBEDDER_DIMENSION": str(DIMENSION),
            "MINDCONE_EMBEDDER_BASE_URL": f"http://127.0.0.1:{port}/v1",
        }
    finally:
        server.should_exit = True
        await task
