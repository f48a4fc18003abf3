"""The product's embedder as a small HTTP endpoint on loopback, so that peers need no model of their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import numpy as np
import uvicorn
from fastapi import FastAPI, Response
from pydantic import BaseModel

from app.providers.ports import Embedder, Vector
from bench.peers.talk import Kind

REMEMBERED: Final = 100_000


class Asked(BaseModel):
    texts: list[str]
    kind: Kind


@asynccontextmanager
async def serving(embedder: Embedder) -> AsyncIterator[str]:
    """The address. A question is embedded once, however many modes and peers ask it; passages every time."""
    app = FastAPI(openapi_url=None)
    known: dict[str, Vector] = {}

    @app.post("/vectors")
    async def vectors(asked: Asked) -> Response:
        if asked.kind == "passage":
            dense = (await embedder.passages(asked.texts)).dense
        else:
            fresh = list(dict.fromkeys(text for text in asked.texts if text not in known))
            if fresh and len(known) < REMEMBERED:
                known.update(zip(fresh, (await embedder.queries(fresh)).dense, strict=True))
            dense = np.stack([known[text] for text in asked.texts])
        return Response(np.ascontiguousarray(dense, np.float32).tobytes(), media_type="application/octet-stream")

    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", access_log=False))
    running = asyncio.create_task(server.serve())
    try:
        while not server.started:
            if running.done():
                await running
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/vectors"
    finally:
        server.should_exit = True
        await running
