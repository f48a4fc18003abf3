"""Cards are learned while workers are killed: nothing lost, nothing twice, nothing stuck.

    python -m bench.chaos.kill_worker [--cards 2000] [--workers 3] [--every 2] [--data-dir DIR]

A real instance, `--workers` more workers beside its own, and every `--every` seconds a random one of all
is killed (SIGKILL) and, if it was one of ours, replaced. Some cards are edited meanwhile. The embedder
is a server of hashes that takes its time, so that workers die in the middle of things.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil

from app.core import loop
from bench.chaos import embeddings
from bench.chaos.instance import ROOT, Instance, running, verdict
from bench.chaos.searches import sentence

QUIET = {"MINDCONE_WORKER_HEARTBEAT_SECONDS": "3", "MINDCONE_WORKER_POLL_SECONDS": "1"}
SETTLE_SECONDS = 180.0


class Workers:
    """Workers beside the instance's own."""

    def __init__(self, instance: Instance, count: int) -> None:
        self._instance = instance
        self._count = count
        self._ours: list[asyncio.subprocess.Process] = []
        self.kills = 0

    async def start(self) -> None:
        while len(self._ours) < self._count:
            self._ours.append(
                await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "app.cli",
                    "worker",
                    env=self._instance.environment,
                    cwd=ROOT,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=asyncio.subprocess.DEVNULL,
                )
            )

    async def kill_one(self, rng: random.Random) -> None:
        """Of all workers, the instance's own included."""
        theirs = [
            process.pid for process in psutil.Process(self._instance.pid).children() if "worker" in process.cmdline()
        ]
        pid = rng.choice(sorted([*theirs, *(process.pid for process in self._ours)]))
        with suppress(ProcessLookupError):
            psutil.Process(pid).send_signal(signal.SIGKILL)
        self.kills += 1
        for process in [process for process in self._ours if process.pid == pid]:
            await process.wait()
            self._ours.remove(process)
        await self.start()

    async def stop(self) -> None:
        for process in self._ours:
            with suppress(ProcessLookupError):
                process.terminate()
        await asyncio.gather(*(process.wait() for process in self._ours))


async def submit(client: httpx.AsyncClient, cards: int, rng: random.Random) -> dict[str, str]:
    """Content by card id."""
    contents: dict[str, str] = {}
    for at in range(0, cards, 100):
        items = [
            {
                "title": f"Note {n}",
                "content": f"Number{n} {' '.join(sentence(rng) for _ in range(8))}",
                "external_id": f"note-{n}",
            }
            for n in range(at, min(at + 100, cards))
        ]
        answer = (await client.post("/api/v1/cards/bulk", json={"items": items})).raise_for_status().json()
        contents |= {one["id"]: item["content"] for one, item in zip(answer["items"], items, strict=True)}
    return contents


async def run(cards: int, workers: int, every: float, seed: int, data_dir: Path | None) -> list[str]:
    """What was violated."""
    rng = random.Random(seed)
    async with (
        embeddings.serving(seconds_per_call=0.2) as environment,
        running(data_dir, **environment, **QUIET) as instance,
        httpx.AsyncClient(base_url=instance.url, timeout=60) as client,
    ):
        crew = Workers(instance, workers)
        await crew.start()
        started = time.perf_counter()
        contents = await submit(client, cards, rng)
        states = await _kill_until_learned(crew, client, contents, every, rng)
        seconds = time.perf_counter() - started
        violations = await _examine(instance, client, contents, states)
        await crew.stop()
        # Nothing of ours runs any more: what is still there would be somebody else's.
    print(f"{cards} cards in {seconds:.0f} s, {crew.kills} workers killed, states {dict(states)}")
    return violations


async def _kill_until_learned(
    crew: Workers, client: httpx.AsyncClient, contents: dict[str, str], every: float, rng: random.Random
) -> Counter[str]:
    deadline = time.monotonic() + SETTLE_SECONDS + len(contents) * 0.2
    edits = rng.sample(sorted(contents), len(contents) // 20)
    while True:
        await asyncio.sleep(every)
        await crew.kill_one(rng)
        for card_id in edits[:5]:
            contents[card_id] = f"Edited {sentence(rng)}"
            await client.patch(f"/api/v1/cards/{card_id}", json={"content": contents[card_id]})
        del edits[:5]
        states = (await client.get("/api/v1/ingestion")).raise_for_status().json()
        counted = Counter({name: states[name] for name in ("queued", "working", "ready", "failed") if states[name]})
        print(f"  {crew.kills} killed: {dict(counted)}", flush=True)
        if (not edits and not counted["queued"] + counted["working"]) or time.monotonic() > deadline:
            return counted


async def _examine(
    instance: Instance, client: httpx.AsyncClient, contents: dict[str, str], states: Counter[str]
) -> list[str]:
    violations = []
    if states != Counter(ready=len(contents)):
        violations.append(f"lost or stuck: {dict(states)} of {len(contents)}")
    stored = {str(row["id"]): row["content"] for row in await instance.sql("SELECT id, content FROM cards")}
    violations += [
        f"card {card_id} has another text" for card_id in contents if stored.get(card_id) != contents[card_id]
    ]
    twice = await instance.sql(
        "SELECT card_id, ordinal, count(*) FROM chunks GROUP BY workspace_id, card_id, ordinal HAVING count(*) > 1"
    )
    violations += [f"duplicate chunk {dict(row)}" for row in twice]
    stale = await instance.sql(
        "SELECT c.id FROM cards c LEFT JOIN chunks ch ON ch.workspace_id = c.workspace_id AND ch.card_id = c.id "
        'WHERE ch.id IS NULL OR substr(c.content, ch.start + 1, ch."end" - ch.start) <> ch.text'
    )
    violations += [f"card {row['id']} has no chunk, or that of an older text" for row in stale]
    violations += [f"a job {row['kind']} is still {row['state']}" for row in await _stuck(instance)]
    code, said = await instance.command("doctor", "--deep", "--json")
    report = json.loads(said)
    if code or not report["ok"]:
        violations.append(f"doctor --deep: {said[:2000]}")
    answer = await client.post("/api/v1/search", json={"query": "number7 note 7", "level": "search"})
    if answer.status_code != 200 or not answer.json()["hits"]:
        violations.append(f"afterwards a search gets {answer.status_code} {answer.text[:200]}")
    return violations


async def _stuck(instance: Instance) -> list[dict[str, Any]]:
    """Jobs that live on when nobody kills any more: that of a killed worker ends when its heart has been still."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        live = await instance.sql("SELECT kind, state FROM jobs WHERE state IN ('queued', 'working') ORDER BY id")
        if not live or time.monotonic() > deadline:
            return [dict(row) for row in live]
        await asyncio.sleep(1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cards", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--every", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data-dir", type=Path)
    arguments = parser.parse_args()
    verdict(loop.run(run(arguments.cards, arguments.workers, arguments.every, arguments.seed, arguments.data_dir)))


if __name__ == "__main__":
    main()
