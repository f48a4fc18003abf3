"""How well the router routes: `python -m bench.router.report [--misses]`.

Our own held-out templates first; then the outside set of labelled questions where it is there, mapped to levels;
nothing here is trained on. Last the time that a decision takes.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from app.retrieval.route import wanted
from app.retrieval.route_classifier import classifier
from app.retrieval.route_cues import cues
from app.retrieval.route_features import masked
from app.retrieval.types import Level, Route
from bench.router.labels import Labelled, questions, read_templates
from bench.router.scores import confusion, f1_by_level, macro_f1

OUTSIDE = Path(__file__).parents[3] / "shared/data/query_routing/labels.jsonl"
SAMPLE = Path(__file__).parents[2] / "app/sample_vault_questions.json"
SEED = 7
EACH = 3
# What the labels of the outside set mean here; labels that are not named are left out.
ALLOWED = {
    "single_hop": {Level.search},
    "temporal": {Level.search},
    "adversarial": {Level.search},
    "multi_hop": {Level.explore},
    "comparison": {Level.explore},
    "multi_doc": {Level.insight, Level.context},
    "summarize": {Level.insight, Level.context},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="show every held-out question that goes wrong")
    misses = parser.parse_args().misses
    templates = read_templates()
    counts = Counter((template.level.name, template.split) for template in templates)
    print("templates:", ", ".join(f"{level} {count} {split}" for (level, split), count in sorted(counts.items())))
    held_out = list(
        questions([one for one in templates if one.split == "heldout"], held_out=True, each=EACH, seed=SEED)
    )
    _held_out(held_out, misses)
    _sample()
    if OUTSIDE.exists():
        _outside()
    else:
        print(f"\n{OUTSIDE} is absent: no outside questions")
    _timed([one.text for one in held_out])


def _held_out(held_out: list[Labelled], misses: bool) -> None:
    gold = [one.level for one in held_out]
    told = [wanted(one.text) for one in held_out]
    print(f"\n## Held-out templates: {len(held_out)} questions\n")
    print(confusion(gold, [one.level for one in told]))
    print(f"\nmacro-F1 {macro_f1(gold, [one.level for one in told]):.3f}")
    texts = [masked(one.text) for one in held_out]
    alone = [Level(int(classifier().probabilities(text, cues(text)).argmax())) for text in texts]
    print(f"classifier alone {macro_f1(gold, alone):.3f}")
    for lang in ("zh", "en", "mixed"):
        chosen = [place for place, one in enumerate(held_out) if one.lang == lang]
        print(f"{lang} {macro_f1([gold[place] for place in chosen], [told[place].level for place in chosen]):.3f}")
    print(_reasons(gold, told))
    if misses:
        for one, route in zip(held_out, told, strict=True):
            if route.level is not one.level:
                print(f"{one.level.name:8} as {route.level.name:8} {route.confidence:.2f} {route.reason}  {one.text}")


def _reasons(gold: list[Level], told: list[Route]) -> str:
    given = Counter(one.reason for one in told)
    right = Counter(one.reason for level, one in zip(gold, told, strict=True) if one.level is level)
    return "by reason: " + ", ".join(f"{reason} {right[reason]}/{count}" for reason, count in given.most_common())


def _sample() -> None:
    rows = json.loads(SAMPLE.read_text(encoding="utf-8"))
    told = [(row["question"], Level[row["level"]], wanted(row["question"])) for row in rows]
    right = sum(level is route.level for _, level, route in told)
    print(f"\n## Questions of the sample vault: {right} of {len(told)}\n")
    for question, level, route in told:
        if level is not route.level:
            print(f"{level.name} as {route.level.name} ({route.reason} {route.confidence:.2f}): {question}")


def _outside() -> None:
    rows = [json.loads(line) for line in OUTSIDE.read_text(encoding="utf-8").splitlines()]
    kept = [(row, wanted(row["text"])) for row in rows if row["label"] in ALLOWED]
    print(f"\n## query_routing, mapped: {len(kept)} of {len(rows)} questions\n")
    _shares(kept, lambda row: str(row["label"]))
    print()
    _shares(kept, lambda row: f"{row['src']} {row['label']}")
    # Insight and context are one class here.
    merged = {Level.insight: Level.context}
    gold = [min(ALLOWED[row["label"]]) for row, _ in kept]
    told = [merged.get(route.level, route.level) for _, route in kept]
    told_f1 = ", ".join(f"{level.name} {f1:.3f}" for level, f1 in f1_by_level(gold, told).items())
    accuracy = sum(route.level in ALLOWED[row["label"]] for row, route in kept) / len(kept)
    print(f"\naccuracy {accuracy:.3f}, macro-F1 {macro_f1(gold, told):.3f} ({told_f1})")


def _shares(kept: list[tuple[dict[str, str], Route]], key: Callable[[dict[str, str]], str]) -> None:
    print("| label | questions | right | " + " | ".join(level.name for level in Level) + " |")
    print("|---|---|---|" + "---|" * len(Level))
    groups: dict[str, list[tuple[dict[str, str], Route]]] = {}
    for row, route in kept:
        groups.setdefault(key(row), []).append((row, route))
    for name, group in sorted(groups.items()):
        levels = Counter(route.level for _, route in group)
        right = sum(route.level in ALLOWED[row["label"]] for row, route in group) / len(group)
        cells = " | ".join(str(levels[level]) for level in Level)
        print(f"| {name} | {len(group)} | {right:.3f} | {cells} |")


def _timed(texts: list[str]) -> None:
    texts = random.Random(SEED).sample(texts, min(len(texts), 500))
    long = "关于这次合作的细节，" * 1500
    wanted("warm")
    spent = []
    for text in [*texts, long]:
        started = time.perf_counter()
        wanted(text)
        spent.append((time.perf_counter() - started) * 1000)
    longest = spent.pop()
    spent.sort()
    middle, late = spent[len(spent) // 2], spent[int(len(spent) * 0.95)]
    print(f"\n## Time: p50 {middle:.2f} ms, p95 {late:.2f} ms, a question of {len(long)} characters {longest:.2f} ms")


if __name__ == "__main__":
    main()
