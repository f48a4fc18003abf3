"""Clients that vanish: their queries end, their model calls end, what was said so far is kept.

    python -m bench.chaos.disconnects [--clients 100] [--data-dir DIR]

Three kinds at once, on a real instance with a chat provider that falls silent in the middle: clients of
`/ask` and of a conversation's turn that read some tokens and then drop the connection, and clients of
`/search` that drop it while the question is being worked on. Then 2 seconds pass.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from app.core import loop
from app.providers.fake import FakeProvider
from bench.chaos.instance import Instance, running, verdict
from bench.chaos.searches import fill, sentence

SETTLE_SECONDS = 2.0
SAID = "The kettle stands in the kitchen beside the window and nobody has used it for years."
ACTIVE = (
    "SELECT pid, application_name, state, left(query, 120) AS query FROM pg_stat_activity "
    "WHERE backend_type = 'client backend' AND application_name <> 'chaos' AND state <> 'idle'"
)


async def vanish(url: str, path: str, body: dict[str, object], until: bytes | None, seconds: float) -> bytes:
    """Send a request, read until these bytes have come (or a while has passed), and drop the connection."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    raw = json.dumps(body).encode()
    headers = f"Host: {parts.netloc}\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}"
    writer.write(f"POST {path} HTTP/1.1\r\n{headers}\r\n\r\n".encode() + raw)
    await writer.drain()
    got = b""
    try:
        async with asyncio.timeout(seconds):
            while until is None or until not in got:
                piece = await reader.read(4096)
                if not piece:
                    break
                got += piece
    except TimeoutError:
        pass
    writer.transport.abort()
    return got


async def scatter(instance: Instance, client: httpx.AsyncClient, clients: int, rng: random.Random) -> Counter[str]:
    """Everybody comes and goes; how many of each kind left in the middle of something."""
    left: Counter[str] = Counter()

    async def one(kind: str) -> None:
        query = sentence(rng)
        if kind == "search":
            long = " ".join(sentence(rng) for _ in range(300))
            await vanish(instance.url, "/api/v1/search", {"query": long, "level": "search"}, None, rng.uniform(0, 0.1))
            left[kind] += 1
            return
        path, body = "/api/v1/ask", {"query": query, "level": "search", "stream": True}
        if kind == "turn":
            made = (await client.post("/api/v1/conversations")).raise_for_status().json()
            path, body = (
                f"/api/v1/conversations/{made['id']}/turns",
                {"content": query, "level": "search", "stream": True},
            )
        got = await vanish(instance.url, path, body, b"event: token", 60)
        left[kind] += b"event: token" in got and b"event: finished" not in got

    kinds = [("ask", "turn", "search")[n % 3] for n in range(clients)]
    await asyncio.gather(*map(one, kinds))
    return left


async def run(clients: int, seed: int, data_dir: Path | None, **environment: str) -> list[str]:
    """What was violated."""
    rng = random.Random(seed)
    async with FakeProvider(answer=lambda _: SAID) as provider:
        chosen = {
            "MINDCONE_CHAT_PROVIDER": "custom",
            "MINDCONE_CHAT_BASE_URL": provider.base_url,
            "MINDCONE_CHAT_MODEL": "fault:stall,after=8,seconds=60",
            "MINDCONE_TURN_DETACHED_SECONDS": "1",
        }
        async with (
            running(data_dir, **environment, **chosen) as instance,
            httpx.AsyncClient(base_url=instance.url, timeout=60, limits=httpx.Limits(max_connections=50)) as client,
        ):
            await fill(instance, client, 300, rng)
            left = await scatter(instance, client, clients, rng)
            await asyncio.sleep(SETTLE_SECONDS)
            active = [dict(row) for row in await instance.sql(ACTIVE)]
            open_calls = sum(exchange.outcome == "open" for exchange in provider.exchanges)
            messages = await instance.sql("SELECT status, content FROM messages WHERE role = 'assistant'")
            questions = await instance.sql("SELECT count(*) AS n FROM messages WHERE role = 'user'")
            healthy = (await client.post("/api/v1/search", json={"query": "river", "level": "search"})).status_code
    kept = sum(row["status"] == "interrupted" and len(row["content"]) > 0 for row in messages)
    print(
        f"{sum(left.values())} clients left in the middle {dict(left)}; after {SETTLE_SECONDS:.0f} s: "
        f"{len(active)} active queries, {open_calls} open model calls; {kept} of {len(messages)} partial answers kept, "
        f"{questions[0]['n']} questions kept"
    )
    turns = sum(n % 3 == 1 for n in range(clients))
    violations = [f"still active: {row}" for row in active]
    if sum(left.values()) < clients:
        violations.append(f"only {sum(left.values())} of {clients} clients were in the middle of something")
    if open_calls:
        violations.append(f"{open_calls} calls of the model go on for nobody")
    if kept < turns or len(messages) != turns or questions[0]["n"] != turns:
        violations.append(f"{kept} of {turns} partial answers and {questions[0]['n']} questions were kept")
    if healthy != 200:
        violations.append(f"afterwards a search gets {healthy}")
    if "Traceback" in instance.log:
        violations.append(f"the log has a traceback:\n{instance.log[-3000:]}")
    return violations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data-dir", type=Path)
    arguments = parser.parse_args()
    verdict(loop.run(run(arguments.clients, arguments.seed, arguments.data_dir)))


if __name__ == "__main__":
    main()
