#!/usr/bin/env python3
"""Tables for RESULTS.md from what bench/search.sh and bench/levels.sh wrote: `bench/tables.py OUT`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

SETS = ("evolving_events", "hotpotqa", "2wiki", "musique", "locomo_turns", "netoperatorqa_zh", "cmrc2018_zh")
LEVELS = ("search", "rrf", "bm25", "dense")


LEVEL_SETS = (
    *("mflow", "turns", "evolving_events", "musique", "musique_own", "2wiki", "2wiki_6119", "hotpotqa"),
    "netoperatorqa_zh",
)
ORDER = ("context", "published", "explore", "hops", "search", "dense", "bm25")


def main(out: Path) -> None:
    if any(out.glob("levels_*.json")):
        print_levels(out)
    if not (out / f"{SETS[0]}.json").exists():
        return
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


def print_levels(out: Path) -> None:
    keys = ("recall@5", "recall@10", "all@8", "all@10", "mrr@10", "any@1", "any@5", "any@10")
    told = ("R@5", "R@10", "all@8", "all@10", "MRR", "any@1", "any@5", "any@10")
    print(f"| set (cards, questions) | level | {' | '.join(told)} | report half R@5 / R@10 / MRR |")
    print("|---|---|" + "---|" * (len(told) + 1))
    reports = {
        name: json.loads((out / f"levels_{name}.json").read_text())
        for name in LEVEL_SETS
        if (out / f"levels_{name}.json").exists()
    }
    for name, report in reports.items():
        title = f"{name} ({report['ingestion']['cards']}, {report['queries']})"
        for level in (one for one in ORDER if one in report["levels"]):
            row = report["levels"][level]
            half = row["halves"].get("report", row)
            print(
                f"| {title} | {level} | {' | '.join(f'{row[key]:.3f}' for key in keys)} "
                f"| {half['recall@5']:.3f} / {half['recall@10']:.3f} / {half['mrr@10']:.3f} |"
            )
            title = ""
    print("\nAgainst level search, by paired bootstrap (95 %), and retrieval without the embedding:\n")
    print("| set | level | R@5 | R@10 | MRR | p50 / p95 ms |")
    print("|---|---|---|---|---|---|")
    for name, report in reports.items():
        for level in (one for one in ORDER[:4] if one in report["levels"]):
            row = report["levels"][level]
            versus = row["vs"]["search"]
            gaps = " | ".join(
                f"{versus[key]['diff']:+.3f} [{versus[key]['ci95'][0]:+.3f}, {versus[key]['ci95'][1]:+.3f}]"
                for key in ("recall@5", "recall@10", "mrr@10")
            )
            spent = row["retrieval_ms"]
            print(f"| {name} | {level} | {gaps} | {spent['p50']:.1f} / {spent['p95']:.1f} |")
    by = {name: report for name, report in reports.items() if "by" in report["levels"]["search"]}
    if by:
        print(
            "\n| set | kind of question (number) | " + " | ".join(f"{level} R@5 / R@10" for level in ORDER[::4]) + " |"
        )
        print("|---|---|---|---|")
    for name, report in by.items():
        for kind, part in report["levels"]["search"]["by"].items():
            cells = " | ".join(
                f"{report['levels'][level]['by'][kind]['recall@5']:.3f} / "
                f"{report['levels'][level]['by'][kind]['recall@10']:.3f}"
                for level in ("context", "search")
            )
            print(f"| {name} | {kind} ({part['n']}) | {cells} |")
    print()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
