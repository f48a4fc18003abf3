"""Many searches at once on a real instance: never a 500; when connections run out, 503 with Retry-After.

    python -m bench.chaos.searches [--clients 200] [--rounds 5] [--data-dir DIR]

Twice: with the settings as they come, and with a single connection that is waited for 50 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections import Counter
from pathlib import Path

import httpx
import numpy as np

from app.core import loop
from bench.chaos.instance import Instance, running, verdict

WORDS = [
    "river",
    "harbour",
    "lantern",
    "copper",
    "violin",
    "kettle",
    "signal",
    "地图",
    "天气",
    "数据库",
    "咖啡",
    "火车",
]

SCARCE = {
    "MINDCONE_DATABASE_POOL_SIZE": "1",
    "MINDCONE_DATABASE_POOL_OVERFLOW": "0",
    "MINDCONE_DATABASE_POOL_TIMEOUT_SECONDS": "0.05",
}


def sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=6)) + "."


async def fill(instance: Instance, client: httpx.AsyncClient, cards: int, rng: random.Random) -> None:
    items = [{"title": f"Note {n}", "content": f"{sentence(rng)} {sentence(rng)}"} for n in range(cards)]
    (await client.post("/api/v1/cards/bulk", json={"items": items})).raise_for_status()
    await instance.until_learned(client, 300)


async def storm(
    client: httpx.AsyncClient, clients: int, rounds: int, rng: random.Random
) -> list[tuple[float, httpx.Response]]:
    """Seconds and answer of every request; each round's requests are sent at once."""

    async def ask(body: dict[str, object]) -> tuple[float, httpx.Response]:
        started = time.perf_counter()
        answer = await client.post("/api/v1/search", json=body)
        return time.perf_counter() - started, answer

    answers = []
    for _ in range(rounds):
        bodies = [
            {"query": sentence(rng), "level": rng.choice(["search", "auto"]), "limit": rng.choice([5, 50])}
            for _ in range(clients)
        ]
        answers += await asyncio.gather(*map(ask, bodies))
    return answers


async def run(clients: int, rounds: int, seed: int, data_dir: Path | None, **environment: str) -> list[str]:
    """What was violated."""
    violations: list[str] = []
    for name, scarce in (("as it comes", {}), ("one connection", SCARCE)):
        rng = random.Random(seed)
        async with running(data_dir and data_dir / name.replace(" ", "-"), **environment, **scarce) as instance:
            limits = httpx.Limits(max_connections=clients)
            async with httpx.AsyncClient(base_url=instance.url, timeout=120, limits=limits) as client:
                # Filling shares the one connection with the worker's states: it may have to come again.
                await _patiently(instance, client, rng)
                answers = await storm(client, clients, rounds, rng)
                after = await client.post("/api/v1/search", json={"query": "river 地图", "level": "search"})
        statuses = Counter(answer.status_code for _, answer in answers)
        times = [1000 * seconds for seconds, answer in answers if answer.status_code == 200] or [0.0]
        print(
            f"{name}: {len(answers)} searches, {clients} at once, statuses {dict(statuses)}; answered in "
            f"p50 {np.percentile(times, 50):.0f} ms, p95 {np.percentile(times, 95):.0f} ms",
            flush=True,
        )
        violations += _judge(name, answers, after, must_run_out=bool(scarce))
        if "Traceback" in instance.log:
            violations.append(f"{name}: the log has a traceback:\n{instance.log[-2000:]}")
    return violations


def _judge(
    name: str, answers: list[tuple[float, httpx.Response]], after: httpx.Response, *, must_run_out: bool
) -> list[str]:
    violations = []
    for _, answer in answers:
        if answer.status_code == 200 and answer.json()["hits"]:
            continue
        if (
            answer.status_code == 503
            and answer.json()["code"] == "pool_exhausted"
            and answer.headers.get("retry-after")
        ):
            continue
        violations.append(f"{name}: {answer.status_code} {answer.text[:200]}")
    if must_run_out and all(answer.status_code == 200 for _, answer in answers):
        violations.append(f"{name}: the pool was never exhausted, nothing was shown")
    if after.status_code != 200:
        violations.append(f"{name}: afterwards {after.status_code}")
    return violations[:10]


async def _patiently(instance: Instance, client: httpx.AsyncClient, rng: random.Random) -> None:
    for attempt in range(20):
        try:
            await fill(instance, client, 200, rng)
        except httpx.HTTPStatusError as error:
            if error.response.status_code != 503 or attempt == 19:
                raise
            await asyncio.sleep(0.2)
        else:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data-dir", type=Path)
    arguments = parser.parse_args()
    verdict(loop.run(run(arguments.clients, arguments.rounds, arguments.seed, arguments.data_dir)))


if __name__ == "__main__":
    main()
