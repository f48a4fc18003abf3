"""What the answer step makes of level insight: its points as sources, what is said where there are none, and what is
added where the notes have moved on. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.chat.citations import Citable
from app.retrieval.types import Insight
from app.text.normalise import is_chinese

_CARDS_NAMED: Final = 2
"""Of a point."""

_NOTHING: Final = {True: "笔记里没有提到这一点。", False: "The notes do not say."}
_BEHIND: Final = {
    True: "\n\n（部分概述写于最近的改动之前，可能没有包含最新的内容。）",
    False: "\n\n(Some of these overviews were written before the latest changes to the notes.)",
}


def with_reports(insight: Insight, cards: Sequence[Citable]) -> list[Citable]:
    """The points, best first, each with the markers of the passages that it rests on; then those passages."""
    first = len(insight.points) + 1
    passages = [replace(card, marker=str(number)) for number, card in enumerate(cards, first)]
    points = []
    for number, point in enumerate(insight.points, 1):
        behind = [one.marker for one in passages if one.chunk_id in point.chunk_ids]
        points.append(
            Citable(
                marker=str(number),
                kind="report",
                id=point.report_id,
                title=point.title,
                text=point.text,
                score=point.score,
                rests_on=tuple(behind[:_CARDS_NAMED]),
                is_theme=insight.is_overview,
            )
        )
    return [*points, *passages]


def nothing_said(question: str) -> str:
    """The whole answer where no report says anything to a question."""
    return _NOTHING[is_chinese(question)]


def behind_note(question: str) -> str:
    return _BEHIND[is_chinese(question)]
