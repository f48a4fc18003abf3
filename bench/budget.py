"""Prompts by the thousand against real tokenizers: how wrong the counters are, and whether a window ever overflows.

    python -m bench.budget [--prompts 10000] [--large 100] [--seed 1] [--data ../shared/data]

Texts: the sample vault, our own code (not its tables of words), records made of both, and, where it is there, the
folder of data sets. An overflow is a prompt that takes, by the model's own tokenizer, more than its window leaves
beside the answer and the tools. `late` overflows came after 20 prompts had taught the corrected counter.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.budget.correct import Corrections
from app.budget.count import BytePairCounter, Remembering, ScriptEstimate, TokenCounter, deepseek_counter
from app.budget.settings import BudgetSettings
from app.chat.blocks import PER_MESSAGE_TOKENS, Note, Turn
from app.chat.citations import Citable
from app.chat.connections import Connection
from app.chat.prompt import Prompt, QuestionTooLong, lay_out
from app.text.normalise import han_share

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = BudgetSettings()
KINDS = ("zh", "en", "mixed", "code", "json")
LARGE_WINDOW = 128_000
_TAUGHT = 20


def tokenizers() -> dict[str, TokenCounter]:
    return {
        "o200k": BytePairCounter("o200k_base"),
        "deepseek": deepseek_counter(),
        "qwen": BytePairCounter("qwen3.5"),
        "cl100k": BytePairCounter("cl100k_base"),
    }


def texts_by_kind(data: Path, rng: random.Random) -> dict[str, list[str]]:
    notes = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "app" / "sample_vault").rglob("*.md"))]
    for folder in ("cmrc2018_zh", "netoperatorqa_zh", "hotpotqa_train100", "musique_dev", "evolving_events"):
        path = data / folder / "corpus.jsonl"
        if path.exists():
            rows = path.read_text(encoding="utf-8").splitlines()
            notes += [json.loads(row)["text"] for row in rng.sample(rows, min(200, len(rows)))]
    zh = [note for note in notes if han_share(note) > 0.5]
    en = [note for note in notes if han_share(note) < 0.02]
    code = [
        "\n".join(lines[at : at + 40])
        for room in ("core", "db", "api", "jobs", "cards", "chat", "commands")
        for path in sorted((ROOT / "app" / room).rglob("*.py"))
        for lines in [path.read_text(encoding="utf-8").splitlines()]
        for at in range(0, len(lines), 40)
    ]
    mixed = [f"{rng.choice(zh)[:300]}\n{rng.choice(en)[:300]} {rng.choice(zh)[:80]}" for _ in range(400)]
    records = [
        json.dumps(
            [
                {"id": rng.randrange(10**9), "title": rng.choice(notes)[:40], "score": rng.random(), "ok": n % 2 == 0}
                for n in range(12)
            ],
            ensure_ascii=False,
            indent=rng.choice([None, 1, 2]),
        )
        for _ in range(300)
    ]
    return {"zh": zh, "en": en, "mixed": mixed, "code": code, "json": records}


def long_text(texts: Sequence[str], rng: random.Random, tokens: int, counter: TokenCounter) -> str:
    parts: list[str] = []
    while counter.count("\n".join(parts)) < tokens:
        parts += rng.choices(texts, k=8)
    return counter.truncate("\n".join(parts), tokens)


def print_errors(of_kind: dict[str, list[str]], rng: random.Random) -> None:
    real, estimate = tokenizers(), ScriptEstimate()
    print(
        "Error of the estimate in % (mean of 8 texts of 10,000 tokens; lowest and highest; then p5 of single texts):\n"
    )
    print(f"| kind | {' | '.join(real)} |")
    print("|---" * (len(real) + 1) + "|")
    for kind in KINDS:
        cells = []
        longs = [long_text(of_kind[kind], rng, 10_000, real["o200k"]) for _ in range(8)]
        shorts = [text for text in rng.choices(of_kind[kind], k=150) if len(text) > 200]
        for counter in real.values():
            errors = [100 * (estimate.count(text) / counter.count(text) - 1) for text in longs]
            single = sorted(100 * (estimate.count(text) / counter.count(text) - 1) for text in shorts)
            low = single[len(single) // 20]
            cells.append(f"{statistics.mean(errors):+.1f} ({min(errors):+.1f} … {max(errors):+.1f}; {low:+.1f})")
        print(f"| {kind} | {' | '.join(cells)} |")


def material(of_kind: dict[str, list[str]], rng: random.Random, window: int) -> dict[str, Any]:
    """About twice what a window of this size can take, of one kind or of all."""
    kinds = rng.choice([*((kind,) for kind in KINDS), KINDS])

    def text(most: int = 1200) -> str:
        return rng.choice(of_kind[rng.choice(kinds)])[: rng.randint(20, most)]

    size = max(window // 500, 4)
    return {
        "question": text(200),
        "sources": [
            Citable(str(n), "card", uuid.UUID(int=n), text(40), part, None, 0, len(part), rng.random())
            for n in range(1, rng.randint(0, 2 * size) + 1)
            for part in [text()]
        ],
        "history": [Turn(("user", "assistant")[n % 2], text(600)) for n in range(rng.randint(0, 2 * size))],
        "connections": [
            Connection(uuid.UUID(int=n), text(40), [(text(30), text(200)), (text(30), "")], rng.random(), True)
            for n in range(rng.randint(0, size))
        ],
        "memories": [
            Citable(str(900 + n), "memory", uuid.UUID(int=n), text(30), text(400), score=rng.random())
            for n in range(rng.randint(0, size))
        ],
        "insights": [Note(text(20), text(300), rng.random()) for _ in range(rng.randint(0, 4))],
        "topology": [Note(text(20), text(200), rng.random()) for _ in range(rng.randint(0, 8))],
    }


def real_tokens(prompt: Prompt, counter: TokenCounter) -> int:
    return sum(counter.count(message.content) + PER_MESSAGE_TOKENS for message in prompt.messages)


def run(of_kind: dict[str, list[str]], rng: random.Random, windows: Sequence[int]) -> None:
    """Each prompt counted by its model's own vocabulary, by the estimate, and by the estimate as it was corrected so
    far; each against one of the real tokenizers.
    """
    real = tokenizers()
    corrections = Corrections(lambda provider, model: ScriptEstimate())
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    refused = 0
    for number, window in enumerate(windows):
        name = list(real)[number % len(real)]
        how = ("exact", "estimate", "corrected")[number // len(real) % 3]
        counter = {"exact": real[name], "estimate": ScriptEstimate(), "corrected": corrections.counter("x", name)}[how]
        reserve = min(SETTINGS.answer_reserve_tokens, window // 2)
        room = min(SETTINGS.answer_total_tokens, window - reserve)
        budget = room - (0 if counter.is_exact else int(room * SETTINGS.answer_margin_share))
        given = material(of_kind, rng, window)
        started = time.perf_counter()
        try:
            prompt = lay_out(
                given.pop("question"),
                given.pop("sources"),
                given.pop("history"),
                budget_tokens=budget,
                counter=Remembering(counter),
                grounded=rng.random() < 0.9,
                **given,
            )
        except QuestionTooLong:
            refused += 1
            continue
        row = found[how, name]
        row["ms"].append(1000 * (time.perf_counter() - started))
        tokens = real_tokens(prompt, real[name])
        row["overflow"].append(max(0, tokens - room))
        row["filled"].append(tokens / room)
        total = prompt.ledger.total_tokens
        parts = sum(bucket["tokens"] for bucket in prompt.ledger.buckets.values())
        row["ledger"].append(abs(parts - total) / total)
        frame = prompt.ledger.buckets["query_instructions"]["packed"][-1]["tokens"]
        row["frame"].append(frame / total)
        row["recounted"].append(
            any(cut["reason"] == "recount" for bucket in prompt.ledger.buckets.values() for cut in bucket["cut"])
        )
        if how == "corrected":
            text = "\n".join(message.content for message in prompt.messages)
            corrections.learn("x", name, text, total, tokens)
    heads = ("counter", "model's tokens", "prompts", "overflows (late; most tokens)", "filled p5 / p50", "ledger off")
    heads = (*heads, "in no item p50 / p99", "recounted", "ms p50 / p95")
    print(f"\n| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for (how, name), row in sorted(found.items()):
        late = sum(tokens > 0 for tokens in row["overflow"][_TAUGHT:])
        over = [tokens for tokens in row["overflow"] if tokens]
        print(
            f"| {how} | {name} | {len(row['overflow'])} | {len(over)} ({late}; {max(over, default=0):.0f}) "
            f"| {_at(row['filled'], 0.05):.2f} / {_at(row['filled'], 0.5):.2f} | {100 * max(row['ledger']):.2f} % "
            f"| {100 * _at(row['frame'], 0.5):.1f} / {100 * _at(row['frame'], 0.99):.1f} % "
            f"| {sum(row['recounted']):.0f} "
            f"| {_at(row['ms'], 0.5):.1f} / {_at(row['ms'], 0.95):.1f} |"
        )
    print(f"\n{len(windows)} prompts, {refused} refused because the question alone did not fit.")


def _at(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompts", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    of_kind = texts_by_kind(asked.data, rng)
    print({kind: len(texts) for kind, texts in of_kind.items()}, end="\n\n")
    print_errors(of_kind, rng)
    run(of_kind, rng, [rng.randint(2000, 16_000) for _ in range(asked.prompts)])
    if asked.large:
        run(of_kind, rng, [LARGE_WINDOW] * asked.large)


if __name__ == "__main__":
    main()
