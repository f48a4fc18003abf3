"""Retrieval measures over ranked ids, with binary gains. Pure.

recall@k: share of the gold found in the first k; any@k: whether any of it is; all@k: whether all of
it is; mrr@10; ndcg@10 with an ideal list of min(|gold|, 10). A group that occurs twice in a ranking
gains once, but k counts every place.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence, Set

CUTS = (1, 2, 3, 5, 8, 10, 20)

Row = dict[str, float]


def measure(ranked: Sequence[str], gold: Set[str]) -> Row:
    """All measures of one query."""
    row: Row = {}
    for k in CUTS:
        found = gold & set(ranked[:k])
        row[f"recall@{k}"] = len(found) / len(gold)
        row[f"any@{k}"] = float(bool(found))
        row[f"all@{k}"] = float(found == gold)
    row["mrr@10"] = next((1 / place for place, item in enumerate(ranked[:10], 1) if item in gold), 0.0)
    seen: set[str] = set()
    gain = 0.0
    for place, item in enumerate(ranked[:10], 1):
        if item in gold and item not in seen:
            seen.add(item)
            gain += 1 / math.log2(place + 1)
    row["ndcg@10"] = gain / sum(1 / math.log2(place + 1) for place in range(1, min(len(gold), 10) + 1))
    return row


def mean(rows: Sequence[Row]) -> Row:
    """The mean of each measure, to four places."""
    return {name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]} if rows else {}


def measure_run(
    run: Mapping[str, Sequence[str]], gold: Mapping[str, Set[str]], groups: Mapping[str, str]
) -> dict[str, Row]:
    """Measures per query. A query that the run leaves out scores 0."""
    return {query: measure([groups.get(doc, doc) for doc in run.get(query, ())], docs) for query, docs in gold.items()}


def paired_bootstrap(ours: Mapping[str, Row], theirs: Mapping[str, Row], draws: int = 10_000) -> dict[str, object]:
    """Mean difference (ours - theirs) per measure with its 95 % interval, by resampling queries (seed 0)."""
    generator = random.Random(0)  # noqa: S311  (resampling, not secrecy)
    queries = list(ours)
    result: dict[str, object] = {}
    for name in ("recall@5", "recall@10", "mrr@10"):
        differences = [ours[query][name] - theirs[query][name] for query in queries]
        means = sorted(sum(generator.choices(differences, k=len(differences))) / len(differences) for _ in range(draws))
        low, high = means[int(draws * 0.025) - 1], means[int(draws * 0.975) - 1]
        result[name] = {
            "diff": round(sum(differences) / len(differences), 4),
            "ci95": [round(low, 4), round(high, 4)],
        }
    return result
