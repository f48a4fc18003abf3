"""Figures of a classification: per-level F1 and the confusion matrix. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from app.retrieval.types import Level


def f1_by_level(gold: Sequence[Level], told: Sequence[Level]) -> dict[Level, float]:
    """Of each level that the labels hold."""
    right = Counter(one for one, other in zip(gold, told, strict=True) if one is other)
    had, given = Counter(gold), Counter(told)
    return {level: 2 * right[level] / (had[level] + given[level]) for level in sorted(had)}


def macro_f1(gold: Sequence[Level], told: Sequence[Level]) -> float:
    found = f1_by_level(gold, told)
    return sum(found.values()) / len(found)


def confusion(gold: Sequence[Level], told: Sequence[Level]) -> str:
    """As a Markdown table, a row per true level."""
    cells = Counter(zip(gold, told, strict=True))
    lines = ["| true \\ told | " + " | ".join(level.name for level in Level) + " | F1 |", "|---|" + "---|" * 6]
    for level, f1 in f1_by_level(gold, told).items():
        counts = " | ".join(str(cells[level, other]) for other in Level)
        lines.append(f"| {level.name} | {counts} | {f1:.3f} |")
    return "\n".join(lines)
