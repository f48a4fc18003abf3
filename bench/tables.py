#!/usr/bin/env python3
"""Tables for RESULTS.md from what bench/search.sh wrote: `bench/tables.py OUT`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

SETS = ("evolving_events", "hotpotqa", "2wiki", "musique", "locomo_turns", "netoperatorqa_zh", "cmrc2018_zh")
LEVELS = ("search", "rrf", "bm25", "dense")


def main(out: Path) -> None:
    reports = {name: json.loads((out / f"{name}.json").read_text()) for name in SETS if (out / f"{name}.json").exists()}
    head = ("set (cards, questions)", "level", "R@1", "R@5", "R@10", "all@10", "MRR@10", "nDCG@10")
    print(f"| {' | '.join(head)} | R@5 / R@10, report half | p50 / p95 ms |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, report in reports.items():
        for level in LEVELS:
            row, half = report["levels"][level], report["levels"][level]["halves"]["report"]
            title = f"{name} ({report['ingestion']['cards']}, {row['n']})" if level == LEVELS[0] else ""
            figures = " | ".join(
                f"{row[key]:.3f}" for key in ("recall@1", "recall@5", "recall@10", "all@10", "mrr@10", "ndcg@10")
            )
            spent = row["retrieval_ms"]
            print(
                f"| {title} | {level} | {figures} | {half['recall@5']:.3f} / {half['recall@10']:.3f} "
                f"| {spent['p50']:.1f} / {spent['p95']:.1f} |"
            )
    print("\nSearch against the better of bm25 and dense, and against bm25 by paired bootstrap (95 %):\n")
    print("| set | R@5 | R@10 | beats both (R@5, R@10) | R@5 vs bm25 | R@10 vs bm25 |")
    print("|---|---|---|---|---|---|")
    for name, report in reports.items():
        levels = report["levels"]
        gaps = [
            levels["search"][key] - max(levels["bm25"][key], levels["dense"][key]) for key in ("recall@5", "recall@10")
        ]
        beats = ", ".join("yes" if gap > 0 else "level" if gap == 0 else "no" for gap in gaps)
        versus = levels["search"]["vs"]["bm25"]
        told = " | ".join(
            f"{versus[key]['diff']:+.3f} [{versus[key]['ci95'][0]:+.3f}, {versus[key]['ci95'][1]:+.3f}]"
            for key in ("recall@5", "recall@10")
        )
        print(f"| {name} | {gaps[0]:+.3f} | {gaps[1]:+.3f} | {beats} | {told} |")
    print("\n| set | cards | texts | texts per card | seconds | cards/s | texts/s |")
    print("|---|---|---|---|---|---|---|")
    for name, report in reports.items():
        learned = report["ingestion"]
        print(
            f"| {name} | {learned['cards']} | {learned['texts']} | {learned['texts'] / learned['cards']:.1f} "
            f"| {learned['seconds']} | {learned['cards_per_second']} | {learned['texts_per_second']} |"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
