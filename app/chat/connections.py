"""Reasoning paths as lines for a model: what leads to what, and the sentence that says so. Pure.

A sentence that stands in an excerpt anyway is not repeated, and a path that then says nothing more is none.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.retrieval.types import Hit

# Edges whose text is a sentence of its own; that of others repeats a name or a title.
_SAYING: Final = frozenset({"relation", "claim", "edge"})


@dataclass(frozen=True, slots=True)
class Connection:
    """One path to a card. `steps`: label and what is said on the way to the next one. `links`: more than the card and
    one thing in it are connected.
    """

    card_id: uuid.UUID
    card_title: str
    steps: Sequence[tuple[str, str]]
    score: float
    links: bool

    def line(self, marker: str | None, is_said: Callable[[str], bool]) -> str | None:
        """`A (sentence) → B → "Card" [1]`; None where there is nothing in it that is not said elsewhere."""
        parts = []
        is_news = self.links
        for label, sentence in self.steps:
            shown = _one_line(sentence)
            if shown and not is_said(shown):
                is_news = True
                parts.append(f"{_one_line(label)} ({shown})" if label else shown)
            elif label:
                parts.append(_one_line(label))
        if not is_news:
            return None
        cited = f" [{marker}]" if marker else ""
        return " → ".join([*parts, f'"{_one_line(self.card_title)}"']) + cited


def connections(hits: Iterable[Hit]) -> list[Connection]:
    """The paths of all hits: the best one of every card first, as the hits are ranked."""
    found = [[one for path in hit.paths if (one := _connection(hit, path))] for hit in hits]
    deepest = max(map(len, found), default=0)
    return [of_hit[nth] for nth in range(deepest) for of_hit in found if nth < len(of_hit)]


def said_in(excerpts: Iterable[str]) -> Callable[[str], bool]:
    """Whether a sentence stands in one of the excerpts, whatever the blanks and the case."""
    everything = "\n".join(_folded(excerpt) for excerpt in excerpts)
    return lambda sentence: _folded(sentence) in everything


def _connection(hit: Hit, path: Mapping[str, Any]) -> Connection | None:
    walked = [(step.get("node") or {}, step.get("edge") or {}) for step in path.get("steps", ())]
    # The last step is the card itself.
    walked = [(node, edge) for node, edge in walked if node.get("id") != str(hit.card.id)]
    if not walked:
        return None
    if walked[0][0].get("kind") == "point":
        steps, links = _down_the_cone(walked), False
    else:
        steps = [
            (node.get("label", ""), edge.get("text", "") if edge.get("kind") in _SAYING else "")
            for node, edge in walked
        ]
        links = len(walked) > 1
    return Connection(hit.card.id, hit.card.title, steps, float(path.get("score", 0.0)), links)


def _down_the_cone(walked: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[tuple[str, str]]:
    """From the base to the tip, as one reads it: the episode, its aspect, what is claimed. Titles that repeat are left
    out.
    """
    labels = [node.get("label", "") for node, _ in walked]
    claim, *titles = labels
    above = list(dict.fromkeys(title for title in reversed(titles) if title and title not in claim))
    steps = [(title, "") for title in above]
    return [*steps[:-1], (steps[-1][0], claim)] if steps else [("", claim)]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _folded(text: str) -> str:
    return _one_line(text).casefold()
