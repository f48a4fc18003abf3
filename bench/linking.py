"""Who is who, on the labelled pairs: `python -m bench.linking [--wrong]`.

Layers 0 to 2 with the embedder that ships. A pair counts as "same" when they are merged; candidates do not
count. Also what the space's cosines are worth by themselves, which is where its thresholds come from.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.core import loop
from app.ingestion.link import guards
from app.ingestion.link.blocks import blocks
from app.ingestion.link.decide import Named, Outcome, Verdict, decide
from app.ingestion.link.thresholds import Thresholds, thresholds_for
from app.ingestion.texts import entity_text
from app.providers.embedding.e5 import E5Embedder
from app.providers.ports import Embedder

PAIRS = Path(__file__).resolve().parents[1] / "tests" / "data" / "linking.jsonl"


@dataclass(frozen=True, slots=True)
class Labelled:
    one: Named
    other: Named
    same: bool
    half: str
    trap: str
    knowledge: bool

    @property
    def texts(self) -> tuple[str, str]:
        one, other = ((n.name, n.aliases, n.description) for n in (self.one, self.other))
        return entity_text(*one), entity_text(*other)

    @property
    def share_a_block(self) -> bool:
        """Whether the linker would compare them without their vectors."""
        keys = [{named.key, named.shape.plain, *named.keys} for named in (self.one, self.other)]
        found = [blocks(named.name, named.kind) for named in (self.one, self.other)]
        return bool(keys[0] & keys[1] or found[0] & found[1])


def read(path: Path = PAIRS) -> list[Labelled]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Labelled(
            _named(row["a"]), _named(row["b"]), row["same"], row["half"], row["trap"], row.get("needs") == "knowledge"
        )
        for row in rows
    ]


def _named(side: dict[str, Any]) -> Named:
    return Named(side["name"], side["type"], side["description"], tuple(side.get("aliases", ())))


async def cosines(embedder: Embedder, pairs: Sequence[Labelled]) -> list[float]:
    dense = (await embedder.passages([text for pair in pairs for text in pair.texts])).dense
    return [float(np.dot(dense[2 * n], dense[2 * n + 1])) for n in range(len(pairs))]


@dataclass(slots=True)
class Score:
    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def f1(self) -> float:
        return 2 * self.right / max(2 * self.right + self.wrong + self.missed, 1)


def judge(
    pairs: Sequence[Labelled], near: Sequence[float], thresholds: Thresholds
) -> list[tuple[Labelled, float, Verdict]]:
    return [
        (pair, cosine, decide(pair.one, pair.other, cosine, thresholds))
        for pair, cosine in zip(pairs, near, strict=True)
    ]


def score(judged: Sequence[tuple[Labelled, float, Verdict]], half: str) -> Score:
    """Of the pairs that need no knowledge of the world."""
    result = Score()
    for pair, _, verdict in judged:
        if pair.half == half and not pair.knowledge:
            merged = verdict.outcome is Outcome.merge
            result.right += merged and pair.same
            result.wrong += merged and not pair.same
            result.missed += pair.same and not merged
    return result


def vectors_alone(pairs: Sequence[Labelled], near: Sequence[float]) -> None:
    """False merges and found pairs from each cosine on, among pairs that no guard keeps apart."""
    free = [
        (pair, cosine)
        for pair, cosine in zip(pairs, near, strict=True)
        if not guards.kinds(pair.one.kind, pair.other.kind)
        and not guards.names(pair.one.shape, pair.other.shape, pair.one.kind == "person")
        and pair.one.key != pair.other.key
    ]
    same = [cosine for pair, cosine in free if pair.same]
    different = [cosine for pair, cosine in free if not pair.same]
    print(f"\nvectors alone, guards passed: {len(same)} same, {len(different)} different pairs")
    print("cosine from   found   false")
    for at in (0.85, 0.90, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99):
        found, false = (np.mean(np.asarray(side) >= at) for side in (same, different))
        print(f"{at:11.2f} {found:7.2f} {false:7.2f}")


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--wrong", action="store_true", help="show the pairs that come out wrong")
    arguments = parser.parse_args()
    pairs = read()
    with tempfile.TemporaryDirectory() as folder:
        embedder = E5Embedder(Path(folder), 2)
        await embedder.open()
        near = await cosines(embedder, pairs)
        await embedder.close()
    thresholds = thresholds_for(embedder.space.key)
    started = time.perf_counter()
    judged = judge(pairs, near, thresholds)
    each = (time.perf_counter() - started) / len(pairs) * 1e6
    print(f"{len(pairs)} pairs, {embedder.space.key}, {thresholds}, {each:.0f} µs per pair")
    print("\nhalf    right  wrong missed     F1")
    for half in ("tune", "held"):
        result = score(judged, half)
        print(f"{half:6} {result.right:6} {result.wrong:6} {result.missed:6} {result.f1:6.3f}")
    for half in ("tune", "held"):
        outcomes = Counter(str(v.outcome) for p, _, v in judged if p.knowledge and p.half == half)
        print(f"need knowledge, {half}: {dict(outcomes)}")
    asked = sum(v.outcome is Outcome.ask and not p.same for p, _, v in judged)
    print(f"asked about though different: {asked}")
    unmet = [p for p, _, v in judged if p.same and v.outcome is not Outcome.apart and not p.share_a_block]
    print(f"same, and met only as neighbours: {[(p.one.name, p.other.name) for p in unmet]}")
    vectors_alone(pairs, near)
    if arguments.wrong:
        for pair, cosine, verdict in judged:
            if (verdict.outcome is Outcome.merge) != pair.same:
                print(pair.half, pair.trap, pair.one.name, "|", pair.other.name, round(cosine, 3), verdict)


if __name__ == "__main__":
    loop.run(main())
